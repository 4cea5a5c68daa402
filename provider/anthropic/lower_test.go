package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

var update = flag.Bool("update", false, "write the golden requests anew")

func text(s string) unit.Part { return unit.Part{Kind: unit.Text, Text: s} }

func call(id, name, args string) unit.Part {
	return unit.Part{Kind: unit.Call, ID: id, Name: name, Args: []byte(args)}
}

func result(id, s string) unit.Part { return unit.Part{Kind: unit.Result, ID: id, Text: s} }

func opaque(raw string) unit.Part { return unit.Part{Kind: unit.Opaque, Raw: []byte(raw)} }

// say makes a segment.
func say(layer view.Layer, role unit.Role, ref string, parts ...unit.Part) view.Segment {
	return view.Segment{Layer: layer, Unit: unit.Unit{Ref: ref, Role: role, Parts: parts}}
}

func marked(s view.Segment, m view.Mark) view.Segment { s.Mark = m; return s }

func apart(s view.Segment) view.Segment { s.Apart = true; return s }

// scenarios are views, each with a sentence that says what they show. Their bodies stand in testdata/lower.
var scenarios = []struct {
	name, scenario string
	params         provider.LowerParams
	tools          []view.Tool
	segments       []view.Segment
}{
	{
		name:     "layers",
		scenario: "Role and stable segments become the system, and the rest one conversation, with a marker behind each layer.",
		params:   provider.LowerParams{Model: "claude-opus-5-5", MaxTokens: 1024, Stream: true},
		tools: []view.Tool{
			{Name: "read", Description: "Reads a <file> & says what it holds.", Schema: []byte(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
			{Name: "bash", Raw: []byte(`{"type":"bash_20250124","name":"bash"}`)},
		},
		segments: []view.Segment{
			say(view.Role, unit.System, "e0", text("Be brief.")),
			marked(say(view.Stable, unit.System, "e1", text("Today is Mon.")), view.OneHour),
			say(view.Working, unit.User, "e2", text("Read a.txt.")),
			say(view.Working, unit.Assistant, "e3", opaque(`{"type":"thinking","thinking":"…","signature":"c2ln"}`), text("I read it."), call("toolu_1", "read", `{"path":"a.txt"}`)),
			marked(say(view.Working, unit.Tool, "e4", result("toolu_1", "one\ntwo\n")), view.FiveMinute),
			say(view.Tail, unit.User, "e5", text("Budget: half.")),
		},
	},
	{
		name:     "parallel",
		scenario: "Results of parallel calls come in one message, in front of what the user typed while the tools ran.",
		params:   provider.LowerParams{Model: "claude-opus-5-5", MaxTokens: 64},
		segments: []view.Segment{
			say(view.Working, unit.User, "e0", text("Look at both.")),
			say(view.Working, unit.Assistant, "e1", call("toolu_1", "read", `{"path": "a"}`), call("toolu_2", "list", "")),
			say(view.Working, unit.User, "e2", text("Hurry.")),
			marked(say(view.Working, unit.Tool, "e3", unit.Part{Kind: unit.Result, ID: "toolu_2", Text: "no such folder", Failed: true}), view.FiveMinute),
			say(view.Working, unit.Tool, "e4", result("toolu_1", "")),
		},
	},
	{
		name:     "joined",
		scenario: "Segments of one role are one message, but not where one is apart; empty texts are not sent, nor what holds nothing else.",
		params:   provider.LowerParams{Model: "claude-opus-5-5", MaxTokens: 64},
		segments: []view.Segment{
			say(view.Stable, unit.System, "e0", text("")),
			say(view.Working, unit.User, "e1", text("a"), text("")),
			say(view.Working, unit.User, "e2", text("b")),
			apart(say(view.Working, unit.User, "e3", text("c"))),
			say(view.Working, unit.Assistant, "e4", text("")),
			say(view.Working, unit.User, "e5", text("d")),
		},
	},
	{
		name:     "system in the middle",
		scenario: "A system segment of the working layer is a message of its own, where the source has it.",
		params:   provider.LowerParams{Model: "claude-opus-5-5", MaxTokens: 64},
		segments: []view.Segment{
			say(view.Stable, unit.System, "e0", text("Today is Mon.")),
			say(view.Working, unit.User, "e1", text("one")),
			say(view.Working, unit.System, "e2", text("It is now Tue.")),
			say(view.Working, unit.Assistant, "e3", text("two")),
			say(view.Working, unit.User, "e4", text("three")),
		},
	},
	{
		name:     "spelling",
		scenario: "Nothing is escaped that need not be, a lone surrogate stays one, and what only the wire understands is written as it is.",
		params:   provider.LowerParams{Model: "claude-opus-5-5", MaxTokens: 64, Rest: []provider.Member{{Name: "metadata", Value: []byte(`{ "user_id": "\u00fc" }`)}}},
		segments: []view.Segment{
			say(view.Working, unit.User, "e0", text("<b>&\u2028\x01\"\\ \xed\xa0\xbd 한"), opaque(`{ "type": "image", "source": {"type":"url","url":"https:\/\/a"} }`)),
			{Layer: view.Working, Unit: unit.Unit{Ref: "e1", Role: unit.Assistant, Parts: []unit.Part{text("whole")}, Raw: []byte(`{"role":"assistant","content":"whole","id":"msg_1"}`)}},
			say(view.Working, unit.User, "e2", unit.Part{Kind: unit.Text, Text: "cited", Raw: []byte(`{"type":"text","text":"cited","citations":[]}`)}),
		},
	},
}

// TestGolden compares what each scenario lowers to with what was reviewed; -update writes it anew.
func TestGolden(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			v, err := view.Of(s.segments...)
			if err != nil {
				t.Fatal(err)
			}
			v.Tools = s.tools
			body, err := (Protocol{}).Lower(v, s.params)
			if err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, body, "", "  "); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%s\n----\n%s----\n%s\n----\nsha256 %x\n", s.scenario, v, &indented, sha256.Sum256(body))
			name := filepath.Join("testdata", "lower", strings.ReplaceAll(s.name, " ", "_")+".txt")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil || string(want) != got {
				t.Errorf("%v; got:\n%s\nwant:\n%s", err, got, want)
			}
			comesBack(t, body)
		})
	}
}

