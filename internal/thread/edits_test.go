package thread

import (
	"slices"
	"testing"

	"ambit/entry"

	"pgregory.net/rapid"
)

// hashes are those of messages that are named by numbers.
func hashes(numbers ...int) (list []Hash) {
	for _, n := range numbers {
		list = append(list, Hash{byte(n), 1})
	}
	return list
}

func hexOf(n int) string { return Hex(hashes(n)[0]) }

func TestApply(t *testing.T) {
	var e Edits
	e.Add(
		7,
		entry.Change{Element: hexOf(2), How: entry.ChangeGone},
		entry.Change{Element: hexOf(1), How: entry.ChangeBehind, Text: "checkpoint", Needs: hexOf(3)},
		entry.Change{Element: hexOf(3), How: entry.ChangeGone, Times: 1},
	)
	e.Add(8, entry.Change{Element: hexOf(4), How: entry.ChangeCut, Call: "c", Text: "short"}, entry.Change{Element: "no hash", How: entry.ChangeGone})
	e.Add(9, entry.Change{Element: hexOf(4), How: entry.ChangePlaceholder, Call: "c", Text: "shorter"})
	a := e.Apply(hashes(1, 2, 3, 4, 3))
	gone := []bool{false, true, true, false, false}
	for i, want := range gone {
		if a.Shown[i].Gone != want {
			t.Errorf("message %d: %+v", i, a.Shown[i])
		}
	}
	if b := a.Shown[0].Behind; len(b) != 1 || b[0].Text != "checkpoint" || b[0].Edit != 7 {
		t.Errorf("behind the first stands %+v", b)
	}
	if s := a.Shown[3]; s.Texts["c"] != "shorter" || s.How["c"] != entry.ChangePlaceholder || !s.Changed() {
		t.Errorf("the result is shown as %+v", s)
	}
	if a.Stale != nil || a.Shown[4].Changed() {
		t.Errorf("%+v", a)
	}
	// Without the message that it needs, none of an edit is made.
	if a = e.Apply(hashes(1, 2, 4)); !slices.Equal(a.Stale, []entry.Seq{7}) || a.Shown[0].Changed() || a.Shown[1].Gone || !a.Shown[2].Changed() {
		t.Errorf("%+v", a)
	}
	clone := e.Clone()
	e.Lift(7)
	if a = e.Apply(hashes(1, 2, 3, 4)); a.Stale != nil || a.Shown[1].Gone || e.Len() != 2 || clone.Len() != 5 {
		t.Errorf("%+v, %d and %d changes", a, e.Len(), clone.Len())
	}
	if a = clone.Apply(hashes(1, 2, 4)); !slices.Equal(a.Stale, []entry.Seq{7}) {
		t.Errorf("the copy: %+v", a)
	}
}

// What edits make of messages does not depend on what else is in the request, but for what they need and how often a message
// stands in it; what is lifted is as if it had never been.
func TestApplyLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, less Edits
		number := rapid.IntRange(0, 5)
		lifted := entry.Seq(rapid.IntRange(1, 3).Draw(t, "lifted"))
		for seq := entry.Seq(1); seq <= 3; seq++ {
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				c := entry.Change{Element: hexOf(number.Draw(t, "element")), How: rapid.SampledFrom([]entry.Changing{entry.ChangeGone, entry.ChangeCut, entry.ChangeBehind}).Draw(t, "how"), Text: "x"}
				if rapid.Bool().Draw(t, "needs") {
					c.Needs = hexOf(number.Draw(t, "needed"))
				}
				all.Add(seq, c)
				if seq != lifted {
					less.Add(seq, c)
				}
			}
		}
		messages := hashes(rapid.SliceOfDistinct(number, func(n int) int { return n }).Draw(t, "messages")...)
		before := all.Apply(messages)
		turned := slices.Clone(messages)
		slices.Reverse(turned)
		after := all.Apply(turned)
		for i := range messages {
			if a, b := before.Shown[i], after.Shown[len(messages)-1-i]; a.Gone != b.Gone || len(a.Texts) != len(b.Texts) || len(a.Behind) != len(b.Behind) {
				t.Fatalf("message %d is shown as %+v, and from the other end as %+v", i, a, b)
			}
		}
		turn := all.Turn()
		all.Lift(lifted)
		a, b := all.Apply(messages), less.Apply(messages)
		if all.Len() != less.Len() || all.Turn() == turn || !slices.Equal(a.Stale, b.Stale) {
			t.Fatalf("%+v and %+v", a, b)
		}
		for i := range messages {
			if a.Shown[i].Gone != b.Shown[i].Gone || len(a.Shown[i].Behind) != len(b.Shown[i].Behind) {
				t.Fatalf("message %d is shown as %+v, want %+v", i, a.Shown[i], b.Shown[i])
			}
		}
	})
}
