package source

import (
	"context"
	"time"
)

// Cmd is a command to be run.
type Cmd struct {
	Args  []string      // the program and its arguments; no shell reads them
	Dir   string        // where it runs
	Env   []string      // NAME=VALUE, in addition to what the caller's process has; what looks like a credential there it does not get
	Limit time.Duration // after which it is killed
	Bytes int           // how much of its output is kept; what is more is read and dropped
}

// Output is what a command did that ran to its end.
type Output struct {
	Stdout []byte // its beginning, at most Cmd.Bytes
	Cut    bool   // there was more
	Stderr string // its beginning, as much as Exec keeps
	Status int    // the exit status; one that is not 0 is no error of Exec
}

// Exec runs a command and waits for it. At the limit, and when the context ends, it kills the command and all that this
// has started, as a process group. That, and that the command cannot be started, are errors; nothing is an Output then.
type Exec func(ctx context.Context, c Cmd) (Output, error)
