package server

import (
	"bytes"

	"ambit"
	"ambit/internal/pressure"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/provider/gemini"
)

// asking is a request as it is understood.
type asking struct {
	pressure.Request
	wire    string // among whose requests its parent is sought; empty when it is no part of a conversation
	strange bool   // its body is not understood

	heard map[int]thread.Message // what the rules of threads read of its messages
	x     *exchange
}

// read understands a request as far as it can be.
func (r *recorder) read(x *exchange) *asking {
	a := &asking{x: x, heard: make(map[int]thread.Message)}
	body, err := provider.Decode(x.request.bytes, x.header.Get("Content-Encoding"), maxDecoded)
	if err != nil {
		body = nil
	}
	a.Body = body
	x.family = ambit.Family(x.to.provider, x.method, x.to.rest)
	x.q = x.family.Request(x.method, x.to.rest, body)
	x.who = r.refine(x.who, x.to, x.q)
	q := x.q
	a.Family, a.Asked = x.family, x.q
	if known, ok := r.latest.Load(x.who.key); ok && x.direct {
		q.Before = known.(*provider.Known)
	}
	a.Elements, err = x.family.Elements(q, body)
	if err == nil && x.direct {
		r.latest.Store(x.who.key, &provider.Known{Body: body, Elements: a.Elements})
	}
	a.strange = len(x.request.bytes) > 0 && (err != nil || x.q.Type == "")
	if err == nil && len(body) > 0 {
		a.wire = wireOf(x)
	}
	if a.wire != "" {
		a.Hashes = reading.Hashes(a.Elements.Messages)
	}
	return a
}

// wireOf names the wire of a request that is part of a conversation, or asks how long one would be.
func wireOf(x *exchange) string {
	switch x.q.Type {
	case provider.TypeMessages, provider.TypeResponses, provider.TypeChat, provider.TypeGenerate, provider.TypeCompletions:
		return x.q.Type
	case provider.TypeCompact:
		return provider.TypeResponses
	case provider.TypeCountTokens:
		switch x.family.(type) {
		case anthropic.Protocol:
			return provider.TypeMessages
		case gemini.Protocol:
			return provider.TypeGenerate
		default:
			return provider.TypeResponses
		}
	}
	return ""
}

// unread reports whether a body says something where its messages should be that is none.
func (a *asking) unread() bool {
	if len(a.Elements.Messages) > 0 {
		return false
	}
	for _, v := range provider.JSON(a.Body).Find("messages", "input", "contents", "prompt") {
		if v = bytes.TrimSpace(v); len(v) > 0 && string(v) != "null" && string(v) != "[]" && string(v) != `""` {
			return true
		}
	}
	return false
}

// told is what the rules of threads read of one of the request's messages, which may be long and is asked for often.
func (a *asking) told(i int) thread.Message {
	m, ok := a.heard[i]
	if !ok {
		m = reading.Message(a.Message(i))
		a.heard[i] = m
	}
	return m
}

// request is what the rules of threads read of it.
func (a *asking) request() thread.Request {
	key := a.wire
	if a.x.who.sub != "" {
		key += "/" + a.x.who.sub
	}
	return thread.Request{
		At: a.x.start, Key: key, Agent: a.x.who.agent, Tools: len(a.Elements.Tools)+len(a.Elements.Deferred) > 0, Previous: a.Elements.Previous,
		Elements: a.Hashes, Read: a.told,
	}
}

// nowhere is the place of what is no part of a conversation.
var nowhere = thread.Place{Parent: thread.None, Owner: thread.None, About: thread.None}

// place finds the session of a request, and its place among the requests there.
func (r *recorder) place(x *exchange, a *asking) (*writing, thread.Place, error) {
	if err := r.loadKeys(); err != nil {
		return nil, nowhere, err
	}
	var w *writing
	var err error
	if x.who.named {
		if w, err = r.session(x.who, x.start); err != nil {
			return nil, nowhere, err
		}
		if x.who.alias != "" && r.keys[x.who.alias] == "" {
			r.keys[x.who.alias] = w.id
		}
	}
	p := nowhere
	switch {
	case a.wire == "":
		x.at = nil
	case w != nil:
		x.at = r.space(w.id, w.id)
		p = x.at.place(a.request())
	default:
		x.at = r.space(x.who.key, r.mine[x.who.key]...)
		x.at.index.Shared = true
		p = x.at.place(a.request())
	}
	if w == nil {
		if w, err = r.sessionOf(x, p); err != nil {
			return nil, nowhere, err
		}
		if a.wire != "" {
			p = x.at.within(w.id, p)
			r.keys[x.who.key] = w.id
		}
	}
	return w, p, nil
}

// place finds a request's place. What is still under way is looked at only where it could matter.
func (s *space) place(q thread.Request) thread.Place {
	p := s.index.Place(q)
	plain := p.Parent != thread.None && p.Relation == thread.Extends && !s.index.Pending(p.Parent)
	if !plain && len(s.live) > 0 && s.look(q, p) {
		p = s.index.Place(q)
	}
	return p
}

// within drops what does not lie in the session that the request goes to: its own may be gone.
func (s *space) within(session string, p thread.Place) thread.Place {
	if p.Parent != thread.None && s.index.Node(p.Parent).Session != session {
		p.Relation, p.Evidence = thread.Root, ""
	}
	for _, at := range []*int{&p.Parent, &p.Owner, &p.About} {
		if *at != thread.None && s.index.Node(*at).Session != session {
			*at = thread.None
		}
	}
	return p
}

// sessionOf is the session of a request whose client names none: its parent's, that of the call it works for, for what
// is aside that of the conversation it is about or the client's newest, else a new one.
func (r *recorder) sessionOf(x *exchange, p thread.Place) (*writing, error) {
	for _, at := range []int{p.Parent, p.Owner, p.About} {
		if at == thread.None {
			continue
		}
		w := r.held(x.at.index.Node(at).Session, x.who.key)
		if w != nil && (p.Relation != thread.Root || !w.talks) { // a root joins what is only aside until then
			return w, nil
		}
	}
	if x.q.Type == provider.TypeCountTokens || p.Relation == thread.Side || p == nowhere {
		return r.session(x.who, x.start)
	}
	return r.begin(x.who, x.start) // also where its parent's session is gone, or another process writes it
}
