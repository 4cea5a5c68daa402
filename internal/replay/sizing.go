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
	for i := range s.c.Turns {
		s.whole = append(s.whole, s.c.Turns[i].Whole)
	}
	s.begin()
	if plant && len(s.c.Turns) > 0 {
		s.plant()
	}
	renumber(s.units)
	s.repaired = repair(s.units, ends(s.c, s.units, s.whole))
}

// begin lets the user speak first, as some providers want it, where the recording has another beginning.
func (s *sizing) begin() {
	lead := -1
	for i, list := range s.whole {
		if len(list) > 0 && s.units[list[0]].Role == unit.User {
			continue
		}
		if lead < 0 {
			lead = len(s.units)
			s.units = append(s.units, unit.Unit{Ref: "begin", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "(The recording begins here.)"}}})
		}
		s.whole[i] = append([]int{lead}, list...)
	}
}

// plant lets the user say the pins, each at the end of what the request of its turn is the first to hold.
func (s *sizing) plant() {
	at := pinned(s.c)
	for i, turn := range at {
		m := len(s.units)
		ref := "pin" + strconv.Itoa(i+1)
		s.units = append(s.units, unit.Unit{Ref: ref, Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: pin(i)}}})
		s.pins = append(s.pins, m)
		behind := len(s.whole[turn])
		for j := turn; j < len(s.whole); j++ {
			if list := s.whole[j]; s.goesOn(j, turn) && len(list) >= behind {
				s.whole[j] = append(append(append([]int(nil), list[:behind]...), m), list[behind:]...)
			}
		}
	}
}

// goesOn reports whether a turn goes on from another, or is that.
func (s *sizing) goesOn(turn, from int) bool {
	for ; turn >= 0; turn = s.c.Turns[turn].Parent {
		if turn == from {
			return true
		}
	}
	return false
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
