// Package scripted plays written turns over real HTTP: a provider for demos and tests that needs no model and no
// network.
//
// A Provider is an http.Handler that speaks Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini: POST
// …/v1/messages, …/chat/completions, …/v1/responses and …:generateContent, streamed or whole, and what counts tokens on
// the first and the last, under any path prefix and with any query. Which turn it plays is read from the request alone. The
// newest tool call in it that an answer of the script made says which one follows, however much of what stood before was
// left out. Without one the conversation is read from what the user says first, and the turn from the number of answers
// that it holds. So a request sent again gets the same answer with the same tool call ids, and a client that rewinds is
// answered from there. An answer is an assistant message, or the items of Responses that stand together and come from the
// model; one that nothing follows is not counted, nor one that a Fault dropped in a tool call and that the client kept.
// Remembered are which faults were given already, what the prompt cache holds, and what was refused. Like the real APIs it
// refuses tool calls without results, results without calls, and a fifth cache marker; Options make it as strict as they
// are. It asks for no credential and looks at none.
//
// The usage that it reports is simulated, by these rules and no others:
//
//   - Tokens are bytes divided by four: of the raw JSON of each tool, each system block and each message, without
//     spaces and cache_control, a string content counted as one block of text; of the content of the answer.
//   - Read is the longest prefix, in whole elements, in the order tools, system, messages, that an earlier answered
//     request for the same model shared and that ended at or before a cache_control marker of that request, and of this one.
//   - Written is what stands between that prefix and this request's last marker.
//   - input_tokens is the rest, neither read nor written.
//   - The other wires have no markers: every request is read and written to its end, item for item, with the instructions
//     behind the tools, on Gemini before them, and its tokens are all of it.
//
// With Options.WebSocket, Responses is spoken over a WebSocket, too: GET …/v1/responses opens one, on which each message asks for
// an answer, and may name the one before.
//
// Unlike the real cache this one has no least size, never forgets and looks back without limit.
//
// A Provider may serve any number of requests at once. It starts no goroutines, reads no clock and never waits.
package scripted

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"ambit/entry"
)

// MaxBody is the size of the largest request that a Provider reads, in bytes, which is Anthropic's limit too.
const MaxBody = 32 << 20

// Provider plays a Script.
type Provider struct {
	script  []conversation
	issued  issued
	options Options
	cache   cache
	mu      sync.Mutex
	given   map[string]bool // the places of the faults that were given
	refused []Refusal
	peak    int64
}

// New returns a Provider that plays a script, without options. It panics if an argument of a call cannot be written as
// JSON, if a branch has no marker, or if a fault drops nothing and its status is not that of an error. The script may be
// changed afterwards without effect.
func New(s Script) *Provider { return NewWith(s, Options{}) }

// NewWith is New with options.
func NewWith(s Script, o Options) *Provider {
	if o.BytesPerToken == 0 {
		o.BytesPerToken = bytesPerToken
	}
	p := &Provider{script: compile(s), options: o, given: map[string]bool{}}
	p.issued = issuedOf(p.script)
	p.cache.held = map[[32]byte]bool{}
	return p
}

// wire is one of the APIs that a Provider speaks.
type wire struct {
	id       string // the header that names a request
	verify   func(body []byte, is issued) error
	decode   func(path string, body []byte, is issued) (request, error)
	play     func(t turn, r *request, u entry.Usage) (whole any, events []sent, err error)
	refusal  func(f Fault) any
	overflow func(tokens, window int64) Fault
	late     func(r *request, f Fault) []sent // an overflow as it comes in a stream; nil where it never does
	counted  string                           // the member that a count of tokens has; empty where nothing is counted
}

var (
	messagesWire = wire{
		"request-id", verifyMessages, decode, playMessage, messageRefusal, messageOverflow, lateMessage, "input_tokens",
	}
	chatWire      = wire{"x-request-id", verifyChat, decodeChat, playChat, responseRefusal, chatOverflow, nil, ""}
	responsesWire = wire{
		"x-request-id", verifyResponses, decodeResponses, playResponse, responseRefusal, responseOverflow, lateResponse, "",
	}
	geminiWire = wire{"x-request-id", verifyGemini, decodeGemini, playGemini, geminiRefusal, geminiOverflow, nil, "totalTokens"}
)

// route says which wire a path is of; nil if of none.
func route(path string) (on *wire, counting bool) {
	switch end := path[max(strings.LastIndexByte(path, ':'), 0):]; {
	case strings.HasSuffix(path, "/v1/messages"), strings.HasSuffix(path, "/v1/messages/count_tokens"):
		return &messagesWire, strings.HasSuffix(path, "/count_tokens")
	case strings.HasSuffix(path, "/chat/completions"):
		return &chatWire, false
	case strings.HasSuffix(path, "/v1/responses"):
		return &responsesWire, false
	case end == ":generateContent" || end == ":streamGenerateContent" || end == ":countTokens":
		return &geminiWire, end == ":countTokens"
	}
	return nil, false
}

