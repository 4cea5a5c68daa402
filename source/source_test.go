package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/source"
)

// fataler is a test, or a check of rapid's.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var background = context.Background()

// live is a fact that a test changes.
type live struct {
	value string
	err   error
	loads int // how often it was asked for
	drawn []source.Rendering
}

// spec is a source of the fact: its texts name key and values.
func (l *live) spec(key string) source.Spec[string] {
	return source.Spec[string]{
		Key: key,
		Load: func(context.Context) (string, error) {
			l.loads++
			return l.value, l.err
		},
		Baseline: func(v string) string {
			l.drawn = append(l.drawn, source.Baseline)
			return key + " is " + v
		},
		Update: func(_, v string) string {
			l.drawn = append(l.drawn, source.Update)
			return key + " is now " + v
		},
	}
}

func (l *live) lasting(key string) source.Source { return source.Of(l.spec(key)) }

func (l *live) removable(key string) source.Source {
	s := l.spec(key)
	s.Removal = func(v string) string { return key + " was " + v }
	return source.Of(s)
}

func (l *live) optional(key string) source.Source {
	s := l.spec(key)
	s.Optional = true
	return source.Of(s)
}

func compose(t fataler, sources ...source.Source) source.Composition {
	t.Helper()
	c, err := source.Compose(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must returns an outcome that has no error.
func must(t fataler) func(source.Outcome, error) source.Outcome {
	return func(o source.Outcome, err error) source.Outcome {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
}

// begin returns the first baseline of some sources.
func begin(t fataler, c source.Composition) source.Outcome {
	t.Helper()
	o := must(t)(c.Initialize(c.Observe(background, nil)))
	if o.Status != source.Ready {
		t.Fatalf("the first baseline is %s by %q", o.Status, o.Blocked)
	}
	return o
}

// reconcile observes once and reconciles.
func reconcile(t fataler, c source.Composition, previous source.Snapshot) source.Outcome {
	t.Helper()
	return must(t)(c.Reconcile(c.Observe(background, nil), previous))
}

// expect fails unless an outcome has the status and the text. A snapshot is compared where one is given, as JSON.
func expect(t fataler, o source.Outcome, status source.Status, text string, snapshot ...string) {
	t.Helper()
	if o.Status != status || o.Text() != text {
		t.Errorf("%s %q, want %s %q", o.Status, o.Text(), status, text)
	}
	for _, want := range snapshot {
		if got := encode(t, o.Snapshot); got != want {
			t.Errorf("the snapshot is\n%s\nwant\n%s", got, want)
		}
	}
}

func encode(t fataler, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var errDown = errors.New("the disk is gone")

// covers: S-01 part
func TestKeyIsNamespaced(t *testing.T) {
	for key, ok := range map[string]bool{
		"core/date": true, "a/b": true, "0/9": true, "a.b_c-d/e.f_g-h": true, "api/a/b/c": true, "a/b/": true,
		"": false, "date": false, "/date": false, "core/": false, "Core/date": false, "core/Date": false, "core//date": false,
		".a/b": false, "a/-b": false, "a b/c": false, "core/date\n": false, "core/dätum": false,
	} {
		if err := source.CheckKey(key); (err == nil) != ok {
			t.Errorf("%q: %v", key, err)
		}
		if _, err := source.Compose((&live{}).lasting(key)); (err == nil) != ok {
			t.Errorf("a source %q: %v", key, err)
		}
	}
}

// TestTypesAreHidden composes sources of several types, each with its value by its own codec.
//
// covers: S-01 part
func TestTypesAreHidden(t *testing.T) {
	type point struct {
		Y int `json:"y"`
		X int `json:"x"`
	}
	hex := source.Codec[int]{
		Encode: func(v int) ([]byte, error) { return fmt.Appendf(nil, `{ "hex" : "%x" }`, v), nil },
		Decode: func(data []byte) (v int, err error) {
			_, err = fmt.Sscanf(string(data), `{"hex":"%x"}`, &v)
			return v, err
		},
	}
	c := compose(
		t,
		typed("a/point", point{2, 1}, source.Codec[point]{}), typed("a/number", 31, hex),
		typed("a/list", []string{"<b>", "\xff"}, source.Codec[[]string]{}), typed("a/none", (*point)(nil), source.JSON[*point]()),
	)
	o := begin(t, c)
	expect(t, o, source.Ready, "{2 1}\n\n31\n\n[<b> \uFFFD]\n\n<nil>",
		`{"a/list":{"value":["\u003cb\u003e","`+"\uFFFD"+`"]},"a/none":{"value":null},"a/number":{"value":{"hex":"1f"}},"a/point":{"value":{"y":2,"x":1}}}`)
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
}

func typed[T any](key string, v T, codec source.Codec[T]) source.Source {
	return source.Of(source.Spec[T]{
		Key:      key,
		Load:     func(context.Context) (T, error) { return v, nil },
		Baseline: func(v T) string { return fmt.Sprint(v) },
		Update:   func(_, v T) string { return fmt.Sprint("now ", v) },
		Codec:    codec,
	})
}

// TestValueThatCannotBeKept makes a source unavailable: it would differ from itself at every boundary.
//
// covers: S-01 part
func TestValueThatCannotBeKept(t *testing.T) {
	n := 0
	for name, s := range map[string]source.Source{
		"encode: json: unsupported value": typed("a/b", math.NaN(), source.Codec[float64]{}),
		"decode what was encoded": typed("a/b", "", source.Codec[string]{
			Encode: func(string) ([]byte, error) { return []byte("1"), nil },
			Decode: func([]byte) (string, error) { return "", errDown },
		}),
		"does not give back": typed("a/b", "", source.Codec[string]{
			Encode: func(string) ([]byte, error) { n++; return fmt.Append(nil, n), nil },
			Decode: func([]byte) (string, error) { return "", nil },
		}),
		"unexpected end of JSON": typed("a/b", "", source.Codec[string]{
			Encode: func(string) ([]byte, error) { return nil, nil },
			Decode: func([]byte) (string, error) { return "", nil },
		}),
	} {
		if o := compose(t, s).Observe(background, nil)["a/b"]; o.State != source.Unavailable || !strings.Contains(o.Reason, name) {
			t.Errorf("%+v, want %q", o, name)
		}
	}
}

func TestSpecThatIsNotWhole(t *testing.T) {
	whole := (&live{}).spec("a/b")
	for want, change := range map[string]func(*source.Spec[string]){
		"no Load":      func(s *source.Spec[string]) { s.Load = nil },
		"no Baseline":  func(s *source.Spec[string]) { s.Baseline = nil },
		"no Update":    func(s *source.Spec[string]) { s.Update = nil },
		"half a Codec": func(s *source.Spec[string]) { s.Codec.Encode = source.JSON[string]().Encode },
	} {
		s := whole
		change(&s)
		if _, err := source.Compose(source.Of(s)); err == nil || !strings.Contains(err.Error(), `"a/b" has `+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := source.Compose(source.Source{}); err == nil {
		t.Error("the zero Source is composed")
	}
}

// covers: S-01 part
func TestSnapshotHasOneSpelling(t *testing.T) {
	s := source.Snapshot{
		"b/b": {Value: json.RawMessage(` { "x" : [ 1 ] } `), Removed: "gone"},
		"a/z": {Value: json.RawMessage(`"v"`)},
	}
	const want = `{"a/z":{"value":"v"},"b/b":{"value":{"x":[1]},"removed":"gone"}}`
	if got := encode(t, s); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var back source.Snapshot
	if err := json.Unmarshal([]byte(want), &back); err != nil || encode(t, back) != want {
		t.Errorf("read back: %v, %v", back, err)
	}
	if got := encode(t, source.Snapshot(nil)); got != "{}" {
		t.Errorf("an empty one is %s", got)
	}
}

// TestSnapshotThatIsWrong reads nothing of it.
//
// covers: S-01 part
func TestSnapshotThatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"date":{"value":1}}`:                   `"date" has no namespace`,
		`{"Core/date":{"value":1}}`:              `"Core/date" is not of the form`,
		`{"core/date":{}}`:                       `"core/date" has no value`,
		`{"core/date":{"value":1,"removed":""}}`: `removal text of "core/date" is empty`,
		`{"core/date":1}`:                        "cannot unmarshal",
		`null`:                                   "null is none",
		`[]`:                                     "cannot unmarshal",
	} {
		s := source.Snapshot{"a/b": {}}
		err := s.UnmarshalJSON([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !cmp.Equal(s, source.Snapshot{"a/b": {}}) {
			t.Errorf("%s: %v, %v, want %q", text, s, err, want)
		}
	}
}
