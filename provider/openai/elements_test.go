package openai

import (
	"crypto/sha256"
	"errors"
	"reflect"
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

// hashes returns the hashes of canonical forms.
func hashes(forms ...string) (list []provider.Hash) {
	for _, form := range forms {
		list = append(list, sha256.Sum256([]byte(form)))
	}
	return list
}

// TestCanonicalElement holds the sentences of DESIGN 2 about Responses and Chat.
//
// covers: J-14 part
func TestCanonicalElement(t *testing.T) {
	for _, test := range []struct{ name, kind, body, want string }{
		{
			"chat: the leading system and developer run is the system, the rest are messages", "chat",
			`{"messages":[{"role":"system","content":[]},{"role":"developer","content":[]},{"role":"user","content":[]},{"role":"system","content":[]}]}`,
			`system /messages/0 {"role":"system","content":[]}
system /messages/1 {"role":"developer","content":[]}
message /messages/2 {"role":"user","content":[]}
message /messages/3 {"role":"system","content":[]}
`,
		},
		{
			"chat: each of tools, deferred ones apart", "chat",
			`{"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","defer_loading":true}],"functions":[{"name":"b"}]}`,
			`tool /tools/0 {"type":"function","function":{"name":"a"}}
tool /functions/0 {"name":"b"}
deferred /tools/1 {"type":"function","defer_loading":true}
`,
		},
		{
			"chat: content string equals one text block, in results too", "chat",
			`{"messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c","content":"y"}]}`,
			`message /messages/0 {"role":"user","content":[{"type":"text","text":"x"}]}
message /messages/1 {"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"y"}]}
`,
		},
		{
			"chat: cache_control and nulls are dropped, but not inside arguments", "chat",
			`{"messages":[{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c","function":{"name":"n","arguments":"{\"a\":null}","x":null}}]},` +
				`{"role":"user","cache_control":{},"content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}`,
			`message /messages/0 {"role":"assistant","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{\"a\":null}","x":null}}]}
message /messages/1 {"role":"user","content":[{"type":"text","text":"x"}]}
`,
		},
		{
			"responses: instructions and the leading developer and system items are the system", "responses",
			`{"input":[{"role":"developer","content":[]},{"type":"message","role":"system","content":[]},{"role":"user","content":[]},{"role":"developer","content":[]}],"instructions":"Be brief."}`,
			`system /instructions "Be brief."
system /input/0 {"role":"developer","content":[]}
system /input/1 {"type":"message","role":"system","content":[]}
message /input/2 {"role":"user","content":[]}
message /input/3 {"role":"developer","content":[]}
`,
		},
		{
			"responses: every other item without its id and status is a message", "responses",
			`{"input":[{"id":"m","type":"message","role":"user","content":[],"status":"completed"},{"type":"function_call","id":"fc","call_id":"c","name":"n","arguments":"{}","status":"in_progress"}],"instructions":null}`,
			`message /input/0 {"type":"message","role":"user","content":[]}
message /input/1 {"type":"function_call","call_id":"c","name":"n","arguments":"{}"}
`,
		},
		{
			"responses: a reference keeps its id, which is all it says", "responses",
			`{"input":[{"type":"item_reference","id":"m"},{"id":"n","status":null,"type":null}]}`,
			`message /input/0 {"type":"item_reference","id":"m"}
message /input/1 {"id":"n"}
`,
		},
		{
			"responses: a string input is one user message", "responses", `{"input":"a\/\u00e9"}`,
			`message /input {"role":"user","content":[{"type":"input_text","text":"a/é"}]}
`,
		},
		{
			"responses: content string equals one block of the role's text type, wherever the role stands", "responses",
			`{"input":[{"content":"a","role":"user"},{"content":"b","role":"assistant","type":"message"},{"role":"developer","content":"c"}]}`,
			`message /input/0 {"content":[{"type":"input_text","text":"a"}],"role":"user"}
message /input/1 {"content":[{"type":"output_text","text":"b"}],"role":"assistant","type":"message"}
message /input/2 {"role":"developer","content":[{"type":"input_text","text":"c"}]}
`,
		},
		{
			"responses: nulls are dropped from items and blocks, never inside results or content that is no message's", "responses",
			`{"input":[{"type":"reasoning","content":null,"summary":[{"x":null}],"encrypted_content":"e"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x","y":null}]},` +
				`{"role":"user","content":[{"type":"input_image","detail":null}]},{"type":"reasoning","content":[{"x":null}]}]}`,
			`message /input/0 {"type":"reasoning","summary":[{"x":null}],"encrypted_content":"e"}
message /input/1 {"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x","y":null}]}
message /input/2 {"role":"user","content":[{"type":"input_image"}]}
message /input/3 {"type":"reasoning","content":[{"x":null}]}
`,
		},
		{
			"responses: additional_tools are tools and do not end the leading run", "responses",
			`{"input":[{"type":"additional_tools","id":"at","role":"developer","tools":[{"type":"namespace","description":null}]},{"role":"developer","content":[]},{"role":"user","content":[]}],"tools":[{"type":"function","name":"a","strict":null}]}`,
			`tool /input/0 {"type":"additional_tools","role":"developer","tools":[{"type":"namespace","description":null}]}
tool /tools/0 {"type":"function","name":"a"}
system /input/1 {"role":"developer","content":[]}
message /input/2 {"role":"user","content":[]}
`,
		},
		{
			"responses: with previous_response_id the rest is elsewhere", "responses", `{"input":"x","previous_response_id":"resp_1"}`,
			`message /input {"role":"user","content":[{"type":"input_text","text":"x"}]}
previous resp_1
`,
		},
		{
			"compact and input_tokens are like responses", "compact", `{"input":"x","instructions":"y"}`,
			`system /instructions "y"
message /input {"role":"user","content":[{"type":"input_text","text":"x"}]}
`,
		},
		{"null is nothing", "responses", `{"input":null,"tools":null,"instructions":null,"previous_response_id":null}`, ""},
		{"other bodies have none", "embeddings", `{"input":"x"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, forms(t, test.kind, test.body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("not understood", func(t *testing.T) {
		for _, body := range []string{"", "data: x", `{"input":"x","input":"y"}`, `{"input":[{"a":1,"\u0061":2}]}`} {
			if e, err := (Protocol{}).Elements(provider.Request{Type: "responses"}, []byte(body)); !errors.Is(err, provider.ErrNotUnderstood) || e.Messages != nil {
				t.Errorf("%q: %+v, %v", body, e, err)
			}
		}
	})
}

// messages reads all messages of a body.
func messages(t *testing.T, kind, body string) (list []provider.Message) {
	t.Helper()
	e, err := (Protocol{}).Elements(provider.Request{Type: kind}, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range e.Messages {
		list = append(list, (Protocol{}).Message(provider.Request{Type: kind}, []byte(body[m.Offset:m.Offset+m.Length]), m.At))
	}
	return list
}

func FuzzElements(f *testing.F) {
	providertest.FuzzElements(f, Protocol{}, slices.Concat(exchanges, richResponses, richChat, shapes)...)
}

// private are the places that hold no public text.
var private = []string{
	"**/type", "**/id", "**/call_id", "**/name", "**/status", "**/role", "**/tool_call_id", "**/index", "**/usage", "**/model", "**/object",
	"**/finish_reason", "**/image_url", "**/url", "**/file_id", "**/file_data", "**/filename", "**/logprobs", "**/server_label", "**/container_id",
	"**/approval_request_id", "**/audio/data", "/image_generation_call/result", "/file_search_call/queries", "**/reasoning_content", "/reasoning", "/content/1/data",
	"**/arguments/0", "**/arguments/*/*", "**/input/0", "**/code/0", "/*/action/0", "/*/action/*/*", // arguments that are deeper
	"/answer/hologram", "/answer/error", "/event/error", "/event/hologram", "/event/*/response/hologram", "/answer/response/hologram",
	"/event/*/error", "/event/*/hologram", "/event/*/output_index", "/event/*/sequence_number", "/event/*/message", "/event/*/item/summary",
	"/event/response.reasoning_summary_text.delta", "/event/response.output_text.delta/response", "**/encrypted_content",
}

func TestTold(t *testing.T) {
	providertest.Told(t, Protocol{}, private, slices.Concat(exchanges, richResponses, richChat, shapes)...)
}

// What an element is depends on what stands before it, whatever is known of another body.
func TestElementsKnown(t *testing.T) {
	p := Protocol{}
	bodies := map[string][]string{
		"/v1/chat/completions": {
			`{"messages":[{"role":"system","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"c"}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"c"}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"cc"}]`,
		},
		"/v1/responses": {
			`{"input":[{"role":"developer","content":"a"},{"role":"developer","content":"b"},{"id":"x","role":"user","content":"c"}]}`,
			`{"input":[{"role":"user","content":"a"},{"role":"developer","content":"b"},{"id":"x","role":"user","content":"c"}],"x":1}`,
		},
	}
	for path, all := range bodies {
		for _, known := range all {
			for _, body := range all {
				q := p.Request("POST", path, []byte(body))
				want, wrong := p.Elements(q, []byte(body))
				was, _ := p.Elements(q, []byte(known))
				q.Before = &provider.Known{Body: []byte(known), Elements: was}
				if got, err := p.Elements(q, []byte(body)); (err == nil) != (wrong == nil) || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, knowing %s: %+v, %v", body, known, got, err)
				}
			}
		}
	}
}
