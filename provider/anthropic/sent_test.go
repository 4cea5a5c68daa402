package anthropic

import (
	"net/http/httptest"
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
	"ambit/provider/scripted"
)

// messagesWire is what the laws of requests are to know.
var messagesWire = providertest.Wire{
	Protocol: Protocol{}, Type: provider.TypeMessages, Marks: true, Failed: true,
	Thinking: []provider.Member{{Name: "thinking", Value: []byte(`{"type":"enabled","budget_tokens":1024}`)}},
	Thought:  `{"type":"thinking","thinking":"t","signature":"c2ln"}`,
}

// covers: S-16 part
// covers: V-02 part
// covers: V-09 part
func TestLowering(t *testing.T) { providertest.Lowering(t, messagesWire) }

// covers: S-16 part
// covers: R-03 part
func TestTalk(t *testing.T) { talks(t, messagesWire, "", "claude-opus-5-5") }

// thinker is a provider that thinks, speaks, calls, and breaks one answer off.
func thinker() scripted.Script {
	read := func(path string) scripted.Call {
		return scripted.Call{Name: "read", Args: map[string]any{"path": path}}
	}
	return scripted.Script{Conversations: []scripted.Conversation{{
		Match: "fix it",
		Turns: []scripted.Turn{
			{Thought: "Two files matter.", Text: "Reading.", Calls: []scripted.Call{read("a <b> & é"), read("c")}},
			{Thought: "One is left.", Calls: []scripted.Call{read("d")}},
			{Thought: "I know.", Text: "Done 😀."},
			{Text: "Once more.", Calls: []scripted.Call{{Name: "read"}}, Fault: &scripted.Fault{Drop: true}},
			{Thought: "Nothing is left.", Calls: []scripted.Call{read("e"), read("f"), read("g")}},
			{Text: "Bye."},
		},
	}}}
}

// talks has a conversation on a wire, with a provider that is as strict as the real ones.
func talks(t *testing.T, w providertest.Wire, under, model string) {
	t.Helper()
	serve := func(t *testing.T) string {
		p := scripted.NewWith(thinker(), scripted.Options{Strict: true})
		srv := httptest.NewServer(p)
		t.Cleanup(func() {
			srv.Close()
			if refused := p.Refusals(); len(refused) > 0 {
				t.Errorf("refused: %+v", refused)
			}
		})
		return srv.URL + under
	}
	providertest.Talk(t, w, serve, model, 6)
}

// TestLowered: the Example, word for word.
// covers: S-16 part
func TestLowered(t *testing.T) {
	providertest.Lowered(t, messagesWire, provider.LowerParams{Model: "claude-opus-5-5", MaxTokens: 64, Stream: true},
		`{"model":"claude-opus-5-5","max_tokens":64,"stream":true,"tools":[{"name":"read","description":"Reads <a file>.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}},{"name":"list"}],`,
		`"system":[{"type":"text","text":"You fix bugs."},{"type":"text","text":"Be brief."},{"type":"text","text":"It is Mon."}],`,
		`"messages":[{"role":"user","content":[{"type":"text","text":"Fix a."}]},`,
		`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"ü"}},{"type":"tool_use","id":"c2","name":"list","input":{}}]},`,
		`{"role":"user","content":[{"tool_use_id":"c2","type":"tool_result","content":"The tool failed and said nothing.","is_error":true},{"tool_use_id":"c1","type":"tool_result","content":"a\ud83d","is_error":true}]},`,
		`{"role":"system","content":[{"type":"text","text":"It is <Tue>."}]},`,
		`{"role":"assistant","content":[{"type":"text","text":"Done."}]},`,
		`{"role":"user","content":[{"type":"text","text":"<system-update>\nIt is Wed.\n</system-update>"},{"type":"text","text":"Thanks."},{"type":"text","text":"Bye."},{"type":"text","text":"Half is left."}]}]}`,
	)
}
