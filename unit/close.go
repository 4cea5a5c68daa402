package unit

import "slices"

// Selection is a choice of units that holds with each unit whatever that requires.
type Selection struct {
	In    []bool  // of each unit, whether it is chosen
	Added []Added // those that were not asked for, in source order
}

// Added is a unit that another one requires.
type Added struct {
	At  int // its index
	Ref string
	By  int // the index of the unit that requires it; -1 where the contract requires all
	Why Reason
}

// Reason is why a unit is required.
type Reason string

// The reasons.
const (
	ItsCall    Reason = "its_call"    // it makes the call whose result the other holds
	ItsResult  Reason = "its_result"  // it holds the result of the other's call
	SameAnswer Reason = "same_answer" // it is of the same answer: it makes a parallel call, or the contract binds them
	AllOrNone  Reason = "complete"    // the contract demands the whole context
)

// Close returns the smallest selection that holds the chosen units and whatever each of its units requires. Of chosen,
// what is missing counts as not chosen. The units keep their order. The error is a *ContractError: a unit that must be in
// belongs to a group that is not whole, so nothing may be sent of it; the Selection is then empty. Where no unit of such a
// group is in, it does no harm. Whether the result is a legal conversation in all else, Check says.
//
// It takes time linear in units and parts.
func Close(units []Unit, chosen []bool, c Contract) (Selection, error) {
	s := newClosing(read(units), c)
	for i := range units {
		if i < len(chosen) && chosen[i] {
			s.add(Added{At: i, By: i})
		}
	}
	for i := range units {
		if c.Complete && !s.in[i] {
			s.add(Added{At: i, By: -1, Why: AllOrNone})
		}
	}
	if err := s.grow(); err != nil {
		return Selection{}, err
	}
	var added []Added
	for _, a := range s.queue {
		if a.By != a.At {
			a.Ref = units[a.At].Ref
			added = append(added, a)
		}
	}
	slices.SortFunc(added, func(a, b Added) int { return a.At - b.At })
	return Selection{In: s.in, Added: added}, nil
}

// Groups returns the units that stand or fall together, each group in source order, the groups in the order of their
// first units; a unit that may be left out singly is a group of one. A group may not be whole: Close says so.
func Groups(units []Unit, c Contract) [][]int {
	s := newClosing(read(units), c)
	s.lenient = true
	var groups [][]int
	for i := range units {
		if s.in[i] {
			continue
		}
		from := len(s.queue)
		for at := i; at < len(units) && (at == i || c.Complete); at++ {
			s.add(Added{At: at, By: at})
		}
		_ = s.grow() // lenient: there is no error
		var group []int
		for _, a := range s.queue[from:] {
			group = append(group, a.At)
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	return groups
}

// closing is a selection that grows.
type closing struct {
	h       *history
	c       Contract
	lenient bool // groups may be broken
	in      []bool
	queue   []Added // all that are in, in the order in which they came
	done    int     // how many of these have been asked for what they require
	ids     []bool  // whose users are in
	runs    []bool  // by its first unit, whose bound units are in
}

func newClosing(h *history, c Contract) *closing {
	n := len(h.units)
	return &closing{h: h, c: c, in: make([]bool, n), ids: make([]bool, len(h.ids)), runs: make([]bool, n)}
}

func (s *closing) add(a Added) {
	if !s.in[a.At] {
		s.in[a.At] = true
		s.queue = append(s.queue, a)
	}
}

// grow adds what is required until nothing is.
func (s *closing) grow() error {
	for ; s.done < len(s.queue); s.done++ {
		at := s.queue[s.done].At
		for _, id := range s.h.of[at] {
			if err := s.pair(at, id); err != nil {
				return err
			}
		}
		s.answer(at)
	}
	return nil
}

// pair adds the other users of an id.
func (s *closing) pair(at, id int) error {
	if s.ids[id] {
		return nil
	}
	s.ids[id] = true
	uses := s.h.uses[id]
	if !s.lenient && !isPair(uses) {
		return s.h.err(flaw(id, uses))
	}
	for _, u := range uses {
		why := ItsCall
		if u.result {
			why = ItsResult
		}
		s.add(Added{At: u.at, By: at, Why: why})
	}
	return nil
}

// answer adds the units of the same answer: all of them where they are bound, or else those that make calls beside one
// that does.
func (s *closing) answer(at int) {
	h, run := s.h, s.h.begin[at]
	if s.runs[run] || sideOf(h.units[at].Role) != model {
		return
	}
	all := h.bound(at, s.c)
	if !all && !h.units[at].holds(Call) {
		return
	}
	s.runs[run] = true
	for i := run; i < h.end[at]; i++ {
		if all || h.units[i].holds(Call) {
			s.add(Added{At: i, By: at, Why: SameAnswer})
		}
	}
}

// bound reports whether the units of the run at a unit stand or fall together.
func (h *history) bound(at int, c Contract) bool {
	return c.Bound && sideOf(h.units[at].Role) == model && h.opaque[h.begin[at]]
}
