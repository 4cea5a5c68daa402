package journaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/journal"

	"github.com/google/go-cmp/cmp"
)

func request(n int, body *entry.Body) entry.Fact {
	return &entry.Request{N: n, Provider: "openai", Path: "/v1/responses", Body: body}
}

func gap(n int) entry.Fact { return &entry.Gap{Exchanges: n, Cause: "a test"} }

func chain(b *bench) {
	b.lock("a")
	facts := []entry.Fact{&entry.Session{ID: "a", Title: "Ä title with \"quotes\", <html>, \u2028 and \n"}}
	b.append("a", facts[0])
	for i := range 30 {
		more := []entry.Fact{gap(i), &entry.Response{N: i, End: entry.EndDropped}, request(i, nil)}[:1+i%3]
		facts = append(facts, more...)
		if seq := b.append("a", more...); seq != entry.Seq(len(facts)) {
			b.Fatalf("append returned %d, want %d", seq, len(facts))
		}
	}
	if seq := b.append("a"); seq != entry.Seq(len(facts)) {
		b.Errorf("an append of nothing returned %d, want %d", seq, len(facts))
	}
	b.holds("a", facts...)
	seen := map[string]bool{}
	for _, f := range b.frames("a") {
		if seen[f.Sum] || f.Revision() != f.Sum[:8] || f.Time.IsZero() {
			b.Errorf("entry %d has time %v, sum %s and revision %s", f.Seq, f.Time, f.Sum, f.Revision())
		}
		seen[f.Sum] = true
	}
}

// Bodies are related bodies as clients send them, and some that they do not: empty ones, single bytes, a growing one,
// edits in the middle, one of more than 1 MiB, repetitions.
func Bodies() [][]byte {
	x := text{rng: rand.New(rand.NewPCG(7, 7))}
	all := [][]byte{{}, {0}, {255}, []byte("AMB1"), {}}
	for range 40 {
		all = append(all, bytes.Clone(x.next()))
	}
	big := x.odd(1<<20 + 500<<10)
	middle := slices.Concat(big[:700_000], []byte("something in the middle"), big[700_001:])
	zeros := make([]byte, 300_000)
	return append(all, big, middle, big, zeros, slices.Concat(zeros, []byte{1}, zeros), all[20], big[1000:1500])
}

func bodies(b *bench) {
	b.lock("a")
	var facts []entry.Fact
	var refs []entry.Body
	all := Bodies()
	for i, body := range all {
		given := bytes.Clone(body)
		ref := b.put("a", given)
		clear(given) // the store keeps no reference
		facts, refs = append(facts, request(i, ref)), append(refs, *ref)
		b.append("a", facts[i])
	}
	rebuild := func() {
		b.Helper()
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(all)) {
			got, err := b.store.Body(b.ctx, "a", refs[i])
			b.ok(err)
			if !bytes.Equal(got, all[i]) {
				b.Errorf("body %d of %d bytes comes back with %d bytes", i, len(all[i]), len(got))
			}
		}
		b.holds("a", facts...)
	}
	rebuild()
	b.reopen()
	rebuild()
	b.lock("a") // and goes on by difference to what a process before has stored
	again := b.put("a", all[len(all)-5])
	b.append("a", request(0, again), request(0, &refs[3]))
	b.holds("a", append(facts, request(0, again), request(0, &refs[3]))...)
}

func readAfter(b *bench) {
	b.lock("a")
	for i := range 40 {
		b.append("a", slices.Repeat([]entry.Fact{gap(i)}, 1+i%3)...)
	}
	all := b.frames("a")
	for after := range len(all) + 3 {
		got, err := readFrom(b.ctx, b.store, "a", entry.Seq(after))
		b.ok(err)
		if want := all[min(after, len(all)):]; !slices.EqualFunc(got, want, sameFrame) {
			b.Errorf("after %d come %d frames, want %d", after, len(got), len(want))
		}
	}
	if got, err := readFrom(b.ctx, b.store, "a", ^entry.Seq(0)); err != nil || len(got) > 0 {
		b.Errorf("after the greatest number come %d frames, %v", len(got), err)
	}
	for f, err := range b.store.Read(b.ctx, "a", 3) {
		if b.ok(err); f.Seq != 4 {
			b.Errorf("entry %d comes after 3", f.Seq)
		}
		break
	}
}

