package provider

import (
	"iter"
	"slices"
)

// Place is a JSON value where it stands in a body.
type Place struct {
	JSON
	From int // in bytes
}

// To is where the value ends, in bytes.
func (p Place) To() int { return p.From + len(p.JSON) }

// Members is JSON.Members with where each value stands.
func (p Place) Members() iter.Seq2[string, Place] {
	return func(yield func(string, Place) bool) {
		if s := p.open('{'); s != nil {
			s.members(func(name []byte) {
				if v := s.part(); v != nil && !yield(decode(name), p.inside(s, v)) {
					s.fail("enough")
				}
			})
		}
	}
}

// Elements is JSON.Elements with where each value stands.
func (p Place) Elements() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		if s := p.open('['); s != nil {
			s.array(func(int) {
				if v := s.part(); v != nil && !yield(p.inside(s, v)) {
					s.fail("enough")
				}
			})
		}
	}
}

// inside returns the place of the part of p that was read last.
func (p Place) inside(s *scanner, part JSON) Place { return Place{part, p.From + s.pos - len(part)} }

// Member returns the member of the name, and one without a value where there is none. Of several the last counts.
func (p Place) Member(name string) (found Place) {
	for n, v := range p.Members() {
		if n == name {
			found = v
		}
	}
	return found
}

// Splice is a body with changes to its bytes, which are made in one pass. The changes are of parts that do not overlap.
type Splice struct {
	body []byte
	cuts []cut
}

// cut puts text in place of the bytes from from to to.
type cut struct {
	from, to int
	text     []byte
	drop     bool // it is an element of an array, and is left out with its comma
}

// Replace puts text in place of a value.
func (s *Splice) Replace(p Place, text []byte) {
	s.cuts = append(s.cuts, cut{from: p.From, to: p.To(), text: text})
}

// Insert puts text between two bytes, behind what was put there before.
func (s *Splice) Insert(at int, text []byte) {
	s.cuts = append(s.cuts, cut{from: at, to: at, text: text})
}

// Drop leaves an element of an array out, with its comma and the white space on one side.
func (s *Splice) Drop(p Place) {
	s.cuts = append(s.cuts, cut{from: p.From, to: p.To(), drop: true})
}

// Set gives the object a member. A value that the member has is replaced; else the member is put behind the others, of which
// there must be one.
func (s *Splice) Set(object Place, name string, value []byte) {
	last := object.From + 1
	for n, v := range object.Members() {
		if n == name {
			s.Replace(v, value)
			return
		}
		last = v.To()
	}
	text := append(AppendText([]byte{','}, name), ':')
	s.Insert(last, append(text, value...))
}

// Body makes the changes in a new body.
func (s *Splice) Body() []byte {
	slices.SortStableFunc(s.cuts, func(a, b cut) int { return a.from - b.from })
	size := len(s.body)
	for _, c := range s.cuts {
		size += len(c.text)
	}
	out, at := make([]byte, 0, size), 0
	for i := 0; i < len(s.cuts); i++ {
		c := s.cuts[i]
		if c.drop {
			c, i = s.run(i)
		}
		if c.from > at {
			out, at = append(out, s.body[at:c.from]...), c.from
		}
		out, at = append(out, c.text...), max(at, c.to)
	}
	return append(out, s.body[at:]...)
}

// run returns what leaves out the elements from number i on that stand directly behind each other, and the number of the last.
// The comma that goes with them stands behind them, or where nothing stands there, before them.
func (s *Splice) run(i int) (all cut, last int) {
	all = s.cuts[i]
	behind := s.behind(all.to)
	for i+1 < len(s.cuts) && behind > 0 && s.cuts[i+1].drop && s.cuts[i+1].from == behind {
		i++
		all.to = s.cuts[i].to
		behind = s.behind(all.to)
	}
	if behind > 0 {
		all.to = behind
		return all, i
	}
	before := all.from
	for before > 0 && isBlank(s.body[before-1]) {
		before--
	}
	if before > 0 && s.body[before-1] == ',' {
		all.from = before - 1
	}
	return all, i
}

// behind returns where what follows the comma behind an element begins, or zero where there is no comma.
func (s *Splice) behind(to int) int {
	if to = blank(s.body, to); to < len(s.body) && s.body[to] == ',' {
		return blank(s.body, to+1)
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
