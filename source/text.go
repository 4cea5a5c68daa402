package source

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// forged finds what could be taken for one of our tags, opening or closing, and what is the escaped form of such.
var forged = regexp.MustCompile(`(?i)(<|&(?:amp;)*lt;)(\s*/?\s*(?:instructions|context|output|env|git|skills)\b)`)

// Escape makes a text that can stand inside any tag of this package. Only what could be taken for such a tag is changed:
// its "<" becomes "&lt;", and the "&" of what already looks so becomes "&amp;". All else, angle brackets of code, control
// and bidi characters too, stays as it is, because instructions are to be read as they were written; and no two texts
// become one.
func Escape(text string) string {
	return forged.ReplaceAllStringFunc(text, func(m string) string {
		if m[0] == '<' {
			return "&lt;" + m[1:]
		}
		return "&amp;" + m[1:]
	})
}

// block puts a text between tags, each on a line of its own. An attribute is escaped whole.
func block(tag, attribute, value, text string) string {
	var b strings.Builder
	b.WriteString("<" + tag)
	if attribute != "" {
		b.WriteString(" " + attribute + `="` + plain(value) + `"`)
	}
	b.WriteString(">\n")
	if text = Escape(text); text != "" {
		b.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	}
	b.WriteString("</" + tag + ">")
	return b.String()
}

// plain escapes a short text, such as a path, whole: no character of it is markup, and it stays on its line.
func plain(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

// oneLine puts a text on one line, with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// head returns the beginning of a text, at most so many bytes and no half character, and whether that is not all.
func head(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	for at := limit; at >= 0 && at > limit-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			return text[:at], true
		}
	}
	return text[:limit], true
}

// cutMark says of the block above that it is not all. It stands outside, where no content can forge it. Of how many
// bytes, is 0 where that is not known.
func cutMark(what string, shown int, of int64) string {
	if of == 0 {
		return fmt.Sprintf("[%s above is cut: its first %d bytes are shown.]", what, shown)
	}
	return fmt.Sprintf("[%s above is cut: the first %d of its %d bytes are shown.]", what, shown, of)
}

// utf8Text is bytes as text; what is no UTF-8 becomes one replacement character a run. Of bytes that were cut off, half a
// character at the end is left out.
func utf8Text(data []byte, cut bool) string {
	for n := 1; cut && n <= min(utf8.UTFMax, len(data)); n++ {
		if end := data[len(data)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				data = data[:len(data)-n]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
