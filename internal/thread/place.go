package thread

import "strings"

// Place finds where a request belongs. It changes nothing that later calls depend on.
//
// Among the nodes of the request's key, the parent is found by
//
//  1. the answer that the request names;
//  2. the newest call in it that an answer minted or that a request carried first;
//  3. the longest chain of a node that its messages begin with. Of 2 and 3 the later node counts; of several with
//     that chain, the one whose answer the request holds;
//  4. where that gives no parent, or one that the request does not simply go on from: the newest node after it whose
//     answer shares 200 consecutive characters with what is said in a message that is new. Where that was a side
//     request, the thread that it was about, else the newest conversation.
//
// Results and arguments do not count as said, or a sub-agent's report would make it the parent of who asked for it.
func (x *Index) Place(r Request) Place {
	if at, ok := x.answers[scoped{r.Key, r.Previous}]; ok && r.Previous != "" {
		x.fetch(int(at))
		return Place{Parent: int(at), Relation: x.onward(int(at)), Evidence: ByName, Owner: None, About: None}
	}
	p := x.byMessages(r)
	if p.Relation != Extends && p.Relation != Again {
		if q, ok := x.byQuote(r, p); ok {
			return q
		}
	}
	if p.Parent == None {
		return x.first(r)
	}
	return p
}

// byMessages applies rules 2 and 3.
func (x *Index) byMessages(r Request) Place {
	sums := sumsOf(r.Elements)
	at := x.longestChain(r, sums)
	call := x.newestCall(r, at)
	p := Place{Parent: max(at, call), Evidence: ByChain, Owner: None, About: None}
	if p.Parent == None {
		return p
	}
	if call > at {
		p.Evidence = ByCall
	}
	switch n := &x.nodes[p.Parent]; {
	case n.Length == 0 || n.Length > len(sums) || sums[n.Length-1] != n.Chain:
		if p.Relation = x.changed(p.Parent, r); p.Relation == Edit {
			p.Parent = x.standing(p.Parent, r)
		}
	case n.Length < len(sums):
		p.Relation = x.onward(p.Parent)
	default:
		p.Relation = x.repeated(p.Parent)
		if p.Relation == "" { // the first request of another conversation that begins alike
			p.Parent = None
		}
	}
	return p
}

// sumsOf are the chains that a request's messages begin with, the shortest first.
func sumsOf(elements []Hash) []Chain {
	sums := make([]Chain, 0, len(elements))
	var c Chain
	for _, h := range elements {
		c = c.link(h)
		sums = append(sums, c)
	}
	return sums
}

// minCall is the shortest ID of a call that is taken for the only one of its kind, in bytes. Providers draw theirs at
// random; some clients count them, anew in each conversation.
const minCall = 16

// newestCall is the newest node that is the origin of a call in the request, or None. Of a call that comes from several
// threads the origin counts that is in the thread of at, which has the request's chain; that of a short ID, only if a
// message of the node stands in the request.
func (x *Index) newestCall(r Request, at int) int {
	newest, sure := int32(None), false
	for i := range r.Elements {
		for _, id := range x.ids(r, i) {
			s := scoped{r.Key, id}
			from := x.calls[s]
			if at != None {
				if near := x.originIn(s, at); near != nil {
					from = []origin{*near}
				}
			}
			if len(from) != 1 || from[0].node < newest {
				continue
			}
			if from[0].node > newest {
				newest, sure = from[0].node, false
			}
			sure = sure || len(id) >= minCall || at != None && x.together(int(newest), at)
		}
	}
	if newest != None && !sure && !x.stands(int(newest), r) {
		return None
	}
	return int(newest)
}

// stands reports whether a message of a node stands in a request.
func (x *Index) stands(at int, r Request) bool {
	if x.Elements == nil {
		return false
	}
	held := make(map[Hash]bool)
	for _, h := range x.Elements(at) {
		held[h] = true
	}
	for _, h := range r.Elements {
		if held[h] {
			return true
		}
	}
	return false
}

// longestChain is the node with the longest chain that the request's messages begin with, or None.
func (x *Index) longestChain(r Request, sums []Chain) int {
	for i := len(sums) - 1; i >= 0; i-- {
		if nodes := x.chains[chain{r.Key, sums[i]}]; len(nodes) > 0 {
			return x.held(nodes, r, i+1)
		}
	}
	return None
}

