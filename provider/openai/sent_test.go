package openai

import (
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
	"ambit/unit"
	"ambit/view"
)

// The wires, as the laws of requests are to know them.
var (
	responsesWire = providertest.Wire{
		Protocol: Protocol{}, Type: provider.TypeResponses,
		Thinking: []provider.Member{{Name: "reasoning", Value: []byte(`{"effort":"high"}`)}},
		Thought:  `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"ZQ"}`,
	}
	chatWire = providertest.Wire{Protocol: Protocol{}, Type: provider.TypeChat}
)

// covers: S-16 part
// covers: V-02 part
// covers: V-09 part
func TestLowering(t *testing.T) { providertest.Lowering(t, responsesWire) }

// covers: S-16 part
// covers: V-02 part
// covers: V-09 part
func TestLoweringChat(t *testing.T) { providertest.Lowering(t, chatWire) }

// covers: S-16 part
// covers: R-03 part
func TestTalk(t *testing.T) { providertest.Talk(t, responsesWire, "/v1", "gpt-5.5") }

// covers: S-16 part
// covers: R-03 part
func TestTalkChat(t *testing.T) { providertest.Talk(t, chatWire, "/v1", "deepseek-chat") }

// TestLowered: the Example, word for word.
// covers: S-16 part
func TestLowered(t *testing.T) {
	providertest.Lowered(t, responsesWire, provider.LowerParams{Model: "m", MaxTokens: 64, Stream: true},
		`{"model":"m","max_output_tokens":64,"stream":true,"store":false,"include":["reasoning.encrypted_content"],`,
		`"instructions":"You fix bugs.\n\nBe brief.\n\nIt is Mon.","tools":[{"type":"function","name":"read","description":"Reads <a file>.","parameters":{"type":"object"},"strict":false},{"type":"function","name":"list","parameters":{"type":"object","properties":{}},"strict":false}],`,
		`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix a."}]},`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},`,
		`{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"ü\"}"},`,
		`{"type":"function_call","call_id":"c2","name":"list","arguments":"{}"},`,
		`{"type":"function_call_output","call_id":"c2","output":"The tool failed and said nothing."},`,
		`{"type":"function_call_output","call_id":"c1","output":"a\ud83d"},`,
		`{"type":"message","role":"developer","content":[{"type":"input_text","text":"It is <Tue>."}]},`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]},`,
		`{"type":"message","role":"developer","content":[{"type":"input_text","text":"It is Wed."}]},`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Thanks."},{"type":"input_text","text":"Bye."}]},`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Half is left."}]}]}`,
	)
}

// TestLoweredChat: the Example, word for word.
// covers: S-16 part
func TestLoweredChat(t *testing.T) {
	providertest.Lowered(t, chatWire, provider.LowerParams{Model: "m", MaxTokens: 64, Stream: true},
		`{"model":"m","max_completion_tokens":64,"stream":true,"stream_options":{"include_usage":true},`,
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads <a file>.","parameters":{"type":"object"}}},{"type":"function","function":{"name":"list"}}],`,
		`"messages":[{"role":"system","content":"You fix bugs.\n\nBe brief.\n\nIt is Mon."},`,
		`{"role":"user","content":"Fix a."},`,
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"ü\"}"}},{"id":"c2","type":"function","function":{"name":"list","arguments":"{}"}}]},`,
		`{"role":"tool","tool_call_id":"c2","content":"The tool failed and said nothing."},`,
		`{"role":"tool","tool_call_id":"c1","content":"a\ud83d"},`,
		`{"role":"system","content":"It is <Tue>."},`,
		`{"role":"assistant","content":"Done."},`,
		`{"role":"system","content":"It is Wed."},`,
		`{"role":"user","content":[{"type":"text","text":"Thanks."},{"type":"text","text":"Bye."}]},`,
		`{"role":"user","content":"Half is left."}]}`,
	)
}

// TestRefusals: what cannot be sent says whose it is, and why.
func TestRefusals(t *testing.T) {
	ask := unit.Unit{Ref: "e0", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "a"}}}
	exchange := func(call, result unit.Part) []unit.Unit {
		return []unit.Unit{ask, {Ref: "e1", Role: unit.Assistant, Parts: []unit.Part{call}}, {Ref: "e2", Role: unit.Tool, Parts: []unit.Part{result}}}
	}
	says := func(role unit.Role, p unit.Part) []unit.Unit {
		return []unit.Unit{ask, {Ref: "e1", Role: role, Parts: []unit.Part{p}}}
	}
	call, result := unit.Part{Kind: unit.Call, ID: "c", Name: "f"}, unit.Part{Kind: unit.Result, ID: "c"}
	raw := func(p unit.Part, spelling string) unit.Part { p.Raw = []byte(spelling); return p }
	opaque := unit.Part{Kind: unit.Opaque}
	const foreign, unspelled = `lower "e1": it is spelled as another wire spells it`, `lower "e1": an opaque part says nothing of how it is spelled`
	both := map[string]providertest.Refusal{
		"broken arguments":  {Units: exchange(unit.Part{Kind: unit.Call, ID: "c", Name: "f", Args: []byte("{")}, result), Want: `lower "e1": not understood: no name at byte 1`},
		"opaque of nothing": {Units: says(unit.User, opaque), Want: unspelled},
		"a number":          {Units: says(unit.User, raw(opaque, `7`)), Want: foreign},
		"a whole message":   {Units: []unit.Unit{{Ref: "e1", Role: unit.User, Raw: []byte(`{}`), Parts: ask.Parts}}, Want: foreign},
		"a whole answer":    {Units: []unit.Unit{{Ref: "e1", Role: unit.Assistant, Raw: []byte(`{}`), Parts: ask.Parts}}, Want: foreign},
	}
	providertest.Refused(t, responsesWire, both)
	providertest.Refused(t, chatWire, both)
	const roles = `lower "e1": only the assistant makes calls, and has no results`
	providertest.Refused(t, responsesWire, map[string]providertest.Refusal{
		"a call of the user's":    {Units: []unit.Unit{{Ref: "e1", Role: unit.User, Parts: []unit.Part{call}}, {Role: unit.Tool, Parts: []unit.Part{result}}}, Want: roles},
		"a result of the model's": {Units: []unit.Unit{ask, {Role: unit.Assistant, Parts: []unit.Part{call}}, {Ref: "e1", Role: unit.Assistant, Parts: []unit.Part{result}}}, Want: roles},
		"another call":            {Units: exchange(raw(call, `{"type":"function_call","call_id":"d","name":"f"}`), result), Want: foreign},
		"a call of a chat":        {Units: exchange(raw(call, `{"id":"c","function":{}}`), result), Want: foreign},
		"another's text":          {Units: says(unit.Assistant, raw(ask.Parts[0], `{"type":"message","role":"user"}`)), Want: foreign},
		"a hidden call":           {Units: says(unit.Assistant, raw(opaque, `{"type":"function_call","call_id":"c","name":"f"}`)), Want: foreign},
		"reasoning of the user's": {Units: says(unit.User, raw(opaque, `{"type":"reasoning"}`)), Want: foreign},
		"an image of its own":     {Units: says(unit.Assistant, raw(opaque, `{"type":"input_image"}`)), Want: foreign},
		"a chat's image":          {Units: says(unit.User, raw(opaque, `{"type":"image_url"}`)), Want: foreign},
	})
	providertest.Refused(t, chatWire, map[string]providertest.Refusal{
		"another call":        {Units: exchange(raw(call, `{"id":"d","function":{}}`), result), Want: foreign},
		"another result":      {Units: exchange(call, raw(result, `{"role":"tool","tool_call_id":"d"}`)), Want: `lower "e2": it is spelled as another wire spells it`},
		"an image of its own": {Units: says(unit.Assistant, raw(opaque, `{"type":"image_url"}`)), Want: foreign},
		"an item's image":     {Units: says(unit.User, raw(opaque, `{"type":"input_image"}`)), Want: foreign},
	})
}

// TestSpelled: what a wire spelled itself is sent as it is, images of the user among it.
func TestSpelled(t *testing.T) {
	for _, test := range []struct {
		w         providertest.Wire
		image     string
		call, out string
	}{
		{responsesWire, `{"type":"input_image","image_url":"u"}`, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":[]}`},
		{chatWire, `{"type":"image_url","image_url":{"url":"u"}}`, `{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{}}`, `{"role":"tool","tool_call_id":"c","content":[]}`},
	} {
		var v view.View
		for _, u := range []unit.Unit{
			{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "a"}, {Kind: unit.Opaque, Raw: []byte(test.image)}}},
			{Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Call, ID: "c", Name: "f", Raw: []byte(test.call)}}},
			{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: "c", Raw: []byte(test.out)}}},
		} {
			v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u})
		}
		v.Tools = []view.Tool{{Raw: []byte(`{"type": "web_search"}`)}}
		body, err := Protocol{}.Lower(v, provider.LowerParams{Type: test.w.Type})
		for _, has := range []string{test.image, test.call, test.out, `"tools":[{"type":"web_search"}]`} {
			if err != nil || !strings.Contains(string(body), has) {
				t.Errorf("%s is not in %s, %v", has, body, err)
			}
		}
	}
}
