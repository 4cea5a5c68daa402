package openai

import (
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
)

// covers: R-03 part
func TestRepliesResponses(t *testing.T) {
	whole := func(rest, output string) string {
		return `{"id":"resp_1","object":"response",` + rest + `"output":[` + output + `]}`
	}
	done := func(item string) string {
		return "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":" + item + "}\n\n"
	}
	ends := func(name, response string) string {
		return "event: response." + name + "\ndata: {\"type\":\"response." + name + "\",\"response\":" + response + "}\n\n"
	}
	const (
		thought = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e"}`
		said    = `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]}`
		called  = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":"{\"a\": 1}"}`
	)
	answers := []providertest.Answer{
		{Name: "reasoning, text and a call", Body: whole(`"status":"completed",`, thought+`,`+said+`,`+called), Want: `calls (completed) | opaque ` + thought + ` | text a | call c1 f {"a":1}`},
		{Name: "in pieces, repeated at the end", Body: done(thought) + done(said) + ends("completed", whole(`"status":"completed",`, thought+`,`+said)), Want: `end (completed) | opaque ` + thought + ` | text a`},
		{Name: "in pieces, not repeated", Body: done(said) + done(called) + ends("completed", whole(`"status":"completed",`, ``)), Want: `calls (completed) | text a | call c1 f {"a":1}`},
		{Name: "only at the end", Body: ends("completed", whole(`"status":"completed",`, said)), Want: `end (completed) | text a`},
		{Name: "events without names", Body: "data: {\"type\":\"response.output_item.done\",\"item\":" + said + "}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n", Want: `end (completed) | text a`},
		{Name: "reasoning that is not encrypted", Body: whole(`"status":"completed",`, `{"id":"rs_1","type":"reasoning","summary":[]},`+said), Want: `end (completed) | text a`},
		{
			Name: "a phase", Body: whole(`"status":"completed",`, `{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]},`+said),
			Want: `end (completed) | text a {"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]} | text a`,
		},
		{Name: "a tool of the provider's", Body: whole(`"status":"completed",`, `{"type":"web_search_call","id":"ws_1","action":{"query":"q"}},`+said), Want: `end (completed) | opaque {"type":"web_search_call","id":"ws_1","action":{"query":"q"}} | text a`},
		{Name: "cut", Body: ends("incomplete", whole(`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},`, said)), Want: `length (max_output_tokens) | text a`},
		{Name: "filtered", Body: whole(`"status":"incomplete","incomplete_details":{"reason":"content_filter"},`, ``), Want: `refusal (content_filter)`},
		{Name: "refused", Body: whole(`"status":"completed",`, `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`), Want: `refusal (completed) | text no`},

		{Name: "failed", Body: ends("failed", `{"status":"failed","error":{"code":"server_error","message":"sorry"},"output":[]}`), Want: `error: the provider reported an error, event 1: server_error: sorry`},
		{Name: "failed and says nothing", Body: ends("failed", `{"status":"failed","error":null}`), Want: `error: the provider reported an error, event 1: failed: the response has this status`},
		{Name: "an error between", Body: done(said) + "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}\n\n", Want: `error: the provider reported an error, event 2: error: slow`},
		{Name: "broken off", Body: done(said), Want: `error: the answer broke off: the stream ended before the answer did`},
		{Name: "in progress", Body: whole(`"status":"in_progress",`, said), Want: `error: the answer is not understood: it holds no answer that came to its end`},
		{Name: "nothing", Body: whole(`"status":"completed",`, thought), Want: `error: the answer is empty: completed`},
		{Name: "a list of arguments", Body: whole(`"status":"completed",`, `{"type":"function_call","call_id":"c","name":"f","arguments":"[]"}`), Want: `error: the arguments of a call are no JSON object ("f", call "c"), call 1: they are an array`},
		{Name: "no arguments", Body: whole(`"status":"completed",`, `{"type":"function_call","call_id":"c","name":"f","arguments":""}`), Want: `calls (completed) | call c f {}`},
		{Name: "a call of another kind", Body: whole(`"status":"completed",`, said+`,{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}`), Want: `error: the answer is not understood, item 2: an item of type "custom_tool_call", which nobody here can answer`},
		{Name: "no item", Body: whole(`"status":"completed",`, `5`), Want: `error: the answer is not understood, item 1: it is no object`},
	}
	for i := range answers {
		answers[i].Type = provider.TypeResponses
	}
	providertest.Replies(t, Protocol{}, answers...)
}

