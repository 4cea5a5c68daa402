package sim

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ambit/provider"
)

// Fault is something that goes wrong between a model and who asks it.
type Fault string

// The faults. None is the answer as it is.
const (
	None       Fault = "none"
	Rate       Fault = "429"              // with a delay
	RateLong   Fault = "429 for too long" // with one that nobody waits for
	Server     Fault = "5xx"
	Overload   Fault = "529"
	Refused    Fault = "refused"     // nobody listens
	Reset      Fault = "reset"       // the connection breaks before the answer
	Drop       Fault = "dropped"     // and in the middle of it
	Slow       Fault = "slow"        // the answer comes, in the end
	Silent     Fault = "silent"      // it stops, and the connection stays
	Overflow   Fault = "overflow"    // the request is too long
	Denied     Fault = "401"         // the credential is wrong
	Malformed  Fault = "malformed"   // an event of the stream is no JSON, and the rest comes
	Duplicate  Fault = "duplicate"   // the first and the last event come twice
	Twice      Fault = "event twice" // one in the middle does
	InStream   Fault = "error event" // the stream says that it fails
	WrongType  Fault = "wrong type"  // a page comes, with status 200
	Mislabeled Fault = "mislabeled"  // the answer comes under another content type
	Empty      Fault = "empty"       // nothing comes, with status 200
	Redirect   Fault = "redirect"
	Short      Fault = "broken off" // the stream ends before the answer does
	After      Fault = "after end"  // an event comes behind the end
	Half       Fault = "half character"
	Flood      Fault = "flood" // an answer that is longer than it may be
)

// faults are all that can go wrong.
func faults() []Fault {
	return []Fault{
		Rate, RateLong, Server, Overload, Refused, Reset, Drop, Slow, Silent, Overflow, Denied, Malformed, Duplicate, Twice, InStream,
		WrongType, Mislabeled, Empty, Redirect, Short, After, Half, Flood,
	}
}

// Faults are the names of all that can go wrong.
func Faults() (names []string) {
	for _, f := range faults() {
		names = append(names, string(f))
	}
	return names
}

// fate is what must become of an attempt.
type fate uint8

const (
	answered fate = iota
	passes        // it is repeated until it succeeds
	none          // it is repeated a few times
	fatal         // it ends the activity
	either        // it is answered or is none: the answer is taken as it is, or not at all
	long          // it is too long: a shorter one follows, or it ends the activity
)

// again reports whether an attempt may be repeated.
func (f fate) again() bool { return f == passes || f == none || f == either }

// answer is what comes back, and how.
type answer struct {
	status int
	header http.Header
	body   []byte
	end    ending
	slow   bool
}

// ending is how a body ends.
type ending uint8

const (
	ends ending = iota
	breaks
	hangs
)

func header(list ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(list); i += 2 {
		h.Set(list[i], list[i+1])
	}
	return h
}

// events cuts a stream into its events.
func events(stream []byte) [][]byte {
	var list [][]byte
	for e := range bytes.SplitAfterSeq(stream, []byte("\n\n")) {
		if len(e) > 0 {
			list = append(list, e)
		}
	}
	return list
}

// coming is what is known of an answer on its way: what spoiled it, and what must become of the attempt.
type coming struct {
	fault Fault
	fate  fate
	kind  provider.FailureKind // of a failure, where it is known
	after time.Duration        // for which the provider wants to be left alone
	whole bool                 // the answer is sent to its end
}

