package ambit_test

import (
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"

	"pgregory.net/rapid"
)

// A decision that changes what was sent before begins a generation: until its first response is counted the gauge is unknown,
// with an estimate beside it, and never what the generation before had come to.
//
func TestGaugeOfEdits(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	story(k)
	g := k.gauge(1)
	if g.State != ambit.GaugeKnown || g.LastRealTotal != 150_009 || g.Generation != 1 || g.Strategy != "full" {
		t.Errorf("a cut begins no generation: %+v", g)
	}
	g = k.gauge(2)
	if g.LastRealTotal != 955 || g.LastRealTurn != 2 || g.Generation != 2 {
		t.Errorf("once the generation is counted: %+v", g)
	}
	var reasons []string
	for _, b := range k.gauge(4).Boundaries {
		reasons = append(reasons, fmt.Sprint(b.Turn, " ", b.Reason, " ", b.Also))
	}
	if got := strings.Join(reasons, ", "); got != "2 context.pruned [], 3 context.compacted [], 4 client-compaction [context.lifted]" {
		t.Errorf("the boundaries are %s", got)
	}
	g = k.gauge(4)
	if g.State != ambit.GaugeUnknown || g.LastRealTotal != 0 || g.Pressure != nil || g.Next == nil || g.Next.Anchored || g.Next.EstTokens < g.EstTotal || g.EstTotal == 0 || g.Usable == 0 {
		t.Errorf("before it is counted: %+v, next %+v", g, g.Next)
	}
	if g.Strategy != "recorded" || g.Sent != nil {
		t.Errorf("it went as it came: %q, %+v", g.Strategy, g.Sent)
	}
}

// The generation begins for every branch of the thread, because the edits hold in all of them, and for who asks again.
// covers: X-12 part
func TestGaugeOfBranches(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	k.arrives(entry.Root, 0, body(asks, result("text of", "c1")))
	k.goes(nil, nil)
	k.answers(answered2)
	k.arrives(entry.Extends, 1, body(asks, result("text of", "c1"), thanks))
	k.decides(entry.Decision{N: 2, Policy: "full", Stage: entry.StagePrune}, entry.Change{Element: k.element(1), How: entry.ChangePlaceholder, Call: "c1", Text: "[c1]", Of: 5})
	k.goes(nil, nil)
	for _, how := range []entry.Relating{entry.Again, entry.Extends} {
		k.arrives(how, 1, body(asks, result("text of", "c1"), thanks))
		k.goes(nil, nil)
		if g := k.gauge(0); g.State != ambit.GaugeUnknown || g.LastRealTotal != 0 || g.Generation != 2 {
			t.Errorf("%s: %d in generation %d", how, g.LastRealTotal, g.Generation)
		}
	}
	k.answers(because)
	if g := k.gauge(0); g.LastRealTotal != 955 {
		t.Errorf("once it is counted: %d", g.LastRealTotal)
	}
}

// However requests are cut, pruned, compacted and counted, a gauge shows the newest count of its own generation or none.
// covers: X-12 part
func TestGaugeOfEditsLaw(t *testing.T) {
	stages := []entry.Stage{"", entry.StageNone, entry.StageCut, entry.StagePrune, entry.StageCompact, entry.StageLift}
	rapid.Check(t, func(rt *rapid.T) {
		k := newEdits(newTalks(t, messagesWire))
		var messages []string
		want, generation := 0, 1
		for i := range rapid.IntRange(1, 6).Draw(rt, "requests") {
			messages = append(messages, said(fmt.Sprint("Ask ", i)))
			k.arrives(entry.Extends, i, body(messages...))
			for _, stage := range rapid.SliceOfN(rapid.SampledFrom(stages), 0, 2).Draw(rt, "stages") {
				if stage == "" {
					continue
				}
				k.decides(entry.Decision{N: k.n, Policy: "full", Stage: stage}, entry.Change{Element: k.element(0), How: entry.ChangeBehind, Text: fmt.Sprint("Behind ", i)})
				if stage != entry.StageNone && stage != entry.StageCut && want >= 0 {
					want, generation = -1, generation+1
				}
			}
			k.goes(nil, nil)
			if want < 0 {
				want = 0
			}
			if rapid.Bool().Draw(rt, "counted") {
				in := rapid.IntRange(1, 190_000).Draw(rt, "input")
				k.answers(strings.Replace(because, `"input_tokens":950`, fmt.Sprintf(`"input_tokens":%d`, in), 1))
				want = in + 5
			}
			g := k.gauge(0)
			if g.LastRealTotal != want || (g.State == ambit.GaugeKnown) != (want > 0) || g.Generation != generation || g.Next == nil {
				rt.Fatalf("request %d: %d %s in generation %d, want %d in %d", k.n, g.LastRealTotal, g.State, g.Generation, want, generation)
			}
		}
	})
}

