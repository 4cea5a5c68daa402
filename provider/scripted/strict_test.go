package scripted_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"ambit/provider/scripted"

	"github.com/google/go-cmp/cmp"
)

func strict() *scripted.Provider { return scripted.NewWith(thinker(), scripted.Options{Strict: true}) }

// TestStrictLoop: what is sent back as it was issued is taken on every wire, to the end, and nothing is refused.
func TestStrictLoop(t *testing.T) {
	for name, k := range talks() {
		t.Run(name, func(t *testing.T) {
			p := strict()
			for n, want := range []string{"Reading.", "", "Done.", "Bye."} {
				status, answer := k.send(t, p, k.after(t, p, n))
				if status != 200 || k.text(answer) != want {
					t.Errorf("turn %d: %d %v", n, status, answer)
				}
			}
			if got := p.Refusals(); got != nil {
				t.Errorf("refused: %+v", got)
			}
		})
	}
}

// TestStrictDropped: whole exchanges may be left out, and the newest call still says which turn follows.
func TestStrictDropped(t *testing.T) {
	for name, k := range talks() {
		t.Run(name, func(t *testing.T) {
			p := strict()
			body, begun := k.after(t, p, 2), k.after(t, p, 1)
			whole := body[k.said].(list)
			first := 1
			if name == "chat" {
				first = 2
			}
			body[k.said] = append(append(append(list{}, whole[:first]...), k.user("So far: one file was read.")), whole[len(begun[k.said].(list)):]...)
			if status, answer := k.send(t, p, body); status != 200 || k.text(answer) != "Done." {
				t.Errorf("%d %v", status, answer)
			}
		})
	}
}

// TestStrictBody: a body that is no JSON, has a name twice or another length than was announced is refused on every wire.
func TestStrictBody(t *testing.T) {
	for name, k := range talks() {
		for body, says := range map[string]string{
			"{":     "not valid JSON",
			"{} {}": "not valid JSON",
			strings.Replace(k.begin, "{", `{"model":"m","\u006dodel":"m",`, 1):  `the name "model" twice`,
			strings.Replace(k.begin, "[{", `[{"a":[{"b":{"c":1},"b":2}]},{`, 1): `the name "b" twice`,
		} {
			p := strict()
			if status, answer := k.post(t, p, body); status != 400 || !strings.Contains(errorText(answer), says) {
				t.Errorf("%s %.60s: %d %v", name, body, status, answer)
			}
			if got := p.Refusals(); len(got) != 1 || got[0].Status != 400 || got[0].Overflow || got[0].Path != k.path {
				t.Errorf("%s: refusals %+v", name, got)
			}
		}
		r := httptest.NewRequest("POST", k.path, strings.NewReader(k.begin))
		r.ContentLength++
		w := httptest.NewRecorder()
		strict().ServeHTTP(w, r)
		if w.Code != 400 || !strings.Contains(w.Body.String(), "content-length says") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if status, _ := k.post(t, strict(), k.begin); status != 200 {
			t.Errorf("%s: the body itself: %d", name, status)
		}
	}
}

// wrongs are changes to the body behind n answers, by what the provider says to them.
type wrongs []struct {
	n      int
	says   string
	change func(body object, whole list) list
}

func (all wrongs) check(t *testing.T, k talk) {
	t.Helper()
	for _, w := range all {
		p := strict()
		body := k.after(t, p, w.n)
		body[k.said] = w.change(body, body[k.said].(list))
		status, answer := k.send(t, p, body)
		if status != 400 || !strings.Contains(errorText(answer), w.says) {
			raw, _ := json.Marshal(body[k.said])
			t.Errorf("want %q, got %d %v for %s", w.says, status, answer, raw)
		}
	}
}

