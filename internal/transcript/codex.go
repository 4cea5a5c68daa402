package transcript

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"ambit/provider"
	"ambit/provider/openai"
)

// codex reads a rollout of Codex, CLI 0.118 to 0.142 and older ones: a line is an item of the Responses API, or what the
// client notes beside it. Answers are not marked: one ends where its tokens are counted, or where something is said next.
type codex struct {
	*building
	t       *talk
	model   string
	total   int64 // tokens counted so far
	open    bool  // the newest answer may go on
	outputs bool  // results came since the newest answer began
	counted bool  // the recording counts tokens
	texts   map[string]bool
}

func readCodex(b *building) {
	b.provider, b.kind = "openai", provider.TypeResponses
	c := &codex{building: b, texts: make(map[string]bool)}
	c.t = b.talk("")
	for r := range b.records() {
		c.record(r)
	}
}

func (c *codex) record(r record) {
	f := r.Find("type", "timestamp", "payload")
	kind, payload := f[0].Text(), f[2]
	at := timeOf(f[1])
	c.building.at(at)
	switch kind {
	case "session_meta":
		c.meta(payload)
	case "turn_context":
		if model := payload.Find("model")[0].Text(); model != "" {
			c.model = provider.ModelName(model)
		}
		c.effort = short(payload.Find("effort")[0])
	case "response_item":
		c.item(r, payload)
	case "compacted":
		c.compacted(r, payload)
	case "event_msg":
		c.event(payload, at)
	case "":
		c.first(r)
	case "message", "function_call", "function_call_output", "reasoning", "local_shell_call", "custom_tool_call", "custom_tool_call_output": // versions before 0.30
		c.item(r, r.JSON)
	case "world_state", "ghost_snapshot", "token_usage_record":
	default:
		c.unknown(r, kind)
	}
}

// first takes in the head of a rollout of versions before 0.30, which has no type.
func (c *codex) first(r record) {
	f := r.Find("id", "record_type")
	switch {
	case f[1] != nil:
	case f[0] != nil && c.ID == "":
		c.meta(r.JSON)
	default:
		c.untyped(r)
	}
}

func (c *codex) meta(v provider.JSON) {
	f := v.Find("id", "cli_version", "model_provider", "source", "parent_thread_id")
	if c.ID != "" { // of a fork, the head of what it goes on from follows its own
		return
	}
	c.ID, c.Version = f[0].Text(), short(f[1])
	if name := short(f[2]); name != "" {
		c.provider = name
	}
	spawn := f[3].Find("subagent")[0].Find("thread_spawn")[0]
	if c.Parent = spawn.Find("parent_thread_id")[0].Text(); c.Parent == "" {
		c.Parent = f[4].Text()
	}
	if c.Parent != "" {
		c.Agent = c.ID
	}
}

