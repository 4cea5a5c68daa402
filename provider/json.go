package provider

import (
	"bytes"
	"io"
	"iter"

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
	dec := v.open('{')
	if dec == nil {
		return false
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		at := index(names, token)
		value, err := dec.ReadValue()
		if err != nil {
			return false
		}
		if at >= 0 {
			found[at] = JSON(value)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	_, err := dec.ReadToken()
	return err == io.EOF
}

func index(names []string, token jsontext.Token) int {
	name := token.String()
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// Elements yields the array's elements, up to where the text breaks off or stops being JSON: a provider may send an
// array piece by piece.
func (v JSON) Elements() iter.Seq[JSON] {
	return func(yield func(JSON) bool) {
		dec := v.open('[')
		if dec == nil {
			return
		}
		for dec.PeekKind() != ']' {
			value, err := dec.ReadValue()
			if err != nil || !yield(JSON(value)) {
				return
			}
		}
	}
}

// Text returns the decoded string, or nothing when v is no string. Invalid UTF-8 and lone surrogates become U+FFFD.
func (v JSON) Text() string {
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, []byte(v)) // an error only says that something was replaced
	return string(text)
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

// open reads the first token and returns the decoder behind it, or nil when that token is another one.
func (v JSON) open(kind jsontext.Kind) *jsontext.Decoder {
	start := bytes.TrimLeft(v, " \t\r\n")
	if len(start) == 0 || start[0] != byte(kind) {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v), // read in place; the decoder writes to no bytes.Buffer
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	return dec
}
