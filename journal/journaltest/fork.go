package journaltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"ambit/entry"
	"ambit/journal"
)

// from is the entry of a frame, to go on from.
func from(session string, f journal.Frame) *entry.Fork {
	return &entry.Fork{Session: session, Seq: f.Seq, Sum: f.Sum}
}

// fork begins a session that goes on from an entry of another, and gives it up. It returns what the session then holds.
func (b *bench) fork(parent string, seq int, name string, more ...entry.Fact) []entry.Fact {
	b.Helper()
	var facts []entry.Fact
	var last journal.Frame
	for _, f := range b.frames(parent)[:seq] {
		last, facts = f, append(facts, f.Fact)
	}
	own := append([]entry.Fact{&entry.Session{ID: name, From: from(parent, last)}}, more...)
	unlock := b.lock(name)
	if got, want := b.append(name, own...), entry.Seq(seq+len(own)); got != want {
		b.Errorf("the fork at %d returned %d, want %d", seq, got, want)
	}
	b.ok(unlock())
	return append(facts, own...)
}

// family is a session with appends of one to three entries, some of them with bodies.
func family(b *bench, name string, n int) []entry.Fact {
	unlock := b.lock(name)
	facts := []entry.Fact{&entry.Session{ID: name}}
	b.append(name, facts...)
	x := text{rng: rand.New(rand.NewPCG(11, 11))}
	for i := range n {
		more := []entry.Fact{request(i, b.put(name, x.next())), gap(i), gap(i + 1)}[:1+i%3]
		b.append(name, more...)
		facts = append(facts, more...)
	}
	b.ok(unlock())
	return facts
}

// forks goes on from every entry of a session, also from those in the middle of an append.
func forks(b *bench) {
	all := family(b, "a", 9)
	parent := b.frames("a")
	names, held := []string{"a"}, [][]entry.Fact{all}
	for seq := 1; seq <= len(all); seq++ {
		name := fmt.Sprintf("f%02d", seq)
		names, held = append(names, name), append(held, b.fork("a", seq, name, gap(seq), gap(seq+1)))
	}
	same := func() {
		b.Helper()
		b.lists(names...)
		for i, name := range names {
			b.holds(name, held[i]...)
			b.isFork(name, parent[:min(len(parent), max(i, 1))])
		}
	}
	same()
	b.reopen()
	same()
	for i, name := range names {
		unlock := b.lock(name)
		more := request(i, b.put(name, fmt.Appendf(nil, "more of %s", name)))
		if got, want := b.append(name, more), entry.Seq(len(held[i])+1); got != want {
			b.Errorf("append to %q returned %d, want %d", name, got, want)
		}
		b.ok(unlock())
		held[i] = append(held[i], more)
	}
	same()
	if now := b.frames("a"); !slices.EqualFunc(parent, now[:len(parent)], sameFrame) {
		b.Error("the parent's frames have changed")
	}
}

// isFork wants a session to begin with these frames of another, to have all others itself, and to give them after any
// sequence number.
func (b *bench) isFork(name string, prefix []journal.Frame) {
	b.Helper()
	all := b.frames(name)
	if !slices.EqualFunc(all[:len(prefix)], prefix, sameFrame) {
		b.Errorf("session %q does not hold the frames that it goes on from", name)
	}
	for _, f := range all[len(prefix):] {
		if f.In != name {
			b.Errorf("entry %d of session %q is in %q", f.Seq, name, f.In)
		}
	}
	for after := range len(all) + 2 {
		got, err := readFrom(b.ctx, b.store, name, entry.Seq(after))
		if b.ok(err); !slices.EqualFunc(got, all[min(after, len(all)):], sameFrame) {
			b.Errorf("after %d of session %q come %d frames of %d", after, name, len(got), len(all))
		}
	}
}

// forksOfForks goes on from a fork's own entries, and from those that it goes on from itself.
func forksOfForks(b *bench) {
	family(b, "a", 6)
	family(b, "other", 3)
	b.fork("a", 7, "b", gap(1), gap(2), gap(3))
	all := b.frames("b")
	for seq := 1; seq <= len(all); seq++ {
		name := fmt.Sprintf("c%02d", seq)
		want := b.fork("b", seq, name, gap(4))
		b.holds(name, want...)
		b.isFork(name, all[:seq])
		b.holds(name+"-x", b.fork(name, seq+2, name+"-x")...)
		b.holds(name+"-y", b.fork(name, 2, name+"-y")...)
	}
	b.reopen()
	for seq := 1; seq <= len(all); seq++ {
		b.isFork(fmt.Sprintf("c%02d", seq), all[:seq])
	}
}

// deepForks goes on until there is no sense in it any more.
func deepForks(b *bench) {
	b.lock("f0")
	want := []entry.Fact{gap(0)}
	b.append("f0", want...)
	for i := 1; i <= 64; i++ {
		want = b.fork(fmt.Sprint("f", i-1), i, fmt.Sprint("f", i))
	}
	b.holds("f64", want...)
	frames := b.frames("f64")
	b.lock("f65")
	for _, at := range []int{64, 1, 30} {
		_, err := b.store.Append(b.ctx, "f65", &entry.Session{From: from("f64", frames[at])})
		b.is(err, journal.ErrFork)
	}
	b.append("f65", &entry.Session{From: from("f63", frames[63])})
	b.holds("f65", append(want[:64:64], &entry.Session{From: from("f63", frames[63])})...)
}

