package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// TestOneWriter has another process write a session: every act of this one on it is refused, naming that process, while
// reading goes on. When it dies, by SIGKILL in the middle of an append, the session can be taken over, whole.
//
// covers: J-07
func TestOneWriter(t *testing.T) {
	ctx := context.Background()
	root := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Args = append(cmd.Args, "0", "0", "0")
	cmd.Env = append(os.Environ(), victimEnv+"="+root)
	out := must(cmd.StdoutPipe())
	must(0, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	acks := bufio.NewReader(out)
	acked := acknowledged(t, acks, "a", 3)

	d := must(journal.Open(filepath.ToSlash(root), journal.Options{}))
	defer d.Close()
	_, err := d.Lock(ctx, "a")
	var busy *journal.BusyError
	if !errors.As(err, &busy) || !errors.Is(err, journal.ErrBusy) || busy.Holder.PID != cmd.Process.Pid {
		t.Fatalf("lock: %v, want busy by process %d", err, cmd.Process.Pid)
	}
	if want := fmt.Sprintf(`session "a" is in use by ambit victim, process %d`, cmd.Process.Pid); err.Error() != want {
		t.Errorf("the error says %q, want %q", err, want)
	}
	if _, err := d.Append(ctx, "a", &entry.Gap{}); !errors.Is(err, journal.ErrNotLocked) {
		t.Errorf("append: %v", err)
	}
	if _, err := d.Put(ctx, "a", []byte("x")); !errors.Is(err, journal.ErrNotLocked) {
		t.Errorf("put: %v", err)
	}
	if n := entries(t, d, "a"); n < acked {
		t.Errorf("%d entries can be read, %d were acknowledged", n, acked)
	}

	must(0, cmd.Process.Kill())
	acked = max(acked, acknowledged(t, acks, "a", 1<<30))
	cmd.Wait()
	unlock, err := d.Lock(ctx, "a")
	if err != nil {
		t.Fatalf("take over: %v", err)
	}
	defer unlock()
	seq, err := d.Append(ctx, "a", &entry.Gap{Exchanges: 1})
	if err != nil || int(seq) <= acked || int(seq) > acked+2 {
		t.Errorf("append after taking over: entry %d, %v; %d were acknowledged", seq, err, acked)
	}
	if n := entries(t, d, "a"); n != int(seq) {
		t.Errorf("%d entries, want %d", n, seq)
	}
}

// acknowledged reads what a victim acknowledges until a session has so many entries, or until the victim is dead, and
// returns how many it has.
func acknowledged(t *testing.T, acks *bufio.Reader, session string, enough int) (n int) {
	t.Helper()
	for n < enough {
		line, err := acks.ReadString('\n')
		if err != nil {
			break
		}
		if rest, ok := strings.CutPrefix(line, session+" "); ok {
			must(fmt.Sscan(rest, &n))
		}
	}
	return n
}

func entries(t *testing.T, d *journal.Dir, session string) (n int) {
	t.Helper()
	for _, err := range d.Read(context.Background(), session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
