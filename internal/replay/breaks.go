package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ambit/internal/conversation"
	"ambit/internal/pricing"
)

// Recorded is what the requests of a file cost as they were sent.
type Recorded struct {
	Calls     int     `json:"calls"` // that a provider counted, or that were simulated where none did
	InputCost float64 `json:"input_cost_usd"`
	Compared  float64 `json:"compared_cost_usd"` // of the turns that are compared, with their answers
	Simulated bool    `json:"simulated"`         // nobody counted what was cached, so that the cost is what a cache of the provider would have made of it
	HitRate   float64 `json:"cache_hit_rate"`
	Written   int     `json:"cache_write_tokens"`
	Expected  int     `json:"simulated_write_tokens"` // what the simulated cache wrote
	Breaks    []Break `json:"breaks"`
}

// Break is a request that had to pay again for what the cache should have held.
type Break struct {
	Turn      int       `json:"turn"` // number of the request in its session
	Thread    string    `json:"thread"`
	At        time.Time `json:"time,omitzero"`
	Cause     Cause     `json:"cause"`
	Rewritten int       `json:"rewritten_tokens"`
	Cost      float64   `json:"cost_usd"`                // of these above what reading them would have cost
	Idle      int64     `json:"idle_seconds,omitempty"`  // since the request before it
	First     string    `json:"first_element,omitempty"` // that differs from the request before it
	Byte      int       `json:"first_byte,omitempty"`    // where that begins, counted over what both say in the provider's order
}

// recorded prices a file's requests as they were sent.
func (f *File) recorded(all []*sizing) Recorded { return f.broken(f.simulate(all), nil) }

// broken prices requests that were simulated, and finds what broke the cache between them.
// Compared are the numbers of the requests whose cost is summed up by itself.
func (f *File) broken(list []*sent, compared map[int]bool) Recorded {
	r := Recorded{Breaks: []Break{}}
	cached := int64(0)
	for _, x := range list {
		if u := x.t.Usage; u != nil {
			cached += u.CacheRead + u.CacheWrite
		}
	}
	r.Simulated = cached == 0
	var sum pricing.Charge
	before := make(map[*conversation.Conversation]*sent)
	for _, x := range list {
		charge, ok := x.charge, r.Simulated
		if x.t.Usage != nil && !r.Simulated {
			charge, ok = x.counted(), true
		}
		last := before[x.c]
		before[x.c] = x
		if !ok {
			continue
		}
		r.Calls++
		sum = sum.Add(charge)
		r.InputCost += x.model.Price.Of(charge)
		if compared[x.t.N] {
			r.Compared += x.model.Price.Of(charge) + x.model.Price.OfOutput(x.s.output(x.t))
		}
		r.Expected += x.charge.Written()
		if b, ok := x.broke(last, charge, r.Simulated); ok {
			r.Breaks = append(r.Breaks, b)
		}
	}
	r.Written, r.HitRate = sum.Written(), sum.HitRate()
	return r
}

// counted is how the provider charged the request.
func (x *sent) counted() pricing.Charge {
	u := x.t.Usage
	fresh := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return pricing.Charge{Fresh: int(fresh), Read: int(u.CacheRead), Write: int(u.CacheWrite - u.CacheWriteHour), WriteHour: int(u.CacheWriteHour)}
}

// broke reports whether a request lost more than a tenth of what the one before it held, by the provider's count, or where
// there is none by the simulated one; or, as a compaction is meant to, however little is left. What it lost by the provider's
// count, without a cause that bytes or times show, is unexplained.
func (x *sent) broke(last *sent, charge pricing.Charge, simulated bool) (Break, bool) {
	if last == nil {
		return Break{}, false
	}
	had := last.size
	if last.t.Usage != nil && x.t.Usage != nil && !simulated {
		had = int(last.t.Usage.Input)
	}
	lost := min(had, charge.Total()) - charge.Read
	if x.cause == Compaction {
		lost = charge.Total() - charge.Read
	}
	if x.model.Rules.Match == pricing.Never || had < x.model.Rules.Min || lost < minLost || lost < had/10 && x.cause != Compaction {
		return Break{}, false
	}
	b := Break{Turn: x.t.N, Thread: x.c.Thread, At: x.t.At, Cause: x.cause, Rewritten: lost}
	p := x.model.Price
	write := p.Write
	if charge.WriteHour > charge.Write {
		write = p.WriteHour
	}
	if charge.Written() == 0 {
		write = p.Input
	}
	b.Cost = float64(lost) * (write - p.Read) / 1e6
	if b.Cause == "" {
		if b.Cause = Unexplained; x.t.Usage == nil || simulated {
			return Break{}, false // nobody but the simulation says so
		}
	}
	if b.Cause == Idle {
		b.Idle = int64(x.at.Sub(last.at).Seconds())
	}
	if b.Cause != Idle {
		b.First, b.Byte = x.first, x.at0
	}
	return b, true
}

// Dearest are the breaks that cost most, at most so many, in the order in which they were sent.
func Dearest(list []Break, most int) []Break {
	dear := slices.Clone(list)
	slices.SortStableFunc(dear, func(a, b Break) int { return cmp.Compare(b.Cost, a.Cost) })
	dear = dear[:min(most, len(dear))]
	slices.SortStableFunc(dear, func(a, b Break) int { return cmp.Compare(a.Turn, b.Turn) })
	return dear
}

// Says is the cause in words, with how long the cache was not used where that was it.
func (b Break) Says() string {
	if b.Cause == Idle {
		return "idle " + (time.Duration(b.Idle) * time.Second).String()
	}
	return strings.ReplaceAll(string(b.Cause), "-", " ")
}
