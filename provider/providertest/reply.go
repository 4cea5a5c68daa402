package providertest

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// reply calls p.Reply twice, the second time after the first body was spoiled. What comes back must be fit to be sent.
func reply(t failer, p provider.Protocol, req provider.Request, contentType, text string) (got provider.Reply, err error) {
	t.Helper()
	lent(t, text, func(body []byte) { got, err = p.Reply(req, contentType, body) })
	lent(t, text, func(body []byte) {
		again, errAgain := p.Reply(req, contentType, body)
		if !reflect.DeepEqual(again, got) || !reflect.DeepEqual(err, errAgain) {
			t.Fatalf("reply %+v, %v, then %+v, %v, to the same %q", got, err, again, errAgain, text)
		}
	})
	if err != nil {
		if e, ok := errors.AsType[*provider.ReplyError](err); !ok || !slices.Contains(replyFaults, e.Fault) || !reflect.DeepEqual(got, provider.Reply{}) {
			t.Fatalf("error %#v with reply %+v, want a *ReplyError and none", err, got)
		}
		return got, err
	}
	if !slices.Contains(replyStops, got.Stop) || got.Unit.Role != unit.Assistant || got.Unit.Raw != nil || got.Unit.Ref != "" {
		t.Fatalf("reply %+v to %q", got, text)
	}
	calls := got.Unit.Calls()
	if (got.Stop == provider.StopCalls) != (len(calls) > 0) && got.Stop != provider.StopLength && got.Stop != provider.StopRefusal {
		t.Fatalf("reply %+v to %q has %d calls", got, text, len(calls))
	}
	if len(got.Unit.Parts) == 0 && got.Stop != provider.StopRefusal {
		t.Fatalf("an empty reply %+v to %q", got, text)
	}
	ids := map[string]bool{}
	for _, part := range got.Unit.Parts {
		switch part.Kind {
		case unit.Call:
			minimal, err := provider.AppendMinimal(nil, part.Args)
			if err != nil || !bytes.Equal(minimal, part.Args) || minimal[0] != '{' || part.ID == "" || part.Name == "" || ids[part.ID] {
				t.Fatalf("call %+v in the reply to %q", part, text)
			}
			ids[part.ID] = true
		case unit.Text:
			if part.Text == "" {
				t.Fatalf("an empty text in the reply to %q", text)
			}
		case unit.Opaque:
			if minimal, err := provider.AppendMinimal(nil, part.Raw); err != nil || !bytes.Equal(minimal, part.Raw) {
				t.Fatalf("opaque part %s in the reply to %q", part.Raw, text)
			}
		default:
			t.Fatalf("a part of kind %q in the reply to %q", part.Kind, text)
		}
	}
	sentBack(t, p, req, got)
	return got, nil
}

var (
	replyFaults = []provider.ReplyFault{provider.ReplyBroke, provider.ReplyReported, provider.ReplyEmpty, provider.ReplyArgs, provider.ReplyStrange}
	replyStops  = []provider.Stop{provider.StopEnd, provider.StopCalls, provider.StopLength, provider.StopRefusal, provider.StopOther}
)

// sentBack: the next request holds the answer, as its elements say, and what only the wire understands as it came.
func sentBack(t failer, p provider.Protocol, req provider.Request, r provider.Reply) {
	t.Helper()
	say := func(text string) unit.Unit {
		return unit.Unit{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: text}}}
	}
	units := []unit.Unit{say("asks"), r.Unit}
	for _, id := range r.Unit.Calls() {
		units = append(units, unit.Unit{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: id, Text: "gives"}}})
	}
	units = append(units, say("asks on"))
	var v view.View
	for _, u := range units {
		v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u})
	}
	body, err := p.Lower(v, provider.LowerParams{Type: req.Type, Model: "m"})
	if err != nil {
		t.Fatalf("the reply %+v cannot be sent: %v", r, err)
	}
	e, err := p.Elements(req, body)
	if err != nil {
		t.Fatalf("the reply %+v is sent in %s: %v", r, body, err)
	}
	var text, want strings.Builder
	var calls, wantCalls []string
	for _, el := range e.Messages {
		m := p.Message(req, body[el.Offset:el.Offset+el.Length], el.At)
		for _, said := range m.Texts {
			if said.Said == provider.SaidAssistant {
				text.WriteString(said.Text)
			}
		}
		for _, c := range m.Calls {
			if len(c.Args) == 0 {
				c.Args = []byte("{}")
			}
			calls = append(calls, c.Name+string(c.Args))
		}
	}
	plain := true
	for _, part := range r.Unit.Parts {
		switch {
		case part.Kind == unit.Call:
			wantCalls = append(wantCalls, part.Name+string(part.Args))
		case part.Kind == unit.Text && !provider.Blank(part.Text):
			want.WriteString(shown(part.Text))
		case part.Kind == unit.Opaque:
			plain = plain && !provider.JSON(part.Raw).HoldsText()
			if !bytes.Contains(body, part.Raw) {
				t.Fatalf("%s is not sent in %s", part.Raw, body)
			}
		}
	}
	if plain && (text.String() != want.String() || !slices.Equal(calls, wantCalls)) {
		t.Fatalf("the reply %+v is sent in %s, which says %q and calls %q; want %q and %q", r, body, text.String(), calls, want.String(), wantCalls)
	}
}

// replied: a unit is made of an answer that came whole and is understood, and says what Response says. Of no beginning of it
// is one made that Response does not call the whole.
func replied(t *testing.T, p provider.Protocol, x Exchange) {
	whole, err := reply(t, p, x.Request, x.ContentType, x.Answer)
	answer := x.Response.Answer
	var text string
	var calls []provider.Call
	for _, part := range whole.Unit.Parts {
		switch part.Kind {
		case unit.Text:
			text += shown(part.Text)
		case unit.Call:
			calls = append(calls, provider.Call{ID: part.ID, Name: part.Name, Args: part.Args})
		}
	}
	if err == nil && !answer.Whole {
		t.Errorf("reply %+v to an answer that is not whole", whole)
	}
	if err == nil && !answer.Unknown && len(answer.Results) == 0 {
		if text != answer.Text {
			t.Errorf("reply says %q, the response %q", text, answer.Text)
		}
		if diff := cmp.Diff(minimalCalls(answer.Calls), calls); diff != "" && len(calls)+len(answer.Calls) > 0 && named(answer.Calls) {
			t.Errorf("calls of the response (-) and of the reply (+):\n%s", diff)
		}
	}
	for cut := range len(x.Answer) {
		part, err := reply(t, p, x.Request, x.ContentType, x.Answer[:cut])
		if err == nil && !p.Response(x.Request, x.ContentType, []byte(x.Answer[:cut])).Answer.Whole {
			t.Fatalf("cut at %d: reply %+v", cut, part)
		}
	}
}

// minimalCalls are calls with their arguments in canonical form.
func minimalCalls(calls []provider.Call) (list []provider.Call) {
	for _, c := range calls {
		if minimal, err := provider.AppendMinimal(nil, c.Args); err == nil {
			c.Args = minimal
		}
		list = append(list, c)
	}
	return list
}

// named reports whether the provider gave all calls an id.
func named(calls []provider.Call) bool {
	return !slices.ContainsFunc(calls, func(c provider.Call) bool { return c.ID == "" })
}
