package ambit

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/provider"
	"ambit/view"
)

// body takes the messages of a request from its body, as they went where nothing was edited.
func (s *sight) body(ctx context.Context, a *Asked) error {
	list, held := s.came(ctx, a)
	for i := range list {
		el, it := a.Elements.Messages[i], list[i].item
		raw := provider.JSON(a.Body[el.Offset : el.Offset+el.Length])
		it.message(list[i].message, raw)
		it.content.Counted += images(raw, s.family())
		s.add(view.Working, it)
	}
	s.summarized()
	s.unsent(held)
	return nil
}

// came finds the entries of the messages that the client sent. A message is known by what it says: it is the one that passed
// first with the same content, as often, or the answer that it sends back. Held are the entries that were found.
func (s *sight) came(ctx context.Context, a *Asked) (list []came, held map[entry.Seq]bool) {
	s.exact = true
	first, answers := s.passed()
	seen := make(map[provider.Hash]int)
	held = make(map[entry.Seq]bool)
	list = make([]came, len(a.Elements.Messages))
	for i, el := range a.Elements.Messages {
		c := came{item: item{n: s.x.Request.N, at: el.At}, hash: el.Hash, hex: hex.EncodeToString(el.Hash[:]), message: a.Message(el)}
		if same := first[c.hex]; len(same) > 0 {
			u := same[min(seen[el.Hash], len(same)-1)]
			seen[el.Hash]++
			held[u.Seq] = true
			c.Ref, c.n = u.Seq.Ref(), u.N
		} else if u := s.repeated(ctx, answers, held, c.message); u != nil {
			held[u.Seq] = true
			c.Ref, c.n, c.answer = u.Seq.Ref(), u.N, true
		}
		list[i] = c
	}
	return list, held
}

// unsent takes note of what was said in the thread and the client did not send.
func (s *sight) unsent(held map[entry.Seq]bool) {
	for i := range s.r.pool.Units {
		if u := &s.r.pool.Units[i]; s.retained(u) && !held[u.Seq] {
			s.gone = append(s.gone, gone{ref: u.Seq.Ref(), n: u.N})
		}
	}
}

// summarized marks what the client put in the place of what was said before: the first message of a user that was new when
// it did.
func (s *sight) summarized() {
	for _, b := range s.bounds {
		if b.Reason != ReasonCompaction {
			continue
		}
		for i := range s.items {
			if it := &s.items[i]; it.n == b.Turn && it.Class == ClassUser {
				it.Class = ClassSummary
				break
			}
		}
	}
}

// passed are the messages and the answers that passed in the thread up to the request: messages by what they say, answers
// of those from which it follows in order.
func (s *sight) passed() (messages map[string][]*pool.Unit, answers []*pool.Unit) {
	messages = make(map[string][]*pool.Unit)
	for i := range s.r.pool.Units {
		u := &s.r.pool.Units[i]
		switch {
		case !s.retained(u) && u.N != s.x.Request.N:
		case u.Of == entry.PartAnswer && s.chain[u.N]:
			answers = append(answers, u)
		case u.Element != "":
			messages[u.Element] = append(messages[u.Element], u)
		}
	}
	return messages, answers
}

// retained reports whether a unit is something that was said in the thread before the request was answered.
func (s *sight) retained(u *pool.Unit) bool {
	if u.Of.Silent() || u.Of == entry.PartRequest || u.Of == entry.PartResponse || u.Thread != s.thread || u.N == 0 {
		return false
	}
	return u.N < s.x.Request.N || u.N == s.x.Request.N && !u.Answers()
}

// repeated is the answer that a message sends back, nil where it sends back none.
func (s *sight) repeated(ctx context.Context, answers []*pool.Unit, held map[entry.Seq]bool, m provider.Message) *pool.Unit {
	if !reading.MayRepeat(m) {
		return nil
	}
	calls := reading.Calls(m.Calls)
	for _, u := range answers {
		if held[u.Seq] || u.N == s.x.Request.N || !slices.Equal(u.Calls, calls) {
			continue
		}
		if len(calls) > 0 {
			return u
		}
		if answer, err := s.r.Answer(ctx, u.N); err == nil && len(m.Texts) > 0 && reading.SpokenOf(answer).Holds(m) {
			return u
		}
	}
	return nil
}