func sameFrame(x, y journal.Frame) bool {
	return x.Seq == y.Seq && x.In == y.In && x.Sum == y.Sum && x.Prev == y.Prev && x.Time.Equal(y.Time) &&
		bytes.Equal(x.Line, y.Line) && cmp.Equal(x.Fact, y.Fact)
}

func sessions(b *bench) {
	want := []string{"a", "a-1", "b", "zz"}
	for _, name := range []string{"zz", "b", "a-1", "empty", "a"} {
		if b.lock(name); name != "empty" {
			b.append(name, &entry.Session{ID: name})
		}
	}
	b.put("empty", []byte("a body is no entry"))
	b.lists(want...)
	b.reopen()
	b.lists(want...)
	for _, name := range []string{"empty", "none"} {
		for _, err := range b.store.Read(b.ctx, name, 0) {
			b.is(err, journal.ErrNoSession)
		}
		_, err := b.store.Check(b.ctx, name)
		b.is(err, journal.ErrNoSession)
	}
	for _, name := range want {
		b.holds(name, &entry.Session{ID: name}) // nothing of one session is in another
	}
}

func (b *bench) lists(want ...string) {
	b.Helper()
	got, err := b.store.Sessions(b.ctx)
	if b.ok(err); !slices.Equal(got, want) {
		b.Errorf("sessions are %q, want %q", got, want)
	}
}

func (b *bench) is(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("got error %v, want %v", err, want)
	}
}

func notLocked(b *bench) {
	refused := func() {
		b.Helper()
		_, err := b.store.Append(b.ctx, "a", gap(9))
		b.is(err, journal.ErrNotLocked)
		_, err = b.store.Put(b.ctx, "a", []byte("text"))
		b.is(err, journal.ErrNotLocked)
	}
	refused()
	b.lock("other")
	refused()
	unlock := b.lock("a")
	b.append("a", gap(1))
	b.ok(unlock())
	b.ok(unlock())
	refused()
	again := b.lock("a")
	b.ok(unlock()) // an unlock of old gives up nothing
	b.append("a", gap(2))
	b.ok(again())
	b.holds("a", gap(1), gap(2))
}

func busy(b *bench) {
	other := b.another()
	refused := func(s Store) {
		b.Helper()
		_, err := s.Lock(b.ctx, "a")
		var busy *journal.BusyError
		if !errors.Is(err, journal.ErrBusy) || !errors.As(err, &busy) {
			b.Fatalf("got error %v, want a BusyError", err)
		}
		h := b.storage.Holder
		if busy.Session != "a" || busy.Holder != h {
			b.Errorf("busy error is %+v, want session a and holder %+v", *busy, h)
		}
		for _, part := range []string{fmt.Sprint(h.PID), h.Command, h.Addr, `"a"`} {
			if !strings.Contains(err.Error(), part) {
				b.Errorf("%q does not name %q", err, part)
			}
		}
	}
	unlock := b.lock("a")
	refused(other)
	refused(b.store)
	b.append("a", gap(1)) // the holder is not disturbed
	b.ok(unlock())
	theirs, err := other.Lock(b.ctx, "a")
	b.ok(err)
	refused(b.store)
	_, err = other.Append(b.ctx, "a", gap(2))
	b.ok(err)
	b.ok(theirs())
	b.lock("a")
	refused(other)
	b.append("a", gap(3))
	b.ok(b.store.Close()) // which gives up all locks
	_, err = other.Lock(b.ctx, "a")
	b.ok(err)
	b.store = other
	b.append("a", gap(4))
	b.holds("a", gap(1), gap(2), gap(3), gap(4))
}

