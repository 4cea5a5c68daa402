// Package provider reads the exchanges of model providers: what was asked, which model answered, and what it took.
//
// It only reads. A recorded body is never changed, nothing here can fail a request, and what is not understood
// gives zero values: the bytes are kept elsewhere, whole, whether or not they are understood. Each wire family is a
// package of its own below this one and implements Protocol; what families share stands here. A body passes
// through Decode first, then Request or Response of its family, which are built on Segments, JSON, Parts and Counts.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package provider

import (
	"strings"

	"ambit/entry"
)

// Protocol is what one wire family knows about its exchanges.
//
// Both methods may be called concurrently, neither fails or panics on any input, neither keeps or changes the body,
// and the answer depends on the arguments alone.
type Protocol interface {
	// Request says what is asked. The path is what follows the provider's name, with query; the body is decoded.
	// Where the path is understood and the body is not, Type stands alone.
	Request(method, path string, body []byte) Request

	// Response says what came back for req. The body is decoded and may end early: then the answer is what the part
	// that came says, and never more than the whole would have said.
	Response(req Request, contentType string, body []byte) Response
}

// Request is what a request asks for.
type Request struct {
	Type   string // one of the Type constants; empty when not understood
	Model  string // as the request names it; empty when it names none
	Stream bool   // the answer is to come in pieces
}

// Response is what an answer says about itself.
type Response struct {
	Model string       // as the provider names it; empty when it does not say
	Usage *entry.Usage // nil when the provider gave none
}

// What a request can ask for. Those up to TypeCompletions run a model and are charged; TypeStored asks for an
// answer that was given before, so that its usage is another exchange's.
const (
	TypeMessages    = "messages"     // Anthropic Messages
	TypeResponses   = "responses"    // OpenAI Responses
	TypeChat        = "chat"         // OpenAI Chat Completions
	TypeGenerate    = "generate"     // Gemini generateContent and streamGenerateContent
	TypeCompact     = "compact"      // OpenAI Responses: a shorter conversation in place of a long one
	TypeEmbeddings  = "embeddings"   // vectors
	TypeCompletions = "completions"  // OpenAI's older text completions
	TypeCountTokens = "count_tokens" // how long a request would be; Usage then has Input only
	TypeBatches     = "batches"      // work for later
	TypeModels      = "models"       // which models there are
	TypeFiles       = "files"        // uploads
	TypeStored      = "stored"       // OpenAI: an answer kept by the provider
)

// maxModel is the longest name of a model, in bytes. Names go into journal entries, which have a limit of their own.
const maxModel = 256

// ModelName returns s as the name of a model: valid UTF-8, and empty where s is too long to be a name.
func ModelName(s string) string {
	if len(s) > maxModel {
		return ""
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
