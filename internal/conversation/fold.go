package conversation

import (
	"slices"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/provider"
	"ambit/unit"
)

// Reader reads what entries point at.
type Reader struct {
	// Message reads a unit's message.
	Message func(u *pool.Unit) (provider.Message, error)
	// Answer decodes the answer to a request that passed.
	Answer func(n int) (provider.Answer, error)
	// Body reads a request that passed: its canonical messages, with what each says. It is nil where the recording has
	// none, so that only units tell what was said.
	Body func(n int) ([]Element, error)
}

// Element is a canonical message of a request.
type Element struct {
	Hash    provider.Hash
	Message func() provider.Message
}

// Of makes the conversations of a session, in the order in which their threads begin. What cannot be read stands as an
// empty message and is counted.
func Of(p *pool.Pool, read Reader) []*Conversation {
	f := folding{pool: p, read: read, threads: make(map[string]*growing), units: make(map[int][]*pool.Unit)}
	for i := range p.Units {
		u := &p.Units[i]
		f.units[u.N] = append(f.units[u.N], u)
	}
	pruned := p.Pruned()
	for i := range p.Exchanges {
		x := &p.Exchanges[i]
		if r := x.Relation; r != nil && r.Thread != "" && r.How != entry.Count {
			f.turn(f.thread(r), x, pruned[r.N])
		}
	}
	var all []*Conversation
	for _, g := range f.order {
		all = append(all, &g.Conversation)
	}
	return all
}

// folding is a session while its conversations are made.
type folding struct {
	pool    *pool.Pool
	read    Reader
	threads map[string]*growing
	order   []*growing
	units   map[int][]*pool.Unit // by the number of their request
}

// growing is a conversation while it is made.
type growing struct {
	Conversation
	at      map[int]int    // turns by number
	after   map[int][]int  // results that were told with a turn's answer, by turn
	places  map[place]int  // messages by where they stand in a recording
	hashes  map[twin]int   // messages by what they say
	results map[string]int // messages by the call whose result they hold
}

// place is where a recording has a message.
type place struct {
	in             entry.Seq
	offset, length int64
	at             string
}

// twin is a message by what it says, and which of those that say the same it is.
type twin struct {
	hash provider.Hash
	n    int
}

func (f *folding) thread(r *entry.Relation) *growing {
	g := f.threads[r.Thread]
	if g == nil {
		g = &growing{
			Conversation: Conversation{Thread: r.Thread, How: r.How},
			at:           make(map[int]int), after: make(map[int][]int), places: make(map[place]int), hashes: make(map[twin]int), results: make(map[string]int),
		}
		f.threads[r.Thread] = g
		f.order = append(f.order, g)
	}
	if g.How == entry.Side && r.Parent != 0 && r.How != entry.Again {
		g.How = entry.Root
	}
	return g
}

// turn takes in one exchange.
func (f *folding) turn(g *growing, x *pool.Exchange, pruned []string) {
	r := x.Relation
	t := Turn{
		N: r.N, At: x.Request.Arrived, Provider: x.Request.Provider, Type: x.Request.Type, Model: x.Request.Model, Effort: x.Request.Effort, How: r.How,
		Parent: -1, Answer: -1, Passed: x.Request.Body != nil,
	}
	if a := x.Response; a != nil {
		t.End, t.Usage = a.End, a.Usage
		if asked := time.Duration(a.AskedMS) * time.Millisecond; asked > 0 {
			t.At = t.At.Add(asked)
		}
		t.Took = max(0, time.Duration(a.DurationMS-a.AskedMS)*time.Millisecond)
		if a.Model != "" {
			t.Model = a.Model
		}
	}
	var held, whole []int
	if parent, ok := g.at[r.Parent]; ok && r.Parent != 0 {
		t.Parent = parent
		p := &g.Turns[parent]
		held, whole = g.behind(parent, p.Held), g.behind(parent, p.Whole)
		if t.Model == "" {
			t.Model = p.Model
		}
	}
	t.Trimmed = len(pruned) > 0
	t.Edited = r.How == entry.ClientEdit && !t.Trimmed
	for _, u := range f.units[r.N] {
		t.Resumed = t.Resumed || u.Of == entry.PartResumed
	}
	for _, id := range pruned {
		if m, ok := g.results[id]; ok {
			t.Pruned = append(t.Pruned, m)
		} else {
			t.Edited = true // what it was is not in the recording
		}
	}
	if elements := f.body(r.N); elements != nil {
		t.Held = g.passed(&t, elements)
	} else {
		f.told(g, &t)
		if r.How == entry.ClientCompaction {
			g.summary(&t)
			held = nil
		}
		t.Held = grow(held, t.New)
	}
	t.Whole = g.whole(&t, whole)
	i := len(g.Turns)
	g.at[r.N] = i
	g.Turns = append(g.Turns, t)
	f.answer(g, i)
}

// body reads the messages of a request that passed.
func (f *folding) body(n int) []Element {
	if f.read.Body == nil {
		return nil
	}
	elements, err := f.read.Body(n)
	if err != nil {
		return nil
	}
	return elements
}

