package entry

import (
	"encoding/json"
	"fmt"
)

// Stage is how far a decision about a request went.
type Stage string

// The stages. Prune, compact and lift are boundaries: something that was sent before is sent otherwise, or not.
const (
	StageNone    Stage = "none"    // everything goes on as it stood; Why says what was weighed
	StageCut     Stage = "cut"     // giant results were shortened before they were sent the first time
	StagePrune   Stage = "prune"   // placeholders stand where old results stood
	StageCompact Stage = "compact" // a checkpoint stands where old messages stood
	StageLift    Stage = "lift"    // edits were taken back, or do not hold where the client went back to, or hold again
	StageRestore Stage = "restore" // what a client's own summary had lost stands behind it again
)

// Boundary reports whether something that was sent before is sent otherwise, or not, after a decision of the stage.
func (s Stage) Boundary() bool { return s == StagePrune || s == StageCompact || s == StageLift }

// Event is the name under which people find a decision of the stage.
func (s Stage) Event() string {
	switch s {
	case StageCut:
		return "context.cut"
	case StagePrune:
		return "context.pruned"
	case StageCompact:
		return "context.compacted"
	case StageLift:
		return "context.lifted"
	case StageRestore:
		return "context.restored"
	}
	return "context.kept"
}

// Decision is what was decided about the context of a request before it was sent, and what it was decided by. The edits that
// it made are entries of their own, in the same append. Counts of tokens are estimates but for LastReal; money is in USD.
type Decision struct {
	N        int    `json:"n,omitempty"` // the request before which it was made; 0 when a person asked for it between two requests
	Thread   string `json:"thread"`
	Policy   string `json:"policy"`
	Stage    Stage  `json:"stage"`
	Event    string `json:"event"`
	Reactive bool   `json:"reactive,omitempty"` // the provider had refused the request as too long
	Why      string `json:"why"`                // one sentence for people

	Whole      int      `json:"whole_tokens"`            // the request as the client made it
	Before     int      `json:"before_tokens"`           // the request as it would have been sent without this decision
	After      int      `json:"after_tokens"`            // the request as it was sent
	Kept       int      `json:"kept_tokens"`             // of Before, what stands unchanged in front of the first change
	LastReal   int64    `json:"last_real_tokens"`        // the provider's count of the thread's last request and answer; 0 when unknown
	Usable     int      `json:"usable_tokens,omitempty"` // of the model's window; 0 when unknown
	Cold       bool     `json:"cold,omitempty"`          // the cache held nothing of the thread any more
	IdleMS     int64    `json:"idle_ms,omitempty"`       // since the thread's last request
	LifeMS     int64    `json:"life_ms,omitempty"`       // for which its cached prefix lives
	Forced     bool     `json:"forced,omitempty"`        // it would not have fitted otherwise
	Price      float64  `json:"price_usd"`               // of what has to be written anew
	Account    float64  `json:"account_usd"`             // what append-only with perfect caching would have cost until now
	Spent      float64  `json:"spent_usd"`               // what was spent until now
	Slack      float64  `json:"slack,omitempty"`         // by how much of the account the bank lets it be overdrawn
	Lifts      []Seq    `json:"lifts,omitempty"`         // edits that no longer hold
	Uncut      []string `json:"uncut,omitempty"`         // what is too large and could not be cut, with the reason
	Repaired   int      `json:"repaired,omitempty"`      // parts that broke the pairing of calls and results in what the client sent
	Lost       int      `json:"lost,omitempty"`          // constraints that a client's own summary had lost, and that were put back
	Checkpoint *Body    `json:"checkpoint,omitempty"`    // of StageCompact: YAML
}

// Changing is how a message is changed.
type Changing string

// The ways of changing a message. Whatever is not named stands as the client spelled it.
const (
	ChangeCut         Changing = "cut"         // the text of a result, or the user's own, is an excerpt of it
	ChangePlaceholder Changing = "placeholder" // a line that says what stood there stands in place of a result's text
	ChangeGone        Changing = "gone"        // the message is left out
	ChangeBehind      Changing = "behind"      // a message in the user's place stands behind it
)

