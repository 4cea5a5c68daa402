package transcript

import (
	"bytes"
	"strings"

	"ambit/entry"
	"ambit/provider"
	"ambit/provider/anthropic"
)

// claude reads a recording of Claude Code, versions 1.0 to 2.1. Lines hang together by uuid and parentUuid; a line
// holds one content block of an answer, and the lines of one answer share message.id.
type claude struct {
	*building
	at      map[string]spot  // where each line stands
	of      map[string]*talk // and in which thread
	seen    map[string]bool  // messages of sub-agents, which are told again
	lines   map[string]provider.JSON
	prompts map[string][]string
	agent   string // the one whose own recording this is
	main    bool   // a line is of no sub-agent
	linked  bool   // lines name the line before them
}

// silentClaude are the types of records that are no part of what a model was sent.
var silentClaude = set("file-history-snapshot", "queue-operation", "last-prompt", "ai-title", "mode", "summary", "pr-link", "permission-mode",
	"agent-name", "agent-color", "agent-setting", "tag", "worktree-state", "task-summary", "attribution-snapshot", "system", "custom-title",
	// Copies of what the lines say, as it was sent, and accounts of it.
	"api-request", "api-request-shape", "api-request-blob", "atis-latch", "tools-used", "cost-state")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

func readClaude(b *building) {
	c := &claude{building: b, at: make(map[string]spot), of: make(map[string]*talk), seen: make(map[string]bool), lines: make(map[string]provider.JSON), prompts: make(map[string][]string)}
	b.provider, b.kind = "anthropic", provider.TypeMessages
	for r := range b.records() {
		c.record(r)
	}
	if c.agent != "" && !c.main {
		b.Parent, b.Agent = b.ID, c.agent
		b.ID += "/" + c.agent
	}
}

func (c *claude) record(r record) {
	f := r.Find("type", "uuid", "parentUuid", "sessionId", "version", "subtype")
	kind, uuid, parent := f[0].Text(), f[1].Text(), f[2].Text()
	if c.ID == "" {
		c.ID = f[3].Text()
	}
	if v := short(f[4]); v != "" {
		c.Version = v
	}
	if uuid != "" && c.repeats(uuid, r) {
		return
	}
	t, linked := c.of[parent]
	c.linked = c.linked || linked
	silent := kind != "user" && kind != "assistant" && kind != "attachment"
	switch kind {
	case "user", "assistant", "attachment":
		t = c.said(r, kind, f[2])
	case "progress":
		c.progress(r)
	case "system":
		c.system(r, f[5].Text())
	case "content-replacement":
		c.replaced(r)
	case "custom-title":
		was := c.Title
		c.Title = nil
		if c.title(r, r.Find("customTitle")[0]); c.Title == nil {
			c.Title = was
		}
	case "":
		c.untyped(r)
	default:
		if !silentClaude[kind] {
			c.unknown(r, kind)
		}
	}
	if uuid != "" {
		if t == nil {
			t = c.talk("")
		}
		c.of[uuid], c.at[uuid] = t, t.here()
		if linked && silent { // it says nothing, wherever the person has gone
			c.at[uuid] = c.at[parent]
		}
	}
}

// repeats reports whether a line stands once more, as it stood before.
func (c *claude) repeats(uuid string, r record) bool {
	first, again := c.lines[uuid]
	if !again {
		c.lines[uuid] = r.JSON
	}
	return again && bytes.Equal(first, r.JSON)
}

// thread is that of a line: the main one, or that of a sub-agent, which older versions keep in the same file.
func (c *claude) thread(r record, parent string) *talk {
	f := r.Find("isSidechain", "agentId", "uuid")
	if !f[0].True() {
		c.main = true
		return c.talk("")
	}
	agent := f[1].Text()
	if c.agent == "" {
		c.agent = agent
	}
	if agent != "" {
		return c.talk("agent " + agent)
	}
	if t := c.of[parent]; t != nil && t != c.threads[""] {
		return t
	}
	return c.talk("side " + f[2].Text())
}

