package transcript

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"

	"ambit/entry"
	"ambit/provider"
	wire "ambit/provider/gemini"
)

// geminiCLI reads what Gemini CLI keeps: a session, whose messages have calls and results together, or a checkpoint, which is the list of contents that was sent.
type geminiCLI struct {
	*document
	t       *talk
	calls   []string // of the newest content of a checkpoint that makes some, for results without an id
	clients bool     // the checkpoint has the contents beside what was shown
}

// geminiLists are the members that hold messages.
var geminiLists = set("messages", "history", "clientHistory")

func readGemini(b *building) {
	b.provider, b.kind = "gemini", provider.TypeGenerate
	g := &geminiCLI{document: newDocument(b)}
	g.t = b.talk("")
	g.clients = provider.JSON(g.text).Find("clientHistory")[0].Kind() == '['
	g.read(geminiLists, g.item, g.member)
}

func (g *geminiCLI) member(name string, v record) {
	switch name {
	case "sessionId":
		g.ID = v.Text()
	case "startTime", "lastUpdated":
		if at := timeOf(v.JSON); g.Began.IsZero() {
			g.Began = at
		}
	case "summary":
		g.title(v, v.JSON)
	case "projectHash", "kind", "directories", "authType", "toolCall", "commitHash", "messageId", "memoryScratchpad":
	default:
		g.other(name, v)
	}
}

func (g *geminiCLI) item(r record, at string) {
	f := r.Find("type", "role", "parts", "timestamp", "content", "model", "tokens")
	u, when := r.unitAt(at), timeOf(f[3])
	switch kind := f[0].Text(); {
	case f[2] != nil || f[1] != nil && kind == "":
		g.content(r, u, f[1].Text())
	case kind == "user":
		if !g.clients {
			g.title(r, geminiTitle(f[4]))
			g.say(g.t, u, geminiMessage(r.JSON, *u), when, true)
		}
	case kind == "gemini":
		if !g.clients {
			g.answered(r, u)
		}
	case silentGemini[kind]:
		g.at(when)
	case g.clients && strings.HasPrefix(at, "/history/"): // what was shown
	case kind == "":
		g.untyped(r)
	default:
		g.unknown(r, kind)
	}
}

// silentGemini are the types of messages that the program only shows.
var silentGemini = set("info", "error", "warning", "about", "help", "stats", "quit")

// geminiTitle is the text that a person began with: a string, or that of the first part.
func geminiTitle(content provider.JSON) provider.JSON {
	for part := range content.Elements() {
		return part.Find("text")[0]
	}
	return content
}

// answered takes in an answer of a session, and what its calls gave back.
func (g *geminiCLI) answered(r record, u *entry.Unit) {
	calls := r.Find("toolCalls")[0]
	g.answer(g.answering(r), u, geminiMessage(r.JSON, *u))
	i := 0
	for call := range r.elements(calls) { // the next request holds what it gave back
		held := call.unitAt(u.At + toolCalls + strconv.Itoa(i))
		g.say(g.t, held, geminiMessage(call.JSON, *held), timeOf(call.Find("timestamp")[0]), false)
		i++
	}
}

// answering is the turn of an answer, with what it counts. One that counts nothing and says nothing, right behind an
// answer without calls, holds the calls of that answer: the program noted something for the person between them.
func (g *geminiCLI) answering(r record) *turn {
	f := r.Find("timestamp", "model", "tokens", "content")
	when, usage := timeOf(f[0]), geminiUsage(f[2])
	n := g.t.last
	if g.t.next != nil || n == nil || usage != nil || f[3].HoldsText() || len(n.calls) > 0 || n.response.Usage == nil {
		n = g.send(g.t, time.Time{}) // when the newest result came
	}
	if model := provider.ModelName(f[1].Text()); model != "" {
		n.response.Model = model
	}
	n.used(usage)
	n.tookUntil(when)
	g.at(when)
	return n
}

// toolCalls is what stands in the pointer to a call of a session, whose unit is its result.
const toolCalls = "/toolCalls/"

// geminiUsage reads tokens as Gemini CLI spells them: the cached part is in the input, and thoughts and what went into
// tools stand beside the output and the input, as in the API.
func geminiUsage(v provider.JSON) *entry.Usage {
	c := provider.Counts{}
	c.Add(v, "input", "output", "cached", "thoughts", "tool")
	if c["input"]+c["output"] == 0 {
		return nil
	}
	return provider.NewUsage(c["input"]+c["tool"], c["cached"], 0, c["output"]+c["thoughts"])
}

// content takes in a content of a checkpoint.
func (g *geminiCLI) content(r record, u *entry.Unit, role string) {
	if role == "model" {
		m := geminiMessage(r.JSON, *u)
		if g.t.next != nil {
			g.calls = nil
		}
		for _, call := range m.Calls {
			g.calls = append(g.calls, call.ID)
		}
		if g.t.next != nil || g.t.last == nil { // else it is of the same answer
			g.send(g.t, g.latest)
		}
		g.answer(g.t.last, u, m)
		return
	}
	m := geminiMessage(r.JSON, holding(u, g.calls...))
	if len(m.Results) == 0 {
		text := geminiTitle(r.Find("parts")[0])
		if !strings.HasPrefix(strings.TrimSpace(text.Text()), "<") {
			g.title(r, text)
		}
	}
	g.say(g.t, u, m, g.latest, true)
}

