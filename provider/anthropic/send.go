package anthropic

import "ambit/provider"

// version is the version of the API: its public reference, Versions.
const version = "2023-06-01"

// Endpoint is that of Messages.
func (Protocol) Endpoint(provider.LowerParams) string { return "/v1/messages" }

// Headers are those of Anthropic's public API reference. The credential is an API key.
func (Protocol) Headers(credential string) []provider.Header {
	headers := []provider.Header{provider.ContentType(), {Name: "anthropic-version", Value: version}}
	if credential != "" {
		headers = append(headers, provider.Header{Name: "x-api-key", Value: credential})
	}
	return headers
}