// Edit is a set of changes to a thread's messages. It is durable before it is first used, and holds in every later request
// of the thread, wherever the messages stand in it, until a Decision lifts it. The changes stand in a body, because they hold
// text of the session, which a purge has to reach: EncodeChanges makes it, DecodeChanges reads it.
type Edit struct {
	N       int    `json:"n,omitempty"` // the request before which it was made; 0 when a person asked for it
	Thread  string `json:"thread"`
	Changes int    `json:"changes"` // how many
	Body    *Body  `json:"body"`
}

// Change is what is done to one message.
type Change struct {
	Element string   `json:"element"`         // SHA-256 of the message's canonical form, 64 lower-case hexadecimal digits
	Times   int      `json:"times,omitempty"` // only the first so many messages of a request that are this one; 0 for all
	How     Changing `json:"how"`
	Call    string   `json:"call,omitempty"`  // of a result: the id of its call; empty for the message itself
	Text    string   `json:"text,omitempty"`  // what stands in its place, or behind it
	Of      Seq      `json:"of,omitempty"`    // the entry that has what was replaced
	Needs   string   `json:"needs,omitempty"` // another message that must stand in the request, or this change does not hold
	Pin     string   `json:"pin,omitempty"`   // the pin whose text it shows
}

// EncodeChanges writes changes as an Edit's body has them: one JSON array.
func EncodeChanges(changes []Change) ([]byte, error) {
	data, err := json.Marshal(changes)
	if err != nil {
		return nil, fmt.Errorf("encode changes: %w", err)
	}
	return data, nil
}

// DecodeChanges reads what EncodeChanges wrote.
func DecodeChanges(data []byte) (changes []Change, err error) {
	if err := json.Unmarshal(data, &changes); err != nil {
		return nil, fmt.Errorf("decode changes: %w", err)
	}
	return changes, nil
}

// Sent is what went to the provider for the request of the same number, where that is not what the client sent, or where
// a policy would have edited it and did not.
type Sent struct {
	N       int    `json:"n"`
	Attempt int    `json:"attempt"`       // from 1; a second one follows a provider's word that the first was too long
	Why     string `json:"why,omitempty"` // why it was sent as it came; empty when it was edited
	Edited  int    `json:"edited"`        // messages that are not as the client sent them, those left out included

	Whole   int     `json:"whole_tokens"` // estimate of the request as the client made it
	After   int     `json:"after_tokens"` // estimate of the request as it was sent
	Account float64 `json:"account_usd"`  // until then, as in a Decision
	Spent   float64 `json:"spent_usd"`

	Held    []string `json:"pins_held,omitempty"`   // pins whose text stands in it, decoded
	Missing []string `json:"pins_absent,omitempty"` // pins whose text does not, each with the reason behind a colon

	Body    *Body `json:"body,omitempty"`    // the exact bytes; nil when they are the client's
	Refused *Body `json:"refused,omitempty"` // the provider's answer to the attempt before, which the client did not see
	Status  int   `json:"status,omitempty"`  // of that answer
}

// Pin is a text that every main request of the session must hold from here on, or that a pin no longer holds.
type Pin struct {
	ID   string `json:"id"`             // p1 and on
	Of   Seq    `json:"of,omitempty"`   // the entry that says it; 0 when it was given as text
	By   string `json:"by"`             // user, or agent when it came through a tool
	Off  bool   `json:"off,omitempty"`  // it is taken off
	Body *Body  `json:"body,omitempty"` // the text; nil when it is taken off
}

// Note is something that is known, recorded beside the conversation. Nobody has verified it.
type Note struct {
	ID    string   `json:"id"`             // n1 and on
	Class string   `json:"class"`          // finding
	By    string   `json:"by"`             // agent or user
	Refs  []string `json:"refs,omitempty"` // entries that it rests on
	Body  *Body    `json:"body"`           // the text
}

// Kind returns KindDecision.
func (*Decision) Kind() Kind { return KindDecision }

// Kind returns KindEdit.
func (*Edit) Kind() Kind { return KindEdit }

// Kind returns KindSent.
func (*Sent) Kind() Kind { return KindSent }

// Kind returns KindPin.
func (*Pin) Kind() Kind { return KindPin }

// Kind returns KindNote.
func (*Note) Kind() Kind { return KindNote }

func (*Decision) sealed() {}
func (*Edit) sealed()     {}
func (*Sent) sealed()     {}
func (*Pin) sealed()      {}
func (*Note) sealed()     {}
