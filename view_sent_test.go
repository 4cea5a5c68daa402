package ambit_test

import (
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
)

// story records a talk that is cut, pruned, compacted and wound back, each before a request of its own, and returns what went
// for each request.
func story(k *edits) (went []string) {
	base := []string{asks, call("c1", "a"), result("text of", "c1")}
	k.arrives(entry.Root, 0, body(base...))
	k.decides(entry.Decision{N: 1, Policy: "full", Stage: entry.StageCut, Why: "it is a giant"},
		entry.Change{Element: k.element(2), How: entry.ChangeCut, Call: "c1", Text: "[part of c1]", Of: 6})
	went = append(went, k.goes(nil, nil))
	k.answers(answered2)

	more := append(base, call("c2", "b"), result("text of", "c2"), said("And now?"))
	k.arrives(entry.Extends, 1, body(more...), 3)
	k.decides(entry.Decision{N: 2, Policy: "full", Stage: entry.StagePrune, Cold: true, Why: "the cache is cold"},
		entry.Change{Element: k.element(2), How: entry.ChangePlaceholder, Call: "c1", Text: "[c1 was here]", Of: 6},
		entry.Change{Element: k.element(5), How: entry.ChangeBehind, Text: "Never delete.", Pin: "p1"})
	went = append(went, k.goes([]string{"p1"}, nil))
	k.answers(because)

	most := append(more, says, said("Go on."))
	k.arrives(entry.Extends, 2, body(most...), 3, 6)
	checkpoint := k.decides(entry.Decision{
		N: 3, Policy: "full", Stage: entry.StageCompact, Forced: true, Reactive: true, Why: "it does not fit", Whole: 90, Before: 80, After: 40, Price: 0.5, Account: 2, Spent: 1.5,
	},
		entry.Change{Element: k.element(1), How: entry.ChangeGone, Of: 5, Needs: k.element(2)},
		entry.Change{Element: k.element(2), How: entry.ChangeGone, Of: 6, Needs: k.element(2)},
		entry.Change{Element: k.element(2), How: entry.ChangeBehind, Text: "[so far: c1 was read]", Needs: k.element(2)})
	went = append(went, k.goes([]string{"p1"}, []string{"p2: it could be put nowhere"}))
	k.answers(because)

	k.arrives(entry.ClientCompaction, 3, body(said("A client's own summary.")))
	k.decides(entry.Decision{N: 4, Policy: "full", Stage: entry.StageLift, Lifts: []entry.Seq{checkpoint}, Why: "what it rests on is gone"})
	return append(went, k.goes(nil, []string{"p1: nothing of it is edited"}))
}

const answered2 = `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"c2","name":"read","input":{"path":"b"}}],"stop_reason":"tool_use","usage":{"input_tokens":150000,"output_tokens":9}}`

// A request that Ambit edited is shown as it went, also when its edits were lifted since: what was replaced with the entry
// that has the original, what was put there with the entry that did, and what was left out with the reason and with whether it
// is retained, visible, or both.
// covers: N-02 part
// covers: I-11 part
func TestViewSent(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	for i, went := range story(k) {
		k.asked = ""
		if i == 3 {
			k.asked = went
		}
		k.wentAs(i+1, went)
	}
	is(t, "a cut", k.holds(1), `e4 user request rv
e5 call request rv
e6 excerpt request @e8 rv
- e6 context.cut @e8 rv
`)
	is(t, "a prune", k.holds(2), `e4 user request rv
e5 call request rv
e6 placeholder request @e17 r
e11 call request rv
e14 result request rv
e15 user request rv
e17 pin edit rv
- e6 context.pruned @e17 r
`)
	is(t, "a compaction", k.holds(3), `e4 user request rv
e25 checkpoint edit rv
e11 call request rv
e14 result request rv
e15 user request rv
e17 pin edit rv
e20 assistant request rv
e23 user request rv
- e5 context.compacted @e25 r
- e6 context.compacted @e25 r
`)
	is(t, "a lift", k.holds(4), `e31 summary request rv
- e4 client-compaction r
- e5 client-compaction r
- e6 client-compaction r
- e11 client-compaction r
- e14 client-compaction r
- e15 client-compaction r
- e20 client-compaction r
- e23 client-compaction r
- e28 client-compaction r
`)
	v, err := k.open().View(t.Context(), "", 2)
	if err != nil || v.Sent == nil || v.Sent.Attempt != 1 || v.Sent.Edited != 2 || len(v.Sent.SHA256) != 64 {
		t.Fatalf("%+v, %v", v, err)
	}
	if pin := v.Segments[len(v.Segments)-1]; pin.Class != ambit.ClassPin || pin.Pin != "p1" || pin.Text != "Never delete." || pin.Role != "user" {
		t.Errorf("the pin is %+v", pin)
	}
}

