package selection

// Policy is what a decision may do and when, as data, so that an entry can name the one that it was made with. A zero member
// is not part of it. Sizes are in tokens, but for those in characters.
type Policy struct {
	Name string `json:"name"`

	Giant     int `json:"giant_characters,omitempty"`      // a result of so many characters is cut before it is first sent
	GiantKeep int `json:"giant_keep_characters,omitempty"` // to so many
	GiantRead int `json:"giant_read_characters,omitempty"` // or, of a file that was read, to so many

	Trigger int     `json:"trigger_tokens,omitempty"` // from so much on, beside the head, a boundary is weighed
	Tail    int     `json:"tail_answers,omitempty"`   // what stands behind the newest so many answers is not left out
	Least   float64 `json:"least_worth,omitempty"`    // a result that is worth less gives way; 1 for one that is as old as its kind is needed for
	User    int     `json:"user_bytes,omitempty"`     // an old text of the user's is shortened to so many bytes and whatever it asks for
	Slack   float64 `json:"slack,omitempty"`          // of the bank
	Compact bool    `json:"compact,omitempty"`        // a checkpoint may stand in place of messages
}

// Names of the policies under which a proxy runs.
const (
	Record = "record" // nothing new is edited
	Cut    = "cut"    // results are cut and pruned inside the client's own conversation
	Full   = "full"   // and checkpoints stand in place of what is old
)

// Named is the policy of a name; false where there is none.
func Named(name string) (Policy, bool) {
	switch name {
	case Record:
		return Policy{Name: Record}, true
	case Cut:
		return edits(Cut), true
	case Full:
		p := edits(Full)
		p.Compact, p.User = true, 20_000
		return p, true
	}
	return Policy{}, false
}

// edits is what both policies that edit have in common. From how many characters on a result is a giant is the design's; the
// others were tuned on recorded sessions.
func edits(name string) Policy {
	return Policy{Name: name, Giant: 16_000, GiantKeep: 10_000, GiantRead: 64_000, Trigger: 14_000, Tail: 2, Least: 1, Slack: 0.03}
}
