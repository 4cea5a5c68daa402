package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// textPurger is a store that can purge the text of one entry.
type textPurger interface {
	PurgeText(ctx context.Context, session string, r journal.Removal) (entry.Purged, error)
	Part(ctx context.Context, session string, b entry.Body, offset, length int64) ([]byte, error)
	Remains(ctx context.Context, session string, b entry.Body) ([]byte, error)
}

// conversation is a session whose bodies resend one another, and whose texts are secrets of these numbers.
type conversation struct {
	first  *entry.Body // secrets 1, 2 and 3
	second *entry.Body // the same, and 4
	other  *entry.Body // secrets 5 and 2, without what stands between them in the first
	before []journal.Frame
}

func talk(b *bench) conversation {
	b.Helper()
	family(b, "a", 3)
	defer b.lock("a")()
	first := slices.Concat(secret(1), secret(2), secret(3))
	c := conversation{first: b.put("a", first)}
	c.second = b.put("a", append(bytes.Clone(first), secret(4)...))
	b.append("a", request(90, c.first), request(91, c.second))
	c.other = b.put("a", slices.Concat(secret(5), secret(2)))
	b.append("a", request(92, c.other))
	c.before = b.frames("a")
	return c
}

// removal is that of secret 1, which is said in two of the bodies.
func (c conversation) removal() journal.Removal {
	n := int64(len(secret(1)))
	return journal.Removal{
		Of:   c.before[1].Seq,
		Gone: []journal.Span{{Body: *c.first, Length: n}, {Body: *c.second, Length: n}},
		Kept: []journal.Span{{Body: *c.first, Offset: n, Length: 2 * n, Of: 3}, {Body: *c.other, Length: 2 * n, Of: 4}},
	}
}

// isGone wants secret 1 to be gone, and nothing else of the conversation.
func (c conversation) isGone(ctx context.Context, s journal.Store, entries int) error {
	t, n := s.(textPurger), int64(len(secret(1)))
	for _, ref := range []*entry.Body{c.first, c.second} {
		if _, err := s.Body(ctx, "a", *ref); !errors.Is(err, journal.ErrPurged) || errors.Is(err, journal.ErrCorrupt) {
			return fmt.Errorf("a body that had the text gives %w", err)
		}
		for seed, at := range map[uint64]int64{2: n, 3: 2 * n} {
			if part, err := t.Part(ctx, "a", *ref, at, n); err != nil || !bytes.Equal(part, secret(seed)) {
				return fmt.Errorf("secret %d of it is %x: %w", seed, part, err)
			}
		}
		for _, at := range []int64{0, n - 1} {
			if part, err := t.Part(ctx, "a", *ref, at, 1); !errors.Is(err, journal.ErrPurged) {
				return fmt.Errorf("byte %d of the text is %x: %w", at, part, err)
			}
		}
		left, err := t.Remains(ctx, "a", *ref)
		if err != nil || !bytes.Equal(left[:n], make([]byte, n)) || !bytes.Equal(left[n:2*n], secret(2)) {
			return fmt.Errorf("what remains is %x: %w", left, err)
		}
	}
	if part, err := t.Part(ctx, "a", *c.second, 3*n, n); err != nil || !bytes.Equal(part, secret(4)) {
		return fmt.Errorf("secret 4 is %x: %w", part, err)
	}
	if err := rebuilds(ctx, s, "a", *c.other); err != nil {
		return err
	}
	frames, err := readAll(ctx, s, "a")
	if err != nil || len(frames) != entries || !slices.EqualFunc(c.before, frames[:len(c.before)], sameFrame) {
		return fmt.Errorf("there are %d entries, want %d, or they have changed: %w", len(frames), entries, err)
	}
	_, all := relied(frames)
	r, err := s.Check(ctx, "a")
	if err != nil || !r.Sound() || r.Purged != 2 || r.Rebuilt != all-2 || r.Left != 0 {
		return fmt.Errorf("check found %+v, %w", r, err)
	}
	return nil
}

