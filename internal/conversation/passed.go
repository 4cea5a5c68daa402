package conversation

import (
	"encoding/hex"

	"ambit/entry"
	"ambit/internal/reading"
	"ambit/provider"
	"ambit/unit"
)

// passed takes in the messages of a request whose body passed, and returns them. A message is the one of another request
// if it says the same, as often; and those of an assistant are the answer that stands where the body has them, however it
// is spelled and divided. New is what neither the turn before held nor what would be held without what was left out.
func (f *folding) passed(g *growing, t *Turn, elements []Element, before past) run {
	b := &body{growing: g, t: t, elements: elements, ids: identify(elements), refs: f.refs(t.N)}
	if t.Parent >= 0 && !g.Turns[t.Parent].Passed {
		b.told = g.told(before.held.list())
	}
	held := make([]int, 0, len(elements))
	g.marks.set(nil)
	for i := 0; i < len(elements); {
		m, end := b.divided(i)
		if end == i {
			known := false
			if m, known = g.hashes[b.ids[i]]; known {
				end++
			} else {
				m, end = b.message(i)
			}
		}
		if m >= 0 && g.marks.add(m) {
			held = append(held, m)
		}
		i = end
	}
	g.marks.set(before.held.list())
	for _, m := range before.whole.list() {
		g.marks.add(m)
	}
	for _, m := range held {
		if !g.marks.has(m) {
			t.New = append(t.New, m)
		}
	}
	if t.How == entry.ClientCompaction {
		g.summary(t)
	}
	return before.held.to(held)
}

// identify says of each element what it says, and which of those that say the same it is.
func identify(elements []Element) []twin {
	seen := make(map[provider.Hash]int, len(elements))
	ids := make([]twin, len(elements))
	for i, el := range elements {
		seen[el.Hash]++
		ids[i] = twin{el.Hash, seen[el.Hash]}
	}
	return ids
}

// refs are the entries of the messages that a request was the first to hold, by the hash of each.
func (f *folding) refs(n int) map[string]string {
	refs := make(map[string]string)
	for _, u := range f.units[n] {
		if u.Element != "" {
			refs[u.Element] = u.Seq.Ref()
		}
	}
	return refs
}

// body is a request while its messages are taken in.
type body struct {
	*growing
	t        *Turn
	elements []Element
	ids      []twin
	refs     map[string]string
	told     map[string][]int // what a recording tells that was held before, by what it says
}

// told are messages by what they say. It is by this alone that a body is known to go on from what a recording tells.
func (g *growing) told(held []int) map[string][]int {
	told := make(map[string][]int, len(held))
	for _, m := range held {
		key := saying(g.Messages[m].Unit)
		told[key] = append(told[key], m)
	}
	return told
}

// division is how a client divides an answer that it sends back. A part of it alone is not the answer: other answers may
// have the same.
type division struct {
	answer int
	parts  []provider.Hash
}

// divided finds an answer that begins with an element and was divided so before, and behind which element it ends.
func (b *body) divided(from int) (answer, end int) {
	for _, d := range b.divisions[b.elements[from].Hash] {
		if b.marks.has(d.answer) {
			continue
		}
		i, n := from, 0
		for ; i < len(b.elements) && n < len(d.parts); i++ {
			if b.elements[i].Hash == d.parts[n] {
				n++
			} else if m, known := b.hashes[b.ids[i]]; !known || m >= 0 {
				break
			}
		}
		if n == len(d.parts) {
			return d.answer, i
		}
	}
	return -1, from
}

// message takes in an element that was in no request yet: the answer that it sends back, alone or with those behind it, or
// a message; -1 where it says nothing. The end is behind what was taken in.
func (b *body) message(i int) (m, end int) {
	el := b.elements[i]
	read := el.Message()
	made := Message{Unit: Unit(b.refs[hex.EncodeToString(el.Hash[:])], read), Unknown: read.Unknown}
	if made.Role == unit.Assistant && len(made.Parts) > 0 {
		for _, answer := range b.answers(read) {
			if parts, end := b.repeats(i, answer); len(parts) == 1 {
				b.hashes[b.ids[i]] = answer
				return answer, end
			} else if len(parts) > 1 {
				b.divisions[el.Hash] = append(b.divisions[el.Hash], division{answer, parts})
				return answer, end
			}
		}
	}
	key := ""
	if len(b.told) > 0 {
		key = saying(made.Unit)
	}
	if same := b.told[key]; len(same) > 0 {
		m, b.told[key] = same[0], same[1:]
	} else {
		m = b.add(made, b.t.N, false)
	}
	b.hashes[b.ids[i]] = m
	return m, i + 1
}

// answers are those that a message may send back: to the turn before, to those that this one tries again, and the one
// that makes its first call.
func (b *body) answers(m provider.Message) (list []int) {
	for p := b.t.Parent; p >= 0; p = b.Turns[p].Parent {
		if a := b.Turns[p].Answer; a >= 0 {
			list = append(list, a)
		}
		if b.Turns[p].How != entry.Again {
			break
		}
	}
	if len(m.Calls) > 0 {
		if a, ok := b.callers[reading.ID(m.Calls[0].ID)]; ok && m.Calls[0].ID != "" {
			list = append(list, a)
		}
	}
	return list
}

// repeats finds the elements from one on that together say what an answer does, and behind which it ends; none, where they
// do not.
func (b *body) repeats(from, answer int) (parts []provider.Hash, end int) {
	want := b.said[answer]
	if want.empty() {
		return nil, from
	}
	var now said
	for i := from; i < len(b.elements); i++ {
		m := b.elements[i].Message()
		own := Unit("", m)
		if len(own.Parts) == 0 && !m.Unknown { // reasoning
			b.hashes[b.ids[i]] = -1
			continue
		}
		if _, known := b.hashes[b.ids[i]]; known || own.Role != unit.Assistant {
			break
		}
		parts = append(parts, b.elements[i].Hash)
		if now.message(m); now.is(&want) {
			return parts, i + 1
		}
		if len(now.text) > len(want.text) && len(want.calls) == 0 || len(now.calls) > len(want.calls) {
			break
		}
	}
	return nil, from
}
