package scripted

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"ambit/entry"
)

// responseRequest is as much of a Responses request as a Provider needs.
type responseRequest struct {
	Model        string            `json:"model"`
	Stream       bool              `json:"stream"`
	Instructions json.RawMessage   `json:"instructions"`
	Tools        []json.RawMessage `json:"tools"`
	Input        json.RawMessage   `json:"input"`
	Previous     string            `json:"previous_response_id"`
	Reasoning    json.RawMessage   `json:"reasoning"`
	Include      []string          `json:"include"`
}

// inputItem is as much of an input item as a Provider needs.
type inputItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
}

// decodeResponses reads a body of Responses and refuses what OpenAI's API refuses, as far as it matters to an agent.
func decodeResponses(_ string, body []byte, _ issued) (request, error) {
	var from responseRequest
	if err := json.Unmarshal(body, &from); err != nil {
		return request{}, fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	if from.Model == "" {
		return request{}, fmt.Errorf("missing required parameter: 'model'")
	}
	if from.Previous != "" {
		return request{}, fmt.Errorf("previous response with id '%s' not found", from.Previous)
	}
	items, err := inputItems(from.Input)
	if err != nil {
		return request{}, err
	}
	r := request{Model: from.Model, Stream: from.Stream, Tools: from.Tools, thinks: isSet(from.Reasoning)}
	r.seals = slices.Contains(from.Include, "reasoning.encrypted_content")
	if r.messages, err = conversed(items); err != nil {
		return request{}, err
	}
	r.prefix, err = responseElements(&from, items)
	return r, err
}

// inputItems reads the input: a string is one message of the user.
func inputItems(raw json.RawMessage) ([]json.RawMessage, error) {
	if len(raw) > 0 && raw[0] == '"' {
		return []json.RawMessage{object([]member{{"role", json.RawMessage(`"user"`)}, {"content", raw}})}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil || len(items) == 0 {
		return nil, fmt.Errorf("input: a string or a list of items is required")
	}
	return items, nil
}

// conversed tells input items as messages. Items that stand together and come from the model are one message.
func conversed(items []json.RawMessage) ([]message, error) {
	var out []message
	var open []string // calls that have no output yet
	for i, raw := range items {
		var item inputItem
		if err := json.Unmarshal(raw, &item); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		m, err := item.message()
		if err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		for _, b := range m.blocks {
			switch b.Type {
			case "tool_use":
				open = append(open, b.ID)
			case "tool_result":
				n := slices.Index(open, b.ToolUseID)
				if n < 0 {
					return nil, fmt.Errorf("no tool call found for function call output with call_id %s", b.ToolUseID)
				}
				open = slices.Delete(open, n, n+1)
			}
		}
		if last := len(out) - 1; m.Role == "assistant" && last >= 0 && out[last].Role == "assistant" {
			out[last].blocks = append(out[last].blocks, m.blocks...)
			continue
		}
		out = append(out, m)
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("no tool output found for function call %s", open[0])
	}
	return out, nil
}

// message tells one item as a message. Items of a kind that is not known count as said by nobody.
func (it inputItem) message() (message, error) {
	switch it.Type {
	case "", "message":
		m := message{Role: it.Role}
		if len(it.Content) > 0 && it.Content[0] == '"' {
			m.blocks = []block{{Type: "text"}}
			return m, json.Unmarshal(it.Content, &m.blocks[0].Text)
		}
		if err := json.Unmarshal(it.Content, &m.blocks); err != nil {
			return m, fmt.Errorf("content: %w", err)
		}
		for i := range m.blocks {
			if t := m.blocks[i].Type; t == "input_text" || t == "output_text" {
				m.blocks[i].Type = "text"
			}
		}
		return m, nil
	case "function_call", "custom_tool_call":
		return message{Role: "assistant", blocks: []block{{Type: "tool_use", ID: it.CallID}}}, nil
	case "function_call_output", "custom_tool_call_output":
		return message{Role: "user", blocks: []block{{Type: "tool_result", ToolUseID: it.CallID}}}, nil
	case "reasoning":
		return message{Role: "assistant", blocks: []block{{Type: it.Type}}}, nil
	}
	return message{}, nil
}

// responseElements splits a request: each tool, the instructions, each input item.
func responseElements(r *responseRequest, items []json.RawMessage) (prefix, error) {
	p := newPrefix(r.Model)
	for _, tier := range []struct {
		letter byte
		list   []json.RawMessage
	}{{'t', r.Tools}, {'s', []json.RawMessage{r.Instructions}}, {'m', items}} {
		for _, raw := range tier.list {
			if !isSet(raw) {
				continue
			}
			var b bytes.Buffer
			if err := json.Compact(&b, raw); err != nil {
				return p, err
			}
			p.add(tier.letter, b.Bytes())
		}
	}
	p.last = p.all()
	return p, nil
}

// response is a played turn, in the shape of OpenAI's response object.
type response struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int            `json:"created_at"` // always 0: no clock is read
	Status  string         `json:"status"`
	Error   *failure       `json:"error"`
	Model   string         `json:"model"`
	Output  []outputItem   `json:"output"`
	Usage   *responseUsage `json:"usage"`
}

// failure is why a response has failed.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// outputItem is an item of a response: reasoning, a message, or a function call.
type outputItem struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Summary   *[]summary    `json:"summary,omitempty"`
	Sealed    string        `json:"encrypted_content,omitempty"`
	Status    string        `json:"status,omitempty"`
	Role      string        `json:"role,omitempty"`
	Content   *[]outputText `json:"content,omitempty"`
	CallID    string        `json:"call_id,omitempty"`
	Name      string        `json:"name,omitempty"`
	Arguments *string       `json:"arguments,omitempty"`
}

