package ambit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/token"
	"ambit/journal"
	"ambit/provider"
)

// Limits of pins. A pin stands in every main request, so that it is dear; they are Ambit's own choice.
const (
	MaxPin  = 16 << 10 // of a pin's text, in bytes
	MaxPins = 100      // that hold at a time in a session
	maxPart = 4        // all pins together take at most the fourth part of the model's usable window, where that is known
)

// Who asks for something. What an agent asks for comes through a tool, and has no more authority than that.
const (
	ByUser  = "user"
	ByAgent = "agent"
)

// Errors of what a person or an agent asks of a session. Each comes with a text that says what is meant.
var (
	ErrEvidence  = errors.New("the session is evidence")        // it was recorded elsewhere: nothing in it has authority, and nothing is sent for it
	ErrRefused   = errors.New("refused")                        // a limit, or a text that is none
	ErrNoRef     = errors.New("no such entry with public text") // the ref names none
	ErrNoPin     = errors.New("no such pin")
	ErrForbidden = errors.New("not for an agent to do")
)

// PinText is a pin that holds, with its text.
type PinText struct {
	ID   string
	Text string
	By   string    // ByUser or ByAgent
	Of   entry.Seq // the entry that says it; 0 when it was given as text
}

// Pinning says what is to be pinned: a text, or what an entry says.
type Pinning struct {
	Text  string
	Ref   string // e412, or with the suffix that Handle gives it; without a Text
	Field string // with Ref: one of its texts, by its JSON pointer; empty for all that was said in it, a line break between them
	By    string
}

// Pins are the pins that hold, in the order in which they were made. What was pinned elsewhere, before the session was
// imported, has no authority here and is not among them, nor is what was purged. One that cannot be read is missing, and
// the error says so; the others are there all the same.
func (r *Recording) Pins(ctx context.Context) (pins []PinText, err error) {
	for i := range r.pool.Pins {
		p := &r.pool.Pins[i]
		if r.pool.IsEvidence(p.Seq) || p.Body == nil {
			continue
		}
		text, readErr := r.store.Body(ctx, r.session, *p.Body)
		switch {
		case errors.Is(readErr, journal.ErrPurged):
		case readErr != nil:
			err = errors.Join(err, fmt.Errorf("read pin %s: %w", p.ID, readErr))
		default:
			pins = append(pins, PinText{ID: p.ID, Text: string(text), By: p.By, Of: p.Of})
		}
	}
	return pins, err
}

