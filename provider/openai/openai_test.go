package openai

import (
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/provider"
	"ambit/provider/providertest"
)

const (
	jsonType = "application/json"
	sseType  = "text/event-stream; charset=utf-8"
)

var exchanges = []providertest.Exchange{
	{
		Name:   "responses",
		Method: "POST", Path: "/v1/responses",
		Body:    `{"input":[{"type":"message","model":"decoy","stream":true}],"model":"gpt-5.1-codex","store":false}`,
		Request: provider.Request{Type: "responses", Model: "gpt-5.1-codex"},

		ContentType: jsonType,
		Answer: `{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.1-codex-2026","output":[{"usage":{"input_tokens":1}}],` +
			`"usage":{"input_tokens":120,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":32},"output_tokens":18,"output_tokens_details":{"reasoning_tokens":8},"total_tokens":138}}`,
		Response: provider.Response{
			Model:  "gpt-5.1-codex-2026",
			Usage:  &entry.Usage{Input: 120, CacheRead: 64, CacheWrite: 32, Output: 18},
			Answer: provider.Answer{ID: "resp_1", Whole: true, Unknown: true, Elements: hashes(`{"usage":{"input_tokens":1}}`)},
		},
	},
	{
		Name:   "stream of responses",
		Method: "POST", Path: "/responses", Body: `{"model":"gpt-5","stream":true,"input":"hi"}`,
		Request: provider.Request{Type: "responses", Model: "gpt-5", Stream: true},

		ContentType: sseType,
		Answer: "event: response.created\n" +
			`data: {"type":"response.created","response":{"model":"gpt-5-2026","usage":null},"sequence_number":0}` + "\n\n" +
			"event: response.output_text.delta\n" +
			`data: {"type":"response.output_text.delta","delta":"x","response":{"usage":{"input_tokens":5}}}` + "\n\n" +
			"event: response.completed\n" +
			`data: {"type":"response.completed","response":{"model":"gpt-5-2026","usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":0},"output_tokens":87}}}` + "\n\n",
		Response: provider.Response{
			Model: "gpt-5-2026", Usage: &entry.Usage{Input: 36, Output: 87}, Answer: provider.Answer{Text: "x", Whole: true},
		},
	},
	{
		Name:   "stream of responses that is incomplete, without event names",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"gpt-5","stream":true}`,
		Request: provider.Request{Type: "responses", Model: "gpt-5", Stream: true},

		ContentType: sseType,
		Answer: `data: {"type":"response.created","response":{"model":"gpt-5","usage":null}}` + "\n\n" +
			`data: {"type":"response.output_text.delta","delta":"x"}` + "\n\n" +
			`data: {"type":"response.incomplete","response":{"model":"gpt-5","usage":{"input_tokens":7,"output_tokens":3}}}` + "\n\n",
		Response: provider.Response{
			Model: "gpt-5", Usage: &entry.Usage{Input: 7, Output: 3}, Answer: provider.Answer{Text: "x", Whole: true},
		},
	},
	{
		Name:   "stream of responses that failed",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"gpt-5","stream":true}`,
		Request: provider.Request{Type: "responses", Model: "gpt-5", Stream: true},

		ContentType: sseType,
		Answer: "event: response.failed\n" +
			`data: {"type":"response.failed","response":{"model":"gpt-5","error":{"code":"context_length_exceeded"},"usage":null}}` + "\n\n",
		Response: provider.Response{Model: "gpt-5"},
	},
	{
		Name:   "compact",
		Method: "POST", Path: "/v1/responses/compact", Body: `{"model":"gpt-5","input":[]}`,
		Request: provider.Request{Type: "compact", Model: "gpt-5"},

		ContentType: jsonType,
		Answer:      `{"object":"response.compaction","output":[],"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":900},"output_tokens":200}}`,
		Response: provider.Response{
			Usage: &entry.Usage{Input: 1000, CacheRead: 900, Output: 200}, Answer: provider.Answer{Whole: true},
		},
	},
	{
		Name:   "input_tokens",
		Method: "POST", Path: "/v1/responses/input_tokens", Body: `{"model":"gpt-5","input":"hi"}`,
		Request: provider.Request{Type: "count_tokens", Model: "gpt-5"},

		ContentType: jsonType,
		Answer:      `{"object":"response.input_tokens","input_tokens":11}`,
		Response:    provider.Response{Usage: &entry.Usage{Input: 11}},
	},
	{
		Name:   "chat",
		Method: "POST", Path: "/v1/chat/completions",
		Body:    `{"model":"first","messages":[{"role":"user","content":"\ud83d"}],"tools":[],"model":"gpt-4.1-mini","stream":null}`,
		Request: provider.Request{Type: "chat", Model: "gpt-4.1-mini"},

		ContentType: jsonType + "; charset=utf-8",
		Answer: `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4.1-mini-2025-04-14","choices":[{"message":{"content":"Hi"}}],` +
			`"usage":{"prompt_tokens":1603,"completion_tokens":40,"total_tokens":1643,"prompt_tokens_details":{"cached_tokens":1536,"audio_tokens":0}}}`,
		Response: provider.Response{
			Model: "gpt-4.1-mini-2025-04-14", Usage: &entry.Usage{Input: 1603, CacheRead: 1536, Output: 40},
			Answer: provider.Answer{Text: "Hi", Whole: true},
		},
	},
	{
		Name:   "stream of chat",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"gpt-5","stream":true,"stream_options":{"include_usage":true}}`,
		Request: provider.Request{Type: "chat", Model: "gpt-5", Stream: true},

		ContentType: sseType,
		Answer: `data: {"model":"gpt-5-2026","choices":[{"delta":{"content":"Hi"}}],"usage":null}` + "\n\n" +
			`data: {"model":"gpt-5-2026","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":1}}` + "\n\n" +
			`data: {"model":"gpt-5-2026","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n" +
			`data: {"model":"gpt-5-2026","choices":[],"usage":null}` + "\n\n" +
			"data: [DONE]\n\n",
		Response: provider.Response{
			Model: "gpt-5-2026", Usage: &entry.Usage{Input: 12, CacheRead: 4, Output: 9}, Answer: provider.Answer{Text: "Hi", Whole: true},
		},
	},
	{
		Name:   "stream of chat without usage",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","stream":true}`,
		Request: provider.Request{Type: "chat", Model: "m", Stream: true},

		ContentType: sseType,
		Answer:      ": keep-alive\n\ndata: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n",
		Response:    provider.Response{Model: "m", Answer: provider.Answer{Text: "Hi", Whole: true}},
	},
	{
		Name:   "error in a stream of chat",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","stream":true}`,
		Request: provider.Request{Type: "chat", Model: "m", Stream: true},

		ContentType: sseType,
		Answer:      "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n",
	},
	{
		Name:   "error",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m"}`,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: jsonType,
		Answer:      `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
	},
	{
		Name:   "stream with a wrong content type",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m","stream":true}`,
		Request: provider.Request{Type: "chat", Model: "m", Stream: true},

		ContentType: "text/plain",
		Answer:      "data: {\"model\":\"m\",\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n",
		Response:    provider.Response{Model: "m", Usage: &entry.Usage{Input: 3, Output: 1}},
	},
	{
		Name:   "absurd counts",
		Method: "POST", Path: "/v1/chat/completions", Body: `{"model":"m"}`,
		Request: provider.Request{Type: "chat", Model: "m"},

		ContentType: jsonType,
		Answer:      `{"model":"m","usage":{"prompt_tokens":10,"completion_tokens":-4,"prompt_tokens_details":{"cached_tokens":11}}}`,
		Response:    provider.Response{Model: "m", Usage: &entry.Usage{Input: 10}},
	},
	{
		Name:   "details without a total",
		Method: "POST", Path: "/v1/responses", Body: `{"model":"m"}`,
		Request: provider.Request{Type: "responses", Model: "m"},

		ContentType: jsonType,
		Answer:      `{"model":"m","usage":{"input_tokens":1e400,"input_tokens_details":{"cached_tokens":11}}}`,
		Response:    provider.Response{Model: "m"},
	},
	{
		Name:   "embeddings",
		Method: "POST", Path: "/v1/embeddings", Body: `{"model":"text-embedding-3-small","input":"x"}`,
		Request: provider.Request{Type: "embeddings", Model: "text-embedding-3-small"},

		ContentType: jsonType,
		Answer:      `{"object":"list","data":[],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`,
		Response:    provider.Response{Model: "text-embedding-3-small", Usage: &entry.Usage{Input: 8}},
	},
	{
		Name:   "models",
		Method: "GET", Path: "/v1/models",
		Request: provider.Request{Type: "models"},

		ContentType: jsonType,
		Answer:      `{"object":"list","data":[],"model":"m","usage":{"prompt_tokens":8}}`,
	},
	{
		Name:   "refused WebSocket",
		Method: "GET", Path: "/v1/responses",
		Request: provider.Request{Type: "responses"},

		ContentType: "text/plain",
		Answer:      "Upgrade Required",
	},
}

