package view_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/unit"
	"ambit/view"
)

func said(layer view.Layer, role unit.Role, ref, text string) view.Segment {
	return view.Segment{Layer: layer, Unit: unit.Unit{Ref: ref, Role: role, Parts: []unit.Part{{Kind: unit.Text, Text: text}}}}
}

func ExampleView() {
	date := said(view.Stable, unit.System, "e1", "Today is Mon.")
	date.Mark, date.EstTokens = view.OneHour, 4
	v, err := view.Of(
		said(view.Role, unit.System, "e0", "Be brief."),
		date,
		said(view.Working, unit.User, "e2", "Read a.txt.\nThen tell me what it says, and whether that is all."),
		view.Segment{Layer: view.Working, Unit: unit.Unit{Ref: "e3", Role: unit.Assistant, Parts: []unit.Part{
			{Kind: unit.Opaque, Raw: []byte(`{"type":"thinking"}`)}, {Kind: unit.Call, ID: "c1", Name: "read", Args: []byte(`{"path":"a.txt"}`)},
		}}},
		view.Segment{Layer: view.Working, Unit: unit.Unit{Ref: "e4", Role: unit.Tool, Parts: []unit.Part{
			{Kind: unit.Result, ID: "c1", Text: "no such file", Failed: true},
		}}, Mark: view.FiveMinute},
	)
	v.Tools = []view.Tool{{Name: "read", Description: "Reads a file."}}
	fmt.Print(v)
	fmt.Println(err)
	// Output:
	// [tool]              read Reads a file.
	// [role]    system    e0   Be brief.
	// [stable]  system    e1   Today is Mon.  ~4  <1h>
	// [working] user      e2   Read a.txt.\nThen tell me what it says, and wheth…
	// [working] assistant e3   {"type":"thinking"} · c1 read({"path":"a.txt"})
	// [working] tool      e4   c1 failed -> no such file  <5m>
	// <nil>
}

func TestOrder(t *testing.T) {
	_, err := view.Of(said(view.Stable, unit.System, "e0", "a"), said(view.Working, unit.User, "e1", "b"), said(view.Role, unit.System, "e2", "c"))
	var e *view.OrderError
	if !errors.As(err, &e) || e.At != 2 || err.Error() != `segment 2, "e2": layer role stands behind layer working` {
		t.Errorf("a role segment behind working: %v", err)
	}
	_, err = view.Of(said("wet", unit.User, "e0", "a"))
	if !errors.As(err, &e) || err.Error() != `segment 0, "e0": "wet" is no layer` {
		t.Errorf("an unknown layer: %v", err)
	}
	if v, err := view.Of(); err != nil || v.String() != "" {
		t.Errorf("no segments: %v, %v", v, err)
	}
}

// A view is refused exactly where its layers are not in order, and the listing has a line for each segment whatever
// they say.
func TestOrderLaw(t *testing.T) {
	order := []view.Layer{view.Role, view.Stable, view.Working, view.Tail}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 8).Draw(t, "layers")
		if rapid.Bool().Draw(t, "in order") {
			slices.Sort(at)
		}
		var segments []view.Segment
		for _, i := range at {
			segments = append(segments, said(order[i], unit.User, "e", rapid.String().Draw(t, "text")))
		}
		v, err := view.Of(segments...)
		if (err == nil) != slices.IsSorted(at) {
			t.Fatalf("layers %v: %v", at, err)
		}
		if got := strings.Count(v.String(), "\n"); got != len(at) {
			t.Fatalf("%d lines for %d segments:\n%s", got, len(at), v)
		}
	})
}

func TestListing(t *testing.T) {
	s := said(view.Tail, unit.User, "e1", strings.Repeat("ä", 48)+"\xff")
	s.Apart = true
	v, _ := view.Of(s, said(view.Tail, unit.User, "e2", "\xff\t"), view.Segment{Layer: view.Tail})
	want := "[tail]    user      e1   | " + strings.Repeat("ä", 48) + "…\n[tail]    user      e2   \uFFFD\\t\n[tail]\n"
	if got := v.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
