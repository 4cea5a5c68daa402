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
	b := branches{
		requests: make(map[int]bool), answers: make(map[int]bool),
		relations: make(map[int]*entry.Relation), children: make(map[int][]int), agents: make(map[int][]int), newest: make(map[int]int),
	}
	for i := range p.Exchanges {
		if r := p.Exchanges[i].Relation; r != nil && r.How != entry.Count {
			b.relations[r.N] = r
		}
	}
	for i := len(p.Exchanges) - 1; i >= 0; i-- {
		r := b.relations[p.Exchanges[i].Request.N]
		switch {
		case r == nil:
			continue
		case r.Parent != 0:
			b.children[r.Parent] = append(b.children[r.Parent], r.N)
		case r.Owner != 0:
			b.agents[r.Owner] = append(b.agents[r.Owner], r.N)
		}
		b.newest[r.N] = max(b.newest[r.N], r.N)
		b.newest[r.Parent] = max(b.newest[r.Parent], b.newest[r.N])
	}
	for i := range p.Exchanges {
		if r := b.relations[p.Exchanges[i].Request.N]; r != nil && r.How == entry.Rewind {
			b.rewind(r)
		}
	}
	return b.requests, b.answers
}

// branches is what Behind finds out.
type branches struct {
	requests, answers map[int]bool
	relations         map[int]*entry.Relation
	children          map[int][]int // of a request, newest first
	agents            map[int][]int // first requests of the sub-agents that work for it
	newest            map[int]int   // of a request and all that go on from it
}

// rewind leaves behind what goes on from where a rewind goes back to, and every other branch that has grown beside the
// way there.
func (b *branches) rewind(r *entry.Relation) {
	way := make(map[int]bool)
	for n := r.Parent; n != 0 && b.relations[n] != nil && !way[n]; n = b.relations[n].Parent {
		way[n] = true
		delete(b.requests, n)
		delete(b.answers, n)
	}
	alive := false
	for n := range way {
		for _, c := range b.children[n] {
			switch {
			case c >= r.N || way[c] || b.repeats(c, n) || n != r.Parent && !b.repeats(n, r.Parent) && len(b.children[c]) == 0:
			case b.newest[c] > r.N:
				alive = alive || n == r.Parent
			default:
				b.leave(c)
			}
		}
	}
	// The repetitions of a request are one place with it.
	for _, twin := range b.twins(r.Parent) {
		for _, c := range b.children[twin] {
			if c < r.N && !way[c] && !b.repeats(c, twin) && b.newest[c] <= r.N {
				b.leave(c)
			}
		}
	}
	parent := b.relations[r.Parent]
	if !alive && parent != nil && parent.Messages >= r.Messages {
		b.answers[r.Parent] = true
		for _, c := range b.agents[r.Parent] {
			b.leave(c)
		}
	}
}

// repeats reports whether two requests hold the same messages, one of which follows the other.
func (b *branches) repeats(n, parent int) bool {
	x, y := b.relations[n], b.relations[parent]
	return x != nil && y != nil && x.Chain != "" && x.Chain == y.Chain
}

// twins are a request and all that repeat it, or that it repeats.
func (b *branches) twins(n int) []int {
	for b.relations[n] != nil && b.repeats(n, b.relations[n].Parent) {
		n = b.relations[n].Parent
	}
	all := []int{n}
	for i := 0; i < len(all); i++ {
		for _, c := range b.children[all[i]] {
			if b.repeats(c, all[i]) {
				all = append(all, c)
			}
		}
	}
	return all
}

// leave leaves a request behind, all that go on from it, and who works for them.
func (b *branches) leave(n int) {
	left := []int{n}
	for i := 0; i < len(left); i++ {
		if n := left[i]; !b.requests[n] {
			b.requests[n] = true
			left = append(append(left, b.children[n]...), b.agents[n]...)
		}
	}
}
