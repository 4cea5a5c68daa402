package thread

import (
	"encoding/hex"
	"slices"

	"ambit/entry"
)

// Edits are the standing changes of one thread: what is done to its messages in every request, wherever they stand. The
// zero value holds none.
type Edits struct {
	of     map[Hash][]change
	count  int
	needed map[Hash][]entry.Seq // messages without which edits do not hold
	turn   int                  // how often they were changed
}

// change is one, with the entry that made it.
type change struct {
	entry.Change
	standing entry.Seq
}

// Shown is how a message of a request is shown. The zero value is a message as the client spelled it.
type Shown struct {
	Gone   bool
	Texts  map[string]string // by the id of a call, what stands in place of its result; under "", in place of the message's own text
	How    map[string]entry.Changing
	Behind []Placed // messages in the user's place that stand behind it, in order
}

// Placed is a message that Ambit puts into a conversation.
type Placed struct {
	Text string
	Pin  string // the pin that it shows; empty for none
	Edit entry.Seq
}

// Changed reports whether anything of the message, or behind it, is not as the client sent it.
func (s *Shown) Changed() bool { return s.Gone || len(s.Texts) > 0 || len(s.Behind) > 0 }

// Applied is what standing edits make of a request.
type Applied struct {
	Shown []Shown     // of each message
	Stale []entry.Seq // edits that do not hold, because a message that they need is not there; in ascending order
}

// Len is how many changes stand.
func (e *Edits) Len() int { return e.count }

// Add puts the changes of an edit to those that stand. A change whose element is not a hash changes nothing.
func (e *Edits) Add(edit entry.Seq, changes ...entry.Change) {
	if e.of == nil {
		e.of = make(map[Hash][]change)
	}
	for _, c := range changes {
		h, ok := ParseHash(c.Element)
		if !ok {
			continue
		}
		n := change{Change: c, standing: edit}
		e.of[h] = append(e.of[h], n)
		e.count++
		if needs, ok := ParseHash(c.Needs); ok {
			e.need(needs, edit)
		}
	}
	e.turn++
}

func (e *Edits) need(h Hash, edit entry.Seq) {
	if e.needed == nil {
		e.needed = make(map[Hash][]entry.Seq)
	}
	e.needed[h] = append(e.needed[h], edit)
}

// Standing are the edits that hold, in ascending order.
func (e *Edits) Standing() (edits []entry.Seq) {
	for _, list := range e.of {
		for _, c := range list {
			if !slices.Contains(edits, c.standing) {
				edits = append(edits, c.standing)
			}
		}
	}
	slices.Sort(edits)
	return edits
}

// Turn is how often the edits were changed: while it is the same, so is what Apply makes of a request.
func (e *Edits) Turn() int { return e.turn }

// Lift takes edits back.
func (e *Edits) Lift(edits ...entry.Seq) {
	for h, list := range e.of {
		n := len(list)
		list = slices.DeleteFunc(list, func(c change) bool { return slices.Contains(edits, c.standing) })
		if e.count -= n - len(list); len(list) == 0 {
			delete(e.of, h)
		} else {
			e.of[h] = list
		}
	}
	for h, list := range e.needed {
		if list = slices.DeleteFunc(list, func(s entry.Seq) bool { return slices.Contains(edits, s) }); len(list) == 0 {
			delete(e.needed, h)
		} else {
			e.needed[h] = list
		}
	}
	e.turn++
}

// Clone is a copy that can be changed apart.
func (e *Edits) Clone() *Edits {
	c := &Edits{of: make(map[Hash][]change, len(e.of)), count: e.count, turn: e.turn}
	for h, list := range e.needed {
		for _, s := range list {
			c.need(h, s)
		}
	}
	for h, list := range e.of {
		c.of[h] = slices.Clone(list)
	}
	return c
}

// Apply says how each message of a request is shown. An edit holds whole or not at all: where a message that one of its
// changes needs is not there, none of its changes is made, and it is Stale. Of several changes of one text the last that was
// added counts. It takes time linear in messages and changes.
func (e *Edits) Apply(messages []Hash) Applied {
	a := Applied{Shown: make([]Shown, len(messages))}
	if e.count == 0 {
		return a
	}
	stale := e.stale(messages)
	seen := make(map[Hash]int)
	for i, h := range messages {
		list := e.of[h]
		if len(list) == 0 {
			continue
		}
		seen[h]++
		for _, c := range list {
			if !stale[c.standing] && (c.Times == 0 || seen[h] <= c.Times) {
				a.Shown[i].take(c)
			}
		}
	}
	for s := range stale {
		a.Stale = append(a.Stale, s)
	}
	slices.Sort(a.Stale)
	return a
}

// stale are the edits that need a message which is not there.
func (e *Edits) stale(messages []Hash) map[entry.Seq]bool {
	missing := make(map[Hash]bool, len(e.needed))
	for h := range e.needed {
		missing[h] = true
	}
	for _, h := range messages {
		if len(missing) == 0 {
			return nil
		}
		delete(missing, h)
	}
	stale := make(map[entry.Seq]bool)
	for h := range missing {
		for _, s := range e.needed[h] {
			stale[s] = true
		}
	}
	return stale
}

// take makes one change.
func (s *Shown) take(c change) {
	switch c.How {
	case entry.ChangeGone:
		s.Gone = true
	case entry.ChangeBehind:
		s.Behind = append(s.Behind, Placed{c.Text, c.Pin, c.standing})
	case entry.ChangeCut, entry.ChangePlaceholder:
		if s.Texts == nil {
			s.Texts, s.How = make(map[string]string), make(map[string]entry.Changing)
		}
		s.Texts[c.Call], s.How[c.Call] = c.Text, c.How
	}
}

// Hex is a hash as an entry spells it.
func Hex(h Hash) string { return hex.EncodeToString(h[:]) }

// ParseHash reads what Hex wrote, in lower or upper case; false for anything else.
func ParseHash(text string) (h Hash, ok bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, false
	}
	copy(h[:], raw)
	return h, true
}