// TestStrictMessages: what Anthropic refuses is refused in its words.
func TestStrictMessages(t *testing.T) {
	text := func(text string) object { return object{"type": "text", "text": text} }
	mark := func(ttl string) object { return object{"type": "ephemeral", "ttl": ttl} }
	wrongs{
		{0, "at least one message", func(_ object, _ list) list { return list{} }},
		{0, `first message must use the "user" role`, func(_ object, w list) list { return append(list{object{"role": "assistant", "content": "x"}}, w...) }},
		{0, "messages.1.role: Input should be 'user' or 'assistant'", func(_ object, w list) list { return append(w, object{"role": "tool", "content": "x"}) }},
		{0, `Unexpected role "system"`, func(_ object, w list) list { return append(w, object{"role": "system", "content": "x"}) }},
		{0, "messages.1: all messages must have non-empty content", func(_ object, w list) list { return append(w, object{"role": "user", "content": ""}) }},
		{0, "messages.1: all messages must have non-empty content", func(_ object, w list) list { return append(w, object{"role": "user", "content": list{}}) }},
		{0, "text content blocks must be non-empty", func(_ object, w list) list { return append(w, object{"role": "user", "content": list{text("")}}) }},
		{0, "must contain non-whitespace text", func(_ object, w list) list { return append(w, object{"role": "user", "content": list{text(" \n")}}) }},
		{0, "system: text content blocks must be non-empty", func(b object, w list) list { b["system"] = list{text("")}; return w }},
		{0, "system.0.type: Input should be 'text'", func(b object, w list) list { b["system"] = list{object{"type": "image"}}; return w }},
		{0, "A maximum of 4 blocks with cache_control may be provided. Found 5.", func(b object, w list) list {
			for range 5 {
				w = append(w, object{"role": "user", "content": list{object{"type": "text", "text": "x", "cache_control": object{"type": "ephemeral"}}}})
			}
			return w
		}},
		{0, "messages.1.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'", func(b object, w list) list {
			b["system"] = list{object{"type": "text", "text": "x", "cache_control": mark("5m")}}
			return append(w, object{"role": "user", "content": list{object{"type": "text", "text": "x", "cache_control": mark("1h")}}})
		}},
		{0, "tools.0.cache_control: Input should be", func(b object, w list) list {
			b["tools"] = list{object{"name": "read", "cache_control": mark("2h")}}
			return w
		}},
		{1, "messages.2.content.1.tool_result.content.0.cache_control.ttl: a ttl='1h'", func(b object, w list) list {
			set(mark("5m"), "cache_control", w, 2, "content", 0)
			set(list{object{"type": "text", "text": "r", "cache_control": mark("1h")}}, "content", w, 2, "content", 1)
			return w
		}},
		{0, "cache_control cannot be set for empty text blocks", func(b object, w list) list {
			return append(w, object{"role": "user", "content": list{object{"type": "text", "text": "", "cache_control": mark("5m")}}})
		}},
		{0, "Found 5.", func(b object, w list) list {
			b["cache_control"] = object{"type": "ephemeral"}
			for range 4 {
				w = append(w, object{"role": "user", "content": list{object{"type": "text", "text": "x", "cache_control": mark("5m")}}})
			}
			return w
		}},
		{1, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_", func(_ object, w list) list { return w[:2] }},
		{1, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_", func(_ object, w list) list {
			set(at(w, 2, "content").(list)[:1], "content", w, 2)
			return w
		}},
		{1, "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks", func(_ object, w list) list {
			set(append(list{text("so")}, at(w, 2, "content").(list)...), "content", w, 2)
			return w
		}},
		{1, "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks", func(_ object, w list) list { return without(w, 1) }},
		{1, "messages.2.content.2: each tool_use must have a single result", func(_ object, w list) list {
			set(append(at(w, 2, "content").(list), at(w, 2, "content", 1)), "content", w, 2)
			return w
		}},
		{1, "content cannot be empty if `is_error` is true", func(_ object, w list) list {
			set(true, "is_error", w, 2, "content", 0)
			set("", "content", w, 2, "content", 0)
			return w
		}},
		{1, "tool_use.id: String should match pattern", func(_ object, w list) list { set("a b", "id", w, 1, "content", 2); return w }},
		{1, "tool_use.input: Input should be a valid dictionary", func(_ object, w list) list { set("x", "input", w, 1, "content", 2); return w }},
		{1, "`tool_use` ids must be unique", func(_ object, w list) list { return append(w, w[1], w[2]) }},
		{1, "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted", func(_ object, w list) list { set(mark("5m"), "cache_control", w, 1, "content", 0); return w }},
		{1, "messages.1.content.0: Invalid `signature` in `thinking` block", func(_ object, w list) list { set("c2VhbGVk", "signature", w, 1, "content", 0); return w }},
		{1, "messages.1.content.0: Invalid `signature` in `thinking` block", func(_ object, w list) list { set("Something.", "thinking", w, 1, "content", 0); return w }},
		{1, "blocks in the latest assistant message cannot be modified", func(_ object, w list) list { set("Other.", "text", w, 1, "content", 1); return w }},
		{1, "blocks in the latest assistant message cannot be modified", func(_ object, w list) list {
			set("e", "path", w, 1, "content", 3, "input")
			return w
		}},
		{1, "Expected `thinking` or `redacted_thinking`, but found `text`", func(_ object, w list) list {
			set(at(w, 1, "content").(list)[1:], "content", w, 1)
			return w
		}},
		{2, "messages.1.content.0: what stands behind this `thinking` block is not what was issued", func(_ object, w list) list {
			set(without(at(w, 1, "content").(list), 3), "content", w, 1)
			set(without(at(w, 2, "content").(list), 1), "content", w, 2)
			return w
		}},
		{2, "messages.1.content.0: Invalid `signature` in `thinking` block", func(_ object, w list) list {
			set(list{object{"type": "redacted_thinking", "data": "x"}}, "content", w, 1)
			return w[:2]
		}},
	}.check(t, anthropicTalk())
}

