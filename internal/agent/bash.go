package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"ambit/source/host"
)

const (
	bashBytes = 100_000
	// afterwards is how long output is waited for that a command's own children hold open when it has ended.
	afterwards = time.Second
)

var bashSpec = spec{
	name: "bash",
	about: "Runs a command line with sh in the working folder and returns what it prints, errors included, and its exit status. " +
		"Of more than 100 KB head and tail are returned. There is no input and no terminal. What it leaves running in the background is killed when it ends, " +
		"and all of it after the time limit. Each call is a shell of its own: cd and variables do not last.",
	params: []param{
		{name: "command", kind: kindText, required: true, about: "the command line"},
		{name: "timeout_s", kind: kindNumber, min: 1, max: int(MostTime / time.Second), about: "the time limit in seconds, at most 600; default 120"},
	},
}

// bash runs a command line. One that fails is an error, behind what it printed.
func (t *toolbox) bash(ctx context.Context, v values) (string, error) {
	line := v.texts["command"]
	if strings.ContainsRune(line, 0) {
		return "", errors.New("the command line holds a zero byte")
	}
	if _, err := t.permit(ctx, v, []string{bashSpec.name}, line); err != nil {
		return "", err
	}
	limit := t.o.Time
	if n := v.numbers["timeout_s"]; n > 0 {
		limit = time.Duration(n) * time.Second
	}
	late := fmt.Errorf("the command was killed after its time limit of %s (timeout_s sets it, up to %d)", limit, MostTime/time.Second)
	ctx, stop := context.WithTimeoutCause(ctx, limit, late)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", "--", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = t.real, append(host.Environ(os.Environ(), t.o.Env...), "PWD="+t.real), afterwards
	out := &ends{half: t.most(bashBytes) / 2}
	cmd.Stdout, cmd.Stderr = out, out
	kill := grouped(cmd)
	err := cmd.Run()
	left := kill() // what the command left behind
	said := out.text()
	if said != "" && !strings.HasSuffix(said, "\n") {
		said += "\n"
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		if left || err != nil {
			said += "(what it left running in the background was killed)\n"
		}
		return said + "(exit status 0)\n", nil
	case ctx.Err() != nil:
		return said, context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return said, fmt.Errorf("exit status %d", exit.ExitCode())
	case errors.As(err, &exit):
		return said, fmt.Errorf("the command ended by a %s", exit)
	}
	return "", fmt.Errorf("run sh: %w", bare(err))
}

// ends keeps head and tail of what is written to it.
type ends struct {
	half    int // of each, in bytes
	head    []byte
	tail    []byte // up to twice half
	dropped int
}

// Write takes all, so that the command is not stopped by it.
func (e *ends) Write(p []byte) (int, error) {
	n := min(len(p), e.half-len(e.head))
	e.head = append(e.head, p[:n]...)
	for rest := p[n:]; len(rest) > 0; {
		n := min(len(rest), 2*e.half+1-len(e.tail))
		e.tail = append(e.tail, rest[:n]...)
		if rest = rest[n:]; len(e.tail) > 2*e.half {
			e.dropped += len(e.tail) - e.half
			e.tail = append(e.tail[:0], e.tail[len(e.tail)-e.half:]...)
		}
	}
	return len(p), nil
}

// mark is how much room the line takes that says what is left out.
const mark = 64

// text is what was written, in whole lines where it is not all, or else in whole characters.
func (e *ends) text() string {
	if e.dropped == 0 {
		if all := valid(string(e.head) + string(e.tail)); len(all) <= 2*e.half {
			return all
		}
	}
	head, tail := valid(string(e.head)), valid(string(e.tail))
	dropped, half := e.dropped+len(head)+len(tail), max(0, e.half-mark/2)
	head, tail = head[:runes([]byte(head[:min(half, len(head))]))], tail[max(0, len(tail)-half):]
	if n := strings.LastIndexByte(head, '\n'); n >= 0 {
		head = head[:n+1]
	}
	if n := strings.IndexByte(tail, '\n'); n >= 0 && n < len(tail)-1 {
		tail = tail[n+1:]
	} else {
		for tail != "" && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	dropped -= len(head) + len(tail)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[%d bytes are left out here]\n%s", head, dropped, tail)
}
