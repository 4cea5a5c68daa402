package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// comesBack: lifting what Lower made and lowering it again gives the same bytes, and neither call changes its input.
func comesBack(t failer, body []byte) {
	t.Helper()
	memory := bytes.Clone(body)
	v, p, err := (Protocol{}).Lift(memory)
	if err != nil {
		t.Fatalf("lift %s: %v", body, err)
	}
	if !bytes.Equal(memory, body) {
		t.Fatalf("lifting changed the body %s", body)
	}
	for i := range memory {
		memory[i] = '#'
	}
	again, err := (Protocol{}).Lower(v, p)
	if err != nil || !bytes.Equal(again, body) {
		t.Fatalf("lowered again to\n%s, %v; it was\n%s\nby way of\n%s%+v", again, err, body, v, p)
	}
}

// keeps: where a lifted body can be lowered, its canonical elements are those that it had. It reports whether it can be.
func keeps(t failer, body []byte) bool {
	t.Helper()
	req := provider.Request{Type: provider.TypeMessages}
	want, err := (Protocol{}).Elements(req, body)
	v, p, liftErr := (Protocol{}).Lift(body)
	if err != nil || liftErr != nil {
		if err != nil && liftErr == nil || !errors.Is(liftErr, provider.ErrNotUnderstood) || provider.JSON(bytes.TrimSpace(body)).Kind() == '{' && err == nil {
			t.Fatalf("%q: elements %v, lifted %v", body, err, liftErr)
		}
		return false
	}
	lowered, err := (Protocol{}).Lower(v, p)
	if err != nil {
		return false
	}
	got, err := (Protocol{}).Elements(req, lowered)
	if err != nil {
		t.Fatalf("%s was lowered to %s: %v", body, lowered, err)
	}
	for i, lists := range [][2][]provider.Element{{want.Tools, got.Tools}, {want.Deferred, got.Deferred}, {want.System, got.System}, {want.Messages, got.Messages}} {
		same := func(a, b provider.Element) bool { return a.Hash == b.Hash }
		if !slices.EqualFunc(lists[0], lists[1], same) {
			t.Fatalf("list %d of\n%s\nis another one in\n%s\nby way of\n%s", i, body, lowered, v)
		}
	}
	comesBack(t, lowered)
	return true
}

// drawText draws a text, as a client may send it.
func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ü", "😀", "\n", "\"", "\\", "<", "\x01", "\xed\xa0\xbd", "\xed\xb8\x80", "\xff", "\xed"}), 0, 3).Draw(t, "text"), "")
}

var raws = []string{
	`{"type":"thinking","thinking":"t","signature":"s"}`, `{"type":"image","source":{"type":"url","url":"u"}}`, ` { "type" : "hologram" , "\u0061" : "\/" } `,
	`{"type":"text","text":""}`, `{"text":"x","type":"text"}`, `{"type": "text", "text": "x"}`, `{"type":"text","text":"x","cache_control":{"type":"ephemeral","scope":"global"}}`,
	`5`, `null`, `{}`, `[]`, `"x"`, `{"type":"text","text":"` + "\xed\xa0\xbd" + `"}`, `{"type":"text","text":"x","cache_control":null}`,
	`{"type":"thinking","thinking":"t","cache_control":{"type":"ephemeral"}}`, `{"type":"text","text":"x","cache_control":{"ttl":"1h","type":"ephemeral"}}`, `{"type":5}`,
}

var wholes = []unit.Unit{
	{Role: unit.User, Raw: []byte(`{"role":"user","content":[]}`)},
	{Role: unit.User, Raw: []byte(`{"content":"x","role":"user"}`)},
	{Role: unit.User, Raw: []byte(`{ "role" : "user" , "content" : "plain" }`)},
	{Role: unit.User, Raw: []byte(`7`)},
	{Role: unit.Tool, Raw: []byte(`{"role":"developer","content":"x","cache_control":{"type":"ephemeral"}}`)},
	{Role: unit.Assistant, Raw: []byte(`{"role":"assistant","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"id":"m"}`)},
	{Role: unit.System, Raw: []byte(`{"role":"system","content":"x","output_config":{}}`)},
}

