package transcript

import (
	"cmp"

	"ambit/entry"
	"ambit/provider"
)

// sweAgent reads a trajectory of SWE-agent, versions 0.6 to 1.1. Its history is what was sent and answered; its trajectory
// says the same by steps, and is read only where there is no history, because the file breaks off before it.
type sweAgent struct {
	*document
	main    string // the agent whose conversation it is
	pending map[*talk]string
}

func readSWEAgent(b *building) {
	b.kind = provider.TypeChat
	s := &sweAgent{document: newDocument(b), pending: make(map[*talk]string)}
	lists, item := set("history"), s.item
	if !s.holds("history") {
		lists, item = set("trajectory"), s.step
	}
	s.read(lists, item, s.member)
}

// holds reports whether a list of the recording has elements.
func (s *sweAgent) holds(name string) (found bool) {
	look := newDocument(newBuilding(s.Format, s.data))
	look.read(set(name), func(record, string) { found = true }, func(string, record) {})
	return found
}

func (s *sweAgent) member(name string, v record) {
	switch name {
	case "trajectory", "history", "info", "environment", "replay_config":
	default:
		s.other(name, v)
	}
}

// item takes in a message of the history. Demonstrations were sent, and nobody answered them.
func (s *sweAgent) item(r record, at string) {
	f := r.Find("role", "agent", "is_demo")
	u, t := r.unitAt(at), s.thread(f[1].Text())
	pending := s.pending[t]
	s.pending[t] = ""
	switch role := f[0].Text(); {
	case role == "system":
	case role == "assistant" && !f[2].True():
		m := sweAgentMessage(r.JSON, *u)
		s.answer(s.send(t, s.latest), u, m)
		s.pends(t, u, m)
	case role == "assistant":
		m := sweAgentMessage(r.JSON, *u)
		s.say(t, u, m, s.latest, false)
		s.pends(t, u, m)
	case role == "user" && pending != "":
		s.say(t, u, sweAgentMessage(r.JSON, holding(u, pending)), s.latest, false)
	case role == "user" || role == "tool":
		if role == "user" && !f[2].True() {
			s.title(r, claudeTitle(r.JSON))
		}
		s.say(t, u, sweAgentMessage(r.JSON, *u), s.latest, true)
	default:
		s.unknown(r, "message of "+role)
	}
}

// thread is the conversation of an agent; the first is the main one.
func (s *sweAgent) thread(agent string) *talk {
	s.main = cmp.Or(s.main, agent)
	if agent == s.main {
		agent = ""
	}
	t := s.talk(agent)
	t.agent = agent != ""
	return t
}

// pends notes the call that a message makes without an id: the next message is its result.
func (s *sweAgent) pends(t *talk, u *entry.Unit, m provider.Message) {
	for _, call := range m.Calls {
		if call.ID == madeID(u.At) {
			s.pending[t] = call.ID
		}
	}
}

// step takes in a step of the trajectory: an answer with its call and the result.
func (s *sweAgent) step(r record, at string) {
	u := r.unitAt(at)
	t := s.talk("")
	s.answer(s.send(t, s.latest), u, sweAgentMessage(r.JSON, *u))
}

// What of a message, and of a step, is no public text.
var (
	aboutSWEAgent     = set("role", "agent", "message_type", "thought", "is_demo", "thinking_blocks", "tags", "cache_control", "name")
	aboutSWEAgentStep = set("state", "thought", "messages", "query", "extra_info", "thinking_blocks", "tool_calls", "tool_call_ids")
)

// sweAgentMessage reads a message of the history, or a step of the trajectory.
func sweAgentMessage(v provider.JSON, u entry.Unit) provider.Message {
	o := v.Object()
	role, demo := o.Take("role").Text(), o.Take("is_demo").True()
	switch role {
	case "":
		return sweAgentStep(o, u)
	case "system":
		return provider.Message{Role: role}
	}
	m := provider.Message{Role: role}
	said := provider.SaidUser
	switch {
	case role == "assistant" && demo:
		m.Role = "user"
	case role == "assistant":
		said = provider.SaidAssistant
	case role == "tool":
		said = provider.SaidTool
		for _, id := range m.Each(u.At+"/tool_call_ids", o.Take("tool_call_ids")) {
			m.AddResult(id)
		}
	case role == "user" && len(u.Results) > 0:
		said = provider.SaidTool
		m.AddResult(result(u))
	}
	addContent(&m, o.Take("content"), u.At+"/content", said)
	if calls := o.Take("tool_calls"); calls.Kind() == '[' && len(calls) > len("[]") {
		addCalls(&m, calls, u.At+"/tool_calls")
		o.Take("action")
	} else if role == "assistant" {
		if action := o.Take("action"); action.HoldsText() {
			m.AddCall(u.At+"/action", madeID(u.At), "", action, true)
		}
	}
	m.Rest(o, aboutSWEAgent)
	return m
}

func sweAgentStep(o provider.Object, u entry.Unit) provider.Message {
	m := provider.Message{Role: "assistant"}
	m.AddText(u.At+"/response", provider.SaidAssistant, o.Take("response"))
	if action := o.Take("action"); action.HoldsText() {
		id := madeID(u.At)
		m.AddCall(u.At+"/action", id, "", action, true)
		m.AddResult(quoted(id))
	}
	m.AddText(u.At+"/observation", provider.SaidTool, o.Take("observation"))
	m.Rest(o, aboutSWEAgentStep)
	return m
}
