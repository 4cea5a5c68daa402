// Package anthropic reads and makes exchanges of the Anthropic Messages API.
package anthropic

import "ambit/provider"

// Protocol reads POST /v1/messages, streamed or not, and /v1/messages/count_tokens, and recognises message batches,
// models and files. Its zero value is ready. Field meanings are those of Anthropic's public API reference
// (Messages, Streaming, Token counting, Prompt caching): input_tokens leaves out what was read from the cache and
// what was written to it, so the three add up to everything sent; the usage of message_delta is cumulative.
//
// A stream that breaks off before its first message_delta has the usage of message_start: its input is final, its
// output a first guess of a few tokens.
type Protocol struct{}

var _ provider.Protocol = Protocol{}

// Request reads the type from method and path, and model, stream and session from the body.
func (Protocol) Request(method, path string, body []byte) provider.Request {
	req := provider.Request{Type: requestType(method, provider.Segments(path))}
	if req.Type != "" {
		found := provider.JSON(body).Find("model", "stream", "metadata")
		req.Model = provider.ModelName(found[0].Text())
		req.Stream = found[1].True()
		req.Session = session(found[2])
	}
	return req
}

func requestType(method string, path []string) string {
	post := method == "POST"
	switch {
	case len(path) == 0:
	case path[0] == "models":
		return provider.TypeModels
	case path[0] == "files":
		return provider.TypeFiles
	case path[0] != "messages":
	case len(path) == 1 && post:
		return provider.TypeMessages
	case len(path) == 1:
	case path[1] == "batches":
		return provider.TypeBatches
	case len(path) == 2 && path[1] == "count_tokens" && post:
		return provider.TypeCountTokens
	}
	return ""
}
