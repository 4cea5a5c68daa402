package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// damage changes single bits of a written session. Every one is found, nothing panics, and what does not depend on
// it stays readable. The bodies are of two families that have no text in common.
func damage(b *bench) {
	twoFamilies(b)
	flips(b)
}

// twoFamilies writes the session that is damaged.
func twoFamilies(b *bench) {
	families := []text{{rng: rand.New(rand.NewPCG(1, 1))}, {rng: rand.New(rand.NewPCG(2, 2))}}
	unlock := b.lock("a")
	for i := range 16 {
		body := families[i%2].grow(i % 2)
		b.append("a", request(i, b.put("a", body)))
		if i%4 == 0 {
			b.append("a", gap(i), gap(i+1), &entry.Response{N: i})
		}
	}
	b.ok(unlock())
}

// flips changes single bits of it.
func flips(b *bench) {
	b.reopen()
	whole := b.frames("a")
	b.ok(b.store.Close())
	rng := rand.New(rand.NewPCG(3, 3))
	samples := 800
	if testing.Short() {
		samples = 300
	}
	for range samples {
		n := rng.Uint64()
		where := b.storage.Flip(n)
		if err := found(b, whole); err != nil {
			b.Errorf("bit %d changed at %s: %v", n, where, err)
		}
		b.storage.Flip(n)
	}
	b.store = b.another()
	b.ok(unharmed(b, "a"))
}

// grow makes the body longer, with bytes whose lowest bit is the family's.
func (x *text) grow(family int) []byte {
	more := x.odd(200)
	for i := range more {
		more[i] = more[i]&^1 | byte(family)
	}
	x.doc = append(x.doc, more...)
	return x.doc
}

func found(b *bench, whole []journal.Frame) error {
	s, err := b.storage.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Check(b.ctx, "a")
	if err != nil || r.Sound() {
		return fmt.Errorf("check found %+v, %v", r, err)
	}
	frames, rerr := readAll(b.ctx, s, "a")
	if !slices.EqualFunc(frames, whole[:len(frames)], sameFrame) {
		return errors.New("frames are not as they were")
	}
	if rerr != nil {
		return inEntries(r, rerr, frames, whole)
	}
	if len(frames) != len(whole) {
		return fmt.Errorf("%d of %d entries without an error", len(frames), len(whole))
	}
	return inBodies(b, s, r, frames)
}

// inEntries wants the damage to be right behind the frames that are readable, and all bodies of these.
func inEntries(r journal.Report, err error, frames, whole []journal.Frame) error {
	var at *journal.CorruptError
	if !errors.As(err, &at) || !errors.Is(err, journal.ErrCorrupt) {
		return fmt.Errorf("read fails with %w", err)
	}
	if len(r.Damage) == 0 || r.Damage[0].File != at.File || r.Damage[0].Offset != at.Offset {
		return fmt.Errorf("check found %+v, and read %w", r, err)
	}
	if !adjoins(frames, at.Offset) {
		return fmt.Errorf("the frames that are readable do not reach up to %w", err)
	}
	if r.Rebuilt != r.Bodies || r.Entries != len(frames) || len(frames) >= len(whole) {
		return fmt.Errorf("%d of %d entries readable, check found %+v", len(frames), len(whole), r)
	}
	return nil
}

// adjoins reports whether the last of some frames end at an offset of their file.
func adjoins(frames []journal.Frame, offset int64) bool {
	for i := len(frames) - 1; i >= 0 && offset > 0; i-- {
		offset -= int64(len(frames[i].Line)) + 1
	}
	return offset == 0
}

// inBodies wants no body to be lost but those of one family.
func inBodies(b *bench, s Store, r journal.Report, frames []journal.Frame) error {
	lost := [2]int{}
	for _, f := range frames {
		for _, ref := range entry.Bodies(f.Fact) {
			switch err := rebuilds(b.ctx, s, "a", ref); {
			case errors.Is(err, journal.ErrCorrupt):
				lost[f.Fact.(*entry.Request).N%2]++
			case err != nil:
				return err
			}
		}
	}
	if lost[0] > 0 && lost[1] > 0 {
		return fmt.Errorf("%d and %d bodies are lost of two families: %+v", lost[0], lost[1], r)
	}
	if len(r.Mismatches) != lost[0]+lost[1] || len(r.Damage) == 0 {
		return fmt.Errorf("%v bodies are lost, check found %+v", lost, r)
	}
	return nil
}

// damageOfFork changes single bits of a session and its fork. What the fork holds is found in the fork, wherever it is
// stored, and everything before it stays readable.
func damageOfFork(b *bench) {
	family(b, "a", 8)
	unlock := b.lock("b")
	frames := b.frames("a")
	at := len(frames) / 2
	b.append("b", &entry.Session{ID: "b", From: from("a", frames[at-1])})
	for i := range 6 {
		b.append("b", request(i, b.put("b", bytes.Repeat(fmt.Appendf(nil, "turn %d ", i*7919), 20))), gap(i))
	}
	b.ok(unlock())
	b.reopen()
	wholes := map[string][]journal.Frame{"a": b.frames("a"), "b": b.frames("b")}
	b.ok(b.store.Close())
	rng := rand.New(rand.NewPCG(4, 4))
	for range 400 {
		n := rng.Uint64()
		where := b.storage.Flip(n)
		if err := foundInFamily(b, wholes); err != nil {
			b.Errorf("bit %d changed at %s: %v", n, where, err)
		}
		b.storage.Flip(n)
	}
	b.store = b.another()
	b.ok(unharmed(b, "a"))
	b.ok(unharmed(b, "b"))
}

// foundInFamily wants each session's check to find what its readers meet, and one of them to find something.
func foundInFamily(b *bench, wholes map[string][]journal.Frame) error {
	s, err := b.storage.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	found := false
	for name, whole := range wholes {
		r, err := s.Check(b.ctx, name)
		if err != nil {
			return err
		}
		found = found || !r.Sound()
		frames, rerr := readAll(b.ctx, s, name)
		if len(frames) > len(whole) || !slices.EqualFunc(frames, whole[:len(frames)], sameFrame) {
			return fmt.Errorf("the frames of %q are not as they were", name)
		}
		lost := 0
		for _, f := range frames {
			for _, ref := range entry.Bodies(f.Fact) {
				if err := rebuilds(b.ctx, s, name, ref); errors.Is(err, journal.ErrCorrupt) {
					lost++
				} else if err != nil {
					return err
				}
			}
		}
		if len(r.Mismatches) != lost || r.Entries != len(frames) {
			return fmt.Errorf("%d bodies and %d entries of %q are readable, check found %+v", r.Bodies-lost, len(frames), name, r)
		}
		var at *journal.CorruptError
		if rerr == nil && len(frames) == len(whole) {
			continue
		}
		if !errors.As(rerr, &at) || len(r.Damage) == 0 || r.Damage[0].File != at.File || r.Damage[0].Offset != at.Offset {
			return fmt.Errorf("%d of %d entries of %q, then %w, and check found %+v", len(frames), len(whole), name, rerr, r)
		}
	}
	if !found {
		return errors.New("nothing is found")
	}
	return nil
}
