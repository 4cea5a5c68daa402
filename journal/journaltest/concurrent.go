package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"ambit/entry"
	"ambit/journal"
)

func goroutines(b *bench) {
	before := runtime.NumGoroutine()
	s := b.another()
	_, err := s.Lock(b.ctx, "a")
	b.ok(err)
	ref, err := s.Put(b.ctx, "a", bytes.Repeat([]byte("text"), 1000))
	b.ok(err)
	_, err = s.Append(b.ctx, "a", request(1, &ref))
	b.ok(err)
	for range s.Read(b.ctx, "a", 0) {
		break
	}
	b.ok(s.Close())
	for range 100_000 { // one that Close has waited for may still be on its last step
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	stacks := make([]byte, 1<<16)
	b.Errorf("%d goroutines are left:\n%s", runtime.NumGoroutine()-before, stacks[:runtime.Stack(stacks, true)])
}

func concurrentAppends(b *bench) {
	const writers, each = 16, 12
	b.lock("a")
	var seqs sync.Map
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				facts, err := pair(b, w, i)
				seq, aerr := b.store.Append(b.ctx, "a", facts...)
				if err := errors.Join(err, aerr); err != nil {
					b.Error(err)
					return
				}
				for k := range facts {
					at := seq - entry.Seq(len(facts)-1-k)
					if _, taken := seqs.LoadOrStore(at, facts[k]); taken {
						b.Errorf("two appends got number %d", at)
					}
				}
			}
		})
	}
	group.Wait()
	var facts []entry.Fact
	for seq := entry.Seq(1); ; seq++ {
		fact, ok := seqs.Load(seq)
		if !ok {
			break
		}
		facts = append(facts, fact.(entry.Fact))
	}
	b.holds("a", facts...)
	if n := len(b.frames("a")); n != writers*each*2-writers*each/3 {
		b.Errorf("%d entries", n)
	}
	b.reopen()
	b.holds("a", facts...)
}

// pair is two facts with a body each or, one time in three, a single one without.
func pair(b *bench, w, i int) ([]entry.Fact, error) {
	if i%3 == 0 {
		return []entry.Fact{gap(w*1000 + i)}, nil
	}
	body := bytes.Repeat(fmt.Appendf(nil, "writer %d says %d; ", w, i), 20)
	one, err := b.store.Put(b.ctx, "a", body)
	if err != nil {
		return nil, err
	}
	two, err := b.store.Put(b.ctx, "a", body[7:])
	return []entry.Fact{request(w*1000+i, &one), &entry.Response{N: w*1000 + i, Body: &two}}, err
}

// concurrentUse does everything at once, over more sessions than a store may want to hold open, with locks coming and
// going under the readers.
func concurrentUse(b *bench) {
	const count = 40
	names, refs := make([]string, count), map[string]*entry.Body{}
	for i := range names {
		names[i] = fmt.Sprint("s", i)
		unlock := b.lock(names[i])
		refs[names[i]] = b.put(names[i], bytes.Repeat([]byte(names[i]), 100))
		b.append(names[i], request(1, refs[names[i]]))
		if i%2 == 0 {
			b.ok(unlock())
		}
	}
	var group sync.WaitGroup
	for range 4 { // bodies alone, of one session after another, in and out of what a store holds open
		group.Go(func() {
			for i := range 500 {
				name := names[i%count]
				b.quiet(rebuilds(b.ctx, b.store, name, *refs[name]))
			}
		})
	}
	for w := range 4 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 5))
			for range 150 {
				name := names[rng.IntN(count)]
				if err := anything(b, rng, name); err != nil {
					b.Errorf("session %q: %v", name, err)
				}
			}
		})
	}
	group.Wait()
	b.reopen()
	for _, name := range names {
		frames := b.frames(name)
		b.ok(sound(b.ctx, b.store, name, len(frames)))
	}
}

