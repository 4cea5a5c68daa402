package gemini

import (
	"net/url"
	"strings"

	"ambit/provider"
)

// Endpoint is that of generateContent, or of streamGenerateContent as server-sent events. A model may be named with its
// collection, as models/NAME or tunedModels/NAME.
func (Protocol) Endpoint(p provider.LowerParams) string {
	kind, name, ok := strings.Cut(p.Model, "/")
	if !ok || kind != "models" && kind != "tunedModels" {
		kind, name = "models", p.Model
	}
	path := "/v1beta/" + kind + "/" + url.PathEscape(name)
	if p.Stream {
		return path + ":streamGenerateContent?alt=sse"
	}
	return path + ":generateContent"
}

// Headers are those of the public reference of the Gemini API. The credential is an API key.
func (Protocol) Headers(credential string) []provider.Header {
	headers := []provider.Header{provider.ContentType()}
	if credential != "" {
		headers = append(headers, provider.Header{Name: "x-goog-api-key", Value: credential})
	}
	return headers
}
