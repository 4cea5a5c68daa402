package ambit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/journal"

	"github.com/google/go-cmp/cmp"
)

// pins are those that hold, read afresh.
func (s *shelf) pins() []ambit.PinText {
	s.t.Helper()
	pins, err := s.open().Pins(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return pins
}

// TestPins pins texts and what entries say, and takes pins off; each is an entry, and a fresh reader sees the same.
//
// covers: P-12 part
func TestPins(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	said := s.request(entry.Root, 0, `{"role":"user","content":[{"type":"text","text":"Keep \"a\"\nand é."},{"type":"text","text":"Only in /srv."}]}`)
	r := s.open()
	pin := func(p ambit.Pinning) ambit.PinText {
		t.Helper()
		made, err := r.Pin(ctx, key, p)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	want := []ambit.PinText{
		pin(ambit.Pinning{Text: "never \"push\"\nto main — ü", By: ambit.ByUser}),
		pin(ambit.Pinning{Ref: r.Handle(key, said), By: ambit.ByAgent}),
		pin(ambit.Pinning{Ref: said.Ref(), Field: "/messages/0/content/1/text", By: ambit.ByUser}),
	}
	if diff := cmp.Diff([]ambit.PinText{
		{ID: "p1", Text: "never \"push\"\nto main — ü", By: "user"},
		{ID: "p2", Text: "Keep \"a\"\nand é.\nOnly in /srv.", By: "agent", Of: said},
		{ID: "p3", Text: "Only in /srv.", By: "user", Of: said},
	}, want); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(want, s.pins()); diff != "" {
		t.Error(diff)
	}

	// What is pinned already stays the pin that it is, and becomes a person's when a person pins it.
	if again := pin(ambit.Pinning{Text: want[0].Text, By: ambit.ByAgent}); again != want[0] {
		t.Errorf("%+v", again)
	}
	if again := pin(ambit.Pinning{Text: want[1].Text, By: ambit.ByUser}); again.ID != "p2" || again.By != ambit.ByUser {
		t.Errorf("%+v", again)
	}
	if n := len(s.pins()); n != 3 {
		t.Errorf("%d pins", n)
	}

	// Whoever had it open before sees it, too, and no number is given twice.
	off, err := s.open().Unpin(ctx, "p3", ambit.ByUser)
	if err != nil || off.Text != "Only in /srv." {
		t.Fatal(off, err)
	}
	if next := pin(ambit.Pinning{Text: "more", By: ambit.ByAgent}); next.ID == "p3" || next.ID == "p2" || next.ID == "p1" {
		t.Errorf("a number is given again: %+v", next)
	}
	if pins := s.pins(); len(pins) != 3 || pins[2].Text != "more" {
		t.Errorf("%+v", pins)
	}
}

// TestPinsRefused: what cannot be pinned changes nothing, and the error says which kind it is of.
func TestPinsRefused(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	said := s.request(entry.Root, 0, `{"role":"user","content":"one"}`)
	left := s.request(entry.Extends, 1, `{"role":"user","content":"left behind"}`)
	s.request(entry.Rewind, 1, `{"role":"user","content":"instead"}`)
	r := s.open()
	if _, err := r.Pin(ctx, key, ambit.Pinning{Text: "mine", By: ambit.ByUser}); err != nil {
		t.Fatal(err)
	}
	seq := s.append(&entry.Gap{Exchanges: 1})
	for _, c := range []struct {
		pin  ambit.Pinning
		want error
	}{
		{ambit.Pinning{By: "user"}, ambit.ErrRefused},
		{ambit.Pinning{Text: " \n", By: "user"}, ambit.ErrRefused},
		{ambit.Pinning{Text: "\xff", By: "user"}, ambit.ErrRefused},
		{ambit.Pinning{Text: strings.Repeat("x", ambit.MaxPin+1), By: "user"}, ambit.ErrRefused},
		{ambit.Pinning{Ref: "e999", By: "user"}, ambit.ErrNoRef},
		{ambit.Pinning{Ref: "p1", By: "user"}, ambit.ErrNoRef},
		{ambit.Pinning{Ref: said.Ref() + ".aaaaaaaa", By: "user"}, ambit.ErrNoRef},
		{ambit.Pinning{Ref: said.Ref(), Field: "/system", By: "user"}, ambit.ErrNoRef},
		{ambit.Pinning{Ref: left.Ref(), By: "agent"}, ambit.ErrNoRef},
	} {
		if p, err := r.Pin(ctx, key, c.pin); !errors.Is(err, c.want) {
			t.Errorf("%+v: %+v, %v", c.pin, p, err)
		}
	}
	if _, err := r.Unpin(ctx, "p9", ambit.ByUser); !errors.Is(err, ambit.ErrNoPin) {
		t.Error(err)
	}
	if _, err := r.Unpin(ctx, "p1", ambit.ByAgent); !errors.Is(err, ambit.ErrForbidden) {
		t.Error(err)
	}
	for f, err := range s.store.Read(ctx, "s", seq) {
		t.Errorf("entry %d was written: %v", f.Seq, err)
	}
	if _, err := r.Pin(ctx, key, ambit.Pinning{Ref: left.Ref(), By: ambit.ByUser}); err != nil {
		t.Error("a person may pin what was left behind:", err)
	}
}

// TestPinsAreBounded: by their number, and by what the model's window may spare.
func TestPinsAreBounded(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	r := s.open()
	for i := range ambit.MaxPins {
		if _, err := r.Pin(ctx, key, ambit.Pinning{Text: fmt.Sprint("pin ", i), By: ambit.ByUser}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Pin(ctx, key, ambit.Pinning{Text: "one more", By: ambit.ByUser}); !errors.Is(err, ambit.ErrRefused) {
		t.Error(err)
	}

	s = newShelf(t)
	s.append(&entry.Request{N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Model: "claude-sonnet-4-5"},
		&entry.Relation{N: 1, Thread: "t1", How: entry.Root, Messages: 1})
	r = s.open()
	for i := 0; ; i++ {
		_, err := r.Pin(ctx, key, ambit.Pinning{Text: fmt.Sprint(i, " ", strings.Repeat("rule ", 3200)), By: ambit.ByUser})
		switch {
		case err == nil && i < 42000/3000:
			continue
		case !errors.Is(err, ambit.ErrRefused) || !strings.Contains(err.Error(), "42000"):
			t.Error(err)
		case i < 5:
			t.Errorf("only %d pins fit", i)
		}
		break
	}
}

// TestPinsOfEvidence: what was pinned before a session was imported has no authority here, and an import takes no pins.
//
// covers: J-09 part
func TestPinsOfEvidence(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	r := s.open()
	if _, err := r.Pin(ctx, key, ambit.Pinning{Text: "theirs", By: ambit.ByUser}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(ctx, key, ambit.Finding{Text: "found there", By: ambit.ByAgent}); err != nil {
		t.Fatal(err)
	}
	s.append(&entry.Imported{Format: ambit.FormatAmbit, SHA256: strings.Repeat("0", 64)})
	if pins := s.pins(); len(pins) != 0 {
		t.Errorf("%+v hold", pins)
	}
	for name, err := range map[string]error{
		"pin":   second(r.Pin(ctx, key, ambit.Pinning{Text: "mine", By: ambit.ByUser})),
		"unpin": second(r.Unpin(ctx, "p1", ambit.ByUser)),
		"note":  second(r.Record(ctx, key, ambit.Finding{Text: "mine", By: ambit.ByUser})),
	} {
		if !errors.Is(err, ambit.ErrEvidence) {
			t.Errorf("%s: %v", name, err)
		}
	}

	if err := ambit.Fork(ctx, s.store, "s", 3, entry.Session{ID: "f"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := s.store.Lock(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	f, err := ambit.OpenRecording(ctx, s.store, "f")
	if err != nil {
		t.Fatal(err)
	}
	if pins, err := f.Pins(ctx); err != nil || len(pins) != 0 {
		t.Errorf("%+v hold in a fork, %v", pins, err)
	}
	if p, err := f.Pin(ctx, key, ambit.Pinning{Text: "theirs", By: ambit.ByUser}); err != nil || p.ID == "p1" {
		t.Errorf("%+v, %v", p, err)
	}
	if notes, err := f.Notes(ctx); err != nil || len(notes) != 1 {
		t.Errorf("%+v, %v", notes, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestNotes records findings, which nobody has verified, and refuses what rests on nothing.
//
// covers: P-10 part
func TestNotes(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	said := s.request(entry.Root, 0, `{"role":"user","content":"one"}`)
	r := s.open()
	made, err := r.Record(ctx, key, ambit.Finding{Text: "verified: the port is 80", By: ambit.ByAgent, Refs: []string{r.Handle(key, said)}})
	if err != nil {
		t.Fatal(err)
	}
	want := ambit.NoteText{ID: "n1", Seq: 6, Class: "finding", Text: "verified: the port is 80", By: "agent", Refs: []string{said.Ref()}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	notes, err := s.open().Notes(ctx)
	if diff := cmp.Diff([]ambit.NoteText{want}, notes); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, f := range []ambit.Finding{
		{By: "agent"},
		{Text: "x", Refs: []string{"e900"}},
		{Text: "x", Refs: []string{said.Ref() + ".bbbbbbbb"}},
		{Text: strings.Repeat("x", ambit.MaxNote+1)},
		{Text: "x", Refs: make([]string, ambit.MaxNoteRefs+1)},
	} {
		if n, err := r.Record(ctx, key, f); !errors.Is(err, ambit.ErrRefused) && !errors.Is(err, ambit.ErrNoRef) {
			t.Errorf("%+v: %+v, %v", f, n, err)
		}
	}
}

// TestPinsOfPurged: nothing is added to a session that was purged, and what it had is gone.
func TestPinsOfPurged(t *testing.T) {
	s := newShelf(t)
	ctx := t.Context()
	r := s.open()
	if _, err := r.Pin(ctx, key, ambit.Pinning{Text: "mine", By: ambit.ByUser}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Purge(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Pin(ctx, key, ambit.Pinning{Text: "more", By: ambit.ByUser}); !errors.Is(err, journal.ErrPurged) {
		t.Error(err)
	}
	if pins := s.pins(); len(pins) != 0 {
		t.Errorf("%+v", pins)
	}
}
