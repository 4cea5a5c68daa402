package replay

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ambit/internal/conversation"
	"ambit/unit"
)

// Need is a text that the recorded agent used at a turn, and could only have had from an earlier result.
type Need struct {
	Turn int
	Kind string // Quotes or Names
	Text string
	From []int // the messages with results that hold it, in order
}

// The kinds of needs.
const (
	Quotes = "quotes" // at least minQuote characters of one line
	Names  = "names"  // paths, symbols and names of tests, of at least minName characters
)

// What is long enough that nobody writes it by chance.
const (
	minQuote = 40 // characters
	minName  = 8  // bytes; names are ASCII
	stride   = 20 // bytes; every quote holds one of the pieces of this length that begin at its multiples
)

// needs finds what each turn of a conversation needed: what its calls quote from earlier results, and neither a user said
// before, nor the agent itself. What it said in a summary counts as said.
func needs(c *conversation.Conversation, units []unit.Unit) []Need {
	e := evidence{c: c, units: units, pieces: make(map[string][]int), names: make(map[string][]int), said: make(map[string]bool)}
	var all []Need
	for i := range c.Turns {
		t := &c.Turns[i]
		if unsent(t) {
			continue
		}
		e.upTo(t)
		if t.Answer >= 0 {
			all = append(all, e.needs(i)...)
			e.take(t.Answer, c.Messages[t.Answer].Parts) // all of it was said, whatever is sent of it
		}
	}
	return all
}

// evidence is what was said so far, in a form in which quotations are found.
type evidence struct {
	c      *conversation.Conversation
	units  []unit.Unit  // as they are sent
	sent   map[int]bool // messages that the turn at hand would hold if nothing had been left out
	taken  []bool
	pieces map[string][]int // results, by the pieces of stride bytes that begin at multiples of it
	texts  []result         // results
	names  map[string][]int // messages with results, by the names that are in them
	said   map[string]bool  // names that a user or the agent said
	other  strings.Builder  // all that a user or the agent said
}

// result is the text of a result, with the message that holds it.
type result struct {
	text    string
	message int
}

// upTo takes in what was said before the answer of a turn: all that any policy could show it.
func (e *evidence) upTo(t *conversation.Turn) {
	if e.taken == nil {
		e.taken = make([]bool, len(e.c.Messages))
	}
	for _, m := range t.New {
		e.take(m, e.units[m].Parts)
	}
	e.sent = make(map[int]bool, len(t.Whole))
	for _, m := range t.Whole {
		e.take(m, e.units[m].Parts)
		e.sent[m] = true
	}
}

func (e *evidence) take(m int, parts []unit.Part) {
	if e.taken[m] {
		return
	}
	e.taken[m] = true
	for _, p := range parts {
		if p.Kind == unit.Result {
			e.result(m, p.Text)
			continue
		}
		for _, text := range words(p) {
			e.other.WriteString(text)
			e.other.WriteByte('\n')
			for name := range namesIn(text) {
				e.said[name] = true
			}
		}
	}
}

func (e *evidence) result(m int, text string) {
	n := len(e.texts)
	e.texts = append(e.texts, result{text, m})
	for at := 0; at+stride <= len(text); at += stride {
		piece := text[at : at+stride]
		if list := e.pieces[piece]; len(list) == 0 || list[len(list)-1] != n {
			e.pieces[piece] = append(list, n)
		}
	}
	for name := range namesIn(text) {
		if list := e.names[name]; len(list) == 0 || list[len(list)-1] != m {
			e.names[name] = append(list, m)
		}
	}
}

// needs are those of one turn.
func (e *evidence) needs(turn int) []Need {
	var all []Need
	seen := make(map[string]bool)
	add := func(kind, text string, from []int) {
		if !seen[text] && len(from) > 0 {
			seen[text] = true
			all = append(all, Need{turn, kind, text, from})
		}
	}
	said := e.other.String()
	for _, p := range e.c.Messages[e.c.Turns[turn].Answer].Parts {
		if p.Kind != unit.Call {
			continue
		}
		for _, text := range leaves(p.Args) {
			for line := range strings.Lines(text) {
				for _, quote := range e.quotes(strings.TrimSpace(line)) {
					if !strings.Contains(said, quote) {
						add(Quotes, quote, e.holding(quote))
					}
				}
			}
			for name := range namesIn(text) {
				if !e.said[name] {
					add(Names, name, e.named(name))
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Need) int { return strings.Compare(a.Kind+a.Text, b.Kind+b.Text) })
	return all
}

// quotes are the parts of a line that stand in an earlier result, from left to right, each as long as it can be.
func (e *evidence) quotes(line string) (quotes []string) {
	for at := 0; at < len(line); {
		to := ahead(line, at, minQuote)
		near := e.near(line, at)
		if to < 0 || !e.held(near, line[at:to]) {
			at = ahead(line, at, 1)
			if to < 0 {
				return quotes
			}
			continue
		}
		for to < len(line) && e.held(near, line[at:ahead(line, to, 1)]) {
			to = ahead(line, to, 1)
		}
		quotes, at = append(quotes, line[at:to]), to
	}
	return quotes
}

// ahead is the place so many characters behind another, -1 where there are not so many.
func ahead(line string, at, characters int) int {
	for ; characters > 0; characters-- {
		if at >= len(line) {
			return -1
		}
		_, n := utf8.DecodeRuneInString(line[at:])
		at += n
	}
	return at
}

// near are the results that may hold what begins at a place of a line: of a text of minQuote characters that a result holds,
// one of the pieces that begin in its first stride bytes is one of those that were kept.
func (e *evidence) near(line string, at int) (near []int) {
	for i := at; i < at+stride && i+stride <= len(line); i++ {
		for _, n := range e.pieces[line[i:i+stride]] {
			if e.sent[e.texts[n].message] && !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	return near
}

// held reports whether one of some results holds a text.
func (e *evidence) held(results []int, text string) bool {
	return slices.ContainsFunc(results, func(n int) bool { return strings.Contains(e.texts[n].text, text) })
}

// holding are the messages with results that hold a text.
func (e *evidence) holding(text string) (from []int) {
	for _, r := range e.texts {
		if e.sent[r.message] && (len(from) == 0 || from[len(from)-1] != r.message) && strings.Contains(r.text, text) {
			from = append(from, r.message)
		}
	}
	return from
}

// named are the messages with results that hold a name.
func (e *evidence) named(name string) (from []int) {
	for _, m := range e.names[name] {
		if e.sent[m] {
			from = append(from, m)
		}
	}
	return from
}

// namesIn yields the names in a text, each once: runs of letters, digits and _ . / - that begin with a letter, _ or /,
// without dots and dashes at the end, and that look like no plain word: they hold a slash, a dot, an underscore, a digit
// or a capital behind a small letter.
func namesIn(text string) map[string]bool {
	names := make(map[string]bool)
	for i := 0; i < len(text); {
		if !isName(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && isName(text[end]) {
			end++
		}
		word := strings.TrimRight(strings.TrimLeft(text[i:end], "-.0123456789"), "-./")
		if len(word) >= minName && len(word) <= maxName && telling(word) {
			names[word] = true
		}
		i = end
	}
	return names
}

// maxName is the longest name, in bytes: what is longer is no name but data.
const maxName = 200

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'
}

// telling reports whether a word is a path, a symbol or the name of a test rather than a word of the language.
func telling(word string) bool {
	for i := range len(word) {
		c := word[i]
		if c == '/' || c == '.' || c == '_' || '0' <= c && c <= '9' {
			return true
		}
		if i > 0 && 'A' <= c && c <= 'Z' && 'a' <= word[i-1] && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}
