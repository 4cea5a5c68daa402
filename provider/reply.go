package provider

import (
	"strconv"

	"ambit/unit"
)

// Reply is an answer as later requests hold it.
type Reply struct {
	// Unit is the assistant's, without a ref: texts, calls with their arguments, and what else the same wire needs back, as
	// opaque parts or in the Raw of others. The parts are in the order in which they came.
	Unit unit.Unit

	Stop   Stop   // why it ended
	Reason string // the same in the provider's word; empty where it gives none
}

// Stop is why an answer ended.
type Stop string

// The reasons. An answer with calls that was neither cut nor refused is StopCalls, whatever the provider calls it.
const (
	StopEnd     Stop = "end"     // it said all that it wanted to
	StopCalls   Stop = "calls"   // it waits for the results of its calls
	StopLength  Stop = "length"  // it was cut at its greatest length
	StopRefusal Stop = "refusal" // the model or a filter refused; the unit may then be without parts
	StopOther   Stop = "other"   // see Reason
)

// ReplyFault is why no unit can be made of an answer.
type ReplyFault string

// The faults.
const (
	ReplyBroke    ReplyFault = "broke_off" // it ended before its end
	ReplyReported ReplyFault = "error"     // the provider reported an error in it
	ReplyEmpty    ReplyFault = "empty"     // it says nothing and calls nothing
	ReplyArgs     ReplyFault = "arguments" // the arguments of a call are no JSON object
	ReplyStrange  ReplyFault = "strange"   // it is no answer of this wire, or holds a call that only its wire understands
)

// ReplyError says why no unit can be made of an answer, and where in it.
type ReplyError struct {
	Fault ReplyFault
	At    string // what of the answer it is about, such as "event 4" or "call 2"; empty for all of it
	Type  string // of an error that the provider reported: its type or code
	Why   string // what is wrong, or the message that the provider gave
	Call  string // of bad arguments: the id of the call
	Name  string // and the tool that it names
}

var faults = map[ReplyFault]string{
	ReplyBroke: "the answer broke off", ReplyReported: "the provider reported an error", ReplyEmpty: "the answer is empty",
	ReplyArgs: "the arguments of a call are no JSON object", ReplyStrange: "the answer is not understood",
}

// Error says all of it.
func (e *ReplyError) Error() string {
	text := faults[e.Fault]
	if e.Name != "" || e.Call != "" {
		text += " (" + strconv.Quote(e.Name) + ", call " + strconv.Quote(e.Call) + ")"
	}
	if e.At != "" {
		text += ", " + e.At
	}
	for _, more := range []string{e.Type, e.Why} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// NotAnswered is the fault of an answer to a request of a type that has none, or whose answers no unit is made of.
func NotAnswered(kind string) *ReplyError {
	return &ReplyError{Fault: ReplyStrange, Why: "no unit is made of an answer to a request of type " + strconv.Quote(kind)}
}
