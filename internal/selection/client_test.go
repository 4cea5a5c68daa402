package selection_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/unit"
)

// client is one that sends its whole conversation with each request, and a proxy in front of it that does what is decided.
type client struct {
	talk     []unit.Unit
	last     []unit.Unit // of the request before
	edits    *thread.Edits
	written  []edit // the entries that were written, in order
	policy   selection.Policy
	contract unit.Contract
	pins     []selection.Pin
	model    pricing.Model
	bank     pricing.Bank
	cold     bool
	calls    int
	said     int
}

// edit is an entry of changes, or of lifts.
type edit struct {
	changes []entry.Change
	lifts   []entry.Seq
}

// wire is the contract of the Messages API.
var wire = unit.Contract{Bound: true, Results: unit.Next, Begin: unit.User, System: unit.AfterUser}

func newClient(t testingT, policy string) *client {
	t.Helper()
	p, ok := selection.Named(policy)
	if !ok {
		t.Fatalf("no policy is named %q", policy)
	}
	return &client{edits: &thread.Edits{}, policy: p, contract: wire, bank: pricing.Bank{Account: 1e9}}
}

func text(s string) unit.Part { return unit.Part{Kind: unit.Text, Text: s} }

func (c *client) say(role unit.Role, parts ...unit.Part) {
	c.talk = append(c.talk, unit.Unit{Role: role, Parts: parts})
}

// user lets the person say something.
func (c *client) user(s string) { c.say(unit.User, text(s)) }

// use lets the agent call tools, and has their results, each so many bytes long.
func (c *client) use(tool, about string, sizes ...int) {
	c.said++
	calls := []unit.Part{text(fmt.Sprintf("Step %d.", c.said))}
	var results []unit.Part
	for i, n := range sizes {
		c.calls++
		id := fmt.Sprintf("call_%d", c.calls)
		calls = append(calls, unit.Part{Kind: unit.Call, ID: id, Name: tool, Args: fmt.Appendf(nil, `{"path":"%s_%d.go","command":"%s"}`, about, i, about)})
		results = append(results, unit.Part{Kind: unit.Result, ID: id, Text: lines(c.calls, n)})
	}
	c.say(unit.Assistant, calls...)
	c.say(unit.Tool, results...)
}

// lines are so many bytes that stand nowhere else.
func lines(seed, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d.%d the quick brown fox jumps\n", seed, i)
	}
	return b.String()[:n]
}

func hashOf(u *unit.Unit) thread.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "%s", u.Role)
	for _, p := range u.Parts {
		fmt.Fprintf(h, "|%s|%q|%q|%q|%q", p.Kind, p.ID, p.Name, p.Text, p.Args)
	}
	return thread.Hash(h.Sum(nil))
}

func tokens(s string) int { return len(s)/4 + 1 }

func sizeOf(u *unit.Unit) int { return u.Bytes()/4 + 4*len(u.Parts) + 1 }

// input is what the proxy asks with.
func (c *client) input() selection.Input {
	talk := c.talk
	in := selection.Input{
		Policy: c.policy, Edits: c.edits, Contract: c.contract, Pins: c.pins, Head: 2_000, Tokens: tokens, Model: c.model, Bank: c.bank, Cold: c.cold,
		Unit: func(i int) unit.Unit { return talk[i] },
	}
	for in.Sent < len(c.last) && in.Sent < len(talk) && hashOf(&c.last[in.Sent]) == hashOf(&talk[in.Sent]) {
		in.Sent++
	}
	for i := range talk {
		u := &talk[i]
		m := selection.Message{Hash: hashOf(u), Ref: fmt.Sprintf("e%d", i+1), Seq: entry.Seq(i + 1), Role: u.Role, Calls: u.Calls(), Results: u.Results(), Tokens: sizeOf(u)}
		for _, p := range u.Parts {
			if p.Kind == unit.Opaque {
				m.Fixed = selection.Kept
				if u.Role == unit.Assistant {
					m.Fixed = selection.Reasoned
				}
			}
		}
		in.Messages = append(in.Messages, m)
	}
	return in
}

// asked is what is decided when a person asks for a checkpoint.
func (c *client) asked() selection.Decision {
	in := c.input()
	in.Asked = true
	return selection.Decide(in)
}

// take writes what was decided.
func (c *client) take(d selection.Decision) {
	c.written = append(c.written, edit{lifts: d.Lifts})
	c.edits.Lift(d.Lifts...)
	for _, changes := range [][]entry.Change{d.Changes, d.Standing} {
		if len(changes) > 0 {
			c.written = append(c.written, edit{changes: changes})
			c.edits.Add(entry.Seq(len(c.written)), changes...)
		}
	}
}

// restart makes the edits anew from what was written.
func (c *client) restart() {
	c.edits = &thread.Edits{}
	for i, e := range c.written {
		c.edits.Lift(e.lifts...)
		c.edits.Add(entry.Seq(i+1), e.changes...)
	}
}

// send sends a request: what was decided, and what the provider gets.
func (c *client) send() (selection.Decision, []unit.Unit) {
	d := selection.Decide(c.input())
	c.take(d)
	c.last = slices.Clone(c.talk)
	return d, c.shown()
}

// shown is the request as the edits show it.
func (c *client) shown() []unit.Unit {
	var hashes []thread.Hash
	for i := range c.talk {
		hashes = append(hashes, hashOf(&c.talk[i]))
	}
	var list []unit.Unit
	for i, s := range c.edits.Apply(hashes).Shown {
		if !s.Gone {
			list = append(list, as(c.talk[i], s.Texts))
		}
		for _, b := range s.Behind {
			list = append(list, unit.Unit{Role: unit.User, Parts: []unit.Part{text(b.Text)}})
		}
	}
	return list
}

func as(u unit.Unit, texts map[string]string) unit.Unit {
	u.Parts = slices.Clone(u.Parts)
	for i := range u.Parts {
		p := &u.Parts[i]
		if p.Kind != unit.Result && p.Kind != unit.Text {
			continue
		}
		if s, is := texts[p.ID]; is {
			p.Text = s
		}
	}
	return u
}

// says reports whether a request holds a text, decoded.
func says(list []unit.Unit, s string) bool {
	for _, u := range list {
		for _, p := range u.Parts {
			if strings.Contains(p.Text, s) {
				return true
			}
		}
	}
	return false
}

// work lets the agent do so many things with results of so many bytes, and sends nothing.
func (c *client) work(tool string, n, size int) {
	for i := range n {
		c.use(tool, fmt.Sprintf("src/%s_%d", tool, c.said+i), size)
	}
}

func hashesOf(talk []unit.Unit) (list []thread.Hash) {
	for i := range talk {
		list = append(list, hashOf(&talk[i]))
	}
	return list
}

// testingT is what tests and properties have.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
}
