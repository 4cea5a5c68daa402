package journal

import (
	"encoding/binary"
	"math/bits"
)

const (
	// sampleRate is how many places there are to a sample, at the mean. Samples are chosen by their hash, so that the
	// same text has the same ones wherever it stands, and only they are looked up: of 192 bytes that are known, 98 in
	// 100 hold one.
	sampleRate = 32
	// minMatch is the length from which on known text is not stored again. A shorter match would cost more, as an
	// extent of every body to come, than its bytes do once. Of 32 to 1024 bytes, 128 to 512 gave the smallest sessions
	// over the recorded traffic of six clients.
	minMatch = 192
	// strideLen is how much of a body is looked up at once, in bytes.
	strideLen = 8 << 10
	// windowLen bounds the text of one window, in bytes. Two windows are kept, so that between one and two of them
	// are searched: the newest 32 to 64 MiB of a session's literal text.
	windowLen = 32 << 20
)

// gear gives every byte 64 random bits. A hash shifts by one bit a byte, so that it covers the last 64. The idea is the
// gear hash of Xia et al., Ddelta (2014); any random numbers serve.
var gear = func() (table [256]uint64) {
	x := uint64(0)
	for i := range table { // splitmix64, Steele et al. (2014)
		x += 0x9E3779B97F4A7C15
		z := x
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		table[i] = z ^ z>>31
	}
	return table
}()

// sample is a place in a text, named by what stands before it.
type sample struct {
	end  int    // offset of the byte behind the text that the hash covers
	hash uint64 // of the 64 bytes before end
}

// samples adds a text's samples to a list. h is the hash of what stands before the text; the new one is returned too.
func samples(list []sample, text []byte, h uint64) ([]sample, uint64) {
	for i, c := range text {
		h = h<<1 + gear[c]
		if h>>(64-5) == 0 { // one in sampleRate; the high bits depend on all of the text
			list = append(list, sample{i + 1, h})
		}
	}
	return list, h
}

// matcher finds what a new body repeats of a session's recent literal text.
type matcher struct {
	recent, older *window

	holes []extent // of text that may not be found: it is gone
	list  []sample // memory for split
	slots [2][]slot
}

// window is a run of literal text with the places of its samples.
type window struct {
	start uint64 // literal address of the first byte
	text  []byte
	table []slot // by hash; the newest sample has the place
	count int    // samples entered
	hash  uint64 // of the text's end
}

// slot is the place of one sample.
type slot struct {
	tag uint32 // other bits of its hash, so that foreign text is hardly ever compared
	end uint32 // offset in the window of the byte behind it; 0 where there is none
}

func newMatcher(start uint64) *matcher { return &matcher{recent: newWindow(start)} }

func newWindow(start uint64) *window { return &window{start: start, table: make([]slot, 1<<10)} }

// split divides a body into extents of known text and, between them, new literal text, which will stand from the
// literal address next on. The literal is the concatenation of what is new.
func (m *matcher) split(body []byte, next uint64) (extents []extent, literal []byte) {
	from := 0 // what stands before it is divided
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
	for at := 0; at < len(body); { // what stands before it was looked up
		end := min(at+strideLen, len(body))
		m.list, h = samples(m.list[:0], body[at:end], h)
		m.look()
		for i, s := range m.list {
			place := at + s.end
			if place <= from {
				continue
			}
			start, back, ahead := m.compare(i, body[from:], place-from)
			if back+ahead < minMatch {
				continue
			}
			fresh(place - back)
			emit(extent{start, uint64(back + ahead)})
			from = place + ahead
		}
		if at = end; from > end {
			at, h = from, 0 // known text is not looked up again
		}
	}
	fresh(len(body))
	return extents, literal
}

// look finds the slots of all samples of the list. Memory answers many such reads at once, but each alone slowly.
func (m *matcher) look() {
	for k, w := range [2]*window{m.recent, m.older} {
		slots := m.slots[k][:0]
		if w != nil {
			for _, s := range m.list {
				slots = append(slots, *w.slot(s.hash))
			}
		}
		m.slots[k] = slots
	}
}

// compare says how far the text around a place is known, at which sample i of the list ends: back and ahead.
func (m *matcher) compare(i int, text []byte, place int) (start uint64, back, ahead int) {
	s := m.list[i]
	for k, w := range [2]*window{m.recent, m.older} {
		if w == nil {
			continue
		}
		known := m.slots[k][i]
		if known.end == 0 || known.tag != uint32(s.hash) {
			continue
		}
		end := int(known.end)
		low, high := m.sound(w, end)
		for back = 0; back < place && back < end-low && w.text[end-back-1] == text[place-back-1]; {
			back++
		}
		return w.start + uint64(end-back), back, common(w.text[end:high], text[place:])
	}
	return 0, 0, 0
}

// skip makes literal text unfindable that is yet to be added. Holes come in ascending order.
func (m *matcher) skip(holes []extent) { m.holes = append(m.holes, holes...) }

// sound is from where to where the text around a place in a window is there; of a place in a hole that is nothing.
func (m *matcher) sound(w *window, end int) (low, high int) {
	high = len(w.text)
	if len(m.holes) == 0 {
		return 0, high
	}
	at := w.start + uint64(end)
	i := from(m.holes, at)
	if i > 0 && m.holes[i-1].end() > w.start {
		low = int(m.holes[i-1].end() - w.start)
	}
	if i < len(m.holes) && m.holes[i].start < w.start+uint64(high) {
		high = max(int(m.holes[i].start)-int(w.start), 0)
	}
	if high < end { // the place is in a hole
		return end, end
	}
	return low, high
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
		from := len(w.text)
		w.text = append(w.text, literal[:n]...)
		m.list, w.hash = samples(m.list[:0], w.text[from:], w.hash)
		w.enter(m.list, from)
		literal = literal[n:]
	}
}

// enter puts samples of the text behind an offset into the table, which grows until it has a place for each of a full
// window.
func (w *window) enter(list []sample, from int) {
	w.count += len(list)
	size := len(w.table)
	for 2*w.count > size && size < 2*windowLen/sampleRate {
		size *= 2
	}
	if size > len(w.table) {
		w.rehash(size) // which enters these, too
		return
	}
	for _, s := range list {
		*w.slot(s.hash) = slot{uint32(s.hash), uint32(from + s.end)}
	}
}

// rehash makes a table of another size, with the samples of all text.
func (w *window) rehash(size int) {
	w.table = make([]slot, size)
	list, _ := samples(nil, w.text, 0)
	for _, s := range list {
		*w.slot(s.hash) = slot{uint32(s.hash), uint32(s.end)}
	}
}

// slot is where a sample of this hash stands, if anywhere.
func (w *window) slot(h uint64) *slot {
	const odd = 0x9E3779B97F4A7C15
	return &w.table[(h^h>>29)*odd>>32&uint64(len(w.table)-1)]
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
