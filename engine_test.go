package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/view"
)

// desk is a place to work at: a store, a model and tools.
type desk struct {
	t      *testing.T
	store  *journal.Dir
	engine *ambit.Engine
	setup  ambit.Setup

	mu     sync.Mutex
	asked  []asked // what reached the model, in order
	waits  []time.Duration
	ran    []string // what the tools were asked for
	events []ambit.Event
	at     time.Time
}

// asked is a request as the model got it.
type asked struct {
	path string
	body []byte
}

// baseOf is where a wire's requests go under an address.
func baseOf(wire, address string) string {
	if wire == provider.TypeResponses || wire == provider.TypeChat {
		return address + "/v1"
	}
	return address
}

var wireNames = map[string]string{
	provider.TypeMessages: "anthropic", provider.TypeResponses: "openai", provider.TypeChat: "openai", provider.TypeGenerate: "gemini",
}

// thoughtful is how a client asks for thoughts.
var thoughtful = map[string][]provider.Member{
	provider.TypeMessages:  {{Name: "thinking", Value: []byte(`{"type":"enabled","budget_tokens":1024}`)}},
	provider.TypeResponses: {{Name: "reasoning", Value: []byte(`{"effort":"high","summary":"auto"}`)}},
	provider.TypeGenerate:  {{Name: "generationConfig", Value: []byte(`{"thinkingConfig":{"includeThoughts":true}}`)}},
}

// newDesk serves a model over a wire.
func newDesk(t *testing.T, wire string, model http.Handler) *desk {
	t.Helper()
	store, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, store: store, at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	t.Cleanup(func() { d.store.Close() })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // a WebSocket: its messages are what is asked
			model.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		d.mu.Lock()
		d.asked = append(d.asked, asked{r.URL.RequestURI(), body})
		d.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	d.engine = d.anew()
	d.setup = ambit.Setup{
		Agent: ambit.Agent{Name: "coder", Role: "You write code.", Tools: []ambit.Tool{d.tool("read"), d.tool("fail"), d.tool("deny")}},
		Model: ambit.Model{Provider: wireNames[wire], Type: wire, Name: "m-1", BaseURL: baseOf(wire, srv.URL), Credential: "secret", Output: 4000, Rest: thoughtful[wire]},
		Dir:   "/project", Watch: func(e ambit.Event) { d.events = append(d.events, e) },
	}
	return d
}

// anew is another engine, as another process would make it.
func (d *desk) anew() *ambit.Engine {
	return ambit.NewEngine(d.store, ambit.EngineOptions{
		Now: func() time.Time {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.at = d.at.Add(time.Second)
			return d.at
		},
		Wait: func(ctx context.Context, wait time.Duration) error {
			d.waits = append(d.waits, wait)
			return ctx.Err()
		},
	})
}

// tool is one that does nothing but say that it ran.
func (d *desk) tool(name string) ambit.Tool {
	return ambit.Tool{
		Tool: view.Tool{Name: name, Description: "Does it.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		Run: func(_ context.Context, args json.RawMessage) (string, error) {
			d.ran = append(d.ran, name+" "+string(args))
			switch name {
			case "fail":
				return "half of it", errors.New("no such file")
			case "deny":
				return "", fmt.Errorf("it is %w here", ambit.ErrDenied)
			}
			return "text of " + string(args), nil
		},
	}
}

// begin makes a session in which something is said.
func (d *desk) begin(texts ...string) *ambit.Session {
	d.t.Helper()
	s, err := d.engine.Begin(d.t.Context(), "a test", d.setup)
	if err != nil {
		d.t.Fatal(err)
	}
	d.say(s, texts...)
	return s
}

func (d *desk) say(s *ambit.Session, texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if _, err := s.Admit(d.t.Context(), ambit.Input{Text: text}); err != nil {
			d.t.Fatal(err)
		}
	}
}

// kinds are the kinds of a session's entries, in order.
func (d *desk) kinds(id string) (kinds []string) {
	d.t.Helper()
	for _, f := range d.facts(id) {
		kinds = append(kinds, string(f.Kind()))
	}
	return kinds
}

