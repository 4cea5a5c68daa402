package thread

import (
	"slices"
	"strings"
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
	if at, ok := x.answers[scoped{Wire(r.Key), r.Previous}]; ok {
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
