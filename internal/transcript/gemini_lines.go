package transcript

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"ambit/entry"
	"ambit/provider"
)

// geminiLines reads a session as Gemini CLI has written it since it keeps JSON lines: heads, messages, lines that set members
// of the session or its list of messages, and rewinds. A message that has grown stands once more with the same id. What the
// program makes anew of a conversation, when it shortens or resumes it, stands there as messages with new ids.
type geminiLines struct {
	*geminiCLI
	answers map[string]*geminiAnswer // by the id of the message
	results map[string]provider.JSON // by call: what the conversation holds of its result; empty where that is not known
	texts   map[string]bool          // that were said
	calls   map[string]bool          // that were made
	seen    map[string]bool          // ids of a person's messages
	holds   []geminiHeld             // the messages of the conversation as it is now
	anew    bool                     // what stands here is the conversation, told again
	fresh   bool                     // and something in it was not said before
}

// geminiAnswer is an answer as far as it stands in the recording.
type geminiAnswer struct {
	turn    *turn // nil for one of a conversation that is told again
	content provider.JSON
	calls   []string
}

// geminiHeld is a message of the conversation: what it is known by when it stands elsewhere, and where it was said.
type geminiHeld struct {
	id    string
	marks []string // its texts, if it is a person's, else its calls
	at    spot
}

func readGeminiLines(b *building) {
	b.provider, b.kind = "gemini", provider.TypeGenerate
	g := &geminiLines{
		geminiCLI: &geminiCLI{document: &document{building: b}, t: b.talk("")},
		answers:   make(map[string]*geminiAnswer), results: make(map[string]provider.JSON),
		texts: make(map[string]bool), calls: make(map[string]bool), seen: make(map[string]bool),
	}
	for r := range b.records() {
		g.record(r)
	}
}

func (g *geminiLines) record(r record) {
	f := r.Find("$set", "$rewindTo", "id", "projectHash")
	switch {
	case f[0].Kind() == '{':
		g.sets(r, f[0])
	case f[1] != nil:
		g.rewound(f[1].Text())
	case f[2].Kind() == '"':
		g.holds = append(g.holds, g.message(r, r.unit(), false)...)
	case f[3] != nil:
		if g.ID != "" { // the program was started anew, and makes the conversation of what it reads here
			g.holds, g.anew = nil, false
			g.resumed(g.t)
		}
		g.sets(r, r.JSON)
	default:
		g.untyped(r)
	}
}

// sets takes in members of the session.
func (g *geminiLines) sets(r record, members provider.JSON) {
	for name, v := range members.Members() {
		at := record{v, r.line, r.offset + int64(max(0, bytes.Index(r.JSON, v)))}
		if name == "messages" && v.Kind() == '[' {
			g.list(r, v)
		} else {
			g.member(name, at)
		}
	}
}

// list takes in the messages that make the conversation from here on. Where some are gone, the program has put something
// shorter in place of the beginning, has taken back the newest, or has left some out.
func (g *geminiLines) list(r record, messages provider.JSON) {
	was, i := g.holds, 0
	for n := range was { // an answer may have made its calls since
		if a := g.answers[was[n].id]; a != nil {
			was[n].marks = a.calls
		}
	}
	g.holds, g.anew = nil, true
	for el := range r.elements(messages) {
		if el.Kind() == '{' {
			g.holds = append(g.holds, g.message(el, el.unitAt("/$set/messages/"+strconv.Itoa(i)), true)...)
		}
		i++
	}
	placed(g.holds, was)
	first, begins, tail := gone(was, g.holds)
	switch {
	case first < 0:
	case g.fresh, begins && !tail:
		g.t.compacted()
	case tail:
		g.back(g.t, was[first].at)
	case g.t.how == "" && g.t.last != nil:
		g.t.how = entry.ClientEdit
	}
	g.anew, g.fresh = false, false
}

// placed gives messages of a list the places where they were said before the list told them again.
func placed(list, was []geminiHeld) {
	ids, marks := make(map[string]spot), make(map[string]spot)
	for _, m := range was {
		ids[m.id] = m.at
		if len(m.marks) > 0 {
			marks[m.marks[0]] = m.at
		}
	}
	for i, m := range list {
		if at, known := ids[m.id]; known {
			list[i].at = at
		} else if len(m.marks) > 0 {
			if at, known := marks[m.marks[0]]; known {
				list[i].at = at
			}
		}
	}
}