func (d *desk) facts(id string) (facts []entry.Fact) {
	d.t.Helper()
	for f, err := range d.store.Read(d.t.Context(), id, 0) {
		if err != nil {
			d.t.Fatal(err)
		}
		facts = append(facts, f.Fact)
	}
	return facts
}

// elements are a request's canonical elements, in the order in which the provider renders them.
func (a asked) elements(t *testing.T, wire string) (all, messages []provider.Element) {
	t.Helper()
	family := ambit.Family(wireNames[wire], "POST", a.path)
	e, err := family.Elements(family.Request("POST", a.path, a.body), a.body)
	if err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return slices.Concat(e.Tools, e.System, e.Messages), e.Messages
}

// prefixed reports whether what a request holds is where the next begins.
func prefixed(before, after []provider.Element) bool {
	return len(before) <= len(after) && slices.EqualFunc(before, after[:len(before)], func(a, b provider.Element) bool { return a.Hash == b.Hash })
}

func scriptedCall(name, path string) scripted.Call {
	return scripted.Call{Name: name, Args: map[string]any{"path": path}}
}

// work is a conversation with thoughts, parallel calls, calls that fail, and faults that pass.
func work() *scripted.Provider {
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Thought: "I look first.", Text: "Two files.", Calls: []scripted.Call{scriptedCall("read", "a.go"), scriptedCall("read", "b.go")}},
		{Text: "One more.", Calls: []scripted.Call{scriptedCall("fail", "c.go")}, Fault: &scripted.Fault{Status: 503, Message: "later", RetryAfter: "7"}},
		{Thought: "It failed.", Calls: []scripted.Call{scriptedCall("deny", "d.go"), scriptedCall("gone", "e.go")}, Fault: &scripted.Fault{Drop: true}},
		{Text: "Done."},
		{Text: "Done, too.", Calls: []scripted.Call{scriptedCall("read", "f.go")}},
		{Text: "Really."},
	}}}}, scripted.Options{Strict: true})
}

// An agent works over every wire before a provider that refuses whatever the real one would: each request extends the one
// before, an attempt that is repeated has the same bytes, each call runs once, and another process that takes the session up
// goes on from where it was left. All of it is in the journal, whose check finds nothing.
//
// covers: R-02 part
// covers: R-03 part
//
func TestAgentOverEveryWire(t *testing.T) {
	for wire := range wireNames {
		t.Run(wire, func(t *testing.T) {
			model := work()
			d := newDesk(t, wire, model)
			s := d.begin("Read them.")
			out, err := s.Run(t.Context())
			if err != nil || out.Text != "Done." || out.Turns != 4 || out.Activities != 1 {
				t.Fatalf("%+v: %v, %v", out, err, model.Refusals())
			}
			if want := []string{`read {"path":"a.go"}`, `read {"path":"b.go"}`, `fail {"path":"c.go"}`, `deny {"path":"d.go"}`}; !slices.Equal(d.ran, want) {
				t.Errorf("the tools were asked for %q", d.ran)
			}
			if len(d.waits) != 2 || d.waits[0] != 7*time.Second {
				t.Errorf("waits of %v", d.waits)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, err = d.anew().Resume(t.Context(), s.ID(), d.setup)
			if err != nil {
				t.Fatal(err)
			}
			d.say(s, "And f.")
			if out, err = s.Run(t.Context()); err != nil || out.Text != "Really." {
				t.Fatalf("taken up again: %+v: %v, %v", out, err, model.Refusals())
			}
			d.check(s.ID(), wire)
			if got := model.Refusals(); len(got) > 0 {
				t.Errorf("refused: %v", got)
			}
		})
	}
}

// check compares what the model got with the journal, and looks at the laws of its requests.
func (d *desk) check(id, wire string) {
	d.t.Helper()
	r, err := d.store.Check(d.t.Context(), id)
	if err != nil || len(r.Damage)+len(r.Mismatches) > 0 {
		d.t.Errorf("%+v, %v", r, err)
	}
	var sent []asked
	again := make(map[int]bool)
	for _, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Request:
			body, err := d.store.Body(d.t.Context(), id, *f.Body)
			if err != nil {
				d.t.Fatal(err)
			}
			sent = append(sent, asked{f.Path, body})
		case *entry.Relation:
			again[f.N] = f.How == entry.Again
		case *entry.Unit:
			if f.Of == entry.PartMessage && (f.Role == "assistant" || f.Role == "model") {
				d.t.Errorf("the answer in request %d is a message of its own", f.N)
			}
		}
	}
	if !slices.EqualFunc(sent, d.asked, func(a, b asked) bool { return a.path == b.path && string(a.body) == string(b.body) }) {
		d.t.Errorf("%d requests are recorded, and %d were sent, or others", len(sent), len(d.asked))
	}
	for i := 1; i < len(sent); i++ {
		if again[i+1] {
			if string(sent[i].body) != string(sent[i-1].body) {
				d.t.Errorf("request %d is not what it repeats", i+1)
			}
			continue
		}
		before, _ := sent[i-1].elements(d.t, wire)
		after, _ := sent[i].elements(d.t, wire)
		if !prefixed(before, after) {
			d.t.Errorf("request %d does not begin as the one before:\n%s\n%s", i+1, sent[i-1].body, sent[i].body)
		}
	}
}

