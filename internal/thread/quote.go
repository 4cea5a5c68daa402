package thread

import (
	"math"
	"unicode/utf8"
)

// minQuote is how many consecutive characters two texts share before one counts as a quotation of the other. Shorter
// ones are common to many answers.
const minQuote = 200

// block is the size of the pieces by which answers are found, in bytes. Every run of minQuote characters holds a whole
// aligned block.
const block = minQuote / 2

// base is the multiplier of the rolling hash, any large odd number.
const base = 0x9e3779b97f4a7c15

// high is base to the power of block-1: the weight of the byte that leaves the window.
var high = func() uint64 {
	h := uint64(1)
	for range block - 1 {
		h *= base
	}
	return h
}()

func hashBlock(s string) uint64 {
	var h uint64
	for i := range len(s) {
		h = h*base + uint64(s[i])
	}
	return h
}

// quotable is a block of an answer.
type quotable struct {
	node   int32
	offset int32
}

// Bounds of the search for quotations, so that no text can make it long.
const (
	minBytes   = 8        // that differ in a block; rulers and tables have fewer, and stand in many answers
	maxSame    = 8        // answers that are kept for a block, the newest
	maxCompare = 16 << 20 // bytes that are compared for a request
)

// said notes what a node's answer says, so that it can be found when it is quoted.
func (x *Index) said(at int, a Answer) {
	n := &x.nodes[at]
	n.args = n.args[:0]
	for _, call := range a.Calls {
		for _, arg := range call.Args {
			n.args = append(n.args, hashBlock(arg))
		}
	}
	if n.text == a.Text {
		return
	}
	n.text = a.Text
	if utf8.RuneCountInString(a.Text) < minQuote {
		return
	}
	for i := 0; i+block <= len(a.Text); i += block {
		if !varied(a.Text[i : i+block]) {
			continue
		}
		h := hashBlock(a.Text[i : i+block])
		if same := x.quotes[h]; len(same) == 0 || int(same[len(same)-1].node) != at {
			x.quotes[h] = append(same[max(0, len(same)-maxSame+1):], quotable{int32(at), int32(i)})
		}
		x.mayBe.add(h, x.quotes)
	}
}

// varied reports whether a block has enough different bytes to be told from others.
func varied(s string) bool {
	var met [256]bool
	n := 0
	for i := range len(s) {
		if !met[s[i]] {
			met[s[i]] = true
			n++
		}
	}
	return n >= minBytes
}

// filter is a set of hashes that may have some too many: most that are not in it are told at once.
type filter struct {
	bits []uint64
	n    int // hashes that were added
}

// perHash is how many bits there are for each hash, at least: so one in sixteen that is not in the set seems to be.
const perHash = 16

// add adds a hash. When the filter is full it is made again, of all hashes.
func (f *filter) add(h uint64, all map[uint64][]quotable) {
	if f.n++; f.n*perHash > len(f.bits)*64 {
		f.bits = make([]uint64, max(64, 2*len(f.bits)))
		for h := range all {
			f.set(h)
		}
	}
	f.set(h)
}

func (f *filter) set(h uint64) {
	at := f.place(h)
	f.bits[at/64] |= 1 << (at % 64)
}

func (f *filter) has(h uint64) bool {
	at := f.place(h)
	return f.bits[at/64]&(1<<(at%64)) != 0
}

// place is the bit of a hash. Their number is a power of two.
func (f *filter) place(h uint64) uint64 { return (h * base >> 32) & uint64(len(f.bits)*64-1) }

// byQuote applies rule 4 to a request that was found the place p by its messages.
func (x *Index) byQuote(r Request, p Place) (Place, bool) {
	x.fetchAll()
	at := x.newestQuoted(r, p.Parent, func(at, run int) bool { return x.relates(at, run, r, p) })
	if at == None {
		return Place{}, false
	}
	if x.aside(at) {
		switch {
		case p.Parent != None:
			at = x.newestOf(x.nodes[p.Parent].Session, x.nodes[p.Parent].Thread)
		case x.nodes[at].About != None:
			about := x.nodes[x.nodes[at].About]
			at = x.newestOf(about.Session, about.Thread)
		default:
			at = x.newestConversation(r.Key, at)
		}
	}
	if at == None {
		return Place{}, false
	}
	return Place{Parent: at, Relation: Compaction, Evidence: ByQuote, Owner: None, About: None}, true
}

// whole is the length of a quotation by an item, which is the provider's own.
const whole = math.MaxInt

