package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/source"
	"ambit/view"
)

// reader is a model that reads one file after the other, and never comes to an end. It refuses what takes more tokens than
// its window, as the real provider words it.
func reader(window int64, late bool) *scripted.Provider {
	var turns []scripted.Turn
	for i := range 400 {
		turns = append(turns, scripted.Turn{
			Thought: fmt.Sprintf("Number %d is next.", i), Text: fmt.Sprintf("I read number %d.", i), Calls: []scripted.Call{scriptedCall("read", fmt.Sprintf("%d.go", i))},
		})
	}
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{Strict: true, Window: window, Late: late})
}

// newReader is a desk whose tool reads long files, and whose model has a window of so many tokens that the loop is told of.
func newReader(t *testing.T, wire string, window int, model *scripted.Provider) *desk {
	d := newDesk(t, wire, model)
	d.setup.Agent.Tools, d.setup.Model.Window = longFiles(), window
	return d
}

// longFiles is a tool that reads them.
func longFiles() []ambit.Tool {
	read := 0
	return []ambit.Tool{{
		Tool: view.Tool{Name: "read", Description: "Reads a file.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		Run: func(_ context.Context, args json.RawMessage) (string, error) {
			read++
			return fmt.Sprintf("reading %d of %s\n", read, args) + strings.Repeat(fmt.Sprintf("func number%d() error { return nil }\n", read), 100), nil
		},
	}}
}

const constraint = "You must never touch the folder vendor."

// pressed are the decisions of a session that left something out, by stage, and how often a request was sent otherwise than
// with all that was said.
func (d *desk) pressed(id string) (stages map[entry.Stage]int, reactive, edited int) {
	stages = make(map[entry.Stage]int)
	for _, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Decision:
			stages[f.Stage]++
			if f.Reactive {
				reactive++
			}
		case *entry.Sent:
			if f.Body != nil {
				edited++
			}
		}
	}
	return stages, reactive, edited
}

