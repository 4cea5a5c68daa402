package ambit

import (
	"context"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/token"
)

// Decided is what was decided about the context of a thread, and by what. Tokens are estimates of the request; money is in USD.
type Decided struct {
	Ref       string      `json:"ref"`            // the entry that says so
	Turn      int         `json:"turn,omitempty"` // the request before which it was decided; 0 where a person asked for it between two
	Policy    string      `json:"policy"`
	Stage     entry.Stage `json:"stage"`
	Event     string      `json:"event"`
	Why       string      `json:"why"`
	Cold      bool        `json:"cold"`     // the provider's cache held nothing of the thread any more
	Forced    bool        `json:"forced"`   // it would not have fitted otherwise
	Reactive  bool        `json:"reactive"` // the provider had refused the request as too long
	EstWhole  int         `json:"est_whole_tokens"`
	EstBefore int         `json:"est_before_tokens"`
	EstAfter  int         `json:"est_after_tokens"`
	Price     float64     `json:"price_usd"`
	Account   float64     `json:"account_usd"`
	Spent     float64     `json:"spent_usd"`
	Slack     float64     `json:"slack,omitempty"` // by how much of the account the bank lets it be overdrawn
}

// PinProof says which pins a request holds as it went, and which it does not.
type PinProof struct {
	Held   []string    `json:"held"` // ids
	Absent []PinAbsent `json:"absent"`
}

// PinAbsent is a pin whose text does not stand in a request.
type PinAbsent struct {
	Pin    string `json:"pin"`
	Reason string `json:"reason"`
}

// decided is the newest decision about the thread up to the request, or after it where it is the thread's newest; nil where
// there is none.
func (s *sight) decided() *Decided {
	newest := s.r.newest(s.thread) == s.x.Request.N
	for i := range slices.Backward(s.r.pool.Decisions) {
		d := &s.r.pool.Decisions[i]
		if d.Thread != s.thread || s.thread == "" || !newest && !s.before(d.N, d.Seq) {
			continue
		}
		return &Decided{
			Ref: d.Seq.Ref(), Turn: d.N, Policy: d.Policy, Stage: d.Stage, Event: d.Event, Why: d.Why, Cold: d.Cold, Forced: d.Forced, Reactive: d.Reactive,
			EstWhole: d.Whole, EstBefore: d.Before, EstAfter: d.After, Price: d.Price, Account: d.Account, Spent: d.Spent, Slack: d.Slack,
		}
	}
	return nil
}

// decide adds to a gauge what was decided about its request, and what comes of a decision that is still to be acted on.
func (s *sight) decide(ctx context.Context, g *Gauge) {
	g.Sent, g.Decision, g.Pins = s.sentAs(), s.decided(), s.proof(ctx, g.Purged)
	if g.Sent != nil && g.Decision != nil {
		g.Strategy = g.Decision.Policy
	}
	if d := g.Decision; d != nil && d.Turn == 0 && begins(d.Stage) && s.pending(d) && g.Next != nil {
		e := s.tokens.Unanchored(token.Content{Counted: d.EstAfter})
		g.Next = &Next{EstTokens: e.EstTokens, EstMost: e.Most}
	}
}

// pending reports whether no request went since a decision, which is one of what is sent.
func (s *sight) pending(d *Decided) bool {
	seq := entry.ParseRef(d.Ref)
	return !s.r.pool.IsEvidence(seq) && s.r.from(s.thread, 0, seq) == 0
}

// proof says which pins the request holds: as was written down when it went, and where nothing was, by what it says.
func (s *sight) proof(ctx context.Context, purged bool) PinProof {
	p := PinProof{Held: []string{}, Absent: []PinAbsent{}}
	if last := s.attempt(); last != nil {
		p.Held = append(p.Held, last.Held...)
		for _, text := range last.Missing {
			id, why, _ := strings.Cut(text, ":")
			p.Absent = append(p.Absent, PinAbsent{id, strings.TrimSpace(why)})
		}
		return p
	}
	pins, _ := s.r.Pins(ctx) // of one that cannot be read nothing is proven
	for _, pin := range pins {
		switch {
		case purged || !s.hadPin(pin.ID):
		case slices.ContainsFunc(s.items, func(it item) bool { return strings.Contains(it.Text, pin.Text) }):
			p.Held = append(p.Held, pin.ID)
		default:
			p.Absent = append(p.Absent, PinAbsent{pin.ID, "the request was sent as it came: no policy edited it"})
		}
	}
	return p
}

// hadPin reports whether a pin was made before the request was recorded.
func (s *sight) hadPin(id string) bool {
	for i := range s.r.pool.Pins {
		if p := &s.r.pool.Pins[i]; p.ID == id {
			return p.Seq < s.x.Seq
		}
	}
	return false
}

// kept reports whether a ref is of an entry of the session that was not purged.
func (r *Recording) kept(ref string) bool {
	seq := entry.ParseRef(ref)
	return seq != 0 && r.pool.Purged == nil && !r.pool.IsGone(seq)
}
