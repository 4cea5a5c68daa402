// Package gemini reads and makes exchanges of the Gemini API.
package gemini

import (
	"strings"

	"ambit/provider"
)

// Protocol reads generateContent, streamGenerateContent (as server-sent events or as one array) and countTokens,
// and recognises embeddings, batches, models and files. Its zero value is ready. Field meanings are those of the
// public reference of the Gemini API (GenerateContentResponse, UsageMetadata): promptTokenCount includes the cached
// part and leaves out the results of built-in tools; candidatesTokenCount leaves out thoughts. Counts that are zero
// are not sent, and every piece of a stream repeats the counts so far.
type Protocol struct{}

var _ provider.Protocol = Protocol{}

// Request reads everything from the path; the body names neither model nor stream.
func (Protocol) Request(method, path string, _ []byte) provider.Request {
	segments := provider.Segments(path)
	if len(segments) == 0 {
		return provider.Request{}
	}
	last := segments[len(segments)-1]
	at := strings.LastIndexByte(last, ':')
	if at < 0 {
		return provider.Request{Type: collection(segments[0])}
	}
	if len(segments) < 2 || method != "POST" {
		return provider.Request{}
	}
	if kind := segments[len(segments)-2]; kind != "models" && kind != "tunedModels" {
		return provider.Request{}
	}
	req := provider.Request{Type: verbType(last[at+1:])}
	if req.Type != "" {
		req.Model = provider.ModelName(last[:at])
		req.Stream = last[at+1:] == "streamGenerateContent"
	}
	return req
}

func collection(name string) string {
	switch name {
	case "models", "tunedModels":
		return provider.TypeModels
	case "batches":
		return provider.TypeBatches
	case "files":
		return provider.TypeFiles
	}
	return ""
}

func verbType(verb string) string {
	switch verb {
	case "generateContent", "streamGenerateContent":
		return provider.TypeGenerate
	case "countTokens":
		return provider.TypeCountTokens
	case "embedContent", "batchEmbedContents":
		return provider.TypeEmbeddings
	case "batchGenerateContent":
		return provider.TypeBatches
	}
	return ""
}
