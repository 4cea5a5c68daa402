package ambit

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pressure"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/provider"
)

// request is one that was made and not sent yet.
type request struct {
	model  Model
	family provider.Protocol
	url    string // with the path
	path   string // and query, as the journal has it
	whole  []byte // with all that was said
	body   []byte // what is sent in its place
	asked  provider.Request
	units  []provider.Element // of its messages, those that are new
	chain  thread.Chain
	count  int // of its messages
	tools  bool
	retry  Retry
	limits Bounds
	beside *beside // nil for one of the conversation

	plan     *pressure.Plan // nil where nothing is edited
	edits    bool           // more may be edited than what stands
	compacts bool           // a checkpoint is about to stand in place of what is old
	keep     keeper         // makes durable that it is asked, once

	used   *used // what the activity has taken
	way    way   // of the newest attempt
	failed error // why that came to nothing
}

// answer is one that came to its end.
type answer struct {
	n     int
	said  spoken
	stop  provider.Stop
	usage *entry.Usage

	reason string // the provider's own word for why it stopped

	usable int // tokens that a request may take; 0 where nobody knows
}

// make makes the next request; nil when the session was switched since the fence, so that what was read is another's.
func (s *Session) make(ctx context.Context, fence int) (*request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence != fence {
		return nil, nil
	}
	m := s.setup.Model
	p := s.params()
	r := &request{model: m, family: familyOf(m.Type), retry: s.setup.Retry, limits: s.setup.Limits, tools: len(s.setup.Agent.Tools) > 0}
	endpoint := r.family.Endpoint(p)
	r.url = strings.TrimSuffix(m.BaseURL, "/") + endpoint
	u, err := url.Parse(r.url)
	if err != nil {
		return nil, sayf(ErrRefused, "%q is no base URL: %v", m.BaseURL, err)
	}
	r.path = u.RequestURI()
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	if r.whole, err = r.family.Lower(v, p); err != nil {
		return nil, fmt.Errorf("make a request of session %s: %w", s.id, err)
	}
	r.body = r.whole
	if r.asked = r.family.Request(http.MethodPost, r.path, r.whole); r.asked.Type != m.Type {
		return nil, sayf(ErrRefused, "the base URL leads to %s, which is no path of the wire %s: it ends where %s begins", r.path, m.Type, endpoint)
	}
	e, err := r.family.Elements(r.asked, r.whole)
	if err != nil {
		return nil, fmt.Errorf("read the request that session %s made: %w", s.id, err)
	}
	hashes := reading.Hashes(e.Messages)
	r.chain, r.count = thread.ChainOf(hashes), len(hashes)
	shared := s.sent.shared(r, hashes)
	r.units = e.Messages[shared:]
	s.plan(ctx, r, s.thread, e, hashes, shared)
	return r, nil
}

// familyOf is the family that speaks a wire.
func familyOf(wire string) provider.Protocol {
	switch wire {
	case provider.TypeMessages:
		return Family("anthropic", http.MethodPost, "")
	case provider.TypeGenerate:
		return Family("gemini", http.MethodPost, "")
	}
	return Family("openai", http.MethodPost, "")
}

// shared is how many of a request's messages the one before it had, too.
func (p *past) shared(r *request, hashes []thread.Hash) int {
	if p.wire != r.model.Type {
		return 0
	}
	e, err := r.family.Elements(r.asked, p.body)
	if err != nil {
		return 0
	}
	before := reading.Hashes(e.Messages)
	n := 0
	for n < len(hashes) && n < len(before) && hashes[n] == before[n] {
		n++
	}
	return n
}

// mainThread is the thread of the conversation of a session of Ambit's own; questions beside it have threads of their own.
const mainThread = "t1"

