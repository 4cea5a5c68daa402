package scripted

import (
	"fmt"
	"net/http"
	"slices"
)

// Options are what is asked of a Provider beside its script. The zero value asks for nothing more.
type Options struct {
	// Strict verifies every request as the real provider does, and refuses it with that provider's status and words: roles,
	// empty texts, calls and results, ids, cache markers and how long they live, and whether thoughts, signatures and encrypted
	// reasoning are those of the script. An answer with a thought must come back whole or not at all, which is more than the
	// real ones notice. A body with one name twice in an object is refused, too.
	Strict bool

	Window        int64 // a request of more tokens is refused as too long; 0 for no limit
	BytesPerToken int64 // for the window and the usage; 0 for four
	Late          bool  // what is too long and streamed is refused in the stream, on Messages and Responses

	// Turn says which turn of the first conversation answers the next request, from 0, whatever stands in it; nil where that says so.
	Turn func() int

	WebSocket bool                                   // Responses is spoken over a WebSocket, too; else one is refused with 426
	Heard     func(method, path string, body []byte) // is told each request and each message as it came, before it is answered; nil for nobody
}

// Refusal is a request that a Provider refused, other than by a Fault of the script.
type Refusal struct {
	Path     string // of the request
	Status   int    // that it was answered with, 200 when it was refused in the stream
	Message  string // why, as the client reads it
	Overflow bool   // it was too long for the window
}

// Refusals are what was refused until now, in order.
func (p *Provider) Refusals() []Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// Peak is the size of the largest request that was answered, in tokens.
func (p *Provider) Peak() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak
}

// note keeps a refusal.
func (p *Provider) note(r Refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = append(p.refused, r)
}

// hear tells of a request that has come.
func (p *Provider) hear(method, path string, body []byte) {
	if p.options.Heard != nil {
		p.options.Heard(method, path, body)
	}
}

// refuse refuses a request for what is wrong with it.
func (p *Provider) refuse(w http.ResponseWriter, r *http.Request, on *wire, f Fault) {
	p.note(Refusal{Path: r.URL.Path, Status: f.Status, Message: f.Message})
	on.refuse(w, f)
}

// fits refuses a request that is too long for the window; false when it did, with what is answered.
func (p *Provider) fits(path string, on *wire, req *request) (played, bool) {
	size := req.prefix.tokens(req.prefix.all())
	if p.options.Window == 0 || size <= p.options.Window {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.peak = max(p.peak, size)
		return played{}, true
	}
	f := on.overflow(size, p.options.Window)
	if !p.options.Late || !req.Stream || on.late == nil {
		p.note(Refusal{path, f.Status, f.Message, true})
		return played{refused: &f}, false
	}
	p.note(Refusal{path, http.StatusOK, f.Message, true})
	return played{events: on.late(req, f)}, false
}

// messageOverflow is what Anthropic says of a request that is too long.
func messageOverflow(tokens, window int64) Fault {
	return Fault{Status: http.StatusBadRequest, Message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, window)}
}

// chatOverflow is what OpenAI says of it on Chat Completions.
func chatOverflow(tokens, window int64) Fault {
	return Fault{
		Status: http.StatusBadRequest, code: "context_length_exceeded", param: "messages",
		Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. "+
			"Please reduce the length of the messages.", window, tokens),
	}
}

// responseOverflow is what it says on Responses, where no number is told.
func responseOverflow(_, _ int64) Fault {
	return Fault{
		Status: http.StatusBadRequest, code: "context_length_exceeded", param: "input",
		Message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
	}
}

// geminiOverflow is what Google says of it.
func geminiOverflow(tokens, window int64) Fault {
	return Fault{
		Status:  http.StatusBadRequest,
		Message: fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens, window),
	}
}

// lateMessage is a refusal as Anthropic puts it into a stream: an error and nothing else.
func lateMessage(_ *request, f Fault) []sent { return []sent{{name: "error", data: messageRefusal(f)}} }

// lateResponse is a refusal as OpenAI puts it into a stream: the response begins, and has failed.
func lateResponse(r *request, f Fault) []sent {
	head := response{ID: "resp_" + digest(f.Message), Object: "response", Status: "in_progress", Model: r.Model, Output: []outputItem{}}
	failed := head
	failed.Status, failed.Error = "failed", &failure{f.code, f.Message}
	return []sent{
		{name: "response.created", data: responseEvent{Type: "response.created", Response: &head}},
		{name: "response.in_progress", data: responseEvent{Type: "response.in_progress", Number: 1, Response: &head}},
		{name: "response.failed", data: responseEvent{Type: "response.failed", Number: 2, Response: &failed}},
	}
}
