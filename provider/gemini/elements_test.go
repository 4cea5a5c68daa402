package gemini

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider"
	"ambit/provider/providertest"
)

// forms returns the canonical forms of the elements of a body, list by list.
func forms(t *testing.T, kind, body string) string {
	t.Helper()
	return providertest.Forms(t, body, func(r *provider.Reader) (provider.Elements, error) {
		return elements(provider.Request{Type: kind}, r)
	})
}

// everything is a request with every kind of part.
const everything = `{
  "system_instruction": {"role": "user", "parts": [{"text": "not public"}, {"text": "nor this", "thought": null}]},
  "tools": [{"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT", "nullable": null}}, {"name": "list"}]}, {"googleSearch": {}}],
  "contents": [
    {"role": "user", "parts": [{"text": "Gr\u00fc\u00dfe \/ \ud800"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
    {"role": "model", "parts": [
      {"text": "secret", "thought": true},
      {"text": "I read.", "thoughtSignature": "c2ln"},
      {"functionCall": {"id": "call_1", "name": "read", "args": {"path": "a.go", "a/b": "odd", "n": 1}}, "thoughtSignature": "c2ln"},
      {"function_call": {"name": "list"}},
      {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
      {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
    ]},
    {"role": "function", "parts": [
      {"functionResponse": {"id": "call_1", "name": "read", "response": {"output": "package a", "more": {"x": "inner"}}}},
      {"function_response": {"name": "list", "response": {"error": "no folder"}}}
    ]},
    {"parts": {"text": "one part"}}
  ],
  "generationConfig": {"temperature": 0}
}`

