package providertest

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"ambit/provider"
)

// node is a JSON value that can be changed and spelled anew.
type node struct {
	text  string   // of what is neither an object nor an array, as it was spelled
	open  byte     // of an object or an array
	names []string // of an object's members, as they were spelled
	kids  []*node
}

func parse(body string) *node {
	dec := jsontext.NewDecoder(strings.NewReader(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	n := parseNext(dec)
	if _, err := dec.ReadToken(); err != io.EOF {
		panic(err)
	}
	return n
}

func parseNext(dec *jsontext.Decoder) *node {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		return &node{text: string(read(dec))}
	}
	n := &node{open: byte(kind)}
	for token(dec); dec.PeekKind() != '}' && dec.PeekKind() != ']'; {
		if kind == '{' {
			n.names = append(n.names, string(read(dec)))
		}
		n.kids = append(n.kids, parseNext(dec))
	}
	token(dec)
	return n
}

func read(dec *jsontext.Decoder) jsontext.Value {
	v, err := dec.ReadValue()
	if err != nil {
		panic(err)
	}
	return v
}

func token(dec *jsontext.Decoder) {
	if _, err := dec.ReadToken(); err != nil {
		panic(err)
	}
}

// name returns the decoded name of a member.
func (n *node) name(i int) string { return provider.JSON(n.names[i]).Text() }

// member returns the member of the name, or nil.
func (n *node) member(name string) *node {
	for i := range n.names {
		if n.name(i) == name {
			return n.kids[i]
		}
	}
	return nil
}

// at returns the value at a JSON pointer that was resolved before.
func (n *node) at(pointer string) *node {
	for _, step := range strings.Split(pointer, "/")[1:] {
		if n.open == '{' {
			n = n.member(step)
			continue
		}
		i, err := strconv.Atoi(step)
		if err != nil {
			panic(err)
		}
		n = n.kids[i]
	}
	return n
}

// tops are the objects in which cache_control and null say nothing: elements, and the blocks of messages.
func tops(body *node, e provider.Elements) (list []*node) {
	for _, e := range all(e) {
		n := body.at(e.At)
		if n.open != '{' {
			continue
		}
		list = append(list, n)
		if kind := n.member("type"); kind != nil && kind.text != `"message"` && kind.text != "null" {
			continue
		}
		for _, name := range []string{"content", "parts"} {
			blocks := n.member(name)
			switch {
			case blocks == nil:
			case blocks.open == '[':
				for _, block := range blocks.kids {
					if block.open == '{' {
						list = append(list, block)
					}
				}
			case blocks.open == '{':
				list = append(list, blocks)
			}
		}
	}
	return list
}

// decorate adds or takes away what says nothing at the top of an element or a block.
func (n *node) decorate(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "decoration") {
	case 0:
		if n.member("cache_control") == nil {
			n.insert(t, `"cache_control"`, parse(`{"type":"ephemeral","ttl":null}`))
		}
	case 1:
		n.insert(t, `"absent"`, &node{text: "null"})
	case 2:
		for i := len(n.names) - 1; i >= 0; i-- {
			if n.name(i) == "cache_control" || n.kids[i].text == "null" {
				n.names, n.kids = slices.Delete(n.names, i, i+1), slices.Delete(n.kids, i, i+1)
			}
		}
	}
}

func (n *node) insert(t *rapid.T, name string, kid *node) {
	at := rapid.IntRange(0, len(n.names)).Draw(t, "position")
	n.names, n.kids = slices.Insert(n.names, at, name), slices.Insert(n.kids, at, kid)
}

// inside returns the values of an element that say something, itself included.
func (n *node) inside(tops []*node, kind, at string) []*node {
	list := []*node{n}
	for i, kid := range n.kids {
		if slices.Contains(tops, n) && n.open == '{' {
			item := kind != provider.TypeChat && strings.HasPrefix(at, "/input/")
			switch name := n.name(i); {
			case name == "cache_control" || kid.text == "null":
				continue
			case item && (name == "id" || name == "status"):
				continue
			}
		}
		list = append(list, kid.inside(tops, kind, at)...)
	}
	return list
}

