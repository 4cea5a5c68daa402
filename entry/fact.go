package entry

import (
	"encoding/json"
	"time"
)

// Kind is the name of a Fact's type in the journal.
type Kind string

// The kinds that this version writes. A reader keeps what it does not know as an Unknown.
const (
	KindSession  Kind = "session"
	KindRequest  Kind = "request"
	KindResponse Kind = "response"
	KindGap      Kind = "gap"
)

// Fact is what an entry says: a *Session, *Request, *Response, *Gap or *Unknown. The set is sealed, so a switch
// over these is complete.
type Fact interface {
	Kind() Kind
	sealed()
}

// Session is the first entry of every session: whose it is.
type Session struct {
	ID     string `json:"id"`               // Ambit's own name for the session
	Title  string `json:"title,omitempty"`  // for people
	Client string `json:"client,omitempty"` // the program that talks, as it names itself, such as codex/0.171.0
	Key    string `json:"key,omitempty"`    // what its requests are recognised by; never a credential
}

// Request is one request as it arrived. A recorded request without a body has a nil Body.
type Request struct {
	N        int               `json:"n"`        // its number in the session, from 1, in order of arrival
	Provider string            `json:"provider"` // the route it took: anthropic, openai or gemini
	Type     string            `json:"type"`     // what it asks for, such as messages or count_tokens; empty when not understood
	Method   string            `json:"method"`
	Path     string            `json:"path"`              // path and query behind the provider's name, credentials left out
	Headers  map[string]string `json:"headers,omitempty"` // those that say who sent it and how to read the body; names in lower case
	Model    string            `json:"model,omitempty"`
	Arrived  time.Time         `json:"arrived"`           // when its first byte did
	Partial  bool              `json:"partial,omitempty"` // Body ends early: the client left, or was answered before it had sent all
	Body     *Body             `json:"body,omitempty"`
}

// End is how a response ended.
type End string

// The ways in which a response ends.
const (
	EndComplete End = "complete"     // the provider sent all of it
	EndDropped  End = "dropped"      // the provider's connection broke before the end
	EndCanceled End = "client-gone"  // the client left before the end
	EndNone     End = "no-response"  // no response came; Error says why
	EndUnkept   End = "not-recorded" // it passed, but its body was not kept; Error says why
)

// Response is what came back for the request of the same number.
type Response struct {
	N           int               `json:"n"`
	Status      int               `json:"status,omitempty"` // HTTP status; 0 when no response came
	Headers     map[string]string `json:"headers,omitempty"`
	Model       string            `json:"model,omitempty"` // as the provider names it
	Usage       *Usage            `json:"usage,omitempty"` // nil when the provider gave none
	End         End               `json:"end"`
	Error       string            `json:"error,omitempty"`
	FirstByteMS int64             `json:"first_byte_ms"` // from the request's arrival to the response's header
	DurationMS  int64             `json:"duration_ms"`   // from the request's arrival to the response's end
	Body        *Body             `json:"body,omitempty"`
}

// Gap says that traffic passed and was not recorded.
type Gap struct {
	Exchanges int       `json:"exchanges"`     // requests or responses that are missing
	Bytes     int64     `json:"missing_bytes"` // of their bodies
	Cause     string    `json:"cause"`
	Since     time.Time `json:"since"`
}

// Unknown is a fact of a kind that this version does not know, kept as it stands.
type Unknown struct {
	Name Kind
	Raw  json.RawMessage // the whole entry object
}

// Kind returns KindSession.
func (*Session) Kind() Kind { return KindSession }

// Kind returns KindRequest.
func (*Request) Kind() Kind { return KindRequest }

// Kind returns KindResponse.
func (*Response) Kind() Kind { return KindResponse }

// Kind returns KindGap.
func (*Gap) Kind() Kind { return KindGap }

// Kind returns the kind that the journal names.
func (u *Unknown) Kind() Kind { return u.Name }

func (*Session) sealed()  {}
func (*Request) sealed()  {}
func (*Response) sealed() {}
func (*Gap) sealed()      {}
func (*Unknown) sealed()  {}

// Bodies returns the bodies that a fact relies on.
func Bodies(f Fact) []Body {
	switch f := f.(type) {
	case *Request:
		if f.Body != nil {
			return []Body{*f.Body}
		}
	case *Response:
		if f.Body != nil {
			return []Body{*f.Body}
		}
	}
	return nil
}
