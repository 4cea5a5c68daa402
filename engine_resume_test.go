package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
)

// Work was broken off, by a limit or by the user: what is said next stands in the very next request, also where it was queued, and
// not behind all that was left undone.
//
// covers: R-01 part
// covers: R-06 part
func TestSaidAfterAnInterruption(t *testing.T) {
	for _, how := range []string{"limit", "cancelled"} {
		for _, delivery := range []entry.Delivery{entry.Queue, entry.Steer} {
			t.Run(how+" "+string(delivery), func(t *testing.T) {
				d := newReader(t, provider.TypeMessages, 0, reader(0, false))
				d.setup.Limits.Turns = 2
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				d.setup.Watch = func(e ambit.Event) {
					if how == "cancelled" && e.N == 2 && e.Kind == ambit.EventCall {
						cancel(errors.New("no"))
					}
				}
				s := d.begin("Read all files.")
				if _, err := s.Run(ctx); err == nil {
					t.Fatal("nothing broke it off")
				}
				if _, err := s.Admit(t.Context(), ambit.Input{Text: "No, stop.", Delivery: delivery}); err != nil {
					t.Fatal(err)
				}
				before := len(d.asked)
				if _, err := s.Run(t.Context()); err == nil {
					t.Fatal("the model comes to no end")
				}
				if body := string(d.asked[before].body); !strings.Contains(body, "No, stop.") {
					t.Error("the next request does not hold what was said last")
				}
				d.check(s.ID(), provider.TypeMessages)
			})
		}
	}
}

// Two inputs are queued, and the first is broken off: the second waits for nobody, and each keeps an activity of its own.
//
// covers: R-01 part
func TestQueuedBehindAnInterruption(t *testing.T) {
	d := newReader(t, provider.TypeMessages, 0, reader(0, false))
	d.setup.Limits.Turns = 1
	s := d.begin("Read a.", "Read b.")
	var limit *ambit.LimitError
	for n := range 2 {
		if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
			t.Fatal(err)
		}
		body := string(d.asked[n].body)
		if !strings.Contains(body, "Read a.") || strings.Contains(body, "Read b.") != (n == 1) {
			t.Errorf("request %d is %s", n+1, body)
		}
	}
}

// A tool gives what is no UTF-8, as a text or as an error: the model is told so much of it as is, and the session goes on.
//
// covers: R-06 part
func TestNoUTF8(t *testing.T) {
	for wire := range wireNames {
		d := newDesk(t, wire, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
			{Calls: []scripted.Call{scriptedCall("read", "a"), scriptedCall("fail", "b")}}, {Text: "Done."},
		}}}}, scripted.Options{Strict: true}))
		for i := range d.setup.Agent.Tools {
			run := d.setup.Agent.Tools[i].Run
			d.setup.Agent.Tools[i].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
				text, err := run(ctx, args)
				if err != nil {
					err = errors.New("no file \xff")
				}
				return text + " \xed\xa0\xbd \xff.", err
			}
		}
		d.run(d.begin("Go."))
		if body := string(d.asked[1].body); !strings.Contains(body, "\uFFFD.") || !strings.Contains(body, "no file \uFFFD") {
			t.Errorf("%s: the second request holds %q", wire, body)
		}
	}
}
