package provider

import (
	"crypto/sha256"
	"errors"
)

// Hash is the identity of a canonical element: the SHA-256 of its canonical form.
type Hash [sha256.Size]byte

// ErrNotUnderstood says that a request's body is not JSON, repeats a name in an object, or is nested more than 10,000
// levels deep.
var ErrNotUnderstood = errors.New("not understood")

// Elements are the canonical elements of a request's body.
type Elements struct {
	Tools    []Element
	Deferred []Element // tools that stand outside the prefix until the model loads them
	System   []Element
	Messages []Element

	SystemFirst bool   // the provider renders the system before the tools
	Previous    string // the answer that these messages follow (previous_response_id); empty when the body holds them all
}

// Element is one tool, one block of the system or one message, known by what it says and not by how it is spelled.
type Element struct {
	Hash   Hash
	At     string // JSON pointer into the body
	Offset int    // where it stands in the body, in bytes
	Length int    // in bytes
}

// Message is what one message element says.
type Message struct {
	Role    string   // as the wire names it; an item without one has what it stands for: assistant or tool
	Calls   []Call   // calls that it makes, in order
	Results []string // ids of the calls whose results it holds, in order
	Texts   []Text   // public text, in order
	Unknown bool     // it holds something that is not known, whose public text, if it has any, is not in Texts
	Fixed   Fixed    // why its bytes must not be changed; empty when they may
}

// Fixed is why a message's bytes must never be changed. What is Reasoned may be left out whole, with all that belongs to the
// same answer and its results; everything else that is fixed stays.
type Fixed string

// The reasons.
const (
	Reasoned Fixed = "reasoning" // it holds thinking, reasoning or a signature, which the provider checks
	Sealed   Fixed = "sealed"    // it holds what only the provider can read, such as its own compaction, or what steers it, such as tools to load
	Strange  Fixed = "unknown"   // it holds something of a kind that is not known
	Media    Fixed = "media"     // it holds an image, a document or a sound
)

// Call is one tool call.
type Call struct {
	ID   string
	Name string
	Args []byte // one JSON value: a string where they are free text, are not JSON or broke off; nil where there are none
}

// Who said a public text.
const (
	SaidUser      = "user"
	SaidAssistant = "assistant"
	SaidTool      = "tool"     // the result of a call
	SaidArgument  = "argument" // a string argument of a call, of its top level
)

// Text is one public text: what a user or the assistant said, what a tool gave back, or a top-level string argument.
type Text struct {
	Field string // JSON pointer into the body, or into the decoded answer; it goes on inside a string that holds JSON
	Said  string // one of the Said constants
	Text  string // decoded; what is not UTF-8 is U+FFFD
	Call  string // of a tool's: the id of the call whose result it is of; empty where the message does not say
}

// Answer is a decoded answer. Reasoning is not in it.
type Answer struct {
	ID       string // by which a later request may name it (previous_response_id); empty when there is none
	Text     string // what the assistant says, in order; a refusal too
	Calls    []Call
	Results  []string // what tools gave back that the provider ran, in order
	Others   []string // what the assistant says in further choices, in the order in which they began
	Whole    bool     // it came to its end; the provider did not break off or report an error
	Unknown  bool     // it holds something that is not known, or calls in further choices
	Elements []Hash   // of its items as a later request repeats them; only where a request may follow by ID
}
