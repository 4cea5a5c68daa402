package provider

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is the text of one JSON value, of which as little is read as the question needs. Text that is no JSON value,
// has something behind the value or is nested more than 10,000 levels deep has no members and no elements. Invalid
// UTF-8, lone surrogates and duplicate names are no obstacle: real clients send them.
type JSON []byte

// Find returns the values of the object's members of these names, in the order asked for, nil where there is none.
// Of several members with one name the last counts. The values are parts of v, not copies.
func (v JSON) Find(names ...string) []JSON {
	found := make([]JSON, len(names))
	if !v.find(names, found) {
		clear(found)
	}
	return found
}

// find reports whether v is a complete object; until then what it found is not to be trusted.
func (v JSON) find(names []string, found []JSON) bool {
	s := v.open('{')
	if s == nil {
		return false
	}
	s.members(func(name []byte) {
		at := index(names, name)
		if value := s.part(); at >= 0 {
			found[at] = value
		}
	})
	s.end()
	return s.err == nil
}

func index(names []string, name []byte) int {
	for i, n := range names {
		if n == string(name) {
			return i
		}
	}
	return -1
}

// Elements yields the array's elements, up to where the text breaks off or stops being JSON: a provider may send an
// array piece by piece.
func (v JSON) Elements() iter.Seq[JSON] {
	return func(yield func(JSON) bool) {
		if s := v.open('['); s != nil {
			s.array(func(int) {
				if value := s.part(); value != nil && !yield(value) {
					s.fail("enough")
				}
			})
		}
	}
}

// Members yields the object's members with their decoded names, up to where the text breaks off or stops being JSON.
func (v JSON) Members() iter.Seq2[string, JSON] {
	return func(yield func(string, JSON) bool) {
		if s := v.open('{'); s != nil {
			s.members(func(name []byte) {
				if value := s.part(); value != nil && !yield(decode(name), value) {
					s.fail("enough")
				}
			})
		}
	}
}

// decode decodes a name in canonical form.
func decode(name []byte) string {
	if bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) {
		return string(name)
	}
	return JSON(`"` + string(name) + `"`).Text()
}

// Text returns the decoded string, or nothing when v is no string. Invalid UTF-8 and lone surrogates become U+FFFD.
func (v JSON) Text() string {
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, []byte(v)) // an error only says that something was replaced
	return string(text)
}

// Kind returns the byte with which the value begins, or zero when there is none.
func (v JSON) Kind() byte {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// True reports whether v is true.
func (v JSON) True() bool { return string(v) == "true" }

// Count returns a number of tokens. Only whole numbers below 2⁵³, spelled in digits, are one; so sums of a few
// cannot overflow.
func (v JSON) Count() (n int64, ok bool) {
	if len(v) == 0 || len(v) > 16 {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n < 1<<53
}

// open returns a scanner that stands before an object or an array, or nil when v is another kind of value.
func (v JSON) open(kind byte) *scanner {
	s := &scanner{body: v}
	s.names.free, s.out.off = true, 1
	if s.next() != kind {
		return nil
	}
	return s
}

// part reads a value and returns how it stands in the body, or nil when the body ends in it or it is none.
func (s *scanner) part() JSON {
	kind := s.next()
	from := s.pos
	s.value()
	number := kind == '-' || '0' <= kind && kind <= '9'
	if s.err != nil || number && s.pos == len(s.body) {
		return nil
	}
	return JSON(s.body[from:s.pos:s.pos])
}

// Cut returns the JSON value with which text begins, white space passed over, and what stands behind it. ok is false when
// text does not begin with a whole value; a number counts only when something stands behind it.
func Cut(text []byte) (v JSON, rest []byte, ok bool) {
	s := &scanner{body: text}
	s.names.free, s.out.off = true, 1
	v = s.part()
	return v, text[s.pos:], v != nil
}