// What was decided is shown with what it was decided by, and of pins which are held and why others are not.
// covers: X-11 part
// covers: N-03 part
func TestGaugeDecision(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	story(k)
	g := k.gauge(3)
	want := ambit.Decided{
		Ref: "e24", Turn: 3, Policy: "full", Stage: entry.StageCompact, Event: "context.compacted", Why: "it does not fit", Forced: true, Reactive: true,
		EstWhole: 90, EstBefore: 80, EstAfter: 40, Price: 0.5, Account: 2, Spent: 1.5,
	}
	if g.Decision == nil || *g.Decision != want {
		t.Errorf("decided is %+v", g.Decision)
	}
	if fmt.Sprint(g.Pins) != "{[p1] [{p2 it could be put nowhere}]}" {
		t.Errorf("the pins are %v", g.Pins)
	}
	if d := k.gauge(2).Decision; d == nil || !d.Cold || d.Event != "context.pruned" {
		t.Errorf("before, %+v", d)
	}
	if g := k.gauge(4); fmt.Sprint(g.Pins) != "{[] [{p1 nothing of it is edited}]}" || g.Decision.Event != "context.lifted" {
		t.Errorf("behind, %v, %+v", g.Pins, g.Decision)
	}
}

// Where nobody wrote down which pins a request holds, it is read in what went.
// covers: N-03 part
func TestPinsOfWhatPassed(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	k.arrives(entry.Root, 0, body(asks))
	k.answers(because)
	k.append(&entry.Pin{ID: "p1", By: "user", Body: k.stored([]byte("Mend"))}, &entry.Pin{ID: "p2", By: "user", Body: k.stored([]byte("Never delete."))})
	k.arrives(entry.Extends, 1, body(asks, says, thanks), 1)
	if g := k.gauge(1); len(g.Pins.Held)+len(g.Pins.Absent) > 0 || g.Decision != nil {
		t.Errorf("before there were any: %+v", g.Pins)
	}
	if g := k.gauge(2); fmt.Sprint(g.Pins) != "{[p1] [{p2 the request was sent as it came: no policy edited it}]}" {
		t.Errorf("%v", g.Pins)
	}
}

// What a person decides between two requests holds from the next one on, and the estimate of that says so.
func TestGaugeOfAsking(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	k.arrives(entry.Root, 0, body(asks, thanks))
	k.answers(answered2)
	k.decides(entry.Decision{Policy: "full", Stage: entry.StageCompact, After: 33},
		entry.Change{Element: k.element(0), How: entry.ChangeGone, Of: 4, Needs: k.element(1)},
		entry.Change{Element: k.element(1), How: entry.ChangeBehind, Text: "[so far]", Needs: k.element(1)})
	g := k.gauge(0)
	if g.Generation != 1 || g.LastRealTotal != 150_009 || g.Next.EstTokens != 33 || g.Next.Anchored || g.Decision == nil || g.Decision.Turn != 0 {
		t.Errorf("%+v, next %+v", g, g.Next)
	}
	k.arrives(entry.Extends, 1, body(asks, thanks, said("Go on.")))
	k.wentAs(2, k.goes(nil, nil))
	if g = k.gauge(0); g.Generation != 2 || g.State != ambit.GaugeUnknown || g.Boundaries[0].Turn != 2 || g.Next.EstTokens == 33 {
		t.Errorf("%+v, next %+v", g, g.Next)
	}
	if g = k.gauge(1); g.Generation != 1 || g.Decision != nil || g.Next == nil || len(g.Excluded) > 0 {
		t.Errorf("the one before: %+v", g)
	}
}
