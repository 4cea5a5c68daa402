package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// importing is a store into which a test imports recordings.
type importing struct {
	t        testing.TB
	fs       *vfs.Mem
	store    *journal.Dir
	importer *ambit.Importer
}

var importedAt = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func newImporting(t testing.TB) *importing {
	t.Helper()
	i := &importing{t: t, fs: vfs.NewMem()}
	i.again()
	return i
}

// again opens the store anew, as another run of ambit import does.
func (i *importing) again() {
	i.t.Helper()
	if i.store != nil {
		i.store.Close()
	}
	var err error
	if i.store, err = journal.Open("/d", journal.Options{FS: i.fs, Now: func() time.Time { return importedAt }}); err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { i.store.Close() })
	if i.importer, err = ambit.NewImporter(i.t.Context(), i.store, func() time.Time { return importedAt }); err != nil {
		i.t.Fatal(err)
	}
}

func (i *importing) read(recording string) *ambit.Transcript {
	i.t.Helper()
	t, err := ambit.ReadTranscript("a.jsonl", []byte(recording))
	if err != nil {
		i.t.Fatal(err)
	}
	return t
}

// take imports a recording.
func (i *importing) take(recording string) ambit.Imported {
	i.t.Helper()
	done, err := i.importer.Import(i.t.Context(), i.read(recording))
	if err != nil {
		i.t.Fatal(err)
	}
	return done
}

func (i *importing) open(session string) *ambit.Recording {
	i.t.Helper()
	rec, err := ambit.OpenRecording(i.t.Context(), i.store, session)
	if err != nil {
		i.t.Fatal(err)
	}
	return rec
}

// files are all files of the store but locks, whose text is for people, with what they hold.
func (i *importing) files() map[string]string {
	i.t.Helper()
	all := make(map[string]string)
	var walk func(dir string)
	walk = func(dir string) {
		names, err := i.fs.List(dir)
		if err != nil {
			f, err := i.fs.Open(dir)
			if err != nil {
				i.t.Fatal(err)
			}
			defer f.Close()
			size, _ := f.Size()
			data := make([]byte, size)
			f.ReadAt(data, 0)
			all[dir] = string(data)
			return
		}
		for _, name := range names {
			if name != "lock" {
				walk(path.Join(dir, name))
			}
		}
	}
	walk("/d")
	return all
}

