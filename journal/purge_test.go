package journal_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// purgedFamily is the session of written, a fork of it with a body of its own, and one of that; then the first is purged.
func purgedFamily(t *testing.T) *vfs.Mem {
	t.Helper()
	m := written()
	d := must(opener("home/me/ambit", m)()).(*journal.Dir)
	defer d.Close()
	ctx := context.Background()
	for _, pair := range [][2]string{{"a", "b"}, {"b", "c"}} {
		var last journal.Frame
		for f := range d.Read(ctx, pair[0], 0) {
			last = f
		}
		must(d.Lock(ctx, pair[1]))
		body := must(d.Put(ctx, pair[1], []byte("said in "+pair[1])))
		must(d.Append(ctx, pair[1], &entry.Session{ID: pair[1], From: &entry.Fork{Session: pair[0], Seq: last.Seq, Sum: last.Sum}}, &entry.Request{N: 9, Body: &body}))
	}
	must(d.Lock(ctx, "a"))
	must(d.Purge(ctx, "a"))
	return m
}

// TestReaderOfPurged compares the two readers over purged sessions and what goes on from them, whole and damaged.
//
// covers: J-13 part
func TestReaderOfPurged(t *testing.T) {
	t.Parallel()
	needReader(t)
	m := purgedFamily(t)
	all := func(t *testing.T, m *vfs.Mem) {
		for _, name := range []string{"a", "b", "c"} {
			agreeOn(t, m, name)
		}
	}
	t.Run("whole", func(t *testing.T) { all(t, m) })
	t.Run("unfinished", func(t *testing.T) {
		m := m.Crash(vfs.Kept, nil)
		f := must(m.Create(folder + "/bodies/literals.log"))
		must(f.WriteAt(read(written(), folder+"/bodies/literals.log"), 0))
		must(0, f.Close())
		all(t, m)
		r, _, _ := checked(t, m)
		if r.Left == 0 || r.Purged != 4 || !r.Sound() {
			t.Errorf("check found %+v", r)
		}
	})
	rng := rand.New(rand.NewPCG(10, 10))
	for range 30 {
		m := m.Crash(vfs.Kept, nil)
		t.Log(flip(m, path.Dir(folder), rng.Uint64()))
		all(t, m)
	}
	root := t.TempDir()
	for name, want := range map[string]summary{
		"a": {Entries: 13, Purged: 4, Sound: true},
		"c": {Entries: 16, Bodies: 2, Rebuilt: 2, Purged: 4, Sound: true},
	} {
		d := must(opener("home/me/ambit", m)())
		var out bytes.Buffer
		must(0, journal.Export(context.Background(), d, name, &out))
		file := filepath.Join(root, name+".jsonl")
		must(0, os.WriteFile(file, out.Bytes(), 0o600))
		got := reader(t, "--export", file)
		if got.Damage = nil; got.Entries != want.Entries || got.Purged != want.Purged || got.Bodies != want.Bodies || got.Rebuilt != want.Rebuilt || !got.Sound {
			t.Errorf("the export of %q: %+v, want %+v", name, got, want)
		}
		must(0, d.Close())
	}
}

// TestEveryByteOfPurged changes each byte of what a purge leaves: it is found, and where the entry that says so is lost,
// nothing is called purged.
//
// covers: J-13 part
func TestEveryByteOfPurged(t *testing.T) {
	t.Parallel()
	m := written()
	d := must(opener("home/me/ambit", m)()).(*journal.Dir)
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	must(d.Purge(ctx, "a"))
	must(0, d.Close())
	whole, entries, _ := checked(t, m)
	if !whole.Sound() || whole.Purged != 4 || whole.Bodies != 0 || entries != 13 {
		t.Fatalf("%d entries, %+v", entries, whole)
	}
	root := path.Dir(folder)
	for n := range size(m, root) {
		where := flip(m, root, 8*n+n%8)
		r, frames, err := checked(t, m)
		if r.Sound() || frames >= entries || !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: %d entries, %v, check found %+v", where, frames, err, r)
		}
		flip(m, root, 8*n+n%8)
	}
	if r, _, err := checked(t, m); !r.Sound() || err != nil {
		t.Errorf("at the end: %+v, %v", r, err)
	}
}