// covers: R-03 part
func TestRepliesChat(t *testing.T) {
	whole := func(message, reason string) string {
		return `{"object":"chat.completion","choices":[{"index":0,"message":` + message + `,"finish_reason":"` + reason + `"},{"index":1,"message":{"content":"other"},"finish_reason":"stop"}]}`
	}
	pieces := func(deltas ...string) (body string) {
		for _, d := range deltas {
			body += `data: {"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}` + "\n\n"
		}
		return body
	}
	stops := func(reason string) string {
		return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
	}
	const end = "data: [DONE]\n\n"
	answers := []providertest.Answer{
		{
			Name: "text and calls", Body: whole(`{"content":"a","reasoning_content":"t","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":""}}]}`, "tool_calls"),
			Want: `calls (tool_calls) | text a | call c1 f {"a":1} | call c2 g {}`,
		},
		{
			Name: "in pieces", Body: pieces(`{"role":"assistant","content":""}`, `{"reasoning_content":"t"}`, `{"content":"a\ud83d"}`, `{"content":"\ude00"}`,
				`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}},{"index":1,"id":"c2","function":{"name":"g","arguments":"{}"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`) + stops("tool_calls") + `data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n" + end,
			Want: `calls (tool_calls) | text a😀 | call c1 f {"a":1} | call c2 g {}`,
		},
		{
			Name: "all calls numbered alike", Body: pieces(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]}`, `{"tool_calls":[{"index":0,"id":"c2","function":{"name":"g","arguments":"{}"}}]}`) + stops("stop"),
			Want: `calls (stop) | call c1 f {} | call c2 g {}`,
		},
		{Name: "an object for arguments", Body: whole(`{"content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]}`, "stop"), Want: `calls (stop) | call c f {"a":1}`},
		{
			Name: "a signature", Body: whole(`{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}`, "stop"),
			Want: `calls (stop) | call c f {} {"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}`,
		},
		{Name: "content in parts", Body: whole(`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"}]}`, "stop"), Want: `end (stop) | text a`},
		{Name: "without a reason", Body: pieces(`{"content":"a"}`) + end, Want: `end () | text a`},
		{Name: "cut", Body: pieces(`{"content":"a"}`) + stops("length") + end, Want: `length (length) | text a`},
		{Name: "filtered", Body: stops("content_filter") + end, Want: `refusal (content_filter)`},
		{Name: "refused", Body: whole(`{"content":null,"refusal":"no"}`, "stop"), Want: `refusal (stop) | text no`},
		{Name: "for another reason", Body: whole(`{"content":"a"}`, "insufficient_system_resource"), Want: `other (insufficient_system_resource) | text a`},

		{Name: "broken off", Body: pieces(`{"content":"a"}`), Want: `error: the answer broke off: the stream ended before the answer did`},
		{Name: "an error", Body: pieces(`{"content":"a"}`) + `data: {"error":{"code":"server_error","message":"sorry"}}` + "\n\n", Want: `error: the provider reported an error, event 2: server_error: sorry`},
		{Name: "an error in words", Body: `{"error":"no model"}`, Want: `error: the provider reported an error, event 1: no model`},
		{Name: "an error of a choice", Body: `{"choices":[{"error":{"code":502,"message":"sorry"},"message":{"content":"a"},"finish_reason":"error"}]}`, Want: `error: the provider reported an error, event 1: sorry`},
		{Name: "nothing", Body: whole(`{"content":"","reasoning_content":"t"}`, "stop"), Want: `error: the answer is empty: stop`},
		{
			Name: "broken arguments", Body: whole(`{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\""}}]}`, "length"),
			Want: `error: the arguments of a call are no JSON object ("f", call "c"), call 1: not understood: no colon behind a name at byte 4; the answer was cut at its greatest length`,
		},
		{Name: "arguments of no object", Body: whole(`{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"7"}}]}`, "stop"), Want: `error: the arguments of a call are no JSON object ("f", call "c"), call 1: they are a number`},
		{Name: "free text", Body: whole(`{"tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"x"}}]}`, "stop"), Want: `error: the arguments of a call are no JSON object ("", call "c"): they are free text`},
		{Name: "the older API", Body: whole(`{"function_call":{"name":"f","arguments":"{}"}}`, "function_call"), Want: `error: the answer is not understood: a function_call of the older API, which has no id`},
		{Name: "a call that is none", Body: whole(`{"tool_calls":[5]}`, "stop"), Want: `error: the answer is not understood: a call is no object`},
	}
	for i := range answers {
		answers[i].Type = provider.TypeChat
	}
	providertest.Replies(t, Protocol{}, answers...)
}

// TestSend: where requests are posted, and with what.
func TestSend(t *testing.T) {
	for kind, want := range map[string]string{"": "/responses", provider.TypeResponses: "/responses", provider.TypeChat: "/chat/completions"} {
		if got := (Protocol{}).Endpoint(provider.LowerParams{Type: kind, Stream: true}); got != want {
			t.Errorf("%q: %s", kind, got)
		}
	}
	providertest.Headed(t, Protocol{}, "authorization: Bearer KEY")
}
