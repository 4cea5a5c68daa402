// Package unit holds the conversation as units, says what each requires of the others, and finds what may be left out.
//
// A Unit is one message-level element: what one side says at once. A tool call and its result require each other. What
// else a provider demands is its Contract, which is data: Check finds the first unit that breaks it, Close adds to a
// choice of units what these require, and Cuts finds where a conversation may begin anew. None of them changes a unit,
// and none gives a conversation that holds half a tool exchange.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package unit

// Role is who says a unit.
type Role string

// The roles. One that is none of these stands on the user's side of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the results of calls
)

// PartKind is what a part is.
type PartKind string

// The kinds of parts.
const (
	Text   PartKind = "text"
	Call   PartKind = "call"   // the assistant asks for a tool to be run
	Result PartKind = "result" // what the tool gave back
	Opaque PartKind = "opaque" // what only its wire understands: an image, reasoning, a block of an unknown kind
)

// Part is one piece of what a unit says.
//
// A text is decoded. A lone surrogate in it stands as the three bytes that UTF-8 would have for it, and bytes that are not
// UTF-8 stand as they came, so that a text is written as it was read.
type Part struct {
	Kind   PartKind
	Text   string // of a Text, and of a Result as far as it is text
	ID     string // of a Call, and of a Result the id of its call
	Name   string // of a Call: the tool
	Args   []byte // of a Call: one JSON value; nil for none
	Failed bool   // of a Result: the tool says that it failed

	// Raw is the part as its wire spells it: of an Opaque all there is, of other parts what the fields alone would not
	// give back. Lowering to the same wire writes it in place of the fields, so who changes these sets it to nil.
	Raw []byte
}

// Unit is one message-level element of a conversation.
type Unit struct {
	Ref   string // by which people and errors name it
	Role  Role
	Class string // what kind of thing it is, for whoever selects; it has no meaning here
	Parts []Part

	// Raw is the whole message as its wire spells it, where the parts alone would not give it back; nil otherwise. Like
	// the Raw of a part it goes before the fields.
	Raw []byte
}

// Calls returns the ids of the unit's calls, in order, and nil when it makes none.
func (u Unit) Calls() []string { return u.ids(Call) }

// Results returns the ids of the calls whose results the unit holds, in order, and nil when it holds none.
func (u Unit) Results() []string { return u.ids(Result) }

func (u Unit) ids(kind PartKind) (ids []string) {
	for i := range u.Parts {
		if p := &u.Parts[i]; p.Kind == kind {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// Bytes is how much the unit says, in bytes: its texts, the names and arguments of its calls, and its opaque parts as the
// wire spells them.
func (u Unit) Bytes() (n int) {
	for i := range u.Parts {
		switch p := &u.Parts[i]; p.Kind {
		case Opaque:
			n += len(p.Raw)
		default:
			n += len(p.Text) + len(p.Name) + len(p.Args)
		}
	}
	return n
}

// holds reports whether a part of the kind is among the unit's.
func (u *Unit) holds(kind PartKind) bool {
	for i := range u.Parts {
		if u.Parts[i].Kind == kind {
			return true
		}
	}
	return false
}
