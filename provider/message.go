package provider

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// AddText adds a public text, unless v is an empty string or none. What is no string, but holds some, is Unknown. The
// field is the JSON pointer to v.
func (m *Message) AddText(field, said string, v JSON) {
	if v.Kind() != '"' {
		m.Unknown = m.Unknown || v.HoldsText()
		return
	}
	if text := v.Text(); text != "" {
		m.Texts = append(m.Texts, m.text(field, said, text))
	}
}

// text is one of the message's. What a tool says is of the result that was added last.
func (m *Message) text(field, said, text string) Text {
	t := Text{Field: field, Said: said, Text: text}
	if n := len(m.Results); n > 0 && said == SaidTool {
		t.Call = m.Results[n-1]
	}
	return t
}

// Beside says of the texts from number from on that they stand beside the results, not in one.
func (m *Message) Beside(from int) {
	for i := from; i < len(m.Texts); i++ {
		m.Texts[i].Call = ""
	}
}

// AddCall adds a call and the public texts among its arguments, which stand at field, as JSON or as a string that
// holds JSON. A call whose arguments are free text says so, lest text that looks like JSON is taken for it.
func (m *Message) AddCall(field, id, name string, args JSON, free bool) {
	c := Call{ID: id, Name: name, Args: bytes.Clone(args)}
	if !free {
		c.Args = Arguments(args)
	}
	m.Calls = append(m.Calls, c)
	m.Unknown = m.Unknown || c.broken()
	m.Texts = append(m.Texts, c.Texts(field)...)
}

// Object returns v as an object. What is none, but holds text, is Unknown.
func (m *Message) Object(v JSON) Object {
	if v.Kind() != '{' {
		m.Unknown = m.Unknown || v.HoldsText()
		return Object{}
	}
	return v.Object()
}

// Each yields the elements of v, each with the JSON pointer to it, when v stands at the field. What is no array, but
// holds text, is Unknown.
func (m *Message) Each(field string, v JSON) iter.Seq2[string, JSON] {
	return func(yield func(string, JSON) bool) {
		if v.Kind() != '[' {
			m.Unknown = m.Unknown || v.HoldsText()
			return
		}
		i := 0
		for element := range v.Elements() {
			if !yield(field+"/"+strconv.Itoa(i), element) {
				return
			}
			i++
		}
	}
}

// Rest makes the message Unknown if something of an object may be text and was neither taken nor is named.
func (m *Message) Rest(o Object, named map[string]bool) { m.Unknown = m.Unknown || o.Rest(named) }

// AddResult adds the id of a call whose result the message holds, if it has one.
func (m *Message) AddResult(id JSON) {
	if id := id.Text(); id != "" {
		m.Results = append(m.Results, id)
	}
}

// Fix says why the bytes of the message must not be changed. Of several reasons the strictest stays: one that forbids to leave
// the message out counts more than reasoning.
func (m *Message) Fix(why Fixed) {
	if why.rank() > m.Fixed.rank() {
		m.Fixed = why
	}
}

// FixIf is Fix where a string that is not empty stands in one of the values, at any depth.
func (m *Message) FixIf(why Fixed, values ...JSON) {
	for _, v := range values {
		if m.Fixed != why && v.HoldsText() {
			m.Fix(why)
		}
	}
}

// Settled returns the message when all of it was read: one that is Unknown is Strange.
func (m Message) Settled() Message {
	if m.Unknown {
		m.Fix(Strange)
	}
	return m
}

func (f Fixed) rank() int {
	switch f {
	case Reasoned:
		return 1
	case Media:
		return 2
	case Strange:
		return 3
	case Sealed:
		return 4
	}
	return 0
}

// Arguments returns a copy of a call's arguments: of v, or of the JSON that v holds as a string.
func Arguments(v JSON) []byte {
	if inner, ok := innerJSON(v.Text()); ok {
		return inner
	}
	return bytes.Clone(v)
}

// innerJSON returns the JSON value that a text holds. A string is none: it could not be told from free text.
func innerJSON(text string) ([]byte, bool) {
	text = strings.Trim(text, " \t\r\n")
	if text == "" || text[0] == '"' {
		return nil, false
	}
	inner := []byte(text)
	s := scanner{body: inner}
	s.out.off = 1
	s.value()
	s.end()
	return inner, s.err == nil
}

// Texts returns the call's public texts, when its arguments stand at field: all of them where they are free text, or
// else the members that are strings.
func (c Call) Texts(field string) []Text {
	if c.broken() {
		return nil
	}
	if text := JSON(c.Args).Text(); text != "" {
		return []Text{{Field: field, Said: SaidArgument, Text: text}}
	}
	var texts []Text
	for name, value := range JSON(c.Args).Members() {
		if text := value.Text(); text != "" {
			texts = append(texts, Text{Field: field + "/" + PointerName(name), Said: SaidArgument, Text: text})
		}
	}
	return texts
}

// broken reports whether the arguments begin like JSON and are none, because they broke off or repeat a name: then there
// may be deeper arguments among them, which are not public.
func (c Call) broken() bool {
	text := strings.TrimLeft(JSON(c.Args).Text(), " \t\r\n")
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	_, whole := innerJSON(text) // free text that is whole JSON is text
	return !whole
}

// PointerName escapes the name of a member for a JSON pointer.
func PointerName(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