func TestType(t *testing.T) {
	tests := map[string]string{
		"POST /openai/v1/responses":           "responses",
		"DELETE /v1/responses":                "",
		"GET /v1/responses/resp_1":            "stored",
		"GET /v1/responses/resp_1?stream=1":   "stored",
		"POST /v1/responses/resp_1/cancel":    "stored",
		"GET /v1/responses/compact":           "stored",
		"POST /chat/completions":              "chat",
		"POST /v1/chat/completions/":          "chat",
		"GET /v1/chat/completions":            "stored",
		"GET /v1/chat/completions/chatcmpl-1": "stored",
		"POST /v1/chat":                       "",
		"POST /v1/completions":                "completions",
		"GET /v1/models/ft:gpt-4:org::id":     "models",
		"POST /v1/batches":                    "batches",
		"POST /v1/files":                      "files",
		"POST /v1/messages":                   "",
		"POST /":                              "",
	}
	for asked, want := range tests {
		method, path, _ := strings.Cut(asked, " ")
		if got := (Protocol{}).Request(method, path, nil).Type; got != want {
			t.Errorf("%s is %q, want %q", asked, got, want)
		}
	}
}

func TestLaws(t *testing.T) {
	providertest.Run(t, Protocol{}, slices.Concat(exchanges, richResponses, richChat, shapes)...)
}

func FuzzResponse(f *testing.F) {
	providertest.FuzzResponse(f, Protocol{}, slices.Concat(exchanges, richResponses, richChat, shapes)...)
}
