package provider

import (
	"math"
	"strings"
)

// overflowTexts are how messages begin that say that a request is too long, in lower case. A number stands for {sent}, {out}
// and {limit}: what was sent, what was asked for as output beside it, and the most that there may be. {} stands for up
// to 100 bytes of anything. Who says so stands behind each; they are as the public clients and servers quoted them in 2026.
var overflowTexts = []string{
	"prompt is too long: {sent} tokens > {limit} maximum", // Anthropic
	"prompt is too long", // Anthropic on other clouds
	"input length and `max_tokens` exceed context limit: {sent} + {out} > {limit}",                                                                                // Anthropic
	"input is too long for requested model",                                                                                                                       // Bedrock
	"your input exceeds the context window",                                                                                                                       // OpenAI Responses
	"this model's maximum context length is {limit} tokens. however, your messages resulted in {sent} tokens",                                                     // OpenAI Chat
	"this model's maximum context length is {limit} tokens. however, you requested {sent} tokens",                                                                 // OpenAI Chat, vLLM, DeepSeek
	"this model's maximum context length is {limit} tokens. however, your request has {sent} input tokens",                                                        // vLLM
	"this model's maximum context length is {limit} tokens, however you requested {sent} tokens",                                                                  // OpenAI completions
	"this model's maximum context length is {limit} tokens",                                                                                                       // servers that speak its API
	"this endpoint's maximum context length is {limit} tokens. however, you requested about {sent} tokens",                                                        // OpenRouter
	"this endpoint's maximum context length is {limit} tokens",                                                                                                    // OpenRouter
	"'max_tokens' or 'max_completion_tokens' is too large: {out}. this model's maximum context length is {limit} tokens and your request has {sent} input tokens", // vLLM
	"max_tokens is too large: {out}. this model's maximum context length is {limit} tokens and your request has {sent} input tokens",                              // vLLM
	"input tokens exceed the configured limit of {limit} tokens. your messages resulted in {sent} tokens",                                                         // OpenAI Chat
	"the input token count ({sent}) exceeds the maximum number of tokens allowed ({limit})",                                                                       // Gemini
	"the input token count exceeds the maximum number of tokens allowed",                                                                                          // Gemini
	"unable to submit request because the input token count is {sent} but model only supports up to {limit}",                                                      // Vertex AI
	"this model's maximum prompt length is {limit} but the request contains {sent} tokens",                                                                        // xAI
	"please reduce the length of the messages or completion",                                                                                                      // Groq
	"request ({sent} tokens) exceeds the available context size ({limit} tokens)",                                                                                 // llama.cpp
	"context size has been exceeded",                                                                                             // llama.cpp
	"the request exceeds the available context size",                                                                             // llama.cpp
	"prompt too long; exceeded {}context length",                                                                                 // Ollama
	"prompt contains {sent} tokens, too large for model with {limit} maximum context length",                                     // Mistral
	"prompt contains {sent} tokens{}too large for model with {limit} maximum context length",                                     // Mistral
	"the input ({sent} tokens) is longer than the model's context length ({limit} tokens)",                                       // Together, SGLang
	"requested token count exceeds the model's maximum context length of {limit} tokens. you requested a total of {sent} tokens", // SGLang
	"the prompt is too long: {sent}, model maximum context length: {limit}",                                                      // Fireworks
	"prompt token count of {sent} exceeds the limit of {limit}",                                                                  // GitHub Copilot
	"your request exceeded model token limit: {limit} (requested: {sent})",                                                       // Kimi
	"your request exceeded model token limit: {limit}",                                                                           // Kimi
	"prompt has {sent} tokens, but the configured context size is {limit} tokens",                                                // DS4
	"invalid params, context window exceeds limit",                                                                               // MiniMax
	"range of input length should be [1, {limit}]",                                                                               // DashScope
	"input validation error: `inputs` tokens + `max_new_tokens` must be <= {limit}. given: {sent} `inputs` tokens and {out} ",    // TGI
	"input validation error: `inputs` must have less than {limit} tokens. given: {sent}",                                         // TGI
	"the number of tokens to keep from the initial prompt is greater than the context length (n_keep: {sent} >= n_ctx: {limit})", // LM Studio
	"the number of tokens to keep from the initial prompt is greater than the context length",                                    // LM Studio
}

