package transcript

import (
	"cmp"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// copilot reads the events of a session of Copilot CLI, as in ~/.copilot/session-state. An answer is one event or
// several; what a sub-agent says names the call that it works for.
type copilot struct {
	*building
	at    map[string]spot // before each event
	model string
}

// silentCopilot are the types of events that say nothing of what was sent or answered: the model sees what a tool gave
// back as its completion tells it, not as hooks repeat it.
var silentCopilot = set("session.model_change", "session.info", "session.warning", "session.idle", "session.shutdown",
	"session.permissions_changed", "session.mode_changed", "session.plan_changed", "session.title_changed",
	"session.context_changed", "session.workspace_file_changed", "session.usage_info", "session.handoff",
	"session.compaction_start", "session.task_complete", "session.remote_steerable_changed",
	"assistant.turn_start", "assistant.turn_end", "assistant.intent", "assistant.reasoning", "assistant.reasoning_delta",
	"assistant.message_delta", "assistant.streaming_delta", "assistant.usage", "tool.execution_start", "tool.user_requested",
	"tool.execution_progress", "tool.execution_partial_result", "hook.start", "hook.end", "permission.requested",
	"permission.completed", "pending_messages.modified", "subagent.completed", "subagent.failed", "subagent.selected",
	"subagent.started", "user_input.requested", "user_input.completed")

func readCopilot(b *building) {
	c := &copilot{building: b, at: make(map[string]spot)}
	for r := range b.records() {
		c.record(r)
	}
}

// thread is the thread of an event: that of a sub-agent, where it names the call of one.
func (c *copilot) thread(data provider.JSON) *talk {
	call := data.Find("parentToolCallId")[0].Text()
	t := c.talk(call)
	if call != "" {
		t.agent, t.call = true, call
	}
	return t
}

func (c *copilot) record(r record) {
	f := r.Find("type", "data", "timestamp", "id")
	kind, data, at := f[0].Text(), f[1], timeOf(f[2])
	t := c.thread(data)
	if id := f[3].Text(); id != "" {
		c.at[id] = t.here()
	}
	c.building.at(at)
	switch kind {
	case "session.start", "session.resume":
		c.session(data)
	case "system.message": // the system prompt is nobody's to read
	case "user.message":
		c.title(r, data.Find("content")[0])
		c.say(t, r.unit(), copilotMessage(r.JSON), at, true)
	case "system.notification", "skill.invoked", "tool.execution_complete":
		c.say(t, r.unit(), copilotMessage(r.JSON), at, false)
	case "assistant.message":
		c.answered(t, r, data, at)
	case "abort":
		c.interrupted(t, at)
	case "session.error":
		c.failed(t, at)
	case "session.compaction_complete":
		if data.Find("success")[0].Kind() != 'f' {
			t.compacted()
			c.say(t, r.unit(), copilotMessage(r.JSON), at, true)
		}
	case "session.truncation":
		if t.last != nil && t.how == "" {
			t.how = entry.ClientEdit
		}
	case "session.snapshot_rewind":
		if to, known := c.at[data.Find("upToEventId")[0].Text()]; known {
			c.back(t, to)
		}
	case "":
		c.untyped(r)
	default:
		if !silentCopilot[kind] {
			c.unknown(r, kind)
		}
	}
}

func (c *copilot) session(data provider.JSON) {
	f := data.Find("sessionId", "copilotVersion", "selectedModel")
	if c.ID == "" {
		c.ID, c.Version = f[0].Text(), short(f[1])
	}
	if model := provider.ModelName(f[2].Text()); model != "" {
		c.model = model
	}
}

// answered takes in a part of an answer, which is known by the call of the provider, or by its own id. Its tokens are
// those of the output alone: what was sent is not counted, so that it is no usage.
func (c *copilot) answered(t *talk, r record, data provider.JSON, at time.Time) {
	f := data.Find("apiCallId", "messageId", "model")
	n := c.turn(t, cmp.Or(f[0].Text(), f[1].Text()), at)
	n.response.Model = cmp.Or(provider.ModelName(f[2].Text()), c.model)
	n.tookUntil(at)
	c.answer(n, r.unit(), copilotMessage(r.JSON))
}

// failed says that the request under way came to nothing.
func (c *copilot) failed(t *talk, at time.Time) {
	if t.next != nil {
		c.send(t, at).failed(requestFailed)
	}
}

// What of an event is no public text, and of what a tool gave back: what is detailed is for people.
var (
	aboutCopilot = set("content", "attachments", "supportedNativeDocumentMimeTypes", "interactionId", "parentAgentTaskId", "source", "agentMode",
		"messageId", "model", "reasoningText", "reasoningOpaque", "encryptedContent", "phase", "requestId", "serviceRequestId", "apiCallId", "turnId",
		"parentToolCallId", "toolTelemetry", "isUserRequested", "kind", "name", "path", "allowedTools", "pluginName", "pluginVersion",
		"description", "error", "checkpointPath", "compactionTokensUsed")
	aboutCopilotCall   = set("type", "intentionSummary", "toolTitle", "mcpServerName")
	aboutCopilotResult = set("detailedContent", "contents")
)

// copilotMessage reads an event.
func copilotMessage(v provider.JSON) provider.Message {
	f := v.Find("type", "data")
	m := provider.Message{Role: "user"}
	o := m.Object(f[1])
	switch f[0].Text() {
	case "user.message":
		if sent := o.Take("transformedContent"); sent.HoldsText() {
			m.AddText("/data/transformedContent", provider.SaidUser, sent)
		} else {
			m.AddText("/data/content", provider.SaidUser, o.Take("content"))
		}
	case "assistant.message":
		m.Role = "assistant"
		m.AddText("/data/content", provider.SaidAssistant, o.Take("content"))
		copilotCalls(&m, o.Take("toolRequests"))
	case "tool.execution_complete":
		m.Role = "tool"
		m.AddResult(o.Take("toolCallId"))
		result := m.Object(o.Take("result"))
		text := result.Take("content")
		m.AddText("/data/result/content", provider.SaidTool, text)
		if text == nil {
			m.AddText("/data/error/message", provider.SaidTool, o.Take("error").Find("message")[0])
		}
		m.Rest(result, aboutCopilotResult)
	case "session.compaction_complete":
		m.AddText("/data/summaryContent", provider.SaidUser, o.Take("summaryContent"))
	case "system.notification", "skill.invoked":
		m.AddText("/data/content", provider.SaidUser, o.Take("content"))
	default:
		return provider.Message{Unknown: v.HoldsText()}
	}
	m.Rest(o, aboutCopilot)
	return m
}

func copilotCalls(m *provider.Message, calls provider.JSON) {
	if calls.Kind() == 0 || calls.Kind() == 'n' {
		return
	}
	for at, call := range m.Each("/data/toolRequests", calls) {
		o := m.Object(call)
		args := o.Take("arguments")
		m.AddCall(at+"/arguments", o.Take("toolCallId").Text(), o.Take("name").Text(), args, args.Kind() == '"')
		m.Rest(o, aboutCopilotCall)
	}
}
