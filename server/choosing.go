package server

import (
	"context"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/provider"
	"ambit/unit"
)

// choose decides about a request and makes what was decided durable. A pass says how often the provider has refused it as
// too long.
func (r *recorder) choose(x *exchange, pass int, over *provider.Overflow) error {
	p := x.plan
	s := p.s
	if over != nil && over.Limit > 0 {
		s.limit = over.Limit
	}
	m := s.model(x)
	if s.head == 0 {
		p.change()
		if before := p.upTo[p.sentBefore(x)]; s.input > 0 && before > 0 && int(s.input) > before {
			s.head = int(s.input) - before
		} else {
			s.head = p.beside()
		}
	}
	s.hour = s.hour || strings.Contains(string(p.a.body[:min(len(p.a.body), maxMarker)]), `"ttl":"1h"`)
	in := r.input(x, m)
	p.whole = in.Head
	for i := range in.Messages {
		p.whole += in.Messages[i].Tokens
	}
	p.change()
	if over != nil {
		in.Overflow, in.Passes, in.Limit = true, pass, over.Limit
	}
	if over == nil && x.belongs.How == entry.ClientCompaction {
		if err := r.restore(x); err != nil {
			return err
		}
	}
	in.Draft = true
	d, err := r.enact(x, in, r.decision(x, in))
	if !acts(&d) {
		d.From = len(in.Messages)
	}
	if stale := s.own(s.edits.Apply(p.a.hashes).Stale); !slices.Equal(stale, s.stale) {
		s.stale = stale
		if err == nil && !d.Stage.Boundary() {
			err = r.turned(x, in)
		}
	}
	if over == nil {
		p.change()
		kept := p.after
		if d.Stage.Boundary() {
			kept = d.Kept
		} else if s.sent > 0 {
			kept = min(kept, s.sent)
		}
		s.charge(m, in.Cold, p.whole, p.after, kept)
		s.at, s.sent = x.start, p.after
		s.passed(len(in.Messages), min(d.From, in.Sent), x.start)
	}
	return err
}

// turned notes that a checkpoint holds no longer, or holds again, because the client went back or returned: a boundary at which
// nothing is decided.
func (r *recorder) turned(x *exchange, in selection.Input) error {
	p := x.plan
	if err := r.flush(p.w); err != nil {
		return err
	}
	p.change()
	return r.settle(p.w, p.s, selection.Decision{Decision: entry.Decision{
		N: x.n, Thread: x.thread, Policy: r.policy.Name, Stage: entry.StageLift, Event: entry.StageLift.Event(), Whole: p.whole, Before: p.after, After: p.after,
		Cold: in.Cold, Account: in.Bank.Account, Spent: in.Bank.Spent, Why: "messages that a checkpoint stood for are not in the request, or are again",
	}})
}

// maxMarker is how much of a body is looked at for a marker's life, in bytes.
const maxMarker = 256 << 10

// input is what is decided by.
func (r *recorder) input(x *exchange, m pricing.Model) selection.Input {
	p := x.plan
	in := selection.Input{
		Policy: r.policy, Edits: p.s.edits, Contract: provider.ContractOf(x.family, x.q, p.a.elements), Head: p.s.head, LastReal: int(p.s.real),
		Tokens: p.count.Text, Model: m, Cold: p.s.cold(m, x.start), Sent: p.sentBefore(x),
		Hour: p.s.hour,
		Bank: pricing.Bank{Slack: r.policy.Slack, Account: p.s.account, Spent: p.s.spent + p.s.pending},
		Unit: func(i int) unit.Unit { return conversation.Unit(r.handle(p.w, p.ref(x, i)), p.a.message(i)) },
	}
	in.Ends = p.s.lasting(m, x.start, in.Sent)
	if p.s.main {
		in.Pins = p.w.pins
	}
	for i, el := range p.a.elements.Messages { // what was purged stands whole again: it is as if it were new
		if i < in.Sent && p.w.purged[known{x.thread, el.Hash}] {
			in.Sent = i
		}
	}
	in.Messages = make([]selection.Message, len(p.a.hashes))
	for i := range in.Messages {
		in.Messages[i] = p.s.fact(p.a, i, &p.count)
	}
	return in
}

// ref is the entry that has a message, 0 while there is none.
func (p *plan) ref(x *exchange, i int) entry.Seq {
	return p.w.known[known{x.thread, p.a.elements.Messages[i].Hash}].seq
}

// sentBefore is with how many messages the request begins that the one which it follows held. That is read once.
func (p *plan) sentBefore(x *exchange) int {
	if x.at == nil || x.follows < 0 || p.compared {
		return p.common
	}
	p.compared = true
	before := x.at.elements(x.follows)
	for p.common < len(before) && p.common < len(p.a.hashes) && before[p.common] == p.a.hashes[p.common] {
		p.common++
	}
	return p.common
}

