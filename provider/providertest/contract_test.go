package providertest

import (
	"strings"
	"testing"

	"ambit/provider"
	"ambit/unit"
)

// demands is a protocol whose contracts are what the test wants.
type demands struct {
	broken
	contract func(req provider.Request) unit.Contract
}

func (d demands) Contract(req provider.Request) unit.Contract { return d.contract(req) }

func TestBrokenContracts(t *testing.T) {
	known := func(c unit.Contract) func(provider.Request) unit.Contract {
		return func(req provider.Request) unit.Contract {
			if req.Type == provider.TypeChat {
				return c
			}
			return provider.Whole()
		}
	}
	calls := 0
	tests := map[string]struct {
		contract func(provider.Request) unit.Contract
		want     string
	}{
		"sound": {known(unit.Contract{Results: unit.Directly}), ""},
		"changing": {func(provider.Request) unit.Contract {
			calls++
			return unit.Contract{Complete: true, Bound: calls%2 == 0}
		}, "then"},
		"open":      {func(provider.Request) unit.Contract { return unit.Contract{} }, "no type that is known"},
		"beginning": {known(unit.Contract{Begin: unit.Assistant}), "refuses"},
	}
	for name, test := range tests {
		got := complaint(func() { contracts(stopped{}, demands{contract: test.contract}) })
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: complaint %q, want %q", name, got, test.want)
		}
	}
}