// TestPurgeBesideOthers purges while others append and put: what was acknowledged before is counted, and nothing comes
// after.
//
// covers: J-13 part
func TestPurgeBesideOthers(t *testing.T) {
	t.Parallel()
	m := vfs.NewMem()
	d := must(opener("home/me/ambit", m)()).(*journal.Dir)
	defer d.Close()
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	must(d.Append(ctx, "a", &entry.Session{ID: "a"}))
	begun, done := make(chan bool, 100), make(chan int)
	for i := range 4 {
		go func() {
			acknowledged := 0
			for n := 0; ; n++ {
				b, err := d.Put(ctx, "a", bytes.Repeat([]byte{byte(i), byte(n)}, 200))
				if err == nil {
					_, err = d.Append(ctx, "a", &entry.Request{N: n, Body: &b})
				}
				if err != nil {
					if !errors.Is(err, journal.ErrPurged) {
						t.Error(err)
					}
					done <- acknowledged
					return
				}
				acknowledged++
				select {
				case begun <- true:
				default:
				}
			}
		}()
	}
	for range 10 {
		<-begun
	}
	p := must(d.Purge(ctx, "a"))
	sum := 0
	for range 4 {
		sum += <-done
	}
	r := must(d.Check(ctx, "a"))
	if p.Bodies != sum || r.Purged != sum || r.Left != 0 || !r.Sound() || r.Entries != sum+2 {
		t.Errorf("%d appends were acknowledged, the purge says %+v, check %+v", sum, p, r)
	}
}

// TestPurgeOverwrites looks at what stands where the text stood, once it has no name any more: zeros, which were durable
// before the name was taken away.
//
// covers: J-13 part
func TestPurgeOverwrites(t *testing.T) {
	m := written()
	fault := &vfs.Fault{FS: m}
	log := folder + "/bodies/literals.log"
	f := must(m.Open(log))
	defer f.Close()
	size := must(f.Size())
	d := must(opener("home/me/ambit", fault)()).(*journal.Dir)
	defer d.Close()
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	var did []vfs.Op
	fault.SetInject(func(op vfs.Op, name string) error {
		if name == log && (op == vfs.OpWrite || op == vfs.OpSync || op == vfs.OpRemove) {
			did = append(did, op)
		}
		return nil
	})
	must(d.Purge(ctx, "a"))
	if want := []vfs.Op{vfs.OpWrite, vfs.OpSync, vfs.OpRemove}; !slices.Equal(did, want) {
		t.Errorf("it did %v, want %v", did, want)
	}
	data := make([]byte, size)
	if must(f.ReadAt(data, 0)); must(f.Size()) != size || !bytes.Equal(data, make([]byte, size)) {
		t.Errorf("%d bytes stand there, not all of them zeros", must(f.Size()))
	}
}

// The secrets of unpurged.
var secrets = [][]byte{noise(21, 300), noise(22, 400)}

func noise(seed uint64, n int) []byte {
	rng, text := rand.New(rand.NewPCG(seed, 20)), make([]byte, n)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	return text
}

// unpurged is the session of written with two bodies more, that both hold the secrets.
func unpurged(t *testing.T) *vfs.Mem {
	t.Helper()
	m := written()
	d := must(opener("home/me/ambit", m)()).(*journal.Dir)
	defer d.Close()
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	body := slices.Concat(noise(1, 250), secrets[0], noise(2, 250), secrets[1], noise(3, 50))
	first := must(d.Put(ctx, "a", body))
	second := must(d.Put(ctx, "a", append(body, noise(4, 70)...)))
	must(d.Append(ctx, "a", &entry.Request{N: 8, Body: &first}, &entry.Request{N: 9, Body: &second}))
	return m
}

// textPurged is unpurged, and then one secret after the other was purged, so that records stand in the place of others
// and of those; more came behind.
func textPurged(t *testing.T) *vfs.Mem {
	t.Helper()
	m := unpurged(t)
	d := must(opener("home/me/ambit", m)()).(*journal.Dir)
	defer d.Close()
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	var of entry.Seq
	var bodies []entry.Body
	for f := range d.Read(ctx, "a", 0) {
		of, bodies = f.Seq, append(bodies, entry.Bodies(f.Fact)...)
	}
	for i, at := range []int64{250, 800} {
		n := int64(len(secrets[i]))
		r := journal.Removal{Of: of}
		for _, b := range bodies[len(bodies)-2:] {
			r.Gone = append(r.Gone, journal.Span{Body: b, Offset: at, Length: n})
		}
		must(d.PurgeText(ctx, "a", r))
	}
	third := must(d.Put(ctx, "a", noise(5, 90)))
	must(d.Append(ctx, "a", &entry.Request{N: 10, Body: &third}))
	return m
}

