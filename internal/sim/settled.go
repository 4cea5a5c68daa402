package sim

import (
	"strings"

	"ambit/entry"
)

// waitingCalls are those of the newest answer that have no result.
func (m *model) waitingCalls() (list []*call) {
	done := map[string]bool{}
	for i := len(m.said) - 1; i >= 0; i-- {
		switch x := &m.said[i]; x.kind {
		case "result":
			done[x.id] = true
		case "answer":
			for _, c := range x.calls {
				if !done[c.id] {
					list = append(list, c)
				}
			}
			return list
		}
	}
	return nil
}

// next is the call that comes next, if it is the one of an id.
func (m *model) next(id string) *call {
	m.taken() // there would be no call else
	list := m.waitingCalls()
	if len(list) == 0 || list[0].id != bare(id) {
		return nil
	}
	return list[0]
}

// named lists calls for people.
func named(list []*call) (names []string) {
	for _, c := range list {
		names = append(names, c.nonce+" "+c.id)
	}
	return names
}

// bare is an id without what its wire puts in front.
func bare(id string) string { return id[strings.LastIndexByte(id, '_')+1:] }

// calls takes in that a call is about to be run.
func (m *model) calls(f *entry.Call) {
	c := m.next(f.ID)
	ok := c != nil && !m.began[c.id] && !m.dead[c.id] && m.w.ran[c.nonce] == nil && f.Name == c.name
	if m.w.holds(Once, ok, "the call %s (%s) begins, and it is not its turn; without results are %s; begun before: %v", f.ID, f.Name, named(m.waitingCalls()), m.began[bare(f.ID)]) {
		m.began[c.id], m.begun = true, c
	}
}

// result takes in what came of a call.
func (m *model) result(seq entry.Seq, f *entry.Result) {
	c := m.next(f.ID)
	if !m.w.holds(Once, c != nil, "the call %s has a result, and it is not its turn", f.ID) {
		return
	}
	text := m.text(f.Body)
	r := m.w.ran[c.nonce]
	ok := false
	switch f.Ended {
	case entry.SettledInterrupted:
		left := m.left[c.id]
		stopped := m.w.ended() && (r != nil && r.failed && strings.HasPrefix(text, r.given) || r == nil && c.name != "read")
		ok = m.began[c.id] && f.Failed && (left || stopped) && strings.Contains(text, "interrupted")
	case entry.SettledUnsaid:
		ok = !m.began[c.id] && r == nil && f.Failed && (m.w.ended() || m.dead[c.id]) && text != ""
	default:
		ok = m.began[c.id] && !m.left[c.id]
		if r != nil {
			ok = ok && f.Ended == r.how && f.Failed == r.failed && text == r.text
		} else {
			ok = ok && f.Failed && f.Ended == entry.SettledRun && strings.Contains(text, "there is no tool") && c.name != "read"
		}
	}
	m.w.holds(Once, ok, "the call %s (%s) is settled as %s, failed %v, with %q; begun: %v, left: %v, ran: %+v", c.nonce, c.name, f.Ended, f.Failed, clip(text), m.began[c.id], m.left[c.id], r)
	m.w.r.Events["results "+string(f.Ended)]++
	m.begun, m.step = nil, seq
	m.said = append(m.said, said{kind: "result", seq: seq, text: text, id: c.id, failed: f.Failed})
}

// ended reports whether what runs was ended by the world: cancelled, or out of time.
func (w *world) ended() bool { return w.stopped || w.during.timed }
