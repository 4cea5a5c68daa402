package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswerTexts(t *testing.T) {
	a := Answer{Text: "A", Calls: []Call{
		{Args: []byte(`{"a/b":"1","~":"2","n":3,"deep":{"x":"y"},"":"4","e":""}`)},
		{Args: []byte(`"free \u00e9"`)},
		{Args: []byte(`["x"]`)},
		{},
	}}
	want := []Text{
		{"/text", SaidAssistant, "A"},
		{"/calls/0/args/a~1b", SaidArgument, "1"},
		{"/calls/0/args/~0", SaidArgument, "2"},
		{"/calls/0/args/", SaidArgument, "4"},
		{"/calls/1/args", SaidArgument, "free é"},
	}
	if diff := cmp.Diff(want, a.Texts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestArguments(t *testing.T) {
	tests := map[string]string{
		`{"a": 1}`: `{"a": 1}`, `"{\"a\": 1} "`: `{"a": 1}`, `"[1]"`: `[1]`, `"5"`: `5`, `"null"`: `null`,
		`"{\"a\""`: `"{\"a\""`, `"{\"a\":1,\"a\":2}"`: `"{\"a\":1,\"a\":2}"`, `"\"x\""`: `"\"x\""`, `""`: `""`, `"text"`: `"text"`, ``: ``,
	}
	for in, want := range tests {
		if got := Arguments(JSON(in)); string(got) != want {
			t.Errorf("arguments in %s are %s, want %s", in, got, want)
		}
	}
}

func TestDraftKeepsWhatCame(t *testing.T) {
	var d Draft
	d.AddText("Hel")
	d.GrowText(0, "Good bye")
	d.GrowText(0, "Hello")
	d.OpenCall(0, "a", "n", JSON(`{}`))
	d.OpenCall(1, "b", "n", nil)
	d.AddArgs(1, `{"x":`)
	d.AddArgs(7, "nobody's")
	d.GrowCalls([]Call{{ID: "a", Name: "n"}})
	d.GrowCalls([]Call{{ID: "a", Name: "n"}, {ID: "c", Name: "n"}})
	d.CloseCall(0, nil)
	d.GrowElements([]Hash{{1}})
	d.GrowElements([]Hash{{2}, {1}})
	d.GrowElements([]Hash{{1}, {2}})
	want := Answer{
		Text: "Hello", Elements: []Hash{{1}, {2}},
		Calls: []Call{{ID: "a", Name: "n", Args: []byte(`{}`)}, {ID: "b", Name: "n", Args: []byte(`"{\"x\":"`)}},
	}
	if diff := cmp.Diff(want, d.Answer()); diff != "" {
		t.Errorf("broken off (-want +got):\n%s", diff)
	}
	d.AddArgs(1, "1}")
	d.CloseCalls()
	d.End()
	want.Whole, want.Calls[1].Args = true, []byte(`{"x":1}`)
	if diff := cmp.Diff(want, d.Answer()); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
	d.Break()
	if d.Answer().Whole {
		t.Error("whole after an error")
	}
}

func TestKey(t *testing.T) {
	long := `"` + strings.Repeat("k", 257) + `"`
	for in, want := range map[string]string{`"k"`: "k", long: "", `5`: "", ``: ""} {
		if got := Key(JSON(in)); got != want {
			t.Errorf("key %.20s is %q, want %q", in, got, want)
		}
	}
}

func TestMembers(t *testing.T) {
	for body, want := range map[string][]flat{
		`{"a":1,"\u0062":{"c":2}}`: {{"a", "1"}, {"b", `{"c":2}`}},
		`{"a":1,"b":`:              {{"a", "1"}},
		`[1]`:                      nil,
		``:                         nil,
	} {
		var got []flat
		for name, v := range JSON(body).Members() {
			got = append(got, flat{name, string(v)})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		for range JSON(body).Members() {
			break // must not go on, which would panic
		}
	}
}
