package conversation_test

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/provider"
)

// client is a model of one: what each of its requests holds, and what it would hold had nothing been left out, as texts.
type client struct {
	*session
	turns []clientTurn
	said  int
}

type clientTurn struct {
	held, whole []string // of the request
	answer      string
	results     []string // that are told with the answer
}

// texts of a conversation's messages, as the model has them.
func texts(c *conversation.Conversation, list []int) (said []string) {
	for _, m := range list {
		said = append(said, strings.TrimSpace(conversation.Text(c.Messages[m].Unit)))
	}
	return said
}

func (c *client) word(t *rapid.T, kind string) string {
	c.said++
	return kind + strconv.Itoa(c.said) + strings.Repeat(" word", rapid.IntRange(0, 2).Draw(t, "words"))
}

// begin begins a request that goes on from another one; -1 for none.
func (c *client) begin(how entry.Relating, parent int) (n int) {
	n = len(c.turns) + 1
	c.turns = append(c.turns, clientTurn{})
	if parent < 0 {
		how = entry.Root
	}
	c.facts = append(c.facts, &entry.Request{N: n}, &entry.Relation{N: n, Thread: "t1", How: how, Parent: parent + 1}, &entry.Response{N: n, End: entry.EndComplete})
	return n
}

// say tells what a role says in a request, and returns it.
func (c *client) say(n int, role, said, text string) string {
	c.unit(entry.Unit{N: n, Of: entry.PartRecord, Thread: "t1"}, provider.Message{Role: role, Texts: []provider.Text{{Said: said, Text: text}}})
	return text
}

// behind is what a request holds that goes on from a turn.
func (c *client) behind(turn int) (held, whole []string) {
	if turn < 0 {
		return nil, nil
	}
	p := &c.turns[turn]
	more := p.results
	if p.answer != "" {
		more = append([]string{p.answer}, more...)
	}
	return slices.Concat(p.held, more), slices.Concat(p.whole, more)
}

// tell makes one turn of a recording.
func (c *client) tell(t *rapid.T) {
	parent := len(c.turns) - 1
	how := entry.Extends
	kind := rapid.SampledFrom([]string{"on", "on", "on", "on", "rewind", "compaction", "again"}).Draw(t, "kind")
	failed := parent >= 0 && c.turns[parent].answer == ""
	switch {
	case parent < 0:
	case failed && kind == "again":
		how = entry.Again
	case kind == "rewind":
		how, parent = entry.Rewind, rapid.IntRange(0, parent).Draw(t, "back to")
	case kind == "compaction":
		how = entry.ClientCompaction
	}
	n := c.begin(how, parent)
	held, whole := c.behind(parent)
	if how == entry.ClientCompaction {
		held = nil
		if parent >= 0 {
			held = slices.Clone(c.turns[parent].results) // they are told, and it is not told that they went
		}
		held = append(held, c.say(n, "user", provider.SaidUser, c.word(t, "a summary that is longer than all else is, ")))
	}
	if how != entry.Again {
		for range rapid.IntRange(1, 3).Draw(t, "prompts") {
			text := c.say(n, "user", provider.SaidUser, c.word(t, "prompt"))
			held, whole = append(held, text), append(whole, text)
		}
	}
	turn := clientTurn{held: held, whole: whole}
	if rapid.IntRange(0, 3).Draw(t, "answered") > 0 {
		turn.answer = c.say(n, "assistant", provider.SaidAssistant, c.word(t, "answer"))
		for range rapid.IntRange(0, 2).Draw(t, "results") {
			id := c.word(t, "c")
			m := provider.Message{Role: "assistant", Calls: []provider.Call{{ID: id}}, Results: []string{id}, Texts: []provider.Text{{Said: provider.SaidTool, Text: "of " + id, Call: id}}}
			c.unit(entry.Unit{N: n, Of: entry.PartRecord, Thread: "t1"}, m)
			turn.results = append(turn.results, "of "+id)
		}
	}
	c.turns[n-1] = turn
}

