package selection

import "math"

// rates are what a token costs that is read from the cache, and that is written to it, in USD per million; where no price is
// known, in parts of the price of input, by Anthropic's rules.
type rates struct{ read, write float64 }

func (in *Input) rates() rates {
	p := in.Model.Price
	if p.Input == 0 {
		return rates{0.1, 1.25}
	}
	r := rates{p.Read, p.Write}
	if in.Hour && p.WriteHour > 0 {
		r.write = p.WriteHour
	}
	return r
}

// price is what a request costs of which so many tokens are read and written, in USD.
func (in *Input) price(read, write int) float64 {
	if in.Model.Price.Input == 0 {
		return 0
	}
	r := in.rates()
	return (float64(read)*r.read + float64(write)*r.write) * 1e-6
}

// growth is by how many tokens the conversation grows with each answer.
func (t *talk) growth() float64 {
	n, sum := 1, 0
	for i, age := range t.turns() {
		n = max(n, age+1)
		sum += t.in.Messages[i].Tokens
	}
	return max(50, float64(sum)/float64(n))
}

// pays says whether removing so many tokens is worth that what stands behind them is written anew. A cycle of n requests
// in which the conversation grows by g each costs (w-r)·S for the boundary and r·g·n²/2 for what is read while it grows; the
// sum is least, per request, when both are the same. It waits somewhat longer, because what is left out may be needed again.
func (r rates) pays(removed, written int, growth float64) bool {
	if r.read <= 0 {
		return false
	}
	n := float64(removed)
	return n*n >= patience*2*(r.write-r.read)/r.read*float64(written)*growth
}

// patience is by how much more than the least sum a boundary has to be due. Tuned on recorded sessions: sooner costs quotes and
// recalls, later costs reads.
const patience = 1.3

// horizon is for how many requests a boundary is made that writes so much.
func (r rates) horizon(written int, growth float64) float64 {
	if r.read <= 0 {
		return 1
	}
	return min(80, max(4, math.Sqrt(2*(r.write-r.read)/r.read*float64(written)/growth)))
}
