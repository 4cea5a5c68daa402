package ambit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/source"
	"ambit/source/host"
)

// loaded is a source whose loader a test replaces.
type loaded struct {
	key      string
	optional bool
	load     func(context.Context) (string, error)
}

func (l *loaded) source() source.Source {
	return source.Of(source.Spec[string]{
		Key: l.key, Optional: l.optional,
		Load:     l.load, // as it is now: one that answers too late is not waited for
		Baseline: func(v string) string { return l.key + " is " + v },
		Update:   func(_, v string) string { return l.key + " is now " + v },
		Removal:  func(string) string { return l.key + " is no more" },
	})
}

func gives(v string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return v, nil }
}

// loads makes a desk's agent be told of sources, each asked for a short time.
func (d *desk) loads(list ...*loaded) {
	d.setup.Each = host.Each(20 * time.Millisecond)
	d.setup.Compose = func() (source.Composition, error) {
		sources := make([]source.Source, len(list))
		for i, l := range list {
			sources[i] = l.source()
		}
		return source.Compose(sources...)
	}
}

// missing is what a session has recorded of sources that could not be read, each time as one line.
func (d *desk) missing(id string) (list []string) {
	for _, f := range d.facts(id) {
		if f, is := f.(*entry.Told); is {
			var one []string
			for _, m := range f.Missing {
				one = append(one, m.Key+": "+m.Why)
			}
			list = append(list, strings.Join(one, "; "))
		}
	}
	return list
}

// Whatever a loader does, an error, a panic or no answer in time, its source is unavailable: that is recorded once as long as it
// stays so, and the model goes on with what it was told. Before the first baseline it keeps the turn from beginning.
//
// covers: S-01
// covers: S-12 part
func TestLoadersThatFail(t *testing.T) {
	late := make(chan struct{})
	defer close(late)
	fails := map[string]func(context.Context) (string, error){
		"test/error": func(context.Context) (string, error) { return "", errors.New("the disk\nis asleep") },
		"test/panic": func(context.Context) (string, error) { panic("out of order") },
		"test/late":  func(context.Context) (string, error) { <-late; return "too late", nil },
	}
	list := []*loaded{{key: "test/a"}, {key: "test/error"}, {key: "test/late"}, {key: "test/panic"}}
	const all = "test/error: the disk is asleep; test/late: no answer in time; test/panic: panic: out of order"
	set := func(value string, broken bool) {
		for _, l := range list {
			if l.load = gives(value); broken && fails[l.key] != nil {
				l.load = fails[l.key]
			}
		}
	}
	d := newBoards(t)
	d.loads(list...)
	set("1", true)
	s := d.begin("One.")
	_, err := s.Run(t.Context())
	if blocked, is := errors.AsType[*ambit.BlockedError](err); !is || len(blocked.Missing) != 3 || !strings.HasSuffix(err.Error(), all) || len(d.asked) > 0 {
		t.Fatalf("%v, %d requests", err, len(d.asked))
	}
	set("1", false)
	d.run(s)
	set("2", true)
	d.run(s, "Two.")
	d.run(s, "Three.")
	set("2", false)
	d.run(s, "Four.")
	if system, _ := d.shown(3); strings.Count(system, " is 1") != 4 {
		t.Errorf("the baseline is %q", system)
	}
	_, messages := d.shown(3)
	want := []string{
		"user: One.", "assistant: Yes.", "user: Two.", "system: test/a is now 2", "assistant: Yes.", "user: Three.", "assistant: Yes.", "user: Four.",
		"system: test/error is now 2\n\ntest/late is now 2\n\ntest/panic is now 2",
	}
	if !slices.Equal(messages, want) {
		t.Errorf("shown %q", messages)
	}
	if got := d.missing(s.ID()); !slices.Equal(got, []string{"", all, ""}) {
		t.Errorf("recorded %q", got)
	}
}

// A source that a first baseline may do without is left out while it cannot be read, and joins once when it can.
//
// covers: S-12
// covers: S-10 part
func TestOptionalJoins(t *testing.T) {
	a, b := &loaded{key: "test/a", load: gives("1")}, &loaded{key: "test/b", optional: true}
	down := func(context.Context) (string, error) { return "", errors.New("the disk is asleep") }
	b.load = down
	d := newBoards(t)
	d.loads(a, b)
	s := d.begin()
	d.run(s, "One.")
	d.run(s, "Two.")
	b.load = gives("2")
	d.run(s, "Three.")
	b.load = down
	d.run(s, "Four.")
	system, messages := d.shown(3)
	want := []string{"user: One.", "assistant: Yes.", "user: Two.", "assistant: Yes.", "user: Three.", "system: test/b is 2", "assistant: Yes.", "user: Four."}
	if system != "You write code.\ntest/a is 1\n" || !slices.Equal(messages, want) {
		t.Errorf("%q, %q", system, messages)
	}
	if got := d.missing(s.ID()); !slices.Equal(got, []string{"test/b: the disk is asleep", "", "test/b: the disk is asleep"}) {
		t.Errorf("recorded %q", got)
	}
}

// A plug-in's source that goes and comes back is said to be gone once, and told anew once; in which order plug-ins registered
// changes no text.
//
// covers: S-19
// covers: S-02 part
func TestRegisteredAgain(t *testing.T) {
	play := func(first, second *board) (texts []string) {
		own := &board{key: "test/own", value: "1"}
		d := newBoards(t, own)
		var registry source.Registry
		d.setup.Compose = func() (source.Composition, error) { return registry.Compose(own.source()) }
		register := func(b *board) func() {
			unregister, err := registry.Register(b.source())
			if err != nil {
				t.Fatal(err)
			}
			return unregister
		}
		gone := map[string]func(){first.key: register(first), second.key: register(second)}
		s := d.begin()
		d.run(s, "One.")
		gone["plug/x"]()
		d.run(s, "Two.")
		d.run(s, "Three.")
		for _, b := range []*board{first, second} {
			if b.key == "plug/x" {
				register(b)
			}
		}
		d.run(s, "Four.")
		d.run(s, "Five.")
		system, messages := d.shown(4)
		return append(messages, system)
	}
	x, y := &board{key: "plug/x", value: "8"}, &board{key: "plug/y", value: "9"}
	one, two := play(x, y), play(y, x)
	want := []string{
		"user: One.", "assistant: Yes.", "user: Two.", "system: plug/x is no more", "assistant: Yes.", "user: Three.", "assistant: Yes.", "user: Four.",
		"system: plug/x is 8", "assistant: Yes.", "user: Five.", "You write code.\ntest/own is 1\n\nplug/x is 8\n\nplug/y is 9\n",
	}
	if !slices.Equal(one, want) || !slices.Equal(two, want) {
		t.Errorf("%q\n%q", one, two)
	}
}
