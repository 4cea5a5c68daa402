package provider

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// However text is cut into pieces, between two halves of a character too, it is the same in the end, and at any time what
// came is a prefix of that.
func TestGrowing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", `\`, `"`, `\ud83d`, "é", "😀", "\n", "𝄞"})).Draw(t, "text"), "")
		units := utf16.Encode([]rune(text))
		var g growing
		for len(units) > 0 {
			n := rapid.IntRange(0, len(units)).Draw(t, "cut")
			g.add(spellUnits(units[:n]))
			units = units[n:]
			if !strings.HasPrefix(text, string(g.text)) {
				t.Fatalf("%q is no prefix of %q", g.text, text)
			}
		}
		if g.flush(); string(g.text) != text {
			t.Fatalf("%q, want %q", g.text, text)
		}
	})
}

// spellUnits spells UTF-16 as a JSON string, half characters too.
func spellUnits(units []uint16) JSON {
	var w writer
	w.byte('"')
	for _, u := range units {
		w.hex(rune(u))
	}
	w.byte('"')
	return w.buf
}

func TestGrowingHalves(t *testing.T) {
	for pieces, want := range map[string]string{
		`"\ud83d" "\ude00"`: "😀", `"\ud83d" "" "\ude00"`: "😀", `"\ud83d" "\ud83d" "\ude00"`: "\uFFFD😀", `"\ud83d" "x"`: "\uFFFDx", `"a\ud83d"`: "a\uFFFD",
		`"\ude00"`: "\uFFFD", `"\\ud83d" "\ude00"`: "\\ud83d\uFFFD", `"\\\ud83d" "\uDE00"`: `\😀`, `5 null "x" {}`: "x",
	} {
		var g growing
		for piece := range strings.FieldsSeq(pieces) {
			g.add(JSON(piece))
		}
		if g.flush(); string(g.text) != want {
			t.Errorf("%s is %q, want %q", pieces, g.text, want)
		}
	}
}