// deadHolder takes over the lock of a process that was killed, in all states that its death can leave.
func deadHolder(b *bench) {
	b.lock("a")
	b.append("a", gap(1))
	for seed := range uint64(6) {
		after := open(b.T, b.storage.Crash(seed))
		after.lock("a")
		after.append("a", gap(2))
		after.holds("a", gap(1), gap(2))
		_, err := after.another().Lock(b.ctx, "a")
		b.is(err, journal.ErrBusy)
	}
}

// bodiesBefore relies on bodies that were put before the session was last locked.
func bodiesBefore(b *bench) {
	unlock := b.lock("a")
	one := b.put("a", bytes.Repeat([]byte("one"), 100))
	b.ok(unlock())
	unlock = b.lock("a")
	two := b.put("a", bytes.Repeat([]byte("two"), 100))
	b.append("a", request(1, one))
	b.ok(unlock())
	b.reopen()
	b.lock("a")
	b.append("a", request(2, two))
	open(b.T, b.storage.Crash(0)).holds("a", request(1, one), request(2, two))
}

func badNames(b *bench) {
	names := []string{
		"", ".", "..", "../a", "a/b", "a/", "/a", `a\b`, "-a", "A", "ä", "a b", "a.b", "a_b", "a\x00", "a\n", "~", "%61",
		strings.Repeat("a", 65),
	}
	for _, name := range names {
		_, err := b.store.Lock(b.ctx, name)
		b.is(err, journal.ErrBadName)
		for _, err := range b.store.Read(b.ctx, name, 0) {
			b.is(err, journal.ErrBadName)
		}
		_, err = b.store.Body(b.ctx, name, entry.Body{})
		b.is(err, journal.ErrBadName)
		_, err = b.store.Check(b.ctx, name)
		b.is(err, journal.ErrBadName)
		if _, err = b.store.Append(b.ctx, name, gap(1)); err == nil {
			b.Errorf("appended to %q", name)
		}
		if _, err = b.store.Put(b.ctx, name, []byte("text")); err == nil {
			b.Errorf("put into %q", name)
		}
	}
	b.lists()
	for _, name := range []string{"0", "a-", "a--9", strings.Repeat("a", 64)} {
		b.lock(name)
		b.append(name, gap(1))
	}
}

func foreignBodies(b *bench) {
	b.lock("a")
	b.lock("b")
	theirs, own := b.put("b", []byte("theirs")), b.put("a", []byte("our own"))
	b.append("b", request(1, theirs))
	b.append("a", request(1, own))
	wrong := []entry.Body{{}, *theirs, *own, *own, *own, *own}
	wrong[2].At++
	wrong[3].Size++
	wrong[4].SHA256 = theirs.SHA256
	wrong[5].At = -1
	for i, w := range wrong {
		_, err := b.store.Append(b.ctx, "a", gap(1), request(2, own), request(3, &w))
		b.is(err, journal.ErrNoBody)
		_, err = b.store.Append(b.ctx, "a", &entry.Response{Body: &w})
		b.is(err, journal.ErrNoBody)
		if i == 2 || i == 5 { // to a reader, the place is a hint
			b.ok(rebuilds(b.ctx, b.store, "a", w))
			continue
		}
		_, err = b.store.Body(b.ctx, "a", w)
		b.is(err, journal.ErrNoBody)
	}
	b.holds("a", request(1, own))
	b.append("a", request(2, own), request(3, own))
	b.holds("a", request(1, own), request(2, own), request(3, own))
}

func tooLarge(b *bench) {
	b.lock("a")
	own := b.put("a", []byte("our own"))
	b.append("a", gap(1))
	large := &entry.Gap{Cause: strings.Repeat("x", journal.MaxFrame)}
	for _, facts := range [][]entry.Fact{{large}, {gap(2), large}, {gap(2), request(1, own), large, gap(3)}} {
		_, err := b.store.Append(b.ctx, "a", facts...)
		b.is(err, journal.ErrTooLarge)
	}
	b.holds("a", gap(1))
	overhead := len(b.frames("a")[0].Line) - len("a test") + len("\n")
	largest := &entry.Gap{Exchanges: 1, Cause: strings.Repeat("x", journal.MaxFrame-overhead)}
	b.append("a", largest)
	over := &entry.Gap{Exchanges: 1, Cause: largest.Cause + "x"}
	_, err := b.store.Append(b.ctx, "a", over)
	b.is(err, journal.ErrTooLarge)
	b.append("a", request(2, own))
	b.holds("a", gap(1), largest, request(2, own))
	b.reopen()
	b.lock("a")
	b.holds("a", gap(1), largest, request(2, own))
}

