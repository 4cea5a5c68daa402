package ambit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// Transport is how a model's requests travel.
type Transport string

// The transports. Only OpenAI Responses has a WebSocket mode.
const (
	// TransportSSE is HTTP, a request for each, whose answer is a stream of events.
	TransportSSE Transport = "sse"

	// TransportWebSocket is a WebSocket for each request.
	TransportWebSocket Transport = "websocket"

	// TransportCached is one WebSocket, which is kept while requests go on from each other: such a one has only what is new.
	TransportCached Transport = "websocket-cached"

	// TransportAuto is TransportCached where the wire has it and the server takes it, else TransportSSE.
	TransportAuto Transport = "auto"
)

// transports are their names; "" is TransportSSE.
var transports = [...]Transport{"", TransportSSE, TransportWebSocket, TransportCached, TransportAuto}

// hasSocket reports whether a wire can travel over a WebSocket.
func hasSocket(wire string) bool { return wire == provider.TypeResponses }

// agentOf is what requests say of whose they are.
const agentOf = "ambit"

// carrier takes a request to its provider and brings back what came, as much as there is.
type carrier func(ctx context.Context, r *request, h *hearing) *provider.Failure

// exchange sends what is to be sent of a request and hears what comes back.
func (s *Session) exchange(ctx context.Context, r *request, n int, f *entry.Response) *hearing {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := orElse(r.limits.Silence, DefaultSilence)
	h := &hearing{s: s, r: r, n: n, f: f, most: orElse(r.limits.Answer, DefaultAnswer), began: s.engine.o.Now()}
	quiet := time.AfterFunc(silence, func() { stop(fmt.Errorf("the provider has said nothing for %s", silence)) })
	defer quiet.Stop()
	h.heard = func() { quiet.Reset(silence) }
	carry := s.overHTTP
	if r.way.socket {
		carry = s.overSocket
	}
	h.failure = carrier(carry)(ctx, r, h)
	return h
}

// hearing takes in an answer as it comes: it bounds how long it may be, and tells of its text.
type hearing struct {
	s     *Session
	r     *request
	n     int
	f     *entry.Response
	most  int
	began time.Time
	heard func() // something came

	body    []byte
	failure *provider.Failure    // why there is no answer; nil where there may be one
	fault   *provider.ReplyError // why what came is none, where the body alone does not say
	socket  *socket              // over which it came, and which is open; nil for none

	told int // of the text, in bytes
	next time.Time
}

// begins notes the head of what comes.
func (h *hearing) begins(resp *http.Response) {
	h.f.Status, h.f.Headers, h.f.FirstByteMS = resp.StatusCode, kept(resp.Header), h.s.engine.o.Now().Sub(h.began).Milliseconds()
}

// take adds a piece, which may be empty. The error is errLong.
func (h *hearing) take(piece []byte) error {
	if len(piece) > 0 {
		h.heard()
		h.body = append(h.body, piece[:min(len(piece), h.most+1-len(h.body))]...)
	}
	if len(h.body) > h.most {
		h.body = h.body[:h.most]
		return fmt.Errorf("%w than %d bytes", errLong, h.most)
	}
	if now := h.s.engine.o.Now(); answered(h.f.Status) && !now.Before(h.next) {
		h.tell()
		h.next = now.Add(pace)
	}
	return nil
}

// answered reports whether a status is that of an answer: 200, or 101 where the answer came over a WebSocket.
func answered(status int) bool {
	return status == http.StatusOK || status == http.StatusSwitchingProtocols
}

// tell tells of the text that has come since.
func (h *hearing) tell() {
	text := h.r.family.Response(h.r.asked, h.f.Headers["content-type"], h.body).Answer.Text
	if len(text) > h.told {
		h.s.say(Event{Kind: EventText, N: h.n, Text: text[h.told:]})
		h.told = len(text)
	}
}

// errLong says that an answer is longer than Bounds.Answer.
var errLong = errors.New("the answer has more")

// pace is how often an answer that is under way is read for its text: reading it takes longer the longer it is.
const pace = 100 * time.Millisecond

// broke makes the failure of an exchange that ended early.
func (h *hearing) broke(ctx context.Context, end entry.End, err error) *provider.Failure {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	h.f.End, h.f.Error = end, brief(err.Error())
	kind := provider.Unreachable
	switch {
	case errors.Is(err, errLong):
		kind = provider.Garbled
	case context.Cause(ctx) == nil && end == entry.EndNone && !passes(err):
		kind = provider.Unknown
	}
	return &provider.Failure{Kind: kind, Code: absent(err), Message: err.Error()}
}

// redirected is the failure of an exchange that was sent elsewhere.
func redirected(resp *http.Response) *provider.Failure {
	return &provider.Failure{
		Kind: provider.Garbled, Status: resp.StatusCode, Message: "it redirects" + target(resp) + ", which is not followed: give that as the base URL",
	}
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
