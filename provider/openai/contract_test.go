package openai

import (
	"testing"

	"ambit/provider"
	"ambit/unit"
)

// covers: V-03 part
func TestContract(t *testing.T) {
	part := func(kind unit.PartKind) []unit.Part { return []unit.Part{{Kind: kind, ID: "1"}} }
	units := []unit.Unit{
		{Ref: "call", Role: unit.Assistant, Parts: part(unit.Call)},
		{Ref: "ask", Role: unit.User, Parts: part(unit.Text)},
		{Ref: "result", Role: unit.Tool, Parts: part(unit.Result)},
	}
	tests := map[string]bool{provider.TypeChat: false, provider.TypeResponses: true, provider.TypeCompact: true} // may a result stand later?
	for kind, want := range tests {
		c := (Protocol{}).Contract(provider.Request{Type: kind})
		if err := unit.Check(units, c); (err == nil) != want || c.Complete {
			t.Errorf("%s: %v, contract %+v", kind, err, c)
		}
	}
}

// TestHeldContext: what follows an answer that the provider holds is kept whole.
// covers: V-03 part
func TestHeldContext(t *testing.T) {
	for body, held := range map[string]bool{`{"previous_response_id":"resp_1","input":"a"}`: true, `{"input":"a"}`: false} {
		req := (Protocol{}).Request("POST", "/v1/responses", []byte(body))
		e, err := (Protocol{}).Elements(req, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		c := provider.ContractOf(Protocol{}, req, e)
		units := []unit.Unit{{Ref: "a", Role: unit.User}, {Ref: "b", Role: unit.Assistant}, {Ref: "c", Role: unit.User}}
		s, err := unit.Close(units, []bool{false, false, true}, c)
		if err != nil || s.In[0] != held || s.In[1] != held || !s.In[2] {
			t.Errorf("%s: closed to %+v, %v", body, s, err)
		}
	}
}