// recorded takes the messages of a request from what a recording tells of its conversation. Where nothing of the request
// itself is known, what the provider counted beside the messages is an estimate of the rest.
func (s *sight) recorded(ctx context.Context, a *Asked) error {
	for _, c := range s.r.Conversations(ctx) {
		i := slices.IndexFunc(c.Turns, func(t conversation.Turn) bool { return t.N == s.x.Request.N })
		if c.Thread != s.thread || i < 0 {
			continue
		}
		t := &c.Turns[i]
		out := prunedBy(c, i)
		held, shown := make(map[int]bool), s.kept(ctx, a, c, t)
		for _, m := range t.Held {
			held[m] = true
			s.recalled(told(&c.Messages[m], out[m]), &c.Messages[m], shown[m])
			if out[m] {
				s.gone = append(s.gone, gone{ref: c.Messages[m].Ref, n: c.Messages[m].N, reason: ReasonPrune})
			}
		}
		for m := range c.Messages {
			msg := &c.Messages[m]
			if !held[m] && m != t.Answer && (msg.N < t.N || msg.N == t.N && !msg.Answer) {
				s.gone = append(s.gone, gone{ref: msg.Ref, n: msg.N})
			}
		}
		if t.Answer >= 0 {
			s.answered = contentOf(&c.Messages[t.Answer].Unit)
		}
		if a == nil {
			s.head = s.beside(c)
		}
	}
	return nil
}

// prunedBy are the messages whose results a client had left out when it asked for a turn.
func prunedBy(c *conversation.Conversation, turn int) map[int]bool {
	out := make(map[int]bool)
	for ; turn >= 0; turn = c.Turns[turn].Parent {
		for _, m := range c.Turns[turn].Pruned {
			out[m] = true
		}
	}
	return out
}

// beside estimates what requests hold besides their messages, in tokens: the least that the provider counted above the
// estimate of the messages in the first request that it counted of the conversation, and behind each compaction.
func (s *sight) beside(c *conversation.Conversation) int {
	least, begins := -1, true
	for i := range c.Turns {
		t := &c.Turns[i]
		begins = begins || t.How == entry.ClientCompaction
		if !begins || t.Usage == nil || t.Usage.Input == 0 || t.N > s.x.Request.N {
			continue
		}
		begins = false
		rest := int(t.Usage.Input)
		for _, m := range t.Held {
			rest -= s.tokens.Unanchored(contentOf(&c.Messages[m].Unit)).EstTokens
		}
		if rest = max(0, rest); least < 0 || rest < least {
			least = rest
		}
	}
	return max(0, least)
}

// add adds a segment with its estimate, in a layer that does not stand before that of the segment before.
func (s *sight) add(layer view.Layer, it item) {
	it.Layer = layer
	if n := len(s.items); n > 0 && (s.items[n-1].Layer == view.Working || s.items[n-1].Layer == view.Stable && layer == view.Role) {
		it.Layer = s.items[n-1].Layer
	}
	if !it.answer && it.Class == ClassUser && instructs(it.Text) {
		it.Class = ClassInstructions
	}
	it.EstTokens = s.tokens.Unanchored(it.content).EstTokens
	s.items = append(s.items, it)
}

// marks begin texts that are instructions of a project or a user, as Codex, OpenCode and Claude Code send them.
var marks = [...]string{"# AGENTS.md instructions", "<user_instructions>", "Instructions from: ", "# claudeMd", "Codebase and user instructions are shown below."}

func instructs(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return slices.ContainsFunc(marks[:], func(mark string) bool { return strings.HasPrefix(text, mark) })
}
