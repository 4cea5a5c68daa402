package transcript

import (
	"ambit/entry"
	"ambit/provider"
)

// pi reads a session of pi: lines of messages, since version 3 of the format a tree by id and parentId.
type pi struct {
	*building
	t     *talk
	at    map[string]spot // where each line stands
	level string          // how hard the model is to think from what a person says next
}

var silentPi = set("model_change", "thinking_level_change", "custom", "label", "session_info", "leaf")

func readPi(b *building) {
	p := &pi{building: b, at: make(map[string]spot)}
	p.t = b.talk("")
	for r := range b.records() {
		p.record(r)
	}
}

func (p *pi) record(r record) {
	f := r.Find("type", "timestamp", "id", "parentId", "message")
	kind, at := f[0].Text(), timeOf(f[1])
	to, linked := p.at[f[3].Text()]
	switch {
	case kind == "session" || silentPi[kind]:
	case linked:
		p.back(p.t, to)
	case f[3].Kind() == 'n' && f[2].Text() != "" && len(p.at) > 0 && p.t.last != nil:
		p.back(p.t, spot{nil, answered})
	}
	switch kind {
	case "thinking_level_change":
		p.level = short(r.Find("thinkingLevel")[0])
	case "session":
		head := r.Find("id", "version")
		if p.ID == "" {
			p.ID = head[0].Text()
			p.building.at(at)
		}
	case "message":
		p.message(r, f[4])
	case "compaction":
		p.t.compacted()
		p.say(p.t, r.unit(), piMessage(r.JSON), at, true)
	case "branch_summary", "custom_message":
		p.say(p.t, r.unit(), piMessage(r.JSON), at, true)
	case "context_edit":
		if p.t.last != nil && p.t.how == "" && p.t.last.response.End == entry.EndComplete { // else what failed is left out
			p.t.how = entry.ClientEdit
		}
		p.say(p.t, r.unit(), piMessage(r.JSON), at, true)
	case "":
		p.untyped(r)
	default:
		if !silentPi[kind] {
			p.unknown(r, kind)
		}
	}
	if id := f[2].Text(); id != "" && kind != "session" {
		if p.at[id] = p.t.here(); linked && silentPi[kind] { // it says nothing, wherever the person has gone
			p.at[id] = to
		}
	}
}

func (p *pi) message(r record, message provider.JSON) {
	f := message.Find("role", "timestamp", "provider", "api", "model", "usage", "stopReason")
	m, at := piMessage(r.JSON), timeOf(f[1])
	if at.IsZero() {
		at = timeOf(r.Find("timestamp")[0])
	}
	if f[0].Text() != "assistant" {
		if f[0].Text() == "user" {
			p.title(r, claudeTitle(message))
			p.effort = p.level
		}
		p.say(p.t, r.unit(), m, at, true)
		return
	}
	n := p.send(p.t, at)
	p.provider, p.kind = short(f[2]), piTypes[f[3].Text()]
	n.request.Provider, n.request.Type = p.provider, p.kind
	n.response.Model = provider.ModelName(f[4].Text())
	n.used(piUsage(f[5]))
	n.tookUntil(timeOf(r.Find("timestamp")[0]))
	p.answer(n, r.unit(), m)
	switch f[6].Text() {
	case "aborted":
		n.aborted()
	case "error":
		n.failed(requestFailed)
	}
}

var piTypes = map[string]string{
	"anthropic-messages": provider.TypeMessages, "openai-responses": provider.TypeResponses, "openai-codex-responses": provider.TypeResponses,
	"openai-completions": provider.TypeChat, "google-generative-ai": provider.TypeGenerate, "google-gemini-cli": provider.TypeGenerate,
}

// piMessage reads a line.
func piMessage(v provider.JSON) provider.Message {
	f := v.Find("type", "message", "summary", "content", "replacement")
	switch f[0].Text() {
	case "compaction", "branch_summary":
		m := provider.Message{Role: "user"}
		m.AddText("/summary", provider.SaidUser, f[2])
		return m
	case "context_edit":
		m := provider.Message{Role: "user"}
		m.AddLeaves("/replacement", provider.SaidUser, f[4], nil)
		return m
	case "custom_message":
		m := provider.Message{Role: "user"}
		piContent(&m, f[3], "/content", provider.SaidUser)
		return m
	}
	o := f[1].Object()
	m := provider.Message{Role: o.Take("role").Text()}
	switch m.Role {
	case "user":
		piContent(&m, o.Take("content"), "/message/content", provider.SaidUser)
	case "assistant":
		piContent(&m, o.Take("content"), "/message/content", provider.SaidAssistant)
	case "system":
		return m
	case "toolResult":
		m.Role = "tool"
		m.AddResult(o.Take("toolCallId"))
		piContent(&m, o.Take("content"), "/message/content", provider.SaidTool)
	case "bashExecution": // a command of the person's own
		m.Role = "user"
		m.AddText("/message/command", provider.SaidUser, o.Take("command"))
		m.AddText("/message/output", provider.SaidTool, o.Take("output"))
	case "custom", "hookMessage", "branchSummary", "compactionSummary":
		m.Role = "user"
		m.AddText("/message/summary", provider.SaidUser, o.Take("summary"))
		piContent(&m, o.Take("content"), "/message/content", provider.SaidUser)
	default:
		m.Unknown = true
		return m
	}
	m.Rest(o, aboutPi)
	return m
}

// What of a message, and of a part, is no public text: details of results are for people.
var (
	aboutPi = set("timestamp", "api", "provider", "model", "usage", "stopReason", "errorMessage", "details", "toolName", "isError", "exitCode",
		"cancelled", "truncated", "fullOutputPath", "responseId", "responseModel", "customType", "display", "diagnostics",
		"durationMs", "thinkingLevel", "rawStopReason")
	aboutPiPart = set("type", "textSignature", "thinkingSignature", "thoughtSignature", "mimeType", "data", "thinking", "redacted", "id", "name", "partialJson")
)

func piContent(m *provider.Message, content provider.JSON, field, said string) {
	if content.Kind() == '"' {
		m.AddText(field, said, content)
		return
	}
	if content.Kind() == 'n' || content.Kind() == 0 {
		return
	}
	for at, part := range m.Each(field, content) {
		o := part.Object()
		switch kind := o.Take("type").Text(); kind {
		case "text":
			m.AddText(at+"/text", said, o.Take("text"))
		case "toolCall":
			m.AddCall(at+"/arguments", o.Take("id").Text(), o.Take("name").Text(), o.Take("arguments"), false)
		case "thinking", "image":
		default:
			m.Unknown = true
			continue
		}
		m.Rest(o, aboutPiPart)
	}
}

// piUsage reads the usage as pi spells it: what was read from and written to the cache stands beside the input.
func piUsage(v provider.JSON) *entry.Usage {
	if v.Kind() != '{' {
		return nil
	}
	c := provider.Counts{}
	c.Add(v, "input", "output", "cacheRead", "cacheWrite")
	if c["input"]+c["output"]+c["cacheRead"]+c["cacheWrite"] == 0 {
		return nil
	}
	return provider.NewUsage(c["input"]+c["cacheRead"]+c["cacheWrite"], c["cacheRead"], c["cacheWrite"], c["output"])
}
