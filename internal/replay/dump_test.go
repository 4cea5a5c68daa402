package replay

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDumpOfRecordings lowers every request of recordings in which exchanges broke off, and of some others: all of them are
// bodies that a provider takes.
func TestDumpOfRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred megabytes of bodies are made")
	}
	for _, f := range sharedFiles(t, "claude-code", "opencode-export", "copilot-cli", "odd/claude-code", "openai-chat-requests") {
		if name := filepath.Base(f.Path); strings.Contains(name, "cli--0") || strings.Contains(name, "ses_336") {
			continue // long, and like others
		}
		policies, err := Choose([]string{"append_only", "mask_last_n"})
		if err != nil {
			t.Fatal(err)
		}
		r := Run(f, Options{Policies: policies, Keep: true})
		bodies := 0
		err = r.Dump(func(d Dumped) error {
			bodies += one(!strings.HasSuffix(d.Name, ".jsonl"))
			return nil
		})
		if err != nil || bodies < 2*r.Compared {
			t.Errorf("%s: %d bodies of %d turns: %v", f.Path, bodies, r.Compared, err)
		}
	}
}
