package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// seal is the entry that ends a session that was imported.
func seal(name string) entry.Fact {
	return &entry.Imported{Format: entry.FormatAmbit, Name: name, Lines: 3, SHA256: strings.Repeat("0", 64)}
}

// sealed wants an Imported of an export to end its session, whoever appends it, and no other one to.
func sealed(b *bench) {
	facts := family(b, "a", 4)
	b.lock("a")
	other := &entry.Imported{Format: "another", Lines: 1}
	own := b.put("a", []byte("a body"))
	facts = append(facts, other, request(7, own))
	b.append("a", facts[len(facts)-2:]...)
	before := b.export("a")
	_, err := b.store.Append(b.ctx, "a", gap(1), seal("x"), gap(2))
	b.is(err, journal.ErrImported)
	b.holds("a", facts...)
	facts = append(facts, gap(1), seal("x"))
	b.append("a", facts[len(facts)-2:]...)
	refused := func() {
		b.Helper()
		for _, f := range []entry.Fact{gap(3), seal("y"), other, request(8, own)} {
			_, err := b.store.Append(b.ctx, "a", f)
			b.is(err, journal.ErrImported)
		}
		_, err := b.store.Put(b.ctx, "a", []byte("more"))
		b.is(err, journal.ErrImported)
		b.holds("a", facts...)
	}
	refused()
	b.reopen()
	b.lock("a")
	refused()
	if got := b.export("a"); !bytes.HasPrefix(got, before) || bytes.Count(got, []byte("\n")) != bytes.Count(before, []byte("\n"))+1 {
		b.Errorf("the export does not leave out the last entry alone: %s", got)
	}
	for seq := len(facts) - 1; seq <= len(facts); seq++ {
		name := fmt.Sprint("f", seq)
		held := b.fork("a", seq, name, gap(5))
		b.lock(name)
		b.append(name, request(9, b.put(name, []byte("of the fork"))))
		b.holds(name, append(held, b.frames(name)[len(held)].Fact)...)
		if got := bytes.Count(b.export(name), []byte(`"kind":"imported","format":"ambit"`)); got != seq-len(facts)+1 {
			b.Errorf("the export of %q has %d entries that say imported", name, got)
		}
	}
}

func (b *bench) export(session string) []byte {
	b.Helper()
	var out bytes.Buffer
	b.ok(journal.Export(b.ctx, b.store, session, &out))
	return out.Bytes()
}

// makes imports an export and wants a session to be made of it that gives it back.
func (b *bench) makes(export []byte) (session string) {
	b.Helper()
	session, made, err := b.storage.Import(b.store, export)
	if b.ok(err); !made {
		b.Errorf("session %q is said to hold it already", session)
	}
	b.isImport(session, export)
	return session
}

// there wants an export to be held by a session.
func (b *bench) there(session string, export []byte) {
	b.Helper()
	got, made, err := b.storage.Import(b.store, export)
	if b.ok(err); made || got != session {
		b.Errorf("it was made %v as %q, want it to be there as %q", made, got, session)
	}
}

// isImport wants a session to hold all of an export, as it stands there, and one entry more.
func (b *bench) isImport(session string, export []byte) {
	b.Helper()
	frames := b.frames(session)
	b.ok(unharmed(b, session))
	i := bytes.Index(export, []byte(`{"frame":1,"seq":1,`))
	for n, f := range frames {
		if f.In != session {
			b.Errorf("entry %d is in %q", f.Seq, f.In)
		}
		for _, ref := range entry.Bodies(f.Fact) {
			b.ok(rebuilds(b.ctx, b.store, session, ref))
		}
		if n == len(frames)-1 {
			break
		}
		next := bytes.Index(export[i:], f.Line)
		if i += next; next < 0 {
			b.Fatalf("entry %d is not in the export, or not in its place", f.Seq)
		}
	}
	last, ok := frames[len(frames)-1].Fact.(*entry.Imported)
	if !ok || last.Format != entry.FormatAmbit || last.Lines != bytes.Count(export, []byte("\n")) || last.Name != "export.jsonl" {
		b.Errorf("the last entry is %+v", frames[len(frames)-1].Fact)
	}
	if again := b.export(session); !bytes.Equal(again, export) {
		b.Errorf("exported again, %d bytes of %d are the same", common(again, export), len(export))
	}
}

