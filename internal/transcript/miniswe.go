package transcript

import (
	"ambit/entry"
	"ambit/provider"
)

// miniSWE reads a trajectory of mini-swe-agent, versions 1 and 2: the list of messages that was sent, each answer with
// what the provider gave back.
type miniSWE struct {
	*document
	t *talk
}

func readMiniSWE(b *building) {
	b.kind = provider.TypeChat
	s := &miniSWE{document: newDocument(b)}
	s.t = b.talk("")
	s.read(set("messages"), s.item, s.member)
}

func (s *miniSWE) member(name string, v record) {
	switch name {
	case "info":
		s.Version = short(v.Find("mini_version")[0])
	case "trajectory_format", "instance_id":
	default:
		s.other(name, v)
	}
}

func (s *miniSWE) item(r record, at string) {
	f := r.Find("role", "extra", "timestamp")
	extra := f[1].Find("timestamp", "response")
	when := timeOf(extra[0])
	if when.IsZero() {
		when = timeOf(f[2])
	}
	u := r.unitAt(at)
	m := miniSWEMessage(r.JSON, *u)
	switch f[0].Text() {
	case "system":
	case "user":
		s.title(r, claudeTitle(r.JSON))
		s.say(s.t, u, m, when, true)
	case "tool":
		s.say(s.t, u, m, when, false)
	case "assistant":
		s.answered(u, m, extra[1])
		s.t.last.tookUntil(when)
		s.building.at(when)
	case "exit": // the last command's output, which ended the run
		if s.t.last != nil {
			s.building.answer(s.t.last, u, m)
		} else {
			s.say(s.t, u, m, when, false)
		}
	default:
		s.unknown(r, "message of "+f[0].Text())
	}
}

// answered takes in an answer. When the provider made it tells when the run began, and no more.
func (s *miniSWE) answered(u *entry.Unit, m provider.Message, response provider.JSON) {
	f := response.Find("model", "usage", "created")
	if s.Began.IsZero() {
		s.Began = timeOf(f[2])
	}
	n := s.send(s.t, s.latest)
	n.response.Model = provider.ModelName(f[0].Text())
	n.used(chatUsage(f[1]))
	s.building.answer(n, u, m)
}

// aboutMiniSWE is what of a message is no public text: extra repeats the answer, and the output before it was formatted.
var aboutMiniSWE = set("role", "extra", "timestamp", "function_call", "provider_specific_fields", "reasoning_content", "thinking_blocks", "annotations",
	"images", "refusal", "audio", "name")

// miniSWEMessage reads a message.
func miniSWEMessage(v provider.JSON, u entry.Unit) provider.Message {
	o := v.Object()
	m := provider.Message{Role: o.Take("role").Text()}
	said := provider.SaidUser
	switch m.Role {
	case "system":
		return m
	case "assistant":
		said = provider.SaidAssistant
		addContent(&m, o.Take("content"), u.At+"/content", said)
		if calls := o.Take("tool_calls"); calls != nil {
			addCalls(&m, calls, u.At+"/tool_calls")
		}
		m.Rest(o, aboutMiniSWE)
		return m
	case "tool", "exit":
		m.Role, said = "tool", provider.SaidTool
		m.AddResult(o.Take("tool_call_id"))
	}
	addContent(&m, o.Take("content"), u.At+"/content", said)
	m.Rest(o, aboutMiniSWE)
	return m
}
