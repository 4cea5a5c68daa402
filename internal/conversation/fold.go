package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
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
	pruned, shifted := p.Pruned(), p.Shifted()
	for i := range p.Exchanges {
		x := &p.Exchanges[i]
		if r := x.Relation; r != nil && r.Thread != "" && r.How != entry.Count {
			g := f.thread(r)
			f.turn(g, x, pruned[r.N])
			g.Turns[len(g.Turns)-1].Shifted = shifted[r.N]
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
	pasts   []past         // what each turn held, by turn
	after   map[int][]int  // results that were told with a turn's answer, by turn
	places  map[place]int  // messages by where they stand in a recording
	hashes  map[twin]int   // messages by what they say
	results map[string]int // messages by the call whose result they hold
	callers map[string]int // answers by the calls that they make
	said    map[int]said   // what answers say, for telling them when they are sent again
	marks   marks

	divisions map[provider.Hash][]division // of answers, by the first part
}

// past is what a turn held, and what it would hold if nothing had been left out.
type past struct{ held, whole run }

// place is where a recording has a message, or a request that passed and of which it is.
type place struct {
	n              int // of the request; 0 in a recording
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
			at:           make(map[int]int), after: make(map[int][]int), places: make(map[place]int), hashes: make(map[twin]int),
			results: make(map[string]int), callers: make(map[string]int), said: make(map[int]said), divisions: make(map[provider.Hash][]division),
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
	t := turnOf(x)
	var before past
	if parent, ok := g.at[x.Relation.Parent]; ok && x.Relation.Parent != 0 {
		t.Parent = parent
		if before = g.behind(parent); t.How == entry.Again {
			before = g.pasts[parent] // what was answered came to nothing
		}
		t.Model = cmp.Or(t.Model, g.Turns[parent].Model)
	}
	var now past
	if elements := f.body(t.N); elements != nil {
		t.Passed = true
		now.held = f.passed(g, &t, elements, before)
		if t.How == entry.Rewind || t.How == entry.Again {
			before.whole = g.upTo(before.whole, now.held)
		}
	} else {
		now.held = f.told(g, &t, before)
	}
	now.whole = g.whole(&t, before.whole)
	t.Held, t.Whole = now.held.list(), now.whole.list()
	for _, u := range f.units[t.N] {
		t.Resumed = t.Resumed || u.Of == entry.PartResumed
	}
	g.prune(&t, pruned)
	i := len(g.Turns)
	g.at[t.N] = i
	g.Turns, g.pasts = append(g.Turns, t), append(g.pasts, now)
	f.answer(g, i)
}

// turnOf is what the exchange itself says of a turn.
func turnOf(x *pool.Exchange) Turn {
	t := Turn{
		N: x.Relation.N, At: x.Request.Arrived, Provider: x.Request.Provider, Type: x.Request.Type, Model: x.Request.Model,
		Effort: x.Request.Effort, How: x.Relation.How, Parent: -1, Answer: -1,
	}
	if a := x.Response; a != nil {
		t.End, t.Usage = a.End, a.Usage
		if asked := time.Duration(a.AskedMS) * time.Millisecond; asked > 0 && !t.At.IsZero() {
			t.At = t.At.Add(asked)
		}
		t.Took = max(0, time.Duration(a.DurationMS-a.AskedMS)*time.Millisecond)
		t.Model = cmp.Or(a.Model, t.Model)
	}
	return t
}

// prune notes which messages hold the results that were taken out before a turn, each once.
func (g *growing) prune(t *Turn, ids []string) {
	t.Trimmed = len(ids) > 0
	t.Edited = t.How == entry.ClientEdit && !t.Trimmed
	named := make(map[int]bool)
	for _, id := range ids {
		m, ok := g.results[id]
		if !ok {
			t.Edited = true // what it was is not in the recording
		} else if !named[m] {
			named[m] = true
			t.Pruned = append(t.Pruned, m)
		}
	}
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

// behind is what a turn held, with its answer behind it.
func (g *growing) behind(turn int) past {
	p := g.pasts[turn]
	if a := g.Turns[turn].Answer; a >= 0 {
		p.held, p.whole = p.held.with(a), p.whole.with(a)
	}
	return p
}

// told takes in what a recording tells of a turn, the messages that it was the first to hold, and returns what it held.
func (f *folding) told(g *growing, t *Turn, before past) run {
	held := before.held
	compacted := t.How == entry.ClientCompaction
	if compacted {
		held = f.compacted(g, t)
	}
	g.marks.set(held.list())
	add := func(m int) {
		if m >= 0 && g.marks.add(m) {
			t.New = append(t.New, m)
		}
	}
	if t.Parent >= 0 {
		for _, m := range g.after[t.Parent] {
			add(m)
		}
	}
	for _, u := range f.units[t.N] {
		if !u.Answers() && !u.Of.Silent() {
			add(f.first(g, u))
		}
	}
	g.resultsFirst(t.New)
	if compacted && held.n == 0 {
		g.summary(t)
	}
	return held.with(t.New...)
}

// first is the message of a unit, which may have been told before; -1 for one that says nothing.
func (f *folding) first(g *growing, u *pool.Unit) int {
	at := place{0, u.In, u.Offset, u.Length, u.At}
	if x := f.pool.Exchange(u.N); u.In == 0 && x != nil && x.Request.Body != nil {
		at.n = u.N
	}
	m, known := g.places[at]
	if !known {
		m = g.add(f.message(g, u, nil), u.N, false)
		g.places[at] = m
	}
	return m
}

// compacted is what a client that compacts holds on to of what was said before: nothing, or the answer of the request
// before it where that asked for nothing but a summary. So do clients whose recordings tell results with the answer.
func (f *folding) compacted(g *growing, t *Turn) (held run) {
	if t.Parent < 0 || g.Turns[t.Parent].Answer < 0 || g.Turns[t.Parent].How != entry.Extends || len(g.after) == 0 {
		return held
	}
	for _, u := range f.units[g.Turns[t.Parent].N] {
		if !u.Answers() && !u.Of.Silent() || len(u.Calls) > 0 {
			return held
		}
	}
	return held.with(g.Turns[t.Parent].Answer)
}

// resultsFirst puts results before what else a request is the first to hold, as every wire wants it, but for those of calls
// that are among this.
func (g *growing) resultsFirst(list []int) {
	made := make(map[string]bool)
	for _, m := range list {
		for _, id := range g.Messages[m].Calls() {
			made[id] = true
		}
	}
	rank := func(m int) int {
		results := g.Messages[m].Results()
		if len(results) == 0 || slices.ContainsFunc(results, func(id string) bool { return made[id] }) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b int) int { return rank(a) - rank(b) })
}

func (f *folding) message(g *growing, u *pool.Unit, spoken *said) Message {
	m, err := f.read.Message(u)
	if err != nil {
		g.Missing++
	}
	if spoken != nil {
		spoken.message(m)
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
		g.results[reading.ID(id)] = i
	}
	return i
}

// answer adds the answer of a turn, which a recording may tell in several units. What of it are results of the calls in
// it stands behind it, as the next request holds it.
func (f *folding) answer(g *growing, turn int) {
	t := &g.Turns[turn]
	var whole Message
	var behind []Message
	var spoken said
	for _, u := range f.units[t.N] {
		if !u.Answers() || u.Of.Silent() {
			continue
		}
		var part Message
		if u.Of == entry.PartRecord {
			part = f.message(g, u, &spoken)
		} else {
			part = f.decoded(g, u, &spoken)
		}
		own, results := split(part)
		if whole.Ref == "" {
			whole.Unit = unit.Unit{Ref: part.Ref, Role: unit.Assistant}
		}
		whole.Parts, whole.Unknown = append(whole.Parts, own...), whole.Unknown || part.Unknown
		for _, result := range results {
			behind = append(behind, Message{Unit: unit.Unit{Ref: part.Ref, Role: unit.Tool, Parts: []unit.Part{result}}})
		}
	}
	if t.Answer = g.add(whole, t.N, true); t.Answer >= 0 {
		g.said[t.Answer] = spoken
		for _, id := range whole.Calls() {
			g.callers[reading.ID(id)] = t.Answer
		}
	}
	for _, m := range behind {
		g.after[turn] = append(g.after[turn], g.add(m, t.N, false))
	}
}

// decoded reads the answer of an exchange that passed.
func (f *folding) decoded(g *growing, u *pool.Unit, spoken *said) Message {
	if f.read.Answer == nil {
		return Message{Unit: unit.Unit{Ref: u.Seq.Ref()}}
	}
	if u.Of != entry.PartAnswer { // it is not understood
		g.Missing++
		return Message{Unit: unit.Unit{Ref: u.Seq.Ref(), Role: unit.Assistant}, Unknown: true}
	}
	a, err := f.read.Answer(u.N)
	if err != nil {
		g.Missing++
	}
	m := Message{Unit: unit.Unit{Ref: u.Seq.Ref(), Role: unit.Assistant}, Unknown: a.Unknown || err != nil}
	for _, text := range append([]string{a.Text}, a.Results...) {
		if text != "" {
			m.Parts = append(m.Parts, unit.Part{Kind: unit.Text, Text: text})
		}
	}
	for _, c := range a.Calls {
		m.Parts = append(m.Parts, unit.Part{Kind: unit.Call, ID: c.ID, Name: c.Name, Args: c.Args})
	}
	spoken.answer(a)
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

// summary marks what a client puts in the place of what was said: of what a user says that is new, what quotes the answer
// before it, or else the longest. A recording does not tell which it is.
func (g *growing) summary(t *Turn) {
	asked := ""
	if t.Parent >= 0 && g.Turns[t.Parent].Answer >= 0 {
		asked = squeeze(Text(g.Messages[g.Turns[t.Parent].Answer].Unit))
	}
	var longest *Message
	for _, m := range t.New {
		s := &g.Messages[m]
		if s.N != t.N || s.Role != unit.User {
			continue
		}
		if asked != "" && strings.Contains(squeeze(Text(s.Unit)), asked) {
			longest = s
			break
		}
		if longest == nil || s.Bytes() > longest.Bytes() {
			longest = s
		}
	}
	if longest != nil {
		longest.Summary = true
	}
}

// whole is what a turn would hold if nothing had been left out: all that its parent would, and what is new, except what
// the client made to stand in the place of the rest.
func (g *growing) whole(t *Turn, before run) run {
	g.marks.set(before.list())
	var more []int
	for _, m := range t.New {
		if !g.Messages[m].Summary && g.marks.add(m) {
			more = append(more, m)
		}
	}
	return before.with(more...)
}

// upTo is a history up to the last message of it that is held: what a client goes back behind is no part of what it goes
// on from. Where nothing of it is held, all of it stays.
func (g *growing) upTo(whole, held run) run {
	g.marks.set(held.list())
	list := whole.list()
	for n := len(list); n > 0; n-- {
		if g.marks.has(list[n-1]) {
			return whole.first(n)
		}
	}
	return whole
}
