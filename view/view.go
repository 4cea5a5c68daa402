// Package view holds what one turn shows the model: segments in layers, each a unit or a part of one.
//
// A View is what a protocol lowers to a request's body, and what it lifts a body to. It is a value: nothing here changes
// one, and whoever shares the bytes of one leaves them alone.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package view

import "ambit/unit"

// Layer is how long a segment is to stay as it is. Layers follow each other in a view in the order in which they stand
// here, so that what changes seldom stands before what changes often.
type Layer string

// The layers, in their order.
const (
	Role    Layer = "role"    // identical for every agent of a role
	Stable  Layer = "stable"  // stays for a baseline: objective, instructions, pinned constraints
	Working Layer = "working" // the conversation and what was selected for it
	Tail    Layer = "tail"    // one status block, and nothing else that may vanish
)

// Mark is a cache marker: how long the provider is asked to keep everything up to where it stands.
type Mark string

// The markers.
const (
	NoMark     Mark = ""
	FiveMinute Mark = "5m"
	OneHour    Mark = "1h"
)

// Segment is one unit in its layer.
type Segment struct {
	Layer     Layer
	Unit      unit.Unit
	EstTokens int    // an estimate; 0 when nobody made one
	Mark      Mark   // the cache marker that is wanted behind it
	Source    string // the key of the source that it came from; empty for none

	// Apart begins a message of its own where lowering would join the segment with the one before. A lifted body has it
	// where two messages of one role follow each other.
	Apart bool
}

// Tool is a tool that the model is offered.
type Tool struct {
	Name        string
	Description string
	Schema      []byte // of its arguments: one JSON value; nil for none
	Mark        Mark   // the cache marker that is wanted behind it

	// Raw is the tool as its wire spells it, where the fields alone would not give it back; nil otherwise. Lowering to the
	// same wire writes it in place of the fields, so who changes these sets it to nil.
	Raw []byte
}

// View is what one turn shows the model.
type View struct {
	Tools    []Tool
	Segments []Segment // in the order of their layers
}
