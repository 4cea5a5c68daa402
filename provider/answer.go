package provider

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Texts returns the public texts of an answer. Their fields are /text, /results/0 for what a tool gave back that the
// provider ran, /others/0 for what a further choice says, /calls/0/args for arguments that are a string, and
// /calls/0/args/NAME for the string members of others.
func (a Answer) Texts() []Text {
	var texts []Text
	if a.Text != "" {
		texts = append(texts, Text{Field: "/text", Said: SaidAssistant, Text: a.Text})
	}
	for i, text := range a.Results {
		if text != "" {
			texts = append(texts, Text{Field: "/results/" + strconv.Itoa(i), Said: SaidTool, Text: text})
		}
	}
	for i, text := range a.Others {
		if text != "" {
			texts = append(texts, Text{Field: "/others/" + strconv.Itoa(i), Said: SaidAssistant, Text: text})
		}
	}
	for i, c := range a.Calls {
		texts = append(texts, c.Texts("/calls/"+strconv.Itoa(i)+"/args")...)
	}
	return texts
}

// Draft collects an answer that may come in pieces. What was added stays: so a broken answer says nothing that the
// whole would not have said. What contradicts it is not taken, and makes the answer Unknown. The zero value is ready.
type Draft struct {
	ID       string
	Unknown  bool
	Unsure   bool // something passed that is known only if the answer came to its end, which repeats it
	Elements []Hash

	text          growing
	calls         []draftCall
	keys          map[int64]int // the open calls, by what their pieces name them
	results       []string
	others        []growing
	choices       map[int64]int // which of others each further choice is
	ended, broken bool
}

// draftCall is a call whose arguments may still come.
type draftCall struct {
	id, name string
	empty    []byte // the arguments if no piece of them comes
	pieces   growing
	args     []byte // when closed, one JSON value
	closed   bool
}

// AddText adds text that came whole.
func (d *Draft) AddText(text string) {
	d.text.flush()
	d.text.text = append(d.text.text, text...)
}

// AddPiece adds a piece of text, if v is a string. What is none, but holds text, is Unknown.
func (d *Draft) AddPiece(v JSON) {
	d.Unknown = d.Unknown || v.Kind() != '"' && v.HoldsText()
	d.text.add(v)
}

// AddOther adds a piece of what a further choice says.
func (d *Draft) AddOther(choice int64, v JSON) {
	if v.Kind() != '"' {
		d.Unknown = d.Unknown || v.HoldsText()
		return
	}
	i, ok := d.choices[choice]
	if !ok {
		if d.choices == nil {
			d.choices = map[int64]int{}
		}
		i = len(d.others)
		d.choices[choice], d.others = i, append(d.others, growing{})
	}
	d.others[i].add(v)
}

// Add adds what a message of the assistant says, which came whole.
func (d *Draft) Add(m Message) {
	for _, text := range m.Texts {
		switch text.Said {
		case SaidAssistant:
			d.AddText(text.Text)
		case SaidTool:
			d.results = append(d.results, text.Text)
		case SaidUser:
			d.Unknown = true
		}
	}
	for _, c := range m.Calls {
		d.AddCall(c.ID, c.Name, c.Args)
	}
	d.Unknown = d.Unknown || m.Unknown
}

// AddChoice adds what a message of a further choice says.
func (d *Draft) AddChoice(choice int64, m Message) {
	for _, text := range m.Texts {
		switch text.Said {
		case SaidAssistant:
			d.AddOther(choice, quote([]byte(text.Text)))
		case SaidTool:
			d.results = append(d.results, text.Text)
		}
	}
	d.Unknown = d.Unknown || m.Unknown || len(m.Calls) > 0
}

// Length returns how much text there is, in bytes.
func (d *Draft) Length() int { return len(d.text.text) }

// GrowText takes text for what stands from the offset on, if it goes on with what is there.
func (d *Draft) GrowText(from int, text string) {
	have := string(d.text.text[from:])
	if strings.HasPrefix(text, have) {
		d.text = growing{text: append(d.text.text[:from], text...)}
		return
	}
	d.Unknown = d.Unknown || !strings.Contains(have, text)
}

// GrowResults takes results for all of the answer's, if they go on with those that are there.
func (d *Draft) GrowResults(results []string) {
	if len(results) >= len(d.results) && slices.Equal(results[:len(d.results)], d.results) {
		d.results = results
		return
	}
	for _, text := range results {
		d.Unknown = d.Unknown || !slices.Contains(d.results, text)
	}
}

