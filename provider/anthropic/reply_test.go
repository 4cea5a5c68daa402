package anthropic

import (
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
)

// stream is a stream of Messages, of the data of its events.
func stream(data ...string) (body string) {
	for _, d := range data {
		body += "event: " + provider.JSON(d).Find("type")[0].Text() + "\ndata: " + d + "\n\n"
	}
	return body
}

const (
	begin  = `{"type":"message_start","message":{"type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}`
	ending = `{"type":"message_stop"}`
)

func stopped(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":5}}`
}

func opens(block string) string {
	return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
}

func grows(delta string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
}

// covers: R-03 part
func TestReplies(t *testing.T) {
	whole := func(content, reason string) string {
		return `{"type":"message","role":"assistant","stop_reason":"` + reason + `","content":` + content + `}`
	}
	answers := []providertest.Answer{
		{
			Name: "thinking, text and calls", Body: whole(`[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"a"},`+
				`{"type":"tool_use","id":"c1","name":"f","input":{ "a": "\u00fc" }},{"type":"tool_use","id":"c2","name":"g","input":{}}]`, "tool_use"),
			Want: `calls (tool_use) | opaque {"type":"thinking","thinking":"t","signature":"s"} | opaque {"type":"redacted_thinking","data":"d"} | text a | call c1 f {"a":"ü"} | call c2 g {}`,
		},
		{
			Name: "in pieces", Body: stream(begin,
				opens(`{"type":"thinking","thinking":"t","signature":""}`), grows(`{"type":"thinking_delta","thinking":"\ud83d"}`), grows(`{"type":"thinking_delta","thinking":"\ude00"}`), grows(`{"type":"signature_delta","signature":"s"}`),
				opens(`{"type":"text","text":""}`), grows(`{"type":"text_delta","text":"a\ud83d"}`), `{"type":"ping"}`, grows(`{"type":"text_delta","text":"\ude00"}`),
				opens(`{"type":"tool_use","id":"c","name":"f","input":{}}`), grows(`{"type":"input_json_delta","partial_json":""}`), grows(`{"type":"input_json_delta","partial_json":"{\"a\":"}`), grows(`{"type":"input_json_delta","partial_json":"1}"}`),
				`{"type":"content_block_stop","index":0}`, stopped("tool_use"), ending),
			Want: `calls (tool_use) | opaque {"type":"thinking","thinking":"t😀","signature":"s"} | text a😀 | call c f {"a":1}`,
		},
		{
			Name: "a tool of the provider's, and what it cites", Body: stream(begin,
				opens(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), grows(`{"type":"input_json_delta","partial_json":"{\"q\":\"x\"}"}`),
				opens(`{"type":"text","text":"","citations":[]}`), grows(`{"type":"citations_delta","citation":{"url":"u"}}`), grows(`{"type":"text_delta","text":"a"}`),
				stopped("pause_turn"), ending),
			Want: `other (pause_turn) | opaque {"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"x"}} | text a {"type":"text","text":"a","citations":[{"url":"u"}]}`,
		},
		{
			Name: "a call that says by whom", Body: whole(`[{"type":"tool_use","id":"c","name":"f","input":{},"caller":{"type":"direct"}}]`, "end_turn"),
			Want: `calls (end_turn) | call c f {} {"type":"tool_use","id":"c","name":"f","input":{},"caller":{"type":"direct"}}`,
		},
		{Name: "nothing but a tool of the provider's", Body: whole(`[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]`, "pause_turn"), Want: `other (pause_turn) | opaque {"type":"server_tool_use","id":"s","name":"web_search","input":{}}`},
		{
			Name: "arguments cut in a character", Body: stream(begin, opens(`{"type":"tool_use","id":"c","name":"f","input":{}}`), grows(`{"type":"input_json_delta","partial_json":"{\"a\":\"\ud83d"}`), grows(`{"type":"input_json_delta","partial_json":"\ude00\"}"}`), stopped("tool_use"), ending),
			Want: `calls (tool_use) | call c f {"a":"😀"}`,
		},
		{Name: "thinking without a signature", Body: whole(`[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"a"}]`, "stop_sequence"), Want: `end (stop_sequence) | text a`},
		{Name: "cut", Body: whole(`[{"type":"text","text":"a"}]`, "max_tokens"), Want: `length (max_tokens) | text a`},
		{Name: "refused", Body: whole(`[]`, "refusal"), Want: `refusal (refusal)`},
		{Name: "a refusal with calls", Body: whole(`[{"type":"tool_use","id":"c","name":"f","input":{}}]`, "refusal"), Want: `refusal (refusal) | call c f {}`},

		{Name: "nothing", Body: whole(`[]`, "end_turn"), Want: `error: the answer is empty: end_turn`},
		{Name: "nothing but blanks", Body: whole(`[{"type":"text","text":"\n"}]`, "end_turn"), Want: `error: the answer is empty: end_turn`},
		{Name: "nothing but thoughts", Body: whole(`[{"type":"thinking","thinking":"t","signature":"s"}]`, "max_tokens"), Want: `error: the answer is empty: max_tokens`},
		{Name: "broken off", Body: stream(begin, opens(`{"type":"text","text":""}`), grows(`{"type":"text_delta","text":"a"}`)), Want: `error: the answer broke off: the stream ended before the answer did`},
		{Name: "broken off before its end", Body: stream(begin, opens(`{"type":"text","text":"a"}`), stopped("end_turn")), Want: `error: the answer broke off: the stream ended before the answer did`},
		{Name: "half an object", Body: `{"type":"message","content":[{"type":"text"`, Want: `error: the answer broke off: not understood: no comma or end in an object at byte 43`},
		{Name: "an error", Body: stream(begin, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), Want: `error: the provider reported an error, event 2: overloaded_error: Overloaded`},
		{Name: "a whole error", Body: `{"type":"error","error":{"type":"api_error","message":"no"}}`, Want: `error: the provider reported an error, event 1: api_error: no`},
		{
			Name: "half the arguments", Body: stream(begin, opens(`{"type":"tool_use","id":"c","name":"f","input":{}}`), grows(`{"type":"input_json_delta","partial_json":"{\"a\":"}`), stopped("max_tokens"), ending),
			Want: `error: the arguments of a call are no JSON object ("f", call "c"), call 1: not understood: no value at byte 5; the answer was cut at its greatest length`,
		},
		{Name: "no object", Body: whole(`[{"type":"tool_use","id":"c0","name":"f","input":{}},{"type":"tool_use","id":"c","name":"f","input":"x"}]`, "tool_use"), Want: `error: the arguments of a call are no JSON object ("f", call "c"), call 2: they are a string`},
		{Name: "a call without id", Body: whole(`[{"type":"tool_use","name":"f","input":{}}]`, "tool_use"), Want: `error: the answer is not understood ("f", call ""), call 1: the call has no id`},
		{Name: "one id twice", Body: whole(`[{"type":"tool_use","id":"c","name":"f","input":{}},{"type":"tool_use","id":"c","name":"f","input":{}}]`, "tool_use"), Want: `error: the answer is not understood ("f", call "c"), call 2: two calls have one id`},
		{Name: "a piece of nothing", Body: stream(begin, grows(`{"type":"text_delta","text":"a"}`), ending), Want: `error: the answer is not understood, event 2: a piece of a block that is not known`},
		{Name: "a piece of a new kind", Body: stream(begin, opens(`{"type":"text","text":"a"}`), grows(`{"type":"new_delta","x":"a"}`), ending), Want: `error: the answer is not understood, event 3: a piece of a block that is not known`},
		{Name: "a result", Body: whole(`[{"type":"tool_result","tool_use_id":"c","content":"x"}]`, "end_turn"), Want: `error: the answer is not understood: a block of type "tool_result"`},
		{Name: "another wire's", Body: whole(`[{"type":"reasoning"},{"type":"text","text":"a"}]`, "end_turn"), Want: `error: the answer is not understood: a block of type "reasoning"`},
		{Name: "no answer", Body: `{"object":"list"}`, Want: `error: the answer is not understood: it holds no answer that came to its end`},
		{Name: "a page", Body: "<html>", Want: `error: the answer broke off: the stream ended before the answer did`},
		{Name: "another type", Type: provider.TypeCountTokens, Body: `{"input_tokens":1}`, Want: `error: the answer is not understood: no unit is made of an answer to a request of type "count_tokens"`},
	}
	for i := range answers {
		if answers[i].Type == "" {
			answers[i].Type = provider.TypeMessages
		}
	}
	providertest.Replies(t, Protocol{}, answers...)
}

// TestSend: where requests are posted, and with what.
func TestSend(t *testing.T) {
	if got := (Protocol{}).Endpoint(provider.LowerParams{Model: "m", Stream: true}); got != "/v1/messages" {
		t.Error(got)
	}
	providertest.Headed(t, Protocol{}, "anthropic-version: 2023-06-01", "x-api-key: KEY")
}
