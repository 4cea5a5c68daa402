// Package selection decides what of a conversation a request shows: everything, giant results cut, old results as
// placeholders, or a checkpoint in place of what is old. It decides by size, by price, and by what the provider's cache still
// holds; the decision is data, and whoever asked makes it durable before acting on it.
//
// The proxy and replay decide through the same function. The package is pure: no clock, no randomness, no goroutine, no file.
package selection

import (
	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/thread"
	"ambit/unit"
)

// Message is one message of a conversation, as the client holds it.
type Message struct {
	Hash    thread.Hash
	Ref     string // of the entry which has it, as it may be shown to a model; empty when none does yet
	Seq     entry.Seq
	Role    unit.Role
	Calls   []string // ids of the calls that it makes
	Results []string // ids of the calls whose results it holds
	Tokens  int      // an estimate, of the whole message as it stands
	Fixed   Fixed
	Summary bool  // the client made it, to stand in the place of what was said before
	Made    *Made // where what was read of its calls is kept; nil to keep nothing
}

// Made is what was read of a message's calls. Whoever keeps messages from one decision to the next keeps it with them, so that
// none is read for every decision; the zero value is empty. It is not for several goroutines at once.
type Made struct {
	read  bool
	calls []call
}

// Fixed is why a message is not to be changed.
type Fixed string

// The reasons. What is Reasoned may be left out with the whole of its exchange; the others stay.
const (
	Free     Fixed = ""
	Reasoned Fixed = "reasoning"
	Kept     Fixed = "kept" // it holds what is sealed, unknown or no text
)

// Pin is a text that every request has to hold.
type Pin struct {
	ID   string
	Text string
	By   string
}

// Input is what a decision is made from.
type Input struct {
	Policy   Policy
	Messages []Message
	Unit     func(i int) unit.Unit // what a message says; asked for only where its text matters
	Edits    *thread.Edits         // those that stand
	Contract unit.Contract
	Pins     []Pin
	Recall   string // the tool by which the model recalls what is left out; empty for those of the proxy

	Sent     int                   // so many of the messages, from the first on, stood in the thread's request before; what is behind them is new
	Ends     []int                 // how many messages stood in each earlier request whose prefix the cache may still hold as it would be sent now, ascending; read only of a provider that keeps no other prefixes
	Head     int                   // tokens of the request beside its messages
	LastReal int                   // the provider's count of the thread's last request with its answer, while it tells of this one; 0 when unknown
	Tokens   func(text string) int // estimates a text

	Model    pricing.Model // whose prices, rules and window; without a name nothing is known of them
	Bank     pricing.Bank
	Hour     bool // the client asks the provider to keep prompts for the longer life
	Cold     bool // the cache holds nothing of the thread any more
	Overflow bool // the provider refused the request, as it would be sent now, as too long
	Limit    int  // tokens that the provider named as its limit then; 0 when it named none
	Passes   int  // refusals of this request so far; each asks for less
	Asked    bool // a person asked for a checkpoint now
	Draft    bool // it is only asked whether there is anything to do: a checkpoint is not written yet
}

// Decision is what comes of it. The zero value lets everything stand.
type Decision struct {
	entry.Decision
	Changes    []entry.Change // to be made durable as one edit, whose checkpoint needs what it stands for
	Standing   []entry.Change // to be made durable as another edit, each of which holds for itself
	Checkpoint string         // YAML
	From       int            // the first message that is shown otherwise than before; how many there are where none is
}
