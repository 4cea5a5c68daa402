package anthropic

import (
	"bytes"
	"fmt"
	"strconv"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Lift makes a view of the decoded body of a Messages request, and says what else the body holds. Each block of the system
// is a stable segment; each message is a working one, or several: behind each marker a new one begins, and the results with
// which a user's message begins are a tool's. A unit's ref is the JSON pointer to its first block, or to the message where it
// is the first of it.
//
// Nothing of the body is lost but how it spells what is equal, the order of its members, and lists of tools, system blocks
// and messages that are empty: what is not understood is Raw, at the least part that shows it, and so is what Lower
// would write in another way. A marker that says more than its time to live is left in the Raw of its block. Lowering gives
// a body with the same canonical elements, or says why not; lowering what Lower made gives the same bytes.
//
// The error is provider.ErrNotUnderstood, with the reason. The body is neither changed nor kept.
func (Protocol) Lift(body []byte) (view.View, provider.LowerParams, error) {
	body = bytes.Clone(body)
	found := provider.JSON(body).Find("model", "max_tokens", "stream", "tools", "system", "messages")
	p, known := liftParams(found[0], found[1], found[2])
	var v view.View
	if tools := found[3]; tools.Kind() == '[' {
		known = append(known, "tools")
		for tool := range tools.Elements() {
			v.Tools = append(v.Tools, liftTool(tool))
		}
	}
	if system := found[4]; system.Kind() == '[' || system.Kind() == '"' {
		known = append(known, "system")
		v.Segments = liftSystem(system)
	}
	if messages := found[5]; messages.Kind() == '[' {
		known = append(known, "messages")
		v.Segments = append(v.Segments, liftMessages(messages)...)
	}
	rest, err := provider.RestOf(body, known...)
	if err != nil {
		return view.View{}, provider.LowerParams{}, fmt.Errorf("lift a body: %w", err)
	}
	p.Rest = rest
	return v, p, nil
}

// liftParams reads those of three members that Lower would write alike, and returns their names. The others are kept
// with the rest.
func liftParams(model, maxTokens, stream provider.JSON) (p provider.LowerParams, known []string) {
	if text := provider.DecodeText(model); text != "" {
		if spelled, err := provider.AppendMinimal(nil, model); err == nil && bytes.Equal(spelled, provider.AppendText(nil, text)) {
			p.Model, known = text, append(known, "model")
		}
	}
	if n, ok := maxTokens.Count(); ok && n > 0 && strconv.FormatInt(n, 10) == string(maxTokens) && int64(int(n)) == n {
		p.MaxTokens, known = int(n), append(known, "max_tokens")
	}
	if stream.True() {
		p.Stream, known = true, append(known, "stream")
	}
	return p, known
}

func liftTool(raw provider.JSON) view.Tool {
	var t view.Tool
	if raw.Kind() == '{' {
		found := raw.Find("name", "description", "input_schema")
		t.Name, t.Description, t.Schema = provider.DecodeText(found[0]), provider.DecodeText(found[1]), found[2]
	}
	bare, mark := unmarked(raw, toolBears)
	t.Mark = mark
	if spelled, err := appendTool(nil, &t); err != nil || !bytes.Equal(spelled, bare.minimal) {
		t.Raw = bare.raw
	}
	return t
}

func liftSystem(system provider.JSON) (segments []view.Segment) {
	add := func(ref string, p unit.Part, mark view.Mark) {
		u := unit.Unit{Ref: ref, Role: unit.System, Parts: []unit.Part{p}}
		segments = append(segments, view.Segment{Layer: view.Stable, Unit: u, Mark: mark})
	}
	if system.Kind() == '"' {
		add("/system", liftString(system), view.NoMark)
		return segments
	}
	i := 0
	for block := range system.Elements() {
		p, mark := liftBlock(block)
		if p.Kind == unit.Call || p.Kind == unit.Result {
			p = unit.Part{Kind: unit.Opaque, Raw: p.Raw}
		}
		add("/system/"+strconv.Itoa(i), p, mark)
		i++
	}
	return segments
}

func liftMessages(messages provider.JSON) (segments []view.Segment) {
	var list []lifted
	var raws []provider.JSON
	for raw := range messages.Elements() {
		list, raws = append(list, liftMessage(raw)), append(raws, raw)
	}
	before := ""
	for i, m := range list {
		raw, ref, role := raws[i], "/messages/"+strconv.Itoa(i), wire(m.role)
		first := len(segments)
		if m.whole || role == "system" && misplaced(list, i) {
			u := unit.Unit{Ref: ref, Role: m.role, Parts: m.parts, Raw: raw}
			segments = append(segments, view.Segment{Layer: view.Working, Unit: u})
		} else {
			segments = append(segments, m.segments(ref)...)
		}
		segments[first].Apart = role == before
		before = role
	}
	return segments
}

// misplaced reports whether Lower would not leave the system's message at i where it is. Then it is kept as it is spelled, so
// that it is refused, and not told in another way.
func misplaced(list []lifted, i int) bool {
	before, after := i-1, i+1
	for before >= 0 && list[before].role == unit.System {
		before--
	}
	for after < len(list) && list[after].role == unit.System {
		after++
	}
	return before < 0 || list[before].role == unit.Assistant || after < len(list) && list[after].role != unit.Assistant
}
