package ambit

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/provider"
	"ambit/unit"
)

// request is one that was made and not sent yet.
type request struct {
	model  Model
	family provider.Protocol
	url    string // with the path
	path   string // and query, as the journal has it
	body   []byte
	asked  provider.Request
	units  []provider.Element // of its messages, those that are new
	chain  thread.Chain
	count  int // of its messages
	tools  bool
	retry  Retry
	limits Bounds
	beside *beside // nil for one of the conversation
}

// answer is one that came to its end.
type answer struct {
	n     int
	said  spoken
	stop  provider.Stop
	usage *entry.Usage
}

// make makes the next request; nil when the session was switched since the fence, so that what was read is another's.
func (s *Session) make(ctx context.Context, fence int) (*request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence != fence {
		return nil, nil
	}
	m := s.setup.Model
	p := m.params()
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
	if r.body, err = r.family.Lower(v, p); err != nil {
		return nil, fmt.Errorf("make a request of session %s: %w", s.id, err)
	}
	if r.asked = r.family.Request(http.MethodPost, r.path, r.body); r.asked.Type != m.Type {
		return nil, sayf(ErrRefused, "the base URL leads to %s, which is no path of the wire %s: it ends where %s begins", r.path, m.Type, endpoint)
	}
	e, err := r.family.Elements(r.asked, r.body)
	if err != nil {
		return nil, fmt.Errorf("read the request that session %s made: %w", s.id, err)
	}
	hashes := reading.Hashes(e.Messages)
	r.chain, r.count = thread.ChainOf(hashes), len(hashes)
	r.units = e.Messages[s.sent.shared(r, hashes):]
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

// ask sends a request, as often as it takes, until it has an answer. Each attempt is recorded, and has the same bytes.
func (s *Session) ask(ctx context.Context, r *request) (*answer, error) {
	passing, none := 0, 0
	for {
		n, err := s.record(ctx, r, passing+none > 0)
		if err != nil {
			return nil, err
		}
		s.say(Event{Kind: EventRequest, N: n})
		a, err := s.attempt(ctx, r, n)
		if err == nil || ctx.Err() != nil {
			return a, orCause(ctx, err)
		}
		wait, again := time.Duration(0), false
		var failure *provider.Failure
		var fault *provider.ReplyError
		switch {
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

// record makes an attempt durable, and with the first what is new in it.
func (s *Session) record(ctx context.Context, r *request, again bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := s.engine.store.Put(context.WithoutCancel(ctx), s.id, r.body)
	if err != nil {
		return 0, fmt.Errorf("session %s cannot be written: %w", s.id, err)
	}
	n := s.n + 1
	relation := &entry.Relation{
		N: n, Thread: r.thread(), Parent: s.main, How: entry.Extends, Messages: r.count, Chain: hex.EncodeToString(r.chain[:]), Tools: r.tools, Key: r.model.Type,
	}
	facts := []entry.Fact{&entry.Request{
		N: n, Provider: r.model.Provider, Type: r.model.Type, Method: http.MethodPost, Path: r.path, Headers: map[string]string{"content-type": "application/json"},
		Model: r.model.Name, Arrived: s.engine.o.Now().UTC(), Body: &body,
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
		for _, el := range r.units {
			m := r.family.Message(r.asked, r.body[el.Offset:el.Offset+el.Length], el.At)
			if m.Role == "assistant" || m.Role == "model" {
				continue // the answer has its own
			}
			facts = append(facts, reading.MessageUnits(n, r.thread(), el, m)...)
		}
	}
	first, err := s.add(ctx, facts...)
	if err != nil {
		return 0, err
	}
	s.n = n
	if r.beside != nil {
		r.beside.n = n
		return n, nil
	}
	s.main, s.sent.body, s.sent.wire, s.sent.seqs = n, r.body, r.model.Type, append(s.sent.seqs, first)
	return n, nil
}

// attempt sends a request once and records what came back.
func (s *Session) attempt(ctx context.Context, r *request, n int) (*answer, error) {
	began := s.engine.o.Now()
	f := &entry.Response{N: n, End: entry.EndComplete}
	body, failure := s.exchange(ctx, r, n, f)
	f.DurationMS = s.engine.o.Now().Sub(began).Milliseconds()
	if ctx.Err() != nil && failure != nil {
		f.End, f.Error = entry.EndCanceled, context.Cause(ctx).Error()
	}
	contentType := f.Headers["content-type"]
	got := r.family.Response(r.asked, contentType, body)
	f.Model, f.Usage = got.Model, got.Usage
	var reply provider.Reply
	var fault error
	if failure == nil {
		reply, fault = replyOf(r.family, r.asked, contentType, body)
	}
	if failure == nil && (fault != nil || f.Status != http.StatusOK) { // an error behind the end of an answer is none of it
		if said, failed := provider.ReadFailure(f.Status, f.Headers, body, s.engine.o.Now()); failed {
			failure = &said
		}
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
	if _, err := s.add(ctx, facts...); err != nil {
		return nil, err
	}
	a := &answer{n: n, said: spoken{unit: reply.Unit, by: r.model.origin()}, stop: reply.Stop, usage: got.Usage}
	usable := failure == nil && fault == nil && len(reply.Unit.Parts) > 0
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

// exchange sends the body and reads what comes back, as much as there is, into f.
func (s *Session) exchange(ctx context.Context, r *request, n int, f *entry.Response) ([]byte, *provider.Failure) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := orElse(r.limits.Silence, DefaultSilence)
	quiet := time.AfterFunc(silence, func() { stop(fmt.Errorf("the provider has said nothing for %s", silence)) })
	defer quiet.Stop()
	fail := func(end entry.End, err error) *provider.Failure {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		f.End, f.Error = end, brief(err.Error())
		kind := provider.Unreachable
		switch {
		case errors.Is(err, errLong):
			kind = provider.Garbled
		case context.Cause(ctx) == nil && end == entry.EndNone && !passes(err):
			kind = provider.Unknown
		}
		return &provider.Failure{Kind: kind, Code: absent(err), Message: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, fail(entry.EndNone, err)
	}
	for _, h := range r.family.Headers(r.model.Credential) {
		req.Header.Set(h.Name, h.Value)
	}
	began := s.engine.o.Now()
	resp, err := s.engine.o.Client.Do(req)
	if err != nil {
		return nil, fail(entry.EndNone, err)
	}
	defer resp.Body.Close()
	f.Status, f.Headers, f.FirstByteMS = resp.StatusCode, kept(resp.Header), s.engine.o.Now().Sub(began).Milliseconds()
	body, err := s.hearOut(resp, r, n, func() { quiet.Reset(silence) })
	if err != nil {
		return body, fail(entry.EndDropped, err)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return body, &provider.Failure{Kind: provider.Garbled, Status: resp.StatusCode, Message: "it redirects" + target(resp) + ", which is not followed: give that as the base URL"}
	}
	return body, nil
}

// kept are the headers of a response that are kept: they say how to read it, how long to wait, and by what name the provider
// knows it.
func kept(h http.Header) map[string]string {
	m := make(map[string]string)
	for _, name := range []string{"content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"} {
		if v := h.Get(name); v != "" && len(v) <= maxKept {
			m[name] = v
		}
	}
	return m
}

// maxKept is the longest header that is kept, in bytes.
const maxKept = 256

// target says where a response leads, without what may be secret in it.
func target(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return ""
	}
	return " to " + to.Scheme + "://" + to.Host + to.Path
}

// passes reports whether a request that nobody answered may be answered later: the network or the other side broke off. What is
// wrong with the request itself, a certificate or the protocol, stays wrong.
func passes(err error) bool {
	var errno syscall.Errno
	var op *net.OpError
	var name *net.DNSError
	var late net.Error
	return errors.As(err, &errno) || errors.As(err, &op) || errors.As(err, &name) || errors.As(err, &late) && late.Timeout() ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || absent(err) != "" || strings.Contains(err.Error(), "http2: ")
}

// absent is the code of an error that nobody was reached at all; empty for others.
func absent(err error) string {
	var asked *url.Error
	if text := err.Error(); errors.As(err, &asked) && (strings.Contains(text, "connection refused") || strings.Contains(text, "no such host")) {
		return codeAbsent
	}
	return ""
}

// hearOut reads an answer to its end, and tells of its text as it comes.
func (s *Session) hearOut(resp *http.Response, r *request, n int, heard func()) (body []byte, err error) {
	most := orElse(r.limits.Answer, DefaultAnswer)
	piece := make([]byte, 32<<10)
	told, next := 0, time.Time{}
	tell := func() {
		text := r.family.Response(r.asked, resp.Header.Get("content-type"), body).Answer.Text
		if len(text) > told {
			s.say(Event{Kind: EventText, N: n, Text: text[told:]})
			told = len(text)
		}
	}
	for {
		k, err := resp.Body.Read(piece)
		if k > 0 {
			heard()
			body = append(body, piece[:k]...)
		}
		if len(body) > most {
			return body[:most], fmt.Errorf("%w than %d bytes", errLong, most)
		}
		if now := s.engine.o.Now(); resp.StatusCode == http.StatusOK && !now.Before(next) {
			tell()
			next = now.Add(pace)
		}
		if err == io.EOF {
			tell()
			return body, nil
		}
		if err != nil {
			return body, err
		}
	}
}

// errLong says that an answer is longer than Bounds.Answer.
var errLong = errors.New("the answer has more")

// pace is how often an answer that is under way is read for its text: reading it takes longer the longer it is.
const pace = 100 * time.Millisecond
