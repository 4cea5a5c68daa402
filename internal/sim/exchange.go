package sim

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/unit"
)

// attempt is one request on its way, and what became of it.
type attempt struct {
	n       int
	body    []byte
	path    string
	plan    plan
	again   bool
	before  *attempt // that it repeats; nil for none
	goes    []byte   // what is sent in its place
	arrived bool     // the provider has got it

	turn int // of the script, that answers it
	coming
	sent  []byte // what has been read of it
	calls []*call
	none  int // how many attempts of the turn, this one included, were no answer
}

// String says what became of it.
func (a *attempt) String() string {
	if a == nil {
		return "no attempt"
	}
	return fmt.Sprintf("request %d (%s, fate %d, asks to wait %s, %d without an answer)", a.n, a.fault, a.fate, a.after, a.none)
}

// span is that within which requests only grow at their end.
type span struct{ base, model, agent int }

// family is the protocol that a model speaks.
func family(m ambit.Model) provider.Protocol { return ambit.Family(m.Provider, "POST", "") }

// request takes in that a request is about to be sent.
func (m *model) request(seq entry.Seq, f *entry.Request) {
	body := []byte(m.text(f.Body))
	is := models()[m.plan.model]
	again := m.asking && m.try != nil && m.try.fate != answered
	if m.maybe != nil { // what follows tells whether it was taken
		again = m.asking && bytes.Equal(body, m.try.body)
		if again {
			m.maybe = nil
		}
	}
	m.w.r.Attempts++
	m.w.holds(Record, f.N == m.n+1, "request %d has the number %d", m.n+1, f.N)
	was := m.try
	m.n, m.try = f.N, &attempt{n: f.N, body: body, goes: body, path: f.Path, plan: m.plan, again: again}
	m.asking = true
	if again {
		m.try.plan, m.try.none, m.try.before = was.plan, was.none, was
		if was.fate == long {
			m.w.r.Events["attempts that are shorter"]++
		}
		m.w.holds(Retry, bytes.Equal(body, was.body) && f.Path == was.path, "request %d repeats another, and is not the same:\n%s\n%s", f.N, was.body, body)
		m.try.turn = was.turn
		m.w.r.Events["repeated attempts"]++
		return
	}
	m.turns++
	m.w.holds(Record, f.Provider == is.Provider && f.Type == is.Type && f.Model == is.Name, "request %d goes to %s %s %s, and %s is to answer", f.N, f.Provider, f.Type, f.Model, is.Name)
	m.w.holds(Source, !m.sight.used, "request %d is made of what was found for another", f.N)
	m.current(f.N)
	if m.base == nil {
		m.w.fail(Source, "request %d is made without a baseline", f.N)
		return
	}
	m.shows(f.N, is, body)
	m.grows(f, is, body)
	m.try.turn = m.turn()
}

// turn is which of the script comes next: as many have been answered.
func (m *model) turn() (n int) {
	for i := range m.said {
		if m.said[i].kind == "answer" {
			n++
		}
	}
	return n
}

// shows compares what a request holds with what was said.
func (m *model) shows(n int, is ambit.Model, body []byte) {
	got, told, err := read(is.Type, body)
	if err != nil {
		m.w.fail(Talk, "request %d cannot be read: %v\n%s", n, err, body)
		return
	}
	m.w.holds(Talk, slices.Equal(told, toolsOf(m.plan)), "request %d tells of the tools %q, and is to tell of %q", n, told, toolsOf(m.plan))
	want := m.expected()
	if m.maybe != nil {
		taken := slices.Insert(slices.Clone(m.said), m.maybe.at, m.maybe.said)
		without := m.said
		if m.said = taken; slices.Equal(got, m.expected()) {
			want = got
		} else {
			m.said = without
		}
		m.maybe = nil
	}
	m.holds = got
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	ok := at == len(got) && at == len(want)
	m.w.holds(Talk, ok, "request %d holds %d elements, and is to hold %d; from element %d on it holds\n%s\nand is to hold\n%s", n, len(got), len(want), at, few(got[at:]), few(want[at:]))
	if ok {
		err := closed(family(is), m.try.path, m.try.body, got)
		m.w.holds(Closure, err == nil, "request %d: %v", n, err)
	}
}

func few(atoms []atom) string {
	var b strings.Builder
	for i, a := range atoms {
		if i == 4 {
			b.WriteString("  …\n")
			break
		}
		fmt.Fprintf(&b, "  %s %s %.300q\n", a.kind, a.id, a.text)
	}
	return b.String()
}

