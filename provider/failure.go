package provider

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Failure is why an attempt came to nothing, as far as the provider says.
type Failure struct {
	Kind    FailureKind
	Status  int           // of HTTP
	Code    string        // the provider's own word for it; empty where it has none
	Message string        // the provider's own, for people
	After   time.Duration // for how long it asks to be left alone; 0 where it does not say
	Over    Overflow      // of TooLong, what it says of the sizes
}

// FailureKind is what kind of failure one is, whatever the provider calls it.
type FailureKind string

// The kinds of failures. The first four pass by themselves.
const (
	RateLimited FailureKind = "rate limit"
	Overloaded  FailureKind = "overloaded"
	ServerError FailureKind = "server error"
	Unreachable FailureKind = "unreachable" // no answer came, or it broke off

	TooLong  FailureKind = "too long"     // the request does not fit the model's window
	Denied   FailureKind = "not allowed"  // the credential, or what it may do
	Unpaid   FailureKind = "out of quota" // more money or another plan helps, waiting does not
	Invalid  FailureKind = "invalid"      // the request, or the model's name
	Filtered FailureKind = "filtered"     // by a rule about content
	Forgot   FailureKind = "forgotten"    // the answer that the request goes on from; it can be made whole, and sent
	Garbled  FailureKind = "garbled"      // what came is no answer
	Unknown  FailureKind = "unknown"
)

// Passes reports whether the same request may succeed later.
func (f *Failure) Passes() bool {
	switch f.Kind {
	case RateLimited, Overloaded, ServerError, Unreachable:
		return true
	}
	return false
}

// Error says all of it in one line.
func (f *Failure) Error() string {
	s := "the provider answered"
	if f.Status == 0 && f.Kind == Unreachable {
		s = "the provider gave no whole answer"
	}
	if f.Status != 0 && f.Status != statusOK {
		s += " " + strconv.Itoa(f.Status)
	}
	s += ": " + string(f.Kind)
	if f.Code != "" {
		s += " (" + f.Code + ")"
	}
	if f.Message != "" {
		s += ": " + f.Message
	}
	if f.After > 0 {
		s += fmt.Sprintf("; it asks to wait %s", f.After)
	}
	return s
}

// ReadFailure reads a failure from an answer of any family: from its status, from an error in its body, or from one in the
// middle of a stream. Header names are in lower case; at is when it came, for delays that end at a time. False for an answer
// that is none. The kind comes from the provider's own word where that is known, else from the status.
func ReadFailure(status int, headers map[string]string, body []byte, at time.Time) (Failure, bool) {
	f := Failure{Status: status}
	var detail JSON
	if v, whole := answerOf(body); whole {
		failed, _ := errorIn(status, "", v)
		detail = f.take(failed)
	} else {
		for event := range Events(body) {
			if failed, _ := errorIn(statusOK, event.Name, event.Data); isSet(failed) {
				detail = f.take(failed)
				headers = f.beside(event.Data, headers)
				break
			}
		}
	}
	if status == statusOK && !isSet(detail) {
		return Failure{}, false
	}
	if over, long := ReadOverflow(status, body); long {
		f.Kind, f.Over = TooLong, over
	} else {
		f.Kind = f.kind(detail)
	}
	f.After = delay(headers, detail, at)
	return f, true
}

// beside reads what an event says beside its error, which came over a WebSocket: the status and the headers that the error
// would have had over HTTP. It returns all headers.
func (f *Failure) beside(event JSON, headers map[string]string) map[string]string {
	found := event.Find("status", "status_code", "headers")
	for _, v := range found[:2] {
		if n, ok := v.Count(); ok && n >= badRequest && n < 600 {
			f.Status = int(n)
		}
	}
	if found[2].Kind() != '{' {
		return headers
	}
	all := make(map[string]string, len(headers))
	maps.Copy(all, headers)
	for name, v := range found[2].Members() {
		switch name = strings.ToLower(name); v.Kind() {
		case '"':
			all[name] = v.Text()
		default:
			all[name] = string(v)
		}
	}
	return all
}

// ReadClose reads a failure from the code and the reason with which a WebSocket was closed, of RFC 6455, before the answer
// ended; 1005 where there was none.
func ReadClose(code int, reason string) Failure {
	f := Failure{Kind: Unknown, Code: "close " + strconv.Itoa(code), Message: reason}
	if f.Message == "" {
		f.Message = "the connection was closed before the answer ended"
	}
	switch code {
	case 1000, 1001, 1005, 1006, 1012, 1014: // it went, was restarted, or lost what is behind it
		f.Kind = Unreachable
	case 1011:
		f.Kind = ServerError
	case 1013:
		f.Kind = Overloaded
	case 1008:
		f.Kind = Denied
	case 1002, 1003, 1007, 1009, 1010:
		f.Kind = Invalid
	}
	return f
}

