package provider

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// growing is text that comes in pieces. A character may be split over two of them.
type growing struct {
	text []byte
	high []byte // the escape of the first half of a character whose second half may still come
}

// add adds a piece, if v is a string.
func (g *growing) add(v JSON) {
	if v.Kind() != '"' || len(v) <= len(`""`) {
		return
	}
	if len(g.high) > 0 {
		v = append(append(JSON{'"'}, g.high...), v[1:]...)
		g.high = g.high[:0]
	}
	if at := len(v) - len(`\ud800"`); isHigh(v, at) {
		g.high = append(g.high, v[at:len(v)-1]...)
		v = append(v[:at:at], '"')
	}
	g.text, _ = jsontext.AppendUnquote(g.text, []byte(v)) // an error only says that something was replaced
}

// flush gives a half up whose other half did not come.
func (g *growing) flush() {
	if len(g.high) > 0 {
		g.text, g.high = utf8.AppendRune(g.text, utf8.RuneError), g.high[:0]
	}
}

// isHigh reports whether the escape of the first half of a character stands at i in a string.
func isHigh(v JSON, i int) bool {
	if i < 1 || v[i] != '\\' || v[i+1] != 'u' {
		return false
	}
	if r := hex4(v[i+2:]); r < 0xd800 || r > 0xdbff {
		return false
	}
	before := v[:i]
	return (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 // else the backslash is one that is escaped
}
