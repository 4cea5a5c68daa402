package pressure

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ambit/internal/selection"
	"ambit/provider"
)

// proof says which pins the request holds as it was sent, and which it does not, with the reason. It reads the bytes that
// went: a pin is held where a message's decoded text has it.
func (p *Plan) proof() (held, missing []string) {
	if len(p.c.Pins) == 0 {
		return nil, nil
	}
	there := p.pinsIn()
	for _, pin := range p.c.Pins {
		switch {
		case there[pin.ID]:
			held = append(held, pin.ID)
		case !p.t.Main:
			missing = append(missing, pin.ID+": the request is not of the main conversation")
		case p.c.Policy.Name == selection.Record:
			missing = append(missing, pin.ID+": "+PolicyOff)
		case p.why != "":
			missing = append(missing, pin.ID+": "+p.why)
		default:
			missing = append(missing, pin.ID+": it could be put nowhere")
		}
	}
	return held, missing
}

// PolicyOff says why a pin is missing where edits only go on to hold.
const PolicyOff = "the policy edits nothing new"

// pinsIn are the pins whose text stands in what was sent. A message that was looked at is not read again.
func (p *Plan) pinsIn() map[string]bool {
	body, elements, t := p.c.Body, p.c.Elements, p.t
	if p.body != nil {
		var err error
		if elements, err = p.c.Family.Elements(p.c.Asked, p.body); err != nil {
			return nil // nothing is proven of what is not understood
		}
		body = p.body
	}
	if t.seen == nil || t.seenPins != len(p.c.Pins) {
		t.seen, t.seenPins = make(map[provider.Hash][]string), len(p.c.Pins)
	}
	there := make(map[string]bool)
	for _, el := range elements.Messages {
		ids, ok := t.seen[el.Hash]
		if !ok {
			ids = p.holds(p.c.Family.Message(p.c.Asked, body[el.Offset:el.Offset+el.Length], el.At))
			t.seen[el.Hash] = ids
		}
		for _, id := range ids {
			there[id] = true
		}
	}
	return there
}

// holds are the pins that stand in the text of a message.
func (p *Plan) holds(m provider.Message) (ids []string) {
	for _, pin := range p.c.Pins {
		if slices.ContainsFunc(m.Texts, func(t provider.Text) bool { return strings.Contains(t.Text, pin.Text) }) {
			ids = append(ids, pin.ID)
		}
	}
	return ids
}

// brief is the beginning of an error's text, for an entry.
func brief(text string) string {
	if len(text) > maxWhy {
		text = text[:maxWhy] + "…"
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}

// maxWhy is how much of an error's text is kept, in bytes.
const maxWhy = 300
