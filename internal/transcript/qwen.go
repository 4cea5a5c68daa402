package transcript

import (
	"strconv"
	"strings"

	"ambit/entry"
	"ambit/internal/reading"
	"ambit/provider"
	wire "ambit/provider/gemini"
)

// qwen reads a session of Qwen Code: lines that hang together by uuid and parentUuid, whose messages are contents of the
// Gemini API, whichever provider they were sent to.
type qwen struct {
	*building
	t     *talk
	at    map[string]spot // where each line stands
	texts map[string]bool // that were said
	agent string          // the one whose own recording this is
}

// silentQwen are the kinds of the program's own lines that are no part of what a model was sent.
var silentQwen = set("ui_telemetry", "attribution_snapshot", "file_history_snapshot", "slash_command", "at_command", "rewind", "session_model",
	"parent_session", "session_source", "session_sources_snapshot", "session_artifact_event", "session_artifact_snapshot", "user_text_elements",
	"turn_result", "branch_checkpoint", "goal_state", "goal_turn_end", "agent_launch_prompt", "agent_retry", "agent_session_ready")

func readQwen(b *building) {
	q := &qwen{building: b, at: make(map[string]spot), texts: make(map[string]bool)}
	q.t = b.talk("")
	b.provider, b.kind = "openai", provider.TypeChat // as it is when nothing else is set
	for r := range b.records() {
		q.record(r)
	}
	if q.agent != "" {
		b.Parent, b.Agent = b.ID, q.agent
		b.ID += "/" + q.agent
	}
}

func (q *qwen) record(r record) {
	f := r.Find("type", "uuid", "parentUuid", "sessionId", "version", "subtype", "agentId")
	kind, uuid := f[0].Text(), f[1].Text()
	if q.ID == "" {
		q.ID, q.agent = f[3].Text(), f[6].Text()
	}
	if v := short(f[4]); v != "" {
		q.Version = v
	}
	to, linked := q.at[f[2].Text()]
	switch {
	case kind == "system":
	case linked:
		q.back(q.t, to)
	case f[2].Kind() == 'n' && len(q.at) > 0 && q.t.last != nil:
		q.back(q.t, spot{nil, answered})
	}
	switch kind {
	case "user", "tool_result":
		q.asked(r, kind == "user")
	case "assistant":
		q.answered(r)
	case "system":
		q.system(r, f[5].Text())
	case "":
		q.untyped(r)
	default:
		q.unknown(r, kind)
	}
	if uuid == "" {
		return
	}
	if q.at[uuid] = q.t.here(); kind == "system" && linked && f[5].Text() != "chat_compression" { // it says nothing, wherever the person has gone
		q.at[uuid] = to
	} else if f[5].Text() == "rewind" {
		q.at[uuid] = spot{nil, answered}
	}
}

// asked takes in what a person or the program says, or what a call gave back.
func (q *qwen) asked(r record, prompt bool) {
	f := r.Find("timestamp", "message", "toolCallResult")
	m := qwenMessage(r.JSON, *r.unit())
	q.hear(m)
	call := f[2].Find("callId", "resultDisplay")
	if ran := call[1].Find("type", "subagentName"); ran[0].Text() == "task_execution" { // its sub-agent is named after both
		q.Agents[ran[1].Text()+"-"+call[0].Text()] = call[0].Text()
	}
	if text := geminiTitle(f[1].Find("parts")[0]); prompt && !strings.HasPrefix(strings.TrimSpace(text.Text()), "<") {
		q.title(r, text)
	}
	q.say(q.t, r.unit(), m, timeOf(f[0]), prompt)
}

// answered takes in an answer. A sub-agent's stands in several lines, of which the first has what it counts.
func (q *qwen) answered(r record) {
	f := r.Find("timestamp", "model", "usageMetadata")
	m, at, usage := qwenMessage(r.JSON, *r.unit()), timeOf(f[0]), qwenUsage(f[2])
	q.hear(m)
	n := q.t.last
	if n == nil || q.t.next != nil || usage != nil {
		n = q.send(q.t, at)
	}
	if model := provider.ModelName(f[1].Text()); model != "" {
		n.response.Model = model
	}
	n.used(usage)
	n.tookUntil(at)
	q.building.at(at)
	q.answer(n, r.unit(), m)
}

// system takes in a line of the program's own.
func (q *qwen) system(r record, subtype string) {
	payload := r.Find("systemPayload")[0]
	switch {
	case subtype == "chat_compression":
		q.t.compacted()
		q.instead(r, payload.Find("compressedHistory")[0], "/systemPayload/compressedHistory/")
	case subtype == "agent_bootstrap":
		q.instead(r, payload.Find("history")[0], "/systemPayload/history/")
	case subtype == "custom_title":
		was := q.Title
		q.Title = nil
		if q.title(r, payload.Find("customTitle")[0]); q.Title == nil {
			q.Title = was
		}
	case !silentQwen[subtype]:
		q.unknown(r, "system "+subtype)
	}
}

// instead takes in contents that stand in place of a conversation. What of them was said before is no unit again.
func (q *qwen) instead(r record, contents provider.JSON, at string) {
	i, when := 0, timeOf(r.Find("timestamp")[0])
	for content := range r.elements(contents) {
		u := content.unitAt(at + strconv.Itoa(i))
		if m := qwenMessage(content.JSON, *u); q.hear(m) {
			q.say(q.t, u, m, when, false)
		}
		i++
	}
}

// hear reports whether a message says something that was not said before: a call, a result, or a text.
func (q *qwen) hear(m provider.Message) bool {
	fresh := m.Unknown
	for _, call := range m.Calls {
		fresh = fresh || q.made[reading.ID(call.ID)] == nil
	}
	for _, id := range m.Results {
		fresh = fresh || !q.held[reading.ID(id)]
	}
	for _, text := range m.Texts {
		spoken := text.Said == provider.SaidUser || text.Said == provider.SaidAssistant && len(m.Calls) == 0
		fresh = fresh || spoken && !q.texts[text.Text]
		q.texts[text.Text] = true
	}
	return fresh
}

// qwenMessage reads a message of a line, or a content that stands in place of some, as At says.
func qwenMessage(v provider.JSON, u entry.Unit) provider.Message {
	content, at := v, u.At
	if at == "" {
		content, at = v.Find("message")[0], "/message"
	}
	if content.Kind() != '{' {
		return provider.Message{Unknown: v.HoldsText()}
	}
	m := wire.Protocol{}.Message(provider.Request{Type: provider.TypeGenerate}, content, at)
	if m.Role == "model" {
		m.Role = "assistant"
	}
	return m
}

// qwenUsage reads what an answer counts, in the names of the Gemini API. Thoughts stand in the output or beside it, as the
// total tells.
func qwenUsage(v provider.JSON) *entry.Usage {
	c := provider.Counts{}
	c.Add(v, "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount", "cachedContentTokenCount")
	input, output := c["promptTokenCount"], c["candidatesTokenCount"]
	if input+output == 0 {
		return nil
	}
	if both := output + c["thoughtsTokenCount"]; input+both <= c["totalTokenCount"] {
		output = both
	}
	return provider.NewUsage(input, c["cachedContentTokenCount"], 0, output)
}