// sent is what the journal says that the model got, request by request.
func (d *desk) sent(id string) (bodies []string) {
	d.t.Helper()
	at := make(map[int]*entry.Body)
	var order []int
	for _, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Request:
			at[f.N] = f.Body
			order = append(order, f.N)
		case *entry.Sent:
			if f.Body != nil {
				at[f.N] = f.Body
			}
		}
	}
	for _, n := range order {
		body, err := d.store.Body(d.t.Context(), id, *at[n])
		if err != nil {
			d.t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

// A conversation that is several times as long as the model's window goes on over every wire, before a provider that refuses
// whatever the real one would: old results give way, then old messages to a checkpoint. What the user demanded stays in
// every request; the journal has each of them as it went; and another process that takes the session up sends no more than
// the first would have.
//
// covers: X-01 part
// covers: X-02 part
// covers: X-03 part
// covers: S-11 part
func TestLoopUnderPressure(t *testing.T) {
	for wire := range wireNames {
		t.Run(wire, func(t *testing.T) {
			model := reader(24_000, false)
			d := newReader(t, wire, 24_000, model)
			d.setup.Limits.Turns = 60
			s := d.begin("Read all files. " + constraint)
			var limit *ambit.LimitError
			if out, err := s.Run(t.Context()); !errors.As(err, &limit) || out.Turns != 60 {
				t.Fatalf("%+v: %v, refused %v", out, err, model.Refusals())
			}
			stages, _, edited := d.pressed(s.ID())
			if stages[entry.StagePrune] == 0 || stages[entry.StageCompact] == 0 || edited == 0 {
				t.Errorf("stages %v, %d edited", stages, edited)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			before := d.sent(s.ID())
			d.setup.Limits.Turns = 3
			again, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := again.Run(t.Context()); !errors.As(err, &limit) {
				t.Fatal(err)
			}
			sent := d.sent(s.ID())
			if len(sent) != len(d.asked) || len(sent) != len(before)+3 {
				t.Fatalf("%d requests are recorded, %d before, and %d were sent", len(sent), len(before), len(d.asked))
			}
			if most := longest(before); len(sent[len(before)]) > most {
				t.Errorf("taken up again it sends %d bytes, and at most %d before", len(sent[len(before)]), most)
			}
			for i, body := range sent {
				if body != string(d.asked[i].body) {
					t.Errorf("request %d is not recorded as it went", i+1)
				}
				if !strings.Contains(body, constraint) {
					t.Errorf("request %d does not hold what the user demanded", i+1)
				}
			}
			if got := model.Refusals(); len(got) > 0 {
				t.Errorf("refused: %v", got)
			}
			if r, err := d.store.Check(t.Context(), s.ID()); err != nil || len(r.Damage)+len(r.Mismatches) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// A session that is several times as long as the window is forked, or goes on with another model, another wire or a shorter window:
// what it sends fits there, too, from the first request on.
//
// covers: J-08 part
// covers: X-07 part
func TestPressureElsewhere(t *testing.T) {
	for _, how := range []string{"fork", "model", "wire", "window"} {
		t.Run(how, func(t *testing.T) {
			model := reader(24_000, false)
			d := newReader(t, provider.TypeMessages, 24_000, model)
			d.setup.Limits.Turns = 45
			s := d.begin("Read all files. " + constraint)
			var limit *ambit.LimitError
			if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			id := s.ID()
			address := strings.TrimSuffix(d.setup.Model.BaseURL, "/v1")
			switch how {
			case "fork":
				at := entry.Seq(len(d.facts(id)))
				if err := ambit.Fork(t.Context(), d.store, id, at, entry.Session{ID: id + "-fork"}); err != nil {
					t.Fatal(err)
				}
				id += "-fork"
			case "model":
				d.setup.Model.Name = "m-2"
			case "wire":
				d.setup.Model.Type, d.setup.Model.Provider, d.setup.Model.Rest = provider.TypeChat, "openai", nil
				d.setup.Model.BaseURL = baseOf(provider.TypeChat, address)
			case "window":
				d.setup.Model.Window = 12_000
			}
			before := len(d.asked)
			d.setup.Limits.Turns = 4
			s, err := d.anew().Resume(t.Context(), id, d.setup)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := s.Run(t.Context()); !errors.As(err, &limit) || out.Turns != 4 {
				t.Fatalf("%+v, %v, refused %v", out, err, model.Refusals())
			}
			for i, x := range d.asked[before:] {
				if len(x.body)/4 > d.setup.Model.Window || !strings.Contains(string(x.body), constraint) {
					t.Errorf("request %d has %d bytes", i+1, len(x.body))
				}
			}
			if got := model.Refusals(); len(got) > 0 {
				t.Errorf("refused: %v", got)
			}
		})
	}
}

// What is left out says by which tool the model gets it back: its own, where it has one; and each ref is one that it can read, of
// answers too.
func TestLeftOutIsRecalled(t *testing.T) {
	var turns []scripted.Turn
	for i := range 40 {
		text := fmt.Sprintf("I read number %d.", i)
		if i < 3 {
			text = strings.Repeat(fmt.Sprintf("Line after line of an answer that is long, number %d.\n", i), 2000)
		}
		turns = append(turns, scripted.Turn{Text: text, Calls: []scripted.Call{scriptedCall("read", fmt.Sprintf("%d.go", i))}})
	}
	model := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{Strict: true})
	d := newReader(t, provider.TypeMessages, 30_000, model)
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.engine.Recall()...)
	d.setup.Limits.Turns = 30
	s := d.begin("Read all files.")
	var limit *ambit.LimitError
	if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
		t.Fatal(err)
	}
	rec, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
	if err != nil {
		t.Fatal(err)
	}
	refs := 0
	for _, x := range d.asked {
		body := string(x.body)
		if strings.Contains(body, "`ambit read`") || strings.Contains(body, "It is not kept") || strings.Contains(body, "the MCP tool read") {
			at := max(strings.Index(body, "`ambit read`"), strings.Index(body, "It is not kept"), strings.Index(body, "the MCP tool read"))
			t.Fatalf("the model is told of what it does not have: …%s", body[max(0, at-300):at+40])
		}
		for _, part := range strings.Split(body, "To see the whole, recall ")[1:] {
			ref, rest, _ := strings.Cut(part, " ")
			if !strings.HasPrefix(rest, "with the tool recall_read.") {
				t.Fatalf("%s is recalled so: %.80s", ref, rest)
			}
			seq, _, _ := strings.Cut(ref, ".")
			if text, err := rec.Said(t.Context(), entry.ParseRef(seq)); err != nil || len(text.Texts) == 0 {
				t.Errorf("%s: %v", ref, err)
			}
			refs++
		}
	}
	if refs < 10 {
		t.Errorf("%d refs", refs)
	}
}

// Over a connection that is kept, requests that only go on have only what is new, also once results and messages were left out; a
// boundary sends the whole. What the model saw is known of each, and no more of it than fits.
//
// covers: R-03 part
func TestPressureOverAWebSocket(t *testing.T) {
	var turns []scripted.Turn
	for i := range 80 {
		turns = append(turns, scripted.Turn{Text: fmt.Sprintf("I read number %d.", i), Calls: []scripted.Call{scriptedCall("read", fmt.Sprintf("%d.go", i))}})
	}
	d, model := overSockets(t, turns, ambit.TransportCached)
	d.setup.Agent.Tools, d.setup.Model.Window, d.setup.Limits.Turns = longFiles(), 24_000, 60
	s := d.begin("Read all files. " + constraint)
	var limit *ambit.LimitError
	if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
		t.Fatalf("%v, refused %v", err, model.Refusals())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stages, _, edited := d.pressed(s.ID())
	if stages[entry.StagePrune]+stages[entry.StageCompact] < 2 || edited < 20 {
		t.Fatalf("stages %v, %d edited", stages, edited)
	}
	d.sents(s.ID())
	bodies := d.sent(s.ID())
	if len(bodies) != len(d.asked) {
		t.Fatalf("%d requests are recorded, and %d were sent", len(bodies), len(d.asked))
	}
	rec, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
	if err != nil {
		t.Fatal(err)
	}
	went := 0
	for i, body := range bodies {
		if body != string(d.asked[i].body) {
			t.Errorf("request %d is not recorded as it went", i+1)
		}
		if strings.Contains(body, `"previous_response_id":`) {
			went++
		}
		g, err := rec.Gauge(t.Context(), "", i+1)
		if err != nil {
			t.Fatal(err)
		}
		v, err := rec.View(t.Context(), "", i+1)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, x := range v.Segments {
			said += x.Text
		}
		if !strings.Contains(said, constraint) || !strings.Contains(said, fmt.Sprintf("I read number %d.", i-1)) && i > 0 || g.EstTotal > 24_000 {
			t.Errorf("request %d is shown as %d tokens: %.300s", i+1, g.EstTotal, said)
		}
	}
	if went < 40 {
		t.Errorf("%d of %d requests have only what is new", went, len(bodies))
	}
}

func longest(bodies []string) (most int) {
	for _, b := range bodies {
		most = max(most, len(b))
	}
	return most
}

// Nobody knows the model's window, and it refuses what is too long, with a status or in the stream: the request is made
// shorter and sent once more, and the activity goes on.
//
// covers: X-06 part
// covers: X-07 part
func TestTooLong(t *testing.T) {
	for wire := range wireNames {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(wire, " ", late), func(t *testing.T) {
				model := reader(24_000, late)
				d := newReader(t, wire, 0, model)
				d.setup.Limits.Turns = 40
				s := d.begin("Read all files. " + constraint)
				var limit *ambit.LimitError
				if out, err := s.Run(t.Context()); !errors.As(err, &limit) || out.Turns != 40 {
					t.Fatalf("%+v: %v, refused %v", out, err, model.Refusals())
				}
				if _, reactive, _ := d.pressed(s.ID()); reactive == 0 {
					t.Error("nothing was decided when a request was refused as too long")
				}
				for _, r := range model.Refusals() {
					if !r.Overflow {
						t.Errorf("refused: %v", r)
					}
				}
				if len(d.waits) > 0 {
					t.Errorf("it waited %v before it sent a shorter one", d.waits)
				}
				for i, body := range d.sent(s.ID()) {
					if body != string(d.asked[i].body) {
						t.Errorf("request %d is not recorded as it went", i+1)
					}
				}
			})
		}
	}
}

// With context.mode off, or where the policy edits nothing, what is too long ends the activity with what can be done; then
// with the mode on the same session goes on.
//
// covers: R-08 part
func TestTooLongWithModeOff(t *testing.T) {
	for _, what := range []string{"mode", "policy"} {
		t.Run(what, func(t *testing.T) {
			model := reader(24_000, false)
			d := newReader(t, provider.TypeMessages, 24_000, model)
			d.setup.Limits.Turns = 100
			if what == "policy" {
				d.setup.Policy = ambit.PolicyRecord
			} else {
				d.setup.Mode = ambit.ModeOff
			}
			s := d.begin("Read all files.")
			_, err := s.Run(t.Context())
			var failure *provider.Failure
			if !errors.As(err, &failure) || failure.Kind != provider.TooLong || !strings.Contains(err.Error(), map[string]string{"mode": "turn it on", "policy": "take full"}[what]) {
				t.Fatal(err)
			}
			if stages, _, edited := d.pressed(s.ID()); len(stages) > 0 || edited > 0 {
				t.Errorf("stages %v, %d edited", stages, edited)
			}
			d.setup.Mode, d.setup.Policy, d.setup.Limits.Turns = ambit.ModeOn, "", 3
			if err := s.Switch(t.Context(), d.setup); err != nil {
				t.Fatal(err)
			}
			var limit *ambit.LimitError
			if out, err := s.Run(t.Context()); !errors.As(err, &limit) || out.Turns != 3 {
				t.Fatalf("%+v, %v", out, err)
			}
		})
	}
}

// At a checkpoint a new baseline is opened: it says what was told since the one before, and the messages that told it leave the
// requests. When results only give way, they stay. A fact that cannot be read keeps the old baseline in force until it can.
//
// covers: S-11 part
// covers: S-18
func TestCheckpointOpensABaseline(t *testing.T) {
	model := reader(24_000, false)
	b := &board{key: "test/board", value: "the first fact"}
	d := newReader(t, provider.TypeMessages, 24_000, model)
	d.setup.Compose = func() (source.Composition, error) { return source.Compose(b.source()) }
	d.setup.Limits.Turns = 2
	s := d.begin("Read all files.")
	var limit *ambit.LimitError
	if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
		t.Fatal(err)
	}
	b.value = "the second fact"
	seen := make(map[string]bool)
	for range 40 {
		d.setup.Limits.Turns = 1
		if err := s.Switch(t.Context(), d.setup); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
			t.Fatal(err)
		}
		system, messages := d.shown(len(d.asked) - 1)
		stages, _, _ := d.pressed(s.ID())
		told := slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(m, "the second fact") })
		switch {
		case stages[entry.StageCompact] > 0:
			seen["compacted"] = true
			if told || !strings.Contains(system, "the second fact") || strings.Contains(system, "the first fact") {
				t.Fatalf("behind a checkpoint stands in front %q, told %v", system, told)
			}
		case !told || !strings.Contains(system, "the first fact"):
			t.Fatalf("before a checkpoint stands in front %q, told %v", system, told)
		case stages[entry.StagePrune] > 0:
			seen["pruned"] = true
		}
	}
	if !seen["pruned"] || !seen["compacted"] {
		t.Errorf("seen %v", seen)
	}
	if n := baselines(d.facts(s.ID())); n < 2 {
		t.Errorf("%d baselines", n)
	}
}

