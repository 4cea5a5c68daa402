package providertest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// refused wants a view to be refused for its contract.
func refused(t failer, w Wire, c conversation, v view.View, why string) {
	t.Helper()
	for _, wrap := range []bool{false, true} {
		c.params.Wrap = wrap
		body, err := w.Protocol.Lower(v, c.params)
		if _, ok := errors.AsType[*unit.ContractError](err); !ok || body != nil {
			t.Fatalf("%s, and it lowers to %s, %v:\n%s", why, body, err, v)
		}
	}
}

// betweenLaw: no system message stands between a call and its result, in whatever form.
func betweenLaw(t failer, w Wire, c conversation) {
	for i, s := range c.view.Segments {
		if len(s.Unit.Results()) == 0 {
			continue
		}
		v := clone(c.view)
		update := view.Segment{Layer: view.Working, Unit: unit.Unit{Ref: "between", Role: unit.System, Parts: []unit.Part{{Kind: unit.Text, Text: "x"}}}}
		v.Segments = slices.Insert(v.Segments, i, update)
		refused(t, w, c, v, "a system unit stands between a call and its result")
	}
}

// halfLaw: half an exchange is refused.
func halfLaw(t failer, w Wire, c conversation) {
	for i, s := range c.view.Segments {
		if len(s.Unit.Results())+len(s.Unit.Calls()) > 0 {
			v := clone(c.view)
			v.Segments = slices.Delete(v.Segments, i, i+1)
			refused(t, w, c, v, "half an exchange is missing")
		}
	}
}

// thoughts are parts that only one wire understands, of each.
var thoughts = []string{
	`{"type":"thinking","thinking":"t","signature":"s"}`, `{"type":"redacted_thinking","data":"d"}`,
	`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`, `{"text":"t","thought":true,"thoughtSignature":"s"}`,
	`{"text":"","thoughtSignature":"s"}`,
}

// foreignLaw: what another wire spelled is refused, and the same unit made public is sent without it.
func foreignLaw(t failer, w Wire, c conversation) {
	for i, s := range c.view.Segments {
		if s.Unit.Role != unit.Assistant {
			continue
		}
		for _, raw := range thoughts {
			if alike(raw, w.Thought) {
				continue
			}
			v := clone(c.view)
			u := &v.Segments[i].Unit
			u.Parts = append([]unit.Part{{Kind: unit.Opaque, Raw: []byte(raw)}}, u.Parts...)
			if body, err := w.Protocol.Lower(v, c.params); !errors.Is(err, provider.ErrForeign) || body != nil {
				t.Fatalf("%s is sent in\n%s, %v", raw, body, err)
			}
			*u = provider.Public(*u)
			if body := w.lower(t, v, c.params); bytes.Contains(body, []byte(raw)) {
				t.Fatalf("%s is sent in\n%s", raw, body)
			}
		}
		for _, other := range spellings {
			if other.of == w.Type {
				continue
			}
			v := clone(c.view)
			u := &v.Segments[i].Unit
			u.Parts = append([]unit.Part{other.part}, u.Parts...)
			if other.part.Kind == unit.Call {
				result := unit.Unit{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: other.part.ID, Text: "x"}}}
				v.Segments = append(v.Segments[:i+1:i+1], view.Segment{Layer: view.Working, Unit: result})
				v.Segments[i].Unit.Parts = []unit.Part{other.part}
			}
			body, err := w.Protocol.Lower(v, c.params)
			if !errors.Is(err, provider.ErrForeign) && !errors.Is(err, provider.ErrSpelled) {
				t.Fatalf("%s is sent in\n%s, %v", other.part.Raw, body, err)
			}
		}
		return
	}
}

// spellings are texts and calls that say more on one wire, with the type of that wire's requests.
var spellings = []struct {
	of   string
	part unit.Part
}{
	{provider.TypeMessages, unit.Part{Kind: unit.Call, ID: "z", Name: "f", Raw: []byte(`{"type":"tool_use","id":"z","name":"f","input":{},"caller":{}}`)}},
	{provider.TypeResponses, unit.Part{Kind: unit.Text, Text: "z", Raw: []byte(`{"type":"message","role":"assistant","phase":"p","content":[{"type":"output_text","text":"z"}]}`)}},
	{provider.TypeChat, unit.Part{Kind: unit.Call, ID: "z", Name: "f", Raw: []byte(`{"id":"z","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{}}`)}},
	{provider.TypeGenerate, unit.Part{Kind: unit.Text, Text: "z", Raw: []byte(`{"text":"z","thoughtSignature":"s"}`)}},
	{provider.TypeGenerate, unit.Part{Kind: unit.Call, ID: "z", Name: "f", Raw: []byte(`{"functionCall":{"id":"z","name":"f","args":{}},"thoughtSignature":"s"}`)}},
}

// alike reports whether two opaque parts are of one wire: Gemini's have no type, and Anthropic's speak of thinking.
func alike(a, b string) bool {
	kind := func(raw string) string {
		text := provider.JSON(raw).Find("type")[0].Text()
		if strings.HasSuffix(text, "thinking") {
			return "thinking"
		}
		return text
	}
	return b != "" && kind(a) == kind(b)
}

// otherTypes: a type that the protocol makes no requests of is refused.
func otherTypes(t *testing.T, w Wire) {
	c := conversation{view: view.View{Segments: []view.Segment{{Layer: view.Working, Unit: unit.Unit{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "a"}}}}}}}
	for _, kind := range types {
		body, err := w.Protocol.Lower(c.view, provider.LowerParams{Type: kind, Model: "m"})
		if err != nil {
			if body != nil || kind == "" || kind == w.Type {
				t.Errorf("%q: %s, %v", kind, body, err)
			}
			continue
		}
		p := provider.LowerParams{Type: kind, Model: "m"}
		if got := w.Protocol.Request("POST", w.Protocol.Endpoint(p), body).Type; got != kind && kind != "" {
			t.Errorf("a request of type %q is one of type %q", kind, got)
		}
	}
}
