package provider

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth is how deep values may be nested, as in jsontext.
const maxDepth = 10_000

// scanner reads JSON from front to back, each byte once, and writes what it reads in canonical form: strings with
// minimal escapes, numbers as spelled, no spaces. It refuses what is not JSON, names that are repeated in an object
// and what is nested too deeply. Errors stick.
type scanner struct {
	body  []byte
	pos   int
	depth int
	names names
	out   writer
	err   error
}

func (s *scanner) fail(why string) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s at byte %d", ErrNotUnderstood, why, s.pos)
		s.pos = len(s.body)
	}
}

// next passes white space over and returns the byte behind it, or zero at the end.
func (s *scanner) next() byte {
	for s.pos < len(s.body) {
		c := s.body[s.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
		s.pos++
	}
	return 0
}

// end reads the white space behind the last value and refuses anything else.
func (s *scanner) end() {
	if s.next(); s.pos < len(s.body) {
		s.fail("text behind the value")
	}
}

// value reads any value.
func (s *scanner) value() {
	switch c := s.next(); c {
	case '{':
		s.object(func([]byte) { s.value() })
	case '[':
		s.array(func(int) { s.value() })
	case '"':
		s.text()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

// array reads an array, each element with the function.
func (s *scanner) array(element func(i int)) {
	if !s.open('[') {
		return
	}
	if s.next() == ']' {
		s.close(']')
		return
	}
	for i := 0; ; i++ {
		element(i)
		switch s.next() {
		case ',':
			s.pos++
			s.out.byte(',')
		case ']':
			s.close(']')
			return
		default:
			s.fail("no comma or end in an array")
			return
		}
	}
}

// object reads an object, each value with the function, which is given the canonical name.
func (s *scanner) object(member func(name []byte)) {
	first := true
	s.members(func(name []byte) {
		if !first {
			s.out.byte(',')
		}
		first = false
		s.out.name(name)
		member(name)
	})
}

// members reads an object like object, but leaves it to the function whether the member is written.
func (s *scanner) members(member func(name []byte)) {
	if !s.open('{') {
		return
	}
	from := s.names.enter()
	defer s.names.leave(from)
	if s.next() == '}' {
		s.close('}')
		return
	}
	for {
		name := s.name()
		if !s.names.add(from, name) {
			s.fail("a name that stands twice")
		}
		if s.next() != ':' {
			s.fail("no colon behind a name")
			return
		}
		s.pos++
		member(name)
		switch s.next() {
		case ',':
			s.pos++
			s.next()
		case '}':
			s.close('}')
			return
		default:
			s.fail("no comma or end in an object")
			return
		}
	}
}

func (s *scanner) open(c byte) bool {
	if s.next() != c {
		s.fail("another kind of value")
		return false
	}
	if s.depth == maxDepth {
		s.fail("more than 10,000 levels")
		return false
	}
	s.depth++
	s.pos++
	s.out.byte(c)
	return true
}

func (s *scanner) close(c byte) {
	s.depth--
	s.pos++
	s.out.byte(c)
}

// name reads a name and returns what stands between its quotes in canonical form.
func (s *scanner) name() []byte {
	if s.next() != '"' {
		s.fail("no name")
		return nil
	}
	from := s.pos + 1
	end, plain := s.skipText()
	switch {
	case s.err != nil:
		return nil
	case plain:
		return s.body[from : end-1]
	}
	var w writer
	w.text(s.body[from : end-1])
	return w.buf
}

// text reads a string.
func (s *scanner) text() {
	from := s.pos
	end, plain := s.skipText()
	switch {
	case s.err != nil:
	case plain:
		s.out.bytes(s.body[from:end])
	default:
		s.out.byte('"')
		s.out.text(s.body[from+1 : end-1])
		s.out.byte('"')
	}
}

// skipText reads a string, returns the position behind it, and reports whether it is in canonical form.
func (s *scanner) skipText() (end int, plain bool) {
	plain = true
	for i := s.pos + 1; ; {
		i = special(s.body, i)
		if i >= len(s.body)-1 && (i == len(s.body) || s.body[i] != '"') {
			s.fail("a string that does not end")
			return 0, false
		}
		switch s.body[i] {
		case '"':
			s.pos = i + 1
			return s.pos, plain
		case '\\':
			switch s.body[i+1] {
			case '"', '\\', 'n', 'r', 't', 'b', 'f':
				i += 2
			case '/':
				plain = false
				i += 2
			case 'u':
				plain = false
				if hex4(s.body[i+2:]) < 0 {
					s.fail("an escape that is none")
					return 0, false
				}
				i += 6
			default:
				s.fail("an escape that is none")
				return 0, false
			}
		default:
			s.fail("a control character in a string")
			return 0, false
		}
	}
}

// special returns the position of the first quote, backslash or control character from i on, or the length.
func special(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^('"'*ones), x^('\\'*ones)
		// The lowest bit that is set is exact; those above it may come from the borrow.
		hit := ((x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.body[s.pos:], []byte(word)) {
		s.fail("no value")
		return
	}
	s.pos += len(word)
	s.out.string(word)
}

// number reads a number, or finds that there is no value.
func (s *scanner) number() {
	from := s.pos
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.pos++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		s.digits()
	}
	if s.err == nil {
		s.out.bytes(s.body[from:s.pos])
	}
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.body) && s.body[s.pos] == c }

func (s *scanner) digits() {
	from := s.pos
	for s.pos < len(s.body) && '0' <= s.body[s.pos] && s.body[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == from {
		s.fail("no value")
	}
}
