package gemini

import (
	"testing"

	"ambit/provider"
	"ambit/unit"
)

// covers: V-03 part
func TestContract(t *testing.T) {
	c := (Protocol{}).Contract(provider.Request{Type: provider.TypeGenerate})
	u := func(ref string, role unit.Role, kind unit.PartKind, id string) unit.Unit {
		return unit.Unit{Ref: ref, Role: role, Parts: []unit.Part{{Kind: kind, ID: id}}}
	}
	ask := u("ask", unit.User, unit.Text, "")
	one, two := u("one", unit.Assistant, unit.Call, "1"), u("two", unit.Assistant, unit.Call, "2")
	got, other := u("got", unit.Tool, unit.Result, "1"), u("other", unit.Tool, unit.Result, "2")
	tests := map[string]struct {
		units []unit.Unit
		want  string
	}{
		"one content":    {[]unit.Unit{ask, one, two, other, got}, ""},
		"text between":   {[]unit.Unit{ask, one, ask, got}, `a result stands too far from its call (call "1"): "got", "one"`},
		"text among":     {[]unit.Unit{ask, one, two, got, ask, other}, `other units stand between the results of one answer (call "1"): "got", "other"`},
		"system later":   {[]unit.Unit{ask, u("system", unit.System, unit.Text, "")}, `a system unit may not stand here: "system", "ask"`},
		"model begins":   {[]unit.Unit{one, got}, `a conversation may not begin with this role: "one"`},
		"system outside": {[]unit.Unit{u("system", unit.System, unit.Text, ""), ask}, ""},
	}
	for name, test := range tests {
		if err := unit.Check(test.units, c); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
