package anthropic

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
		Name:   "one answer",
		Method: "POST", Path: "/v1/messages?beta=true",
		Body:        `{"max_tokens":5,"messages":[{"role":"user","content":"hi","model":"decoy"}],"model":"claude-opus-5-5"}`,
		ContentType: jsonType,
		Answer: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5-20260101","content":[{"type":"text","text":"A"}],` +
			`"usage":{"input_tokens":8,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":3,"service_tier":"standard"}}` + "\n",
		Request: provider.Request{Type: "messages", Model: "claude-opus-5-5"},
		Response: provider.Response{
			Model: "claude-opus-5-5-20260101",
			Usage: &entry.Usage{Input: 128, CacheRead: 100, CacheWrite: 20, Output: 3}, Answer: provider.Answer{Text: "A", Whole: true},
		},
	},
	{
		Name:   "stream in which message_delta gives the output only",
		Method: "POST", Path: "/v1/messages",
		Body:        `{"stream": true, "model": "claude-haiku-4-5", "messages": []}`,
		ContentType: sseType,
		Answer: "event: message_start\n" +
			`data: {"type":"message_start","message":{"type":"message","model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":96,"cache_creation_input_tokens":0,"cache_read_input_tokens":7,"output_tokens":2}}}` + "\n\n" +
			"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
			"event: content_block_delta\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"{\"usage\":{\"input_tokens\":1}}"}}` + "\n\n" +
			"event: message_delta\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}   }` + "\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		Request: provider.Request{Type: "messages", Model: "claude-haiku-4-5", Stream: true},
		Response: provider.Response{
			Model: "claude-haiku-4-5", Usage: &entry.Usage{Input: 103, CacheRead: 7, Output: 15},
			Answer: provider.Answer{Text: `{"usage":{"input_tokens":1}}`, Whole: true},
		},
	},
	{
		Name:   "stream without event names in which later counts replace earlier ones, but not by null",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m","stream":true}`, ContentType: sseType,
		Answer: `data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":10,"cache_read_input_tokens":50,"cache_creation_input_tokens":5,"output_tokens":1}}}` + "\n\n" +
			`data: {"type":"message_delta","usage":{"input_tokens":30,"cache_read_input_tokens":null,"output_tokens":4}}` + "\n\n" +
			`data: {"type":"message_delta","usage":{"output_tokens":9,"cache_creation_input_tokens":6}}` + "\n\n",
		Request:  provider.Request{Type: "messages", Model: "m", Stream: true},
		Response: provider.Response{Model: "m", Usage: &entry.Usage{Input: 86, CacheRead: 50, CacheWrite: 6, Output: 9}},
	},
	{
		Name:   "stream that was dropped",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m","stream":true}`, ContentType: sseType,
		Answer: "event: message_start\n" +
			`data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":10,"output_tokens":1}}}` + "\n\n" +
			"event: message_delta\n" +
			`data: {"type":"message_delta","usage":{"output_tokens":15}}` + "\n",
		Request:  provider.Request{Type: "messages", Model: "m", Stream: true},
		Response: provider.Response{Model: "m", Usage: &entry.Usage{Input: 10, Output: 1}},
	},
	{
		Name:   "error in a stream",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m","stream":true}`, ContentType: sseType,
		Answer:  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		Request: provider.Request{Type: "messages", Model: "m", Stream: true},
	},
	{
		Name:   "error",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m"}`, ContentType: jsonType,
		Answer:  `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`,
		Request: provider.Request{Type: "messages", Model: "m"},
	},
	{
		Name:   "absurd counts",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m"}`, ContentType: jsonType,
		Answer:   `{"type":"message","model":"m","usage":{"input_tokens":-1,"cache_read_input_tokens":1.5,"cache_creation_input_tokens":1e400,"output_tokens":"7"}}`,
		Request:  provider.Request{Type: "messages", Model: "m"},
		Response: provider.Response{Model: "m", Answer: provider.Answer{Whole: true}},
	},
	{
		Name:   "count_tokens",
		Method: "POST", Path: "/v1/messages/count_tokens?beta=true", Body: `{"model":"m","messages":[]}`, ContentType: jsonType,
		Answer:   `{"input_tokens":2095}`,
		Request:  provider.Request{Type: "count_tokens", Model: "m"},
		Response: provider.Response{Usage: &entry.Usage{Input: 2095}},
	},
	{
		Name:   "model named twice, among names and texts that are not Unicode",
		Method: "POST", Path: "/v1/messages",
		Body:        `{"model":"first","\ud800":"\udfff","system":"` + "\xff\xfe" + `","mod\u0065l":"second","stream":false,"stream":true}`,
		ContentType: jsonType, Answer: `{}`,
		Request: provider.Request{Type: "messages", Model: "second", Stream: true},
	},
	{
		Name:   "models",
		Method: "GET", Path: "/v1/models?limit=1000", ContentType: jsonType, Answer: `{"data":[{"id":"claude"}],"model":"m","usage":{"input_tokens":1}}`,
		Request: provider.Request{Type: "models"},
	},
	{
		Name:   "batches",
		Method: "GET", Path: "/v1/messages/batches/b_1/results", ContentType: "application/x-jsonl",
		Answer:  `{"result":{"message":{"model":"m","usage":{"input_tokens":1}}}}`,
		Request: provider.Request{Type: "batches"},
	},
}

func TestType(t *testing.T) {
	tests := map[string]string{
		"POST /v1/messages":              "messages",
		"POST /messages":                 "messages",
		"POST //v1/messages/":            "messages",
		"POST /gateway/v1/messages":      "messages",
		"GET /v1/messages":               "",
		"POST /v1/messages/nowhere":      "",
		"POST /v1/messages/count_tokens": "count_tokens",
		"GET /v1/messages/count_tokens":  "",
		"POST /v1/messages/batches":      "batches",
		"GET /v1/models/claude":          "models",
		"POST /v1/files":                 "files",
		"HEAD /api/hello":                "",
		"POST /v1/chat/completions":      "",
		"POST /v1/responses":             "",
		"POST ":                          "",
	}
	for asked, want := range tests {
		method, path, _ := strings.Cut(asked, " ")
		if got := (Protocol{}).Request(method, path, nil).Type; got != want {
			t.Errorf("%s is %q, want %q", asked, got, want)
		}
	}
}

func TestLaws(t *testing.T) {
	providertest.Run(t, Protocol{}, slices.Concat(exchanges, rich, shapes)...)
}

func FuzzResponse(f *testing.F) {
	providertest.FuzzResponse(f, Protocol{}, slices.Concat(exchanges, rich, shapes)...)
}
