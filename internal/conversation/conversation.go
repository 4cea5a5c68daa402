// Package conversation makes, of what is known of a session, its conversations: who said what, in which order, and what
// each request held of it.
//
// A conversation is told twice: as its requests held it, and whole, as if nothing had ever been left out. The first says
// what was paid for and why; the second is what any other policy selects from.
//
// The package is pure. What it reads it gets by functions, and everything in it may be called concurrently if those may.
package conversation

import (
	"time"

	"ambit/entry"
	"ambit/unit"
)

// Conversation is one thread of a session as it grew. Messages are in the order in which they were first said, and are
// named by their place in that.
type Conversation struct {
	Thread   string
	How      entry.Relating // what it began as: a root, a sub-agent's, a side request
	Messages []Message
	Turns    []Turn // in order of their numbers
	Missing  int    // messages that could not be read, and stand as empty ones
}

// Message is one message, or one answer.
type Message struct {
	unit.Unit
	N       int  // of the request that was the first to hold it, or whose answer it is
	Answer  bool // it was answered
	Summary bool // the client made it, to stand in the place of what was said before
	Unknown bool // it holds something that is not known
}

// Turn is one request of a conversation, and its answer. The lists of turns share memory: they must not be changed, but
// who appends to one gets a copy.
type Turn struct {
	N        int
	At       time.Time     // when it was sent; zero where nobody says
	Took     time.Duration // until the answer was whole; 0 where nobody says
	Provider string
	Type     string // of the request, as provider.Request has it
	Model    string // that answered, or that was asked; where nobody says, that of the request that it follows
	Effort   string // how hard the model was to think, in the recording's own word
	Resumed  bool   // the client was started anew before it
	Trimmed  bool   // the client took results out before it: those in Pruned, and others if it is Edited
	Edited   bool   // the client changed something before it that the recording does not tell
	Shifted  bool   // Ambit decided to send otherwise than before something that it held
	How      entry.Relating
	Parent   int // the turn that it follows, as an index into Turns; -1 for none
	End      entry.End
	Usage    *entry.Usage // nil where the provider gave none
	Passed   bool         // its body is recorded and was read: Held is exact

	New    []int // messages that it is the first to hold of what it goes on from, in order
	Answer int   // its answer; -1 for none
	Held   []int // messages that it held, as far as the recording tells, in order
	Whole  []int // messages that it would hold if nothing had been left out: of these it holds more or other ones
	Pruned []int // messages whose results it and the requests after it no longer held
}

// Last is the turn with the longest whole history, nil when there is none.
func (c *Conversation) Last() *Turn {
	var last *Turn
	for i := range c.Turns {
		if t := &c.Turns[i]; last == nil || len(t.Whole) >= len(last.Whole) {
			last = t
		}
	}
	return last
}
