package anthropic

import (
	"fmt"
	"slices"
	"strconv"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Lower makes the body of a Messages request. System segments of the layers role and stable are its system, one block for
// each part; all others are its messages. Segments of one role that follow each other are one message, unless one is Apart;
// in a user's message the results of tools come first, and else the source order stays. Texts that are empty are not
// sent, nor is what holds nothing else.
//
// A marker stands on the last block of its segment that can have one: neither reasoning nor an empty text. There may be
// four, and none of an hour behind one of five minutes. What a Raw holds of markers counts.
//
// Equal views give equal bytes: member order is fixed, strings have minimal escapes, and there are no spaces. Model,
// max_tokens, stream and the rest come first, so that what grows stands at the end.
//
// A view that breaks the contract is refused with a *unit.ContractError, one whose layers are not in order with a
// *view.OrderError; other errors say what cannot be written. Neither v nor p is changed or kept.
func (proto Protocol) Lower(v view.View, p provider.LowerParams) ([]byte, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	system, messages := split(v.Segments)
	units := make([]unit.Unit, len(messages))
	for i, s := range messages {
		units[i] = s.Unit
	}
	if err := unit.Check(units, proto.Contract(provider.Request{Type: provider.TypeMessages})); err != nil {
		return nil, err
	}
	l := &lowering{out: make([]byte, 0, size(v))}
	l.byte('{')
	l.params(p)
	l.tools(v.Tools)
	l.system(system)
	if len(messages) > 0 || !l.named["messages"] {
		l.messages(messages)
	}
	l.byte('}')
	if l.err != nil {
		return nil, l.err
	}
	return l.out, nil
}

// split parts what is sent of the segments into system and messages.
func split(segments []view.Segment) (system, messages []*view.Segment) {
	for i := range segments {
		s := &segments[i]
		switch {
		case s.Unit.Raw == nil && !slices.ContainsFunc(s.Unit.Parts, sent) && s.Mark == view.NoMark:
		case s.Unit.Role == unit.System && (s.Layer == view.Role || s.Layer == view.Stable):
			system = append(system, s)
		default:
			messages = append(messages, s)
		}
	}
	return system, messages
}

// sent reports whether a part is written: all but an empty text.
func sent(p unit.Part) bool { return p.Kind != unit.Text || p.Text != "" || p.Raw != nil }

// size is about how long the body will be, in bytes.
func size(v view.View) int {
	n := 256
	for i := range v.Tools {
		n += 64 + len(v.Tools[i].Description) + len(v.Tools[i].Schema) + len(v.Tools[i].Raw)
	}
	for i := range v.Segments {
		n += 64 + v.Segments[i].Unit.Bytes()*9/8 + 128*len(v.Segments[i].Unit.Parts)
	}
	return n
}

// lowering is a body that is being written. The first error sticks.
type lowering struct {
	out   []byte
	named map[string]bool // the body's members so far
	marks int
	short bool // a marker of five minutes was written
	err   error
}

func (l *lowering) byte(c byte)     { l.out = append(l.out, c) }
func (l *lowering) string(s string) { l.out = append(l.out, s...) }

func (l *lowering) fail(ref, why string) {
	if l.err == nil {
		l.err = fmt.Errorf("lower %q: %s", ref, why)
	}
}

// comma stands before everything but the first of a list.
func (l *lowering) comma() {
	if last := l.out[len(l.out)-1]; last != '{' && last != '[' {
		l.byte(',')
	}
}

// member begins a member of the body.
func (l *lowering) member(name string) {
	if l.named == nil {
		l.named = map[string]bool{}
	}
	if l.named[name] {
		l.fail(name, "the body would have it twice")
	}
	l.named[name] = true
	l.comma()
	l.out = provider.AppendText(l.out, name)
	l.byte(':')
}

// json writes a JSON value in canonical form.
func (l *lowering) json(ref string, v []byte) {
	out, err := provider.AppendMinimal(l.out, v)
	if err != nil {
		l.fail(ref, err.Error())
		return
	}
	l.out = out
}

func (l *lowering) params(p provider.LowerParams) {
	if p.Model != "" {
		l.member("model")
		l.out = provider.AppendText(l.out, p.Model)
	}
	if p.MaxTokens > 0 {
		l.member("max_tokens")
		l.out = strconv.AppendInt(l.out, int64(p.MaxTokens), 10)
	}
	if p.Stream {
		l.member("stream")
		l.string("true")
	}
	for _, m := range p.Rest {
		l.member(m.Name)
		l.json(m.Name, m.Value)
	}
}

func (l *lowering) tools(tools []view.Tool) {
	if len(tools) == 0 {
		return
	}
	l.member("tools")
	l.byte('[')
	for i := range tools {
		l.comma()
		l.block(tools[i].Name, tools[i].Raw, tools[i].Mark, toolBears, func(dst []byte) ([]byte, error) { return appendTool(dst, &tools[i]) })
	}
	l.byte(']')
}

func (l *lowering) system(segments []*view.Segment) {
	if len(segments) == 0 {
		return
	}
	l.member("system")
	l.byte('[')
	for _, s := range segments {
		if s.Unit.Raw != nil {
			l.fail(s.Unit.Ref, "a whole message is no block of the system")
		}
		l.parts(s)
	}
	l.byte(']')
}

func (l *lowering) messages(segments []*view.Segment) {
	l.member("messages")
	l.byte('[')
	for len(segments) > 0 {
		n := joined(segments)
		l.comma()
		if first := segments[0]; first.Unit.Raw != nil {
			l.message(first)
		} else {
			l.open(first.Unit.Role)
			for _, s := range resultsFirst(segments[:n]) {
				l.parts(s)
			}
			l.string(`]}`)
		}
		segments = segments[n:]
	}
	l.byte(']')
}

// open begins a message.
func (l *lowering) open(r unit.Role) { l.string(`{"role":"` + wire(r) + `","content":[`) }

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
