// Package pricing knows what models cost and how providers' prompt caches decide it: one dated table of prices and cache
// rules, a simulator of those caches over recorded requests, and the bank that says when a cut may be paid for.
//
// The numbers are in table.go, dated and with their source; the code knows only ways of matching. Names, windows and
// prices that the table does not give come from a public catalogue of models, normalised. A model of which no rules are
// known is never cached here.
//
// It is pure. Everything but a Cache and a Bank may be used concurrently.
package pricing

// perMillion turns prices of a million tokens into prices of one.
const perMillion = 1e-6

// Charge is how the input tokens of one request are charged. The four add up to the request.
type Charge struct {
	Fresh     int // neither read from the cache nor written to it, in tokens; so are the others
	Read      int
	Write     int // written for the shorter life
	WriteHour int // written for the longer life, an hour with Anthropic
}

// Total is all input tokens of the request.
func (c Charge) Total() int { return c.Fresh + c.Read + c.Written() }

// Written is the tokens written to the cache, for whatever life.
func (c Charge) Written() int { return c.Write + c.WriteHour }

// HitRate is the share of the input that was read from the cache, from 0 to 1; of no input it is 0.
func (c Charge) HitRate() float64 {
	if c.Total() == 0 {
		return 0
	}
	return float64(c.Read) / float64(c.Total())
}

// Add is both charges in one.
func (c Charge) Add(d Charge) Charge {
	return Charge{c.Fresh + d.Fresh, c.Read + d.Read, c.Write + d.Write, c.WriteHour + d.WriteHour}
}

// Price is what a model's tokens cost, in USD per million. Where writing to the cache is free, a written token costs
// what any other input costs.
type Price struct {
	Input     float64 `json:"input"`
	Output    float64 `json:"output"`
	Read      float64 `json:"cache_read"`
	Write     float64 `json:"cache_write"`
	WriteHour float64 `json:"cache_write_1h"`
}

// Of is the price of a request's input in USD.
func (p Price) Of(c Charge) float64 {
	return (float64(c.Fresh)*p.Input + float64(c.Read)*p.Read + float64(c.Write)*p.Write + float64(c.WriteHour)*p.WriteHour) * perMillion
}

// OfOutput is the price of an answer of that many tokens in USD.
func (p Price) OfOutput(tokens int) float64 { return float64(tokens) * p.Output * perMillion }
