package pricing

import "time"

// Tier is one of the three parts of a request, in the order in which a change of one leaves the others cached.
type Tier uint8

// The tiers. A zero Tier is Tools.
const (
	Tools Tier = iota
	System
	Messages
)

// Match is how a provider finds what it has cached.
type Match uint8

// The ways of matching. Of a model without rules nothing is cached.
const (
	Never    Match = iota
	ByMark         // only prefixes that end at a mark were written, and only they are found
	ByPrefix       // the longest prefix in common with an earlier request
	ByUnit         // only whole units, whose ends the provider chooses
)

// Counts is what a provider's count of input tokens holds.
type Counts uint8

// The ways of counting.
const (
	Exclusive   Counts = iota // the input is what was neither read nor written
	Inclusive                 // the input holds what was read and written
	Partitioned               // the input is what was missed; there is no count of writes
)

// Rules is how one provider's cache worked for a model since a date. Lives are counted from the start of the last
// request that used an entry to the start of the next one. The multipliers are of the price of input.
type Rules struct {
	Family string // whose rules; "" where none are known
	Match  Match
	Order  [3]Tier // in which a request is rendered
	Counts Counts

	Min         int // the shortest prefix that is cached, in tokens
	Granularity int // reads are a multiple of so many tokens; 1 where they are exact
	Interval    int // units also end at every multiple of so many tokens; 0 where the figure is not published

	Life     time.Duration // of an entry that is not used; where a provider names a span, what is sure
	LifeMost time.Duration // the other end of the span; 0 where there is none. The simulator takes Life.
	LifeHour time.Duration // of an entry whose mark asks for more than Life; 0 where there is no such choice

	Read      float64
	Write     float64 // 1 where writing is free
	WriteHour float64 // 1 where writing is free
	Free      string  // what costs nothing

	Marks    int  // of which a request may have so many; with OpenAI, may write so many
	Refuses  bool // a request with more marks, or with a longer life behind a shorter one, is an error at the provider
	LookBack int  // positions that are tried from a mark back, itself the first; with Implicit, breakpoints
	Collapse bool // a run of calls, or of results, is one position
	Answers  bool // what was answered is kept, too, behind the request that it answers
	Implicit bool // the latest message of the user or of a tool has a mark that nobody set
	Keyed    bool // the request's key is part of what has to match

	Since  time.Time
	Source string // a word of those that the table explains
}

// Charge is what a provider's usage of these rules says: its count of input tokens, of those read, and of those
// written for the shorter and the longer life. Each provider's input holds something else; a charge is always parted.
func (r Rules) Charge(input, read, write, hour int) Charge {
	if r.Counts == Inclusive {
		input = max(0, input-read-write-hour)
	}
	return Charge{Fresh: input, Read: read, Write: write, WriteHour: hour}
}

// Render returns the blocks in the order in which the provider renders them, those of one tier as they were; as they are
// where no rules are known.
func (r Rules) Render(blocks []Block) []Block {
	if r.Match == Never { // there is no order
		return blocks
	}
	out := make([]Block, 0, len(blocks))
	for _, tier := range r.Order {
		for _, b := range blocks {
			if b.Tier == tier {
				out = append(out, b)
			}
		}
	}
	return out
}

// life is how long an entry lives unused whose mark asks for so much.
func (r Rules) life(asked time.Duration) time.Duration {
	if asked > r.Life && r.LifeHour > 0 {
		return r.LifeHour
	}
	return r.Life
}

// floor is the part of a prefix of so many tokens that can be read: nothing below the minimum, and whole steps.
func (r Rules) floor(tokens int) int {
	if r.Granularity > 1 {
		tokens -= tokens % r.Granularity
	}
	if tokens < r.Min {
		return 0
	}
	return tokens
}