// gone is the first message of which a list lacks a mark, -1 for none: whether it is the first that has any, and whether the
// list lacks all of it and of those behind it.
func gone(was, list []geminiHeld) (first int, begins, tail bool) {
	marks := make(map[string]bool)
	for _, m := range list {
		for _, mark := range m.marks {
			marks[mark] = true
		}
	}
	first, begins, tail = -1, true, true
	for i, m := range was {
		for _, mark := range m.marks {
			switch {
			case !marks[mark] && first < 0:
				first = i
			case marks[mark] && first < 0:
				begins = false
			case marks[mark]:
				tail = false
			}
		}
	}
	return first, begins, tail
}

// rewound goes back to before a message; to the very beginning, where it is not known.
func (g *geminiLines) rewound(id string) {
	for i, m := range g.holds {
		if m.id == id {
			g.holds = g.holds[:i]
			g.back(g.t, m.at)
			return
		}
	}
	g.holds = nil
	if g.t.last != nil {
		g.back(g.t, spot{nil, answered})
	}
}

// message takes in a message, of a line or of a list. It gives what the conversation holds of it, which is nothing for one
// that stood before.
func (g *geminiLines) message(r record, u *entry.Unit, listed bool) []geminiHeld {
	f := r.Find("id", "type", "timestamp")
	held, fresh := geminiHeld{id: f[0].Text(), at: g.t.here()}, false
	switch kind := f[1].Text(); {
	case kind == "user":
		held.marks, fresh = g.asked(r, u, listed)
	case kind == "gemini":
		held.marks, fresh = g.answered(r, u, listed)
	case silentGemini[kind]:
		g.at(timeOf(f[2]))
	case kind == "":
		g.untyped(r)
	default:
		g.unknown(r, kind)
	}
	if !fresh && (!listed || len(held.marks) == 0) {
		return nil
	}
	return []geminiHeld{held}
}

// sessionContext is what the message begins with that Gemini CLI puts before every conversation.
const sessionContext = "<session_context>"

// asked takes in what a person or the program says, and the results of calls. What was said is no unit again: a result, and
// a text where the conversation is told again.
func (g *geminiLines) asked(r record, u *entry.Unit, listed bool) (marks []string, fresh bool) {
	m := geminiMessage(r.JSON, *u)
	f := r.Find("content", "id", "timestamp")
	if !listed && len(g.holds) > 0 && strings.HasPrefix(firstText(m), sessionContext) {
		g.anew = true
	}
	again := g.anew || g.seen[f[1].Text()]
	g.seen[f[1].Text()] = true
	for _, text := range m.Texts {
		if text.Said == provider.SaidUser {
			marks, fresh = g.mark(marks, text.Text), !again || !g.texts[text.Text] || fresh
			g.texts[text.Text] = true
		}
	}
	for part := range f[0].Elements() {
		if response := part.Find("functionResponse")[0]; response != nil {
			fresh = g.gave(response) || fresh
		}
	}
	if fresh || m.Unknown && !again {
		g.entitle(r, f[0])
		g.fresh = g.fresh || g.anew && len(m.Results) == 0
		g.say(g.t, u, m, timeOf(f[2]), len(m.Results) == 0)
	}
	return marks, fresh
}

// mark is what a text of a person is known by; the program writes its own anew.
func (g *geminiLines) mark(marks []string, text string) []string {
	if strings.HasPrefix(text, sessionContext) {
		return marks
	}
	return append(marks, text)
}

// entitle takes the title from the first text that is a person's.
func (g *geminiLines) entitle(r record, content provider.JSON) {
	if content.Kind() == '"' {
		g.title(r, content)
		return
	}
	for part := range content.Elements() {
		if text := part.Find("text")[0]; text != nil && !strings.HasPrefix(strings.TrimSpace(text.Text()), "<") {
			g.title(r, text)
			return
		}
	}
}

// gave takes in what a call gave back, as it was sent. One that says something else than before was shortened, so that the
// next request no longer holds the result.
func (g *geminiLines) gave(response provider.JSON) (fresh bool) {
	f := response.Find("id", "response")
	id := f[0].Text()
	was, known := g.results[id]
	g.results[id] = f[1]
	if known && len(was) > 0 && !bytes.Equal(was, f[1]) {
		g.prune(g.t, []string{id})
	}
	return !known || id == ""
}