// Results of several calls in one message: what of them is a placeholder is left out, and the rest stands.
func TestViewSentInPart(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	k.arrives(entry.Root, 0, body(asks, result("text of", "c1", "c2")))
	k.decides(entry.Decision{N: 1, Policy: "cut", Stage: entry.StagePrune}, entry.Change{Element: k.element(1), How: entry.ChangePlaceholder, Call: "c2", Text: "[c2]", Of: 5})
	k.wentAs(1, k.goes(nil, nil))
	is(t, "one of two", k.holds(1), `e4 user request rv
e5 excerpt request @e7 rv
- e5 context.pruned @e7 rv
`)
	k.decides(entry.Decision{N: 1, Policy: "cut", Stage: entry.StagePrune, Reactive: true}, entry.Change{Element: k.element(1), How: entry.ChangePlaceholder, Call: "c1", Text: "[c1]", Of: 5})
	k.wentAs(1, k.goes(nil, nil))
	is(t, "both, in a second attempt", k.holds(1), `e4 user request rv
e5 placeholder request @e10 r
- e5 context.pruned @e10 r
`)
	other := newEdits(newTalks(t, messagesWire))
	other.arrives(entry.Root, 0, body(asks, strings.Replace(result("text of", "c1"), "}]}", `},{"type":"text","text":"Look."}]}`, 1)))
	other.decides(entry.Decision{N: 1, Policy: "cut", Stage: entry.StagePrune}, entry.Change{Element: other.element(1), How: entry.ChangePlaceholder, Call: "c1", Text: "[c1]", Of: 5})
	other.wentAs(1, other.goes(nil, nil))
	is(t, "beside what the user says", other.holds(1), `e4 user request rv
e5 excerpt request @e7 rv
- e5 context.pruned @e7 rv
`)
	if g := k.gauge(1); g.Sent.Attempt != 2 || g.Generation != 2 || len(g.Boundaries) != 1 {
		t.Errorf("%+v", g)
	}
}

// What was replaced is found by itself where the edits cannot be read any more.
func TestViewSentWithoutEdits(t *testing.T) {
	k := newEdits(newTalks(t, messagesWire))
	k.arrives(entry.Root, 0, body(asks, call("c1", "a"), result("text of", "c1"), asks, thanks))
	k.standing.Add(99,
		entry.Change{Element: k.element(2), How: entry.ChangePlaceholder, Call: "c1", Text: "[c1]"},
		entry.Change{Element: k.element(0), Times: 1, How: entry.ChangeGone},
		entry.Change{Element: k.element(4), How: entry.ChangeBehind, Text: "[so far]"})
	k.wentAs(1, k.goes(nil, nil))
	is(t, "without edits", k.holds(1), `e5 call request rv
e6 excerpt request rv
e4 user request rv
e7 user request rv
/messages/4 checkpoint edit v
- e6 context.cut rv
- e4 context.compacted r
`)
}

// The other wires, each with its own place for what Ambit puts behind a message.
func TestViewSentWires(t *testing.T) {
	for _, w := range []struct {
		wire
		body, want string
	}{
		{chatWire, `{"model":"gpt-5.5","messages":[{"role":"system","content":"Be terse."},{"role":"user","content":"Why?"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"text of a"}]}`, `e4 user request rv
e5 call request rv
e6 excerpt request @e8 rv
e8 pin edit rv
- e6 context.cut @e8 rv
`},
		{responsesWire, `{"model":"gpt-5.5","input":[{"role":"user","content":"Why?"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"text of a"}]}`, `e4 user request rv
e5 call request rv
e6 excerpt request @e8 rv
e8 pin edit rv
- e6 context.cut @e8 rv
`},
		{geminiWire, `{"contents":[{"role":"user","parts":[{"text":"Why?"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"text of a"}}}]}]}`, `e4 user request rv
e5 call request rv
e6 excerpt request @e8 rv
e8 pin edit rv
- e6 context.cut @e8 rv
`},
	} {
		k := newEdits(newTalks(t, w.wire))
		k.arrives(entry.Root, 0, w.body)
		k.decides(entry.Decision{N: 1, Policy: "cut", Stage: entry.StageCut},
			entry.Change{Element: k.element(2), How: entry.ChangeCut, Call: "c1", Text: "[part]", Of: 6},
			entry.Change{Element: k.element(2), How: entry.ChangeBehind, Text: "Never delete.", Pin: "p1"})
		k.wentAs(1, k.goes([]string{"p1"}, nil))
		is(t, w.name+w.path, k.holds(1), w.want)
	}
	k := newEdits(newTalks(t, responsesWire))
	k.arrives(entry.Root, 0, `{"model":"gpt-5.5","input":"Why?"}`)
	k.decides(entry.Decision{N: 1, Policy: "cut", Stage: entry.StageNone}, entry.Change{Element: k.element(0), How: entry.ChangeBehind, Text: "Never delete.", Pin: "p1"})
	k.wentAs(1, k.goes([]string{"p1"}, nil))
	is(t, "a text alone", k.holds(1), `e4 user request rv
e6 pin edit rv
`)
}

// What a provider keeps of a conversation it keeps as it was sent.
func TestViewSentKept(t *testing.T) {
	k := newEdits(newTalks(t, responsesWire))
	k.arrives(entry.Root, 0, `{"model":"gpt-5.5","input":[{"role":"user","content":"Why?"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"text of a"}]}`)
	k.decides(entry.Decision{N: 1, Policy: "cut", Stage: entry.StageCut}, entry.Change{Element: k.element(2), How: entry.ChangeCut, Call: "c1", Text: "[part]", Of: 6})
	k.goes(nil, nil)
	k.answers(`{"id":"r1","object":"response","status":"completed","model":"gpt-5.5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Because."}]}],"usage":{"input_tokens":50,"output_tokens":4}}`)
	k.arrives(entry.Extends, 1, `{"model":"gpt-5.5","previous_response_id":"r1","input":[{"role":"user","content":"Mend it."}]}`)
	k.goes(nil, nil)
	is(t, "what the provider keeps", k.holds(2), `e4 user recording rv
e5 call recording rv
e6 excerpt recording @e8 rv
e11 assistant recording rv
e14 user recording rv
- e6 context.cut @e8 rv
`)
	if got := k.shows(2); !strings.Contains(got, "working tool e6 excerpt [part]\n") {
		t.Errorf("it is shown as\n%s", got)
	}
}
