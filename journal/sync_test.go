package journal_test

import (
	"bytes"
	"context"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// TestSyncs counts what an acknowledgement waits for: one sync, and one more when a new body must be durable first.
//
// covers: J-03 part
// covers: J-05 part
func TestSyncs(t *testing.T) {
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	ctx := context.Background()
	must(s.Lock(ctx, "a"))
	costs := func(want int, do func()) {
		t.Helper()
		before := m.Syncs()
		do()
		if got := m.Syncs() - before; got != want {
			t.Errorf("%d syncs, want %d", got, want)
		}
	}
	var old entry.Body
	for i := range 12 { // and so over several files
		costs(1, func() { must(s.Append(ctx, "a", &entry.Gap{Exchanges: i}, &entry.Response{N: i})) })
		costs(0, func() { old = must(s.Put(ctx, "a", bytes.Repeat([]byte{byte(i)}, 300))) })
		costs(2, func() { must(s.Append(ctx, "a", &entry.Request{N: i, Body: &old})) })
		costs(1, func() { must(s.Append(ctx, "a", &entry.Response{N: i, Body: &old})) })
		costs(0, func() { must(s.Append(ctx, "a")) })
	}
	one, two := must(s.Put(ctx, "a", []byte("one"))), must(s.Put(ctx, "a", []byte("two")))
	costs(2, func() { must(s.Append(ctx, "a", &entry.Request{Body: &one}, &entry.Response{Body: &two})) })
	costs(0, func() {
		if _, err := s.Append(ctx, "a", &entry.Request{Body: &entry.Body{At: 1}}); err == nil {
			t.Error("a body that is not there was relied on")
		}
	})
	var report journal.Report
	costs(0, func() { report = must(s.Check(ctx, "a")) })
	if !report.Sound() {
		t.Errorf("check found %+v", report)
	}
}
