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
func needs(c *conversation.Conversation) []Need {
	e := evidence{c: c, pieces: make(map[string][]spot), names: make(map[string][]int), said: make(map[string]bool)}
	var all []Need
	for i := range c.Turns {
		t := &c.Turns[i]
		e.upTo(t)
		if t.Answer >= 0 {
			all = append(all, e.needs(i)...)
		}
	}
	return all
}

// evidence is what was said so far, in a form in which quotations are found.
type evidence struct {
	c      *conversation.Conversation
	taken  []bool
	pieces map[string][]spot // of results, by stride bytes
	texts  []result          // results
	names  map[string][]int  // messages with results, by the names that are in them
	said   map[string]bool   // names that a user or the agent said
	other  strings.Builder   // all that a user or the agent said
}

// result is the text of a result, with the message that holds it.
type result struct {
	text    string
	message int
}

// spot is a place in a result's text.
type spot struct{ text, at int }

// upTo takes in what was said before the answer of a turn: all that any policy could show it.
func (e *evidence) upTo(t *conversation.Turn) {
	if e.taken == nil {
		e.taken = make([]bool, len(e.c.Messages))
	}
	for _, m := range t.New {
		e.take(m)
	}
	for _, m := range t.Whole {
		e.take(m)
	}
}

func (e *evidence) take(m int) {
	if e.taken[m] {
		return
	}
	e.taken[m] = true
	for _, p := range e.c.Messages[m].Parts {
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
		if strings.TrimSpace(piece) != "" && len(e.pieces[piece]) < maxSpots {
			e.pieces[piece] = append(e.pieces[piece], spot{n, at})
		}
	}
	for name := range namesIn(text) {
		if list := e.names[name]; len(list) == 0 || list[len(list)-1] != m {
			e.names[name] = append(list, m)
		}
	}
}

// maxSpots bounds how many places of one piece are remembered; a piece that is everywhere tells nothing.
const maxSpots = 4096

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
					add(Names, name, e.names[name])
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Need) int { return strings.Compare(a.Kind+a.Text, b.Kind+b.Text) })
	return all
}

// quotes are the parts of a line that stand in an earlier result, from left to right, each as long as it can be.
func (e *evidence) quotes(line string) []string {
	if utf8.RuneCountInString(line) < minQuote {
		return nil
	}
	type match struct{ from, to int }
	var found []match
	for at := 0; at+stride <= len(line); at++ {
		for _, s := range e.pieces[line[at:at+stride]] {
			from, to := widen(line, at, e.texts[s.text].text, s.at)
			if to-from >= minQuote {
				found = append(found, match{from, to})
			}
		}
	}
	var quotes []string
	for begin := 0; ; {
		best := match{len(line), 0}
		for _, m := range found {
			from := max(m.from, begin)
			if m.to > from && utf8.RuneCountInString(line[from:m.to]) >= minQuote && (from < best.from || from == best.from && m.to > best.to) {
				best = match{from, m.to}
			}
		}
		if best.to == 0 {
			return quotes
		}
		quotes, begin = append(quotes, line[best.from:best.to]), best.to
	}
}

// widen goes both ways from where a line and a text are the same, as far as they are, and not over the text's lines or
// through a character.
func widen(line string, at int, text string, there int) (from, to int) {
	from, to = at, at+stride
	for from > 0 && there > 0 && line[from-1] == text[there-1] && text[there-1] != '\n' {
		from, there = from-1, there-1
	}
	if strings.Contains(line[at:at+stride], "\n") {
		return 0, 0
	}
	there += to - from
	for to < len(line) && there < len(text) && line[to] == text[there] {
		to, there = to+1, there+1
	}
	for from < to && !utf8.RuneStart(line[from]) {
		from++
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	return from, to
}

// holding are the messages with results that hold a text.
func (e *evidence) holding(text string) (from []int) {
	for _, r := range e.texts {
		if (len(from) == 0 || from[len(from)-1] != r.message) && strings.Contains(r.text, text) {
			from = append(from, r.message)
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
