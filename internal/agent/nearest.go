package agent

import (
	"fmt"
	"strings"
)

const (
	longLine = 200 // bytes of a line that an error quotes
	alike    = 0.5 // from which likeness on a line is worth naming
)

// nearest says what comes closest to a text that is not there: where most of its lines stand one behind the other and which
// is the first that differs, or else the line that is most like its first.
func (d document) nearest(old string) string {
	file := strings.Split(strings.TrimSuffix(d.text, "\n"), "\n")
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	at, most := 0, 0
	for i := range file {
		n := 0
		for n < len(want) && i+n < len(file) && strings.TrimSpace(file[i+n]) == strings.TrimSpace(want[n]) {
			n++
		}
		if n > most && strings.TrimSpace(want[0]) != "" {
			at, most = i, n
		}
	}
	if most > 0 {
		return d.differs(file, want, at, most)
	}
	first, best := strings.TrimSpace(want[0]), alike
	wanted := pairs(first)
	for i, line := range file {
		if like := likeness(wanted, pairs(strings.TrimSpace(line))); like > best {
			at, most, best = i, 1, like
		}
	}
	if most == 0 {
		return "No line is like its first one: read the file again."
	}
	return fmt.Sprintf("The nearest to its first line is line %d: %q", at+1, shorten(file[at], longLine))
}

// differs says what is wrong with lines that are nearly the ones that are wanted.
func (d document) differs(file, want []string, at, same int) string {
	for i := range same {
		if file[at+i] != want[i] && (i > 0 || !strings.HasSuffix(file[at], want[0])) {
			return fmt.Sprintf("The nearest is line %d, whose spaces are others: %q", at+i+1, shorten(file[at+i], longLine))
		}
	}
	switch {
	case same == len(want):
		return fmt.Sprintf("The nearest is line %d: only line breaks or spaces at its borders are others: %q", at+1, shorten(file[at], longLine))
	case at+same == len(file):
		return fmt.Sprintf("Its first %d lines stand at line %d, where the file ends.", same, at+1)
	}
	return fmt.Sprintf("Its beginning stands at line %d, but then line %d is %q, not %q.", at+1, at+same+1,
		shorten(file[at+same], longLine), shorten(want[same], longLine))
}

// pairs counts the pairs of bytes in a line.
func pairs(line string) map[[2]byte]int {
	line = line[:min(len(line), 5*longLine)]
	m := make(map[[2]byte]int, len(line))
	for i := range max(0, len(line)-1) {
		m[[2]byte{line[i], line[i+1]}]++
	}
	return m
}

// likeness is how many of their pairs two lines share: 0 for none, 1 for all.
func likeness(a, b map[[2]byte]int) float64 {
	all, shared := 0, 0
	for p, n := range a {
		all += n
		shared += min(n, b[p])
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(all)
}

// shorten is the beginning of a text, in whole characters.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:runes([]byte(text[:most]))] + "…"
}
