package pool

import (
	"strconv"

	"ambit/entry"
)

// Thread is one growing conversation.
type Thread struct {
	Name     string
	How      entry.Relating // what its first request is: root, agent or side; a side request that was extended is a root
	Owner    int            // of an agent: number of the request whose answer called for it
	Requests []int          // numbers, in order
}

// Threads returns the threads in the order in which they begin.
func (p *Pool) Threads() []Thread {
	var threads []Thread
	at := make(map[string]int)
	for i := range p.Exchanges {
		r := p.Exchanges[i].Relation
		if r == nil || r.Thread == "" {
			continue
		}
		j, ok := at[r.Thread]
		if !ok {
			j = len(threads)
			at[r.Thread] = j
			threads = append(threads, Thread{Name: r.Thread, How: r.How, Owner: r.Owner})
		}
		t := &threads[j]
		t.Requests = append(t.Requests, r.N)
		if t.How == entry.Side && r.Parent != 0 && r.How != entry.Again && r.How != entry.Count {
			t.How = entry.Root
		}
	}
	return threads
}

// ThreadName is the name of the nth thread of a session, counted from 1.
func ThreadName(n int) string { return "t" + strconv.Itoa(n) }

// Behind returns the numbers of the requests that rewinds left behind, and of those whose answers alone they did. What a
// rewind goes back to is gone on from again; a branch that goes on after a rewind is not behind: then both are alive.
func (p *Pool) Behind() (requests, answers map[int]bool) {
	b := newBranches(p)
	for i := range b.nodes {
		n := &b.nodes[i]
		switch {
		case n.relation == nil || n.parent < 0:
		case n.relation.How == entry.Rewind:
			b.rewind(i)
		case n.relation.Messages > b.nodes[n.parent].messages():
			b.nodes[n.parent].silent = false // it holds the answer again
		}
	}
	requests, answers = make(map[int]bool), make(map[int]bool)
	for i := range b.nodes {
		if n := &b.nodes[i]; n.left {
			requests[n.relation.N] = true
		} else if n.silent {
			answers[n.relation.N] = true
		}
	}
	return requests, answers
}

// branches are a session's requests as a tree. Requests are named by their place in it, so that a long session with many
// rewinds takes no longer than it must.
type branches struct {
	nodes []branch
	walk  int // number of the walk, so that nodes need not be unmarked
}

// branch is one request in the tree.
type branch struct {
	relation *entry.Relation // nil when it is in none
	parent   int             // -1 for none
	place    int             // the first request that holds the messages of this one, which repeats it
	twin     bool            // it holds the same messages as its parent
	children []int           // what goes on from it
	agents   []int           // the first requests of the sub-agents that work for it
	newest   int             // of it and all that go on from it
	left     bool            // behind
	silent   bool            // its answer is
	walked   int             // in which walk it was on the way
}

func (b *branch) messages() int {
	if b.relation == nil {
		return 0
	}
	return b.relation.Messages
}

func newBranches(p *Pool) *branches {
	b := &branches{nodes: make([]branch, len(p.Exchanges))}
	at := make(map[int]int, len(p.Exchanges))
	for i := range p.Exchanges {
		n := &b.nodes[i]
		n.parent, n.place, n.newest = -1, i, i
		r := p.Exchanges[i].Relation
		if r == nil || r.How == entry.Count {
			continue
		}
		n.relation, at[r.N] = r, i
		if parent, ok := at[r.Parent]; ok && r.Parent != 0 {
			n.parent = parent
			if n.twin = r.Chain != "" && r.Chain == b.nodes[parent].relation.Chain; n.twin {
				n.place = b.nodes[parent].place
			}
			b.nodes[parent].children = append(b.nodes[parent].children, i)
		} else if owner, ok := at[r.Owner]; ok && r.Owner != 0 {
			b.nodes[owner].agents = append(b.nodes[owner].agents, i)
		}
	}
	for i := len(b.nodes) - 1; i >= 0; i-- {
		if parent := b.nodes[i].parent; parent >= 0 {
			b.nodes[parent].newest = max(b.nodes[parent].newest, b.nodes[i].newest)
		}
	}
	return b
}

