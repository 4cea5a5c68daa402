package transcript_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/transcript"
)

// walk is a reader of recordings that knows nothing of the one that it is compared with: it takes each line apart with
// encoding/json, and notes what the model was sent or said, and what is nobody's to read.
type walk struct {
	public, hidden map[string]bool
}

type object = map[string]any

func at(v any, names ...string) any {
	for _, name := range names {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func (w walk) say(v any) {
	if s, ok := v.(string); ok && s != "" {
		w.public[s] = true
	}
}

func (w walk) hide(v any) {
	if s, ok := v.(string); ok && s != "" {
		w.hidden[s] = true
	}
}

// args are the arguments of a call: an object, or a string that holds one.
func (w walk) args(v any) {
	if s, ok := v.(string); ok {
		var inner object
		if json.Unmarshal([]byte(s), &inner) != nil {
			if !strings.HasPrefix(strings.TrimSpace(s), "{") {
				w.say(s)
			}
			return
		}
		v = inner
	}
	o, _ := v.(object)
	for _, arg := range o {
		w.say(arg)
	}
}

// content is that of a message: a string, or parts.
func (w walk) content(v any) {
	w.say(v)
	for _, part := range list(v) {
		switch at(part, "type") {
		case "text", "input_text", "output_text":
			w.say(at(part, "text"))
		case "tool_use":
			w.args(at(part, "input"))
		case "toolCall":
			w.args(at(part, "arguments"))
		case "tool_result":
			w.content(at(part, "content"))
		case "thinking", "redacted_thinking":
			w.hide(at(part, "thinking"))
			w.hide(at(part, "signature"))
			w.hide(at(part, "thinkingSignature"))
			w.hide(at(part, "data"))
		}
	}
}

// message is one with a role.
func (w walk) message(v any) {
	switch at(v, "role") {
	case "system", "developer":
		w.hide(at(v, "content"))
		for _, part := range list(at(v, "content")) {
			w.hide(at(part, "text"))
		}
		return
	}
	w.content(at(v, "content"))
	for _, call := range list(at(v, "tool_calls")) {
		w.args(at(call, "function", "arguments"))
	}
}

// item is one of the Responses API.
func (w walk) item(v any) {
	switch at(v, "type") {
	case "message":
		w.message(v)
	case "function_call":
		w.args(at(v, "arguments"))
	case "custom_tool_call":
		w.say(at(v, "input"))
	case "function_call_output", "custom_tool_call_output":
		w.content(at(v, "output"))
	case "reasoning":
		for _, part := range list(at(v, "summary")) {
			w.hide(at(part, "text"))
		}
		w.hide(at(v, "encrypted_content"))
	}
}

func (w walk) record(format string, v any) {
	switch kind := at(v, "type"); format {
	case transcript.ClaudeCode:
		if kind == "user" || kind == "assistant" {
			w.content(at(v, "message", "content"))
		}
		if kind == "progress" && at(v, "data", "type") == "agent_progress" {
			w.content(at(v, "data", "message", "message", "content"))
		}
	case transcript.Codex:
		switch kind {
		case "response_item":
			w.item(at(v, "payload"))
		case "compacted":
			w.say(at(v, "payload", "message"))
			for _, item := range list(at(v, "payload", "replacement_history")) {
				w.item(item)
			}
		case "session_meta":
			w.hide(at(v, "payload", "base_instructions", "text"))
		default:
			w.item(v)
		}
	case transcript.Pi:
		if role := at(v, "message", "role"); role == "user" || role == "assistant" || role == "toolResult" {
			w.content(at(v, "message", "content"))
		}
		if kind == "compaction" {
			w.say(at(v, "summary"))
		}
	case transcript.OpenCode:
		for _, message := range list(at(v, "messages")) {
			for _, part := range list(at(message, "parts")) {
				switch at(part, "type") {
				case "text":
					if at(part, "ignored") != true {
						w.say(at(part, "text"))
					}
				case "reasoning":
					w.hide(at(part, "text"))
				case "tool":
					w.args(at(part, "state", "input"))
					w.say(at(part, "state", "output"))
					w.say(at(part, "state", "error"))
				}
			}
		}
	case transcript.GeminiCLI:
		w.gemini(v)
	case transcript.CopilotCLI:
		w.copilot(kind, at(v, "data"))
	case transcript.Roo:
		for _, message := range list(v) {
			w.content(at(message, "content"))
		}
	case transcript.SWEAgent:
		for _, message := range list(at(v, "history")) {
			w.message(message)
			w.hideAll(at(message, "thinking_blocks"))
		}
	case transcript.MiniSWE:
		for _, message := range list(at(v, "messages")) {
			w.message(message)
		}
	case transcript.OpenHands:
		for _, e := range list(at(v, "history")) {
			w.openHands(e)
		}
	case transcript.Anthropic:
		for _, block := range list(at(v, "request", "body", "system")) {
			w.hide(at(block, "text"))
		}
		for _, message := range list(at(v, "request", "body", "messages")) {
			w.message(message)
		}
		w.stream(at(v, "response", "body_raw"))
	case transcript.OpenAI:
		for _, holder := range []any{v, at(v, "request_params")} {
			for _, message := range list(at(holder, "messages")) {
				w.message(message)
			}
		}
		for _, choice := range list(at(v, "response", "choices")) {
			w.message(at(choice, "message"))
		}
	}
}

// stream is an answer that was streamed: each text block of it.
func (w walk) stream(v any) {
	raw, _ := v.(string)
	var text strings.Builder
	for line := range strings.Lines(raw) {
		var e object
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch e["type"] {
		case "content_block_delta":
			if s, ok := at(e, "delta", "text").(string); ok {
				text.WriteString(s)
			}
		case "content_block_stop":
			w.say(text.String())
			text.Reset()
		}
	}
}

func (w walk) data(format string, data []byte) {
	lines := bytes.Lines(data)
	if format == transcript.Aider {
		w.aider(data)
		return
	}
	if transcript.OneValue(format) {
		lines = slices.Values([][]byte{data})
	}
	for line := range lines {
		d := json.NewDecoder(bytes.NewReader(line))
		for {
			var v any
			if d.Decode(&v) != nil {
				break
			}
			w.record(format, v)
		}
	}
}

// TestEachTextIsThere compares the public texts of recorded sessions with what another reader finds: each is in a unit,
// and nothing is that is hidden.
func TestEachTextIsThere(t *testing.T) {
	read, found := 0, 0
	for _, row := range slices.Concat(manifest(t, false), manifest(t, true)) {
		data, err := os.ReadFile(row.path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := transcript.Read(data)
		if err != nil {
			continue
		}
		read++
		w := walk{make(map[string]bool), make(map[string]bool)}
		w.data(r.Format, data)
		have := make(map[string]bool)
		var all strings.Builder
		for _, f := range r.Facts {
			if u, ok := f.(*entry.Unit); ok {
				for _, text := range texts(r, data, u) {
					if !have[text.Text] {
						have[text.Text] = true
						all.WriteString(text.Text + "\x00")
					}
				}
			}
		}
		lost := 0
		for text := range w.public {
			found++
			if have[text] || strings.Contains(all.String(), text) { // an answer is one text, of several blocks
				continue
			}
			if lost++; lost < 4 {
				t.Errorf("%s: %.200q is in no unit", row.file, text)
			}
		}
		for text := range w.hidden {
			if have[text] && !w.public[text] {
				t.Errorf("%s: %.200q is in a unit", row.file, text)
			}
		}
	}
	if read < 40 || found < 10_000 {
		t.Errorf("%d recordings with %d texts were compared", read, found)
	}
}
