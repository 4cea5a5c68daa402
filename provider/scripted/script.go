package scripted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"
)

// Script is what a Provider plays. The zero Script has no conversation, so every message is refused.
type Script struct {
	Conversations []Conversation // the first that matches is played
}

// Conversation is one written conversation: the main agent's, or a sub-agent's.
type Conversation struct {
	Match    string   // must stand in what the user says before the first assistant message; empty matches every request
	Turns    []Turn   // Turns[n] answers a request that holds n answers
	Branches []Branch // other ways to go on, for a client that rewinds
}

// Branch is another way to go on: it is taken when its marker stands in a user message, whatever came before. Of
// several markers the one in the newest message counts, and in one message the branch written first.
type Branch struct {
	When  string // the marker; never empty
	Turns []Turn // Turns[n] answers a request that holds n answers after the marker's message
}

// Turn is one answer: a thought, text, then tool calls. It stops with tool_use if it has calls and with end_turn otherwise.
type Turn struct {
	Thought string // sealed as the wire does: with a signature, encrypted or plain; empty for none, and where the client wants none
	Text    string
	Calls   []Call
	Fault   *Fault // what the first request for this turn is refused with; nil for nothing
}

// Call is a tool call of a Turn.
type Call struct {
	Name string
	Args map[string]any // written with sorted names; nil is an empty object
}

// Fault is an error that a Provider gives once in place of a turn; the next request for the turn is answered.
type Fault struct {
	Drop       bool   // the turn is begun, and the connection breaks in its last block or item; the rest is not looked at
	Status     int    // HTTP status, 400 to 599
	Type       string // the error's type; empty chooses the one that belongs to Status
	Message    string // for people; empty repeats the type
	RetryAfter string // the retry-after header; empty leaves it out

	code, param string // of OpenAI's errors, where a mistake has its own
}

// conversation is a Conversation made ready: arguments encoded, ids given.
type conversation struct {
	match    string
	turns    []turn
	branches []branch
}

type branch struct {
	when  string
	turns []turn
}

type turn struct {
	place   string // where it stands in the script; its ids are made from this
	thought string
	text    string
	calls   []call
	fault   *Fault
}

type call struct {
	id, name string // the id goes behind the prefix of its wire
	args     json.RawMessage
}

// lost ends the id of a call that a Fault drops. A client may keep what came of it; it is known again by this.
const lost = "lost"

// made are the calls of a turn as they are made.
func (t turn) made() []call {
	if !t.fault.drops() {
		return t.calls
	}
	out := slices.Clone(t.calls)
	for i := range out {
		out[i].id += lost
	}
	return out
}

func (f *Fault) drops() bool { return f != nil && f.Drop }

// compile makes a script ready to play. It panics on what no request could ever show to be wrong.
func compile(s Script) []conversation {
	var out []conversation
	for _, c := range s.Conversations {
		made := conversation{match: c.Match, turns: compileTurns(c.Turns, c.Match)}
		for _, b := range c.Branches {
			if b.When == "" {
				panic(fmt.Sprintf("scripted: conversation %q has a branch without a marker", c.Match))
			}
			made.branches = append(made.branches, branch{b.When, compileTurns(b.Turns, c.Match, b.When)})
		}
		out = append(out, made)
	}
	return out
}

func compileTurns(turns []Turn, at ...string) []turn {
	var out []turn
	for n, t := range turns {
		made := turn{place: place(append(at, strconv.Itoa(n))...), thought: t.Thought, text: t.Text}
		if t.Fault != nil {
			if !t.Fault.Drop && (t.Fault.Status < 400 || t.Fault.Status > 599) {
				panic(fmt.Sprintf("scripted: %d is not the status of an error", t.Fault.Status))
			}
			fault := *t.Fault
			made.fault = &fault
		}
		for i, c := range t.Calls {
			made.calls = append(made.calls, call{digest(made.place, strconv.Itoa(i)), c.Name, arguments(c)})
		}
		out = append(out, made)
	}
	return out
}

func arguments(c Call) json.RawMessage {
	if c.Args == nil {
		return json.RawMessage("{}")
	}
	raw, err := marshal(c.Args)
	if err != nil {
		panic(fmt.Sprintf("scripted: arguments of %s: %v", c.Name, err))
	}
	return raw
}

// place joins the parts of a turn's address so that no two addresses are spelled alike.
func place(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strconv.Quote(p))
	}
	return b.String()
}

// digest is the 24 hexadecimal digits from which ids are made.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(place(parts...)))
	return hex.EncodeToString(sum[:12])
}

// find returns the turn that answers a request with these messages. It looks at nothing else, so a request that is
// sent again, or from further back, gets the same turn again.
func find(script []conversation, is issued, messages []message) (turn, error) {
	first := firstUser(messages)
	behind, from := is.newest(messages)
	for i := range script {
		c := &script[i]
		if behind.of != nil && behind.of != c || behind.of == nil && !strings.Contains(first, c.match) {
			continue
		}
		turns, at, what := c.way(messages)
		n := 0
		if behind.of != nil && at < from {
			turns, at, n = behind.turns, from, behind.n
		}
		n += answers(messages[at:])
		if n >= len(turns) {
			return turn{}, fmt.Errorf("%s has %d turns, and this request asks for number %d", what, len(turns), n+1)
		}
		return turns[n], nil
	}
	return turn{}, fmt.Errorf("no conversation of the script matches the first user message %q", clip(first, 80))
}

// way returns the turns that are to be played and the index of the message from which they count.
func (c conversation) way(messages []message) (turns []turn, from int, what string) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != "user" {
			continue
		}
		text := messages[i].text()
		for _, b := range c.branches {
			if strings.Contains(text, b.when) {
				return b.turns, i, fmt.Sprintf("branch %q of conversation %q", b.when, c.match)
			}
		}
	}
	return c.turns, 0, fmt.Sprintf("conversation %q", c.match)
}

// answers counts the answers that messages hold: the assistant messages, without one that nothing follows, which is to
// be gone on with, and without those that broke off in a call.
func answers(messages []message) int {
	n := 0
	for i, m := range messages {
		broken := slices.ContainsFunc(m.blocks, func(b block) bool { return b.Type == "tool_use" && strings.HasSuffix(b.ID, lost) })
		if m.Role == "assistant" && i < len(messages)-1 && !broken {
			n++
		}
	}
	return n
}

// firstUser is what the user says before the first assistant message.
func firstUser(messages []message) string {
	var parts []string
	for _, m := range messages {
		if m.Role == "assistant" {
			break
		}
		if m.Role == "user" {
			parts = append(parts, m.text())
		}
	}
	return strings.Join(parts, "\n")
}

// clip shortens a text for an error message.
func clip(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return strings.ToValidUTF8(s[:bytes], "") + "…"
}
