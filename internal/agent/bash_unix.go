//go:build unix

package agent

import (
	"os/exec"
	"syscall"
)

// grouped gives a command a session of its own, and so a process group and no terminal that it could ask. The group is
// killed when the command's context ends, and by what is returned, which reports whether anything was left of it.
func grouped(cmd *exec.Cmd) (kill func() bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	kill = func() bool {
		return cmd.Process != nil && syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) == nil
	}
	cmd.Cancel = func() error {
		kill()
		return nil
	}
	return kill
}
