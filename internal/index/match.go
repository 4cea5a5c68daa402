package index

import (
	"math/bits"
	"slices"
	"strings"
)

// frequent are the bytes of source code, prose and JSON, the most frequent first. A byte that is not among them is rare.
// The first bytes of other scripts' characters stand where they would in a text of such a script.
const frequent = " etnsoair\"\\cldpum:h,gf./0-1_by2kwv43()x5698{T7}=C'SI\n\xd0\xd1\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xd8\xd9\xe2\xf0`AERDPUNjLF[MBOWqG@H\t"

// rarity grows with how rarely a byte stands in a text.
func rarity(b byte) int {
	if i := strings.IndexByte(frequent, b); i >= 0 {
		return i
	}
	return len(frequent)
}

// needle finds one text in others. What makes it fast is the choice of three bytes of the needle that are rare in texts;
// strings.Index takes the first two, and is slow where these are frequent or the needle is long.
type needle struct {
	text string
	head string // its first bytes
	rare [3]int // where three of its bytes stand, in order; short needles have fewer
	best int    // where the rarest of these stands
}

func newNeedle(text string) *needle {
	n := &needle{text: text, head: text[:min(len(text), 64)]}
	var taken [256]bool
	for k := range n.rare {
		// A byte that is taken already is worth less than any other, and the further away the better.
		place, value := n.best, -1
		for i := range len(text) {
			v := (rarity(text[i]) + 1) << 16
			if taken[text[i]] {
				v = i
			}
			if v > value && !slices.Contains(n.rare[:k], i) {
				place, value = i, v
			}
		}
		if k == 0 {
			n.best = place
		}
		n.rare[k], taken[text[place]] = place, true
	}
	slices.Sort(n.rare[:])
	return n
}

// Where looking for one byte gives up: it has stopped more often than every sparse bytes, patience times aside.
const (
	sparse   = 64
	patience = 16
)

// index returns where the needle first stands in a text, -1 if nowhere. It looks for the rarest byte alone as long as
// that is as rare as hoped for, and for three at once from there on.
func (n *needle) index(s string) int {
	for at, stops := 0, 0; ; stops++ {
		if len(s)-at < len(n.text) {
			return -1
		}
		if stops > patience && stops*sparse > at {
			if i := n.three(s[at:]); i >= 0 {
				return at + i
			}
			return -1
		}
		i := strings.IndexByte(s[at+n.best:], n.text[n.best])
		if i < 0 {
			return -1
		}
		at += i
		if strings.HasPrefix(s[at:], n.text) {
			return at
		}
		at++
	}
}

// Eight bytes as one number: ones in every byte, and the top bit of every byte.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// word reads eight bytes as one number, the first lowest. The compiler makes one load of it.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// zeros marks the bytes that are zero by their top bit. A mark above the first may be a false one.
func zeros(v uint64) uint64 { return (v - ones) & ^v & tops }

// How much comparing of long needles is allowed before three gives up, so that no text makes it slow: so many bytes,
// and so many for each byte passed.
const (
	trials   = 64 << 10
	trialsBy = 8
)

// three is index by three bytes of the needle: sixteen places at a time, it looks for those that have all.
func (n *needle) three(s string) int {
	at, tried := 0, 0
	if len(s) >= n.rare[2] {
		x, y, z := s[n.rare[0]:], s[n.rare[1]:], s[n.rare[2]:]
		a, b, c := ones*uint64(n.text[n.rare[0]]), ones*uint64(n.text[n.rare[1]]), ones*uint64(n.text[n.rare[2]])
		for ; len(z)-at >= 16; at += 16 {
			p, q, r := x[at:at+16], y[at:at+16], z[at:at+16]
			low := zeros((word(p) ^ a) | (word(q) ^ b) | (word(r) ^ c))
			high := zeros((word(p[8:]) ^ a) | (word(q[8:]) ^ b) | (word(r[8:]) ^ c))
			if low|high == 0 {
				continue
			}
			if i := n.among(s[at:], low, &tried); i >= 0 {
				return at + i
			}
			if i := n.among(s[at+8:], high, &tried); i >= 0 {
				return at + 8 + i
			}
			if tried > trials+trialsBy*at {
				at += 16
				break
			}
		}
	}
	if i := strings.Index(s[at:], n.text); i >= 0 {
		return at + i
	}
	return -1
}

// among returns the first of the marked places at which the needle stands, -1 if at none, and adds to the bytes tried.
func (n *needle) among(s string, marks uint64, tried *int) int {
	for ; marks != 0; marks &= marks - 1 {
		i := bits.TrailingZeros64(marks) / 8
		if !strings.HasPrefix(s[i:], n.head) {
			continue
		}
		if len(n.text) == len(n.head) {
			return i
		}
		if *tried += len(n.text); strings.HasPrefix(s[i:], n.text) {
			return i
		}
	}
	return -1
}
