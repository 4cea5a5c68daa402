package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// purger is a store that can purge a session.
type purger interface {
	Purge(ctx context.Context, session string) (entry.Purged, error)
}

// purges reports whether the stores of a storage can purge.
func purges(t *testing.T, st Storage) bool {
	s, err := st.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, ok := s.(purger)
	return ok
}

func (b *bench) purge(session string) entry.Purged {
	b.Helper()
	p, err := b.store.(purger).Purge(b.ctx, session)
	b.ok(err)
	return p
}

// secret is text that no store makes shorter, so that it is found where it is kept.
func secret(seed uint64) []byte {
	x := text{rng: rand.New(rand.NewPCG(seed, 13))}
	return x.odd(300)
}

// relied are the bodies that the entries of some frames rely on, by the session in which they are stored.
func relied(frames []journal.Frame) (all map[string][]entry.Body, n int) {
	all = make(map[string][]entry.Body)
	for _, f := range frames {
		bodies := entry.Bodies(f.Fact)
		all[f.In] = append(all[f.In], bodies...)
		n += len(bodies)
	}
	return all, n
}

// isPurged wants the frames that a session had before its purge, one more that says so, and of its own bodies nothing.
func isPurged(ctx context.Context, s journal.Store, session string, before []journal.Frame) error {
	frames, err := readAll(ctx, s, session)
	if err != nil {
		return err
	}
	if len(frames) != len(before)+1 || !slices.EqualFunc(before, frames[:len(before)], sameFrame) {
		return fmt.Errorf("session %q has %d entries, had %d, or they have changed", session, len(frames), len(before))
	}
	bodies, all := relied(before)
	want := entry.Purged{Bodies: len(bodies[session])}
	for _, b := range bodies[session] {
		want.Bytes += b.Size
		if _, err := s.Body(ctx, session, b); !errors.Is(err, journal.ErrPurged) || errors.Is(err, journal.ErrCorrupt) {
			return fmt.Errorf("a body of the purged session %q gives %w", session, err)
		}
	}
	if got, ok := frames[len(before)].Fact.(*entry.Purged); !ok || !reflect.DeepEqual(*got, want) {
		return fmt.Errorf("the last entry of %q is %+v, want %+v", session, frames[len(before)].Fact, want)
	}
	r, err := s.Check(ctx, session)
	if err != nil {
		return err
	}
	if kept := all - want.Bodies; !r.Sound() || r.Entries != len(frames) || r.Purged != want.Bodies || r.Bodies != kept || r.Rebuilt != kept {
		return fmt.Errorf("check of the purged session %q found %+v", session, r)
	}
	return nil
}

// purge takes a session's bodies away, and nothing else.
func purge(b *bench) {
	family(b, "a", 9)
	family(b, "other", 4)
	unlock := b.lock("a")
	b.append("a", request(90, b.put("a", secret(1))), request(91, b.put("a", secret(2))))
	b.ok(unlock())
	before := b.frames("a")
	b.ok(unharmed(b, "a")) // and so the reader knows all of it
	other := b.another()
	for _, ref := range mustRelied(before)["a"] {
		b.ok(rebuilds(b.ctx, other, "a", ref))
	}
	if _, err := b.store.(purger).Purge(b.ctx, "a"); !errors.Is(err, journal.ErrNotLocked) {
		b.Errorf("a session that is not locked was purged: %v", err)
	}
	b.kept(true, 1, 2)
	unlock = b.lock("a")
	p := b.purge("a")
	hold := func() {
		b.Helper()
		b.ok(isPurged(b.ctx, b.store, "a", before))
		b.kept(false, 1, 2)
	}
	hold()
	refused := func() {
		b.Helper()
		_, err := b.store.Put(b.ctx, "a", secret(1))
		b.is(err, journal.ErrPurged)
		for _, f := range []entry.Fact{gap(1), request(1, nil), &entry.Session{ID: "a"}, &entry.Purged{}} {
			_, err = b.store.Append(b.ctx, "a", f)
			b.is(err, journal.ErrPurged)
		}
		if again := b.purge("a"); !reflect.DeepEqual(again, p) {
			b.Errorf("purged again it says %+v, not %+v", again, p)
		}
		hold()
	}
	refused()
	for _, ref := range mustRelied(before)["a"] { // who read it before may still know it, but calls nothing damaged
		if _, err := other.Body(b.ctx, "a", ref); err != nil && !errors.Is(err, journal.ErrPurged) {
			b.Errorf("another process's reader gets %v", err)
		}
	}
	if r, err := other.Check(b.ctx, "a"); err != nil || !r.Sound() || r.Bodies != 0 || r.Purged != p.Bodies {
		b.Errorf("another process's check found %+v, %v", r, err)
	}
	b.ok(unlock())
	hold()
	b.reopen()
	hold()
	b.lock("a")
	refused()
	b.ok(unharmed(b, "other"))
	var out bytes.Buffer
	b.ok(journal.Export(b.ctx, b.store, "a", &out))
	if n := strings.Count(out.String(), `,"purged":true}`); n != p.Bodies || strings.Contains(out.String(), `"text":`) || strings.Contains(out.String(), `"base64":`) {
		b.Errorf("the export says %d times that a body was purged, want %d, and holds no text", n, p.Bodies)
	}
	unlock = b.lock("none")
	_, err := b.store.(purger).Purge(b.ctx, "none")
	b.is(err, journal.ErrNoSession)
	b.ok(unlock())
}

