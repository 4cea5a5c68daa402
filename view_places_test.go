package ambit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"

	"pgregory.net/rapid"
)

// Whatever is cut, left out or put behind messages, of which some are the same, each is shown as it went, and each that the
// client sent is in the request or among what is left out.
// covers: N-02 part
func TestViewSentLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := newEdits(newTalks(t, messagesWire))
		words := slices.Concat( // nothing may stand in front of results
			rapid.SliceOfN(rapid.SampledFrom([]string{"c1", "c2"}), 0, 3).Draw(rt, "results"),
			rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "Never delete."}), 1, 8).Draw(rt, "texts"))
		var messages []string
		for _, w := range words {
			if w[0] == 'c' {
				messages = append(messages, result("text of", w))
			} else {
				messages = append(messages, said(w))
			}
		}
		k.arrives(entry.Root, 0, body(messages...))
		known, changed, want := rapid.Bool().Draw(rt, "edits can be read"), false, make(map[ambit.Class]int)
		var changes []entry.Change
		for i, w := range words {
			if rapid.IntRange(0, 2).Draw(rt, "leave") > 0 {
				continue
			}
			c := entry.Change{Element: k.element(i), Times: rapid.IntRange(0, 2).Draw(rt, "times"), How: entry.ChangeGone}
			switch {
			case w[0] == 'c':
				c.How, c.Call, c.Text = entry.ChangeCut, w, "[part]"
			case w == "Never delete." || i == 0:
				c.How, c.Text, c.Pin = entry.ChangeBehind, "Never delete.", "p1"
			}
			changes, changed = append(changes, c), true
		}
		if known && changed {
			k.decides(entry.Decision{N: 1, Policy: "full", Stage: entry.StageCompact}, changes...)
		} else {
			k.standing.Add(99, changes...)
		}
		k.wentAs(1, k.goes(nil, nil))
		g := k.gauge(1)
		for _, in := range g.Included {
			want[in.Class]++
		}
		theirs, gone := 0, 0
		for _, in := range g.Included {
			if in.Source == "request" && strings.HasPrefix(in.At, "/messages") {
				theirs++
			}
		}
		for _, ex := range g.Excluded {
			if ex.Reason == ambit.ReasonCompacted {
				gone++
			}
		}
		if theirs+gone != len(words) {
			rt.Fatalf("%v with %+v: %d are there and %d are not: %s", words, changes, theirs, gone, fmt.Sprint(g.Included))
		}
		if known && want[ambit.ClassCheckpoint] > 0 {
			rt.Fatalf("a pin is shown as a checkpoint: %+v", g.Included)
		}
	})
}
