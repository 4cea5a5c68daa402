package journal_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// TestPart reads parts of bodies that share text with others, in a session and in its fork.
func TestPart(t *testing.T) {
	ctx := t.Context()
	d, err := journal.Open("/d", journal.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 20_000)
	for i := range text {
		text[i] = byte(rng.IntN(256))
	}
	unlock, err := d.Lock(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	var bodies []entry.Body
	var want [][]byte
	facts := []entry.Fact{&entry.Session{ID: "a"}}
	for n := range 5 {
		body := bytes.Clone(text[:4000*(n+1)])
		body[2000*n] ^= 1
		b, err := d.Put(ctx, "a", body)
		if err != nil {
			t.Fatal(err)
		}
		bodies, want = append(bodies, b), append(want, body)
		facts = append(facts, &entry.Request{N: n + 1, Body: &b})
	}
	last, err := d.Append(ctx, "a", facts...)
	if err != nil {
		t.Fatal(err)
	}
	sum := ""
	for f, err := range d.Read(ctx, "a", last-1) {
		if err != nil {
			t.Fatal(err)
		}
		sum = f.Sum
	}
	unlockFork, err := d.Lock(ctx, "b")
	if err != nil {
		t.Fatal(err)
	}
	defer unlockFork()
	if _, err := d.Append(ctx, "b", &entry.Session{ID: "b", From: &entry.Fork{Session: "a", Seq: last, Sum: sum}}); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"a", "b"} {
		for range 500 {
			i := rng.IntN(len(bodies))
			size := len(want[i])
			offset, length := rng.IntN(size+100), rng.IntN(size+100)
			got, err := d.Part(ctx, session, bodies[i], int64(offset), int64(length))
			from := min(offset, size)
			if part := want[i][from:min(from+length, size)]; err != nil || !bytes.Equal(got, part) {
				t.Fatalf("%s, body %d of %d bytes, %d from %d: got %d bytes, %v", session, i, size, length, offset, len(got), err)
			}
		}
	}
	if _, err := d.Part(ctx, "a", bodies[0], -1, 5); err == nil {
		t.Error("a part before the start was read")
	}
	missing := bodies[0]
	missing.SHA256 = bodies[1].SHA256
	if _, err := d.Part(ctx, "b", missing, 0, 5); err == nil {
		t.Error("a part of a body that is not there was read")
	}
}
