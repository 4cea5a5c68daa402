package ambit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
)

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

// A limit is reached by the answer that asks for sub-agents: none begins.
//
// covers: R-06 part
func TestNothingLeftForATask(t *testing.T) {
	for what, limits := range map[string]ambit.Bounds{"output": {Output: 1}, "money": {USD: 1e-7}} {
		task := scripted.Call{Name: "task", Args: map[string]any{"prompt": "Work."}}
		d := newDesk(t, provider.TypeMessages, scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{{Calls: []scripted.Call{task, task}}, {Text: "Done."}}}}}))
		d.setup.Model.Name, d.setup.Model.Rest, d.setup.Limits = "claude-opus-5-5", nil, limits
		child := d.setup
		d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.engine.Task(func() (ambit.Setup, error) { return child, nil }))
		s := d.begin("Go.")
		var limit *ambit.LimitError
		if _, err := s.Run(t.Context()); !errors.As(err, &limit) || len(d.asked) != 1 {
			t.Errorf("%s: %v, after %d requests", what, err, len(d.asked))
		}
	}
}

// bodyOf reads a request's body, which can be read again.
func bodyOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return string(body)
}
