package scripted

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json/v1"
)

// spot is where a turn stands in a script.
type spot struct {
	of    *conversation
	turns []turn // the way that it stands on
	n     int    // its place there, from 1, which is the index of the turn behind it
}

func (s spot) turn() turn { return s.turns[s.n-1] }

// issued is all that a script can have issued: by the id of a call, without what its wire puts in front, and by a seal.
type issued map[string]spot

func issuedOf(script []conversation) issued {
	out := issued{}
	for i := range script {
		c := &script[i]
		out.add(c, c.turns)
		for _, b := range c.branches {
			out.add(c, b.turns)
		}
	}
	return out
}

func (is issued) add(c *conversation, turns []turn) {
	for n, t := range turns {
		at := spot{c, turns, n + 1}
		for _, call := range t.calls {
			out := call.id
			is[out], is[out+lost] = at, at
		}
		if t.thought != "" {
			is[t.seal()], is[t.reasoningID()] = at, at
		}
	}
}

// call is the turn that made a call, by the id that the wire gave it.
func (is issued) call(id string) (spot, bool) {
	at, ok := is[id[strings.LastIndexByte(id, '_')+1:]]
	return at, ok
}

// newest is the turn of the newest call of the script in messages, and the message in which it stands. One that broke off is
// none.
func (is issued) newest(messages []message) (at spot, index int) {
	for i := len(messages) - 1; i >= 0; i-- {
		for _, b := range messages[i].blocks {
			if at, ok := is.call(b.ID); ok && b.Type == "tool_use" && !strings.HasSuffix(b.ID, lost) {
				return at, i + 1
			}
		}
	}
	return spot{}, 0
}

// seal is what shows that a thought is this provider's: a signature, or its encrypted form.
func (t turn) seal() string {
	return base64.StdEncoding.EncodeToString([]byte("sealed " + digest(t.place, t.thought) + digest(t.thought, t.place)))
}

// reasoningID is the id of the thought as an item of Responses.
func (t turn) reasoningID() string { return "rs_" + digest(t.place, "thought") }

// mistake is what is wrong with a request, and how OpenAI names it.
type mistake struct{ text, code, param string }

func (m *mistake) Error() string { return m.text }

func wrong(format string, args ...any) error { return &mistake{text: fmt.Sprintf(format, args...)} }

// whole reports a body that is not one JSON value, has one name twice in an object, or is not as long as was announced.
func whole(announced int64, body []byte) error {
	if announced >= 0 && announced != int64(len(body)) {
		return wrong("the request body has %d bytes, and content-length says %d", len(body), announced)
	}
	if !json.Valid(body) {
		return wrong("the request body is not valid JSON")
	}
	if name, at := twice(body); at > 0 {
		return wrong("the request body has the name %q twice in one object, near byte %d", name, at)
	}
	return nil
}

// twice finds the first name that an object of a valid JSON text has twice, and the offset behind it; 0 where there is none.
func twice(body []byte) (name string, at int) {
	var open []map[string]bool // the names of each object that is open; nil for a list
	names := false             // a name comes next
	for at < len(body) {
		switch c := body[at]; c {
		case '{':
			open, names = append(open, map[string]bool{}), true
		case '[':
			open, names = append(open, nil), false
		case '}', ']':
			open, names = open[:len(open)-1], false
		case ',':
			names = open[len(open)-1] != nil
		case '"':
			from := at
			at = stringEnd(body, at)
			if !names {
				break
			}
			names = false
			if name = string(body[from+1 : at]); strings.ContainsRune(name, '\\') || !utf8.ValidString(name) {
				_ = json.Unmarshal(body[from:at+1], &name) // a string of a valid text
			}
			if inner := open[len(open)-1]; inner[name] {
				return name, at + 1
			}
			open[len(open)-1][name] = true
		}
		at++
	}
	return "", 0
}

// same reports whether two JSON values are the same but for spaces, how their strings are spelled and the order of names.
func same(a, b json.RawMessage) bool {
	var va, vb any
	if json.Unmarshal(a, &va) != nil || json.Unmarshal(b, &vb) != nil {
		return false
	}
	ra, errA := json.Marshal(va)
	rb, errB := json.Marshal(vb)
	return errA == nil && errB == nil && bytes.Equal(ra, rb)
}

// names lists ids for a message, sorted.
func names(ids map[string]bool) string {
	var out []string
	for id := range ids {
		out = append(out, id)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
