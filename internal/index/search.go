package index

import (
	"crypto/sha256"
	"errors"
	"hash"
	"strings"
	"unicode/utf8"
)

// Query is one search. To continue one, the same text is asked for again, with the cursor of the last answer; limits
// may change.
type Query struct {
	Text   string // literal, 1 to MaxQuery characters, newlines among them
	Limits Limits
	Cursor string
}

// Search looks for a text in all texts of the capture, in their order. It reports every run of lines that holds a match,
// once; of texts that are equal byte for byte it reports the first. It pauses at the first result that its limits leave
// no room for.
func (c Capture) Search(q Query) Answer {
	if q.Text == "" || !utf8.ValidString(q.Text) || utf8.RuneCountInString(q.Text) > MaxQuery {
		return refuse(Unavailable, InvalidRequest)
	}
	asked := selectors("search", q.Text)
	at, space, status, reason := c.begin(&q.Limits, q.Cursor, asked)
	if reason != "" {
		return refuse(status, reason)
	}
	s := search{
		capture: c, needle: newNeedle(q.Text), asked: asked, hash: sha256.New(), salt: sum(c.Key, []byte("mark")),
		most: q.Limits.Results, space: space, left: q.Limits.ScanBytes, start: at, at: at, seen: map[mark]bool{},
	}
	for _, m := range at.marks {
		s.seen[m] = true
	}
	return s.run()
}

// search is one search on its way.
type search struct {
	capture Capture
	needle  *needle
	asked   mark
	hash    hash.Hash
	salt    []byte
	most    int   // results
	space   int   // bytes that results may still take
	left    int64 // bytes that may still be passed over
	start   place // where this answer began
	at      place
	seen    map[mark]bool // the marks of the texts that have been reported from
	results []Result
}

// run passes over the texts.
func (s *search) run() Answer {
	for t, err := range s.capture.Texts(s.at.text) {
		switch {
		case errors.Is(err, ErrUnsupported):
			s.at.set(strange)
		case err != nil:
			s.at.set(lost)
		case s.at.offset > len(t.Text):
			return refuse(Unavailable, ExpiredCursor) // the text that it stands in is not what it was
		default:
			if why := s.pass(t); why != "" {
				return s.pause(why)
			}
		}
		s.at.text, s.at.offset = s.at.text+1, 0
		s.at.flags &^= begun
	}
	return s.end()
}

// pass reports from one text, and says why it had to stop there if it had to.
func (s *search) pass(t Text) Reason {
	length, lines := len(s.needle.text), counter{text: t.Text, line: 1}
	var m mark
	if s.at.has(begun) {
		m = s.sign(t.Text)
		s.see(m)
	}
	for {
		// A match begins in what may still be passed over; it may end behind that.
		window := t.Text[s.at.offset:]
		cut := int64(len(window)) > s.left+int64(length)-1
		if cut {
			window = window[:s.left+int64(length)-1]
		}
		i := s.needle.index(window)
		switch {
		case i < 0 && cut:
			s.advance(s.at.offset + int(s.left))
			return ScanLimit
		case i < 0:
			s.advance(len(t.Text))
			return ""
		}
		s.advance(s.at.offset + i)
		if !s.at.has(begun) {
			if m = s.sign(t.Text); s.known(m) {
				s.advance(len(t.Text))
				return ""
			}
		}
		r, end := show(t, s.at.offset, s.at.offset+length, &lines)
		if !s.add(r) {
			return OutputLimit
		}
		s.see(m)
		s.at.set(begun | reported)
		// The next match that does not lie within these lines ends behind them.
		s.advance(end - length + 1)
	}
}

// advance moves on in a text.
func (s *search) advance(to int) {
	s.left = max(0, s.left-int64(to-s.at.offset))
	s.at.offset = to
}

// add takes a result in if the limits have room for it.
func (s *search) add(r Result) bool {
	n := size(r) + len(",")
	if len(s.results) == s.most || n > s.space {
		return false
	}
	s.results, s.space = append(s.results, r), s.space-n
	return true
}

