//go:build !unix

package host

import (
	"errors"
	"io/fs"
	"os/exec"
)

// grouped leaves the command as it is: only it is killed when its context ends.
func grouped(*exec.Cmd) (kill func()) { return func() {} }

// missing reports whether an error says that nothing is at a path.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
