package provider

import (
	"strconv"
	"strings"
)

// AddLeaves adds what a tool gave back in a shape of its own: every string in v, at any depth, each with the JSON
// pointer to it. Left out are the members that are named, encrypted_content, a cache marker at the top, the data of images
// and other files, and the type of a content part. A pointer has to be paid for by the length of v; where many long ones are not, the
// message is Unknown.
func (m *Message) AddLeaves(field, said string, v JSON, named map[string]bool) {
	if kind := v.Kind(); kind != '{' && kind != '[' && kind != '"' {
		return
	}
	l := leaves{m: m, said: said, named: named, field: []byte(field), budget: 4096 + 32*len(v)}
	l.s = scanner{body: v}
	l.s.names.free, l.s.out.off = true, 1
	l.value()
}

// leaves is a value whose strings are being collected.
type leaves struct {
	m      *Message
	said   string
	named  map[string]bool
	s      scanner
	field  []byte
	budget int // how many bytes of pointers there still may be
}

func (l *leaves) value() {
	switch l.s.next() {
	case '{':
		l.object()
	case '[':
		l.s.array(func(i int) {
			at := len(l.field)
			l.field = strconv.AppendInt(append(l.field, '/'), int64(i), 10)
			l.value()
			l.field = l.field[:at]
		})
	case '"':
		l.add(l.s.part().Text())
	default:
		l.s.value()
	}
}

func (l *leaves) add(text string) {
	if text == "" || isData(text) {
		return
	}
	if l.budget -= len(l.field); l.budget < 0 {
		l.m.Unknown = true
		return
	}
	l.m.Texts = append(l.m.Texts, l.m.text(string(l.field), l.said, text))
}

// object collects the strings of an object. Whether its data is that of a file may stand behind the data.
func (l *leaves) object() {
	file := false
	var data []int
	l.s.members(func(name []byte) {
		at, texts := len(l.field), len(l.m.Texts)
		l.field = append(append(l.field, '/'), PointerName(decode(name))...)
		kind := l.s.next()
		switch name := string(name); {
		case l.named[name] || name == "encrypted_content" || name == "cache_control" && kind == '{' && l.s.depth == 1:
			l.s.value()
		case kind != '"':
			l.value()
		default:
			text := l.s.part().Text()
			file = file || isFile(name, text)
			if name == "type" && partTypes[text] {
				break
			}
			l.add(text)
			if (name == "data" || name == "blob") && len(l.m.Texts) > texts && isBase64(text) {
				data = append(data, texts)
			}
		}
		l.field = l.field[:at]
	})
	for i := len(data) - 1; file && i >= 0; i-- {
		l.m.Texts = append(l.m.Texts[:data[i]], l.m.Texts[data[i]+1:]...)
	}
}

// partTypes are the types of content parts: which kind of part it is, and not what a tool says.
var partTypes = map[string]bool{
	"text": true, "input_text": true, "output_text": true, "image": true, "input_image": true, "audio": true, "base64": true,
}

// isFile reports whether a member says that the data beside it is that of an image or another file.
func isFile(name, text string) bool {
	switch name {
	case "type":
		return text == "image" || text == "audio" || text == "base64"
	case "mimeType", "mime_type", "media_type":
		return !strings.HasPrefix(text, "text/") && text != "application/json"
	}
	return false
}

// isBase64 reports whether a text has no other characters than base64 has.
func isBase64(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n") == ""
}

// isData reports whether a text is a file in the form of a URL.
func isData(text string) bool {
	const longest = 128 // of what stands before the data
	return strings.HasPrefix(text, "data:") && strings.Contains(text[:min(len(text), longest)], ";base64,") && !strings.ContainsAny(text, " \t\r\n")
}
