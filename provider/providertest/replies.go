package providertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Answer is an answer, and what a protocol must make of it.
type Answer struct {
	Name string
	Type string // of the request
	Body string // a stream of events, unless it begins with {
	Want string // what Shown says, or "error: " and the error's text
}

// Replies checks what a protocol makes of answers.
func Replies(t *testing.T, p provider.Protocol, answers ...Answer) {
	for _, a := range answers {
		t.Run(a.Name, func(t *testing.T) {
			contentType := "text/event-stream"
			if strings.HasPrefix(a.Body, "{") {
				contentType = "application/json"
			}
			got, err := reply(t, p, provider.Request{Type: a.Type}, contentType, a.Body)
			said := Shown(got)
			if err != nil {
				said = "error: " + err.Error()
			}
			if said != a.Want {
				t.Errorf("got  %s\nwant %s", said, a.Want)
			}
		})
	}
}

// Shown is a reply in one line: why it stopped, and its parts, each behind a bar, those with a spelling of their own with that.
func Shown(r provider.Reply) string {
	said := []string{string(r.Stop) + " (" + r.Reason + ")"}
	for _, p := range r.Unit.Parts {
		text := string(p.Kind)
		for _, more := range []string{p.ID, p.Name, string(p.Args), p.Text, string(p.Raw)} {
			if more != "" {
				text += " " + more
			}
		}
		said = append(said, text)
	}
	return strings.Join(said, " | ")
}

// Example is a view with most of what a view can hold, for the body that a family writes down.
func Example() view.View {
	text := func(s string) unit.Part { return unit.Part{Kind: unit.Text, Text: s} }
	say := func(layer view.Layer, role unit.Role, parts ...unit.Part) view.Segment {
		return view.Segment{Layer: layer, Unit: unit.Unit{Role: role, Parts: parts}}
	}
	return view.View{
		Tools: []view.Tool{
			{Name: "read", Description: "Reads <a file>.", Schema: []byte(`{"type": "object"}`), Mark: view.OneHour},
			{Name: "list"},
		},
		Segments: []view.Segment{
			say(view.Role, unit.System, text("You fix bugs.")),
			say(view.Stable, unit.System, text("Be brief."), text(" ")),
			say(view.Working, unit.System, text("It is Mon.")),
			say(view.Working, unit.User, text("Fix a.")),
			say(view.Working, unit.Assistant, text("I look."),
				unit.Part{Kind: unit.Call, ID: "c1", Name: "read", Args: []byte(`{ "path": "\u00fc" }`)}, unit.Part{Kind: unit.Call, ID: "c2", Name: "list"}),
			say(view.Working, unit.Tool, unit.Part{Kind: unit.Result, ID: "c2", Failed: true}),
			say(view.Working, unit.Tool, unit.Part{Kind: unit.Result, ID: "c1", Text: "a\xed\xa0\xbd", Failed: true}),
			say(view.Working, unit.System, text("It is <Tue>.")),
			say(view.Working, unit.Assistant, text("Done.")),
			say(view.Working, unit.System, text("It is Wed.")),
			say(view.Working, unit.User, text("Thanks."), text("Bye.")),
			say(view.Tail, unit.User, text("Half is left.")),
		},
	}
}

// Lowered checks the body that the Example is lowered to.
func Lowered(t *testing.T, w Wire, p provider.LowerParams, want ...string) {
	t.Helper()
	p.Type = w.Type
	if got, whole := string(w.lower(t, Example(), p)), strings.Join(want, ""); got != whole {
		t.Errorf("got\n%s\nwant\n%s", got, whole)
	}
}

// Headed checks the headers that a protocol wants beside the type of the content, where KEY is the credential. Without a
// credential none of them names one.
func Headed(t *testing.T, p provider.Protocol, want ...string) {
	t.Helper()
	list := func(credential string) (list []string) {
		for _, h := range p.Headers(credential) {
			list = append(list, h.Name+": "+h.Value)
		}
		return list
	}
	want = append([]string{"content-type: application/json"}, want...)
	if diff := cmp.Diff(want, list("KEY")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains(s, "KEY") })
	if diff := cmp.Diff(want, list("")); diff != "" {
		t.Errorf("without a credential (-want +got):\n%s", diff)
	}
}

// Refusal is a conversation that a wire must refuse, and the error's text.
type Refusal struct {
	Units []unit.Unit
	Want  string
}

// Refused checks what a wire refuses.
func Refused(t *testing.T, w Wire, refusals map[string]Refusal) {
	t.Helper()
	for name, r := range refusals {
		var v view.View
		for _, u := range r.Units {
			v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u})
		}
		body, err := w.Protocol.Lower(v, provider.LowerParams{Type: w.Type})
		if err == nil || err.Error() != r.Want || body != nil {
			t.Errorf("%s, %s: %s, %v; want %s", w.Type, name, body, err, r.Want)
		}
	}
}