// Follow takes in what was recorded since the recording was opened. The error is the journal's.
func (r *Recording) Follow(ctx context.Context) error {
	for f, err := range r.store.Read(ctx, r.session, r.pool.Seq) {
		if err == nil {
			err = r.pool.Fold(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Pin pins a text and returns after it is durable. The session must be locked by the recording's store. A text that is
// pinned already stays the pin that it is; where a person pins what an agent had pinned, it is the person's from then on.
//
// The error is ErrEvidence, ErrNoRef or ErrRefused, or the journal's.
func (r *Recording) Pin(ctx context.Context, key []byte, p Pinning) (PinText, error) {
	if err := r.ready(ctx); err != nil {
		return PinText{}, err
	}
	next := PinText{ID: "p" + strconv.Itoa(r.pool.LastPin+1), Text: p.Text, By: p.By}
	if p.Ref != "" {
		var err error
		if next.Of, next.Text, err = r.quoted(ctx, key, p); err != nil {
			return PinText{}, err
		}
	}
	pins, err := r.Pins(ctx)
	if err != nil {
		return PinText{}, err
	}
	others := pins[:0:0]
	for _, old := range pins {
		switch {
		case old.Text != next.Text:
			others = append(others, old)
		case old.By == next.By || old.By == ByUser:
			return old, nil
		default:
			next.ID = old.ID
		}
	}
	if err := r.allowed(next.Text, others); err != nil {
		return PinText{}, err
	}
	body, err := r.store.Put(ctx, r.session, []byte(next.Text))
	if err != nil {
		return PinText{}, err
	}
	return next, r.add(ctx, &entry.Pin{ID: next.ID, Of: next.Of, By: next.By, Body: &body})
}

// Unpin takes a pin off and returns after that is durable. The session must be locked by the recording's store. An agent
// takes off no person's pin.
//
// The error is ErrEvidence, ErrNoPin or ErrForbidden, or the journal's.
func (r *Recording) Unpin(ctx context.Context, id, by string) (PinText, error) {
	if err := r.ready(ctx); err != nil {
		return PinText{}, err
	}
	for i := range r.pool.Pins {
		p := &r.pool.Pins[i]
		switch {
		case p.ID != id || r.pool.IsEvidence(p.Seq):
			continue
		case p.By == ByUser && by != ByUser:
			return PinText{}, sayf(ErrForbidden, "pin %s is a person's: only a person takes it off", id)
		}
		off := PinText{ID: id, By: p.By, Of: p.Of}
		if p.Body != nil {
			if text, err := r.store.Body(ctx, r.session, *p.Body); err == nil {
				off.Text = string(text)
			}
		}
		return off, r.add(ctx, &entry.Pin{ID: id, By: by, Off: true})
	}
	return PinText{}, sayf(ErrNoPin, "session %s has no pin %q", r.session, id)
}

// ready brings the recording up to date for something that is to be added to its session, and refuses what takes nothing.
func (r *Recording) ready(ctx context.Context) error {
	if err := r.Follow(ctx); err != nil {
		return err
	}
	switch {
	case r.pool.Purged != nil:
		return sayf(journal.ErrPurged, "session %s was purged and takes nothing more", r.session)
	case r.pool.Imported != nil:
		return sayf(ErrEvidence, "session %s was imported: it is evidence, and no request is sent for it; a fork of it is a session of one's own", r.session)
	}
	return nil
}

// add appends facts and takes them in.
func (r *Recording) add(ctx context.Context, facts ...entry.Fact) error {
	if _, err := r.store.Append(ctx, r.session, facts...); err != nil {
		return err
	}
	return r.Follow(ctx)
}

// allowed refuses what cannot be pinned beside other pins.
func (r *Recording) allowed(text string, others []PinText) error {
	if err := writable("a pin", text, MaxPin); err != nil {
		return err
	}
	if len(others) >= MaxPins {
		return sayf(ErrRefused, "session %s has %d pins, which is the most: take one off first", r.session, len(others))
	}
	usable, tokens := r.usable()
	if usable == 0 {
		return nil
	}
	all := tokens.Text(text)
	for _, p := range others {
		all += tokens.Text(p.Text)
	}
	if all > usable/maxPart {
		return sayf(ErrRefused, "with it all pins would take about %d tokens, and they may take a quarter of the model's usable window, %d", all, usable/maxPart)
	}
	return nil
}

// writable refuses a text that is empty, too long or not UTF-8.
func writable(what, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return sayf(ErrRefused, "%s needs a text", what)
	case !utf8.ValidString(text):
		return sayf(ErrRefused, "the text of %s must be UTF-8", what)
	case len(text) > most:
		return sayf(ErrRefused, "the text has %d bytes, and %s may have %d", len(text), what, most)
	}
	return nil
}

// usable is how much of its window the model of the session's newest request may use, in tokens, and how they are
// estimated; 0 where it is not known.
func (r *Recording) usable() (int, token.Model) {
	s, err := r.sight("", 0)
	if err != nil {
		return 0, token.Default(token.Unknown)
	}
	m, _ := s.window()
	if m.Window == 0 {
		return 0, s.tokens
	}
	return m.Usable(), s.tokens
}

// quoted is what an entry says: all that was said in it, or one text. An agent has nothing of what was left behind.
func (r *Recording) quoted(ctx context.Context, key []byte, p Pinning) (entry.Seq, string, error) {
	branches := AllBranches
	if p.By != ByUser {
		branches = CurrentBranch
	}
	seq := r.named(key, p.Ref)
	none := sayf(ErrNoRef, "session %s has no message or answer of the ref %q", r.session, p.Ref)
	if u := r.unit(seq); u == nil {
		return 0, "", none
	} else if _, seen := r.source(ctx, r.pool, branches).wanted(u); !seen {
		return 0, "", none
	}
	said, err := r.Said(ctx, seq)
	if err != nil {
		return 0, "", err
	}
	var texts []string
	for _, t := range said.Texts {
		if t.Field == p.Field || p.Field == "" && t.Said != provider.SaidArgument {
			texts = append(texts, t.Text)
		}
	}
	switch {
	case len(texts) > 0:
		return seq, strings.Join(texts, "\n"), nil
	case p.Field != "":
		return 0, "", sayf(ErrNoRef, "entry %s has no public text in the field %q", p.Ref, p.Field)
	}
	return 0, "", sayf(ErrNoRef, "entry %s says nothing that is public", p.Ref)
}
