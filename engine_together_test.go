package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/view"
)

// looks is a tool that only looks, in a way that a test says for each path.
func (d *desk) looks(does func(ctx context.Context, path string) (string, error)) ambit.Tool {
	return ambit.Tool{
		Tool: view.Tool{Name: "look", Schema: []byte(`{"type":"object"}`)}, Reads: true,
		Run: func(ctx context.Context, args json.RawMessage) (string, error) {
			var a struct{ Path string }
			if err := json.Unmarshal(args, &a); err != nil {
				d.t.Error(err)
			}
			return does(ctx, a.Path)
		},
	}
}

// lookers is a model that calls for what a text says, such as "look a, read b", and then is done.
func lookers(calls string) *scripted.Provider {
	var turn scripted.Turn
	for call := range strings.SplitSeq(calls, ", ") {
		tool, path, _ := strings.Cut(call, " ")
		turn.Calls = append(turn.Calls, scriptedCall(tool, path))
	}
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{turn, {Text: "Done."}}}}}, scripted.Options{Strict: true})
}

// calls are a session's calls and results, as they were recorded.
func (d *desk) calls(id string) (list []string) {
	d.t.Helper()
	paths := make(map[string]string)
	a := struct {
		Content []struct {
			ID    string
			Input struct{ Path string }
		}
	}{}
	for _, x := range d.asked {
		var body struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(x.body, &body); err != nil {
			d.t.Fatal(err)
		}
		for _, m := range body.Messages {
			if a.Content = nil; json.Unmarshal(m.Content, &a.Content) == nil {
				for _, c := range a.Content {
					if c.Input.Path != "" {
						paths[c.ID] = c.Input.Path
					}
				}
			}
		}
	}
	for _, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Call:
			list = append(list, f.Name+" "+paths[f.ID])
		case *entry.Result:
			text := ""
			if f.Body != nil {
				data, err := d.store.Body(d.t.Context(), id, *f.Body)
				if err != nil {
					d.t.Fatal(err)
				}
				text, _, _ = strings.Cut(string(data), ":")
			}
			list = append(list, fmt.Sprintf("%s %s %s", paths[f.ID], f.Ended, text))
		}
	}
	return list
}

// Calls that only look run at the same time where they stand side by side, and what changes something waits for them and they for it.
// Their results are recorded in the order of the calls, whichever ends first, one that panics and one that ends its goroutine
// included.
//
// covers: R-02 part
func TestReadingCallsRunTogether(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, lookers("look a, look b, look panic, look exit, read c, look d, look e"))
	var mu sync.Mutex
	var order []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	second := map[string]chan struct{}{"a": make(chan struct{}), "d": make(chan struct{})}
	first := map[string]string{"b": "a", "e": "d"}
	read := d.setup.Agent.Tools[0].Run
	d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
		note("c")
		return read(ctx, args)
	}
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.looks(func(ctx context.Context, path string) (string, error) {
		switch path {
		case "panic":
			panic("out of order")
		case "exit":
			runtime.Goexit()
		case "a", "d":
			<-second[path] // which would never come if they ran one after another
		default:
			defer close(second[first[path]])
		}
		note(path)
		return "seen " + path, nil
	}))
	s := d.begin("Go.")
	d.run(s)
	want := []string{
		"look a", "look b", "look panic", "look exit", "a run seen a", "b run seen b", "panic run the tool look failed", "exit run the tool look gave up",
		"read c", "c run text of {\"path\"", "look d", "look e", "d run seen d", "e run seen e",
	}
	if got := d.calls(s.ID()); !slices.Equal(got, want) {
		t.Errorf("recorded %q", got)
	}
	if at := slices.Index(order, "c"); at != 2 || len(order) != 5 {
		t.Errorf("they ran as %v", order)
	}
	var events []string
	for _, e := range d.events {
		if e.Kind == ambit.EventCall || e.Kind == ambit.EventResult {
			events = append(events, string(e.Kind)+" "+e.Tool)
		}
	}
	if len(events) != 14 || !slices.Equal(events[3:6], []string{"call look", "result look", "result look"}) {
		t.Errorf("told of %v", events)
	}
	d.check(s.ID(), provider.TypeMessages)
}

