package journal

import (
	"encoding/binary"
	"math/bits"
)

const (
	// blockLen is the length of the blocks by which literal text is found again. Of 16, 32 and 64 bytes, 32 gave
	// the smallest sessions over the recorded traffic of six clients.
	blockLen = 32
	// minMatch is the length from which on known text is not stored again. A shorter match would cost more, as an
	// extent of every body to come, than its bytes do once. Of 32 to 1024 bytes, 128 to 512 gave the smallest sessions
	// over the same traffic.
	minMatch = 192
	// windowLen bounds the text of one window, in bytes. Two windows are kept, so that between one and two of them
	// are searched: the newest 32 to 64 MiB of a session's literal text.
	windowLen = 32 << 20
	// hashPrime is the base of the polynomial by which blocks are hashed; any large odd number serves.
	hashPrime = 0x9E3779B185EBCA87
)

// primePower is hashPrime to the power of blockLen: what a byte has become when it leaves the rolling block.
var primePower = func() uint64 {
	p := uint64(1)
	for range blockLen {
		p *= hashPrime
	}
	return p
}()

// matcher finds what a new body repeats of a session's recent literal text.
type matcher struct {
	recent, older *window
}

// window is a run of literal text with the places of its blocks.
type window struct {
	start uint64 // literal address of the first byte
	text  []byte
	table []uint32 // by hash: 1 + the number of the block that has it, newest last; 0 where there is none
	shift uint
	done  int // blocks in table
}

func newMatcher(start uint64) *matcher { return &matcher{recent: newWindow(start)} }

func newWindow(start uint64) *window {
	w := &window{start: start}
	w.grow(10)
	return w
}

// split divides a body into extents of known text and, between them, new literal text, which will stand from the
// literal address next on. The literal is the concatenation of what is new.
func (m *matcher) split(body []byte, next uint64) (extents []extent, literal []byte) {
	from, at := 0, 0 // body[from:at] is new so far
	emit := func(x extent) {
		if n := len(extents); n > 0 && extents[n-1].start+extents[n-1].length == x.start {
			extents[n-1].length += x.length
		} else {
			extents = append(extents, x)
		}
	}
	fresh := func(to int) {
		if to > from {
			emit(extent{next + uint64(len(literal)), uint64(to - from)})
			literal = append(literal, body[from:to]...)
		}
	}
	var h uint64
	for rolled := false; at+blockLen <= len(body); {
		if !rolled {
			h = hashBlock(body[at:])
			rolled = true
		}
		start, back, length := m.find(h, body, from, at)
		if length == 0 {
			if at+blockLen < len(body) {
				h = h*hashPrime + uint64(body[at+blockLen]) - uint64(body[at])*primePower
			}
			at++
			continue
		}
		if back+length < minMatch {
			at += length
			rolled = false
			continue
		}
		fresh(at - back)
		emit(extent{start, uint64(back + length)})
		at += length
		from, rolled = at, false
	}
	fresh(len(body))
	return extents, literal
}

// find looks for the block at body[at:] and, when its text is known, says how far the match reaches back, not
// before from, and on.
func (m *matcher) find(h uint64, body []byte, from, at int) (start uint64, back, length int) {
	for _, w := range [2]*window{m.recent, m.older} {
		if w == nil {
			continue
		}
		p := w.block(h)
		if p < 0 {
			continue
		}
		if length = common(w.text[p:], body[at:]); length < blockLen {
			continue
		}
		for back < at-from && back < p && w.text[p-back-1] == body[at-back-1] {
			back++
		}
		return w.start + uint64(p-back), back, length
	}
	return 0, 0, 0
}

// add makes literal text findable; it continues what was added before.
func (m *matcher) add(literal []byte) {
	for len(literal) > 0 {
		w := m.recent
		if len(w.text) >= windowLen {
			m.older, m.recent = w, newWindow(w.start+uint64(len(w.text)))
			w = m.recent
		}
		n := min(len(literal), windowLen-len(w.text))
		w.text = append(w.text, literal[:n]...)
		w.index()
		literal = literal[n:]
	}
}

func (w *window) block(h uint64) int {
	if b := w.table[mix(h)>>w.shift]; b > 0 {
		return int(b-1) * blockLen
	}
	return -1
}

// index enters the blocks that have become whole.
func (w *window) index() {
	blocks := len(w.text) / blockLen
	if order := uint(bits.Len(uint(2*blocks))) + 1; order > 64-w.shift {
		w.grow(order + 1)
	}
	for ; w.done < blocks; w.done++ {
		h := hashBlock(w.text[w.done*blockLen:])
		w.table[mix(h)>>w.shift] = uint32(w.done + 1)
	}
}

// grow makes the table 2^order places large and forgets what was in it.
func (w *window) grow(order uint) {
	w.table, w.shift, w.done = make([]uint32, 1<<order), 64-order, 0
}

func mix(h uint64) uint64 { return (h ^ h>>29) * hashPrime }

func hashBlock(b []byte) uint64 {
	var h uint64
	for _, c := range b[:blockLen] {
		h = h*hashPrime + uint64(c)
	}
	return h
}

// common is the length of the longest common prefix of a and b.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
