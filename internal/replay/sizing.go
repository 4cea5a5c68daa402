package replay

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"ambit/internal/conversation"
	"ambit/internal/pricing"
	"ambit/internal/transcript"
	"ambit/unit"
)

// sizing is a conversation with what is needed to show it otherwise, to count and to price it.
type sizing struct {
	c        *conversation.Conversation
	sizes    Sizes
	units    []unit.Unit // the messages, repaired, and behind them what was planted
	whole    [][]int     // of each turn, what it shows if nothing is left out
	shapes   *shapes
	pins     []int // of units, the planted ones
	hour     bool  // its client asked the provider to keep prompts for an hour
	counted  int   // the largest input that the provider counted, in tokens
	repaired int   // parts that were left out or shown as text, because they broke the conversation
	prices   string
	named    string // the newest model that the recording names
	streams  bool   // its output counts may have been taken while an answer streamed
	usual    string // the one that is taken where it names none
}

// sizeUp counts a conversation of a file, with pins planted in it or not. Prices are those of a model by name; without one,
// of each request's own model.
func (f *File) sizeUp(c *conversation.Conversation, prices string, plant bool) *sizing {
	s := &sizing{c: c, prices: prices, usual: f.usual(), streams: f.Format == transcript.ClaudeCode}
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.Usage != nil {
			s.hour = s.hour || t.Usage.CacheWriteHour > 0
			s.counted = max(s.counted, int(t.Usage.Input))
		}
		if t.Model != "" {
			s.named = t.Model
		}
	}
	s.sizes = sizes(c, cmp.Or(s.named, s.usual))
	s.lay(plant)
	s.shapes = shapesOf(s.units, &s.sizes)
	return s
}

// lay makes the units, and what each turn would hold of them.
func (s *sizing) lay(plant bool) {
	for i := range s.c.Messages {
		u := s.c.Messages[i].Unit
		if u.Ref == "" {
			u.Ref = "m" + strconv.Itoa(i+1)
		}
		u.Parts = slices.DeleteFunc(slices.Clone(u.Parts), func(p unit.Part) bool { return p.Kind == unit.Text && p.Text == "" })
		if u.Role == unit.System {
			u.Role = unit.User // a provider may refuse it where it stands
		}
		s.units = append(s.units, u)
	}
	s.begin(plant && len(s.c.Turns) > 0)
	renumber(s.units)
	s.repaired = repair(s.units, ends(s.c, s.units, s.whole))
}

// begin makes what each turn would hold: what the conversation has, before it a user's message where the recording has
// another beginning, as some providers want it, and the pins, each at the end of what its turn is the first to hold. A turn
// that goes on from another shares its list: a copy for each would be as long as the conversation for each of its turns.
func (s *sizing) begin(plant bool) {
	lead := -1
	at := make(map[int][]int) // pins by turn
	if plant {
		for i, turn := range pinned(s.c) {
			s.pins = append(s.pins, s.say("pin"+strconv.Itoa(i+1), pin(i)))
			at[turn] = append(at[turn], s.pins[i])
		}
	}
	shared := make([]bool, len(s.c.Turns)) // somebody grew this list in place
	for i := range s.c.Turns {
		t := &s.c.Turns[i]
		var list []int
		had := 0 // of the conversation's list
		if p := t.Parent; p >= 0 {
			if had = common(s.c.Turns[p].Whole, t.Whole); had == len(s.c.Turns[p].Whole) {
				list = s.whole[p]
				if shared[p] {
					list = slices.Clone(list)
				}
				shared[p] = true
			} else {
				list = slices.Clone(s.upTo(s.whole[p], had))
			}
		}
		if had == 0 && len(list) == 0 && (len(t.Whole) == 0 || s.units[t.Whole[0]].Role != unit.User) {
			if lead < 0 {
				lead = s.say("begin", "(The recording begins here.)")
			}
			list = append(list, lead)
		}
		s.whole = append(s.whole, append(append(list, t.Whole[had:]...), at[i]...))
	}
}

// say adds a message of the user's.
func (s *sizing) say(ref, text string) int {
	s.units = append(s.units, unit.Unit{Ref: ref, Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: text}}})
	return len(s.units) - 1
}

// common is with how many elements both lists begin.
func common(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// upTo is a list up to so many messages of the conversation, with what was added between them.
func (s *sizing) upTo(list []int, said int) []int {
	for i, m := range list {
		if m < len(s.c.Messages) {
			if said == 0 {
				return list[:i]
			}
			said--
		}
	}
	return list
}

// model is the one whose prices and rules are taken for a request.
func (s *sizing) model(name string, at time.Time) pricing.Model {
	for _, n := range []string{s.prices, name, s.named, s.usual} {
		if m, ok := pricing.Lookup(n, at); ok && n != "" {
			if s.counted > m.Window {
				m.Window = max(m.Window, m.LongWindow)
			}
			return m
		}
	}
	return pricing.Model{}
}

func numbered(id string, n int) string { return id + "#" + strconv.Itoa(n) }

// lacks says what of the counted requests the figures leave out.
func (s *sizing) lacks() (texts []string) {
	if s.sizes.Before >= minBefore {
		texts = append(texts, "no text of "+strconv.Itoa(s.sizes.Before)+" tokens that its first request held, of what was said before: no policy sends them")
	}
	if m, ok := pricing.Lookup(s.named, time.Time{}); ok && s.counted > m.Window && s.prices == "" {
		texts = append(texts, "requests beyond "+strconv.Itoa(m.Window)+" tokens, for which some providers charge more: they are priced as all others")
	}
	return texts
}

// minBefore is from how many tokens on it is said that they are left out.
const minBefore = 5000
