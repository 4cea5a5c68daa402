package provider

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// failure is an error as OpenAI and most who speak its API put it.
func failure(message, kind, code string) string {
	return `{"error":{"message":` + strconv.Quote(message) + `,"type":"` + kind + `","param":null,"code":` + code + `}}`
}

// TestReadOverflow: what providers, servers and gateways say where a request is too long.
// covers: X-06 part
func TestReadOverflow(t *testing.T) {
	const (
		anthropic = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205211 tokens > 200000 maximum"},"request_id":"req_1"}`
		failed    = `{"type":"response.failed","sequence_number":2,"response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."},"output":[]}}`
		created   = "event: response.created\n" + `data: {"type":"response.created","response":{"instructions":"context_length_exceeded"}}` + "\n\n"
		vllm      = `This model's maximum context length is 131072 tokens. However, your request has 199948 input tokens. Please reduce the length of the input messages. (parameter=input_tokens, value=199948)`
	)
	tests := map[string]struct {
		status int
		body   string
		want   Overflow
	}{
		"Anthropic":                         {400, anthropic, Overflow{205211, 200000}},
		"Anthropic with output":             {400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, Overflow{210000, 200000}},
		"Anthropic, bytes":                  {413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, Overflow{}},
		"Anthropic on another cloud":        {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Prompt is too long"}}`, Overflow{}},
		"Anthropic, in a stream":            {200, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: error\ndata: " + anthropic + "\n\n", Overflow{205211, 200000}},
		"Bedrock":                           {400, `{"message":"Input is too long for requested model."}`, Overflow{}},
		"Bedrock through its library":       {400, failure("An error occurred (ValidationException) when calling the InvokeModelWithResponseStream operation: The model returned the following errors: prompt is too long: 5 tokens > 4 maximum", "", "null"), Overflow{5, 4}},
		"OpenAI Chat":                       {400, failure("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens (126000 in the messages, 4000 in the functions). Please reduce the length of the messages or functions.", "invalid_request_error", `"context_length_exceeded"`), Overflow{130000, 128000}},
		"OpenAI Chat, newer":                {400, failure("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.", "invalid_request_error", `"context_length_exceeded"`), Overflow{300000, 272000}},
		"OpenAI Responses":                  {400, failure("Your input exceeds the context window of this model. Please adjust your input and try again.", "invalid_request_error", `"context_length_exceeded"`), Overflow{}},
		"OpenAI in other words":             {400, failure("Something new.", "invalid_request_error", `"context_length_exceeded"`), Overflow{}},
		"OpenAI Responses, in a stream":     {200, created + "event: response.failed\ndata: " + failed + "\n\n", Overflow{}},
		"OpenAI Responses, not streamed":    {200, `{"id":"resp_1","object":"response","status":"failed","error":{"code":"context_length_exceeded","message":"x"},"output":[]}`, Overflow{}},
		"an error event of Responses":       {200, created + `data: {"type":"error","code":"context_length_exceeded","message":"x","param":null}` + "\n\n", Overflow{}},
		"an error event with an object":     {200, "event: error\ndata: " + `{"type":"error","error":{"code":"context_length_exceeded","message":"x"}}` + "\n\n", Overflow{}},
		"Chat, in a stream":                 {200, `data: {"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n: wait\n\ndata: " + failure(vllm, "BadRequestError", "400") + "\n\n", Overflow{199948, 131072}},
		"Gemini":                            {400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, Overflow{1200000, 1048576}},
		"Gemini, as an array":               {400, "[{\n \"error\": {\"code\":400,\"message\":\"The input token count exceeds the maximum number of tokens allowed 1048576.\"}}]", Overflow{}},
		"Vertex AI":                         {400, `{"error":{"code":400,"message":"Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again."}}`, Overflow{1200000, 1048576}},
		"DeepSeek":                          {400, failure("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.", "invalid_request_error", `"invalid_request_error"`), Overflow{70000, 65536}},
		"vLLM":                              {400, failure(vllm, "BadRequestError", "400"), Overflow{199948, 131072}},
		"vLLM, older":                       {400, `{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (8100 in the messages, 1000 in the completion).","type":"BadRequestError","param":null,"code":400}`, Overflow{9100, 8192}},
		"vLLM with output":                  {400, failure("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).", "BadRequestError", "400"), Overflow{9096, 8192}},
		"llama.cpp":                         {400, `{"error":{"code":400,"message":"request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":13392,"n_ctx":8192}}`, Overflow{13392, 8192}},
		"llama.cpp, older":                  {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"invalid_request_error"}}`, Overflow{}},
		"llama.cpp, as a fault of its own":  {500, `{"error":{"code":500,"message":"x","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}`, Overflow{9, 8}},
		"Ollama":                            {400, `{"error":"prompt too long; exceeded max context length by 17 tokens (ref: 1)"}`, Overflow{}},
		"Mistral":                           {400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}`, Overflow{40000, 32768}},
		"Mistral, shorter":                  {422, `{"message":"Prompt contains 300,000 tokens, too large for model with 131_072 maximum context length"}`, Overflow{300000, 131072}},
		"Groq":                              {400, failure("Please reduce the length of the messages or completion.", "invalid_request_error", `"context_length_exceeded"`), Overflow{}},
		"xAI":                               {400, `{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, Overflow{537812, 131072}},
		"OpenRouter":                        {400, failure("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (130000 of text input, 10000 in the output). Please reduce the length of either one.", "", "400"), Overflow{140000, 131072}},
		"OpenRouter, as an answer":          {200, failure("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.", "", "400"), Overflow{140000, 131072}},
		"OpenRouter, of another":            {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":` + strconv.Quote(anthropic) + `,"provider_name":"Anthropic"}}}`, Overflow{205211, 200000}},
		"LiteLLM":                           {400, failure("litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Hosted_vllmException - "+failure(vllm, "BadRequestError", "400")+"\nmodel=glm. context_window_fallbacks=None.", "None", `"400"`), Overflow{199948, 131072}},
		"LiteLLM of Anthropic":              {400, failure("litellm.BadRequestError: AnthropicException - b'"+anthropic+"'. Received Model Group=x", "", `"400"`), Overflow{205211, 200000}},
		"LiteLLM, in another's spelling":    {400, failure("litellm.ContextWindowExceededError: OpenAIException - Error code: 400 - {'error': {'message': \"This model's maximum context length is 4097 tokens. However, your messages resulted in 4275 tokens.\"}}", "", "null"), Overflow{4275, 4097}},
		"LiteLLM, as a fault of its own":    {500, failure("litellm.ContextWindowExceededError: x", "", `"500"`), Overflow{}},
		"a gateway that wraps a body":       {400, `{"detail":` + strconv.Quote(anthropic) + `}`, Overflow{205211, 200000}},
		"Together":                          {400, failure("The input (516368 tokens) is longer than the model's context length (262144 tokens).", "", "null"), Overflow{516368, 262144}},
		"GitHub Copilot":                    {400, failure("prompt token count of 145000 exceeds the limit of 128000", "", `"model_max_prompt_tokens_exceeded"`), Overflow{145000, 128000}},
		"Kimi":                              {400, failure("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", "invalid_request_error", "null"), Overflow{291351, 262144}},
		"Fireworks":                         {400, failure("The prompt is too long: 221782, model maximum context length: 202752", "", "null"), Overflow{221782, 202752}},
		"DashScope":                         {400, failure("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", "", `"invalid_parameter_error"`), Overflow{0, 129024}},
		"LM Studio":                         {400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10978 >= n_ctx: 8192). Try to load the model with a larger context length"}`, Overflow{10978, 8192}},
		"a server in front":                 {413, "<html><head><title>413 Request Entity Too Large</title></head></html>", Overflow{}},
		"a server in front, saying nothing": {413, "", Overflow{}},
		"more than an int":                  {400, `{"error":{"message":"prompt is too long: 99999999999999999999 tokens > 200000 maximum"}}`, Overflow{1<<31 - 1, 200000}},
	}
	for name, test := range tests {
		if got, over := ReadOverflow(test.status, []byte(test.body)); !over || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v\n%s", name, got, over, test.want, test.body)
		}
	}
}

// TestNoOverflow: no other answer is one, whatever it quotes.
// covers: X-06 part
func TestNoOverflow(t *testing.T) {
	const long = "prompt is too long: 5 tokens > 4 maximum"
	tests := map[string]struct {
		status int
		body   string
	}{
		"a rate":                            {429, failure(long, "rate_limit_error", `"context_length_exceeded"`)},
		"a rate, said with another status":  {413, failure("Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9476", "tokens", `"rate_limit_exceeded"`)},
		"a rate, in a stream":               {200, "data: " + failure(long, "x", "429") + "\n\n"},
		"a fault":                           {500, failure(long, "api_error", "null")},
		"no key":                            {401, failure(long, "authentication_error", "null")},
		"not found":                         {404, failure(long, "not_found_error", "null")},
		"overloaded":                        {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
		"what the user said":                {400, failure("messages.0.content: Invalid value '"+long+"'", "invalid_request_error", `"invalid_value"`)},
		"what the user said, in front":      {400, failure("Invalid content: "+long, "invalid_request_error", "null")},
		"a member beside the error":         {400, `{"error":{"message":"no","type":"invalid_request_error"},"request":{"message":"` + long + `","code":"context_length_exceeded"}}`},
		"a member inside the error":         {400, `{"error":{"message":"no","details":{"code":"context_length_exceeded","message":"` + long + `"}}}`},
		"the output alone":                  {400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}`},
		"an answer":                         {200, `{"choices":[{"message":{"content":"` + long + `"}}],"error":null}`},
		"an answer that says so":            {200, `{"type":"message","content":[{"type":"text","text":"` + long + `"}]}`},
		"an answer that was stopped":        {200, `{"type":"message","content":[],"stop_reason":"model_context_window_exceeded"}`},
		"an answer with an error":           {200, `{"choices":[{"message":{"content":"a"}}],"error":{"code":"context_length_exceeded"}}`},
		"behind the beginning of an answer": {200, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"" + long + "\"}}\n\n"},
		"an event that did not end":         {200, "event: error\ndata: " + failure(long, "", "null") + "\n"},
		"a stream that begins":              {200, "data: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\n"},
		"another failure of a response":     {200, `data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"The server had an error"}}}` + "\n\n"},
		"nothing":                           {400, ""},
		"a page":                            {400, "<html>" + long + "</html>"},
		"a text":                            {400, long},
		"errors in errors":                  {400, passedOn(40, long)},
	}
	for name, test := range tests {
		if got, over := ReadOverflow(test.status, []byte(test.body)); over {
			t.Errorf("%s: %+v\n%s", name, got, test.body)
		}
	}
}

func passedOn(n int, text string) string {
	if len(text) > 1<<16 || n == 0 {
		return failure(text, "", "null")
	}
	return passedOn(n-1, failure("BadRequestError: "+text, "", "null"))
}

// Whatever comes, reading it does no harm, and what is read is no negative count.
func TestAnyOverflow(t *testing.T) {
	piece := rapid.OneOf(rapid.StringN(0, 6, -1), rapid.SampledFrom([]string{
		"prompt is too long: ", "5", "99,999", " tokens > ", " maximum", `{"error":{"message":"`, `"}}`, "data: ", "\n\n", `{"type":"error","code":"`, "context_length_exceeded", "Error: ", " - ", "b'",
		"Prompt contains ", "too large for model with ", `{"error":"`, "[", `{"detail":`, `\"`,
	}))
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "body"), "")
		status := rapid.SampledFrom([]int{200, 400, 413, 422, 429, 500}).Draw(t, "status")
		o, over := ReadOverflow(status, []byte(body))
		if o.Sent < 0 || o.Limit < 0 || !over && o != (Overflow{}) || over && status == 429 {
			t.Fatalf("%d %q: %+v, %v", status, body, o, over)
		}
	})
}