// No more than eight run at a time.
func TestReadingCallsAreBounded(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, lookers(strings.TrimSuffix(strings.Repeat("look a, ", 20), ", ")))
	var mu sync.Mutex
	came := sync.NewCond(&mu)
	now, most, arrived := 0, 0, 0
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.looks(func(context.Context, string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		now, arrived = now+1, arrived+1
		most = max(most, now)
		came.Broadcast()
		for all := min(20, (arrived+7)/8*8); arrived < all; {
			came.Wait()
		}
		now--
		return "", nil
	}))
	s := d.begin("Go.")
	d.run(s)
	if most != 8 || len(d.calls(s.ID())) != 40 {
		t.Errorf("%d at a time", most)
	}
}

// Whoever cancels interrupts all that run, promptly; what ended before keeps its result, and what stands behind never begins.
//
// covers: R-06 part
func TestReadingCallsAreCanceled(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, lookers("look slow, look quick, look slow, read behind"))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	quick := make(chan struct{})
	var slow sync.WaitGroup
	slow.Add(2)
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.looks(func(ctx context.Context, path string) (string, error) {
		if path == "quick" {
			defer close(quick)
			return "", errors.New("no such file")
		}
		slow.Done()
		<-quick
		slow.Wait()
		cancel(enough)
		<-ctx.Done()
		return "half", ctx.Err()
	}))
	s := d.begin("Go.")
	if _, err := s.Run(ctx); !errors.Is(err, enough) {
		t.Fatalf("%v", err)
	}
	d.run(s)
	got := d.calls(s.ID())
	if want := []string{"slow interrupted halfThe call was interrupted", "quick run no such file", "slow interrupted halfThe call was interrupted", "behind not-run The call was not run"}; !slices.Equal(got[3:], want) {
		t.Errorf("recorded %q", got)
	}
	d.check(s.ID(), provider.TypeMessages)
}

// A process dies while calls run side by side: those that have a result keep it, the others were interrupted and do not run again,
// nor do those behind them.
//
// covers: R-02 part
func TestDeathInReadingCalls(t *testing.T) {
	for when, want := range map[string][]string{
		"all run":       {"one interrupted The call was interrupted", "two interrupted The call was interrupted", "three not-run The call was not run"},
		"one has ended": {"one run seen one", "two interrupted The call was interrupted", "three not-run The call was not run"},
	} {
		d := newDesk(t, provider.TypeMessages, lookers("look one, look two, read three"))
		copied := t.TempDir()
		var s *ambit.Session
		dies := func() {
			if err := os.CopyFS(copied+"/sessions/"+s.ID(), os.DirFS(d.store.Folder(s.ID()))); err != nil {
				t.Error(err)
			}
		}
		recorded, died := make(chan struct{}), false
		d.setup.Watch = func(e ambit.Event) {
			if e.Kind == ambit.EventResult && !died {
				died = true
				close(recorded)
			}
		}
		var ran atomic.Int32
		dead := make(chan struct{})
		d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.looks(func(_ context.Context, path string) (string, error) {
			if ran.Add(1); path == "two" {
				if when == "one has ended" {
					<-recorded
				}
				dies()
				close(dead)
			} else if when == "all run" {
				<-dead
			}
			return "seen " + path, nil
		}))
		s = d.begin("Go.")
		d.run(s)
		store, err := journal.Open(copied, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d.store, d.asked = store, d.asked[:1]
		ran.Store(0)
		if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
			t.Fatal(err)
		}
		d.run(s)
		if got := d.calls(s.ID()); ran.Load() != 0 || !slices.Equal(got[2:], want) {
			t.Errorf("%s: %d ran again: %q", when, ran.Load(), got)
		}
		d.check(s.ID(), provider.TypeMessages)
		store.Close()
	}
}

// When what one came to cannot be recorded, the others are stopped, and nothing hangs.
func TestReadingCallsEndWithTheJournal(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, lookers("look closes, look waits"))
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.looks(func(ctx context.Context, path string) (string, error) {
		if path == "waits" {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "seen", d.store.Close()
	}))
	if _, err := d.begin("Go.").Run(t.Context()); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("%v", err)
	}
}
