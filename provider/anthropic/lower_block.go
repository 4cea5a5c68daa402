package anthropic

import (
	"errors"
	"slices"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// maxMarks is how many cache markers a request may have: Anthropic's public documentation, Prompt caching.
const maxMarks = 4

// spelled are the markers as they are written.
var spelled = map[view.Mark]string{
	view.FiveMinute: `{"type":"ephemeral"}`,
	view.OneHour:    `{"type":"ephemeral","ttl":"1h"}`,
}

var errUnspelled = errors.New("an opaque part says nothing of how it is spelled")

// parts writes the blocks of a segment, with its marker.
func (l *lowering) parts(s *view.Segment) {
	parts := s.Unit.Parts
	marked := -1
	for i := len(parts) - 1; i >= 0 && marked < 0 && s.Mark != view.NoMark; i-- {
		if provider.Sent(parts[i]) && (parts[i].Raw == nil || canBear(parts[i].Raw)) {
			marked = i
		}
	}
	if marked < 0 && s.Mark != view.NoMark {
		l.Fail(s.Unit.Ref, errors.New("nothing in it can have a cache marker"))
	}
	for i := range parts {
		p := &parts[i]
		if !provider.Sent(*p) {
			continue
		}
		if s.Unit.Role == unit.System && p.Kind != unit.Text && p.Kind != unit.Opaque {
			l.Fail(s.Unit.Ref, errors.New("the system makes no calls and has no results"))
		}
		mark := view.NoMark
		if i == marked {
			mark = s.Mark
		}
		l.Comma()
		l.block(s.Unit.Ref, p.Raw, mark, canBear, func(dst []byte) ([]byte, error) { return appendPart(dst, p) })
	}
}

// block writes a block or a tool, whose own spelling is raw, if it has one, and puts the marker on it. A marker that raw
// has already is written as Lift would give it back.
func (l *lowering) block(ref string, raw provider.JSON, mark view.Mark, bears bearing, write func(dst []byte) ([]byte, error)) {
	from := len(l.Out)
	out, err := write(l.Out)
	if err != nil {
		l.Fail(ref, err)
		return
	}
	l.Out = out
	if own, ok := ownMark(raw); ok {
		if mark != view.NoMark {
			l.Fail(ref, errors.New("it has a cache marker of its own"))
		}
		bare, known := unmarked(raw, bears)
		if known == view.NoMark {
			l.count(ref, own)
			return
		}
		l.Out, mark = append(l.Out[:from], bare.minimal...), known
	}
	if mark != view.NoMark {
		l.mark(ref, mark)
	}
}

// mark puts a marker on the block or tool that was written last.
func (l *lowering) mark(ref string, mark view.Mark) {
	text, ok := spelled[mark]
	if !ok || l.Out[len(l.Out)-1] != '}' {
		l.Fail(ref, errors.New("the cache marker cannot be written"))
		return
	}
	l.Out = l.Out[:len(l.Out)-1]
	l.Comma()
	l.String(`"cache_control":` + text + `}`)
	l.count(ref, mark)
}

// count counts a marker.
func (l *lowering) count(ref string, mark view.Mark) {
	l.marks++
	switch {
	case l.marks > maxMarks:
		l.Fail(ref, errors.New("the fifth cache marker"))
	case l.short && mark == view.OneHour:
		l.Fail(ref, errors.New("a cache marker of an hour behind one of five minutes"))
	}
	l.short = l.short || mark != view.OneHour
}

// ownMark returns the marker that a block has in its own spelling.
func ownMark(raw provider.JSON) (mark view.Mark, ok bool) {
	control := member(raw, "cache_control")
	if control.Kind() != '{' {
		return view.NoMark, false
	}
	if member(control, "ttl").Text() == "1h" {
		return view.OneHour, true
	}
	return view.FiveMinute, true
}

// member returns a member of an object, or nothing.
func member(v provider.JSON, name string) provider.JSON {
	if v.Kind() != '{' {
		return nil
	}
	return v.Find(name)[0]
}

// bearing says whether a block or a tool, as it is spelled, may have a marker.
type bearing func(raw provider.JSON) bool

// toolBears: every tool may.
func toolBears(raw provider.JSON) bool { return raw.Kind() == '{' }

// canBear reports whether a block, as it is spelled, may have a marker.
func canBear(raw provider.JSON) bool {
	if raw.Kind() != '{' {
		return false
	}
	found := raw.Find("type", "text", "cache_control")
	switch found[0].Text() {
	case "text":
		return len(found[1]) > len(`""`) && found[2] == nil
	case "thinking", "redacted_thinking", "":
		return false
	}
	return found[2] == nil
}

// message writes a message that is spelled as a whole: as it is, or as its parts where these say all.
func (l *lowering) message(s *view.Segment) {
	m := liftMessage(s.Unit.Raw)
	switch {
	case s.Mark != view.NoMark:
		l.Fail(s.Unit.Ref, errors.New("a message that is spelled as a whole cannot have a cache marker"))
	case !sameUses(m.parts, s.Unit.Parts), wire(m.role) != wire(s.Unit.Role):
		l.Fail(s.Unit.Ref, provider.ErrSpelled)
	}
	if !m.whole {
		l.open(m.role)
		for _, part := range m.segments(s.Unit.Ref) {
			l.parts(&part)
		}
		l.String(`]}`)
		return
	}
	l.JSON(s.Unit.Ref, s.Unit.Raw)
	for block := range member(s.Unit.Raw, "content").Elements() {
		if own, ok := ownMark(block); ok {
			l.count(s.Unit.Ref, own)
		}
	}
	if own, ok := ownMark(s.Unit.Raw); ok {
		l.count(s.Unit.Ref, own)
	}
}

// sameUses reports whether two lists of parts make the same calls and hold the same results.
func sameUses(a, b []unit.Part) bool {
	uses := func(parts []unit.Part) (list []unit.Part) {
		for _, p := range parts {
			if p.Kind == unit.Call || p.Kind == unit.Result {
				list = append(list, unit.Part{Kind: p.Kind, ID: p.ID})
			}
		}
		return list
	}
	return slices.EqualFunc(uses(a), uses(b), func(a, b unit.Part) bool { return a.Kind == b.Kind && a.ID == b.ID })
}

// appendPart appends a part as a content block, without marker. The order of a result's members is that of Claude Code's
// requests.
func appendPart(dst []byte, p *unit.Part) ([]byte, error) {
	if p.Raw != nil {
		if err := sameMeaning(p); err != nil {
			return dst, err
		}
		return provider.AppendMinimal(dst, p.Raw)
	}
	switch p.Kind {
	case unit.Text:
		dst = provider.AppendText(append(dst, `{"type":"text","text":`...), p.Text)
	case unit.Call:
		dst = provider.AppendText(append(dst, `{"type":"tool_use","id":`...), p.ID)
		dst = provider.AppendText(append(dst, `,"name":`...), p.Name)
		dst = append(dst, `,"input":`...)
		if len(p.Args) == 0 {
			dst = append(dst, `{}`...)
			break
		}
		var err error
		if dst, err = provider.AppendMinimal(dst, p.Args); err != nil {
			return dst, err
		}
	case unit.Result:
		dst = provider.AppendText(append(dst, `{"tool_use_id":`...), p.ID)
		dst = provider.AppendText(append(dst, `,"type":"tool_result","content":`...), provider.Says(*p))
		if p.Failed {
			dst = append(dst, `,"is_error":true`...)
		}
	default:
		return dst, errUnspelled
	}
	return append(dst, '}'), nil
}

// appendTool appends a tool, without marker.
func appendTool(dst []byte, t *view.Tool) ([]byte, error) {
	if t.Raw != nil {
		return provider.AppendMinimal(dst, t.Raw)
	}
	dst = provider.AppendText(append(dst, `{"name":`...), t.Name)
	if t.Description != "" {
		dst = provider.AppendText(append(dst, `,"description":`...), t.Description)
	}
	if len(t.Schema) > 0 {
		var err error
		if dst, err = provider.AppendMinimal(append(dst, `,"input_schema":`...), t.Schema); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}
