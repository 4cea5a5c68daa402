package openai

import (
	"bytes"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// turns are a conversation, the answers among it, and how many of its segments each request shows.
func turns() (v view.View, answers map[int]unit.Unit, shown []int) {
	text := func(role unit.Role, s string) unit.Unit {
		return unit.Unit{Role: role, Parts: []unit.Part{{Kind: unit.Text, Text: s}}}
	}
	first := unit.Unit{Role: unit.Assistant, Parts: []unit.Part{
		{Kind: unit.Opaque, Raw: []byte(`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"ZQ"}`)},
		{Kind: unit.Text, Text: `I say "input":[ and "stream":true, to you.`},
		{Kind: unit.Call, ID: "c1", Name: "read", Args: []byte(`{"input":["x"]}`)},
	}}
	second := text(unit.Assistant, "Done.")
	list := []unit.Unit{
		text(unit.User, `Fix "stream":true, it.`), first,
		{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: "c1", Text: "]}"}}},
		second,
		text(unit.System, "It is Tue."), text(unit.User, "Thanks."),
	}
	for _, u := range list {
		v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u})
	}
	v.Tools = []view.Tool{{Name: "read", Schema: []byte(`{"type":"object","properties":{"input":["a"]}}`)}}
	return v, map[int]unit.Unit{1: first, 3: second}, []int{1, 3, 6}
}

// What goes over a WebSocket is cut from the body that goes over HTTP: it says the same in the same bytes, a message that goes on
// from an answer has only what is new, and what it stands for can be told from it and from what was recorded before.
//
// covers: R-03 part
// covers: R-05 part
func TestMessages(t *testing.T) {
	v, answers, shown := turns()
	p := provider.LowerParams{Model: `m"stream":true,`, MaxTokens: 9, Stream: true, Rest: []provider.Member{{Name: "metadata", Value: []byte(`{"input":[],"stream":true,"a":1}`)}}}
	var whole [][]byte
	for _, n := range shown {
		body, err := Protocol{}.Lower(view.View{Tools: v.Tools, Segments: v.Segments[:n]}, p)
		if err != nil {
			t.Fatal(err)
		}
		message, err := Create(body)
		if err != nil {
			t.Fatal(err)
		}
		back := bytes.Replace(message, []byte(`"type":"response.create",`), nil, 1)
		if back = bytes.Replace(back, []byte(`"max_output_tokens":9,`), []byte(`"max_output_tokens":9,"stream":true,`), 1); !bytes.Equal(back, body) {
			t.Errorf("the message is\n%s\nand the body\n%s", message, body)
		}
		whole = append(whole, message)
	}
	second, is := Continue(whole[1], whole[0], answers[1], `resp"1`)
	want := `{"type":"response.create","previous_response_id":"resp\"1","model":"m\"stream\":true,","max_output_tokens":9,"store":false,"include":["reasoning.encrypted_content"],"metadata":{"input":[],"stream":true,"a":1},` +
		`"tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{"input":["a"]}},"strict":false}],"input":[{"type":"function_call_output","call_id":"c1","output":"]}"}]}`
	if !is || string(second) != want {
		t.Errorf("it goes on (%v) as\n%s\nnot\n%s", is, second, want)
	}
	third, is := Continue(whole[2], whole[1], answers[3], "resp_2")
	if !is || strings.Count(string(third), `"role"`) != 2 {
		t.Errorf("it goes on (%v) as\n%s", is, third)
	}
	joined, err := Join(whole[0], []Link{{answers[1], second}, {answers[3], third}})
	if err != nil || !bytes.Equal(joined, whole[2]) {
		t.Errorf("%v: together they are\n%s\nnot\n%s", err, joined, whole[2])
	}

	other := answers[1]
	other.Parts = other.Parts[1:]
	settings := bytes.Replace(whole[1], []byte(`"store":false`), []byte(`"store":true`), 1)
	for name, x := range map[string]struct {
		message, before []byte
		answer          unit.Unit
		id              string
	}{
		"another answer":          {whole[1], whole[0], other, "resp_1"},
		"no answer":               {whole[1], whole[0], unit.Unit{Role: unit.Assistant}, "resp_1"},
		"no id":                   {whole[1], whole[0], answers[1], ""},
		"other settings":          {settings, whole[0], answers[1], "resp_1"},
		"nothing behind":          {bytes.TrimSuffix(whole[1], []byte(`,{"type":"function_call_output","call_id":"c1","output":"]}"}]}`)), whole[0], answers[1], "resp_1"},
		"nothing new":             {whole[1], whole[1], answers[1], "resp_1"},
		"another beginning":       {bytes.Replace(whole[1], []byte("Fix"), []byte("Mix"), 1), whole[0], answers[1], "resp_1"},
		"nothing before":          {whole[1], nil, answers[1], "resp_1"},
		"a body in front":         {whole[1], []byte(`{"input":[]}`), answers[1], "resp_1"},
		"what cannot be sent":     {whole[1], whole[0], unit.Unit{Role: unit.Assistant, Raw: []byte("{}")}, "resp_1"},
		"the answer cut in a way": {append(bytes.Clone(bytes.TrimSuffix(whole[1], []byte(`]}`))), 'x'), whole[0], answers[1], "resp_1"},
	} {
		if got, is := Continue(x.message, x.before, x.answer, x.id); is {
			t.Errorf("%s: it goes on as\n%s", name, got)
		}
	}
	for _, body := range []string{"", "{}", `{"model":"m","input":[]}`, `"stream":true,]}`, `{"stream":true,"input":"x"}`} {
		if m, err := Create([]byte(body)); err == nil {
			t.Errorf("%s is %s", body, m)
		}
	}
	for _, links := range [][]Link{{{answers[1], []byte(`{}`)}}, {{unit.Unit{}, second}}} {
		if m, err := Join(whole[0], links); err == nil {
			t.Errorf("%+v is %s", links, m)
		}
	}
	if m, err := Join([]byte("{}"), []Link{{answers[1], second}}); err == nil {
		t.Errorf("it is %s", m)
	}
}