// expected is what a request is to hold.
func (m *model) expected() []atom {
	list := []atom{{"system", "", join(role(m.plan), m.base.text)}}
	retold := map[string]string{} // the tools of calls that another model made, by their ids
	for i := range m.said {
		switch x := &m.said[i]; x.kind {
		case "input":
			list = append(list, atom{"user", "", x.text})
		case "told":
			if x.seq > m.base.seq {
				list = append(list, atom{"told", "", x.text})
			}
		case "answer":
			if x.text != "" {
				list = append(list, atom{"said", "", x.text})
			}
			for _, c := range x.calls {
				if x.by != m.plan.model {
					retold[c.id] = c.name
					list = append(list, atom{"said", "", "[Here the tool " + c.name + " was called: " + c.spelled + "]"})
					continue
				}
				list = append(list, atom{"call", c.id, c.name + " " + c.args})
			}
		case "result":
			text := x.text
			if name := retold[x.id]; name != "" {
				how := map[bool]string{false: "gave", true: "failed with"}[x.failed]
				list = append(list, atom{"user", "", "[What the tool " + name + " " + how + ", recorded text:]\n" + text})
				m.w.r.Events["results that are told as text"]++
				continue
			}
			if x.failed && provider.Blank(text) {
				text = provider.FailedSilently
			}
			list = append(list, atom{"result", x.id, text})
		}
	}
	return list
}

// closed says what is wrong with the conversation that a request holds.
func closed(family provider.Protocol, path string, body []byte, atoms []atom) error {
	var units []unit.Unit
	add := func(role unit.Role, p unit.Part) {
		if last := len(units) - 1; role == unit.Assistant && last >= 0 && units[last].Role == role {
			units[last].Parts = append(units[last].Parts, p)
			return
		}
		units = append(units, unit.Unit{Ref: fmt.Sprint(len(units)), Role: role, Parts: []unit.Part{p}})
	}
	for _, a := range atoms[1:] {
		switch a.kind {
		case "user", "told": // what is told stands where it may, or in the user's words
			add(unit.User, unit.Part{Kind: unit.Text, Text: a.text})
		case "said":
			add(unit.Assistant, unit.Part{Kind: unit.Text, Text: a.text})
		case "call":
			add(unit.Assistant, unit.Part{Kind: unit.Call, ID: a.id})
		case "result":
			add(unit.Tool, unit.Part{Kind: unit.Result, ID: a.id, Text: a.text})
		}
	}
	return unit.Check(units, family.Contract(family.Request("POST", path, body)))
}

// grows looks whether a request extends the one before.
func (m *model) grows(f *entry.Request, is ambit.Model, body []byte) {
	hashes := m.elements(m.try, body)
	within := span{m.base.number, m.plan.model, m.plan.agent}
	if within == m.last {
		same := 0
		for same < min(len(m.hashes), len(hashes)) && m.hashes[same] == hashes[same] {
			same++
		}
		m.slack = m.respelled()
		ok := same >= len(m.hashes)-m.slack
		m.w.holds(Prefix, ok, "request %d does not begin as the one before: element %d of %d differs\n%s", f.N, same, len(m.hashes), body)
	}
	m.native = native(is.Type, m.holds)
	m.last, m.hashes = within, hashes
}

// response takes in what came of an attempt.
func (m *model) response(seq entry.Seq, f *entry.Response) {
	a := m.try
	if !m.w.holds(Record, a != nil && f.N == a.n, "entry %d is the response of request %d", seq, f.N) {
		return
	}
	body := []byte(m.text(f.Body))
	m.w.holds(Record, bytes.HasPrefix(a.sent, body) && (len(body) == len(a.sent) || len(body) == longest), "request %d was answered with %d bytes, and %d others are recorded", f.N, len(a.sent), len(body))
	if f.End != entry.EndComplete || f.Status != 200 {
		return
	}
	if f.Body != nil {
		m.reached++
		m.step = seq
	}
	if !a.whole {
		return
	}
	t := m.w.script[a.turn]
	answer := said{kind: "answer", seq: seq, text: t.Text, calls: a.calls, by: a.plan.model}
	switch a.fate {
	case answered:
		m.asking, m.native = false, 0
		m.answers++
		m.said = append(m.said, answer)
		m.w.r.Events["answers"]++
	case either:
		m.maybe = &maybe{at: len(m.said), said: answer}
	}
}

// ids finds the calls in an answer.
var ids = regexp.MustCompile(`(?:toolu_|"call_|"functionCall":\{"id":")([0-9a-f]{24})`)

// made are the calls that an answer makes.
func (w *world) calls(turn int, answer []byte) (list []*call) {
	seen := map[string]bool{}
	for _, found := range ids.FindAllSubmatch(answer, -1) {
		id := string(found[1])
		if seen[id] {
			continue
		}
		seen[id] = true
		if len(list) < len(w.script[turn].Calls) {
			c := w.script[turn].Calls[len(list)]
			list = append(list, &call{id: id, name: c.Name, args: object(c.Args), spelled: spelled(c.Args), nonce: fmt.Sprint(c.Args["call"])})
		}
	}
	if len(list) != len(w.script[turn].Calls) {
		w.fail(Strict, "%d calls are found in the answer of turn %d, which makes %d", len(list), turn, len(w.script[turn].Calls))
	}
	return list
}
