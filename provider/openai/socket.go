package openai

import (
	"bytes"
	"encoding/json"
	"errors"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Over a WebSocket a request to Responses is one message, response.create, and each event of its answer is one. The message
// has the members of the body that goes over HTTP, but for stream, which is understood. On one connection a request may name
// the answer before it, and then holds only what comes behind that: the server keeps the newest whole answer of a connection,
// and drops it when a request that names it fails. What is kept so is never on a disk, so all this goes with store=false, too.

const (
	create   = `{"type":"response.create",`
	streamed = `"stream":true,`
	previous = `"previous_response_id":`
	ending   = `]}`
)

// errShape says that a body is none that Lower made for Responses.
var errShape = errors.New("it is no body of a streamed request to Responses that Lower made")

// Create is the message that asks for what a body asks for, which Lower made to be streamed. All that it keeps has the same
// bytes.
func Create(body []byte) ([]byte, error) {
	head, rest, found := bytes.Cut(body, []byte(streamed)) // no string holds that: its quotes would be escaped
	if !found || len(head) == 0 || head[0] != '{' || !bytes.HasSuffix(rest, []byte(ending)) {
		return nil, errShape
	}
	return bytes.Join([][]byte{[]byte(create), head[1:], rest}, nil), nil
}

// Continue is the message that asks for what another asks for, which Create made, on a connection whose newest answer has an
// id: of the input only what comes behind that answer. Before is the message, whole, that was answered. False where the
// message does not begin with that and the answer, byte for byte, settings included, or has nothing behind it.
func Continue(message, before []byte, answer unit.Unit, id string) ([]byte, bool) {
	items, err := itemsOf(answer)
	held, whole := bytes.CutSuffix(before, []byte(ending))
	input := inputOf(before)
	if err != nil || !whole || input.JSON == nil || id == "" {
		return nil, false
	}
	more, begins := bytes.CutPrefix(message, held)
	more, answered := bytes.CutPrefix(more, items)
	more, goesOn := bytes.CutPrefix(more, []byte{','})
	if !begins || !answered || !goesOn || !bytes.HasPrefix(message, []byte(create)) || !bytes.HasSuffix(more, []byte(ending)) {
		return nil, false
	}
	l := provider.Lowering{Out: make([]byte, 0, input.From+len(more)+len(id)+64)}
	l.String(create + previous)
	l.Text(id)
	l.Byte(',')
	l.Out = append(append(l.Out, before[len(create):input.From+1]...), more...)
	return l.Out, true
}

// Link is an answer and the message, made by Continue, that goes on from it.
type Link struct {
	Answer  unit.Unit
	Message []byte
}

// Join is the message that Continue made the last of several of: what the model was shown by that. Before is the message,
// whole, that the first of them goes on from.
func Join(before []byte, links []Link) ([]byte, error) {
	whole := bytes.Clone(before)
	for _, l := range links {
		items, err := itemsOf(l.Answer)
		if err != nil {
			return nil, err
		}
		held, is := bytes.CutSuffix(whole, []byte(ending))
		input := inputOf(l.Message)
		if !is || input.JSON == nil {
			return nil, errShape
		}
		whole = append(append(append(held, items...), ','), l.Message[input.From+1:]...)
	}
	return whole, nil
}

// itemsOf are the items by which later requests hold an answer, each with a comma in front.
func itemsOf(answer unit.Unit) ([]byte, error) {
	l := &lowering{provider.Lowering{Out: []byte{'['}}}
	l.items(&view.Segment{Unit: answer})
	items, err := l.Body()
	if err == nil && len(items) == 1 {
		err = errors.New("nothing of the answer is sent again")
	}
	if err != nil {
		return nil, err
	}
	items[0] = ','
	return items, nil
}

// inputOf is the input of a message, where it stands.
func inputOf(message []byte) (input provider.Place) {
	for name, v := range (provider.Place{JSON: message}).Members() {
		if name == "input" && v.Kind() == '[' {
			input = v
		}
	}
	return input
}

// Ends reports whether a message is the last of an answer: the event that ends it, an error, or what is none of either, behind
// which nothing can be told from the next answer.
func Ends(message []byte) bool {
	if !json.Valid(message) {
		return true
	}
	found := provider.JSON(message).Find("type", "error")
	switch found[0].Text() {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "error":
		return true
	case "":
		return found[1].Kind() == '{' || provider.JSON(bytes.TrimSpace(message)).Kind() != '{'
	}
	return false
}

// Strays reports whether a message belongs to the answer before, whose id is given, or to none that has begun. Begins, that an
// answer begins with it.
func Strays(message []byte, id string) (strays, begins bool) {
	if !json.Valid(message) {
		return true, false
	}
	found := provider.JSON(message).Find("type", "response")
	event := found[0].Text()
	if holdsResponse(event) {
		same := id != "" && found[1].Find("id")[0].Text() == id
		return same, !same
	}
	return isEvent(event), false
}
