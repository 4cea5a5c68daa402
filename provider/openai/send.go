package openai

import "ambit/provider"

// Endpoint is that of Responses, or of Chat Completions where the type is chat. It stands behind a base URL that ends with the
// version.
func (Protocol) Endpoint(p provider.LowerParams) string {
	if p.Type == provider.TypeChat {
		return "/chat/completions"
	}
	return "/responses"
}

// Headers are those of OpenAI's public API reference. The credential is an API key, or any other bearer token.
func (Protocol) Headers(credential string) []provider.Header {
	headers := []provider.Header{provider.ContentType()}
	if credential != "" {
		headers = append(headers, provider.Header{Name: "authorization", Value: "Bearer " + credential})
	}
	return headers
}