func common(x, y []byte) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// sources is a storage with sessions of all kinds: with bodies of all kinds, forks of forks, one of them from the middle
// of an append, one of an import, and one of what ends an import.
func sources(b *bench) map[string][]byte {
	b.Helper()
	family(b, "a", 9)
	b.fork("a", 11, "b", gap(1), gap(2))
	b.lock("b")
	b.append("b", request(5, b.put("b", []byte("of b"))), gap(7))
	b.fork("b", 13, "c", gap(3))
	b.lock("bodies")
	b.append("bodies", &entry.Session{ID: "bodies"})
	for i, body := range Bodies() {
		ref := b.put("bodies", body)
		b.append("bodies", request(i, ref), &entry.Response{N: i, Body: ref}, &entry.Request{N: i, Path: "<&>\u2028", Body: ref})
	}
	b.append("bodies", request(99, b.put("bodies", []byte("\x00\x1f\u2028\u2029<script>&amp;\\\"\x7f\ufffd😀"))))
	family(b, "sealed", 3)
	unlock := b.lock("sealed")
	b.append("sealed", seal("of another file"))
	b.ok(unlock())
	b.fork("sealed", len(b.frames("sealed")), "d", gap(4))
	b.lock("d")
	b.append("d", request(6, b.put("d", []byte("of d"))))
	exports := make(map[string][]byte)
	for _, name := range []string{"a", "b", "bodies", "c", "d", "sealed"} {
		exports[name] = b.export(name)
	}
	return exports
}

// imports takes every kind of session to another storage and a third, and wants each to give back the same bytes.
func imports(t *testing.T, fresh func(t testing.TB) Storage) {
	from := open(t, fresh(t))
	exports := sources(from)
	to := open(t, fresh(t))
	for name, export := range exports {
		from.there(name, export) // where it was recorded
		if name == "sealed" || name == "d" {
			name = "a"
		}
		session := to.makes(export)
		to.there(session, export)
		unlock := to.lock(session)
		_, err := to.store.Append(to.ctx, session, gap(1))
		to.is(err, journal.ErrImported)
		to.ok(unlock())
		to.isImport(session, export)
	}
	names, err := to.store.Sessions(to.ctx)
	if to.ok(err); len(names) != len(exports) {
		t.Errorf("sessions are %q", names)
	}
	to.reopen()
	third := open(t, fresh(t))
	for _, name := range names {
		export := to.export(name)
		third.isImport(third.makes(export), export)
		frames := to.frames(name)
		for _, at := range []int{len(frames), len(frames) / 2} {
			fork := fmt.Sprintf("%s-x%d", name, at)
			want := to.fork(name, at, fork, gap(6))
			to.lock(fork)
			more := request(7, to.put(fork, []byte("more of "+fork)))
			to.append(fork, more)
			to.holds(fork, append(want, more)...)
			whole := to.export(fork)
			third.makes(whole)
			to.there(fork, whole)
		}
	}
}

// namesOfImports imports what has a name that is taken.
func namesOfImports(t *testing.T, fresh func(t testing.TB) Storage) {
	to := open(t, fresh(t))
	long := strings.Repeat("n", 64)
	var exports [][]byte
	for i := range 12 {
		from := open(t, fresh(t))
		for _, name := range []string{"a", long} {
			from.lock(name)
			from.append(name, &entry.Session{ID: name}, gap(i))
			exports = append(exports, from.export(name))
		}
	}
	from := open(t, fresh(t))
	for name, id := range map[string]string{"x": "../x", "y": "", "z": strings.Repeat("z", 65)} {
		from.lock(name)
		from.append(name, &entry.Session{ID: id}, request(1, from.put(name, []byte(name))))
		exports = append(exports, from.export(name))
	}
	got := map[string]bool{}
	for _, export := range exports {
		name := to.makes(export)
		to.there(name, export)
		got[name] = true
	}
	for _, name := range []string{"a", "a-2", "a-12", long, long[:62] + "-2", long[:61] + "-12", "imported", "imported-2", "imported-3"} {
		if !got[name] {
			t.Errorf("no session is called %q of %v", name, got)
		}
	}
	if len(got) != len(exports) {
		t.Errorf("%d sessions of %d exports", len(got), len(exports))
	}
}

