package selection_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/selection"
	"ambit/unit"
)

// rules are forms in which people state what holds for good; %s is what it is about.
var rules = []string{
	"You must never edit %s.", "Never touch %s, it is frozen.", "Always run %s before a commit.", "Do not add %s to the build.", "Don't rename %s.",
	"Only use %s for this.", "Make sure %s stays as it is.", "Keep %s below ten lines.", "Avoid %s wherever you can.", "I prefer %s over anything newer.",
	"Use %s, not the other one.", "From now on %s comes first.", "Remember that %s is shared.", "Please work without %s.", "There may be at most three of %s.",
	"We need at least two of %s.", "It is required that %s passes.", "%s must not change.", "You should not rely on %s.", "%s shall stay private.",
	"No new use of %s, please.", "Under no circumstances remove %s.", "Stick to %s throughout.", "Leave %s alone.", "Everything has to go through %s.",
	"Be careful with %s: it is not to be moved.", "Do everything in %s and nowhere else.", "Never ever commit %s.", "Ensure that %s is tested.", "Instead of guessing, use %s.",
	"It is important that %s is kept.", "You may not call %s.", "%s is off limits.", "Please always ask before you change %s.", "Don't ever print %s.",
	"Whatever you do, do not drop %s.", "Only I may change %s.", "Every file must begin with %s.", "All names should follow %s.", "Write nothing into %s, never.",
	"The rule is: %s must be first.", "Make sure not to break %s.", "You have to keep %s.", "It must work without %s.", "Please don't use %s here.",
	"We never deploy %s on a Friday.", "Always prefer %s.", "Do not, in any case, skip %s.", "Keep in mind that %s must be stable.", "Nothing may depend on %s.",
	"Use only %s for the tests.", "Never write to %s.", "%s needs to stay compatible.", "Do not use more than one of %s.", "Always keep %s sorted.",
	"You are not allowed to change %s.", "Avoid calling %s twice.", "Must: %s stays.", "Don't forget that %s is required.", "Never mix %s with tabs.",
	"Bitte niemals %s anfassen.", "%s darf nicht geändert werden.", "Immer zuerst %s prüfen.", "Il ne faut jamais modifier %s.", "Nunca toques %s.", "不要修改 %s。", "必须 保留 %s。",
}

// noise is what a person writes around a rule.
func noise(r *rand.Rand, n int) string {
	words := []string{"the", "panel", "shows", "a", "list", "of", "items", "that", "came", "in", "during", "last", "week", "and", "looks", "fine", "to", "me"}
	var b strings.Builder
	for b.Len() < n {
		for range 8 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("there. ")
	}
	return b.String()
}

// TestConstraintsSurvive makes 1,000 sessions in whose long messages the user states rules, half of them pinned, and ten
// checkpoints in each: every rule stands in every later request, decoded.
//
// covers: N-03 part
func TestConstraintsSurvive(t *testing.T) {
	sessions := 1000
	if testing.Short() || raced {
		sessions = 50
	}
	for half := range 2 {
		t.Run(fmt.Sprint(half), func(t *testing.T) {
			t.Parallel()
			for s := half; s < sessions && !t.Failed(); s += 2 {
				survive(t, s)
			}
		})
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(rules)))); n < 60 {
		t.Errorf("%d forms", n)
	}
}

// survive is one session, with ten checkpoints.
func survive(t *testing.T, session int) {
	r := rand.New(rand.NewPCG(uint64(session), 7))
	c := newClient(t, selection.Full)
	c.policy.User = 700
	var planted []string
	checkpoints := 0
	for i := range 20 {
		rule := fmt.Sprintf(rules[(session*10+i)%len(rules)], fmt.Sprintf("internal/part_%d_%d", session, i))
		c.user(noise(r, 400) + "\n\n" + rule + "\n\n" + noise(r, 400))
		planted = append(planted, rule)
		if i%2 == 0 {
			c.pins = append(c.pins, selection.Pin{ID: fmt.Sprint("p", i+1), Text: rule, By: "user"})
		}
		for range 6 {
			c.use([]string{"grep", "read", "edit"}[r.IntN(3)], fmt.Sprintf("src/a%d", r.IntN(4)), 1_500+r.IntN(1_000))
		}
		in := c.input()
		in.Asked = true
		d := selection.Decide(in)
		if c.take(d); d.Stage == entry.StageCompact {
			checkpoints++
		}
		shown := c.shown()
		if err := unit.Check(shown, wire); err != nil {
			t.Fatalf("session %d, %d: %v", session, i, err)
		}
		for _, p := range planted {
			if !says(shown, p) {
				t.Errorf("session %d, checkpoint %d: lost %q", session, i, p)
			}
		}
		if checkpoints == 10 {
			return
		}
	}
	t.Errorf("session %d: %d checkpoints", session, checkpoints)
}
