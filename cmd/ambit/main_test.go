package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSpelling(t *testing.T) {
	for arg, want := range map[string]string{
		"ambit": "ambit", "bin/ambit": "bin/ambit", "./ambit": "./ambit", "/usr/bin/ambit": "/usr/bin/ambit", "/my programs/ambit": "'/my programs/ambit'", "": "ambit",
	} {
		if got := spelling(arg); got != want {
			t.Errorf("%q is spelled %q, want %q", arg, got, want)
		}
	}
}

// TestHintsAsTyped: a hint calls the command as it was called.
func TestHintsAsTyped(t *testing.T) {
	for call, want := range map[string]string{
		"nosuch": "bin/ambit --help", "sesions": "bin/ambit sessions", "help sesions": "bin/ambit sessions", "help nosuch": "bin/ambit --help",
		"log": "bin/ambit log --help", "log last": "bin/ambit demo records a session",
	} {
		e, _, said := testEnv(map[string]string{"HOME": t.TempDir()})
		e.name = "bin/ambit"
		if status := run(t.Context(), e, strings.Fields(call)); status == exitDone || !strings.HasSuffix(said.String(), "\nambit: hint: "+want+"\n") {
			t.Errorf("%s: status %d, %q, want the hint %q", call, status, said, want)
		}
	}
}

// full is an output that takes so many bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

// TestFullOutput: a command whose answer does not arrive whole fails and says so in one line, whichever it is.
func TestFullOutput(t *testing.T) {
	dir := fullHome(t)
	for _, call := range []string{
		"", "--help", "help log", "log --help", "completion bash", "version", "version --json", "sessions", "sessions --json", "check", "check --json",
		"log a-full", "log a-full --json", "request a-full --list", "request a-full --list --json", "request a-full 1", "request a-full 1 --json",
		"export a-full", "reindex a-full", "reindex a-full --json",
	} {
		for _, left := range []int{0, 5} {
			e, _, said := testEnv(map[string]string{"AMBIT_HOME": dir})
			e.out = &full{left}
			status := run(t.Context(), e, strings.Fields(call))
			lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
			if want := "ambit: cannot print the answer: no space left on device"; status != exitFail || lines[len(lines)-1] != want {
				t.Errorf("ambit %s: status %d, %q", call, status, said)
			}
			// What is said of damage and of a body that ended early stands before it.
			if len(lines) != 1 && call != "check" && call != "sessions" && call != "request a-full 1" {
				t.Errorf("ambit %s says %d lines: %q", call, len(lines), said)
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, _, said := testEnv(map[string]string{"AMBIT_HOME": fullHome(t)})
	e.out = io.Discard
	if status := run(ctx, e, []string{"check"}); status != exitFail || said.String() != "ambit: interrupted\n" {
		t.Errorf("status %d, %q", status, said)
	}
}
