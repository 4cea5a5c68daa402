package anthropic

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
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

// everything is a request with every kind of block.
const everything = `{
  "model": "claude-opus-5-5", "max_tokens": 100, "stream": true,
  "metadata": {"user_id": "{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"0199-a\"}"},
  "tools": [
    {"name": "read", "description": "Reads.", "input_schema": {"type": "object", "properties": {"path": {"type": "string", "default": null}}}},
    {"name": "late", "defer_loading": true, "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}
  ],
  "system": [
    {"type": "text", "text": "x-anthropic-billing-header: cc_version=2"},
    {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
  ],
  "messages": [
    {"role": "user", "content": "Gr\u00fc\u00dfe \/ \ud83d\ude00 \ud800 2\u2028"},
    {"role": "user", "content": [{"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}}, {"type": "image", "source": {"type": "base64", "data": "AAAA"}}]},
    {"role": "system", "content": [{"type": "text", "text": "not public"}], "output_config": {"effort": "high"}},
    {"role": "assistant", "content": [
      {"type": "thinking", "thinking": "secret", "signature": "c2ln"},
      {"type": "redacted_thinking", "data": "ZGF0YQ=="},
      {"type": "text", "text": "I read it.", "citations": null},
      {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a/b.go", "a/b~c": "odd", "lines": [1, "two"], "none": null, "empty": ""}},
      {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}},
      {"type": "server_tool_use", "id": "srvtoolu_1", "name": "bash_code_execution", "input": {"command": "ls"}},
      {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "bash_code_execution_result", "stdout": "a.go\n", "stderr": "", "return_code": 0}}
    ]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "toolu_1", "content": "package b\n", "is_error": null},
      {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "two files", "cache_control": null}, {"type": "image", "source": {}}, {"type": "tool_reference", "tool_name": "late"}]},
      {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": [{"type": "text", "text": "of a server"}]},
      {"type": "document", "source": {"type": "text", "data": "a document"}}
    ]}
  ]
}`

var rich = []providertest.Exchange{
	{
		Name:   "every kind of block, and a call in the answer",
		Method: "POST", Path: "/v1/messages", Body: everything,
		Request: provider.Request{Type: "messages", Model: "claude-opus-5-5", Stream: true, Session: "0199-a"},

		ContentType: sseType,
		Answer: "event: message_start\n" +
			`data: {"type":"message_start","message":{"type":"message","model":"m","content":[]}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"secret"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I re"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ad.\n"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":1}` + "\n\n" +
			`data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_3","name":"read","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"c"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":".go\"}"}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":2}` + "\n\n" +
			`data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_4","name":"list","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_stop","index":3}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n",
		Response: provider.Response{Model: "m", Answer: provider.Answer{
			Text: "I read.\n", Whole: true,
			Calls: []provider.Call{{ID: "toolu_3", Name: "read", Args: []byte(`{"path": "c.go"}`)}, {ID: "toolu_4", Name: "list", Args: []byte(`{}`)}},
		}},
	},
	{
		Name:   "system as a string, and an answer that breaks off in a call",
		Method: "POST", Path: "/v1/messages",
		Body:    `{"model":"m","system":"Be brief.","tools":null,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"metadata":{"user_id":"user_1f_account__session_01234567-89ab-CDEF-0123-456789abcdef"}}`,
		Request: provider.Request{Type: "messages", Model: "m", Session: "01234567-89ab-CDEF-0123-456789abcdef"},

		ContentType: sseType,
		Answer: `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_3","name":"read","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"c"}}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{
			Unknown: true,
			Calls:   []provider.Call{{ID: "toolu_3", Name: "read", Args: []byte(`"{\"path\": \"c"`)}},
		}},
	},
	{
		Name:   "error behind some text",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m","messages":[]}`, ContentType: sseType,
		Answer: `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I re"}}` + "\n\n" +
			`data: {"type":"content_block_start","index":1,"content_block":{"type":"hologram"}}` + "\n\n" +
			`data: {"type":"error","error":{"type":"overloaded_error"}}` + "\n\n",
		Request:  provider.Request{Type: "messages", Model: "m"},
		Response: provider.Response{Answer: provider.Answer{Text: "I re", Unknown: true}},
	},
	{
		Name:   "one answer with a call",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m","messages":[]}`, ContentType: jsonType,
		Answer:  `{"type":"message","model":"m","content":[{"type":"text","text":"A"},{"type":"tool_use","id":"t","name":"n","input":{"a":"b"}},{"type":"text","text":"B"}]}`,
		Request: provider.Request{Type: "messages", Model: "m"},
		Response: provider.Response{Model: "m", Answer: provider.Answer{
			Text: "AB", Whole: true, Calls: []provider.Call{{ID: "t", Name: "n", Args: []byte(`{"a":"b"}`)}},
		}},
	},
}

