package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
)

// transport answers requests in process, or sends them elsewhere.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

var overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`

// Whoever cancels while the loop waits until it may try again, by the clock, need not wait himself: Run returns the cause at
// once, and the input is answered when somebody asks for it.
//
// covers: R-04 part
// covers: R-06 part
func TestCanceledBetweenAttempts(t *testing.T) {
	for _, when := range []string{"as the wait is told of", "in the middle of it"} {
		t.Run(when, func(t *testing.T) {
			d := newDesk(t, provider.TypeMessages, talker(20))
			enough := errors.New("enough")
			setup := d.setup
			setup.Retry = ambit.Retry{Base: time.Minute, Most: time.Hour}
			s := d.begin("Go.")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { // an hour that is waited through passes at once, and shows
				ctx, cancel := context.WithCancelCause(t.Context())
				var waits []time.Duration
				setup.Watch = func(e ambit.Event) {
					if e.Kind != ambit.EventRetry {
						return
					}
					if waits = append(waits, e.Wait); len(waits) == 3 && when == "as the wait is told of" {
						cancel(enough)
					}
				}
				full := transport(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 529, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(overloaded))}, nil
				})
				s, err := ambit.NewEngine(d.store, ambit.EngineOptions{Client: &http.Client{Transport: full}}).Resume(ctx, s.ID(), setup)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if when == "in the middle of it" {
					time.AfterFunc(4*time.Minute, func() { cancel(enough) }) // a minute and two have passed, and one of four
				}
				if _, err := s.Run(ctx); !errors.Is(err, enough) {
					t.Errorf("%v", err)
				}
				want := map[string]time.Duration{"as the wait is told of": 3 * time.Minute, "in the middle of it": 4 * time.Minute}[when]
				if took := time.Since(began); took != want || !slices.Equal(waits, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute}) {
					t.Errorf("it returned after %v, want %v; waits of %v", took, want, waits)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			})
			s, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := s.Run(t.Context()); err != nil || out.Text != "Yes." || len(d.asked) != 1 {
				t.Errorf("asked again: %+v, %v, %d requests", out, err, len(d.asked))
			}
			if ends := d.ends(s.ID()); !slices.Equal(ends, []entry.Ending{entry.EndingCanceled, entry.EndingDone}) {
				t.Errorf("activities ended %v", ends)
			}
		})
	}
}

// ends is how a session's activities ended.
func (d *desk) ends(id string) (ends []entry.Ending) {
	d.t.Helper()
	for _, f := range d.facts(id) {
		if f, is := f.(*entry.Idle); is {
			ends = append(ends, f.Ended)
		}
	}
	return ends
}

// promoted are the texts that were said to a session, by activity.
func (d *desk) promoted(id string) (texts []string) {
	d.t.Helper()
	inputs := make(map[entry.Seq]string)
	for i, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Input:
			text, err := d.store.Body(d.t.Context(), id, *f.Body)
			if err != nil {
				d.t.Fatal(err)
			}
			inputs[entry.Seq(i+1)] = string(text)
		case *entry.Promoted:
			for _, seq := range f.Inputs {
				texts = append(texts, fmt.Sprintf("%d %s", f.Activity, inputs[seq]))
			}
		}
	}
	return texts
}

// Three inputs are queued, and somebody cancels at the first answer: that activity is done, the others have not begun. The next
// run says them, each in an activity of its own.
//
// covers: R-01 part
// covers: R-06 part
func TestCanceledBetweenActivities(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(20))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	d.setup.Watch = func(e ambit.Event) {
		if e.Kind == ambit.EventAnswer {
			cancel(enough)
		}
	}
	s := d.begin("One.", "Two.", "Three.")
	if out, err := s.Run(ctx); !errors.Is(err, enough) || out.Activities != 1 || out.Turns != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := d.promoted(s.ID()); !slices.Equal(got, []string{"1 One."}) {
		t.Fatalf("promoted: %q", got)
	}
	if out, err := s.Run(t.Context()); err != nil || out.Activities != 2 || out.Turns != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := d.promoted(s.ID()); !slices.Equal(got, []string{"1 One.", "2 Two.", "3 Three."}) {
		t.Errorf("promoted: %q", got)
	}
	if got := d.ends(s.ID()); !slices.Equal(got, []entry.Ending{entry.EndingDone, entry.EndingDone, entry.EndingDone}) {
		t.Errorf("activities ended %v", got)
	}
	for i, want := range []string{"user: One.", "user: Two.", "user: Three."} {
		if _, messages := d.shown(i); len(messages) != 2*i+1 || messages[2*i] != want {
			t.Errorf("request %d shows %q", i+1, messages)
		}
	}
	d.check(s.ID(), provider.TypeMessages)
}

// A model that refuses without a word has answered, and would refuse again: it is asked once, and nobody waits.
//
// covers: R-04 part
func TestRefusedWithoutAWord(t *testing.T) {
	for wire, answer := range map[string]func(http.ResponseWriter, *http.Request){
		provider.TypeMessages: stream(begun, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}", "event: message_stop\ndata: {\"type\":\"message_stop\"}"),
		provider.TypeChat:     stream(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, "data: [DONE]"),
		provider.TypeGenerate: stream(`data: {"candidates":[{"index":0,"finishReason":"SAFETY"}]}`),
	} {
		t.Run(wire, func(t *testing.T) {
			d := newDesk(t, wire, &answers{answer})
			s := d.begin("Go.")
			_, err := s.Run(t.Context())
			if failure, is := errors.AsType[*provider.Failure](err); !is || failure.Kind != provider.Filtered || !strings.Contains(err.Error(), "the model refused to answer") {
				t.Errorf("%v", err)
			}
			if len(d.asked) != 1 || len(d.waits) > 0 {
				t.Errorf("%d requests, waits of %v", len(d.asked), d.waits)
			}
		})
	}
}

// Where nobody sets a limit, an activity ends after 25 turns, and the next one has 25 of its own: the one that goes on, and the one
// of an input that was queued.
//
// covers: R-06 part
func TestDefaultTurns(t *testing.T) {
	var turns []scripted.Turn
	for i := range 120 {
		turn := scripted.Turn{Text: "More.", Calls: []scripted.Call{scriptedCall("read", fmt.Sprint(i))}}
		if i == 19 {
			turn = scripted.Turn{Text: "Done."}
		}
		turns = append(turns, turn)
	}
	d := newDesk(t, provider.TypeMessages, scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}))
	s := d.begin("Work for twenty turns.", "Work for ever.")
	for i, want := range []ambit.Outcome{{Activities: 2, Turns: 45}, {Activities: 1, Turns: 25}} {
		out, err := s.Run(t.Context())
		if limit, is := errors.AsType[*ambit.LimitError](err); !is || limit.Error() != "the activity has reached its limit of 25 turns" {
			t.Fatalf("run %d: %v", i+1, err)
		}
		if out.Activities != want.Activities || out.Turns != want.Turns {
			t.Errorf("run %d took %d turns in %d activities, want %d in %d", i+1, out.Turns, out.Activities, want.Turns, want.Activities)
		}
	}
	if len(d.asked) != 70 {
		t.Errorf("%d requests", len(d.asked))
	}
	if got := d.ends(s.ID()); !slices.Equal(got, []entry.Ending{entry.EndingDone, entry.EndingLimit, entry.EndingLimit}) {
		t.Errorf("activities ended %v", got)
	}
}

// What an answer took that broke off is recorded with it, as far as the provider said so.
//
// covers: R-04 part
func TestUsageOfWhatBrokeOff(t *testing.T) {
	for wire, events := range map[string][]string{
		provider.TypeMessages: {begun, "event: error\ndata: " + overloaded},
		provider.TypeResponses: {
			`data: {"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","model":"m-1","output":[]}}`,
			`data: {"type":"response.failed","response":{"id":"resp_1","object":"response","status":"failed","model":"m-1","output":[],"error":{"code":"server_error","message":"The server had an error"},"usage":{"input_tokens":5,"output_tokens":1,"total_tokens":6}}}`,
		},
		provider.TypeChat: {
			`data: {"choices":[{"index":0,"delta":{"content":"Ye"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`,
			`data: {"error":{"code":503,"type":"server_error","message":"The server had an error"}}`,
		},
		provider.TypeGenerate: {
			`data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Ye"}]}}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1,"totalTokenCount":6}}`,
			`data: {"error":{"code":503,"status":"UNAVAILABLE","message":"The model is overloaded."}}`,
		},
	} {
		t.Run(wire, func(t *testing.T) {
			d := newDesk(t, wire, &answers{stream(events...)})
			s := d.begin("Go.")
			d.run(s)
			var used []string
			for _, f := range d.facts(s.ID()) {
				if f, is := f.(*entry.Response); is {
					if f.Usage == nil {
						t.Fatalf("response %d has no usage", f.N)
					}
					used = append(used, fmt.Sprint(f.N, " ", f.Usage.Input, " ", f.Usage.Output))
				}
			}
			if len(used) != 2 || used[0] != "1 5 1" {
				t.Errorf("%q, want what broke off first, with 5 tokens in and 1 out", used)
			}
		})
	}
}

// Nobody listens any more: where the provider has answered in the activity it is tried again, and where it has not the activity
// ends, whatever it answered before.
//
// covers: R-04 part
func TestNobodyListensAnyMore(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Text: "Looking.", Calls: []scripted.Call{scriptedCall("read", "a.go")}}, {Text: "Done."}, {Text: "Really."},
	}}}}, scripted.Options{Strict: true}))
	away := 0 // for how many requests
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		if away > 0 {
			away--
			r = r.Clone(r.Context())
			r.URL.Host = "127.0.0.1:9"
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	d.engine = ambit.NewEngine(d.store, ambit.EngineOptions{Client: client, Wait: func(ctx context.Context, wait time.Duration) error {
		d.waits = append(d.waits, wait)
		return ctx.Err()
	}})
	read := d.setup.Agent.Tools[0].Run
	d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
		away = 2
		return read(ctx, args)
	}
	s := d.begin("Go.")
	if out, err := s.Run(t.Context()); err != nil || out.Text != "Done." || len(d.waits) != 2 || len(d.ran) != 1 {
		t.Fatalf("%+v, %v, waits of %v", out, err, d.waits)
	}
	away = 1
	d.say(s, "Really?")
	_, err := s.Run(t.Context())
	if failure, is := errors.AsType[*provider.Failure](err); !is || failure.Kind != provider.Unreachable || away != 0 || len(d.waits) != 2 {
		t.Fatalf("%v, waits of %v", err, d.waits)
	}
	if out, err := s.Run(t.Context()); err != nil || out.Text != "Really." {
		t.Errorf("%+v, %v", out, err)
	}
}
