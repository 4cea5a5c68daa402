package replay

import (
	"fmt"
	"strings"
	"testing"

	"ambit/unit"
)

// TestPolicies shows what each policy sends of a conversation, a request a line: U for the person, A for an answer, R for
// a result, r for a placeholder or an excerpt in its place, . for what was left out. Behind it are the tokens of the request and which
// part of them the simulated cache had.
//
// covers: I-08 part
func TestPolicies(t *testing.T) {
	scripts(t, "policies.txt", func(t *testing.T, given string) string {
		first, script, _ := strings.Cut(given, "\n")
		p := policyOf(t, first)
		s := new(File).sizeUp(makeConversation(t, script), "", false)
		floor := run(s, Comparison()[0], make([][]Need, len(s.c.Turns)), nil, true)
		c := run(s, p, make([][]Need, len(s.c.Turns)), s.account(floor), true)
		var b strings.Builder
		for i := range c.steps {
			step := &c.steps[i]
			sent := make(map[string]*shape)
			for _, sh := range step.shapes {
				sent[sh.unit.Ref] = sh
			}
			fmt.Fprintf(&b, "%2d ", step.N)
			for _, m := range s.whole[i] {
				b.WriteString(letter(s, m, sent[s.units[m].Ref]))
			}
			fmt.Fprintf(&b, " %d, %.0f%%", step.Charge.Total(), 100*step.Charge.HitRate())
			if step.Anew {
				b.WriteString(", anew")
			}
			b.WriteByte('\n')
		}
		if !c.fits {
			fmt.Fprintf(&b, "%2d does not fit\n", c.limit.N)
		}
		return b.String()
	})
}

func letter(s *sizing, m int, sh *shape) string {
	switch u := s.units[m]; {
	case sh == nil:
		return "."
	case u.Role == unit.Assistant:
		return "A"
	case u.Role == unit.User:
		return "U"
	case sh == s.shapes.full(m):
		return "R"
	}
	return "r"
}

// policyOf reads a policy with other sizes, such as mask_last_n KeepLast=2.
func policyOf(t *testing.T, text string) Policy {
	t.Helper()
	fields := strings.Fields(text)
	list, err := Choose(fields[:1])
	if err != nil {
		t.Fatal(err)
	}
	p := list[0]
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		to := map[string]*int{"Window": &p.Window, "KeepLast": &p.KeepLast, "Over": &p.Over, "Protect": &p.Protect, "Gain": &p.Gain, "KeepTurns": &p.KeepTurns, "Trigger": &p.Trigger, "Target": &p.Target}[name]
		if name == "Slack" {
			if _, err := fmt.Sscan(value, &p.Slack); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if to == nil {
			t.Fatalf("a policy has no %s", name)
		}
		if _, err := fmt.Sscan(value, to); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestChoose finds policies by name and says which there are.
func TestChoose(t *testing.T) {
	if list, err := Choose(nil); err != nil || len(list) != 8 {
		t.Error(list, err)
	}
	list, err := Choose([]string{"mask_last_n", "append_only"})
	if err != nil || list[0].Name != "mask_last_n" || list[1].Name != "append_only" {
		t.Error(list, err)
	}
	for _, names := range [][]string{{"mask"}, {""}, {"append_only", "append_only"}} {
		if _, err := Choose(names); err == nil {
			t.Errorf("%q are chosen", names)
		}
	}
}

// TestBudgets reads shares and tokens, and nothing else.
func TestBudgets(t *testing.T) {
	for text, want := range map[string]int{"40%": 40_000, "100%": 100_000, "0.5%": 1000, "5000": 5000, "37.5%": 37_500} {
		if b, err := ParseBudget(text); err != nil || b.of(100_000) != want {
			t.Errorf("%s of 100,000 is %d, %v", text, b.of(100_000), err)
		}
	}
	for _, text := range []string{"", "%", "0%", "-1%", "101%", "NaN%", "999", "-5000", "1e5", "40", "4 0%", "lots"} {
		if b, err := ParseBudget(text); err == nil {
			t.Errorf("%q is a budget: %+v", text, b)
		}
	}
	list, err := Choose([]string{"plain_refresh", "sliding_window", "opencode_prune"})
	if err != nil {
		t.Fatal(err)
	}
	if p := list[0].within(7000); p.Trigger != 7000 || p.Target != 4000 {
		t.Errorf("%+v", p)
	}
	if p := list[1].within(7000); p.Window != 7000 {
		t.Errorf("%+v", p)
	}
	if p := list[2].within(7000); p != list[2] {
		t.Errorf("%+v", p)
	}
}
