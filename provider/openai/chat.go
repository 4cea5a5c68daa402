package openai

import "ambit/provider"

// aboutChat is what is never public text in a message, and aboutCall in a call: reasoning, which some servers send in
// these members, ids, and images.
var (
	aboutChat = set("role", "name", "id", "type", "status", "tool_call_id", "cache_control", "reasoning_content", "reasoning", "reasoning_text",
		"reasoning_details", "reasoning_opaque", "reasoning_signature", "encrypted_content", "thinking", "thinking_blocks", "signature",
		"images", "phase", "model", "metadata", "provider_specific_fields", "extra_content", "obfuscation")
	// reasonedChat are those that hold reasoning, or may hold a signature of one.
	reasonedChat = []string{
		"reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "reasoning_opaque",
		"reasoning_signature", "encrypted_content", "thinking", "thinking_blocks", "signature", "provider_specific_fields", "extra_content",
	}
	aboutCall  = set("id", "type", "index", "name", "extra_content", "provider_specific_fields", "cache_control")
	aboutAudio = set("id", "data", "format")
)

// chatMessage reads one message.
func chatMessage(raw provider.JSON, at string) provider.Message {
	m := provider.Message{Role: raw.Find("role")[0].Text()}
	said, ok := saidBy(m.Role)
	m.Unknown = !ok
	if said != "" {
		addChat(&m, raw.Object(), at, said)
	}
	return m
}

// addChat adds what a message says. reasoning_content, which some servers send, is not public.
func addChat(m *provider.Message, o provider.Object, at, said string) {
	addSaid(m, o.Take("content"), o, at, said)
}

// addSaid adds what a message says, of which some was taken already.
func addSaid(m *provider.Message, content provider.JSON, o provider.Object, at, said string) {
	m.FixIf(provider.Reasoned, o.See(reasonedChat...)...)
	m.FixIf(provider.Media, o.See("audio", "images")...)
	m.AddResult(o.Take("tool_call_id"))
	addContent(m, content, at+"/content", said)
	m.AddText(at+"/refusal", said, o.Take("refusal"))
	audio := m.Object(o.Take("audio"))
	m.AddText(at+"/audio/transcript", said, audio.Take("transcript"))
	m.Rest(audio, aboutAudio)
	addAnnotations(m, o.Take("annotations"), at+"/annotations")
	for field, call := range m.Each(at+"/tool_calls", o.Take("tool_calls")) {
		addToolCall(m, call, field)
	}
	if old := o.Take("function_call"); old.Kind() != 0 && old.Kind() != 'n' {
		f := m.Object(old)
		m.AddCall(at+"/function_call/arguments", "", f.Take("name").Text(), f.Take("arguments"), false)
		m.Rest(f, nil)
	}
	m.Rest(o, aboutChat)
}

func addToolCall(m *provider.Message, call provider.JSON, field string) {
	c, ok := readToolCall(call)
	if !ok {
		m.Unknown = true
		return
	}
	m.Unknown = m.Unknown || c.unknown
	m.FixIf(provider.Reasoned, c.signed...)
	m.AddCall(field+"/"+c.member, c.id, c.name, c.args, c.free)
}

// toolCall is an entry of tool_calls.
type toolCall struct {
	id, name string
	args     provider.JSON
	member   string          // where the arguments stand
	free     bool            // they are free text
	unknown  bool            // it holds something else
	signed   []provider.JSON // what may hold a signature
}

// readToolCall reads an entry or, in a stream, a piece of one; ok is false when it is of a kind that is not known.
func readToolCall(call provider.JSON) (c toolCall, ok bool) {
	var m provider.Message
	o := m.Object(call)
	switch o.Take("type").Text() {
	case "", "function", "custom":
	default:
		return c, false
	}
	c.id, c.member = o.Take("id").Text(), "function/arguments"
	c.signed = o.See("extra_content", "provider_specific_fields")
	kind, args := "function", "arguments"
	if call.Find("custom")[0].Kind() == '{' {
		c.member, c.free = "custom/input", true
		kind, args = "custom", "input"
	}
	f := m.Object(o.Take(kind))
	c.name, c.args = f.Take("name").Text(), f.Take(args)
	m.Rest(f, aboutCall)
	m.Rest(o, aboutCall)
	c.unknown = m.Unknown
	return c, true
}

