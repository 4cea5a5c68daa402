package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// victimEnv makes the test binary append to the sessions in a folder until it is killed. Its arguments are how many
// entries each has.
const victimEnv = "AMBIT_JOURNAL_VICTIM"

func TestMain(m *testing.M) {
	if root := os.Getenv(victimEnv); root != "" {
		if err := victim(root, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var victims = []string{"a", "b", "c"}

// killBody is the body of entry n of a session: a long one that shares most with the one before, for two of three.
func killBody(session string, n int) []byte {
	switch n % 6 {
	case 0, 3:
		return nil
	case 5:
		return bytes.Repeat(fmt.Appendf(nil, "%s %d ", session, n), 3_000)
	}
	var body []byte
	for i := n - n%20; i <= n; i++ {
		body = fmt.Appendf(body, "session %s, turn %d: %x\n", session, i, rand.New(rand.NewPCG(uint64(i), 0)).Uint64())
	}
	return body
}

// victim appends to all sessions at once and prints "session number" when an append was acknowledged.
func victim(root string, acks io.Writer) error {
	d, err := journal.Open(root, journal.Options{Rotate: 20_000, Holder: journal.Holder{PID: os.Getpid(), Command: "victim"}})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i, name := range victims {
		n, err := strconv.Atoi(os.Args[1+i])
		if err != nil {
			return err
		}
		go func() { failed <- suffer(d, name, n, acks) }()
	}
	return <-failed
}

func suffer(d *journal.Dir, name string, n int, acks io.Writer) error {
	ctx := context.Background()
	if _, err := d.Lock(ctx, name); err != nil {
		return err
	}
	for n++; ; n++ {
		fact := &entry.Request{N: n}
		if body := killBody(name, n); body != nil {
			b, err := d.Put(ctx, name, body)
			if err != nil {
				return err
			}
			fact.Body = &b
		}
		if seq, err := d.Append(ctx, name, fact); err != nil || seq != entry.Seq(n) {
			return fmt.Errorf("entry %d got number %d: %w", n, seq, err)
		}
		if _, err := fmt.Fprintf(acks, "%s %d\n", name, n); err != nil {
			return err
		}
	}
}

// TestKill kills a process that appends, again and again over the same folder. Whatever it had acknowledged is there.
//
// covers: J-03 part
// covers: J-07 part
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 210
	if testing.Short() {
		kills = 20
	}
	root := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	acked := map[string]int{}
	for i := range kills {
		kill(t, root, rng, acked)
		for _, name := range victims {
			survives(t, root, name, acked, i%30 == 0 || i == kills-1)
		}
		if t.Failed() {
			t.Fatalf("after kill %d", i+1)
		}
	}
	if acked["a"]+acked["b"]+acked["c"] < kills {
		t.Errorf("only %v appends were acknowledged", acked)
	}
}

// kill starts the victim, kills it after a random number of acknowledgements, and notes the last ones.
func kill(t *testing.T, root string, rng *rand.Rand, acked map[string]int) {
	cmd := exec.Command(os.Args[0])
	for _, name := range victims {
		cmd.Args = append(cmd.Args, strconv.Itoa(acked[name]))
	}
	cmd.Env = append(os.Environ(), victimEnv+"="+root)
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())
	must(0, cmd.Start())
	lines := bufio.NewReader(out)
	killed := false
	for left := rng.IntN(24) - 5; ; left-- { // some at once
		if left <= 0 && !killed {
			must(0, cmd.Process.Kill())
			killed = true
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		var name string
		var n int
		must(fmt.Sscanf(line, "%s %d\n", &name, &n))
		acked[name] = n
	}
	cmd.Wait()
	if !killed {
		t.Errorf("the victim ended by itself: %v", cmd.ProcessState)
	}
}

// survives takes a session over from the process that was killed, and wants what that had acknowledged, and at most one
// entry more.
func survives(t *testing.T, root, name string, acked map[string]int, all bool) {
	t.Helper()
	ctx := context.Background()
	d := must(journal.Open(filepath.ToSlash(root), journal.Options{Rotate: 20_000}))
	defer d.Close()
	unlock, err := d.Lock(ctx, name)
	if err != nil {
		t.Fatalf("take %q over: %v", name, err)
	}
	there := 0
	if !all {
		there = max(0, acked[name]-10)
	}
	for f, err := range d.Read(ctx, name, entry.Seq(there)) {
		if errors.Is(err, journal.ErrNoSession) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		there++
		killedEntry(t, d, name, f)
	}
	if there < acked[name] || there > acked[name]+1 {
		t.Errorf("session %q has %d entries, %d were acknowledged", name, there, acked[name])
	}
	if all && there > 0 {
		if r := must(d.Check(ctx, name)); !r.Sound() {
			t.Errorf("check found %+v", r)
		}
	}
	acked[name] = there
	must(0, unlock())
}

func killedEntry(t *testing.T, d *journal.Dir, name string, f journal.Frame) {
	fact := f.Fact.(*entry.Request)
	want := killBody(name, int(f.Seq))
	if fact.N != int(f.Seq) || (fact.Body != nil) != (want != nil) {
		t.Fatalf("entry %d of %q is %+v", f.Seq, name, fact)
	}
	if want != nil && !bytes.Equal(must(d.Body(context.Background(), name, *fact.Body)), want) {
		t.Fatalf("the body of entry %d of %q is not what was put", f.Seq, name)
	}
}