// purgeText takes the text of one entry away, and nothing else.
func purgeText(b *bench) {
	c := talk(b)
	t := b.store.(textPurger)
	other := b.another()
	b.ok(rebuilds(b.ctx, other, "a", *c.second))
	if _, err := t.PurgeText(b.ctx, "a", c.removal()); !errors.Is(err, journal.ErrNotLocked) {
		b.Errorf("of a session that is not locked text was purged: %v", err)
	}
	b.kept(true, 1, 2, 3, 4, 5)
	unlock := b.lock("a")
	p, err := t.PurgeText(b.ctx, "a", c.removal())
	b.ok(err)
	if n := int64(len(secret(1))); p.Bodies != 2 || p.Bytes != n || p.Of != c.before[1].Seq || len(p.Runs) != 1 || p.Runs[0].Length != uint64(n) {
		b.Errorf("it says %+v", p)
	}
	entries := len(c.before) + 1
	hold := func() {
		b.Helper()
		b.ok(c.isGone(b.ctx, b.store, entries))
		b.kept(false, 1)
		b.kept(true, 2, 3, 4, 5)
	}
	hold()
	if again, err := b.store.(textPurger).PurgeText(b.ctx, "a", c.removal()); err != nil || again.Bytes != p.Bytes || len(b.frames("a")) != entries {
		b.Errorf("again: %+v, %v, and %d entries", again, err, len(b.frames("a")))
	}
	if _, err := other.Body(b.ctx, "a", *c.first); err != nil && !errors.Is(err, journal.ErrPurged) {
		b.Errorf("another process's reader gets %v", err)
	}
	b.ok(c.isGone(b.ctx, b.another(), entries))
	b.ok(unlock())
	hold()
	b.reopen()
	hold()
	b.lock("a")
	hold()
	// It goes on, and says much of it again, with zeros where the text was.
	zeros := b.put("a", slices.Concat(make([]byte, len(secret(1))), secret(2), secret(3)))
	anew := b.put("a", slices.Concat(secret(1), secret(2), secret(4)))
	b.append("a", request(93, zeros), request(94, anew))
	entries += 2
	b.ok(rebuilds(b.ctx, b.store, "a", *zeros))
	b.ok(rebuilds(b.ctx, b.store, "a", *anew))
	b.ok(c.isGone(b.ctx, b.store, entries))
	b.kept(true, 1, 2, 3, 4, 5)
	// And once more, now with what stands beside it, in the same records.
	r, n := c.removal(), int64(len(secret(1)))
	r.Gone = append(r.Gone, journal.Span{Body: *c.first, Offset: 2 * n, Length: n}, journal.Span{Body: *anew, Length: n})
	r.Kept = nil
	p, err = b.store.(textPurger).PurgeText(b.ctx, "a", r)
	b.ok(err)
	b.kept(false, 1, 3)
	b.kept(true, 2, 4, 5)
	if p.Bodies != 2 || p.Bytes != 2*n {
		b.Errorf("the second time it says %+v", p)
	}
	late := b.put("a", secret(3)) // which is not what is gone
	b.append("a", request(95, late))
	b.ok(rebuilds(b.ctx, b.store, "a", *late))
	b.reopen()
	b.lock("a")
	b.kept(false, 1)
	if r, err := b.store.Check(b.ctx, "a"); err != nil || !r.Sound() || r.Purged != 4 || r.Left != 0 {
		b.Errorf("check found %+v, %v", r, err)
	}
	var out bytes.Buffer
	b.ok(journal.Export(b.ctx, b.store, "a", &out))
	if n := bytes.Count(out.Bytes(), []byte(`,"purged":true}`)); n != 4 {
		b.Errorf("the export says %d times that a body was purged", n)
	}
	b.purge("a") // all of it
	b.kept(false, 1, 2, 3, 4, 5)
}

// purgeTextAndCrash lets the purge of a text fail at every operation, and cuts the power. What stands beside the text is
// there at any time, and whoever locks the session next finishes what was begun.
func purgeTextAndCrash(t *testing.T, fresh func(t testing.TB) Storage) {
	act := func(b *bench, c conversation) error {
		unlock, err := b.store.Lock(b.ctx, "a")
		if err != nil {
			return err
		}
		_, err = b.store.(textPurger).PurgeText(b.ctx, "a", c.removal())
		return errors.Join(err, unlock())
	}
	b := open(t, fresh(t))
	c := talk(b)
	start := b.storage.Ops()
	b.ok(act(b, c))
	ops := b.storage.Ops() - start
	for n := range ops {
		for _, count := range []int{1, math.MaxInt32} {
			b := open(t, fresh(t))
			c := talk(b)
			b.storage.Fail(n, n+count, syscall.EIO)
			err := act(b, c)
			if err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("operation %d fails: %v", n, err)
			}
			b.storage.Fail(0, 0, nil)
			for _, seed := range []uint64{0, 1, uint64(3*n + 2), uint64(3*n + 3), uint64(3*n + 4)} {
				if cerr := c.crashed(open(t, b.storage.Crash(seed)), err == nil); cerr != nil {
					t.Errorf("%d operations fail from %d of %d on (%v), loss %s: %v", count, n, ops, err, loss(seed), cerr)
				}
			}
			b.ok(act(b, c)) // the cause is gone
			b.ok(c.isGone(b.ctx, b.store, len(c.before)+1))
			b.kept(false, 1)
		}
	}
}

// crashed looks at a conversation of which a text was perhaps purged, then takes it over, and then purges that.
func (c conversation) crashed(b *bench, acknowledged bool) error {
	frames, err := readAll(b.ctx, b.store, "a")
	if err != nil {
		return err
	}
	if acknowledged {
		b.kept(false, 1)
		if err := c.isGone(b.ctx, b.store, len(c.before)+1); err != nil {
			return err
		}
	}
	r, err := b.store.Check(b.ctx, "a")
	if err != nil || !r.Sound() || r.Purged != 0 && r.Purged != 2 {
		return fmt.Errorf("check found %+v, %w", r, err)
	}
	for seed, at := range map[uint64]int{2: 1, 3: 2} {
		part, err := b.store.(textPurger).Part(b.ctx, "a", *c.first, int64(at*len(secret(1))), int64(len(secret(1))))
		if err != nil || !bytes.Equal(part, secret(seed)) {
			return fmt.Errorf("secret %d is lost: %w", seed, err)
		}
	}
	unlock, err := b.store.Lock(b.ctx, "a")
	if err != nil {
		return err
	}
	if len(frames) > len(c.before) { // it was begun
		b.kept(false, 1)
		if err := c.isGone(b.ctx, b.store, len(frames)); err != nil {
			return fmt.Errorf("taken over: %w", err)
		}
	} else if err := rebuilds(b.ctx, b.store, "a", *c.second); err != nil {
		return fmt.Errorf("taken over: %w", err)
	}
	_, err = b.store.(textPurger).PurgeText(b.ctx, "a", c.removal())
	b.kept(false, 1)
	return errors.Join(err, unlock(), c.isGone(b.ctx, b.store, len(c.before)+1))
}
