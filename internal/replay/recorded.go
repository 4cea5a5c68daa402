package replay

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pricing"
)

// sent is one request as it was sent, as far as the recording tells, in front of a simulated cache.
type sent struct {
	s      *sizing
	c      *conversation.Conversation
	t      *conversation.Turn
	turn   int // of its conversation
	at     time.Time
	model  pricing.Model
	life   time.Duration // for which its client asks that prompts be kept
	way    way           // as it was when the request was sent
	blocks []pricing.Block
	labels []label        // of the blocks; both are there only until the next request of the conversation was looked at
	exact  bool           // the blocks are those of its body
	breaks breaks         // what happened before it
	cause  Cause          // why it would find less in the cache than the request before it had left there; empty where nothing shows
	first  string         // the first block that differs from the request before it; empty where that is a prefix
	at0    int            // the byte at which it begins
	size   int            // tokens
	charge pricing.Charge // simulated
}

// Cause is why a request could not read from the cache what the one before it had left there.
type Cause string

// The causes, in the order in which the first that holds is taken. All are found from bytes and times, but Unexplained:
// there the provider's own count says that something was lost.
const (
	ModelSwitch   Cause = "model-switch"
	Compaction    Cause = "compaction"     // the client put something shorter in the place of most messages
	ClientPrune   Cause = "client-prune"   // the client took results out
	Idle          Cause = "idle"           // longer than the cache keeps what is not used
	Boundary      Cause = "boundary"       // Ambit decided to send something otherwise than before
	Resume        Cause = "resume"         // the client was started anew, and made its prompt anew
	ChangedEffort Cause = "changed-effort" // how hard to think is part of what has to match
	Rewind        Cause = "rewind"         // back to where the conversation was shorter
	ChangedPrefix Cause = "changed-prefix" // something else that was sent before is sent no more, or otherwise
	Unexplained   Cause = "unexplained"
)

// Causes are all of them.
func Causes() []Cause {
	return []Cause{ModelSwitch, Compaction, ClientPrune, Idle, Boundary, Resume, ChangedEffort, Rewind, ChangedPrefix, Unexplained}
}

// simulate sends the requests of a recording as they were sent to a cache of its own, in order of time, and says what each
// of them found. Of the provider's counts it reads how large requests were, which scales the estimates, and for how long
// the client asked that prompts be kept; what was read and written it does not read.
func (f *File) simulate(all []*sizing) []*sent {
	var list []*sent
	for i, c := range f.Conversations {
		w := way{s: all[i], out: make(map[int]bool)}
		clock := newClock(c)
		for j := range c.Turns {
			t := &c.Turns[j]
			x := &sent{s: w.s, c: c, t: t, turn: j, life: w.s.life(), model: w.s.model(t.Model, t.At), at: clock.of(t)}
			w.to(x)
			if x.way = w; !unsent(t) {
				list = append(list, x)
				w.breaks = breaks{}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *sent) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.t.N, b.t.N)) })
	cache := pricing.NewCache()
	before := make(map[*conversation.Conversation]*sent)
	for _, x := range list {
		last := before[x.c]
		if x.exact = f.Raw != nil && f.wireBlocks(x.s, x); !x.exact {
			x.way.blocks(x)
			x.mark(last, x.life)
		}
		x.size = tokensOf(x.blocks)
		x.charge = cache.Send(pricing.Request{Model: x.model, At: x.at, Blocks: x.model.Rules.Render(x.blocks), Output: x.s.answered(x.t)})
		if last != nil {
			x.explain(last)
			last.blocks, last.labels = nil, nil
		}
		before[x.c] = x
	}
	return list
}

// breaks is what happened before a request that changes what a client sends.
type breaks struct{ compacted, pruned, shifted, resumed, edited, rewound bool }

// way is how the requests of a conversation follow one another.
type way struct {
	s      *sizing
	breaks breaks
	edits  int          // changes that the recording does not tell
	fits   int          // how often the client put something shorter in the place of what was said
	kept   int          // tokens that it kept then, and the recording does not tell
	out    map[int]bool // messages whose results it left out
}

// to goes on to a turn.
func (w *way) to(x *sent) {
	t := x.t
	b := &w.breaks
	b.compacted = b.compacted || t.How == entry.ClientCompaction
	b.pruned = b.pruned || t.Trimmed
	b.shifted = b.shifted || t.Shifted
	b.resumed = b.resumed || t.Resumed
	b.edited = b.edited || t.Edited
	b.rewound = b.rewound || t.How == entry.Rewind
	x.breaks = *b
	w.edits += one(t.Resumed) + one(t.Edited)
	if len(t.Pruned) > 0 {
		w.out = maps.Clone(w.out) // requests before it have what was left out until then
		for _, m := range t.Pruned {
			w.out[m] = true
		}
	}
	if t.How == entry.ClientCompaction {
		w.fits, w.kept = w.fits+1, 0
	}
	if b.compacted && t.Usage != nil {
		w.kept = 0
		w.blocks(x)
		w.kept = max(0, int(t.Usage.Input)-tokensOf(x.blocks))
		x.blocks, x.labels = nil, nil
	}
}

