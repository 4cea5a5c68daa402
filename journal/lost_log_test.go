package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// TestLostLog takes the literal log away from a session, whole or from a record's end on: the session is damaged, and
// takes no further append, which would put other bodies where entries look for theirs.
//
// covers: J-04 part
func TestLostLog(t *testing.T) {
	const log = "/d/sessions/a/bodies/literals.log"
	for _, kept := range []int{-1, 0, 1, 2} {
		t.Run(fmt.Sprintf("%d records left", kept), func(t *testing.T) {
			ctx := context.Background()
			fs := vfs.NewMem()
			d := must(journal.Open("/d", journal.Options{FS: fs}))
			unlock := must(d.Lock(ctx, "a"))
			ends := []int64{0}
			for i := range 3 {
				b := must(d.Put(ctx, "a", fmt.Appendf(nil, "body %d", i)))
				must(d.Append(ctx, "a", &entry.Request{N: i + 1, Body: &b}))
				f := must(fs.Open(log))
				ends = append(ends, must(f.Size()))
				f.Close()
			}
			must(0, unlock())
			if kept < 0 {
				must(0, fs.Remove(log))
			} else {
				f := must(fs.Edit(log))
				must(0, f.Truncate(ends[kept]))
				f.Close()
			}
			if _, err := d.Lock(ctx, "a"); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("lock: %v", err)
			}
			if r := must(d.Check(ctx, "a")); r.Sound() || r.Rebuilt != max(kept, 0) {
				t.Errorf("check: %+v", r)
			}
			must(0, d.Close())
		})
	}
}
