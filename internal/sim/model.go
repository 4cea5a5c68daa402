package sim

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"ambit/entry"
)

// model is what a session must be, as far as its journal goes: built from what the world said and answered, in the order in
// which the entries say that it was taken in.
type model struct {
	w     *world
	seq   entry.Seq // of the newest entry
	sums  []string  // of all
	saved []byte    // a pool, as it was the last time that everything was rebuilt

	plan   plan // what the session works with
	planed bool

	inputs   []*input
	said     []said
	activity int
	working  bool // the activity goes on
	idled    bool // the newest has come to an end
	answers  int  // of it
	reached  int  // responses of it that came whole, with status 200

	base   *base           // nil before the first
	told   map[string]told // what is known of facts
	short  []entry.Missing // the facts that are said to be missing
	sight  *sight          // the newest
	sights []*sight        // those since the newest request

	n      int // of the newest request
	turns  int
	asking bool     // its turn has no answer yet
	try    *attempt // the newest
	maybe  *maybe   // an answer of which only what follows tells whether it was taken

	begun *call           // the call that is durable and did not run yet
	began map[string]bool // calls that were durable, by id
	left  map[string]bool // those of them that a process left that died
	dead  map[string]bool // calls that it had not begun, which nobody runs any more

	digests map[string]string // what identifies tools, by them

	last   span
	hashes []string // of the elements of the request before, within the span
	native int      // how many of them at its end are told, and have no answer
	holds  []atom   // what the newest request holds
	slack  int      // how many elements at the end of the one before may be spelled otherwise

	step    entry.Seq // the newest that belongs to the conversation
	pressed pressed
}

// said is one element of the conversation.
type said struct {
	kind   string // input, told, answer or result
	seq    entry.Seq
	text   string
	calls  []*call // of an answer
	by     int     // the model that gave it
	id     string  // of a result, its call's
	failed bool
}

// call is one that the model makes.
type call struct {
	id, name, args string
	spelled        string // its arguments, as the model spells them
	nonce          string // what tells it apart, among them
}

// base is a baseline.
type base struct {
	seq    entry.Seq
	text   string // all of it, behind the role
	plan   plan
	number int
}

// told is what is known of a fact.
type told struct{ value, removal string }

// maybe is an answer of which it is not clear whether it was taken.
type maybe struct {
	left bool // by a process that died, so that its calls are not run
	at   int  // where it would stand
	said said
}

func newModel(w *world) *model {
	return &model{w: w, told: map[string]told{}, began: map[string]bool{}, left: map[string]bool{}, digests: map[string]string{}, sight: &sight{}, idled: true, dead: map[string]bool{}}
}

// tail takes in the entries that were acknowledged since.
func (w *world) tail() {
	if w.breach != nil || w.id == "" && !w.peeking || !w.written {
		return
	}
	w.written = false
	was := w.peeking
	w.peeking = true
	defer func() { w.peeking = was }()
	for f, err := range w.store.Read(context.Background(), w.id, w.m.seq) {
		if err != nil {
			w.fail(Crash, "the journal cannot be read: %v", err)
			return
		}
		w.m.seq = f.Seq
		w.m.sums = append(w.m.sums, f.Sum)
		w.r.Kinds[f.Fact.Kind()]++
		w.m.take(f.Seq, f.Fact)
		if w.breach != nil {
			return
		}
	}
}

// text reads what an entry says; empty for none.
func (m *model) text(b *entry.Body) string {
	if b == nil {
		return ""
	}
	body, err := m.w.store.Body(context.Background(), m.w.id, *b)
	if err != nil {
		m.w.fail(Crash, "a body cannot be read: %v", err)
	}
	return string(body)
}

// take takes in an entry, and fails where it is not what must be there.
func (m *model) take(seq entry.Seq, f entry.Fact) {
	switch f := f.(type) {
	case *entry.Session:
		m.w.holds(Crash, seq == 1 && f.ID == m.w.id, "entry %d begins session %s", seq, f.ID)
	case *entry.Works:
		m.works(f)
	case *entry.Input:
		m.input(seq, f)
	case *entry.Promoted:
		m.promoted(seq, f)
	case *entry.Told:
		m.isTold(seq, f)
	case *entry.Request:
		m.request(seq, f)
	case *entry.Relation:
		how := entry.Extends
		if m.try.again {
			how = entry.Again
		} else if m.n == 1 {
			how = entry.Root
		}
		m.w.holds(Record, f.N == m.n && f.How == how, "request %d is said to be %s, and is %s", f.N, f.How, how)
	case *entry.Response:
		m.response(seq, f)
	case *entry.Decision:
		m.decides(seq, f)
	case *entry.Edit:
		m.w.holds(Press, f.N == m.n, "entry %d edits for request %d", seq, f.N)
	case *entry.Sent:
		m.goes(f)
	case *entry.Unit:
	case *entry.Call:
		m.calls(f)
	case *entry.Result:
		m.result(seq, f)
	case *entry.Idle:
		m.idle(f)
	default:
		m.w.fail(Talk, "entry %d is a %s", seq, f.Kind())
	}
}

func (m *model) works(f *entry.Works) {
	p := m.w.plan
	is := models()[p.model]
	ok := f.Agent == agentName(p.agent) && m.text(f.Role) == role(p) && m.digest(f.Tools) && f.Provider == is.Provider && f.Type == is.Type && f.Model == is.Name &&
		f.Output == 2000+1000*p.output && f.Dir == dirName(p.dir) && f.Window == m.w.press.window && f.Policy == m.w.press.policy
	m.w.holds(Input, ok && (!m.planed || m.plan != p), "the session is said to work with %+v, and works with %s (before: %s)", f, p, m.plan)
	m.plan, m.planed = p, true
}

