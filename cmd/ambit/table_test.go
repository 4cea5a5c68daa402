package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	var b bytes.Buffer
	e := &env{out: &b}
	tab := e.table(">N", "NAME", ">BYTES", "END")
	tab.row("1", "naïve", "12", "complete")
	tab.row("100", "b", "1,234,567", "")
	tab.row("2", "\x1b[31mred\nline", "0", "\u202egnp.exe")
	tab.flush()
	want := "" +
		"  N  NAME               BYTES  END\n" +
		"  1  naïve                 12  complete\n" +
		"100  b              1,234,567\n" +
		"  2  ?[31mred?line          0  ?gnp.exe\n"
	if b.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain, naïve, 日本, 🙂":      "plain, naïve, 日本, 🙂",
		"a\tb\r\nc\x00":            "a?b??c?",
		"\x1b]0;title\a":           "?]0;title?",
		"\u009b31m":                "?31m", // CSI as one character
		"del\x7f":                  "del?",
		"\u200e\u200f\u061c":       "???", // marks
		"\u202a\u202b\u202c\u202d": "????",
		"\u202e\u2066\u2067\u2068": "????",
		"\u2069":                   "?",
		"one\u2028two\u2029three":  "one?two?three",
		"broken \xff\xe2\x82":      "broken ???",
		"\ufffd":                   "?",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) is %q, want %q", in, got, want)
		}
	}
}

// TestPrintableLaw: whatever text it is given, nothing in it commands a terminal, and no more or fewer characters are
// shown than there are.
func TestPrintableLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		got := printable(in)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) != utf8.RuneCountInString(in) {
			t.Fatalf("%q became %q", in, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
			t.Fatalf("%q at %d commands the terminal", got, i)
		}
		if printable(got) != got {
			t.Fatalf("%q is not kept", got)
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 123456: "123,456", 1234567: "1,234,567",
		-1: "-1", -999: "-999", -1000: "-1,000", -1 << 63: "-9,223,372,036,854,775,808",
	} {
		if got := count(n); got != want {
			t.Errorf("count(%d) is %q, want %q", n, got, want)
		}
	}
	if got := plural(1, "entry", "entries") + ", " + plural(0, "entry", "entries") + ", " + plural(2000, "entry", "entries"); got != "1 entry, 0 entries, 2,000 entries" {
		t.Errorf("got %q", got)
	}
}

// TestSay: a message is one line, whatever it quotes.
func TestSay(t *testing.T) {
	var b bytes.Buffer
	e := &env{err: &b}
	e.say("the provider said %s", "no\nambit: all is well\x1b[2J")
	e.hint("look at %q", "it")
	if want := "ambit: the provider said no?ambit: all is well?[2J\nambit: hint: look at \"it\"\n"; b.String() != want {
		t.Errorf("said %q, want %q", b.String(), want)
	}
}
