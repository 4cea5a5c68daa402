package server

import (
	"slices"
	"strings"

	"ambit/internal/selection"
	"ambit/provider"
)

// proof says which pins the request holds as it was sent, and which it does not, with the reason. It reads the bytes that
// went: a pin is held where a message's decoded text has it.
func (p *plan) proof(x *exchange) (held, missing []string) {
	if len(p.w.pins) == 0 {
		return nil, nil
	}
	there := p.pinsIn(x)
	for _, pin := range p.w.pins {
		switch {
		case there[pin.ID]:
			held = append(held, pin.ID)
		case !p.s.main:
			missing = append(missing, pin.ID+": the request is not of the main conversation")
		case x.r.policy.Name == selection.Record:
			missing = append(missing, pin.ID+": "+policyOff)
		case p.why != "":
			missing = append(missing, pin.ID+": "+p.why)
		default:
			missing = append(missing, pin.ID+": it could be put nowhere")
		}
	}
	return held, missing
}

// policyOff says why a pin is missing where edits only go on to hold.
const policyOff = "the policy edits nothing new"

// pinsIn are the pins whose text stands in what was sent. A message that was looked at is not read again.
func (p *plan) pinsIn(x *exchange) map[string]bool {
	body, elements := p.a.body, p.a.elements
	if p.body != nil {
		var err error
		if elements, err = x.family.Elements(x.q, p.body); err != nil {
			return nil // nothing is proven of what is not understood
		}
		body = p.body
	}
	if p.s.seen == nil || p.s.seenPins != len(p.w.pins) {
		p.s.seen, p.s.seenPins = make(map[provider.Hash][]string), len(p.w.pins)
	}
	there := make(map[string]bool)
	for _, el := range elements.Messages {
		ids, ok := p.s.seen[el.Hash]
		if !ok {
			ids = p.holds(x.family.Message(x.q, body[el.Offset:el.Offset+el.Length], el.At))
			p.s.seen[el.Hash] = ids
		}
		for _, id := range ids {
			there[id] = true
		}
	}
	return there
}

// holds are the pins that stand in the text of a message.
func (p *plan) holds(m provider.Message) (ids []string) {
	for _, pin := range p.w.pins {
		if slices.ContainsFunc(m.Texts, func(t provider.Text) bool { return strings.Contains(t.Text, pin.Text) }) {
			ids = append(ids, pin.ID)
		}
	}
	return ids
}
