package selection

import (
	"encoding/json"
	"slices"

	"ambit/entry"
	"ambit/internal/thread"
	"ambit/unit"
)

// talk is a conversation as a request would show it, with what is known of it by its cheap facts.
type talk struct {
	in     *Input
	edits  *thread.Edits
	hashes []thread.Hash
	shown  []thread.Shown
	stale  []entry.Seq
	size   []int // tokens of each message as it is shown, with what stands behind it
	sums   []int // of the head and the messages before each; nil until somebody asks
	total  int   // of the whole request
	free   int   // the first message of what is never touched: the newest answer and what stands behind it
	units  map[int]*unit.Unit
	calls  map[string]*call
	mended bool
}

// talkOf makes one under some edits.
func talkOf(in *Input, edits *thread.Edits) *talk {
	t := &talk{in: in, hashes: make([]thread.Hash, len(in.Messages))}
	for i := range in.Messages {
		t.hashes[i] = in.Messages[i].Hash
	}
	in.Messages = unsure(in.Messages)
	t.free = newest(in.Messages)
	t.under(edits)
	return t
}

// unsure are messages of which those are kept whose calls or results cannot be told apart by their ids: no id, or one that
// several calls have.
func unsure(messages []Message) []Message {
	calls, several := make(map[string]bool), map[string]bool{"": true}
	for i := range messages {
		for _, id := range messages[i].Calls {
			several[id] = several[id] || calls[id]
			calls[id] = true
		}
	}
	is := func(id string) bool { return several[id] }
	var list []Message
	for i := range messages {
		if m := &messages[i]; m.Fixed == Free && (slices.ContainsFunc(m.Calls, is) || slices.ContainsFunc(m.Results, is)) {
			if list == nil {
				list = slices.Clone(messages)
			}
			list[i].Fixed = Kept
		}
	}
	if list == nil {
		return messages
	}
	return list
}

// under shows the conversation as edits have it.
func (t *talk) under(edits *thread.Edits) {
	t.edits = edits
	a := edits.Apply(t.hashes)
	t.shown, t.stale = a.Shown, a.Stale
	t.sums, t.size, t.total = nil, make([]int, len(t.shown)), t.in.Head
	for i := range t.shown {
		t.size[i] = t.sizeAs(i, &t.shown[i])
		t.total += t.size[i]
	}
}

// newest is where the newest answer begins: the last run of the assistant's messages. Without one it is the last message.
func newest(messages []Message) int {
	i := len(messages) - 1
	for i >= 0 && messages[i].Role != unit.Assistant {
		i--
	}
	if i < 0 {
		return max(0, len(messages)-1)
	}
	for i > 0 && messages[i-1].Role == unit.Assistant {
		i--
	}
	return i
}

// sizeAs is how many tokens a message takes if it is shown so, with what stands behind it. It reads the message only where
// some of several results are replaced.
func (t *talk) sizeAs(i int, s *thread.Shown) (n int) {
	m := &t.in.Messages[i]
	switch {
	case s.Gone:
	case len(s.Texts) == 0:
		n = m.Tokens
	default:
		n = t.replaced(i, s)
	}
	for _, b := range s.Behind {
		n += t.in.Tokens(b.Text) + aroundText
	}
	return n
}

// aroundText is what a message takes beside its text, in tokens.
const aroundText = 4

// replaced is the size of a message of which texts are replaced. It never says that a message has grown.
func (t *talk) replaced(i int, s *thread.Shown) int {
	m := &t.in.Messages[i]
	n, left := 0, len(m.Results)
	for id, text := range s.Texts {
		n += t.in.Tokens(text) + aroundText
		if id != "" {
			left--
		}
	}
	if left <= 0 || m.Tokens == 0 {
		return min(n, m.Tokens)
	}
	for _, p := range t.unit(i).Parts {
		if _, is := s.Texts[p.ID]; p.Kind == unit.Result && !is {
			n += t.in.Tokens(p.Text) + aroundText
		}
	}
	return min(n, m.Tokens)
}

