package token_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/internal/token"
)

// texts have each kind of piece, and places where kinds meet.
var texts = []string{
	"", "a", "The quick brown fox.", "func ParseHTTPRequest(x2 int) {\n\treturn nil\n}\n\n", "ABCdef ABC a1B2 x86_64 SHA256 iPhone",
	"1234567 12 3.14159 2026-01-02T03:04:05Z", "    indented\n\n\n        more  \t\tand\ttabs\r\n", "// ---- ==== ****", "größer Ελλάδα → ┌─┐ 中文 かな 한국 😀👍",
	"iVBORw0KGgoAAAANSUhEUgAABZg", "bad \xff\xfe bytes\x00\x01", `{"path":"a/b.go","lines":[1,2]}`,
}

func TestFeatures(t *testing.T) {
	for _, tt := range []struct {
		text string
		want map[int]int
	}{
		{"", nil},
		{"the", map[int]int{token.Words: 1, token.Inner: 1}},
		{"a parser", map[int]int{token.Words: 2, token.Long: 2, token.Inner: 1}},
		{"HTTPServer", map[int]int{token.Words: 2, token.Inner: 2, token.Capital: 4, token.Long: 2}},
		{"X", map[int]int{token.Words: 1, token.Inner: 1}},
		{"1234", map[int]int{token.Digits: 2}},
		{"!= ;", map[int]int{token.Runs: 2, token.Marks: 3}},
		{"\r\n\n", map[int]int{token.Lines: 1, token.Empty: 2}},
		{"\n    \t", map[int]int{token.Lines: 1, token.Blanks: 1, token.Spaces: 4, token.Tabs: 1}},
		{"é→中😀\xff", map[int]int{token.Latin: 1, token.Symbols: 2, token.Letters: 1, token.Wide: 1}},
	} {
		var want token.Features
		for i, n := range tt.want {
			want[i] = n
		}
		if diff := cmp.Diff(want, token.Of(tt.text)); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// TestFeaturesAdd says how far texts may be off that are counted in two parts: by the piece that the cut goes through.
func TestFeaturesAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.String().Draw(t, "x"), rapid.String().Draw(t, "y")
		parts := token.Of(x)
		parts.Add(token.Of(y))
		for i, n := range token.Of(x + y) {
			if off := n - parts[i]; off < -2 || off > 4 {
				t.Errorf("feature %d of %q and %q: %d together, %d apart", i, x, y, n, parts[i])
			}
		}
	})
}

// TestFeaturesAreRepeatable compares with a short program in another language, which shares nothing with this one.
// covers: B-04 part
func TestFeaturesAreRepeatable(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each text")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	own, err := os.ReadFile("features.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{string(own)}, texts...) {
		c := exec.Command(python, "testdata/features.py")
		c.Stdin = strings.NewReader(text)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Trim(fmt.Sprint(token.Of(text)), "[]")
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%.60q:\n%s in Python\n%s here", text, got, want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	own, err := os.ReadFile("features.go")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(own), 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		token.Of(text)
	}
}
