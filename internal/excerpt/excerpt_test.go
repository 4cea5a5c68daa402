package excerpt_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ambit/internal/excerpt"
)

// anyText draws texts of lines, wide characters, control characters and bytes that are no UTF-8.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"\n", "\n\n", "\r\n", "\t", " ", "日本語の行", "😀👩‍👩‍👧", "\xff\xfe", "\xed\xa0\x80", "a: b", "- x", "# c", "\"q\" 'r'", "\\", "\x00\x1b[31m", "\u2028", "\ufeff", "null", "yes", "1.5", "{a", "[b", "&c", "*d", "%e", "@f", "`g`", "...", "---", "```"}),
		rapid.StringMatching(`[a-z]{1,12}( [a-z]{1,9}){0,20}[.!?]?\n?`),
	)
	return rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		return strings.Repeat(text, rapid.IntRange(1, 30).Draw(t, "times"))
	})
}

// TestCutLaws: what is shortened fits, keeps its head and tail, names the reference and counts what is left out.
// covers: X-10 part
// A paste without an end of a sentence, each line of which looks like a demand, is shortened all the same.
func TestUserTextOfALog(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "line %d of it must not be changed by anybody\n", i)
	}
	for _, limit := range []int{4000, 400} {
		if got := excerpt.UserText(b.String(), limit, excerpt.Where{}); len(got) > limit+64_000+1000 || limit == 400 && len(got) > 20_000 || !strings.HasPrefix(got, "line 0 of it must") {
			t.Errorf("to %d bytes: %d", limit, len(got))
		}
	}
}

func TestCutLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := anyText().Draw(t, "text"), rapid.IntRange(excerpt.MinCut, 3000).Draw(t, "limit")
		w := excerpt.Where{Ref: "e12.k7q3", Tool: rapid.String().Draw(t, "tool"), About: anyText().Draw(t, "about")}
		got := excerpt.Cut(text, limit, w)
		if len(text) <= limit {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		if len(got) > limit {
			t.Fatalf("%d bytes, more than %d: %q", len(got), limit, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		head, rest, found := strings.Cut(got, "[Ambit left out ")
		marker, tail, ended := strings.Cut(rest, "]\n")
		if !found || !ended || !strings.Contains(marker, "recall e12.k7q3 with `ambit read` or the MCP tool read") || strings.Contains(marker, "\n") {
			t.Fatalf("no marker: %q", got)
		}
		if !strings.HasSuffix(text, tail) || !strings.HasPrefix(text, strings.TrimSuffix(head, "\n")) {
			t.Fatalf("not the head and the tail of %q: %q", text, got)
		}
		if excerpt.Cut(text, limit, w) != got {
			t.Fatal("not the same twice")
		}
	})
}

// covers: X-10 part
func TestCutSaysHowMuch(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %03d ä\n", i)
	}
	got := excerpt.Cut(b.String(), 1000, excerpt.Where{Ref: "e12.k7q3", Tool: "Read", About: "a/b.go"})
	want := "[Ambit left out 10,230 of 11,000 characters, 930 of 1,000 lines of Read a/b.go. To see the whole, recall e12.k7q3 with `ambit read` or the MCP tool read.]\n"
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(got, "line 000 ä\n") || !strings.HasSuffix(got, "line 999 ä\n") || !strings.Contains(got, "ä\n[Ambit") {
		t.Errorf("not cut at line ends: %q", got)
	}
	if shown := strings.Count(got, "line "); shown != 70 {
		t.Errorf("%d lines are shown", shown)
	}
}

// covers: X-02 part
func TestPlaceholder(t *testing.T) {
	w := excerpt.Where{Ref: "e12.k7q3", Tool: "Read", About: "internal/thread/place.go"}
	want := "[Ambit left out this result of Read internal/thread/place.go: 12,345 bytes, 300 lines.\n" +
		"To see the whole, recall e12.k7q3 with `ambit read` or the MCP tool read.]"
	if got := excerpt.Placeholder(w, 12345, 300, false); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	w.Ref = ""
	if got := excerpt.Placeholder(w, 1, 1, true); !strings.Contains(got, "failed result of Read") || !strings.Contains(got, "run the call again") {
		t.Errorf("got %q", got)
	}
}

// TestPlaceholderIsShort: whatever a call was about, its placeholder is short, and on two lines.
// covers: X-02 part
func TestPlaceholderIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := excerpt.Where{Ref: anyText().Draw(t, "ref"), Tool: anyText().Draw(t, "tool"), About: anyText().Draw(t, "about")}
		n := rapid.IntRange(0, 1<<40).Draw(t, "n")
		got := excerpt.Placeholder(w, n, n, rapid.Bool().Draw(t, "failed"))
		if len(got) > 300 {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		if strings.Count(got, "\n") > 1 || !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
	})
}

func TestAbout(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"Read", `{"file_path":"/a/b.go","limit":5}`, "/a/b.go"},
		{"read", `{"filePath":"a b.go"}`, "a b.go"},
		{"Bash", `{"description":"Run tests","command":"go test ./...\n# all"}`, "go test ./... # all"},
		{"shell", `{"command":["bash","-lc","ls -l"],"workdir":"/x"}`, "ls -l"},
		{"exec_command", `{"cmd":"make"}`, "make"},
		{"Grep", `{"pattern":"func .*","path":"src"}`, "src"},
		{"WebSearch", `{"query":"go yaml"}`, "go yaml"},
		{"apply_patch", `"*** Begin Patch\n*** Update File: x.go\n@@\n-a\n+b\n*** Add File: y.go\n+c\n*** End Patch"`, "x.go y.go"},
		{"apply_patch", "*** Begin Patch\n*** Delete File: x.go\n*** End Patch", "x.go"},
		{"str_replace_editor", `{"command":"view","path":"/w/z.py"}`, "/w/z.py"},
		{"mcp__jira__find", `{"n":3,"key":"ABC-1","other":"x"}`, "ABC-1"},
		{"x", `{"long":"` + strings.Repeat("y", 500) + `"}`, ""},
		{"x", `{}`, ""},
		{"x", ``, ""},
		{"x", `null`, ""},
		{"Read", `{"file_path":"/a/b.go","limit":`, "/a/b.go"},
	} {
		if got := excerpt.About(c.tool, []byte(c.args)); got != c.want {
			t.Errorf("About(%s, %s) = %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

func FuzzAbout(f *testing.F) {
	f.Add("Bash", []byte(`{"command":["a",1]}`))
	f.Add("apply_patch", []byte(`"*** Add File: \xff"`))
	f.Fuzz(func(t *testing.T, tool string, args []byte) {
		if got := excerpt.About(tool, args); len(got) > 400 || strings.ContainsAny(got, "\n\r\x00") || !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