// ask sends a request, as often as it takes, until it has an answer. Each attempt is recorded, and has the same bytes, as far as it
// goes the same way, but for one that was too long: it is made shorter.
func (s *Session) ask(ctx context.Context, r *request) (*answer, error) {
	passing, none, long := 0, 0, 0
	for {
		n, a, err := s.try(ctx, r, passing+none+long > 0)
		if err == nil || ctx.Err() != nil {
			return a, orCause(ctx, err)
		}
		wait, again := time.Duration(0), false
		var failure *provider.Failure
		var fault *provider.ReplyError
		switch {
		case errors.As(err, &failure) && failure.Kind == provider.TooLong:
			if shorter := s.shorten(r, err, failure.Over, long); shorter != nil {
				return nil, shorter
			}
			long++
			s.say(Event{Kind: EventRetry, N: n, Err: err})
			continue
		case errors.As(err, &failure) && failure.Passes():
			wait, again = max(failure.After, r.retry.delay(passing)), failure.After <= orElse(r.retry.MaxWait, time.Minute) && !s.nowhere(r, failure)
			passing++
		case errors.As(err, &fault) && fault.Fault != provider.ReplyReported:
			wait, again = r.retry.delay(none), none < orElse(r.retry.Max, 3)
			none++
		}
		if !again || r.retry.Off {
			return nil, err
		}
		s.say(Event{Kind: EventRetry, N: n, Err: err, Wait: wait})
		if err := s.engine.o.Wait(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func orCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// nowhere reports whether a provider is not there at all: nothing listens, or its name is unknown, and it has not answered
// in this activity. A question beside the conversation is none of an activity's.
func (s *Session) nowhere(r *request, f *provider.Failure) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.Code == codeAbsent && (s.own.Turns == 0 || r.beside != nil)
}

// codeAbsent is the code of a failure to reach anybody.
const codeAbsent = "nobody answers"

// keeper makes durable that a request is asked, by a body, the first time, and any facts behind that.
type keeper func(body []byte, behind ...entry.Fact) error

// record makes an attempt durable, with what is new in it, what is decided about it, and what is sent, and finds the way that it goes.
func (s *Session) record(ctx context.Context, r *request, again bool) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = s.n + 1
	if r.way, err = s.opens(r); err != nil {
		return n, err
	}
	var kept []byte
	r.keep = func(body []byte, behind ...entry.Fact) error {
		if kept == nil {
			kept = body
			return s.enter(ctx, r, n, again, body, behind)
		}
		if len(behind) == 0 {
			return nil
		}
		_, err := s.add(ctx, behind...)
		return err
	}
	if err := s.planned(r, n, again); err != nil {
		return n, err
	}
	if err := r.way.fill(r); err != nil {
		return n, err
	}
	body := r.way.body
	if r.edited() {
		body = r.way.all
	}
	if r.plan == nil {
		return n, r.keep(body)
	}
	went := r.way.body
	if kept == nil && !r.edited() || bytes.Equal(kept, went) {
		went = nil
	}
	sent, err := r.plan.Sent(went)
	if err != nil {
		return n, err
	}
	return n, r.keep(body, sent)
}

// enter appends that a request is asked by a body, and facts behind that.
func (s *Session) enter(ctx context.Context, r *request, n int, again bool, body []byte, behind []entry.Fact) error {
	b, err := s.engine.store.Put(context.WithoutCancel(ctx), s.id, body)
	if err != nil {
		return fmt.Errorf("session %s cannot be written: %w", s.id, err)
	}
	relation := &entry.Relation{
		N: n, Thread: r.thread(), Parent: s.main, How: entry.Extends, Messages: r.count, Chain: hex.EncodeToString(r.chain[:]), Tools: r.tools, Key: r.model.Type,
	}
	method, headers := r.way.method()
	facts := []entry.Fact{&entry.Request{
		N: n, Provider: r.model.Provider, Type: r.model.Type, Method: method, Path: r.path, Headers: headers,
		Model: r.model.Name, Arrived: s.engine.o.Now().UTC(), Body: &b,
	}, relation}
	switch {
	case r.beside != nil:
		facts = append(facts, r.beside.says(relation, s.main))
	case again:
		relation.How = entry.Again
	case s.main == 0:
		relation.How = entry.Root
	}
	if !again {
		units, err := r.way.units(r, body)
		if err != nil {
			return err
		}
		for _, el := range units {
			m := r.family.Message(r.asked, body[el.Offset:el.Offset+el.Length], el.At)
			if m.Role == "assistant" || m.Role == "model" { // the answer has its own
				s.where[el.Hash] = s.answer
				continue
			}
			facts = append(facts, reading.MessageUnits(n, r.thread(), el, m)...)
		}
	}
	first, err := s.add(ctx, append(facts, behind...)...)
	if err != nil {
		return err
	}
	s.n = n
	if r.beside != nil {
		r.beside.n = n
		return nil
	}
	s.main, s.sent.body, s.sent.wire, s.sent.seqs = n, r.whole, r.model.Type, append(s.sent.seqs, first)
	return nil
}
