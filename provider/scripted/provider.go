// Package scripted plays written turns over real HTTP: a provider for demos and tests that needs no model and no
// network.
//
// A Provider is an http.Handler that speaks Anthropic Messages and OpenAI Responses: POST …/v1/messages and POST
// …/v1/responses, streamed or whole, and POST …/v1/messages/count_tokens, under any path prefix and with any query. Which
// turn it plays is read from the request alone: the conversation from what the user says first, the turn from the number
// of answers that it holds, so that a request sent again gets the same answer with the same tool call ids, and a client
// that rewinds is answered from there. An answer is an assistant message, or the items of Responses that stand together
// and come from the model; one that nothing follows is not counted, nor one that a Fault dropped in a tool call and that
// the client kept. Two things are remembered: which faults were given already, and what the prompt cache holds. Like the
// real APIs it refuses tool calls without results, results without calls, and a fifth cache marker. It asks for no
// credential and looks at none.
//
// The usage that it reports is simulated, by these rules and no others:
//
//   - Tokens are bytes divided by four: of the raw JSON of each tool, each system block and each message, without
//     spaces and cache_control, a string content counted as one block of text; of the content of the answer.
//   - Read is the longest prefix, in whole elements, in the order tools, system, messages, that an earlier answered
//     request for the same model shared and that ended at or before a cache_control marker of that request, and of this one.
//   - Written is what stands between that prefix and this request's last marker.
//   - input_tokens is the rest, neither read nor written.
//   - Responses has no markers: every request is read and written to its end, item for item, with the instructions behind
//     the tools, and its input_tokens are all of it.
//
// Unlike the real cache this one has no least size, never forgets and looks back without limit.
//
// A Provider may serve any number of requests at once. It starts no goroutines, reads no clock and never waits.
package scripted

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"ambit/entry"
)

// MaxBody is the size of the largest request that a Provider reads, in bytes, which is Anthropic's limit too.
const MaxBody = 32 << 20

// Provider plays a Script.
type Provider struct {
	script []conversation
	cache  cache
	mu     sync.Mutex
	given  map[string]bool // the places of the faults that were given
}

// New returns a Provider that plays a script. It panics if an argument of a call cannot be written as JSON, if a
// branch has no marker, or if a fault drops nothing and its status is not that of an error. The script may be changed
// afterwards without effect.
func New(s Script) *Provider {
	p := &Provider{script: compile(s), given: map[string]bool{}}
	p.cache.held = map[[32]byte]bool{}
	return p
}

// wire is one of the APIs that a Provider speaks.
type wire struct {
	id      string // the header that names a request
	decode  func(body []byte) (request, error)
	play    func(t turn, r *request, u entry.Usage) (whole any, events []sent, err error)
	refusal func(f Fault) any
}

var (
	messagesWire  = wire{"request-id", decode, playMessage, messageRefusal}
	responsesWire = wire{"x-request-id", decodeResponses, playResponse, responseRefusal}
)

// ServeHTTP answers one request.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	on, counting := &messagesWire, strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens")
	known := counting || strings.HasSuffix(r.URL.Path, "/v1/messages")
	if strings.HasSuffix(r.URL.Path, "/v1/responses") {
		on, known = &responsesWire, true
	}
	if r.Method != http.MethodPost || !known {
		on.refuse(w, Fault{Status: http.StatusNotFound, Message: fmt.Sprintf("no route %s %s", r.Method, r.URL.Path)})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		on.refuse(w, unreadable(err))
		return
	}
	w.Header().Set(on.id, "req_"+digest(r.URL.Path, string(body)))
	req, err := on.decode(body)
	if err != nil {
		on.refuse(w, invalid(err))
		return
	}
	if counting {
		reply(w, http.StatusOK, map[string]int64{"input_tokens": req.prefix.tokens(req.prefix.all())})
		return
	}
	p.serve(w, on, &req)
}

func (p *Provider) serve(w http.ResponseWriter, on *wire, req *request) {
	t, err := find(p.script, req.messages)
	if err != nil {
		on.refuse(w, invalid(err))
		return
	}
	if t.fault = p.fault(t); t.fault != nil && !t.fault.Drop {
		on.refuse(w, *t.fault)
		return
	}
	whole, events, err := on.play(t, req, p.cache.charge(&req.prefix))
	switch {
	case err != nil:
		on.refuse(w, Fault{Status: http.StatusInternalServerError, Message: err.Error()})
	case req.Stream:
		stream(w, events, t.fault.drops())
	case t.fault.drops():
		dropReply(w, whole)
	default:
		reply(w, http.StatusOK, whole)
	}
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

func invalid(err error) Fault { return Fault{Status: http.StatusBadRequest, Message: err.Error()} }

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
