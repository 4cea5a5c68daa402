package thread

import (
	"crypto/sha256"
	"time"
)

// Index holds the requests among which parents are sought: those of one session, or all of a client that names none.
// Its zero value is not ready; New makes one.
type Index struct {
	// Shared says that the nodes may be of several sessions. Then a quotation alone proves less.
	Shared bool
	// Fetch gives the answer of a node that was added as Known, when its text or arguments are needed.
	Fetch func(node int) (Answer, bool)
	// Elements gives a node's messages. It is called when a parent's messages do not simply go on.
	Elements func(node int) []Hash
	// Request gives the request of a node that was added as Known, when its first words are needed.
	Request func(node int) (Request, bool)

	nodes   []node
	chains  map[chain][]int32     // the nodes whose messages are this chain, in order
	calls   map[scoped][]origin   // where a call's ID comes from; several, where conversations number their calls alike
	answers map[scoped]int32      // by the ID of the answer
	items   map[item]int32        // by the items of the answer
	seen    map[Hash][]string     // messages, with the IDs in them
	quotes  map[uint64][]quotable // blocks of answers
	mayBe   filter                // of quotes
	open    map[scoped]*openCall  // calls whose results no request has held yet, and some that were open lately
	opened  []scoped              // all that were ever open, in order
	closed  []scoped              // of those that are kept, the ones that are not open any more
}

// scoped is an ID under a key. IDs of different keys do not meet.
type scoped struct{ key, id string }

// item is an item of an answer, under a key.
type item struct {
	key  string
	hash Hash
}

// Chain identifies a sequence of messages.
type Chain [16]byte

type chain struct {
	key string
	sum Chain
}

// link adds a message to a chain.
func (c Chain) link(h Hash) Chain {
	var b [16 + 32]byte
	copy(b[:], c[:])
	copy(b[16:], h[:])
	sum := sha256.Sum256(b[:])
	return Chain(sum[:16])
}

// ChainOf is the chain of messages.
func ChainOf(elements []Hash) Chain {
	var c Chain
	for _, h := range elements {
		c = c.link(h)
	}
	return c
}

// node is a request in the index.
type node struct {
	Node
	parent   int32
	children []int32
	state    state
	text     string   // of the answer, when it may be quoted
	args     []uint64 // hashes of the string arguments of the answer's calls
	follow   Chain    // the chain with the answer's own items, where a request may follow by name
	items    int      // of the answer that were given
	fetched  bool     // text and arguments are known
	opening  string   // what a root or a side request says first, as far as it was placed here
	opened   bool     // opening and summary are known
	summary  bool     // it asks for a summary
}

// Node is what the caller keeps with a request.
type Node struct {
	Key      string
	Session  string
	N        int       // its number in the session
	At       time.Time // when it arrived
	Thread   string
	Relation Relation
	Chain    Chain
	Length   int // of the chain, in messages
	Tools    bool
	Owner    int    // see Place
	Call     string // see Place
	About    int    // see Place
}

// state is how far a node was answered.
type state int8

const (
	pending  state = iota
	answered       // in full
	failed         // it will not be
)

// origin says where a call's ID comes from.
type origin struct {
	node   int32
	minted bool // by the node's answer; otherwise the node carried it first
}

type openCall struct {
	node  int32
	call  Call
	taken bool // a sub-agent works for it
	done  bool // a request has held its result
}

// close notes that a call's result was seen. The newest of those calls are kept a while: a sub-agent that works in the
// background may begin after the result of the call that started it.
func (x *Index) close(s scoped) {
	if open := x.open[s]; open == nil || open.done {
		return
	}
	x.open[s].done = true
	x.closed = append(x.closed, s)
	if len(x.closed) > maxClosed {
		delete(x.open, x.closed[0])
		x.closed = x.closed[1:]
	}
}

// New returns an empty index.
func New() *Index {
	return &Index{
		chains: make(map[chain][]int32), calls: make(map[scoped][]origin), answers: make(map[scoped]int32), items: make(map[item]int32),
		seen: make(map[Hash][]string), quotes: make(map[uint64][]quotable), open: make(map[scoped]*openCall),
	}
}

// Len is the number of nodes.
func (x *Index) Len() int { return len(x.nodes) }

// Node is one of them.
func (x *Index) Node(i int) Node { return x.nodes[i].Node }

// Add takes a request in at the place that was found for it, and returns its node. Of n, what the caller knows is
// taken: Session, N, Thread.
func (x *Index) Add(r Request, p Place, n Node) int {
	n.At = r.At
	n.Key, n.Relation, n.Tools, n.Owner, n.Call, n.About = r.Key, p.Relation, r.Tools, p.Owner, p.Call, p.About
	n.Chain, n.Length = x.chainOf(r, p)
	at := x.add(n, p.Parent)
	x.nodes[at].open(r)
	x.nodes[at].fetched = true // it has no answer yet, and when it has, the caller gives it
	for i, h := range r.Elements {
		x.Carried(at, h, x.ids(r, i))
	}
	return at
}

