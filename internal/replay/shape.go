package replay

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"ambit/internal/pricing"
	"ambit/unit"
)

// shape is a message as a request shows it: whole, or with placeholders where results stood.
type shape struct {
	unit   unit.Unit
	tokens int
	blocks []pricing.Block
	labels []label // of the blocks
	words  string  // all that it says, a text a line
	ours   bool    // Ambit wrote some of it
}

// label says what a block is, for people.
type label struct {
	of, ref string
	bytes   int
}

// String is such as "result e12".
func (l label) String() string { return strings.TrimSpace(l.of + " " + l.ref) }

// shapes are the messages of a conversation in every way in which a request may show them. They are made when they are
// first asked for.
type shapes struct {
	units []unit.Unit
	sizes *Sizes
	whole []*shape
	short []*shape
	names map[string]string // of tools, by the ids of their calls
	other map[string]*shape // in which a request shows what nobody said so
}

func shapesOf(units []unit.Unit, s *Sizes) *shapes {
	sh := &shapes{units: units, sizes: s, whole: make([]*shape, len(units)), short: make([]*shape, len(units)), names: make(map[string]string)}
	for _, u := range units {
		for _, p := range u.Parts {
			if p.Kind == unit.Call {
				sh.names[p.ID] = p.Name
			}
		}
	}
	return sh
}

// full is a message as it was said.
func (sh *shapes) full(m int) *shape {
	if sh.whole[m] == nil {
		sh.whole[m] = sh.shape(sh.units[m])
	}
	return sh.whole[m]
}

// masked is a message with a placeholder for each result.
func (sh *shapes) masked(m int) *shape {
	if sh.short[m] == nil {
		u := sh.units[m]
		u.Raw, u.Parts = nil, append([]unit.Part(nil), u.Parts...)
		for i := range u.Parts {
			if p := &u.Parts[i]; p.Kind == unit.Result {
				p.Text, p.Raw = placeholder(u.Ref, sh.names[p.ID], len(p.Text)), nil
			}
		}
		sh.short[m] = sh.shape(u)
	}
	return sh.short[m]
}

// placeholder stands where a result was left out. It names the call and the entry that has the result.
func placeholder(ref, tool string, size int) string {
	return fmt.Sprintf("[result of %s left out: %d bytes, recall %s]", tool, size, ref)
}

func (sh *shapes) shape(u unit.Unit) *shape {
	s := &shape{unit: u, words: spoken(u)}
	for _, p := range u.Parts {
		b := pricing.Block{Hash: hashOf(u.Role, p), Tokens: sh.sizes.part(p), Tier: pricing.Messages, Said: saidBy(u.Role)}
		switch p.Kind {
		case unit.Call:
			b.Run = pricing.Uses
		case unit.Result:
			b.Run = pricing.Results
		}
		s.blocks = append(s.blocks, b)
		s.labels = append(s.labels, label{string(u.Role) + " " + string(p.Kind), u.Ref, len(p.Text) + len(p.Name) + len(p.Args)})
		s.tokens += b.Tokens
	}
	return s
}

func saidBy(r unit.Role) pricing.Said {
	switch r {
	case unit.Assistant:
		return pricing.Assistant
	case unit.Tool:
		return pricing.Tool
	case unit.System:
		return pricing.Nobody
	}
	return pricing.User
}

// hashOf identifies a part by all that a request says of it.
func hashOf(role unit.Role, p unit.Part) [32]byte {
	h := sha256.New()
	for _, text := range []string{string(role), string(p.Kind), p.ID, p.Name, p.Text} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	h.Write(p.Args)
	h.Write(p.Raw)
	return [32]byte(h.Sum(nil))
}

// nameHash identifies what has no text: a head, a setting.
func nameHash(names ...string) [32]byte { return sha256.Sum256([]byte(strings.Join(names, "\x00"))) }

// says reports whether a message says a text, whole.
func (sh *shapes) says(m int, text string) bool { return sh.full(m).says(text) }

func (s *shape) says(text string) bool { return strings.Contains(s.words, text) }

// firstBytes is the beginning of a text, at most so many bytes, and no part of a character.
func firstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