// relates reports whether a request may follow a node because it quotes so many bytes of its answer.
func (x *Index) relates(at, run int, r Request, p Place) bool {
	n := &x.nodes[at]
	if n.Key != r.Key || len(x.onto(at)) > 0 {
		return false
	}
	if !r.Tools && (n.Tools || len(r.Elements) < 2) {
		return false // it was asked to make something of a conversation, and is no part of it
	}
	if run == whole {
		return p.Parent == None || x.together(at, p.Parent)
	}
	if 3*run < len(n.text) {
		return false // a passage; what stands for a conversation is quoted as it is
	}
	switch {
	case x.aside(at):
		return true
	case p.Parent == None:
		// People quote, too: between sessions, only what was asked for as a summary counts, and nearly all of it.
		return !x.Shared || 5*run >= 4*len(n.text) && x.summarises(at)
	case !x.together(at, p.Parent):
		return false
	}
	return p.Relation != Rewind || x.summarises(at)
}

// summarises reports whether a node asks for a summary. All clients whose compaction was seen use this word in English.
func (x *Index) summarises(at int) bool {
	x.reopen(at)
	return x.nodes[at].summary
}

// aside reports whether a node is a side request that nothing has extended.
func (x *Index) aside(at int) bool {
	return x.nodes[at].Relation == Side && len(x.nodes[at].children) == 0
}

// newestOf is the newest node of a thread.
func (x *Index) newestOf(session, thread string) int {
	for at := len(x.nodes) - 1; at >= 0; at-- {
		if n := &x.nodes[at]; n.Session == session && n.Thread == thread {
			return at
		}
	}
	return None
}

// newestConversation is the newest node of a key, before a node, that belongs to no agent and is no side request.
func (x *Index) newestConversation(key string, before int) int {
	for at := before - 1; at >= 0; at-- {
		if n := &x.nodes[at]; n.Key == key && !x.aside(at) && !x.ofAgent(at) {
			return at
		}
	}
	return None
}

// ofAgent reports whether a node is in a sub-agent's thread.
func (x *Index) ofAgent(at int) bool {
	for x.nodes[at].parent != None {
		at = int(x.nodes[at].parent)
	}
	return x.nodes[at].Relation == Agent
}

// newestQuoted is the newest node after another whose answer is quoted in a message of the request that was not met
// before, of those that fit; or None. An item that nobody can read, such as a provider's own compaction, is quoted when
// it is sent again.
func (x *Index) newestQuoted(r Request, after int, fits func(at, run int) bool) int {
	newest, left := None, maxCompare
	for i, h := range r.Elements {
		if _, met := x.seen[h]; met {
			continue // from before any answer that it could quote and that would count
		}
		m := r.Read(i)
		if at, ok := x.items[item{r.Key, h}]; ok && m.Said == "" && len(m.IDs) == 0 {
			if int(at) > max(after, newest) && fits(int(at), whole) {
				newest = int(at)
			}
		}
		x.blocksIn(m.Said, func(from int, q quotable) {
			at := int(q.node)
			if at <= max(after, newest) || left < 0 {
				return
			}
			run, characters := shared(m.Said, from, x.nodes[at].text, int(q.offset))
			left -= run
			if characters >= minQuote && fits(at, run) {
				newest = at
			}
		})
	}
	return newest
}

// blocksIn calls found for every place in a text where a block of an answer may stand.
func (x *Index) blocksIn(text string, found func(from int, q quotable)) {
	if len(text) < block || len(x.quotes) == 0 {
		return
	}
	h := hashBlock(text[:block])
	for i := 0; ; i++ {
		if x.mayBe.has(h) {
			for _, q := range x.quotes[h] {
				found(i, q)
			}
		}
		if i+block >= len(text) {
			return
		}
		h = (h-uint64(text[i])*high)*base + uint64(text[i+block])
	}
}

// shared is how much two texts have in common around a place in each: in bytes, and in characters.
func shared(text string, from int, other string, at int) (run, characters int) {
	if at+block > len(other) || other[at:at+block] != text[from:from+block] {
		return 0, 0
	}
	begin, end := 0, block
	for at-begin > 0 && from-begin > 0 && other[at-begin-1] == text[from-begin-1] {
		begin++
	}
	for at+end < len(other) && from+end < len(text) && other[at+end] == text[from+end] {
		end++
	}
	return begin + end, utf8.RuneCountInString(text[from-begin : from+end])
}

// fetch gets a node's answer, where only its calls' IDs are known.
func (x *Index) fetch(at int) {
	n := &x.nodes[at]
	if n.fetched || x.Fetch == nil {
		return
	}
	n.fetched = true
	a, ok := x.Fetch(at)
	if !ok {
		return
	}
	for _, call := range a.Calls {
		if open := x.open[scoped{n.Key, call.ID}]; open != nil && int(open.node) == at {
			open.call = call
		}
	}
	x.itemize(at, a.Elements)
	x.said(at, a)
}

// maxFetch bounds the answers that are fetched at once to be compared, the newest.
const maxFetch = 2000

func (x *Index) fetchAll() {
	for at := len(x.nodes) - 1; at >= max(0, len(x.nodes)-maxFetch); at-- {
		x.fetch(at)
	}
}
