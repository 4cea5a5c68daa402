package anthropic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/entry"
	"ambit/provider"
	"ambit/provider/providertest"
)

const (
	jsonType = "application/json"
	sseType  = "text/event-stream; charset=utf-8"
)

var tests = []struct {
	name string
	providertest.Exchange
	wantRequest  provider.Request
	wantResponse provider.Response
}{
	{
		name: "one answer",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages?beta=true",
			Request:     `{"max_tokens":5,"messages":[{"role":"user","content":"hi","model":"decoy"}],"model":"claude-opus-5-5"}`,
			ContentType: jsonType,
			Response: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5-20260101","content":[{"type":"text","text":"A"}],` +
				`"usage":{"input_tokens":8,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":3,"service_tier":"standard"}}` + "\n",
		},
		wantRequest: provider.Request{Type: "messages", Model: "claude-opus-5-5"},
		wantResponse: provider.Response{
			Model: "claude-opus-5-5-20260101",
			Usage: &entry.Usage{Input: 128, CacheRead: 100, CacheWrite: 20, Output: 3},
		},
	},
	{
		name: "stream in which message_delta gives the output only",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages",
			Request:     `{"stream": true, "model": "claude-haiku-4-5", "messages": []}`,
			ContentType: sseType,
			Response: "event: message_start\n" +
				`data: {"type":"message_start","message":{"type":"message","model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":96,"cache_creation_input_tokens":0,"cache_read_input_tokens":7,"output_tokens":2}}}` + "\n\n" +
				"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
				"event: content_block_delta\n" +
				`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"{\"usage\":{\"input_tokens\":1}}"}}` + "\n\n" +
				"event: message_delta\n" +
				`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}   }` + "\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		},
		wantRequest:  provider.Request{Type: "messages", Model: "claude-haiku-4-5", Stream: true},
		wantResponse: provider.Response{Model: "claude-haiku-4-5", Usage: &entry.Usage{Input: 103, CacheRead: 7, Output: 15}},
	},
	{
		name: "stream without event names in which later counts replace earlier ones, but not by null",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages", Request: `{"model":"m","stream":true}`, ContentType: sseType,
			Response: `data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":10,"cache_read_input_tokens":50,"cache_creation_input_tokens":5,"output_tokens":1}}}` + "\n\n" +
				`data: {"type":"message_delta","usage":{"input_tokens":30,"cache_read_input_tokens":null,"output_tokens":4}}` + "\n\n" +
				`data: {"type":"message_delta","usage":{"output_tokens":9,"cache_creation_input_tokens":6}}` + "\n\n",
		},
		wantRequest:  provider.Request{Type: "messages", Model: "m", Stream: true},
		wantResponse: provider.Response{Model: "m", Usage: &entry.Usage{Input: 86, CacheRead: 50, CacheWrite: 6, Output: 9}},
	},
	{
		name: "stream that was dropped",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages", Request: `{"model":"m","stream":true}`, ContentType: sseType,
			Response: "event: message_start\n" +
				`data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":10,"output_tokens":1}}}` + "\n\n" +
				"event: message_delta\n" +
				`data: {"type":"message_delta","usage":{"output_tokens":15}}` + "\n",
		},
		wantRequest:  provider.Request{Type: "messages", Model: "m", Stream: true},
		wantResponse: provider.Response{Model: "m", Usage: &entry.Usage{Input: 10, Output: 1}},
	},
	{
		name: "error in a stream",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages", Request: `{"model":"m","stream":true}`, ContentType: sseType,
			Response: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		},
		wantRequest: provider.Request{Type: "messages", Model: "m", Stream: true},
	},
	{
		name: "error",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages", Request: `{"model":"m"}`, ContentType: jsonType,
			Response: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`,
		},
		wantRequest: provider.Request{Type: "messages", Model: "m"},
	},
	{
		name: "absurd counts",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages", Request: `{"model":"m"}`, ContentType: jsonType,
			Response: `{"type":"message","model":"m","usage":{"input_tokens":-1,"cache_read_input_tokens":1.5,"cache_creation_input_tokens":1e400,"output_tokens":"7"}}`,
		},
		wantRequest:  provider.Request{Type: "messages", Model: "m"},
		wantResponse: provider.Response{Model: "m"},
	},
	{
		name: "count_tokens",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages/count_tokens?beta=true", Request: `{"model":"m","messages":[]}`, ContentType: jsonType,
			Response: `{"input_tokens":2095}`,
		},
		wantRequest:  provider.Request{Type: "count_tokens", Model: "m"},
		wantResponse: provider.Response{Usage: &entry.Usage{Input: 2095}},
	},
	{
		name: "model named twice, among names and texts that are not Unicode",
		Exchange: providertest.Exchange{
			Method: "POST", Path: "/v1/messages",
			Request:     `{"model":"first","\ud800":"\udfff","system":"` + "\xff\xfe" + `","mod\u0065l":"second","stream":false,"stream":true}`,
			ContentType: jsonType, Response: `{}`,
		},
		wantRequest: provider.Request{Type: "messages", Model: "second", Stream: true},
	},
	{
		name: "models",
		Exchange: providertest.Exchange{
			Method: "GET", Path: "/v1/models?limit=1000", ContentType: jsonType, Response: `{"data":[{"id":"claude"}],"model":"m","usage":{"input_tokens":1}}`,
		},
		wantRequest: provider.Request{Type: "models"},
	},
	{
		name: "batches",
		Exchange: providertest.Exchange{
			Method: "GET", Path: "/v1/messages/batches/b_1/results", ContentType: "application/x-jsonl",
			Response: `{"result":{"message":{"model":"m","usage":{"input_tokens":1}}}}`,
		},
		wantRequest: provider.Request{Type: "batches"},
	},
}

func TestExchanges(t *testing.T) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := Protocol{}.Request(test.Method, test.Path, []byte(test.Request))
			if diff := cmp.Diff(test.wantRequest, req); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			resp := Protocol{}.Response(req, test.ContentType, []byte(test.Exchange.Response))
			if diff := cmp.Diff(test.wantResponse, resp); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
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
		method, path, _ := cutSpace(asked)
		if got := (Protocol{}).Request(method, path, nil).Type; got != want {
			t.Errorf("%s is %q, want %q", asked, got, want)
		}
	}
}

func TestLaws(t *testing.T) {
	providertest.Run(t, Protocol{}, exchanges()...)
}

func FuzzResponse(f *testing.F) {
	for _, test := range tests {
		f.Add(test.wantRequest.Type, test.ContentType, []byte(test.Exchange.Response))
	}
	f.Fuzz(func(t *testing.T, kind, contentType string, body []byte) {
		providertest.Check(t, Protocol{}, provider.Request{Type: kind}, contentType, body)
	})
}

func exchanges() []providertest.Exchange {
	var all []providertest.Exchange
	for _, test := range tests {
		all = append(all, test.Exchange)
	}
	return all
}
