package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/provider/providertest"
)

// everyItem is a Responses request with the kinds of items that clients send.
const everyItem = `{
  "model": "gpt-6", "prompt_cache_key": "019-key", "instructions": "You are Codex.", "stream": true,
  "tools": [{"type": "function", "name": "shell", "parameters": {"type": "object", "x": null}, "strict": null}, {"type": "function", "name": "late", "defer_loading": true}],
  "input": [
    {"type": "additional_tools", "role": "developer", "tools": [{"type": "custom", "name": "exec"}]},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "not public"}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it, \u00fc\/."}, {"type": "input_image", "image_url": "data:"}]},
    {"role": "user", "content": "plain"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "secret"}], "encrypted_content": "e", "content": null},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "shell", "arguments": "{\"cmd\":\"ls \\u00e9\",\"timeout\":5,\"a/b\":\"odd\"}", "status": "completed"},
    {"type": "function_call_output", "call_id": "call_1", "output": "a.go\nb.go"},
    {"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "{\"not\":\"read\"}"},
    {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "Done"}, {"type": "input_image", "image_url": "data:"}]},
    {"type": "local_shell_call", "call_id": "call_3", "action": {"type": "exec", "command": ["ls"], "working_directory": "/w"}},
    {"type": "local_shell_call_output", "id": "call_3", "output": "ok"},
    {"type": "function_call", "call_id": "call_4", "name": "broken", "arguments": "{\"cut"},
    {"type": "function_call_output", "call_id": "call_4", "output": {"content": "refused", "success": false}},
    {"type": "shell_call", "call_id": "call_5", "action": {"commands": ["ls"]}},
    {"type": "shell_call_output", "call_id": "call_5", "output": [{"stdout": "out", "stderr": "", "outcome": {"type": "exit"}}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Fixed.", "annotations": []}, {"type": "refusal", "refusal": "No."}]},
    {"type": "mcp_call", "id": "mcp_1", "name": "ask", "arguments": "{\"q\":\"why\"}", "output": "because"},
    {"type": "compaction", "encrypted_content": "e"},
    {"type": "item_reference", "id": "msg_1"}
  ]
}`

