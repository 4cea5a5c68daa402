// Package excerpt shortens text deterministically, and says that it did: giant results to their head and tail, user
// messages to their beginning, end and every sentence that states a constraint, and a conversation to a checkpoint.
//
// Nothing in it asks a model or words anything anew. What stands in an excerpt stood in the original, and every excerpt
// says how much it leaves out and how to get the whole back. The same input always gives the same bytes.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Where says what a text is and where the whole of it is kept.
type Where struct {
	Ref   string // by which it can be recalled, such as e12.k7q3; empty when it is not kept
	Tool  string // the tool whose result it is; may be empty
	About string // the main argument of the call, such as a path or a command (see About); clipped where it is shown
	By    string // the tool by which it is recalled; empty for those that whoever stands behind the proxy has
}

// Bounds of what is echoed of a Where, in bytes. With them a marker stays under MinCut/2 and a placeholder under 300.
const (
	maxRef   = 32
	maxTool  = 28
	maxAbout = 72
)

// MinCut is the smallest size that Cut and UserText aim at, in bytes: below it a marker would be most of the text.
const MinCut = 400

// Cut shortens a text that has more than limit bytes to its head and its tail, with a line between them that says how much
// is left out and how to get the whole back. The result has at most limit bytes, marker included; a limit below MinCut
// counts as MinCut. It cuts at line ends where that costs no more than half of a part, and never inside a UTF-8 character.
// A text that fits is returned as it is.
func Cut(text string, limit int, w Where) string {
	limit = max(limit, MinCut)
	if len(text) <= limit {
		return text
	}
	all := size(text)
	room := limit - len(cutMarker(all, all, w)) - 2
	head := headEnd(text, room*3/5)
	tail := tailStart(text, room-head)
	marker := cutMarker(size(text[head:tail]), all, w)
	if head > 0 && text[head-1] != '\n' {
		marker = "\n" + marker
	}
	return text[:head] + marker + "\n" + text[tail:]
}

// cutMarker is the line in place of what is left out.
func cutMarker(out, all extent, w Where) string {
	return fmt.Sprintf("[Ambit left out %s of %s characters, %s of %s lines%s. %s]",
		grouped(out.characters), grouped(all.characters), grouped(out.lines), grouped(all.lines), of(w), back(w))
}

// Placeholder is what stands in place of a result that is left out: what it was, how large, whether the call failed, and
// how to get it back. It has at most 300 bytes and one or two lines. A result without a Ref is gone: it says to call again.
func Placeholder(w Where, bytes, lines int, failed bool) string {
	result := "result"
	if failed {
		result = "failed result"
	}
	return fmt.Sprintf("[Ambit left out this %s%s: %s bytes, %s lines.\n%s]", result, of(w), grouped(bytes), grouped(lines), back(w))
}

// of names the call that a text is of.
func of(w Where) string {
	tool, about := oneLine(w.Tool, maxTool), oneLine(w.About, maxAbout)
	switch {
	case tool != "" && about != "":
		return " of " + tool + " " + about
	case tool != "" || about != "":
		return " of " + tool + about
	}
	return ""
}

// back says how to get the whole of a text back.
func back(w Where) string {
	ref := oneLine(w.Ref, maxRef)
	switch {
	case ref == "" && w.Tool == "":
		return "The whole is in Ambit's record of the session."
	case ref == "":
		return "It is not kept; run the call again if you need it."
	case w.By != "":
		return "To see the whole, recall " + ref + " with the tool " + w.By + "."
	}
	return "To see the whole, recall " + ref + " with `ambit read` or the MCP tool read."
}

// extent is how large a text is.
type extent struct{ characters, lines int }

func size(text string) extent {
	e := extent{utf8.RuneCountInString(text), strings.Count(text, "\n")}
	if text != "" && text[len(text)-1] != '\n' {
		e.lines++
	}
	return e
}

// headEnd is where the head of a text ends that may have room bytes: behind a line end in its second half, else behind a
// whole character.
func headEnd(text string, room int) int {
	if room <= 0 {
		return 0
	}
	if room >= len(text) {
		return len(text)
	}
	if nl := strings.LastIndexByte(text[:room], '\n') + 1; nl > room/2 {
		return nl
	}
	return runeStart(text, room)
}

// tailStart is where the tail of a text begins that may have room bytes.
func tailStart(text string, room int) int {
	if room <= 0 {
		return len(text)
	}
	if room >= len(text) {
		return 0
	}
	from := len(text) - room
	if nl := strings.IndexByte(text[from-1:], '\n'); nl >= 0 && nl < room/2 {
		return from + nl
	}
	for i := 0; i < utf8.UTFMax && from < len(text) && !utf8.RuneStart(text[from]); i++ {
		from++
	}
	return from
}

// runeStart is the place at or before at where a character begins.
func runeStart(text string, at int) int {
	for i := at; i > max(0, at-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// oneLine is a text on one line, valid UTF-8 without control characters, of at most limit bytes; what is cut off is an
// ellipsis. A path or a command may carry anything.
func oneLine(text string, limit int) string {
	if len(text) > 4*limit {
		text = text[:runeStart(text, 4*limit)]
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool { return r <= ' ' || control(r) }), " ")
	if len(text) <= limit {
		return text
	}
	return strings.TrimRight(text[:runeStart(text, limit-len("…"))], " ") + "…"
}

// grouped is a number with its thousands set off, as people read them.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