// overflowText reads what a message says, which is one of the texts at its beginning, or anywhere.
func overflowText(message string, anywhere bool) (o Overflow, said bool) {
	const longest = 2048 // of what is read
	message = strings.ToLower(message[:min(len(message), longest)])
	for _, text := range overflowTexts {
		if o, said = readText(message, text); said {
			return o, true
		}
		if head, _, _ := strings.Cut(text, "{"); anywhere {
			if at := strings.Index(message, head); at > 0 {
				if o, said = readText(message[at:], text); said {
					return o, true
				}
			}
		}
	}
	return Overflow{}, false
}

// readText reads the numbers of a message that begins as a text says.
func readText(message, text string) (o Overflow, said bool) {
	const gap = 100
	for text != "" {
		literal, rest, slot := strings.Cut(text, "{")
		if !strings.HasPrefix(message, literal) {
			return Overflow{}, false
		}
		message = message[len(literal):]
		if !slot {
			break
		}
		name, behind, _ := strings.Cut(rest, "}")
		text = behind
		if name == "" {
			next, _, number := strings.Cut(text, "{")
			at := strings.Index(message[:min(len(message), gap)], next)
			if next == "" && number {
				at = strings.IndexAny(message[:min(len(message), gap)], "0123456789")
			}
			if at < 0 {
				return Overflow{}, false
			}
			message = message[at:]
			continue
		}
		n, length := number(message)
		if length == 0 {
			return Overflow{}, false
		}
		message = message[length:]
		if name == "limit" {
			o.Limit = n
		} else {
			o.Sent = min(o.Sent+n, math.MaxInt32)
		}
	}
	return o, true
}

// number reads a number with which a text begins, in which commas or underscores may stand.
func number(text string) (n, length int) {
	for length < len(text) {
		switch c := text[length]; {
		case '0' <= c && c <= '9':
			n = min(n*10+int(c-'0'), math.MaxInt32)
		case length == 0 || c != ',' && c != '_' || length+1 == len(text) || text[length+1] < '0' || text[length+1] > '9':
			return n, length
		}
		length++
	}
	return n, length
}

// heads are what stands before the message of another's error, in lower case.
var heads = []string{"error code: 400 - ", "the model returned the following errors: ", "<400> internalerror.algo.invalidparameter: ", "bad request: ", "invalid request: "}

// unwrap takes off what gateways put before an error that they pass on: names of errors, of which the ones that say that a
// request is too long are the class, and heads. What then begins as JSON is inner.
func unwrap(message string) (text, class, inner string) {
	const most = 8
	text = strings.TrimSpace(message)
	for range most {
		head, rest := cutHead(text)
		if rest == "" {
			break
		}
		if name := strings.ToLower(head[strings.LastIndexByte(head, '.')+1:]); overflowNames[name] {
			class = name
		}
		text = strings.TrimSpace(rest)
	}
	bare := strings.TrimPrefix(text, "b'")
	if strings.HasPrefix(bare, "{") {
		return text, class, bare
	}
	return text, class, ""
}

// cutHead cuts what a gateway put before an error, if anything.
func cutHead(text string) (head, rest string) {
	const longest = 120
	begin := text[:min(len(text), longest)]
	for _, head := range heads {
		if len(begin) > len(head) && strings.EqualFold(begin[:len(head)], head) {
			return "", text[len(head):]
		}
	}
	if strings.HasPrefix(begin, "An error occurred (ValidationException) when calling the ") {
		if at := strings.Index(begin, " operation: "); at >= 0 {
			return "", text[at+len(" operation: "):]
		}
	}
	end := strings.IndexAny(begin, " :")
	if end <= 0 || !strings.HasSuffix(begin[:end], "Error") && !strings.HasSuffix(begin[:end], "Exception") {
		return "", ""
	}
	for _, mark := range []string{": ", " - "} {
		if strings.HasPrefix(text[end:], mark) {
			return text[:end], text[end+len(mark):]
		}
	}
	return "", ""
}
