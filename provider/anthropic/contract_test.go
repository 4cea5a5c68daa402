package anthropic

import (
	"errors"
	"fmt"
	"testing"

	"ambit/provider"
	"ambit/unit"
)

// covers: V-03
func TestContract(t *testing.T) {
	c := (Protocol{}).Contract(provider.Request{Type: provider.TypeMessages})
	u := func(ref string, role unit.Role, parts ...unit.Part) unit.Unit {
		return unit.Unit{Ref: ref, Role: role, Parts: parts}
	}
	ask, answer := u("ask", unit.User, text("a")), u("answer", unit.Assistant, text("b"))
	tests := map[string]struct {
		units []unit.Unit
		rule  unit.Rule // empty where it is allowed
	}{
		"typed while a tool ran": {[]unit.Unit{ask, u("call", unit.Assistant, call("1", "f", "{}")), ask, u("result", unit.Tool, result("1", "x"))}, ""},
		"user twice":             {[]unit.Unit{ask, ask, answer, answer}, ""},
		"result a turn late":     {[]unit.Unit{ask, u("call", unit.Assistant, call("1", "f", "{}")), ask, answer, u("result", unit.Tool, result("1", "x"))}, unit.FarResult},
		"assistant first":        {[]unit.Unit{answer, ask}, unit.Beginning},
		"system behind a user":   {[]unit.Unit{ask, u("system", unit.System, text("s")), answer}, ""},
		"system behind answer":   {[]unit.Unit{ask, answer, u("system", unit.System, text("s"))}, unit.SystemAt},
	}
	for name, test := range tests {
		err := unit.Check(test.units, c)
		var e *unit.ContractError
		errors.As(err, &e)
		if (e == nil) != (test.rule == "") || e != nil && e.Rule != test.rule {
			t.Errorf("%s: %v, want %q", name, err, test.rule)
		}
	}

	// What may be left out singly, and what only as a whole: here, and where nothing may.
	units := []unit.Unit{ask, u("thinking", unit.Assistant, opaque(`{"type":"thinking"}`)), u("call", unit.Assistant, call("1", "f", "{}")), u("result", unit.Tool, result("1", "x")), answer}
	for name, kind := range map[string]string{"[[0] [1 2 3] [4]]": provider.TypeMessages, "[[0 1 2 3 4]]": provider.TypeBatches} {
		if got := fmt.Sprint(unit.Groups(units, (Protocol{}).Contract(provider.Request{Type: kind}))); got != name {
			t.Errorf("%s: groups %s, want %s", kind, got, name)
		}
	}
}
