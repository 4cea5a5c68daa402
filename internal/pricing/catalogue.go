package pricing

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// catalogued is the source of what comes from the catalogue, charm.land/catwalk at the version that go.mod names.
const catalogued = "catwalk"

// listed is what the catalogue says of a model: of the provider whose model it is, where it lists that, else of one
// that sells it.
type listed struct {
	provider       string
	price          Price
	window, output int
	longest        int // of all providers' windows
}

// vendors are the catalogue's providers whose word on a model counts before the others', the best first: those who make
// models, then those who sell them at the makers' prices.
var vendors = []string{
	"anthropic", "openai", "gemini", "deepseek", "xai", "moonshot", "zai", "minimax",
	"vertexai", "bedrock", "azure", "openrouter", "vercel", "opencode-zen",
}

// catalogue is the whole of it by our names for models. Models without a price, which are part of a subscription, are
// left out.
var catalogue = sync.OnceValue(func() map[string]listed {
	providers := embedded.GetAll()
	rank := func(p catwalk.Provider) int {
		if i := slices.Index(vendors, string(p.ID)); i >= 0 {
			return i
		}
		return len(vendors)
	}
	slices.SortStableFunc(providers, func(a, b catwalk.Provider) int { return cmp.Compare(rank(a), rank(b)) })
	all := make(map[string]listed)
	for _, p := range providers {
		for _, m := range p.Models {
			if m.CostPer1MIn <= 0 || m.CostPer1MOut <= 0 {
				continue
			}
			name := nameOf(m.ID).name
			l, ok := all[name]
			if !ok {
				l = listed{
					provider: string(p.ID), price: priceOf(m),
					window: int(m.ContextWindow), output: int(m.DefaultMaxTokens),
				}
			}
			l.longest = max(l.longest, int(m.ContextWindow))
			all[name] = l
		}
	}
	return all
})

// priceOf reads a model's prices. Which of the two prices of cached tokens is which differs between the catalogue's
// providers, and some fill in the price of output: what is below the price of input is that of reading, what is up to
// twice as much that of writing. A price that is not there is that of input.
func priceOf(m catwalk.Model) Price {
	p := Price{Input: cents(m.CostPer1MIn), Output: cents(m.CostPer1MOut)}
	p.Read, p.Write = p.Input, p.Input
	for _, v := range []float64{cents(m.CostPer1MInCached), cents(m.CostPer1MOutCached)} {
		switch {
		case v <= 0:
		case v < p.Input:
			p.Read = min(p.Read, v)
		case v <= 2*p.Input:
			p.Write = max(p.Write, v)
		}
	}
	p.WriteHour = p.Write
	return p
}

// cents takes the noise of a multiplication from a price.
func cents(v float64) float64 { return math.Round(v*1e6) / 1e6 }
