package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/journal/journaltest"
)

// forked is written with three forks more, each with some entries in several files and some bodies of its own: b goes
// on from entry 10 of a, in the middle of an append, c from entry 13 of b, which is b's own, and d from entry 5 of b,
// which is a's.
func forked() *vfs.Mem {
	m := written()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	fork(s, "a", 10, "b", 6)
	fork(s, "b", 13, "c", 2)
	fork(s, "b", 5, "d", 1)
	return m
}

// fork begins a session that goes on from another, with a session entry and pairs of entries behind it.
func fork(s journaltest.Store, parent string, seq entry.Seq, name string, pairs int) {
	ctx := context.Background()
	unlock := must(s.Lock(ctx, name))
	must(s.Append(ctx, name, &entry.Session{ID: name, From: place(s, parent, seq)}))
	for i := range pairs {
		b := must(s.Put(ctx, name, bytes.Repeat(fmt.Appendf(nil, "turn %d of %s; ", i, name), 20)))
		must(s.Append(ctx, name, &entry.Request{N: i, Path: strings.Repeat("y", 200), Body: &b}, &entry.Gap{Exchanges: i}))
	}
	must(0, unlock())
}

// place is an entry to go on from.
func place(s journaltest.Store, session string, seq entry.Seq) *entry.Fork {
	for f, err := range s.Read(context.Background(), session, seq-1) {
		must(f, err)
		return &entry.Fork{Session: session, Seq: f.Seq, Sum: f.Sum}
	}
	return nil
}

// forkLengths are the numbers of entries of forked's sessions.
var forkLengths = map[string]int{"a": 12, "b": 23, "c": 18, "d": 8}

// TestForkMutation wants whatever is missing, exchanged or added, in a fork or in what it goes on from, to be found
// where it is, by both readers, and nothing to be mistaken for a session.
//
// covers: J-04 part
// covers: J-08 part
func TestForkMutation(t *testing.T) {
	t.Parallel()
	m := forked()
	for _, row := range forkMutations(m) {
		t.Run(row.name, func(t *testing.T) {
			m := m.Crash(vfs.Kept, nil)
			row.do(m)
			r, frames, err := checkedIn(t, m, row.session)
			if row.file == "" && len(r.Damage) > 0 || row.file != "" && (len(r.Damage) == 0 || r.Damage[0].File != row.file) {
				t.Errorf("check found %+v, want damage in %q", r.Damage, row.file)
			}
			if row.file != "" && !errors.Is(err, journal.ErrCorrupt) && !strings.Contains(row.file, "literals") {
				t.Errorf("read says %v", err)
			}
			if frames != row.frames || r.Bodies-r.Rebuilt != row.lost {
				t.Errorf("%d entries are readable and %d bodies lost, want %d and %d", frames, r.Bodies-r.Rebuilt, row.frames, row.lost)
			}
			s := must(opener("home/me/ambit", m)())
			defer s.Close()
			names := must(s.Sessions(context.Background()))
			if listed := slices.Contains(names, row.session); listed != (frames > 0 || row.file != "") {
				t.Errorf("sessions are %q", names)
			}
			if !testing.Short() {
				needReader(t)
				agreeOn(t, m, row.session)
			}
		})
	}
}

type forkMutation struct {
	name    string
	session string
	do      func(m *vfs.Mem)
	file    string // of the first damage that check reports; "" when there is none
	frames  int    // still readable
	lost    int    // bodies of these that do not rebuild
}

