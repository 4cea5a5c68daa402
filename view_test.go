package ambit_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
)

// wire is where the requests of a test went.
type wire struct{ name, path, kind string }

var (
	messagesWire  = wire{"anthropic", "/v1/messages", provider.TypeMessages}
	chatWire      = wire{"openai", "/v1/chat/completions", provider.TypeChat}
	responsesWire = wire{"openai", "/v1/responses", provider.TypeResponses}
	geminiWire    = wire{"gemini", "/v1beta/models/gemini-2.5-pro:generateContent", provider.TypeGenerate}
)

// talks records requests as they pass: each with the units that are new in it, and with its answer.
type talks struct {
	*shelf
	wire
	seen map[string]bool
}

func newTalks(t testing.TB, w wire) *talks { return &talks{newShelf(t), w, make(map[string]bool)} }

// ask records a request and its answer; neither is compressed. Messages that the answers before said are not new.
func (k *talks) ask(how entry.Relating, parent int, body, answer string, repeats ...int) {
	k.t.Helper()
	k.n++
	stored, err := k.store.Put(k.t.Context(), "s", []byte(body))
	if err != nil {
		k.t.Fatal(err)
	}
	family := ambit.Family(k.name, "POST", k.path)
	req := family.Request("POST", k.path, []byte(body))
	elements, err := family.Elements(req, []byte(body))
	if err != nil {
		k.t.Fatal(err)
	}
	facts := []entry.Fact{
		&entry.Request{N: k.n, Provider: k.name, Type: k.kind, Method: "POST", Path: k.path, Model: req.Model, Body: &stored},
		&entry.Relation{N: k.n, Thread: "t1", How: how, Parent: parent, Messages: len(elements.Messages)},
	}
	for i, el := range elements.Messages {
		hash := hex.EncodeToString(el.Hash[:])
		if k.seen[hash] || slices.Contains(repeats, i) {
			continue
		}
		k.seen[hash] = true
		m := family.Message(req, []byte(body[el.Offset:el.Offset+el.Length]), el.At)
		u := &entry.Unit{N: k.n, Of: entry.PartMessage, Thread: "t1", Role: m.Role, At: el.At, Offset: int64(el.Offset), Length: int64(el.Length), Element: hash, Results: m.Results}
		for _, c := range m.Calls {
			u.Calls = append(u.Calls, c.ID)
		}
		facts = append(facts, u)
	}
	if answer != "" {
		back, err := k.store.Put(k.t.Context(), "s", []byte(answer))
		if err != nil {
			k.t.Fatal(err)
		}
		res := family.Response(req, "application/json", []byte(answer))
		u := &entry.Unit{N: k.n, Of: entry.PartAnswer, Thread: "t1", Whole: true}
		for _, c := range res.Answer.Calls {
			u.Calls = append(u.Calls, c.ID)
		}
		facts = append(facts, &entry.Response{N: k.n, Status: 200, Model: res.Model, Usage: res.Usage, End: entry.EndComplete, Body: &back, Headers: map[string]string{"content-type": "application/json"}}, u)
	}
	k.append(facts...)
}

// shows is a view of a request, a line for each segment.
func (k *talks) shows(n int) string {
	k.t.Helper()
	v, err := k.open().View(k.t.Context(), "", n)
	if err != nil {
		k.t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range v.Segments {
		b.WriteString(strings.Join([]string{string(s.Layer), s.Role, s.Ref, string(s.Class), strings.ReplaceAll(s.Text, "\n", "|")}, " ") + "\n")
		if s.EstTokens <= 0 {
			k.t.Errorf("no estimate of %+v", s)
		}
	}
	return b.String()
}

// lacks are the entries that a request does not hold, each with the reason.
func (k *talks) lacks(n int) string {
	k.t.Helper()
	g, err := k.open().Gauge(k.t.Context(), "", n)
	if err != nil {
		k.t.Fatal(err)
	}
	var all []string
	for _, e := range g.Excluded {
		all = append(all, e.Ref+":"+string(e.Reason))
	}
	return strings.Join(all, " ")
}

func is(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

const (
	asks     = `{"role":"user","content":"Why?"}`
	calls    = `{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}}]}`
	results  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"text of a"}]}`
	says     = `{"role":"assistant","content":"Because."}`
	thanks   = `{"role":"user","content":"Mend it."}`
	head     = `{"model":"claude-sonnet-4-5","tools":[{"name":"read","input_schema":{}}],"system":[{"type":"text","text":"Be terse."},{"type":"text","text":"Instructions from: AGENTS.md\nTest all."},{"type":"text","text":"It is Mon."}],"messages":[`
	answered = `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}}],"stop_reason":"tool_use","usage":{"input_tokens":900,"output_tokens":9}}`
	because  = `{"id":"m2","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Because."}],"stop_reason":"end_turn","usage":{"input_tokens":950,"output_tokens":5}}`
)

func body(messages ...string) string { return head + strings.Join(messages, ",") + "]}" }

// A request is shown as it was sent, every message by the entry in which it first passed, also an answer that is sent back.
func TestView(t *testing.T) {
	k := newTalks(t, messagesWire)
	k.ask(entry.Root, 0, body(asks), answered)
	k.ask(entry.Extends, 1, body(asks, calls, results), because, 1)
	k.ask(entry.Extends, 2, body(asks, calls, results, says, thanks), "", 1, 3)
	begin := `role tools /tools/0 tools {"name":"read","input_schema":{}}
role system /system/0 system Be terse.
stable system /system/1 instructions Instructions from: AGENTS.md|Test all.
stable system /system/2 system It is Mon.
working user e4 user Why?
`
	is(t, "the first request", k.shows(1), begin)
	is(t, "the last request", k.shows(0), begin+`working assistant e6 call I look.|read {"path":"a"}
