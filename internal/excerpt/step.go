package excerpt

// Role is who a step is of.
type Role string

// The roles. Results count wherever they stand; texts count as said by the role of their step.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Step is a message of a conversation as excerpts are made of it.
type Step struct {
	Ref     string // by which it can be recalled; may be empty
	Role    Role
	Texts   []string // what is said in it
	Calls   []Call   // calls that it makes
	Results []Result // results that it holds
}

// Call is a call of a tool. Args are one JSON value, as providers have them, or free text.
type Call struct {
	ID, Tool string
	Args     []byte
}

// Result is what a call gave back. A result without the id of its call is of the oldest one that waits for its result.
type Result struct {
	Call   string // the id of the call
	Text   string
	Failed bool // the protocol says that the call failed
}

// Outcome is how a call ended, as far as its result tells.
type Outcome string

// The outcomes. The empty one is not known: no result came, or none that says.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
)

// Act is what was done with a file.
type Act string

// The acts.
const (
	Read    Act = "read"
	Edited  Act = "edited"
	Created Act = "created"
	Deleted Act = "deleted"
)
