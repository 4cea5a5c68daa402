package excerpt

import "strings"

// Constraints are the sentences of a user's text that state a constraint, a preference or a prohibition, verbatim and in
// their order: what must, must never or should be done, what is to be kept, avoided or used, bounds, and the items of lists
// under a title such as "Rules:". It knows them by their words, in English and the basics of German, French, Spanish,
// Chinese, Japanese and some others, and rather takes a sentence too many than one too few. A sentence ends at . ! ? or
// their wide forms, at a line end unless it plainly goes on, and at a semicolon where it is long; a sentence that points
// back with a pronoun takes the one before it along. Fenced blocks, code, diffs, logs and stack traces do not count, but
// for lines in them that state a rule in plain words.
func Constraints(text string) []string {
	var found []string
	for _, s := range constraintSpans(text) {
		found = append(found, text[s.from:s.to])
	}
	return found
}

// constraintSpans are where the constraints of a text stand, in order, without overlap.
func constraintSpans(text string) []span {
	f := finder{text: text, rows: rows(text)}
	parts, first := passages(text, f.rows)
	last := -1
	for i, p := range parts {
		if first[i] <= last { // taken with the line that leads to it
			continue
		}
		last = f.passage(p, first[i])
	}
	return f.found
}

// finder seeks the constraints of a text.
type finder struct {
	text  string
	rows  []row
	under section
	found []span
}

// section is the list of rules that lines stand under.
type section struct {
	open  bool
	title bool // under a title with #, which holds up to the next one
	rows  int  // lines seen in it
	gap   bool // the line before was blank
	after int  // the row after the last one that was seen
}

// maxSection bounds the lines that a title with # makes rules.
const maxSection = 60

// passage looks at one. It returns the last row that it took, -1 where that is within the passage.
func (f *finder) passage(p span, at int) int {
	r := f.rows[at]
	if r.fence {
		return -1
	}
	body := f.text[p.from:p.to]
	if !r.inside && !r.noise && titled(body, r.title) {
		f.under = section{open: true, title: r.title, after: at + 1}
		f.take(p)
		return -1
	}
	if f.belongs(r, at) {
		f.take(p)
		return -1
	}
	if !f.speaks(r, p) {
		return -1
	}
	return f.sentences(p, at, r)
}

// belongs reports whether a row stands in a list of rules and is one for that.
func (f *finder) belongs(r row, at int) bool {
	u := &f.under
	if !u.open {
		return false
	}
	u.gap = at > u.after
	u.after, u.rows = at+1, u.rows+1
	switch {
	case r.inside:
		return false
	case r.title || u.rows > maxSection:
		u.open = false
	case r.item:
		return true
	case u.title:
		return !r.noise
	case u.gap && u.rows > 1:
		u.open = false
	case r.noise:
		u.open = false
	default:
		return true
	}
	return false
}

// speaks reports whether a person may say something in a row.
func (f *finder) speaks(r row, p span) bool {
	body := f.text[p.from:p.to]
	switch {
	case r.inside && r.noise:
		return false
	case r.inside:
		_, plain, _ := tally(body)
		return (plain >= 4 || foreign(body)) && strict(body)
	case !r.noise:
		return true
	case logged(body):
		return false
	case r.edge != "":
		return opens(r.edge) && strict(r.edge)
	}
	words, plain, _ := tally(body)
	return plain >= 4 && 2*plain >= words && strict(body)
}

// sentences takes those sentences of a passage that are constraints. One that ends in a colon takes what it leads to along.
func (f *finder) sentences(p span, at int, r row) int {
	all := sentences(f.text, p)
	for i, s := range all {
		body := f.text[s.from:s.to]
		if !rules(body, r.title) {
			continue
		}
		if i > 0 && pointsBack(body) && all[i-1].to-all[i-1].from >= shortBefore {
			s.from = all[i-1].from
		}
		if i == len(all)-1 && r.prose() && (strings.HasSuffix(body, ":") || strings.HasSuffix(body, "：")) {
			return f.lead(s, at)
		}
		f.take(s)
	}
	return -1
}

// Bounds of what a sentence takes along, in bytes: a sentence that points back, and a list that a sentence leads to. A
// longer list is taken item by item.
const (
	shortSentence = 60
	shortBefore   = 12 // what is shorter is no sentence that one points back to
	maxLed        = 1200
)

// pointsBack reports whether a short sentence says of what it speaks only by a pronoun.
func pointsBack(s string) bool {
	return len(s) <= shortSentence && pronouns.in(words(s))
}

var pronouns = cueList(`it|its|that|this|them|they|these|those|es|sie|das|dies|diese|ça|cela|le|les|eso|esto|lo|los|it's|that's`)

// lead takes a sentence with the list or the block that it leads to, and returns the last row of that.
func (f *finder) lead(s span, at int) int {
	for at+1 < len(f.rows) && f.rows[at].to < s.to {
		at++
	}
	base, last := f.rows[at], at
	i := at + 1
	if i < len(f.rows) && f.rows[i].blank() {
		i++
	}
	fenced := i < len(f.rows) && f.rows[i].fence
	for ; i < len(f.rows) && f.rows[last].to-s.from <= maxLed; i++ {
		r := f.rows[i]
		part := r.item || r.indent > base.indent || r.noise && !r.title && !logged(f.text[r.from:r.to])
		if fenced {
			part = last == at || !f.rows[last].fence || last == i-1 && f.rows[last].fence && f.rows[i].inside
		}
		if r.blank() && !fenced || !part {
			break
		}
		last = i
		if fenced && r.fence && f.rows[i-1].inside {
			break
		}
	}
	to := f.rows[last].to
	if last == at {
		f.take(s)
		return -1
	}
	if to-s.from <= maxLed {
		f.take(span{s.from, to})
		return last
	}
	f.take(s)
	f.under = section{open: !fenced, after: at + 1}
	return -1
}

// take adds a part of the text. One that overlaps the last is joined with it.
func (f *finder) take(s span) {
	if n := len(f.found); n > 0 && s.from < f.found[n-1].to {
		f.found[n-1].to = max(s.to, f.found[n-1].to)
		return
	}
	f.found = append(f.found, s)
}

// distinct are texts in their order, each once.
func distinct(texts []string) []string {
	var all []string
	seen := make(map[string]bool)
	for _, s := range texts {
		if !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}
