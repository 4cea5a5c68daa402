package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/source"
)

// modes are what a session has recorded of context.mode, as its entries came.
func (d *desk) modes(id string) (modes []string) {
	for _, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Works:
			modes = append(modes, map[bool]string{true: "off", false: "on"}[f.Plain])
		case *entry.Idle:
			modes = append(modes, "idle")
		case *entry.Told:
			modes = append(modes, "told")
		}
	}
	return modes
}

// toolTurns is a model that calls a tool once, and then talks.
func toolTurns(tools ...string) *scripted.Provider {
	var turns []scripted.Turn
	for _, tool := range tools {
		turns = append(turns, scripted.Turn{Calls: []scripted.Call{scriptedCall(tool, "a")}})
	}
	for range 9 {
		turns = append(turns, scripted.Turn{Text: "Yes."})
	}
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{Strict: true})
}

// newModes is a desk of an agent that is told one fact.
func newModes(t *testing.T, a *board, model *scripted.Provider) *desk {
	d := newDesk(t, provider.TypeMessages, model)
	d.setup.Model.Name, d.setup.Model.Rest = "claude-opus-5-5", nil
	d.setup.Compose = func() (source.Composition, error) { return source.Compose(a.source()) }
	return d
}

// A change of context.mode waits until all is done that was accepted before it: the activity that runs, and an input that waits. What
// is said afterwards is in the new mode.
//
// covers: R-08 part
func TestModeWaits(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newModes(t, a, toolTurns("read"))
	s := d.begin("One.", "Two.")
	read := d.setup.Agent.Tools[0].Run
	d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
		off := d.setup
		off.Mode = ambit.ModeOff
		if err := s.Switch(ctx, off); err != nil {
			t.Error(err)
		}
		if s.Mode() != ambit.ModeOn {
			t.Error("the mode has changed while work was under way")
		}
		a.value = "2"
		return read(ctx, args)
	}
	d.run(s)
	if _, messages := d.shown(1); !slices.Contains(messages, "system: test/a is now 2") {
		t.Errorf("the activity is not what it was: %q", messages)
	}
	if got := d.modes(s.ID()); !slices.Equal(got, []string{"on", "told", "told", "idle", "idle", "off"}) || s.Mode() != ambit.ModeOff {
		t.Errorf("recorded %v", got)
	}
	a.value, a.read = "3", func() { t.Error("a source was read") }
	d.run(s, "Three.")
	if got := d.modes(s.ID()); got[len(got)-1] != "idle" || len(got) != 7 {
		t.Errorf("recorded %v", got)
	}
	d.setup.Mode = ambit.ModeOn // and when nothing is left to do, at once
	if err := s.Switch(t.Context(), d.setup); err != nil || s.Mode() != ambit.ModeOn {
		t.Errorf("%v, %v", s.Mode(), err)
	}
	d.setup.Mode = ambit.ModeOff // one that is taken back before its time changes nothing
	d.say(s, "Four.")
	for _, m := range []ambit.Mode{ambit.ModeOff, "", ambit.ModeOn} {
		d.setup.Mode = m
		if err := s.Switch(t.Context(), d.setup); err != nil || s.Mode() != ambit.ModeOn {
			t.Errorf("%v, %v", s.Mode(), err)
		}
	}
	a.read = nil
	d.run(s)
	if got := d.modes(s.ID()); !slices.Equal(got[7:], []string{"on", "told", "idle"}) {
		t.Errorf("recorded %v", got)
	}
	d.setup.Mode = "maybe"
	if err := s.Switch(t.Context(), d.setup); !errors.Is(err, ambit.ErrRefused) || !strings.Contains(err.Error(), `on or off; "maybe"`) {
		t.Errorf("%v", err)
	}
}

// A process dies in the middle of an activity: whoever takes the session up in another mode finishes that in the old one.
//
// covers: R-08 part
func TestModeWaitsForWhatWasLeft(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newModes(t, a, toolTurns("read"))
	s := d.begin("One.")
	copied := t.TempDir()
	read := d.setup.Agent.Tools[0].Run
	d.setup.Agent.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (string, error) {
		if err := os.CopyFS(copied+"/sessions/"+s.ID(), os.DirFS(d.store.Folder(s.ID()))); err != nil {
			t.Error(err)
		}
		return read(ctx, args)
	}
	d.run(s)
	store, err := journal.Open(copied, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d.store, d.asked, a.value = store, d.asked[:1], "2"
	d.setup.Mode = ambit.ModeOff
	if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s)
	if _, messages := d.shown(1); !slices.Contains(messages, "system: test/a is now 2") {
		t.Errorf("%q", messages)
	}
	if got := d.modes(s.ID()); !slices.Equal(got, []string{"on", "told", "told", "idle", "off"}) {
		t.Errorf("recorded %v", got)
	}
}

