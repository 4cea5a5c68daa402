package conversation

import (
	"ambit/entry"
	"ambit/provider"
	"ambit/unit"
)

// passed takes in the messages of a request whose body passed, and returns them. A message is the one of another request
// if it says the same, as often; and an assistant's is the answer that stands where the body has it, however it is spelled.
func (g *growing) passed(t *Turn, elements []Element) []int {
	answer := -1
	if t.Parent >= 0 {
		answer = g.Turns[t.Parent].Answer
	}
	seen := make(map[provider.Hash]int, len(elements))
	held := make([]int, 0, len(elements))
	for _, el := range elements {
		seen[el.Hash]++
		id := twin{el.Hash, seen[el.Hash]}
		m, known := g.hashes[id]
		if !known {
			said := Message{Unit: Unit("", el.Message())}
			if answer >= 0 && said.Role == unit.Assistant && repeats(&g.Messages[answer], &said) {
				m, answer = answer, -1
			} else if m = g.add(said, t.N, false); m >= 0 {
				t.New = append(t.New, m)
			}
			g.hashes[id] = m
		}
		if m >= 0 {
			held = append(held, m)
		}
	}
	if t.How == entry.ClientCompaction {
		g.summary(t)
	}
	return held
}

// repeats reports whether a message sends an answer back: it makes the same calls, or without calls says the same.
func repeats(answer, said *Message) bool {
	a, b := answer.Calls(), said.Calls()
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) > 0 || Text(answer.Unit) == Text(said.Unit)
}
