// Package reading makes entries, and evidence for threads, of what a wire's messages and answers say: the units of a
// message, the ids in it, and what the rules of threads read of it.
//
// It is pure, and everything in it may be called concurrently.
package reading

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/thread"
	"ambit/provider"
)

const (
	maxID   = 256       // of the id of a call that is kept as it is, in bytes
	maxRole = 64        // of a role, in bytes
	idRoom  = 512 << 10 // of the ids of one unit, in bytes as an entry spells them at worst; half of what an entry may take
)

// ID is the id of a call as it is kept and compared wherever it comes from: one of more than 256 bytes is its hash.
func ID(id string) string {
	id = strings.ToValidUTF8(id, "\uFFFD")
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// IDs are several of them.
func IDs(ids []string) []string {
	var bound []string
	for _, id := range ids {
		bound = append(bound, ID(id))
	}
	return bound
}

// Calls are the ids of calls that have one.
func Calls(calls []provider.Call) []string {
	var ids []string
	for _, call := range calls {
		if call.ID != "" {
			ids = append(ids, ID(call.ID))
		}
	}
	return ids
}

// Units are a unit with the role, the calls and the results of its message: one, unless the ids are many.
func Units(u *entry.Unit, m provider.Message) []entry.Fact {
	u.Role, u.Unknown = role(m.Role), u.Unknown || m.Unknown
	return WithIDs(u, Calls(m.Calls), IDs(m.Results))
}

// MessageUnits are the units of an element of the body of request n, which says so much.
func MessageUnits(n int, thread string, el provider.Element, m provider.Message) []entry.Fact {
	return Units(&entry.Unit{
		N: n, Of: entry.PartMessage, Thread: thread, At: el.At, Offset: int64(el.Offset), Length: int64(el.Length), Element: hex.EncodeToString(el.Hash[:]),
	}, m)
}

// AnswerUnits are the units of the answer to request n.
func AnswerUnits(n int, thread string, a provider.Answer) []entry.Fact {
	u := &entry.Unit{N: n, Of: entry.PartAnswer, Thread: thread, Role: "assistant", Name: a.ID, Whole: a.Whole, Unknown: a.Unknown}
	for _, text := range a.Texts() {
		u.Length += int64(len(text.Text))
	}
	return WithIDs(u, Calls(a.Calls), nil)
}

// role is the beginning of a role that is too long to be one.
func role(role string) string {
	if len(role) > maxRole {
		role = role[:maxRole]
	}
	return strings.ToValidUTF8(role, "")
}

// WithIDs are a unit with its ids, and behind it units with those for which it has no room.
func WithIDs(u *entry.Unit, calls, results []string) []entry.Fact {
	units, room := []entry.Fact{u}, idRoom
	last := func(id string) *entry.Unit {
		cost := 6*len(id) + len(`"",`)
		if room -= cost; room < 0 {
			u = &entry.Unit{N: u.N, Of: entry.PartMore, Thread: u.Thread, At: u.At}
			units, room = append(units, u), idRoom-cost
		}
		return u
	}
	for _, id := range calls {
		more := last(id)
		more.Calls = append(more.Calls, id)
	}
	for _, id := range results {
		more := last(id)
		more.Results = append(more.Results, id)
	}
	return units
}

// Hashes are the hashes of elements.
func Hashes(elements []provider.Element) []thread.Hash {
	hashes := make([]thread.Hash, len(elements))
	for i, el := range elements {
		hashes[i] = thread.Hash(el.Hash)
	}
	return hashes
}

// Answer is what the rules of threads read of an answer.
func Answer(a provider.Answer) thread.Answer {
	b := thread.Answer{ID: a.ID, Text: a.Text, Whole: a.Whole}
	for _, h := range a.Elements {
		b.Elements = append(b.Elements, thread.Hash(h))
	}
	for _, call := range a.Calls {
		c := thread.Call{ID: ID(call.ID)}
		for _, text := range call.Texts("") {
			c.Args = append(c.Args, text.Text)
		}
		b.Calls = append(b.Calls, c)
	}
	return b
}

// Message is what the rules of threads read of a message.
func Message(m provider.Message) thread.Message {
	var said strings.Builder
	var args []string
	length := 0
	for _, text := range m.Texts {
		if text.Said == provider.SaidUser || text.Said == provider.SaidAssistant {
			length += len(text.Text) + 1
		}
	}
	said.Grow(length)
	for _, text := range m.Texts {
		switch text.Said {
		case provider.SaidUser, provider.SaidAssistant:
			said.WriteString(text.Text)
			said.WriteByte('\n')
		case provider.SaidArgument:
			args = append(args, text.Text)
		}
	}
	return thread.Message{IDs: append(IDs(m.Results), Calls(m.Calls)...), Args: args, Said: said.String()}
}

// Spoken is the public text of an answer, by which it is known again when a client sends it back.
type Spoken struct {
	text    string
	args    []string
	results []string
}

// SpokenOf is that of an answer.
func SpokenOf(a provider.Answer) *Spoken {
	said := &Spoken{text: a.Text, results: a.Results}
	for _, text := range a.Texts() {
		if text.Said == provider.SaidArgument {
			said.args = append(said.args, text.Text)
		}
	}
	return said
}

// MayRepeat reports whether a message may be an answer that is sent back: the assistant's, without results, and known.
func MayRepeat(m provider.Message) bool {
	return (m.Role == "assistant" || m.Role == "model") && len(m.Results) == 0 && !m.Unknown
}

// Holds reports whether the answer says all that a message says, which may repeat it.
func (s *Spoken) Holds(m provider.Message) bool {
	for _, text := range m.Texts {
		switch text.Said {
		case provider.SaidAssistant:
			if !strings.Contains(s.text, text.Text) {
				return false
			}
		case provider.SaidArgument:
			if !slices.Contains(s.args, text.Text) {
				return false
			}
		case provider.SaidTool: // one that the provider ran
			if !slices.Contains(s.results, text.Text) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
