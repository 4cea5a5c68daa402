package agent_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ambit/internal/agent"
)

// processes are what a command started, seen through a fifo that all of them hold open.
type processes struct {
	t    *testing.T
	fifo *os.File // its reading end
	path string
}

// watched gives a rig a fifo. Orphans become children of the test from here on, so that it can wait for their end.
func watched(t *testing.T, r *rig) *processes {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	p := &processes{t: t, path: filepath.Join(r.dir, "fifo")}
	if err := unix.Mkfifo(p.path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.fifo, err = os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.fifo.Close() })
	return p
}

// held is a command line whose processes, two in the group beside the shell, hold the fifo open and wait for ever. It says
// their ids in the fifo.
const held = `exec 9>fifo; mkfifo never; (read x <never) & echo $! >&9; sh -c 'read x <never' & echo $! >&9; echo $$ >&9; `

// ids waits for what held says.
func (p *processes) ids() (ids []int) {
	p.t.Helper()
	if err := p.fifo.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
	var said []byte
	for buf := make([]byte, 64); strings.Count(string(said), "\n") < 3; {
		n, err := p.fifo.Read(buf)
		if err != nil && err != io.EOF { // nobody has opened it yet
			p.t.Fatal(err)
		}
		said = append(said, buf[:n]...)
	}
	for line := range strings.Lines(string(said)) {
		id, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			p.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// gone fails unless all the processes have ended: nobody holds the fifo, and no signal can be sent to the group.
func (p *processes) gone(ids []int) {
	p.t.Helper()
	if err := p.fifo.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
	if rest, err := io.ReadAll(p.fifo); err != nil {
		for _, id := range ids {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
		p.t.Fatalf("somebody still holds the fifo: %q, %v", rest, err)
	}
	for _, id := range ids {
		_, err := syscall.Wait4(id, nil, 0, nil) // only those that this process has become the parent of
		if err != nil && !errors.Is(err, syscall.ECHILD) {
			p.t.Fatal(err)
		}
		if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
			p.t.Errorf("process %d: %v", id, err)
		}
	}
	if err := syscall.Kill(-ids[2], 0); !errors.Is(err, syscall.ESRCH) {
		p.t.Errorf("the group: %v", err)
	}
}

// TestBashCanceled cancels a command while its children wait, as soon as they do.
//
// covers: R-06 part
func TestBashCanceled(t *testing.T) {
	r := work(t, nil, agent.Options{})
	p := watched(t, r)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user has had enough")
	var ids []int
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel(cause)
		ids = p.ids()
	}()
	text, err := r.use(ctx, "bash", object(t, map[string]any{"command": "echo before; " + held + "wait"}))
	<-done
	if text != "before\n" || !errors.Is(err, cause) {
		t.Errorf("%q, %v", text, err)
	}
	p.gone(ids)
}

// TestBashLate lets a command reach its time limit.
//
// covers: R-06 part
func TestBashLate(t *testing.T) {
	r := work(t, nil, agent.Options{Time: 300 * time.Millisecond})
	p := watched(t, r)
	text, err := r.use(t.Context(), "bash", object(t, map[string]any{"command": "echo before; " + held + "wait"}))
	if text != "before\n" || err == nil || err.Error() != "the command was killed after its time limit of 300ms (timeout_s sets it, up to 600)" {
		t.Errorf("%q, %v", text, err)
	}
	p.gone(p.ids())
}

// TestBashBackground ends while its children wait, once with its output open in them and once without.
func TestBashBackground(t *testing.T) {
	for _, quiet := range []string{"", "exec >/dev/null 2>&1; "} {
		r := work(t, nil, agent.Options{})
		p := watched(t, r)
		text, err := r.use(t.Context(), "bash", object(t, map[string]any{"command": "echo before; " + quiet + held}))
		if text != "before\n(what it left running in the background was killed)\n(exit status 0)\n" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		p.gone(p.ids())
	}
}

// TestBashDetached leaves a process behind that is in no group of ours and holds the output: the call ends all the same.
func TestBashDetached(t *testing.T) {
	r := work(t, nil, agent.Options{})
	p := watched(t, r)
	text, err := r.use(t.Context(), "bash", object(t, map[string]any{"command": "exec 9>fifo; mkfifo never; echo before; echo 0 >&9; echo 0 >&9; setsid sh -c 'echo $$ >&9; read x <never' & read x <never & wait $! 2>/dev/null; exit 0", "timeout_s": 1}))
	id := p.ids()[2]
	if killed := syscall.Kill(id, syscall.SIGKILL); killed != nil {
		t.Error(killed)
	}
	if _, waited := syscall.Wait4(id, nil, 0, nil); waited != nil {
		t.Error(waited)
	}
	if text != "before\n" || err == nil || !strings.Contains(err.Error(), "time limit of 1s") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFifo gives the file tools what would make them wait for ever.
func TestFifo(t *testing.T) {
	r := work(t, nil, agent.Options{})
	watched(t, r)
	r.rows([]row{
		{"write", `{"path":"fifo","content":"y"}`, "", `"fifo" is no ordinary file`},
		{"read", `{"path":"fifo"}`, "", `"fifo" is no ordinary file`},
		{"search", `{"pattern":"x"}`, "(no match)\n", ""},
	})
}
