package replay

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// all are the comparison policies and Ambit's own behind them.
func all() []Policy { return append(Comparison(), Own()...) }

// TestRecountOwn counts Ambit's own policies again, of which a made recording and one of another agent give every kind of edit.
// covers: I-08 part
// covers: N-09 part
func TestRecountOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	agree(t, Options{Policies: all()}, map[string][]byte{"a.jsonl": madeClaude(t, time.Date(2026, 2, 9, 18, 13, 53, 0, time.UTC), 40)})
	name := "claude-code/cli--58e50d6c-eec7-4ae4.jsonl"
	data, err := os.ReadFile(filepath.Join(sharedDir(t, "."), name))
	if err != nil {
		t.Fatal(err)
	}
	agree(t, Options{Policies: all()}, map[string][]byte{name: data})
}