// outline is what the entries of a session say, a line each.
func (i *importing) outline(session string) string {
	i.t.Helper()
	rec := i.open(session)
	var b strings.Builder
	for f, err := range i.store.Read(i.t.Context(), session, 0) {
		if err != nil {
			i.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s ", f.Seq.Ref())
		switch f := f.Fact.(type) {
		case *entry.Session:
			fmt.Fprintf(&b, "session of %s\n", f.Client)
		case *entry.Imported:
			fmt.Fprintf(&b, "imported %s %s, %d lines\n", f.Format, f.Name, f.Lines)
		case *entry.Request:
			fmt.Fprintf(&b, "#%d asked in %s\n", f.N, f.Recorded.In.Ref())
		case *entry.Relation:
			fmt.Fprintf(&b, "#%d %s %s", f.N, f.Thread, f.How)
			if f.Parent != 0 {
				fmt.Fprintf(&b, " #%d", f.Parent)
			}
			if f.Call != "" {
				fmt.Fprintf(&b, " of #%d %s", f.Owner, f.Call)
			}
			b.WriteString("\n")
		case *entry.Response:
			fmt.Fprintf(&b, "#%d %s\n", f.N, f.End)
		}
		u, ok := f.Fact.(*entry.Unit)
		if !ok {
			continue
		}
		said, err := rec.Said(i.t.Context(), f.Seq)
		if err != nil {
			i.t.Fatal(err)
		}
		fmt.Fprintf(&b, "#%d %s %s L%d", u.N, u.Role, u.In.Ref(), u.Line)
		for _, text := range said.Texts {
			fmt.Fprintf(&b, " %q", text.Text)
		}
		for _, id := range u.Calls {
			b.WriteString(" +" + id)
		}
		for _, id := range u.Results {
			b.WriteString(" -" + id)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// is compares the outline of a session.
func (i *importing) is(session, want string) {
	i.t.Helper()
	if got := i.outline(session); got != strings.TrimLeft(want, "\n") {
		i.t.Errorf("%s is\n%s\nwant:%s", session, got, want)
	}
}

// finds is how a search for a text goes.
func (i *importing) finds(session, text string, branches ambit.Branches) string {
	i.t.Helper()
	a := i.open(session).Search(i.t.Context(), key, ambit.Query{Text: text, Branches: branches})
	return string(a.Status) + " " + string(a.Coverage)
}

// A recording of Claude Code, by lines.
const (
	line1 = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","version":"2.1.0","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"read \"both\"\nfiles"}}` + "\n"
	line2 = `{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"tool_use","id":"c1","name":"Read","input":{"path":"a.go"}}],"usage":{"input_tokens":9,"output_tokens":1}}}` + "\n"
	line3 = `{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"package a"}]}}` + "\n"
	line4 = `{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","timestamp":"2026-01-01T00:00:03Z","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"tool_use","id":"c2","name":"Task","input":{"prompt":"work"}}],"usage":{"input_tokens":9,"output_tokens":7}}}` + "\n"
	line5 = `{"type":"user","uuid":"r2","parentUuid":"a2","sessionId":"s","timestamp":"2026-01-01T00:00:04Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"worked"}]},"toolUseResult":{"agentId":"g"}}` + "\n"
	line6 = `{"type":"assistant","uuid":"a3","parentUuid":"r2","sessionId":"s","timestamp":"2026-01-01T00:00:05Z","message":{"id":"m2","role":"assistant","model":"c","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":12,"output_tokens":2}}}` + "\n"

	side1 = `{"type":"user","uuid":"y1","parentUuid":null,"isSidechain":true,"agentId":"g","sessionId":"s","timestamp":"2026-01-01T00:00:03Z","message":{"role":"user","content":"work"}}` + "\n"
	side2 = `{"type":"assistant","uuid":"y2","parentUuid":"y1","isSidechain":true,"agentId":"g","sessionId":"s","timestamp":"2026-01-01T00:00:04Z","message":{"id":"n1","role":"assistant","content":[{"type":"text","text":"at work"}]}}` + "\n"
)

