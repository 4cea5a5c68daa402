package ambit

import (
	"cmp"
	"slices"

	"ambit/provider"
)

// Pieces by which a text is recognised in what was made of it. Both lengths are Ambit's own choice: 40 bytes of one text
// are hardly ever said by another, and what has less than 8 says nothing.
const (
	pieceLen = 40
	minPiece = 8
)

// pieces are runs of a text, as it is and as JSON spells it: of each of its places, or all of it where it is shorter.
type pieces map[string]bool

// add adds a text's.
func (p *pieces) add(text string) {
	if *p == nil {
		*p = make(pieces)
	}
	quoted := string(provider.AppendText(nil, text))
	if n := len(quoted); n >= 2 && quoted[0] == '"' {
		quoted = quoted[1 : n-1]
	}
	for _, s := range []string{text, quoted} {
		if len(s) >= minPiece && len(s) < pieceLen {
			(*p)[s] = true
		}
		step := 1 + len(s)>>18 // so that a very long text has no more than so many
		for i := 0; i+pieceLen <= len(s); i += step {
			(*p)[s[i:i+pieceLen]] = true
		}
	}
}

// in finds where pieces stand in a text, in order, those that overlap as one: from and to.
func (p pieces) in(text []byte) (places [][2]int) {
	lengths := make(map[int]bool)
	for s := range p {
		lengths[len(s)] = true
	}
	var found [][2]int
	for n := range lengths {
		for i := 0; i+n <= len(text); i++ {
			if p[string(text[i:i+n])] {
				found = append(found, [2]int{i, i + n})
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	for _, f := range found {
		if n := len(places); n > 0 && f[0] <= places[n-1][1] {
			places[n-1][1] = max(places[n-1][1], f[1])
		} else {
			places = append(places, f)
		}
	}
	return places
}

// found reports whether a text has a piece.
func (p pieces) found(text []byte) bool { return len(p.in(text)) > 0 }

// match reports whether a message, or its bytes, has a piece.
func (p pieces) match(m provider.Message, raw []byte) bool {
	return p.found(raw) || slices.ContainsFunc(m.Texts, func(t provider.Text) bool { return p.found([]byte(t.Text)) })
}