// unit reads a message, once.
func (t *talk) unit(i int) *unit.Unit {
	if t.units == nil {
		t.units = make(map[int]*unit.Unit)
	}
	u := t.units[i]
	if u == nil {
		read := t.in.Unit(i)
		u = &read
		t.units[i] = u
	}
	return u
}

// light are the messages by their cheap facts, as units that show what requires what.
func (t *talk) light() []unit.Unit {
	list := make([]unit.Unit, len(t.in.Messages))
	for i := range list {
		list[i] = t.in.Messages[i].light()
	}
	return list
}

func (m *Message) light() unit.Unit {
	u := unit.Unit{Ref: m.Ref, Role: m.Role}
	if m.Fixed != Free {
		u.Parts = append(u.Parts, unit.Part{Kind: unit.Opaque})
	}
	for _, id := range m.Calls {
		u.Parts = append(u.Parts, unit.Part{Kind: unit.Call, ID: id})
	}
	for _, id := range m.Results {
		u.Parts = append(u.Parts, unit.Part{Kind: unit.Result, ID: id})
	}
	return u
}

// legal reports whether what is shown is a conversation that the contract allows, as far as the client's own was one.
func (t *talk) legal(faces []thread.Shown) bool {
	var list []unit.Unit
	for i := range faces {
		if !faces[i].Gone {
			list = append(list, t.in.Messages[i].light())
		}
		for range faces[i].Behind {
			list = append(list, unit.Unit{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text}}})
		}
	}
	return unit.Check(list, t.in.Contract) == nil
}

// times is how many messages up to this one are the same.
func (t *talk) times(i int) (n int) {
	for _, h := range t.hashes[:i+1] {
		if h == t.hashes[i] {
			n++
		}
	}
	return n
}

// call is a tool's call, as far as what it does is known.
type call struct {
	at    int // the message that makes it
	id    string
	tool  string
	kind  kind
	paths []string // files that it is about
	args  []byte
	whole bool // of a read: all of a file
}

// call finds the call of a result.
func (t *talk) call(id string) *call {
	if t.calls == nil {
		t.calls = make(map[string]*call)
		for i := range t.in.Messages {
			list := t.made(i)
			for j := range list {
				c := list[j]
				c.at = i
				t.calls[c.id] = &c
			}
		}
	}
	if c := t.calls[id]; c != nil {
		return c
	}
	return &call{at: -1, id: id}
}

// made are the calls that a message makes.
func (t *talk) made(i int) (list []call) {
	m := &t.in.Messages[i]
	if len(m.Calls) == 0 {
		return nil
	}
	if m.Made != nil && m.Made.read {
		return m.Made.calls
	}
	for _, p := range t.unit(i).Parts {
		if p.Kind == unit.Call {
			list = append(list, callOf(p))
		}
	}
	if m.Made != nil {
		*m.Made = Made{true, list}
	}
	return list
}

// members are those of a JSON object; nil where it is none.
func members(args []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(args, &m) != nil {
		return nil
	}
	return m
}

// textOf is a JSON string, or the last of a list of strings, which is the command itself behind a shell's name.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

// turns are how many answers stand behind each message.
func (t *talk) turns() []int {
	ages := make([]int, len(t.in.Messages))
	n := 0
	for i := len(ages) - 1; i >= 0; i-- {
		ages[i] = n
		if t.in.Messages[i].Role == unit.Assistant && (i == 0 || t.in.Messages[i-1].Role != unit.Assistant) {
			n++
		}
	}
	return ages
}

func clone(faces []thread.Shown) []thread.Shown {
	out := slices.Clone(faces)
	for i := range out {
		if out[i].Texts != nil {
			texts, how := make(map[string]string, len(out[i].Texts)), make(map[string]entry.Changing, len(out[i].How))
			for id, text := range out[i].Texts {
				texts[id], how[id] = text, out[i].How[id]
			}
			out[i].Texts, out[i].How = texts, how
		}
		out[i].Behind = slices.Clone(out[i].Behind)
	}
	return out
}
