package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ambit/source"
)

const (
	stderrBytes = 4 << 10
	// afterwards is how long output is waited for that a command's own children hold open when it has ended.
	afterwards = time.Second
)

// Exec runs commands on this computer. Their standard input is empty. Of what they complain 4 KiB are kept. A command is
// waited for a second after its limit at most, and what it leaves behind is killed when it ends. Where there are no
// process groups, only the command itself is killed.
func Exec() source.Exec { return run }

func run(ctx context.Context, c source.Cmd) (source.Output, error) {
	if c.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("killed after %v", c.Limit))
		defer cancel()
	}
	if len(c.Args) == 0 {
		return source.Output{}, errors.New("no command is given")
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(Environ(os.Environ()), c.Env...)
	cmd.WaitDelay = afterwards
	out, complaint := beginning{limit: c.Bytes}, beginning{limit: stderrBytes}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	kill := grouped(cmd)
	err := cmd.Run()
	kill() // what the command left behind
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
	case ctx.Err() != nil:
		return source.Output{}, context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
	default:
		return source.Output{}, err
	}
	return source.Output{
		Stdout: out.kept.Bytes(), Cut: out.cut,
		Stderr: complaint.kept.String(), Status: cmd.ProcessState.ExitCode(),
	}, nil
}

// credential are parts of the names of variables that hold one.
var credential = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}

// Environ is what of an environment, NAME=VALUE each, commands get: all but what looks like a credential by its name, unless that is
// among those to keep.
func Environ(all []string, keep ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		return !slices.Contains(keep, name) && slices.ContainsFunc(credential, func(c string) bool { return strings.Contains(upper, c) })
	})
}

// beginning keeps the first bytes that are written to it, and drops the rest.
type beginning struct {
	limit int
	kept  bytes.Buffer
	cut   bool
}

// Write keeps what there is room for. It takes all, so that the command is not stopped by it.
func (b *beginning) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-b.kept.Len())
	b.kept.Write(p[:room])
	b.cut = b.cut || room < len(p)
	return len(p), nil
}