type summary struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type outputText struct {
	Type        string     `json:"type"`
	Text        string     `json:"text"`
	Annotations []struct{} `json:"annotations"`
}

// responseUsage counts as OpenAI does: input_tokens are all of them, however they were read.
type responseUsage struct {
	Input   int64 `json:"input_tokens"`
	Details struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

// playResponse makes the answer of a turn, whole and as OpenAI streams it.
func playResponse(t turn, r *request, u entry.Usage) (any, []sent, error) {
	whole := response{ID: "resp_" + digest(t.place), Object: "response", Status: "completed", Model: r.Model, Output: []outputItem{}}
	if r.thinks && t.thought != "" {
		thought := outputItem{ID: t.reasoningID(), Type: "reasoning", Summary: &[]summary{{"summary_text", t.thought}}}
		if r.seals {
			thought.Sealed = t.seal()
		}
		whole.Output = append(whole.Output, thought)
	}
	if t.text != "" {
		whole.Output = append(whole.Output, outputItem{
			ID: "msg_" + digest(t.place), Type: "message", Status: "completed", Role: "assistant",
			Content: &[]outputText{{Type: "output_text", Text: t.text, Annotations: []struct{}{}}},
		})
	}
	for _, c := range t.made() {
		args := string(c.args)
		whole.Output = append(whole.Output, outputItem{
			ID: "fc_" + c.id, Type: "function_call", Status: "completed", CallID: "call_" + c.id, Name: c.name, Arguments: &args,
		})
	}
	raw, err := marshal(whole.Output)
	if err != nil {
		return nil, nil, fmt.Errorf("encode answer: %w", err)
	}
	out := max(1, int64(len(raw))/bytesPerToken)
	whole.Usage = &responseUsage{Input: u.Input, Output: out, Total: u.Input + out}
	whole.Usage.Details.Cached = u.CacheRead
	return whole, whole.events(), nil
}

// responseRefusal is an error as OpenAI writes it.
func responseRefusal(f Fault) any {
	var code *string
	if f.Type == "" {
		switch {
		case f.Status == http.StatusTooManyRequests:
			f.Type, code = "requests", new("rate_limit_exceeded")
		case f.Status >= http.StatusInternalServerError:
			f.Type = "server_error"
		default:
			f.Type = "invalid_request_error"
		}
	}
	if f.Message == "" {
		f.Message = f.Type
	}
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	if f.code != "" {
		code = &f.code
	}
	var param *string
	if f.param != "" {
		param = &f.param
	}
	return map[string]any{"error": detail{f.Message, f.Type, param, code}}
}
