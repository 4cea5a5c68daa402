package source_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ambit/source"
)

// covers: S-03 part
func TestBaselineTellsEverySourceOnce(t *testing.T) {
	a, b := &live{value: "1"}, &live{value: "2"}
	o := begin(t, compose(t, a.removable("core/z"), b.lasting("core/a")))
	expect(t, o, source.Ready, "core/z is 1\n\ncore/a is 2",
		`{"core/a":{"value":"2"},"core/z":{"value":"1","removed":"core/z was 1"}}`)
	if a.loads != 1 || b.loads != 1 {
		t.Errorf("asked %d and %d times", a.loads, b.loads)
	}
}

// covers: S-08
func TestExactlyOneOutcome(t *testing.T) {
	told := `{"a/a":{"value":"1"},"a/b":{"value":"2","removed":"a/b was 2"}}`
	for _, tt := range []struct {
		name     string
		a, b     live
		without  bool // b has left the composition
		previous string
		want     source.Status
		text     string
		snapshot string
	}{
		{"nothing changed", live{value: "1"}, live{value: "2"}, false, told, source.Unchanged, "", told},
		{
			"one changed",
			live{value: "1"},
			live{value: "3"},
			false, told, source.Updated, "a/b is now 3",
			`{"a/a":{"value":"1"},"a/b":{"value":"3"}}`,
		},
		{
			"both changed",
			live{value: "x"},
			live{value: "y"},
			false, told, source.Updated, "a/a is now x\n\na/b is now y",
			`{"a/a":{"value":"x"},"a/b":{"value":"y"}}`,
		},
		{
			"one is new",
			live{value: "1"},
			live{value: "2"},
			false, `{"a/a":{"value":"1"}}`, source.Updated, "a/b is 2",
			`{"a/a":{"value":"1"},"a/b":{"value":"2"}}`,
		},
		{"one is unavailable", live{value: "1"}, live{err: errDown}, false, told, source.Unchanged, "", told},
		{"one is new and unavailable", live{value: "1"}, live{err: errDown}, false, `{"a/a":{"value":"1"}}`, source.Unchanged, "", `{"a/a":{"value":"1"}}`},
		{"one is new and absent", live{value: "1"}, live{err: source.ErrAbsent}, false, `{"a/a":{"value":"1"}}`, source.Unchanged, "", `{"a/a":{"value":"1"}}`},
		{"one is absent", live{value: "1"}, live{err: source.ErrAbsent}, false, told, source.Updated, "a/b was 2", `{"a/a":{"value":"1"}}`},
		{"one has left", live{value: "1"}, live{}, true, told, source.Updated, "a/b was 2", `{"a/a":{"value":"1"}}`},
		{"one is absent without a text", live{err: source.ErrAbsent}, live{value: "2"}, false, told, source.Ready, "a/b is 2", `{"a/b":{"value":"2"}}`},
		{
			"one has left without a text",
			live{value: "1"},
			live{},
			true, `{"a/a":{"value":"1"},"a/b":{"value":"2"}}`, source.Ready, "a/a is 1",
			`{"a/a":{"value":"1"}}`,
		},
		{
			"one has another type",
			live{value: "1"},
			live{value: "2"},
			false, `{"a/a":{"value":1},"a/b":{"value":"2"}}`, source.Ready, "a/a is 1\n\na/b is 2",
			`{"a/a":{"value":"1"},"a/b":{"value":"2"}}`,
		},
		{
			"one is null",
			live{value: ""},
			live{value: "2"},
			false, `{"a/a":{"value":null},"a/b":{"value":"2"}}`, source.Ready, "a/a is \n\na/b is 2",
			`{"a/a":{"value":""},"a/b":{"value":"2"}}`,
		},
		{
			"one has another type and one is unavailable",
			live{value: "1"},
			live{err: errDown},
			false, `{"a/a":{"value":1},"a/b":{"value":"2"}}`, source.Blocked, "",
			`{"a/a":{"value":1},"a/b":{"value":"2"}}`,
		},
		{
			"one of another type is unavailable",
			live{err: errDown},
			live{value: "3"},
			false, `{"a/a":{"value":1},"a/b":{"value":"2"}}`, source.Updated, "a/b is now 3",
			`{"a/a":{"value":1},"a/b":{"value":"3"}}`,
		},
		{"nothing was told", live{value: "1"}, live{value: "2"}, false, `{}`, source.Updated, "a/a is 1\n\na/b is 2", `{"a/a":{"value":"1"},"a/b":{"value":"2"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sources := []source.Source{tt.a.lasting("a/a"), tt.b.lasting("a/b")}
			if tt.without {
				sources = sources[:1]
			}
			previous := read(t, tt.previous)
			o := reconcile(t, compose(t, sources...), previous)
			expect(t, o, tt.want, tt.text, tt.snapshot)
			if (o.Status == source.Blocked) != (o.Blocked != nil) {
				t.Errorf("%s by %q", o.Status, o.Blocked)
			}
			if got := encode(t, previous); got != tt.previous {
				t.Errorf("the previous snapshot has become %s", got)
			}
		})
	}
}

func read(t fataler, text string) (s source.Snapshot) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEqualKeepsWhatWasTold keeps the stored removal text of a source that now has none, and one that now has another.
//
// covers: S-08
func TestEqualKeepsWhatWasTold(t *testing.T) {
	a, b := &live{value: "1"}, &live{value: "2"}
	o := begin(t, compose(t, a.removable("core/a"), b.removable("core/b")))
	b.value = "3"
	o = reconcile(t, compose(t, a.lasting("core/a"), b.removable("core/b")), o.Snapshot)
	expect(t, o, source.Updated, "core/b is now 3", `{"core/a":{"value":"1","removed":"core/a was 1"},"core/b":{"value":"3","removed":"core/b was 3"}}`)
	expect(t, reconcile(t, compose(t, a.lasting("core/a"), b.removable("core/b")), o.Snapshot), source.Unchanged, "")
}

// TestSpellingIsNoChange compares what the codec reads, not the bytes.
//
// covers: S-08 part
func TestSpellingIsNoChange(t *testing.T) {
	type pair struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	c := compose(t, typed("a/b", pair{1, 2}, source.Codec[pair]{}))
	const told = `{"a/b":{"value":{"b":2,"c":3,"a":1}}}`
	expect(t, reconcile(t, c, read(t, told)), source.Unchanged, "", told)
}

// TestSourceJoinsLater tells a source that a later composition has, once.
//
// covers: S-10
func TestSourceJoinsLater(t *testing.T) {
	a, b := &live{value: "1"}, &live{value: "2"}
	o := begin(t, compose(t, a.lasting("a/a")))
	c := compose(t, b.lasting("a/b"), a.lasting("a/a"))
	o = reconcile(t, c, o.Snapshot)
	expect(t, o, source.Updated, "a/b is 2")
	if len(o.Parts) != 1 || o.Parts[0].Rendering != source.Baseline {
		t.Errorf("the parts are %v", o.Parts)
	}
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
}

// covers: S-09
func TestUnavailableIsNotAbsent(t *testing.T) {
	a := &live{value: "1"}
	c := compose(t, a.removable("core/a"))
	told := begin(t, c).Snapshot

	a.err = errDown
	expect(t, reconcile(t, c, told), source.Unchanged, "", encode(t, told))
	o := must(t)(c.Replace(c.Observe(background, nil), told))
	if expect(t, o, source.Blocked, "", encode(t, told)); !slices.Equal(o.Blocked, []string{"core/a"}) {
		t.Errorf("blocked by %q", o.Blocked)
	}
	expect(t, must(t)(c.Replace(c.Observe(background, nil), nil)), source.Ready, "", "{}")

	a.err = source.ErrAbsent
	o = reconcile(t, c, told)
	expect(t, o, source.Updated, "core/a was 1", "{}")
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "", "{}")
	expect(t, must(t)(c.Replace(c.Observe(background, nil), told)), source.Ready, "", "{}")

	a.err = nil
	expect(t, reconcile(t, c, o.Snapshot), source.Updated, "core/a is 1", encode(t, told))
}

// covers: S-12 part
func TestFirstBaselineIsBlocked(t *testing.T) {
	down, up, spare := &live{err: errDown}, &live{value: "1"}, &live{err: errDown, value: "2"}
	c := compose(t, down.lasting("b/b"), up.lasting("c/c"), spare.optional("d/d"), down.lasting("a/a"))
	o := must(t)(c.Initialize(c.Observe(background, nil)))
	if expect(t, o, source.Blocked, "", "{}"); !slices.Equal(o.Blocked, []string{"b/b", "a/a"}) {
		t.Errorf("blocked by %q", o.Blocked)
	}

	c = compose(t, spare.optional("d/d"), up.lasting("c/c"))
	o = begin(t, c)
	expect(t, o, source.Ready, "c/c is 1", `{"c/c":{"value":"1"}}`)
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
	spare.err = nil
	o = reconcile(t, c, o.Snapshot)
	expect(t, o, source.Updated, "d/d is 2")

	spare.err = errDown
	if o = must(t)(c.Replace(c.Observe(background, nil), o.Snapshot)); o.Status != source.Blocked {
		t.Errorf("a new baseline without an optional source that was told is %s", o.Status)
	}
}

// TestRemovalsComeByKey tells those that left and those that are absent in one order, after all else.
//
// covers: S-09 part
func TestRemovalsComeByKey(t *testing.T) {
	told := read(t, `{"core/z":{"value":"1","removed":"no z"},"core/a":{"value":"1","removed":"no a"},"core/m":{"value":"1","removed":"no m"}}`)
	expect(t, reconcile(t, source.Composition{}, told), source.Updated, "no a\n\nno m\n\nno z", "{}")
	m, y := &live{err: source.ErrAbsent}, &live{value: "1"}
	expect(t, reconcile(t, compose(t, m.lasting("core/m"), y.lasting("core/y")), told), source.Updated, "core/y is 1\n\nno a\n\nno m\n\nno z")
}

// covers: S-09 part
func TestEmptyComposition(t *testing.T) {
	var none source.Composition
	expect(t, begin(t, none), source.Ready, "", "{}")
	expect(t, reconcile(t, none, nil), source.Unchanged, "", "{}")
	expect(t, reconcile(t, none, read(t, `{"a/b":{"value":1,"removed":"gone"}}`)), source.Updated, "gone", "{}")
	expect(t, reconcile(t, none, read(t, `{"a/b":{"value":1}}`)), source.Ready, "", "{}")
}

// TestOneObservation replaces after a reconciliation without asking again, and draws no update that it would discard.
//
// covers: S-08
func TestOneObservation(t *testing.T) {
	a, b := &live{value: "1"}, &live{value: "2"}
	c := compose(t, a.lasting("a/a"), b.lasting("a/b"))
	o := reconcile(t, c, read(t, `{"a/a":{"value":"0"},"a/b":{"value":2}}`))
	expect(t, o, source.Ready, "a/a is 1\n\na/b is 2")
	if a.loads != 1 || b.loads != 1 {
		t.Errorf("asked %d and %d times", a.loads, b.loads)
	}
	if slices.Contains(a.drawn, source.Update) || slices.Contains(b.drawn, source.Update) {
		t.Errorf("drawn were %v and %v", a.drawn, b.drawn)
	}
}

// covers: S-01 part
func TestRendererThatSaysNothing(t *testing.T) {
	text := map[source.Rendering]string{}
	s := source.Of(source.Spec[string]{
		Key:      "a/b",
		Load:     func(context.Context) (string, error) { return "v", nil },
		Baseline: func(string) string { return text[source.Baseline] },
		Update:   func(_, _ string) string { return text[source.Update] },
		Removal:  func(string) string { return text[source.Removal] },
	})
	c := compose(t, s)
	o := c.Observe(background, nil)
	for _, r := range []source.Rendering{source.Baseline, source.Update, source.Removal} {
		for _, empty := range []string{"", " \n\t"} {
			text = map[source.Rendering]string{source.Baseline: "x", source.Update: "x", source.Removal: "x"}
			text[r] = empty
			_, err := c.Reconcile(o, read(t, `{"a/b":{"value":"before"}}`))
			if r == source.Baseline {
				_, err = c.Initialize(o)
			}
			if err == nil || !strings.Contains(err.Error(), string(r)+` of source "a/b"`) {
				t.Errorf("%s %q: %v", r, empty, err)
			}
		}
	}
}

func TestRendererThatPanics(t *testing.T) {
	s := (&live{value: "1"}).spec("a/b")
	s.Baseline = func(string) string { panic("no") }
	c := compose(t, source.Of(s))
	if _, err := c.Initialize(c.Observe(background, nil)); err == nil || !strings.Contains(err.Error(), `"a/b": panic: no`) {
		t.Error(err)
	}
}

func TestObservedValueThatIsNone(t *testing.T) {
	c := compose(t, (&live{}).lasting("a/b"))
	_, err := c.Reconcile(source.Observation{"a/b": {State: source.Present, Value: json.RawMessage("1")}}, nil)
	if err == nil || !strings.Contains(err.Error(), `"a/b"`) {
		t.Error(err)
	}
}

// TestOneBlankLine joins texts that end in newlines of their own.
func TestOneBlankLine(t *testing.T) {
	c := compose(t, typed("a/a", "\n one\n\n", source.JSON[string]()), typed("a/b", "two\r\n", source.JSON[string]()))
	expect(t, begin(t, c), source.Ready, " one\n\ntwo")
}

// TestVolatileStandsApart gives a layout what it needs to put volatile sources behind the stable layer.
//
// covers: S-15 part
func TestVolatileStandsApart(t *testing.T) {
	s := (&live{value: "1"}).spec("a/v")
	s.Volatile = true
	o := begin(t, compose(t, source.Of(s), (&live{value: "2"}).lasting("a/s"), (&live{value: "3"}).lasting("a/t")))
	stable, volatile := o.Layers()
	if got := source.Text(stable) + " | " + source.Text(volatile); got != "a/s is 2\n\na/t is 3 | a/v is 1" {
		t.Error(got)
	}
	if !source.Of(s).Volatile() || source.Of(s).Optional() || source.Of(s).Key() != "a/v" {
		t.Error("the source does not say what it is")
	}
}
