package gemini

import (
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
)

func TestReplies(t *testing.T) {
	whole := func(parts, reason string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"finishReason":"` + reason + `"},{"index":1,"content":{"parts":[{"text":"other"}]},"finishReason":"STOP"}]}`
	}
	piece := func(parts string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]}}]}` + "\n\n"
	}
	const end = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}]}` + "\n\n"
	answers := []providertest.Answer{
		{
			Name: "a thought, text and calls", Body: whole(`{"text":"t","thought":true},{"text":"a"},{"functionCall":{"id":"c1","name":"f","args":{"a": 1}},"thoughtSignature":"s"},{"functionCall":{"id":"c2","name":"g"}}`, "STOP"),
			Want: `calls (STOP) | text a | call c1 f {"a":1} {"functionCall":{"id":"c1","name":"f","args":{"a":1}},"thoughtSignature":"s"} | call c2 g {}`,
		},
		{Name: "in pieces", Body: piece(`{"text":"t","thought":true}`) + piece(`{"text":"a\ud83d"}`) + piece(`{"text":"\ude00"}`) + piece(`{"functionCall":{"id":"c","name":"f","args":{}}}`) + end, Want: `calls (STOP) | text a😀 | call c f {}`},
		{Name: "a signature at the end", Body: piece(`{"text":"a"}`) + piece(`{"text":"","thoughtSignature":"s"}`) + end, Want: `end (STOP) | text a | opaque {"text":"","thoughtSignature":"s"}`},
		{Name: "a text that is signed", Body: whole(`{"text":"a","thoughtSignature":"s"},{"text":"b"}`, "STOP"), Want: `end (STOP) | text a {"text":"a","thoughtSignature":"s"} | text b`},
		{
			Name: "calls without ids", Body: whole(`{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}`, "STOP"),
			Want: `calls (STOP) | call call_4e65ef5c68e0e168_1 f {} {"functionCall":{"name":"f"}} | call call_4e65ef5c68e0e168_2 f {} {"functionCall":{"name":"f"}}`,
		},
		{
			Name: "a call with an empty id", Body: whole(`{"functionCall":{"id":"","name":"f"}}`, "STOP"),
			Want: `calls (STOP) | call call_7afe226a73bc4a78_1 f {} {"functionCall":{"id":"","name":"f"}}`,
		},
		{
			Name: "code that ran", Body: whole(`{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"a"}`, "STOP"),
			Want: `end (STOP) | opaque {"executableCode":{"language":"PYTHON","code":"1"}} | opaque {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}} | text a`,
		},
		{Name: "cut", Body: whole(`{"text":"a"}`, "MAX_TOKENS"), Want: `length (MAX_TOKENS) | text a`},
		{Name: "filtered", Body: `{"candidates":[{"finishReason":"SAFETY"}]}`, Want: `refusal (SAFETY)`},
		{Name: "filtered before it began", Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, Want: `refusal (PROHIBITED_CONTENT)`},
		{Name: "for another reason", Body: whole(`{"text":"a"}`, "LANGUAGE"), Want: `other (LANGUAGE) | text a`},

		{Name: "broken off", Body: piece(`{"text":"a"}`), Want: `error: the answer broke off: the stream ended before the answer did`},
		{Name: "an error", Body: piece(`{"text":"a"}`) + `data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}` + "\n\n", Want: `error: the provider reported an error, event 2: UNAVAILABLE: The model is overloaded.`},
		{Name: "nothing", Body: whole(`{"text":"t","thought":true}`, "STOP"), Want: `error: the answer is empty: STOP`},
		{Name: "a signature and nothing else", Body: whole(`{"text":"","thoughtSignature":"s"}`, "STOP"), Want: `error: the answer is empty: STOP`},
		{
			Name: "a call that it could not write", Body: `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: f("}]}`,
			Want: `error: the arguments of a call are no JSON object, event 1: MALFORMED_FUNCTION_CALL: Malformed function call: f(`,
		},
		{Name: "arguments of no object", Body: whole(`{"functionCall":{"id":"c","name":"f","args":[1]}}`, "STOP"), Want: `error: the arguments of a call are no JSON object ("f", call "c"), call 1: they are an array`},
		{Name: "a call of nothing", Body: whole(`{"functionCall":{"id":"c"}}`, "STOP"), Want: `error: the answer is not understood ("", call "c"), call 1: the call names no tool`},
		{Name: "a part that is none", Body: whole(`5`, "STOP"), Want: `error: the answer is not understood, event 1: a part is no object`},
		{Name: "a part of nothing", Body: whole(`{},{"text":"a"}`, "STOP"), Want: `end (STOP) | text a`},
		{Name: "a part of a new kind", Body: whole(`{"hologram":{}}`, "STOP"), Want: `error: the answer is not understood, event 1: a part of a kind that is not known`},
		{Name: "a result", Body: whole(`{"functionResponse":{"id":"c","name":"f"}}`, "STOP"), Want: `error: the answer is not understood, event 1: a part of a kind that is not known`},
		{Name: "a member of a new kind", Body: whole(`{"inlineData":{},"hologram":1}`, "STOP"), Want: `end (STOP) | opaque {"inlineData":{},"hologram":1}`},
		{Name: "no answer", Body: `{}`, Want: `error: the answer is not understood: it holds no answer that came to its end`},
	}
	for i := range answers {
		answers[i].Type = provider.TypeGenerate
	}
	providertest.Replies(t, Protocol{}, answers...)
}

// TestSend: where requests are posted, and with what.
func TestSend(t *testing.T) {
	for want, p := range map[string]provider.LowerParams{
		"/v1beta/models/gemini-3-pro:generateContent":               {Model: "gemini-3-pro"},
		"/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse": {Model: "models/gemini-3-pro", Stream: true},
		"/v1beta/tunedModels/a:generateContent":                     {Model: "tunedModels/a"},
		"/v1beta/models/publishers%2Fgoogle%3Fx:generateContent":    {Model: "publishers/google?x"},
	} {
		if got := (Protocol{}).Endpoint(p); got != want {
			t.Errorf("%+v: %s", p, got)
		}
	}
	providertest.Headed(t, Protocol{}, "x-goog-api-key: KEY")
}