// rewind leaves behind what goes on from where a rewind goes back to, or from a repetition of that, and every other
// branch that has grown beside the way there.
func (b *branches) rewind(r int) {
	b.walk++
	target := b.nodes[r].parent
	for n, next := target, r; n >= 0; n, next = b.nodes[n].parent, n {
		b.nodes[n].walked, b.nodes[n].left = b.walk, false
		if !b.nodes[next].twin { // what the way goes on from was answered as it says
			b.nodes[n].silent = false
		}
	}
	place := b.nodes[target].place
	alive := false
	for n := target; n >= 0; n = b.nodes[n].parent {
		here := b.nodes[n].place == place
		for _, c := range b.nodes[n].children {
			child := &b.nodes[c]
			switch {
			case c >= r || child.walked == b.walk || child.twin || !here && len(child.children) == 0:
			case child.newest > r:
				alive = alive || n == target
			default:
				b.leave(c)
			}
		}
	}
	b.leaveTwins(place, r)
	n := &b.nodes[target]
	if !alive && n.messages() >= b.nodes[r].messages() {
		n.silent = true
		for _, c := range n.agents {
			b.leave(c)
		}
	}
}

// leaveTwins leaves behind what went on, before a rewind, from a request and from all that repeat it, beside the way.
func (b *branches) leaveTwins(place, r int) {
	twins := []int{place}
	for i := 0; i < len(twins); i++ {
		for _, c := range b.nodes[twins[i]].children {
			child := &b.nodes[c]
			switch {
			case child.twin && c < r:
				twins = append(twins, c)
			case c < r && child.walked != b.walk && child.newest <= r:
				b.leave(c)
			}
		}
	}
}

// leave leaves a request behind, all that go on from it, and who works for them.
func (b *branches) leave(n int) {
	left := []int{n}
	for i := 0; i < len(left); i++ {
		if n := &b.nodes[left[i]]; !n.left {
			n.left = true
			left = append(append(left, n.children...), n.agents...)
		}
	}
}

// Unanswered returns the ids of the calls of each request's answer whose results no message holds. Only what recordings
// tell is looked at: what passes may hold results where they are not looked for.
func (p *Pool) Unanswered() map[int][]string {
	held := make(map[string]bool)
	for i := range p.Units {
		for _, id := range p.Units[i].Results {
			held[id] = true
		}
	}
	open := make(map[int][]string)
	n := 0 // of the unit of a recording that those behind it belong to
	for i := range p.Units {
		u := &p.Units[i]
		if u.Of != entry.PartMore {
			n = 0
			if u.Of == entry.PartRecord {
				n = u.N
			}
		}
		for _, id := range u.Calls {
			if n != 0 && !held[id] {
				open[n] = append(open[n], id)
			}
		}
	}
	return open
}

// Pruned returns the ids of the calls whose results the client took out from each request on.
func (p *Pool) Pruned() map[int][]string {
	pruned := make(map[int][]string)
	n := 0
	for i := range p.Units {
		u := &p.Units[i]
		if u.Of != entry.PartMore {
			n = 0
			if u.Of == entry.PartPruned {
				n = u.N
			}
		}
		if n != 0 {
			pruned[n] = append(pruned[n], u.Results...)
		}
	}
	return pruned
}

// Shifted are the requests before which Ambit decided to send otherwise what was sent before. What a person asked for between
// two requests is so from the thread's next one on.
func (p *Pool) Shifted() map[int]bool {
	shifted := make(map[int]bool)
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if !d.Stage.Boundary() {
			continue
		}
		n := d.N
		for j := 0; n == 0 && j < len(p.Exchanges); j++ {
			if x := &p.Exchanges[j]; x.Seq > d.Seq && x.Relation != nil && x.Relation.Thread == d.Thread && x.Relation.How != entry.Count {
				n = x.Relation.N
			}
		}
		shifted[n] = true
	}
	delete(shifted, 0)
	return shifted
}
