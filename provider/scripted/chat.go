package scripted

import (
	"bytes"
	"fmt"

	json "github.com/go-json-experiment/json/v1"

	"ambit/entry"
)

// chatRequest is as much of a Chat Completions request as a Provider needs.
type chatRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// chatMessage is as much of a message as a Provider needs.
type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning *string         `json:"reasoning_content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// decodeChat reads a body of Chat Completions.
func decodeChat(_ string, body []byte, _ issued) (request, error) {
	var from chatRequest
	if err := json.Unmarshal(body, &from); err != nil {
		return request{}, fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	if from.Model == "" {
		return request{}, fmt.Errorf("you must provide a model parameter")
	}
	if len(from.Messages) == 0 {
		return request{}, wrong("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	r := request{Model: from.Model, Stream: from.Stream, Tools: from.Tools, thinks: true, counts: from.Options.Usage}
	r.prefix = newPrefix(from.Model)
	for i, raw := range from.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return r, fmt.Errorf("messages[%d]: %w", i, err)
		}
		told, err := m.message()
		if err != nil {
			return r, fmt.Errorf("messages[%d]: %w", i, err)
		}
		r.messages = append(r.messages, told)
	}
	var err error
	r.prefix, err = listed(r.prefix, tier{'t', from.Tools}, tier{'m', from.Messages})
	return r, err
}

// message tells a message as Messages has it: results are the user's.
func (m chatMessage) message() (message, error) {
	out := message{Role: m.Role}
	switch {
	case m.Role == "tool":
		return message{Role: "user", blocks: []block{{Type: "tool_result", ToolUseID: m.ToolCallID}}}, nil
	case len(m.Content) > 0 && m.Content[0] == '"':
		out.blocks = []block{{Type: "text"}}
		if err := json.Unmarshal(m.Content, &out.blocks[0].Text); err != nil {
			return out, err
		}
	case isSet(m.Content):
		if err := json.Unmarshal(m.Content, &out.blocks); err != nil {
			return out, fmt.Errorf("content: %w", err)
		}
	}
	for _, c := range m.ToolCalls {
		out.blocks = append(out.blocks, block{Type: "tool_use", ID: c.ID})
	}
	return out, nil
}

// tier is a list of elements that are cached one after the other.
type tier struct {
	letter byte
	list   []json.RawMessage
}

// listed adds tiers to a prefix, of which a wire without markers caches all.
func listed(p prefix, tiers ...tier) (prefix, error) {
	for _, t := range tiers {
		for _, raw := range t.list {
			if !isSet(raw) {
				continue
			}
			var b bytes.Buffer
			if err := json.Compact(&b, raw); err != nil {
				return p, err
			}
			p.add(t.letter, b.Bytes())
		}
	}
	p.last = p.all()
	return p, nil
}

// chatCall is a call as it is answered; in a stream it comes in parts.
type chatCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// chatSaid is the message of an answer, or a part of it.
type chatSaid struct {
	Role      string     `json:"role,omitempty"`
	Reasoning *string    `json:"reasoning_content,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatChoice struct {
	Index   int       `json:"index"`
	Message *chatSaid `json:"message,omitempty"`
	Delta   *chatSaid `json:"delta,omitempty"`
	Finish  *string   `json:"finish_reason"`
}

// completion is an answer of Chat Completions, or an event of its stream.
type completion struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int          `json:"created"` // always 0: no clock is read
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// playChat makes the answer of a turn, whole and as OpenAI streams it.
func playChat(t turn, r *request, u entry.Usage) (any, []sent, error) {
	stop := "stop"
	m := chatSaid{Role: "assistant"}
	if t.thought != "" {
		m.Reasoning = &t.thought
	}
	if t.text != "" {
		m.Content = &t.text
	}
	for _, c := range t.made() {
		stop = "tool_calls"
		m.ToolCalls = append(m.ToolCalls, chatCall{ID: "call_" + c.id, Type: "function", Function: chatFunction{c.name, string(c.args)}})
	}
	raw, err := marshal(m)
	if err != nil {
		return nil, nil, fmt.Errorf("encode answer: %w", err)
	}
	out := max(1, int64(len(raw))/bytesPerToken)
	usage := &chatUsage{Prompt: u.Input, Completion: out, Total: u.Input + out}
	usage.Details.Cached = u.CacheRead
	whole := completion{
		ID: "chatcmpl-" + digest(t.place), Object: "chat.completion", Model: r.Model, Usage: usage,
		Choices: []chatChoice{{Message: &m, Finish: &stop}},
	}
	return whole, whole.events(r.counts), nil
}

// events spells an answer as OpenAI streams it.
func (c completion) events(counted bool) []sent {
	var out []sent
	head := c
	head.Object, head.Usage = "chat.completion.chunk", nil
	say := func(d chatSaid, finish *string, part bool) {
		e := head
		e.Choices = []chatChoice{{Delta: &d, Finish: finish}}
		out = append(out, sent{data: e, part: part})
	}
	m := c.Choices[0].Message
	say(chatSaid{Role: m.Role, Content: new(string)}, nil, false)
	if m.Reasoning != nil {
		for _, p := range pieces(*m.Reasoning) {
			say(chatSaid{Reasoning: &p}, nil, true)
		}
	}
	if m.Content != nil {
		for _, p := range pieces(*m.Content) {
			say(chatSaid{Content: &p}, nil, true)
		}
	}
	for i, call := range m.ToolCalls {
		open := call
		open.Index, open.Function.Arguments = &i, ""
		say(chatSaid{ToolCalls: []chatCall{open}}, nil, false)
		for _, p := range pieces(call.Function.Arguments) {
			say(chatSaid{ToolCalls: []chatCall{{Index: &i, Function: chatFunction{Arguments: p}}}}, nil, true)
		}
	}
	say(chatSaid{}, c.Choices[0].Finish, false)
	if counted {
		e := head
		e.Choices, e.Usage = []chatChoice{}, c.Usage
		out = append(out, sent{data: e})
	}
	return append(out, sent{data: verbatim("[DONE]")})
}