// A checkpoint is made while a fact cannot be read: the baseline stays, that is noted, and the new one is opened as soon as the
// fact can be read again.
//
// covers: S-11 part
func TestCheckpointWithoutABaseline(t *testing.T) {
	b, clock := &board{key: "test/board", value: "the first fact"}, &board{key: "test/clock", value: "tick"}
	ticks, told := 0, "" // what was read last when a request was made
	clock.read = func() { ticks++; clock.value = fmt.Sprintf("tick %d.", ticks) }
	d := newReader(t, provider.TypeMessages, 24_000, reader(24_000, false))
	d.setup.Compose = func() (source.Composition, error) { return source.Compose(b.source(), clock.source()) }
	d.setup.Limits.Turns = 1
	d.setup.Watch = func(e ambit.Event) {
		if e.Kind == ambit.EventRequest {
			told = clock.value
		}
	}
	s := d.begin("Read all files.")
	turn := func() {
		t.Helper()
		var limit *ambit.LimitError
		if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
			t.Fatal(err)
		}
	}
	turn()
	b.blocked = true
	for range 80 {
		turn()
		if body := string(d.asked[len(d.asked)-1].body); !strings.Contains(body, told) {
			t.Fatalf("request %d does not tell of %s", len(d.asked), told)
		}
	}
	if stages, _, _ := d.pressed(s.ID()); stages[entry.StageCompact] == 0 {
		t.Fatalf("stages %v", stages)
	}
	if all := string(d.asked[len(d.asked)-1].body); !strings.Contains(all, "Ambit's record") || strings.Contains(all, "Latest request") {
		t.Errorf("what the system told is taken for what the user said: %s", all)
	}
	if n := baselines(d.facts(s.ID())); n != 1 {
		t.Fatalf("%d baselines while the fact cannot be read", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b.blocked, b.value = false, "the second fact"
	var err error
	if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	stages, _, _ := d.pressed(s.ID())
	turn()
	if system, messages := d.shown(len(d.asked) - 1); !strings.Contains(system, "is the second fact") || strings.Contains(strings.Join(messages, "\n"), "second fact") {
		t.Errorf("in front stands %q", system)
	}
	for range 3 {
		turn()
	}
	again, _, _ := d.pressed(s.ID())
	if n, most := baselines(d.facts(s.ID())), 2+again[entry.StageCompact]-stages[entry.StageCompact]; n < 2 || n > most {
		t.Errorf("%d baselines, and at most %d have a reason", n, most)
	}
}

// A person asks for a checkpoint, and pins a text, between two runs: the next request shows both, and the live facts anew in front.
//
// covers: X-03 part
func TestCheckpointBetweenRuns(t *testing.T) {
	b := &board{key: "test/board", value: "the first fact"}
	d := newReader(t, provider.TypeMessages, 0, reader(0, false))
	d.setup.Model.Name = "claude-opus-5-5"
	d.setup.Compose = func() (source.Composition, error) { return source.Compose(b.source()) }
	d.setup.Limits.Turns = 40
	s := d.begin("Read all files.")
	turn := func() {
		t.Helper()
		var limit *ambit.LimitError
		if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	turn()
	whole := len(d.asked[len(d.asked)-1].body)
	const pin = "The release is on Friday."
	d.act(s.ID(), func(rec *ambit.Recording) error {
		if _, err := rec.Pin(t.Context(), nil, ambit.Pinning{Text: pin, By: ambit.ByUser}); err != nil {
			return err
		}
		c, err := rec.Compact(t.Context(), nil)
		if c.Checkpoint == "" || c.Changes == 0 {
			t.Errorf("%+v", c)
		}
		return err
	})
	b.value = "the second fact"
	d.setup.Limits.Turns = 2
	var err error
	if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	before := len(d.asked)
	turn()
	system, messages := d.shown(before)
	if all := strings.Join(messages, "\n"); !strings.Contains(all, pin) || !strings.Contains(all, "next_steps:") || !strings.Contains(system, "is the second fact") {
		t.Errorf("in front %q, then %q", system, messages)
	}
	if is := len(d.asked[before].body); is > whole/2 {
		t.Errorf("%d bytes are sent, and %d before the checkpoint", is, whole)
	}
	if first, second := d.asked[before], d.asked[before+1]; len(d.asked) != before+2 {
		t.Errorf("%d requests", len(d.asked)-before)
	} else if one, _ := first.elements(t, provider.TypeMessages); true {
		if two, _ := second.elements(t, provider.TypeMessages); !prefixed(one, two) {
			t.Error("behind the checkpoint a request does not begin as the one before")
		}
	}
}

// One input alone is longer than the window, and nobody knows how long a token is: the request is made shorter until it fits, three
// times at most, and what the user demanded in it stays.
//
// covers: X-07 part
func TestOneInputThatIsTooLong(t *testing.T) {
	for wire := range wireNames {
		for window, fits := range map[int64]bool{3000: true, 60: false} {
			t.Run(fmt.Sprint(wire, " ", window), func(t *testing.T) {
				model := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{{Text: "Yes."}}}}}, scripted.Options{
					Strict: true, Window: window, BytesPerToken: 1,
				})
				d := newDesk(t, wire, model)
				d.setup.Agent.Tools = nil
				s := d.begin(constraint + "\n" + strings.Repeat("A line of a long report that somebody pasted.\n", 2000))
				out, err := s.Run(t.Context())
				sent := d.sent(s.ID())
				if fits {
					if err != nil || out.Text != "Yes." || len(sent) < 3 {
						t.Fatalf("%+v, %v, after %d requests", out, err, len(sent))
					}
				} else if err == nil || !strings.Contains(err.Error(), "a longer window") {
					t.Fatalf("%+v, %v", out, err)
				}
				for i, body := range sent {
					if !strings.Contains(body, constraint) || i > 0 && len(body) >= len(sent[i-1]) {
						t.Errorf("request %d has %d bytes, and the one before %d", i+1, len(body), len(sent[max(0, i-1)]))
					}
				}
			})
		}
	}
}

