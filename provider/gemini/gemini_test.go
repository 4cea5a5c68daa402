package gemini

import (
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/provider"
	"ambit/provider/providertest"
)

const (
	jsonType = "application/json; charset=UTF-8"
	sseType  = "text/event-stream"
)

var exchanges = []providertest.Exchange{
	{
		Name:   "one answer",
		Method: "POST", Path: "/v1beta/models/gemini-3-pro:generateContent",
		Body:    `{"contents":[],"model":"decoy","stream":true}`,
		Request: provider.Request{Type: "generate", Model: "gemini-3-pro"},

		ContentType: jsonType,
		Answer: `{"candidates":[{"content":{"parts":[{"text":"{\"usageMetadata\":{\"promptTokenCount\":1}}"}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":30,"toolUsePromptTokenCount":12,"totalTokenCount":149},
			"modelVersion":"gemini-3-pro-001"}`,
		Response: provider.Response{
			Model:  "gemini-3-pro-001",
			Usage:  &entry.Usage{Input: 112, CacheRead: 60, Output: 37},
			Answer: provider.Answer{Text: `{"usageMetadata":{"promptTokenCount":1}}`, Whole: true},
		},
	},
	{
		Name:   "stream of events, the last of which leaves a count out",
		Method: "POST", Path: "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse", Body: `{"contents":[]}`,
		Request: provider.Request{Type: "generate", Model: "gemini-3-flash", Stream: true},

		ContentType: sseType,
		Answer: `data: {"candidates":[{}],"usageMetadata":{"promptTokenCount":50,"thoughtsTokenCount":9},"modelVersion":"gemini-3-flash-001"}` + "\n\n" +
			`data: {"candidates":[{}],"modelVersion":"gemini-3-flash-001"}` + "\n\n" +
			`data: {"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":20},"modelVersion":"gemini-3-flash-001"}` + "\n\n",
		Response: provider.Response{Model: "gemini-3-flash-001", Usage: &entry.Usage{Input: 50, Output: 29}},
	},
	{
		Name:   "stream as one array",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent",
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: jsonType,
		Answer: `[{"usageMetadata":{"promptTokenCount":5},"modelVersion":"g-1"}` + "\n,\n" +
			`{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3},"modelVersion":"g-1"}` + "\n]\n",
		Response: provider.Response{Model: "g-1", Usage: &entry.Usage{Input: 5, Output: 3}},
	},
	{
		Name:   "array that was dropped",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent",
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: jsonType,
		Answer: `[{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1},"modelVersion":"g-1"}` + "\n,\n" +
			`{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3},"mod`,
		Response: provider.Response{Model: "g-1", Usage: &entry.Usage{Input: 5, Output: 1}},
	},
	{
		Name:   "error as one array",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent",
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: jsonType,
		Answer:      `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}]`,
	},
	{
		Name:   "error",
		Method: "POST", Path: "/v1beta/models/g:generateContent",
		Request: provider.Request{Type: "generate", Model: "g"},

		ContentType: jsonType,
		Answer:      `{"error":{"code":400,"message":"The input token count exceeds the maximum","status":"INVALID_ARGUMENT"}}`,
	},
	{
		Name:   "absurd counts",
		Method: "POST", Path: "/v1beta/models/g:generateContent",
		Request: provider.Request{Type: "generate", Model: "g"},

		ContentType: jsonType,
		Answer:      `{"usageMetadata":{"promptTokenCount":2.5,"candidatesTokenCount":1e400,"thoughtsTokenCount":-3,"cachedContentTokenCount":8}}`,
	},
	{
		Name:   "countTokens",
		Method: "POST", Path: "/v1beta/models/g:countTokens", Body: `{"contents":[]}`,
		Request: provider.Request{Type: "count_tokens", Model: "g"},

		ContentType: jsonType,
		Answer:      `{"totalTokens":31,"promptTokensDetails":[{"modality":"TEXT","tokenCount":31}]}`,
		Response:    provider.Response{Usage: &entry.Usage{Input: 31}},
	},
	{
		Name:   "embeddings",
		Method: "POST", Path: "/v1beta/models/gemini-embedding-001:embedContent",
		Request: provider.Request{Type: "embeddings", Model: "gemini-embedding-001"},

		ContentType: jsonType,
		Answer:      `{"embedding":{"values":[0.1]}}`,
	},
	{
		Name:   "models",
		Method: "GET", Path: "/v1beta/models?pageSize=50",
		Request: provider.Request{Type: "models"},

		ContentType: jsonType,
		Answer:      `{"models":[{"name":"models/g"}],"usageMetadata":{"promptTokenCount":5}}`,
	},
}

func TestRequest(t *testing.T) {
	tests := map[string]provider.Request{
		"POST /v1beta/models/gemini%2D3%3AgenerateContent":                       {Type: "generate", Model: "gemini-3"},
		"POST /models/g:generateContent":                                         {Type: "generate", Model: "g"},
		"POST /v1/projects/p/locations/l/publishers/google/models/g:countTokens": {Type: "count_tokens", Model: "g"},
		"POST /v1beta/tunedModels/t:generateContent":                             {Type: "generate", Model: "t"},
		"POST /v1beta/models/g:batchEmbedContents":                               {Type: "embeddings", Model: "g"},
		"POST /v1beta/models/g:batchGenerateContent":                             {Type: "batches", Model: "g"},
		"GET /v1beta/models/g":                                                   {Type: "models"},
		"GET /v1beta/batches/b":                                                  {Type: "batches"},
		"POST /upload/v1beta/files":                                              {Type: "files"},
		"GET /v1beta/models/g:generateContent":                                   {},
		"POST /v1beta/models/g:nowhere":                                          {},
		"POST /v1beta/other/g:generateContent":                                   {},
		"POST /v1beta/g:generateContent":                                         {},
		"POST /v1beta/openai/chat/completions":                                   {},
		"POST /v1/messages":                                                      {},
		"POST ":                                                                  {},
	}
	for asked, want := range tests {
		method, path, _ := strings.Cut(asked, " ")
		if got := (Protocol{}).Request(method, path, nil); got != want {
			t.Errorf("%s is %+v, want %+v", asked, got, want)
		}
	}
}

func TestLaws(t *testing.T) {
	providertest.Run(t, Protocol{}, slices.Concat(exchanges, rich, shapes)...)
}

func FuzzResponse(f *testing.F) {
	providertest.FuzzResponse(f, Protocol{}, slices.Concat(exchanges, rich, shapes)...)
}