// bodiesOfForks has bodies in two logs, at the same places of both.
func bodiesOfForks(b *bench) {
	b.lock("a")
	both := bytes.Repeat([]byte("the same in both; "), 30)
	one, two := b.put("a", both), b.put("a", bytes.Repeat([]byte("only in a; "), 30))
	b.append("a", request(1, one), request(2, two), request(3, nil))
	b.lock("b")
	facts := []entry.Fact{request(1, one), request(2, two), &entry.Session{From: from("a", b.frames("a")[1])}}
	_, err := b.store.Append(b.ctx, "b", facts[2], request(4, two))
	b.is(err, journal.ErrNoBody)
	b.append("b", facts[2])
	own := []*entry.Body{b.put("b", both), b.put("b", bytes.Repeat([]byte("only in b; "), 30))}
	if *own[0] != *one || own[1].At != two.At {
		b.Errorf("bodies are at %+v and %+v, in the other session at %+v and %+v", *own[0], *own[1], *one, *two)
	}
	_, err = b.store.Append(b.ctx, "b", request(4, two))
	b.is(err, journal.ErrNoBody)
	b.append("b", request(4, own[0]), request(5, own[1]))
	facts = append(facts, request(4, own[0]), request(5, own[1]))
	hold := func() {
		b.Helper()
		b.holds("b", facts...)
		b.ok(rebuilds(b.ctx, b.store, "b", *two))
		_, err = b.store.Body(b.ctx, "a", *own[1])
		b.is(err, journal.ErrNoBody)
		none := *two
		none.Size++
		_, err = b.store.Body(b.ctx, "b", none)
		b.is(err, journal.ErrNoBody)
		var out bytes.Buffer
		b.ok(journal.Export(b.ctx, b.store, "b", &out))
		for text, n := range map[string]int{`"text":"the same`: 1, `"text":"only in a;`: 1, `"text":"only in b;`: 1, `{"frame":1,"seq":`: 5} {
			if got := strings.Count(out.String(), text); got != n {
				b.Errorf("the export has %q %d times, want %d", text, got, n)
			}
		}
	}
	hold()
	b.reopen()
	hold()
}

// notForkable refuses what is no place to go on from, and leaves nothing of it.
func notForkable(b *bench) {
	family(b, "a", 3)
	family(b, "other", 4)
	good := *from("a", b.frames("a")[3])
	foreign := b.frames("other")
	b.lock("b")
	b.lock("begun")
	b.put("begun", []byte("a body is no entry"))
	for i, wrong := range []func(f *entry.Fork){
		func(f *entry.Fork) { f.Seq = 0 },
		func(f *entry.Fork) { f.Seq++ },
		func(f *entry.Fork) { f.Seq = 100 },
		func(f *entry.Fork) { f.Seq = ^entry.Seq(0) },
		func(f *entry.Fork) { f.Sum = "" },
		func(f *entry.Fork) { f.Sum = strings.ToUpper(f.Sum) },
		func(f *entry.Fork) { f.Sum = strings.Repeat("0", 64) },
		func(f *entry.Fork) { f.Sum = foreign[3].Sum },
		func(f *entry.Fork) { f.Session = "other" },
		func(f *entry.Fork) { f.Session = "b" },
		func(f *entry.Fork) { f.Session = "none" },
		func(f *entry.Fork) { f.Session = "begun" },
		func(f *entry.Fork) { f.Session = "" },
		func(f *entry.Fork) { f.Session = "../sessions/a" },
	} {
		f := good
		wrong(&f)
		_, err := b.store.Append(b.ctx, "b", &entry.Session{From: &f}, gap(1))
		if b.is(err, journal.ErrFork); err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%s of session %q", f.Seq.Ref(), f.Session)) {
			b.Errorf("row %d: %q does not name the entry", i, err)
		}
	}
	_, err := b.store.Append(b.ctx, "b", gap(1), &entry.Session{From: &good})
	b.is(err, journal.ErrFork)
	_, err = b.store.Append(b.ctx, "b", &entry.Session{From: &good}, &entry.Session{From: &good})
	b.is(err, journal.ErrFork)
	b.lists("a", "other")
	for _, err := range b.store.Read(b.ctx, "b", 0) {
		b.is(err, journal.ErrNoSession)
	}
	b.append("b", &entry.Session{From: &good})
	b.append("begun", gap(1))
	for _, name := range []string{"b", "begun"} {
		before := b.frames(name)
		_, err = b.store.Append(b.ctx, name, &entry.Session{From: &good})
		b.is(err, journal.ErrFork)
		if after := b.frames(name); !slices.EqualFunc(before, after, sameFrame) {
			b.Errorf("session %q has changed", name)
		}
	}
}

// forkWhileWritten goes on from a session that another process has locked and appends to.
func forkWhileWritten(b *bench) {
	other := b.another()
	unlock, err := other.Lock(b.ctx, "a")
	b.ok(err)
	const count = 60
	var group sync.WaitGroup
	group.Go(func() {
		for i := range count {
			ref, err := other.Put(b.ctx, "a", fmt.Appendf(nil, "body %d", i))
			if err == nil {
				_, err = other.Append(b.ctx, "a", request(i, &ref), gap(i))
			}
			b.quiet(err)
		}
	})
	held := map[string][]entry.Fact{}
	for n := 0; n < 2*count; {
		frames := b.frames("a")
		if len(frames) == 0 {
			continue
		}
		n = len(frames)
		name := fmt.Sprint("f", n)
		if held[name] == nil {
			held[name] = b.fork("a", n, name, gap(n))
		}
	}
	group.Wait()
	for name, facts := range held {
		b.holds(name, facts...)
	}
	_, err = other.Append(b.ctx, "a", gap(count))
	b.ok(err)
	b.ok(unlock())
	b.ok(unharmed(b, "a"))
}
