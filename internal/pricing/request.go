package pricing

import "time"

// Run is a kind of block of which several in a row may count as one position of a look-back.
type Run uint8

// The kinds. Of all other blocks each counts.
const (
	None    Run = iota
	Uses        // a call
	Results     // the result of one
)

// Said is whose message a block belongs to.
type Said uint8

// The speakers. Only what the user or a tool said has a breakpoint that nobody set.
const (
	Nobody Said = iota // a tool's definition, the system text
	User
	Tool
	Assistant
)

// Block is one piece of a request as far as the cache sees it: a definition of a tool, a text, an image, a call, a
// result. One without tokens is no position and has no mark; it stands for a setting that everything from there on
// depends on, such as the choice of a tool at the beginning of the messages.
type Block struct {
	Hash   [32]byte // of the bytes; two blocks with one hash have as many tokens
	Tokens int
	Tier   Tier
	Run    Run
	Said   Said
	Fixed  bool          // may not be marked: thinking, a citation; a mark on it does not count
	Mark   time.Duration // the life asked for by a mark at the block's end, 5 minutes or an hour; 0 is no mark
}

// marked says whether a mark stands at the end of the block.
func (b *Block) marked() bool { return b.Mark > 0 && b.markable() }

func (b *Block) markable() bool { return b.Tokens > 0 && !b.Fixed }

// awaited says whether the block ends where a provider may set a breakpoint of its own.
func (b *Block) awaited() bool { return (b.Said == User || b.Said == Tool) && b.markable() }

// Request is what was sent to one model.
type Request struct {
	Model  Model
	At     time.Time // when it was sent
	Begins time.Time // when its answer began: from then on others read what it wrote. Zero means At.
	Blocks []Block   // in the order in which the provider renders them; Rules.Render makes it
	Output []Block   // the answer as a later request repeats it; only rules that keep answers ask for it
	Key    string    // prompt_cache_key; part of the match where the rules say so

	Auto     time.Duration // a mark for the whole request, at the end of its last block that may have one; 0 is none
	Explicit bool          // no breakpoint but those that are marked
	Retain   time.Duration // the life that the request asks for in place of that of the rules; 0 is none
}

// Refusal says why the provider would answer the request with an error and cache nothing, or is empty. What Send
// charges for such a request is what its first marks would have cost, as many as are allowed.
func (r Request) Refusal() string {
	if !r.Model.Rules.Refuses {
		return ""
	}
	marks, last, auto := 0, time.Duration(0), r.automatic()
	for i := range r.Blocks {
		b := &r.Blocks[i]
		asked := b.Mark
		if !b.marked() && i == auto {
			asked = r.Auto
		} else if !b.marked() {
			continue
		}
		life := r.Model.Rules.life(asked)
		if marks++; marks > r.Model.Rules.Marks {
			return "too many marks"
		}
		if marks > 1 && life > last {
			return "a longer life behind a shorter one"
		}
		last = life
	}
	return ""
}

// automatic is the block at which the mark for the whole request stands, or -1.
func (r *Request) automatic() int {
	if r.Auto > 0 {
		for i := len(r.Blocks) - 1; i >= 0; i-- {
			if r.Blocks[i].markable() {
				return i
			}
		}
	}
	return -1
}

// begins is when what the request wrote can be read.
func (r *Request) begins() time.Time {
	if r.Begins.IsZero() {
		return r.At
	}
	return r.Begins
}

// lasts is how long an entry of the request lives unused whose mark asks for so much.
func (r *Request) lasts(asked time.Duration) time.Duration {
	if r.Retain > 0 {
		return r.Retain
	}
	return r.Model.Rules.life(asked)
}
