package ambit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/source"
)

// tolds are the entries of a session that say what was told, or could not be, in order.
func (d *desk) tolds(id string) (list []*entry.Told) {
	d.t.Helper()
	for _, f := range d.facts(id) {
		if f, is := f.(*entry.Told); is {
			list = append(list, f)
		}
	}
	return list
}

// Where the sources cannot even be put together, the error says so, nobody is asked and nothing is recorded; the input waits, and
// is answered when they can be.
//
// covers: S-12 part
func TestSourcesThatCannotBeComposed(t *testing.T) {
	d := newBoards(t, &board{key: "test/a", value: "1"})
	whole := d.setup.Compose
	d.setup.Compose = func() (source.Composition, error) {
		return source.Composition{}, errors.New("two sources are called test/a")
	}
	s := d.begin("One.")
	out, err := s.Run(t.Context())
	if err == nil || err.Error() != "compose the sources: two sources are called test/a" || out != (ambit.Outcome{}) {
		t.Fatalf("%+v, %v", out, err)
	}
	if kinds := d.kinds(s.ID()); !slices.Equal(kinds, []string{"session", "works", "input"}) || len(d.asked) > 0 {
		t.Errorf("entries %v, %d requests", kinds, len(d.asked))
	}
	d.setup.Compose = whole
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s)
	if system, messages := d.shown(0); len(d.asked) != 1 || !strings.Contains(system, "test/a is 1") || !slices.Equal(messages, []string{"user: One."}) {
		t.Errorf("%d requests: %q, %q", len(d.asked), system, messages)
	}
}

// While a fact keeps another model's baseline from being opened, one entry says which and why, however many turns pass.
//
// covers: S-11 part
func TestBlockedIsNotedOnce(t *testing.T) {
	a, b := &board{key: "test/a", value: "1"}, &board{key: "test/b", value: "2"}
	d := newBoards(t, a, b)
	s := d.begin()
	d.run(s, "One.")
	d.setup.Model.Name, b.blocked = "claude-opus-5", true
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d.run(s, "Go on.")
	}
	if got := d.tolds(s.ID()); len(got) != 2 || !got[0].Baseline {
		t.Fatalf("told %d times, want a baseline and a note: %+v", len(got), got)
	} else if note := got[1]; note.Baseline || note.Text != nil || note.Values != nil || !slices.Equal(note.Missing, []entry.Missing{{Key: "test/b", Why: "the disk is asleep"}}) {
		t.Errorf("the note is %+v", note)
	}
	b.blocked = false
	d.run(s, "And now?")
	if got := d.tolds(s.ID()); len(got) != 3 || !got[2].Baseline || len(got[2].Missing) > 0 {
		t.Errorf("afterwards told %d times: %+v", len(got), got[len(got)-1])
	}
}

// A checkpoint stands for what was said, and not for what was told: while a fact keeps a new baseline from being opened, every
// request holds what another one became since the old one, however the model takes it.
//
// covers: S-11 part
// covers: S-18 part
func TestToldStaysThroughACheckpoint(t *testing.T) {
	for name, native := range map[string]bool{"claude-opus-5-5": true, "claude-sonnet-5": false} {
		t.Run(name, func(t *testing.T) {
			a, b := &board{key: "test/a", value: "1"}, &board{key: "test/b", value: "2"}
			model := reader(24_000, false)
			d := newReader(t, provider.TypeMessages, 24_000, model)
			d.setup.Model.Name, d.setup.Limits.Turns = name, 1
			d.setup.Compose = func() (source.Composition, error) { return source.Compose(a.source(), b.source()) }
			s := d.begin("Read all files.")
			turn := func() {
				t.Helper()
				var limit *ambit.LimitError
				if _, err := s.Run(t.Context()); !errors.As(err, &limit) {
					t.Fatalf("%v, refused %v", err, model.Refusals())
				}
			}
			turn()
			a.value, b.blocked = "3", true
			for range 45 {
				turn()
				system, messages := d.shown(len(d.asked) - 1)
				told := slices.IndexFunc(messages, func(m string) bool { return strings.Contains(m, "test/a is now 3") })
				if told < 0 || strings.HasPrefix(messages[told], "system: ") != native || strings.Count(string(d.asked[len(d.asked)-1].body), "test/a is now 3") != 1 || !strings.Contains(system, "test/a is 1") {
					t.Fatalf("request %d shows in front %q, then %.200q", len(d.asked), system, messages)
				}
			}
			if stages, _, _ := d.pressed(s.ID()); stages[entry.StageCompact] == 0 {
				t.Fatalf("stages %v", stages)
			}
			if n := baselines(d.facts(s.ID())); n != 1 || len(model.Refusals()) > 0 {
				t.Errorf("%d baselines, refused %v", n, model.Refusals())
			}
		})
	}
}

// What the model was told cannot be read: the error says in which entry and what can be done, nobody is asked, and nothing new is
// told. Either way out leads on.
func TestToldThatCannotBeRead(t *testing.T) {
	for name, values := range map[string]string{
		"no JSON": `no JSON at all`, "no key": `{"a":{"value":"1"}}`, "no removal": `{"test/a":{"value":"1","removed":""}}`, "null": `null`,
	} {
		t.Run(name, func(t *testing.T) {
			a := &board{key: "test/a", value: "1"}
			d := newBoards(t, a)
			s := d.begin()
			d.run(s, "One.")
			id := s.ID()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			before := entry.Seq(len(d.facts(id)))
			d.act(id, func(*ambit.Recording) error {
				b, err := d.store.Put(t.Context(), id, []byte(values))
				if err == nil {
					_, err = d.store.Append(t.Context(), id, &entry.Told{Values: &b})
				}
				return err
			})
			bad := before + 1
			refused := func(err error) {
				t.Helper()
				for _, want := range []string{"in " + bad.Ref(), "fork the session at " + before.Ref(), "purge " + bad.Ref()} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%v does not say %q", err, want)
					}
				}
			}
			_, _, err := d.engine.Left(t.Context(), id)
			refused(err)
			s, err = d.anew().Resume(t.Context(), id, d.setup)
			if err != nil {
				t.Fatal(err)
			}
			a.value = "2"
			d.say(s, "Two.")
			_, err = s.Run(t.Context())
			refused(err)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if kinds := d.kinds(id); len(d.asked) != 1 || !slices.Equal(kinds[bad:], []string{"input", "promoted", "idle"}) {
				t.Errorf("%d requests, then %v", len(d.asked), kinds[bad:])
			}

			fork := id + "-fork"
			if err := ambit.Fork(t.Context(), d.store, id, before, entry.Session{ID: fork}); err != nil {
				t.Fatal(err)
			}
			d.act(id, func(r *ambit.Recording) error {
				_, err := r.PurgeText(t.Context(), key, bad.Ref())
				return err
			})
			for i, id := range []string{fork, id} {
				s, err := d.anew().Resume(t.Context(), id, d.setup)
				if err != nil {
					t.Fatal(err)
				}
				d.run(s, "Go on.")
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if body := string(d.asked[1+i].body); !strings.Contains(body, fmt.Sprintf("test/a is %s2", []string{"now ", ""}[i])) {
					t.Errorf("%s goes on with %s", id, body)
				}
			}
		})
	}
}