// geminiMessage reads a message of a session, the result of one of its calls, or a content.
func geminiMessage(v provider.JSON, u entry.Unit) provider.Message {
	if strings.Contains(u.At, toolCalls) {
		return geminiResult(v, u.At)
	}
	o := v.Object()
	switch o.Take("type").Text() {
	case "user":
		m := provider.Message{Role: "user"}
		geminiContent(&m, o.Take("content"), u.At+"/content")
		m.Rest(o, aboutGemini)
		return m
	case "gemini":
		m := provider.Message{Role: "assistant"}
		if content := o.Take("content"); content.Kind() == '"' {
			m.AddText(u.At+"/content", provider.SaidAssistant, content)
		} else {
			addParts(&m, "model", content, u.At+"/content")
		}
		for at, call := range m.Each(u.At+"/toolCalls", o.Take("toolCalls")) {
			geminiCall(&m, call, at)
		}
		m.Rest(o, aboutGemini)
		return m
	case "":
	default:
		return provider.Message{Unknown: v.HoldsText()}
	}
	m := wire.Protocol{}.Message(provider.Request{Type: provider.TypeGenerate}, withIDs(v, u), u.At)
	if m.Role == "model" {
		m.Role = "assistant"
	}
	return m
}

// What of a message, and of a call, is no public text: thoughts are nobody's, and what is displayed is for people.
var (
	aboutGemini     = set("id", "timestamp", "displayContent", "thoughts", "tokens", "model")
	aboutGeminiCall = set("result", "status", "timestamp", "resultDisplay", "displayName", "description", "renderOutputAsMarkdown", "agentId")
)

// geminiContent adds what a person said: a string, or parts.
func geminiContent(m *provider.Message, content provider.JSON, field string) {
	if content.Kind() == '"' {
		m.AddText(field, provider.SaidUser, content)
		return
	}
	addParts(m, "user", content, field)
}

// addParts adds parts of a content that a message of a session has.
func addParts(m *provider.Message, role string, parts provider.JSON, field string) {
	if parts.Kind() == 0 || parts.Kind() == 'n' {
		return
	}
	content := provider.JSON(`{"role":"` + role + `","parts":` + string(parts) + `}`)
	inner := wire.Protocol{}.Message(provider.Request{Type: provider.TypeGenerate}, content, "")
	for _, text := range inner.Texts {
		text.Field = field + strings.TrimPrefix(text.Field, "/parts")
		m.Texts = append(m.Texts, text)
	}
	m.Calls, m.Results = append(m.Calls, inner.Calls...), append(m.Results, inner.Results...)
	m.Unknown = m.Unknown || inner.Unknown
}

// geminiCall adds a call of a session.
func geminiCall(m *provider.Message, call provider.JSON, at string) {
	o := m.Object(call)
	m.AddCall(at+"/args", cmp.Or(o.Take("id").Text(), madeID(at)), o.Take("name").Text(), o.Take("args"), false)
	m.Rest(o, aboutGeminiCall)
}

// geminiResult reads what a call of a session gave back: a list of parts, or a text. It says nothing while there is none.
func geminiResult(call provider.JSON, at string) provider.Message {
	m := provider.Message{Role: "tool"}
	f := call.Find("id", "result")
	result := f[1]
	if result.Kind() == 0 || result.Kind() == 'n' {
		return m
	}
	m.AddResult(quoted(cmp.Or(f[0].Text(), madeID(at))))
	if result.Kind() != '[' {
		m.AddLeaves(at+"/result", provider.SaidTool, result, nil)
		return m
	}
	for at, part := range m.Each(at+"/result", result) {
		p := m.Object(part)
		response := m.Object(p.Take("functionResponse"))
		m.AddLeaves(at+"/functionResponse/response", provider.SaidTool, response.Take("response"), nil)
		m.Rest(response, aboutGeminiResult)
		m.AddText(at+"/text", provider.SaidTool, p.Take("text"))
		m.Rest(p, aboutGeminiPart)
	}
	return m
}

var (
	aboutGeminiResult = set("id", "name", "parts")
	aboutGeminiPart   = set("inlineData", "fileData", "thoughtSignature")
)

// withIDs is a content in which calls and results without an id have one: calls by their place, results by the order of
// the calls.
func withIDs(v provider.JSON, u entry.Unit) provider.JSON {
	f := v.Find("role", "parts")
	var parts []string
	results, missing := 0, false
	for part := range f[1].Elements() {
		inner := part.Find("functionCall", "functionResponse")
		switch {
		case inner[0].Kind() == '{' && inner[0].Find("id")[0].Text() == "":
			missing = true
			part = withID("functionCall", quoted(madeID(u.At+"/"+strconv.Itoa(len(parts)))), inner[0])
		case inner[1].Kind() == '{' && inner[1].Find("id")[0].Text() == "" && results < len(u.Results):
			missing = true
			part = withID("functionResponse", quoted(u.Results[results]), inner[1])
		}
		if inner[1] != nil {
			results++
		}
		parts = append(parts, string(part))
	}
	if !missing || f[0] == nil {
		return v
	}
	return provider.JSON(`{"role":` + string(f[0]) + `,"parts":[` + strings.Join(parts, ",") + `]}`)
}

// withID is a part with one member, an object that gets an id.
func withID(name string, id, v provider.JSON) provider.JSON {
	rest := bytes.TrimLeft(v[len("{"):], " \t\r\n")
	if rest[0] != '}' {
		rest = append([]byte(","), rest...)
	}
	return provider.JSON(`{"` + name + `":{"id":` + string(id) + string(rest) + `}`)
}
