package anthropic

import (
	"errors"
	"slices"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Lower makes the body of a Messages request. System segments of the layers role and stable, and others in front of the
// conversation, are its system, one block for each part; the rest are its messages. A later system segment is a message of the
// system behind the user's and before the assistant's, and elsewhere the user's text, see provider.Update. Segments of one
// role that follow each other are one message, unless one is Apart; in a user's message the results of tools come first, and
// else the source order stays. Texts that are blank are not sent, nor is what holds nothing else.
//
// A marker stands on the last block of its segment that can have one: neither reasoning nor an empty text. There may be four,
// and none of an hour behind one of five minutes. What a Raw holds of markers counts.
//
// Equal views give equal bytes: member order is fixed, strings have minimal escapes, and there are no spaces. Model,
// max_tokens, stream and the rest come first, so that what grows stands at the end.
//
// A view that breaks the contract is refused with a *unit.ContractError, one whose layers are not in order with a
// *view.OrderError; other errors say what cannot be written. Neither v nor p is changed or kept.
func (proto Protocol) Lower(v view.View, p provider.LowerParams) ([]byte, error) {
	if p.Type != "" && p.Type != provider.TypeMessages {
		return nil, provider.NotLowered(p.Type)
	}
	laid, err := provider.Lay(v, proto.Contract(provider.Request{Type: provider.TypeMessages}), p)
	if err != nil {
		return nil, err
	}
	l := &lowering{Lowering: provider.Lowering{Out: make([]byte, 0, provider.LoweredSize(v))}}
	l.Byte('{')
	l.Params(p, "max_tokens")
	l.Rest(p.Rest)
	l.tools(v.Tools)
	l.system(laid.System)
	if len(laid.Messages) > 0 || !l.Named("messages") {
		l.messages(laid.Messages)
	}
	l.Byte('}')
	return l.Body()
}

// lowering is a body that is being written. The first error sticks.
type lowering struct {
	provider.Lowering
	marks int
	short bool // a marker of five minutes was written
}

func (l *lowering) tools(tools []view.Tool) {
	if len(tools) == 0 {
		return
	}
	l.Member("tools")
	l.Byte('[')
	for i := range tools {
		l.Comma()
		l.block(tools[i].Name, tools[i].Raw, tools[i].Mark, toolBears, func(dst []byte) ([]byte, error) { return appendTool(dst, &tools[i]) })
	}
	l.Byte(']')
}

func (l *lowering) system(segments []*view.Segment) {
	if len(segments) == 0 {
		return
	}
	l.Member("system")
	l.Byte('[')
	for _, s := range segments {
		if s.Unit.Raw != nil {
			l.Fail(s.Unit.Ref, errors.New("a whole message is no block of the system"))
		}
		l.parts(s)
	}
	l.Byte(']')
}

func (l *lowering) messages(segments []*view.Segment) {
	l.Member("messages")
	l.Byte('[')
	for len(segments) > 0 {
		n := joined(segments)
		l.Comma()
		if first := segments[0]; first.Unit.Raw != nil {
			l.message(first)
		} else {
			l.open(first.Unit.Role)
			for _, s := range resultsFirst(segments[:n]) {
				l.parts(s)
			}
			l.String(`]}`)
		}
		segments = segments[n:]
	}
	l.Byte(']')
}

// open begins a message.
func (l *lowering) open(r unit.Role) { l.String(`{"role":"` + wire(r) + `","content":[`) }

// joined is how many segments, from the first on, are one message.
func joined(segments []*view.Segment) int {
	first := segments[0]
	for n, s := range segments {
		if n > 0 && (s.Apart || s.Unit.Raw != nil || first.Unit.Raw != nil || wire(s.Unit.Role) != wire(first.Unit.Role)) {
			return n
		}
	}
	return len(segments)
}

// resultsFirst puts the segments of tools before the others.
func resultsFirst(segments []*view.Segment) []*view.Segment {
	if wire(segments[0].Unit.Role) != "user" {
		return segments
	}
	other := func(s *view.Segment) int {
		if s.Unit.Role == unit.Tool {
			return 0
		}
		return 1
	}
	sorted := slices.Clone(segments)
	slices.SortStableFunc(sorted, func(a, b *view.Segment) int { return other(a) - other(b) })
	return sorted
}

// wire is a role as the wire names it.
func wire(r unit.Role) string {
	switch r {
	case unit.System, unit.Assistant:
		return string(r)
	}
	return "user"
}
