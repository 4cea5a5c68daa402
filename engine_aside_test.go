package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
)

// asides is a model that works, and answers questions that are asked beside it.
func asides(turns ...scripted.Turn) *scripted.Provider {
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{
		Turns: turns,
		Branches: []scripted.Branch{
			{When: "Why?", Turns: []scripted.Turn{{Text: "Because."}}},
			{When: "How?", Turns: []scripted.Turn{{Text: "So.", Fault: &scripted.Fault{Status: 503, Message: "later"}}}},
			{When: "Call!", Turns: []scripted.Turn{{Calls: []scripted.Call{scriptedCall("read", "no")}}}},
		},
	}}}, scripted.Options{Strict: true})
}

// relations are a session's requests, each as its thread and how it relates to which.
func (d *desk) relations(id string) (list []string) {
	for _, f := range d.facts(id) {
		if f, is := f.(*entry.Relation); is {
			list = append(list, fmt.Sprintf("%s %s %d", f.Thread, f.How, f.Parent+f.About))
		}
	}
	return list
}

// A question beside the work is answered over every wire with what the conversation holds, in the middle of a turn, too, and changes
// nothing of it: the next request begins where the one before it ended. No tool runs, it is recorded in a thread of its own, and
// the same id has the same answer, in another process, too, without anybody being asked.
//
// covers: R-09 part
func TestAside(t *testing.T) {
	for wire := range wireNames {
		model := asides(
			scripted.Turn{Thought: "I look.", Text: "Looking.", Calls: []scripted.Call{scriptedCall("read", "a"), {Name: "probe"}}}, scripted.Turn{Text: "Done."}, scripted.Turn{Text: "More."},
		)
		d := newDesk(t, wire, model)
		var s *ambit.Session
		var during ambit.Answered
		d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.probe(func(ctx context.Context) {
			var err error
			if during, err = s.Aside(ctx, ambit.Aside{ID: "why", Text: "Why?"}); err != nil {
				t.Errorf("%s: %v", wire, err)
			}
			for text, want := range map[string]string{"text of": `found|complete|text of {"path":"a"}`, "Go.": "found|complete|Go."} { // each once
				if a, _ := d.recall(ctx, ambit.RecallSearch, fmt.Sprintf(`{"text":%q}`, text)); recalled(a) != want {
					t.Errorf("%s: recalled %s", wire, recalled(a))
				}
			}
		}))
		s = d.begin("Go.")
		d.run(s)
		if during.Text != "Because." || during.N != 2 || during.Again || during.Output == 0 || during.ID != "why" {
			t.Errorf("%s: %+v", wire, during)
		}
		how, err := s.Aside(t.Context(), ambit.Aside{Text: "How?"})
		if err != nil || how.Text != "So." || how.ID != "aside-2" || how.N != 5 {
			t.Errorf("%s: %+v, %v", wire, how, err)
		}
		ran := len(d.ran)
		_, err = s.Aside(t.Context(), ambit.Aside{ID: "call", Text: "Call!"})
		if !errors.Is(err, ambit.ErrRefused) || !strings.Contains(err.Error(), "calls of tools alone") || len(d.ran) != ran {
			t.Errorf("%s: a question that calls: %v, %v", wire, err, d.ran[ran:])
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
			t.Fatal(err)
		}
		asked := len(d.asked)
		again, err := s.Aside(t.Context(), ambit.Aside{ID: "why", Text: "Why?"})
		if want := during; err != nil || len(d.asked) != asked {
			t.Errorf("%s: asked again: %v, %d requests", wire, err, len(d.asked)-asked)
		} else if want.Again = true; again != want {
			t.Errorf("%s: %+v, want %+v", wire, again, want)
		}
		if _, err := s.Aside(t.Context(), ambit.Aside{ID: "call", Text: "Call!"}); err == nil || len(d.asked) != asked {
			t.Errorf("%s: what called for tools is asked again: %v", wire, err)
		}
		if _, err := s.Aside(t.Context(), ambit.Aside{ID: "why", Text: "How?"}); !errors.Is(err, ambit.ErrConflict) {
			t.Errorf("%s: %v", wire, err)
		}
		d.run(s, "On.")
		want := []string{"t1 root 0", "t2 side 1", "t1 extends 1", "t3 side 3", "t3 again 4", "t4 side 3", "t1 extends 3"}
		if got := d.relations(s.ID()); !slices.Equal(got, want) {
			t.Errorf("%s: %v", wire, got)
		}
		if got := model.Refusals(); len(got) > 0 {
			t.Errorf("%s: refused: %v", wire, got)
		}
		// The conversation's own requests go on from one another; a question's begins with all that was said.
		main := func(i int) []provider.Element { all, _ := d.asked[i].elements(t, wire); return all }
		for _, pair := range [][2]int{{0, 1}, {0, 2}, {2, 3}, {2, 6}} {
			if !prefixed(main(pair[0]), main(pair[1])) {
				t.Errorf("%s: request %d does not begin as request %d:\n%s\n%s", wire, pair[1]+1, pair[0]+1, d.asked[pair[0]].body, d.asked[pair[1]].body)
			}
		}
		for i, side := range []bool{false, true, false, true, true, true, false} {
			if got := strings.Contains(string(d.asked[i].body), "a question beside the work"); got != side {
				t.Errorf("%s: request %d asks a question: %v", wire, i+1, got)
			}
			if got := strings.Contains(string(d.asked[i].body), "text of "); got != (i > 1) {
				t.Errorf("%s: request %d shows the result: %v", wire, i+1, got)
			}
		}
		for i := range d.asked {
			if body := string(d.asked[i].body); strings.Contains(body, "Because.") || strings.Contains(body, `"So."`) {
				t.Errorf("%s: the answer became a part of the conversation: %s", wire, body)
			}
		}
		if r, err := d.store.Check(t.Context(), s.ID()); err != nil || len(r.Damage)+len(r.Mismatches) > 0 {
			t.Errorf("%s: %+v, %v", wire, r, err)
		}
		units := make(map[string]int) // of each question itself and its answer
		for _, f := range d.facts(s.ID()) {
			if f, is := f.(*entry.Unit); is {
				units[f.Thread]++
			}
		}
		if units["t2"] != 2 || units["t3"] != 2 {
			t.Errorf("%s: units of %v", wire, units)
		}
		var turns []int
		for _, f := range d.facts(s.ID()) {
			if f, is := f.(*entry.Idle); is {
				turns = append(turns, f.Turns)
			}
		}
		if !slices.Equal(turns, []int{2, 1}) {
			t.Errorf("%s: questions count as turns: %v", wire, turns)
		}
		told := make(map[string]bool)
		for _, e := range d.events {
			told[string(e.Kind)+" "+e.Aside] = true
		}
		if !told["text why"] || !told["text "] || !told["retry aside-2"] || told["idle why"] {
			t.Errorf("%s: told of %v", wire, told)
		}
	}
}