// answered takes in an answer. One without a model, a count or words of its own is a part of the conversation, told again.
func (g *geminiLines) answered(r record, u *entry.Unit, listed bool) (marks []string, fresh bool) {
	f := r.Find("id", "content", "model", "tokens", "toolCalls", "timestamp")
	a := g.answers[f[0].Text()]
	switch {
	case a == nil:
		own := !listed && (f[1].Kind() != '[' || f[2].Kind() == '"' || f[3].Kind() == '{')
		a, fresh = g.first(r, u, own)
		g.answers[f[0].Text()] = a
	case !listed && a.turn != nil:
		g.grown(a, r)
	}
	if !listed || fresh {
		g.ran(r, u, f[4])
	}
	return a.calls, fresh
}

// first takes in an answer that did not stand before: its own, or one of the conversation, which may be known.
func (g *geminiLines) first(r record, u *entry.Unit, own bool) (a *geminiAnswer, fresh bool) {
	m := geminiMessage(r.JSON, *u)
	f := r.Find("content", "timestamp")
	a = &geminiAnswer{content: f[0]}
	known := !own && g.said(m)
	g.anew = !own
	switch {
	case own:
		a.turn = g.answering(r)
		g.answer(a.turn, u, m)
	case !known:
		g.fresh = true
		g.say(g.t, u, m, timeOf(f[1]), false)
	}
	for _, call := range m.Calls {
		a.calls, g.calls[call.ID] = append(a.calls, call.ID), true
	}
	for _, text := range m.Texts {
		if text.Said == provider.SaidAssistant {
			g.texts[text.Text] = true
		}
	}
	return a, !known
}

// said reports whether all of a message of the conversation was said before: its calls, or else its texts.
func (g *geminiLines) said(m provider.Message) bool {
	for _, call := range m.Calls {
		if !g.calls[call.ID] {
			return false
		}
	}
	if len(m.Calls) > 0 {
		return true
	}
	for _, text := range m.Texts {
		if !g.texts[text.Text] {
			return false
		}
	}
	return !m.Unknown
}

// grown takes in what an answer that stands once more says that it did not say.
func (g *geminiLines) grown(a *geminiAnswer, r record) {
	f := r.Find("content", "tokens", "toolCalls", "model")
	a.turn.used(geminiUsage(f[1]))
	if model := provider.ModelName(f[3].Text()); model != "" {
		a.turn.response.Model = model
	}
	whole := !bytes.Equal(a.content, f[0]) && f[0].HoldsText()
	if a.content = f[0]; whole {
		g.answer(a.turn, r.unit(), geminiMessage(r.JSON, *r.unit()))
	}
	i := 0
	for call := range r.elements(f[2]) {
		u, id := call.unitAt(toolCalls+strconv.Itoa(i)), call.Find("id")[0].Text()
		if i++; slices.Contains(a.calls, id) {
			continue
		}
		a.calls, g.calls[id] = append(a.calls, id), true
		if !whole {
			g.answer(a.turn, u, geminiLineMessage(call.JSON, *u))
		}
	}
}

// ran takes in what the calls of an answer gave back, each once.
func (g *geminiLines) ran(r record, u *entry.Unit, calls provider.JSON) {
	i := 0
	for call := range r.elements(calls) {
		f := call.Find("id", "result", "timestamp")
		id := f[0].Text()
		if _, known := g.results[id]; !known && f[1] != nil && f[1].Kind() != 'n' {
			held := call.unitAt(u.At + toolCalls + strconv.Itoa(i) + calledResult)
			g.results[id] = responseOf(f[1], id)
			g.say(g.t, held, geminiLineMessage(call.JSON, *held), timeOf(f[2]), false)
		}
		i++
	}
}

// responseOf is what a result of a call sends; empty where it is no list of parts.
func responseOf(result provider.JSON, id string) provider.JSON {
	for part := range result.Elements() {
		if f := part.Find("functionResponse")[0].Find("id", "response"); f[0].Text() == id {
			return f[1]
		}
	}
	return nil
}

// calledResult is how the place of a call's result ends; that of the call itself ends with its number.
const calledResult = "/result"

// geminiLineMessage reads a message of a line, a call, or what a call gave back, as At says.
func geminiLineMessage(v provider.JSON, u entry.Unit) provider.Message {
	at, result := strings.CutSuffix(u.At, calledResult)
	switch {
	case !strings.Contains(at, toolCalls):
		return geminiMessage(v, u)
	case result:
		return geminiResult(v, at)
	}
	m := provider.Message{Role: "assistant"}
	geminiCall(&m, v, at)
	return m
}
