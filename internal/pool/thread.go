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

// Behind returns the numbers of the requests that rewinds left behind, and of those whose answers alone they did. A
// branch that goes on after a rewind is not behind: then both are alive.
func (p *Pool) Behind() (requests, answers map[int]bool) {
	requests, answers = make(map[int]bool), make(map[int]bool)
	children, agents, newest := make(map[int][]int), make(map[int][]int), make(map[int]int)
	for i := len(p.Exchanges) - 1; i >= 0; i-- {
		r := p.Exchanges[i].Relation
		switch {
		case r == nil || r.How == entry.Count:
			continue
		case r.Parent != 0:
			children[r.Parent] = append(children[r.Parent], r.N)
		case r.Owner != 0:
			agents[r.Owner] = append(agents[r.Owner], r.N)
		}
		newest[r.N] = max(newest[r.N], r.N)
		newest[r.Parent] = max(newest[r.Parent], newest[r.N])
	}
	var leave func(n int)
	leave = func(n int) {
		if requests[n] {
			return
		}
		requests[n] = true
		for _, c := range children[n] {
			leave(c)
		}
		for _, c := range agents[n] {
			leave(c)
		}
	}
	for i := range p.Exchanges {
		r := p.Exchanges[i].Relation
		if r == nil || r.How != entry.Rewind {
			continue
		}
		alive := false
		for _, c := range children[r.Parent] {
			switch {
			case c >= r.N:
			case newest[c] > r.N:
				alive = true
			default:
				leave(c)
			}
		}
		parent := p.Exchange(r.Parent)
		if !alive && parent != nil && parent.Relation != nil && parent.Relation.Messages >= r.Messages {
			answers[r.Parent] = true
			for _, c := range agents[r.Parent] {
				leave(c)
			}
		}
	}
	return requests, answers
}