// TestEndsAndStrays: which message ends an answer, and which is none of it.
func TestEndsAndStrays(t *testing.T) {
	for message, x := range map[string]struct{ ends, strays, begins bool }{
		`{"type":"response.created","response":{"id":"resp_2"}}`:                       {false, false, true},
		`{"type":"response.created","response":{"id":"resp_1"}}`:                       {false, true, false},
		`{"type":"response.in_progress","response":{}}`:                                {false, false, true},
		`{"type":"response.output_text.delta","delta":"x"}`:                            {false, true, false},
		`{"type":"response.output_item.done","item":{"type":"error"}}`:                 {false, true, false},
		`{"type":"codex.rate_limits","error":null}`:                                    {false, false, false},
		`{"type":"response.completed","response":{"id":"resp_2"}}`:                     {true, false, true},
		`{"type":"response.completed","response":{"id":"resp_1"}}`:                     {true, true, false},
		`{"type":"response.incomplete","response":{"id":"resp_2"}}`:                    {true, false, true},
		`{"type":"response.failed","response":{"id":"resp_2"}}`:                        {true, false, true},
		`{"type":"error","status":400,"error":{"code":"previous_response_not_found"}}`: {true, false, false},
		`{"error":{"code":"x"}}`:                                                       {true, false, false},
		`{"something":1}`:                                                              {false, false, false},
		`{"type":`:                                                                     {true, true, false},
		``:                                                                             {true, true, false},
		` [1]`:                                                                         {true, false, false},
		`{"type":"response.completed","response":{}} {}`:                               {true, true, false},

		"{\r\n\"type\":\r\"response.failed\",\n\"response\":{\"id\":\"resp_2\"}\n}\r\n": {true, false, true},
	} {
		strays, begins := Strays([]byte(message), "resp_1")
		if ends := Ends([]byte(message)); ends != x.ends || strays != x.strays || begins != x.begins {
			t.Errorf("%s ends: %v, strays: %v, begins: %v", message, ends, strays, begins)
		}
	}
}

// FuzzMessages finds no message that panics.
func FuzzMessages(f *testing.F) {
	v, answers, shown := turns()
	for _, n := range shown {
		body, _ := Protocol{}.Lower(view.View{Tools: v.Tools, Segments: v.Segments[:n]}, provider.LowerParams{Model: "m", Stream: true})
		message, _ := Create(body)
		f.Add(message, body)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		_ = Ends(a)
		_, _ = Strays(a, "x")
		_, _ = Create(a)
		_, _ = Join(a, []Link{{answers[1], b}})
		if m, is := Continue(a, b, answers[1], "id"); is {
			if joined, err := Join(b, []Link{{answers[1], m}}); err != nil || !bytes.Equal(joined, a) {
				t.Errorf("%v\n%s\n%s", err, joined, a)
			}
		}
	})
}
