package ambit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/source"
)

// What steers while the last answer is still streaming joins the activity: it has come to no end yet.
//
// covers: R-01 part
func TestSteeredInTheLastAnswer(t *testing.T) {
	var s *ambit.Session
	d := newDesk(t, provider.TypeMessages, &answers{func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		say := func(events ...string) {
			io.WriteString(w, strings.Join(events, "\n\n")+"\n\n")
			w.(http.Flusher).Flush()
		}
		say(begun, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Done.\"}}")
		if _, err := s.Admit(t.Context(), ambit.Input{Text: "But quickly!", Delivery: entry.Steer}); err != nil {
			t.Error(err)
		}
		say(
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}", "event: message_stop\ndata: {\"type\":\"message_stop\"}",
		)
	}})
	s = d.begin("Go.")
	out, err := s.Run(t.Context())
	if err != nil || out.Activities != 1 || out.Turns != 2 || out.Text != "Yes." {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := d.promoted(s.ID()); !slices.Equal(got, []string{"1 Go.", "1 But quickly!"}) {
		t.Errorf("promoted %q", got)
	}
	if _, messages := d.shown(1); !slices.Equal(messages, []string{"user: Go.", "assistant: Done.", "user: But quickly!"}) {
		t.Errorf("the second request shows %q", messages)
	}
}

// In one request stand, in this order over every wire: the results of parallel calls, what steered meanwhile, and one message of
// all that has changed.
//
// covers: S-05 part
// covers: S-06
// covers: S-16
func TestToldBehindResultsAndASteer(t *testing.T) {
	for name, wire := range map[string]string{
		"messages, native": provider.TypeMessages, "messages": provider.TypeMessages, "responses": provider.TypeResponses, "chat": provider.TypeChat, "generate": provider.TypeGenerate,
	} {
		t.Run(name, func(t *testing.T) {
			model := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
				{Text: "Two.", Calls: []scripted.Call{scriptedCall("look", "a"), scriptedCall("look", "b")}}, {Text: "Done."},
			}}}}, scripted.Options{Strict: true})
			a, b := &board{key: "test/a", value: "1"}, &board{key: "test/b", value: "2"}
			d := newDesk(t, wire, model)
			if name == "messages, native" {
				d.setup.Model.Name = "claude-opus-5-5"
			}
			d.setup.Compose = func() (source.Composition, error) { return source.Compose(a.source(), b.source()) }
			var s *ambit.Session
			look, looked := d.tool("look"), 0
			look.Run = func(ctx context.Context, _ json.RawMessage) (string, error) {
				if looked++; looked == 1 {
					a.value, b.value = "3", "4"
					if _, err := s.Admit(ctx, ambit.Input{Text: "Left!", Delivery: entry.Steer}); err != nil {
						t.Error(err)
					}
				}
				return fmt.Sprintf("It is number %d.", looked), nil
			}
			d.setup.Agent.Tools = []ambit.Tool{look}
			s = d.begin("Go.")
			if out, err := s.Run(t.Context()); err != nil || out.Text != "Done." || len(model.Refusals()) > 0 {
				t.Fatalf("%+v, %v, %v", out, err, model.Refusals())
			}
			body, last := string(d.asked[1].body), -1
			for _, want := range []string{"It is number 1.", "It is number 2.", "Left!", `test/a is now 3\n\ntest/b is now 4`} {
				at := strings.Index(body, want)
				if at <= last || strings.Count(body, want) != 1 {
					t.Errorf("%q is not behind the rest, or not once, in %s", want, body)
				}
				last = at
			}
			if got := d.tolds(s.ID()); len(got) != 2 {
				t.Errorf("told %d times", len(got))
			}
			d.check(s.ID(), wire)
		})
	}
}

// Others speak to three sessions of one engine and switch them while these run: each input is promoted once, those that wait their
// turn in the order in which they were admitted, and the journals are sound.
//
// covers: R-01 part
func TestSpokenToWhileItRuns(t *testing.T) {
	const each, speakers = 8, 2
	d := newDesk(t, provider.TypeMessages, talker(200))
	d.setup.Watch = nil // three would tell it at once
	d.setup.Compose = func() (source.Composition, error) {
		return source.Compose((&board{key: "test/a", value: "1"}).source())
	}
	var all sync.WaitGroup
	var ids []string
	for range 3 {
		s := d.begin()
		ids = append(ids, s.ID())
		var speaking sync.WaitGroup
		spoken := make(chan struct{}, 1) // something was, since Run looked
		for speaker := range speakers {
			speaking.Go(func() {
				for i := range each {
					in := ambit.Input{ID: fmt.Sprint(speaker, "-", i), Text: fmt.Sprintf("%d of %d.", i, speaker)}
					if i%3 == 2 {
						in.Delivery = entry.Steer
					}
					for range 2 { // a sender that is not sure says it again
						if _, err := s.Admit(t.Context(), in); err != nil {
							t.Error(err)
						}
					}
					select {
					case spoken <- struct{}{}:
					default:
					}
				}
			})
		}
		speaking.Go(func() {
			for i := range each {
				setup := d.setup
				setup.Dir, setup.Model.Name = fmt.Sprint("/folder", i%3), fmt.Sprint("m-", i%2)
				if err := s.Switch(t.Context(), setup); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			speaking.Wait()
			close(spoken)
		})
		all.Go(func() {
			for more := true; more; {
				_, more = <-spoken // and once more when nobody speaks any longer
				if _, err := s.Run(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		delivery := make(map[entry.Seq]entry.Delivery)
		newest := make(map[entry.Delivery]entry.Seq) // that was promoted
		promoted := 0
		for i, f := range d.facts(id) {
			switch f := f.(type) {
			case *entry.Input:
				delivery[entry.Seq(i+1)] = f.Delivery
			case *entry.Promoted:
				queued := 0
				for _, seq := range f.Inputs {
					how, known := delivery[seq]
					if !known || seq <= newest[how] {
						t.Errorf("session %s: %s is promoted, a %q, after %s", id, seq.Ref(), how, newest[how].Ref())
					}
					newest[how] = seq
					promoted++
					if how == entry.Queue {
						queued++
					}
				}
				if queued > 1 {
					t.Errorf("session %s: activity %d has %d queued inputs", id, f.Activity, queued)
				}
			}
		}
		if len(delivery) != speakers*each || promoted != speakers*each {
			t.Errorf("session %s: %d inputs, %d promoted", id, len(delivery), promoted)
		}
		if r, err := d.store.Check(t.Context(), id); err != nil || len(r.Damage)+len(r.Mismatches) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
