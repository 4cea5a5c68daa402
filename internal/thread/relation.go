package thread

import "time"

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

// Above are a node and all that it goes on from.
func (x *Index) Above(at int) []int {
	var all []int
	for ; at != None; at = int(x.nodes[at].parent) {
		all = append(all, at)
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
