package pressure

import (
	"slices"
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

// Thread is what a thread's requests are edited by, and what of it decides what comes next: the edits that hold, what its
// messages are, and the account of what it cost. Who plans a request and learns what came of it does so in order.
type Thread struct {
	Main bool // it is no sub-agent's and not aside: what is pinned has to stand in it

	name  string
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
	beside  int       // how long that was in its body, in bytes, when it was known
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
func (t *Thread) lasting(m pricing.Model, at time.Time, shared int) (ends []int) {
	life := t.life(m)
	for _, e := range t.ends {
		if e.messages <= shared && (life == 0 || at.Sub(e.at) < life) {
			ends = append(ends, e.messages)
		}
	}
	return ends
}

// passed notes where a request ends, of which so many messages are sent as they were before.
func (t *Thread) passed(messages, same int, at time.Time) {
	t.ends = slices.DeleteFunc(t.ends, func(e end) bool { return e.messages > same })
	if n := len(t.ends); n > maxEnds {
		t.ends = slices.Delete(t.ends, 0, n-maxEnds)
	}
	t.ends = append(t.ends, end{messages, at})
}

// maxEnds bounds the ends that are kept of a thread.
const maxEnds = 256

// Stands is what stands for a thread of a session, as it is folded into p. What a thread is about that stands aside counts for
// it, too; about is empty where there is none. The bodies of edits are read through read.
func Stands(p *pool.Pool, name, about string, read func(b entry.Body) ([]byte, error)) (*Thread, error) {
	t := &Thread{
		name: name, edits: new(thread.Edits), lent: make(map[entry.Seq]bool), facts: make(map[provider.Hash]selection.Message),
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Thread != name && (about == "" || e.Thread != about) || e.Body == nil {
			continue
		}
		data, err := read(*e.Body)
		if err != nil {
			return nil, err
		}
		changes, err := entry.DecodeChanges(data)
		if err != nil {
			return nil, err
		}
		t.edits.Add(e.Seq, changes...)
		t.lent[e.Seq] = e.Thread != name
	}
	t.remember(p)
	return t, nil
}

// Beside is a thread that asks something about this one, as it stands now: what is edited here is edited there, too.
func (t *Thread) Beside(name string) *Thread {
	b := &Thread{
		name: name, edits: t.edits.Clone(), lent: make(map[entry.Seq]bool), facts: t.facts, at: t.at, hour: t.hour, long: t.long, limit: t.limit,
		ends: slices.Clone(t.ends), head: t.head, beside: t.beside,
	}
	for _, e := range b.edits.Standing() {
		b.lent[e] = true
	}
	return b
}

// Len is how many changes stand.
func (t *Thread) Len() int { return t.edits.Len() }

// own are those of these edits that are the thread's: what another one is about stands for it, and is not its to take back.
func (t *Thread) own(edits []entry.Seq) []entry.Seq {
	return slices.DeleteFunc(edits, func(e entry.Seq) bool { return t.lent[e] })
}

// remember takes the account and the counts of a thread from what is recorded.
func (t *Thread) remember(p *pool.Pool) {
	for _, of := range p.Threads() {
		if of.Name == t.name {
			t.Main = of.How == entry.Root
		}
	}
	boundary := 0 // the newest request before which one was
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Thread == t.name && d.Stage.Boundary() {
			boundary = d.N
		}
	}
	for i := range p.Exchanges {
		x := &p.Exchanges[i]
		if x.Relation == nil || x.Relation.Thread != t.name || x.Relation.How == entry.Count {
			continue
		}
		t.at = x.Request.Arrived
		if x.Request.N == boundary {
			t.ends = nil
		}
		t.ends = append(t.ends, end{x.Relation.Messages, x.Request.Arrived})
		for j := range x.Sent {
			t.whole, t.account, t.spent = x.Sent[j].Whole, x.Sent[j].Account, x.Sent[j].Spent
		}
		if a := x.Response; a != nil && a.Usage != nil {
			t.hour = t.hour || a.Usage.CacheWriteHour > 0
			if t.real = a.Usage.Input + a.Usage.Output; x.Request.N < boundary {
				t.real = 0
			}
			t.input = a.Usage.Input
		}
	}
}

// fact is what is decided by of one message of a request.
func (t *Thread) fact(r *Request, i int, count *token.Model) selection.Message {
	h := r.Elements.Messages[i].Hash
	m, ok := t.facts[h]
	if !ok {
		m = factOf(&r.Elements.Messages[i], r.Message(i), count)
		t.facts[h] = m
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
func (t *Thread) model(c *Case) pricing.Model {
	m, ok := pricing.Lookup(c.Model, c.At)
	if !ok || c.Model == "" {
		m = pricing.Model{}
	}
	if t.long || c.Long {
		m.Window = max(m.Window, m.LongWindow)
	}
	if c.Window > 0 {
		m.Window = c.Window
	}
	if t.limit > 0 && m.Window > 0 {
		m.Window = min(m.Window, t.limit)
	}
	return m
}

// life is for how long what was sent last is cached.
func (t *Thread) life(m pricing.Model) time.Duration {
	if t.hour && m.Rules.LifeHour > 0 {
		return m.Rules.LifeHour
	}
	return m.Rules.Life
}

// cold reports whether the provider's cache holds nothing of the thread any more.
func (t *Thread) cold(m pricing.Model, at time.Time) bool {
	life := t.life(m)
	return t.at.IsZero() || life > 0 && at.Sub(t.at) >= life
}

// charge adds to the account what a whole request costs that only grew, and takes note of what the one costs that is sent.
func (t *Thread) charge(m pricing.Model, cold bool, whole, sent, kept int) {
	before := min(t.whole, whole)
	if cold {
		before, kept = 0, 0
	}
	t.account += m.Price.Of(pricing.Charge{Read: before, Write: whole - before})
	t.pending = m.Price.Of(pricing.Charge{Read: kept, Write: max(0, sent-kept)})
	t.whole = whole
}

// counted takes what the provider counted of the newest request; u is nil where it counted nothing.
func (t *Thread) counted(m pricing.Model, u *entry.Usage, answered bool) {
	switch {
	case u != nil && u.Input > 0:
		t.spent += m.Price.Of(pricing.Charge{
			Fresh: max(0, int(u.Input-u.CacheRead-u.CacheWrite)), Read: int(u.CacheRead), Write: int(u.CacheWrite - u.CacheWriteHour), WriteHour: int(u.CacheWriteHour),
		})
		t.real, t.input = u.Input+u.Output, u.Input
		t.head = max(0, int(u.Input)-t.shown)
		t.hour = t.hour || u.CacheWriteHour > 0
		t.long = t.long || m.Window > 0 && int(u.Input) > m.Window
	case answered:
		t.spent += t.pending
	}
	t.pending = 0
}