// sign returns the mark of a text.
func (s *search) sign(text string) mark {
	s.hash.Reset()
	s.hash.Write(s.salt)
	var block [8 << 10]byte
	for len(text) > 0 {
		n := copy(block[:], text)
		s.hash.Write(block[:n])
		text = text[n:]
	}
	return mark(s.hash.Sum(nil)[:len(mark{})])
}

// see remembers that a text has been reported from.
func (s *search) see(m mark) {
	if !s.seen[m] {
		s.seen[m] = true
		s.at.marks = append(s.at.marks, m)
	}
}

// known reports whether a text has been reported from. If the cursor did not carry the marks of earlier texts, they are
// found again here, the first time that they are asked for.
func (s *search) known(m mark) bool {
	if s.at.has(dropped) {
		s.at.flags &^= dropped
		number := 0
		for t, err := range s.capture.Texts(0) {
			if number == s.start.text {
				break
			}
			if err == nil && s.needle.index(t.Text) >= 0 {
				s.see(s.sign(t.Text))
			}
			number++
		}
	}
	return s.seen[m]
}

// pause is the answer of a search that goes on later.
func (s *search) pause(why Reason) Answer {
	if why == OutputLimit && len(s.results) == 0 {
		return refuse(BudgetRefused, why)
	}
	a := answer(Found, CoveragePartial, why)
	if len(s.results) == 0 {
		a.Status = Partial
	}
	p := s.at
	if spare := s.space * 3 / 4; len(p.marks) > maxMarks || len(p.marks)*len(mark{}) > spare-4 {
		p.set(dropped)
	}
	if p.has(dropped) {
		p.marks = nil
	}
	a.Results, a.Cursor = append(a.Results, s.results...), s.capture.seal(p, s.asked)
	return a
}

// end is the answer of a search that has passed over everything.
func (s *search) end() Answer {
	if s.at.text == s.start.text && (s.start.text > 0 || s.start.offset > 0) {
		return refuse(Unavailable, ExpiredCursor) // the text that it stood in is gone
	}
	a := answer(Found, CoverageComplete, "")
	switch {
	case s.at.has(lost):
		a.Coverage, a.Reason = CoveragePartial, SourceUnavailable
	case s.at.has(strange):
		a.Coverage, a.Reason = CoveragePartial, UnsupportedShape
	}
	switch {
	case s.at.has(reported):
	case a.Coverage == CoverageComplete:
		a.Status = CompleteMiss
	default:
		a.Status = Partial
	}
	a.Results = append(a.Results, s.results...)
	return a
}

// counter counts the lines of a text as far as they are asked for.
type counter struct {
	text string
	at   int // up to here
	line int // that this place stands in
}

// to returns the line of a place, which is not before the last one asked for.
func (c *counter) to(place int) int {
	c.line += strings.Count(c.text[c.at:place], "\n")
	c.at = place
	return c.line
}

// show makes a result of the match from one place to another, and says where its lines end.
func show(t Text, from, to int, lines *counter) (r Result, end int) {
	start := strings.LastIndexByte(t.Text[:from], '\n') + 1
	if end = len(t.Text); strings.IndexByte(t.Text[to:], '\n') >= 0 {
		end = to + strings.IndexByte(t.Text[to:], '\n')
	}
	r = Result{Ref: t.Ref, Revision: t.Revision, Field: t.Field, N: t.N}
	r.StartLine = lines.to(start)
	r.EndLine = r.StartLine + strings.Count(t.Text[start:to], "\n")
	left, right := start, end
	if end-start > LongLine {
		left, right = max(start, from-Surroundings), min(end, to+Surroundings)
		for left < from && !utf8.RuneStart(t.Text[left]) {
			left++
		}
		for right > to && right < end && !utf8.RuneStart(t.Text[right]) {
			right--
		}
	}
	r.PrefixOmitted, r.SuffixOmitted = left > start, right < end
	r.Text = t.Text[left:right]
	return r, end
}
