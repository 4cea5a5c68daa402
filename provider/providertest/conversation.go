package providertest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// conversation is a view as an agent's loop has it, with what is known of it.
type conversation struct {
	view    view.View
	params  provider.LowerParams
	system  []string // what the system says
	updates []string // what system units inside the conversation say
	cuts    []int    // how many segments each earlier request showed
	said    []saying // of the conversation, in order
}

// saying is what one part says.
type saying struct {
	text   string
	update bool // a system unit's
	answer bool // that stands behind an answer, and not behind the user
	opaque bool
}

// says lists what the conversation says on a wire.
func (c *conversation) says(w Wire) (list []string) {
	place := w.Protocol.Contract(provider.Request{Type: w.Type}).System
	for _, s := range c.said {
		switch {
		case s.opaque && w.Thought == "":
		case !s.update:
			list = append(list, s.text)
		case c.params.Wrap || place == unit.Leading || place == unit.AfterUser && s.answer:
			list = append(list, "user says "+provider.Update(s.text))
		default:
			list = append(list, "system says "+s.text)
		}
	}
	return list
}

// shown is a text as Message gives it.
func shown(text string) string { return provider.JSON(provider.AppendText(nil, text)).Text() }

// drawSaid draws a text that is not blank, with all that is hard to spell. The number makes it one of its kind.
func drawSaid(t *rapid.T, label string, n *int) string {
	*n++
	odd := rapid.SliceOfN(rapid.SampledFrom([]string{"ü", "😀", "\n", "\"", "\\", "<", "&amp;", "</system-update>", "\x01", "\xed\xa0\xbd", "/", "\u2028"}), 0, 3)
	return fmt.Sprintf("%s %d.%s", label, *n, strings.Join(odd.Draw(t, label), ""))
}

// drawConversation draws one.
func drawConversation(t *rapid.T, w Wire) conversation {
	c := conversation{params: provider.LowerParams{
		Type: w.Type, Model: rapid.SampledFrom([]string{"model-1", "a/b:c", "claude-opus-5-5"}).Draw(t, "model"),
		MaxTokens: rapid.IntRange(0, 2).Draw(t, "max"), Stream: rapid.Bool().Draw(t, "stream"), Wrap: rapid.Bool().Draw(t, "wrap"),
		Rest: []provider.Member{{Name: "metadata", Value: []byte(`{"a":[1.0,"\\"]}`)}},
	}}
	n := 0
	for range rapid.IntRange(0, 2).Draw(t, "tools") {
		c.view.Tools = append(c.view.Tools, view.Tool{Name: drawSaid(t, "tool", &n), Description: drawSaid(t, "does", &n), Schema: []byte(`{"type":"object","properties":{}}`)})
	}
	for _, layer := range []view.Layer{view.Role, view.Stable, view.Stable, view.Working} {
		if rapid.Bool().Draw(t, "system") {
			text := drawSaid(t, "system", &n)
			c.system = append(c.system, text)
			c.add(layer, unit.System, unit.Part{Kind: unit.Text, Text: text})
		}
	}
	c.ask(t, &n)
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		c.turn(t, w, &n)
	}
	c.cuts = append(c.cuts, len(c.view.Segments))
	return c
}

func (c *conversation) add(layer view.Layer, role unit.Role, parts ...unit.Part) {
	u := unit.Unit{Ref: fmt.Sprint("e", len(c.view.Segments)), Role: role, Parts: parts}
	c.view.Segments = append(c.view.Segments, view.Segment{Layer: layer, Unit: u})
}

// ask adds what the user says, in one segment or two.
func (c *conversation) ask(t *rapid.T, n *int) {
	for i := range rapid.IntRange(1, 2).Draw(t, "asks") {
		text := drawSaid(t, "asks", n)
		c.add(view.Working, unit.User, unit.Part{Kind: unit.Text, Text: text})
		c.said = append(c.said, saying{text: "user says " + shown(text)})
		if i > 0 {
			c.view.Segments[len(c.view.Segments)-1].Apart = rapid.Bool().Draw(t, "apart")
		}
	}
}

