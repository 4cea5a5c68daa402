package replay

import (
	"slices"

	"ambit/internal/conversation"
	"ambit/unit"
)

// repair makes of a recorded conversation one that a provider would take, whatever was broken off in it: it leaves out
// calls that have no result behind their answer, and shows results without their calls as text. It returns how many of
// both there were. Lists are messages that stand in one request.
func repair(units []unit.Unit, lists [][]int) (repaired int) {
	for again := true; again; {
		again = false
		for _, list := range lists {
			bad := broken(units, list)
			for _, b := range bad {
				units[b.message] = without(units[b.message], b.part)
				repaired++
				again = true
			}
		}
	}
	return repaired
}

// fault is a part that breaks a conversation.
type fault struct{ message, part int }

// broken finds the parts of a list of messages that break it, the last ones first, so that they can be taken out in turn.
func broken(units []unit.Unit, list []int) []fault {
	var bad []fault
	open := make(map[string]fault)
	flush := func() {
		for _, f := range open {
			bad = append(bad, f)
		}
		clear(open)
	}
	answering := false
	for _, m := range list {
		u := &units[m]
		if u.Role == unit.Assistant && !answering {
			flush()
		}
		answering = u.Role == unit.Assistant
		for i := range u.Parts {
			switch p := &u.Parts[i]; p.Kind {
			case unit.Call:
				if _, twice := open[p.ID]; twice || p.ID == "" || !answering {
					bad = append(bad, fault{m, i})
					continue
				}
				open[p.ID] = fault{m, i}
			case unit.Result:
				if _, ok := open[p.ID]; !ok || answering {
					bad = append(bad, fault{m, i})
					continue
				}
				delete(open, p.ID)
			}
		}
	}
	flush()
	slices.SortFunc(bad, func(a, b fault) int {
		if a.message != b.message {
			return b.message - a.message
		}
		return b.part - a.part
	})
	return bad
}

// without is a unit without a call, or with a result as text.
func without(u unit.Unit, part int) unit.Unit {
	u.Raw, u.Parts = nil, slices.Clone(u.Parts)
	if u.Parts[part].Kind == unit.Result && u.Parts[part].Text != "" {
		u.Parts[part] = unit.Part{Kind: unit.Text, Text: u.Parts[part].Text}
		if u.Role == unit.Tool && len(u.Results()) == 0 {
			u.Role = unit.User
		}
		return u
	}
	u.Parts = slices.Delete(u.Parts, part, part+1)
	return u
}

// renumber gives ids of calls that a client uses more than once one of their own each. A result is that of the first call
// of its id that has none yet.
func renumber(units []unit.Unit) {
	times, open := make(map[string]int), make(map[string][]int)
	for m := range units {
		for i := range units[m].Parts {
			p := &units[m].Parts[i]
			id, n := p.ID, 0
			switch p.Kind {
			case unit.Call:
				times[id]++
				n = times[id]
				open[id] = append(open[id], n)
			case unit.Result:
				if n = times[id]; len(open[id]) > 0 {
					n, open[id] = open[id][0], open[id][1:]
				}
			}
			if n > 1 {
				units[m].Parts = slices.Clone(units[m].Parts)
				units[m].Parts[i].ID, units[m].Parts[i].Raw = numbered(id, n), nil
			}
		}
	}
}

// ends are the parts of a conversation that are to be looked at: the whole histories from which no turn goes on, and of
// every other turn's the newest answer with what stands behind it, for nothing may be open when a request is sent.
func ends(c *conversation.Conversation, units []unit.Unit, whole [][]int) [][]int {
	goesOn := make([]bool, len(c.Turns))
	for i := range c.Turns {
		if p := c.Turns[i].Parent; p >= 0 {
			goesOn[p] = true
		}
	}
	var lists [][]int
	for i := range c.Turns {
		if !goesOn[i] || i == len(c.Turns)-1 {
			lists = append(lists, whole[i])
			continue
		}
		at := len(whole[i])
		for at > 0 && units[whole[i][at-1]].Role != unit.Assistant {
			at--
		}
		for at > 0 && units[whole[i][at-1]].Role == unit.Assistant {
			at--
		}
		lists = append(lists, whole[i][at:])
	}
	return lists
}
