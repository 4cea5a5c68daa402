package server

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/internal/thread"
)

// space is where the parent of a request is sought: among the requests of one session, when the client names it, or
// among all of a client that does not.
type space struct {
	key   string // under which the recorder keeps it
	index *thread.Index
	nodes map[number]int
	live  map[int]*exchange // requests that are not answered yet, by node
	read  func(session string) (*ambit.Recording, error)
	from  map[string]*ambit.Recording // sessions that were read again
	reads []string                    // their names, in order of reading
	used  int64                       // when, in uses of any space

	recent  map[int][]thread.Hash   // messages of the newest nodes, which are likely to be parents; those of a child begin in its parent's memory
	grown   map[int]bool            // the nodes whose memory a child has grown into
	order   []owned                 // of their nodes
	answers map[int]*reading.Spoken // of the newest nodes
	held    int                     // hashes in recent
}

// maxRecent bounds the hashes of messages that a space keeps, so that most parents need not be read again.
const maxRecent = 100_000

// owned is a node whose messages are kept, and how many of them are no other node's.
type owned struct{ at, own int }

// remember keeps the messages of a node. Those of a request that goes on take only as much memory as they are more.
func (s *space) remember(at, parent int, elements []thread.Hash) {
	own := len(elements)
	if base := s.recent[parent]; len(base) > 0 && len(base) <= own && !s.grown[parent] && slices.Equal(base, elements[:len(base)]) {
		elements, own = append(base, elements[len(base):]...), own-len(base)
		s.grown[parent] = true
	}
	s.recent[at], s.order = elements, append(s.order, owned{at, own})
	for s.held += own; s.held > maxRecent && len(s.order) > 1; s.order = s.order[1:] {
		s.held -= s.order[0].own
		delete(s.recent, s.order[0].at)
		delete(s.grown, s.order[0].at)
	}
}

// idle gives up what a space keeps only to be quick.
func (s *space) idle() {
	clear(s.from)
	s.reads = nil
}

// number names a request of any session.
type number struct {
	session string
	n       int
}

func newSpace(key string, read func(session string) (*ambit.Recording, error)) *space {
	s := &space{
		key: key, index: thread.New(), nodes: make(map[number]int), live: make(map[int]*exchange),
		read: read, from: make(map[string]*ambit.Recording), recent: make(map[int][]thread.Hash), grown: make(map[int]bool), answers: make(map[int]*reading.Spoken),
	}
	s.index.Fetch, s.index.Elements, s.index.Request = s.fetch, s.elements, s.request
	return s
}

const (
	// maxClients bounds the spaces of clients that name no session.
	maxClients = 64
	// maxFolded bounds the sessions of such a client in which parents are sought, when its space is made.
	maxFolded = 200
)

// space is the one of a key; it is made of these sessions, of the newest when they are many.
func (r *recorder) space(key string, sessions ...string) *space {
	s := r.spaces[key]
	if s == nil {
		s = newSpace(key, func(session string) (*ambit.Recording, error) {
			p, err := r.load(session)
			if p == nil {
				return nil, err
			}
			return ambit.RecordingOf(r.store, session, p), err
		})
		var pools []*pool.Pool
		live := r.underWay(key)
		for _, session := range r.folded(sessions, live) {
			if p, err := r.load(session); err == nil && p.Imported == nil && p.Purged == nil {
				pools = append(pools, p)
			}
		}
		s.known(live, pools...)
		r.spaces[key] = s
	}
	r.uses++
	s.used = r.uses
	return s
}

// folded are the sessions that a space is made of: the newest, and those in which something is under way.
func (r *recorder) folded(sessions []string, live map[number]*exchange) []string {
	folded := newest(sessions, maxFolded)
	for at := range live {
		if !slices.Contains(folded, at.session) {
			folded = append(folded, at.session)
		}
	}
	return folded
}

// underWay are the recorded requests of a space whose responses are still to come.
func (r *recorder) underWay(key string) map[number]*exchange {
	live := make(map[number]*exchange)
	for _, w := range r.open {
		for x := range w.live {
			if x.at != nil && x.at.key == key {
				live[number{w.id, x.n}] = x
			}
		}
	}
	return live
}

// forget drops a space that holds what could not be recorded. It is made again of what is.
func (r *recorder) forget(s *space) { delete(r.spaces, s.key) }

// thin drops the spaces of clients that were not heard of for the longest, where there are too many.
func (r *recorder) thin() {
	var idle []*space
	clients := 0
	for key, s := range r.spaces {
		if r.open[key] != nil {
			continue
		}
		if clients++; len(s.live) == 0 {
			idle = append(idle, s)
		}
	}
	if clients <= maxClients {
		return
	}
	slices.SortFunc(idle, func(a, b *space) int { return cmp.Compare(a.used, b.used) })
	for _, s := range idle[:min(len(idle), clients-maxClients)] {
		delete(r.spaces, s.key)
	}
}

