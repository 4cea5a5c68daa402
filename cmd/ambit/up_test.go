package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ambit/entry"
)

// held starts ambit up and has a request wait for an answer that never comes by itself.
func held(t *testing.T) (*upProcess, *upstream) {
	t.Helper()
	up := newUpstream()
	t.Cleanup(up.stop)
	came := make(chan struct{})
	up.answer("/v1/slow", upstreamAnswer{status: http.StatusOK, hold: make(chan struct{}), came: func() { close(came) }})
	dir := t.TempDir()
	p, err := startUp(t.Context(), dir, childEnv(dir), "--upstream", "anthropic="+up.URL)
	if err != nil {
		t.Fatal(err)
	}
	go sendRequest(t.Context(), http.MethodPost, p.url+"/anthropic/v1/slow", http.Header{}, []byte("{}"))
	select {
	case <-came:
	case <-time.After(patience):
		t.Fatal("the request never came")
	}
	return p, up
}

// interrupt presses Ctrl-C and waits until the process says something.
func interrupt(t *testing.T, p *upProcess, says string) {
	t.Helper()
	heard := p.err.hears(says)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(patience):
		t.Fatalf("it never says %q:\n%s", says, p.err.String())
	}
}

const stopping = "ambit: stopping: waiting up to 5 seconds for requests under way, and for what passed to be recorded; Ctrl-C again ends at once\n"

// TestStopping: the first Ctrl-C lets requests under way end, and says so when there are any.
func TestStopping(t *testing.T) {
	p, up := held(t)
	interrupt(t, p, stopping)
	up.release("/v1/slow")
	if err := <-p.exited; err != nil {
		t.Errorf("ambit up: %v", err)
	}
	if want := stopping + "ambit: recorded 1 request in 1 session; nothing was missed\n"; !strings.HasSuffix(p.err.String(), want) {
		t.Errorf("it says %q at the end, want %q", p.err.String(), want)
	}
}

// TestSecondInterrupt: the second Ctrl-C ends the process at once.
func TestSecondInterrupt(t *testing.T) {
	p, _ := held(t)
	interrupt(t, p, stopping)
	start := time.Now()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	state := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if took := time.Since(start); !state.Signaled() || state.Signal() != syscall.SIGINT || took > grace/2 {
		t.Errorf("it ends as %v after %v", p.cmd.ProcessState, took)
	}
}

// TestCheckMissing: what passed unrecorded is counted, and is no damage.
func TestCheckMissing(t *testing.T) {
	dir := t.TempDir()
	d := madeSessions(t, dir)
	for _, name := range []string{"a", "b"} {
		appendFacts(t, d, name, &entry.Session{ID: name}, &entry.Gap{Exchanges: 2, Bytes: 7, Cause: "no space left on device", Since: time.Now()})
	}
	for args, want := range map[string]string{
		"check":        "\n4 requests or responses passed unrecorded; the gap entries of bin/ambit log say why\n",
		"check a":      "\n2 requests or responses passed unrecorded; the gap entries of bin/ambit log say why\n",
		"check --json": `,"missing":4,"mismatches":[],"damage":[]}` + "\n",
	} {
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
		e.name = "bin/ambit"
		if status := run(t.Context(), e, strings.Fields(args)); status != exitDone || !strings.HasSuffix(out.String(), want) || said.Len() > 0 {
			t.Errorf("ambit %s: status %d, %q, %q", args, status, out, said)
		}
	}
}

// TestFullDevice: the same as TestFullOutput with a device that is full, and a process of its own.
func TestFullDevice(t *testing.T) {
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		device, err = os.Open(os.DevNull) // it cannot be written to either
	}
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	c := exec.CommandContext(t.Context(), "ambit", "version")
	var said bytes.Buffer
	c.Stdout, c.Stderr, c.Env = device, &said, childEnv(t.TempDir())
	err = c.Run()
	if want := `^ambit: cannot print the answer: write /dev/stdout: .+\n$`; c.ProcessState.ExitCode() != exitFail || !regexp.MustCompile(want).MatchString(said.String()) {
		t.Errorf("it ends as %v and says %q", err, said.String())
	}
}
