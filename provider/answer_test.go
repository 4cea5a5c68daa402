package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswerTexts(t *testing.T) {
	a := Answer{Text: "A", Results: []string{"R", "", "S"}, Others: []string{"", "B"}, Calls: []Call{
		{Args: []byte(`{"a/b":"1","~":"2","n":3,"deep":{"x":"y"},"":"4","e":""}`)},
		{Args: []byte(`"free \u00e9"`)},
		{Args: []byte(`["x"]`)},
		{},
	}}
	want := []Text{
		{Field: "/text", Said: SaidAssistant, Text: "A"},
		{Field: "/results/0", Said: SaidTool, Text: "R"},
		{Field: "/results/2", Said: SaidTool, Text: "S"},
		{Field: "/others/1", Said: SaidAssistant, Text: "B"},
		{Field: "/calls/0/args/a~1b", Said: SaidArgument, Text: "1"},
		{Field: "/calls/0/args/~0", Said: SaidArgument, Text: "2"},
		{Field: "/calls/0/args/", Said: SaidArgument, Text: "4"},
		{Field: "/calls/1/args", Said: SaidArgument, Text: "free é"},
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
	d.AddArgs(1, JSON(`"{\"x\":"`))
	d.AddArgs(7, JSON(`"nobody"`))
	d.GrowCalls([]Call{{ID: "a", Name: "n"}})
	d.GrowCalls([]Call{{ID: "a", Name: "n"}, {ID: "c", Name: "n"}})
	d.CloseCall(0, nil)
	d.GrowElements([]Hash{{1}})
	d.GrowElements([]Hash{{2}, {1}})
	d.GrowElements([]Hash{{1}, {2}})
	want := Answer{
		Text: "Hello", Unknown: true, Elements: []Hash{{1}, {2}},
		Calls: []Call{{ID: "a", Name: "n", Args: []byte(`{}`)}, {ID: "b", Name: "n", Args: []byte(`"{\"x\":"`)}},
	}
	if diff := cmp.Diff(want, d.Answer()); diff != "" {
		t.Errorf("broken off (-want +got):\n%s", diff)
	}
	d.AddArgs(1, JSON(`"1}"`))
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

// What contradicts what came is not taken; then the answer does not say all that passed.
func TestDraftContradicted(t *testing.T) {
	calls := func(args string) []Call { return []Call{{ID: "a", Name: "n", Args: []byte(args)}} }
	open := func(d *Draft) { d.OpenCall(0, "a", "n", JSON(`{}`)) }
	tests := map[string]struct {
		do   func(d *Draft)
		want bool
	}{
		"longer text":              {func(d *Draft) { d.AddText("a"); d.GrowText(0, "ab") }, false},
		"part of the text":         {func(d *Draft) { d.AddText("ab"); d.GrowText(0, "a") }, false},
		"another text":             {func(d *Draft) { d.AddText("a"); d.GrowText(0, "b") }, true},
		"half a character":         {func(d *Draft) { d.AddPiece(JSON(`"\ud83d"`)); d.GrowText(0, "😀") }, false},
		"text that is an object":   {func(d *Draft) { d.AddPiece(JSON(`{"a":"b"}`)) }, true},
		"text that is null":        {func(d *Draft) { d.AddPiece(JSON(`null`)); d.AddPiece(nil); d.AddOther(1, JSON(`null`)) }, false},
		"other that is an object":  {func(d *Draft) { d.AddOther(1, JSON(`{"a":"b"}`)) }, true},
		"same results":             {func(d *Draft) { d.AddResults("a"); d.GrowResults([]string{"a", "b"}) }, false},
		"other results":            {func(d *Draft) { d.AddResults("a"); d.GrowResults([]string{"b", "a"}) }, true},
		"same arguments":           {func(d *Draft) { open(d); d.AddArgs(0, JSON(`"{\"x\":1} "`)); d.CloseCall(0, []byte(`{"x":1}`)) }, false},
		"longer arguments":         {func(d *Draft) { open(d); d.AddArgs(0, JSON(`"{\"x\""`)); d.CloseCall(0, []byte(`{"x":1}`)) }, false},
		"other arguments":          {func(d *Draft) { open(d); d.AddArgs(0, JSON(`"{\"y\""`)); d.CloseCall(0, []byte(`{"x":1}`)) }, true},
		"arguments without pieces": {func(d *Draft) { open(d); d.CloseCall(0, []byte(`{"x":1}`)) }, false},
		"arguments in no piece":    {func(d *Draft) { d.OpenCall(0, "a", "n", JSON(`{"x":"y"}`)); d.AddArgs(0, JSON(`"{}"`)); d.CloseCalls() }, true},
		"free text at the end":     {func(d *Draft) { open(d); d.AddArgs(0, JSON(`"*** B"`)); d.GrowCalls(calls(`"*** Begin"`)) }, false},
		"other calls at the end":   {func(d *Draft) { open(d); d.GrowCalls([]Call{{ID: "b"}}) }, true},
		"other arguments in calls": {func(d *Draft) { d.AddCall("a", "n", []byte(`{"x":1}`)); d.GrowCalls(calls(`{"x":2}`)) }, true},
		"no calls at the end":      {func(d *Draft) { open(d); d.GrowCalls(nil) }, false},
		"what only the end says":   {func(d *Draft) { d.Unsure = true; d.End() }, false},
		"what the end did not say": {func(d *Draft) { d.Unsure = true }, true},
		"a further choice's call":  {func(d *Draft) { d.AddChoice(1, Message{Calls: calls(`{}`)}) }, true},
		"the user, in an answer":   {func(d *Draft) { d.Add(Message{Texts: []Text{{Field: "/0", Said: SaidUser, Text: "x"}}}) }, true},
	}
	for name, test := range tests {
		var d Draft
		if test.do(&d); d.Answer().Unknown != test.want {
			t.Errorf("%s: %+v", name, d.Answer())
		}
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
