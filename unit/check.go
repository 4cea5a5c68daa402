package unit

import "strconv"

// Check says whether the units are a conversation that the contract allows. The error is a *ContractError for the first
// unit that breaks it; nil units break none. It takes time linear in units and parts.
func Check(units []Unit, c Contract) error {
	h := read(units)
	var first *violation
	for _, r := range rules() {
		r(h, c, func(from, to int, v violation) {
			if from <= 0 && to >= 0 && (first == nil || v.at < first.at) {
				first = &v
			}
		})
	}
	if first == nil {
		return nil
	}
	return h.err(*first)
}

// Cuts returns every index i such that units[i:] is by itself a conversation that the contract allows and no answer that
// it binds is cut in two, in ascending order. Under a complete context nothing can be cut off: then there is at most
// 0. It takes time linear in units and parts.
func Cuts(units []Unit, c Contract) []int {
	h := read(units)
	change := make([]int, len(units)+1) // of the number of rules that are broken, from one index to the next
	forbid := func(from, to int, _ violation) {
		if from <= to {
			change[from]++
			change[to+1]--
		}
	}
	for _, r := range rules() {
		r(h, c, forbid)
	}
	for i := 0; i < len(units); i = h.end[i] {
		if h.bound(i, c) {
			forbid(i+1, h.end[i]-1, violation{})
		}
	}
	if c.Complete {
		forbid(1, len(units)-1, violation{})
	}
	var cuts []int
	broken := 0
	for i := range units {
		if broken += change[i]; broken == 0 {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// err makes a violation an error.
func (h *history) err(v violation) *ContractError {
	e := &ContractError{Rule: v.rule, At: v.at, Refs: []string{h.units[v.at].Ref}}
	if v.other >= 0 && v.other != v.at {
		e.Refs = append(e.Refs, h.units[v.other].Ref)
	}
	if v.id >= 0 {
		e.Call = h.ids[v.id]
	}
	return e
}

var reasons = map[Rule]string{
	Unanswered:  "a call has no result",
	Unasked:     "a result has no call",
	CallTwice:   "two calls have one id",
	ResultTwice: "a call has two results",
	ResultFirst: "a result does not stand behind its call",
	FarResult:   "a result stands too far from its call",
	Scattered:   "other units stand between the results of one answer",
	Alternation: "one side speaks twice in a row",
	Beginning:   "a conversation may not begin with this role",
	SystemAt:    "a system unit may not stand here",
}

// Error says which rule is broken, by what call and by which units.
func (e *ContractError) Error() string {
	text := reasons[e.Rule]
	if e.Call != "" {
		text += " (call " + strconv.Quote(e.Call) + ")"
	}
	for i, ref := range e.Refs {
		text += []string{": ", ", "}[min(i, 1)] + strconv.Quote(ref)
	}
	return text
}
