package ambit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/anthropic"
)

// history records a request of Anthropic's that holds a whole conversation: so many calls of a tool, with short
// results, of which no single one is worth replacing.
func (s *shelf) history(calls int) { s.called(calls, "") }

// called records a request that holds so many calls of a tool, each of whose results ends with a text.
func (s *shelf) called(calls int, end string) {
	s.t.Helper()
	messages := []string{`{"role":"user","content":"Fix the build in /srv/app."}`}
	for i := range calls {
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q},{"type":"tool_use","id":"toolu_%016d","name":"Bash","input":{"command":"go build /srv/app/part/%d"}}]}`, strings.Repeat("I look further. ", 40), i, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%016d","content":%q}]}`, i, fmt.Sprintf("file-%d.go", i)+end))
	}
	messages = append(messages, `{"role":"assistant","content":"Done."}`, `{"role":"user","content":"And now?"}`)
	body := []byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`)
	b, err := s.store.Put(s.t.Context(), "s", body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.n++
	facts := []entry.Fact{
		&entry.Request{N: s.n, Provider: "anthropic", Type: provider.TypeMessages, Method: "POST", Path: "/v1/messages", Model: "claude-sonnet-4-5", Body: &b},
		&entry.Relation{N: s.n, Thread: "t1", How: entry.Root, Messages: len(messages), Tools: true},
	}
	p := anthropic.Protocol{}
	asked := p.Request("POST", "/v1/messages", nil)
	elements, err := p.Elements(asked, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, el := range elements.Messages {
		m := p.Message(asked, body[el.Offset:el.Offset+el.Length], el.At)
		u := &entry.Unit{N: s.n, Of: entry.PartMessage, Thread: "t1", Role: m.Role, At: el.At, Offset: int64(el.Offset), Length: int64(el.Length), Element: fmt.Sprintf("%x", el.Hash[:])}
		for _, c := range m.Calls {
			u.Calls = append(u.Calls, c.ID)
		}
		u.Results = m.Results
		facts = append(facts, u)
	}
	s.append(append(facts, &entry.Response{N: s.n, Status: 200, End: entry.EndComplete})...)
}

// TestCompact makes a checkpoint that a fresh reader finds, with edits that a standing request is changed by, and leaves the
// journal sound.
//
// covers: P-12 part
func TestCompact(t *testing.T) {
	s := newShelf(t)
	s.history(60)
	ctx := t.Context()
	r := s.open()
	if _, _, _, err := r.Checkpoint(ctx, ""); !errors.Is(err, ambit.ErrNoCheckpoint) {
		t.Fatal(err)
	}
	c, err := r.Compact(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	d, ref, yaml, err := s.open().Checkpoint(ctx, "t1")
	if err != nil || ref != c.Ref || yaml != c.Checkpoint || yaml == "" || d.Stage != entry.StageCompact || d.After >= d.Before || d.N != 0 {
		t.Errorf("%+v %s %q %v", d, ref, yaml, err)
	}
	if c.Changes == 0 || !s.edited() {
		t.Errorf("%d changes", c.Changes)
	}
	if !strings.Contains(yaml, ".") || strings.Contains(yaml, "\xff") {
		t.Errorf("%q", yaml)
	}
	report, err := s.store.Check(ctx, "s")
	if err != nil || !report.Sound() {
		t.Errorf("%+v %v", report, err)
	}
	if _, _, _, err := s.open().Checkpoint(ctx, "t9"); !errors.Is(err, ambit.ErrNoCheckpoint) {
		t.Error(err)
	}
}

// TestCompactRefused: what is too short for a checkpoint, or takes no entries, is left as it is.
func TestCompactRefused(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	if _, err := s.open().Compact(ctx, key); !errors.Is(err, ambit.ErrNotRecorded) {
		t.Error(err)
	}
	s.request(entry.Root, 0, `{"role":"user","content":"one"}`)
	before := s.append(&entry.Gap{Exchanges: 1})
	if _, err := s.open().Compact(ctx, key); !errors.Is(err, ambit.ErrNoCheckpoint) || !strings.Contains(err.Error(), " tokens ") || !strings.HasSuffix(err.Error(), "so that nothing is gained") {
		t.Error(err)
	}
	for f, err := range s.store.Read(ctx, "s", before) {
		t.Errorf("entry %d was written, %v", f.Seq, err)
	}
	s.append(&entry.Imported{Format: ambit.FormatAmbit, SHA256: strings.Repeat("0", 64)})
	if _, err := s.open().Compact(ctx, key); !errors.Is(err, ambit.ErrEvidence) {
		t.Error(err)
	}
}

// TestCompactTooLong: of what does not fit a checkpoint is made where one makes it fit, and otherwise whatever does is made
// durable and told.
func TestCompactTooLong(t *testing.T) {
	for _, c := range []struct {
		calls, bytes int
		stage        entry.Stage
	}{{60, 20_000, entry.StageCompact}, {1, 900_000, entry.StagePrune}} {
		s := newShelf(t)
		s.called(c.calls, strings.Repeat(" word", c.bytes/5))
		got, err := s.open().Compact(t.Context(), key)
		if err != nil {
			t.Fatal(c, err)
		}
		d := &got.Decision
		if d.Stage != c.stage || (got.Checkpoint == "") != (c.stage == entry.StagePrune) || got.Changes == 0 || d.After >= d.Before || d.After > d.Usable || d.Usable == 0 {
			t.Errorf("%v: %+v, %d changes", c, d, got.Changes)
		}
		if !s.edited() {
			t.Errorf("%v: nothing is edited", c)
		}
		if report, err := s.store.Check(t.Context(), "s"); err != nil || !report.Sound() {
			t.Errorf("%+v %v", report, err)
		}
	}
}

// TestCheckpointOfPurged: a checkpoint holds text, so it goes with the session's bodies.
func TestCheckpointOfPurged(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	b, err := s.store.Put(ctx, "s", []byte("objective: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.append(&entry.Decision{Thread: "t1", Stage: entry.StageCompact, Checkpoint: &b})
	if _, _, yaml, err := s.open().Checkpoint(ctx, ""); err != nil || yaml != "objective: x\n" {
		t.Error(yaml, err)
	}
	if _, err := s.store.Purge(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if _, _, yaml, err := s.open().Checkpoint(ctx, ""); !errors.Is(err, journal.ErrPurged) || yaml != "" {
		t.Error(yaml, err)
	}
	if _, err := s.open().Compact(ctx, key); !errors.Is(err, journal.ErrPurged) {
		t.Error(err)
	}
}

// TestWhole reads all of an entry, however long it is, and nothing that Read would not read a part of.
//
// covers: A-01 part
func TestWhole(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	long := strings.Repeat("a line of text\\n", 20_000)
	said := s.request(entry.Root, 0, `{"role":"user","content":[{"type":"text","text":"`+long+`"},{"type":"text","text":"end"}]}`)
	left := s.request(entry.Extends, 1, `{"role":"user","content":"left behind"}`)
	s.request(entry.Rewind, 1, `{"role":"user","content":"instead"}`)
	r := s.open()
	want := strings.ReplaceAll(long, `\n`, "\n")
	if text, err := r.Whole(ctx, key, ambit.Reading{Ref: r.Handle(key, said)}); err != nil || text != want+"\nend" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if text, err := r.Whole(ctx, key, ambit.Reading{Ref: said.Ref(), Field: "/messages/0/content/0/text"}); err != nil || text != want {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if text, err := r.Whole(ctx, key, ambit.Reading{Ref: left.Ref(), Branches: ambit.AllBranches}); err != nil || text != "left behind" {
		t.Error(text, err)
	}
	for _, q := range []ambit.Reading{
		{Ref: left.Ref()}, {Ref: "e1"}, {Ref: "e999"}, {Ref: "../e5"}, {Ref: said.Ref() + ".aaaaaaaa"}, {Ref: said.Ref(), Field: "/system"}, {Ref: said.Ref(), Revision: "00000000"},
	} {
		if text, err := r.Whole(ctx, key, q); !errors.Is(err, ambit.ErrNoRef) || text != "" {
			t.Errorf("%+v: %q, %v", q, text, err)
		}
	}
}

// edited reports whether edits stand in the session.
func (s *shelf) edited() bool {
	s.t.Helper()
	p, err := pool.Load(s.t.Context(), s.store, "s")
	if err != nil {
		s.t.Fatal(err)
	}
	return len(p.Edits) > 0
}