// said takes a message in.
func (c *claude) said(r record, kind string, parent provider.JSON) *talk {
	t := c.thread(r, parent.Text())
	f := r.Find("timestamp", "message", "toolUseResult", "isMeta", "isApiErrorMessage", "isCompactSummary")
	at, m := timeOf(f[0]), claudeMessage(r.JSON)
	if kind == "assistant" {
		c.answered(t, r, f[1], m, f[4].True())
		return t
	}
	if agent := f[2].Find("agentId")[0].Text(); agent != "" && len(m.Results) > 0 {
		c.Agents[agent] = m.Results[0]
	}
	c.beginSide(t, m)
	prompt := len(m.Results) == 0 && kind == "user"
	if prompt {
		c.thinks(r)
		if f[5].True() && t.how == "" { // older versions do not say that they compact
			t.compacted()
		}
		c.goesOn(t, parent)
		if text := firstText(m); strings.HasPrefix(text, "[Request interrupted by user") {
			if prompt = false; strings.HasPrefix(text, "[Request interrupted by user]") { // else a call was, and its result says so
				c.interrupted(t, at)
			}
		} else if prompt = !f[3].True(); prompt && t == c.threads[""] && !strings.HasPrefix(text, "<") {
			c.title(r, claudeTitle(f[1]))
		}
	}
	c.say(t, r.unit(), m, at, prompt)
	return t
}

// thinks notes how hard the model is to think from here on, as far as the client says it with what a person says.
func (c *claude) thinks(r record) {
	f := r.Find("thinkingMetadata")[0].Find("level", "disabled", "maxThinkingTokens")
	switch {
	case f[1].True():
		c.effort = "none"
	case f[2] != nil:
		c.effort = short(f[2])
	case f[0] != nil:
		c.effort = short(f[0])
	}
}

// goesOn finds where what a person says next goes on from: behind the line that it names, or at the very beginning.
func (c *claude) goesOn(t *talk, parent provider.JSON) {
	to, known := c.at[parent.Text()]
	switch {
	case known && to.turn != nil && to.turn.talk == t:
		c.back(t, to)
	case parent.Kind() == 'n' && c.linked && t.last != nil:
		c.back(t, spot{nil, answered})
	}
}

func firstText(m provider.Message) string {
	if len(m.Texts) == 0 {
		return ""
	}
	return m.Texts[0].Text
}

// claudeTitle is the first text of a message.
func claudeTitle(message provider.JSON) provider.JSON {
	content := message.Find("content")[0]
	for block := range content.Elements() {
		if text := block.Find("text")[0]; text != nil {
			return text
		}
	}
	return content
}

// answered takes in a line of an answer. What Claude Code says itself in the place of an answer is none: only an error
// tells of a request, which failed.
func (c *claude) answered(t *talk, r record, message provider.JSON, m provider.Message, apiError bool) {
	f := message.Find("id", "model", "usage")
	at := timeOf(r.Find("timestamp")[0])
	own := f[1].Text() == "<synthetic>" || apiError
	switch {
	case own && apiError:
		n := c.send(t, at)
		n.failed(requestFailed)
		c.stageOwn(n, r, m)
		return
	case own && t.last != nil:
		if firstText(m) == "No response requested." { // what stands in for the answer that a client ended without
			c.resumed(t)
		}
		c.stageOwn(t.last, r, m)
		return
	case own:
		c.say(t, r.unit(), m, at, false)
		return
	}
	n := c.turn(t, f[0].Text(), at)
	n.response.Model = provider.ModelName(f[1].Text())
	n.used(anthropic.Usage(f[2]))
	n.tookUntil(at)
	c.answer(n, r.unit(), m)
	for _, call := range m.Calls {
		if prompt := provider.JSON(call.Args).Find("prompt")[0].Text(); prompt != "" && (call.Name == "Task" || call.Name == "Agent") {
			c.prompts[prompt] = append(c.prompts[prompt], call.ID)
		}
	}
}

// stageOwn keeps what the client said itself, where it stands.
func (c *claude) stageOwn(n *turn, r record, m provider.Message) {
	if units := c.units(r.unit(), m); len(units) > 0 {
		c.stage(units[0].(*entry.Unit), n, units[1:])
	}
}

// beginSide finds the call that a sub-agent works for, when it begins: the one with its prompt.
func (c *claude) beginSide(t *talk, m provider.Message) {
	if t == c.threads[""] || t.last != nil || t.call != "" || t.next != nil {
		return
	}
	t.agent = true
	if calls := c.prompts[firstText(m)]; len(calls) > 0 {
		t.call, c.prompts[firstText(m)] = calls[0], calls[1:]
	}
}