// known takes in what pools say was placed before, in order of arrival. What is still under way stays so.
func (s *space) known(live map[number]*exchange, pools ...*pool.Pool) {
	type placed struct {
		p *pool.Pool
		x *pool.Exchange
	}
	var all []placed
	units := make(map[number][]*pool.Unit)
	for _, p := range pools {
		for i := range p.Exchanges {
			if r := p.Exchanges[i].Relation; r != nil && r.How != entry.Count {
				all = append(all, placed{p, &p.Exchanges[i]})
			}
		}
		for i := range p.Units {
			at := number{p.Session.ID, p.Units[i].N}
			units[at] = append(units[at], &p.Units[i])
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if a.p == b.p {
			return cmp.Compare(a.x.Request.N, b.x.Request.N)
		}
		return a.x.Request.Arrived.Compare(b.x.Request.Arrived)
	})
	for _, a := range all {
		session, r := a.p.Session.ID, a.x.Relation
		n := thread.Node{
			Key: r.Key, Session: session, N: r.N, At: a.x.Request.Arrived, Thread: r.Thread, Relation: thread.Relation(r.How), Length: r.Messages, Tools: r.Tools,
			Owner: s.node(session, r.Owner), Call: r.Call, About: s.node(session, r.About),
		}
		if sum, err := hex.DecodeString(r.Chain); err == nil {
			copy(n.Chain[:], sum)
		}
		at := s.index.Known(n, s.node(session, r.Parent))
		s.nodes[number{session, r.N}] = at
		s.carried(at, units[number{session, r.N}])
		if x := live[number{session, r.N}]; x != nil {
			s.live[at], x.at, x.looked, x.finished = x, s, 0, false
			continue
		}
		s.answered(at, units[number{session, r.N}])
	}
}

// carried tells the index of the messages that were new in a request.
func (s *space) carried(at int, units []*pool.Unit) {
	for i, u := range units {
		if h, ok := hashOf(u.Element); ok && u.Of == entry.PartMessage {
			calls, results := idsOf(units[i:])
			s.index.Carried(at, thread.Hash(h), append(calls, results...))
		}
	}
}

// answered tells the index of a request's answer, as far as its unit does. A request without one was given up.
func (s *space) answered(at int, units []*pool.Unit) {
	for i, u := range units {
		if u.Of != entry.PartAnswer {
			continue
		}
		a := thread.Answer{ID: u.Name, Whole: u.Whole}
		calls, _ := idsOf(units[i:])
		for _, id := range calls {
			a.Calls = append(a.Calls, thread.Call{ID: id})
		}
		s.index.Answered(at, a)
		return
	}
	s.index.Failed(at)
}

// node is the node of a request, thread.None for number 0 and for one that is not here.
func (s *space) node(session string, n int) int {
	if at, ok := s.nodes[number{session, n}]; ok {
		return at
	}
	return thread.None
}

// maxReads bounds the sessions that a space keeps when it had to read them.
const maxReads = 16

// recording reads a session again, once.
func (s *space) recording(node thread.Node) *ambit.Recording {
	rec := s.from[node.Session]
	if rec == nil || rec.Last() < node.N {
		rec, _ = s.read(node.Session) // what cannot be read is evidence that is missing, no more
		if _, again := s.from[node.Session]; !again {
			s.reads = append(s.reads, node.Session)
		}
		if s.from[node.Session] = rec; len(s.reads) > maxReads {
			delete(s.from, s.reads[0])
			s.reads = s.reads[1:]
		}
	}
	return rec
}

// fetch gives the index an answer that is recorded.
func (s *space) fetch(at int) (thread.Answer, bool) {
	node := s.index.Node(at)
	rec := s.recording(node)
	if rec == nil {
		return thread.Answer{}, false
	}
	a, err := rec.Answer(context.Background(), node.N)
	return reading.Answer(a), err == nil
}

// elements gives the index the messages of a request.
func (s *space) elements(at int) []thread.Hash {
	if hashes, ok := s.recent[at]; ok {
		return hashes
	}
	node := s.index.Node(at)
	rec := s.recording(node)
	if rec == nil {
		return nil
	}
	asked, err := rec.Asked(context.Background(), node.N)
	if err != nil {
		return nil
	}
	return reading.Hashes(asked.Elements.Messages)
}

// request gives the index a request that is recorded.
func (s *space) request(at int) (thread.Request, bool) {
	node := s.index.Node(at)
	rec := s.recording(node)
	if rec == nil {
		return thread.Request{}, false
	}
	asked, err := rec.Asked(context.Background(), node.N)
	if err != nil {
		return thread.Request{}, false
	}
	messages := asked.Elements.Messages
	return thread.Request{
		Elements: reading.Hashes(messages), Read: func(i int) thread.Message { return reading.Message(asked.Message(messages[i])) },
	}, true
}
