package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/vfs"
	"ambit/journal"

	"github.com/google/go-cmp/cmp"
)

// history appends random facts to a session; responses come late, some never, and some requests out of order.
func history(t *testing.T, d *journal.Dir, session string, rng *rand.Rand, length int) {
	t.Helper()
	ctx := context.Background()
	unlock, err := d.Lock(ctx, session)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	n := rng.IntN(100)
	for range length {
		var f entry.Fact
		switch rng.IntN(7) {
		case 0:
			f = &entry.Session{ID: session, Title: fmt.Sprint(rng.IntN(9))}
		case 1, 2:
			n++
			f = &entry.Request{N: n ^ 1, Model: fmt.Sprint(n), Headers: map[string]string{"a": "b"}}
		case 3:
			f = &entry.Response{N: rng.IntN(n + 1), Usage: &entry.Usage{Input: rng.Int64N(99)}}
		case 4:
			f = &entry.Relation{
				N: rng.IntN(n + 1), Thread: pool.ThreadName(rng.IntN(3)), How: entry.Extends, Parent: rng.IntN(n + 1),
				Alias: []string{"", "a", "b"}[rng.IntN(3)],
			}
		case 5:
			f = &entry.Unit{N: rng.IntN(n + 1), Of: entry.PartMessage, At: "/messages/0", Calls: []string{fmt.Sprint(n)}}
		default:
			f = &entry.Gap{Exchanges: rng.IntN(3)}
		}
		if _, err := d.Append(ctx, session, f); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T) *journal.Dir {
	t.Helper()
	d, err := journal.Open("/d", journal.Options{FS: vfs.NewMem(), Rotate: 700, Now: func() time.Time { return time.Unix(1e9, 0).UTC() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestRebuildLaw folds journals from every point at which a pool may have been saved: the result is the same as from
// nothing.
//
// covers: J-06 part
func TestRebuildLaw(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(20) {
		d := open(t)
		history(t, d, "a", rand.New(rand.NewPCG(seed, 1)), 30)
		want, err := pool.Fresh(ctx, d, "a")
		if err != nil {
			t.Fatal(err)
		}
		p := pool.New()
		for f, err := range d.Read(ctx, "a", 0) {
			if err == nil {
				err = p.Fold(f)
			}
			if err == nil {
				err = pool.Store(d, "a", p)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := pool.Load(ctx, d, "a")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, saved after entry %d (-from nothing +from there)\n%s", seed, f.Seq, diff)
			}
		}
	}
}

// TestForeignState checks that saved state is believed only when the journal bears it out.
func TestForeignState(t *testing.T) {
	ctx := context.Background()
	d := open(t)
	history(t, d, "a", rand.New(rand.NewPCG(1, 1)), 10)
	history(t, d, "b", rand.New(rand.NewPCG(2, 1)), 20)
	want, err := pool.Fresh(ctx, d, "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := pool.Fresh(ctx, d, "b")
	if err != nil {
		t.Fatal(err)
	}
	older := *want
	older.Version++
	ahead := *want
	ahead.Seq += 5
	changed := *want
	changed.Sum = other.Sum
	for name, p := range map[string]*pool.Pool{"another session's": other, "another version's": &older, "ahead of the journal": &ahead, "another chain's": &changed} {
		if err := pool.Store(d, "a", p); err != nil {
			t.Fatal(err)
		}
		got, err := pool.Load(ctx, d, "a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("state that is %s: %v\n%s", name, err, diff)
		}
	}
	for _, junk := range []string{"", "{", "null", `{"version":1,"seq":3}`} {
		if err := d.SetDerived("a", "pool.json", []byte(junk)); err != nil {
			t.Fatal(err)
		}
		if got, err := pool.Load(ctx, d, "a"); err != nil || !cmp.Equal(want, got) {
			t.Errorf("state %q: %v", junk, err)
		}
	}
	saved, err := want.Save()
	if err != nil {
		t.Fatal(err)
	}
	for i := range saved {
		flipped := slices.Clone(saved)
		flipped[i] ^= 1
		if pool.Restore(flipped) != nil {
			t.Errorf("state with byte %d changed is believed", i)
		}
	}
	if err := d.DropDerived("a"); err != nil {
		t.Fatal(err)
	}
	if got, err := pool.Load(ctx, d, "a"); err != nil || !cmp.Equal(want, got) {
		t.Errorf("without state: %v", err)
	}
}

// TestFoldOrder refuses frames that do not follow.
func TestFoldOrder(t *testing.T) {
	d := open(t)
	history(t, d, "a", rand.New(rand.NewPCG(1, 1)), 3)
	p := pool.New()
	var frames []journal.Frame
	for f, err := range d.Read(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
	}
	if err := p.Fold(frames[1]); err == nil {
		t.Error("the second frame was folded first")
	}
	if err := errors.Join(p.Fold(frames[0]), p.Fold(frames[1])); err != nil {
		t.Fatal(err)
	}
	frames[2].Prev = frames[0].Sum
	if err := p.Fold(frames[2]); err == nil {
		t.Error("a frame of another chain was folded")
	}
}

// frame is a frame of a chain that is made up.
func frame(seq int, f entry.Fact) journal.Frame {
	return journal.Frame{Entry: entry.Entry{Seq: entry.Seq(seq), Fact: f}, Sum: fmt.Sprintf("%064d", seq), Prev: fmt.Sprintf("%064d", seq-1)}
}

// TestExchanges finds exchanges by number, whatever the order of their entries.
func TestExchanges(t *testing.T) {
	p := pool.New()
	for i, f := range []entry.Fact{
		&entry.Session{ID: "a"}, &entry.Request{N: 2}, &entry.Response{N: 2, Status: 202}, &entry.Request{N: 1}, &entry.Response{N: 9},
		&entry.Gap{Exchanges: 3}, &entry.Request{N: 3}, &entry.Response{N: 1, Status: 201},
	} {
		if err := p.Fold(frame(i+1, f)); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Exchanges) != 3 || p.Last() != 3 || p.Missing != 3 || p.Exchange(4) != nil || p.Exchange(9) != nil {
		t.Errorf("%+v", p)
	}
	for n, status := range map[int]int{1: 201, 2: 202, 3: 0} {
		x := p.Exchange(n)
		if x == nil || x.Request.N != n || (x.Response == nil) != (status == 0) || x.Response != nil && x.Response.Status != status {
			t.Errorf("exchange %d is %+v", n, x)
		}
	}
}

// TestEdits keeps what stands: a decision takes back edits of its own thread only, a pin holds until it is taken off, and what
// was sent belongs to its request.
func TestEdits(t *testing.T) {
	p := pool.New()
	for i, f := range []entry.Fact{
		&entry.Session{ID: "a"}, &entry.Request{N: 1},
		&entry.Decision{Thread: "t1", Stage: entry.StageCompact}, &entry.Edit{Thread: "t1", Changes: 1}, &entry.Edit{Thread: "t2", Changes: 2},
		&entry.Pin{ID: "p1"}, &entry.Pin{ID: "p2"}, &entry.Sent{N: 1, Attempt: 1}, &entry.Sent{N: 1, Attempt: 2}, &entry.Note{ID: "n1"},
		&entry.Decision{Thread: "t2", Stage: entry.StageLift, Lifts: []entry.Seq{4, 5}}, &entry.Pin{ID: "p1", Off: true},
	} {
		if err := p.Fold(frame(i+1, f)); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Edits) != 1 || p.Edits[0].Thread != "t1" || len(p.Decisions) != 2 || len(p.Notes) != 1 {
		t.Errorf("edits %+v, decisions %+v", p.Edits, p.Decisions)
	}
	if len(p.Pins) != 1 || p.Pins[0].ID != "p2" || p.LastPin != 2 {
		t.Errorf("pins %+v, the last %d", p.Pins, p.LastPin)
	}
	if s := p.Exchange(1).Sent; len(s) != 2 || s[1].Attempt != 2 {
		t.Errorf("sent %+v", s)
	}
}