// take reads the error's own members, and returns it.
func (f *Failure) take(failed JSON) JSON {
	if failed.Kind() == '"' {
		f.Message = failed.Text()
		return failed
	}
	found := failed.Find("code", "type", "message", "status")
	f.Code, f.Message = cmp.Or(found[0].Text(), found[3].Text(), found[1].Text()), found[2].Text()
	if kinds[strings.ToLower(found[1].Text())] != "" && kinds[strings.ToLower(f.Code)] == "" {
		f.Code = found[1].Text()
	}
	return failed
}

// kinds are the providers' own words: types of Anthropic's errors, types and codes of OpenAI's, statuses of Google's.
var kinds = map[string]FailureKind{
	"rate_limit_error": RateLimited, "rate_limit_exceeded": RateLimited, "tokens": RateLimited, "requests": RateLimited, "resource_exhausted": RateLimited,
	"overloaded_error": Overloaded, "slow_down": Overloaded, "server_is_overloaded": Overloaded, "unavailable": Overloaded,
	"api_error": ServerError, "timeout_error": ServerError, "server_error": ServerError, "internal": ServerError, "deadline_exceeded": ServerError, "aborted": ServerError,
	"authentication_error": Denied, "permission_error": Denied, "invalid_api_key": Denied, "unauthenticated": Denied, "permission_denied": Denied,
	"billing_error": Unpaid, "insufficient_quota": Unpaid, "billing_hard_limit_reached": Unpaid, "credit_balance_too_low": Unpaid,
	"content_filter": Filtered, "content_policy_violation": Filtered, "invalid_prompt": Filtered,
	"invalid_request_error": Invalid, "not_found_error": Invalid, "model_not_found": Invalid, "invalid_argument": Invalid, "not_found": Invalid, "failed_precondition": Invalid,
	"request_too_large": Invalid, "unsupported_parameter": Invalid, "invalid_value": Invalid,
	"previous_response_not_found": Forgot, "websocket_connection_limit_reached": Unreachable,
}

// kind decides. A daily limit of Google's has the name of one that passes.
func (f *Failure) kind(detail JSON) FailureKind {
	k := kinds[strings.ToLower(f.Code)]
	switch {
	case k == RateLimited && strings.Contains(string(detail), "PerDay"):
		return Unpaid
	case k == Invalid && (f.Status == 401 || f.Status == 403):
		return Denied
	case k != "":
		return k
	case f.Status == 401 || f.Status == 403:
		return Denied
	case f.Status == 402:
		return Unpaid
	case f.Status == tooManyRequests:
		return RateLimited
	case f.Status == 503 || f.Status == 529:
		return Overloaded
	case f.Status == 408 || f.Status >= 500:
		return ServerError
	case f.Status >= badRequest:
		return Invalid
	case f.Status >= 300:
		return Garbled
	}
	return Unknown
}

// delay is for how long the provider asks to be left alone: by retry-after-ms, by retry-after in seconds or as a date, or by
// Google's RetryInfo. A delay that lies in the past, or is absurd, is none.
func delay(headers map[string]string, detail JSON, at time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(headers["retry-after-ms"], 64); err == nil && ms > 0 {
		return longest(ms / 1000)
	}
	if after := strings.TrimSpace(headers["retry-after"]); after != "" {
		if s, err := strconv.ParseFloat(after, 64); err == nil && s > 0 {
			return longest(s)
		}
		if when, err := time.Parse(time.RFC1123, strings.Replace(after, "GMT", "UTC", 1)); err == nil && when.After(at) {
			return longest(when.Sub(at).Seconds())
		}
	}
	if detail.Kind() != '{' {
		return 0
	}
	for d := range detail.Find("details")[0].Elements() {
		if s, err := strconv.ParseFloat(strings.TrimSuffix(d.Find("retryDelay")[0].Text(), "s"), 64); err == nil && s > 0 {
			return longest(s)
		}
	}
	return 0
}

// longest makes a duration of seconds, a year at most.
func longest(seconds float64) time.Duration {
	const year = 365 * 24 * 60 * 60
	return time.Duration(min(seconds, year) * float64(time.Second))
}
