package transcript_test

import (
	"bytes"
	"strings"
)

// hideAll hides every string in a value.
func (w walk) hideAll(v any) {
	w.hide(v)
	for _, part := range list(v) {
		w.hideAll(part)
	}
	o, _ := v.(object)
	for _, part := range o {
		w.hideAll(part)
	}
}

// gemini is a session of Gemini CLI, or a checkpoint.
func (w walk) gemini(v any) {
	for _, message := range append(list(at(v, "messages")), list(v)...) {
		if kind := at(message, "type"); kind == "user" || kind == "gemini" {
			w.say(at(message, "content"))
		} else if kind != nil {
			w.hide(at(message, "content"))
		}
		for _, thought := range list(at(message, "thoughts")) {
			w.hide(at(thought, "description"))
		}
		for _, call := range list(at(message, "toolCalls")) {
			w.args(at(call, "args"))
			w.parts(at(call, "result"))
		}
		w.parts(at(message, "parts"))
	}
}

func (w walk) parts(v any) {
	for _, part := range list(v) {
		if at(part, "thought") == true {
			w.hide(at(part, "text"))
			continue
		}
		w.say(at(part, "text"))
		w.args(at(part, "functionCall", "args"))
		w.args(at(part, "functionResponse", "response"))
	}
}

// copilot is an event of Copilot CLI.
func (w walk) copilot(kind, data any) {
	switch kind {
	case "system.message":
		w.hide(at(data, "content"))
	case "user.message":
		w.say(at(data, "transformedContent"))
	case "system.notification":
		w.say(at(data, "content"))
	case "assistant.message":
		w.say(at(data, "content"))
		w.hide(at(data, "reasoningText"))
		w.hide(at(data, "reasoningOpaque"))
		for _, call := range list(at(data, "toolRequests")) {
			w.args(at(call, "arguments"))
		}
	case "tool.execution_complete":
		w.say(at(data, "result", "content"))
		w.say(at(data, "error", "message"))
	}
}

// openHands is an event of OpenHands.
func (w walk) openHands(e any) {
	switch at(e, "action") {
	case "system":
		w.hide(at(e, "args", "content"))
	case "message":
		w.say(at(e, "args", "content"))
	}
	if kind := at(e, "observation"); kind != nil && kind != "recall" && kind != "agent_state_changed" {
		w.say(at(e, "content"))
	}
	if at(e, "action") == nil {
		return
	}
	for _, choice := range list(at(e, "tool_call_metadata", "model_response", "choices")) {
		w.say(at(choice, "message", "content"))
		for _, call := range list(at(choice, "message", "tool_calls")) {
			if at(call, "id") == at(e, "tool_call_metadata", "tool_call_id") {
				w.args(at(call, "function", "arguments"))
			}
		}
	}
}

// aider is a history of aider: each of its lines.
func (w walk) aider(data []byte) {
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), " \t\r\n")
		if strings.HasPrefix(text, "# aider chat started at ") {
			continue
		}
		if rest, ok := strings.CutPrefix(text, "> "); ok {
			text = rest
		} else if rest, ok := strings.CutPrefix(text, "#### "); ok {
			text = rest
		}
		if text != ">" {
			w.say(text)
		}
	}
}
