package server

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/thread"
	"ambit/provider"
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

	recent  map[int][]thread.Hash // messages of the newest nodes, which are likely to be parents
	order   []int                 // of their nodes
	answers map[int]*spoken       // of the newest nodes
	held    int                   // hashes in recent
}

// maxRecent bounds the hashes of messages that a space keeps, so that most parents need not be read again.
const maxRecent = 100_000

// remember keeps the messages of a node.
func (s *space) remember(at int, elements []thread.Hash) {
	s.recent[at], s.order = elements, append(s.order, at)
	for s.held += len(elements); s.held > maxRecent && len(s.order) > 1; s.order = s.order[1:] {
		s.held -= len(s.recent[s.order[0]])
		delete(s.recent, s.order[0])
	}
}

// number names a request of any session.
type number struct {
	session string
	n       int
}

func newSpace(key string, read func(session string) (*ambit.Recording, error)) *space {
	s := &space{
		key: key, index: thread.New(), nodes: make(map[number]int), live: make(map[int]*exchange),
		read: read, from: make(map[string]*ambit.Recording), recent: make(map[int][]thread.Hash), answers: make(map[int]*spoken),
	}
	s.index.Fetch, s.index.Elements, s.index.Request = s.fetch, s.elements, s.request
	return s
}

// known takes in what pools say was placed before, in order of arrival.
func (s *space) known(pools ...*pool.Pool) {
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
			Key: r.Key, Session: session, N: r.N, Thread: r.Thread, Relation: thread.Relation(r.How), Length: r.Messages, Tools: r.Tools,
			Owner: s.node(session, r.Owner), Call: r.Call, About: s.node(session, r.About),
		}
		if sum, err := hex.DecodeString(r.Chain); err == nil {
			copy(n.Chain[:], sum)
		}
		at := s.index.Known(n, s.node(session, r.Parent))
		s.nodes[number{session, r.N}] = at
		s.carried(at, units[number{session, r.N}])
		s.answered(at, units[number{session, r.N}])
	}
}

// carried tells the index of the messages that were new in a request.
func (s *space) carried(at int, units []*pool.Unit) {
	for _, u := range units {
		if h, ok := hashOf(u.Element); ok && u.Of == entry.PartMessage {
			s.index.Carried(at, thread.Hash(h), slices.Concat(u.Calls, u.Results))
		}
	}
}

// answered tells the index of a request's answer, as far as its unit does. A request without one was given up.
func (s *space) answered(at int, units []*pool.Unit) {
	for _, u := range units {
		if u.Of != entry.PartAnswer {
			continue
		}
		a := thread.Answer{ID: u.Name, Whole: u.Whole}
		for _, id := range u.Calls {
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

// recording reads a session again, once.
func (s *space) recording(node thread.Node) *ambit.Recording {
	rec := s.from[node.Session]
	if rec == nil || rec.Last() < node.N {
		rec, _ = s.read(node.Session) // what cannot be read is evidence that is missing, no more
		s.from[node.Session] = rec
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
	return answerOf(a), err == nil
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
	return hashesOf(asked.Elements.Messages)
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
		Elements: hashesOf(messages), Read: func(i int) thread.Message { return messageOf(asked.Message(messages[i])) },
	}, true
}

func hashesOf(elements []provider.Element) []thread.Hash {
	hashes := make([]thread.Hash, len(elements))
	for i, el := range elements {
		hashes[i] = thread.Hash(el.Hash)
	}
	return hashes
}

// look tells the index what has come so far of answers that are still under way: a client goes on as soon as it has
// read the last event, which may be before the recorder has.
func (s *space) look() (more bool) {
	for at, x := range s.live {
		if !s.index.Pending(at) {
			continue
		}
		left := x.ctx.Err() != nil // before the look: what came until then is all
		body, contentType, encoding := x.sofar()
		if len(body) > x.looked {
			x.looked, more = len(body), true
			plain, _ := provider.Decode(body, encoding, maxDecoded) // what could be decoded, of what came
			s.index.Answering(at, answerOf(x.family.Response(x.q, contentType, plain).Answer))
		}
		if left && s.index.Pending(at) {
			s.index.Failed(at)
			more = true
		}
	}
	return more
}

// answerOf is what the index reads of an answer.
func answerOf(a provider.Answer) thread.Answer {
	b := thread.Answer{ID: a.ID, Text: a.Text, Whole: a.Whole}
	for _, h := range a.Elements {
		b.Elements = append(b.Elements, thread.Hash(h))
	}
	for _, call := range a.Calls {
		c := thread.Call{ID: call.ID}
		for _, text := range call.Texts("") {
			c.Args = append(c.Args, text.Text)
		}
		b.Calls = append(b.Calls, c)
	}
	return b
}

// messageOf is what the index reads of a message.
func messageOf(m provider.Message) thread.Message {
	var said []byte
	for _, text := range m.Texts {
		if text.Said == provider.SaidUser || text.Said == provider.SaidAssistant {
			said = append(append(said, text.Text...), '\n')
		}
	}
	ids := slices.Clone(m.Results)
	for _, call := range m.Calls {
		if call.ID != "" {
			ids = append(ids, call.ID)
		}
	}
	return thread.Message{IDs: ids, Said: string(said)}
}
