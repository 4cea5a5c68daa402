package ambit

import (
	"fmt"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/token"
	"ambit/provider"
)

// Reason is why a generation began, or why a request does not hold something.
type Reason string

// The reasons. Those up to ReasonRewind begin generations; what was said before and is missing behind one has its reason.
const (
	ReasonCompaction Reason = "client-compaction" // the client put something shorter in the place of most messages
	ReasonEdit       Reason = "client-edit"       // the client changed messages that stand earlier
	ReasonPrune      Reason = "client-prune"      // the client left out the results of calls
	ReasonRewind     Reason = "rewind"            // the conversation went back to where it was shorter
	ReasonUnsent     Reason = "not-sent-again"    // the client did not send it again, for a reason that does not show
	ReasonDeferred   Reason = "deferred"          // a tool that waits until the model loads it
)

// Boundary is a request with which a generation began.
type Boundary struct {
	Turn   int    `json:"turn"`
	Reason Reason `json:"reason"`
}

// boundaries are those of a thread up to a request, in order. A thread without a name has none.
func (r *Recording) boundaries(thread string, n int) []Boundary {
	bounds := []Boundary{}
	pruned := r.pool.Pruned()
	for i := range r.pool.Exchanges {
		rel := r.pool.Exchanges[i].Relation
		if rel == nil || rel.N > n || thread == "" || rel.Thread != thread {
			continue
		}
		reason := Reason("")
		switch {
		case rel.How == entry.ClientCompaction:
			reason = ReasonCompaction
		case rel.How == entry.Rewind:
			reason = ReasonRewind
		case len(pruned[rel.N]) > 0:
			reason = ReasonPrune
		case rel.How == entry.ClientEdit:
			reason = ReasonEdit
		default:
			continue
		}
		bounds = append(bounds, Boundary{rel.N, reason})
	}
	return bounds
}

// counted is a request that the provider counted.
type counted struct{ n, input, output int }

// real is the newest request of the generation that was answered and counted, nil while there is none: what was counted
// before the generation began says nothing of it.
func (s *sight) real() *counted {
	begins := 0
	for _, b := range s.bounds {
		if s.chain[b.Turn] {
			begins = b.Turn
		}
	}
	var last *counted
	for i := range s.r.pool.Exchanges {
		x := &s.r.pool.Exchanges[i]
		if x.Request.N < begins || x.Request.N > s.x.Request.N || !s.chain[x.Request.N] || x.Request.Type == provider.TypeCountTokens {
			continue
		}
		if a := x.Response; a != nil && a.Usage != nil && a.Usage.Input > 0 {
			last = &counted{x.Request.N, int(a.Usage.Input), int(a.Usage.Output)}
		}
	}
	return last
}

// window finds the model's window in the table, and says which row it is of. Where the provider has counted more than the
// window holds, the client had asked for the longer one.
func (s *sight) window() (pricing.Model, string) {
	m, ok := pricing.Lookup(s.named, s.x.Request.Arrived)
	if !ok || s.named == "" || m.Window <= 0 {
		return pricing.Model{}, ""
	}
	most := 0
	for i := range s.r.pool.Exchanges {
		x := &s.r.pool.Exchanges[i]
		if x.Relation != nil && x.Relation.Thread == s.thread && x.Request.N <= s.x.Request.N && x.Response != nil && x.Response.Usage != nil {
			most = max(most, int(x.Response.Usage.Input))
		}
	}
	if most > m.Window {
		m.Window = max(m.Window, m.LongWindow)
	}
	return m, fmt.Sprintf("table %s, %s", m.Source, m.Name)
}

// next estimates the request after this one, if nothing more is said: what the provider counted last in the generation,
// and what was said since. Without a count it is all estimated.
func (s *sight) next(last *counted) *Next {
	var added token.Content
	for i := range s.items {
		it := &s.items[i]
		if last == nil || it.n > last.n || it.answer && it.n == last.n {
			c := it.content
			if it.answer {
				c = s.spoken(it.n, c)
			}
			added.Add(c)
		}
	}
	if s.x.Response != nil {
		added.Add(s.spoken(s.x.Request.N, s.answered))
	}
	var e token.Estimate
	if last != nil {
		e = s.tokens.Anchored(last.input, added)
	} else {
		added.Counted += s.head
		e = s.tokens.Unanchored(added)
	}
	return &Next{e.EstTokens, e.Most, e.Anchored}
}

// spoken is the content of the answer to a request, as the provider counted it where it did.
func (s *sight) spoken(n int, said token.Content) token.Content {
	x := s.r.pool.Exchange(n)
	if x == nil || x.Response == nil || x.Response.Usage == nil || x.Response.Usage.Output == 0 {
		if said != (token.Content{}) {
			said.Spoken = 1
		}
		return said
	}
	return s.tokens.Answer(int(x.Response.Usage.Output), said)
}

// choices says what the request holds, and what of the thread it does not.
func (s *sight) choices(g *Gauge) {
	source := "recording"
	if s.exact {
		source = "request"
	}
	for i := range s.items {
		it := &s.items[i]
		if it.Out {
			continue // it is among what is gone
		}
		of := source
		if it.n == 0 {
			of = "request"
		}
		g.Included = append(g.Included, Included{Ref: it.Ref, Class: it.Class, Source: of, Parts: map[string]float64{}})
	}
	for _, e := range s.gone {
		if e.reason == "" {
			e.reason = s.reason(e.n)
		}
		g.Excluded = append(g.Excluded, Excluded{Ref: e.ref, Reason: e.reason})
	}
}

// reason is why something is no longer held that was said in or behind request n.
func (s *sight) reason(n int) Reason {
	if !s.chain[n] {
		return ReasonRewind
	}
	for _, b := range s.bounds {
		if b.Turn > n && s.chain[b.Turn] && b.Reason != ReasonRewind {
			return b.Reason
		}
	}
	return ReasonUnsent
}
