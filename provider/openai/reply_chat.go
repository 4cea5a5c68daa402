package openai

import "ambit/provider"

func replyChat(contentType string, body []byte) (provider.Reply, error) {
	var c chat
	for at, part := range provider.ReplyParts(contentType, body, &c.draft, &c.ended) {
		c.read(at.At, part)
	}
	if !c.ended {
		c.draft.Fail(provider.NoAnswer(contentType, body))
	}
	c.draft.Text(string(c.text), nil)
	for _, call := range c.calls {
		call.add(&c.draft)
	}
	stop, ok := chatStops[c.reason]
	if !ok {
		stop = provider.StopOther
	}
	if c.refused {
		stop = provider.StopRefusal
	}
	return c.draft.Reply(stop, c.reason)
}

// chatStops are the reasons why an answer ended: OpenAI's public API reference, with the empty one of servers that end without.
var chatStops = map[string]provider.Stop{
	"stop": provider.StopEnd, "": provider.StopEnd, "tool_calls": provider.StopCalls, "function_call": provider.StopCalls,
	"length": provider.StopLength, "content_filter": provider.StopRefusal,
}

// chat is an answer of Chat Completions half read.
type chat struct {
	draft   provider.ReplyDraft
	text    []byte
	calls   []*chatCall
	keys    map[int64]*chatCall // the newest call of each number
	reason  string
	refused bool
	ended   bool
}

// chatCall is a call as it comes.
type chatCall struct {
	id, name, args []byte
	free           bool
	more           provider.JSON // extra_content, which some servers want back
}

// read reads a piece of an answer, or one that came as one object.
func (c *chat) read(at string, part provider.JSON) {
	if string(part) == "[DONE]" {
		c.ended = true
		return
	}
	found := part.Find("choices", "error")
	if kind := found[1].Kind(); kind == '{' || kind == '"' {
		c.draft.Fail(provider.Reported(at, found[1]))
		return
	}
	for choice := range found[0].Elements() {
		if choice.Kind() != '{' {
			continue
		}
		found := choice.Find("index", "message", "delta", "finish_reason", "error")
		if n, _ := found[0].Count(); n != 0 {
			continue
		}
		if found[4].Kind() == '{' {
			c.draft.Fail(provider.Reported(at, found[4]))
		}
		for _, said := range found[1:3] {
			if said.Kind() == '{' {
				c.said(said)
			}
		}
		if reason := found[3].Text(); reason != "" {
			c.reason, c.ended = reason, true
		}
		c.ended = c.ended || found[1].Kind() == '{'
	}
}

// said adds a message, or a piece of one.
func (c *chat) said(m provider.JSON) {
	found := m.Find("content", "refusal", "tool_calls", "function_call")
	switch content := found[0]; content.Kind() {
	case '"':
		c.text = append(c.text, provider.DecodeText(content)...)
	case '[':
		for block := range content.Elements() {
			if block.Kind() == '{' {
				if found := block.Find("type", "text"); isText(found[0].Text()) {
					c.text = append(c.text, provider.DecodeText(found[1])...)
				}
			}
		}
	}
	if text := provider.DecodeText(found[1]); text != "" {
		c.refused = true
		c.text = append(c.text, text...)
	}
	for call := range found[2].Elements() {
		c.call(call)
	}
	if found[3].Kind() == '{' {
		c.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, Why: "a function_call of the older API, which has no id"})
	}
}

// call adds a call, or a piece of one. Some servers number all calls alike; then another id tells them apart.
func (c *chat) call(v provider.JSON) {
	if v.Kind() != '{' {
		c.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, Why: "a call is no object"})
		return
	}
	found := v.Find("index", "id", "function", "extra_content", "custom")
	key, numbered := found[0].Count()
	if !numbered {
		key = int64(len(c.calls))
	}
	id := provider.DecodeText(found[1])
	open := c.keys[key]
	if open == nil || id != "" && id != string(open.id) {
		open = &chatCall{id: []byte(id)}
		if c.keys == nil {
			c.keys = map[int64]*chatCall{}
		}
		c.keys[key], c.calls = open, append(c.calls, open)
	}
	if found[2].Kind() == '{' {
		f := found[2].Find("name", "arguments")
		if len(open.name) == 0 {
			open.name = []byte(provider.DecodeText(f[0]))
		}
		if f[1].Kind() == '{' { // some servers give the object itself
			open.args = append(open.args, f[1]...)
		} else {
			open.args = append(open.args, provider.DecodeText(f[1])...)
		}
	}
	open.free = open.free || found[4].Kind() == '{'
	if found[3].Kind() == '{' {
		open.more = found[3]
	}
}

// add adds a call that came whole.
func (c *chatCall) add(d *provider.ReplyDraft) {
	if c.free {
		d.Fail(&provider.ReplyError{Fault: provider.ReplyArgs, Call: string(c.id), Name: string(c.name), Why: "they are free text"})
		return
	}
	args := []byte(provider.WholeText(string(c.args)))
	var raw []byte
	if c.more != nil {
		var l lowering
		l.String(`{"id":`)
		l.Text(string(c.id))
		l.String(`,"type":"function","function":{"name":`)
		l.Text(string(c.name))
		l.String(`,"arguments":`)
		l.args(string(c.id), args)
		l.String(`},"extra_content":`)
		l.JSON(string(c.id), c.more)
		l.Byte('}')
		raw, _ = l.Body() // what cannot be written is a fault of the arguments, or is not sent back
	}
	d.Call(string(c.id), string(c.name), args, raw)
}
