package unit

// A rule says from where on units break it: found is called with a range of indexes, both inclusive, such that the units
// from any of them to the end break the rule, and with the violation there. Where a range covers the first unit, the
// violation is that of all units. So one function says both whether a conversation is legal and where it may be cut.
type rule func(h *history, c Contract, found func(from, to int, v violation))

// violation is what a ContractError says, before it is one.
type violation struct {
	rule  Rule
	at    int
	other int // another unit that it is about; -1 for none
	id    int // of a call, an index of history.ids; -1 for none
}

// rules are all of them. Each looks at every unit, part and pair at most a few times.
func rules() []rule {
	return []rule{pairs, places, scattered, alternation, beginning, systems}
}

// pairs: of each id there is a call, and behind it a result, and nothing else.
func pairs(h *history, _ Contract, found func(from, to int, v violation)) {
	for id, uses := range h.uses {
		n := len(uses)
		if n == 2 && isPair(uses) {
			v := violation{rule: Unasked, at: uses[1].at, other: -1, id: id}
			found(uses[0].at+1, uses[1].at, v)
			continue
		}
		v := flaw(id, uses)
		found(behind(uses, n-2), uses[n-1].at, v)
		if n >= 2 && !isPair(uses[n-2:]) {
			found(behind(uses, n-3), uses[n-2].at, v)
		}
		if n >= 3 {
			found(0, uses[n-3].at, v)
		}
	}
}

// behind is the index behind the use i, or the first index of all where there is no such use.
func behind(uses []use, i int) int {
	if i < 0 {
		return 0
	}
	return uses[i].at + 1
}

// flaw says what is wrong with the uses of an id that are no pair: what is there twice, then what is missing.
func flaw(id int, uses []use) violation {
	v := violation{other: -1, id: id}
	call, result := -1, -1
	for _, u := range uses {
		first, twice := &call, CallTwice
		if u.result {
			first, twice = &result, ResultTwice
		}
		if *first >= 0 {
			v.rule, v.at, v.other = twice, u.at, *first
			return v
		}
		*first = u.at
	}
	switch {
	case call < 0:
		v.rule, v.at = Unasked, result
	case result < 0:
		v.rule, v.at = Unanswered, call
	default:
		v.rule, v.at, v.other = ResultFirst, result, call
	}
	return v
}

// places: a result stands where the contract wants it.
func places(h *history, c Contract, found func(from, to int, v violation)) {
	if c.Results == Later {
		return
	}
	for _, a := range h.answered {
		next := h.end[a.call]
		good := next < len(h.units) && a.result >= next && sideOf(h.units[next].Role) == person
		if c.Results == Directly {
			good = good && h.streak[a.result] == next
		} else {
			good = good && a.result < h.end[next]
		}
		if !good {
			found(0, a.call, violation{rule: FarResult, at: a.result, other: a.call, id: a.id})
		}
	}
}

// scattered: between the results of one answer stands nothing else.
func scattered(h *history, c Contract, found func(from, to int, v violation)) {
	if !c.Together {
		return
	}
	newest := map[int]answer{} // by run, the answer whose call stands last
	for _, a := range h.answered {
		if last, ok := newest[h.begin[a.call]]; !ok || last.call <= a.call {
			newest[h.begin[a.call]] = a
		}
	}
	for _, a := range h.answered {
		last := newest[h.begin[a.call]]
		if h.streak[a.result] != h.streak[last.result] {
			found(0, min(a.call, last.call), violation{rule: Scattered, at: a.result, other: last.result, id: a.id})
		}
	}
}

// alternation: the sides take turns.
func alternation(h *history, c Contract, found func(from, to int, v violation)) {
	if !c.Alternate {
		return
	}
	for i := range h.units {
		before := h.spoke[i]
		if h.units[i].Role != System && before >= 0 && sideOf(h.units[i].Role) == sideOf(h.units[before].Role) {
			found(0, before, violation{rule: Alternation, at: i, other: before, id: -1})
		}
	}
}

// beginning: behind leading system units a conversation begins with the right role, and there is a conversation.
func beginning(h *history, c Contract, found func(from, to int, v violation)) {
	if c.Begin == "" {
		return
	}
	for i, at := range h.speaks {
		if at == len(h.units) || h.units[at].Role != c.Begin {
			found(i, i, violation{rule: Beginning, at: min(at, len(h.units)-1), other: -1, id: -1})
		}
	}
}

// systems: system units stand where they may.
func systems(h *history, c Contract, found func(from, to int, v violation)) {
	if c.System == Anywhere {
		return
	}
	for i := range h.units {
		before := h.spoke[i]
		if h.units[i].Role != System || before < 0 || c.System == AfterUser && sideOf(h.units[before].Role) == person {
			continue
		}
		found(0, before, violation{rule: SystemAt, at: i, other: before, id: -1})
	}
}
