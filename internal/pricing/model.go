package pricing

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Model is what one model costs and how its prompts were cached at a time.
type Model struct {
	Name     string // ours: without vendor, region, date and the like
	Provider string // whose model it is, or who sells it in the catalogue
	Rules    Rules
	Price    Price
	Window   int // the context in tokens, of input and output together
	// LongWindow is the context that a client has to ask for, in tokens; Window where there is no other. A Claude model
	// up to 4.6 has 200,000 unless asked for a million. What some models cost beyond the shorter window is not known
	// here: every token has one price.
	LongWindow int
	MaxOutput  int       // the longest answer in tokens; of some models the catalogue has what is asked for by default
	Since      time.Time // when the newest row of the table began that the model's prices and rules come from; may be zero
	Source     string    // the words of the table's sources, joined by a plus; the last counts first
}

// Lookup finds a model by any of the names that clients and vendors have for it, with the prices and rules of that
// time; a zero time is the newest. For a time before all rows of the table the oldest ones are taken. A name that ends
// in [1m] has its long window. The second result is false where no price is known.
func Lookup(model string, at time.Time) (Model, bool) {
	n := nameOf(model)
	special := rowOf(n.name, at)
	l, ok := catalogue()[n.name]
	if !ok && special.in == 0 {
		return Model{}, false
	}
	m := Model{
		Name: n.name, Provider: l.provider, Rules: rulesOf(special, at), Price: l.price,
		Window: l.window, MaxOutput: l.output, Since: special.since, Source: special.source,
	}
	if ok {
		m.Source = strings.Trim(catalogued+"+"+special.source, "+")
	}
	if special.in > 0 {
		m.Price.Input = special.in
	}
	if special.out > 0 {
		m.Price.Output = special.out
	}
	m.settle(special, l, n.long)
	return m, true
}

// settle derives what stands on more than one of the sources: prices of cached tokens, windows, and whose model it is.
func (m *Model) settle(special row, l listed, long bool) {
	if r := m.Rules; r.Match != Never {
		in := m.Price.Input
		m.Price.Read, m.Price.Write, m.Price.WriteHour = cents(in*r.Read), cents(in*r.Write), cents(in*r.WriteHour)
	} else if special.in > 0 {
		m.Price.Read, m.Price.Write, m.Price.WriteHour = special.in, special.in, special.in
	}
	if special.window > 0 {
		m.Window = special.window
	}
	if special.output > 0 {
		m.MaxOutput = special.output
	}
	m.LongWindow = m.Window
	if special.short > 0 {
		m.Window, m.LongWindow = special.short, max(m.Window, l.longest)
	}
	if long {
		m.Window = m.LongWindow
	}
	switch special.family {
	case anthropic, openai, gemini, deepseek:
		m.Provider = special.family
	case openaiMarked:
		m.Provider = openai
	case deepseekUnits:
		m.Provider = deepseek
	case none:
		m.Provider = anthropic
	}
}

// applies says whether a row is about a model.
func (r row) applies(name string) bool {
	stem, star := strings.CutSuffix(r.name, "*")
	return name == r.name || star && strings.HasPrefix(name, stem)
}

// rowOf is all that the table says about a model at a time, in one row.
func rowOf(name string, at time.Time) row {
	var all row
	last := ""
	for _, r := range models {
		if !r.applies(name) {
			continue
		}
		if begun := at.IsZero() || !r.since.After(at); begun || r.name != last {
			all.merge(r)
		}
		last = r.name
	}
	return all
}

// merge takes over what the other row says.
func (r *row) merge(o row) {
	take(&r.family, o.family)
	take(&r.min, o.min)
	take(&r.life, o.life)
	take(&r.read, o.read)
	take(&r.in, o.in)
	take(&r.out, o.out)
	take(&r.window, o.window)
	take(&r.short, o.short)
	take(&r.output, o.output)
	if o.since.After(r.since) {
		r.since = o.since
	}
	if !strings.Contains("+"+r.source+"+", "+"+o.source+"+") {
		r.source = strings.Trim(r.source+"+"+o.source, "+")
	}
}

func take[T comparable](to *T, from T) {
	var zero T
	if from != zero {
		*to = from
	}
}

// rulesOf are the rules of the row's family at a time, with what is special about the model.
func rulesOf(special row, at time.Time) Rules {
	var r Rules
	for _, f := range families {
		if f.Family == special.family && (r.Family == "" || at.IsZero() || !f.Since.After(at)) {
			r = f
		}
	}
	if r.Family == "" {
		return r
	}
	take(&r.Min, special.min)
	take(&r.Life, special.life)
	take(&r.Read, special.read)
	return r
}

// Names are the names under which models are found, ours for each, sorted.
func Names() []string {
	names := make(map[string]bool)
	for name := range catalogue() {
		names[name] = true
	}
	for _, r := range models {
		if r.in > 0 {
			names[r.name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Usable is how much of the window a request may take, in tokens: an answer and a compaction must still fit. The share and
// the most that is held back are such that of 200,000 tokens 168,000 can be used.
func (m Model) Usable() int {
	return m.Window - min(heldBack, m.Window*heldBack/200_000)
}

const heldBack = 32_000 // tokens
