package provider

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Texts returns the public texts of an answer. Their fields are /text, /calls/0/args for arguments that are a string,
// and /calls/0/args/NAME for the string members of others.
func (a Answer) Texts() []Text {
	var texts []Text
	if a.Text != "" {
		texts = append(texts, Text{"/text", SaidAssistant, a.Text})
	}
	for i, c := range a.Calls {
		texts = append(texts, c.Texts("/calls/"+strconv.Itoa(i)+"/args")...)
	}
	return texts
}

// Draft collects an answer that may come in pieces. What was added stays: so a broken answer says nothing that the
// whole would not have said. The zero value is ready.
type Draft struct {
	ID       string
	Unknown  bool
	Elements []Hash

	text          []byte
	calls         []draftCall
	keys          map[int64]int // the open calls, by what their pieces name them
	ended, broken bool
}

// draftCall is a call whose arguments may still come.
type draftCall struct {
	id, name string
	empty    []byte // the arguments if no piece of them comes
	args     []byte // when closed one JSON value, before that text
	closed   bool
}

// AddText adds a piece of text.
func (d *Draft) AddText(text string) { d.text = append(d.text, text...) }

// Length returns how much text there is, in bytes.
func (d *Draft) Length() int { return len(d.text) }

// GrowText takes text for what stands from the offset on, if it goes on with what is there.
func (d *Draft) GrowText(from int, text string) {
	if strings.HasPrefix(text, string(d.text[from:])) {
		d.text = append(d.text[:from], text...)
	}
}

// AddCall adds a call that came whole.
func (d *Draft) AddCall(id, name string, args []byte) {
	d.calls = append(d.calls, draftCall{id: id, name: name, args: args, closed: true})
}

// OpenCall adds a call whose arguments come in pieces that name it by the key; if none comes, they are empty. A call
// that was open under the key is closed.
func (d *Draft) OpenCall(key int64, id, name string, empty JSON) {
	d.CloseCall(key, nil)
	if d.keys == nil {
		d.keys = map[int64]int{}
	}
	d.keys[key] = len(d.calls)
	d.calls = append(d.calls, draftCall{id: id, name: name, empty: bytes.Clone(empty)})
}

// IsOpen reports whether a call is open under the key, and the id that it has.
func (d *Draft) IsOpen(key int64) (id string, ok bool) {
	i, ok := d.keys[key]
	if !ok {
		return "", false
	}
	return d.calls[i].id, true
}

// AddArgs adds a piece of the arguments of an open call.
func (d *Draft) AddArgs(key int64, piece string) {
	if i, ok := d.keys[key]; ok {
		d.calls[i].args = append(d.calls[i].args, piece...)
	}
}

// CloseCall ends an open call. Its arguments are those given, or without them the pieces that came.
func (d *Draft) CloseCall(key int64, args []byte) {
	if i, ok := d.keys[key]; ok {
		d.calls[i].close(args)
		delete(d.keys, key)
	}
}

// CloseCalls ends all open calls.
func (d *Draft) CloseCalls() {
	for key := range d.keys {
		d.CloseCall(key, nil)
	}
}

func (c *draftCall) close(args []byte) {
	if args == nil && len(c.args) == 0 {
		args = c.empty
	}
	if inner, ok := innerJSON(string(c.args)); args == nil && ok {
		args = inner
	}
	if args == nil {
		args = quote(c.args)
	}
	c.args, c.closed = args, true
}

// GrowCalls takes calls for all of the answer's, if they go on with those that are there.
func (d *Draft) GrowCalls(calls []Call) {
	if len(calls) < len(d.calls) {
		return
	}
	for i, c := range d.calls {
		if c.id != calls[i].ID || c.name != calls[i].Name {
			return
		}
	}
	d.calls, d.keys = d.calls[:0], nil
	for _, c := range calls {
		d.AddCall(c.ID, c.Name, c.Args)
	}
}

// GrowElements takes elements for all of the answer's, if they go on with those that are there.
func (d *Draft) GrowElements(elements []Hash) {
	if len(elements) >= len(d.Elements) && slices.Equal(elements[:len(d.Elements)], d.Elements) {
		d.Elements = elements
	}
}

// End says that the answer came to its end.
func (d *Draft) End() { d.ended = true }

// Break says that the provider reported an error.
func (d *Draft) Break() { d.broken = true }

// Answer returns what came. The arguments of calls that are open are a string: what came of them.
func (d *Draft) Answer() Answer {
	a := Answer{ID: d.ID, Text: string(d.text), Whole: d.ended && !d.broken, Unknown: d.Unknown, Elements: d.Elements}
	for _, c := range d.calls {
		if !c.closed {
			c.args = quote(c.args)
		}
		a.Calls = append(a.Calls, Call{ID: c.id, Name: c.name, Args: c.args})
	}
	return a
}

// quote returns text, which is UTF-8, as a JSON string.
func quote(text []byte) []byte {
	quoted, _ := jsontext.AppendQuote(nil, text) // fails for invalid UTF-8 only
	return quoted
}
