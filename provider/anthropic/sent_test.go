package anthropic

import (
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
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
func TestTalk(t *testing.T) { providertest.Talk(t, messagesWire, "", "claude-opus-5-5") }

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
