package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

func TestRoundTrip(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	d, err := journal.Open(dir, journal.Options{Rotate: 500})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	body := []byte("{")
	for i := range 20 {
		body = append(body, fmt.Sprintf("turn %d of the conversation, which goes on and on; ", i)...)
		b, err := d.Put(ctx, "a", body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Append(ctx, "a", &entry.Request{N: i + 1, Body: &b}); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, bytes.Clone(body))
	}
	read := func(d *journal.Dir) {
		t.Helper()
		n := 0
		for f, err := range d.Read(ctx, "a", 0) {
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Body(ctx, "a", *f.Fact.(*entry.Request).Body)
			if err != nil || !bytes.Equal(got, bodies[n]) {
				t.Fatalf("body %d: %v, %q", n, err, got)
			}
			n++
		}
		if n != len(bodies) {
			t.Fatalf("%d of %d entries", n, len(bodies))
		}
		if r, err := d.Check(ctx, "a"); err != nil || !r.Sound() || r.Rebuilt != len(bodies) {
			t.Fatalf("check: %v, %+v", err, r)
		}
	}
	read(d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = journal.Open(dir, journal.Options{}); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	read(d)
}