// AddResults adds what tools gave back that the provider ran.
func (d *Draft) AddResults(texts ...string) { d.results = append(d.results, texts...) }

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

// AddArgs adds a piece of the arguments of an open call. Without one there is no place for it.
func (d *Draft) AddArgs(key int64, piece JSON) {
	i, ok := d.keys[key]
	if ok {
		d.calls[i].pieces.add(piece)
	}
	d.Unknown = d.Unknown || (!ok || piece.Kind() != '"') && piece.HoldsText()
}

// CloseCall ends an open call. Its arguments are those given, or without them the pieces that came.
func (d *Draft) CloseCall(key int64, args []byte) {
	if i, ok := d.keys[key]; ok {
		c := &d.calls[i]
		c.close()
		d.Unknown = d.Unknown || len(c.pieces.text) > 0 && JSON(c.empty).HoldsText()
		if args != nil {
			d.Unknown = d.Unknown || !c.goesOn(args)
			c.args = args
		}
		delete(d.keys, key)
	}
}

// goesOn reports whether arguments, which are the whole, begin with what came of a call's.
func (c *draftCall) goesOn(whole []byte) bool {
	if c.closed && len(c.pieces.text) == 0 {
		return bytes.Equal(whole, c.args) || len(c.args) == 0 || bytes.Equal(c.args, quote(nil)) || bytes.Equal(c.args, c.empty)
	}
	if bytes.Equal(whole, c.args) {
		return true
	}
	came := bytes.TrimLeft(c.pieces.text, " \t\r\n")
	return bytes.HasPrefix(whole, came) || strings.HasPrefix(JSON(whole).Text(), string(c.pieces.text))
}

// CloseCalls ends all open calls.
func (d *Draft) CloseCalls() {
	for key := range d.keys {
		d.CloseCall(key, nil)
	}
}

func (c *draftCall) close() {
	c.pieces.flush()
	args := c.empty
	if came := c.pieces.text; len(came) > 0 || args == nil {
		inner, ok := innerJSON(string(came))
		if args = inner; !ok {
			args = quote(came)
		}
	}
	c.args, c.closed = args, true
}

// GrowCalls takes calls for all of the answer's, if they go on with those that are there.
func (d *Draft) GrowCalls(calls []Call) {
	if len(calls) < len(d.calls) {
		d.Unknown = d.Unknown || len(calls) > 0 && !d.begins(calls)
		return
	}
	if !d.begins(calls[:len(d.calls)]) {
		d.Unknown = true
		return
	}
	for i, c := range d.calls {
		d.Unknown = d.Unknown || !c.goesOn(calls[i].Args)
	}
	d.calls, d.keys = d.calls[:0], nil
	for _, c := range calls {
		d.AddCall(c.ID, c.Name, c.Args)
	}
}

// begins reports whether the calls that are there begin with these.
func (d *Draft) begins(calls []Call) bool {
	for i, c := range calls {
		if d.calls[i].id != c.ID || d.calls[i].name != c.Name {
			return false
		}
	}
	return true
}

// GrowElements takes elements for all of the answer's, if they go on with those that are there.
func (d *Draft) GrowElements(elements []Hash) {
	if len(elements) >= len(d.Elements) && slices.Equal(elements[:len(d.Elements)], d.Elements) {
		d.Elements = elements
	}
}

// End says that the answer came to its end.
func (d *Draft) End() {
	d.ended = true
	d.text.flush()
	for i := range d.others {
		d.others[i].flush()
	}
}

// Break says that the provider reported an error.
func (d *Draft) Break() { d.broken = true }

// Answer returns what came. The arguments of calls that are open are a string: what came of them.
func (d *Draft) Answer() Answer {
	a := Answer{
		ID: d.ID, Text: string(d.text.text), Whole: d.ended && !d.broken, Unknown: d.Unknown || d.Unsure && !d.ended,
		Results: d.results, Elements: d.Elements,
	}
	for _, c := range d.calls {
		if !c.closed {
			c.args = quote(c.pieces.text)
			a.Unknown = a.Unknown || JSON(c.empty).HoldsText()
		}
		call := Call{ID: c.id, Name: c.name, Args: c.args}
		a.Calls, a.Unknown = append(a.Calls, call), a.Unknown || call.broken()
	}
	for _, other := range d.others {
		a.Others = append(a.Others, string(other.text))
	}
	return a
}

// quote returns text, which is UTF-8, as a JSON string.
func quote(text []byte) []byte {
	quoted, _ := jsontext.AppendQuote(nil, text) // fails for invalid UTF-8 only
	return quoted
}
