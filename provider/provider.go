// Package provider reads the exchanges of model providers: what was asked, which model answered, and what it took. It also
// makes new requests of those that clients send, by changing some of their bytes; and requests of its own of a view, with the
// units of their answers.
//
// A body that it is given is never changed, nothing here can fail a request, and what is not understood
// gives zero values: the bytes are kept elsewhere, whole, whether or not they are understood. Each wire family is a
// package of its own below this one and implements Protocol; what families share stands here. A body passes
// through Decode first, then Request, Elements or Response of its family, which are built on Segments, JSON, Reader,
// Parts, Counts and Draft. A view passes through Lay and is written by a Lowering; an answer to it is collected by a ReplyDraft.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package provider

import (
	"strconv"
	"strings"

	"ambit/entry"
	"ambit/unit"
	"ambit/view"
)

// Protocol is what one wire family knows about its exchanges.
//
// All methods may be called concurrently, none panics on any input, none keeps or changes the body, and the answer
// depends on the arguments alone.
type Protocol interface {
	// Request says what is asked. The path is what follows the provider's name, with query; the body is decoded.
	// Where the path is understood and the body is not, Type stands alone.
	Request(method, path string, body []byte) Request

	// Elements gives the canonical elements of the decoded body of req. Where the type has none, so a body of models
	// or embeddings, they are empty. The only error is ErrNotUnderstood, with the reason.
	Elements(req Request, body []byte) (Elements, error)

	// Message reads one of the elements' messages: raw is how it stands in the body, at its JSON pointer.
	Message(req Request, raw []byte, at string) Message

	// Response says what came back for req. The body is decoded and may end early: then the answer is what the part
	// that came says, and never more than the whole would have said.
	// So is the text of a broken answer a prefix of the whole text.
	Response(req Request, contentType string, body []byte) Response

	// Contract says what the wire demands of the conversation of req. A type that has no conversation may leave nothing
	// out. Where the request follows an answer that the provider holds, ContractOf knows more.
	Contract(req Request) unit.Contract

	// Edit makes the changes in the decoded body of req, whose elements are e, and returns a new body. What is not changed
	// keeps its bytes, cache markers included, but for commas and white space beside what is left out or put in. Changes are in
	// ascending order of their messages, one for each. The errors are ErrNotUnderstood and an *EditError, which says what
	// cannot be changed; nothing is changed then. No text that stands for itself may be blank, and no message is put where the
	// wire refuses one, so between calls and their results. What is put in is spelled minimally; what is not UTF-8 is U+FFFD.
	Edit(req Request, body []byte, e Elements, changes []Change) ([]byte, error)

	// Lower makes the body of a request of what a view shows, as LowerParams says. Equal arguments give equal bytes; what grows
	// stands at the end; a view that goes on with an answer gives a body whose canonical elements extend those of the view as it
	// was. Role and stable system units, and those of other layers in front of the conversation, are the wire's system. Later
	// ones stand where they are if the wire takes them there, else as the user's text, see Update. A text that is blank is not
	// sent; cache markers are written where the wire has them. Errors are a *unit.ContractError, a *view.OrderError, ErrForeign
	// for what another wire spelled, ErrSpelled, and others that say what cannot be written.
	Lower(v view.View, p LowerParams) ([]byte, error)

	// Endpoint is the path, with query, to which such a body is posted. It stands behind the provider's base URL, which for
	// OpenAI and those that speak its wires ends with the version (/v1), and for the others does not.
	Endpoint(p LowerParams) string

	// Headers are those that a request must have, the credential among them unless it is empty.
	Headers(credential string) []Header

	// Reply makes of an answer to req, which had status 200 and is decoded, the unit that later requests hold: it can be lowered for
	// the same type. The error is a *ReplyError, and the Reply is then empty.
	Reply(req Request, contentType string, body []byte) (Reply, error)

	// Overflow reads a refusal of a request as too long from an answer that has this status: a whole body, or the beginning
	// of a stream of events. False for every other answer, a limit on rates included.
	Overflow(status int, contentType string, body []byte) (Overflow, bool)
}

// Change is what is done to one message of a request.
type Change struct {
	At     int               // of the message, an index into Elements.Messages
	Gone   bool              // it is left out, and Texts say nothing
	Texts  map[string]string // by the id of a call, what stands in place of the text of its result; under "", of the message's own text
	Sure   bool              // the caller has read the message and knows that its Fixed allows this, so that it is not read again
	Behind []string          // texts of messages in the user's place that are put behind it, or behind where it stood
}

// Overflow is a provider's word that a request is too long, in tokens; 0 where it does not say.
type Overflow struct {
	Sent  int // what was sent, with what was asked for as output where the provider adds that
	Limit int
}

// EditError says which change of a message cannot be made, and why.
type EditError struct {
	At  int // index into Elements.Messages
	Why string
}

// Error says both.
func (e *EditError) Error() string {
	return "message " + strconv.Itoa(e.At) + " cannot be changed: " + e.Why
}

// Request is what a request asks for.
type Request struct {
	Type   string // one of the Type constants; empty when not understood
	Model  string // as the request names it; empty when it names none
	Stream bool   // the answer is to come in pieces

	Session  string // a client's own id of its session, where the body has one
	CacheKey string // prompt_cache_key, which clients keep through a session

	Before *Known // given to Elements: what was read before; nil for nothing. It changes how long Elements takes, and nothing else.
}

// Known is a body that was read, with its elements. An element of another body of the same wire that stands at the same place,
// byte for byte, need not be read again, as most of a growing conversation does.
type Known struct {
	Body     []byte
	Elements Elements
}

// Response is what an answer says about itself.
type Response struct {
	Model string       // as the provider names it; empty when it does not say
	Usage *entry.Usage // nil when the provider gave none

	Answer Answer
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

// maxKey is the longest key of a session or a cache, in bytes.
const maxKey = 256

// Key returns the string as a key by which requests are told apart, and nothing where it is too long to be one.
func Key(v JSON) string {
	if key := v.Text(); len(key) <= maxKey {
		return key
	}
	return ""
}
