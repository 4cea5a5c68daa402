package scripted

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"
)

// request is as much of a request as a Provider needs, read as Messages has it.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	System   json.RawMessage   `json:"system"`
	Messages []json.RawMessage `json:"messages"`
	Cache    json.RawMessage   `json:"cache_control"`
	Thinking struct {
		Type string `json:"type"`
	} `json:"thinking"`
	thinks   bool // the client wants thoughts
	seals    bool // and wants them encrypted
	counts   bool // and wants the usage in a stream that has it only then
	listed   bool // a stream is to be a list, as a whole
	messages []message
	prefix   prefix
}

// message is one message, understood.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	blocks  []block
}

// block is as much of a content block as a Provider needs.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
}

// text is the text of a message. Tool results are not part of it, so that no file can choose a turn.
func (m message) text() string {
	var parts []string
	for _, b := range m.blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// decode reads a body and refuses what Anthropic's API refuses, as far as it matters to an agent.
func decode(_ string, body []byte, _ issued) (request, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	r.thinks = r.Thinking.Type != "" && r.Thinking.Type != "disabled"
	if r.Model == "" {
		return r, fmt.Errorf("model: Field required")
	}
	if len(r.Messages) == 0 {
		return r, fmt.Errorf("messages: at least one message is required")
	}
	for i, raw := range r.Messages {
		m, err := decodeMessage(raw)
		if err != nil {
			return r, fmt.Errorf("messages.%d: %w", i, err)
		}
		r.messages = append(r.messages, m)
	}
	if err := paired(r.messages); err != nil {
		return r, err
	}
	var err error
	r.prefix, err = r.elements()
	return r, err
}

func decodeMessage(raw json.RawMessage) (message, error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, err
	}
	if !slices.Contains([]string{"user", "assistant", "system"}, m.Role) {
		return m, fmt.Errorf("role: %q is not user, assistant or system", m.Role)
	}
	if len(m.Content) > 0 && m.Content[0] == '"' {
		m.blocks = []block{{Type: "text"}}
		return m, json.Unmarshal(m.Content, &m.blocks[0].Text)
	}
	if len(m.Content) == 0 || m.Content[0] != '[' {
		return m, fmt.Errorf("content: a string or a list of blocks is required")
	}
	if err := json.Unmarshal(m.Content, &m.blocks); err != nil {
		return m, fmt.Errorf("content: %w", err)
	}
	return m, nil
}

// paired reports a tool call without its result, or a result without its call. Such a request is what an agent, or
// a proxy that edits, most easily gets wrong, and the real API refuses it.
func paired(messages []message) error {
	var open []string
	at := 0
	for i, m := range messages {
		if m.Role == "assistant" && len(open) > 0 {
			break
		}
		for j, b := range m.blocks {
			switch b.Type {
			case "tool_use":
				open, at = append(open, b.ID), i
			case "tool_result":
				n := slices.Index(open, b.ToolUseID)
				if n < 0 {
					return fmt.Errorf("messages.%d.content.%d: the `tool_result` of %s answers no `tool_use` of the message before", i, j, b.ToolUseID)
				}
				open = slices.Delete(open, n, n+1)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages.%d: no `tool_result` in the next message answers the `tool_use` of %s", at, strings.Join(open, ", "))
	}
	return nil
}

// marshal is json.Marshal without the escapes for HTML, which a model would not write either.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
