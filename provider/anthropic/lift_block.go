package anthropic

import (
	"bytes"
	"strconv"
	"strings"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// lifted is a message that was read.
type lifted struct {
	role  unit.Role // as the message names it
	parts []unit.Part
	marks []view.Mark // of each part
	whole bool        // the parts do not say all: it must be kept as it is spelled
}

// liftMessage reads a message. One that is spelled as a whole has no marks: they stay in it.
func liftMessage(raw provider.JSON) lifted {
	if raw.Kind() != '{' {
		return lifted{role: unit.User, whole: true}
	}
	var names []string
	var values []provider.JSON
	for name, value := range raw.Members() {
		names, values = append(names, name), append(values, value)
	}
	var content provider.JSON
	var m lifted
	for i, name := range names {
		switch name {
		case "role":
			m.role = unit.Role(values[i].Text())
		case "content":
			content = values[i]
		}
	}
	switch content.Kind() {
	case '"':
		m.add(liftString(content), view.NoMark)
	case '[':
		for block := range content.Elements() {
			m.add(liftBlock(block))
		}
	}
	known := m.role == unit.User || m.role == unit.Assistant || m.role == unit.System
	uses := sameUses(m.parts, nil)
	m.whole = !known || len(m.parts) == 0 || len(names) != 2 || names[0] != "role" || m.role == unit.System && !uses
	if !known {
		m.role = unit.User
	}
	return m
}

func (m *lifted) add(p unit.Part, mark view.Mark) {
	m.parts, m.marks = append(m.parts, p), append(m.marks, mark)
}

// segments parts a message into segments.
func (m *lifted) segments(ref string) (segments []view.Segment) {
	role, from := m.role, 0
	if role == unit.User && m.parts[0].Kind == unit.Result {
		role = unit.Tool
	}
	for i := range m.parts {
		last := i+1 == len(m.parts)
		other := !last && role == unit.Tool && m.parts[i+1].Kind != unit.Result
		if !last && !other && m.marks[i] == view.NoMark {
			continue
		}
		u := unit.Unit{Ref: ref, Role: role, Parts: m.parts[from : i+1 : i+1]}
		if from > 0 {
			u.Ref += "/content/" + strconv.Itoa(from)
		}
		segments = append(segments, view.Segment{Layer: view.Working, Unit: u, Mark: m.marks[i]})
		from = i + 1
		if other {
			role = unit.User
		}
	}
	return segments
}

// liftString reads a string that stands for a block of text.
func liftString(text provider.JSON) unit.Part {
	block := append(append([]byte(`{"type":"text","text":`), text...), '}')
	p, _ := liftBlock(block)
	return p
}

// liftBlock reads a content block, and takes its marker off where Lower would put it on again.
func liftBlock(raw provider.JSON) (unit.Part, view.Mark) {
	bare, mark := unmarked(raw, canBear)
	p := understand(raw)
	if p.Kind != unit.Opaque && saysAll(&p, bare.minimal) {
		return p, mark
	}
	p.Raw = bare.raw
	return p, mark
}

// saysAll reports whether Lower would write a part as it stands here.
func saysAll(p *unit.Part, minimal []byte) bool {
	spelled, err := appendPart(make([]byte, 0, len(minimal)+16), p)
	return err == nil && bytes.Equal(spelled, minimal)
}

// understand reads what a block says. One that says nothing that is known, or a blank text, is opaque.
func understand(raw provider.JSON) unit.Part {
	opaque := unit.Part{Kind: unit.Opaque}
	if raw.Kind() != '{' {
		return opaque
	}
	found := raw.Find("type", "text", "id", "name", "input", "tool_use_id", "content", "is_error")
	switch blockType := found[0].Text(); {
	case blockType == "text":
		if text := provider.DecodeText(found[1]); !provider.Blank(text) {
			return unit.Part{Kind: unit.Text, Text: text}
		}
	case blockType == "tool_use" && found[2].Kind() == '"':
		return unit.Part{Kind: unit.Call, ID: provider.DecodeText(found[2]), Name: provider.DecodeText(found[3]), Args: found[4]}
	case blockType == "tool_result" && found[5].Kind() == '"':
		return unit.Part{Kind: unit.Result, ID: provider.DecodeText(found[5]), Text: resultText(found[6]), Failed: found[7].True()}
	}
	return opaque
}

// resultText is what a result says in text: a string, or the texts among its blocks, a line break between them.
func resultText(content provider.JSON) string {
	if content.Kind() != '[' {
		return provider.DecodeText(content)
	}
	var texts []string
	for block := range content.Elements() {
		if block.Kind() != '{' {
			continue
		}
		if found := block.Find("type", "text"); found[0].Text() == "text" {
			texts = append(texts, provider.DecodeText(found[1]))
		}
	}
	return strings.Join(texts, "\n")
}

// spelling is how a block stands in a body, without the marker that was taken off, and its canonical form.
type spelling struct{ raw, minimal []byte }

// unmarked takes the marker off a block or a tool where it says no more than a Mark and may stand there.
func unmarked(raw provider.JSON, bears bearing) (spelling, view.Mark) {
	if control := member(raw, "cache_control"); control != nil {
		text, err := provider.AppendMinimal(nil, control)
		bare, errBare := provider.AppendWithout(nil, raw, "cache_control")
		mark := markOf(string(text))
		if err == nil && errBare == nil && mark != view.NoMark && bears(bare) {
			return spelling{bare, bare}, mark
		}
	}
	minimal, err := provider.AppendMinimal(make([]byte, 0, len(raw)), raw)
	if err != nil {
		return spelling{raw: raw}, view.NoMark // the whole body is refused
	}
	return spelling{raw, minimal}, view.NoMark
}

// markOf returns the marker that a cache_control, in canonical form, stands for, and none where it says anything else.
func markOf(control string) view.Mark {
	for mark, text := range spelled {
		if control == text {
			return mark
		}
	}
	switch control {
	case `{"type":"ephemeral","ttl":"5m"}`, `{"ttl":"5m","type":"ephemeral"}`:
		return view.FiveMinute
	case `{"ttl":"1h","type":"ephemeral"}`:
		return view.OneHour
	}
	return view.NoMark
}
