package pressure

import (
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/provider"
	"ambit/unit"
)

// Choose decides about the request and makes what was decided durable. A pass says how often the provider has refused it as too
// long, and over what it said then, nil before the first time. It reports whether edits were changed; what was decided before
// an error stands.
func (p *Plan) Choose(pass int, over *provider.Overflow) (acted bool, err error) {
	t := p.t
	if over != nil && over.Limit > 0 {
		t.limit = over.Limit
	}
	in := p.input()
	if over != nil {
		in.Overflow, in.Passes, in.Limit = true, pass, over.Limit
	}
	if in.Draft = true; p.draft == nil || over != nil {
		p.draft = new(p.decision(in))
	}
	d, acted, err := p.enact(in, *p.draft)
	if !acts(&d) {
		d.From = len(in.Messages)
	}
	if stale := t.own(t.edits.Apply(p.c.Hashes).Stale); !slices.Equal(stale, t.stale) {
		t.stale = stale
		if err == nil && !d.Stage.Boundary() {
			err, acted = p.turned(in), true
		}
	}
	if over == nil {
		p.change()
		kept := p.after
		if d.Stage.Boundary() {
			kept = d.Kept
		} else if t.sent > 0 {
			kept = min(kept, t.sent)
		}
		t.charge(in.Model, in.Cold, p.whole, p.after, kept)
		t.at, t.sent = p.c.At, p.after
		t.passed(len(in.Messages), min(d.From, in.Sent), p.c.At)
	}
	return acted, err
}

// Compacts reports whether Choose would put a checkpoint in place of what is old. Where it may, the checkpoint is written to see
// whether anything is gained. Nothing is made durable, and nothing changes.
func (p *Plan) Compacts() bool {
	in := p.input()
	in.Draft = true
	p.draft = new(p.decision(in))
	if p.draft.Stage != entry.StageCompact {
		return false
	}
	in.Draft = false
	d := p.decision(in)
	return d.Stage == entry.StageCompact
}

// turned notes that a checkpoint holds no longer, or holds again, because the client went back or returned: a boundary at which
// nothing is decided.
func (p *Plan) turned(in selection.Input) error {
	if err := p.c.Book.Flush(); err != nil {
		return err
	}
	p.change()
	return p.Settle(selection.Decision{Decision: entry.Decision{
		Stage: entry.StageLift, Whole: p.whole, Before: p.after, After: p.after, Cold: in.Cold, Account: in.Bank.Account, Spent: in.Bank.Spent,
		Why: "messages that a checkpoint stood for are not in the request, or are again",
	}})
}

// maxMarker is how much of a body is looked at for a marker's life, in bytes.
const maxMarker = 256 << 10

// input is what is decided by.
func (p *Plan) input() selection.Input {
	t, c := p.t, &p.c
	m := t.model(c)
	p.change()
	if bytes := p.besideBytes(); t.beside != bytes { // other tools, or another text in front
		if t.head > 0 {
			t.head = max(1, t.head+(bytes-t.beside)*p.beside()/max(1, bytes))
		}
		t.beside = bytes
	}
	if t.head == 0 {
		if before := p.upTo[c.Before()]; t.input > 0 && before > 0 && int(t.input) > before {
			t.head = int(t.input) - before
		} else {
			t.head = p.beside()
		}
	}
	t.hour = t.hour || strings.Contains(string(c.Body[:min(len(c.Body), maxMarker)]), `"ttl":"1h"`)
	in := selection.Input{
		Policy: c.Policy, Edits: t.edits, Contract: provider.ContractOf(c.Family, c.Asked, c.Elements), Head: t.head, LastReal: int(t.real),
		Tokens: p.count.Text, Model: m, Cold: t.cold(m, c.At), Sent: c.Before(), Hour: t.hour, Recall: c.Recall,
		Bank: pricing.Bank{Slack: c.Policy.Slack, Account: t.account, Spent: t.spent + t.pending},
		Unit: func(i int) unit.Unit { return conversation.Unit(p.ref(i), c.Message(i)) },
	}
	in.Ends = t.lasting(m, c.At, in.Sent)
	if t.Main {
		in.Pins = c.Pins
	}
	for i, el := range c.Elements.Messages { // what was purged stands whole again: it is as if it were new
		if i < in.Sent && c.Book.Purged(el.Hash) {
			in.Sent = i
		}
		in.Messages = append(in.Messages, t.fact(c.Request, i, &p.count))
	}
	p.whole = in.Head
	for i := range in.Messages {
		p.whole += in.Messages[i].Tokens
	}
	p.change()
	return in
}