// update adds what the system says inside the conversation.
func (c *conversation) update(t *rapid.T, n *int, answer bool) {
	if !rapid.Bool().Draw(t, "update") {
		return
	}
	*n++
	text := fmt.Sprintf("It is now <day> %d & counting.</system-update>", *n)
	c.updates = append(c.updates, text)
	c.add(view.Working, unit.System, unit.Part{Kind: unit.Text, Text: text})
	c.said = append(c.said, saying{text: text, update: true, answer: answer})
}

// turn adds an answer, and what follows it: results, or the user.
func (c *conversation) turn(t *rapid.T, w Wire, n *int) {
	c.update(t, n, false)
	c.cuts = append(c.cuts, len(c.view.Segments))
	var parts []unit.Part
	if w.Thought != "" && rapid.Bool().Draw(t, "thinks") {
		parts = append(parts, unit.Part{Kind: unit.Opaque, Raw: []byte(w.Thought)})
		c.said = append(c.said, saying{text: "it thinks", opaque: true})
	}
	calls := rapid.IntRange(0, 3).Draw(t, "calls")
	if calls == 0 || rapid.Bool().Draw(t, "speaks") {
		text := drawSaid(t, "says", n)
		parts = append(parts, unit.Part{Kind: unit.Text, Text: text})
		c.said = append(c.said, saying{text: "assistant says " + shown(text)})
	}
	var results []unit.Part
	for range calls {
		id, name := fmt.Sprint("call_", *n), fmt.Sprint("tool_", *n)
		args := rapid.SampledFrom([]string{`{"n":1.0}`, `{"a":{"b":["x\ud83d"]},"c":null}`, ""}).Draw(t, "args")
		parts = append(parts, unit.Part{Kind: unit.Call, ID: id, Name: name, Args: []byte(args)})
		if args == "" {
			args = "{}"
		}
		c.said = append(c.said, saying{text: fmt.Sprintf("calls %s as %s with %s", name, id, args)})
		results = append(results, unit.Part{Kind: unit.Result, ID: id, Text: drawSaid(t, "gives", n), Failed: rapid.Bool().Draw(t, "failed")})
	}
	c.answer(t, parts)
	if calls == 0 {
		c.update(t, n, true)
		c.ask(t, n)
		return
	}
	c.results(t, results)
	if rapid.IntRange(0, 3).Draw(t, "steers") == 0 {
		c.ask(t, n)
	}
}

// answer adds the parts of an answer, in one segment or two.
func (c *conversation) answer(t *rapid.T, parts []unit.Part) {
	at := len(parts)
	if rapid.IntRange(0, 2).Draw(t, "goes on") == 0 {
		at = rapid.IntRange(1, len(parts)).Draw(t, "from")
	}
	c.add(view.Working, unit.Assistant, parts[:at:at]...)
	if at < len(parts) {
		c.add(view.Working, unit.Assistant, parts[at:]...)
		c.view.Segments[len(c.view.Segments)-1].Apart = rapid.Bool().Draw(t, "apart")
	}
}

// results adds the results of an answer's calls, in any order, in one segment or two.
func (c *conversation) results(t *rapid.T, results []unit.Part) {
	if rapid.Bool().Draw(t, "reversed") {
		slices.Reverse(results)
	}
	at := len(results)
	if rapid.Bool().Draw(t, "split") {
		at = 1
	}
	c.add(view.Working, unit.Tool, results[:at:at]...)
	if at < len(results) {
		c.add(view.Working, unit.Tool, results[at:]...)
		c.view.Segments[len(c.view.Segments)-1].Apart = rapid.Bool().Draw(t, "apart")
	}
	for _, p := range results {
		c.said = append(c.said, saying{text: "result of " + p.ID}, saying{text: "tool says " + shown(p.Text)})
	}
}
