package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/provider/providertest"
)

// everyChat is a chat with every kind of message.
const everyChat = `{
  "model": "m", "tools": [{"type": "function", "function": {"name": "read", "parameters": {"default": null}}}],
  "messages": [
    {"role": "system", "content": "not public"},
    {"role": "user", "content": "Gr\u00fc\u00dfe \ud800"},
    {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": "data:"}}], "name": null},
    {"role": "assistant", "content": "I read.", "reasoning_content": "secret", "refusal": null, "tool_calls": [
      {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.go\",\"n\":1}"}},
      {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "{}"}},
      {"id": "call_3", "function": {"name": "list", "arguments": ""}}
    ]},
    {"role": "tool", "tool_call_id": "call_1", "content": "package a"},
    {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "done"}]},
    {"role": "developer", "content": "not public either"},
    {"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": "{\"a\":\"b\"}"}},
    {"role": "function", "name": "old", "content": "result"},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "refusal": "Never."}
  ]
}`

var richChat = []providertest.Exchange{
	{
		Name:   "every kind of message, and calls in the answer",
		Method: "POST", Path: "/v1/chat/completions", Body: everyChat,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"secret"},"finish_reason":null}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"content":"I re"}}]}` + "\n\n" +
			`data: {"choices":[{"index":1,"delta":{"content":"other"}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"content":"ad."}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_8","type":"function","function":{"name":"read","arguments":""}}]}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_9","function":{"name":"list","arguments":"{}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"b\"}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" +
			"data: [DONE]\n\n",
		Response: provider.Response{Model: "m", Answer: provider.Answer{
			Text: "I read.", Whole: true, Others: []string{"other"},
			Calls: []provider.Call{{ID: "call_8", Name: "read", Args: []byte(`{"path":"b"}`)}, {ID: "call_9", Name: "list", Args: []byte(`{}`)}},
		}},
	},
	{
		Name:   "server that gives all calls one number, and breaks off",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","messages":[]}`,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"{\"x\":1}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"n","arguments":"{\"x\""}}]}}]}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			Unknown: true,
			Calls:   []provider.Call{{ID: "a", Name: "n", Args: []byte(`{"x":1}`)}, {ID: "b", Name: "n", Args: []byte(`"{\"x\""`)}},
		}},
	},
	{
		Name:   "one answer with a call",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","messages":[]}`,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: jsonType,
		Answer: `{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"A","refusal":"No","tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\": 1}"}}]},"finish_reason":"tool_calls"},` +
			`{"index":1,"message":{"role":"assistant","content":"B"}}]}`,
		Response: provider.Response{Model: "m", Answer: provider.Answer{
			Text: "ANo", Whole: true, Others: []string{"B"}, Calls: []provider.Call{{ID: "c", Name: "n", Args: []byte(`{"a": 1}`)}},
		}},
	},
	{
		Name:   "error behind some text",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","messages":[]}`,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"choices":[{"delta":{"content":"A","tool_calls":[{"type":"hologram"}]}}]}` + "\n\n" +
			`data: {"error":{"message":"gone"}}` + "\n\ndata: [DONE]\n\n",
		Response: provider.Response{Answer: provider.Answer{Text: "A", Unknown: true}},
	},
}

func TestChat(t *testing.T) {
	text := func(field, said, text string) provider.Text {
		return provider.Text{Field: "/messages/" + field, Said: said, Text: text}
	}
	of := func(call string, t provider.Text) provider.Text {
		t.Call = call
		return t
	}
	want := []provider.Message{
		{Role: "user", Texts: []provider.Text{text("1/content", "user", "Grüße \uFFFD")}},
		{Role: "user", Texts: []provider.Text{text("2/content/0/text", "user", "Look.")}, Fixed: provider.Media},
		{
			Role: "assistant", Fixed: provider.Reasoned,
			Calls: []provider.Call{
				{ID: "call_1", Name: "read", Args: []byte(`{"path":"a.go","n":1}`)},
				{ID: "call_2", Name: "patch", Args: []byte(`"{}"`)},
				{ID: "call_3", Name: "list", Args: []byte(`""`)},
			},
			Texts: []provider.Text{
				text("3/content", "assistant", "I read."), text("3/tool_calls/0/function/arguments/path", "argument", "a.go"),
				text("3/tool_calls/1/custom/input", "argument", "{}"),
			},
		},
		{Role: "tool", Results: []string{"call_1"}, Texts: []provider.Text{of("call_1", text("4/content", "tool", "package a"))}},
		{Role: "tool", Results: []string{"call_2"}, Texts: []provider.Text{of("call_2", text("5/content/0/text", "tool", "done"))}},
		{Role: "developer"},
		{
			Role: "assistant", Calls: []provider.Call{{Name: "old", Args: []byte(`{"a":"b"}`)}},
			Texts: []provider.Text{text("7/function_call/arguments/a", "argument", "b")},
		},
		{Role: "function", Texts: []provider.Text{text("8/content", "tool", "result")}},
		{Role: "assistant", Texts: []provider.Text{text("9/content/0/refusal", "assistant", "No."), text("9/refusal", "assistant", "Never.")}},
	}
	if diff := cmp.Diff(want, messages(t, "chat", everyChat)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknownChat(t *testing.T) {
	tests := map[string]bool{
		`{"role":"user","content":[{"type":"hologram"}]}`:         true,
		`{"role":"narrator"}`:                                     true,
		`{"role":"assistant","tool_calls":[{"type":"hologram"}]}`: true,
		`{"role":"assistant","content":7}`:                        true,
		`"x"`:                                                     true,
		`{"role":"assistant"}`:                                    false,
		`{"role":"user","content":[{"type":"input_audio"}]}`:      false,
	}
	for raw, want := range tests {
		if got := (Protocol{}).Message(provider.Request{Type: "chat"}, []byte(raw), "/messages/0"); got.Unknown != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}
