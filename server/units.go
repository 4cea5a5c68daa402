package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/provider"
)

// relate stages where a request belongs, and its messages that are new.
func (r *recorder) relate(x *exchange, a *asking, p thread.Place) {
	w := x.in
	if a.wire == "" {
		if a.strange {
			w.facts = append(w.facts, &entry.Unit{N: x.n, Of: entry.PartRequest, Length: int64(len(x.request.bytes))})
		}
		return
	}
	s, q := x.at, a.request()
	f := &entry.Relation{
		N: x.n, How: entry.Relating(p.Relation), Evidence: string(p.Evidence), Call: p.Call, Alias: w.alias(x.who.alias),
		Key: q.Key, Messages: len(a.Hashes), Tools: q.Tools,
		Parent: s.number(p.Parent), Owner: s.number(p.Owner), About: s.number(p.About),
	}
	if p.Parent != thread.None {
		f.Thread = s.index.Node(p.Parent).Thread
	}
	held := s.heldBy(p.Parent, a.Hashes)
	if x.q.Type == provider.TypeCountTokens {
		f.How, f.Call, f.Owner, f.About = entry.Count, "", 0, 0
	} else {
		if f.Thread == "" {
			w.threads++
			w.talks = w.talks || f.How != entry.Side
			f.Thread = pool.ThreadName(w.threads)
		}
		at := s.index.Add(q, p, thread.Node{Session: w.id, N: x.n, Thread: f.Thread})
		s.nodes[number{w.id, x.n}], s.live[at] = at, x
		s.remember(at, p.Parent, a.Hashes)
		node := s.index.Node(at)
		f.Messages, f.Chain = node.Length, hex.EncodeToString(node.Chain[:])
	}
	x.thread, x.belongs, x.follows = f.Thread, f, p.Parent
	if f.About != 0 {
		x.about = s.index.Node(p.About).Thread
	}
	w.facts = append(w.facts, f)
	if f.How == entry.Count {
		return // what is only counted is said to nobody
	}
	if a.unread() {
		w.facts = append(w.facts, &entry.Unit{N: x.n, Of: entry.PartMessage, Thread: f.Thread, Unknown: true})
	}
	if f.How == entry.Rewind {
		w.forgetBeside(f.Thread, s.above(p.Parent))
	}
	for i, el := range a.Elements.Messages {
		if k := (known{f.Thread, el.Hash}); held(i) && (len(w.purged) == 0 || !w.purged[k]) || w.known[k].n != 0 {
			continue
		}
		w.learn(known{f.Thread, el.Hash}, x.n)
		m := a.Message(i)
		if !s.repeats(m, p.Parent, q.Key) {
			w.facts = append(w.facts, reading.MessageUnits(x.n, x.thread, el, m)...)
		}
	}
}

// heldBy tells which of a request's messages its parent held.
func (s *space) heldBy(parent int, hashes []thread.Hash) func(i int) bool {
	if parent == thread.None {
		return func(int) bool { return false }
	}
	node := s.index.Node(parent)
	if node.Length <= len(hashes) && thread.ChainOf(hashes[:node.Length]) == node.Chain {
		return func(i int) bool { return i < node.Length }
	}
	held := make(map[thread.Hash]bool)
	for _, h := range s.elements(parent) {
		held[h] = true
	}
	return func(i int) bool { return held[hashes[i]] }
}

// above are the numbers of a node's request and of all that it goes on from.
func (s *space) above(at int) map[int]bool {
	numbers := make(map[int]bool)
	for _, node := range s.index.Above(at) {
		numbers[s.number(node)] = true
	}
	return numbers
}

// number is the number of a node's request, 0 for none.
func (s *space) number(at int) int {
	if at == thread.None {
		return 0
	}
	return s.index.Node(at).N
}

