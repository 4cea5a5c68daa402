//go:build unix

package host

import (
	"errors"
	"io/fs"
	"os/exec"
	"syscall"
)

// grouped gives a command a process group of its own, which is killed when its context ends, and returns what kills it.
func grouped(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill = func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
		}
	}
	cmd.Cancel = func() error {
		kill()
		return nil
	}
	return kill
}

// missing reports whether an error says that nothing is at a path. A part of a path that is a file says so, too.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