// notAnEntry tries facts that would leave a line that nobody can read, or that says something else when it is read.
func notAnEntry(b *bench) {
	b.lock("a")
	b.append("a", gap(1))
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, raw := range []string{
		"", "null", "{", "[]", `"text"`, "{}", `{"kind":""}`, `{"kind":7}`, "{\"kind\":\"x\",\n\"a\":1}",
		`{"kind":"request","body":{"at":0,"bytes":1,"sha256":"00"}}`, `{"kind":"other"}`, `{"kind":"x"},{"kind":"x"}`,
		`{"kind":"x","time":"yesterday"}`, `{"kind":"x","a":` + deep + `}`, "{\"kind\":\"x\",\"a\":\"\n\"}",
	} {
		_, err := b.store.Append(b.ctx, "a", gap(2), &entry.Unknown{Name: "x", Raw: json.RawMessage(raw)})
		if err == nil {
			b.Fatalf("an Unknown of %.60q was appended", raw)
		}
	}
	if _, err := b.store.Append(b.ctx, "a", nil); err == nil {
		b.Error("no fact was appended")
	}
	b.append("a", gap(3))
	b.holds("a", gap(1), gap(3))
}

func canceled(b *bench) {
	ctx, cancel := context.WithCancel(b.ctx)
	b.lock("a")
	b.append("a", gap(1))
	cancel()
	_, err := b.store.Append(ctx, "a", gap(2))
	b.is(err, context.Canceled)
	_, err = b.store.Put(ctx, "a", []byte("text"))
	b.is(err, context.Canceled)
	_, err = b.store.Lock(ctx, "b")
	b.is(err, context.Canceled)
	for _, err := range b.store.Read(ctx, "a", 0) {
		b.is(err, context.Canceled)
	}
	b.append("a", gap(3))
	b.holds("a", gap(1), gap(3))
	b.lock("b")
}

func restart(b *bench) {
	b.lock("a")
	x := text{rng: rand.New(rand.NewPCG(3, 3))}
	for i := range 25 {
		b.append("a", request(i, b.put("a", x.next())), gap(i))
	}
	before := b.frames("a")
	for range 3 {
		b.reopen()
		if after := b.frames("a"); !slices.EqualFunc(before, after, sameFrame) {
			b.Fatal("the frames are not the same after a restart")
		}
		b.lock("a")
		if after := b.frames("a"); !slices.EqualFunc(before, after, sameFrame) {
			b.Fatal("the frames are not the same after a lock")
		}
		b.append("a", gap(0))
		all := b.frames("a")
		if !slices.EqualFunc(before, all[:len(all)-1], sameFrame) {
			b.Fatal("the frames are not the same after an append")
		}
		before = all
	}
}

func unknownKinds(b *bench) {
	b.lock("a")
	raw := `{"time":"2031-01-02T03:04:05Z","kind":"later","n":1e400,"x":{"a":[null,"\ud800"]},"a":1,"a":2}`
	facts := []entry.Fact{gap(1), &entry.Unknown{Name: "later", Raw: json.RawMessage(raw)}, gap(2)}
	b.append("a", facts...)
	b.append("a", facts[1])
	facts = append(facts, facts[1])
	b.holds("a", facts...)
	b.reopen()
	b.holds("a", facts...)
	if line := b.frames("a")[1].Line; !bytes.Contains(line, []byte(raw)) {
		b.Errorf("the entry is stored as %s", line)
	}
}
