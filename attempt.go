package ambit

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/reading"
	"ambit/provider"
	"ambit/unit"
)

// try sends a request once and records it with what came of it, and at once again where it can go another way. No attempt begins
// behind a limit of the activity, and each counts with what the provider says that it took.
func (s *Session) try(ctx context.Context, r *request, again bool) (n int, a *answer, err error) {
	for {
		if err := r.used.check(r.limits, s.engine.o.Now()); err != nil {
			if r.failed != nil {
				err = fmt.Errorf("%w; before that %v", err, r.failed)
			}
			return n, nil, err
		}
		if n, err = s.record(ctx, r, again); err != nil {
			r.way.drop()
			return n, nil, err
		}
		s.say(Event{Kind: EventRequest, N: n})
		a, err = s.attempt(ctx, r, n)
		r.failed = err
		if err == nil || ctx.Err() != nil || !s.otherwise(r, err) {
			return n, a, err
		}
		s.say(Event{Kind: EventRetry, N: n, Err: err})
		again = true
	}
}

// attempt sends a request once and records what came back.
func (s *Session) attempt(ctx context.Context, r *request, n int) (*answer, error) {
	began := s.engine.o.Now()
	f := &entry.Response{N: n, End: entry.EndComplete}
	h := s.exchange(ctx, r, n, f)
	body, failure := h.body, h.failure
	f.DurationMS = s.engine.o.Now().Sub(began).Milliseconds()
	if ctx.Err() != nil && failure != nil {
		f.End, f.Error = entry.EndCanceled, context.Cause(ctx).Error()
	}
	r.way.heard = f.Status == http.StatusSwitchingProtocols && len(body) > 0
	contentType := f.Headers["content-type"]
	got := r.family.Response(r.asked, contentType, body)
	f.Model, f.Usage = got.Model, got.Usage
	r.used.count(got.Model, r.model.Name, s.engine.o.Now(), got.Usage)
	var reply provider.Reply
	var fault error
	switch {
	case h.fault != nil:
		fault = h.fault
	case failure == nil:
		reply, fault = replyOf(r.family, r.asked, contentType, body)
	}
	if failure == nil && h.fault == nil && (fault != nil || !answered(f.Status)) { // an error behind the end of an answer is none of it
		if said, failed := provider.ReadFailure(statusOf(f), f.Headers, body, s.engine.o.Now()); failed {
			failure = &said
		}
	}
	if failure != nil {
		failure.Message = r.model.hide(failure.Message)
	}
	usable := failure == nil && fault == nil && len(reply.Unit.Parts) > 0
	if usable {
		s.leave(r, h, got.Answer.ID, &reply)
	} else {
		s.leave(r, h, "", nil)
	}
	facts := []entry.Fact{f}
	if failure == nil && fault == nil {
		facts = append(facts, reading.AnswerUnits(n, r.thread(), got.Answer)...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(body) > 0 {
		b, err := s.engine.store.Put(context.WithoutCancel(ctx), s.id, body)
		if err != nil {
			return nil, fmt.Errorf("session %s cannot be written: %w", s.id, err)
		}
		f.Body = &b
	}
	first, err := s.add(ctx, facts...)
	if err != nil {
		return nil, err
	}
	for i, fact := range facts {
		if u, is := fact.(*entry.Unit); is && u.Of == entry.PartAnswer && r.beside == nil {
			s.answer = first + entry.Seq(i)
		}
	}
	if r.plan != nil {
		r.plan.Counted(got.Usage, failure == nil)
	}
	a := &answer{n: n, usable: r.usable(s.engine.o.Now()), said: spoken{unit: reply.Unit, by: r.model.origin()}, stop: reply.Stop, reason: reply.Reason, usage: got.Usage}
	if err := s.hear(ctx, func(int) (spoken, bool, error) { return a.said, usable, nil }); err != nil {
		return nil, err
	}
	switch {
	case failure != nil:
		return nil, failure
	case fault != nil:
		return nil, fmt.Errorf("request %d: %w", n, fault)
	case reply.Stop == provider.StopRefusal && !usable:
		return nil, &provider.Failure{Kind: provider.Filtered, Status: f.Status, Code: reply.Reason, Message: "the model refused to answer"}
	}
	return a, nil
}

// hide is a provider's word without the credential, which some repeat when they refuse it.
func (m *Model) hide(text string) string {
	if len(m.Credential) < shortCredential {
		return text
	}
	return strings.ReplaceAll(text, m.Credential, "[the credential]")
}

// shortCredential is how long one is at least that is one, in bytes: a shorter word may be part of any text.
const shortCredential = 8

// statusOf is the status that an answer would have had over HTTP.
func statusOf(f *entry.Response) int {
	if answered(f.Status) {
		return http.StatusOK
	}
	return f.Status
}

// replyOf reads an answer, now and whenever the session is taken up: a call whose id cannot be kept as it is makes it none.
func replyOf(family provider.Protocol, asked provider.Request, contentType string, body []byte) (provider.Reply, error) {
	r, err := family.Reply(asked, contentType, body)
	for _, p := range r.Unit.Parts {
		if err == nil && p.Kind == unit.Call && (len(p.ID) > maxCallID || !utf8.ValidString(p.ID) || len(p.Name) > maxCallID || !utf8.ValidString(p.Name)) {
			err = &provider.ReplyError{Fault: provider.ReplyStrange, Why: "a call has an id or a name that is too long, or not UTF-8"}
		}
	}
	if err != nil {
		return provider.Reply{}, err
	}
	return r, nil
}

// maxCallID is how long the id of a call may be, and the name of its tool, in bytes.
const maxCallID = 1024