// spoil makes of the model's answer over a wire what comes back under a fault, and says what must become of the attempt.
func (w *stage) spoil(a *coming, wire string, f Fault, whole *answer) *answer {
	a.fault, a.fate, a.whole = f, answered, true
	list := events(whole.body)
	middle := 1 + w.dice.IntN(max(1, len(list)-2))
	early := min(middle, max(1, len(list)-4)) // so that the answer has not come to its end
	failed := func(fate fate, kind provider.FailureKind, status int, code, text string, headers ...string) *answer {
		a.fate, a.kind, a.whole = fate, kind, false
		h := header(append(headers, "content-type", "application/json")...)
		return &answer{status: status, header: h, body: []byte(refusal(wire, status, code, text))}
	}
	stream := func(fate fate, end ending, parts ...[]byte) *answer {
		a.fate, a.kind = fate, provider.Unreachable
		return &answer{status: 200, header: whole.header, body: bytes.Join(parts, nil), end: end}
	}
	switch f {
	case Rate:
		a.after = time.Duration(1+w.dice.IntN(59)) * time.Second
		return failed(passes, provider.RateLimited, 429, "rate_limit_error", "slow down", "retry-after", fmt.Sprint(int(a.after.Seconds())))
	case RateLong:
		a.after = time.Duration(61+w.dice.IntN(9999)) * time.Second
		return failed(fatal, provider.RateLimited, 429, "rate_limit_error", "come back later", "retry-after", fmt.Sprint(int(a.after.Seconds())))
	case Server:
		status := []int{500, 502, 503, 504}[w.dice.IntN(4)]
		return failed(passes, "", status, "api_error", "it is our fault")
	case Overload:
		return failed(passes, provider.Overloaded, 529, "overloaded_error", "Overloaded")
	case Denied:
		return failed(fatal, provider.Denied, 401, "authentication_error", "invalid key")
	case Overflow:
		return failed(fatal, provider.TooLong, 400, "invalid_request_error", tooLong(wire))
	case Redirect:
		a.fate, a.kind, a.whole = fatal, provider.Garbled, false
		return &answer{status: 307, header: header("location", "http://elsewhere.test/")}
	case Drop, Silent:
		a.whole = false
		end := breaks
		if f == Silent {
			end = hangs
		}
		cut := w.dice.IntN(len(whole.body))
		return stream(passes, end, whole.body[:cut])
	case Slow:
		slow := *whole
		slow.slow = true
		return &slow
	case Malformed:
		fate := none
		if middle > last(wire, list) {
			fate = answered
		}
		return stream(fate, ends, slices.Concat(list[:middle], [][]byte{w.torn(list[middle])}, list[middle+1:])...)
	case Duplicate:
		last := list[len(list)-1]
		if wire != provider.TypeGenerate { // whose first event has text, which may well come twice
			list = slices.Concat(list[:1], list)
		}
		return stream(answered, ends, append(slices.Clone(list), last)...)
	case Twice:
		fate := answered
		if known, taken := twice(wire, list[middle]); known {
			list = slices.Insert(slices.Clone(list), middle, list[middle])
			if !taken {
				fate = none
			}
		}
		return stream(fate, ends, list...)
	case InStream:
		fate := passes
		if middle > last(wire, list) {
			fate = answered // it had come to its end before
		}
		made := stream(fate, ends, slices.Concat(list[:middle], [][]byte{[]byte(inStream(wire))})...)
		a.kind = ""
		return made
	case WrongType:
		a.fate, a.whole = none, false
		return &answer{status: 200, header: header("content-type", "text/html"), body: []byte("<!DOCTYPE html>\n<html><body>Sign in.</body></html>\n")}
	case Mislabeled:
		a.fate = either
		return &answer{status: 200, header: header("content-type", []string{"text/plain", "application/json", "text/html; charset=latin1", ""}[w.dice.IntN(4)]), body: whole.body}
	case Empty:
		a.fate, a.whole = none, false
		return &answer{status: 200, header: whole.header}
	case Short:
		a.whole = false
		return stream(none, ends, list[:early]...)
	case After:
		more := [][]byte{list[middle], w.torn(list[middle]), []byte(inStream(wire)), []byte(": the end\n\n")}[w.dice.IntN(4)]
		return stream(answered, ends, append(slices.Clone(list), more)...)
	case Half:
		a.fate, a.whole = none, false
		return &answer{status: 200, header: whole.header, body: append(bytes.Join(list[:early], nil), "data: {\"type\":\"\xe2\x82"...)}
	case Flood:
		made := stream(fatal, ends, list[0], bytes.Repeat([]byte(": nothing\n"), longest/8))
		a.whole, a.kind = false, provider.Garbled
		return made
	}
	return whole
}

// torn is an event whose data end too early, so that they are no JSON.
func (w *stage) torn(event []byte) []byte {
	data := bytes.Index(event, []byte("data: ")) + len("data: ")
	whole := bytes.TrimSpace(event[data:])
	return slices.Concat(event[:data], whole[:1+w.dice.IntN(max(1, len(whole)-1))], []byte("\n\n"))
}

// last is the event with which an answer has come to its end: what is behind it is no part of what the model says.
func last(wire string, list [][]byte) int {
	sign := map[string]string{
		provider.TypeMessages: "event: message_stop", provider.TypeResponses: "event: response.completed",
		provider.TypeChat: `"finish_reason":"`, provider.TypeGenerate: `"finishReason":"`,
	}[wire]
	i := slices.IndexFunc(list, func(e []byte) bool { return bytes.Contains(e, []byte(sign)) })
	if i < 0 {
		panic("an answer has no end") // it is the model's, whole
	}
	return i
}

// twice reports whether one can know of an event that comes twice that it does, since a piece of text may well be said again; and
// whether the answer is one all the same: two calls that begin under one id are not.
func twice(wire string, event []byte) (known, taken bool) {
	has := func(text string) bool { return bytes.Contains(event, []byte(text)) }
	switch wire {
	case provider.TypeResponses:
		return true, true
	case provider.TypeMessages:
		return !has("event: content_block_delta"), !has("event: content_block_start") || !has(`"type":"tool_use"`)
	}
	return false, true
}

// refusal is an error as a wire spells it.
func refusal(wire string, status int, code, text string) string {
	switch wire {
	case provider.TypeMessages:
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, code, text)
	case provider.TypeGenerate:
		names := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED", 529: "UNAVAILABLE"}
		name := names[status]
		if name == "" {
			name = "INTERNAL"
		}
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q}}`, status, text, name)
	}
	names := map[string]string{"rate_limit_error": "rate_limit_exceeded", "api_error": "server_error", "overloaded_error": "slow_down", "authentication_error": "invalid_api_key"}
	name := names[code]
	if strings.Contains(text, "maximum context length") {
		name = "context_length_exceeded"
	}
	return fmt.Sprintf(`{"error":{"message":%q,"type":"%s","code":%q,"param":null}}`, text, code, name)
}

// tooLong is how a wire says that a request is.
func tooLong(wire string) string {
	switch wire {
	case provider.TypeMessages:
		return "prompt is too long: 210000 tokens > 200000 maximum"
	case provider.TypeGenerate:
		return "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
	}
	return "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages."
}

// inStream is an error as it comes in a stream that has begun.
func inStream(wire string) string {
	switch wire {
	case provider.TypeMessages:
		return "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	case provider.TypeResponses:
		return "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"The server had an error\",\"param\":null,\"sequence_number\":9}\n\n"
	case provider.TypeChat:
		return "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"code\":\"server_error\"}}\n\n"
	}
	return "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n"
}