// Known takes in a request that was placed before. Its messages follow by Carried and its answer by Answered, both
// without text, which is fetched when needed.
func (x *Index) Known(n Node, parent int) int {
	return x.add(n, parent)
}

func (x *Index) add(n Node, parent int) int {
	at := int32(len(x.nodes))
	x.nodes = append(x.nodes, node{Node: n, parent: int32(parent)})
	if parent != None {
		x.nodes[parent].children = append(x.nodes[parent].children, at)
	}
	if n.Owner != None {
		if open := x.open[scoped{x.nodes[n.Owner].Key, n.Call}]; open != nil {
			open.taken = true
		}
	}
	if n.Length > 0 && n.Chain != (Chain{}) {
		c := chain{n.Key, n.Chain}
		x.chains[c] = append(x.chains[c], at)
	}
	return int(at)
}

// chainOf is the chain of a request's messages, those included that the provider holds. Where these are not known, it has
// none.
func (x *Index) chainOf(r Request, p Place) (Chain, int) {
	var c Chain
	length := len(r.Elements)
	if r.Previous != "" && p.Evidence != ByName {
		return c, length
	}
	if p.Evidence == ByName {
		c = x.nodes[p.Parent].follow
		length += x.nodes[p.Parent].Length + x.nodes[p.Parent].items
	}
	for _, h := range r.Elements {
		c = c.link(h)
	}
	return c, length
}

// ids are the IDs in a request's message.
func (x *Index) ids(r Request, i int) []string {
	if ids, ok := x.seen[r.Elements[i]]; ok {
		return ids
	}
	return r.Read(i).IDs
}

// Carried says that a node's request holds a message with these IDs in it.
func (x *Index) Carried(at int, h Hash, ids []string) {
	if _, ok := x.seen[h]; ok {
		return
	}
	x.seen[h] = ids
	key := x.nodes[at].Key
	for _, id := range ids {
		s := scoped{key, id}
		if x.originIn(s, at) == nil {
			x.calls[s] = append(x.calls[s], origin{node: int32(at)})
		}
		x.close(s)
	}
}

// Answered says what came back for a node.
func (x *Index) Answered(at int, a Answer) {
	x.nodes[at].state = failed
	x.Answering(at, a)
}

// Answering says what has come so far of a node's answer. It may be called again, when more has come.
func (x *Index) Answering(at int, a Answer) {
	n := &x.nodes[at]
	if a.Whole {
		n.state = answered
	}
	if a.ID != "" {
		x.answers[scoped{Wire(n.Key), a.ID}] = int32(at)
	}
	x.itemize(at, a.Elements)
	for _, call := range a.Calls {
		if call.ID != "" {
			x.minted(at, call)
		}
	}
	x.said(at, a)
}

// itemize notes the items of a node's answer: each by itself, and the chain that they make behind the node's own.
func (x *Index) itemize(at int, items []Hash) {
	n := &x.nodes[at]
	n.follow, n.items = n.Chain, len(items)
	for _, h := range items {
		n.follow = n.follow.link(h)
		if _, ok := x.items[item{n.Key, h}]; !ok {
			x.items[item{n.Key, h}] = int32(at)
		}
	}
}

// minted notes a call that a node's answer makes.
func (x *Index) minted(at int, call Call) {
	s := scoped{x.nodes[at].Key, call.ID}
	from := x.originIn(s, at)
	switch {
	case from == nil:
		x.calls[s] = append(x.calls[s], origin{int32(at), true})
		x.open[s] = &openCall{node: int32(at), call: call}
		x.opened = append(x.opened, s)
	case from.minted && from.node == int32(at):
		if open := x.open[s]; open != nil && open.node == int32(at) {
			open.call = call
		}
	case !from.minted && from.node > int32(at): // its result was here before the answer was known
		*from = origin{int32(at), true}
	}
}

// originIn is where a call comes from in the thread of a node; nil when it was not met there.
func (x *Index) originIn(s scoped, at int) *origin {
	origins := x.calls[s]
	for i := range origins {
		if x.together(int(origins[i].node), at) {
			return &origins[i]
		}
	}
	return nil
}

// together reports whether two nodes are in one thread.
func (x *Index) together(a, b int) bool {
	return x.nodes[a].Session == x.nodes[b].Session && x.nodes[a].Thread == x.nodes[b].Thread
}

// Origin is the node whose answer minted a call, in the thread of a node, or else the only one that did; or None.
func (x *Index) Origin(key, call string, near int) int {
	s := scoped{key, call}
	var from *origin
	if near != None {
		from = x.originIn(s, near)
	}
	if origins := x.calls[s]; from == nil && len(origins) == 1 {
		from = &origins[0]
	}
	if from == nil || !from.minted {
		return None
	}
	return int(from.node)
}

// Failed says that a node will have no answer.
func (x *Index) Failed(at int) { x.nodes[at].state = failed }

// Pending reports whether nothing was said of a node's answer yet.
func (x *Index) Pending(at int) bool { return x.nodes[at].state == pending }