// drawView draws a view, of which most can be lowered.
func drawView(t *rapid.T) view.View {
	var v view.View
	mark := func() view.Mark {
		if rapid.IntRange(0, 7).Draw(t, "marked") > 0 {
			return view.NoMark
		}
		return rapid.SampledFrom([]view.Mark{view.FiveMinute, view.OneHour}).Draw(t, "mark")
	}
	part := func() unit.Part {
		switch rapid.IntRange(0, 3).Draw(t, "part") {
		case 0:
			return opaque(rapid.SampledFrom(raws).Draw(t, "raw"))
		default:
			return text(drawText(t))
		}
	}
	parts := func() (list []unit.Part) {
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			list = append(list, part())
		}
		return list
	}
	add := func(layer view.Layer, role unit.Role, parts ...unit.Part) {
		v.Segments = append(v.Segments, view.Segment{Layer: layer, Unit: unit.Unit{Role: role, Parts: parts}, Mark: mark(), Apart: rapid.IntRange(0, 4).Draw(t, "apart") == 0})
	}
	for range rapid.IntRange(0, 2).Draw(t, "tools") {
		tool := view.Tool{Name: drawText(t), Description: drawText(t), Mark: mark()}
		switch rapid.IntRange(0, 2).Draw(t, "tool") {
		case 0:
			tool.Schema = []byte(rapid.SampledFrom([]string{`{ "type": "object" }`, `null`, `{}`}).Draw(t, "schema"))
		case 1:
			tool.Raw = []byte(rapid.SampledFrom([]string{`{"name":"n","description":"","input_schema":{}}`, `{"name":"n","defer_loading":true}`, `{"name": "n"}`, `3`, `{}`, `{"name":"n","cache_control":{"type":"ephemeral"}}`}).Draw(t, "raw"))
		}
		v.Tools = append(v.Tools, tool)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "system") {
		add([]view.Layer{view.Role, view.Stable, view.Stable}[i], unit.System, parts()...)
	}
	add(view.Working, unit.User, text("x"))
	for i := range rapid.IntRange(0, 6).Draw(t, "turns") {
		switch rapid.IntRange(0, 5).Draw(t, "turn") {
		case 0:
			add(view.Working, unit.User, parts()...)
		case 1:
			add(view.Working, unit.Assistant, parts()...)
		case 2:
			add(view.Working, unit.User, text("y"))
			add(view.Working, unit.System, parts()...)
		case 3:
			u := rapid.SampledFrom(wholes).Draw(t, "whole")
			v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u, Apart: rapid.Bool().Draw(t, "apart")})
		default:
			drawExchange(t, i, part, add)
		}
	}
	return v
}

// drawExchange draws calls and their results, with other things around them.
func drawExchange(t *rapid.T, turn int, part func() unit.Part, add func(view.Layer, unit.Role, ...unit.Part)) {
	var calls, results []unit.Part
	for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
		id := fmt.Sprint(turn, ".", i, drawText(t))
		c := call(id, drawText(t), rapid.SampledFrom([]string{`{}`, `{ "a": "\u00fc" }`, `null`, `7`}).Draw(t, "args"))
		if rapid.IntRange(0, 3).Draw(t, "no args") == 0 {
			c.Args = nil
		}
		r := unit.Part{Kind: unit.Result, ID: id, Text: drawText(t), Failed: rapid.Bool().Draw(t, "failed")}
		if rapid.IntRange(0, 3).Draw(t, "raw result") == 0 {
			spelled, _ := json.Marshal(strings.ToValidUTF8(id, "?"))
			r = unit.Part{Kind: unit.Result, ID: id, Raw: fmt.Appendf(nil, `{"type":"tool_result", "tool_use_id":%s,"content":[{"type":"text","text":"b"}]}`, spelled)}
		}
		calls, results = append(calls, c), append(results, r)
		if rapid.IntRange(0, 2).Draw(t, "beside") == 0 {
			calls, results = append(calls, part()), append(results, part())
		}
	}
	add(view.Working, unit.Assistant, calls...)
	if rapid.IntRange(0, 2).Draw(t, "steer") == 0 {
		add(view.Working, unit.User, part())
	}
	at := rapid.IntRange(0, len(results)).Draw(t, "split")
	add(view.Working, rapid.SampledFrom([]unit.Role{unit.Tool, unit.User}).Draw(t, "role"), results[:at]...)
	add(view.Working, unit.Tool, results[at:]...)
}

