package index

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// mark is a short hash of a text, under the capture's key, so that nobody can make two texts of one mark.
type mark [8]byte

// Sizes of a cursor. Its first bytes are its sum, under the capture's key.
const (
	sumBytes  = 16
	maxMarks  = 64      // that a cursor carries; if there are more, they are found again
	maxCursor = 8 << 10 // of its text
	version   = 1
)

// The flags of a place.
const (
	begun    = 1 << iota // the text at the place has been reported from
	reported             // some text has been reported from
	dropped              // the marks of the texts that have been reported from are not carried
	lost                 // some text was not available
	strange              // some text was not understood
)

// place is where a search or a read stands between two answers.
type place struct {
	text   int // number of the text; in a read, among those selected
	offset int // in its bytes
	flags  byte
	marks  []mark // of the texts that a search has reported from
}

func (p *place) set(flag byte)      { p.flags |= flag }
func (p *place) has(flag byte) bool { return p.flags&flag != 0 }

// selectors is a hash of what was asked for, so that a cursor continues nothing else.
func selectors(of ...string) mark {
	h := sha256.New()
	for _, s := range of {
		h.Write(binary.AppendUvarint(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	return mark(h.Sum(nil)[:len(mark{})])
}

// sum authenticates a cursor's bytes.
func sum(key, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("cursor\x00"))
	h.Write(data)
	return h.Sum(nil)[:sumBytes]
}

var encoding = base64.RawURLEncoding

// seal writes a cursor.
func (c Capture) seal(p place, asked mark) string {
	data := []byte{version, p.flags}
	data = append(data, asked[:]...)
	data = binary.AppendUvarint(data, uint64(p.text))
	data = binary.AppendUvarint(data, uint64(p.offset))
	data = binary.AppendUvarint(data, uint64(len(c.ID)))
	data = append(data, c.ID...)
	for _, m := range p.marks {
		data = append(data, m[:]...)
	}
	return encoding.EncodeToString(append(sum(c.Key, data), data...))
}

// longest is the length of the longest cursor without marks.
func (c Capture) longest() int {
	return len(c.seal(place{text: math.MaxInt, offset: math.MaxInt}, mark{}))
}

// open reads what seal wrote, and the ID of its capture. Anything else is not ok.
func open(cursor string, key []byte) (p place, asked mark, id string, ok bool) {
	if len(cursor) > maxCursor || len(key) == 0 {
		return place{}, mark{}, "", false
	}
	// What is read is written again: base64 has more than one spelling.
	data, err := encoding.DecodeString(cursor)
	if err != nil || len(data) < sumBytes || encoding.EncodeToString(data) != cursor {
		return place{}, mark{}, "", false
	}
	signed := data[sumBytes:]
	if !hmac.Equal(data[:sumBytes], sum(key, signed)) {
		return place{}, mark{}, "", false
	}
	return parse(signed)
}

// parse reads a cursor's bytes. That they are ours is known by their sum; that they are whole is checked all the same.
func parse(data []byte) (p place, asked mark, id string, ok bool) {
	if len(data) < 2+len(asked) || data[0] != version {
		return place{}, mark{}, "", false
	}
	p.flags, data = data[1], data[2:]
	data = data[copy(asked[:], data):]
	var numbers [3]int
	for i := range numbers {
		n, width := binary.Uvarint(data)
		if width <= 0 || n > math.MaxInt {
			return place{}, mark{}, "", false
		}
		numbers[i], data = int(n), data[width:]
	}
	p.text, p.offset = numbers[0], numbers[1]
	if numbers[2] > len(data) {
		return place{}, mark{}, "", false
	}
	id, data = string(data[:numbers[2]]), data[numbers[2]:]
	if len(data)%len(mark{}) != 0 {
		return place{}, mark{}, "", false
	}
	for ; len(data) > 0; data = data[len(mark{}):] {
		p.marks = append(p.marks, mark(data[:len(mark{})]))
	}
	return p, asked, id, true
}

// resume returns the place that a cursor names, the start if there is none, or why it names none.
func (c Capture) resume(cursor string, asked mark) (place, Reason) {
	if cursor == "" {
		return place{}, ""
	}
	p, of, id, ok := open(cursor, c.Key)
	switch {
	case !ok || id != c.ID:
		return place{}, ExpiredCursor
	case of != asked:
		return place{}, Conflicting
	}
	return p, ""
}

// CaptureOf returns the ID of the capture that a cursor continues. It is ok only if the cursor was made under this key,
// so an ID that it returns is one that a caller of this package has given.
func CaptureOf(cursor string, key []byte) (id string, ok bool) {
	_, _, id, ok = open(cursor, key)
	return id, ok
}
