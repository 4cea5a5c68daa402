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
	"log"
	"os"
	"os/signal"
	"strings"
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
	name   string // how the command was called, as a shell takes it; empty means ambit
}

// The exit statuses.
const (
	exitDone  = 0
	exitFail  = 1
	exitUsage = 2
)

func main() {
	log.SetOutput(io.Discard) // net/http tells it what upstreams sent, which may be anything
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the process at once
	e := &env{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now, name: spelling(os.Args[0])}
	status := run(ctx, e, os.Args[1:])
	stop()
	os.Exit(status)
}

// run is the whole command: it does what the arguments say and returns the exit status.
func run(ctx context.Context, e *env, args []string) int {
	out := &output{to: e.out}
	world := *e
	world.out = out
	e = &world
	started := false
	root := newRoot(e, func() { started = true })
	root.SetOut(unfailing{out})
	root.SetArgs(args)
	called, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err != nil && (!started || errors.As(err, &usage)):
		text, _, _ := strings.Cut(err.Error(), ": strconv.") // which function of Go's did not like a flag's value helps nobody
		e.say("%s", text)
		e.hint("%s", usageHint(e, root, called, args))
		return exitUsage
	case out.failed != nil:
		e.say("cannot print the answer: %v", out.failed)
		return exitFail
	case err == nil:
		return exitDone
	case errors.Is(err, errReported):
		return exitFail
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		e.say("interrupted")
		return exitFail
	}
	e.say("%v", err)
	var hinted *hintError
	if errors.As(err, &hinted) {
		e.hint("%s", hinted.hint)
	}
	return exitFail
}

// usageHint says what to type instead of a call that cannot be right.
func usageHint(e *env, root, called *cobra.Command, args []string) string {
	if called.Name() == "help" && len(args) > 0 {
		called, args = root, args[1:]
	}
	if near := nearest(root, first(args)); called == root && near != "" {
		return e.self() + " " + near
	}
	return e.self() + strings.TrimPrefix(called.CommandPath(), root.Name()) + " --help"
}

// nearest is the command that a mistyped word may mean; "" where a guess would be one.
func nearest(root *cobra.Command, word string) string {
	for _, name := range root.SuggestionsFor(word) {
		if strings.HasPrefix(name, word) || len(word) > 3 {
			return name
		}
	}
	return ""
}

// output is standard output. It keeps the first error, so that a command fails whose answer did not arrive whole.
type output struct {
	to     io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	if o.failed != nil {
		return 0, o.failed
	}
	n, err := o.to.Write(p)
	o.failed = err
	return n, err
}

// unfailing hides errors from those who would print them; run reports them.
type unfailing struct{ to io.Writer }

func (u unfailing) Write(p []byte) (int, error) {
	u.to.Write(p)
	return len(p), nil
}

// newRoot makes the command and everything below it; started is called before a command runs, once its arguments
// were found right.
func newRoot(e *env, started func()) *cobra.Command {
	root := &cobra.Command{
		Use:   "ambit",
		Short: "Record what an agent sends and receives, and prove every byte of it",
		Long: "Ambit keeps everything that an agent session ever saw in a durable journal.\n" +
			"Start with ambit demo, then ambit up and point your agent at it; or have ambit run do a task.\n\n" +
			sessionHelp + "\n\n" +
			"AMBIT_HOME    where everything is kept; without it in .ambit in the home directory\n" +
			"AMBIT_TOKEN   what ambit up wants of every request; see ambit up --help",
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
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(
		newDemo(e), newUp(e), newRun(e), newAside(e), newSessions(e), newLog(e), newRequest(e), newView(e), newContext(e), newSearch(e), newRead(e), newPin(e), newUnpin(e), newCompact(e), newMCP(e), newFork(e), newSetup(e), newCheck(e), newReindex(e), newExport(e), newImport(e), newPurge(e), newReplay(e), newUsage(e), newVersion(e),
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

// spelling is how a command was called, for a shell: by a path where it was called by one.
func spelling(arg string) string {
	if strings.Contains(arg, "/") {
		return shellQuote(arg)
	}
	return "ambit"
}

// self is how to call this command again.
func (e *env) self() string {
	if e.name == "" {
		return "ambit"
	}
	return e.name
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
