package scripted_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"ambit/provider/scripted"
)

// object and list are JSON, as a test changes it.
type (
	object = map[string]any
	list   = []any
)

// thinker is a conversation of two calls, with thoughts, and two more turns.
func thinker() scripted.Script {
	return scripted.Script{Conversations: []scripted.Conversation{{
		Match: "fix it",
		Turns: []scripted.Turn{
			{Thought: "Two files matter.", Text: "Reading.", Calls: []scripted.Call{
				{Name: "read", Args: map[string]any{"path": "a <b> & é", "limit": 2}}, {Name: "read", Args: map[string]any{"path": "c"}},
			}},
			{Thought: "One is left.", Calls: []scripted.Call{{Name: "read", Args: map[string]any{"path": "d"}}}},
			{Text: "Done."},
			{Text: "Bye."},
		},
	}}}
}

// talk is an agent on one wire, which sends back what it was answered.
type talk struct {
	path  string
	begin string                               // a body that holds what the user says first
	said  string                               // the member that has the conversation
	add   func(answer object, whole list) list // the answer, and a result for each of its calls
	text  func(answer object) string
	user  func(text string) object // a message of the user's
}

func anthropicTalk() talk {
	return talk{
		path: "/v1/messages", said: "messages",
		begin: `{"model":"m","thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"fix it"}]}`,
		user:  func(text string) object { return object{"role": "user", "content": text} },
		add: func(answer object, whole list) list {
			var results list
			for _, b := range answer["content"].(list) {
				if b := b.(object); b["type"] == "tool_use" {
					results = append(results, object{"type": "tool_result", "tool_use_id": b["id"], "content": "r"})
				}
			}
			whole = append(whole, object{"role": "assistant", "content": answer["content"]})
			if results != nil {
				whole = append(whole, object{"role": "user", "content": results})
			}
			return whole
		},
		text: func(answer object) string {
			for _, b := range answer["content"].(list) {
				if b := b.(object); b["type"] == "text" {
					return b["text"].(string)
				}
			}
			return ""
		},
	}
}

func chatTalk() talk {
	return talk{
		path: "/v1/chat/completions", said: "messages",
		begin: `{"model":"m","messages":[{"role":"system","content":"You fix bugs."},{"role":"user","content":"fix it"}]}`,
		user:  func(text string) object { return object{"role": "user", "content": text} },
		add: func(answer object, whole list) list {
			m := answer["choices"].(list)[0].(object)["message"].(object)
			whole = append(whole, m)
			if m["tool_calls"] == nil {
				return whole
			}
			for _, c := range m["tool_calls"].(list) {
				whole = append(whole, object{"role": "tool", "tool_call_id": c.(object)["id"], "content": "r"})
			}
			return whole
		},
		text: func(answer object) string {
			text, _ := answer["choices"].(list)[0].(object)["message"].(object)["content"].(string)
			return text
		},
	}
}

func responsesTalk() talk {
	return talk{
		path: "/v1/responses", said: "input",
		begin: `{"model":"m","reasoning":{"effort":"high"},"include":["reasoning.encrypted_content"],"store":false,"input":[` + userItem("fix it") + `]}`,
		user: func(text string) object {
			return object{"type": "message", "role": "user", "content": list{object{"type": "input_text", "text": text}}}
		},
		add: func(answer object, whole list) list {
			var results list
			for _, it := range answer["output"].(list) {
				whole = append(whole, it)
				if it := it.(object); it["type"] == "function_call" {
					results = append(results, object{"type": "function_call_output", "call_id": it["call_id"], "output": "r"})
				}
			}
			return append(whole, results...)
		},
		text: func(answer object) string {
			for _, it := range answer["output"].(list) {
				if it := it.(object); it["type"] == "message" {
					return it["content"].(list)[0].(object)["text"].(string)
				}
			}
			return ""
		},
	}
}

func geminiTalk() talk {
	return talk{
		path: "/v1beta/models/gemini-2.5-pro:generateContent", said: "contents",
		begin: `{"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"contents":[{"role":"user","parts":[{"text":"fix it"}]}]}`,
		user:  func(text string) object { return object{"role": "user", "parts": list{object{"text": text}}} },
		add: func(answer object, whole list) list {
			c := answer["candidates"].(list)[0].(object)["content"].(object)
			whole = append(whole, c)
			var results list
			for _, p := range c["parts"].(list) {
				if call, ok := p.(object)["functionCall"].(object); ok {
					results = append(results, object{"functionResponse": object{"id": call["id"], "name": call["name"], "response": object{"output": "r"}}})
				}
			}
			if results != nil {
				whole = append(whole, object{"role": "user", "parts": results})
			}
			return whole
		},
		text: func(answer object) string {
			for _, p := range answer["candidates"].(list)[0].(object)["content"].(object)["parts"].(list) {
				if p := p.(object); p["text"] != nil && p["thought"] == nil {
					return p["text"].(string)
				}
			}
			return ""
		},
	}
}

func talks() map[string]talk {
	return map[string]talk{"messages": anthropicTalk(), "chat": chatTalk(), "responses": responsesTalk(), "gemini": geminiTalk()}
}

// after is the body of the request that follows n answers, each sent back as it came.
func (k talk) after(t *testing.T, p *scripted.Provider, n int) object {
	t.Helper()
	var body object
	if err := json.Unmarshal([]byte(k.begin), &body); err != nil {
		t.Fatal(err)
	}
	for range n {
		status, answer := k.send(t, p, body)
		if status != 200 {
			t.Fatalf("%d %v", status, answer)
		}
		whole := k.add(answer, body[k.said].(list))
		if last := whole[len(whole)-1].(object); last["role"] == "assistant" || last["role"] == "model" {
			whole = append(whole, k.user("go on"))
		}
		body[k.said] = whole
	}
	return body
}

// send posts a body.
func (k talk) send(t *testing.T, p *scripted.Provider, body any) (int, object) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return k.post(t, p, string(raw))
}

func (k talk) post(t *testing.T, p *scripted.Provider, body string) (int, object) {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("POST", k.path, strings.NewReader(body)))
	var answer object
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return w.Code, answer
}

// errorText is what an error says.
func errorText(answer object) string {
	e, _ := answer["error"].(object)
	text, _ := e["message"].(string)
	return text
}

// at walks into JSON: a number is an index, a string a member.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case int:
			v = v.(list)[p]
		case string:
			v = v.(object)[p]
		}
	}
	return v
}

// set sets a member of the object at a path.
func set(value any, name string, v any, path ...any) { at(v, path...).(object)[name] = value }

// without is a list without one of its elements.
func without(whole list, i int) list { return append(append(list{}, whole[:i]...), whole[i+1:]...) }
