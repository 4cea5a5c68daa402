package conversation_test

import (
	"fmt"
	"slices"

	"ambit/entry"
	"ambit/internal/conversation"
)

// broken says which laws a conversation breaks. What may repeat an id, or lack a call, is not looked at: see unpaired.
func broken(c *conversation.Conversation) (laws []string) {
	for i := range c.Turns {
		t := &c.Turns[i]
		say := func(format string, a ...any) {
			laws = append(laws, fmt.Sprintf("%s #%d: ", c.Thread, t.N)+fmt.Sprintf(format, a...))
		}
		lists := map[string][]int{"new": t.New, "held": t.Held, "whole": t.Whole, "pruned": t.Pruned}
		for name, list := range lists {
			seen := make(map[int]bool)
			for _, m := range list {
				if m < 0 || m >= len(c.Messages) {
					say("%s names message %d of %d", name, m, len(c.Messages))
					return laws
				}
				if seen[m] {
					say("%s names message %d twice", name, m)
				}
				seen[m] = true
			}
		}
		if t.Parent >= i || t.Answer >= len(c.Messages) || t.Answer >= 0 && (!c.Messages[t.Answer].Answer || c.Messages[t.Answer].N != t.N) {
			say("parent %d, answer %d", t.Parent, t.Answer)
			return laws
		}
		brokenLists(c, t, say)
		if cap(t.Held) > len(t.Held) || cap(t.Whole) > len(t.Whole) {
			say("who appends to a list changes another one")
		}
	}
	return laws
}

// brokenLists looks at how the lists of a turn stand to one another, and to those of its parent.
func brokenLists(c *conversation.Conversation, t *conversation.Turn, say func(string, ...any)) {
	held, whole := set(t.Held), set(t.Whole)
	for _, m := range t.New {
		if !held[m] {
			say("new message %d is not held", m)
		}
	}
	for _, m := range t.Held {
		if s := &c.Messages[m]; !whole[m] && !s.Summary {
			say("held message %d is not in the whole: %s", m, messageLine(s))
		}
	}
	for _, m := range t.Whole {
		if c.Messages[m].Summary {
			say("the whole holds the summary %d", m)
		}
	}
	if t.Parent < 0 {
		return
	}
	p := &c.Turns[t.Parent]
	before := slices.Clone(p.Whole)
	if p.Answer >= 0 && t.How != entry.Again {
		before = append(before, p.Answer)
	}
	if n := len(before); len(t.Whole) >= n && slices.Equal(t.Whole[:n], before) {
		return
	}
	if back := t.Passed && (t.How == entry.Rewind || t.How == entry.Again); !back {
		say("the whole %s does not go on from %s of #%d", spans(t.Whole), spans(before), p.N)
	}
}

func set(list []int) map[int]bool {
	in := make(map[int]bool, len(list))
	for _, m := range list {
		in[m] = true
	}
	return in
}

// unpaired are the results in the whole of a turn that do not stand behind their calls.
func unpaired(c *conversation.Conversation, t *conversation.Turn) (ids []string) {
	made := make(map[string]bool)
	for _, m := range t.Whole {
		for _, id := range c.Messages[m].Results() {
			if !made[id] {
				ids = append(ids, id)
			}
		}
		for _, id := range c.Messages[m].Calls() {
			made[id] = true
		}
	}
	return ids
}
