package transcript

import (
	"cmp"
	"slices"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// openCode reads a session as opencode export prints it, versions 1.2 to 1.14: one object with the session and its
// messages, each with its parts. A part that is a tool holds the call and its result together.
type openCode struct {
	*document
	t       *talk
	message openCodeInfo
	n       *turn  // of the message that is read
	marks   []mark // in order of time
	reading bool   // not only looking for marks
}

// mark says from when on the client left out a result.
type mark struct {
	at   time.Time
	call string
}

// openCodeInfo is what a message says about itself.
type openCodeInfo struct {
	id, role, provider, model, failure string
	created, completed                 time.Time
	tokens                             provider.JSON
	summary                            bool
}

func readOpenCode(b *building) {
	o := &openCode{document: newDocument(b)}
	o.t = b.talk("")
	o.walk(func(info provider.JSON) {}, func(p record, _ string) {
		f := p.Find("callID", "state")
		if at := timeOf(f[1].Find("time")[0].Find("compacted")[0]); !at.IsZero() {
			o.marks = append(o.marks, mark{at, f[0].Text()})
		}
	})
	slices.SortStableFunc(o.marks, func(x, y mark) int { return x.at.Compare(y.at) })
	o.line, o.offset, o.reading = 1, 0, true
	if err := o.walk(o.begins, o.part); err != nil {
		o.lost(err)
	}
	o.end()
}

// walk reads the recording: each message's info, then its parts with their JSON pointers.
func (o *openCode) walk(info func(provider.JSON), part func(p record, at string)) error {
	o.r = provider.NewReader(o.text)
	o.r.Members(func(name string) {
		switch name {
		case "info":
			if v, ok := o.cut(); ok {
				o.session(v)
			}
		case "messages":
			o.list("/messages", func(at string) {
				o.r.Members(func(name string) {
					switch name {
					case "info":
						if v, ok := o.cut(); ok {
							info(v.JSON)
						}
					case "parts":
						o.list(at+"/parts", func(at string) {
							if p, ok := o.cut(); ok {
								part(p, at)
							}
						})
					default:
						o.other(name)
					}
				})
			})
		default:
			o.other(name)
		}
	})
	return o.r.End()
}

// list reads an array, each element with the function. What is none is of a kind that is not known.
func (o *openCode) list(at string, element func(at string)) {
	if o.r.Kind() != '[' {
		o.other(at)
		return
	}
	o.r.List(at, element)
}

// other reads a member that is not known. It is noted once, when what is known was read of it.
func (o *openCode) other(name string) {
	if v, ok := o.cut(); ok && o.reading {
		o.document.other(name, v)
	}
}

func (o *openCode) session(v record) {
	f := v.Find("id", "parentID", "version", "title", "time")
	o.ID, o.Parent, o.Version = f[0].Text(), f[1].Text(), short(f[2])
	if o.Parent != "" {
		o.Agent = o.ID
	}
	o.title(v, f[3])
	o.at(timeOf(f[4].Find("created")[0]))
}

// begins takes in what the next message says about itself.
func (o *openCode) begins(info provider.JSON) {
	o.end()
	f := info.Find("id", "role", "providerID", "modelID", "time", "tokens", "summary", "error", "model")
	created := f[4].Find("created", "completed")
	m := openCodeInfo{
		id: f[0].Text(), role: f[1].Text(), provider: short(f[2]), model: provider.ModelName(f[3].Text()),
		created: timeOf(created[0]), completed: timeOf(created[1]), tokens: f[5], summary: f[6].True(),
	}
	if f[7].Kind() == '{' {
		m.failure = cmp.Or(f[7].Find("name")[0].Text(), "error")
	}
	if name := short(f[8].Find("providerID")[0]); name != "" { // that is to answer the person
		o.provider = name
	}
	o.message, o.n = m, nil
	o.at(m.created)
}

// end ends the message that was read. An answer that broke off may have no part at all.
func (o *openCode) end() {
	m := o.message
	if m.role != "assistant" {
		return
	}
	usage := openCodeUsage(m.tokens)
	if o.n == nil && (usage != nil || m.failure != "") {
		o.step()
	}
	if o.n != nil {
		if o.n.response.Usage == nil {
			o.n.used(usage)
		}
		o.n.answered()
		o.n.tookUntil(m.completed)
		switch m.failure {
		case "":
		case "MessageAbortedError", "AbortError":
			o.n.aborted()
		default:
			o.n.failed(requestFailed)
		}
	}
	if m.summary {
		o.t.compacted()
	}
	o.message = openCodeInfo{}
}

// step begins a request.
func (o *openCode) step() {
	at := o.message.created
	var pruned []string
	for len(o.marks) > 0 && !o.marks[0].at.After(at) {
		pruned, o.marks = append(pruned, o.marks[0].call), o.marks[1:]
	}
	o.prune(o.t, pruned)
	o.n = o.send(o.t, at)
	if o.message.provider != "" {
		o.provider = o.message.provider
		o.n.request.Provider = o.provider
	}
	o.n.response.Model = o.message.model
}

// part takes in a part of a message.
func (o *openCode) part(p record, at string) {
	f := p.Find("type", "tokens", "ignored", "callID", "state", "tool")
	kind := f[0].Text()
	u := p.unit()
	u.At, u.Role = at, o.message.role
	m := openCodeMessage(p.JSON, *u)
	if kind == "tool" && f[5].Text() == "task" {
		if child := f[4].Find("metadata")[0].Find("sessionId")[0].Text(); child != "" {
			o.Agents[child] = f[3].Text()
		}
	}
	switch {
	case f[2].True(): // shown and not sent
	case o.message.role == "user":
		o.say(o.t, u, m, o.message.created, false)
	case o.message.role != "assistant":
		o.unknown(p, "message of "+o.message.role)
	case kind == "step-start":
		o.step()
	case kind == "step-finish":
		if o.n != nil {
			o.n.answered()
			o.n.used(openCodeUsage(f[1]))
		}
	case o.n != nil:
		o.answer(o.n, u, m)
	case o.t.last != nil: // what the client did itself in the place of a model, such as a command of the person's
		o.answer(o.t.last, u, m)
	default:
		o.say(o.t, u, m, o.message.created, false)
	}
}

// openCodeUsage reads tokens as OpenCode spells them: what was read from and written to the cache stands beside the input.
func openCodeUsage(v provider.JSON) *entry.Usage {
	if v.Kind() != '{' {
		return nil
	}
	c := provider.Counts{}
	c.Add(v, "input", "output", "reasoning")
	cache := provider.Counts{}
	cache.Add(v.Find("cache")[0], "read", "write")
	if c["input"]+c["output"]+cache["read"]+cache["write"] == 0 {
		return nil
	}
	return provider.NewUsage(c["input"]+cache["read"]+cache["write"], cache["read"], cache["write"], c["output"])
}

// silentParts are the types of parts without public text.
var silentParts = set("step-start", "step-finish", "reasoning", "patch", "snapshot", "file", "agent", "compaction", "retry")

// aboutState is what of a tool's state is no result.
var aboutState = set("status", "input", "title", "metadata", "time")

// openCodeMessage reads a part.
func openCodeMessage(v provider.JSON, u entry.Unit) provider.Message {
	f := v.Find("type", "text", "callID", "tool", "state", "prompt", "ignored")
	m := provider.Message{Role: u.Role}
	said := provider.SaidUser
	if u.Role == "assistant" {
		said = provider.SaidAssistant
	}
	switch kind := f[0].Text(); {
	case f[6].True():
	case kind == "text":
		m.AddText(u.At+"/text", said, f[1])
	case kind == "subtask":
		m.AddText(u.At+"/prompt", said, f[5])
	case kind == "tool":
		state := f[4].Find("status", "input", "output", "error")
		m.AddCall(u.At+"/state/input", f[2].Text(), f[3].Text(), state[1], false)
		switch state[0].Text() {
		case "completed":
			m.AddResult(f[2])
			m.AddText(u.At+"/state/output", provider.SaidTool, state[2])
		case "error":
			m.AddResult(f[2])
			m.AddText(u.At+"/state/error", provider.SaidTool, state[3])
		case "pending", "running":
		default:
			m.Unknown = f[4].Object().Rest(aboutState)
		}
	case silentParts[kind]:
	default:
		m.Unknown = v.HoldsText()
	}
	return m
}