// The law Round trip: lifting a body that Ambit lowered and lowering it again reproduces it.
func TestRoundTrip(t *testing.T) {
	lowered, drawn := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		v := drawView(t)
		p := provider.LowerParams{
			Model: drawText(t), MaxTokens: rapid.IntRange(-1, 3).Draw(t, "max"), Stream: rapid.Bool().Draw(t, "stream"),
			Rest: []provider.Member{{Name: "z" + drawText(t), Value: []byte(` { "a":[1.0, "\u0041"] }`)}},
		}
		body, err := (Protocol{}).Lower(v, p)
		drawn++
		if err != nil {
			return
		}
		lowered++
		comesBack(t, body)
		if !keeps(t, body) {
			t.Fatalf("%s cannot be lifted and lowered", body)
		}
		if again, err := (Protocol{}).Lower(v, p); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("equal views give %s and %s, %v", body, again, err)
		}
	})
	if lowered*3 < drawn {
		t.Errorf("of %d views only %d could be lowered", drawn, lowered)
	}
}

func TestLift(t *testing.T) {
	v, p, err := (Protocol{}).Lift([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	if p.Model != "claude-opus-5-5" || p.MaxTokens != 100 || !p.Stream || len(p.Rest) != 1 || p.Rest[0].Name != "metadata" {
		t.Errorf("params %+v", p)
	}
	if got := v.Tools; len(got) != 2 || got[0].Raw != nil || got[0].Name != "read" || got[1].Raw == nil || got[1].Mark != view.FiveMinute {
		t.Errorf("tools %+v", got)
	}
	var got []string
	for _, s := range v.Segments {
		line := fmt.Sprint(s.Layer, " ", s.Unit.Role, " ", s.Unit.Ref)
		for _, p := range s.Unit.Parts {
			line += " " + string(p.Kind) + map[bool]string{true: "*"}[p.Raw != nil] + p.ID
		}
		got = append(got, line+map[bool]string{true: " whole"}[s.Unit.Raw != nil]+map[bool]string{true: " apart"}[s.Apart]+" "+string(s.Mark))
	}
	want := []string{
		"stable system /system/0 text ", "stable system /system/1 text 5m",
		"working user /messages/0 text ", "working user /messages/1 text apart 5m", "working user /messages/1/content/1 opaque* ",
		"working system /messages/2 text whole ",
		"working assistant /messages/3 opaque* opaque* text* calltoolu_1 calltoolu_2 opaque* opaque* ",
		"working tool /messages/4 result*toolu_1 result*toolu_2 ", "working user /messages/4/content/2 opaque* opaque* ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := v.Segments[7].Unit.Parts[1].Text; text != "two files" {
		t.Errorf("a result in blocks says %q", text)
	}
	if !keeps(t, []byte(everything)) {
		t.Error("it cannot be lowered again")
	}
}

// TestNotLifted: what is no object, or is not understood, gives nothing.
func TestNotLifted(t *testing.T) {
	for _, body := range []string{``, `[]`, `null`, `{"a":1,"a":2}`, `{"messages":[{"role":"user","role":"user"}]}`, `{`, `{}x`} {
		v, p, err := (Protocol{}).Lift([]byte(body))
		if !errors.Is(err, provider.ErrNotUnderstood) || len(v.Segments) != 0 || p.Rest != nil {
			t.Errorf("%s: %+v, %+v, %v", body, v, p, err)
		}
	}
}

// TestOddMembers: members of the wrong kind are kept with the rest.
func TestOddMembers(t *testing.T) {
	const body = `{"messages":null,"a":1,"model":5,"max_tokens":1.5,"stream":false,"tools":null,"system":7}`
	_, p, err := (Protocol{}).Lift([]byte(body))
	if err != nil || len(p.Rest) != 7 {
		t.Errorf("%+v, %v", p, err)
	}
	comesBack(t, []byte(body))
}

// TestLiftedSystem: a message of the system stays where a client put it, or is refused there; it is never told in another way.
func TestLiftedSystem(t *testing.T) {
	const user, system, assistant = `{"role":"user","content":"a"}`, `{"role":"system","content":"b"}`, `{"role":"assistant","content":"c"}`
	for messages, want := range map[string]bool{
		user + "," + system: true, user + "," + system + "," + assistant: true, user + "," + system + "," + system + "," + assistant: true,
		system + "," + user: true, user + "," + system + "," + user: true, user + "," + assistant + "," + system: false,
	} {
		if got := keeps(t, []byte(`{"messages":[`+messages+`]}`)); got != want {
			t.Errorf("%s: %v", messages, got)
		}
	}
	if !keeps(t, []byte(`{"messages":[`+user+`,{"role":"assistant","content":[{"type":"text","text":"\n"},{"type":"text","text":"c"}]}]}`)) {
		t.Error("a blank text is lost")
	}
}

// recorded yields the bodies of recorded requests to Messages, with where they are from.
func recorded(t *testing.T, use func(name string, body []byte)) {
	t.Helper()
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "transcripts", "anthropic-requests", "*.jsonl"))
	if len(files) == 0 {
		t.Skip("no recorded requests; set AMBIT_SHARED")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if body := provider.JSON(line).Find("request")[0].Find("body")[0]; body != nil {
				use(fmt.Sprint(filepath.Base(file), ":", n), body)
			}
		}
	}
}