// beside estimates what a request holds beside its messages.
func (p *plan) beside() int {
	n := 0
	for _, list := range [][]provider.Element{p.a.elements.Tools, p.a.elements.System} {
		for _, el := range list {
			n += p.count.Text(string(p.a.body[el.Offset : el.Offset+el.Length]))
		}
	}
	return n
}

// enact makes a decision durable, and then makes it stand. What changes something is decided once more when the entries of
// new messages are known, so that it can name them.
func (r *recorder) enact(x *exchange, in selection.Input, d selection.Decision) (selection.Decision, error) {
	if !acts(&d) {
		return d, nil
	}
	p := x.plan
	if err := r.flush(p.w); err != nil {
		return selection.Decision{}, err
	}
	for i := range in.Messages {
		in.Messages[i].Seq = p.ref(x, i)
		in.Messages[i].Ref = r.handle(p.w, in.Messages[i].Seq)
	}
	in.Draft = false
	if d = r.decision(x, in); !acts(&d) {
		return d, nil
	}
	d.N, d.Thread = x.n, x.thread
	d.Lifts = p.s.own(d.Lifts)
	d.LifeMS = p.s.life(in.Model).Milliseconds()
	if !p.s.at.IsZero() {
		d.IdleMS = x.start.Sub(p.s.at).Milliseconds()
	}
	err := r.settle(p.w, p.s, d)
	if err == nil {
		r.edits(x)
	}
	return d, err
}

// decision is what the policy decides. A policy that edits nothing takes back what stands once the prefix is broken anyway and
// the whole fits.
func (r *recorder) decision(x *exchange, in selection.Input) selection.Decision {
	p := x.plan
	usable := in.Model.Usable()
	if r.policy.Name != selection.Record || in.Edits.Len() == 0 || !in.Cold || in.Model.Window == 0 || p.whole > usable {
		return selection.Decide(in)
	}
	d := selection.Decision{Decision: entry.Decision{
		Policy: r.policy.Name, Stage: entry.StageLift, Event: entry.StageLift.Event(), Lifts: in.Edits.Standing(), Whole: p.whole, Before: p.after, After: p.whole,
		Usable: usable, Cold: true, Account: in.Bank.Account, Spent: in.Bank.Spent,
		Why: "nothing is edited any more, the cache holds nothing, and the whole fits",
	}}
	return d
}

// acts reports whether there is anything in a decision to be kept.
func acts(d *selection.Decision) bool {
	return d.Stage != entry.StageNone || len(d.Changes)+len(d.Standing)+len(d.Lifts)+len(d.Uncut) > 0
}

// settle appends a decision with its edits, and makes them stand.
func (r *recorder) settle(w *writing, s *standing, d selection.Decision) error {
	fact := d.Decision
	facts := []entry.Fact{&fact}
	if d.Checkpoint != "" {
		b, err := r.put(w, []byte(d.Checkpoint))
		if err != nil {
			return err
		}
		fact.Checkpoint = b
	}
	var sets [][]entry.Change
	for _, changes := range [][]entry.Change{d.Changes, d.Standing} {
		if len(changes) == 0 {
			continue
		}
		data, err := entry.EncodeChanges(changes)
		if err != nil {
			return err
		}
		b, err := r.put(w, data)
		if err != nil {
			return err
		}
		facts = append(facts, &entry.Edit{N: d.N, Thread: d.Thread, Changes: len(changes), Body: b})
		sets = append(sets, changes)
	}
	last, err := r.store.Append(context.Background(), w.id, facts...)
	if err != nil {
		return err
	}
	delete(r.loaded, w.id)
	s.edits.Lift(d.Lifts...)
	for i, changes := range sets {
		s.edits.Add(last-entry.Seq(len(sets)-1-i), changes...)
	}
	if d.Stage.Boundary() {
		s.real = 0
	}
	return nil
}

// pins reads the pins of a session, once.
func (r *recorder) pins(w *writing) error {
	if w.pinned {
		return nil
	}
	p, err := r.pool(w)
	if err != nil {
		return err
	}
	w.pins = nil
	for i := range p.Pins {
		if pin := &p.Pins[i]; pin.Body != nil {
			text, err := r.store.Body(context.Background(), w.id, *pin.Body)
			if err != nil {
				return err
			}
			w.pins = append(w.pins, selection.Pin{ID: pin.ID, Text: string(text), By: pin.By})
		}
	}
	w.pinned = true
	return nil
}
