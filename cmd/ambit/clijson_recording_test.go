package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// brokenRecording writes a recording of Claude Code whose cache broke: by a rewind, a pause and a compaction.
func brokenRecording(t *testing.T) string {
	t.Helper()
	r := recordingOf{at: time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)}
	r.turn("begin", 20*time.Second, 0, 9000)
	r.turn("go on", 20*time.Second, 9000, 500)
	r.parent = "u2"
	r.turn("rather this", 20*time.Second, 4000, 5600)
	r.turn("after lunch", time.Hour, 0, 9600)
	r.line(`"type":"system","subtype":"compact_boundary"`)
	r.compacted = true
	r.turn("This session is being continued.", 20*time.Second, 2000, 3000)
	path := filepath.Join(t.TempDir(), "broken.jsonl")
	if err := os.WriteFile(path, []byte(r.b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// recordingOf is a recording of Claude Code that is being written.
type recordingOf struct {
	b         strings.Builder
	at        time.Time
	n         int
	parent    string // of the next line, where that is not the one before
	compacted bool   // what comes next stands in the place of all before it
}

func (r *recordingOf) line(members string) {
	if r.parent == "" {
		r.parent = fmt.Sprint("u", r.n)
	}
	r.n++
	fmt.Fprintf(&r.b, `{"uuid":"u%d","parentUuid":%q,"sessionId":"s","version":"2.1.0","timestamp":%q,%s}`+"\n", r.n, r.parent, r.at.Format(time.RFC3339), members)
	r.parent = ""
}

// turn is a prompt and its answer, so long after the one before, with what was read from and written to the cache.
func (r *recordingOf) turn(text string, later time.Duration, read, write int) {
	r.at = r.at.Add(later)
	r.line(fmt.Sprintf(`"type":"user","isCompactSummary":%v,"message":{"role":"user","content":%q}`, r.compacted, text))
	r.at = r.at.Add(2 * time.Second)
	r.line(fmt.Sprintf(`"type":"assistant","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],`+
		`"usage":{"input_tokens":3,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":40}}`, r.n, read, write))
	r.compacted = false
}

// prunedRecording writes a recording of Claude Code in which a result was taken out.
func prunedRecording(t *testing.T) string {
	t.Helper()
	r := recordingOf{at: time.Date(2026, 2, 2, 9, 0, 0, 0, time.UTC)}
	r.turn("Prune this.", 20*time.Second, 0, 9000)
	r.line(`"type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"c1","name":"Read","input":{"path":"a"}}]}`)
	r.line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"what is in it"}]}`)
	r.line(`"type":"system","subtype":"microcompact_boundary","microcompactMetadata":{"compactedToolIds":["c1"]}`)
	r.turn("Now.", 20*time.Second, 9000, 100)
	path := filepath.Join(t.TempDir(), "pruned.jsonl")
	if err := os.WriteFile(path, []byte(r.b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// callsRecording writes a recording of Claude Code with so many calls that a checkpoint can stand for the first of them.
func callsRecording(t *testing.T) string {
	t.Helper()
	r := recordingOf{at: time.Date(2026, 2, 3, 9, 0, 0, 0, time.UTC)}
	r.turn("Fix the build in /srv/app.", 20*time.Second, 0, 9000)
	for i := range 60 {
		r.at = r.at.Add(20 * time.Second)
		r.line(fmt.Sprintf(`"type":"assistant","message":{"id":"a%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q},{"type":"tool_use","id":"toolu_%016d","name":"Bash","input":{"command":"go build /srv/app/part/%d"}}]}`, i, strings.Repeat("I look further. ", 40), i, i))
		r.line(fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%016d","content":"total 0"}]}`, i))
	}
	r.turn("And now?", 20*time.Second, 9000, 100)
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte(r.b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// importedCalls imports that, and returns the session's name.
func importedCalls(t *testing.T, dir string) string {
	t.Helper()
	e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
	if run(t.Context(), e, []string{"import", callsRecording(t), "--json"}) != 0 {
		t.Fatal(said)
	}
	_, name, _ := strings.Cut(out.String(), `"session":"`)
	name, _, _ = strings.Cut(name, `"`)
	return name
}
