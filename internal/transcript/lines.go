package transcript

import (
	"bytes"
	"fmt"
	"iter"

	"ambit/provider"
)

// record is one JSON value of a recording of JSON lines.
type record struct {
	provider.JSON
	line   int
	offset int64
}

// records yields the JSON values of the lines, in order. A line may hold several: some programs forget a line end. What
// is no JSON is reported, and where a line was cut off and the next record written behind it, that is found again.
func (b *building) records() iter.Seq[record] {
	return func(yield func(record) bool) {
		offset := int64(0)
		for number := 1; offset < int64(len(b.data)); number++ {
			line := b.data[offset:]
			if end := bytes.IndexByte(line, '\n'); end >= 0 {
				line = line[:end]
			}
			b.Lines = number
			if !b.line(line, number, offset, yield) {
				return
			}
			offset += int64(len(line)) + 1
		}
	}
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// line yields the values of one line.
func (b *building) line(line []byte, number int, offset int64, yield func(record) bool) bool {
	rest := line
	if offset == 0 {
		rest = bytes.TrimPrefix(rest, byteOrderMark)
	}
	for {
		rest = bytes.TrimLeft(rest, " \t\r")
		if len(rest) == 0 {
			return true
		}
		at := len(line) - len(rest)
		v, behind, ok := provider.Cut(rest)
		if ok && v.Kind() == '{' {
			if !yield(record{v, number, offset + int64(at)}) {
				return false
			}
			rest = behind
			continue
		}
		found := b.resume(rest)
		b.lost(number, offset+int64(at), rest[:len(rest)-len(found)], ok)
		rest = found
	}
}

// resume finds the records that go to the end of a line, behind one that was cut off; nil when there are none.
func (b *building) resume(line []byte) (found []byte) {
	for end := line; ; {
		end = bytes.TrimRight(end, " \t\r")
		at := opening(end)
		if at < 0 {
			return found
		}
		v, rest, ok := provider.Cut(end[at:])
		if !ok || len(rest) > 0 || !b.whole(v) {
			return found
		}
		found, end = line[at:], end[:at]
	}
}

// whole reports whether a value is a record, and no part of one that was cut off: it says its type and its time.
func (b *building) whole(v provider.JSON) bool {
	f := v.Find("type", "timestamp")
	return f[0] != nil && f[1] != nil || formatOf(v) == b.Format
}

// opening is where the object begins that a text ends with, -1 where it ends with none. It reads from back to front: so a
// string that was cut off before the object is no obstacle, and each byte is read once.
func opening(text []byte) int {
	if len(text) == 0 || text[len(text)-1] != '}' {
		return -1
	}
	depth, inside := 0, false
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case c == '"':
			from := i
			for i > 0 && text[i-1] == '\\' {
				i--
			}
			if (from-i)%2 == 0 {
				inside = !inside
			} else if !inside {
				return -1
			}
		case inside:
		case c == '}' || c == ']':
			depth++
		case c == '{' || c == '[':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// lost reports a part of a line that is no record. It may have held text, so that nothing is proven absent any more.
func (b *building) lost(line int, offset int64, part []byte, value bool) {
	switch {
	case value:
		b.warn(line, "not a record: it is no JSON object")
	case len(bytes.Trim(part, "\x00 \t\r")) == 0:
		b.warn(line, "not a record: it is zeros, as a crash leaves them")
		return
	default:
		b.warn(line, "not a record: it is no JSON, or was cut off")
	}
	if !value || provider.JSON(part).HoldsText() {
		b.unread(line, offset, int64(len(part)))
	}
}

// maxKind is how much of a type is shown, in characters.
const maxKind = 40

// strangeText says that records are of a type that is not known.
func strangeText(kind string, n int) string {
	if runes := []rune(kind); len(runes) > maxKind {
		kind = string(runes[:maxKind]) + "…"
	}
	switch {
	case kind == "" && n == 1:
		return "a record of no type that is known is kept and not searched"
	case kind == "":
		return fmt.Sprintf("%d records of no type that is known are kept and not searched, from here on", n)
	}
	if n == 1 {
		return fmt.Sprintf("a record of the unknown type %q is kept and not searched", kind)
	}
	return fmt.Sprintf("%d records of the unknown type %q are kept and not searched, from here on", n, kind)
}