// TestCanonicalElement holds the sentences of DESIGN 2 about Messages.
//
// covers: J-14 part
func TestCanonicalElement(t *testing.T) {
	type law struct{ name, body, want string }
	for _, test := range []law{
		{
			"each of tools", `{"tools":[{"name":"a"},{"name":"b"}]}`,
			"tool /tools/0 {\"name\":\"a\"}\ntool /tools/1 {\"name\":\"b\"}\n",
		},
		{
			"defer_loading tools are outside the prefix", `{"tools":[{"name":"a","defer_loading":true},{"name":"b","defer_loading":false}]}`,
			"tool /tools/1 {\"name\":\"b\",\"defer_loading\":false}\ndeferred /tools/0 {\"name\":\"a\",\"defer_loading\":true}\n",
		},
		{
			"each system block", `{"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			"system /system/0 {\"type\":\"text\",\"text\":\"a\"}\nsystem /system/1 {\"type\":\"text\",\"text\":\"b\"}\n",
		},
		{"a string is one block", `{"system":"a"}`, "system /system {\"type\":\"text\",\"text\":\"a\"}\n"},
		{
			"each message, role system included", `{"messages":[{"role":"system","content":[]},{"role":"user","content":[]}]}`,
			"message /messages/0 {\"role\":\"system\",\"content\":[]}\nmessage /messages/1 {\"role\":\"user\",\"content\":[]}\n",
		},
		{
			"cache_control and nulls are dropped from tools, system blocks, messages and content blocks",
			`{"tools":[{"cache_control":{"type":"e"},"name":"a","x":null}],"system":[{"type":"text","cache_control":5,"text":"a","citations":null}],` +
				`"messages":[{"y":null,"role":"user","cache_control":null,"content":[{"z":null,"type":"text","text":"a","cache_control":{}}]}]}`,
			"tool /tools/0 {\"name\":\"a\"}\nsystem /system/0 {\"type\":\"text\",\"text\":\"a\"}\n" +
				"message /messages/0 {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}\n",
		},
		{
			"never inside arguments, results or schemas",
			`{"tools":[{"input_schema":{"default":null,"cache_control":1}}],"messages":[{"content":[{"input":{"a":null,"cache_control":1}},{"content":[{"a":null,"cache_control":1}]}]}]}`,
			"tool /tools/0 {\"input_schema\":{\"default\":null,\"cache_control\":1}}\n" +
				"message /messages/0 {\"content\":[{\"input\":{\"a\":null,\"cache_control\":1}},{\"content\":[{\"a\":null,\"cache_control\":1}]}]}\n",
		},
		{
			"content string equals one text block", `{"messages":[{"content":"x","role":"user"}]}`,
			"message /messages/0 {\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"role\":\"user\"}\n",
		},
		{
			"but not in a tool_result", `{"messages":[{"role":"user","content":[{"type":"tool_result","content":"x"}]}]}`,
			"message /messages/0 {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":\"x\"}]}\n",
		},
		{"null is nothing", `{"tools":null,"system":null,"messages":null}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, forms(t, "messages", test.body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("count_tokens has the same", func(t *testing.T) {
		if diff := cmp.Diff(forms(t, "messages", everything), forms(t, "count_tokens", everything)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("other bodies have none", func(t *testing.T) {
		if got := forms(t, "models", everything); got != "" {
			t.Error(got)
		}
		if _, err := (Protocol{}).Elements(provider.Request{Type: "files"}, []byte("--boundary")); !errors.Is(err, provider.ErrNotUnderstood) {
			t.Errorf("error %v", err)
		}
	})
}

func TestMessage(t *testing.T) {
	e, err := (Protocol{}).Elements(provider.Request{Type: "messages"}, []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	var got []provider.Message
	for _, m := range e.Messages {
		got = append(got, (Protocol{}).Message(provider.Request{Type: "messages"}, []byte(everything[m.Offset:m.Offset+m.Length]), m.At))
	}
	args := func(s string) json.RawMessage { return json.RawMessage(s) }
	want := []provider.Message{
		{Role: "user", Texts: []provider.Text{{Field: "/messages/0/content", Said: "user", Text: "Grüße / 😀 \uFFFD 2\u2028"}}},
		{Role: "user", Texts: []provider.Text{{Field: "/messages/1/content/0/text", Said: "user", Text: "Look."}}, Fixed: provider.Media},
		{Role: "system"},
		{
			Role: "assistant", Fixed: provider.Reasoned,
			Calls: []provider.Call{
				{ID: "toolu_1", Name: "read", Args: args(`{"path": "a/b.go", "a/b~c": "odd", "lines": [1, "two"], "none": null, "empty": ""}`)},
				{ID: "toolu_2", Name: "list", Args: args(`{}`)},
				{ID: "srvtoolu_1", Name: "bash_code_execution", Args: args(`{"command": "ls"}`)},
			},
			Results: []string{"srvtoolu_1"},
			Texts: []provider.Text{
				{Field: "/messages/3/content/2/text", Said: "assistant", Text: "I read it."},
				{Field: "/messages/3/content/3/input/path", Said: "argument", Text: "a/b.go"},
				{Field: "/messages/3/content/3/input/a~1b~0c", Said: "argument", Text: "odd"},
				{Field: "/messages/3/content/5/input/command", Said: "argument", Text: "ls"},
				{Field: "/messages/3/content/6/content/stdout", Said: "tool", Text: "a.go\n", Call: "srvtoolu_1"},
			},
		},
		{
			Role: "user", Results: []string{"toolu_1", "toolu_2", "mcptoolu_1"}, Fixed: provider.Sealed,
			Texts: []provider.Text{
				{Field: "/messages/4/content/0/content", Said: "tool", Text: "package b\n", Call: "toolu_1"},
				{Field: "/messages/4/content/1/content/0/text", Said: "tool", Text: "two files", Call: "toolu_2"},
				{Field: "/messages/4/content/2/content/0/text", Said: "tool", Text: "of a server", Call: "mcptoolu_1"},
				{Field: "/messages/4/content/3/source/data", Said: "tool", Text: "a document"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknown(t *testing.T) {
	tests := map[string]bool{
		`{"role":"user","content":[{"type":"hologram"}]}`:                                    true,
		`{"role":"user","content":["x"]}`:                                                    true,
		`{"role":"user","content":5}`:                                                        true,
		`{"role":"narrator","content":"x"}`:                                                  true,
		`{"role":"user","content":[{"type":"tool_result","content":[{"type":"hologram"}]}]}`: false,
		`{"role":"user","content":[{"type":"tool_result","content":7}]}`:                     false,
		`{"role":"user","content":[{"type":"text","text":{"a":"x"}}]}`:                       true,
		`{"role":"user","content":[{"type":"text","text":"x","hologram":["y"]}]}`:            true,
		`{"role":"user","content":[{"type":"text","text":"x","hologram":[1]}]}`:              false,
		`{"role":"user","content":"x","hologram":"y"}`:                                       true,
		`"x"`:                            true,
		`{"role":"user"}`:                false,
		`{"role":"user","content":null}`: false,
		`{"role":"system","content":[{"type":"hologram"}]}`:                                           false,
		`{"role":"user","content":[{"type":"tool_result"},{"type":"web_search_tool_result"}]}`:        false,
		`{"role":"user","content":[{"type":"search_result","content":[{"type":"text","text":"x"}]}]}`: false,
	}
	for raw, want := range tests {
		if got := (Protocol{}).Message(provider.Request{}, []byte(raw), "/messages/0"); got.Unknown != want {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

func TestSession(t *testing.T) {
	tests := map[string]string{
		`{"user_id":"{\"session_id\":\"s\"}"}`:                                "s",
		`{"user_id":{"session_id":"s"}}`:                                      "s",
		`{"user_id":"{\"session_id\":5}"}`:                                    "",
		`{"user_id":"{\"session_id\":\"` + strings.Repeat("s", 257) + `\"}"}`: "",
		`{"user_id":"user_a_session_00000000-0000-0000-0000-000000000000"}`:   "00000000-0000-0000-0000-000000000000",
		`{"user_id":"user_a_session_00000000-0000-0000-0000-00000000000g"}`:   "",
		`{"user_id":"a_session_00000000-0000-0000-0000-000000000000"}`:        "",
		`{"user_id":"user_12345"}`:                                            "",
		`{"session_id":"s"}`:                                                  "",
		`null`:                                                                "",
	}
	for metadata, want := range tests {
		req := (Protocol{}).Request("POST", "/v1/messages", []byte(`{"metadata":`+metadata+`}`))
		if req.Session != want {
			t.Errorf("%s: session %q, want %q", metadata, req.Session, want)
		}
	}
}

func FuzzElements(f *testing.F) {
	providertest.FuzzElements(f, Protocol{}, slices.Concat(exchanges, rich, shapes)...)
}

// private are the places that hold no public text.
var private = []string{
	"**/type", "**/cache_control", "**/usage", "**/role", "/model", "/message/model", "/answer/model", "/answer/id", "/answer/stop_reason", // of messages, blocks and what tools found
	"/answer/content/*/id", "/answer/content/*/name", "/answer/content/*/input/*/*", "/answer/content/*/input/0",
	"/content/*/id", "/content/*/name", "/content/*/tool_use_id", "/content/*/content/*/tool_name",
	"/content/*/thinking", "/content/*/signature", "/content/*/data", "/content/*/source", "/content/*/content/*/source",
	"/content/*/input/*/*", "/content/*/input/0", // arguments that are deeper
	"**/encrypted_content", "**/encrypted_index", "**/file_id", "/content/0/content/image/data",
	"/content/*/citations/*/url", "/content/*/citations/*/cited_text", "/content/*/citations/*/document_title",
	"/event/*/content_block/tool_use_id", "/event/*/delta/citation/url",
	"/event/*/index", "/event/*/hologram", "/event/*/message/model", "/event/*/content_block/id", "/event/*/content_block/name",
	"/event/*/content_block/thinking", "/event/*/delta/thinking", "/event/*/delta/stop_reason", "/event/*/error",
	"/event/*/content_block/input/*/*", "/event/*/content_block/input/0",
}

// results is a request with what tools give back in every shape, and what else is text.
const results = `{"model":"m","messages":[
  {"role":"user","content":[
    {"type":"tool_result","tool_use_id":"t1","content":{"a":{"b/c":["x",{"d":"y"}],"n":1,"e":""},"type":"kind","image":{"type":"image","mimeType":"image/png","data":"AAAA"},"url":"data:image/png;base64,AAAA","encrypted_content":"e"}},
    {"type":"tool_result","tool_use_id":"t2","content":["one",{"type":"resource","resource":{"uri":"file:///a","text":"inner"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"doc"},"title":"T"}]},
    {"type":"tool_result","tool_use_id":"t3","content":7},
    {"type":"tool_result","tool_use_id":"t4","content":true},
    {"type":"document","title":"title","context":"about","source":{"type":"content","content":[{"type":"text","text":"block"},{"type":"image","source":{"type":"url","url":"u"}}]},"citations":{"enabled":true}},
    {"type":"document","source":{"type":"content","content":"whole"}},
    {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}},
    {"type":"search_result","source":"https://a","title":"found","content":[{"type":"text","text":"hit"}],"citations":{"enabled":true}}
  ]},
  {"role":"assistant","content":[
    {"type":"compaction","content":"summary","encrypted_content":"e"},
    {"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"page","url":"https://b","encrypted_content":"e","page_age":"1 day"}]},
    {"type":"web_fetch_tool_result","tool_use_id":"s2","content":{"type":"web_fetch_result","url":"https://c","content":{"type":"document","source":{"type":"text","media_type":"text/plain","data":"fetched"},"title":"C"},"retrieved_at":"2026"}},
    {"type":"code_execution_tool_result","tool_use_id":"s3","content":{"type":"code_execution_result","stdout":"out","stderr":"err","return_code":0,"content":[{"type":"code_execution_output","file_id":"f"}]}},
    {"type":"text_editor_code_execution_tool_result","tool_use_id":"s4","content":{"type":"text_editor_code_execution_str_replace_result","lines":["-a","+b"]}},
    {"type":"text","text":"So.","citations":[{"type":"web_search_result_location","url":"https://b","title":"page","cited_text":"quoted","encrypted_index":"e"},{"type":"char_location","cited_text":"elsewhere","document_title":"title"}]}
  ]}
]}`

var shapes = []providertest.Exchange{
	{
		Name:   "results of every shape, and an answer with results of the provider's tools",
		Method: "POST", Path: "/v1/messages", Body: results,
		Request: provider.Request{Type: "messages", Model: "m"},

		ContentType: sseType,
		Answer: `data: {"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"sum. ","encrypted_content":"e"}}` + "\n\n" +
			`data: {"type":"content_block_start","index":1,"content_block":{"type":"bash_code_execution_tool_result","tool_use_id":"s","content":{"type":"bash_code_execution_result","stdout":"out","stderr":"","return_code":0}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"a \ud83d"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"\ude00 b \\ud83d"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","title":"page","cited_text":"quoted","url":"u"}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"\ud83d"}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n",
		Response: provider.Response{Answer: provider.Answer{Text: "sum. a 😀 b \\ud83d\uFFFD", Results: []string{"out", "page", "quoted"}, Whole: true}},
	},
	{
		Name:   "pieces of kinds that are not known",
		Method: "POST", Path: "/v1/messages", Body: `{"model":"m","messages":[]}`,
		Request: provider.Request{Type: "messages", Model: "m"},

		ContentType: sseType,
		Answer:      `data: {"type":"content_block_delta","index":0,"delta":{"type":"hologram_delta","text":"x"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
		Response:    provider.Response{Answer: provider.Answer{Whole: true, Unknown: true}},
	},
}

// told lists the fields of a message's texts, with the first letter of who said them.
func told(m provider.Message) (list []string) {
	for _, text := range m.Texts {
		list = append(list, text.Said[:1]+" "+text.Field+" "+text.Text)
	}
	return list
}

func TestResults(t *testing.T) {
	e, err := (Protocol{}).Elements(provider.Request{Type: "messages"}, []byte(results))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{
		"t /content/0/content/a/b~1c/0 x", "t /content/0/content/a/b~1c/1/d y", "t /content/0/content/type kind", "t /content/0/content/image/mimeType image/png",
		"t /content/1/content/0 one", "t /content/1/content/1/type resource", "t /content/1/content/1/resource/uri file:///a",
		"t /content/1/content/1/resource/text inner", "t /content/1/content/2/title T", "t /content/1/content/2/source/data doc",
		"t /content/4/title title", "t /content/4/context about", "t /content/4/source/content/0/text block", "t /content/5/source/content whole",
		"t /content/7/title found", "t /content/7/source https://a", "t /content/7/content/0/text hit",
	}, {
		"a /content/0/content summary", "t /content/1/content/0/title page", "t /content/1/content/0/url https://b", "t /content/1/content/0/page_age 1 day", "t /content/2/content/url https://c",
		"t /content/2/content/content/source/data fetched", "t /content/2/content/content/title C", "t /content/2/content/retrieved_at 2026",
		"t /content/3/content/stdout out", "t /content/3/content/stderr err",
		"t /content/4/content/lines/0 -a", "t /content/4/content/lines/1 +b",
		"a /content/5/text So.", "t /content/5/citations/0/title page", "t /content/5/citations/0/cited_text quoted",
	}}
	for i, el := range e.Messages {
		m := (Protocol{}).Message(provider.Request{Type: "messages"}, []byte(results[el.Offset:el.Offset+el.Length]), "")
		if diff := cmp.Diff(want[i], told(m)); diff != "" || m.Unknown {
			t.Errorf("message %d, unknown %v (-want +got):\n%s", i, m.Unknown, diff)
		}
	}
}

func TestTold(t *testing.T) {
	providertest.Told(t, Protocol{}, private, slices.Concat(exchanges, rich, shapes)...)
}
