package openai

import (
	"strconv"
	"strings"

	"ambit/provider"
)

// chatMessage reads one message.
func chatMessage(raw provider.JSON, at string) provider.Message {
	m := provider.Message{Role: raw.Find("role")[0].Text()}
	said, ok := saidBy(m.Role)
	m.Unknown = !ok
	if said != "" {
		addChat(&m, raw, at, said)
	}
	return m
}

// addChat adds what a message says. reasoning_content, which some servers send, is not public.
func addChat(m *provider.Message, raw provider.JSON, at, said string) {
	found := raw.Find("content", "refusal", "tool_calls", "function_call", "tool_call_id")
	addContent(m, found[0], at+"/content", said)
	m.AddText(at+"/refusal", said, found[1])
	i := 0
	for call := range found[2].Elements() {
		addToolCall(m, call, at+"/tool_calls/"+strconv.Itoa(i))
		i++
	}
	if f := found[3]; f.Kind() == '{' {
		named := f.Find("name", "arguments")
		m.AddCall(at+"/function_call/arguments", "", named[0].Text(), named[1], false)
	}
	m.AddResult(found[4])
}

func addToolCall(m *provider.Message, call provider.JSON, field string) {
	c, ok := readToolCall(call)
	if !ok {
		m.Unknown = true
		return
	}
	m.AddCall(field+"/"+c.member, c.id, c.name, c.args, c.free)
}

// toolCall is an entry of tool_calls.
type toolCall struct {
	id, name string
	args     provider.JSON
	member   string // where the arguments stand
	free     bool   // they are free text
}

// readToolCall reads an entry or, in a stream, a piece of one; ok is false when it is of a kind that is not known.
func readToolCall(call provider.JSON) (c toolCall, ok bool) {
	found := call.Find("id", "type", "function", "custom")
	switch found[1].Text() {
	case "", "function", "custom":
	default:
		return c, false
	}
	c.id, c.member = found[0].Text(), "function/arguments"
	named := found[2].Find("name", "arguments")
	if len(found[3]) > 0 && found[3].Kind() == '{' {
		named = found[3].Find("name", "input")
		c.member, c.free = "custom/input", true
	}
	c.name, c.args = named[0].Text(), named[1]
	return c, true
}

// addChoices adds the first choice of an answer, or of a piece of one.
func addChoices(d *provider.Draft, choices provider.JSON) {
	for choice := range choices.Elements() {
		found := choice.Find("index", "delta", "message", "finish_reason")
		if n, ok := found[0].Count(); ok && n != 0 {
			continue
		}
		if message := found[2]; message.Kind() == '{' {
			addWholeMessage(d, message)
			d.End()
		}
		addDelta(d, found[1])
		if found[3].Text() != "" {
			d.CloseCalls()
			d.End()
		}
	}
}

func addWholeMessage(d *provider.Draft, message provider.JSON) {
	var m provider.Message
	addChat(&m, message, "", provider.SaidAssistant)
	for _, text := range m.Texts {
		if text.Said == provider.SaidAssistant && !isRefusal(text) {
			d.AddText(text.Text)
		}
	}
	for _, c := range m.Calls {
		d.AddCall(c.ID, c.Name, c.Args)
	}
	d.Unknown = d.Unknown || m.Unknown
}

// isRefusal reports whether a text is one that the providers give instead of an answer, and that is none.
func isRefusal(text provider.Text) bool { return strings.HasSuffix(text.Field, "/refusal") }

func addDelta(d *provider.Draft, delta provider.JSON) {
	if delta.Kind() != '{' {
		return
	}
	found := delta.Find("content", "tool_calls", "function_call")
	d.AddText(found[0].Text())
	for call := range found[1].Elements() {
		addCallDelta(d, call)
	}
}

// addCallDelta adds a piece of a call. Some servers number all calls alike; then another id tells them apart.
func addCallDelta(d *provider.Draft, call provider.JSON) {
	c, ok := readToolCall(call)
	if !ok {
		d.Unknown = true
		return
	}
	key, _ := call.Find("index")[0].Count()
	if id, open := d.IsOpen(key); !open || c.id != "" && c.id != id {
		d.OpenCall(key, c.id, c.name, nil)
	}
	d.AddArgs(key, c.args.Text())
}