// held picks, of nodes with the same chain, the newest one whose answer the request holds as its message next, or the
// newest of all.
func (x *Index) held(nodes []int32, r Request, next int) int {
	newest := int(nodes[len(nodes)-1])
	if len(nodes) == 1 || next >= len(r.Elements) {
		return newest
	}
	m := r.Read(next)
	for i := len(nodes) - 1; i >= 0; i-- {
		if x.holds(m, int(nodes[i])) {
			return int(nodes[i])
		}
	}
	return newest
}

// holds reports whether a message is a node's answer.
func (x *Index) holds(m Message, at int) bool {
	if len(m.IDs) > 0 {
		from := x.originIn(scoped{x.nodes[at].Key, m.IDs[0]}, at)
		return from != nil && from.minted && int(from.node) == at
	}
	x.fetch(at)
	text := strings.TrimSpace(x.nodes[at].text)
	return text != "" && text == strings.TrimSpace(m.Said)
}

// onward is the relation of a request that goes on from a node with a message of its own.
func (x *Index) onward(at int) Relation {
	relation := Extends
	for _, c := range x.nodes[at].children {
		switch {
		case x.nodes[c].Relation == Agent:
		case x.grown(int(c)):
			return Rewind
		default:
			relation = Again
		}
	}
	return relation
}

// repeated is the relation of a request whose messages are all of a node's. It is empty when the two are the first
// requests of different conversations.
func (x *Index) repeated(at int) Relation {
	switch {
	case x.nodes[at].state == failed && !x.grown(at):
		return Again
	case x.begins(at):
		return ""
	case x.grown(at):
		return Rewind
	}
	return Again
}

// begins reports whether a node is the first of its conversation, or a repetition of the first.
func (x *Index) begins(at int) bool {
	for x.nodes[at].parent != None {
		parent := int(x.nodes[at].parent)
		if x.nodes[parent].Chain != x.nodes[at].Chain {
			return false
		}
		at = parent
	}
	return true
}

// grown reports whether something goes on from a node, or from a repetition of it.
func (x *Index) grown(at int) bool {
	n := &x.nodes[at]
	for _, c := range n.children {
		child := &x.nodes[c]
		if child.Relation != Agent && (child.Chain != n.Chain || x.grown(int(c))) {
			return true
		}
	}
	return false
}

// changed is the relation of a request to a node that is the origin of its newest call, where the node's messages are
// not what it begins with.
func (x *Index) changed(at int, r Request) Relation {
	if x.Elements == nil {
		return Edit
	}
	old := x.Elements(at)
	stand := make(map[Hash]bool, len(r.Elements))
	calls := make(map[string]bool)
	for i, h := range r.Elements {
		stand[h] = true
		for _, id := range x.ids(r, i) {
			calls[id] = true
		}
	}
	same, remain := 0, 0
	for i, h := range old {
		if i < len(r.Elements) && same == i && r.Elements[i] == h {
			same++
		}
		if stand[h] || all(x.seen[h], calls) {
			remain++
		}
	}
	switch {
	case 2*remain < len(old):
		return Compaction
	case len(old) > 1 && same >= len(old)-1:
		return Again // its last message grew
	}
	return Edit
}

// standing goes on from a node to the newest that follows it and whose last message stands in the request, too: one
// that has no call of its own is not found by calls.
func (x *Index) standing(at int, r Request) int {
	stand := make(map[Hash]bool, len(r.Elements))
	for _, h := range r.Elements {
		stand[h] = true
	}
	for {
		next := None
		for _, c := range x.nodes[at].children {
			if x.nodes[c].Relation == Agent {
				continue
			}
			if old := x.Elements(int(c)); len(old) > 0 && stand[old[len(old)-1]] {
				next = int(c)
			}
		}
		if next == None {
			return at
		}
		at = next
	}
}

// all reports whether there are IDs and all of them are in a set.
func all(ids []string, set map[string]bool) bool {
	for _, id := range ids {
		if !set[id] {
			return false
		}
	}
	return len(ids) > 0
}

