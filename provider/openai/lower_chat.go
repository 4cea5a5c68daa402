package openai

import (
	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

func (l *lowering) chat(tools []view.Tool, system string, messages []*view.Segment, p provider.LowerParams) {
	l.Params(p, "max_completion_tokens")
	if p.Stream {
		l.Default(p, "stream_options", `{"include_usage":true}`)
	}
	l.Rest(p.Rest)
	l.tools(tools, func(t *view.Tool) {
		l.String(`{"type":"function","function":{"name":`)
		l.Text(t.Name)
		l.described(t, "")
		l.String(`}}`)
	})
	l.Member("messages")
	l.Byte('[')
	if system != "" {
		l.String(`{"role":"system","content":`)
		l.Text(system)
		l.Byte('}')
	}
	for len(messages) > 0 {
		n := together(messages)
		if messages[0].Unit.Role == unit.Assistant {
			l.answer(messages[:n])
		} else {
			l.asked(messages[:n])
		}
		messages = messages[n:]
	}
	l.Byte(']')
}

// together is how many segments, from the first on, are written together: an answer, which ends at one that is Apart only if
// no call waits, or what stands between two.
func together(segments []*view.Segment) int {
	side := segments[0].Unit.Role == unit.Assistant
	calls := false
	for n, s := range segments {
		if n > 0 && ((s.Unit.Role == unit.Assistant) != side || side && s.Apart && !calls) {
			return n
		}
		calls = calls || len(s.Unit.Calls()) > 0
	}
	return len(segments)
}

// answer writes the segments of an answer as one message.
func (l *lowering) answer(segments []*view.Segment) {
	var texts, calls []*unit.Part
	var refs []string // of the calls
	for _, s := range segments {
		if s.Unit.Raw != nil {
			l.Fail(s.Unit.Ref, provider.ErrForeign)
		}
		for i := range s.Unit.Parts {
			part := &s.Unit.Parts[i]
			if !provider.Sent(*part) {
				continue
			}
			if err := meansChat(part, unit.Assistant); err != nil {
				l.Fail(s.Unit.Ref, err)
			}
			if part.Kind == unit.Call {
				calls, refs = append(calls, part), append(refs, s.Unit.Ref)
			} else {
				texts = append(texts, part)
			}
		}
	}
	if len(texts)+len(calls) == 0 {
		return
	}
	l.Comma()
	l.String(`{"role":"assistant","content":`)
	l.said(segments[0].Unit.Ref, texts)
	if len(calls) > 0 {
		l.String(`,"tool_calls":[`)
		for i, c := range calls {
			l.Comma()
			l.call(refs[i], c)
		}
		l.Byte(']')
	}
	l.Byte('}')
}

// said writes a content: the only text, all parts, or null.
func (l *lowering) said(ref string, parts []*unit.Part) {
	switch {
	case len(parts) == 0:
		l.String("null")
	case len(parts) == 1 && parts[0].Raw == nil:
		l.Text(parts[0].Text)
	default:
		l.Byte('[')
		for _, part := range parts {
			l.Comma()
			l.content(ref, part, "text")
		}
		l.Byte(']')
	}
}

func (l *lowering) call(ref string, c *unit.Part) {
	if c.Raw != nil {
		l.JSON(ref, c.Raw)
		return
	}
	l.String(`{"id":`)
	l.Text(c.ID)
	l.String(`,"type":"function","function":{"name":`)
	l.Text(c.Name)
	l.String(`,"arguments":`)
	l.args(ref, c.Args)
	l.String(`}}`)
}

// asked writes what stands between two answers: each result as a message, then of each segment what else it says.
func (l *lowering) asked(segments []*view.Segment) {
	for _, s := range segments {
		if s.Unit.Raw != nil {
			l.Fail(s.Unit.Ref, provider.ErrForeign)
		}
		for i := range s.Unit.Parts {
			if part := &s.Unit.Parts[i]; part.Kind == unit.Result {
				l.result(s.Unit.Ref, part)
			}
		}
	}
	for _, s := range segments {
		var parts []*unit.Part
		for i := range s.Unit.Parts {
			part := &s.Unit.Parts[i]
			if part.Kind == unit.Result || !provider.Sent(*part) {
				continue
			}
			if err := meansChat(part, s.Unit.Role); err != nil {
				l.Fail(s.Unit.Ref, err)
			}
			parts = append(parts, part)
		}
		if len(parts) == 0 {
			continue
		}
		l.Comma()
		role := "user"
		if s.Unit.Role == unit.System {
			role = "system"
		}
		l.String(`{"role":"` + role + `","content":`)
		l.said(s.Unit.Ref, parts)
		l.Byte('}')
	}
}

func (l *lowering) result(ref string, part *unit.Part) {
	l.Comma()
	if part.Raw != nil {
		if err := meansChat(part, unit.Tool); err != nil {
			l.Fail(ref, err)
		}
		l.JSON(ref, part.Raw)
		return
	}
	l.String(`{"role":"tool","tool_call_id":`)
	l.Text(part.ID)
	l.String(`,"content":`)
	l.Text(provider.Says(*part))
	l.Byte('}')
}
