package providertest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Wire is a type of request that a protocol makes of views, with what of it the laws cannot know.
type Wire struct {
	Protocol provider.Protocol
	Type     string

	Thought  string            // a part of an answer that only this wire understands, as it spells it; empty where it has none to send back
	Thinking []provider.Member // what a request says to get them, see Talk
	Marks    bool              // it writes cache markers
	Failed   bool              // it has a mark for results that failed
}

// Lowering checks the laws of Lower and Endpoint: that equal views give equal bytes and neither is kept or changed, that
// what is added stands behind what was there, in bytes and in elements, that the elements say what the view says and
// in its order, and that what may not be sent is refused.
func Lowering(t *testing.T, w Wire) {
	for name, law := range map[string]func(t failer, w Wire, c conversation){
		"Pure": pureLaw, "Says": saysLaw, "Prefix": prefixLaw, "Blank": blankLaw, "Marks": marksLaw, "Failed": failedLaw,
		"Between": betweenLaw, "Half": halfLaw, "Foreign": foreignLaw,
	} {
		t.Run("Lowering/"+name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { law(t, w, drawConversation(t, w)) }) })
	}
	t.Run("Lowering/Types", func(t *testing.T) { otherTypes(t, w) })
}

// lower lowers, and fails the test on an error.
func (w Wire) lower(t failer, v view.View, p provider.LowerParams) []byte {
	t.Helper()
	body, err := w.Protocol.Lower(v, p)
	if err != nil {
		t.Fatalf("lower %+v of\n%s: %v", p, v, err)
	}
	return body
}

// read returns the elements of what was lowered.
func (w Wire) read(t failer, body []byte) provider.Elements {
	t.Helper()
	e, err := w.Protocol.Elements(provider.Request{Type: w.Type}, body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return e
}

// clone copies all that a view refers to.
func clone(v view.View) view.View {
	v.Tools, v.Segments = slices.Clone(v.Tools), slices.Clone(v.Segments)
	for i := range v.Tools {
		v.Tools[i].Schema = bytes.Clone(v.Tools[i].Schema)
	}
	for i := range v.Segments {
		u := &v.Segments[i].Unit
		u.Parts = slices.Clone(u.Parts)
		for j := range u.Parts {
			u.Parts[j].Args, u.Parts[j].Raw = bytes.Clone(u.Parts[j].Args), bytes.Clone(u.Parts[j].Raw)
		}
	}
	return v
}

// pureLaw: equal views give equal bytes in canonical form, neither shares memory with the other, and what a path and a body
// ask for is what was meant.
func pureLaw(t failer, w Wire, c conversation) {
	v := clone(c.view)
	body := w.lower(t, v, c.params)
	if !reflect.DeepEqual(v, c.view) {
		t.Fatalf("lowering changed the view from\n%s to\n%s", c.view, v)
	}
	want := string(body)
	for i := range body {
		body[i] = '#'
	}
	if again := w.lower(t, clone(c.view), c.params); string(again) != want {
		t.Fatalf("equal views give\n%s and\n%s", want, again)
	}
	minimal, err := provider.AppendMinimal(nil, []byte(want))
	if err != nil || string(minimal) != want {
		t.Fatalf("%s is not in canonical form, %v", want, err)
	}
	asked := w.Protocol.Request("POST", w.Protocol.Endpoint(c.params), []byte(want))
	if diff := cmp.Diff(provider.Request{Type: w.Type, Model: c.params.Model, Stream: c.params.Stream}, asked); diff != "" {
		t.Fatalf("%s posted to %s is understood as (-want +got):\n%s", want, w.Protocol.Endpoint(c.params), diff)
	}
	for _, m := range c.params.Rest {
		if got := provider.JSON(want).Find(m.Name)[0]; !bytes.Equal(got, m.Value) {
			t.Fatalf("%s has %s for the member %q, want %s", want, got, m.Name, m.Value)
		}
	}
}

// saysLaw: the tools and the messages of the body are those of the view, in its order, and the system says all that is to be
// said there.
func saysLaw(t failer, w Wire, c conversation) {
	body := w.lower(t, c.view, c.params)
	e := w.read(t, body)
	if len(e.Tools) != len(c.view.Tools) || len(e.Deferred) != 0 || e.Previous != "" {
		t.Fatalf("%s has %d tools, want %d", body, len(e.Tools), len(c.view.Tools))
	}
	for i, tool := range e.Tools {
		raw := body[tool.Offset : tool.Offset+tool.Length]
		for _, has := range [][]byte{provider.AppendText(nil, c.view.Tools[i].Name), c.view.Tools[i].Schema} {
			if !bytes.Contains(raw, has) {
				t.Fatalf("the tool %s does not have %s", raw, has)
			}
		}
	}
	var system []byte
	for _, el := range e.System {
		system = append(system, body[el.Offset:el.Offset+el.Length]...)
	}
	for _, text := range c.system {
		inner := provider.AppendText(nil, text)
		if inner = inner[1 : len(inner)-1]; !bytes.Contains(system, inner) {
			t.Fatalf("the system %s does not say %q", system, text)
		}
	}
	var got []string
	var messages []provider.Message
	for _, el := range e.Messages {
		raw := body[el.Offset : el.Offset+el.Length]
		m := w.Protocol.Message(provider.Request{Type: w.Type}, raw, el.At)
		got, messages = append(got, told(m, raw, c)...), append(messages, m)
	}
	if contract := w.Protocol.Contract(provider.Request{Type: w.Type}); contract.Results == unit.Directly && !answered(messages, contract.Together) {
		t.Fatalf("the results do not stand directly behind their calls in\n%s", body)
	}
	if diff := cmp.Diff(c.says(w), got); diff != "" {
		t.Fatalf("%s\nof\n%s\nsays (-want +got):\n%s", body, c.view, diff)
	}
}

// told lists what a message says.
func told(m provider.Message, raw []byte, c conversation) (list []string) {
	if m.Role == "system" || m.Role == "developer" {
		for _, text := range c.updates {
			if bytes.Contains(raw, provider.AppendText(nil, text)) {
				list = append(list, "system says "+text)
			}
		}
		return list
	}
	if m.Unknown || m.Fixed != "" && m.Fixed != provider.Reasoned {
		list = append(list, "it is not understood")
	}
	if m.Fixed == provider.Reasoned {
		list = append(list, "it thinks")
	}
	for _, id := range m.Results {
		list = append(list, "result of "+id)
		for _, text := range m.Texts {
			if text.Said == provider.SaidTool && text.Call == id {
				list = append(list, "tool says "+text.Text)
			}
		}
	}
	for _, said := range []string{provider.SaidUser, provider.SaidAssistant} {
		for _, text := range m.Texts {
			if text.Said == said {
				list = append(list, said+" says "+text.Text)
			}
		}
	}
	for _, call := range m.Calls {
		list = append(list, fmt.Sprintf("calls %s as %s with %s", call.Name, call.ID, call.Args))
	}
	return list
}

// answered reports whether each message with calls is followed by their results, in one message where they must come together.
func answered(messages []provider.Message, together bool) bool {
	open := map[string]bool{}
	for _, m := range messages {
		if len(open) > 0 && len(m.Results) == 0 {
			return false
		}
		for _, id := range m.Results {
			if !open[id] {
				return false
			}
			delete(open, id)
		}
		if together && len(open) > 0 {
			return false
		}
		for _, call := range m.Calls {
			open[call.ID] = true
		}
	}
	return len(open) == 0
}

// prefixLaw: a view that goes on behind an answer has a body whose bytes, and elements, begin with those of the view as it was.
func prefixLaw(t failer, w Wire, c conversation) {
	whole := w.lower(t, c.view, c.params)
	all := w.read(t, whole)
	for _, n := range c.cuts {
		short := c.view
		short.Segments = short.Segments[:n:n]
		body := w.lower(t, short, c.params)
		if begin := bytes.TrimSuffix(body, []byte("]}")); len(begin) == len(body) || !bytes.HasPrefix(whole, begin) {
			t.Fatalf("behind %d segments the body\n%s\nis no beginning of\n%s", n, body, whole)
		}
		e := w.read(t, body)
		for i, lists := range [][2][]provider.Element{{e.Tools, all.Tools}, {e.System, all.System}, {e.Messages, all.Messages}} {
			exact := i < 2
			if len(lists[0]) > len(lists[1]) || exact && len(lists[0]) != len(lists[1]) {
				t.Fatalf("behind %d segments there are %d elements of list %d, and %d later", n, len(lists[0]), i, len(lists[1]))
			}
			for j, el := range lists[0] {
				if el.Hash != lists[1][j].Hash {
					t.Fatalf("element %s of\n%s\nis another one in\n%s", el.At, body, whole)
				}
			}
		}
	}
}

// blankLaw: a text that is blank changes nothing, and neither does a unit of nothing else.
func blankLaw(t failer, w Wire, c conversation) {
	v := clone(c.view)
	for i := range v.Segments {
		u := &v.Segments[i].Unit
		u.Parts = append(u.Parts, unit.Part{Kind: unit.Text, Text: " \n\u00a0\t"})
	}
	at := c.cuts[0]
	blank := view.Segment{Layer: v.Segments[at].Layer, Unit: unit.Unit{Ref: "blank", Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Text}}}}
	v.Segments = slices.Insert(v.Segments, at, blank)
	if with, without := w.lower(t, v, c.params), w.lower(t, c.view, c.params); !bytes.Equal(with, without) {
		t.Fatalf("blank texts make of\n%s\nthis:\n%s", without, with)
	}
}

