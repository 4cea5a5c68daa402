package ambit

import (
	"fmt"
	"slices"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/token"
	"ambit/provider"
)

// Reason is why a generation began, or why a request does not hold something.
type Reason string

// The reasons. Those up to ReasonLifted begin generations; what was said before and is missing behind one has its reason.
const (
	ReasonCompaction Reason = "client-compaction" // the client put something shorter in the place of most messages
	ReasonEdit       Reason = "client-edit"       // the client changed messages that stand earlier
	ReasonPrune      Reason = "client-prune"      // the client left out the results of calls
	ReasonRewind     Reason = "rewind"            // the conversation went back to where it was shorter

	// Those of Ambit's own, named as the events of the decisions. ReasonCut begins no generation.
	ReasonPruned    Reason = "context.pruned"    // placeholders stand where old results stood
	ReasonCompacted Reason = "context.compacted" // a checkpoint stands where old messages stood
	ReasonLifted    Reason = "context.lifted"    // edits were taken back
	ReasonCut       Reason = "context.cut"       // a part of it was too large

	ReasonUnsent   Reason = "not-sent-again" // the client did not send it again, for a reason that does not show
	ReasonDeferred Reason = "deferred"       // a tool that waits until the model loads it
)

// Boundary is a request with which a generation began.
type Boundary struct {
	Turn   int      `json:"turn"`
	Reason Reason   `json:"reason"`
	Also   []Reason `json:"also,omitempty"` // others for which it would have begun there, too
}

// own reports whether a generation begins by it because of what Ambit decided.
func (r Reason) own() bool { return r == ReasonPruned || r == ReasonCompacted || r == ReasonLifted }

func (b *Boundary) own() bool { return b.Reason.own() || slices.ContainsFunc(b.Also, Reason.own) }

// boundaries are those of a thread up to a request, in order: the client's, and those that Ambit decided on. A thread without
// a name has none.
func (r *Recording) boundaries(thread string, n int) []Boundary {
	bounds := []Boundary{}
	if thread == "" {
		return bounds
	}
	pruned := r.pool.Pruned()
	for i := range r.pool.Exchanges {
		rel := r.pool.Exchanges[i].Relation
		if rel == nil || rel.N > n || rel.Thread != thread {
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
		bounds = append(bounds, Boundary{Turn: rel.N, Reason: reason})
	}
	for i := range r.pool.Decisions {
		d := &r.pool.Decisions[i]
		if d.Thread != thread || !begins(d.Stage) || d.N == 0 && r.pool.IsEvidence(d.Seq) { // nothing is sent for what is evidence
			continue
		}
		if turn := r.from(thread, d.N, d.Seq); 0 < turn && turn <= n {
			bounds = append(bounds, Boundary{Turn: turn, Reason: Reason(d.Stage.Event())})
		}
	}
	return merged(bounds)
}

// begins reports whether a decision of a stage begins a generation: what was sent before is sent otherwise, or not.
func begins(stage entry.Stage) bool {
	return stage == entry.StagePrune || stage == entry.StageCompact || stage == entry.StageLift
}

// merged are boundaries in order of their requests, one for each request.
func merged(bounds []Boundary) []Boundary {
	slices.SortStableFunc(bounds, func(a, b Boundary) int { return a.Turn - b.Turn })
	all := bounds[:0]
	for _, b := range bounds {
		last := len(all) - 1
		switch {
		case last < 0 || all[last].Turn != b.Turn:
			all = append(all, b)
		case all[last].Reason != b.Reason && !slices.Contains(all[last].Also, b.Reason):
			all[last].Also = append(all[last].Also, b.Reason)
		}
	}
	return all
}

// counted is a request that the provider counted.
type counted struct{ n, input, output int }

// real is the newest request of the generation that was answered and counted, nil while there is none: what was counted
// before the generation began says nothing of it.
func (s *sight) real() *counted {
	since := 0
	for i := range s.bounds {
		if b := &s.bounds[i]; s.chain[b.Turn] || b.own() { // what Ambit changes is changed on every branch of the thread
			since = b.Turn
		}
	}
	var last *counted
	for i := range s.r.pool.Exchanges {
		x := &s.r.pool.Exchanges[i]
		if x.Request.N < since || x.Request.N > s.x.Request.N || !s.chain[x.Request.N] || x.Request.Type == provider.TypeCountTokens {
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
	if o := s.r.pool.Own; o != nil && o.Works.Window > 0 && o.Works.Model == s.named {
		m.Window = o.Works.Window
		return m, windowGiven
	}
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

// windowGiven is the source of a window that no table has.
const windowGiven = "whoever leads the session"

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
		in := Included{
			Ref: it.Ref, Class: it.Class, Source: source, Parts: map[string]float64{},
			At: it.at, Edit: it.Edit, Retained: s.r.kept(it.Ref), Visible: it.Class != ClassPlaceholder,
		}
		switch {
		case it.ours:
			in.Source = "edit"
		case it.n == 0:
			in.Source = "request"
		}
		g.Included = append(g.Included, in)
	}
	for _, e := range s.gone {
		if e.reason == "" {
			e.reason = s.reason(e.n)
		}
		g.Excluded = append(g.Excluded, Excluded{Ref: e.ref, Reason: e.reason, Edit: e.edit, Retained: s.r.kept(e.ref), Visible: e.part})
	}
}

// reason is why something is no longer held that was said in or behind request n.
func (s *sight) reason(n int) Reason {
	if !s.chain[n] {
		return ReasonRewind
	}
	for i := range s.bounds {
		if b := &s.bounds[i]; b.Turn > n && s.chain[b.Turn] && b.Reason != ReasonRewind && !b.Reason.own() {
			return b.Reason
		}
	}
	return ReasonUnsent
}