// progress takes in what a sub-agent says, as far as the main recording tells it.
func (c *claude) progress(r record) {
	f := r.Find("data", "parentToolUseID", "timestamp")
	d := f[0].Find("type", "agentId", "message", "hookName")
	kind := d[0].Text()
	if kind == "hook_progress" && d[3].Text() == "SessionStart:resume" {
		c.resumed(c.talk(""))
	}
	if kind != "agent_progress" || d[2].Kind() != '{' {
		if d[2].HoldsText() && !silentProgress[kind] {
			c.unknown(r, "progress "+kind)
		}
		return
	}
	inner := d[2].Find("type", "uuid", "timestamp", "message")
	if id := inner[1].Text(); id != "" {
		if c.seen[id] {
			return
		}
		c.seen[id] = true
	}
	t := c.talk("agent " + d[1].Text())
	m := claudeMessage(r.JSON)
	at := timeOf(inner[2])
	if at.IsZero() {
		at = timeOf(f[2])
	}
	if t.last == nil && t.next == nil {
		t.agent, t.call = true, f[1].Text()
		c.Agents[d[1].Text()] = t.call
	}
	if inner[0].Text() == "assistant" {
		c.answered(t, r, d[2].Find("message")[0], m, false)
		return
	}
	c.say(t, r.unit(), m, at, false)
}

// silentProgress are the types of progress that no model was told of, whatever message they have for people.
var silentProgress = set("bash_progress", "hook_progress", "mcp_progress", "query_update", "search_results_received")

func (c *claude) system(r record, subtype string) {
	t := c.talk("")
	if r.Find("message")[0].Kind() == '{' {
		c.unknown(r, "system "+subtype)
		return
	}
	switch subtype {
	case "compact_boundary":
		t.compacted()
	case "microcompact_boundary":
		c.prune(t, textsIn(r.Find("microcompactMetadata")[0].Find("compactedToolIds")[0]))
	}
}

// replaced takes in which results the client took out of its requests.
func (c *claude) replaced(r record) {
	f := r.Find("agentId", "replacements")
	t := c.talk("")
	if agent := f[0].Text(); agent != "" {
		t = c.talk("agent " + agent)
	}
	var calls []string
	for v := range f[1].Elements() {
		if id := v.Find("toolUseId")[0].Text(); id != "" {
			calls = append(calls, id)
		}
	}
	c.prune(t, calls)
}

// textsIn are the strings of an array.
func textsIn(v provider.JSON) []string {
	var texts []string
	for el := range v.Elements() {
		if text := el.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// aboutAttachment is what of an attachment is no text.
var aboutAttachment = set("type", "itemCount", "hookName", "toolUseID", "hookEvent", "commandMode", "uuid")

// claudeMessage reads a line: a message, what was attached to one, or what a sub-agent said.
func claudeMessage(v provider.JSON) provider.Message {
	f := v.Find("type", "message", "attachment", "data", "rendered")
	message, at, kind := f[1], "/message", f[0].Text()
	switch kind {
	case "attachment":
		m := provider.Message{Role: "user"}
		if len(f[4]) > len("[]") { // as it was sent
			m.AddLeaves("/rendered", provider.SaidUser, f[4], aboutAttachment)
		} else {
			m.AddLeaves("/attachment", provider.SaidUser, f[2], aboutAttachment)
		}
		return m
	case "progress":
		inner := f[3].Find("message")[0].Find("type", "message")
		message, at, kind = inner[1], "/data/message/message", inner[0].Text()
	}
	if message.Kind() != '{' {
		o := v.Find("content", "text", "prompt") // where it may be, if the shape has changed
		return provider.Message{Role: kind, Unknown: message.HoldsText() || o[0].HoldsText() || o[1].HoldsText() || o[2].HoldsText()}
	}
	if message.Find("role")[0].Kind() != '"' { // some tools that write this format leave it out
		head, comma := bytes.TrimRight(message[:len(message)-1], " \t\r\n"), ","
		if len(head) == 1 {
			comma = ""
		}
		message = append(bytes.Clone(head), comma+`"role":"`+kind+`"}`...)
	}
	return anthropic.Protocol{}.Message(provider.Request{Type: provider.TypeMessages}, message, at)
}