// TestStrictThinking: thinking of earlier turns may be left out, and all of it where none is asked for.
func TestStrictThinking(t *testing.T) {
	k, p := anthropicTalk(), strict()
	body := k.after(t, p, 2)
	set(at(body["messages"], 1, "content").(list)[1:], "content", body["messages"], 1)
	if status, answer := k.send(t, p, body); status != 200 {
		t.Errorf("without the earlier thinking: %d %v", status, answer)
	}
	set(at(body["messages"], 3, "content").(list)[1:], "content", body["messages"], 3)
	if status, answer := k.send(t, p, body); status != 400 {
		t.Errorf("without the last: %d %v", status, answer)
	}
	delete(body, "thinking")
	if status, answer := k.send(t, p, body); status != 200 {
		t.Errorf("where none is asked for: %d %v", status, answer)
	}
	if _, answer := k.send(t, p, object{"model": "m", "messages": list{k.user("fix it")}}); len(at(answer, "content").(list)) != 3 {
		t.Errorf("thinking that nobody asked for: %v", answer)
	}
	set("m opus-5", "model", body)
	body["messages"] = append(body["messages"].(list), object{"role": "system", "content": "a reminder"})
	if status, answer := k.send(t, p, body); status != 200 {
		t.Errorf("a message of the system's: %d %v", status, answer)
	}
}