// A fork goes on with what was said up to there, and with nothing that is native to the provider; its parent goes on with that.
//
// covers: J-08 part
// covers: V-09 part
func TestForkGoesOn(t *testing.T) {
	for wire := range wireNames {
		d := newDesk(t, wire, work())
		s := d.begin("Read them.")
		if _, err := s.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", wire, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		fork := s.ID() + "-fork"
		at := entry.Seq(len(d.facts(s.ID())))
		if err := ambit.Fork(t.Context(), d.store, s.ID(), at, entry.Session{ID: fork}); err != nil {
			t.Fatal(err)
		}
		native := map[string]string{provider.TypeMessages: `"signature"`, provider.TypeResponses: `"encrypted_content":"`, provider.TypeGenerate: `"thoughtSignature"`}[wire]
		for _, id := range []string{fork, s.ID()} {
			taken, err := d.anew().Resume(t.Context(), id, d.setup)
			if err != nil {
				t.Fatal(err)
			}
			d.say(taken, "And f.")
			if out, err := taken.Run(t.Context()); err != nil || out.Text != "Really." {
				t.Fatalf("%s, %s: %+v, %v", wire, id, out, err)
			}
			body := string(d.asked[len(d.asked)-1].body)
			if told := strings.Contains(body, "Here the tool read was called: "); told != (id == fork) {
				t.Errorf("%s, %s: calls are told as text: %v", wire, id, told)
			}
			if has := native != "" && strings.Contains(body, native); has != (native != "" && id != fork) || !strings.Contains(body, "Two files.") {
				t.Errorf("%s, %s: %s", wire, id, body)
			}
			if err := taken.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Another model takes over in the middle of a loop of tools: what the one before called and was given it reads as text, and no
// provider misses the reasoning that its own calls come with.
//
// covers: V-09 part
func TestAnotherModelInALoop(t *testing.T) {
	for wire := range wireNames {
		model := work()
		d := newDesk(t, wire, model)
		s := d.begin("Read them.")
		read := d.setup.Agent.Tools[0].Run
		next := d.setup
		next.Model.Name = "m-2"
		switched := false
		d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
			if !switched {
				switched = true
				if err := s.Switch(ctx, next); err != nil {
					t.Error(err)
				}
			}
			return read(ctx, args)
		}
		out, err := s.Run(t.Context())
		if err != nil || out.Text != "Done." || len(model.Refusals()) > 0 {
			t.Errorf("%s: %+v, %v, %v", wire, out, err, model.Refusals())
		}
		if body := string(d.asked[1].body); !strings.Contains(body, "What the tool read gave, recorded text:]\\ntext of ") || strings.Contains(string(d.asked[0].body), "recorded text") {
			t.Errorf("%s: %s", wire, body)
		}
	}
}