// digest reports whether what identifies the tools of a plan identifies them and no others.
func (m *model) digest(is string) bool {
	tools := strings.Join(toolsOf(m.w.plan), "\n")
	for other, digest := range m.digests {
		if (other == tools) != (digest == is) {
			return false
		}
	}
	m.digests[tools] = is
	return regexp.MustCompile("^[0-9a-f]{64}$").MatchString(is)
}

func (m *model) input(seq entry.Seq, f *entry.Input) {
	in := m.w.admitting
	for _, d := range m.w.doubtful {
		if in == nil || in.seq != 0 || in.id != f.ID && in.id != "" {
			in = d
		}
	}
	if !m.w.holds(Input, in != nil && in.seq == 0, "input %q is in the journal, and nobody admitted it", f.ID) {
		return
	}
	if in.id == "" {
		in.id = m.free()
	}
	ok := f.ID == in.id && f.Delivery == in.delivery && f.By == in.by && m.text(f.Body) == in.text
	m.w.holds(Input, ok, "the input %+v is in the journal as %+v", in, f)
	in.seq = seq
	m.inputs = append(m.inputs, in)
}

// free is the id of an input that has none: the next that is free.
func (m *model) free() string {
	for n := len(m.inputs) + 1; ; n++ {
		if id := "input-" + itoa(n); !m.names(id) {
			return id
		}
	}
}

// names reports whether an id names an input.
func (m *model) names(id string) bool {
	return slices.ContainsFunc(m.inputs, func(in *input) bool { return in.id == id })
}

// anyInput is one that was admitted; nil before the first.
func (m *model) anyInput() *input {
	if len(m.inputs) == 0 {
		return nil
	}
	return m.inputs[m.w.dice.IntN(len(m.inputs))]
}

// open reports whether something waits for an answer, or a call for its result.
func (m *model) open() bool {
	if len(m.said) == 0 {
		return false
	}
	last := &m.said[len(m.said)-1]
	return last.kind != "answer" || len(last.calls) > 0
}

// waiting are the inputs that are said now.
func (m *model) waiting(queued bool) (list []*input) {
	for _, in := range m.inputs {
		if !in.promoted && (in.delivery == entry.Steer || queued) {
			list = append(list, in)
			queued = queued && in.delivery == entry.Steer
		}
	}
	return list
}

func (m *model) promoted(seq entry.Seq, f *entry.Promoted) {
	m.asking = false
	begins := !m.working
	if begins {
		m.activity++
		m.answers, m.reached = 0, 0
		m.w.r.Events["activities"]++
	}
	var is []entry.Seq
	is = append(is, f.Inputs...)
	fits := func(open bool) ([]*input, bool) {
		list := m.waiting(begins && (!open || m.idled))
		var want []entry.Seq
		for _, in := range list {
			want = append(want, in.seq)
		}
		return list, slices.Equal(want, is) && (len(list) > 0 || begins && open)
	}
	list, ok := fits(m.open())
	if !ok && m.maybe != nil {
		list, ok = fits(len(m.maybe.said.calls) > 0)
	}
	m.w.holds(Input, ok && f.Activity == m.activity, "entry %d says %v in activity %d (begins: %v, open: %v, waiting: %d)", seq, f.Inputs, f.Activity, begins, m.open(), len(list))
	m.working, m.idled, m.step = true, false, seq
	for _, in := range list {
		in.promoted = true
		m.said = append(m.said, said{kind: "input", seq: seq, text: in.text})
	}
}

func (m *model) idle(f *entry.Idle) {
	m.w.holds(Ending, m.working && f.Activity == m.activity, "activity %d is said to have ended %s", f.Activity, f.Ended)
	if f.Ended == entry.EndingDone || f.Ended == entry.EndingLimit {
		m.taken()
	}
	if f.Ended == entry.EndingDone {
		m.w.holds(Ending, !m.open(), "activity %d is said to be done, and something is open", f.Activity)
	}
	m.w.r.Events["activities "+string(f.Ended)]++
	m.working, m.idled, m.asking, m.begun = false, true, false, nil
}

// taken is that the answer that was not clear was taken.
func (m *model) taken() {
	if m.maybe != nil {
		m.said = slices.Insert(m.said, m.maybe.at, m.maybe.said)
		m.answers++
		for _, c := range m.maybe.said.calls {
			m.dead[c.id] = m.maybe.left
		}
		m.asking, m.maybe = false, nil
	}
}

// wake is that a new process takes the session up.
func (m *model) wake() {
	m.working, m.asking, m.begun = false, false, nil
	for _, c := range m.waitingCalls() {
		m.dead[c.id] = !m.began[c.id]
	}
	if m.maybe != nil {
		m.maybe.left = true
	}
	for id := range m.began {
		m.left[id] = true
	}
}

// waits looks at how long an attempt is waited with.
func (m *model) waits(d time.Duration) {
	ok := m.try != nil && m.try.fate.again() && d > 0 && d >= m.try.after && d <= time.Minute
	m.w.holds(Retry, ok, "an engine waits %s after %s", d, m.try)
	m.maybe = nil // it would not wait, had it taken the answer
}
