package excerpt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ambit/internal/excerpt"
)

// recorded reads the steps of recordings of Claude Code, which are JSON lines of messages; a test that needs them is
// skipped without.
func recorded(t testing.TB) map[string][]excerpt.Step {
	t.Helper()
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(dir, "transcripts", "claude-code", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recorded sessions in %s; set AMBIT_SHARED", dir)
	}
	all := map[string][]excerpt.Step{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if s, ok := recordedStep(line); ok {
				s.Ref = fmt.Sprintf("e%d.aaaa", n)
				all[filepath.Base(file)] = append(all[filepath.Base(file)], s)
			}
		}
	}
	return all
}

// block is a part of a message of the Messages API.
type block struct {
	Type, Text, ID, Name string
	Input, Content       json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	IsError              bool   `json:"is_error"`
}

// blocks reads a content, which may be one text.
func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []block
	_ = json.Unmarshal(raw, &all)
	return all
}

func recordedStep(line []byte) (excerpt.Step, bool) {
	var r struct {
		Type        string
		IsSidechain bool
		Message     struct{ Content json.RawMessage }
	}
	if json.Unmarshal(line, &r) != nil || r.IsSidechain || r.Type != "user" && r.Type != "assistant" {
		return excerpt.Step{}, false
	}
	s := excerpt.Step{Role: excerpt.Role(r.Type)}
	for _, b := range blocks(r.Message.Content) {
		switch b.Type {
		case "text":
			s.Texts = append(s.Texts, b.Text)
		case "tool_use":
			s.Calls = append(s.Calls, excerpt.Call{ID: b.ID, Tool: b.Name, Args: b.Input})
		case "tool_result":
			var text strings.Builder
			for _, part := range blocks(b.Content) {
				text.WriteString(part.Text)
			}
			s.Results = append(s.Results, excerpt.Result{Call: b.ToolUseID, Text: text.String(), Failed: b.IsError})
		}
	}
	return s, true
}

// TestRecordings extracts checkpoints of recorded sessions: they parse, invent nothing, lose no constraint, and are within
// their bounds but for constraints.
// covers: X-05 part
// covers: N-08 part
func TestRecordings(t *testing.T) {
	files, commands := 0, 0
	for name, steps := range recorded(t) {
		c := excerpt.Extract(steps, excerpt.Options{})
		if _, err := excerpt.Parse([]byte(c.YAML())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, found := excerpt.Verify(c, steps, nil, nil); len(found.Invented) > 0 {
			t.Errorf("%s: %q", name, found.Invented)
		}
		held := 0
		for _, d := range c.Decisions {
			if strings.HasPrefix(d, "User: ") {
				held += len(d) + 30
			}
		}
		if n := len(c.YAML()); n > max(8<<10, 6<<10+held) {
			t.Errorf("%s: %d bytes with constraints of %d", name, n, held)
		}
		for _, a := range excerpt.Trail(steps) {
			if a.Path != "" {
				files++
			} else {
				commands++
			}
		}
	}
	if files < 100 || commands < 300 {
		t.Errorf("%d files and %d commands", files, commands)
	}
	t.Logf("%d files and %d commands", files, commands)
}
