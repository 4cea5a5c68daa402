// Package openai reads and makes exchanges of the OpenAI API and of the many servers that speak it.
package openai

import "ambit/provider"

// Protocol reads the Responses API (with compact and input_tokens), Chat Completions, the older completions and
// embeddings, streamed or not, and recognises models, batches, files and stored answers. Its zero value is ready.
// Field meanings are those of OpenAI's public API reference: input_tokens and prompt_tokens are everything sent,
// cached_tokens and cache_write_tokens are parts of it, output_tokens and completion_tokens include reasoning. A
// chat stream has usage only when the client asked for it.
type Protocol struct{}

var _ provider.Protocol = Protocol{}

// Request reads the type from method and path, and model, stream and cache key from the body.
func (Protocol) Request(method, path string, body []byte) provider.Request {
	req := provider.Request{Type: requestType(method, provider.Segments(path))}
	if req.Type != "" {
		found := provider.JSON(body).Find("model", "stream", "prompt_cache_key")
		req.Model = provider.ModelName(found[0].Text())
		req.Stream = found[1].True()
		req.CacheKey = provider.Key(found[2])
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