// TestReaderOfPurgedText compares the two readers over a session of which text was purged, whole and damaged.
//
// covers: J-13 part
func TestReaderOfPurgedText(t *testing.T) {
	t.Parallel()
	needReader(t)
	m := textPurged(t)
	r, _, _ := checked(t, m)
	if r.Purged != 2 || !r.Sound() || r.Left != 0 || r.Rebuilt == 0 || r.Rebuilt != r.Bodies {
		t.Errorf("check found %+v", r)
	}
	agree(t, m)
	rng := rand.New(rand.NewPCG(11, 11))
	for range 20 {
		m := m.Crash(vfs.Kept, nil)
		t.Log(flip(m, path.Dir(folder), rng.Uint64()))
		agree(t, m)
	}
}

// TestEveryByteOfPurgedText changes bytes all over what the purge of a text leaves: it is found, and if only as what is
// left of it.
//
// covers: J-13 part
func TestEveryByteOfPurgedText(t *testing.T) {
	t.Parallel()
	m := textPurged(t)
	for i, s := range secrets {
		if holds(m, path.Dir(folder), s) {
			t.Errorf("secret %d is there", i)
		}
	}
	root := path.Dir(folder)
	for n := uint64(0); n < size(m, root); n += 3 { // every third, for time's sake
		where := flip(m, root, 8*n+n%8)
		if r, _, _ := checked(t, m); r.Sound() && r.Left == 0 {
			t.Errorf("%s: check found %+v", where, r)
		}
		flip(m, root, 8*n+n%8)
	}
}

// TestPurgedTextIsSaid has a log that says that text is gone, and no entry that says so.
//
// covers: J-13 part
func TestPurgedTextIsSaid(t *testing.T) {
	t.Parallel()
	m := unpurged(t)
	f := must(m.Edit(folder + "/bodies/literals.log"))
	must(f.WriteAt(read(textPurged(t), folder+"/bodies/literals.log"), 0))
	must(0, f.Close())
	r, _, _ := checked(t, m)
	if len(r.Damage) == 0 || r.Left != 0 {
		t.Errorf("check found %+v", r)
	}
}

// TestPurgeTextBesideOthers purges a text again and again while others say it again: what cannot be rebuilt is purged, and
// never damaged.
//
// covers: J-13 part
func TestPurgeTextBesideOthers(t *testing.T) {
	t.Parallel()
	m := vfs.NewMem()
	d := must(opener("home/me/ambit", m)()).(*journal.Dir)
	defer d.Close()
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	first := must(d.Put(ctx, "a", slices.Concat(secrets[0], noise(7, 300))))
	of := must(d.Append(ctx, "a", &entry.Session{ID: "a"}, &entry.Request{N: 1, Body: &first}))
	done := make(chan error, 3)
	for i := range 3 {
		go func() {
			var err error
			for n := 0; err == nil && n < 40; n++ {
				var b entry.Body
				if b, err = d.Put(ctx, "a", slices.Concat(secrets[0], noise(uint64(100*i+n%7), 200))); err == nil {
					_, err = d.Append(ctx, "a", &entry.Request{N: n, Body: &b})
				}
				if err == nil {
					if _, err = d.Body(ctx, "a", b); errors.Is(err, journal.ErrPurged) {
						err = nil
					}
				}
			}
			done <- err
		}()
	}
	for range 6 {
		r := journal.Removal{Of: of}
		for f, err := range d.Read(ctx, "a", 0) {
			must(0, err)
			for _, b := range entry.Bodies(f.Fact) {
				r.Gone = append(r.Gone, journal.Span{Body: b, Length: int64(len(secrets[0]))})
			}
		}
		must(d.PurgeText(ctx, "a", r))
	}
	for range 3 {
		must(0, <-done)
	}
	r := must(d.Check(ctx, "a"))
	if !r.Sound() || r.Left != 0 || r.Purged < 1 || r.Bodies != r.Rebuilt {
		t.Errorf("check found %+v", r)
	}
}
