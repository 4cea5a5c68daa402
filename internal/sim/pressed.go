package sim

import (
	"bytes"
	"slices"

	"ambit"
	"ambit/entry"
	"ambit/provider"
)

// press is what a session's requests have to come to: the policy, and the model's window in tokens, 0 for one that nothing here fills.
type press struct {
	policy string
	window int
}

// anyPress is what the world puts its session under.
func (w *world) anyPress() press {
	switch w.dice.IntN(5) {
	case 0:
		return press{policy: ambit.PolicyRecord}
	case 1:
		return press{policy: ambit.PolicyCut}
	case 2:
		return press{policy: ambit.PolicyFull}
	}
	return press{policy: ambit.PolicyFull, window: 12_000 + 4000*w.dice.IntN(5)}
}

// pressed is what is known of how requests are edited.
type pressed struct {
	compacted bool // a checkpoint was decided on, and what stands in front is older
	decided   bool // a boundary was, since the newest request

	span   span     // of what was sent last
	hashes []string // and of its elements
}

// decided takes in a decision about a request that is about to be sent.
func (m *model) decides(seq entry.Seq, f *entry.Decision) {
	ok := m.try != nil && f.N == m.n && f.Policy == m.w.press.policy && f.Policy != ambit.PolicyRecord && f.Reactive == m.try.long()
	m.w.holds(Press, ok, "entry %d decides %s about request %d under %s, reactive %v; the newest is %s", seq, f.Stage, f.N, f.Policy, f.Reactive, m.try)
	m.w.holds(Press, f.After <= f.Before || len(f.Lifts) > 0, "entry %d makes %d tokens of %d (%s): %s", seq, f.After, f.Before, f.Stage, f.Why)
	m.w.r.Events["decisions "+string(f.Stage)]++
	if f.Reactive {
		m.w.r.Events["decisions on what is too long"]++
	}
	m.pressed.decided = m.pressed.decided || f.Stage.Boundary()
	if f.Stage == entry.StageCompact && m.base != nil && m.step > m.base.seq {
		m.pressed.compacted = true
	}
}

// long reports whether a provider refused the attempt as too long, and a shorter one may follow.
func (a *attempt) long() bool { return a != nil && a.arrived && a.fate == long }

// goes takes in what is sent in place of a request.
func (m *model) goes(f *entry.Sent) {
	a := m.try
	if !m.w.holds(Press, a != nil && f.N == a.n && !a.arrived && m.w.press.policy != ambit.PolicyRecord, "request %d is said to be sent otherwise; the newest is %s", f.N, a) {
		return
	}
	if f.Body != nil {
		a.goes = []byte(m.text(f.Body))
		m.w.r.Events["requests that are edited"]++
	}
	if before := a.before; before != nil {
		switch {
		case before.fate == long:
			m.w.holds(Press, len(a.goes) < len(before.goes), "request %d was too long with %d bytes, and request %d has %d", before.n, len(before.goes), a.n, len(a.goes))
		default:
			m.w.holds(Retry, bytes.Equal(a.goes, before.goes), "request %d repeats another, and is not sent the same:\n%s\n%s", a.n, before.goes, a.goes)
		}
	}
	m.keeps(a)
	m.warm(a)
}

// shortest is how long an input is that nothing may shorten, in bytes.
const shortest = 400

// keeps looks whether what is sent is a conversation, in which all stands that the user said, and the newest message.
func (m *model) keeps(a *attempt) {
	is := models()[a.plan.model]
	got, told, err := read(is.Type, a.goes)
	whole, _, wrong := read(is.Type, a.body)
	if !m.w.holds(Press, err == nil && wrong == nil && slices.Equal(told, toolsOf(a.plan)), "what is sent for request %d cannot be read: %v\n%s", a.n, err, a.goes) {
		return
	}
	err = closed(family(is), a.path, a.goes, got)
	m.w.holds(Closure, err == nil, "what is sent for request %d: %v", a.n, err)
	m.w.holds(Press, got[0] == whole[0], "in front of what is sent for request %d stands %q, and is to stand %q", a.n, got[0].text, whole[0].text)
	there := make(map[atom]bool)
	for _, x := range got {
		there[x] = true
	}
	for i, x := range whole {
		if (x.kind == "user" || x.kind == "told" || i == len(whole)-1) && len(x.text) < shortest {
			m.w.holds(Press, there[x], "what is sent for request %d does not hold %s %q", a.n, x.kind, x.text)
		}
	}
	for _, x := range got {
		if x.kind == "call" || x.kind == "told" || x.kind == "said" {
			m.w.holds(Press, slices.Contains(whole, x), "what is sent for request %d holds %s %s %q, which nobody said", a.n, x.kind, x.id, clip(x.text))
		}
	}
}

// warm looks whether what is sent extends what was sent before, unless a decision says otherwise.
func (m *model) warm(a *attempt) {
	hashes := m.elements(a, a.goes)
	p := &m.pressed
	if p.span == m.last && !p.decided && a.before == nil {
		same := 0
		for same < min(len(p.hashes), len(hashes)) && p.hashes[same] == hashes[same] {
			same++
		}
		ok := same >= len(p.hashes)-m.slack
		m.w.holds(Prefix, ok, "request %d is not sent as the one before, and nothing was decided: element %d of %d differs\n%s", a.n, same, len(p.hashes), a.goes)
	}
	p.span, p.hashes, p.decided = m.last, hashes, false
}

// elements are the hashes of what a body holds.
func (m *model) elements(a *attempt, body []byte) (hashes []string) {
	family := family(models()[a.plan.model])
	e, err := family.Elements(family.Request("POST", a.path, body), body)
	if err != nil {
		m.w.fail(Prefix, "request %d has no elements: %v", a.n, err)
		return nil
	}
	for _, list := range [][]provider.Element{e.Tools, e.System, e.Messages} {
		for _, el := range list {
			hashes = append(hashes, string(el.Hash[:]))
		}
	}
	return hashes
}
