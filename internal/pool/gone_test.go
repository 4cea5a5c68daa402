package pool_test

import (
	"slices"
	"testing"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// TestGone folds purges of single texts: the session goes on, and knows which are gone, once each.
//
// covers: J-13 part
func TestGone(t *testing.T) {
	p := pool.New()
	for i, of := range []entry.Seq{9, 4, 9, 6} {
		f := journal.Frame{Entry: entry.Entry{Seq: entry.Seq(i + 1), Fact: &entry.Purged{Of: of}}}
		if err := p.Fold(f); err != nil {
			t.Fatal(err)
		}
	}
	if p.Purged != nil || !slices.Equal(p.Gone, []entry.Seq{4, 6, 9}) || !p.IsGone(6) || p.IsGone(5) {
		t.Errorf("%v, %v", p.Gone, p.Purged)
	}
	if err := p.Fold(journal.Frame{Entry: entry.Entry{Seq: 5, Fact: &entry.Purged{}}}); err != nil || p.Purged == nil {
		t.Errorf("%v, %v", p.Purged, err)
	}
}