func forkMutations(m *vfs.Mem) []forkMutation {
	sessions := path.Dir(folder)
	file := func(session string, i int) string {
		dir := path.Join(sessions, session, "entries")
		names := must(m.List(dir))
		return path.Join(dir, names[(i+len(names))%len(names)])
	}
	named := func(session string, seq int) string {
		return path.Join(sessions, session, "entries", fmt.Sprintf("%012d.jsonl", seq))
	}
	log := func(session string) string { return path.Join(sessions, session, "bodies", "literals.log") }
	remove := func(names ...string) func(*vfs.Mem) {
		return func(m *vfs.Mem) {
			for _, name := range names {
				must(0, m.Remove(name))
			}
		}
	}
	all := func(session string) (names []string) {
		for i := range must(m.List(path.Join(sessions, session, "entries"))) {
			names = append(names, file(session, i))
		}
		return names
	}
	move := func(from, to string) func(*vfs.Mem) { return func(m *vfs.Mem) { must(0, m.Rename(from, to)) } }
	edit := func(name string, change func([]byte) []byte) func(*vfs.Mem) {
		return func(m *vfs.Mem) { write(m, name, change(read(m, name))) }
	}
	cut := func(keep int) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:keep], nil) }
	}
	nothing := func([]byte) []byte { return nil }
	other := written2()
	return []forkMutation{
		{"nothing", "b", func(*vfs.Mem) {}, "", 23, 0},
		{"nothing, deep", "c", func(*vfs.Mem) {}, "", 18, 0},
		{"nothing, not its own", "d", func(*vfs.Mem) {}, "", 8, 0},
		{"first file missing", "b", remove(file("b", 0)), file("b", 1), 0, 0},
		{"second file missing", "b", remove(file("b", 1)), file("b", 2), firstOf(file("b", 1)) - 1, 0},
		{"newest file missing", "b", remove(file("b", -1)), "", firstOf(file("b", -1)) - 1, 0},
		{"only the newest file is left", "b", remove(all("b")[:len(all("b"))-1]...), file("b", -1), 0, 0},
		{"first file by number 1", "b", move(file("b", 0), named("b", 1)), named("b", 1), 0, 0},
		{"first file by another number", "b", move(file("b", 0), named("b", 10)), named("b", 10), 0, 0},
		{"first file by a later number", "c", move(file("c", 0), named("c", 15)), named("c", 15), 0, 0},
		{"first file by no number", "d", move(file("d", 0), path.Join(sessions, "d", "entries", "6.jsonl")), path.Join(sessions, "d", "entries", "6.jsonl"), 0, 0},
		{"a file before the first", "b", func(m *vfs.Mem) { write(m, named("b", 1), nil) }, file("b", 0), 0, 0},
		{"first file empty", "b", edit(file("b", 0), nothing), file("b", 1), 0, 0},
		{"the only file empty", "d", edit(file("d", 0), nothing), "", 0, 0},
		{"the only file with part of its first frame", "d", edit(file("d", 0), func(b []byte) []byte { return b[:200] }), "", 0, 0},
		{"the only file with a changed first frame", "d", edit(file("d", 0), func(b []byte) []byte { return bytes.Replace(b, []byte(`"seq":5`), []byte(`"seq":4`), 1) }), file("d", 0), 0, 0},
		{"it says another place", "d", resum(file("d", 0), `"seq":5,"sum"`, `"seq":4,"sum"`), file("d", 0), 0, 0},
		{"it says another session, which has other entries", "d", resum(file("d", 0), `"session":"b"`, `"session":"c"`), file("d", 1), 6, 0},
		{"it says no session", "d", resum(file("d", 0), `"session":"b"`, `"session":"z"`), path.Join(sessions, "z", "entries"), 0, 0},
		{"it says a path", "d", resum(file("d", 0), `"session":"b"`, `"session":"../sessions/b"`), file("d", 0), 0, 0},
		{"it says itself", "d", resum(file("d", 0), `"session":"b"`, `"session":"d"`), file("d", 0), 0, 0},
		{"it says nothing", "d", resum(file("d", 0), `"from"`, `"form"`), file("d", 0), 0, 0},
		{"first frame of another kind", "d", resum(file("d", 0), `"session","id"`, `"sessiom","id"`), file("d", 0), 0, 0},
		{"parent missing", "b", remove(all("a")...), path.Join(sessions, "a", "entries"), 0, 0},
		{"parent of the parent missing", "c", remove(all("a")...), path.Join(sessions, "a", "entries"), 0, 0},
		{"parent missing, another one has the entry", "d", remove(all("b")...), path.Join(sessions, "b", "entries"), 0, 0},
		{"parent is another session", "b", func(m *vfs.Mem) { replace(m, other, "a") }, file("b", 0), 0, 0},
		{"parent of the parent is another session", "c", func(m *vfs.Mem) { replace(m, other, "a") }, file("b", 0), 0, 0},
		{"what the parent goes on from is another session", "d", func(m *vfs.Mem) { replace(m, other, "a") }, file("d", 0), 0, 0},
		{"parent goes on otherwise", "b", otherwise(all("a")[2:]), file("b", 0), 0, 0},
		{"parent goes on otherwise behind the place", "d", otherwise(all("a")[2:]), "", 8, 0},
		{"parent's first file missing", "b", remove(file("a", 0)), file("a", 1), 0, 0},
		{"parent's second file missing", "b", remove(file("a", 1)), file("a", 2), firstOf(file("a", 1)) - 1, 0},
		{"parent's newest files missing", "b", remove(all("a")[2:]...), file("a", 1), firstOf(file("a", 2)) - 1, 0},
		{"parent's newest file cut inside the append", "b", edit(file("a", -1), cut(11-firstOf(file("a", -1)))), file("a", -1), 8, 0},
		{"parent's newest file cut behind the place", "d", edit(file("b", -1), nothing), "", 8, 0},
		{"parent damaged behind the place", "b", edit(file("a", -1), func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"missing_bytes":3`), []byte(`"missing_bytes":4`), 1)
		}), "", 23, 0},
		{"parent's log missing", "b", remove(log("a")), "", 23, 4},
		{"parent's log damaged", "b", edit(log("a"), func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), "", 23, 1},
		{"its log missing", "b", remove(log("b")), "", 23, 6},
		{"its log with text", "b", edit(log("b"), func(b []byte) []byte { return append(b, bytes.Repeat([]byte("AMB1"), 100)...) }), log("b"), 23, 0},
		{"the logs exchanged", "b", func(m *vfs.Mem) {
			a, b := read(m, log("a")), read(m, log("b"))
			write(m, log("a"), b)
			write(m, log("b"), a)
		}, "", 23, 10},
	}
}

// firstOf is the number in a file's name.
func firstOf(file string) (seq int) {
	must(fmt.Sscanf(path.Base(file), "%d.jsonl", &seq))
	return seq
}

// resum changes a text in a file's first frame and gives that the sum that it needs, and those behind it no chain.
func resum(name, from, to string) func(*vfs.Mem) {
	return func(m *vfs.Mem) {
		first, rest, _ := bytes.Cut(read(m, name), []byte("\n"))
		unsummed := bytes.Replace(first[:len(first)-74], []byte(from), []byte(to), 1)
		if bytes.Equal(unsummed, first[:len(first)-74]) {
			panic(fmt.Sprintf("%s has no %s", name, from))
		}
		line := fmt.Appendf(unsummed, `,"sum":"%x"}`, sha256.Sum256(append(slices.Clone(unsummed), '}')))
		write(m, name, slices.Concat(line, []byte("\n"), rest))
	}
}

// written2 is a session a of other entries.
func written2() *vfs.Mem {
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	must(s.Lock(context.Background(), "a"))
	for i := range 20 {
		must(s.Append(context.Background(), "a", &entry.Gap{Exchanges: i, Cause: strings.Repeat("z", 100)}))
	}
	return m
}

// replace puts a session of another store in the place of one.
func replace(m, other *vfs.Mem, session string) {
	dir := path.Join(path.Dir(folder), session, "entries")
	for _, name := range must(m.List(dir)) {
		must(0, m.Remove(path.Join(dir, name)))
	}
	for _, name := range must(other.List(dir)) {
		write(m, path.Join(dir, name), read(other, path.Join(dir, name)))
	}
}

// otherwise takes the newest files of session a away and goes on with others.
func otherwise(newest []string) func(*vfs.Mem) {
	return func(m *vfs.Mem) {
		for _, name := range newest {
			must(0, m.Remove(name))
		}
		s := must(opener("home/me/ambit", m)())
		defer s.Close()
		must(s.Lock(context.Background(), "a"))
		for range 9 {
			must(s.Append(context.Background(), "a", &entry.Gap{Cause: "otherwise"}))
		}
	}
}

// TestForkReader compares the two readers over forks, with changed bits anywhere, and over the forks' exports.
//
// covers: J-02 part
// covers: J-08 part
func TestForkReader(t *testing.T) {
	t.Parallel()
	needReader(t)
	m := forked()
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(10, 10))
	for i := range 20 {
		t.Run(fmt.Sprint("bit ", i), func(t *testing.T) {
			m := m.Crash(vfs.Kept, nil)
			t.Log(flip(m, path.Dir(folder), rng.Uint64()))
			agreeOn(t, m, []string{"b", "c"}[i%2])
		})
	}
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	for name, entries := range forkLengths {
		var out bytes.Buffer
		must(0, journal.Export(ctx, s, name, &out))
		file := filepath.Join(t.TempDir(), "export.jsonl")
		must(0, os.WriteFile(file, out.Bytes(), 0o600))
		if got := reader(t, "--export", file); !got.Sound || got.Entries != entries || got.Bodies != got.Rebuilt || got.Bodies == 0 {
			t.Errorf("the export of %q: %+v, want %d entries", name, got, entries)
		}
		if name == "c" {
			damagedExport(t, file, out.Bytes())
		}
	}
}

// TestForkLeavesParent compares the bytes of a session's folder before and after it is forked, and all its forks are
// used, by other processes while it has a writer.
//
// covers: J-08 part
func TestForkLeavesParent(t *testing.T) {
	m := written()
	ctx := context.Background()
	writer := must(opener("home/me/ambit", m)())
	defer writer.Close()
	must(writer.Lock(ctx, "a"))
	before := contents(m, folder)
	s := must(opener("home/me/ambit", m)())
	for seq := entry.Seq(1); seq <= 12; seq++ {
		name := fmt.Sprint("f", seq)
		fork(s, "a", seq, name, 3)
		must(s.Check(ctx, name))
		must(0, journal.Export(ctx, s, name, &bytes.Buffer{}))
		must(s.Lock(ctx, name))
		must(s.Append(ctx, name, &entry.Gap{}))
	}
	must(0, s.Close())
	if !maps.Equal(before, contents(m, folder)) {
		t.Error("the parent's files have changed")
	}
	must(writer.Append(ctx, "a", &entry.Gap{}))
}

func contents(fsys vfs.FS, dir string) map[string]string {
	all := map[string]string{}
	files(fsys, dir, func(name string, _ uint64) bool { all[name] = string(read(fsys, name)); return true })
	return all
}

// TestForkWithoutParent writes to a fork whose parent is gone or damaged: nothing of it is needed for that, and
// everything is there once it is back.
//
// covers: J-08 part
func TestForkWithoutParent(t *testing.T) {
	ctx := context.Background()
	for _, hurt := range []func(m *vfs.Mem, name string){
		func(m *vfs.Mem, name string) { must(0, m.Remove(name)) },
		func(m *vfs.Mem, name string) { write(m, name, []byte("damaged\n")) },
	} {
		m := forked()
		whole := contents(m, folder)
		for name := range whole {
			hurt(m, name)
		}
		log := path.Join(path.Dir(folder), "b", "bodies", "literals.log")
		write(m, log, append(read(m, log), 1, 2, 3)) // to be cut, which needs the last body
		s := must(opener("home/me/ambit", m)())
		if _, err := s.Lock(ctx, "b"); err != nil {
			t.Fatal(err)
		}
		b := must(s.Put(ctx, "b", []byte("written without a parent")))
		if seq, err := s.Append(ctx, "b", &entry.Request{N: 7, Body: &b}); seq != 24 || err != nil {
			t.Errorf("append returned %d, %v", seq, err)
		}
		if names := must(s.Sessions(ctx)); !slices.Contains(names, "b") || !slices.Contains(names, "c") {
			t.Errorf("sessions are %q", names)
		}
		for _, err := range s.Read(ctx, "b", 0) {
			if !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("read says %v", err)
			}
		}
		n := 0
		for _, err := range s.Read(ctx, "b", 10) {
			must(n, err)
			n++
		}
		if first, err := s.(*journal.Dir).First(ctx, "b"); err != nil || first.Seq != 11 || first.Fact.(*entry.Session).From.Session != "a" {
			t.Errorf("it begins with %+v, %v", first, err)
		}
		if n != 14 || !bytes.Equal(must(s.Body(ctx, "b", b)), []byte("written without a parent")) {
			t.Errorf("%d entries come after the place", n)
		}
		must(s.Lock(ctx, "e"))
		if _, err := s.Append(ctx, "e", &entry.Session{From: place(s, "b", 24)}); !errors.Is(err, journal.ErrFork) || !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("a fork of it: %v", err)
		}
		must(0, s.Close())
		for name, data := range whole {
			write(m, name, []byte(data))
		}
		if r, frames, err := checkedIn(t, m, "b"); !r.Sound() || frames != 24 || err != nil {
			t.Errorf("with its parent: %d entries, %v, %+v", frames, err, r)
		}
	}
}

// TestForkOfUnacknowledged goes on from an entry that another process has written and could not sync before it died.
// What a fork goes on from is durable before it is.
//
// covers: J-03 part
// covers: J-08 part
func TestForkOfUnacknowledged(t *testing.T) {
	m := vfs.NewMem()
	fault := &vfs.Fault{FS: m}
	ctx := context.Background()
	writer := must(opener("home/me/ambit", fault)())
	must(writer.Lock(ctx, "a"))
	fault.SetInject(func(op vfs.Op, name string) error {
		if path.Ext(name) == ".jsonl" && (op == vfs.OpSync || op == vfs.OpTruncate) {
			return errors.New("injected")
		}
		return nil
	})
	if _, err := writer.Append(ctx, "a", &entry.Session{ID: "a"}, &entry.Gap{}); err == nil {
		t.Fatal("nothing was injected")
	}
	if err := writer.Close(); err == nil {
		t.Fatal("what was written could be taken back")
	}
	fault.SetInject(nil)
	s := must(opener("home/me/ambit", fault)())
	defer s.Close()
	fork(s, "a", 2, "b", 1)
	for seed := range uint64(5) {
		if r, frames, err := checkedIn(t, crashed(m, seed), "b"); !r.Sound() || frames != 5 || err != nil {
			t.Errorf("loss %d: %d entries, %v, %+v", seed, frames, err, r)
		}
	}
}

// TestForkLog wants a record that no entry relies on to be checked, though there is a sound one in its place in the log
// of what the fork goes on from.
//
// covers: J-04 part
func TestForkLog(t *testing.T) {
	m := written()
	ctx := context.Background()
	s := must(opener("home/me/ambit", m)())
	must(s.Lock(ctx, "b"))
	must(s.Append(ctx, "b", &entry.Session{From: place(s, "a", 5)}))
	must(s.Put(ctx, "b", []byte("nothing relies on this")))
	b := must(s.Put(ctx, "b", []byte("but on this")))
	must(s.Append(ctx, "b", &entry.Request{Body: &b}))
	must(0, s.Close())
	log := path.Join(path.Dir(folder), "b", "bodies", "literals.log")
	data := read(m, log)
	data[journal.RecordHeader] ^= 1
	write(m, log, data)
	if r, _, _ := checkedIn(t, m, "b"); len(r.Damage) != 1 || r.Damage[0].File != log || r.Rebuilt != r.Bodies {
		t.Errorf("check found %+v", r)
	}
}

// TestForkCircle reads sessions that go on from one another in a circle, which only a forger can make.
func TestForkCircle(t *testing.T) {
	m := forked()
	sessions := path.Dir(folder)
	a, d := path.Join(sessions, "a", "entries"), path.Join(sessions, "d", "entries", "000000000006.jsonl")
	for _, name := range must(m.List(a)) {
		must(0, m.Remove(path.Join(a, name)))
	}
	resum(d, `"session":"b"`, `"session":"a"`)(m)
	write(m, path.Join(a, path.Base(d)), read(m, d))
	resum(path.Join(a, path.Base(d)), `"session":"a"`, `"session":"d"`)(m)
	for _, name := range []string{"a", "d"} {
		r, frames, err := checkedIn(t, m, name)
		if frames > 0 || len(r.Damage) != 1 || !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "from itself") {
			t.Errorf("%d entries of %q, %v, %+v", frames, name, err, r)
		}
	}
}