// What is pinned between two runs stands in the next request, and once.
func TestPinOfAnOwnSession(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, talker(4))
	s := d.begin("Hello.")
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const pin = "The release is on Friday."
	d.act(s.ID(), func(rec *ambit.Recording) error {
		_, err := rec.Pin(t.Context(), nil, ambit.Pinning{Text: pin, By: ambit.ByUser})
		return err
	})
	s, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.run(s, "And now?")
		if n := strings.Count(string(d.asked[len(d.asked)-1].body), pin); n != 1 {
			t.Errorf("request %d holds the pin %d times", len(d.asked), n)
		}
	}
}

// act does something to a session that nobody leads.
func (d *desk) act(id string, do func(*ambit.Recording) error) {
	d.t.Helper()
	unlock, err := d.store.Lock(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	rec, err := ambit.OpenRecording(d.t.Context(), d.store, id)
	if err == nil {
		err = do(rec)
	}
	if err := errors.Join(err, unlock()); err != nil {
		d.t.Fatal(err)
	}
}

// Among what the user and the model say stands a long paste without a full stop, each line of which looks like a demand: it does not
// become too long, and what the user demanded is said to the end.
//
// covers: X-07 part
func TestLongPaste(t *testing.T) {
	var turns []scripted.Turn
	for i := range 150 {
		turns = append(turns, scripted.Turn{Text: strings.Repeat(fmt.Sprintf("Answer %d says one more thing about it. ", i), 12)})
	}
	model := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{
		Strict: true, Window: 10_000,
	})
	d := newDesk(t, provider.TypeMessages, model)
	d.setup.Model.Window, d.setup.Agent.Tools, d.setup.Model.Rest = 10_000, nil, nil
	s := d.begin(constraint)
	for i := range 20 {
		text := strings.Repeat(fmt.Sprintf("Thing %d is what I think of now. ", i), 9)
		if i < 10 {
			text = fmt.Sprintf("You must never delete the file ledger-%d.csv, whatever happens. ", i) + text
		}
		if i == 10 {
			text = strings.Repeat("this line of a log is one that must not be read by anybody\n", 3000)
		}
		d.say(s, text)
	}
	if out, err := s.Run(t.Context()); err != nil || out.Activities != 21 {
		t.Fatalf("%d activities: %v", out.Activities, err)
	}
	if last := string(d.asked[len(d.asked)-1].body); !strings.Contains(last, constraint) || !strings.Contains(last, "Thing 19 is") {
		t.Errorf("the last request does not hold what was said first and last: %s", last)
	}
	for i := range 10 {
		demand, said := fmt.Sprintf("You must never delete the file ledger-%d.csv, whatever happens.", i), false
		for n, x := range d.asked {
			is := strings.Contains(string(x.body), demand)
			if said = said || is; said && !is {
				t.Errorf("request %d does not hold what was demanded in message %d", n+1, i)
				break
			}
		}
		if !said {
			t.Errorf("what was demanded in message %d was never said", i)
		}
	}
	for _, r := range model.Refusals() {
		if !r.Overflow {
			t.Errorf("refused: %v", r)
		}
	}
}

// Where nothing would be gained by a checkpoint, since nearly all is what the user said, no baseline is opened for one.
//
// covers: S-11 part
func TestNoBaselineForNothing(t *testing.T) {
	var turns []scripted.Turn
	for i := range 30 {
		turns = append(turns, scripted.Turn{Text: strings.Repeat(fmt.Sprintf("Answer %d says one more thing. ", i), 40)})
	}
	d := newDesk(t, provider.TypeMessages, scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}))
	d.setup.Model.Window, d.setup.Agent.Tools, d.setup.Model.Rest = 8000, nil, nil
	s := d.begin("Hello.")
	for i := range 25 {
		d.say(s, strings.Repeat(fmt.Sprintf("Sentence %d of what I want, which nobody has said. ", i), 20))
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stages, _, _ := d.pressed(s.ID()); stages[entry.StageCompact] == 0 || baselines(d.facts(s.ID())) != 1+stages[entry.StageCompact] {
		t.Errorf("%d baselines, and %v", baselines(d.facts(s.ID())), stages)
	}
}

// baselines is how many were opened.
func baselines(facts []entry.Fact) (n int) {
	for _, f := range facts {
		if f, is := f.(*entry.Told); is && f.Baseline {
			n++
		}
	}
	return n
}
