package ambit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/source"
)

// A session moves to a folder whose instructions it was never told of, and which cannot be read: nobody is asked, the error names the
// folder, and the input waits.
//
// covers: S-12 part
// covers: S-17 part
func TestBlockedInAnotherFolder(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin()
	d.run(s, "One.")
	fresh := &board{key: "test/fresh", value: "2", blocked: true}
	d.setup.Dir, d.setup.Compose = "/elsewhere", func() (source.Composition, error) { return source.Compose(a.source(), fresh.source()) }
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.say(s, "Two.")
	_, err := s.Run(t.Context())
	if blocked, is := errors.AsType[*ambit.BlockedError](err); !is || blocked.Dir != "/elsewhere" || blocked.Agent != "" || err.Error() != "no turn can begin in /elsewhere before these can be read: test/fresh: the disk is asleep" {
		t.Errorf("%v", err)
	}
	if got := d.promoted(s.ID()); len(d.asked) != 1 || !slices.Equal(got, []string{"1 One."}) {
		t.Errorf("%d requests; promoted %q", len(d.asked), got)
	}
	fresh.blocked = false
	d.run(s)
	if system, messages := d.shown(1); !strings.Contains(system, "test/a is 1\n\ntest/fresh is 2") || messages[len(messages)-1] != "user: Two." {
		t.Errorf("%q, %q", system, messages)
	}
}

// A session moves while the tools of an answer run: the calls come to their end, and the next request tells the new folder's facts in
// front of what was said and done.
//
// covers: S-17 part
func TestMovedInACall(t *testing.T) {
	model := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a.go"), scriptedCall("read", "b.go")}}, {Text: "Done."},
	}}}}, scripted.Options{Strict: true})
	d := newDesk(t, provider.TypeMessages, model)
	here := func(value string) func() (source.Composition, error) {
		return func() (source.Composition, error) {
			return source.Compose((&board{key: "test/a", value: value}).source())
		}
	}
	d.setup.Compose = here("1")
	moved := d.setup
	moved.Dir, moved.Compose = "/elsewhere", here("another")
	var s *ambit.Session
	d.setup.Watch = func(e ambit.Event) {
		if e.Kind == ambit.EventCall && len(d.ran) == 0 {
			if err := s.Switch(t.Context(), moved); err != nil {
				t.Error(err)
			}
		}
	}
	s = d.begin("Read them.")
	if out, err := s.Run(t.Context()); err != nil || out.Text != "Done." || out.Turns != 2 || len(model.Refusals()) > 0 {
		t.Fatalf("%+v, %v, %v", out, err, model.Refusals())
	}
	if first, _ := d.shown(0); !strings.Contains(first, "test/a is 1") {
		t.Errorf("in front of the first request stands %q", first)
	}
	system, messages := d.shown(1)
	all := string(d.asked[1].body)
	if !strings.Contains(system, "test/a is another") || strings.Contains(system, "test/a is 1") || messages[0] != "user: Read them." {
		t.Errorf("in front of the second stands %q, then %q", system, messages)
	}
	for _, want := range []string{`text of {\"path\":\"a.go\"}`, `text of {\"path\":\"b.go\"}`} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%s is not in %s", want, all)
		}
	}
	if n := baselines(d.facts(s.ID())); n != 2 || len(d.ran) != 2 {
		t.Errorf("%d baselines, %q", n, d.ran)
	}
}

// A session is switched to another agent and back while its facts are read: what was read before is not told any more, and what is
// told then is told once.
//
// covers: S-11 part
func TestThereAndBackWhileFactsAreRead(t *testing.T) {
	a, b := &board{key: "test/a", value: "1"}, &board{key: "test/b", value: "9"}
	d := newBoards(t, a, b)
	s := d.begin()
	other := d.setup
	other.Agent.Name, other.Agent.Role = "reviewer", "You review."
	away := func(value string) { // when the first fact has been read, and the second is about to be
		b.read = func() {
			b.read = nil
			for _, setup := range []ambit.Setup{other, d.setup} {
				if err := s.Switch(t.Context(), setup); err != nil {
					t.Error(err)
				}
			}
			a.value = value
		}
	}
	away("2")
	d.run(s, "One.")
	a.value = "3"
	away("4")
	d.run(s, "Two.")
	d.run(s, "Three.")
	if got := d.tolds(s.ID()); len(got) != 2 || !got[0].Baseline || got[1].Baseline {
		t.Errorf("told %d times: %+v", len(got), got)
	}
	want := []string{"user: One.", "assistant: Yes.", "user: Two.", "system: test/a is now 4", "assistant: Yes.", "user: Three."}
	system, messages := d.shown(len(d.asked) - 1)
	if len(d.asked) != 3 || system != "You write code.\ntest/a is 2\n\ntest/b is 9\n" || !slices.Equal(messages, want) {
		t.Errorf("%d requests; the last shows in front %q, then %q", len(d.asked), system, messages)
	}
	if got := d.promoted(s.ID()); !slices.Equal(got, []string{"1 One.", "2 Two.", "3 Three."}) {
		t.Errorf("promoted %q", got)
	}
}

// A session is switched to another model and back before it is asked again: the baseline is still the model's own.
//
// covers: S-04 part
// covers: S-11 part
func TestThereAndBackWithoutATurn(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin()
	d.run(s, "One.")
	a.value = "2"
	d.run(s, "Two.")
	other := d.setup
	other.Model.Name = "claude-opus-5"
	for _, setup := range []ambit.Setup{other, d.setup} {
		if err := s.Switch(t.Context(), setup); err != nil {
			t.Fatal(err)
		}
	}
	d.run(s, "Three.")
	before, _ := d.asked[1].elements(t, provider.TypeMessages)
	after, _ := d.asked[2].elements(t, provider.TypeMessages)
	if n := baselines(d.facts(s.ID())); n != 1 || !prefixed(before, after) {
		t.Errorf("%d baselines; the third request is %s", n, d.asked[2].body)
	}
}