// item takes in an item of a request's input, or of an answer.
func (c *codex) item(r record, item provider.JSON) {
	f := item.Find("type", "role")
	kind, role := f[0].Text(), f[1].Text()
	m := codexMessage(r.JSON, "")
	at := timeOf(r.Find("timestamp")[0])
	c.hear(m)
	switch kind {
	case "message", "":
		if role == "assistant" {
			c.answered(r, m)
			return
		}
		c.open = false
		if role == "user" && c.Title == nil {
			if text := strings.TrimSpace(firstText(m)); text != "" && text[0] != '<' && !strings.HasPrefix(text, "# AGENTS.md") {
				c.title(r, claudeTitle(item))
			}
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output", "tool_search_output", "apply_patch_call_output":
		c.outputs = true
		if agent := provider.JSON(item.Find("output")[0].Text()).Find("agent_id")[0].Text(); agent != "" && len(m.Results) > 0 {
			c.Agents[agent] = m.Results[0]
		}
	case "ghost_snapshot":
		return
	default:
		c.answered(r, m)
		return
	}
	c.say(c.t, r.unit(), m, at, false)
}

// answered takes in an item of an answer: of the newest, while that is open.
func (c *codex) answered(r record, m provider.Message) {
	at := timeOf(r.Find("timestamp")[0])
	if !c.open || c.outputs && !c.counted {
		c.send(c.t, at).response.Model = c.model
		c.open, c.outputs = true, false
	}
	c.t.last.tookUntil(at)
	c.answer(c.t.last, r.unit(), m)
}

// event takes in what the client notes: what was counted, and what was broken off.
func (c *codex) event(payload provider.JSON, at time.Time) {
	switch payload.Find("type")[0].Text() {
	case "token_count":
		c.count(payload.Find("info")[0])
	case "turn_aborted":
		switch {
		case c.open:
			c.t.last.aborted()
		case !c.unanswered(): // no call was: so a request without an answer yet
			c.interrupted(c.t, at)
		}
		c.open = false
	case "error":
		switch {
		case c.open && c.t.last.response.Usage == nil:
			c.t.last.failed(requestFailed)
		case !c.open && c.t.next != nil:
			c.send(c.t, at).failed(requestFailed)
		}
		c.open = false
	}
}

// unanswered reports whether a call of the newest answer has no result.
func (c *codex) unanswered() bool {
	return c.t.last != nil && slices.ContainsFunc(c.t.last.calls, func(id string) bool { return !c.held[id] })
}

// count gives the newest answer its usage, when the total has changed: the client says the same several times.
func (c *codex) count(info provider.JSON) {
	f := info.Find("last_token_usage", "total_token_usage")
	total := provider.Counts{}
	total.Add(f[1], "input_tokens", "output_tokens")
	sum := total["input_tokens"] + total["output_tokens"]
	if sum == c.total {
		return
	}
	c.total, c.counted = sum, true
	last := provider.Counts{}
	last.Add(f[0], "input_tokens", "cached_input_tokens", "output_tokens")
	if c.t.last == nil || last["input_tokens"] == 0 {
		return
	}
	c.t.last.used(provider.NewUsage(last["input_tokens"], last["cached_input_tokens"], 0, last["output_tokens"]))
	c.open = false
}

// compacted takes in what stands in place of a conversation from here on. What of it was said before is no unit again.
func (c *codex) compacted(r record, payload provider.JSON) {
	c.t.compacted()
	c.open = false
	at := timeOf(r.Find("timestamp")[0])
	f := payload.Find("message", "replacement_history")
	if f[0].Text() == "" && f[1].Kind() != '[' && payload.HoldsText() {
		c.unknown(r, "compacted")
	}
	if f[0].Text() != "" {
		u := r.unit()
		u.At = "/payload/message"
		c.say(c.t, u, codexMessage(r.JSON, u.At), at, false)
	}
	i, end := 0, bytes.Index(r.JSON, f[1])+len("[")
	for item := range f[1].Elements() {
		rest := r.JSON[end:]
		end += len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,"))
		u := r.unit()
		u.At = "/payload/replacement_history/" + strconv.Itoa(i)
		u.Offset, u.Length = r.offset+int64(end), int64(len(item))
		if m := codexMessage(item, u.At); c.hear(m) {
			c.say(c.t, u, m, at, false)
		}
		i, end = i+1, end+len(item)
	}
}

// hear reports whether a message says something that was not said before.
func (c *codex) hear(m provider.Message) bool {
	fresh := m.Unknown || len(m.Calls) > 0 || len(m.Results) > 0
	for _, text := range m.Texts {
		if !c.texts[text.Text] {
			c.texts[text.Text], fresh = true, true
		}
	}
	return fresh
}

// codexMessage reads an item: a line, or what a compaction put in the place of items, as At says.
func codexMessage(v provider.JSON, at string) provider.Message {
	request := provider.Request{Type: provider.TypeResponses}
	f := v.Find("type", "payload")
	switch {
	case at == "/payload/message":
		m := provider.Message{Role: "user"}
		m.AddText(at, provider.SaidUser, f[1].Find("message")[0])
		return m
	case at != "":
		return openai.Protocol{}.Message(request, v, at)
	case f[0].Text() == "response_item":
		return openai.Protocol{}.Message(request, f[1], "/payload")
	}
	return openai.Protocol{}.Message(request, v, "")
}
