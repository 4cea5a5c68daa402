package main

import (
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
)

// What was decided is told with what it was decided by, then which pins are held, and which items are visible.
// covers: X-11 part
// covers: N-03 part
// covers: I-11 part
func TestDecidedLines(t *testing.T) {
	g := &ambit.Gauge{
		Strategy: "full", Sent: &ambit.SentAs{Attempt: 2, Edited: 3},
		Decision: &ambit.Decided{
			Turn: 12, Policy: "full", Stage: entry.StagePrune, Event: "context.pruned", Why: "it pays\x1b", Cold: true, Forced: true, Reactive: true,
			EstBefore: 70_000, EstAfter: 40_000, Price: 0.01234, Account: 1.5, Spent: 1.25,
		},
		Pins: ambit.PinProof{Held: []string{"p1", "p3"}, Absent: []ambit.PinAbsent{{Pin: "p2", Reason: "no room"}}},
		Included: []ambit.Included{
			{Ref: "e4", Retained: true, Visible: true}, {Ref: "/tools/0", Visible: true}, {Ref: "e6", Class: ambit.ClassPlaceholder, Retained: true},
		},
		Excluded: []ambit.Excluded{
			{Ref: "e6", Reason: ambit.ReasonPruned, Retained: true},
			{Ref: "e7", Reason: ambit.ReasonCut, Retained: true, Visible: true},
			{Ref: "e8", Reason: ambit.ReasonPruned},
			{Ref: "/tools/1", Reason: ambit.ReasonDeferred},
		},
	}
	got := strings.Join(slices.Concat(pastLines(g), itemLines(g), decidedLines(g)), "\n")
	want := ` not in it, retained: 1 entry (context.pruned), 1 entry (context.cut, in part)
 not in it, not retained: 1 entry (context.pruned), 1 entry (deferred)
 in it: 1 item retained and visible, 1 visible only, 1 retained only, as placeholders
 sent edited by full: 3 messages are not as the client sent them, attempt 2
 decided context.pruned before #12 (full, cold cache, forced, the provider had refused it as too long): it pays?
  tokens ~70,000 before, ~40,000 after · price $0.0123 · account $1.5000, spent $1.2500
 pins held: p1, p3 · absent: p2 (no room)`
	if got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
	g.Decision = &ambit.Decided{Policy: "full", Event: "context.compacted"}
	if got := decidedText(g.Decision); got != "context.compacted between requests, from the next one on (full)" {
		t.Errorf("printed %q", got)
	}
	if lines := slices.Concat(itemLines(&ambit.Gauge{}), decidedLines(&ambit.Gauge{})); len(lines) > 0 {
		t.Errorf("of nothing there is %q", lines)
	}
}
