package provider

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Member is one member of a JSON object.
type Member struct {
	Name  string // decoded as DecodeText does
	Value []byte // one JSON value
}

// AppendMinimal appends a JSON value in canonical form: strings with minimal escapes, numbers as spelled, member order
// kept, no spaces. The error is ErrNotUnderstood, with the reason; what was appended then is to be thrown away.
func AppendMinimal(dst []byte, v JSON) ([]byte, error) {
	s := scanner{body: v, out: writer{buf: dst}}
	s.value()
	s.end()
	return s.out.buf, s.err
}

// AppendWithout is AppendMinimal of an object without its member of the name. A value that is no object is appended whole.
func AppendWithout(dst []byte, v JSON, name string) ([]byte, error) {
	s := scanner{body: v, out: writer{buf: dst}}
	if s.next() != '{' {
		return AppendMinimal(dst, v)
	}
	first := true
	s.members(func(other []byte) {
		if string(other) == name {
			s.out.off++
			s.value()
			s.out.off--
			return
		}
		if !first {
			s.out.byte(',')
		}
		first = false
		s.out.name(other)
		s.value()
	})
	s.end()
	return s.out.buf, s.err
}

// RestOf returns the members of an object that do not have one of the names, in order. The values are parts of v. The
// error is ErrNotUnderstood, also for a value that is no object.
func RestOf(v JSON, names ...string) (rest []Member, err error) {
	s := scanner{body: v}
	s.out.off = 1
	s.members(func(name []byte) {
		s.next()
		from := s.pos
		s.value()
		if text := DecodeText(slices.Concat([]byte{'"'}, name, []byte{'"'})); !slices.Contains(names, text) {
			rest = append(rest, Member{text, v[from:s.pos:s.pos]})
		}
	})
	s.end()
	if s.err != nil {
		return nil, s.err
	}
	return rest, nil
}

// DecodeText returns what a JSON string says, so that AppendText gives back its canonical form: a lone surrogate becomes
// the three bytes that UTF-8 would have for it, and bytes that are not UTF-8 stay as they are. The one string that does not
// come back is one that holds such three bytes unescaped. A value that is no string gives nothing.
func DecodeText(v JSON) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	inner := v[1 : len(v)-1]
	i := bytes.IndexByte(inner, '\\')
	if i < 0 {
		return string(inner)
	}
	text, from := make([]byte, 0, len(inner)), 0
	for ; i >= 0 && i+1 < len(inner); i = indexFrom(inner, '\\', i) {
		text = append(text, inner[from:i]...)
		if inner[i+1] == 'u' {
			text, i = appendUnescaped(text, inner, i)
		} else {
			text = append(text, unescaped(inner[i+1]))
			i += 2
		}
		from = i
	}
	return string(append(text, inner[min(from, len(inner)):]...))
}

// indexFrom returns the first position of c from i on, or -1.
func indexFrom(b []byte, c byte, i int) int {
	if i >= len(b) {
		return -1
	}
	if at := bytes.IndexByte(b[i:], c); at >= 0 {
		return i + at
	}
	return -1
}

func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}

// appendUnescaped appends the character whose \u escape stands at i, and returns the position behind it.
func appendUnescaped(text, b []byte, i int) (longer []byte, behind int) {
	r := rune(hex4(b[min(i+2, len(b)):]))
	i += 6
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(text, r), i
	}
	if i+1 < len(b) && b[i] == '\\' && b[i+1] == 'u' {
		if pair := utf16.DecodeRune(r, rune(hex4(b[i+2:]))); pair != utf8.RuneError {
			return utf8.AppendRune(text, pair), i + 6
		}
	}
	return append(text, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F)), i
}

// AppendText appends a text as a JSON string in canonical form. Three bytes that UTF-8 would have for a surrogate become
// its escape, or with those of the other half the one character; bytes that are not UTF-8 are written as they are.
func AppendText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := specialIn(text, 0); i < len(text); i = specialIn(text, i) {
		r, n := surrogate(text[i:])
		if text[i] >= utf8.RuneSelf && n == 0 {
			i++
			continue
		}
		dst = append(dst, text[from:i]...)
		w := writer{buf: dst}
		if n > 0 {
			low, more := surrogate(text[i+n:])
			if pair := utf16.DecodeRune(r, low); more > 0 && pair != utf8.RuneError {
				w.buf = utf8.AppendRune(w.buf, pair)
				n += more
			} else {
				w.hex(r)
			}
		} else if n = 1; shortEscape(rune(text[i])) != 0 {
			w.buf = append(w.buf, '\\', shortEscape(rune(text[i])))
		} else {
			w.hex(rune(text[i]))
		}
		dst = w.buf
		i += n
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}

// leadsSurrogate is the first of the three bytes that UTF-8 would have for a surrogate, and of some sound ones.
const leadsSurrogate = 0xED

// surrogate returns the surrogate with which a text begins, with its length in bytes: three, or none where there is none.
func surrogate(text string) (r rune, n int) {
	if len(text) < 3 || text[0] != leadsSurrogate || text[1] < 0xA0 || text[1] > 0xBF || text[2]&0xC0 != 0x80 {
		return 0, 0
	}
	return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F), 3
}

// specialIn returns the position of the first byte from i on that may need an escape, or the length.
func specialIn(text string, i int) int {
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c == leadsSurrogate {
			return i
		}
	}
	return i
}
