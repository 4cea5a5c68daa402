// Command ambit records what an AI agent sends and receives, and proves it.
//
// Standard output is data and nothing else; standard error is for people, as "ambit: message" and "ambit: hint: …".
// It exits with 0 when done, 1 when it could not, 2 when it was called wrongly.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// env is the world of one call of the command.
type env struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string
	now    func() time.Time
}

// The exit statuses.
const (
	exitDone  = 0
	exitFail  = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	e := &env{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now}
	status := run(ctx, e, os.Args[1:])
	stop()
	os.Exit(status)
}

// run is the whole command: it does what the arguments say and returns the exit status.
func run(ctx context.Context, e *env, args []string) int {
	started := false
	root := newRoot(e, func() { started = true })
	root.SetArgs(args)
	called, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errReported):
		return exitFail
	case !started || errors.As(err, &usage):
		e.say("%v", err)
		if near := root.SuggestionsFor(first(args)); called == root && len(near) > 0 {
			e.hint("%s %s", root.Name(), near[0])
		} else {
			e.hint("%s --help", called.CommandPath())
		}
		return exitUsage
	}
	e.say("%v", err)
	var hinted *hintError
	if errors.As(err, &hinted) {
		e.hint("%s", hinted.hint)
	}
	return exitFail
}

// newRoot makes the command and everything below it; started is called before a command runs, once its arguments
// were found right.
func newRoot(e *env, started func()) *cobra.Command {
	root := &cobra.Command{
		Use:   "ambit",
		Short: "Record what an agent sends and receives, and prove every byte of it",
		Long: "Ambit keeps everything that an agent session ever saw in a durable journal.\n" +
			"Start with ambit demo, then ambit up and point your agent at it.",
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableSuggestions:         true, // they take several lines; run makes a hint of them
		SuggestionsMinimumDistance: 2,
		PersistentPreRun:           func(*cobra.Command, []string) { started() },
		CompletionOptions:          cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.AddCommand(
		newDemo(e), newUp(e), newSessions(e), newLog(e), newRequest(e), newCheck(e), newReindex(e), newExport(e), newVersion(e),
	)
	return root
}

// first is the first argument, "" when there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// say writes one line for people, whatever recorded text it quotes.
func (e *env) say(format string, args ...any) {
	fmt.Fprintf(e.err, "ambit: %s\n", printable(fmt.Sprintf(format, args...)))
}

func (e *env) hint(format string, args ...any) { e.say("hint: "+format, args...) }

// errReported says that the command has said what is wrong.
var errReported = errors.New("reported")

// usageError is a call that cannot be right.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func misused(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// hintError is an error with something to do about it.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }
