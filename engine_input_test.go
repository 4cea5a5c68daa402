package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/view"
)

// An input is durable before it is acknowledged; the same again is the same receipt, also in another process, and something
// else of the same id is refused.
//
// covers: R-01 part
func TestInputs(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(20))
	s := d.begin()
	ctx := t.Context()
	first, err := s.Admit(ctx, ambit.Input{ID: "a", Text: "One."})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.facts(s.ID()); got[len(got)-1].Kind() != entry.KindInput {
		t.Errorf("the last entry is a %s", got[len(got)-1].Kind())
	}
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = d.anew().Resume(ctx, s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Admit(ctx, ambit.Input{ID: "a", Text: "One."}); err != nil || again != first {
		t.Errorf("%+v, %v; it was %+v", again, err, first)
	}
	for _, in := range []ambit.Input{
		{ID: "a", Text: "Two."}, {ID: "a", Text: "One.", Delivery: entry.Steer}, {ID: "a", Text: "One.", By: ambit.ByParent},
	} {
		if _, err := s.Admit(ctx, in); !errors.Is(err, ambit.ErrConflict) {
			t.Errorf("%+v: %v", in, err)
		}
	}
	for _, in := range []ambit.Input{{Text: " "}, {Text: "\xff"}, {Text: "x", Delivery: "now"}, {Text: strings.Repeat("x", ambit.MaxInput+1)}, {ID: "\xff", Text: "x"}, {ID: strings.Repeat("x", 257), Text: "x"}} {
		if _, err := s.Admit(ctx, in); !errors.Is(err, ambit.ErrRefused) {
			t.Errorf("%.20q: %v", in.Text, err)
		}
	}
	d.run(s)
	if len(d.asked) != 1 {
		t.Errorf("%d requests were sent", len(d.asked))
	}
	for _, in := range []ambit.Input{{ID: "input-3", Text: "Same."}, {Text: "Same."}} { // the second would be called as the first is
		if _, err := s.Admit(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	d.run(s)
	if len(d.asked) != 3 {
		t.Errorf("%d requests were sent, of three inputs", len(d.asked))
	}
}

// What steers joins the activity that runs, all of it with the next request; what is queued waits for one of its own, in order.
//
//
func TestSteerAndQueue(t *testing.T) {
	var s *ambit.Session
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a.go")}}, {Text: "A."}, {Text: "B."}, {Text: "C."},
	}}}}, scripted.Options{Strict: true}))
	read := d.setup.Agent.Tools[0].Run
	d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
		for _, in := range []ambit.Input{{Text: "Queued 1."}, {Text: "Left!", Delivery: entry.Steer}, {Text: "Queued 2."}, {Text: "No, right!", Delivery: entry.Steer}} {
			if _, err := s.Admit(ctx, in); err != nil {
				t.Error(err)
			}
		}
		return read(ctx, args)
	}
	s = d.begin("Begin.")
	out, err := s.Run(t.Context())
	if err != nil || out.Activities != 3 || out.Turns != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	_, second := d.shown(1)
	if got := second[len(second)-2:]; !slices.Equal(got, []string{"user: Left!", "user: No, right!"}) && !strings.HasSuffix(strings.Join(second, "|"), "Left!|user: No, right!") && !strings.HasSuffix(second[len(second)-1], "Left!No, right!") {
		t.Errorf("the second request shows %q", second)
	}
	for i, want := range map[int]string{2: "Queued 1.", 3: "Queued 2."} {
		if _, messages := d.shown(i); !strings.HasSuffix(messages[len(messages)-1], want) || strings.Contains(strings.Join(messages, ""), "Queued 2.") != (i == 3) {
			t.Errorf("request %d shows %q", i+1, messages)
		}
	}
}

// A process dies while a tool runs: whoever takes the session up says that the call was interrupted and runs neither it nor those
// that had not begun, since nobody may want them any more, and goes on.
//
//
func TestDeathInACall(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a.go"), scriptedCall("read", "b.go")}}, {Text: "Done."},
	}}}}, scripted.Options{Strict: true}))
	copied := t.TempDir()
	read := d.setup.Agent.Tools[0].Run
	var id string
	d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
		if id != "" { // what a process leaves that dies now
			if err := os.CopyFS(copied+"/sessions/"+id, os.DirFS(d.store.Folder(id))); err != nil {
				t.Error(err)
			}
			id = ""
		}
		return read(ctx, args)
	}
	s := d.begin("Go.")
	id = s.ID()
	d.run(s)
	store, err := journal.Open(copied, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d.store, d.ran, d.asked, id = store, nil, d.asked[:1], ""
	if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s)
	if len(d.ran) > 0 {
		t.Errorf("run again, or for nobody: %q", d.ran)
	}
	settled := map[string]bool{}
	for _, f := range d.facts(s.ID()) {
		if f, is := f.(*entry.Result); is {
			settled[string(f.Ended)] = f.Failed
		}
	}
	if !settled["interrupted"] || !settled["not-run"] || len(settled) != 2 {
		t.Errorf("settled: %v", settled)
	}
	d.check(s.ID(), provider.TypeMessages)
}

// answers are a model that gives what it is told to, once each.
type answers []func(w http.ResponseWriter, r *http.Request)

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(*a) == 0 {
		talker(20).ServeHTTP(w, r)
		return
	}
	next := (*a)[0]
	*a = (*a)[1:]
	next(w, r)
}

func status(code int, body string, headers ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// stream answers with these events, and with nothing behind them.
func stream(events ...string) func(http.ResponseWriter, *http.Request) {
	return status(200, strings.Join(events, "\n\n")+"\n\n", "content-type", "text/event-stream")
}

const begun = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-1\",\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}"

// What passes by itself is tried again, with the provider's own delay, until it succeeds; what is no answer some times; the
// rest at once. Each attempt is recorded, with the same bytes, and the session goes on at the next turn.
//
//
//
func TestFailedAttempts(t *testing.T) {
	overloaded := status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	for name, x := range map[string]struct {
		answers  answers
		requests int
		waits    []time.Duration
		kind     provider.FailureKind // of the error; empty where it succeeds
		fault    provider.ReplyFault
	}{
		"overloaded seven times": {slices.Repeat(answers{overloaded}, 7), 8, []time.Duration{2e9, 4e9, 8e9, 16e9, 30e9, 30e9, 30e9}, "", ""},
		"the provider's delay":   {answers{status(429, `{"error":{"type":"rate_limit_error"}}`, "retry-after", "9")}, 2, []time.Duration{9e9}, "", ""},
		"a delay that is too long": {
			answers{status(429, `{"error":{"type":"rate_limit_error"}}`, "retry-after", "61")}, 1, nil, provider.RateLimited, "",
		},
		"an error in the stream": {answers{stream(begun, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}")}, 2, []time.Duration{2e9}, "", ""},
		"an error behind the end": {answers{stream(
			begun, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Yes.\"}}",
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}", "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
		)}, 1, nil, "", ""},
		"no credential":            {answers{status(401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)}, 1, nil, provider.Denied, ""},
		"no quota":                 {answers{status(429, `{"error":{"type":"insufficient_quota","message":"pay"}}`)}, 1, nil, provider.Unpaid, ""},
		"too long":                 {answers{status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)}, 1, nil, provider.TooLong, ""},
		"a redirect":               {answers{status(307, "", "location", "http://127.0.0.1:1/elsewhere")}, 1, nil, provider.Garbled, ""},
		"broken off":               {slices.Repeat(answers{stream(begun)}, 4), 4, []time.Duration{2e9, 4e9, 8e9}, "", provider.ReplyBroke},
		"no answer":                {slices.Repeat(answers{status(200, "hello")}, 4), 4, []time.Duration{2e9, 4e9, 8e9}, "", "any"},
		"an event that is no JSON": {slices.Repeat(answers{stream(begun, "event: content_block_start\ndata: {\"type\":", "event: message_stop\ndata: {\"type\":\"message_stop\"}")}, 4), 4, []time.Duration{2e9, 4e9, 8e9}, "", provider.ReplyStrange},
		"broken off once":          {answers{stream(begun)}, 2, []time.Duration{2e9}, "", ""},
		"half a character":         {slices.Repeat(answers{stream(begun, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\xe2\x82")}, 4), 4, []time.Duration{2e9, 4e9, 8e9}, "", "any"},
	} {
		t.Run(name, func(t *testing.T) {
			list := slices.Clone(x.answers)
			d := newDesk(t, provider.TypeMessages, &list)
			s := d.begin("Go.")
			out, err := s.Run(t.Context())
			failure, failed := errors.AsType[*provider.Failure](err)
			fault, faulty := errors.AsType[*provider.ReplyError](err)
			switch {
			case x.kind != "":
				if !failed || failure.Kind != x.kind {
					t.Errorf("%v", err)
				}
			case x.fault != "":
				if !faulty || x.fault != "any" && fault.Fault != x.fault {
					t.Errorf("%v", err)
				}
			case err != nil || out.Text != "Yes.":
				t.Errorf("%+v, %v", out, err)
			}
			if len(d.asked) != x.requests || !slices.Equal(d.waits, x.waits) {
				t.Errorf("%d requests, waits of %v", len(d.asked), d.waits)
			}
			list = nil
			if _, err := s.Admit(t.Context(), ambit.Input{Text: "Again.", Delivery: entry.Steer}); err != nil { // behind what nobody has answered
				t.Fatal(err)
			}
			d.run(s)
			d.check(s.ID(), provider.TypeMessages)
			ended := []string{}
			for _, f := range d.facts(s.ID()) {
				if f, is := f.(*entry.Idle); is {
					ended = append(ended, string(f.Ended))
				}
			}
			if want := x.kind != "" || x.fault != ""; slices.Contains(ended, "failed") != want || !slices.Contains(ended, "done") {
				t.Errorf("activities ended %v", ended)
			}
		})
	}
}

// Nobody listens: the activity ends at once, the error says where, and the input is asked about again when somebody does.
//
// covers: R-04 part
func TestNobodyListens(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(20))
	there := d.setup.Model.BaseURL
	d.setup.Model.BaseURL = "http://127.0.0.1:9"
	s := d.begin("Go.")
	_, err := s.Run(t.Context())
	if failure, is := errors.AsType[*provider.Failure](err); !is || failure.Kind != provider.Unreachable || !strings.Contains(err.Error(), "127.0.0.1:9") || len(d.waits) > 0 {
		t.Fatalf("%v, waits %v", err, d.waits)
	}
	d.setup.Model.BaseURL = there
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s)
	if len(d.asked) != 1 {
		t.Errorf("%d requests", len(d.asked))
	}
}

// An activity ends at its limits, and a provider that says nothing, or too much, has broken off. What is left waits.
//
// covers: R-06 part
func TestLimits(t *testing.T) {
	turns := make([]scripted.Turn, 9)
	for i := range turns {
		turns[i] = scripted.Turn{Text: "More.", Calls: []scripted.Call{scriptedCall("read", fmt.Sprint(i))}}
	}
	for name, limit := range map[string]ambit.Bounds{"3 turns": {Turns: 3}, "60 tokens of output": {Output: 60}, "10s": {Time: 10 * time.Second}} {
		d := newDesk(t, provider.TypeMessages, scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: append(turns, scripted.Turn{Text: "Done."})}}}))
		d.setup.Limits = limit
		s := d.begin("Go.")
		out, err := s.Run(t.Context())
		if e, is := errors.AsType[*ambit.LimitError](err); !is || !strings.Contains(e.Error(), name) || out.Turns == 0 || out.Turns > 5 {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		d.setup.Limits = ambit.Bounds{Turns: 20}
		if err := s.Switch(t.Context(), d.setup); err != nil {
			t.Fatal(err)
		}
		if out, err := s.Run(t.Context()); err != nil || out.Text != "Done." || len(d.ran) != 9 {
			t.Errorf("%s, afterwards: %+v, %v, %d calls", name, out, err, len(d.ran))
		}
	}
	slow := newDesk(t, provider.TypeMessages, scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}))
	slow.setup.Limits.Time, slow.engine = 20*time.Millisecond, ambit.NewEngine(slow.store, ambit.EngineOptions{}) // by the clock
	slow.setup.Agent.Tools[0].Run = func(ctx context.Context, _ json.RawMessage) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	_, err := slow.begin("Go.").Run(t.Context())
	if e, is := errors.AsType[*ambit.LimitError](err); !is || !strings.Contains(e.Error(), "20ms") {
		t.Errorf("a call that takes too long: %v", err)
	}
	hang := make(chan struct{})
	late := newDesk(t, provider.TypeMessages, &answers{func(http.ResponseWriter, *http.Request) { <-hang }})
	late.setup.Limits.Time, late.engine = 20*time.Millisecond, ambit.NewEngine(late.store, ambit.EngineOptions{}) // by the clock
	if _, err := late.begin("Go.").Run(t.Context()); !strings.Contains(fmt.Sprint(err), "limit of 20ms") {
		t.Errorf("an answer that takes too long: %v", err)
	}
	d := newDesk(t, provider.TypeMessages, &answers{
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "text/event-stream")
			io.WriteString(w, begun+"\n\n")
			w.(http.Flusher).Flush()
			<-hang
		},
		status(200, strings.Repeat("x", 5000)),
	})
	defer close(hang)
	d.setup.Limits, d.setup.Retry = ambit.Bounds{Silence: 20 * time.Millisecond, Answer: 4000}, ambit.Retry{Off: true}
	s := d.begin("Go.")
	for _, want := range []struct {
		kind provider.FailureKind
		text string
	}{{provider.Unreachable, "said nothing for 20ms"}, {provider.Garbled, "more than 4000 bytes"}} {
		_, err := s.Run(t.Context())
		if failure, is := errors.AsType[*provider.Failure](err); !is || failure.Kind != want.kind || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	d.run(s)
}

// Whoever cancels ends the activity promptly: the call that runs is interrupted, those behind it never begin, and the session
// goes on when it is asked to.
//
//
func TestCanceled(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("wait", "a"), scriptedCall("read", "b")}}, {Text: "Done."},
	}}}}, scripted.Options{Strict: true}))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, ambit.Tool{
		Tool: view.Tool{Name: "wait", Schema: []byte(`{"type":"object"}`)},
		Run: func(ctx context.Context, _ json.RawMessage) (string, error) {
			cancel(enough)
			<-ctx.Done()
			return "", ctx.Err()
		},
	})
	s := d.begin("Go.")
	if _, err := s.Run(ctx); !errors.Is(err, enough) {
		t.Fatalf("%v", err)
	}
	var settled []string
	for _, f := range d.facts(s.ID()) {
		switch f := f.(type) {
		case *entry.Result:
			settled = append(settled, string(f.Ended))
		case *entry.Idle:
			settled = append(settled, string(f.Ended))
		}
	}
	if want := []string{"interrupted", "not-run", "canceled"}; !slices.Equal(settled, want) || len(d.ran) > 0 {
		t.Errorf("%v, %v", settled, d.ran)
	}
	d.run(s)
	d.check(s.ID(), provider.TypeMessages)
}

// A sub-agent works in a session of its own, which names its parent; the caller's conversation grows by its report, which comes at
// every end, and what it took counts for the caller's limits.
//
//
func TestTasks(t *testing.T) {
	script := func(after ...scripted.Turn) *scripted.Provider {
		long := make([]scripted.Turn, 9)
		for i := range long {
			long[i] = scripted.Turn{Text: fmt.Sprintf("Step %d.", i+1), Calls: []scripted.Call{scriptedCall("read", fmt.Sprint(i))}}
		}
		return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{
			{Match: "Short work", Turns: []scripted.Turn{{Text: "Looking.", Calls: []scripted.Call{scriptedCall("read", "a")}}, {Text: "It is in a."}}},
			{Match: "Long work", Turns: long},
			{Match: "Boss", Turns: after},
		}}, scripted.Options{Strict: true})
	}
	task := func(prompt string) scripted.Call {
		return scripted.Call{Name: "task", Args: map[string]any{"prompt": prompt}}
	}
	d := newDesk(t, provider.TypeMessages, script(scripted.Turn{Calls: []scripted.Call{task("Short work."), task("Long work."), task("")}}, scripted.Turn{Text: "Thanks."}))
	child := d.setup
	child.Agent.Name, child.Watch, child.Limits.Turns = "helper", nil, 3
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.engine.Task(func() (ambit.Setup, error) { return child, nil }))
	child.Agent.Tools = d.setup.Agent.Tools
	s := d.begin("Boss says go.")
	out, err := s.Run(t.Context())
	if err != nil || out.Text != "Thanks." || out.Turns != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	var reports []string
	for _, f := range d.facts(s.ID()) {
		if f, is := f.(*entry.Result); is {
			text, err := d.store.Body(t.Context(), s.ID(), *f.Body)
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, fmt.Sprint(f.Failed, " ", string(text)))
		}
	}
	for i, want := range []string{"false It is in a.\n[session ", "true Its last word was: Step 3.\nthe sub-agent was cut short (limit) after 3 turns, session ", "true task needs a prompt"} {
		if len(reports) != 3 || !strings.HasPrefix(reports[i], want) {
			t.Errorf("report %d: %q, want %q", i+1, reports, want)
		}
	}
	sessions, err := d.store.Sessions(t.Context())
	if err != nil || len(sessions) != 3 {
		t.Fatalf("%v, %v", sessions, err)
	}
	output := 0
	for _, id := range sessions {
		for _, f := range d.facts(id) {
			switch f := f.(type) {
			case *entry.Works:
				if (f.Parent == s.ID()) != (id != s.ID()) {
					t.Errorf("session %s works for %q", id, f.Parent)
				}
			case *entry.Response:
				output += int(f.Usage.Output)
			}
		}
	}
	if out.Output != output {
		t.Errorf("%d tokens of output are counted, %d were said", out.Output, output)
	}
	front := func(i int) []provider.Element { // what stands in front of the conversation
		all, messages := d.asked[i].elements(t, provider.TypeMessages)
		return all[:len(all)-len(messages)]
	}
	if parent, first := front(0), front(1); len(parent) < 4 || len(first) != len(parent) || !prefixed(parent, first) {
		t.Errorf("in front of the caller's requests stand %d elements, and of the sub-agent's %d others", len(parent), len(first))
	}
	for _, x := range d.asked {
		if body := string(x.body); strings.Contains(body, "Boss says") && strings.Contains(body, "Looking.") {
			t.Errorf("the caller holds what the sub-agent said: %s", body)
		}
	}
}

// A session without a title is called by what was said first, and what was said stands in bodies alone, where a purge reaches it.
func TestTitleOfAnOwnSession(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(1))
	s, err := d.engine.Begin(t.Context(), "", d.setup)
	if err != nil {
		t.Fatal(err)
	}
	d.run(s, "Look for the word\nQUETZAL, "+strings.Repeat("please ", 20))
	rec, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if title := rec.Title(t.Context()); !strings.HasPrefix(title, "Look for the word QUETZAL, please") || len(title) > 90 {
		t.Errorf("%q", title)
	}
	err = fs.WalkDir(os.DirFS(d.store.Folder(s.ID())), "entries", func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(d.store.Folder(s.ID()), path))
		if strings.Contains(string(raw), "QUETZAL") {
			t.Errorf("%s holds what was said", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
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

// What cannot be worked with is refused before anything is recorded, and no message repeats a credential.
func TestSetups(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(1))
	for name, change := range map[string]func(*ambit.Setup){
		"no wire":               func(s *ambit.Setup) { s.Model.Type = "smtp" },
		"no model":              func(s *ambit.Setup) { s.Model.Name = "" },
		"no host":               func(s *ambit.Setup) { s.Model.BaseURL = "http://" },
		"another scheme":        func(s *ambit.Setup) { s.Model.BaseURL = "ftp://127.0.0.1" },
		"a user in the URL":     func(s *ambit.Setup) { s.Model.BaseURL = "http://me:hunter2@127.0.0.1" },
		"a key in the URL":      func(s *ambit.Setup) { s.Model.BaseURL = "http://127.0.0.1/?key=hunter2" },
		"no URL":                func(s *ambit.Setup) { s.Model.BaseURL = "http://hunter2\x00" },
		"two tools of one name": func(s *ambit.Setup) { s.Agent.Tools = append(s.Agent.Tools, s.Agent.Tools[0]) },
	} {
		setup := d.setup
		setup.Agent.Tools = slices.Clone(setup.Agent.Tools)
		change(&setup)
		if _, err := d.engine.Begin(t.Context(), "", setup); !errors.Is(err, ambit.ErrRefused) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := d.store.Sessions(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// The credential is sent, and stands nowhere in the session's files.
func TestCredentialIsNotKept(t *testing.T) {
	var sent string
	d := newDesk(t, provider.TypeMessages, &answers{func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("x-api-key")
		talker(1).ServeHTTP(w, r)
	}})
	d.setup.Model.Credential = "hunter2-hunter2"
	s := d.begin("Go.")
	d.run(s)
	if sent != "hunter2-hunter2" {
		t.Errorf("the credential was sent as %q", sent)
	}
	err := fs.WalkDir(os.DirFS(d.store.Folder(s.ID())), ".", func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		data, err := os.ReadFile(d.store.Folder(s.ID()) + "/" + path)
		if strings.Contains(string(data), "hunter2") {
			t.Errorf("%s has the credential", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A provider repeats the credential that it refuses: the error, and the entry that says how the work ended, do not.
func TestCredentialIsNotRepeated(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, &answers{status(401, `{"type":"error","error":{"type":"invalid_request_error","message":"bad key hunter2-hunter2"}}`)})
	d.setup.Model.Credential = "hunter2-hunter2"
	s := d.begin("Go.")
	_, err := s.Run(t.Context())
	failure, is := errors.AsType[*provider.Failure](err)
	if !is || failure.Kind != provider.Denied || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "[the credential]") {
		t.Error(err)
	}
	for _, f := range d.facts(s.ID()) {
		if raw, err := json.Marshal(f); err != nil || strings.Contains(string(raw), "hunter2") {
			t.Errorf("%s, %v", raw, err)
		}
	}
}

// Some servers number the calls of each answer anew. Each call has the result that it was given all the same, also when the session
// is taken up again.
//
// covers: R-02 part
func TestIDsThatRepeat(t *testing.T) {
	said := func(delta, end string) func(http.ResponseWriter, *http.Request) {
		return stream(`data: {"choices":[{"index":0,"delta":`+delta+`}]}`, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"`+end+`"}]}`, "data: [DONE]")
	}
	call := func(id, path string) func(http.ResponseWriter, *http.Request) {
		return said(`{"tool_calls":[{"index":0,"id":"`+id+`","type":"function","function":{"name":"read","arguments":"{\"path\":\"`+path+`\"}"}}]}`, "tool_calls")
	}
	d := newDesk(t, provider.TypeChat, &answers{call("call_0", "a"), call("call_0_2", "b"), said(`{"content":"Yes."}`, "stop"), call("call_0", "c"), said(`{"content":"Done."}`, "stop")})
	s := d.begin("Go.")
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
	if err != nil {
		t.Fatal(err)
	}
	d.run(s, "More.")
	body := string(d.asked[len(d.asked)-1].body)
	for i, id := range []string{"call_0", "call_0_2", "call_0_3"} {
		want := `"tool_call_id":"` + id + `","content":"text of {\"path\":\"` + string(rune('a'+i)) + `\"}"`
		if !strings.Contains(body, want) || !strings.Contains(body, `"id":"`+id+`"`) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	d.check(s.ID(), provider.TypeChat)
}

// What is wrong with the request itself, with the protocol or with the place is said once, and not tried again.
//
// covers: R-04 part
func TestErrorsThatStay(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(20))
	for name, change := range map[string]func(*ambit.Setup){
		"TLS where there is none":      func(s *ambit.Setup) { s.Model.BaseURL = strings.Replace(s.Model.BaseURL, "http:", "https:", 1) },
		"a credential of two lines":    func(s *ambit.Setup) { s.Model.Credential = "sk\r\nx: y" },
		"a URL that has too much path": func(s *ambit.Setup) { s.Model.BaseURL += "/v1" },
	} {
		setup := d.setup
		change(&setup)
		s, err := d.engine.Begin(t.Context(), name, setup)
		if err != nil {
			t.Fatal(err)
		}
		d.say(s, "Go.")
		_, err = s.Run(t.Context())
		failure, failed := errors.AsType[*provider.Failure](err)
		if !(failed && failure.Kind == provider.Unknown) && !errors.Is(err, ambit.ErrRefused) || len(d.waits) > 0 || len(d.asked) > 0 {
			t.Errorf("%s: %v, waits %v, %d requests came", name, err, d.waits, len(d.asked))
		}
	}
}

// A sub-agent may take no more than what is left of its caller's budget, and begins no more where nothing is.
//
// covers: R-06 part
func TestBudgetOfTasks(t *testing.T) {
	long := make([]scripted.Turn, 30)
	for i := range long {
		long[i] = scripted.Turn{Text: strings.Repeat("Step by step. ", 10), Calls: []scripted.Call{scriptedCall("read", fmt.Sprint(i))}}
	}
	task := scripted.Call{Name: "task", Args: map[string]any{"prompt": "Long work."}}
	d := newDesk(t, provider.TypeMessages, scripted.New(scripted.Script{Conversations: []scripted.Conversation{
		{Match: "Long work", Turns: long}, {Match: "Boss", Turns: []scripted.Turn{{Calls: []scripted.Call{task, task, task}}, {Text: "Thanks."}}},
	}}))
	child := d.setup
	child.Watch = nil
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.engine.Task(func() (ambit.Setup, error) { return child, nil }))
	d.setup.Limits.Output = 300
	out, err := d.begin("Boss.").Run(t.Context())
	if _, is := errors.AsType[*ambit.LimitError](err); !is || out.Output < 300 || out.Output > 600 {
		t.Errorf("%+v, %v", out, err)
	}
	if all, err := d.store.Sessions(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}