// pass makes one request whose body passes: what was held, with answers that are divided and spaced otherwise, or changed.
func (c *client) pass(t *rapid.T) {
	parent := len(c.turns) - 1
	how := entry.Extends
	var held, whole []string
	switch kind := rapid.SampledFrom([]string{"on", "on", "on", "rewind", "again", "edit"}).Draw(t, "kind"); {
	case parent < 0:
	case kind == "again":
		how = entry.Again
		held, whole = c.turns[parent].held, c.turns[parent].whole
	case kind == "rewind":
		how, parent = entry.Rewind, rapid.IntRange(0, parent).Draw(t, "back to")
		held, whole = c.behind(parent)
	case kind == "edit":
		how = entry.ClientEdit
		held, whole = c.behind(parent)
		held = slices.Delete(slices.Clone(held), 0, min(len(held), rapid.IntRange(0, 2).Draw(t, "left out")))
	default:
		held, whole = c.behind(parent)
	}
	n := c.begin(how, parent)
	if how != entry.Again || parent < 0 {
		text := c.word(t, "prompt")
		held, whole = slices.Concat(held, []string{text}), slices.Concat(whole, []string{text})
	}
	turn := clientTurn{held: held, whole: whole}
	for _, text := range held {
		role, said := "user", provider.SaidUser
		parts := []string{text}
		if strings.HasPrefix(text, "answer") {
			role, said = "assistant", provider.SaidAssistant
			if rapid.IntRange(0, 3).Draw(t, "divided") == 0 {
				parts = strings.SplitAfter(text, " ")
			}
		}
		for _, part := range parts {
			m := provider.Message{Role: role, Texts: []provider.Text{{Said: said, Text: part}}}
			el := conversation.Element{Hash: sha256.Sum256([]byte(role + part)), Message: func() provider.Message { return m }}
			c.elements[n] = append(c.elements[n], el)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "answered") > 0 {
		turn.answer = c.word(t, "answer")
		c.answers[n] = provider.Answer{Text: turn.answer}
		c.facts = append(c.facts, &entry.Unit{N: n, Of: entry.PartAnswer, Thread: "t1", Role: "assistant"})
	}
	c.turns[n-1] = turn
}

// TestModel makes sessions that grow, go back, compact and fail, and compares what the package makes of them with a model
// that keeps for each request what it holds and what it would hold.
// covers: J-14 part
func TestModel(t *testing.T) {
	for name, step := range map[string]func(*client, *rapid.T){"told": (*client).tell, "passed": (*client).pass} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := &client{session: newSession()}
				for range rapid.IntRange(1, 12).Draw(t, "turns") {
					step(c, t)
				}
				all := c.conversations(t)
				if len(all) != 1 || len(all[0].Turns) != len(c.turns) {
					t.Fatal(outline(all))
				}
				got := all[0]
				for _, broken := range broken(got) {
					t.Error(broken)
				}
				for i := range got.Turns {
					turn, want := &got.Turns[i], &c.turns[i]
					if name == "told" || !divided(got, turn) {
						if held := texts(got, turn.Held); !slices.Equal(held, want.held) {
							t.Errorf("#%d holds\n%q, want\n%q", i+1, held, want.held)
						}
						if whole := texts(got, turn.Whole); !slices.Equal(whole, want.whole) {
							t.Errorf("#%d whole\n%q, want\n%q", i+1, whole, want.whole)
						}
					}
					if turn.Answer >= 0 != (want.answer != "") || turn.Answer >= 0 && texts(got, []int{turn.Answer})[0] != want.answer {
						t.Errorf("#%d answers %d, want %q", i+1, turn.Answer, want.answer)
					}
				}
				if t.Failed() {
					t.Log("\n" + outline(all))
				}
			})
		})
	}
}

// divided reports whether a turn holds a part of an answer that was divided when it was no longer the newest.
func divided(c *conversation.Conversation, t *conversation.Turn) bool {
	return slices.ContainsFunc(t.Whole, func(m int) bool { return c.Messages[m].Role == "assistant" && !c.Messages[m].Answer })
}

// TestNothingIsLost looks at the messages of rapid-made sessions all together: each text that was said is in one of them.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &client{session: newSession()}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			c.tell(t)
		}
		count := make(map[string]int)
		for _, all := range c.conversations(t) {
			for i := range all.Messages {
				for _, p := range all.Messages[i].Parts {
					count[p.Text]++
				}
			}
		}
		for _, m := range c.messages {
			for _, text := range m.Texts {
				if count[text.Text] != 1 {
					t.Errorf("%q is in %d messages", text.Text, count[text.Text])
				}
			}
		}
	})
}

// TestNoAliasing appends to each list of each turn, and looks whether another one is another then.
func TestNoAliasing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &client{session: newSession()}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			c.tell(t)
		}
		all := c.conversations(t)
		before := outline(all)
		for i := range all[0].Turns {
			turn := &all[0].Turns[i]
			for _, list := range [][]int{turn.Held, turn.Whole, turn.New, turn.Pruned} {
				_ = append(list, -7)
			}
		}
		if now := outline(all); now != before {
			t.Fatalf("%s\nwas\n%s", now, before)
		}
	})
}
