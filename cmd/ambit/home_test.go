package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ambit/entry"
	"ambit/journal"
)

// testEnv is a world with these variables, whose output goes to out and err.
func testEnv(vars map[string]string) (e *env, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	return &env{in: strings.NewReader(""), out: out, err: err, getenv: func(name string) string { return vars[name] }, now: time.Now}, out, err
}

func TestHome(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ambitHome, home, want string }{
		{"", "/users/a", "/users/a/.ambit"},
		{"/data", "/users/a", "/data"},
		{"/data/", "", "/data"},
		{"data", "/users/a", filepath.Join(here, "data")},
	} {
		e, _, _ := testEnv(map[string]string{"AMBIT_HOME": c.ambitHome, "HOME": c.home})
		if got, err := e.home(); err != nil || got != c.want {
			t.Errorf("with AMBIT_HOME=%q HOME=%q it is %q (%v), want %q", c.ambitHome, c.home, got, err, c.want)
		}
	}
	e, _, _ := testEnv(nil)
	var usage *usageError
	if _, err := e.home(); !errors.As(err, &usage) {
		t.Errorf("without HOME: %v", err)
	}
}

// madeSessions makes sessions with one entry each.
func madeSessions(t *testing.T, dir string, names ...string) *journal.Dir {
	t.Helper()
	d, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	for _, name := range names {
		appendFacts(t, d, name, &entry.Session{ID: name})
	}
	return d
}

func appendFacts(t *testing.T, d *journal.Dir, name string, facts ...entry.Fact) {
	t.Helper()
	unlock, err := d.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Append(t.Context(), name, facts...); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestSession(t *testing.T) {
	d := madeSessions(t, t.TempDir(), "20260101-a", "20260101-ab", "20260102-b")
	for name, title := range map[string]string{
		"20260103-c": "mine", "20260104-d": "mine", "20260105-e": "2026", "20260106-f": "20260101-a", "last-one": "last", "last-two": "20260102",
	} {
		appendFacts(t, d, name, &entry.Session{ID: name, Title: title}, &entry.Gap{})
	}
	e, _, _ := testEnv(nil)
	e.name = "bin/ambit"
	for arg, want := range map[string]string{
		"20260101-a":  "20260101-a", // the name itself, though another begins with it
		"20260101-ab": "20260101-ab",
		"20260102":    "20260102-b", // the beginning of a name goes before a title
		"last":        "last-two",   // not the one that has it for its title
		"last-o":      "last-one",
		"mine":        "20260104-d", // a title: the newest that has it
		"2026":        "20260105-e", // a title, where the beginning of several names is none of them
	} {
		if got, err := e.session(t.Context(), d, arg); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", arg, got, err, want)
		}
	}
	for arg, want := range map[string]string{
		"20260": `7 sessions begin with "20260"`, "min": `no session "min"`, "": `no session ""`, "c": `no session "c"`, "../x": `no session "../x"`,
		"LAST": `no session "LAST"`, "20260102-b/": `no session "20260102-b/"`, "*": `no session "*"`,
	} {
		_, err := e.session(t.Context(), d, arg)
		var hinted *hintError
		if !errors.As(err, &hinted) || err.Error() != want || !strings.HasPrefix(hinted.hint, "bin/ambit sessions ") {
			t.Errorf("%q: %v, want %s", arg, err, want)
		}
	}
	if names, err := e.some(t.Context(), d, nil); err != nil || len(names) != 9 {
		t.Errorf("all sessions are %v, %v", names, err)
	}
	if names, err := e.some(t.Context(), d, []string{"last", "20260102", "last-t"}); err != nil || strings.Join(names, " ") != "last-two 20260102-b" {
		t.Errorf("some sessions are %v, %v", names, err)
	}
	if _, err := e.session(t.Context(), madeSessions(t, t.TempDir()), "last"); err == nil {
		t.Error("no session is the last of none")
	}
}

// TestReadMakesNothing: opening for reading what is not there leaves it so.
func TestReadMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	e, _, _ := testEnv(map[string]string{"AMBIT_HOME": dir})
	_, err := e.read(nil)
	var hinted *hintError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &hinted) {
		t.Errorf("read: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data directory was made: %v", err)
	}
}

func TestSecret(t *testing.T) {
	dir := t.TempDir()
	first, err := secret(dir)
	if err != nil || len(first) != 32 {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	info, err := os.Stat(filepath.Join(dir, "secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if again, err := secret(dir); err != nil || !bytes.Equal(again, first) {
		t.Errorf("it is another one the next time: %v", err)
	}
	// Half a file is not ours to replace: another process may know its clients by what was there.
	if err := os.WriteFile(filepath.Join(dir, "secret"), first[:7], 0o600); err != nil {
		t.Fatal(err)
	}
	var hinted *hintError
	if _, err := secret(dir); !errors.As(err, &hinted) {
		t.Errorf("with half a file: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	together := t.TempDir()
	keys := make(chan string, 8)
	for range cap(keys) {
		go func() {
			key, err := secret(together)
			keys <- fmt.Sprint(key, err)
		}()
	}
	for one, i := <-keys, 1; i < cap(keys); i++ {
		if other := <-keys; other != one {
			t.Errorf("two that were first have %s and %s", one, other)
		}
	}
	if _, err := secret(filepath.Join(dir, "none")); err == nil {
		t.Error("it was written into a folder that is not there")
	}
}
