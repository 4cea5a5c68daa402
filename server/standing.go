package server

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/excerpt"
	"ambit/internal/pool"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/internal/token"
	"ambit/provider"
	"ambit/unit"
)

// standing is what a thread's requests are edited by, and what of it decides what comes next: the edits that hold, what its
// messages are, and the account of what it cost.
type standing struct {
	name  string
	main  bool // it is no sub-agent's and not aside
	edits *thread.Edits
	stale []entry.Seq        // of these, those that did not hold in the newest request
	lent  map[entry.Seq]bool // of these, those of the thread that it is about

	facts    map[provider.Hash]selection.Message
	seen     map[provider.Hash][]string // the pins that messages hold, of those that were looked at
	seenPins int                        // how many pins there were then

	at      time.Time // of its newest request; zero for none
	hour    bool      // its client asks for prompts to be kept for an hour
	long    bool      // it has the model's longer window
	limit   int       // tokens that the provider named as its limit when it refused a request; 0 while it did not
	ends    []end     // where requests ended whose prefixes the cache may hold as they would be sent now
	head    int       // tokens of a request beside its messages; 0 while unknown
	sent    int       // estimate of the newest request as it was sent
	shown   int       // estimate of the messages of the newest request as it was sent
	whole   int       // of that request as the client made it, with the head
	input   int64     // the provider's count of the newest request; 0 when unknown
	real    int64     // the provider's count of the newest request and its answer; 0 since a boundary
	account float64   // in USD, as entry.Decision has it
	spent   float64
	pending float64 // what the newest request is likely to cost, until the provider has counted it
}

// end is where a request ended, and when it was sent.
type end struct {
	messages int
	at       time.Time
}

// lasting are the ends that the cache still holds, of what a request shares with the one before.
func (s *standing) lasting(m pricing.Model, at time.Time, shared int) (ends []int) {
	life := s.life(m)
	for _, e := range s.ends {
		if e.messages <= shared && (life == 0 || at.Sub(e.at) < life) {
			ends = append(ends, e.messages)
		}
	}
	return ends
}

// passed notes where a request ends, of which so many messages are sent as they were before.
func (s *standing) passed(messages, same int, at time.Time) {
	s.ends = slices.DeleteFunc(s.ends, func(e end) bool { return e.messages > same })
	if n := len(s.ends); n > maxEnds {
		s.ends = slices.Delete(s.ends, 0, n-maxEnds)
	}
	s.ends = append(s.ends, end{messages, at})
}

// maxEnds bounds the ends that are kept of a thread.
const maxEnds = 256

// standingOf is what stands for a thread of a session. What a thread is about that stands aside counts for it, too.
func (r *recorder) standingOf(w *writing, name, about string) (*standing, error) {
	if s := w.standing[name]; s != nil {
		return s, nil
	}
	p, err := r.pool(w)
	if err != nil {
		return nil, err
	}
	s := &standing{
		name: name, edits: new(thread.Edits), lent: make(map[entry.Seq]bool), facts: make(map[provider.Hash]selection.Message),
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Thread != name && (about == "" || e.Thread != about) || e.Body == nil {
			continue
		}
		changes, err := r.changes(w, e.Body)
		if err != nil {
			return nil, fmt.Errorf("edits of %s: %w", w.id, err)
		}
		s.edits.Add(e.Seq, changes...)
		s.lent[e.Seq] = e.Thread != name
	}
	s.remember(p)
	w.standing[name] = s
	return s, nil
}

// own are those of these edits that are the thread's: what another one is about stands for it, and is not its to take back.
func (s *standing) own(edits []entry.Seq) []entry.Seq {
	return slices.DeleteFunc(edits, func(e entry.Seq) bool { return s.lent[e] })
}

// changes reads the changes of an edit.
func (r *recorder) changes(w *writing, b *entry.Body) ([]entry.Change, error) {
	data, err := r.store.Body(context.Background(), w.id, *b)
	if err != nil {
		return nil, err
	}
	return entry.DecodeChanges(data)
}

// remember takes the account and the counts of a thread from what is recorded.
func (s *standing) remember(p *pool.Pool) {
	for _, t := range p.Threads() {
		if t.Name == s.name {
			s.main = t.How == entry.Root
		}
	}
	boundary := 0 // the newest request before which one was
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Thread == s.name && d.Stage.Boundary() {
			boundary = d.N
		}
	}
	for i := range p.Exchanges {
		x := &p.Exchanges[i]
		if x.Relation == nil || x.Relation.Thread != s.name || x.Relation.How == entry.Count {
			continue
		}
		s.at = x.Request.Arrived
		if x.Request.N == boundary {
			s.ends = nil
		}
		s.ends = append(s.ends, end{x.Relation.Messages, x.Request.Arrived})
		for j := range x.Sent {
			s.whole, s.account, s.spent = x.Sent[j].Whole, x.Sent[j].Account, x.Sent[j].Spent
		}
		if a := x.Response; a != nil && a.Usage != nil {
			s.hour = s.hour || a.Usage.CacheWriteHour > 0
			if s.real = a.Usage.Input + a.Usage.Output; x.Request.N < boundary {
				s.real = 0
			}
			s.input = a.Usage.Input
		}
	}
}

// pool is a session's state as it is recorded; one that is about to begin has none.
func (r *recorder) pool(w *writing) (*pool.Pool, error) {
	if w.first != nil {
		return pool.New(), nil
	}
	return r.load(w.id)
}

