package server

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"ambit/entry"
)

// What looks like a broken exchange and is none passes as it came, whatever the policy: tools that the provider runs, calls
// without ids, ids that are counted anew, results whose calls the provider holds.
// covers: V-07
func TestLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		dialect int
		body    string
	}{
		"gemini without ids": {3, `{"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"functionCall":{"name":"bash","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"hi"}}}]}]}`},
		"web search": {0, `{"model":"m","messages":[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},` +
			`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"x"}]},{"role":"user","content":"go on"}]}`},
		"a search that is not done": {0, `{"model":"m","messages":[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}]}]}`},
		"tools of Responses": {2, `{"model":"m","input":[{"role":"user","content":"look"},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},` +
			`{"type":"code_interpreter_call","id":"ci_1","code":"1","outputs":[]},{"type":"mcp_call","id":"mcp_1","name":"a","arguments":"{}","output":"b"},{"role":"user","content":"go on"}]}`},
		"a conversation that the provider holds": {2, `{"model":"m","conversation":"conv_1","input":[{"type":"function_call_output","call_id":"call_1","output":"hi"}]}`},
		"ids that are counted anew": {1, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"call_1","content":"r1"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"x\":1}"}}]},` +
			`{"role":"tool","tool_call_id":"call_1","content":"r2"}]}`},
		"one function":             {1, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"function_call":{"name":"bash","arguments":"{}"}},{"role":"function","name":"bash","content":"hi"}]}`},
		"a call that was given up": {0, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"bash","input":{}}]},{"role":"user","content":"stop"}]}`},
	} {
		for _, policy := range []string{"cut", "full"} {
			d := dialects[c.dialect]
			g, k := newKept(t, &d, policy)
			g.ok(d.path, []byte(c.body))
			if got := k.last(); string(got) != c.body {
				t.Errorf("%s under %s was sent as\n%s", name, policy, got)
			}
			if p := g.only(); len(p.Edits)+len(p.Decisions) != 0 {
				t.Errorf("%s under %s: %+v", name, policy, p.Decisions)
			}
		}
	}
}

// An edit that a wire does not allow takes no other along, now and later.
func TestOneEditThatCannotBeMade(t *testing.T) {
	d := dialects[2]
	g, k := newKept(t, &d, "full")
	talk := append([]string{d.says("look")}, d.reads("call_number_one_1", "a", manual("a", 600))...)
	g.ok(d.path, d.request(talk...))
	first := k.last()
	talk = append(talk, `{"type":"shell_call","call_id":"call_number_two_2","action":{"commands":["ls"]}}`,
		`{"type":"shell_call_output","call_id":"call_number_two_2","output":[{"stdout":`+quote(manual("b", 600))+`,"stderr":"","outcome":{"type":"exit","exit_code":0}}]}`)
	for range 2 {
		g.ok(d.path, d.request(talk...))
		got := k.last()
		if bytes.Contains(got, []byte("a, line 300:")) || !bytes.Contains(got, []byte("b, line 300:")) || !bytes.HasPrefix(got, first[:len(first)-2]) {
			t.Fatalf("%d bytes were sent, after %d", len(got), len(first))
		}
		talk = append(talk, d.says("go on"))
	}
}

// A title that is asked for takes nothing back of the conversation that it is about: after a restart it is sent as before.
func TestAsideTakesNothingBack(t *testing.T) {
	d := dialects[0]
	g, k := newKept(t, &d, "full")
	talk := []string{d.says("Do all of it, step by step, and then tell me what you did.")}
	for i := range 80 {
		talk = append(talk, d.reads("call_number_"+string(rune('a'+i%26))+strings.Repeat("x", i), "f", manual("f"+strings.Repeat("x", i%9), 3))...)
	}
	k.limit = len(d.request(talk...)) * 2 / 3
	g.ok(d.path, d.request(talk...))
	sent := len(k.last())
	k.limit = 0
	g.ok(d.path, []byte(`{"model":"claude-sonnet-4-5","max_tokens":20,"system":"Write a title.","messages":[`+d.says("Do all of it, step by step, and then tell me what you did.")+`]}`))
	g.againUnder("full")
	talk = append(talk, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`, d.says("go on"))
	g.ok(d.path, d.request(talk...))
	if got := len(k.last()); got > sent+300 {
		t.Errorf("%d bytes were sent, and before the title %d", got, sent)
	}
	for _, dec := range g.only().Decisions {
		if dec.Stage == entry.StageLift {
			t.Errorf("%+v", dec)
		}
	}
}

// A count that is too long decides nothing, and an error that is no refusal is not held back.
func TestCountDecidesNothing(t *testing.T) {
	d := dialects[0]
	g, k := newKept(t, &d, "full")
	talk := append([]string{d.says("look")}, d.reads("call_number_one_1", "a", manual("a", 100))...)
	g.ok(d.path, d.request(talk...))
	k.limit = 10
	res, got, err := g.post(d.path+"/count_tokens", d.request(talk...))
	if err != nil || res.StatusCode != http.StatusBadRequest || string(got) != d.refusal {
		t.Errorf("%v, %v, %s", err, res, got)
	}
	if p := g.only(); len(p.Decisions) != 0 {
		t.Errorf("%+v", p.Decisions)
	}
}
