package ambit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"ambit/entry"
	"ambit/internal/index"
	"ambit/journal"
)

// Limits of findings.
const (
	MaxNote     = 16 << 10 // of a finding's text, in bytes
	MaxNotes    = 1000     // of a session
	MaxNoteRefs = 32       // entries that one finding rests on
)

// ClassFinding is the class of what an agent found out.
const ClassFinding = "finding"

// NoteText is something that is known, with its text. Nobody has verified it.
type NoteText struct {
	ID    string
	Seq   entry.Seq // the entry that has it
	Class string
	Text  string
	By    string   // ByUser or ByAgent
	Refs  []string // entries of the session that it rests on, without suffixes
}

// Finding is what is to be recorded beside the conversation.
type Finding struct {
	Text string
	By   string
	Refs []string // entries that it rests on: e412, or with the suffix that Handle gives them
}

// Notes are the session's notes, in order, those that were taken before the session was imported too: they have no more
// authority than any. What was purged is not among them. One that cannot be read is missing, and the error says so.
func (r *Recording) Notes(ctx context.Context) (notes []NoteText, err error) {
	for i := range r.pool.Notes {
		n := &r.pool.Notes[i]
		if n.Body == nil {
			continue
		}
		text, readErr := r.store.Body(ctx, r.session, *n.Body)
		switch {
		case errors.Is(readErr, journal.ErrPurged):
		case readErr != nil:
			err = errors.Join(err, fmt.Errorf("read note %s: %w", n.ID, readErr))
		default:
			notes = append(notes, NoteText{ID: n.ID, Seq: n.Seq, Class: n.Class, Text: string(text), By: n.By, Refs: n.Refs})
		}
	}
	return notes, err
}

// Record takes a note of a finding and returns after it is durable. The session must be locked by the recording's store.
// The note stays unverified, whoever asks.
//
// The error is ErrEvidence, ErrNoRef or ErrRefused, or the journal's.
func (r *Recording) Record(ctx context.Context, key []byte, f Finding) (NoteText, error) {
	if err := r.ready(ctx); err != nil {
		return NoteText{}, err
	}
	if err := writable("a finding", f.Text, MaxNote); err != nil {
		return NoteText{}, err
	}
	switch {
	case len(r.pool.Notes) >= MaxNotes:
		return NoteText{}, sayf(ErrRefused, "session %s has %d notes, which is the most", r.session, len(r.pool.Notes))
	case len(f.Refs) > MaxNoteRefs:
		return NoteText{}, sayf(ErrRefused, "a finding rests on %d entries at most, not on %d", MaxNoteRefs, len(f.Refs))
	}
	next := NoteText{ID: "n" + strconv.Itoa(len(r.pool.Notes)+1), Class: ClassFinding, Text: f.Text, By: f.By}
	for _, ref := range f.Refs {
		seq := r.named(key, ref)
		if seq == 0 || seq > r.pool.Seq {
			return NoteText{}, sayf(ErrNoRef, "session %s has no entry of the ref %q", r.session, ref)
		}
		next.Refs = append(next.Refs, seq.Ref())
	}
	body, err := r.store.Put(ctx, r.session, []byte(next.Text))
	if err != nil {
		return NoteText{}, err
	}
	next.Seq = r.pool.Seq + 1
	return next, r.add(ctx, &entry.Note{ID: next.ID, Class: next.Class, By: next.By, Refs: next.Refs, Body: &body})
}

// besideField is where the text of an entry stands that has one of its own, as Read names it.
const besideField = "/text"

// beside is the text of an entry that has one of its own, and is no message or answer: a note or a pin, an input to an agent of
// Ambit's own or what one of its calls gave; false where it is none of these, or a pin that was taken off.
func (r *Recording) beside(ctx context.Context, seq entry.Seq) (t Text, is bool, err error) {
	if seq == 0 || seq > r.pool.Seq || r.unit(seq) != nil {
		return t, false, nil
	}
	for f, err := range r.store.Read(ctx, r.session, seq-1) {
		if err != nil {
			return t, false, nil // what is damaged is said of what is looked for there
		}
		var body *entry.Body
		switch fact := f.Fact.(type) {
		case *entry.Note:
			body = fact.Body
		case *entry.Pin:
			body = fact.Body
		case *entry.Input:
			body = fact.Body
		case *entry.Result:
			body = fact.Body
		case *entry.Aside:
			body = fact.Body
		}
		if body == nil {
			return t, false, nil
		}
		t = Text{Ref: seq.Ref(), Revision: f.Revision(), Field: besideField}
		text, err := r.store.Body(ctx, r.session, *body)
		r.purged = r.purged || errors.Is(err, journal.ErrPurged)
		t.Text = string(text)
		return t, true, err
	}
	return t, false, nil
}

// alone yields one text under the name by which it was asked for.
func alone(t Text, err error, name string) index.Texts {
	t.Ref = name
	return func(from int) iter.Seq2[Text, error] {
		return func(yield func(Text, error) bool) {
			if from == 0 || err != nil {
				yield(t, err)
			}
		}
	}
}