// ServeHTTP answers one request.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	on, counting := route(r.URL.Path)
	if p.options.WebSocket && on == &responsesWire && upgrades(r) {
		p.serveSocket(w, r)
		return
	}
	if r.Method != http.MethodPost || on == nil {
		f := Fault{Status: http.StatusNotFound, Message: fmt.Sprintf("no route %s %s", r.Method, r.URL.Path)}
		if on != nil && upgrades(r) {
			f.Status = http.StatusUpgradeRequired // so that the client goes on over HTTP
		}
		cmp.Or(on, &messagesWire).refuse(w, f)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		on.refuse(w, unreadable(err))
		return
	}
	p.hear(r.Method, r.URL.RequestURI(), body)
	sum := sha256.Sum256(body)
	w.Header().Set(on.id, "req_"+digest(r.URL.Path, string(sum[:])))
	if p.options.Strict {
		if err = whole(r.ContentLength, body); err == nil && !utf8.Valid(body) {
			err = errors.New("the request body is not valid UTF-8")
		}
		if err == nil && !counting {
			err = on.verify(body, p.issued)
		}
	}
	var req request
	if err == nil {
		req, err = on.decode(r.URL.RequestURI(), body, p.issued)
	}
	if err != nil {
		p.refuse(w, r, on, invalid(err))
		return
	}
	req.prefix.per = p.options.BytesPerToken
	if counting {
		reply(w, http.StatusOK, map[string]int64{on.counted: req.prefix.tokens(req.prefix.all())})
		return
	}
	p.serve(w, r, on, &req)
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request, on *wire, req *request) {
	a := p.play(r.URL.Path, on, req)
	switch {
	case a.refused != nil:
		on.refuse(w, *a.refused)
	case req.Stream && !req.listed:
		stream(w, a.events, a.drop)
	case a.drop:
		dropReply(w, a.whole)
	default:
		reply(w, http.StatusOK, a.whole)
	}
}

// played is what a request is answered with.
type played struct {
	refused *Fault // instead of the rest; nil for nothing
	whole   any
	events  []sent // the same, streamed
	drop    bool   // it breaks off in its last block or item
}

// play finds the turn that a request asks for, and notes what it refuses.
func (p *Provider) play(path string, on *wire, req *request) played {
	refuse := func(err error) played {
		f := invalid(err)
		p.note(Refusal{Path: path, Status: f.Status, Message: f.Message})
		return played{refused: &f}
	}
	t, err := p.next(req)
	if err != nil {
		return refuse(err)
	}
	if a, fits := p.fits(path, on, req); !fits {
		return a
	}
	if t.fault = p.fault(t); t.fault != nil && !t.fault.Drop {
		return played{refused: t.fault}
	}
	whole, events, err := on.play(t, req, p.cache.charge(&req.prefix))
	if err != nil {
		return played{refused: &Fault{Status: http.StatusInternalServerError, Message: err.Error()}}
	}
	return played{whole: whole, events: events, drop: t.fault.drops()}
}

// next is the turn that a request is answered with.
func (p *Provider) next(req *request) (turn, error) {
	if p.options.Turn != nil {
		return p.script[0].turns[p.options.Turn()], nil
	}
	return find(p.script, p.issued, req.messages)
}

// fault returns a turn's fault the first time and nil ever after.
func (p *Provider) fault(t turn) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.fault == nil || p.given[t.place] {
		return nil
	}
	p.given[t.place] = true
	return t.fault
}

// invalid is what a request is refused with that has the mistake err.
func invalid(err error) Fault {
	f := Fault{Status: http.StatusBadRequest, Message: err.Error()}
	if m, ok := errors.AsType[*mistake](err); ok {
		f.code, f.param = m.code, m.param
	}
	return f
}

func unreadable(err error) Fault {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Fault{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request body is larger than %d bytes", large.Limit)}
	}
	return invalid(fmt.Errorf("read the request body: %w", err))
}

// refuse writes an error as the wire's provider does.
func (on *wire) refuse(w http.ResponseWriter, f Fault) {
	if f.RetryAfter != "" {
		w.Header().Set("retry-after", f.RetryAfter)
	}
	reply(w, f.Status, on.refusal(f))
}

func messageRefusal(f Fault) any {
	if f.Type == "" {
		f.Type = errorType(f.Status)
	}
	if f.Message == "" {
		f.Message = f.Type
	}
	return struct {
		Type  string            `json:"type"`
		Error map[string]string `json:"error"`
	}{"error", map[string]string{"type": f.Type, "message": f.Message}}
}

// errorType is the type that Anthropic documents for a status.
func errorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

func reply(w http.ResponseWriter, status int, v any) {
	raw, err := marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that left needs no answer
}
