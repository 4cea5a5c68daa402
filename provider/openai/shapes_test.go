package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/provider/providertest"
)

// resultItems is a Responses request with what tools give back in every shape, and what else is text.
const resultItems = `{"model":"m","input":[
  {"type":"function_call_output","call_id":"1","output":{"a":{"b":["x",{"c":"y"}]},"n":1}},
  {"type":"function_call_output","call_id":"2","output":["one",{"k":"v"},{"type":"input_text","text":"part"},{"type":"input_file","file_data":"AAAA","filename":"f"}]},
  {"type":"custom_tool_call_output","call_id":"3","output":7},
  {"type":"local_shell_call_output","id":"4","output":{"stdout":"out"}},
  {"type":"computer_call_output","call_id":"5","output":{"type":"computer_screenshot","image_url":"data:","file_id":"f"}},
  {"type":"mcp_call","id":"6","name":"n","server_label":"s","arguments":"{}","output":"because","error":{"message":"late"}},
  {"type":"code_interpreter_call","id":"7","code":"print(1)","container_id":"c","outputs":[{"type":"logs","logs":"1"},{"type":"image","url":"data:image/png;base64,AA"}]},
  {"type":"file_search_call","id":"8","queries":["q"],"results":[{"file_id":"f","filename":"a.md","text":"hit","score":1}]},
  {"type":"image_generation_call","id":"9","result":"AAAA","revised_prompt":"a cat"},
  {"type":"mcp_approval_response","approval_request_id":"10","approve":false,"reason":"no"},
  {"role":"assistant","content":[{"type":"output_text","text":"So.","annotations":[{"type":"url_citation","url":"u","title":"page"}],"logprobs":[{"token":"So"}]},{"type":"output_audio","data":"AAAA","transcript":"spoken"}]}
]}`

// resultMessages is the same for a chat.
const resultMessages = `{"model":"m","messages":[
  {"role":"tool","tool_call_id":"1","content":{"a":{"b":["x"]}}},
  {"role":"tool","tool_call_id":"2","content":["one",{"type":"image_url","image_url":{"url":"data:"}},{"k":{"l":"v"}}]},
  {"role":"tool","tool_call_id":"3","content":7},
  {"role":"assistant","content":null,"audio":{"id":"a","data":"AAAA","transcript":"spoken","expires_at":1},"annotations":[{"type":"url_citation","url_citation":{"url":"u","title":"page","content":"text"}}]}
]}`