// A session keeps its mode: whoever takes it up, or forks it, and names none, has the one that was saved, and so has a sub-agent.
//
//
func TestModeIsKept(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newModes(t, a, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{
		{Match: "Small work", Turns: []scripted.Turn{{Text: "Done."}}},
		{Turns: []scripted.Turn{{Text: "Yes."}, {Text: "Yes.", Calls: []scripted.Call{{Name: "task", Args: map[string]any{"prompt": "Small work."}}}}, {Text: "Yes."}, {Text: "Yes."}, {Text: "Yes."}}},
	}}, scripted.Options{}))
	child := d.setup
	child.Watch = nil
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.engine.Task(func() (ambit.Setup, error) { return child, nil }))
	a.read = func() { t.Error("a source was read") }
	d.setup.Mode = ambit.ModeOff
	s := d.begin("One.")
	d.run(s)
	id, fork := s.ID(), s.ID()+"-fork"
	if err := errors.Join(s.Close(), ambit.Fork(t.Context(), d.store, id, entry.Seq(len(d.facts(id))), entry.Session{ID: fork})); err != nil {
		t.Fatal(err)
	}
	d.setup.Mode = ""
	for _, name := range []string{id, fork} {
		s, err := d.anew().Resume(t.Context(), name, d.setup)
		if err != nil || s.Mode() != ambit.ModeOff {
			t.Fatalf("%s: %v, %v", name, s.Mode(), err)
		}
		d.run(s, "Two.")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sessions, err := d.store.Sessions(t.Context())
	if err != nil || len(sessions) != 4 {
		t.Fatalf("%v, %v", sessions, err)
	}
	for _, name := range sessions {
		if got := d.modes(name); slices.Contains(got, "on") || !slices.Contains(got, "off") {
			t.Errorf("%s has recorded %v", name, got)
		}
	}
	a.read, d.setup.Mode = nil, ambit.ModeOn
	if s, err = d.anew().Resume(t.Context(), id, d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "Three.")
	if _, messages := d.shown(len(d.asked) - 1); !slices.Contains(messages, "system: test/a is 1") {
		t.Errorf("on again, it is told %q", messages)
	}
}

// With context.mode off history, recall, cancellation and limits are as ever, and a request that is too long is the provider's to
// refuse, with a hint.
//
// covers: R-08 part
func TestModeOffKeeps(t *testing.T) {
	a := &board{key: "test/a", read: func() { t.Error("a source was read") }}
	d := newModes(t, a, toolTurns("read", "probe", "read", "read", "wait"))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	wait := d.tool("wait")
	wait.Run = func(ctx context.Context, _ json.RawMessage) (string, error) {
		cancel(enough)
		<-ctx.Done()
		return "", ctx.Err()
	}
	probed := 0
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, wait, d.probe(func(ctx context.Context) {
		probed++
		if a, _ := d.recall(ctx, ambit.RecallSearch, `{"text":"text of"}`); recalled(a) != `found|complete|text of {"path":"a"}` {
			t.Errorf("%+v", a)
		}
	}))
	d.setup.Mode, d.setup.Limits.Turns = ambit.ModeOff, 3
	s := d.begin("One.")
	_, err := s.Run(ctx)
	if _, is := errors.AsType[*ambit.LimitError](err); !is || probed != 1 {
		t.Errorf("no limit: %v", err)
	}
	if _, err = s.Run(ctx); !errors.Is(err, enough) {
		t.Errorf("no cancellation: %v", err)
	}
	d.run(s)
	d.check(s.ID(), provider.TypeMessages)
	if system, messages := d.shown(len(d.asked) - 1); system != "You write code.\n" || messages[0] != "user: One." || len(messages) != 11 {
		t.Errorf("%q, %q", system, messages)
	}

	denied := newDesk(t, provider.TypeMessages, &answers{status(401, `{"type":"error","error":{"type":"authentication_error","message":"no"}}`)})
	denied.setup.Mode = ambit.ModeOff
	if _, err := denied.begin("One.").Run(t.Context()); err == nil || strings.Contains(err.Error(), "context.mode") {
		t.Errorf("%v", err)
	}
	for mode, hinted := range map[ambit.Mode]bool{ambit.ModeOn: false, ambit.ModeOff: true} {
		long := &answers{status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)}
		d := newDesk(t, provider.TypeMessages, long)
		d.setup.Mode = mode
		s := d.begin("One.")
		_, err := s.Run(t.Context())
		failure, is := errors.AsType[*provider.Failure](err)
		if !is || failure.Kind != provider.TooLong || strings.Contains(err.Error(), "context.mode is off, so that nothing is left out") != hinted || len(d.asked) != 1 {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
