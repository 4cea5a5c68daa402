package index

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// Selection is one read: an entry, or one field of it, or lines of that. To continue one, the same is asked for again,
// with the cursor of the last answer; limits may change.
type Selection struct {
	Ref       string
	Revision  string // where it is not empty, the entry must be of this revision
	Field     string // empty for all texts of the entry
	StartLine int    // from 1; both are zero for all lines
	EndLine   int
	Limits    Limits
	Cursor    string
}

// refShape is what a ref looks like. Nothing else is looked for, so that no path is ever taken for a ref.
var refShape = regexp.MustCompile(`^e[1-9][0-9]{0,18}(\.[a-z0-9]{4,16})?$`)

// Read returns the selected texts, exactly, in whole lines: as many as the limits have room for. The pages of a text
// joined by newlines are the text.
func (c Capture) Read(s Selection) Answer {
	asked := selectors("read", s.Ref, s.Revision, s.Field, strconv.Itoa(s.StartLine), strconv.Itoa(s.EndLine))
	at, space, status, reason := c.begin(&s.Limits, s.Cursor, asked)
	switch {
	case s.Ref == "":
		return refuse(Unavailable, RequiresRef)
	case len(s.Ref) > MaxRef || !refShape.MatchString(s.Ref):
		return refuse(NotAuthorized, InvalidRequest)
	case s.lines() && (s.StartLine < 1 || s.EndLine < s.StartLine):
		return refuse(Unavailable, Conflicting)
	case reason != "":
		return refuse(status, reason)
	}
	found := s.from(c)
	if status, reason := found.refusal(s); reason != "" {
		return refuse(status, reason)
	}
	r := read{of: found, at: at, most: s.Limits.Results, space: space}
	return r.run(c, s, asked)
}

// lines reports whether lines are selected.
func (s Selection) lines() bool { return s.StartLine != 0 || s.EndLine != 0 }

// selected is what a selection has found.
type selected struct {
	texts []Text
	all   int    // texts of the entry, whatever their field
	stale bool   // the entry is of another revision
	gone  Reason // why some text that may be among those selected cannot be read
}

// from looks a selection up.
func (s Selection) from(c Capture) selected {
	var found selected
	for t, err := range c.Texts(0) {
		nameless := err != nil && t.Ref == "" // it may be of any entry
		if t.Ref != s.Ref && !nameless {
			continue
		}
		if !nameless {
			found.all++
			found.stale = found.stale || s.Revision != "" && t.Revision != s.Revision && (err == nil || t.Revision != "")
		}
		wanted := s.Field == "" || t.Field == s.Field
		switch {
		case err == nil && wanted:
			found.texts = append(found.texts, t)
		case err == nil || !wanted && t.Field != "":
		case errors.Is(err, ErrUnsupported):
			found.gone = UnsupportedShape
		default:
			found.gone = SourceUnavailable
		}
	}
	if s.Field != "" && len(found.texts) > 0 {
		found.gone = ""
	}
	return found
}

// refusal says why there is nothing to read, if there is nothing.
func (f selected) refusal(s Selection) (Status, Reason) {
	switch {
	case f.stale:
		return Unavailable, RevisionMismatch
	case len(f.texts) == 0 && f.gone != "":
		return Unavailable, f.gone
	case f.all == 0:
		return NotAuthorized, NotInCapture
	case len(f.texts) == 0:
		return Unavailable, UnsupportedField
	case s.lines() && (len(f.texts) > 1 || s.Field == "" && f.all > 1):
		return Unavailable, Conflicting
	case s.lines() && s.StartLine > 1+strings.Count(f.texts[0].Text, "\n"):
		return Unavailable, EndBeyondSource
	}
	return "", ""
}

// read is one read on its way.
type read struct {
	of      selected
	at      place
	most    int // results
	space   int // bytes that results may still take
	results []Result
}

// run reads from the place on.
func (r *read) run(c Capture, s Selection, asked mark) Answer {
	if !r.stands() {
		return refuse(Unavailable, ExpiredCursor)
	}
	a := answer(Found, CoverageComplete, "")
	for ; r.at.text < len(r.of.texts); r.at.text, r.at.offset = r.at.text+1, 0 {
		t := r.of.texts[r.at.text]
		first, last := 1, 1+strings.Count(t.Text, "\n")
		if s.lines() {
			first = s.StartLine
			if s.EndLine > last {
				a = answer(Partial, CoveragePartial, EndBeyondSource)
			}
			last = min(last, s.EndLine)
		}
		if r.at.offset == 0 {
			r.at.offset = after(t.Text, first-1)
		} else {
			first = 1 + strings.Count(t.Text[:r.at.offset], "\n")
		}
		if r.take(t, first, last) {
			continue
		}
		if len(r.results) == 0 {
			return refuse(BudgetRefused, OutputLimit)
		}
		a = answer(Partial, CoveragePartial, OutputLimit)
		a.Cursor = c.seal(r.at, asked)
		break
	}
	if a.Reason == "" && r.of.gone != "" {
		a = answer(Partial, CoveragePartial, r.of.gone)
	}
	a.Results = append(a.Results, r.results...)
	return a
}

// stands reports whether the place is the start, or the beginning of a line of a text that is selected.
func (r *read) stands() bool {
	if r.at.text >= len(r.of.texts) {
		return false
	}
	text, at := r.of.texts[r.at.text].Text, r.at.offset
	return at == 0 || at <= len(text) && text[at-1] == '\n'
}

// take reads lines of a text from the place on, as far as there is room, and reports whether that was all of them.
func (r *read) take(t Text, first, last int) bool {
	if len(r.results) == r.most {
		return false
	}
	x := Result{Ref: t.Ref, Revision: t.Revision, Field: t.Field, StartLine: first, N: t.N}
	left := r.space - size(x) - len(",") + len("0") // but for the end line's digits and the text
	start, end, taken := r.at.offset, -1, 0
	for line := first; line <= last; line++ {
		from := r.at.offset
		to := len(t.Text)
		if i := strings.IndexByte(t.Text[from:], '\n'); i >= 0 {
			to = from + i
		}
		need := taken + quoted(t.Text[from:to])
		if line > first {
			need += len(`\n`)
		}
		if need+len(strconv.Itoa(line)) > left {
			break
		}
		x.EndLine, end, taken = line, to, need
		r.at.offset = to + 1
	}
	if end < 0 {
		return false
	}
	x.Text = t.Text[start:end]
	r.results = append(r.results, x)
	r.space -= size(x) + len(",")
	return x.EndLine == last
}

// after returns the place behind a number of lines, which the text has.
func after(text string, lines int) int {
	at := 0
	for range lines {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at
}
