package ambit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
)

// TextPurge is what the purge of one entry's text does, or has done.
type TextPurge struct {
	Of     entry.Seq
	Kind   entry.Kind
	Bodies int         // that hold some of it, and could be rebuilt before
	Bytes  int64       // of stored text that is overwritten
	Stays  int64       // of stored text that stays, because other entries say the same
	Others []entry.Seq // these
	Again  bool        // the text was purged before
}

// PlanPurge says what PurgeText would do. It changes nothing.
func (r *Recording) PlanPurge(ctx context.Context, key []byte, ref string) (TextPurge, error) {
	t, _, _, err := r.plan(ctx, key, ref)
	return t, err
}

func (r *Recording) plan(ctx context.Context, key []byte, ref string) (t TextPurge, removal journal.Removal, lost []entry.Body, err error) {
	if t, removal, err = r.removal(ctx, key, ref); err != nil {
		return t, removal, nil, err
	}
	loss, err := r.store.Lose(ctx, r.session, removal)
	t.Bodies, t.Bytes, t.Stays, t.Others = len(loss.Bodies), loss.Bytes, loss.Stays, loss.Others
	return t, removal, loss.Bodies, err
}

// PurgeText overwrites the text of one entry, for good, wherever the session stores it itself: where it first passed, in
// what was sent again, and in what was made of it. What other entries say stays, also where they say the same. The session
// must be locked by the recording's store.
//
// Of a message that is the message; of an answer its response, and the messages that repeat it; of a request, or a
// response, all that was new with it; of a pin, a note, an edit, a decision, and what was sent in place of a request, their
// bodies. Where the entry is of a session that this one goes on from, it is what this one stores of it.
//
// The error is ErrNoRef, ErrRefused for an entry without text, ErrEvidence, journal.ErrPurged, or the journal's.
func (r *Recording) PurgeText(ctx context.Context, key []byte, ref string) (TextPurge, error) {
	t, removal, lost, err := r.plan(ctx, key, ref)
	if err == nil {
		err = r.lift(ctx, t.Of, lost)
	}
	if err != nil {
		return t, err
	}
	if _, err := r.store.PurgeText(ctx, r.session, removal); err != nil {
		return t, err
	}
	return t, r.Follow(ctx)
}

// lift takes back the edits that cannot be read any more without some bodies, so that requests go on without them.
func (r *Recording) lift(ctx context.Context, of entry.Seq, lost []entry.Body) error {
	lifts := make(map[string]*entry.Decision)
	var facts []entry.Fact
	for i := range r.pool.Edits {
		e := &r.pool.Edits[i]
		if e.Body == nil || !slices.Contains(lost, *e.Body) {
			continue
		}
		d := lifts[e.Thread]
		if d == nil {
			d = &entry.Decision{Thread: e.Thread, Stage: entry.StageLift, Event: entry.StageLift.Event(), Why: "the text of " + of.Ref() + " is purged"}
			lifts[e.Thread], facts = d, append(facts, d)
		}
		d.Lifts = append(d.Lifts, e.Seq)
	}
	if len(facts) == 0 {
		return nil
	}
	return r.add(ctx, facts...)
}

// removal finds the text of an entry in the session's bodies.
func (r *Recording) removal(ctx context.Context, key []byte, ref string) (TextPurge, journal.Removal, error) {
	if err := r.ready(ctx); err != nil {
		return TextPurge{}, journal.Removal{}, err
	}
	p := &purging{
		r: r, ctx: ctx, meant: make(map[entry.Seq]bool), hashes: make(map[string]bool), known: make(map[string]bool), units: make(map[int][]*pool.Unit),
	}
	p.Of = r.named(key, ref)
	if p.Of == 0 || p.Of > r.pool.Seq {
		return TextPurge{}, journal.Removal{}, sayf(ErrNoRef, "session %s has no entry of the ref %q", r.session, ref)
	}
	err := p.read()
	if err == nil {
		err = p.aim()
	}
	if err == nil {
		err = p.look()
	}
	if err == nil && p.elsewhere != "" && len(p.Gone) == 0 {
		err = sayf(ErrRefused, "%s is of session %s, and session %s stores nothing of it itself: purge it there", ref, p.elsewhere, r.session)
	}
	if err != nil {
		return TextPurge{}, journal.Removal{}, err
	}
	return TextPurge{Of: p.Of, Kind: p.fact.Kind(), Again: r.pool.IsGone(p.Of)}, p.Removal, nil
}