// TestImport takes a recording in, and it is a session as any other; the same bytes again are nothing.
func TestImport(t *testing.T) {
	i := newImporting(t)
	whole := line1 + line2 + line3 + line4 + line5 + line6
	done := i.take(whole)
	if done.Turns != 2 || done.Already || done.Grown || done.Format != "claude-code" || !strings.HasPrefix(done.Session, "20260101-000000-") {
		t.Errorf("%+v", done)
	}
	i.is(done.Session, `
e1 session of claude-code/2.1.0
e2 imported claude-code a.jsonl, 6 lines
e3 #1 asked in e2
e4 #1 t1 root
e5 #1 complete
e6 #1 user e2 L1 "read \"both\"\nfiles"
e7 #1 assistant e2 L2 "a.go" +c1
e8 #2 asked in e2
e9 #2 t1 extends #1
e10 #2 complete
e11 #2 user e2 L3 "package a" -c1
e12 #1 assistant e2 L4 "work" +c2
e13 #2 user e2 L5 "worked" -c2
e14 #2 assistant e2 L6 "Done."
`)
	rec := i.open(done.Session)
	if got := rec.Title(t.Context()); got != `read "both" files` || !rec.Imported() || rec.Turns() != 2 || done.Entries != 14 {
		t.Errorf("title %q, %d turns, %+v", got, rec.Turns(), done)
	}
	for text, want := range map[string]string{"\"both\"\nfiles": "found complete", "package a": "found complete", "sessionId": "complete-miss complete"} {
		if got := i.finds(done.Session, text, ambit.CurrentBranch); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	a := rec.Read(t.Context(), key, ambit.Reading{Ref: "e6", StartLine: 2, EndLine: 2})
	if a.Status != "found" || a.Results[0].Text != "files" {
		t.Errorf("%+v", a)
	}
	if _, err := rec.Recorded(t.Context(), 1, false); !errors.Is(err, ambit.ErrNotRecorded) {
		t.Errorf("a request's body: %v", err)
	}
	before := i.files()
	for range 2 {
		if again := i.take(whole); !again.Already || again.Session != done.Session || again.Entries != 14 || again.Turns != 2 {
			t.Errorf("again: %+v", again)
		}
		i.again()
	}
	if after := i.files(); !mapsEqual(before, after) {
		t.Error("the same bytes again have changed the store")
	}
}

func mapsEqual(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, text := range a {
		if other, ok := b[name]; !ok || other != text {
			return false
		}
	}
	return true
}

// TestImportGrown takes a recording in as it grows, line by line: each time there is what is new, and what came of it.
func TestImportGrown(t *testing.T) {
	i := newImporting(t)
	first := i.take(line1 + line2 + line3)
	for n, more := range []string{line4, line5 + "\n", line6} {
		whole := line1 + line2 + line3 + strings.Join([]string{line4, line5 + "\n", line6}[:n+1], "")
		if done := i.take(whole); !done.Grown || done.Session != first.Session || done.Already {
			t.Fatalf("with %q: %+v", more, done)
		}
		i.again()
	}
	i.is(first.Session, `
e1 session of claude-code/2.1.0
e2 imported claude-code a.jsonl, 3 lines
e3 #1 asked in e2
e4 #1 t1 root
e5 #1 complete
e6 #1 user e2 L1 "read \"both\"\nfiles"
e7 #1 assistant e2 L2 "a.go" +c1
e8 #2 asked in e2
e9 #2 t1 extends #1
e10 #2 no-response
e11 #2 user e2 L3 "package a" -c1
e12 imported claude-code a.jsonl, 4 lines
e13 #1 complete
e14 #2 t1 extends #1
e15 #1 assistant e12 L4 "work" +c2
e16 imported claude-code a.jsonl, 6 lines
e17 #2 t1 extends #1
e18 #2 user e16 L5 "worked" -c2
e19 imported claude-code a.jsonl, 7 lines
e20 #2 complete
e21 #2 assistant e19 L7 "Done."
`)
	rec := i.open(first.Session)
	if rec.Turns() != 2 || i.finds(first.Session, "Done.", ambit.CurrentBranch) != "found complete" {
		t.Errorf("%d turns, %s", rec.Turns(), i.finds(first.Session, "Done.", ambit.CurrentBranch))
	}
	before := i.files()
	for _, version := range []string{line1 + line2 + line3, line1 + line2 + line3 + line4} {
		if done := i.take(version); !done.Already {
			t.Errorf("an earlier version: %+v", done)
		}
	}
	if !mapsEqual(before, i.files()) {
		t.Error("earlier versions have changed the store")
	}
}

// TestImportAnother takes a recording in that has the id of another, and says something else.
func TestImportAnother(t *testing.T) {
	i := newImporting(t)
	one := i.take(line1 + line2)
	before := i.outline(one.Session)
	other := i.take(strings.Replace(line1+line2, "files", "books", 1))
	if other.Session == one.Session || other.Grown || other.Already {
		t.Errorf("%+v", other)
	}
	if after := i.outline(one.Session); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
	for session, text := range map[string]string{one.Session: line1 + line2 + line3, other.Session: strings.Replace(line1+line2+line3, "files", "books", 1)} {
		if done := i.take(text); done.Session != session || !done.Grown {
			t.Errorf("%+v, want %s", done, session)
		}
	}
	shorter := i.take(line1) // a part of what is there, and of other bytes
	if shorter.Session == one.Session || shorter.Session == other.Session {
		t.Errorf("%+v", shorter)
	}
}

// TestImportAgent takes a sub-agent's recording in before and behind its parent's, and as it grows.
func TestImportAgent(t *testing.T) {
	main := line1 + line2 + line3 + line4 + line5
	for name, order := range map[string][]string{
		"after": {main, side1, side1 + side2}, "before": {side1, main, side1 + side2}, "long before": {side1, side1 + side2, main},
		"between": {line1 + line2, side1, main, side1 + side2},
	} {
		for _, anew := range []bool{false, true} {
			i := newImporting(t)
			sessions := make(map[string]bool)
			for _, recording := range order {
				sessions[i.take(recording).Session] = true
				if anew {
					i.again()
				}
			}
			if len(sessions) != 1 {
				t.Errorf("%s: %d sessions", name, len(sessions))
				continue
			}
			for session := range sessions {
				outline := i.outline(session)
				last := ""
				for line := range strings.Lines(outline) {
					if strings.Contains(line, " agent") {
						last = line
					}
				}
				// Where the parent came first without the call, its grown version came behind.
				if !strings.Contains(last, " of #") || !strings.HasSuffix(last, " c2\n") {
					t.Errorf("%s: the sub-agent is %q in\n%s", name, last, outline)
				}
				for _, text := range []string{`"at work"`, `"package a"`, `"worked"`} {
					if strings.Count(outline, text) != 1 {
						t.Errorf("%s: %s is there %d times in\n%s", name, text, strings.Count(outline, text), outline)
					}
				}
				if got := i.open(session).Title(t.Context()); got != `read "both" files` {
					t.Errorf("%s: title %q", name, got)
				}
			}
			before := i.files()
			for _, recording := range order {
				if done := i.take(recording); !done.Already {
					t.Errorf("%s: again: %+v", name, done)
				}
			}
			if !mapsEqual(before, i.files()) {
				t.Errorf("%s: the same bytes again have changed the store", name)
			}
		}
	}
}

// TestImportAgentsAgent takes in what a sub-agent's sub-agent recorded, in runs of their own.
func TestImportAgentsAgent(t *testing.T) {
	codex := func(id, parent, child string) string {
		source := ""
		if parent != "" {
			source = `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + parent + `"}}}`
		}
		return `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"` + id + `"` + source + "}}\n" +
			`{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"spawn_agent","arguments":"{\"message\":\"for ` + child + `\"}","call_id":"c-` + child + `"}}` + "\n" +
			`{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c-` + child + `","output":"{\"agent_id\":\"` + child + `\"}"}}` + "\n"
	}
	i := newImporting(t)
	var session string
	for n, recording := range []string{codex("a", "", "b"), codex("b", "a", "c"), codex("c", "b", "d")} {
		i.again()
		awaits, err := i.importer.Awaits(t.Context(), i.read(recording))
		if err != nil || awaits {
			t.Errorf("recording %d waits for its parent's: %v %v", n, awaits, err)
		}
		done := i.take(recording)
		if session == "" {
			session = done.Session
		}
		if done.Session != session {
			t.Errorf("recording %d is in %s, not %s", n, done.Session, session)
		}
	}
	outline := i.outline(session)
	for _, want := range []string{"agent of #1 c-b\n", "agent of #3 c-c\n"} {
		if !strings.Contains(outline, want) {
			t.Errorf("no %q in\n%s", want, outline)
		}
	}
	i.again()
	before := i.files()
	if done := i.take(codex("c", "b", "d")); !done.Already || !mapsEqual(before, i.files()) {
		t.Errorf("again: %+v", done)
	}
	if awaits, err := i.importer.Awaits(t.Context(), i.read(codex("y", "x", "z"))); err != nil || !awaits {
		t.Errorf("nobody waits: %v", err)
	}
}

// TestImportOpenCode takes in what one object says, and what it says later: it is written anew each time, so that
// everything stands elsewhere.
func TestImportOpenCode(t *testing.T) {
	export := func(title, part string, more ...string) string {
		return `{"info":{"id":"ses_1","title":"` + title + `"},` + "\n" + `"messages":[{"info":{"id":"m1","role":"user","time":{"created":1767225600000}},"parts":[{"type":"text","text":"begin"}]},` +
			`{"info":{"id":"m2","role":"assistant","time":{"created":1767225601000}},"parts":[{"type":"step-start"},` + part + `]}` + strings.Join(more, "") + `]}`
	}
	i := newImporting(t)
	one := i.take(export("A title", `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"ls"}}}`))
	two := i.take(export("Another\",\"version\":\"1", `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a b"}}`,
		`,{"info":{"id":"m3","role":"user","time":{"created":1767225605000}},"parts":[{"type":"text","text":"on"}]}`))
	three := i.take(export("Another\",\"version\":\"1", `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a b","time":{"compacted":1767225606000}}}`,
		`,{"info":{"id":"m3","role":"user","time":{"created":1767225605000}},"parts":[{"type":"text","text":"on"}]}`,
		`,{"info":{"id":"m4","role":"assistant","time":{"created":1767225607000}},"parts":[{"type":"step-start"},{"type":"text","text":"good"}]}`))
	if one.Session != two.Session || one.Session != three.Session || !two.Grown || !three.Grown {
		t.Errorf("%+v\n%+v\n%+v", one, two, three)
	}
	i.is(one.Session, `
e1 session of opencode
e2 imported opencode-export a.jsonl, 2 lines
e3 #1 asked in e2
e4 #1 t1 root
e5 #1 complete
e6 #1 user e2 L2 "begin"
e7 #1 assistant e2 L2 "ls" +c1
e8 imported opencode-export a.jsonl, 2 lines
e9 #1 assistant e8 L2 "ls" "a b" +c1 -c1
e10 #2 asked in e8
e11 #2 t1 extends #1
e12 #2 no-response
e13 #2 user e8 L2 "on"
e14 imported opencode-export a.jsonl, 2 lines
e15 #2 t1 client-edit #1
e16 #2 complete
e17 #2  e14 L0 -c1
e18 #2 assistant e14 L2 "good"
`)
	if got := i.open(one.Session).Title(t.Context()); got != "Another" {
		t.Errorf("title %q", got)
	}
}

// TestImportRaw takes in a log of requests, and gives their bodies as the log has them.
func TestImportRaw(t *testing.T) {
	ask := `{"model":"c","messages":[{"role":"user","content":"begin"}],"tools":[{"name":"Read"}]}`
	answer := `{"id":"m1","type":"message","role":"assistant","content":[{"type":"text","text":"beg\u0075n"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":1}}`
	i := newImporting(t)
	first := `{"request":{"timestamp":1767225600,"url":"https://api.anthropic.com/v1/messages?beta=true","body":` + ask + `},"response":{"status_code":200,"headers":{"content-type":"application/json"},"body":` + answer + `}}` + "\n"
	done := i.take(first)
	rec := i.open(done.Session)
	for response, want := range map[bool]string{false: ask, true: answer} {
		if got, err := rec.Recorded(t.Context(), 1, response); string(got) != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	asked, err := rec.Asked(t.Context(), 1)
	if err != nil || len(asked.Elements.Messages) != 1 {
		t.Errorf("%+v %v", asked, err)
	}
	for _, text := range []string{"begin", "begun"} {
		if got := i.finds(done.Session, text, ambit.CurrentBranch); got != "found complete" {
			t.Errorf("%q: %s", text, got)
		}
	}
	second := `{"request":{"timestamp":1767225601,"url":"https://api.anthropic.com/v1/messages","body":{"model":"c","messages":[{"role":"user","content":"more"}],"tools":[{"name":"Read"}]}},"response":null}` + "\n"
	if again := i.take(first + second); again.Session != done.Session || !again.Grown || again.Entries-done.Entries != 5 {
		t.Errorf("%+v\n%s", again, i.outline(done.Session))
	}
	if other := i.take(strings.Replace(first, "nput_tokens\":5", "nput_tokens\":6", 1)); other.Session == done.Session {
		t.Errorf("%+v", other)
	}
}

// TestImportPurged makes a new session of a recording whose own was purged.
func TestImportPurged(t *testing.T) {
	i := newImporting(t)
	one := i.take(line1 + line2)
	unlock, err := i.store.Lock(t.Context(), one.Session)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.store.Purge(t.Context(), one.Session); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if got := i.finds(one.Session, "both", ambit.CurrentBranch); got != "partial partial" {
		t.Errorf("of what was purged: %s", got)
	}
	if title := i.open(one.Session).Title(t.Context()); title != "" {
		t.Errorf("title %q", title)
	}
	two := i.take(line1 + line2)
	if two.Session == one.Session || two.Already || i.finds(two.Session, "both", ambit.CurrentBranch) != "found complete" {
		t.Errorf("%+v", two)
	}
	i.again()
	for recording, already := range map[string]bool{line1 + line2: true, line1 + line2 + line3: false} {
		if done := i.take(recording); done.Session != two.Session || done.Already != already {
			t.Errorf("%+v, want %s", done, two.Session)
		}
	}
}

// TestImportBusy leaves a session alone that another process holds.
func TestImportBusy(t *testing.T) {
	i := newImporting(t)
	one := i.take(line1 + line2)
	holder, err := journal.Open("/d", journal.Options{FS: i.fs})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	unlock, err := holder.Lock(t.Context(), one.Session)
	if err != nil {
		t.Fatal(err)
	}
	before := i.files()
	var busy *journal.BusyError
	if _, err := i.importer.Import(t.Context(), i.read(line1+line2+line3)); !errors.As(err, &busy) {
		t.Errorf("a session that is held: %v", err)
	}
	if !mapsEqual(before, i.files()) {
		t.Error("it was changed")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if done := i.take(line1 + line2 + line3); !done.Grown {
		t.Errorf("%+v", done)
	}
}

// TestImportFork goes on from a session that was imported: what both have is read in both.
func TestImportFork(t *testing.T) {
	i := newImporting(t)
	one := i.take(line1 + line2 + line3)
	if err := ambit.Fork(t.Context(), i.store, one.Session, 9, entry.Session{ID: "fork"}); err != nil {
		t.Fatal(err)
	}
	rec := i.open("fork")
	said, err := rec.Said(t.Context(), 6)
	if err != nil || len(said.Texts) != 1 || said.Texts[0].Text != "read \"both\"\nfiles" {
		t.Errorf("%+v %v", said, err)
	}
	if a := rec.Search(t.Context(), key, ambit.Query{Text: "a.go"}); a.Status != "found" {
		t.Errorf("%+v", a)
	}
	if done := i.take(line1 + line2 + line3 + line4); done.Session != one.Session || !done.Grown {
		t.Errorf("%+v", done)
	}
}

// TestImportRewound gives an agent nothing of what the person went back from, and people all of it.
func TestImportRewound(t *testing.T) {
	said := func(id, parent, text string) string {
		return `{"type":"user","uuid":"` + id + `","parentUuid":"` + parent + `","sessionId":"s","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	i := newImporting(t)
	done := i.take(line1 + line2 + line3 + line6 + said("u2", "a3", "left behind") + said("u3", "a3", "instead"))
	for text, want := range map[string][2]string{
		"left behind": {"complete-miss complete", "found complete"}, "instead": {"found complete", "found complete"}, "package a": {"found complete", "found complete"},
	} {
		for branches, status := range want {
			if got := i.finds(done.Session, text, ambit.Branches(branches)); got != status {
				t.Errorf("%q on %d: %s, want %s", text, branches, got, status)
			}
		}
	}
}

// TestImportUnread proves nothing absent from a recording of which a part cannot be read.
func TestImportUnread(t *testing.T) {
	i := newImporting(t)
	done := i.take(line1 + line2[:90] + "\n" + line3)
	if len(done.Warnings) != 1 || done.Warnings[0].Line != 2 {
		t.Errorf("%+v", done.Warnings)
	}
	for text, want := range map[string]string{"package a": "found partial", "not there": "partial partial"} {
		if got := i.finds(done.Session, text, ambit.CurrentBranch); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if again := i.take(line1 + line2[:90] + "\n" + line3 + line6); !again.Grown || strings.Count(i.outline(again.Session), "#0") != 1 {
		t.Errorf("%+v\n%s", again, i.outline(again.Session))
	}
}

// TestImportHalfALine takes in what ends in the middle of a line, as it is when its agent is at work. Once the line is
// whole, everything is there.
func TestImportHalfALine(t *testing.T) {
	i := newImporting(t)
	var session string
	for _, c := range []struct{ recording, miss string }{
		{line1, "complete-miss complete"},
		{line1 + line2[:50], "partial partial"},
		{line1 + line2[:90], "partial partial"},
		{line1 + line2, "complete-miss complete"},
		{line1 + line2 + line3[:70], "partial partial"},
		{line1 + line2 + line3[:70] + "\n", "partial partial"},
		{line1 + line2 + line3[:70] + "\n" + line6, "partial partial"},
	} {
		done := i.take(c.recording)
		if session == "" {
			session = done.Session
		}
		if done.Session != session {
			t.Fatalf("%q is in a session of its own", c.recording)
		}
		if got := i.finds(session, "not there", ambit.CurrentBranch); got != c.miss {
			t.Errorf("%q: %s, want %s\n%s", c.recording, got, c.miss, i.outline(session))
		}
	}
}

// TestImportCrash fails each operation of an import, and then all from there on, and crashes: a session is there whole or
// not at all, and the import can be done again.
func TestImportCrash(t *testing.T) {
	full := func(m *vfs.Mem) (outlines []string) {
		i := &importing{t: t, fs: m}
		i.again()
		all, err := i.store.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			report, err := i.store.Check(t.Context(), name)
			if err != nil || len(report.Damage) > 0 || len(report.Mismatches) > 0 {
				t.Fatalf("%s: %+v %v", name, report, err)
			}
			outlines = append(outlines, i.outline(name))
		}
		return outlines
	}
	start := newImporting(t)
	start.take(line1 + line2 + line3)
	start.store.Close()
	small := full(start.fs.Crash(vfs.Kept, nil))
	start.again()
	start.take(line1 + line2 + line3 + line4)
	start.store.Close()
	grown := full(start.fs.Crash(vfs.Kept, nil))

	attempt := func(m *vfs.Mem, recording string, inject func(vfs.Op, string) error) (ops int, err error) {
		fault := &vfs.Fault{FS: m}
		store, err := journal.Open("/d", journal.Options{FS: fault, Now: func() time.Time { return importedAt }})
		if err != nil {
			return 0, err
		}
		defer store.Close()
		importer, err := ambit.NewImporter(t.Context(), store, func() time.Time { return importedAt })
		if err != nil {
			return 0, err
		}
		read, err := ambit.ReadTranscript("a.jsonl", []byte(recording))
		if err != nil {
			return 0, err
		}
		before := fault.Ops()
		fault.SetInject(inject)
		_, err = importer.Import(t.Context(), read)
		fault.SetInject(nil)
		return fault.Ops() - before, err
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		before, recording string
		was, is           []string
	}{{"", line1 + line2 + line3, nil, small}, {line1 + line2 + line3, line1 + line2 + line3 + line4, small, grown}} {
		base := vfs.NewMem()
		if c.before != "" {
			if _, err := attempt(base, c.before, nil); err != nil {
				t.Fatal(err)
			}
		}
		ops, err := attempt(base.Crash(vfs.Kept, nil), c.recording, nil)
		if err != nil || ops < 10 {
			t.Fatal(ops, err)
		}
		for n := range ops {
			for how, inject := range map[string]func(vfs.Op, string) error{"at": vfs.Nth(n, broken), "from": vfs.From(n, broken)} {
				for _, loss := range []vfs.Loss{vfs.Kept, vfs.Dropped} {
					m := base.Crash(vfs.Kept, nil)
					_, err := attempt(m, c.recording, inject)
					m = m.Crash(loss, nil)
					got := full(m)
					if !slices.Equal(got, c.was) && !slices.Equal(got, c.is) || err == nil && !slices.Equal(got, c.is) {
						t.Fatalf("%s %d, %v, %v: %q", how, n, loss, err, got)
					}
					if _, err := attempt(m, c.recording, nil); err != nil {
						t.Fatalf("%s %d: again: %v", how, n, err)
					}
					if got := full(m); !slices.Equal(got, c.is) {
						t.Fatalf("%s %d, %v: again: %q", how, n, loss, got)
					}
				}
			}
		}
	}
}

// TestImportCanceled does nothing once its context is done.
func TestImportCanceled(t *testing.T) {
	i := newImporting(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.importer.Import(ctx, i.read(line1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if all, err := i.store.Sessions(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%q %v", all, err)
	}
	if _, err := ambit.ReadTranscript("x", bytes.Repeat([]byte{0}, 10)); !errors.Is(err, ambit.ErrFormat) {
		t.Error(err)
	}
}
