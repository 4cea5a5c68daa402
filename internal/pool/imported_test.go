package pool_test

import (
	"testing"

	"ambit/entry"
	"ambit/internal/pool"
)

// TestImported knows a session for evidence by its newest Imported, and a fork of one for a session of its own.
func TestImported(t *testing.T) {
	ctx := t.Context()
	d := open(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(session, name string) (seq entry.Seq, sum string) {
		t.Helper()
		p, err := pool.Fresh(ctx, d, session)
		must(err)
		if got := p.Imported; name == "" && got != nil || name != "" && (got == nil || got.Name != name) {
			t.Errorf("session %q was imported from %+v, want %q", session, got, name)
		}
		must(pool.Store(d, session, p))
		if again, err := pool.Load(ctx, d, session); err != nil || (again.Imported == nil) != (name == "") {
			t.Errorf("loaded, session %q was imported from %+v, %v", session, again.Imported, err)
		}
		return p.Seq, p.Sum
	}
	unlock, err := d.Lock(ctx, "a")
	must(err)
	defer unlock()
	_, err = d.Append(ctx, "a", &entry.Session{ID: "a"}, &entry.Request{N: 1})
	must(err)
	want("a", "")
	_, err = d.Append(ctx, "a", &entry.Imported{Format: "another", Name: "one"}, &entry.Request{N: 2})
	must(err)
	want("a", "one")
	_, err = d.Append(ctx, "a", &entry.Imported{Format: entry.FormatAmbit, Name: "two"})
	must(err)
	seq, sum := want("a", "two")
	unlockFork, err := d.Lock(ctx, "b")
	must(err)
	defer unlockFork()
	_, err = d.Append(ctx, "b", &entry.Session{ID: "b", From: &entry.Fork{Session: "a", Seq: seq, Sum: sum}})
	must(err)
	want("b", "")
	p, err := pool.Load(ctx, d, "b")
	must(err)
	if !p.IsEvidence(seq) || p.IsEvidence(seq+1) {
		t.Errorf("of the fork, %d are evidence, want %d", p.Evidence, seq)
	}
}