func anything(b *bench, rng *rand.Rand, name string) error {
	switch rng.IntN(5) {
	case 0:
		unlock, err := b.store.Lock(b.ctx, name)
		if errors.Is(err, journal.ErrBusy) {
			return nil
		}
		if err != nil {
			return err
		}
		return errors.Join(appendBody(b, name), unlock())
	case 1:
		return appendBody(b, name)
	case 2:
		return unharmed(b, name)
	}
	for f, err := range b.store.Read(b.ctx, name, 0) {
		if err != nil {
			return err
		}
		for _, ref := range entry.Bodies(f.Fact) {
			if err := rebuilds(b.ctx, b.store, name, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendBody(b *bench, name string) error {
	ref, err := b.store.Put(b.ctx, name, bytes.Repeat([]byte("more of "+name), 50))
	if err == nil {
		_, err = b.store.Append(b.ctx, name, request(2, &ref))
	}
	if errors.Is(err, journal.ErrNotLocked) {
		return nil
	}
	return err
}

func closed(b *bench) {
	unlock := b.lock("a")
	own := b.put("a", []byte("our own"))
	b.append("a", request(1, own))
	b.ok(b.store.Close())
	b.ok(b.store.Close())
	b.ok(unlock())
	_, err := b.store.Append(b.ctx, "a", gap(1))
	b.is(err, journal.ErrClosed)
	_, err = b.store.Put(b.ctx, "a", []byte("text"))
	b.is(err, journal.ErrClosed)
	_, err = b.store.Lock(b.ctx, "b")
	b.is(err, journal.ErrClosed)
	_, err = b.store.Body(b.ctx, "a", *own)
	b.is(err, journal.ErrClosed)
	_, err = b.store.Check(b.ctx, "a")
	b.is(err, journal.ErrClosed)
	_, err = b.store.Sessions(b.ctx)
	b.is(err, journal.ErrClosed)
	for _, err := range b.store.Read(b.ctx, "a", 0) {
		b.is(err, journal.ErrClosed)
	}
	b.store = b.another()
	b.holds("a", request(1, own))
}

// closeInUse closes a store, and gives up a session, under everything that uses them. Each call then succeeds or says
// so, and what was acknowledged stays.
func closeInUse(b *bench) {
	want := 0
	for round := range 9 {
		unlock := b.lock("a")
		ref := b.put("a", bytes.Repeat([]byte("text"), 200))
		b.append("a", request(0, ref))
		want++
		var acked atomic.Int64
		var group sync.WaitGroup
		for w := range 8 {
			group.Go(func() {
				for i := 0; i < 25 && use(b, w+i%2*4, ref, &acked); i++ {
				}
			})
		}
		if round%3 != 0 {
			group.Go(func() { b.quiet(unlock()) })
		}
		if round%3 != 1 {
			group.Go(func() { b.quiet(b.store.Close()) })
		}
		group.Wait()
		b.reopen()
		want += int(acked.Load())
		if n := len(b.frames("a")); n != want {
			b.Fatalf("round %d: %d entries, %d were acknowledged", round, n, want)
		}
		b.ok(sound(b.ctx, b.store, "a", want))
	}
}

// quiet is ok for goroutines, which must not end the test.
func (b *bench) quiet(err error) {
	b.Helper()
	if err != nil {
		b.Error(err)
	}
}

// use makes one call and reports whether the store still takes such calls.
func use(b *bench, w int, ref *entry.Body, acked *atomic.Int64) bool {
	var err error
	switch w {
	case 0, 1, 2:
		if _, err = b.store.Append(b.ctx, "a", gap(w)); err == nil {
			acked.Add(1)
		}
	case 3, 4:
		_, err = b.store.Put(b.ctx, "a", fmt.Appendf(nil, "text %p", &err))
	case 5:
		err = rebuilds(b.ctx, b.store, "a", *ref)
	case 6:
		err = unharmed(b, "a")
	default:
		_, err = readAll(b.ctx, b.store, "a")
	}
	if errors.Is(err, journal.ErrNotLocked) || errors.Is(err, journal.ErrClosed) {
		return false
	}
	b.quiet(err)
	return err == nil
}

// unharmed wants a check without findings, however many entries there are by now.
func unharmed(b *bench, name string) error {
	r, err := b.store.Check(b.ctx, name)
	if err == nil && !r.Sound() {
		err = fmt.Errorf("check found %+v", r)
	}
	return err
}

// onlyAcknowledged lets an append fail at each of its operations in turn. Readers must not see it, not even after the
// session was given up and locked again, and must see all others.
func onlyAcknowledged(b *bench) {
	var facts []entry.Fact
	cause := causes[1]
	for n := range 12 {
		unlock := b.lock("a")
		own := b.put("a", bytes.Repeat([]byte{byte(n)}, 500))
		failed := b.storage.Fail(n, n+1, cause)
		_, err := b.store.Append(b.ctx, "a", gap(n), request(n, own))
		if failed() > 0 {
			b.is(err, cause)
		} else if b.ok(err); true {
			facts = append(facts, gap(n), request(n, own))
		}
		b.storage.Fail(0, 0, nil)
		b.holds("a", facts...)
		b.ok(unlock())
		b.holds("a", facts...)
		unlock = b.lock("a")
		b.holds("a", facts...)
		b.append("a", gap(n))
		facts = append(facts, gap(n))
		b.ok(unlock())
	}
	b.holds("a", facts...)
}

// shownIsDurable cuts the power while 4 writers append, right after a reader of the writing process has read.
func shownIsDurable(b *bench) {
	b.lock("a")
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 60 {
				facts, err := pair(b, w, i)
				if err == nil {
					_, err = b.store.Append(b.ctx, "a", facts...)
				}
				b.quiet(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		shown, err := readAll(b.ctx, b.store, "a")
		b.ok(err)
		isDurable(open(b.T, b.storage.Crash(0)), shown)
		select {
		case <-done:
			return
		default:
		}
	}
}

func isDurable(after *bench, shown []journal.Frame) {
	there, err := readAll(after.ctx, after.store, "a")
	after.quiet(err)
	if len(there) < len(shown) || !slices.EqualFunc(shown, there[:len(shown)], sameFrame) {
		after.Errorf("%d entries were shown, %d are durable", len(shown), len(there))
	}
	if len(there) > 0 {
		after.quiet(unharmed(after, "a"))
	}
	after.quiet(after.store.Close())
}
