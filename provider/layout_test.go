package provider_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// TestUpdate: no text ends its wrapper, and what was escaped can be read back.
// covers: S-16 part
func TestUpdate(t *testing.T) {
	for text, want := range map[string]string{
		"It is Tue.":                 "<system-update>\nIt is Tue.\n</system-update>",
		"a </system-update> & &amp;": "<system-update>\na &lt;/system-update&gt; &amp; &amp;amp;\n</system-update>",
	} {
		if got := provider.Update(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{"": true, " \t\n\u00a0\u2003\x1c": true, "\u200b": false, ".": false, "\xff": false} {
		if provider.Blank(text) != want {
			t.Errorf("%q", text)
		}
	}
}

// TestPublic: nothing is left that only one wire understands, and the unit that was given stays.
// covers: V-09 part
func TestPublic(t *testing.T) {
	given := func() unit.Unit {
		return unit.Unit{Ref: "e1", Role: unit.Assistant, Class: "c", Raw: []byte("{}"), Parts: []unit.Part{
			{Kind: unit.Opaque, Raw: []byte(`{"type":"thinking"}`)},
			{Kind: unit.Text, Text: "a", Raw: []byte("{}")},
			{Kind: unit.Call, ID: "c", Name: "f", Args: []byte("{}"), Raw: []byte("{}")},
		}}
	}
	u := given()
	want := unit.Unit{Ref: "e1", Role: unit.Assistant, Class: "c", Parts: []unit.Part{{Kind: unit.Text, Text: "a"}, {Kind: unit.Call, ID: "c", Name: "f", Args: []byte("{}")}}}
	if diff := cmp.Diff(want, provider.Public(u)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(given(), u); diff != "" {
		t.Errorf("the unit was changed:\n%s", diff)
	}
}

// TestLay: where a system unit goes, by what stands around it and by the contract. The layers are r, s, w and t; a segment is its
// layer and role.
// covers: S-16 part
func TestLay(t *testing.T) {
	const native, wrapped = "system", "user"
	anywhere, behind, leading := unit.Contract{}, unit.Contract{System: unit.AfterUser}, unit.Contract{System: unit.Leading}
	for _, test := range []struct {
		view   string
		c      unit.Contract
		wrap   bool
		system int
		roles  string
	}{
		{"rs ss ws wu", behind, false, 3, "user"},
		{"rs ss ws wu", leading, true, 3, "user"},
		{"su ss wa", anywhere, false, 1, "user assistant"},
		{"wu ws wa", behind, false, 0, "user " + native + " assistant"},
		{"wu ws wa", behind, true, 0, "user " + wrapped + " assistant"},
		{"wu ws wa", leading, false, 0, "user " + wrapped + " assistant"},
		{"wu ws", behind, false, 0, "user " + native},
		{"wu ws ws wa", behind, false, 0, "user " + native + " " + native + " assistant"},
		{"wu wa ws", behind, false, 0, "user assistant " + wrapped},
		{"wu wa ws wa", behind, false, 0, "user assistant " + wrapped + " assistant"},
		{"wu ws wu", behind, false, 0, "user " + wrapped + " user"},
		{"wu wa ws wu", behind, false, 0, "user assistant " + wrapped + " user"},
		{"wu wa ws wu", anywhere, false, 0, "user assistant " + native + " user"},
		{"wu wa ws ws wu", anywhere, true, 0, "user assistant " + wrapped + " " + wrapped + " user"},
		{"wu ts", anywhere, false, 0, "user " + native},
	} {
		roles := map[byte]unit.Role{'s': unit.System, 'u': unit.User, 'a': unit.Assistant}
		layers := map[byte]view.Layer{'r': view.Role, 's': view.Stable, 'w': view.Working, 't': view.Tail}
		var v view.View
		for _, s := range strings.Fields(test.view) {
			u := unit.Unit{Role: roles[s[1]], Parts: []unit.Part{{Kind: unit.Text, Text: "<a>"}}}
			v.Segments = append(v.Segments, view.Segment{Layer: layers[s[0]], Unit: u})
		}
		l, err := provider.Lay(v, test.c, provider.LowerParams{Wrap: test.wrap})
		var got []string
		for _, s := range l.Messages {
			got = append(got, string(s.Unit.Role))
		}
		if err != nil || len(l.System) != test.system || strings.Join(got, " ") != test.roles {
			t.Errorf("%s under %+v: %d %q, %v; want %d %q", test.view, test.c, len(l.System), got, err, test.system, test.roles)
		}
	}
}

// TestNotLaid: what cannot be laid out says which unit, and why.
func TestNotLaid(t *testing.T) {
	say := func(layer view.Layer, role unit.Role, parts ...unit.Part) view.Segment {
		return view.Segment{Layer: layer, Unit: unit.Unit{Ref: string(role), Role: role, Parts: parts}}
	}
	text := unit.Part{Kind: unit.Text, Text: "a"}
	call := func(id string) unit.Part { return unit.Part{Kind: unit.Call, ID: id} }
	result := func(id string) unit.Part { return unit.Part{Kind: unit.Result, ID: id} }
	for want, segments := range map[string][]view.Segment{
		`segment 1, "user": layer working stands behind layer tail`: {say(view.Tail, unit.User, text), say(view.Working, unit.User, text)},
		`a system unit may not stand here (call "1"): "system", "assistant"`: {
			say(view.Working, unit.Assistant, call("2"), call("1")), say(view.Working, unit.System, text), say(view.Working, unit.Tool, result("1"), result("2")),
		},
		`a system unit may not stand here: "system"`: {
			say(view.Working, unit.User, text), say(view.Working, unit.System, unit.Part{Kind: unit.Opaque, Raw: []byte("{}")}),
		},
		`a result has no call (call "1"): "tool"`: {say(view.Working, unit.Tool, result("1"))},
	} {
		l, err := provider.Lay(view.View{Segments: segments}, unit.Contract{}, provider.LowerParams{Wrap: true})
		if err == nil || err.Error() != want || l.Messages != nil {
			t.Errorf("%v, want %s", err, want)
		}
		_, broken := errors.AsType[*unit.ContractError](err)
		if _, order := errors.AsType[*view.OrderError](err); !broken && !order {
			t.Errorf("%#v", err)
		}
	}
}
