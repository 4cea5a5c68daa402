package unit

// Contract is what a protocol demands of a conversation. That a call and its result stand or fall together, with the
// other calls of the same answer, is demanded of all, and so is that an id names one call and one result. Everything else
// stands here; the zero value demands nothing more.
type Contract struct {
	// Complete says that the provider must get the whole context, or holds a part of it: no unit may be left out.
	Complete bool `json:"complete,omitempty"`

	// Bound says that the units of one answer stand or fall together when one of them holds an opaque part: reasoning is
	// refused without what follows it, and what follows without the reasoning.
	Bound bool `json:"bound,omitempty"`

	// Results is where the result of a call must stand.
	Results ResultPlace `json:"results,omitempty"`

	// Together says that the results of one answer's calls must come in one message, so that no other unit may stand
	// between them.
	Together bool `json:"together,omitempty"`

	// Alternate says that the assistant and the other side must take turns, unit by unit; results and user text are one
	// side. A protocol whose lowering joins units of one side into one message does not need it.
	Alternate bool `json:"alternate,omitempty"`

	// Begin is the role with which a conversation must begin behind its leading system units; empty for any.
	Begin Role `json:"begin,omitempty"`

	// System is where system units may stand.
	System SystemPlace `json:"system,omitempty"`
}

// ResultPlace is where the result of a call must stand. An answer here is a run of assistant units with nothing between.
type ResultPlace string

// The places of results.
const (
	Later    ResultPlace = ""         // anywhere behind the call
	Next     ResultPlace = "next"     // before the assistant or the system speaks again; user text may stand before it
	Directly ResultPlace = "directly" // behind the answer, with nothing but other results between
)

// SystemPlace is where system units may stand.
type SystemPlace string

// The places of system units.
const (
	Anywhere  SystemPlace = ""
	Leading   SystemPlace = "leading"    // before everything else
	AfterUser SystemPlace = "after_user" // before everything else, or behind a user's or a tool's unit
)

// Rule is a demand that units can break.
type Rule string

// The rules. The first five are of every contract.
const (
	Unanswered  Rule = "unanswered"   // a call without a result
	Unasked     Rule = "unasked"      // a result without a call
	CallTwice   Rule = "call_twice"   // an id that names two calls
	ResultTwice Rule = "result_twice" // a call with two results
	ResultFirst Rule = "result_first" // a result that does not stand behind its call
	FarResult   Rule = "far_result"   // a result that stands behind its call, but not where the contract wants it
	Scattered   Rule = "scattered"    // results of one answer with other units between them
	Alternation Rule = "alternation"  // two units of one side in a row
	Beginning   Rule = "beginning"    // another role at the beginning
	SystemAt    Rule = "system_at"    // a system unit where none may stand
)

// ContractError says where units break a contract.
type ContractError struct {
	Rule Rule
	At   int      // the index of the unit that breaks it
	Call string   // the id of the call that it is about; empty when it is about none
	Refs []string // the units that it is about, that at At first
}