var shapes = []providertest.Exchange{
	{
		Name:   "results of every shape, and an answer with results of the provider's tools",
		Method: "POST", Path: "/v1/responses", Body: resultItems,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"type":"response.output_text.delta","output_index":0,"delta":"a \ud83d"}` + "\n\n" +
			`data: {"type":"response.output_text.delta","output_index":0,"delta":"\ude00"}` + "\n\n" +
			`data: {"type":"response.refusal.delta","output_index":0,"delta":"No"}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":1,"item":{"type":"mcp_call","id":"m","name":"n","arguments":"{}","output":"because"}}` + "\n\n" +
			`data: {"type":"response.completed","response":{"id":"r","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a 😀"},{"type":"refusal","refusal":"No."}]},` +
			`{"type":"mcp_call","id":"m","name":"n","arguments":"{}","output":"because"},{"type":"file_search_call","results":[{"text":"hit"}]}]}}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			ID: "r", Text: "a 😀No.", Calls: []provider.Call{{ID: "m", Name: "n", Args: []byte(`{}`)}}, Results: []string{"because", "hit"}, Whole: true,
			Elements: hashes(
				`{"type":"mcp_call","name":"n","arguments":"{}","output":"because"}`,
			),
		}},
	},
	{
		Name:   "end that says something else than the pieces",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m","input":[]}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n" +
			`data: {"type":"response.completed","response":{"output":[{"role":"assistant","content":"b"}]}}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{Text: "a", Whole: true, Unknown: true, Elements: hashes(`{"role":"assistant","content":[{"type":"output_text","text":"b"}]}`)}},
	},
	{
		Name:   "pieces that only the end says",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m","input":[]}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: sseType,
		Answer:      `data: {"type":"response.apply_patch_call_operation_diff.delta","delta":"+a"}` + "\n\n",
		Response:    provider.Response{Answer: provider.Answer{Unknown: true}},
	},
	{
		Name:   "results of every shape in a chat, and choices",
		Method: "POST", Path: "/v1/chat/completions", Body: resultMessages,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"choices":[{"index":0,"delta":{"content":"a\ud83d"}},{"index":2,"delta":{"content":"b"}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"content":"\ude00"}},{"index":1,"delta":{"content":[{"type":"text","text":"c"}]}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"refusal":"No","audio":{"transcript":" spoken"}}},{"index":2,"delta":{"content":"d"}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"function_call":{"name":"old","arguments":"{\"a\":"}}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"function_call":{"arguments":"\"b\"}"}},"finish_reason":"function_call"}]}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			Text: "a😀 spokenNo", Calls: []provider.Call{{Name: "old", Args: []byte(`{"a":"b"}`)}}, Others: []string{"bd", "c"}, Whole: true,
		}},
	},
	{
		Name:   "further choice with a call",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","messages":[]}`,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: jsonType,
		Answer:      `{"choices":[{"index":0,"message":{"content":"A"}},{"index":1,"message":{"content":"B","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}}]}}]}`,
		Response:    provider.Response{Answer: provider.Answer{Text: "A", Others: []string{"B"}, Whole: true, Unknown: true}},
	},
	{
		Name:   "completions",
		Method: "POST", Path: "/v1/completions", Body: `{"model":"m","prompt":["one","two\n"],"suffix":"end"}`,
		Request: provider.Request{Type: "completions", Model: "m"},

		ContentType: jsonType,
		Answer:      `{"choices":[{"index":0,"text":"A","logprobs":null,"finish_reason":"stop"},{"index":1,"text":"B","finish_reason":"stop"}]}`,
		Response:    provider.Response{Answer: provider.Answer{Text: "A", Others: []string{"B"}, Whole: true}},
	},
	{
		Name:   "stream of completions, to tokens",
		Method: "POST", Path: "/v1/completions", Body: `{"model":"m","prompt":[1,2],"stream":true}`,
		Request: provider.Request{Type: "completions", Model: "m", Stream: true},

		ContentType: sseType,
		Answer:      `data: {"choices":[{"index":0,"text":"A\ud83d"}]}` + "\n\n" + `data: {"choices":[{"index":0,"text":"\ude00"}]}` + "\n\ndata: [DONE]\n\n",
		Response:    provider.Response{Answer: provider.Answer{Text: "A😀", Whole: true}},
	},
}

func told(list []provider.Message) (told []string) {
	for _, m := range list {
		for _, text := range m.Texts {
			told = append(told, text.Said+" "+text.Field+" "+text.Text)
		}
		if m.Unknown {
			told = append(told, "unknown")
		}
	}
	return told
}

func TestResults(t *testing.T) {
	for _, test := range []struct {
		kind, body string
		want       []string
	}{
		{"responses", resultItems, []string{
			"tool /input/0/output/a/b/0 x", "tool /input/0/output/a/b/1/c y",
			"tool /input/1/output/0 one", "tool /input/1/output/1/k v", "tool /input/1/output/2/text part",
			"tool /input/3/output/stdout out", "tool /input/5/output because", "tool /input/5/error/message late",
			"argument /input/6/code print(1)", "tool /input/6/outputs/0/type logs", "tool /input/6/outputs/0/logs 1",
			"tool /input/7/results/0/filename a.md", "tool /input/7/results/0/text hit", "tool /input/8/revised_prompt a cat", "user /input/9/reason no",
			"assistant /input/10/content/0/text So.", "tool /input/10/content/0/annotations/0/title page", "assistant /input/10/content/1/transcript spoken",
		}},
		{"chat", resultMessages, []string{
			"tool /messages/0/content/a/b/0 x", "tool /messages/1/content/0 one", "tool /messages/1/content/2/k/l v",
			"assistant /messages/3/audio/transcript spoken",
			"tool /messages/3/annotations/0/url_citation/title page", "tool /messages/3/annotations/0/url_citation/content text",
		}},
		{"completions", `{"prompt":"one","suffix":null}`, []string{"user /prompt one"}},
		{"completions", `{"prompt":["one",""],"suffix":"end"}`, []string{"user /prompt/0 one", "user /suffix end"}},
		{"completions", `{"prompt":[1,2]}`, []string{"unknown"}},
		{"completions", `{"prompt":[[1,2],"x",[3]]}`, []string{"unknown", "user /prompt/1 x", "unknown"}},
		{"completions", `{"prompt":null}`, nil},
	} {
		if diff := cmp.Diff(test.want, told(messages(t, test.kind, test.body))); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.kind, test.body, diff)
		}
	}
}