// marksLaw: a wire without cache markers writes none, and one with them writes each.
func marksLaw(t failer, w Wire, c conversation) {
	v := clone(c.view)
	at := c.cuts[len(c.cuts)-1] - 1
	v.Segments[at].Mark = view.FiveMinute
	marked, bare := w.lower(t, v, c.params), w.lower(t, c.view, c.params)
	if bytes.Equal(marked, bare) == w.Marks {
		t.Fatalf("with a marker behind segment %d:\n%s\nwithout:\n%s", at, marked, bare)
	}
	if a, b := w.read(t, marked), w.read(t, bare); !slices.EqualFunc(a.Messages, b.Messages, func(a, b provider.Element) bool { return a.Hash == b.Hash }) {
		t.Fatalf("a marker changes the elements of\n%s", marked)
	}
}

// failedLaw: a result that failed is marked where the wire has a mark, and always says something.
func failedLaw(t failer, w Wire, c conversation) {
	for i := range c.view.Segments {
		for j, p := range c.view.Segments[i].Unit.Parts {
			if p.Kind != unit.Result || provider.Blank(p.Text) {
				continue
			}
			v := clone(c.view)
			v.Segments[i].Unit.Parts[j].Failed = !p.Failed
			if a, b := w.lower(t, c.view, c.params), w.lower(t, v, c.params); bytes.Equal(a, b) == w.Failed {
				t.Fatalf("whether %q failed, says\n%s or\n%s", p.ID, a, b)
			}
			v.Segments[i].Unit.Parts[j].Failed, v.Segments[i].Unit.Parts[j].Text = true, ""
			if body := w.lower(t, v, c.params); !bytes.Contains(body, []byte(provider.FailedSilently)) {
				t.Fatalf("a result that failed says nothing in\n%s", body)
			}
			return
		}
	}
}