// read takes the entries that the session stores itself, and the one that is meant.
func (p *purging) read() error {
	for f, err := range p.r.store.Read(p.ctx, p.r.session, 0) {
		if err != nil {
			return err // what cannot be read may hold the text
		}
		if f.In == p.r.session {
			p.facts = append(p.facts, f)
		} else if f.Seq == p.Of {
			p.elsewhere = f.In
		}
		if f.Seq == p.Of {
			p.fact = f.Fact
		}
	}
	for i := range p.r.pool.Units {
		u := &p.r.pool.Units[i]
		p.units[u.N], p.known[u.Element] = append(p.units[u.N], u), true
	}
	return nil
}

// aim says what is looked for.
func (p *purging) aim() error {
	of, pool := p.Of, p.r.pool
	if pool.IsEvidence(of) {
		return sayf(ErrEvidence, "%s is part of a recording that was imported, whose text can only be purged with the session", of.Ref())
	}
	switch f := p.fact.(type) {
	case *entry.Unit:
		u := p.r.unit(of)
		if u == nil || f.Of.Silent() || f.Of == entry.PartMessage && f.Element == "" {
			return sayf(ErrRefused, "%s has no text that was found: purge its request", of.Ref())
		}
		return p.means(u)
	case *entry.Request, *entry.Response:
		return p.means(p.exchanged()...)
	case *entry.Pin, *entry.Note, *entry.Edit, *entry.Sent, *entry.Decision, *entry.Input, *entry.Works, *entry.Told, *entry.Result, *entry.Aside:
		if len(entry.Bodies(f)) == 0 {
			return sayf(ErrRefused, "%s, a %s, has no text", of.Ref(), f.Kind())
		}
		for _, b := range entry.Bodies(f) {
			text, err := p.r.store.Body(p.ctx, p.r.session, b)
			if err != nil && !errors.Is(err, journal.ErrPurged) {
				return err
			}
			p.pieces.add(string(text))
			if err := p.passed(f, string(text)); err != nil {
				return err
			}
		}
		return nil
	}
	return sayf(ErrRefused, "%s, a %s, has no text", of.Ref(), p.fact.Kind())
}

// passed notes the messages in which the text passed of what an agent of Ambit's own was told or asked, or one of its calls gave.
func (p *purging) passed(f entry.Fact, text string) error {
	_, input := f.(*entry.Input)
	_, result := f.(*entry.Result)
	_, aside := f.(*entry.Aside)
	if !input && !result && !aside || text == "" {
		return nil
	}
	for i := range p.r.pool.Units {
		u := &p.r.pool.Units[i]
		if u.Of != entry.PartMessage || u.Seq < p.Of {
			continue
		}
		said, err := p.r.Said(p.ctx, u.Seq)
		if err != nil && !errors.Is(err, journal.ErrPurged) {
			return fmt.Errorf("read %s: %w", u.Seq.Ref(), err)
		}
		if slices.ContainsFunc(said.Texts, func(t provider.Text) bool {
			return t.Text == text || len(text) >= minPiece && strings.Contains(t.Text, text)
		}) {
			if err := p.means(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchanged are the units of the request, or the response, that is meant.
func (p *purging) exchanged() (units []*pool.Unit) {
	for i := range p.r.pool.Units {
		u := &p.r.pool.Units[i]
		x := p.r.pool.Exchange(u.N)
		if x != nil && !u.Of.Silent() && (x.Seq == p.Of && !u.Answers() || x.Answered == p.Of && u.Answers()) {
			units = append(units, u)
		}
	}
	return units
}

// means notes what is known of the text of units: what their messages are recognised by, and pieces of it.
func (p *purging) means(units ...*pool.Unit) error {
	for _, u := range units {
		p.meant[u.Seq] = true
		if u.Element != "" {
			p.hashes[u.Element] = true
		}
		if u.Of == entry.PartAnswer {
			if err := p.answer(u.N); err != nil {
				return err
			}
		}
		said, err := p.r.Said(p.ctx, u.Seq)
		if err != nil && !errors.Is(err, journal.ErrPurged) {
			return fmt.Errorf("read %s: %w", u.Seq.Ref(), err)
		}
		for _, t := range said.Texts {
			p.pieces.add(t.Text)
		}
	}
	return nil
}

// gone says journal.ErrPurged of a unit whose text was purged, by itself or with its request or response.
func (r *Recording) gone(u *pool.Unit) error {
	x := r.pool.Exchange(u.N)
	if r.pool.IsGone(u.Seq) || x != nil && (r.pool.IsGone(x.Seq) && !u.Answers() || r.pool.IsGone(x.Answered) && u.Answers()) {
		return sayf(journal.ErrPurged, "the text of %s was purged", u.Seq.Ref())
	}
	return nil
}
