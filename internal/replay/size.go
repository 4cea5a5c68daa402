package replay

import (
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/token"
	"ambit/provider"
	"ambit/unit"
)

// Sizes is how the tokens of one recording are counted, and recounted: those of a text are estimated as package token
// does, times Scale, which the provider's own counts of this recording gave.
type Sizes struct {
	Model   token.Model
	Scale   float64
	Head    int // tokens of each request beside its messages: tools, system text and what the client puts before the first message
	Before  int // tokens that the first request had besides, which were said before the recording begins; no policy sends them
	Learned int // requests from which Scale was learned; 0 where the default stands
}

// sizes learns how a conversation counts. What a request has more than the one that it extends was counted by the
// provider, and is estimated: the ratio of the sums is the scale. What is left of the whole is the head.
func sizes(c *conversation.Conversation, model string) Sizes {
	s := Sizes{Model: token.Default(token.FamilyOf(model)), Scale: 1}
	weight := make([]int, len(c.Messages))
	for i := range c.Messages {
		for _, p := range c.Messages[i].Parts {
			weight[i] += s.weigh(p)
		}
	}
	sum := func(messages []int) (n int) {
		for _, m := range messages {
			n += weight[m]
		}
		return n
	}
	var counted, weighed int64
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.Parent < 0 || t.How != entry.Extends || t.Usage == nil || c.Turns[t.Parent].Usage == nil || len(t.Pruned) > 0 {
			continue
		}
		more := t.Usage.Input - c.Turns[t.Parent].Usage.Input
		grown := int64(sum(t.Held) - sum(c.Turns[t.Parent].Held))
		if more > 0 && grown > 0 && more < 8*grown+200 { // else something else changed, too
			counted, weighed, s.Learned = counted+more, weighed+grown, s.Learned+1
		}
	}
	if s.Learned >= minLearned {
		s.Scale = float64(counted) / float64(weighed)
	} else {
		s.Learned = 0
	}
	s.Head, s.Before = head(c, func(t *conversation.Turn) int { return int(float64(sum(t.Held)) * s.Scale) })
	return s
}

// minLearned is from how many requests on their ratio says more than the default.
const minLearned = 5

// head is what the provider counted beside the messages: the median over the first requests, behind each compaction anew,
// and of these medians the least. What the first is above that was said before the recording begins; so is what is too
// much for a head, of which usualHead is then taken.
func head(c *conversation.Conversation, messages func(*conversation.Turn) int) (head, before int) {
	var medians, rest []int
	flush := func() {
		if len(rest) > 0 {
			slices.Sort(rest)
			medians = append(medians, max(0, rest[len(rest)/2]))
		}
		rest = nil
	}
	trimmed := false // results were taken out, so that what is held cannot be told from what was said
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.How == entry.ClientCompaction || t.Edited {
			flush()
			trimmed = false
		}
		trimmed = trimmed || len(t.Pruned) > 0
		if t.Usage != nil && t.Usage.Input > 0 && !trimmed && len(rest) < firstRequests {
			rest = append(rest, int(t.Usage.Input)-messages(t))
		}
	}
	flush()
	if len(medians) == 0 {
		return 0, 0
	}
	if head = slices.Min(medians); head > maxHead {
		head = usualHead
	}
	return head, max(0, medians[0]-head)
}

const (
	firstRequests = 5       // that the head is taken from, before what the messages leave out has grown
	maxHead       = 100_000 // tokens: the largest that users report, of tools alone, are 67,000 to 99,000
	usualHead     = 40_000  // tokens, of Claude Code with some tools of its user's own
)

// weigh is the estimate of a part by default weights, in tokens.
func (s *Sizes) weigh(p unit.Part) (n int) {
	for _, text := range words(p) {
		n += s.Model.Text(text)
	}
	switch p.Kind {
	case unit.Call:
		n += int(s.Model.Weights.Call)
	case unit.Result:
		n += int(s.Model.Weights.Result)
	default:
		n += int(s.Model.Weights.Message)
	}
	return n
}

// part is how many tokens a part counts.
func (s *Sizes) part(p unit.Part) int { return int(float64(s.weigh(p))*s.Scale + 0.5) }

// words are the texts that a part holds: of a call the tool's name and every name and string in its arguments.
func words(p unit.Part) []string {
	switch p.Kind {
	case unit.Text, unit.Result:
		return []string{p.Text}
	case unit.Call:
		return append([]string{p.Name}, leaves(p.Args)...)
	}
	return nil
}

// leaves are the strings of a JSON value, decoded, and the names of its members, in order.
func leaves(v provider.JSON) (texts []string) {
	switch v.Kind() {
	case '{':
		for name, value := range v.Members() {
			texts = append(append(texts, name), leaves(value)...)
		}
	case '[':
		for value := range v.Elements() {
			texts = append(texts, leaves(value)...)
		}
	case '"':
		if text := v.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// spoken is all that a unit says, joined for those who look for a text in it: no text goes over a line's end.
func spoken(u unit.Unit) string {
	var b strings.Builder
	for _, p := range u.Parts {
		for _, text := range words(p) {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
