package source_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/source"
)

// world is what a model of the laws knows: what each source would say now.
type world map[string]source.State

var lawKeys = []string{"a/a", "a/b", "b/a", "c/c"}

// drawWorld draws which sources there are and how they are.
func drawWorld(t *rapid.T) (world, map[string]string) {
	w, values := world{}, map[string]string{}
	for _, k := range lawKeys {
		if rapid.IntRange(0, 4).Draw(t, "here") > 0 {
			w[k] = rapid.SampledFrom([]source.State{source.Present, source.Present, source.Absent, source.Unavailable}).Draw(t, "state")
			values[k] = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value")
		}
	}
	return w, values
}

// sources makes the sources of a world. A text names its key and its value alone, so that a reader of all texts knows
// what is in force.
func (w world) sources(values map[string]string, order []string, removable bool) (out []source.Source) {
	for _, k := range order {
		if w[k] == "" {
			continue
		}
		s := source.Spec[string]{
			Key: k,
			Load: func(context.Context) (string, error) {
				switch w[k] {
				case source.Absent:
					return "", source.ErrAbsent
				case source.Unavailable:
					return "", errDown
				}
				return values[k], nil
			},
			Baseline: func(v string) string { return k + "=" + v },
			Update:   func(_, v string) string { return k + "=" + v },
		}
		if removable {
			s.Removal = func(string) string { return k + "=" }
		}
		out = append(out, source.Of(s))
	}
	return out
}

// hear is what a reader knows after an outcome.
func hear(known map[string]string, o source.Outcome) map[string]string {
	known = maps.Clone(known)
	if o.Status == source.Ready {
		clear(known)
	}
	for _, p := range o.Parts {
		k, v, _ := strings.Cut(p.Text, "=")
		if known[k] = v; v == "" {
			delete(known, k)
		}
	}
	return known
}

// due is what a reader should know, who knew something before: what is unavailable stays as it was told.
func (w world) due(values, before map[string]string) map[string]string {
	due := map[string]string{}
	for k, state := range w {
		if v, told := before[k]; state == source.Unavailable && told {
			due[k] = v
		} else if state == source.Present {
			due[k] = values[k]
		}
	}
	return due
}

// TestSourceLaw goes through boundaries at which sources come, go, change, and cannot be had, and compares what a reader
// of all that was said knows with what there was to know. Reconciling twice admits once; unavailable admits nothing.
//
// covers: S-08 part
// covers: S-09 part
func TestSourceLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		told, known := source.Snapshot{}, map[string]string{}
		for range rapid.IntRange(1, 8).Draw(t, "boundaries") {
			w, values := drawWorld(t)
			c := compose(t, w.sources(values, lawKeys, rapid.Bool().Draw(t, "removable"))...)
			seen := c.Observe(background, nil)
			before := encode(t, told)
			o := must(t)(c.Reconcile(seen, told))
			if encode(t, told) != before {
				t.Fatal("the previous snapshot has changed")
			}
			for _, p := range o.Parts {
				if w[p.Key] == source.Unavailable {
					t.Fatalf("%q is unavailable and says %q", p.Key, p.Text)
				}
			}
			again := must(t)(c.Reconcile(seen, o.Snapshot))
			if o.Status == source.Blocked {
				if o.Parts != nil || encode(t, o.Snapshot) != before || again.Status != source.Blocked {
					t.Fatalf("blocked, and then %s: %q", again.Status, o.Text())
				}
				continue
			}
			if again.Status != source.Unchanged || again.Parts != nil || encode(t, again.Snapshot) != encode(t, o.Snapshot) {
				t.Fatalf("reconciled again: %s %q", again.Status, again.Text())
			}
			due := w.due(values, known)
			if known = hear(known, o); !maps.Equal(known, due) {
				t.Fatalf("%s %q: a reader knows %v, and should know %v", o.Status, o.Text(), known, due)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(o.Snapshot))) {
				t.Fatalf("a reader knows %v, and the snapshot is %s", known, encode(t, o.Snapshot))
			}
			told = read(t, encode(t, o.Snapshot)) // as after a restart
		}
	})
}

// TestRegistrationOrderChangesNoText registers the same sources in two orders.
//
// covers: S-19 part
func TestRegistrationOrderChangesNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		told, _ := drawWorld(t)
		now, values := drawWorld(t)
		before := source.Snapshot{}
		for k := range told {
			before[k] = source.Told{Value: []byte(`"1"`), Removed: k + "="}
		}
		var outcomes []string
		for range 2 {
			var r source.Registry
			for _, s := range now.sources(values, rapid.Permutation(lawKeys).Draw(t, "order"), true) {
				if _, err := r.Register(s); err != nil {
					t.Fatal(err)
				}
			}
			c, err := r.Compose()
			if err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, encode(t, reconcile(t, c, before))+encode(t, must(t)(c.Initialize(c.Observe(background, nil)))))
		}
		if outcomes[0] != outcomes[1] {
			t.Fatalf("%s\n%s", outcomes[0], outcomes[1])
		}
	})
}
