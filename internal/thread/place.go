package thread

import (
	"slices"
	"strings"
	"time"
)

// Place finds where a request belongs. It changes nothing that later calls depend on.
//
// Among the nodes of the request's key, the parent is found by
//
//  1. the answer that the request names;
//  2. the newest call in it that an answer minted or that a request carried first;
//  3. the longest chain of a node that its messages begin with. Of 2 and 3 the later node counts; of several with
//     that chain, the one whose answer the request holds;
//  4. where that gives no parent, or one that the request does not simply go on from: the newest node after it that
//     nothing goes on from and whose answer shares 200 consecutive characters, and a third of it, with what is said in a
//     message that is new. Where that was a side request, the thread that it was about, else the newest conversation.
//
// Results and arguments do not count as said, or a sub-agent's report would make it the parent of who asked for it.
func (x *Index) Place(r Request) Place {
	if r.Previous != "" {
		return x.byName(r)
	}
	p := x.byMessages(r)
	if p.Parent == None {
		if q, ok := x.asked(r); ok {
			return q
		}
	}
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

// byName applies rule 1. Of a request that follows an answer which is not known, the messages are not the beginning of
// anything; a call in them may still say where they belong.
func (x *Index) byName(r Request) Place {
	p := Place{Parent: None, Evidence: ByName, Owner: None, About: None}
	if at, ok := x.answers[scoped{wire(r.Key), r.Previous}]; ok {
		p.Parent = int(at)
		x.fetch(p.Parent)
	} else if p.Parent = x.newestCall(r, None); p.Parent != None {
		p.Evidence = ByCall
	}
	if p.Parent == None {
		return x.first(r)
	}
	p.Relation = x.onward(p.Parent)
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
		p.Relation = x.repeated(p.Parent, r)
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
	var several []origin
	for i := range r.Elements {
		for _, id := range x.ids(r, i) {
			s := scoped{r.Key, id}
			from := x.calls[s]
			if at != None {
				if near := x.originIn(s, at); near != nil {
					from = []origin{*near}
				}
			}
			if len(from) > 1 {
				several = from
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
		newest = None
	}
	if newest == None && at == None {
		for i := len(several) - 1; i >= max(0, len(several)-maxSeveral); i-- {
			if x.stands(int(several[i].node), r) {
				return int(several[i].node)
			}
		}
	}
	return int(newest)
}

// maxSeveral bounds the threads of a call's ID in which a message of the request is sought, the newest.
const maxSeveral = 16

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

// held picks, of nodes with the same chain, the newest one whose answer the request holds as its message next, and that
// nothing goes on from yet if there is such a one; or else the newest of all.
func (x *Index) held(nodes []int32, r Request, next int) int {
	newest := int(nodes[len(nodes)-1])
	if len(nodes) == 1 || next >= len(r.Elements) {
		return newest
	}
	m, best := r.Read(next), None
	for i := len(nodes) - 1; i >= 0; i-- {
		at := int(nodes[i])
		if !x.holds(m, at) {
			continue
		}
		if len(x.onto(at)) == 0 {
			return at
		}
		if best == None {
			best = at
		}
	}
	if best != None {
		return best
	}
	return newest
}

// holds reports whether a message is a node's answer.
func (x *Index) holds(m Message, at int) bool {
	x.fetch(at)
	n := &x.nodes[at]
	if len(m.IDs) > 0 {
		from := x.originIn(scoped{n.Key, m.IDs[0]}, at)
		if from == nil || !from.minted || int(from.node) != at {
			return false
		}
	}
	for _, arg := range m.Args {
		if len(n.args) > 0 && !slices.Contains(n.args, hashBlock(arg)) {
			return false
		}
	}
	if len(m.IDs) > 0 || len(m.Args) > 0 && len(n.args) > 0 {
		return true
	}
	text := strings.TrimSpace(n.text)
	return text != "" && text == strings.TrimSpace(m.Said)
}

// onto are the nodes that go on from a node itself, sub-agents not counted.
func (x *Index) onto(at int) []int32 {
	var all []int32
	for _, c := range x.nodes[at].children {
		if child := &x.nodes[c]; child.Relation != Agent && child.Chain != x.nodes[at].Chain {
			all = append(all, c)
		}
	}
	return all
}

// twins are a node and all that repeat it, or that it repeats.
func (x *Index) twins(at int) []int {
	n := &x.nodes[at]
	for n.parent != None && x.nodes[n.parent].Chain == n.Chain {
		at = int(n.parent)
		n = &x.nodes[at]
	}
	all := []int{at}
	for i := 0; i < len(all); i++ {
		for _, c := range x.nodes[all[i]].children {
			if child := &x.nodes[c]; child.Relation != Agent && child.Chain == n.Chain {
				all = append(all, int(c))
			}
		}
	}
	return all
}

// onward is the relation of a request that goes on from a node with a message of its own.
func (x *Index) onward(at int) Relation {
	relation := Extends
	for _, twin := range x.twins(at) {
		for _, c := range x.onto(twin) {
			if x.grown(int(c)) {
				return Rewind
			}
			relation = Again
		}
	}
	return relation
}

// repeated is the relation of a request whose messages are all of a node's. It is empty when the two are the first
// requests of different conversations.
func (x *Index) repeated(at int, r Request) Relation {
	switch {
	case x.nodes[at].state == failed && !x.grown(at) && !x.stale(at, r):
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

// maxRetry is how long after a first request that failed the same may be a retry. Later somebody asks again.
const maxRetry = time.Hour

// stale reports whether a node is the first of a conversation and too old to be retried.
func (x *Index) stale(at int, r Request) bool {
	return x.begins(at) && r.At.Sub(x.nodes[at].At) > maxRetry
}

// grown reports whether something goes on from a node, or from a repetition of it.
func (x *Index) grown(at int) bool {
	for _, twin := range x.twins(at) {
		if len(x.onto(twin)) > 0 {
			return true
		}
	}
	return false
}

// Below are the nodes that go on from a node, from a repetition of it, or from one of these, with the sub-agents that
// work for them.
func (x *Index) Below(at int) []int {
	var all []int
	for _, twin := range x.twins(at) {
		for _, c := range x.onto(twin) {
			all = append(all, int(c))
		}
	}
	for i := 0; i < len(all); i++ {
		for _, c := range x.nodes[all[i]].children {
			all = append(all, int(c))
		}
	}
	return all
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
	switch {
	case r.Agent:
		p.Relation, p.Evidence = Agent, ByHeader
	case !r.Tools:
		p.Relation, p.About = Side, x.newestQuoted(r, None, func(at, _ int) bool { return x.nodes[at].Tools })
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
		if said = strings.Clone(said[:min(len(said), maxOpening)]); said != "" && of == Root {
			return said
		}
		all = append(all, said)
	}
	if of != Side {
		return ""
	}
	return strings.Join(all, "\n")
}

// mentions is the root whose first words stand in a side request, such as one for a title; or None. Of several it is the
// one most of whose newest answers do, too, and then the newest.
func (x *Index) mentions(r Request) int {
	said := opening(r, Side)
	best, most := None, -1
	x.openings(r, Root, func(at int, first string) bool {
		if !says(said, first) {
			return true
		}
		if answers := x.answersIn(r, at); answers > most {
			best, most = at, answers
		}
		return true
	})
	return best
}

// maxAnswers bounds the answers of a thread that are sought in a side request, the newest; minAnswer the shortest of them,
// in bytes.
const (
	maxAnswers = 16
	minAnswer  = 8
)

// answersIn counts the newest answers of a root's thread that stand in a request.
func (x *Index) answersIn(r Request, root int) int {
	count, looked := 0, 0
	for at := len(x.nodes) - 1; at >= root && looked < maxAnswers; at-- {
		text := strings.TrimSpace(x.nodes[at].text)
		if !x.together(at, root) || len(text) < minAnswer {
			continue
		}
		looked++
		for i := range min(len(r.Elements), maxFirst) {
			if strings.Contains(r.Read(i).Said, text) {
				count++
				break
			}
		}
	}
	return count
}

// mentioned is the newest side request in which the first words of a root stand; or None.
func (x *Index) mentioned(r Request) int {
	first, found := opening(r, Root), None
	x.openings(r, Side, func(at int, said string) bool {
		if says(said, first) {
			found = at
		}
		return found == None
	})
	return found
}

// says reports whether a text holds the first words of a conversation: a few of them are a line of their own.
func says(text, first string) bool {
	if len(first) >= minArgument {
		return strings.Contains(text, first)
	}
	return first != "" && strings.Contains("\n"+text+"\n", "\n"+first+"\n")
}

// openings calls visit with what the newest nodes of a relation say first, until that is enough.
func (x *Index) openings(r Request, relation Relation, visit func(at int, opening string) (more bool)) {
	looked := 0
	for at := len(x.nodes) - 1; at >= 0 && looked < maxAside; at-- {
		n := &x.nodes[at]
		if n.Relation != relation || wire(n.Key) != wire(r.Key) {
			continue
		}
		looked++
		x.reopen(at)
		if !visit(at, n.opening) {
			return
		}
	}
}

// open notes what a node's request says.
func (n *node) open(r Request) {
	n.opened, n.opening = true, opening(r, n.Relation)
	if last := len(r.Elements) - 1; last >= 0 {
		said := strings.ToLower(r.Read(last).Said)
		n.summary = strings.Contains(said, "summar") || strings.Contains(said, "compact")
	}
}

// reopen reads what a node's request says again, where it was placed before.
func (x *Index) reopen(at int) {
	if n := &x.nodes[at]; !n.opened && x.Request != nil {
		n.opened = true
		if was, ok := x.Request(at); ok {
			n.open(was)
		}
	}
}

// minArgument is the shortest argument that shows whose a sub-agent is, in bytes; a shorter one stands in a request by
// chance.
const minArgument = 24

const (
	maxOpen   = 256 // calls that are looked at, the newest
	maxClosed = 64  // calls that are kept when they are not open any more
	maxFirst  = 4   // messages at a request's start in which an argument is sought

	maxTask = 64 << 10 // bytes of such a message in which it is
)

// maxWait is how long a sub-agent may begin after the request whose answer called for it, where several calls ask for
// the same.
const maxWait = time.Hour

// asked finds the open call one of whose whole arguments stands in the first messages of a request: the call that asks
// for most of it. Of several that ask for the same it is the first of the last hour that no sub-agent works for yet, as
// they start in the order of their calls; else the newest. Of a call that was open lately, and of an argument of one
// word, such as a path, the argument must be all that a message says.
func (x *Index) asked(r Request) (Place, bool) {
	var first []string
	for i := range min(len(r.Elements), maxFirst) {
		if said := strings.TrimSpace(r.Read(i).Said); len(said) >= minArgument {
			first = append(first, said[:min(len(said), maxTask)])
		}
	}
	var best *openCall
	most, looked := 0, 0
	for i := len(x.opened) - 1; i >= 0 && looked < maxOpen && len(first) > 0; i-- {
		open := x.open[x.opened[i]]
		if open == nil || wire(x.opened[i].key) != wire(r.Key) {
			continue
		}
		looked++
		x.fetch(int(open.node))
		length := open.asksFor(first)
		waits := !open.taken && r.At.Sub(x.nodes[open.node].At) <= maxWait
		if length > most || length == most && length > 0 && waits && (best.done || !open.done) {
			best, most = open, length
		}
	}
	if best == nil {
		return Place{}, false
	}
	return Place{Parent: None, Relation: Agent, Evidence: ByArgument, Owner: int(best.node), Call: best.call.ID, About: None}, true
}

// wire is the part of a key that names the wire.
func wire(key string) string {
	wire, _, _ := strings.Cut(key, "/")
	return wire
}

// asksFor is how much of one of the texts a call asks for: the length of the longest of its arguments that stands in one,
// 0 when none does.
func (c *openCall) asksFor(texts []string) int {
	most := 0
	for _, arg := range c.call.Args {
		arg = strings.TrimSpace(arg)
		if len(arg) < minArgument || len(arg) <= most {
			continue
		}
		part := !c.done && strings.ContainsAny(arg, " \n")
		for _, text := range texts {
			if text == arg || part && strings.Contains(text, arg) {
				most = len(arg)
				break
			}
		}
	}
	return most
}
