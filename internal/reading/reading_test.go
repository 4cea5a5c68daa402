package reading_test

import (
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/reading"
	"ambit/provider"
)

// TestID keeps ids as they are, unless no entry has room for them.
func TestID(t *testing.T) {
	long := strings.Repeat("x", 257)
	for id, want := range map[string]string{
		"": "", "toolu_1": "toolu_1", "a\xffb": "a\uFFFDb", long[:256]: long[:256],
		long: "sha256:15eb95a462ee20bd91a415ae2d4aed34",
	} {
		if got := reading.ID(id); got != want {
			t.Errorf("%.20q is kept as %q, want %q", id, got, want)
		}
	}
	if a, b := reading.ID(long), reading.ID(long+"x"); a == b || a != reading.ID(long) {
		t.Errorf("%q and %q", a, b)
	}
}

// TestUnits gives a message one unit, and those ids for which that has no room units behind it.
func TestUnits(t *testing.T) {
	m := provider.Message{Role: strings.Repeat("r", 63) + "é", Unknown: true}
	for range 4000 {
		m.Calls = append(m.Calls, provider.Call{ID: strings.Repeat("c", 100)}, provider.Call{})
		m.Results = append(m.Results, strings.Repeat("r", 100))
	}
	facts := reading.Units(&entry.Unit{N: 7, Of: entry.PartRecord, Thread: "t2", At: "/a", Line: 3, Length: 9}, m)
	calls, results := 0, 0
	for i, f := range facts {
		u := f.(*entry.Unit)
		calls, results = calls+len(u.Calls), results+len(u.Results)
		if u.N != 7 || u.Thread != "t2" || (u.Of == entry.PartMore) != (i > 0) || u.Unknown != (i == 0) {
			t.Errorf("unit %d is %+v", i, u)
		}
		line, err := entry.Encode(entry.Entry{Seq: 1, Fact: u})
		if err != nil || len(line) > 1<<20 {
			t.Errorf("unit %d takes %d bytes: %v", i, len(line), err)
		}
	}
	if first := facts[0].(*entry.Unit); first.Role != strings.Repeat("r", 63) || calls != 4000 || results != 4000 || len(facts) < 2 {
		t.Errorf("%d units with %d calls and %d results; role %q", len(facts), calls, results, first.Role)
	}
}

// TestSpoken knows an answer when a client sends it back, as a whole or in parts, and nothing else.
func TestSpoken(t *testing.T) {
	said := reading.SpokenOf(provider.Answer{
		Text: "I read both.", Calls: []provider.Call{{ID: "c1", Args: []byte(`{"path":"a","deep":{"x":"y"}}`)}}, Results: []string{"found"},
	})
	text := func(said, text string) provider.Message {
		return provider.Message{Role: "assistant", Texts: []provider.Text{{Said: said, Text: text}}}
	}
	for _, c := range []struct {
		m    provider.Message
		want bool
	}{
		{text(provider.SaidAssistant, "read both"), true},
		{text(provider.SaidAssistant, "read all"), false},
		{text(provider.SaidArgument, "a"), true},
		{text(provider.SaidArgument, "y"), false},
		{text(provider.SaidTool, "found"), true},
		{text(provider.SaidTool, "lost"), false},
		{text(provider.SaidUser, "read both"), false},
		{provider.Message{Role: "assistant"}, true},
	} {
		if got := said.Holds(c.m); got != c.want {
			t.Errorf("%+v is held: %v", c.m, got)
		}
	}
	for role, want := range map[string]bool{"assistant": true, "model": true, "user": false} {
		if got := reading.MayRepeat(provider.Message{Role: role}); got != want {
			t.Errorf("%s may repeat an answer: %v", role, got)
		}
	}
	if reading.MayRepeat(provider.Message{Role: "assistant", Results: []string{"c1"}}) || reading.MayRepeat(provider.Message{Role: "assistant", Unknown: true}) {
		t.Error("what holds results, or is not known, is no answer")
	}
}

// TestMessage gives the rules of threads what is said, in order, and which calls are meant.
func TestMessage(t *testing.T) {
	got := reading.Message(provider.Message{
		Results: []string{"c0"}, Calls: []provider.Call{{ID: "c1"}, {}},
		Texts: []provider.Text{{Said: provider.SaidUser, Text: "one"}, {Said: provider.SaidTool, Text: "no"}, {Said: provider.SaidArgument, Text: "a"}, {Said: provider.SaidAssistant, Text: "two"}},
	})
	if got.Said != "one\ntwo\n" || !slices.Equal(got.IDs, []string{"c0", "c1"}) || !slices.Equal(got.Args, []string{"a"}) {
		t.Errorf("%+v", got)
	}
}
