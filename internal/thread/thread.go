// Package thread finds out whose a foreign request is: which earlier request it follows, and how.
//
// Clients send whole conversations and seldom say which. The parent of a request is found from evidence in its
// messages, by the rules of Index.Place; the tree of parents is the truth, and a thread is what grows from one root.
// Nothing here reads bodies or knows wires: the caller gives every request as the hashes of its canonical messages.
//
// The package is pure. An Index is not safe for concurrent use.
package thread

import "time"

// Hash identifies a canonical message.
type Hash = [32]byte

// Request is what the rules read of one request.
type Request struct {
	At       time.Time // when it arrived
	Key      string    // what narrows the search: the wire, and which of its conversations the client says it is
	Agent    bool      // the client says that it is a sub-agent's
	Tools    bool      // it offers tools
	Previous string    // the answer that it names as the one it follows; Elements are then what comes after
	Elements []Hash    // its messages

	// Read gives what one of the messages says. It is called for messages that the index has not seen, and for those
	// in which text is sought.
	Read func(i int) Message
}

// Message is what the rules read of one message.
type Message struct {
	IDs  []string // of the calls that it makes and of those whose results it holds
	Args []string // the string arguments of the calls that it makes
	Said string   // what the user or the assistant says in it; not results, not arguments
}

// Answer is what the rules read of an answer.
type Answer struct {
	ID       string // by which a later request may name it
	Text     string // what the assistant says
	Calls    []Call // in order
	Elements []Hash // its items as messages of a later request; only where a request may follow by ID
	Whole    bool   // it came to its end
}

// Call is a call that an answer makes.
type Call struct {
	ID   string
	Args []string // its string arguments
}

// Relation is how a request stands to its parent, or what it is without one.
type Relation string

// The relations. Only a rewind leaves text behind.
const (
	Extends    Relation = "extends"           // it adds to what its parent said and was answered
	Again      Relation = "again"             // the same after a failed attempt, or another tail to the same calls
	Edit       Relation = "client-edit"       // the parent's messages stand, some of them changed by the client
	Compaction Relation = "client-compaction" // the client put something shorter in the place of most of them
	Rewind     Relation = "rewind"            // it goes back to where a branch, which had grown, was shorter

	Root  Relation = "root"  // the first of a conversation
	Agent Relation = "agent" // the first of a sub-agent's
	Side  Relation = "side"  // by itself, without tools; a conversation once something extends it
)

// Evidence is what a place was found by.
type Evidence string

// The kinds of evidence.
const (
	ByName     Evidence = "previous-response" // the request names the answer that it follows
	ByCall     Evidence = "call"              // it holds a call of which the parent is the origin
	ByChain    Evidence = "chain"             // its messages begin with all of the parent's
	ByQuote    Evidence = "quote"             // it quotes the parent's answer
	ByArgument Evidence = "argument"          // it holds an argument of an open call
	ByHeader   Evidence = "header"            // the client says so
)

// None stands where there is no node.
const None = -1

// Place is where a request belongs.
type Place struct {
	Parent   int // the node that it follows; None for the first of a thread
	Relation Relation
	Evidence Evidence // empty when there was none
	Owner    int      // of an agent: the node whose answer made the call that it works for, or None
	Call     string   // that call
	About    int      // of a side request: the newest node whose answer it quotes, or None
}
