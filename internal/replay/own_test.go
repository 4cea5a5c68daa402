package replay

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRecountOwn counts Ambit's own policies again, of which a made recording and one of another agent give every kind of edit.
// covers: I-08 part
// covers: N-09 part
func TestRecountOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	agree(t, Options{Policies: All()}, map[string][]byte{"a.jsonl": madeClaude(t, time.Date(2026, 2, 9, 18, 13, 53, 0, time.UTC), 40)})
	name := "claude-code/cli--58e50d6c-eec7-4ae4.jsonl"
	data, err := os.ReadFile(filepath.Join(sharedDir(t, "."), name))
	if err != nil {
		t.Fatal(err)
	}
	agree(t, Options{Policies: All()}, map[string][]byte{name: data})
}

// TestOwnBars replays every recording of 100,000 tokens and more and looks at what came of them together: what ambit:full costs
// against append-only, what of the evidence it shows, that it costs no session more, and that it loses no pin.
// covers: N-04
// covers: N-09 part
// covers: X-10 part
// covers: X-11 part
func TestOwnBars(t *testing.T) {
	if testing.Short() {
		t.Skip("it replays many recordings")
	}
	policies, err := Choose([]string{"append_only", "ambit:full", "plain_refresh"})
	if err != nil {
		t.Fatal(err)
	}
	var reports []*Report
	turns := 0
	folders := []string{"claude-code", "codex-rollout", "mini-swe-agent", "opencode-export", "pi-session", "roo-cline"}
	if raced {
		folders = []string{"roo-cline"}
	}
	for _, f := range sharedFiles(t, folders...) {
		r := Run(f, Options{Policies: policies})
		if r.Peak < 100_000 {
			continue
		}
		reports, turns = append(reports, r), turns+r.Compared
		floor, own := &r.Policies[0], &r.Policies[1]
		if cost := own.InputCost + own.RecallCost; cost > 1.03*floor.InputCost {
			t.Errorf("%s costs %.3f of %.3f", r.Path, cost, floor.InputCost)
		}
		if own.Pins.Kept != Pins {
			t.Errorf("%s keeps %d pins", r.Path, own.Pins.Kept)
		}
	}
	if raced {
		return // the others are replayed without
	}
	totals := Totals(reports)
	floor, own, plain := &totals[0], &totals[1], &totals[2]
	cost := (own.InputCost + own.RecallCost) / floor.InputCost
	quotes, others := own.Evidence.Quotes, plain.Evidence.Quotes
	seen := float64(quotes.Visible) / float64(quotes.Needed)
	more := (plain.InputCost+plain.RecallCost)/floor.InputCost - cost
	t.Logf("%d recordings: %.1f %% of the cost, %.1f points below plain_refresh, %.2f %% of quotes visible, %.2f recalls in 100 turns",
		len(reports), 100*cost, 100*more, 100*seen, 100*float64(own.Recalls)/float64(turns))
	if cost > 0.54 || seen < 0.97 || 100*own.Recalls > 3*turns {
		t.Error("that is worse than it was")
	}
	if more < 0.05 || quotes.Visible < others.Visible {
		t.Errorf("it is %.1f points cheaper than plain_refresh, and shows %d of its %d quotes", 100*more, quotes.Visible, others.Visible)
	}
}