// first is the place of a request without a parent.
func (x *Index) first(r Request) Place {
	p := Place{Parent: None, Relation: Root, Owner: None, About: None}
	if owner, call, ok := x.asked(r); ok {
		p.Relation, p.Evidence, p.Owner, p.Call = Agent, ByArgument, owner, call
		return p
	}
	switch {
	case r.Agent:
		p.Relation, p.Evidence = Agent, ByHeader
	case !r.Tools:
		p.Relation, p.About = Side, x.newestQuoted(r, None, func(at int) bool { return x.nodes[at].Tools })
		if p.About == None {
			p.About = x.mentions(r)
		}
	default:
		p.About = x.mentioned(r)
	}
	return p
}

const (
	maxOpening = 4 << 10 // bytes of what a request says first that are kept
	maxAside   = 32      // roots, and side requests, among which one is sought that begins with the same words
)

// opening is what a root says first, or all that a side request says in its first messages.
func opening(r Request, of Relation) string {
	var all []string
	for i := range min(len(r.Elements), maxFirst) {
		said := strings.TrimSpace(r.Read(i).Said)
		if said = said[:min(len(said), maxOpening)]; said != "" && of == Root {
			return said
		}
		all = append(all, said)
	}
	if of != Side {
		return ""
	}
	return strings.Join(all, "\n")
}

// mentions is the newest root whose first words stand in a side request, such as one for a title; or None.
func (x *Index) mentions(r Request) int {
	said := opening(r, Side)
	return x.newestOpening(r, Root, func(first string) bool { return says(said, first) })
}

// mentioned is the newest side request in which the first words of a root stand; or None.
func (x *Index) mentioned(r Request) int {
	first := opening(r, Root)
	return x.newestOpening(r, Side, func(said string) bool { return says(said, first) })
}

// says reports whether a text holds the first words of a conversation: a few of them are a line of their own.
func says(text, first string) bool {
	if len(first) >= minArgument {
		return strings.Contains(text, first)
	}
	return first != "" && strings.Contains("\n"+text+"\n", "\n"+first+"\n")
}

func (x *Index) newestOpening(r Request, relation Relation, fits func(string) bool) int {
	looked := 0
	for at := len(x.nodes) - 1; at >= 0 && looked < maxAside; at-- {
		n := &x.nodes[at]
		if n.Relation != relation || wire(n.Key) != wire(r.Key) {
			continue
		}
		looked++
		if !n.opened && x.Request != nil {
			n.opened = true
			if was, ok := x.Request(at); ok {
				n.opening = opening(was, relation)
			}
		}
		if fits(n.opening) {
			return at
		}
	}
	return None
}

// minArgument is the shortest argument that shows whose a sub-agent is, in bytes; a shorter one stands in a request by
// chance.
const minArgument = 24

const (
	maxOpen   = 256 // calls that are looked at, the newest
	maxClosed = 64  // calls that are kept when they are not open any more
	maxFirst  = 4   // messages at a request's start in which an argument is sought
)

// asked finds the open call one of whose whole arguments stands in the first messages of a request. Of several it is
// the first that no sub-agent works for yet, as they start in the order of their calls; else the newest. Of a call that
// was open lately, the argument must be all that a message says.
func (x *Index) asked(r Request) (owner int, call string, ok bool) {
	var first []string
	for i := range min(len(r.Elements), maxFirst) {
		if said := r.Read(i).Said; len(said) >= minArgument {
			first = append(first, said)
		}
	}
	var best *openCall
	looked := 0
	for i := len(x.opened) - 1; i >= 0 && looked < maxOpen && len(first) > 0; i-- {
		open := x.open[x.opened[i]]
		if open == nil || wire(x.opened[i].key) != wire(r.Key) {
			continue
		}
		looked++
		x.fetch(int(open.node))
		if open.asksFor(first) && (best == nil || !open.taken && (best.done || !open.done)) {
			best = open
		}
	}
	if best == nil {
		return None, "", false
	}
	return int(best.node), best.call.ID, true
}

// wire is the part of a key that names the wire.
func wire(key string) string {
	wire, _, _ := strings.Cut(key, "/")
	return wire
}

// asksFor reports whether a whole argument of a call stands in one of the texts.
func (c *openCall) asksFor(texts []string) bool {
	for _, arg := range c.call.Args {
		if len(arg) < minArgument {
			continue
		}
		for _, text := range texts {
			if strings.TrimSpace(text) == strings.TrimSpace(arg) || !c.done && strings.Contains(text, arg) {
				return true
			}
		}
	}
	return false
}