// TestRecorded: what real clients sent has the same canonical elements when it was lifted and lowered.
func TestRecorded(t *testing.T) {
	n := 0
	recorded(t, func(name string, body []byte) {
		n++
		if !keeps(t, body) {
			v, p, err := (Protocol{}).Lift(body)
			if err == nil {
				_, err = (Protocol{}).Lower(v, p)
			}
			t.Errorf("%s: %v", name, err)
		}
	})
	t.Logf("%d bodies", n)
	if n < 60 {
		t.Errorf("only %d bodies", n)
	}
}

// TestReduced does the same with the requests of Claude Code, OpenCode, pi and others that the proxy's tests have.
func TestReduced(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "server", "testdata", "threads", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs: %v", err)
	}
	n, refused := 0, 0
	for _, file := range files {
		var run struct {
			Messages  []json.RawMessage `json:"messages"`
			Exchanges []struct {
				Path     string                     `json:"path"`
				Rest     map[string]json.RawMessage `json:"rest"`
				In       string                     `json:"in"`
				Messages []int                      `json:"messages"`
			} `json:"exchanges"`
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &run); err != nil {
			t.Fatal(err)
		}
		for i, x := range run.Exchanges {
			if !strings.Contains(x.Path, "/messages") || x.In != "messages" {
				continue
			}
			messages := []json.RawMessage{}
			for _, at := range x.Messages {
				messages = append(messages, run.Messages[at])
			}
			x.Rest["messages"], _ = json.Marshal(messages)
			body, _ := json.Marshal(x.Rest)
			n++
			if !keeps(t, body) {
				refused++
				v, p, err := (Protocol{}).Lift(body)
				if err == nil {
					_, err = (Protocol{}).Lower(v, p)
				}
				t.Errorf("%s, exchange %d: %v", filepath.Base(file), i, err)
			}
		}
	}
	t.Logf("%d bodies, %d refused", n, refused)
}

// FuzzLift: no body makes Lift panic or lose an element, and what Lower makes of it comes back.
func FuzzLift(f *testing.F) {
	for _, x := range slices.Concat(exchanges, rich, shapes) {
		f.Add([]byte(x.Body))
	}
	for _, raw := range raws {
		f.Add([]byte(`{"system":[` + raw + `],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},` + raw + `]}]}`))
	}
	for _, u := range wholes {
		f.Add([]byte(`{"model":"m","tools":[{"name":"n"}],"messages":[{"role":"user","content":"a"},` + string(u.Raw) + `]}`))
	}
	f.Fuzz(func(t *testing.T, body []byte) { keeps(t, body) })
}
