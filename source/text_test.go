package source_test

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"ambit/source"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"a < b && c > d, Vec<T>":      "a < b && c > d, Vec<T>",
		"&lt;b&gt; &amp;":             "&lt;b&gt; &amp;",
		"</instructions>":             "&lt;/instructions>",
		"< / Instructions >":          "&lt; / Instructions >",
		"<<env>":                      "<&lt;env>",
		"&lt;/instructions>":          "&amp;lt;/instructions>",
		"&amp;lt;/instructions>":      "&amp;amp;lt;/instructions>",
		"<environment><outputs>":      "<environment><outputs>",
		"<context key=\"a\"></output": "&lt;context key=\"a\">&lt;/output",
	} {
		if got := source.Escape(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestEscapeIsUnambiguous finds no tag in what was escaped, and the text in it again.
func TestEscapeIsUnambiguous(t *testing.T) {
	tag := regexp.MustCompile(`(?i)<\s*/?\s*(instructions|env)\b`)
	escaped := regexp.MustCompile(`(?i)&((?:amp;)*)lt;(\s*/?\s*(?:instructions|env)\b)`)
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, s := range rapid.SliceOf(rapid.SampledFrom([]string{"<", "&", "amp;", "lt;", "/", " ", "\n", "instructions", "ENV", ">", "x"})).Draw(t, "parts") {
			text += s
		}
		out := source.Escape(text)
		if tag.MatchString(out) {
			t.Fatalf("%q becomes %q", text, out)
		}
		back := escaped.ReplaceAllStringFunc(out, func(s string) string {
			m := escaped.FindStringSubmatch(s)
			if m[1] == "" {
				return "<" + m[2]
			}
			return "&" + m[1][len("amp;"):] + "lt;" + m[2]
		})
		if back != text {
			t.Fatalf("%q becomes %q becomes %q", text, out, back)
		}
	})
}
