package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ambit/entry"
)

// Span is some bytes of a body, and the entry whose text they are.
type Span struct {
	Body   entry.Body
	Offset int64
	Length int64
	Of     entry.Seq
}

// Removal is the text of one entry, in each of the bodies that a session stores itself and that have it, and what others
// say there. The journal does not interpret bodies, so who asks for it has to know.
type Removal struct {
	Of   entry.Seq
	Gone []Span // what is to be overwritten
	Kept []Span // what others say, which stays where both stand in the same literal text
}

// Loss is what a Removal does.
type Loss struct {
	Bodies []entry.Body // that cannot be rebuilt any more and could before, in the order in which entries rely on them
	Bytes  int64        // of literal text, to be overwritten
	Stays  int64        // of literal text, which others say, too
	Others []entry.Seq  // the entries that say it, in ascending order

	runs []extent
}

// Lose says what the removal of a text would do to a session's bodies. It changes nothing.
func (d *Dir) Lose(ctx context.Context, session string, r Removal) (Loss, error) {
	l, done, err := d.log(session)
	if err != nil {
		return Loss{}, err
	}
	defer done()
	loss, err := d.lose(ctx, l, session, r)
	if err != nil {
		return Loss{}, fmt.Errorf("look at the text of %s in session %q: %w", r.Of.Ref(), session, err)
	}
	return loss, nil
}

// PurgeText overwrites the text of one entry of a session, for good, wherever the session stores it itself; the entries
// stay, with every hash. The session must be locked, and neither purged nor imported from an export. Bodies that hold the
// text are ErrPurged from then on, and so is a Part of one that has some of it; other Parts can still be read.
//
// An entry Purged says first what goes, and it is acknowledged once that is overwritten. What an error, or a crash, left
// is finished by the next append, or Lock. Where nothing is left to be overwritten, and it was purged before, no entry
// is added, and the last that says so is returned.
func (d *Dir) PurgeText(ctx context.Context, session string, r Removal) (entry.Purged, error) {
	if err := ctx.Err(); err != nil {
		return entry.Purged{}, err
	}
	s, err := d.use(session)
	if err != nil {
		return entry.Purged{}, err
	}
	defer s.uses.Done()
	p, err := s.purgeText(ctx, d, r)
	if err != nil {
		return entry.Purged{}, fmt.Errorf("purge %s of session %q: %w", r.Of.Ref(), session, err)
	}
	return p, nil
}

func (s *session) purgeText(ctx context.Context, d *Dir, r Removal) (entry.Purged, error) {
	switch {
	case s.purged.Load() != nil:
		return entry.Purged{}, fmt.Errorf("the session was %w", ErrPurged)
	case s.sealed.Load():
		return entry.Purged{}, ErrImported
	}
	if err := s.append(d); err != nil { // which finishes what was begun before
		return entry.Purged{}, err
	}
	loss, err := d.lose(ctx, s.bodies, s.name, r)
	if err != nil {
		return entry.Purged{}, err
	}
	var last *entry.Purged
	err = d.each(s.name, func(f Frame) {
		if p, ok := f.Fact.(*entry.Purged); ok && p.Of == r.Of {
			last = p
		}
	})
	if err != nil {
		return entry.Purged{}, err
	}
	if last != nil && loss.Bytes == 0 {
		return *last, nil
	}
	p := &entry.Purged{Bodies: len(loss.Bodies), Bytes: loss.Bytes, Of: r.Of, Runs: runsOf(loss.runs)}
	return *p, s.append(d, p)
}

// append appends facts of the journal's own.
func (s *session) append(d *Dir, facts ...entry.Fact) error {
	c := &commit{facts: facts, turn: make(chan bool, 1)}
	if s.wait(c) {
		s.lead(d, c)
	}
	return c.err
}

// lose finds the literal text of a removal, and what relies on it.
func (d *Dir) lose(ctx context.Context, l *literals, session string, r Removal) (Loss, error) {
	gone, kept, err := l.removal(r)
	if err != nil {
		return Loss{}, err
	}
	var loss Loss
	var others []extent
	for of, list := range kept {
		list = merged(list)
		if touch(gone, list) {
			loss.Others = append(loss.Others, of)
		}
		others = append(others, list...)
	}
	slices.Sort(loss.Others)
	others = merged(others)
	loss.runs = without(gone, others)
	loss.Stays = total(gone) - total(loss.runs)
	holes, err := l.allHoles()
	if err != nil {
		return Loss{}, err
	}
	loss.runs = without(loss.runs, holes)
	loss.Bytes = total(loss.runs)
	seen := make(map[entry.Body]bool)
	eachErr := d.each(session, func(f Frame) {
		for _, b := range entry.Bodies(f.Fact) {
			if err == nil && !seen[b] && l.loses(b, loss.runs, holes) {
				loss.Bodies = append(loss.Bodies, b)
			}
			seen[b] = true
		}
		err = ctx.Err()
	})
	return loss, errors.Join(eachErr, err)
}

// removal finds the literal text of a removal's spans, that of what is kept by the entry whose it is.
func (l *literals) removal(r Removal) (gone []extent, kept map[entry.Seq][]extent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range r.Gone {
		list, err := l.text(s)
		if err != nil {
			return nil, nil, err
		}
		gone = append(gone, list...)
	}
	kept = make(map[entry.Seq][]extent)
	for _, s := range r.Kept {
		list, err := l.text(s)
		if err != nil && !errors.Is(err, ErrCorrupt) { // what is damaged keeps nothing
			return nil, nil, err
		}
		kept[s.Of] = append(kept[s.Of], list...)
	}
	return merged(gone), kept, nil
}

// text is where a span stands in the literal text. The caller has mu.
func (l *literals) text(s Span) ([]extent, error) {
	_, extents, err := l.extents(s.Body)
	if err != nil {
		return nil, err
	}
	if s.Offset < 0 || s.Length < 0 || s.Offset+s.Length > s.Body.Size {
		return nil, fmt.Errorf("%d bytes from byte %d on, of a body of %d bytes", s.Length, s.Offset, s.Body.Size)
	}
	var list []extent
	offset, left := uint64(s.Offset), uint64(s.Length)
	for _, x := range extents {
		skip := min(offset, x.length)
		offset -= skip
		x = extent{x.start + skip, min(x.length-skip, left)}
		if left -= x.length; x.length > 0 {
			list = append(list, x)
		}
	}
	return list, nil
}

// allHoles is what is gone already of all literal text.
func (l *literals) allHoles() (holes []extent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		lost, err := l.lost(r)
		if err != nil {
			return nil, err
		}
		holes = append(holes, lost...)
	}
	return merged(holes), nil
}

// loses reports whether a body relies on some literal text, and on none that is gone already.
func (l *literals) loses(b entry.Body, runs, holes []extent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, extents, err := l.extents(b)
	return err == nil && touch(runs, extents) && !touch(holes, extents)
}

// Remains is a body with zeros where text was purged, unverified: so that it can be seen what else of it may have to go.
func (d *Dir) Remains(ctx context.Context, session string, b entry.Body) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, done, err := d.log(session)
	if err != nil {
		return nil, err
	}
	defer done()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.anew(b, func() ([]byte, error) {
		_, extents, err := l.extents(b)
		body := make([]byte, 0, max(b.Size, 0))
		for i := 0; i < len(extents) && err == nil; i++ {
			body, err = l.gather(body, extents[i], true)
		}
		return body, err
	})
}