working tool e9 result text of a
working assistant e11 assistant Because.
working user e14 user Mend it.
`)
	is(t, "what the last lacks", k.lacks(0), "")
	g, err := k.open().Gauge(t.Context(), "", 0)
	if err != nil || g.LastRealTotal != 955 || g.LastRealTurn != 2 || g.Next.EstTokens <= 955 || !g.Next.Anchored || g.Included[5].Source != "request" {
		t.Errorf("%+v, %v", g, err)
	}
}

// What a request does not hold is told with the reason, and what a client put in its place is a summary.
func TestViewExcluded(t *testing.T) {
	k := newTalks(t, messagesWire)
	k.ask(entry.Root, 0, body(asks), answered)
	k.ask(entry.Extends, 1, body(asks, calls, results), because, 1)
	k.ask(entry.Extends, 2, body(asks, calls, results, says, thanks), because, 1, 3)
	k.ask(entry.Rewind, 2, body(asks, calls, results, says, `{"role":"user","content":"Explain it."}`), because, 1, 3)
	is(t, "behind a rewind", k.lacks(0), "e14:rewind e16:rewind")
	is(t, "before it", k.lacks(3), "")
	k.ask(entry.ClientEdit, 4, body(asks, calls, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"[cleared]"}]}`, says, `{"role":"user","content":"Explain it."}`), because, 1, 3)
	is(t, "behind an edit", k.lacks(0), "e9:client-edit e14:rewind e16:rewind e21:client-edit")
	k.ask(entry.ClientCompaction, 5, body(`{"role":"user","content":"So far: it sleeps."}`, thanks), "")
	g, err := k.open().Gauge(t.Context(), "", 0)
	if err != nil || g.Generation != 4 || g.State != ambit.GaugeUnknown || g.Pressure != nil {
		t.Errorf("%+v, %v", g, err)
	}
	if got := g.ByClass[len(g.ByClass)-2]; got.Class != ambit.ClassSummary || got.Segments != 1 {
		t.Errorf("the classes are %+v", g.ByClass)
	}
}

// TestViewWires: the other wires, each with its own place for system text.
func TestViewWires(t *testing.T) {
	k := newTalks(t, chatWire)
	k.ask(entry.Root, 0, `{"model":"gpt-5.5","messages":[{"role":"system","content":"Be terse."},{"role":"user","content":"Why?"},{"role":"developer","content":"Now test."},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"text of a"}]}`, "")
	is(t, "chat", k.shows(0), `role system /messages/0 system Be terse.
working user e4 user Why?
working system e5 system Now test.
working assistant e6 call read {"path":"a"}
working tool e7 result text of a
`)
	k = newTalks(t, responsesWire)
	k.ask(entry.Root, 0, `{"model":"gpt-5.5","instructions":"Be terse.","tools":[{"type":"function","name":"read"},{"type":"function","name":"rare","defer_loading":true}],"input":[{"role":"developer","content":[{"type":"input_text","text":"# AGENTS.md instructions for x"}]},{"role":"user","content":"Why?"}]}`,
		`{"id":"r1","object":"response","status":"completed","model":"gpt-5.5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Because."}]}],"usage":{"input_tokens":50,"output_tokens":4}}`)
	begin := `role tools /tools/0 tools {"type":"function","name":"read"}
role system /instructions system Be terse.
stable system /input/0 instructions # AGENTS.md instructions for x
working user e4 user Why?
`
	if got := k.shows(0); !sameLines(got, begin) {
		t.Errorf("responses:\n%swant:\n%s", got, begin)
	}
	is(t, "what responses lacks", k.lacks(0), "/tools/1:deferred")
	k.ask(entry.Extends, 1, `{"model":"gpt-5.5","previous_response_id":"r1","input":[{"role":"user","content":"Mend it."}]}`, "")
	is(t, "what follows an answer that the provider holds", k.shows(0), `working user e4 user Why?
working assistant e6 assistant Because.
working user e9 user Mend it.
`)
	k = newTalks(t, geminiWire)
	k.ask(entry.Root, 0, `{"systemInstruction":{"parts":[{"text":"Be terse."}]},"tools":[{"functionDeclarations":[{"name":"read"}]}],"contents":[{"role":"user","parts":[{"text":"Why?"}]}]}`, "")
	if got := k.shows(0); !strings.Contains(got, "role system /systemInstruction/parts/0 system Be terse.\n") || !strings.Contains(got, "working user e4 user Why?\n") {
		t.Errorf("gemini:\n%s", got)
	}
}

// sameLines compares lines in whatever order: a provider may render the system before the tools.
func sameLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// TestViewRefuses: what cannot be shown is an error of its kind.
func TestViewRefuses(t *testing.T) {
	k := newTalks(t, messagesWire)
	see := func(thread string, n int, want error) {
		t.Helper()
		v, err := k.open().View(t.Context(), thread, n)
		g, gaugeErr := k.open().Gauge(t.Context(), thread, n)
		if !errors.Is(err, want) || !errors.Is(gaugeErr, want) || v != nil || g != nil {
			t.Errorf("request %d of %q: %v, %v; want %v", n, thread, err, gaugeErr, want)
		}
	}
	see("", 0, ambit.ErrNotRecorded)
	k.ask(entry.Root, 0, body(asks), answered)
	see("", 2, ambit.ErrNotRecorded)
	see("t2", 0, ambit.ErrNoThread)
	see("t2", 1, ambit.ErrNoThread)
	k.append(&entry.Request{N: 2, Provider: "anthropic", Type: provider.TypeModels, Method: "GET", Path: "/v1/models"})
	see("", 2, provider.ErrNotUnderstood)
}
