package ambit

import (
	"context"
	"errors"

	"ambit/view"
)

// Shown is one request of a session as the model saw it. What stands in it was recorded; only the tokens are estimates.
type Shown struct {
	Session    string    `json:"session"`
	Thread     string    `json:"thread,omitempty"` // empty for a request that is in none
	Generation int       `json:"generation"`       // 1, and one more for each boundary in the thread up to here
	Turn       int       `json:"turn"`             // the request's number
	Model      string    `json:"model,omitempty"`  // that answered, or that was asked
	Estimator  string    `json:"estimator"`        // who made the estimates
	EstTotal   int       `json:"est_total_tokens"` // of the segments and of what was not recorded
	EstUnknown int       `json:"est_not_recorded_tokens,omitempty"`
	Sent       *SentAs   `json:"sent,omitempty"` // nil where what the client sent went as it came
	Segments   []Segment `json:"segments"`
}

// Segment is one unit of a request: a tool, a block of system text, or a message.
type Segment struct {
	Layer     view.Layer `json:"layer"`
	Role      string     `json:"role"`  // who says it: one of the units' roles, or RoleTools
	Ref       string     `json:"ref"`   // the entry in which it first passed, or by which Ambit put it there; of tools and system text a JSON pointer into the body that went
	Class     Class      `json:"class"` // what it is
	EstTokens int        `json:"est_tokens"`
	Text      string     `json:"text"`           // of a message what is public; of a call the tool and the arguments; empty for what a client left out
	Out       bool       `json:"out,omitempty"`  // the client took the text out, and sent something else in its place that was not recorded
	Edit      string     `json:"edit,omitempty"` // of an excerpt or a placeholder: the entry by which it stands in place of what Ref has
	Pin       string     `json:"pin,omitempty"`  // of a pin, its id
}

// The roles of what is no message.
const (
	RoleTools  = "tools" // what tools there are
	RoleSystem = "system"
)

// Class is what kind of thing a segment is.
type Class string

// The classes.
const (
	ClassTools        Class = "tools"        // the definition of a tool
	ClassSystem       Class = "system"       // system text
	ClassInstructions Class = "instructions" // a project's or a user's instructions, as far as they can be told from other text
	ClassSummary      Class = "summary"      // what a client put in the place of what was said before
	ClassUser         Class = "user"
	ClassAssistant    Class = "assistant" // an answer without calls
	ClassCall         Class = "call"      // an answer with calls
	ClassResult       Class = "result"    // what tools gave back

	// What Ambit made of a message, or put there.
	ClassExcerpt     Class = "excerpt"     // a part of what the entry has, mostly of results
	ClassPlaceholder Class = "placeholder" // lines that say which results stood there
	ClassCheckpoint  Class = "checkpoint"  // what stands in place of messages that are left out
	ClassPin         Class = "pin"         // what the request has to say
)

// ErrNoThread says that a session has no such thread.
var ErrNoThread = errors.New("no such thread")

// View is request n of the session as the model saw it: as it went to its provider, edited or not; for 0 the newest of a thread; without a thread of the main one,
// which is the conversation that was asked last and is no sub-agent's.
//
// The error is ErrNotRecorded, ErrNoThread, provider.ErrNotUnderstood, journal.ErrPurged or journal.ErrCorrupt, each with
// what is meant.
func (r *Recording) View(ctx context.Context, thread string, n int) (*Shown, error) {
	s, err := r.sight(thread, n)
	if err != nil {
		return nil, err
	}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	v := &Shown{
		Session: r.session, Thread: s.thread, Generation: 1 + len(s.bounds), Turn: s.x.Request.N, Model: s.named, Estimator: s.estimator(),
		EstTotal: s.head, EstUnknown: s.head, Sent: s.sentAs(), Segments: make([]Segment, len(s.items)),
	}
	for i, it := range s.items {
		v.Segments[i] = it.Segment
		v.EstTotal += it.EstTokens
	}
	return v, nil
}