// covers: V-02 part
// covers: V-03 part
func TestRefusals(t *testing.T) {
	ask := say(view.Working, unit.User, "e0", text("a"))
	tests := map[string]struct {
		segments []view.Segment
		params   provider.LowerParams
		want     string
	}{
		"half an exchange": {[]view.Segment{ask, say(view.Working, unit.Assistant, "e1", call("c", "f", "{}"))}, provider.LowerParams{}, `a call has no result (call "c"): "e1"`},
		"result too late": {
			[]view.Segment{
				ask, say(view.Working, unit.Assistant, "e1", call("c", "f", "{}")), say(view.Working, unit.User, "e2", text("b")),
				say(view.Working, unit.Assistant, "e3", text("c")), say(view.Working, unit.Tool, "e4", result("c", "d")),
			},
			provider.LowerParams{},
			`a result stands too far from its call (call "c"): "e4", "e1"`,
		},
		"assistant first":      {[]view.Segment{say(view.Working, unit.Assistant, "e0", text("a"))}, provider.LowerParams{}, `a conversation may not begin with this role: "e0"`},
		"user says nothing":    {[]view.Segment{say(view.Working, unit.User, "e0", text("")), say(view.Working, unit.Assistant, "e1", text("a"))}, provider.LowerParams{}, `a conversation may not begin with this role: "e1"`},
		"layers":               {[]view.Segment{say(view.Tail, unit.User, "e0", text("a")), ask}, provider.LowerParams{}, `segment 1, "e0": layer working stands behind layer tail`},
		"marker on nothing":    {[]view.Segment{ask, marked(say(view.Working, unit.User, "e1", text("")), view.OneHour)}, provider.LowerParams{}, `lower "e1": nothing in it can have a cache marker`},
		"marker on reasoning":  {[]view.Segment{ask, marked(say(view.Working, unit.Assistant, "e1", opaque(`{"type":"thinking","thinking":"t"}`)), view.OneHour)}, provider.LowerParams{}, `lower "e1": nothing in it can have a cache marker`},
		"unknown marker":       {[]view.Segment{marked(ask, "7d")}, provider.LowerParams{}, `lower "e0": the cache marker cannot be written`},
		"short before long":    {[]view.Segment{marked(ask, view.FiveMinute), marked(say(view.Working, unit.Assistant, "e1", text("b")), view.OneHour)}, provider.LowerParams{}, `lower "e1": a cache marker of an hour behind one of five minutes`},
		"five markers":         {[]view.Segment{marked(ask, "5m"), marked(ask, "5m"), marked(ask, "5m"), marked(ask, "5m"), marked(say(view.Working, unit.User, "e4", text("b")), "5m")}, provider.LowerParams{}, `lower "e4": the fifth cache marker`},
		"five markers, as raw": {[]view.Segment{marked(ask, "5m"), marked(ask, "5m"), marked(ask, "5m"), marked(ask, "5m"), say(view.Working, unit.User, "e4", opaque(`{"type":"x","cache_control":{"type":"y"}}`))}, provider.LowerParams{}, `lower "e4": the fifth cache marker`},
		"opaque of nothing":    {[]view.Segment{ask, say(view.Working, unit.User, "e1", unit.Part{Kind: unit.Opaque})}, provider.LowerParams{}, `lower "e1": an opaque part says nothing of how it is spelled`},
		"hidden call":          {[]view.Segment{ask, say(view.Working, unit.Assistant, "e1", opaque(`{"type":"tool_use","id":"c","name":"f","input":{}}`))}, provider.LowerParams{}, `lower "e1": it is spelled as something else than it is`},
		"hidden image":         {[]view.Segment{say(view.Working, unit.User, "e0", unit.Part{Kind: unit.Text, Text: "a", Raw: []byte(`{"type":"image","source":{}}`)})}, provider.LowerParams{}, `lower "e0": it is spelled as something else than it is`},
		"hidden call in whole": {[]view.Segment{ask, {Layer: view.Working, Unit: unit.Unit{Ref: "e1", Role: unit.Assistant, Raw: []byte(`{"role":"assistant","content":[{"type":"tool_use","id":"c"}]}`)}}}, provider.LowerParams{}, `lower "e1": it is spelled as something else than it is`},
		"broken arguments":     {[]view.Segment{ask, say(view.Working, unit.Assistant, "e1", call("c", "f", "{")), say(view.Working, unit.Tool, "e2", result("c", ""))}, provider.LowerParams{}, `lower "e1": not understood: no name at byte 1`},
		"a call of the system": {[]view.Segment{say(view.Stable, unit.System, "e0", call("c", "f", "{}")), ask}, provider.LowerParams{}, `lower "e0": the system makes no calls and has no results`},
		"a type of another's":  {[]view.Segment{ask}, provider.LowerParams{Type: provider.TypeChat}, `lower: no view is made a request of type "chat"`},
		"a member twice":       {[]view.Segment{ask}, provider.LowerParams{Model: "m", Rest: []provider.Member{{Name: "model", Value: []byte(`"n"`)}}}, `lower "model": the body would have it twice`},
	}
	for name, test := range tests {
		body, err := (Protocol{}).Lower(view.View{Segments: test.segments}, test.params)
		if err == nil || err.Error() != test.want || body != nil {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	var broken *unit.ContractError
	if _, err := (Protocol{}).Lower(view.View{Segments: tests["half an exchange"].segments}, provider.LowerParams{}); !errors.As(err, &broken) {
		t.Errorf("%v is no ContractError", err)
	}
}

// TestMarkerMovesBack: a marker stands on the last block that can have one.
func TestMarkerMovesBack(t *testing.T) {
	s := marked(say(view.Working, unit.User, "e0", text("a"), opaque(`{"type":"redacted_thinking","data":"x"}`), text("")), view.OneHour)
	body, err := (Protocol{}).Lower(view.View{Segments: []view.Segment{s}}, provider.LowerParams{})
	want := `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"redacted_thinking","data":"x"}]}]}`
	if err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
}

// talk is a long conversation, of n turns with a result of a kilobyte each.
func talk(n int) view.View {
	var v view.View
	lines := strings.Repeat("\tif err := s.open(\"file.go\"); err != nil {\n", 24)
	for i := range n {
		id := fmt.Sprint("toolu_", i)
		v.Segments = append(
			v.Segments,
			say(view.Working, unit.User, "u", text("Go on.")),
			say(view.Working, unit.Assistant, "a", text("I read it."), call(id, "read", `{"path":"a/b.go","lines":[1,200]}`)),
			say(view.Working, unit.Tool, "t", result(id, lines)),
		)
	}
	return v
}

func BenchmarkLower(b *testing.B) {
	v := talk(500)
	body, err := (Protocol{}).Lower(v, provider.LowerParams{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Protocol{}).Lower(v, provider.LowerParams{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLift(b *testing.B) {
	body, err := (Protocol{}).Lower(talk(500), provider.LowerParams{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := (Protocol{}).Lift(body); err != nil {
			b.Fatal(err)
		}
	}
}
