package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What a command may take where its spec says nothing. It is less than the five seconds that all sources are often given,
// so that the reason can be told.
const (
	DefaultCommandLimit = 4 * time.Second
	DefaultCommandBytes = 16 << 10
)

// CommandSpec says which command's output is a source.
type CommandSpec struct {
	Key   string   // namespaced; see CheckKey
	Args  []string // the program and its arguments; or
	Shell string   // a line that "sh -c" runs
	Dir   string   // where it runs
	Env   []string // NAME=VALUE, in addition to the environment of this process

	Limit time.Duration // DefaultCommandLimit without one
	Bytes int           // of output; DefaultCommandBytes without

	Optional bool // while the command fails a first baseline is made without it
}

// Command is a source of a command's output, white space at its ends taken off. An exit status that is not 0, a command
// that cannot be started or is killed at its limit make it unavailable, with the reason. Output beyond the limit of bytes
// is cut, and a line says so. It is volatile.
func Command(run Exec, s CommandSpec) Source {
	if (len(s.Args) == 0) == (s.Shell == "") {
		return broken(s.Key, errors.New("a command has either Args or Shell"))
	}
	c := Cmd{Args: s.Args, Dir: s.Dir, Env: s.Env, Limit: s.Limit, Bytes: s.Bytes}
	if s.Shell != "" {
		c.Args = []string{"sh", "-c", s.Shell}
	}
	if c.Limit <= 0 {
		c.Limit = DefaultCommandLimit
	}
	if c.Bytes <= 0 {
		c.Bytes = DefaultCommandBytes
	}
	type output struct {
		Text string `json:"text"`
		Cut  bool   `json:"cut,omitempty"`
	}
	text := func(o output) string {
		out := block("output", "source", s.Key, o.Text)
		if o.Cut {
			out += "\n" + cutMark("The output", len(o.Text), 0)
		}
		return out
	}
	return Of(Spec[output]{
		Key: s.Key,
		Load: func(ctx context.Context) (output, error) {
			out, err := run(ctx, c)
			if err != nil {
				return output{}, fmt.Errorf("run %q: %w", c.Args[0], err)
			}
			if out.Status != 0 {
				return output{}, failed(c, out)
			}
			shown, cut := head(utf8Text(out.Stdout, out.Cut), c.Bytes)
			return output{Text: strings.TrimSpace(shown), Cut: cut || out.Cut}, nil
		},
		Baseline: text,
		Update: func(_, o output) string {
			return "This output supersedes the one that was given before:\n" + text(o)
		},
		Removal: func(output) string {
			return fmt.Sprintf("The output of %q is no longer given; disregard what was given before.", s.Key)
		},
		Optional: s.Optional,
		Volatile: true,
	})
}

// failed says how a command failed: its status and the first line of what it complained.
func failed(c Cmd, o Output) error {
	first, _, _ := strings.Cut(strings.TrimSpace(o.Stderr), "\n")
	if first == "" {
		return fmt.Errorf("run %q: exit status %d", c.Args[0], o.Status)
	}
	return fmt.Errorf("run %q: exit status %d: %s", c.Args[0], o.Status, first)
}
