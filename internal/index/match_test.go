package index_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ambit/internal/index"

	"pgregory.net/rapid"
)

// TestNeedleLaw finds needles where strings.Index does.
func TestNeedleLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"a", "ab", "ab\x00\x01", "etaoin \n", "e\xd0\xff\x80"}).Draw(t, "alphabet")
		letters := rapid.SliceOfN(rapid.SampledFrom([]byte(alphabet)), 0, 400)
		text := string(letters.Draw(t, "text"))
		needle := string(rapid.SliceOfN(rapid.SampledFrom([]byte(alphabet)), 1, 4).Draw(t, "needle"))
		if len(text) > 0 && rapid.Bool().Draw(t, "from text") {
			i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			needle = text[i : i+rapid.IntRange(1, len(text)-i).Draw(t, "length")]
			if rapid.Bool().Draw(t, "nearly") {
				i := rapid.IntRange(0, len(needle)-1).Draw(t, "change")
				needle = needle[:i] + "b" + needle[i+1:]
			}
		}
		if rapid.Bool().Draw(t, "deep") {
			text = strings.Repeat(text, 20)
		}
		want := strings.Index(text, needle)
		if got, three := index.Find(needle, text), index.FindThree(needle, text); got != want || three != want {
			t.Fatalf("%q in %q is found at %d and %d, want %d", needle, text, got, three, want)
		}
	})
}

// TestHostileText gives up comparing where every place looks like the needle for long.
func TestHostileText(t *testing.T) {
	half := strings.Repeat("ab", 2000)
	for _, text := range []string{strings.Repeat("ab", 1<<19), strings.Repeat("ab", 1<<18) + half + "aa" + half} {
		needle := half + "aa" + half
		if got, want := index.FindThree(needle, text), strings.Index(text, needle); got != want {
			t.Errorf("found at %d, want %d", got, want)
		}
	}
}

// FuzzQuoted counts what a text takes in JSON as encoding/json does.
func FuzzQuoted(f *testing.F) {
	f.Add("a\"\\\b\f\n\r\t\x00\x1f\x7f</>&é\u2028\u2029\ufffd\xff\xf0\x9d𝄞\xe2\x80")
	f.Fuzz(func(t *testing.T, text string) {
		data, err := json.Marshal(text)
		if err != nil || index.Quoted(text) != len(data)-2 {
			t.Errorf("%q takes %d bytes, counted are %d (%v)", text, len(data)-2, index.Quoted(text), err)
		}
	})
}
