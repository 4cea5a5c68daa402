package providertest

import (
	"slices"

	"ambit/provider"
	"ambit/unit"
)

// contracts: for every type of request the contract is always the same, and it allows what every agent does. A
// type that nobody knows may leave nothing out, and neither may a request that follows an answer which the provider holds.
func contracts(t failer, p provider.Protocol) {
	t.Helper()
	for _, kind := range types {
		req := provider.Request{Type: kind}
		c := p.Contract(req)
		if again := p.Contract(req); again != c {
			t.Fatalf("%q: contract %+v, then %+v", kind, c, again)
		}
		if (kind == "" || kind == "other") && !c.Complete {
			t.Fatalf("%q is no type that is known, and something may be left out", kind)
		}
		if !provider.ContractOf(p, req, provider.Elements{Previous: "a"}).Complete {
			t.Fatalf("%q: something may be left out behind an answer that the provider holds", kind)
		}
		if err := unit.Check(work, c); err != nil {
			t.Fatalf("%q: the contract %+v refuses an agent's work: %v", kind, c, err)
		}
		want := []int{0}
		if !c.Complete {
			want = append(want, 4)
		}
		got := unit.Cuts(work, c)
		if !slices.Equal(got, want) && (c.Complete || c.Begin != "" || !slices.Contains(got, 4)) {
			t.Fatalf("%q: an agent's work may be cut at %v, want %v", kind, got, want)
		}
	}
}

// work is a turn with two parallel calls, and the beginning of another.
var work = []unit.Unit{
	{Ref: "asks", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "a"}}},
	{Ref: "calls", Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Opaque, Raw: []byte("{}")}, {Kind: unit.Call, ID: "1"}, {Kind: unit.Call, ID: "2"}}},
	{Ref: "results", Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: "1"}, {Kind: unit.Result, ID: "2"}}},
	{Ref: "answers", Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Text, Text: "b"}}},
	{Ref: "asks on", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "c"}}},
}
