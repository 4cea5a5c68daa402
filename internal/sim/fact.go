package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ambit/source"
)

// state is how a fact is found.
type state uint8

const (
	present state = iota
	absent
	unavailable
)

// fact is a live fact that changes.
type fact struct {
	key        string
	value      string
	state      state
	volatile   bool
	optional   bool
	silent     bool   // it has no removal text
	plugged    bool   // it is registered, while it is
	unregister func() // nil while it is not
}

// seen is a fact as it was found at a boundary.
type seen struct {
	fact
	asked bool
}

// sight is what was found at one boundary: the facts in their order.
type sight struct {
	plan  plan
	told  map[string]told // what was known then
	facts []seen
	used  bool // a request was made of it
}

// born are the facts of a world.
func (w *world) born() []*fact {
	list := []*fact{
		{key: "core/place"},
		{key: "core/rules"},
		{key: "core/maybe", optional: true},
		{key: "core/today", volatile: true},
		{key: "core/last", silent: true},
		{key: "plug/b", plugged: true},
		{key: "plug/a", plugged: true},
		{key: "plug/clock", plugged: true, volatile: true},
	}
	for _, f := range list {
		f.value = w.value()
		if w.chance(200) {
			f.state = absent
		}
	}
	return list
}

// value is a new value.
func (w *world) value() string {
	text := w.text("Value")
	return strings.ToValidUTF8(text[:min(len(text), 60)], "")
}

// change lets a fact be otherwise.
func (w *world) change() {
	f := w.facts[w.dice.IntN(len(w.facts))]
	w.r.Events["changes"]++
	if f.plugged && w.chance(300) {
		w.plug(f)
		return
	}
	switch n := w.dice.IntN(10); {
	case n < 6:
		f.state, f.value = present, w.value()
	case n < 8:
		f.state = absent
	default:
		f.state = unavailable
	}
	if f.silent && f.state == absent && w.chance(700) {
		f.state = present
	}
	w.note("%s is %q, state %d", f.key, clip(f.value), f.state)
}

// plug registers a fact, or takes it back.
func (w *world) plug(f *fact) {
	if f.unregister != nil {
		w.note("%s is unregistered", f.key)
		f.unregister()
		f.unregister = nil
		return
	}
	w.note("%s is registered", f.key)
	unregister, err := w.registry.Register(w.source(f))
	if err != nil {
		w.fail(Source, "%s cannot be registered: %v", f.key, err)
		return
	}
	f.unregister = unregister
}

// composed gives the sources of a plan, and begins a new sight of them.
func (w *world) composed(p plan) func() (source.Composition, error) {
	return func() (source.Composition, error) {
		w.tail() // what was written before belongs to the sight before
		w.m.sight = &sight{plan: p, told: maps.Clone(w.m.told)}
		w.m.sights = append(w.m.sights, w.m.sight)
		var own []source.Source
		add := func(f *fact) { w.m.sight.facts = append(w.m.sight.facts, seen{fact: *f}) }
		for _, f := range w.facts {
			if !f.plugged {
				own = append(own, w.source(f))
				add(f)
			}
		}
		plugged := slices.Clone(w.facts)
		slices.SortFunc(plugged, func(a, b *fact) int { return slices.Compare([]byte(a.key), []byte(b.key)) })
		for _, f := range plugged {
			if f.unregister != nil {
				add(f)
			}
		}
		w.holds(Source, w.running, "the sources are asked while nothing runs")
		return w.registry.Compose(own...)
	}
}

// source is a fact as the engine asks for it.
func (w *world) source(f *fact) source.Source {
	spec := source.Spec[string]{
		Key: f.key, Volatile: f.volatile, Optional: f.optional,
		Load:     func(ctx context.Context) (string, error) { return w.load(ctx, f) },
		Baseline: f.baseline, Update: f.update, Removal: f.removal,
	}
	if f.silent {
		spec.Removal = nil
	}
	return source.Of(spec)
}

func (f *fact) baseline(v string) string    { return f.key + " is " + v }
func (f *fact) update(was, v string) string { return f.key + " is now " + v + " and was " + was }
func (f *fact) removal(v string) string     { return f.key + " is no more " + v }

// load answers for a fact.
func (w *world) load(ctx context.Context, f *fact) (string, error) {
	i := slices.IndexFunc(w.m.sight.facts, func(s seen) bool { return s.key == f.key })
	if i < 0 {
		w.fail(Source, "%s is asked for, and is not composed", f.key)
		return "", source.ErrAbsent
	}
	sight := w.m.sight
	found := f.found(sight.plan)
	w.meanwhile("a source")
	if ctx.Err() != nil {
		found.state = unavailable
	}
	found.asked = true
	sight.facts[i] = found
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case found.state == absent:
		return "", source.ErrAbsent
	case found.state == unavailable && w.chance(300):
		panic("the fact " + f.key + " is out of its mind")
	case found.state == unavailable:
		return "", errors.New("the disk is asleep")
	}
	return found.value, nil
}

// found is the fact as it is now. One depends on the folder, so that a move changes it.
func (f *fact) found(p plan) seen {
	s := seen{fact: *f}
	if f.key == "core/place" {
		s.value = fmt.Sprintf("folder %d of agent %d", p.dir, p.agent)
	}
	return s
}

// clip makes a text short enough to be noted.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