// repeats reports whether a message is an answer that was recorded: the parent's, or that of the request whose answer
// made the message's first call.
func (s *space) repeats(m provider.Message, parent int, key string) bool {
	if !reading.MayRepeat(m) {
		return false
	}
	from := parent
	for _, call := range m.Calls {
		if at := s.index.Origin(key, reading.ID(call.ID), parent); at != thread.None {
			from = at
		}
	}
	if from == thread.None {
		return false
	}
	said := s.answers[from]
	if said == nil {
		if said = s.spoken(from); said == nil {
			return false
		}
	}
	return said.Holds(m)
}

// maxSpoken bounds the answers whose text a space keeps to know them again.
const maxSpoken = 64

// say keeps what was answered to a node.
func (s *space) say(at int, a provider.Answer) *reading.Spoken {
	said := reading.SpokenOf(a)
	if len(s.answers) >= maxSpoken {
		oldest := at
		for other := range s.answers {
			oldest = min(oldest, other)
		}
		delete(s.answers, oldest)
	}
	s.answers[at] = said
	return said
}

// spoken reads an answer: what has come of one that is under way, or again one that is recorded; nil when there is none.
func (s *space) spoken(at int) *reading.Spoken {
	if x := s.live[at]; x != nil {
		body, contentType, encoding := x.sofar()
		plain, _ := provider.Decode(body, encoding, maxDecoded)
		return reading.SpokenOf(x.family.Response(x.q, contentType, plain).Answer)
	}
	node := s.index.Node(at)
	rec := s.recording(node)
	if rec == nil {
		return nil
	}
	a, err := rec.Answer(context.Background(), node.N)
	if err != nil {
		return nil
	}
	return s.say(at, a)
}

// answered tells the index what came back for a request; nil when that is not known.
func (r *recorder) answered(x *exchange, a *provider.Answer) {
	if x.at == nil {
		return
	}
	for at, other := range x.at.live {
		if other == x {
			delete(x.at.live, at)
		}
	}
	s := r.spaces[x.at.key] // another one, when that was made again
	if s == nil {
		return
	}
	at := s.node(x.in.id, x.n)
	switch {
	case at == thread.None:
	case a == nil || x.status != 200:
		s.index.Failed(at)
	default:
		s.index.Answered(at, reading.Answer(*a))
		s.say(at, *a)
	}
}

// answerUnits are the units of a response: its answer, or its body when that is not understood.
func answerUnits(x *exchange, body []byte, a provider.Answer) []entry.Fact {
	if len(x.response.bytes) == 0 {
		return nil
	}
	if len(a.Texts()) == 0 && len(a.Calls) == 0 && a.ID == "" && !a.Unknown && !a.Whole {
		if json.Valid(body) || streamed(x, body) {
			if x.at == nil || x.q.Type == provider.TypeCountTokens || x.status != http.StatusOK || len(body) < len(`{"a":1}`) {
				return nil
			}
			return []entry.Fact{&entry.Unit{N: x.n, Of: entry.PartAnswer, Thread: x.thread, Role: "assistant", Unknown: true}}
		}
		return []entry.Fact{&entry.Unit{N: x.n, Of: entry.PartResponse, Thread: x.thread, Length: int64(len(x.response.bytes))}}
	}
	return reading.AnswerUnits(x.n, x.thread, a)
}

// streamed reports whether a response is a stream of events.
func streamed(x *exchange, body []byte) bool {
	if strings.HasPrefix(x.back.Get("Content-Type"), "text/event-stream") {
		for range provider.Events(body) {
			return true
		}
	}
	return false
}

// hashOf reads the hash of an element as entries spell it.
func hashOf(digits string) (provider.Hash, bool) {
	h, ok := thread.ParseHash(digits)
	return provider.Hash(h), ok
}

// idsOf are the IDs of the first of these units.
func idsOf(units []*pool.Unit) (calls, results []string) {
	for i, u := range units {
		if i > 0 && u.Of != entry.PartMore {
			break
		}
		calls, results = append(calls, u.Calls...), append(results, u.Results...)
	}
	return calls, results
}