// fact is what is decided by of one message of a request.
func (s *standing) fact(a *asking, i int, count *token.Model) selection.Message {
	h := a.elements.Messages[i].Hash
	m, ok := s.facts[h]
	if !ok {
		m = factOf(&a.elements.Messages[i], a.message(i), count)
		s.facts[h] = m
	}
	return m
}

// factOf is what is decided by of a message.
func factOf(el *provider.Element, said provider.Message, count *token.Model) selection.Message {
	u := conversation.Unit("", said)
	m := selection.Message{Hash: el.Hash, Role: u.Role, Calls: u.Calls(), Results: u.Results(), Tokens: weigh(count, said, el.Length), Made: new(selection.Made)}
	m.Summary = u.Role == unit.User && slices.ContainsFunc(said.Texts, func(t provider.Text) bool { return excerpt.Brought(t.Text) })
	switch said.Fixed {
	case "":
	case provider.Reasoned:
		m.Fixed = selection.Reasoned
	default:
		m.Fixed = selection.Kept
	}
	return m
}

// learn makes the facts of a request's messages that are not known, on all processors, where they are many: the first request of
// a session that was let go waits for it.
func (s *standing) learn(a *asking, count *token.Model) {
	if len(a.elements.Messages)-len(s.facts) < many {
		return
	}
	var anew []int
	for i := range a.elements.Messages {
		if _, ok := s.facts[a.elements.Messages[i].Hash]; !ok {
			anew = append(anew, i)
		}
	}
	said, facts := make([]provider.Message, len(anew)), make([]selection.Message, len(anew))
	var wait sync.WaitGroup
	readers := runtime.GOMAXPROCS(0)
	for first := range readers {
		wait.Go(func() {
			for k := first; k < len(anew); k += readers {
				var ok bool
				if said[k], ok = a.messages[anew[k]]; !ok { // which nobody changes until all is done
					said[k] = a.decode(anew[k])
				}
				facts[k] = factOf(&a.elements.Messages[anew[k]], said[k], count)
			}
		})
	}
	wait.Wait()
	for k, i := range anew {
		a.messages[i], s.facts[facts[k].Hash] = said[k], facts[k]
	}
}

// many is from how many messages on it is worth to read them side by side.
const many = 64

// weigh estimates a message. What it holds beside public text is counted by its bytes, three to a token.
func weigh(count *token.Model, m provider.Message, bytes int) int {
	c := token.Content{Messages: 1, Calls: len(m.Calls), Results: len(m.Results)}
	for _, t := range m.Texts {
		if t.Said != provider.SaidArgument {
			c.Say(t.Text)
			bytes -= len(t.Text)
		}
	}
	for _, call := range m.Calls {
		c.Say(call.Name)
		c.Say(string(call.Args))
		bytes -= len(call.Args)
	}
	n := count.Unanchored(c).EstTokens
	if m.Fixed == provider.Reasoned {
		n += max(0, bytes) / bytesOfReasoning
	}
	return n
}

// bytesOfReasoning is how many bytes of a message that is no public text count as a token: signatures and what is encrypted
// are longer than what they stand for.
const bytesOfReasoning = 6

// model is the one that a request asks for, with the window that it has.
func (s *standing) model(x *exchange) pricing.Model {
	m, ok := pricing.Lookup(x.q.Model, x.start)
	if !ok || x.q.Model == "" {
		return pricing.Model{}
	}
	if s.long || bytes.Contains([]byte(x.header.Get("Anthropic-Beta")), []byte("context-1m")) {
		m.Window = max(m.Window, m.LongWindow)
	}
	if s.limit > 0 {
		m.Window = min(m.Window, s.limit)
	}
	return m
}

// life is for how long what was sent last is cached.
func (s *standing) life(m pricing.Model) time.Duration {
	if s.hour && m.Rules.LifeHour > 0 {
		return m.Rules.LifeHour
	}
	return m.Rules.Life
}

// cold reports whether the provider's cache holds nothing of the thread any more.
func (s *standing) cold(m pricing.Model, at time.Time) bool {
	life := s.life(m)
	return s.at.IsZero() || life > 0 && at.Sub(s.at) >= life
}

// charge adds to the account what a whole request costs that only grew, and takes note of what the one costs that is sent.
func (s *standing) charge(m pricing.Model, cold bool, whole, sent, kept int) {
	before := min(s.whole, whole)
	if cold {
		before, kept = 0, 0
	}
	s.account += m.Price.Of(pricing.Charge{Read: before, Write: whole - before})
	s.pending = m.Price.Of(pricing.Charge{Read: kept, Write: max(0, sent-kept)})
	s.whole = whole
}

// counted takes what the provider counted of the newest request.
func (s *standing) counted(m pricing.Model, u *entry.Usage, answered bool) {
	switch {
	case u != nil && u.Input > 0:
		s.spent += m.Price.Of(pricing.Charge{
			Fresh: max(0, int(u.Input-u.CacheRead-u.CacheWrite)), Read: int(u.CacheRead), Write: int(u.CacheWrite - u.CacheWriteHour), WriteHour: int(u.CacheWriteHour),
		})
		s.real, s.input = u.Input+u.Output, u.Input
		s.head = max(0, int(u.Input)-s.shown)
		s.hour = s.hour || u.CacheWriteHour > 0
		s.long = s.long || m.Window > 0 && int(u.Input) > m.Window
	case answered:
		s.spent += s.pending
	}
	s.pending = 0
}