// aboutChoice is what is never public text in a choice.
var aboutChoice = set("index", "finish_reason", "native_finish_reason", "stop_reason", "logprobs", "content_filter_results",
	"content_filter_offsets", "matched_stop", "token_ids", "error")

// addChoices adds the choices of an answer, or of a piece of one.
func addChoices(d *provider.Draft, choices provider.JSON) {
	var m provider.Message
	for _, choice := range m.Each("", choices) {
		o := m.Object(choice)
		found := choice.Find("index", "finish_reason")
		n, _ := found[0].Count()
		text, message, delta := o.Take("text"), o.Take("message"), o.Take("delta")
		m.Rest(o, aboutChoice)
		if n != 0 {
			d.AddOther(n, text)
			addOther(d, n, message)
			addOther(d, n, delta)
			continue
		}
		d.AddPiece(text)
		if message.Kind() == '{' {
			var m provider.Message
			addChat(&m, message.Object(), "", provider.SaidAssistant)
			d.Add(m)
			d.End()
		}
		m.Unknown = m.Unknown || message.Kind() != '{' && message.HoldsText()
		addDelta(d, delta)
		if found[1].Text() != "" {
			d.CloseCalls()
			d.End()
		}
	}
	d.Unknown = d.Unknown || m.Unknown
}

// addOther adds a message of a further choice, of which only the text is read. Its delta is a small message.
func addOther(d *provider.Draft, n int64, message provider.JSON) {
	var m provider.Message
	o := m.Object(message)
	content := takePiece(o, func(v provider.JSON) { d.AddOther(n, v) })
	addSaid(&m, content, o, "", provider.SaidAssistant)
	d.AddChoice(n, m)
}

// takePiece gives content away that is a piece of text, and returns content that is something else.
func takePiece(o provider.Object, add func(provider.JSON)) provider.JSON {
	content := o.Take("content")
	if content.Kind() != '"' {
		return content
	}
	add(content)
	return nil
}

// oldCall is the key of the call that functions of the older API make; tools' calls are numbered.
const oldCall = -1

// addDelta adds a piece of a message: a small message, of which calls and text may be cut anywhere.
func addDelta(d *provider.Draft, delta provider.JSON) {
	if delta == nil {
		return
	}
	var m provider.Message
	o := m.Object(delta)
	content := takePiece(o, d.AddPiece)
	for _, call := range m.Each("", o.Take("tool_calls")) {
		addCallDelta(d, call)
	}
	if old := o.Take("function_call"); old.Kind() != 0 && old.Kind() != 'n' {
		f := m.Object(old)
		name, args := f.Take("name"), f.Take("arguments")
		if _, open := d.IsOpen(oldCall); !open {
			d.OpenCall(oldCall, "", name.Text(), nil)
		}
		d.AddArgs(oldCall, args)
		m.Rest(f, nil)
	}
	audio := m.Object(o.Take("audio"))
	d.AddPiece(audio.Take("transcript"))
	m.Rest(audio, aboutAudio)
	d.AddPiece(o.Take("refusal"))
	addSaid(&m, content, o, "", provider.SaidAssistant)
	d.Add(m)
}

// addCallDelta adds a piece of a call. Some servers number all calls alike; then another id tells them apart.
func addCallDelta(d *provider.Draft, call provider.JSON) {
	c, ok := readToolCall(call)
	if !ok {
		d.Unknown = true
		return
	}
	d.Unknown = d.Unknown || c.unknown
	key, _ := call.Find("index")[0].Count()
	if id, open := d.IsOpen(key); !open || c.id != "" && c.id != id {
		d.OpenCall(key, c.id, c.name, nil)
	}
	d.AddArgs(key, c.args)
}
