package transcript

import (
	"bytes"
	"cmp"
	"strconv"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// openHands reads an output of an evaluation with OpenHands, versions 0.1x to 0.4x: a line is a task, with its events.
// Each task is a conversation of its own. An event says which answer of the provider it comes of, and repeats that whole.
type openHands struct {
	*building
	agents []*talk // of the task that is read: its own, and behind it those of agents to which work was handed
	task   string
}

func readOpenHands(b *building) {
	b.kind = provider.TypeChat
	h := &openHands{building: b}
	for r := range b.records() {
		history := r.Find("history")[0]
		if history.Kind() != '[' {
			h.untyped(r)
			continue
		}
		h.task = strconv.FormatInt(r.offset, 10)
		h.agents = []*talk{b.talk(h.task)}
		h.events(r, history, "/history")
	}
}

// events takes in a list of events. In older outputs it is one of pairs.
func (h *openHands) events(r record, list provider.JSON, at string) {
	i := 0
	for e := range r.elements(list) {
		here := at + "/" + strconv.Itoa(i)
		i++
		switch e.Kind() {
		case '[':
			h.events(e, e.JSON, here)
		case '{':
			h.event(e, here)
		default:
			if e.HoldsText() {
				h.unknown(e, "event that is no object")
			}
		}
	}
}

// silentOpenHands are the actions and observations that say nothing of what was sent or answered.
var silentOpenHands = set("null", "change_agent_state", "agent_state_changed", "condensation_request", "start", "pause", "resume", "stop",
	"condense")

func (h *openHands) event(r record, at string) {
	f := r.Find("action", "observation", "source", "timestamp", "args", "id")
	action, observation, when := f[0].Text(), f[1].Text(), timeOf(f[3])
	t := h.agents[len(h.agents)-1]
	u := r.unitAt(at)
	h.at(when)
	switch {
	case action == "system", action == "recall", silentOpenHands[action], silentOpenHands[observation]:
	case action == "condensation":
		t.compacted()
		h.say(t, u, openHandsMessage(r.JSON, *u), when, true)
	case action != "" && f[2].Text() == "agent":
		h.answered(t, r, u, when)
		if action == "delegate" {
			h.delegate(u, f[5])
		}
	case action != "":
		if action == "message" {
			h.title(r, f[4].Find("content")[0])
		}
		h.say(t, u, openHandsMessage(r.JSON, *u), when, true)
	case observation != "":
		if observation == "delegate" && len(h.agents) > 1 {
			h.agents = h.agents[:len(h.agents)-1]
			t = h.agents[len(h.agents)-1]
		}
		h.say(t, u, openHandsMessage(r.JSON, *u), when, false)
	case r.HoldsText():
		h.untyped(r)
	}
}

// delegate hands work to another agent: what follows is its conversation, until it reports.
func (h *openHands) delegate(u *entry.Unit, id provider.JSON) {
	t := h.talk(h.task + "/" + string(id))
	t.agent = true
	if len(u.Calls) > 0 {
		t.call = u.Calls[0]
	}
	h.agents = append(h.agents, t)
}

// answered takes in what an agent does. Of several actions of one answer each is a part of it.
func (h *openHands) answered(t *talk, r record, u *entry.Unit, when time.Time) {
	response := r.Find("tool_call_metadata")[0].Find("model_response")[0]
	f := response.Find("id", "model", "usage")
	id := f[0].Text()
	if id != "" {
		id = h.task + "/" + id
	}
	n := h.turn(t, id, time.Time{})
	if model := provider.ModelName(f[1].Text()); model != "" {
		n.response.Model = model
	}
	n.used(chatUsage(f[2]))
	n.tookUntil(when)
	h.answer(n, u, openHandsMessage(r.JSON, *u))
}

// What of an event, and of its arguments, is no public text: message and extras are for people, and what the provider
// answered stands in the metadata as a whole.
var (
	aboutOpenHands = set("id", "timestamp", "source", "message", "cause", "action", "observation", "llm_metrics", "success", "extras", "args",
		"content", "tool_call_metadata", "timeout", "response_id", "hidden")
	aboutOpenHandsArgs = set("thought", "impl_source", "confirmation_state", "security_risk", "translated_ipython_code", "kernel_init_code", "image_urls",
		"file_urls", "blocking", "hidden", "is_input", "recall_type")
)

// openHandsMessage reads an event.
func openHandsMessage(v provider.JSON, u entry.Unit) provider.Message {
	f := v.Find("action", "observation", "source", "args", "content", "extras")
	action, observation := f[0].Text(), f[1].Text()
	m := provider.Message{Role: "user"}
	switch {
	case action == "system":
		return provider.Message{Role: "system"}
	case action == "condensation":
		m.AddText(u.At+"/args/summary", provider.SaidUser, f[3].Find("summary")[0])
	case action != "" && f[2].Text() == "agent":
		m.Role = "assistant"
		openHandsAction(&m, v, u.At)
	case action == "message":
		m.AddText(u.At+"/args/content", provider.SaidUser, f[3].Find("content")[0])
	case action != "":
		m.AddLeaves(u.At+"/args", provider.SaidUser, f[3], aboutOpenHandsArgs)
	case observation == "recall":
		about := f[5].Find("repo_instructions", "additional_agent_instructions", "conversation_instructions", "microagent_knowledge")
		for i, name := range []string{"repo_instructions", "additional_agent_instructions", "conversation_instructions"} {
			m.AddText(u.At+"/extras/"+name, provider.SaidUser, about[i])
		}
		i := 0
		for part := range about[3].Elements() {
			m.AddText(u.At+"/extras/microagent_knowledge/"+strconv.Itoa(i)+"/content", provider.SaidUser, part.Find("content")[0])
			i++
		}
	case observation != "":
		m.Role = "tool"
		called := v.Find("tool_call_metadata", "cause")
		id := called[0].Find("tool_call_id")[0].Text()
		if cause, ok := called[1].Count(); ok {
			id = cmp.Or(id, madeID("/"+strconv.FormatInt(cause, 10)))
		}
		m.AddResult(quoted(id))
		m.AddText(u.At+"/content", provider.SaidTool, f[4])
	}
	m.Rest(v.Object(), aboutOpenHands)
	return m
}

// openHandsAction adds what an agent does: the call as the provider answered it, with the text before the first one, or
// the arguments of the action where no call is told.
func openHandsAction(m *provider.Message, v provider.JSON, at string) {
	f := v.Find("action", "args", "id", "tool_call_metadata")
	called := f[3].Find("tool_call_id", "function_name", "model_response")
	id := called[0].Text()
	answer := at + "/tool_call_metadata/model_response/choices/0/message"
	for choice := range called[2].Find("choices")[0].Elements() {
		message := choice.Find("message")[0].Find("content", "tool_calls")
		i := 0
		for call := range message[1].Elements() {
			if call.Find("id")[0].Text() == id {
				if i == 0 {
					addContent(m, message[0], answer+"/content", provider.SaidAssistant)
				}
				m.AddCall(answer+"/tool_calls/"+strconv.Itoa(i)+"/function/arguments", id, called[1].Text(), call.Find("function")[0].Find("arguments")[0], false)
				return
			}
			i++
		}
		break
	}
	thought := f[1].Find("thought", "content")
	m.AddText(at+"/args/thought", provider.SaidAssistant, thought[0])
	if f[0].Text() == "message" {
		m.AddText(at+"/args/content", provider.SaidAssistant, thought[1])
		return
	}
	if n, ok := f[2].Count(); ok {
		id = cmp.Or(id, madeID("/"+strconv.FormatInt(n, 10)))
	}
	if id != "" {
		m.Calls = append(m.Calls, provider.Call{ID: id, Name: cmp.Or(called[1].Text(), f[0].Text()), Args: bytes.Clone(f[1])})
	}
	m.AddLeaves(at+"/args", provider.SaidArgument, f[1], aboutOpenHandsArgs)
}
