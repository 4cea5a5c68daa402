package journal

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// memory is a matcher with all literal text so far.
type memory struct {
	*matcher
	text []byte
}

// put splits a body, wants it to rebuild, and returns how much of it was new.
func (m *memory) put(t *testing.T, body []byte) int {
	t.Helper()
	extents, literal := m.split(body, uint64(len(m.text)))
	m.add(literal)
	m.text = append(m.text, literal...)
	recipe := appendRecipe(nil, uint64(len(m.text)), extents)
	extents, err := parseRecipe(recipe, uint64(len(m.text)), uint64(len(body)), uint64(len(m.text)))
	if err != nil {
		t.Fatal(err)
	}
	var again []byte
	for _, x := range extents {
		again = append(again, m.text[x.start:x.start+x.length]...)
	}
	if !bytes.Equal(again, body) {
		t.Fatalf("a body of %d bytes is split into %v and %d new bytes, and rebuilds to %d", len(body), extents, len(literal), len(again))
	}
	return len(literal)
}

// TestSplit puts bodies that repeat, change and mix what came before, from large and from small alphabets.
//
// covers: J-05 part
func TestSplit(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 0))
		m := memory{matcher: newMatcher(0)}
		var bodies [][]byte
		for range 40 {
			body := mixed(rng, bodies, 1+rng.IntN(256))
			m.put(t, body)
			bodies = append(bodies, body)
		}
	}
}

// mixed is made of pieces of earlier bodies and of new bytes of an alphabet.
func mixed(rng *rand.Rand, old [][]byte, alphabet int) (body []byte) {
	for range rng.IntN(6) {
		if len(old) > 0 && rng.IntN(3) > 0 {
			from := old[rng.IntN(len(old))]
			at := rng.IntN(len(from) + 1)
			body = append(body, from[at:at+rng.IntN(len(from)-at+1)]...)
			continue
		}
		for range rng.IntN(700) {
			body = append(body, byte(rng.IntN(alphabet)))
		}
	}
	return body
}

// TestSplitOnce stores a text once, and again hardly more than what was put into its middle.
//
// covers: J-05 part
func TestSplitOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	m := memory{matcher: newMatcher(0)}
	total, twice, changed := 0, 0, 0
	for range 200 {
		body := make([]byte, 2*minMatch+rng.IntN(5000))
		for i := range body {
			body[i] = byte(rng.IntN(256))
		}
		half := len(body) / 2
		total += m.put(t, body)
		twice += m.put(t, body)
		changed += m.put(t, slices.Concat(body[:half], []byte("edited"), body[half:]))
	}
	if twice*100 > total || changed*50 > total {
		t.Errorf("of %d bytes, %d are stored twice, and %d when 6 were put into each middle", total, twice, changed)
	}
}

// TestSplitWindows finds text again in the last two windows, and forgets what is older.
func TestSplitWindows(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("64 MiB of text")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	m := memory{matcher: newMatcher(0)}
	more := func() []byte {
		text := make([]byte, windowLen*2/3+5)
		for i := 0; i+8 <= len(text); i += 8 {
			for k, v := 0, rng.Uint64(); k < 8; k, v = k+1, v>>8 {
				text[i+k] = byte(v)
			}
		}
		m.add(text)
		m.text = append(m.text, text...)
		return text
	}
	first, second := more(), more()
	across := append(bytes.Clone(first[len(first)-5000:]), second[:windowLen/3+1000]...)
	for _, known := range [][]byte{first[:3000], second[100:9000], across} {
		if fresh := m.put(t, known); fresh*20 > len(known) {
			t.Errorf("%d of %d bytes are stored twice", fresh, len(known))
		}
	}
	more()
	more()
	if fresh := m.put(t, first[:3000]); fresh != 3000 {
		t.Errorf("%d of 3000 bytes are new", fresh)
	}
}