// purgeOfImports purges a session that takes no more entries because it was imported, and takes in one that was purged where
// it was recorded.
func purgeOfImports(b *bench) {
	imported := &entry.Imported{Format: entry.FormatAmbit, Lines: 3, SHA256: strings.Repeat("0", 64)}
	unlock := b.lock("a")
	b.append("a", &entry.Session{ID: "a"}, request(1, b.put("a", secret(1))), imported)
	before := b.frames("a")
	b.purge("a")
	hold := func() {
		b.Helper()
		b.ok(isPurged(b.ctx, b.store, "a", before))
		b.kept(false, 1)
	}
	hold()
	b.ok(unlock())
	b.lock("b")
	ref := b.put("b", secret(2))
	b.append("b", &entry.Session{ID: "b"}, request(1, ref), &entry.Purged{Bodies: 1, Bytes: ref.Size})
	b.append("b", imported)
	_, err := b.store.Append(b.ctx, "b", &entry.Imported{Body: ref})
	if err == nil {
		b.Error("a purged session took a body")
	}
	b.reopen()
	hold()
	_, err = b.store.Body(b.ctx, "b", *ref)
	b.is(err, journal.ErrPurged)
	if r, err := b.store.Check(b.ctx, "b"); err != nil || !r.Sound() || r.Purged != 1 || r.Bodies != 0 || r.Entries != 4 {
		b.Errorf("check found %+v, %v", r, err)
	}
	b.lock("b") // which does what the entry says
	b.kept(false, 2)
	if p := b.purge("b"); p.Bodies != 1 || len(b.frames("b")) != 4 {
		b.Errorf("purged again: %+v and %d entries", p, len(b.frames("b")))
	}
}

func mustRelied(frames []journal.Frame) map[string][]entry.Body {
	all, _ := relied(frames)
	return all
}

// kept wants the storage to hold secrets, or not to.
func (b *bench) kept(want bool, seeds ...uint64) {
	b.Helper()
	for _, seed := range seeds {
		if b.storage.Holds != nil && b.storage.Holds(secret(seed)) != want {
			b.Errorf("secret %d is there: %v, want %v", seed, !want, want)
		}
	}
}