// change makes a value another one.
func (n *node) change(t *rapid.T, tops []*node) {
	switch {
	case n.open == '[':
		n.kids = append(n.kids, &node{text: "null"})
	case n.open == '{' && len(n.names) > 1 && !slices.Contains(tops, n) && rapid.Bool().Draw(t, "swap"):
		n.names[0], n.names[1] = n.names[1], n.names[0]
		n.kids[0], n.kids[1] = n.kids[1], n.kids[0]
	case n.open == '{' && slices.Contains(tops, n):
		n.insert(t, `"added"`, &node{text: "false"})
	case n.open == '{':
		n.insert(t, `"added"`, &node{text: "null"})
	case n.text[0] == '"':
		n.text = n.text[:len(n.text)-1] + `x"`
	case n.text == "null":
		n.text = "0"
	default:
		n.text = "null"
	}
}

// spell writes the value in a drawn spelling, or without t as plainly as it can.
func (n *node) spell(t *rapid.T) string {
	s := speller{}
	if t != nil {
		s.drawn = rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(t, "spelling")
	}
	s.value(n)
	return s.out.String()
}

// speller takes its decisions from drawn bytes, over and over.
type speller struct {
	out   strings.Builder
	drawn []byte
	used  int
}

func (s *speller) choose(n int) int {
	if len(s.drawn) == 0 {
		return 0
	}
	s.used++
	return (int(s.drawn[s.used%len(s.drawn)]) + s.used/len(s.drawn)) % n
}

func (s *speller) space() { s.out.WriteString([]string{"", "", " ", "\n", "\t\r\n "}[s.choose(5)]) }

func (s *speller) value(n *node) {
	s.space()
	defer s.space()
	if n.open == 0 {
		s.scalar(n.text)
		return
	}
	s.out.WriteByte(n.open)
	s.space()
	for i, kid := range n.kids {
		if i > 0 {
			s.out.WriteByte(',')
		}
		if n.open == '{' {
			s.space()
			s.scalar(n.names[i])
			s.space()
			s.out.WriteByte(':')
		}
		s.value(kid)
	}
	s.out.WriteByte(n.open + 2)
}

func (s *speller) scalar(text string) {
	if text[0] != '"' {
		s.out.WriteString(text)
		return
	}
	s.out.WriteByte('"')
	for in := text[1 : len(text)-1]; in != ""; {
		r, size := utf8.DecodeRuneInString(in)
		raw := r == utf8.RuneError && size == 1
		if r == '\\' {
			if in[1] == 'u' {
				var hex uint16
				fmt.Sscanf(in[2:6], "%x", &hex)
				r, size = rune(hex), 6
				if len(in) >= 12 && in[6:8] == `\u` {
					var low uint16
					fmt.Sscanf(in[8:12], "%x", &low)
					if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
						r, size = pair, 12
					}
				}
			} else {
				r, size = rune(strings.Map(unescape, in[1:2])[0]), 2
			}
		}
		if raw {
			s.out.WriteString(in[:size])
		} else {
			s.char(r)
		}
		in = in[size:]
	}
	s.out.WriteByte('"')
}

func unescape(r rune) rune {
	if i := strings.IndexRune("bfnrt", r); i >= 0 {
		return rune("\b\f\n\r\t"[i])
	}
	return r
}

// char writes a character raw or escaped in one of the ways there are.
func (s *speller) char(r rune) {
	format := []string{`\u%04x`, `\u%04X`}[s.choose(2)]
	short := strings.IndexRune("\b\f\n\r\t\"\\/", r)
	switch how := s.choose(4); {
	case how == 3 && short >= 0:
		s.out.WriteByte('\\')
		s.out.WriteByte(`bfnrt"\/`[short])
	case how < 2 && r >= ' ' && r != '"' && r != '\\' && !utf16.IsSurrogate(r):
		s.out.WriteRune(r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(&s.out, format+format, high, low)
	default:
		fmt.Fprintf(&s.out, format, r)
	}
}