// blocks are those of a request of which the recording tells the messages. Of its head, half is taken for tools and system
// text, and half for what the client puts before the first message, which it makes anew with the prompt.
func (w way) blocks(x *sent) {
	head := w.s.sizes.Head
	made := nameHash("made", strconv.Itoa(w.edits), strconv.Itoa(w.fits))
	before := w.kept
	if w.fits == 0 {
		before = w.s.sizes.Before
	}
	x.blocks = append(x.blocks[:0],
		pricing.Block{Hash: nameHash("head", x.c.Thread, x.model.Name), Tokens: head / 2, Tier: pricing.System},
		pricing.Block{Hash: nameHash("setting", x.t.Effort), Tier: pricing.Messages},
		pricing.Block{Hash: made, Tokens: head - head/2, Tier: pricing.Messages, Said: pricing.User},
		pricing.Block{Hash: nameHash("before", strconv.Itoa(w.fits)), Tokens: before, Tier: pricing.Messages})
	x.labels = append(x.labels[:0], label{of: "tools and system"}, label{of: "effort"}, label{of: "what stands before the first message"}, label{of: "what was said before"})
	for _, m := range x.t.Held {
		sh := w.s.shapes.full(m)
		if w.out[m] {
			sh = w.s.shapes.masked(m)
		}
		x.blocks, x.labels = append(x.blocks, sh.blocks...), append(x.labels, sh.labels...)
	}
}

// mark sets the marks that clients set: behind the head, behind what the request before ended with, and at the end.
func (x *sent) mark(last *sent, life time.Duration) {
	markAt(x.blocks, 0, life)
	markAt(x.blocks, len(x.blocks)-1, life)
	if last != nil && shared(last.blocks, x.blocks) == len(last.blocks) {
		markAt(x.blocks, len(last.blocks)-1, life)
	}
}

// markAt marks the last block up to i that can be.
func markAt(blocks []pricing.Block, i int, life time.Duration) {
	for ; i >= 0; i-- {
		if blocks[i].Tokens > 0 && !blocks[i].Fixed {
			blocks[i].Mark = life
			return
		}
	}
}

// shared is with how many blocks both begin.
func shared(a, b []pricing.Block) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].Hash == b[n].Hash {
		n++
	}
	return n
}

// tokensOf is how many tokens blocks have.
func tokensOf(blocks []pricing.Block) (n int) {
	for i := range blocks {
		n += blocks[i].Tokens
	}
	return n
}

// explain finds why a request found less than the one before it left: from what was sent, and when.
func (x *sent) explain(last *sent) {
	if n := shared(last.blocks, x.blocks); n < len(last.blocks) {
		x.first, x.at0 = x.element(n)
	}
	life := x.model.Rules.Life
	if n := len(last.blocks); n > 0 && last.blocks[n-1].Mark > life {
		life = last.blocks[n-1].Mark
	}
	idle := x.at.Sub(last.at)
	switch {
	case x.model.Name != last.model.Name:
		x.cause = ModelSwitch
	case x.breaks.compacted:
		x.cause = Compaction
	case x.breaks.pruned:
		x.cause = ClientPrune
	case life > 0 && idle >= life:
		x.cause = Idle
	case x.breaks.shifted:
		x.cause = Boundary
	case x.breaks.resumed:
		x.cause = Resume
	case x.t.Effort != last.t.Effort:
		x.cause = ChangedEffort
	case x.breaks.rewound:
		x.cause = Rewind
	case x.first != "":
		x.cause = ChangedPrefix
	}
}

// element names a block of the request, and says at which byte of what it says that begins.
func (x *sent) element(i int) (name string, at int) {
	i = min(i, len(x.labels)-1)
	for _, l := range x.labels[:i] {
		at += l.bytes
	}
	return x.labels[i].String(), at
}

// minLost is from how many tokens on something counts as lost: less is the rounding of a cache that knows whole blocks.
const minLost = 1024

// clock gives times to requests whose recording has none: the one before and noGap.
type clock struct {
	last    time.Time
	forward bool // times that go back are taken as those before them
}

// newClock returns the clock of a conversation. What comes before the first time is just before it.
func newClock(c *conversation.Conversation) *clock {
	for i := range c.Turns {
		if at := c.Turns[i].At; !at.IsZero() {
			return &clock{last: at.Add(-time.Duration(i+1) * noGap)}
		}
	}
	return &clock{last: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
}

func (k *clock) of(t *conversation.Turn) time.Time {
	switch {
	case t.At.IsZero():
		k.last = k.last.Add(noGap)
	case !k.forward || t.At.After(k.last):
		k.last = t.At
	}
	return k.last
}