// purgeOfForks purges sessions that go on from one another, in any order: each loses what it stores itself.
func purgeOfForks(b *bench) {
	family(b, "a", 6)
	own := func(name string, seed uint64) *entry.Body {
		unlock := b.lock(name)
		ref := b.put(name, secret(seed))
		b.append(name, request(int(seed), ref), gap(1))
		b.ok(unlock())
		return ref
	}
	one := own("a", 1)
	b.fork("a", len(b.frames("a")), "b", gap(1))
	two := own("b", 2)
	b.fork("b", len(b.frames("b")), "c", gap(2))
	three := own("c", 3)
	again := own("c", 1) // what was said before is stored again
	shared := b.frames("b")
	unlock := b.lock("b")
	b.purge("b")
	b.ok(unlock())
	b.ok(isPurged(b.ctx, b.store, "b", shared))
	b.ok(unharmed(b, "a"))
	b.kept(true, 1, 3)
	b.kept(false, 2)
	through := func(name string, kept, gone []*entry.Body) {
		b.Helper()
		for _, ref := range kept {
			b.ok(rebuilds(b.ctx, b.store, name, *ref))
		}
		for _, ref := range gone {
			_, err := b.store.Body(b.ctx, name, *ref)
			b.is(err, journal.ErrPurged)
		}
		r, err := b.store.Check(b.ctx, name)
		if b.ok(err); !r.Sound() || r.Rebuilt != r.Bodies || r.Bodies == 0 {
			b.Errorf("check of %q: %+v", name, r)
		}
	}
	through("c", []*entry.Body{one, three, again}, []*entry.Body{two})
	before := b.frames("a")
	unlock = b.lock("a")
	b.purge("a")
	b.ok(unlock())
	b.ok(isPurged(b.ctx, b.store, "a", before))
	through("c", []*entry.Body{three, again}, []*entry.Body{two})
	b.reopen()
	through("c", []*entry.Body{three, again}, []*entry.Body{two})
	if r, err := b.store.Check(b.ctx, "b"); err != nil || !r.Sound() || r.Bodies != 0 || r.Purged == 0 {
		b.Errorf("check of a purged session that goes on from one: %+v, %v", r, err)
	}
	four := own("c", 4) // it goes on
	through("c", []*entry.Body{three, again, four}, []*entry.Body{two})
	// What goes on from a purged session, its last entry included, is a session like another.
	b.fork("a", len(b.frames("a")), "d", gap(1))
	through("d", []*entry.Body{own("d", 5)}, []*entry.Body{one})
}

// purgeAndCrash lets a purge fail at every operation, and cuts the power. Then the session is as it was, or it is purged,
// also where its text is still there; who locks it next finishes that.
func purgeAndCrash(t *testing.T, fresh func(t testing.TB) Storage) {
	begin := func() *bench {
		b := open(t, fresh(t))
		family(b, "a", 3)
		unlock := b.lock("a")
		b.append("a", request(90, b.put("a", secret(1))), request(91, b.put("a", slices.Repeat(secret(2), 9))))
		b.ok(unlock())
		return b
	}
	act := func(b *bench) error {
		unlock, err := b.store.Lock(b.ctx, "a")
		if err != nil {
			return err
		}
		_, err = b.store.(purger).Purge(b.ctx, "a")
		return errors.Join(err, unlock())
	}
	b := begin()
	start := b.storage.Ops()
	b.ok(act(b))
	ops := b.storage.Ops() - start
	for n := range ops {
		for _, count := range []int{1, math.MaxInt32} {
			b := begin()
			before := b.frames("a")
			b.storage.Fail(n, n+count, syscall.EIO)
			err := act(b)
			if err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("operation %d fails: %v", n, err)
			}
			b.storage.Fail(0, 0, nil)
			for _, seed := range []uint64{0, 1, uint64(3*n + 2), uint64(3*n + 3), uint64(3*n + 4)} {
				after := open(t, b.storage.Crash(seed))
				if cerr := crashedPurge(after, before, err == nil); cerr != nil {
					t.Errorf("%d operations fail from %d of %d on (%v), loss %s: %v", count, n, ops, err, loss(seed), cerr)
				}
			}
			b.ok(act(b)) // the cause is gone
			b.ok(isPurged(b.ctx, b.store, "a", before))
			b.kept(false, 1, 2)
		}
	}
}

// crashedPurge looks at a session whose purge may have begun, then takes it over, and then purges it.
func crashedPurge(b *bench, before []journal.Frame, acknowledged bool) error {
	frames, err := readAll(b.ctx, b.store, "a")
	if err != nil {
		return err
	}
	whole := len(frames) == len(before)
	state := func() error {
		if !whole {
			return isPurged(b.ctx, b.store, "a", before)
		}
		if !slices.EqualFunc(frames, before, sameFrame) {
			return errors.New("the entries have changed")
		}
		return unharmed(b, "a")
	}
	if whole && acknowledged {
		return errors.New("it was said to be purged")
	}
	if acknowledged {
		b.kept(false, 1, 2)
	}
	if err := state(); err != nil {
		return err
	}
	unlock, err := b.store.Lock(b.ctx, "a")
	if err == nil {
		err = state()
	}
	if err != nil {
		return fmt.Errorf("taken over: %w", err)
	}
	b.kept(whole, 1, 2)
	_, err = b.store.(purger).Purge(b.ctx, "a")
	b.kept(false, 1, 2)
	return errors.Join(err, unlock(), isPurged(b.ctx, b.store, "a", before))
}
