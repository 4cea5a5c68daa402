package transcript

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ambit/entry"
	"ambit/provider"
)

// document reads a recording that is one JSON value: an object with a list of messages, or the list itself. It keeps where
// it stands, so that each part is known by its place, and what stands before a break is kept.
type document struct {
	*building
	r      *provider.Reader
	text   []byte // the recording, with blanks in the place of a byte order mark
	line   int    // of the offset below
	offset int
}

func newDocument(b *building) *document {
	d := &document{building: b, text: b.data, line: 1}
	if bytes.HasPrefix(b.data, byteOrderMark) {
		d.text = append([]byte("   "), b.data[len(byteOrderMark):]...)
	}
	d.Lines = bytes.Count(b.data, []byte("\n")) + 1
	if bytes.HasSuffix(b.data, []byte("\n")) {
		d.Lines--
	}
	return d
}

// read reads the recording once: item takes each element of the lists of these names, or of the value itself where that
// is a list, with the JSON pointer to it; member takes every other member.
func (d *document) read(lists map[string]bool, item func(r record, at string), member func(name string, v record)) {
	d.line, d.offset = 1, 0
	d.r = provider.NewReader(d.text)
	if d.r.Kind() == '[' {
		d.items("", item)
	} else {
		d.r.Members(func(name string) {
			if lists[name] && d.r.Kind() == '[' {
				d.items("/"+name, item)
			} else if v, ok := d.cut(); ok {
				member(name, v)
			}
		})
	}
	if err := d.r.End(); err != nil {
		d.lost(err)
	}
}

// items reads a list.
func (d *document) items(at string, item func(r record, at string)) {
	d.r.List(at, func(at string) {
		r, ok := d.cut()
		switch {
		case ok && r.Kind() == '{':
			item(r, at)
		case ok && r.HoldsText():
			d.unknown(r, "element that is no object")
		}
	})
}

// cut reads the value that comes next; not ok is one that breaks off.
func (d *document) cut() (record, bool) {
	d.r.Kind()
	from := d.r.Mark()
	v, _, ok := provider.Cut(d.text[from:])
	if !ok {
		d.r.Skip()
		return record{}, false
	}
	d.to(from)
	r := record{v, d.line, int64(from)}
	d.to(from + len(v))
	d.r.Back(d.offset) // and not over it: names that stand twice in it are no obstacle
	return r, true
}

// to goes on to an offset.
func (d *document) to(offset int) {
	d.line += bytes.Count(d.text[d.offset:offset], []byte("\n"))
	d.offset = offset
}

// lost reports that the recording breaks off, or is no JSON from somewhere on. What stands there may hold text.
func (d *document) lost(err error) {
	rest := d.text[d.offset:]
	d.to(d.offset + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,]}")))
	d.warn(min(d.line, d.Lines), "it breaks off here, or is no JSON: "+err.Error())
	if rest = bytes.TrimRight(d.text[d.offset:], "\x00 \t\r\n"); len(rest) > 0 {
		d.unread(d.line, int64(d.offset), int64(len(rest)))
	}
}

// other notes a member that is not known, when it may hold text.
func (d *document) other(name string, v record) {
	if v.HoldsText() {
		d.unknown(v, "member "+name)
	}
}

// unitAt is one for the element of a list at a JSON pointer.
func (r record) unitAt(at string) *entry.Unit {
	u := r.unit()
	u.At = at
	return u
}

// elements are the elements of a list that stands in a record, each with its place.
func (r record) elements(list provider.JSON) iter.Seq[record] {
	return func(yield func(record) bool) {
		line, end := r.line, bytes.Index(r.JSON, list)
		if end < 0 {
			return
		}
		line += bytes.Count(r.JSON[:end], []byte("\n"))
		end += len("[")
		for v := range list.Elements() {
			rest := r.JSON[end:]
			from := end + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,"))
			line += bytes.Count(r.JSON[end:from], []byte("\n"))
			if !yield(record{v, line, r.offset + int64(from)}) {
				return
			}
			end = from + len(v)
			line += bytes.Count(v, []byte("\n"))
		}
	}
}

// madeID is the id of a call that has none of its own, by its place: call-1-0 for /messages/1/toolCalls/0.
func madeID(at string) string {
	var id strings.Builder
	id.WriteString("call")
	for part := range strings.SplitSeq(at, "/") {
		if _, err := strconv.ParseUint(part, 10, 32); err == nil {
			id.WriteString("-" + part)
		}
	}
	return id.String()
}

// quoted is an id as a JSON string.
func quoted(id string) provider.JSON {
	text, err := jsontext.AppendQuote(nil, id)
	if err != nil { // it is no UTF-8, and no id of a client's
		return nil
	}
	return provider.JSON(text)
}

// result is the id of the first result that a unit holds, as it was found when the unit was made; nil when it holds none.
func result(u entry.Unit) provider.JSON {
	if len(u.Results) == 0 {
		return nil
	}
	return quoted(u.Results[0])
}

// holding is a copy of a unit that knows which results its message holds; what reads the message needs it.
func holding(u *entry.Unit, ids ...string) entry.Unit {
	h := *u
	h.Results = ids
	return h
}
