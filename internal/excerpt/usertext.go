package excerpt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// UserText shortens a long message of a user for later requests. It keeps the beginning, the end and every constraint (see
// Constraints) verbatim, once, in order, with a marker for each part that is left out; the first one says how to get the whole
// back. The result has at most limit bytes unless the constraints, of which 16 KiB or 16 times
// the limit are kept, and markers alone need more; then a quarter of limit is
// still for the beginning and the end. A limit below MinCut counts as MinCut. A text that fits, or that UserText has
// shortened to this limit or a smaller one, is returned as it is; one that it has shortened less is shortened further.
func UserText(text string, limit int, w Where) string {
	limit = max(limit, MinCut)
	if len(text) <= limit {
		return text
	}
	p := unmark(text)
	if p.limit <= limit {
		return text
	}
	keep := bounded(once(p.text, constraintSpans(p.text)), max(mostConstraints, 16*limit))
	held := len(userMarker(limit, p.all, p.all, w)) + 2*gapRoom
	for i, s := range keep {
		held += s.to - s.from
		if i > 0 {
			held += min(s.from-keep[i-1].to, gapRoom)
		}
	}
	room := max(limit-held, limit/4)
	head := headEnd(p.text, room*3/5)
	tail := tailStart(p.text, room-head)
	return p.without(p.kept(keep, head, tail), limit, w)
}

// mostConstraints is how much of the constraints of one message is kept however short it is to be, in bytes: what has more was hardly
// written by hand.
const mostConstraints = 16 << 10

// bounded are the first of parts that have so many bytes together.
func bounded(parts []span, most int) []span {
	for i, s := range parts {
		if most -= s.to - s.from; most < 0 {
			return parts[:i]
		}
	}
	return parts
}

// once are parts of a text, those that say the same only the first time.
func once(text string, parts []span) []span {
	seen := make(map[string]bool)
	return slices.DeleteFunc(parts, func(s span) bool {
		said := text[s.from:s.to]
		again := seen[said]
		seen[said] = true
		return again
	})
}

// gapRoom is the size from which on a gap gets a marker, in bytes; leaving out less is not worth one.
const gapRoom = 60

// partial is a text of which parts may have been left out before.
type partial struct {
	text  string // with a line end for each part
	holes []hole // where they were, in order
	all   int    // characters of the whole
	limit int    // to which it was shortened; beyond any other where it was not
}

// hole is a part that was left out: at a line end of the text, with its characters, that line end counted.
type hole struct{ at, n int }

// kept are the parts of a text that are kept: its head, its tail, and what is between; as one where they overlap or nearly
// meet, and apart where something was left out before.
func (p partial) kept(between []span, head, tail int) []span {
	all := []span{{0, head}}
	for _, s := range append(between, span{tail, len(p.text)}) {
		s.from = min(s.from, tail)
		if last := &all[len(all)-1]; s.from <= last.to+gapRoom {
			last.to = max(last.to, s.to)
		} else {
			all = append(all, s)
		}
	}
	var parts []span
	for _, s := range all {
		for _, h := range p.holes {
			if h.at >= s.from && h.at < s.to {
				parts = append(parts, span{s.from, h.at})
				s.from = h.at + 1
			}
		}
		parts = append(parts, s)
	}
	return parts
}

// without is a text of only some of its parts, each gap between which is said. The line ends around a gap are the marker's.
func (p partial) without(parts []span, limit int, w Where) string {
	var b strings.Builder
	gaps := make([]int, len(parts))
	total := 0
	for i := 1; i < len(parts); i++ {
		before, after := &parts[i-1], &parts[i]
		if before.to > before.from && p.text[before.to-1] == '\n' {
			before.to--
		}
		if after.from < after.to && p.text[after.from] == '\n' {
			after.from++
		}
		gaps[i] = p.characters(before.to, after.from)
		total += gaps[i]
	}
	for i, s := range parts {
		if i == 1 {
			b.WriteString("\n" + userMarker(limit, total, p.all, w))
		}
		if i > 0 {
			fmt.Fprintf(&b, "\n[… %s characters left out …]\n", grouped(gaps[i]))
		}
		b.WriteString(p.text[s.from:s.to])
	}
	return b.String()
}

// characters is how many characters of the whole stand between two places of a text.
func (p partial) characters(from, to int) int {
	n := utf8.RuneCountInString(p.text[from:to])
	for _, h := range p.holes {
		if h.at >= from && h.at < to {
			n += h.n - 1
		}
	}
	return n
}

// userMarker is the line that says that a message was shortened.
func userMarker(limit, out, all int, w Where) string {
	return fmt.Sprintf("[Ambit shortened this message, aiming at %s bytes: %s of %s characters are left out where marked; sentences that state constraints are kept. %s]",
		grouped(limit), grouped(out), grouped(all), userBack(w))
}

// userBack says how to get the whole of a message back. A user's message cannot be called again.
func userBack(w Where) string {
	if w.Ref == "" {
		return "The rest is not kept."
	}
	return back(w)
}

var (
	userMarked = regexp.MustCompile(`\n\[Ambit shortened this message, aiming at ([\d,]+) bytes: ([\d,]+) of ([\d,]+) characters are left out where marked; [^\n]*\]\n`)
	gapMarked  = regexp.MustCompile(`\n\[… ([\d,]+) characters left out …\]\n`)
)

// unmark takes the markers of UserText off a text that it has shortened. Where their figures do not add up, the text has
// other markers, or was changed since, and counts as whole.
func unmark(text string) partial {
	whole := partial{text: text, all: utf8.RuneCountInString(text), limit: int(^uint(0) >> 1)}
	m := userMarked.FindStringSubmatchIndex(text)
	if m == nil {
		return whole
	}
	p := partial{limit: number(text[m[2]:m[3]]), all: number(text[m[6]:m[7]])}
	rest := text[:m[0]] + text[m[1]-1:]
	var b strings.Builder
	at, out := 0, 0
	for _, g := range gapMarked.FindAllStringSubmatchIndex(rest, -1) {
		b.WriteString(rest[at:g[0]])
		n := number(rest[g[2]:g[3]])
		p.holes = append(p.holes, hole{b.Len(), n})
		b.WriteByte('\n')
		at, out = g[1], out+n
	}
	b.WriteString(rest[at:])
	p.text = b.String()
	if out != number(text[m[4]:m[5]]) || p.characters(0, len(p.text)) != p.all {
		return whole
	}
	return p
}

// number is a number as grouped spells it; negative for anything else.
func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return -1
	}
	return n
}
