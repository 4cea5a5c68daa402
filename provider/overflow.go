package provider

import (
	"math"
	"strings"
)

// ReadOverflow does what Protocol.Overflow says, for the shapes of all families at once: gateways and servers that speak a
// family's API pass on how others refuse. Only the error's own members count, and its message only from where it begins,
// as overflowTexts do: what a user said may be quoted in an error about something else.
//
// A 429 never is one. An error with the status 400, 413 or 422, or one inside an answer that has the status 200 and said
// nothing before, is one by its code or by its message; a 413 is, unless it speaks of a rate; any other only by its code. A
// 400 without a body is none: an error that says nothing may be anything, and a request made shorter is not what was asked for.
func ReadOverflow(status int, body []byte) (Overflow, bool) {
	if status == tooManyRequests {
		return Overflow{}, false
	}
	if v, whole := answerOf(body); whole {
		return overflowOf(status, "", v)
	}
	for event := range Events(body) {
		if !isPreamble(event.Name, event.Data) {
			return overflowOf(status, event.Name, event.Data)
		}
	}
	return Overflow{}, status == tooLarge
}

// The statuses that matter, of RFC 9110 and RFC 6585.
const (
	statusOK        = 200
	badRequest      = 400
	tooLarge        = 413
	unprocessable   = 422
	tooManyRequests = 429
)

// answerOf returns an answer that is no stream. Gemini puts one into an array.
func answerOf(body []byte) (v JSON, whole bool) {
	v, _, _ = Cut(body)
	for first := range v.Elements() {
		v = first
		break
	}
	return v, v.Kind() == '{'
}

// refusal is an error as it stands in an answer.
type refusal struct {
	status  int
	names   [2]string // its code and its type, where they are words
	message string
	raw     string // the error of another provider that it passes on
	o       Overflow
}

// overflowOf reads an error in one of the shapes that there are: beside other members or as error, inside a response that
// failed, as a text, or in detail.
func overflowOf(status int, event string, v JSON) (Overflow, bool) {
	failed, said := errorIn(status, event, v)
	if !isSet(failed) || said {
		return Overflow{}, false
	}
	r := refusal{status: status}
	r.read(failed)
	return r.overflow(0)
}

// errorIn finds the error in a whole answer, or in an event of one, and says whether something was answered beside it.
func errorIn(status int, event string, v JSON) (failed JSON, said bool) {
	found := v.Find("error", "response", "type", "choices", "candidates", "output", "detail")
	if event == "" {
		event = found[2].Text()
	}
	failed = found[0]
	switch {
	case event == "response.failed":
		failed = found[1].Find("error")[0]
	case isSet(failed):
	case found[6].Kind() == '{' || found[6].Kind() == '"' && status != statusOK:
		failed = found[6]
	case event == "error" || status != statusOK:
		failed = v
	}
	return failed, found[3].HoldsText() || found[4].HoldsText() || found[5].HoldsText()
}

// read reads an error: a text, or an object.
func (r *refusal) read(v JSON) {
	if v.Kind() == '"' {
		r.message = v.Text()
		return
	}
	found := v.Find("code", "type", "message", "n_prompt_tokens", "n_ctx", "metadata", "status")
	r.names = [2]string{strings.ToLower(found[0].Text()), strings.ToLower(found[1].Text())}
	if code, ok := found[0].Count(); ok && code >= badRequest && code < 600 && r.status == statusOK {
		r.status = int(code)
	}
	r.message = found[2].Text()
	r.o = Overflow{Sent: tokens(found[3]), Limit: tokens(found[4])}
	if raw := found[5].Find("raw"); raw != nil {
		r.raw = raw[0].Text()
	}
}

func tokens(v JSON) int {
	n, _ := v.Count()
	return int(min(n, math.MaxInt32))
}

// overflowNames are the codes and types that say so and nothing else: OpenAI's and those of many that speak its API,
// llama.cpp's, LiteLLM's, Z.ai's and GitHub Copilot's.
var overflowNames = map[string]bool{
	"context_length_exceeded": true, "exceed_context_size_error": true, "contextwindowexceedederror": true, "context_window_exceeded": true,
	"model_context_window_exceeded": true, "model_max_prompt_tokens_exceeded": true,
}

// overflow decides. depth is how many errors this one is passed on by.
func (r *refusal) overflow(depth int) (Overflow, bool) {
	const deepest = 3
	if r.status == tooManyRequests || depth > deepest {
		return Overflow{}, false
	}
	text, class, inner := unwrap(r.message)
	o, said := overflowText(text, false)
	named := overflowNames[r.names[0]] || overflowNames[r.names[1]] || overflowNames[class]
	if named && !said {
		o, _ = overflowText(text, true)
	}
	if r.o != (Overflow{}) {
		o = r.o
	}
	for _, raw := range []string{inner, r.raw} {
		if of, over := r.inside(raw, depth); over {
			named, said = named || said || !r.isRate(), true
			if o == (Overflow{}) {
				o = of
			}
		}
	}
	switch {
	case named:
		return o, true
	case r.isRate():
		return Overflow{}, false
	case r.status == tooLarge, said && r.mayBe():
		return o, true
	}
	return Overflow{}, false
}

// mayBe reports whether the status is one that comes with an overflow.
func (r *refusal) mayBe() bool {
	return r.status == statusOK || r.status == badRequest || r.status == tooLarge || r.status == unprocessable
}

// isRate reports whether the error is about how much was sent in a time. Some servers say so with a 413, and name as its
// type what is limited.
func (r *refusal) isRate() bool {
	return strings.Contains(r.names[0], "rate_limit") || strings.Contains(r.names[1], "rate_limit") || r.names[1] == "tokens"
}

// inside reads the error of another provider, which is JSON or a text.
func (r *refusal) inside(raw string, depth int) (Overflow, bool) {
	if raw == "" {
		return Overflow{}, false
	}
	in := refusal{status: r.status, message: raw}
	if v, _, whole := Cut([]byte(raw)); whole && v.Kind() == '{' {
		failed := v
		if e := v.Find("error")[0]; isSet(e) {
			failed = e
		}
		in.read(failed)
	}
	return in.overflow(depth + 1)
}
