package selection

import (
	"errors"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/thread"
	"ambit/unit"
)

// mend leaves out what breaks the pairing of calls and results in the client's own conversation: no provider takes it. It does
// so only in a request that is edited anyway, and leaves alone what it cannot be sure of: calls without ids, ids that name
// several calls, tools that the provider runs, and what is fixed.
func (t *talk) mend(d *Decision) {
	if t.mended || t.in.Contract.Complete || !t.edited() || t.paired() {
		return
	}
	t.mended = true
	p := &plan{faces: clone(t.shown), last: -1}
	gone := 0
	for range p.faces {
		e, at := t.broken(p.faces)
		if e == nil {
			break
		}
		if m := &t.in.Messages[at]; m.Fixed != Free {
			d.Uncut = append(d.Uncut, "message "+m.Ref+": "+e.Error()+", but it is not to be changed")
			return
		}
		gone += max(1, len(t.in.Messages[at].Calls)+len(t.in.Messages[at].Results))
		p.faces[at].Gone, p.faces[at].Texts, p.faces[at].How = true, nil, nil
		if text := t.said(at); text != "" {
			p.faces[at].Behind = append(p.faces[at].Behind, thread.Placed{Text: text})
		}
	}
	if gone == 0 {
		return
	}
	p.count(t)
	for i := range p.faces {
		if !p.faces[i].Gone || t.shown[i].Gone {
			continue
		}
		d.Standing = append(d.Standing, t.change(i, entry.ChangeGone))
		for _, b := range p.faces[i].Behind[len(t.shown[i].Behind):] {
			c := t.change(i, entry.ChangeBehind)
			c.Text = b.Text
			d.Standing = append(d.Standing, c)
		}
	}
	d.Repaired = gone
	if d.Stage == entry.StageNone {
		d.Stage, d.Why = entry.StageCut, "calls without results, and results without calls, are left out"
	}
	t.take(d, p)
}

// edited reports whether anything is shown otherwise than the client sent it.
func (t *talk) edited() bool {
	for i := range t.shown {
		if t.shown[i].Changed() {
			return true
		}
	}
	return t.in.Overflow
}

// broken is the first message that breaks the pairing of what is shown, and how.
func (t *talk) broken(faces []thread.Shown) (e *unit.ContractError, at int) {
	var list []unit.Unit
	var of []int
	for i := range faces {
		if !faces[i].Gone {
			list, of = append(list, t.in.Messages[i].light()), append(of, i)
		}
	}
	c := unit.Contract{Results: t.in.Contract.Results}
	if errors.As(unit.Check(list, c), &e) && e.At < len(of) {
		return e, of[e.At]
	}
	return nil, 0
}

// paired reports whether each answer's calls have their results before the next answer, and nothing else has. It takes
// little time, and is surely so where it says so.
func (t *talk) paired() bool {
	open := make([]string, 0, 8)
	seen := make(map[string]bool, len(t.in.Messages))
	last := unit.Role("")
	for i := range t.in.Messages {
		m := &t.in.Messages[i]
		if t.shown[i].Gone {
			continue
		}
		if m.Role == unit.Assistant && last != unit.Assistant && len(open) > 0 {
			return false
		}
		last = m.Role
		for _, id := range m.Calls {
			if seen[id] || m.Role != unit.Assistant {
				return false
			}
			seen[id] = true
			open = append(open, id)
		}
		for _, id := range m.Results {
			at := slices.Index(open, id)
			if at < 0 || m.Role == unit.Assistant {
				return false
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	return len(open) == 0
}

// unitsBroken reports whether the client's own conversation breaks its contract, so that what is shown of it may.
func unitsBroken(t *talk) bool { return unit.Check(t.light(), t.in.Contract) != nil }

// said is what a person, or the agent, says in a message beside calls and results, as a message by itself may say it.
func (t *talk) said(i int) string {
	var texts []string
	for _, p := range t.unit(i).Parts {
		if p.Kind == unit.Text && strings.TrimSpace(p.Text) != "" {
			texts = append(texts, p.Text)
		}
	}
	text := strings.Join(texts, "\n\n")
	if text != "" && t.in.Messages[i].Role == unit.Assistant {
		return "[The agent had begun to answer, and was broken off: it said what follows.]\n" + text
	}
	return text
}