// A process dies between a question and its answer: whoever takes the session up and asks it again sends the same bytes, and then
// has the answer.
//
// covers: R-09 part
func TestDeathInAnAside(t *testing.T) {
	model := asides(scripted.Turn{Text: "Done."}, scripted.Turn{Text: "More."})
	copied := t.TempDir()
	var d *desk
	var s *ambit.Session
	d = newDesk(t, provider.TypeMessages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(d.asked) == 2 {
			if err := os.CopyFS(copied+"/sessions/"+s.ID(), os.DirFS(d.store.Folder(s.ID()))); err != nil {
				t.Error(err)
			}
		}
		model.ServeHTTP(w, r)
	}))
	s = d.begin("Go.")
	d.run(s)
	q := ambit.Aside{ID: "why", Text: "Why?"}
	if _, err := s.Aside(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	store, err := journal.Open(copied, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d.store = store
	if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	a, err := s.Aside(t.Context(), q)
	if err != nil || a.Text != "Because." || a.Again || len(d.asked) != 3 || string(d.asked[1].body) != string(d.asked[2].body) {
		t.Fatalf("%+v, %v, %d requests", a, err, len(d.asked))
	}
	if b, err := s.Aside(t.Context(), q); err != nil || b.Text != "Because." || !b.Again || len(d.asked) != 3 {
		t.Errorf("%+v, %v", b, err)
	}
	d.run(s, "On.")
	if got := d.relations(s.ID()); !slices.Equal(got, []string{"t1 root 0", "t2 side 1", "t2 again 2", "t1 extends 1"}) {
		t.Errorf("%v", got)
	}
}

// A question has limits of its own, which end nothing else, and what cannot be asked is refused.
//
// covers: R-09 part
// covers: R-06 part
func TestAsideLimits(t *testing.T) {
	model := asides(scripted.Turn{Text: "Done."}, scripted.Turn{Text: "More."})
	held := make(chan struct{})
	defer close(held)
	var d *desk
	d = newDesk(t, provider.TypeMessages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(string(d.asked[len(d.asked)-1].body), `"max_tokens":7,`) {
			select {
			case <-held:
			case <-r.Context().Done():
			}
			return
		}
		model.ServeHTTP(w, r)
	}))
	d.setup.Model.Name, d.setup.Model.Rest = "claude-opus-5", nil
	s := d.begin("Go.")
	if _, err := s.Aside(t.Context(), ambit.Aside{Text: "Why?"}); !errors.Is(err, ambit.ErrRefused) || !strings.Contains(err.Error(), "nothing was said") {
		t.Errorf("before anything was said: %v", err)
	}
	d.run(s)
	limit := func(what string, q ambit.Aside, want string) {
		t.Helper()
		before := len(d.facts(s.ID()))
		_, err := s.Aside(t.Context(), q)
		if _, is := errors.AsType[*ambit.LimitError](err); !is || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
		if sent := len(d.facts(s.ID())) > before; sent != (what == "time") {
			t.Errorf("%s: something was sent: %v", what, sent)
		}
	}
	limit("money", ambit.Aside{Text: "Why?", Limits: ambit.Bounds{USD: 1e-9}}, "the question alone may cost $0.00")
	limit("time", ambit.Aside{ID: "late", Text: "Why?", Limits: ambit.Bounds{Time: 30 * time.Millisecond, Output: 7}}, "limit of 30ms")
	nobody := d.setup
	nobody.Model.BaseURL = "http://127.0.0.1:9"
	if err := s.Switch(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Aside(t.Context(), ambit.Aside{Text: "Why?"}); err == nil || !strings.Contains(err.Error(), "nobody answers") || len(d.waits) > 0 {
		t.Errorf("where nobody listens: %v, after waits of %v", err, d.waits)
	}
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	for _, q := range []ambit.Aside{{Text: ""}, {Text: "\xff"}, {Text: "Why?", ID: strings.Repeat("x", 257)}} {
		if _, err := s.Aside(t.Context(), q); !errors.Is(err, ambit.ErrRefused) {
			t.Errorf("%q: %v", q.Text, err)
		}
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := s.Aside(ctx, ambit.Aside{Text: "Why?"}); !errors.Is(err, enough) {
		t.Errorf("canceled: %v", err)
	}
	if a, err := s.Aside(t.Context(), ambit.Aside{Text: "Why?", Limits: ambit.Bounds{USD: 1, Output: 100}}); err != nil || a.Text != "Because." || a.USD == 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if body := string(d.asked[len(d.asked)-1].body); !strings.Contains(body, `"max_tokens":100,`) {
		t.Errorf("%s", body)
	}
	d.run(s, "On.")
	if got := d.kinds(s.ID()); got[len(got)-1] != "idle" {
		t.Errorf("%v", got)
	}
}

// Where another model answers than the one that a question was made for, it is made anew.
//
// covers: R-09 part
func TestAsideOfAnotherModel(t *testing.T) {
	model := asides(scripted.Turn{Text: "Done."})
	fails := false
	d := newDesk(t, provider.TypeMessages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fails {
			status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`)(w, r)
			return
		}
		model.ServeHTTP(w, r)
	}))
	s := d.begin("Go.")
	d.run(s)
	fails = true
	if _, err := s.Aside(t.Context(), ambit.Aside{ID: "why", Text: "Why?"}); err == nil {
		t.Fatal("it was answered")
	}
	fails, d.setup.Model.Name = false, "m-2"
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	a, err := s.Aside(t.Context(), ambit.Aside{ID: "why", Text: "Why?"})
	if err != nil || a.Text != "Because." || !strings.Contains(string(d.asked[2].body), `"model":"m-2"`) {
		t.Errorf("%+v, %v: %s", a, err, d.asked[2].body)
	}
	if got := d.relations(s.ID()); !slices.Equal(got, []string{"t1 root 0", "t2 side 1", "t3 side 1"}) {
		t.Errorf("%v", got)
	}
}

// A question is asked and answered when a request of the conversation has been made and not been recorded yet: what is decided and
// sent of either stands under its own number.
//
// covers: R-09 part
func TestAsideBetweenMakingAndAsking(t *testing.T) {
	d := newReader(t, provider.TypeMessages, 24_000, reader(24_000, false))
	d.setup.Limits.Turns = 25
	var s *ambit.Session
	asked := 0
	d.engine = ambit.NewEngine(d.store, ambit.EngineOptions{Now: func() time.Time {
		d.mu.Lock()
		d.at = d.at.Add(time.Second)
		at := d.at
		d.mu.Unlock()
		if askedBy(".try", ".Aside", ".record", ".attempt") {
			_, err := s.Aside(t.Context(), ambit.Aside{Text: "What is it?"})
			if asked++; (err != nil) != (asked == 1) { // before the first request there is nothing to ask about
				t.Error(err)
			}
		}
		return at
	}})
	s = d.begin("Read all files.")
	var limit *ambit.LimitError
	if _, err := s.Run(t.Context()); !errors.As(err, &limit) || asked < 20 {
		t.Fatalf("%v, after %d questions", err, asked)
	}
	sent, thread := map[int]int{}, map[int]string{}
	for _, f := range d.facts(s.ID()) {
		switch f := f.(type) {
		case *entry.Relation:
			thread[f.N] = f.Thread
		case *entry.Sent:
			sent[f.N]++
		case *entry.Decision:
			if thread[f.N] != f.Thread {
				t.Errorf("a decision about %s stands under request %d, of %s", f.Thread, f.N, thread[f.N])
			}
		}
	}
	for i, body := range d.sent(s.ID()) {
		if sent[i+1] != 1 || body != string(d.asked[i].body) {
			t.Errorf("request %d of %s has %d sent entries, and went as it is recorded: %v", i+1, thread[i+1], sent[i+1], body == string(d.asked[i].body))
		}
	}
}

// askedBy reports whether a method of the session's asks for the time, and none of others in between.
func askedBy(method string, others ...string) (is bool) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for f, more := frames.Next(); more; f, more = frames.Next() {
		is = is || strings.HasSuffix(f.Function, "(*Session)"+method)
		for _, other := range others {
			if strings.HasSuffix(f.Function, "(*Session)"+other) {
				return false
			}
		}
	}
	return is
}

// A question that waits for another one is given up when its context ends, or its time is over.
//
// covers: R-06 part
func TestAsideThatWaits(t *testing.T) {
	model, held, asked := talker(3), make(chan struct{}), make(chan struct{})
	d := newDesk(t, provider.TypeMessages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(bodyOf(r), "Slow?") {
			close(asked)
			<-held
		}
		model.ServeHTTP(w, r)
	}))
	s := d.begin("Go.")
	d.run(s)
	first := make(chan error)
	go func() {
		_, err := s.Aside(t.Context(), ambit.Aside{Text: "Slow?"})
		first <- err
	}()
	<-asked
	ctx, cancel := context.WithCancelCause(t.Context())
	no := errors.New("no")
	cancel(no)
	if _, err := s.Aside(ctx, ambit.Aside{Text: "Quick?"}); !errors.Is(err, no) {
		t.Errorf("cancelled: %v", err)
	}
	var limit *ambit.LimitError
	if _, err := s.Aside(t.Context(), ambit.Aside{Text: "Quick?", Limits: ambit.Bounds{Time: time.Millisecond}}); !errors.As(err, &limit) {
		t.Errorf("late: %v", err)
	}
	close(held)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// A question that was sent over a WebSocket and has no answer is asked anew over HTTP, in the form that goes there.
func TestAsideOverAnotherTransport(t *testing.T) {
	d, _ := overSockets(t, []scripted.Turn{{Text: "Done."}, {Text: "So."}, {Text: "So."}}, ambit.TransportWebSocket)
	s := d.begin("Go.")
	d.run(s)
	ctx, cancel := context.WithCancel(t.Context())
	d.setup.Watch = func(e ambit.Event) {
		if e.Kind == ambit.EventRequest {
			cancel()
		}
	}
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Aside(ctx, ambit.Aside{ID: "q", Text: "Why?"}); err == nil {
		t.Fatal("it was not cancelled")
	}
	d.setup.Watch, d.setup.Model.Transport = nil, ambit.TransportSSE
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Aside(t.Context(), ambit.Aside{ID: "q", Text: "Why?"}); err != nil {
		t.Fatal(err)
	}
	if body := string(d.asked[len(d.asked)-1].body); !strings.Contains(body, `"stream":true`) || strings.Contains(body, "response.create") {
		t.Errorf("over HTTP goes %s", body)
	}
}

// bodyOf reads a request's body, which can be read again.
func bodyOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return string(body)
}