// behind are messages with a turn's answer behind them.
func (g *growing) behind(turn int, messages []int) []int {
	if a := g.Turns[turn].Answer; a >= 0 {
		messages = grow(messages, []int{a})
	}
	return messages
}

// grow adds to a list without changing what others have of it.
func grow(list, more []int) []int {
	return append(list[:len(list):len(list)], more...)
}

// told takes in what a recording tells of a turn: the messages that it was the first to hold.
func (f *folding) told(g *growing, t *Turn) {
	if t.Parent >= 0 {
		t.New = append(t.New, g.after[t.Parent]...)
	}
	for _, u := range f.units[t.N] {
		if u.Answers() || u.Of.Silent() {
			continue
		}
		at := place{u.In, u.Offset, u.Length, u.At}
		m, known := g.places[at]
		if !known {
			m = g.add(f.message(g, u), t.N, false)
			g.places[at] = m
		}
		if m >= 0 {
			t.New = append(t.New, m)
		}
	}
	slices.SortStableFunc(t.New, func(a, b int) int { return g.rank(a) - g.rank(b) })
}

// rank puts results before what else a request is the first to hold, as every wire wants it.
func (g *growing) rank(m int) int {
	if len(g.Messages[m].Results()) > 0 {
		return 0
	}
	return 1
}

func (f *folding) message(g *growing, u *pool.Unit) Message {
	m, err := f.read.Message(u)
	if err != nil {
		g.Missing++
	}
	return Message{Unit: Unit(u.Seq.Ref(), m), Unknown: m.Unknown || err != nil}
}

// add adds a message; -1 where it says nothing.
func (g *growing) add(m Message, n int, answer bool) int {
	if len(m.Parts) == 0 && !m.Unknown {
		return -1
	}
	m.N, m.Answer = n, answer
	g.Messages = append(g.Messages, m)
	i := len(g.Messages) - 1
	for _, id := range m.Results() {
		g.results[id] = i
	}
	return i
}

// answer adds the answer of a turn, which a recording may tell in several units. What of it are results of the calls in
// it stands behind it, as the next request holds it.
func (f *folding) answer(g *growing, turn int) {
	t := &g.Turns[turn]
	var whole Message
	var behind []Message
	for _, u := range f.units[t.N] {
		if !u.Answers() || u.Of.Silent() {
			continue
		}
		var part Message
		if u.Of == entry.PartRecord {
			part = f.message(g, u)
		} else {
			part = f.decoded(g, u)
		}
		said, results := split(part)
		if whole.Ref == "" {
			whole.Unit = unit.Unit{Ref: part.Ref, Role: unit.Assistant}
		}
		whole.Parts, whole.Unknown = append(whole.Parts, said...), whole.Unknown || part.Unknown
		for _, result := range results {
			behind = append(behind, Message{Unit: unit.Unit{Ref: part.Ref, Role: unit.Tool, Parts: []unit.Part{result}}})
		}
	}
	if len(whole.Parts) > 0 {
		t.Answer = g.add(whole, t.N, true)
	}
	for _, m := range behind {
		g.after[turn] = append(g.after[turn], g.add(m, t.N, false))
	}
}

// decoded reads the answer of an exchange that passed.
func (f *folding) decoded(g *growing, u *pool.Unit) Message {
	if u.Of != entry.PartAnswer || f.read.Answer == nil {
		return Message{Unit: unit.Unit{Ref: u.Seq.Ref()}}
	}
	a, err := f.read.Answer(u.N)
	if err != nil {
		g.Missing++
	}
	m := Message{Unit: unit.Unit{Ref: u.Seq.Ref(), Role: unit.Assistant}, Unknown: a.Unknown || err != nil}
	if a.Text != "" {
		m.Parts = append(m.Parts, unit.Part{Kind: unit.Text, Text: a.Text})
	}
	for _, c := range a.Calls {
		m.Parts = append(m.Parts, unit.Part{Kind: unit.Call, ID: c.ID, Name: c.Name, Args: c.Args})
	}
	return m
}

// split parts an answer from the results that are told with it.
func split(m Message) (said, results []unit.Part) {
	for _, p := range m.Parts {
		if p.Kind == unit.Result {
			results = append(results, p)
		} else {
			said = append(said, p)
		}
	}
	return said, results
}

// summary marks what a client puts in the place of what was said: the first message of a user that says something new.
func (g *growing) summary(t *Turn) {
	for _, m := range t.New {
		if s := &g.Messages[m]; s.N == t.N && s.Role == unit.User {
			s.Summary = true
			return
		}
	}
}

// whole is what a turn would hold if nothing had been left out: all that its parent would, and what is new, except what
// the client made to stand in the place of the rest.
func (g *growing) whole(t *Turn, before []int) []int {
	had := make(map[int]bool, len(before))
	for _, m := range before {
		had[m] = true
	}
	var more []int
	for _, m := range t.New {
		if !g.Messages[m].Summary && !had[m] {
			more = append(more, m)
		}
	}
	return grow(before, more)
}
