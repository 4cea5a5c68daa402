package provider

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
)

// Reader reads a request's body into its canonical elements. A family walks the body with it from front to back:
// every method reads the value that comes next. A Reader is for one body and one goroutine.
type Reader struct {
	s scanner

	// Show is called with the canonical form of each element, for tests and for those who ask why two hashes differ.
	// The bytes are only lent.
	Show func(form []byte)

	body  []byte    // one that was read before
	known []Element // its elements, in the order of that body
	next  int       // of these, the first that was not compared with
}

// Form says which members of an element are not part of what it says, and where its content blocks are. cache_control
// and null are left out of every element and every block, at their top.
type Form struct {
	Drop   []string // members of the element that are left out
	Blocks string   // the member that holds content blocks; empty when there is none
	Text   string   // the type of the one block that a string in its place stands for; empty when it stands for none
}

// NewReader returns a Reader that stands before the body's only value.
func NewReader(body []byte) *Reader {
	r := &Reader{s: scanner{body: body}}
	r.s.out.hash = sha256.New()
	r.s.out.off = 1
	return r
}

// After returns a Reader for a body that may repeat what is known of another; nil is nothing.
func After(k *Known, body []byte) *Reader {
	r := NewReader(body)
	if k != nil {
		e := &k.Elements
		r.body, r.known = k.Body, slices.Concat(e.Tools, e.Deferred, e.System, e.Messages)
		slices.SortFunc(r.known, func(a, b Element) int { return a.Offset - b.Offset })
	}
	return r
}

// again passes over the element that comes next, if it stands at the same place in the body that is known. Only objects are
// looked at, which end where they end whatever follows.
func (r *Reader) again(at string) (Element, bool) {
	if len(r.known) == 0 || r.Show != nil || r.s.next() != '{' || r.s.err != nil {
		return Element{}, false
	}
	for i := 0; i < maxMissed && r.next+i < len(r.known); i++ {
		k := &r.known[r.next+i]
		if k.At != at {
			continue
		}
		r.next += i + 1
		from := r.s.pos
		if old := r.body[k.Offset : k.Offset+k.Length]; bytes.HasPrefix(r.s.body[from:], old) {
			r.s.pos += len(old)
			return Element{Hash: k.Hash, At: at, Offset: from, Length: len(old)}, true
		}
		break
	}
	return Element{}, false
}

// maxMissed is how many known elements may stand before the one at a place, because they are gone.
const maxMissed = 4

// Members reads an object and calls member for each, with its decoded name. A value that member does not read is
// passed over, and so is a value that is no object.
func (r *Reader) Members(member func(name string)) {
	if r.s.next() != '{' {
		r.Skip()
		return
	}
	r.s.members(func(name []byte) {
		r.s.next()
		from := r.s.pos
		member(decode(name))
		if r.s.pos == from {
			r.Skip()
		}
	})
}

// List reads an array, whose JSON pointer is at, and calls element for each with the pointer to it. An element that
// is not read is passed over, and so is a value that is no array.
func (r *Reader) List(at string, element func(at string)) {
	if r.s.next() != '[' {
		r.Skip()
		return
	}
	r.s.array(func(i int) {
		r.s.next()
		from := r.s.pos
		element(at + "/" + strconv.Itoa(i))
		if r.s.pos == from {
			r.Skip()
		}
	})
}

// Skip reads any value.
func (r *Reader) Skip() { r.s.value() }

// Kind returns the first byte of the next value, or zero when there is none.
func (r *Reader) Kind() byte { return r.s.next() }

// Mark returns where the reader stands, for Back.
func (r *Reader) Mark() int { return r.s.pos }

// Back puts the reader to where it stood in the object or array that it now stands in, to read a part once more.
func (r *Reader) Back(mark int) {
	if r.s.err == nil {
		r.s.pos = mark
	}
}

// Text returns the next value, when it is a string, decoded; and nothing else otherwise. Either way it is read.
func (r *Reader) Text() string {
	r.s.next()
	from := r.s.pos
	r.Skip()
	return JSON(r.s.body[from:r.s.pos]).Text()
}

// Peek returns the members of these names of the object that comes next, nil where there is none, and reads nothing.
func (r *Reader) Peek(names ...string) []JSON { return peek(r.s.body[r.s.pos:], names) }

// Element reads an element, whose JSON pointer is at.
func (r *Reader) Element(at string, f Form) Element {
	if e, ok := r.again(at); ok {
		return e
	}
	return r.element(at, func() { r.s.form(f) })
}

// Wrapped reads an element that is a string and stands for what before, the string and after make together.
func (r *Reader) Wrapped(at, before, after string) Element {
	return r.element(at, func() {
		r.s.out.string(before)
		r.s.value()
		r.s.out.string(after)
	})
}

func (r *Reader) element(at string, read func()) Element {
	out := &r.s.out
	if r.Show != nil {
		out.hash = nil
	}
	r.s.next()
	from := r.s.pos
	out.off--
	read()
	out.off++
	if r.Show != nil && r.s.err == nil {
		r.Show(out.buf)
	}
	return Element{Hash: out.sum(), At: at, Offset: from, Length: r.s.pos - from}
}

// End reads what stands behind the value. The error is ErrNotUnderstood, with the reason, and counts for everything
// that was read.
func (r *Reader) End() error {
	r.s.end()
	return r.s.err
}

// form writes an element.
func (s *scanner) form(f Form) {
	if s.next() != '{' {
		s.value()
		return
	}
	first := true
	s.members(func(name []byte) {
		if s.next() == 'n' || string(name) == "cache_control" || slices.Contains(f.Drop, string(name)) {
			s.out.off++
			s.value()
			s.out.off--
			return
		}
		if !first {
			s.out.byte(',')
		}
		first = false
		s.out.name(name)
		if f.Blocks != "" && string(name) == f.Blocks {
			s.blocks(f.Text)
		} else {
			s.value()
		}
	})
}

// blocks writes content blocks: a list of them, or what stands for one.
func (s *scanner) blocks(text string) {
	switch c := s.next(); {
	case c == '[':
		s.array(func(int) { s.form(Form{}) })
	case c == '"' && text != "":
		s.out.string(`[{"type":"` + text + `","text":`)
		s.text()
		s.out.string("}]")
	default:
		s.form(Form{})
	}
}
