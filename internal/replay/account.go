package replay

import (
	"cmp"
	"slices"
	"time"

	"ambit/entry"
	"ambit/internal/pricing"
)

// Account is where the money of recorded sessions went, by the providers' own counts, once for each of their messages.
type Account struct {
	Files    int       `json:"files"`
	Calls    int       `json:"calls"`
	Input    int       `json:"input_tokens"` // everything sent, read and written parts included
	Read     int       `json:"cache_read_tokens"`
	Write    int       `json:"cache_write_tokens"`
	Output   int       `json:"output_tokens"`
	Cost     float64   `json:"cost_usd"`
	ByKind   []Kind    `json:"by_kind"`
	Causes   []Caused  `json:"causes"`
	Events   []Event   `json:"events"` // the dearest first
	Uncount  int       `json:"uncounted_calls"`
	Unpriced []string  `json:"models_without_prices"`
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`

	Missing  int `json:"events_left_off"`        // cheaper events that are not listed
	Repeated int `json:"repeated_calls"`         // requests that another file told already, which are in no sum
	Streamed int `json:"estimated_output_calls"` // requests whose output the client noted while it streamed, so that it is estimated from what was said

	seen map[call]string // the file that told each request
}

// call is what a request is known by that stands in several files: nobody sends two with all of this alike.
type call struct {
	at    time.Time
	model string
	usage entry.Usage
}

// Kind is one kind of tokens.
type Kind struct {
	Kind   string  `json:"kind"` // cache_read, cache_write, uncached_input or output
	Tokens int     `json:"tokens"`
	Cost   float64 `json:"cost_usd"`
}

// Caused sums up the events of one cause.
type Caused struct {
	Cause     Cause   `json:"cause"`
	Events    int     `json:"events"`
	Rewritten int     `json:"rewritten_tokens"`
	Cost      float64 `json:"cost_usd"`
}

// Event is one break of a file.
type Event struct {
	Path string `json:"path"`
	Break
}

// The kinds of tokens, in the order of an account.
const (
	readKind = iota
	writeKind
	freshKind
	outputKind
)

// NewAccount returns an account of nothing.
func NewAccount() *Account {
	return &Account{
		seen:   make(map[call]string),
		ByKind: []Kind{{Kind: "cache_read"}, {Kind: "cache_write"}, {Kind: "uncached_input"}, {Kind: "output"}},
		Causes: []Caused{}, Events: []Event{}, Unpriced: []string{},
	}
}

// Add adds the requests of a file. Those that nobody counted are counted as such, and cost nothing here.
func (a *Account) Add(f File) {
	a.Files++
	var all []*sizing
	for _, c := range f.Conversations {
		all = append(all, f.sizeUp(c, "", false))
	}
	list := f.simulate(all)
	told := make(map[int]bool) // by another file, or by nobody, or at no price
	for _, x := range list {
		switch {
		case x.t.Usage == nil || x.t.Usage.Input == 0:
			a.Uncount++
			told[x.t.N] = true
		case a.repeats(f.Path, x):
			told[x.t.N] = true
			a.Repeated++
		default:
			if !a.count(x) {
				told[x.t.N] = true
			}
		}
	}
	r := f.broken(list, nil)
	for _, b := range r.Breaks {
		if told[b.Turn] {
			continue
		}
		a.Events = append(a.Events, Event{f.Path, b})
		i := slices.IndexFunc(a.Causes, func(c Caused) bool { return c.Cause == b.Cause })
		if i < 0 {
			i = len(a.Causes)
			a.Causes = append(a.Causes, Caused{Cause: b.Cause})
		}
		c := &a.Causes[i]
		c.Events, c.Rewritten, c.Cost = c.Events+1, c.Rewritten+b.Rewritten, c.Cost+b.Cost
	}
	slices.SortStableFunc(a.Causes, func(x, y Caused) int { return cmp.Compare(y.Cost, x.Cost) })
	slices.SortStableFunc(a.Events, func(x, y Event) int { return cmp.Compare(y.Cost, x.Cost) })
	if over := len(a.Events) - maxEvents; over > 0 {
		a.Events, a.Missing = slices.Clone(a.Events[:maxEvents]), a.Missing+over
	}
}

// repeats reports whether another file told a request already: a copy, a fork, or a sub-agent's own file beside its parent's.
func (a *Account) repeats(path string, x *sent) bool {
	if x.t.At.IsZero() {
		return false
	}
	c := call{x.t.At, x.t.Model, *x.t.Usage}
	if first, ok := a.seen[c]; ok {
		return first != path
	}
	a.seen[c] = path
	return false
}

// maxEvents bounds the events that are listed.
const maxEvents = 200

// count adds what a provider counted for a request, and reports whether it has a price.
func (a *Account) count(x *sent) (priced bool) {
	c, out := x.counted(), x.s.output(x.t)
	a.Streamed += one(out != int(x.t.Usage.Output))
	price := x.model.Price
	if _, priced = pricing.Lookup(x.t.Model, x.at); !priced {
		price = pricing.Price{}
		if name := cmp.Or(x.t.Model, "(not named)"); !slices.Contains(a.Unpriced, name) {
			a.Unpriced = append(a.Unpriced, name)
		}
	}
	a.Calls++
	a.Input, a.Read, a.Write, a.Output = a.Input+c.Total(), a.Read+c.Read, a.Write+c.Written(), a.Output+out
	for kind, part := range []pricing.Charge{{Read: c.Read}, {Write: c.Write, WriteHour: c.WriteHour}, {Fresh: c.Fresh}} {
		a.spend(kind, part.Total(), price.Of(part))
	}
	a.spend(outputKind, out, price.OfOutput(out))
	if t := x.t.At; !t.IsZero() {
		if a.From.IsZero() || t.Before(a.From) {
			a.From = t
		}
		if t.After(a.To) {
			a.To = t
		}
	}
	return priced
}

func (a *Account) spend(kind, tokens int, usd float64) {
	k := &a.ByKind[kind]
	k.Tokens, k.Cost = k.Tokens+tokens, k.Cost+usd
	a.Cost += usd
}