// TestStrictChat: what OpenAI refuses on Chat Completions is refused in its words.
func TestStrictChat(t *testing.T) {
	wrongs{
		{0, "Invalid 'messages': empty array", func(_ object, _ list) list { return list{} }},
		{0, "Invalid value: 'bot'", func(_ object, w list) list { return append(w, object{"role": "bot", "content": "x"}) }},
		{0, "expected a string, got null", func(_ object, w list) list { return append(w, object{"role": "user", "content": nil}) }},
		{0, "expected a string, got null", func(_ object, w list) list { return append(w, object{"role": "assistant"}) }},
		{0, "Invalid 'messages[2].content': empty array", func(_ object, w list) list { return append(w, object{"role": "user", "content": list{}}) }},
		{1, "The following tool_call_ids did not have response messages: call_", func(_ object, w list) list { return w[:4] }},
		{1, "The following tool_call_ids did not have response messages: call_", func(_ object, w list) list { return without(w, 3) }},
		{1, "must be followed by tool messages", func(_ object, w list) list {
			return append(append(append(list{}, w[:3]...), object{"role": "user", "content": "so"}), w[3:]...)
		}},
		{1, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'", func(_ object, w list) list { return without(w, 2) }},
		{1, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'", func(_ object, w list) list { return append(w, w[3]) }},
		{1, "Duplicate value for 'tool_call_id'", func(_ object, w list) list { return append(w, w[2:]...) }},
		{1, "function.arguments': expected a string", func(_ object, w list) list {
			set(object{}, "arguments", w, 2, "tool_calls", 0, "function")
			return w
		}},
		{1, "reasoning_content': it is not what was issued", func(_ object, w list) list { set("x", "reasoning_content", w, 2); return w }},
		{1, "expected a string, got null", func(_ object, w list) list { set(nil, "content", w, 3); return w }},
	}.check(t, chatTalk())
}

// TestStrictResponses: what OpenAI refuses on Responses is refused in its words.
func TestStrictResponses(t *testing.T) {
	// Behind one answer: the user's, reasoning, a message, two calls, two outputs.
	wrongs{
		{0, "Invalid type for 'input'", func(_ object, _ list) list { return list{} }},
		{0, "Invalid value: 'tool'", func(_ object, w list) list { return append(w, object{"role": "tool", "content": "x"}) }},
		{0, "Missing required parameter: 'input[1].content'", func(_ object, w list) list { return append(w, object{"role": "user"}) }},
		{0, "Invalid value: 'output_text'", func(_ object, w list) list {
			return append(w, object{"role": "user", "content": list{object{"type": "output_text", "text": "x"}}})
		}},
		{1, "No tool output found for function call call_", func(_ object, w list) list { return w[:6] }},
		{1, "No tool call found for function call output with call_id call_", func(_ object, w list) list { return without(w, 4) }},
		{1, "No tool call found for function call output with call_id call_", func(_ object, w list) list { return append(w, w[5]) }},
		{1, "Duplicate item found with id fc_", func(_ object, w list) list { return append(w, w[3], w[5]) }},
		{1, "Duplicate tool call found with call_id", func(_ object, w list) list {
			again := object{"type": "function_call", "call_id": at(w, 3, "call_id"), "name": "read", "arguments": "{}"}
			return append(w, again, w[5])
		}},
		{1, "Missing required parameter: 'input[5].output'", func(_ object, w list) list { set(nil, "output", w, 5); return w }},
		{1, "arguments': expected a string", func(_ object, w list) list { set(object{}, "arguments", w, 3); return w }},
		{1, "of type 'reasoning' was provided without its required following item", func(_ object, w list) list { return without(w, 2) }},
		{1, "of type 'reasoning' was provided without its required following item", func(_ object, w list) list { return w[:2] }},
		{2, "of type 'reasoning' was provided without its required following item", func(_ object, w list) list { return without(without(w, 8), 8) }},
		{1, "of type 'function_call' was provided without its required 'reasoning' item: 'rs_", func(_ object, w list) list { return without(w, 1) }},
		{1, "could not be verified", func(_ object, w list) list { set("Z0FBQUE", "encrypted_content", w, 1); return w }},
		{2, "could not be verified", func(_ object, w list) list {
			set(at(w, 7, "encrypted_content"), "encrypted_content", w, 1)
			return w
		}},
		{1, "not found. Items are not persisted", func(_ object, w list) list {
			delete(w[1].(object), "encrypted_content")
			set("rs_x", "id", w, 1)
			return w
		}},
	}.check(t, responsesTalk())
}

// TestStrictGemini: what Google refuses is refused in its words.
func TestStrictGemini(t *testing.T) {
	const count = "number of function response parts is equal to the number of function call parts"
	// Behind one answer: the user's, the model's with thought, text and two calls, the results.
	wrongs{
		{0, "contents is not specified", func(_ object, _ list) list { return list{} }},
		{0, "use a valid role: user, model", func(_ object, w list) list {
			return append(w, object{"role": "assistant", "parts": list{object{"text": "x"}}})
		}},
		{0, "contents[1].parts: contents.parts must not be empty", func(_ object, w list) list { return append(w, object{"role": "user", "parts": list{}}) }},
		{0, "end with a user role", func(_ object, w list) list {
			return append(w, object{"role": "model", "parts": list{object{"text": "x"}}})
		}},
		{1, count, func(_ object, w list) list { set(at(w, 2, "parts").(list)[:1], "parts", w, 2); return w }},
		{1, count, func(_ object, w list) list {
			set(append(at(w, 2, "parts").(list), at(w, 2, "parts", 0)), "parts", w, 2)
			return w
		}},
		{1, count, func(_ object, w list) list { set(without(at(w, 1, "parts").(list), 3), "parts", w, 1); return w }},
		{1, count, func(_ object, w list) list {
			return append(append(append(list{}, w[:2]...), object{"role": "user", "parts": list{object{"text": "so"}}}), w[2:]...)
		}},
		{1, "function response turn comes immediately after a function call turn", func(_ object, w list) list { return without(w, 1) }},
		{1, "function call turn comes immediately after a user turn", func(_ object, w list) list { return w[1:] }},
		{1, "function call parts are in a content of the role model", func(_ object, w list) list { set("user", "role", w, 1); return w }},
		{1, "function_call.name: Name cannot be empty", func(_ object, w list) list { set("", "name", w, 1, "parts", 2, "functionCall"); return w }},
		{1, "function_response.name: Name cannot be empty", func(_ object, w list) list { set("", "name", w, 2, "parts", 0, "functionResponse"); return w }},
		{1, "names of the function response parts", func(_ object, w list) list {
			set("write", "name", w, 2, "parts", 0, "functionResponse")
			return w
		}},
		{1, "function_response.response'", func(_ object, w list) list {
			set("r", "response", w, 2, "parts", 0, "functionResponse")
			return w
		}},
		{1, "missing a thought_signature in functionCall parts", func(_ object, w list) list { delete(at(w, 1, "parts", 2).(object), "thoughtSignature"); return w }},
		{1, "Corrupted thought signature", func(_ object, w list) list { set("Z0FBQUE", "thoughtSignature", w, 1, "parts", 2); return w }},
		{2, "Corrupted thought signature", func(_ object, w list) list {
			set(at(w, 3, "parts", 1, "thoughtSignature"), "thoughtSignature", w, 1, "parts", 2)
			return w
		}},
	}.check(t, geminiTalk())
}

// TestStrictSignatures: Gemini takes a constant in place of a signature, and none at all from before the current turn.
func TestStrictSignatures(t *testing.T) {
	k, p := geminiTalk(), strict()
	body := k.after(t, p, 1)
	call := at(body["contents"], 1, "parts", 2).(object)
	call["thoughtSignature"] = "skip_thought_signature_validator"
	if status, answer := k.send(t, p, body); status != 200 {
		t.Errorf("the constant: %d %v", status, answer)
	}
	delete(call, "thoughtSignature")
	body["contents"] = append(body["contents"].(list), k.user("go on"))
	if status, answer := k.send(t, p, body); status != 200 {
		t.Errorf("an earlier turn: %d %v", status, answer)
	}
	delete(at(call, "functionCall").(object), "id")
	if status, answer := k.send(t, p, body); status != 200 || len(at(answer, "candidates", 0, "content", "parts").(list)) != 2 {
		t.Errorf("a call without an id: %d %v", status, answer)
	}
}

// TestUsualIsLenient: what only the strict one refuses is answered without Options.
func TestUsualIsLenient(t *testing.T) {
	k, p := anthropicTalk(), scripted.New(thinker())
	body := k.after(t, p, 1)
	set("Other.", "thinking", body["messages"], 1, "content", 0)
	if status, answer := k.send(t, p, body); status != 200 {
		t.Errorf("%d %v", status, answer)
	}
	if d := cmp.Diff([]scripted.Refusal(nil), p.Refusals()); d != "" {
		t.Error(d)
	}
}