// importsAtATime imports two exports by several stores at once, each many times.
func importsAtATime(t *testing.T, fresh func(t testing.TB) Storage) {
	from := open(t, fresh(t))
	exports := map[string][]byte{}
	for _, name := range []string{"a", "b"} {
		family(from, name, 3)
		exports[name] = from.export(name)
	}
	for range 10 {
		b := open(t, fresh(t))
		stores := []Store{b.store, b.store, b.another(), b.another()}
		var made atomic.Int64
		var group sync.WaitGroup
		for _, s := range stores {
			for want, export := range exports {
				group.Go(func() {
					for {
						name, ok, err := b.storage.Import(s, export)
						if errors.Is(err, journal.ErrBusy) {
							runtime.Gosched()
							continue
						}
						if err != nil || name != want {
							b.Errorf("imported as %q, %v", name, err)
						}
						if ok {
							made.Add(1)
						}
						return
					}
				})
			}
		}
		group.Wait()
		if made.Load() != 2 {
			b.Errorf("it was made %d times, want each once", made.Load())
		}
		b.lists("a", "b")
		for name, export := range exports {
			b.isImport(name, export)
		}
	}
}

// damageOfImport changes single bits of a session that was imported, whose bodies are not where its entries say.
func damageOfImport(t *testing.T, fresh func(t testing.TB) Storage) {
	from := open(t, fresh(t))
	unlock := from.lock("a")
	from.append("a", &entry.Session{ID: "a"})
	from.put("a", []byte("which no entry names, so that all others are elsewhere in an import"))
	from.ok(unlock())
	twoFamilies(from)
	b := open(t, fresh(t))
	b.makes(from.export("a"))
	flips(b)
}

// importAndCrash imports with everything failing from operation n on, for every n, and cuts the power.
func importAndCrash(t *testing.T, fresh func(t testing.TB) Storage) {
	export, ops := importedOnce(t, fresh)
	for n := range ops + 1 {
		st := fresh(t)
		st.Fail(n, math.MaxInt, syscall.EIO)
		s, err := st.Open()
		if err == nil {
			_, _, err = st.Import(s, export)
			s.Close()
		}
		if err != nil && !errors.Is(err, syscall.EIO) || err == nil && n < ops-4 {
			t.Errorf("n %d: import says %v", n, err)
		}
		for _, seed := range []uint64{0, 1, uint64(3*n + 2), uint64(3*n + 3), uint64(3*n + 4)} {
			acked := err == nil
			b := open(t, st.Crash(seed))
			names, err := b.store.Sessions(b.ctx)
			b.ok(err)
			there := slices.Equal(names, []string{"a"})
			if !there && (len(names) > 0 || acked) {
				t.Fatalf("n %d, loss %s: sessions are %q", n, loss(seed), names)
			}
			if there {
				b.isImport("a", export)
				b.there("a", export)
			} else {
				b.makes(export)
			}
			after := open(t, b.storage.Crash(0))
			after.isImport("a", export)
			after.lists("a")
			b.ok(errors.Join(b.store.Close(), after.store.Close()))
			if t.Failed() {
				t.Fatalf("n %d of %d, loss %s", n, ops, loss(seed))
			}
		}
	}
}

// importAndFault imports with one operation failing, or two, and then again.
func importAndFault(t *testing.T, fresh func(t testing.TB) Storage) {
	export, ops := importedOnce(t, fresh)
	for n := range 2 * ops {
		b := open(t, fresh(t))
		failed := b.storage.Fail(n/2, n/2+1+n%2, syscall.ENOSPC)
		name, made, err := b.storage.Import(b.store, export)
		if failed() > 0 && err == nil {
			t.Errorf("n %d of %d: an operation failed, and import says nothing", n, ops)
		}
		b.storage.Fail(0, 0, nil)
		if err == nil {
			if !made || name != "a" {
				t.Errorf("n %d: imported as %q, made %v", n, name, made)
			}
		} else if b.ok(names(err, syscall.ENOSPC)); true {
			_, _, err := b.storage.Import(b.store, export)
			b.ok(err)
		}
		b.isImport("a", export)
		b.lists("a")
		after := open(t, b.storage.Crash(0))
		after.isImport("a", export)
		b.ok(errors.Join(b.store.Close(), after.store.Close()))
	}
}

// importedOnce is an export of a few files, and how many operations its import takes.
func importedOnce(t *testing.T, fresh func(t testing.TB) Storage) (export []byte, ops int) {
	from := open(t, fresh(t))
	family(from, "a", 9)
	export = from.export("a")
	b := open(t, fresh(t))
	b.makes(export)
	c := open(t, fresh(t))
	before := c.storage.Ops()
	_, _, err := c.storage.Import(c.store, export)
	c.ok(err)
	return export, c.storage.Ops() - before
}
