package provider

import (
	"crypto/sha256"
	"hash"
	"unicode/utf16"
	"unicode/utf8"
)

// flushAt is from how many bytes on a writer passes its buffer on to the hash, so that it stays in the cache.
const flushAt = 16 << 10

// writer collects a canonical form, and its hash when it has one.
type writer struct {
	buf  []byte
	hash hash.Hash // nil to keep everything in buf
	off  int       // above zero, nothing is written
	long bool      // part of the form was passed on already
}

func (w *writer) byte(c byte) {
	if w.off == 0 {
		w.buf = append(w.buf, c)
	}
}

func (w *writer) string(s string) {
	if w.off == 0 {
		w.buf = append(w.buf, s...)
	}
}

func (w *writer) bytes(b []byte) {
	if w.off > 0 {
		return
	}
	if w.hash != nil && len(w.buf)+len(b) > flushAt {
		w.flush()
		if len(b) > flushAt {
			w.hash.Write(b)
			return
		}
	}
	w.buf = append(w.buf, b...)
}

func (w *writer) flush() {
	w.hash.Write(w.buf)
	w.buf, w.long = w.buf[:0], true
}

// name writes a name, given in canonical form, and its colon.
func (w *writer) name(name []byte) {
	w.byte('"')
	w.bytes(name)
	w.string(`":`)
}

// sum ends a form: it returns its hash and makes room for the next.
func (w *writer) sum() (h Hash) {
	if !w.long {
		h = sha256.Sum256(w.buf)
		w.buf = w.buf[:0]
		return h
	}
	w.flush()
	w.hash.Sum(h[:0])
	w.reset()
	return h
}

func (w *writer) reset() {
	w.buf, w.long = w.buf[:0], false
	w.hash.Reset()
}

// text writes the inside of a string whose escapes are known to be sound.
func (w *writer) text(b []byte) {
	if w.off > 0 {
		return
	}
	from := 0
	for i := special(b, 0); i < len(b); i = special(b, i) {
		switch b[i+1] {
		case '/':
			w.bytes(b[from:i])
			from = i + 1
			i += 2
		case 'u':
			w.bytes(b[from:i])
			i = w.escape(b, i)
			from = i
		default:
			i += 2
		}
	}
	w.bytes(b[from:])
}

// escape writes the character whose \u escape stands at i, and returns the position behind it.
func (w *writer) escape(b []byte, i int) int {
	r := rune(hex4(b[i+2:]))
	i += 6
	if utf16.IsSurrogate(r) {
		if i+1 < len(b) && b[i] == '\\' && b[i+1] == 'u' {
			if pair := utf16.DecodeRune(r, rune(hex4(b[i+2:]))); pair != utf8.RuneError {
				w.buf = utf8.AppendRune(w.buf, pair)
				return i + 6
			}
		}
		w.hex(r)
		return i
	}
	switch short := shortEscape(r); {
	case short != 0:
		w.buf = append(w.buf, '\\', short)
	case r < ' ':
		w.hex(r)
	default:
		w.buf = utf8.AppendRune(w.buf, r)
	}
	return i
}

func shortEscape(r rune) byte {
	switch r {
	case '"', '\\':
		return byte(r)
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	}
	return 0
}

func (w *writer) hex(r rune) {
	const digits = "0123456789abcdef"
	w.buf = append(w.buf, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// hex4 returns the number that four hex digits spell, or a negative one.
func hex4(b []byte) int {
	if len(b) < 4 {
		return -1
	}
	n := 0
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}