var rich = []providertest.Exchange{
	{
		Name:   "every kind of part, and calls in the answer",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent?alt=sse", Body: everything,
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: sseType,
		Answer: `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"secret","thought":true}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"role":"model","parts":[{"text":"I re"}]},"index":0}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"other"}]},"index":1}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"ad."},{"functionCall":{"name":"read","args":{"path":"b"}},"thoughtSignature":"c2ln"}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"x","name":"list"}}]},"finishReason":"STOP"}]}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			Text: "I read.", Whole: true, Others: []string{"other"},
			Calls: []provider.Call{{Name: "read", Args: []byte(`{"path":"b"}`)}, {ID: "x", Name: "list"}},
		}},
	},
	{
		Name:   "array that breaks off",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent", Body: `{"contents":{"parts":[{"text":"x"}]}}`,
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: jsonType,
		Answer:      `[{"candidates":[{"content":{"parts":[{"text":"A"},{"hologram":{}}]}}]},` + "\n" + `{"candidates":[{"content":{"parts":[{"text":"B`,
		Response:    provider.Response{Answer: provider.Answer{Text: "A", Unknown: true}},
	},
	{
		Name:   "error behind some text",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent", Body: `{"contents":[]}`,
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: sseType,
		Answer: `data: {"candidates":[{"content":{"parts":[{"text":"A"}]}}]}` + "\n\n" +
			`data: {"error":{"code":500}}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{Text: "A"}},
	},
	{
		Name:   "countTokens of a whole request",
		Method: "POST", Path: "/v1beta/models/g:countTokens", Body: `{"generateContentRequest":` + everything + `}`,
		Request: provider.Request{Type: "count_tokens", Model: "g"},

		ContentType: jsonType, Answer: `{}`,
	},
}

// TestCanonicalElement holds the sentences of DESIGN 2 about Gemini.
//
// covers: J-14 part
func TestCanonicalElement(t *testing.T) {
	for _, test := range []struct{ name, kind, body, want string }{
		{
			"each functionDeclaration", "generate", `{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"function_declarations":[{"name":"c"}],"x":null}]}`,
			`tool /tools/0/functionDeclarations/0 {"name":"a"}
tool /tools/0/functionDeclarations/1 {"name":"b"}
tool /tools/1/function_declarations/0 {"name":"c"}
`,
		},
		{
			"other tools are one element each", "generate", `{"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"a"}],"codeExecution":{"x":null}}]}`,
			`tool /tools/0 {"googleSearch":{}}
tool /tools/1/functionDeclarations/0 {"name":"a"}
tool /tools/1 {"codeExecution":{"x":null}}
`,
		},
		{
			"each systemInstruction part", "generate", `{"systemInstruction":{"role":"user","parts":[{"text":"a"},{"text":"b"}]}}`,
			`system /systemInstruction/parts/0 {"text":"a"}
system /systemInstruction/parts/1 {"text":"b"}
`,
		},
		{
			"in snake_case, with one part", "generate", `{"system_instruction":{"parts":{"text":"a"}}}`,
			`system /system_instruction/parts {"text":"a"}
`,
		},
		{
			"each content", "generate", `{"contents":[{"role":"user","parts":[]},{"role":"model","parts":[]}]}`,
			`message /contents/0 {"role":"user","parts":[]}
message /contents/1 {"role":"model","parts":[]}
`,
		},
		{
			"one object is one content", "generate", `{"contents":{"parts":{"text":"a","x":null}}}`,
			`message /contents {"parts":{"text":"a"}}
`,
		},
		{
			"nulls are dropped from contents and parts, never inside arguments, results or schemas", "generate",
			`{"contents":[{"role":null,"parts":[{"text":null,"functionCall":{"args":null}},{"functionResponse":{"response":{"x":null}}}]}],"tools":[{"functionDeclarations":[{"response":null,"parameters":{"x":null}}]}]}`,
			`tool /tools/0/functionDeclarations/0 {"parameters":{"x":null}}
message /contents/0 {"parts":[{"functionCall":{"args":null}},{"functionResponse":{"response":{"x":null}}}]}
`,
		},
		{
			"countTokens of a whole request", "count_tokens", `{"generateContentRequest":{"model":"m","contents":[{"parts":[]}],"generateContentRequest":{"contents":[{}]}}}`,
			`message /generateContentRequest/contents/0 {"parts":[]}
`,
		},
		{"null is nothing", "generate", `{"contents":null,"tools":null,"systemInstruction":null}`, ""},
		{"other bodies have none", "embeddings", `{"contents":[{}]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, forms(t, test.kind, test.body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("system comes first", func(t *testing.T) {
		if e, err := (Protocol{}).Elements(provider.Request{Type: "generate"}, []byte("{}")); err != nil || !e.SystemFirst {
			t.Errorf("%+v, %v", e, err)
		}
	})
	t.Run("not understood", func(t *testing.T) {
		for _, body := range []string{"", "data: x", `{"contents":[],"contents":[]}`} {
			if e, err := (Protocol{}).Elements(provider.Request{Type: "generate"}, []byte(body)); !errors.Is(err, provider.ErrNotUnderstood) || e.SystemFirst {
				t.Errorf("%q: %+v, %v", body, e, err)
			}
		}
	})
}

func TestMessage(t *testing.T) {
	e, err := (Protocol{}).Elements(provider.Request{Type: "generate"}, []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	var got []provider.Message
	for _, m := range e.Messages {
		got = append(got, (Protocol{}).Message(provider.Request{Type: "generate"}, []byte(everything[m.Offset:m.Offset+m.Length]), m.At))
	}
	text := func(field, said, text string) provider.Text {
		return provider.Text{Field: "/contents/" + field, Said: said, Text: text}
	}
	of := func(call string, t provider.Text) provider.Text {
		t.Call = call
		return t
	}
	want := []provider.Message{
		{Role: "user", Texts: []provider.Text{text("0/parts/0/text", "user", "Grüße / \uFFFD")}, Fixed: provider.Media},
		{
			Role: "model", Fixed: provider.Reasoned,
			Calls: []provider.Call{
				{ID: "call_1", Name: "read", Args: []byte(`{"path": "a.go", "a/b": "odd", "n": 1}`)},
				{Name: "list"},
				{Name: "code_execution", Args: []byte(`{"language": "PYTHON", "code": "print(1)"}`)},
			},
			Texts: []provider.Text{
				text("1/parts/1/text", "assistant", "I read."),
				text("1/parts/2/functionCall/args/path", "argument", "a.go"), text("1/parts/2/functionCall/args/a~1b", "argument", "odd"),
				text("1/parts/4/executableCode/language", "argument", "PYTHON"), text("1/parts/4/executableCode/code", "argument", "print(1)"),
				text("1/parts/5/codeExecutionResult/output", "tool", "1\n"),
			},
		},
		{
			Role: "function", Results: []string{"call_1"},
			Texts: []provider.Text{
				of("call_1", text("2/parts/0/functionResponse/response/output", "tool", "package a")),
				of("call_1", text("2/parts/0/functionResponse/response/more/x", "tool", "inner")),
				text("2/parts/1/function_response/response/error", "tool", "no folder"),
			},
		},
		{Role: "user", Texts: []provider.Text{text("3/parts/text", "user", "one part")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknown(t *testing.T) {
	tests := map[string]bool{
		`{"role":"user","parts":[{"hologram":{}}]}`:           true,
		`{"role":"user","parts":["x"]}`:                       true,
		`{"role":"user","parts":5}`:                           true,
		`{"role":"narrator","parts":[]}`:                      true,
		`"x"`:                                                 true,
		`{"role":"user"}`:                                     false,
		`{"role":"user","parts":null}`:                        false,
		`{"role":"user","parts":[{}]}`:                        false,
		`{"role":"system","parts":[{"hologram":{}}]}`:         false,
		`{"role":"user","parts":[{"text":"x","hologram":1}]}`: false,
		`{"role":"model","parts":[{"thoughtSignature":"x"}]}`: false,
	}
	for raw, want := range tests {
		if got := (Protocol{}).Message(provider.Request{}, []byte(raw), "/contents/0"); got.Unknown != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

func FuzzElements(f *testing.F) {
	providertest.FuzzElements(f, Protocol{}, slices.Concat(exchanges, rich, shapes)...)
}

// private are the places that hold no public text.
var private = []string{
	"**/role", "**/thought", "**/thoughtSignature", "**/inlineData", "**/codeExecutionResult/outcome", "**/parts/*/*/name", "**/parts/*/*/id", "**/toolType", "**/scheduling",
	"**/args/0", "**/args/*/*", "**/executableCode/0", "**/executableCode/*/*", // arguments that are deeper
	"/answer/modelVersion", "/answer/usageMetadata", "/answer/hologram", "/answer/error", "/answer/*/hologram",
	"/event/modelVersion", "/event/usageMetadata", "/event/hologram", "/event/error",
	"**/candidates/*/index", "**/candidates/*/finishReason",
}

// results is a request with what tools give back in every shape.
const results = `{"contents":[{"role":"user","parts":[
  {"functionResponse":{"id":"1","name":"n","response":{"output":{"deep":[["x"],{"y":"z"}]}},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}],"scheduling":"SILENT"}},
  {"functionResponse":{"name":"n","response":["a",1,true]}},
  {"functionResponse":{"name":"n","response":"plain"}},
  {"functionResponse":{"name":"n","response":7}},
  {"toolResponse":{"id":"2","toolType":"GOOGLE_SEARCH_WEB","response":{"found":"it"}}}
]},{"role":"model","parts":[{"toolCall":{"id":"2","toolType":"GOOGLE_SEARCH_WEB","args":{"query":"q"}}}]}]}`

var shapes = []providertest.Exchange{
	{
		Name:   "results of every shape, and an answer in candidates",
		Method: "POST", Path: "/v1beta/models/g:generateContent", Body: results,
		Request: provider.Request{Type: "generate", Model: "g"},

		ContentType: jsonType,
		Answer: `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"A"},{"codeExecutionResult":{"outcome":"OK","output":"out"}}]},"finishReason":"STOP",` +
			`"groundingMetadata":{"groundingChunks":[{"retrievedContext":{"uri":"u","title":"T","text":"found"}}]}},` +
			`{"index":2,"content":{"parts":[{"text":"B"},{"text":"C"}]}},{"index":1,"content":{"parts":[{"functionCall":{"name":"n","args":{"a":"b"}}}]}}]}`,
		Response: provider.Response{Answer: provider.Answer{
			Text: "A", Results: []string{"out", "T", "found"}, Others: []string{"BC"}, Whole: true, Unknown: true,
		}},
	},
	{
		Name:   "character that is split over two pieces",
		Method: "POST", Path: "/v1beta/models/g:streamGenerateContent?alt=sse", Body: `{"contents":[]}`,
		Request: provider.Request{Type: "generate", Model: "g", Stream: true},

		ContentType: sseType,
		Answer: `data: {"candidates":[{"content":{"parts":[{"text":"a\ud83d"}]}},{"index":1,"content":{"parts":[{"text":"\ud83d"}]}}]}` + "\n\n" +
			`data: {"candidates":[{"index":1,"content":{"parts":[{"text":"\ude01"}]}},{"content":{"parts":[{"text":"\ude00"}]},"finishReason":"STOP"}]}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{Text: "a😀", Others: []string{"😁"}, Whole: true}},
	},
}

func TestResults(t *testing.T) {
	e, err := (Protocol{}).Elements(provider.Request{Type: "generate"}, []byte(results))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{
		"tool /parts/0/functionResponse/response/output/deep/0/0 x", "tool /parts/0/functionResponse/response/output/deep/1/y z",
		"tool /parts/1/functionResponse/response/0 a", "tool /parts/2/functionResponse/response plain", "tool /parts/4/toolResponse/response/found it",
	}, {"argument /parts/0/toolCall/args/query q"}}
	for i, el := range e.Messages {
		m := (Protocol{}).Message(provider.Request{Type: "generate"}, []byte(results[el.Offset:el.Offset+el.Length]), "")
		var got []string
		for _, text := range m.Texts {
			got = append(got, text.Said+" "+text.Field+" "+text.Text)
		}
		if diff := cmp.Diff(want[i], got); diff != "" || m.Unknown {
			t.Errorf("message %d, unknown %v (-want +got):\n%s", i, m.Unknown, diff)
		}
	}
}

func TestTold(t *testing.T) {
	providertest.Told(t, Protocol{}, private, slices.Concat(exchanges, rich, shapes)...)
}
