package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"ambit/internal/vfs"

	"github.com/klauspost/compress/zstd"
)

// TestStoredOnce stores a conversation as clients send it: whole, with every turn, with a cache marker that moves on, and
// with text behind the messages. All of it takes less than twice its last body alone, also when the store is opened anew.
//
// covers: J-05 part
func TestStoredOnce(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	rng := rand.New(rand.NewPCG(1, 2))
	var last []byte
	turns := []string{}
	for run := range 3 {
		d, err := Open("/d", Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Lock(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			var turn []byte
			for range 300 + rng.IntN(900) {
				turn = fmt.Appendf(turn, "%x ", rng.Uint64()>>40)
			}
			turns = append(turns, string(turn))
			last = conversation(turns)
			if _, err := d.Put(ctx, "a", last); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatalf("run %d: %v", run, err)
		}
	}
	f, err := fs.Open("/d/sessions/a/bodies/literals.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if one := len(enc.EncodeAll(last, nil)); size > int64(one)*2 {
		t.Errorf("%d bodies take %d bytes, the last alone %d", len(turns), size, one)
	}
}

func conversation(turns []string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m","messages":[`)
	for i, turn := range turns {
		marker := ""
		if i == len(turns)-1 {
			marker = `,"cache_control":{"type":"ephemeral"}`
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":%q%s}]},`, turn, marker)
	}
	fmt.Fprintf(&b, `null],"system":%q}`, bytes.Repeat([]byte("always do this and never that. "), 200))
	return b.Bytes()
}

// TestProof has a log whose checksums are all right and whose text is not: the hash that was taken when the body passed
// tells.
func TestProof(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	d, err := Open("/d", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	unlock, err := d.Lock(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Put(ctx, "a", []byte("what passed"))
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Edit("/d/sessions/a/bodies/literals.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, RecordHeader)
	if _, err := f.ReadAt(head, 0); err != nil {
		t.Fatal(err)
	}
	r, err := parseRecord(0, head)
	if err != nil {
		t.Fatal(err)
	}
	r.sum[0]++
	if _, err := f.WriteAt(r.append(nil), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Body(ctx, "a", r.body()); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNoBody) {
		t.Errorf("a body that is not what its hash says: %v", err)
	}
	if _, err := d.Body(ctx, "a", b); !errors.Is(err, ErrNoBody) {
		t.Errorf("a body under a hash that the log does not have: %v", err)
	}
}
