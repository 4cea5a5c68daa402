package selection

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"ambit/unit"
)

// lineKinds are kinds of lines by how they begin, those first that are worth more. So many times as often as lines at large
// they were quoted, byte for byte, by the agents of 21 recordings from results that were twelve answers old and more.
var lineKinds = []*regexp.Regexp{
	regexp.MustCompile(`^(?:import|from|use|#include|require|export [{*])`), // 7.8
	regexp.MustCompile(`^#{1,4} `),                                          // 5.0
	regexp.MustCompile(`^(?:await|expect|assert|throw)\b`),                  // 4.0
	regexp.MustCompile(`^["']?[\w.]+["']?\s*[:=]`),                          // 3.5
	regexp.MustCompile(`^(?:(?:export|pub|public|private|static|async) )*(?:func|def|class|type|interface|struct|impl|fn|function|const|let|var)\b`), // 2.9
	regexp.MustCompile(`^(?:if|for|while|else|\} else|switch|case)\b`),                                                                               // 2.5
	regexp.MustCompile(`^return\b`), // 1.7
	regexp.MustCompile(`^[\w.]+\(`), // 1.3
}

// rankOf is the place of a line's kind; len(lineKinds) for any other.
func rankOf(line string) int {
	if i := slices.IndexFunc(lineKinds, func(k *regexp.Regexp) bool { return k.MatchString(line) }); i >= 0 {
		return i
	}
	return len(lineKinds)
}

// numbered is how tools that show files put a number before a line, and matched how those that search do. Elsewhere what looks
// like a number before a colon may be a time or a code.
var (
	numbered = regexp.MustCompile(`^\s*\d+(?:→|\t|\| )`)
	matched  = regexp.MustCompile(`^\d+[:-]`)
)

// A line is told again from so many bytes on, and up to so many.
const (
	leastLine = 40
	mostLine  = 160
)

// told is a line of a result that is left out.
type told struct {
	line string
	rank int
	from int // the message
}

// outline are lines of the results that a plan leaves out, each once, in so many bytes: those that tell most, and of these the
// ones that were read last. They stand in the order in which they were read, the newest results first.
func (t *talk) outline(p *plan, most int) (list []string) {
	lines := t.left(p)
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[a].rank, lines[b].rank) })
	chosen, of := make([]bool, len(lines)), make(map[int]int)
	room := most
	for _, i := range order {
		n := len(lines[i].line) + 1
		if n > room {
			break
		}
		if of[lines[i].from]+n <= most/3 {
			of[lines[i].from] += n
			chosen[i], room = true, room-n
		}
	}
	for i := range lines {
		if chosen[i] {
			list = append(list, lines[i].line)
		}
	}
	return list
}

// left are the lines of the results that a plan leaves out which may be told again.
func (t *talk) left(p *plan) (lines []told) {
	seen := make(map[string]bool)
	for i := len(p.faces) - 1; i >= 0; i-- {
		if !p.faces[i].Gone && len(p.faces[i].Texts) == 0 || len(t.in.Messages[i].Results) == 0 {
			continue
		}
		for _, part := range t.unit(i).Parts {
			if part.Kind != unit.Result {
				continue
			}
			before := numbered
			if t.call(part.ID).kind == looks {
				before = matched
			}
			for line := range strings.Lines(part.Text) {
				line = strings.TrimSpace(line[len(before.FindString(line)):])
				if len(line) >= leastLine && len(line) <= mostLine && !seen[line] {
					seen[line] = true
					lines = append(lines, told{line, rankOf(line), i})
				}
			}
		}
	}
	return lines
}