var richResponses = []providertest.Exchange{
	{
		Name:   "every kind of item, and an answer in items",
		Method: "POST", Path: "/v1/responses", Body: everyItem,
		Request: provider.Request{Type: "responses", Model: "gpt-6", Stream: true, CacheKey: "019-key"},

		ContentType: sseType,
		Answer: "event: response.created\n" +
			`data: {"type":"response.created","response":{"id":"resp_1","model":"gpt-6","status":"in_progress","output":[]}}` + "\n\n" +
			"event: response.output_item.added\n" +
			`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}` + "\n\n" +
			"event: response.reasoning_summary_text.delta\n" +
			`data: {"type":"response.reasoning_summary_text.delta","delta":"secret"}` + "\n\n" +
			"event: response.output_item.done\n" +
			`data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}` + "\n\n" +
			"event: response.output_text.delta\n" +
			`data: {"type":"response.output_text.delta","output_index":1,"delta":"I look"}` + "\n\n" +
			"event: response.output_text.delta\n" +
			`data: {"type":"response.output_text.delta","output_index":1,"delta":".\n"}` + "\n\n" +
			"event: response.output_item.done\n" +
			`data: {"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.\n"}]}}` + "\n\n" +
			"event: response.output_item.added\n" +
			`data: {"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_9","name":"shell","arguments":""}}` + "\n\n" +
			"event: response.function_call_arguments.delta\n" +
			`data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"cmd\":"}` + "\n\n" +
			"event: response.function_call_arguments.delta\n" +
			`data: {"type":"response.function_call_arguments.delta","output_index":2,"delta":"\"ls\"}"}` + "\n\n" +
			"event: response.output_item.done\n" +
			`data: {"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_9","name":"shell","arguments":"{\"cmd\":\"ls\"}"}}` + "\n\n" +
			"event: response.output_item.added\n" +
			`data: {"type":"response.output_item.added","output_index":3,"item":{"type":"custom_tool_call","call_id":"call_10","name":"apply_patch","input":""}}` + "\n\n" +
			"event: response.custom_tool_call_input.delta\n" +
			`data: {"type":"response.custom_tool_call_input.delta","output_index":3,"delta":"*** Begin"}` + "\n\n" +
			"event: response.output_item.done\n" +
			`data: {"type":"response.output_item.done","output_index":3,"item":{"type":"custom_tool_call","call_id":"call_10","name":"apply_patch","input":"*** Begin\n"}}` + "\n\n" +
			"event: response.completed\n" +
			`data: {"type":"response.completed","response":{"id":"resp_1","model":"gpt-6","status":"completed","output":[]}}` + "\n\n",
		Response: provider.Response{Model: "gpt-6", Answer: provider.Answer{
			ID: "resp_1", Text: "I look.\n", Whole: true,
			Calls: []provider.Call{
				{ID: "call_9", Name: "shell", Args: []byte(`{"cmd":"ls"}`)}, {ID: "call_10", Name: "apply_patch", Args: []byte(`"*** Begin\n"`)},
			},
			Elements: hashes(
				`{"type":"reasoning","summary":[]}`,
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look.\n"}]}`,
				`{"type":"function_call","call_id":"call_9","name":"shell","arguments":"{\"cmd\":\"ls\"}"}`,
				`{"type":"custom_tool_call","call_id":"call_10","name":"apply_patch","input":"*** Begin\n"}`,
			),
		}},
	},
	{
		Name:   "stream whose end alone holds the output",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m","input":"hi"}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"type":"response.output_text.delta","delta":"Hel"}` + "\n\n" +
			`data: {"type":"response.completed","response":{"id":"resp_2","output":[{"id":"x","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"},{"type":"refusal","refusal":"No"}]},` +
			`{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":1}"},{"type":"hologram"}]}}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			ID: "resp_2", Text: "HelloNo", Whole: true, Unknown: true,
			Calls: []provider.Call{{ID: "c", Name: "n", Args: []byte(`{"a":1}`)}},
			Elements: hashes(
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"},{"type":"refusal","refusal":"No"}]}`,
				`{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":1}"}`, `{"type":"hologram"}`,
			),
		}},
	},
	{
		Name:   "stream that breaks off in a call",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m","input":[{"id":"x"}]}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"n","arguments":""}}` + "\n\n" +
			`data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\""}` + "\n\n" +
			`data: {"type":"error","message":"gone"}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{Unknown: true, Calls: []provider.Call{{ID: "c", Name: "n", Args: []byte(`"{\"a\""`)}}}},
	},
	{
		Name:   "stream of whole items, without pieces",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m","input":"hi"}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":2,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"B"}]}}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			Text: "AB", Calls: []provider.Call{{ID: "c", Name: "n", Args: []byte(`{}`)}},
			Elements: hashes(
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}`,
				`{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}`,
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"B"}]}`,
			),
		}},
	},
	{
		Name:   "response that is still being made",
		Method: "GET", Path: "/v1/responses/resp_3",
		Request: provider.Request{Type: "stored"},

		ContentType: jsonType,
		Answer:      `{"id":"resp_3","status":"in_progress","model":"m","output":[]}`,
		Response:    provider.Response{Model: "m", Answer: provider.Answer{ID: "resp_3"}},
	},
	{
		Name:   "response that failed",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m"}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: jsonType,
		Answer:      `{"id":"resp_4","status":"failed","model":"m","output":[],"error":{"code":"server_error"}}`,
		Response:    provider.Response{Model: "m", Answer: provider.Answer{ID: "resp_4"}},
	},
}

func TestItems(t *testing.T) {
	text := func(field, said, text string) provider.Text {
		return provider.Text{Field: "/input/" + field, Said: said, Text: text}
	}
	of := func(call string, t provider.Text) provider.Text {
		t.Call = call
		return t
	}
	want := []provider.Message{
		{Role: "user", Texts: []provider.Text{text("2/content/0/text", "user", "Fix it, ü/.")}, Fixed: provider.Media},
		{Role: "user", Texts: []provider.Text{text("3/content", "user", "plain")}},
		{Role: "assistant", Fixed: provider.Reasoned},
		{
			Role:  "assistant",
			Calls: []provider.Call{{ID: "call_1", Name: "shell", Args: []byte(`{"cmd":"ls \u00e9","timeout":5,"a/b":"odd"}`)}},
			Texts: []provider.Text{text("5/arguments/cmd", "argument", "ls é"), text("5/arguments/a~1b", "argument", "odd")},
		},
		{Role: "tool", Results: []string{"call_1"}, Texts: []provider.Text{of("call_1", text("6/output", "tool", "a.go\nb.go"))}},
		{
			Role:  "assistant",
			Calls: []provider.Call{{ID: "call_2", Name: "apply_patch", Args: []byte(`"{\"not\":\"read\"}"`)}},
			Texts: []provider.Text{text("7/input", "argument", `{"not":"read"}`)},
		},
		{Role: "tool", Results: []string{"call_2"}, Texts: []provider.Text{of("call_2", text("8/output/0/text", "tool", "Done"))}, Fixed: provider.Media},
		{
			Role:  "assistant",
			Calls: []provider.Call{{ID: "call_3", Name: "local_shell", Args: []byte(`{"type": "exec", "command": ["ls"], "working_directory": "/w"}`)}},
			Texts: []provider.Text{text("9/action/type", "argument", "exec"), text("9/action/working_directory", "argument", "/w")},
		},
		{Role: "tool", Results: []string{"call_3"}, Texts: []provider.Text{of("call_3", text("10/output", "tool", "ok"))}},
		{
			Role:    "assistant",
			Calls:   []provider.Call{{ID: "call_4", Name: "broken", Args: []byte(`"{\"cut"`)}},
			Unknown: true, Fixed: provider.Strange,
		},
		{Role: "tool", Results: []string{"call_4"}, Texts: []provider.Text{of("call_4", text("12/output/content", "tool", "refused"))}},
		{Role: "assistant", Calls: []provider.Call{{ID: "call_5", Name: "shell", Args: []byte(`{"commands": ["ls"]}`)}}},
		{Role: "tool", Results: []string{"call_5"}, Texts: []provider.Text{of("call_5", text("14/output/0/stdout", "tool", "out")), of("call_5", text("14/output/0/outcome/type", "tool", "exit"))}},
		{
			Role:  "assistant",
			Texts: []provider.Text{text("15/content/0/text", "assistant", "Fixed."), text("15/content/1/refusal", "assistant", "No.")},
		},
		{
			Role:  "assistant",
			Calls: []provider.Call{{ID: "mcp_1", Name: "ask", Args: []byte(`{"q":"why"}`)}}, Results: []string{"mcp_1"},
			Texts: []provider.Text{text("16/arguments/q", "argument", "why"), text("16/output", "tool", "because")},
		},
		{Role: "assistant", Fixed: provider.Sealed},
		{Role: "assistant", Fixed: provider.Sealed},
	}
	if diff := cmp.Diff(want, messages(t, "responses", everyItem)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []provider.Message{{Role: "user", Texts: []provider.Text{{Field: "/input", Said: "user", Text: "hi"}}}}
	if diff := cmp.Diff(want, messages(t, "responses", `{"input":"hi"}`)); diff != "" {
		t.Errorf("string input (-want +got):\n%s", diff)
	}
}

func TestUnknownItems(t *testing.T) {
	tests := map[string]bool{
		`{"type":"hologram"}`:                             true,
		`{"role":"narrator","content":"x"}`:               true,
		`{"role":"user","content":[{"type":"hologram"}]}`: true,
		`{"role":"user","content":{}}`:                    true,
		`5`:                                               true,
		`{"type":"function_call_output","output":[{"type":"hologram"}]}`: false,
		`{"id":"x"}`: false,
		`{"type":"web_search_call","action":{"type":"search","query":"q"}}`:     false,
		`{"type":"image_generation_call"}`:                                      false,
		`{"type":"message","role":"developer","content":[{"type":"hologram"}]}`: false,
		`{"type":"mcp_approval_response","approval_request_id":"x"}`:            false,
	}
	for raw, want := range tests {
		if got := (Protocol{}).Message(provider.Request{Type: "responses"}, []byte(raw), "/input/0"); got.Unknown != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}
