package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs the command in a data directory, wants a status, and returns what it printed.
func call(t *testing.T, dir string, status int, args ...string) (out, said string) {
	t.Helper()
	e, printed, told := testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(t.Context(), e, args); got != status {
		t.Fatalf("ambit %q: status %d, want %d: %s", args, got, status, told)
	}
	return printed.String(), told.String()
}

// TestCompactImported: a checkpoint of an imported session is a record in it, which check, export, import and a later version
// of the recording leave as it is.
//
// covers: J-09 part
// covers: P-12 part
func TestCompactImported(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	recording := callsRecording(t)
	taken, _ := call(t, dir, 0, "import", recording, "--json")
	_, s, _ := strings.Cut(taken, `"session":"`)
	s, _, _ = strings.Cut(s, `"`)
	if _, said := call(t, dir, 1, "view", s, "--checkpoint"); !strings.Contains(said, "has no checkpoint") || !strings.Contains(said, "hint: ambit compact "+s+" makes one") {
		t.Error(said)
	}
	var made compacted
	out, _ := call(t, dir, 0, "compact", s, "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Stage != "compact" || made.EstAfter >= made.EstBefore || made.Changes != 0 || made.Checkpoint == 0 {
		t.Errorf("%s %v", out, err)
	}
	yaml, _ := call(t, dir, 0, "view", s, "--checkpoint")
	out, _ = call(t, dir, 0, "view", s, "--checkpoint", "--json")
	var shown shownCheckpoint
	if err := json.Unmarshal([]byte(out), &shown); err != nil || strings.TrimSuffix(shown.Checkpoint, "\n") != strings.TrimSuffix(yaml, "\n") || shown.Decision != made.Decision || shown.Thread != "t1" {
		t.Errorf("%s %v", out, err)
	}
	call(t, dir, 0, "check", s)
	call(t, dir, 2, "view", s, "--checkpoint", "--full")
	if _, said := call(t, dir, 1, "view", s, "--checkpoint", "--thread", "t9"); !strings.Contains(said, `has no thread "t9"`) || strings.Contains(said, "compact") {
		t.Error(said)
	}

	export, _ := call(t, dir, 0, "export", s)
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	call(t, other, 0, "import", file)
	call(t, other, 0, "check")
	if again, _ := call(t, other, 0, "view", "last", "--checkpoint"); again != yaml {
		t.Errorf("%q became %q", yaml, again)
	}
	if again, _ := call(t, other, 0, "export", "last"); again != export {
		t.Error("the export is another one")
	}
	if _, said := call(t, other, 1, "compact", "last"); !strings.Contains(said, "evidence") {
		t.Error(said)
	}

	// The recording has grown since.
	text, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	last := strings.TrimSuffix(lines[len(lines)-1], "\n")
	more := strings.Replace(strings.Replace(last, `"uuid":"u`, `"uuid":"v`, 1), `"id":"m`, `"id":"n`, 1)
	if err := os.WriteFile(recording, append(text, more+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := call(t, dir, 0, "import", recording, "--json"); !strings.Contains(out, `"grown":true`) || !strings.Contains(out, s) {
		t.Error(out)
	}
	call(t, dir, 0, "check", s)
	if again, _ := call(t, dir, 0, "view", s, "--checkpoint"); again != yaml {
		t.Errorf("%q became %q", yaml, again)
	}
}
