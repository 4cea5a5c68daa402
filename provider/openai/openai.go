// Package openai reads exchanges of the OpenAI API and of the many servers that speak it.
package openai

import (
	"cmp"
	"strings"

	"ambit/entry"
	"ambit/provider"
)

// Protocol reads the Responses API (with compact and input_tokens), Chat Completions, the older completions and
// embeddings, streamed or not, and recognises models, batches, files and stored answers. Its zero value is ready.
// Field meanings are those of OpenAI's public API reference: input_tokens and prompt_tokens are everything sent,
// cached_tokens and cache_write_tokens are parts of it, output_tokens and completion_tokens include reasoning. A
// chat stream has usage only when the client asked for it.
type Protocol struct{}

var _ provider.Protocol = Protocol{}

// Request reads the type from method and path, and model and stream from the body.
func (Protocol) Request(method, path string, body []byte) provider.Request {
	req := provider.Request{Type: requestType(method, provider.Segments(path))}
	if req.Type != "" {
		found := provider.JSON(body).Find("model", "stream")
		req.Model = provider.ModelName(found[0].Text())
		req.Stream = found[1].True()
	}
	return req
}

func requestType(method string, path []string) string {
	if len(path) == 0 {
		return ""
	}
	post := method == "POST"
	switch path[0] {
	case "responses":
		return responsesType(method, path[1:])
	case "chat":
		if len(path) >= 2 && path[1] == "completions" {
			if post && len(path) == 2 {
				return provider.TypeChat
			}
			return provider.TypeStored
		}
	case "completions", "embeddings":
		if post && len(path) == 1 {
			return path[0] // provider.TypeCompletions, provider.TypeEmbeddings
		}
	case "models", "batches", "files":
		return path[0] // provider.TypeModels, provider.TypeBatches, provider.TypeFiles
	}
	return ""
}

// responsesType also takes GET for an attempt to create: so a WebSocket begins.
func responsesType(method string, rest []string) string {
	post := method == "POST"
	switch {
	case len(rest) == 0:
		if post || method == "GET" {
			return provider.TypeResponses
		}
		return ""
	case len(rest) == 1 && post && rest[0] == "compact":
		return provider.TypeCompact
	case len(rest) == 1 && post && rest[0] == "input_tokens":
		return provider.TypeCountTokens
	}
	return provider.TypeStored
}

// Response reads the answers to everything that runs a model, and to input_tokens.
func (Protocol) Response(req provider.Request, contentType string, body []byte) provider.Response {
	switch req.Type {
	case provider.TypeResponses, provider.TypeCompact, provider.TypeStored,
		provider.TypeChat, provider.TypeCompletions, provider.TypeEmbeddings:
		return answer(contentType, body)
	case provider.TypeCountTokens:
		return provider.Response{Usage: usage(body)}
	}
	return provider.Response{}
}

// answer reads both APIs: an event of a Responses stream holds the response as it then stands, a chunk of a chat
// stream is like a small response itself.
func answer(contentType string, body []byte) provider.Response {
	var resp provider.Response
	for event, part := range provider.Parts(contentType, body) {
		if !tells(event) {
			continue
		}
		found := part.Find("model", "usage", "response")
		if len(found[2]) > 0 {
			found = found[2].Find("model", "usage")
		}
		if resp.Model == "" {
			resp.Model = provider.ModelName(found[0].Text())
		}
		if u := usage(found[1]); u != nil {
			resp.Usage = u
		}
	}
	return resp
}

// tells passes over those events of a Responses stream that hold no response, which are most of it.
func tells(event string) bool {
	switch event {
	case "response.created", "response.completed", "response.incomplete", "response.failed":
		return true
	}
	return !strings.HasPrefix(event, "response.")
}

func usage(v provider.JSON) *entry.Usage {
	c := provider.Counts{}
	c.Add(v, "input_tokens", "prompt_tokens", "output_tokens", "completion_tokens")
	if len(c) == 0 {
		return nil
	}
	for _, details := range v.Find("input_tokens_details", "prompt_tokens_details") {
		c.Add(details, "cached_tokens", "cache_write_tokens")
	}
	return provider.NewUsage(cmp.Or(c["input_tokens"], c["prompt_tokens"]), c["cached_tokens"], c["cache_write_tokens"],
		cmp.Or(c["output_tokens"], c["completion_tokens"]))
}