// ref is how a model is shown the entry that has a message; empty while there is none.
func (p *Plan) ref(i int) string {
	if seq := p.c.Book.Seq(p.c.Elements.Messages[i].Hash); seq != 0 {
		return p.c.Book.Ref(seq)
	}
	return ""
}

// enact makes a decision durable, and then makes it stand. What changes something is decided once more when the entries of
// new messages are known, so that it can name them.
func (p *Plan) enact(in selection.Input, d selection.Decision) (selection.Decision, bool, error) {
	if !acts(&d) {
		return d, false, nil
	}
	if err := p.c.Book.Flush(); err != nil {
		return selection.Decision{}, false, err
	}
	for i := range in.Messages {
		in.Messages[i].Seq, in.Messages[i].Ref = p.c.Book.Seq(p.c.Elements.Messages[i].Hash), p.ref(i)
	}
	in.Draft = false
	if d = p.decision(in); !acts(&d) {
		return d, false, nil
	}
	d.Lifts = p.t.own(d.Lifts)
	d.LifeMS = p.t.life(in.Model).Milliseconds()
	if !p.t.at.IsZero() {
		d.IdleMS = p.c.At.Sub(p.t.at).Milliseconds()
	}
	err := p.Settle(d)
	return d, err == nil, err
}

// decision is what the policy decides. A policy that edits nothing takes back what stands once the prefix is broken anyway and
// the whole fits.
func (p *Plan) decision(in selection.Input) selection.Decision {
	usable := in.Model.Usable()
	if in.Policy.Name != selection.Record || in.Edits.Len() == 0 || !in.Cold || in.Model.Window == 0 || p.whole > usable {
		return selection.Decide(in)
	}
	return selection.Decision{Decision: entry.Decision{
		Stage: entry.StageLift, Lifts: in.Edits.Standing(), Whole: p.whole, Before: p.after, After: p.whole,
		Usable: usable, Cold: true, Account: in.Bank.Account, Spent: in.Bank.Spent,
		Why: "nothing is edited any more, the cache holds nothing, and the whole fits",
	}}
}

// acts reports whether there is anything in a decision to be kept.
func acts(d *selection.Decision) bool {
	return d.Stage != entry.StageNone || len(d.Changes)+len(d.Standing)+len(d.Lifts)+len(d.Uncut) > 0
}

// Settle appends a decision about the request with its edits, and makes them stand.
func (p *Plan) Settle(d selection.Decision) error {
	book, fact := &p.c.Book, d.Decision
	fact.N, fact.Thread, fact.Policy, fact.Event = p.c.N, p.t.name, p.c.Policy.Name, d.Stage.Event()
	facts := []entry.Fact{&fact}
	if d.Checkpoint != "" {
		b, err := book.Put([]byte(d.Checkpoint))
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
		b, err := book.Put(data)
		if err != nil {
			return err
		}
		facts = append(facts, &entry.Edit{N: fact.N, Thread: fact.Thread, Changes: len(changes), Body: b})
		sets = append(sets, changes)
	}
	last, err := book.Append(facts...)
	if err != nil {
		return err
	}
	p.t.edits.Lift(d.Lifts...)
	for i, changes := range sets {
		p.t.edits.Add(last-entry.Seq(len(sets)-1-i), changes...)
	}
	if d.Stage.Boundary() {
		p.t.real = 0
	}
	return nil
}
