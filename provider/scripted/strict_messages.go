package scripted

import (
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"
)

// strictRequest is what Anthropic verifies of a request.
type strictRequest struct {
	Model    string            `json:"model"`
	Tools    []json.RawMessage `json:"tools"`
	System   json.RawMessage   `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Cache    *marker `json:"cache_control"`
	Thinking struct {
		Type string `json:"type"`
	} `json:"thinking"`
}

// marker is a cache_control.
type marker struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

// strictBlock is what is verified of a block.
type strictBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  *string         `json:"thinking"`
	Signature *string         `json:"signature"`
	Cache     *marker         `json:"cache_control"`
	message   int             // where it stands
	block     int
}

// said is what stands together from one side. The API takes messages of one role that follow one another for one.
type said struct {
	role   string
	at     int // the first message of it
	blocks []strictBlock
}

// verifyMessages refuses what Anthropic refuses.
func verifyMessages(body []byte, is issued) error {
	var r strictRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return wrong("%v", err)
	}
	turns, err := r.turns()
	if err != nil {
		return err
	}
	if err := pairedStrictly(turns); err != nil {
		return err
	}
	if err := r.marked(turns); err != nil {
		return err
	}
	return r.thought(turns, is)
}

// turns are the messages of a request, each of which is right in itself.
func (r *strictRequest) turns() ([]said, error) {
	if len(r.Messages) == 0 {
		return nil, wrong("messages: at least one message is required")
	}
	var out []said
	for i, m := range r.Messages {
		switch {
		case m.Role == "system" && i > 0 && out[len(out)-1].role == "user" && takesSystem(r.Model):
			continue
		case m.Role == "system":
			return nil, wrong(`messages: Unexpected role "system". The Messages API accepts a top-level ` + "`system`" + ` parameter, not "system" as an input message role.`)
		case m.Role != "user" && m.Role != "assistant":
			return nil, wrong("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && m.Role != "user":
			return nil, wrong("messages: first message must use the \"user\" role")
		}
		blocks, err := strictBlocks(i, m.Content)
		if err != nil {
			return nil, err
		}
		if len(blocks) == 0 && (m.Role != "assistant" || i < len(r.Messages)-1) {
			return nil, wrong("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		if last := len(out) - 1; last >= 0 && out[last].role == m.Role {
			out[last].blocks = append(out[last].blocks, blocks...)
			continue
		}
		out = append(out, said{m.Role, i, blocks})
	}
	return out, nil
}

// takesSystem reports whether a model takes messages of the system among the others. Source: Anthropic's documentation of
// them, 2026: Opus from 4.8, Fable and Mythos.
func takesSystem(model string) bool {
	return slices.ContainsFunc([]string{"opus-4-8", "opus-5", "fable", "mythos"}, func(s string) bool { return strings.Contains(model, s) })
}

// strictBlocks reads the content of a message and verifies each block by itself.
func strictBlocks(at int, content json.RawMessage) ([]strictBlock, error) {
	raw, err := blockList(content)
	if err != nil {
		return nil, wrong("messages.%d.content: %v", at, err)
	}
	if len(content) > 0 && string(content) == `""` {
		return nil, nil
	}
	var out []strictBlock
	for j, text := range raw {
		b := strictBlock{}
		if err := json.Unmarshal(text, &b); err != nil {
			return nil, wrong("messages.%d.content.%d: %v", at, j, err)
		}
		b.message, b.block = at, j
		switch {
		case b.Type == "text" && b.Text == nil:
			return nil, wrong("messages.%d.content.%d.text.text: Field required", at, j)
		case b.Type == "text" && *b.Text == "" && b.Cache != nil:
			return nil, wrong("messages.%d.content.%d.text: cache_control cannot be set for empty text blocks", at, j)
		case b.Type == "text" && *b.Text == "":
			return nil, wrong("messages: text content blocks must be non-empty")
		case b.Type == "text" && strings.TrimSpace(*b.Text) == "":
			return nil, wrong("messages: text content blocks must contain non-whitespace text")
		case strings.HasSuffix(b.Type, "thinking") && b.Cache != nil:
			return nil, wrong("messages.%d.content.%d.%s.cache_control: Extra inputs are not permitted", at, j, b.Type)
		case b.Type == "tool_use" && !clean(b.ID):
			return nil, wrong("messages.%d.content.%d.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at, j)
		case b.Type == "tool_use" && (len(b.Input) == 0 || b.Input[0] != '{'):
			return nil, wrong("messages.%d.content.%d.tool_use.input: Input should be a valid dictionary", at, j)
		case b.Type == "tool_result" && b.IsError && (!isSet(b.Content) || string(b.Content) == `""` || string(b.Content) == "[]"):
			return nil, wrong("messages.%d.content.%d.tool_result: content cannot be empty if `is_error` is true", at, j)
		}
		out = append(out, b)
	}
	return out, nil
}

// clean reports whether an id is of letters, digits, - and _.
func clean(id string) bool {
	return id != "" && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// pairedStrictly wants the result of each call at the beginning of what the user says directly behind it, and no other.
func pairedStrictly(turns []said) error {
	seen := map[string]bool{}
	var open map[string]bool // calls of the turn before
	for i, t := range turns {
		given, calls, results := map[string]bool{}, map[string]bool{}, true
		for _, b := range t.blocks {
			switch b.Type {
			case "tool_use":
				if seen[b.ID] {
					return wrong("messages.%d.content.%d: `tool_use` ids must be unique", b.message, b.block)
				}
				seen[b.ID], calls[b.ID] = true, true
			case "tool_result":
				if t.role != "user" || !open[b.ToolUseID] || !results {
					return wrong("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
						"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.message, b.block, b.ToolUseID)
				}
				if given[b.ToolUseID] {
					return wrong("messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s",
						b.message, b.block, b.ToolUseID)
				}
				given[b.ToolUseID] = true
				continue
			}
			results = results && len(given) == 0 && len(open) == 0
		}
		for id := range given {
			delete(open, id)
		}
		if len(open) > 0 {
			return unanswered(turns[i-1], open)
		}
		open = calls
	}
	if len(open) > 0 {
		return unanswered(turns[len(turns)-1], open)
	}
	return nil
}

func unanswered(t said, open map[string]bool) error {
	return wrong("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", t.at, names(open))
}

// marked verifies cache markers and what carries them, in the order in which the API renders a request.
func (r *strictRequest) marked(turns []said) error {
	var all []marker
	short := false // one that lives five minutes has been seen
	add := func(m *marker, where string, at ...any) error {
		if m == nil {
			return nil
		}
		if m.Type != "ephemeral" || !slices.Contains([]string{"", "5m", "1h"}, m.TTL) {
			return wrong(where+".cache_control: Input should be {'type': 'ephemeral', 'ttl': '5m' or '1h'}", at...)
		}
		if m.TTL == "1h" && short {
			return wrong(where+".cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "+
				"Note that blocks are processed in the following order: `tools`, `system`, `messages`.", at...)
		}
		short = short || m.TTL != "1h"
		all = append(all, *m)
		return nil
	}
	tool := func(raw json.RawMessage, b *strictBlock, where string, i int) error {
		if err := json.Unmarshal(raw, b); err != nil {
			return wrong(where+": %v", i, err)
		}
		return add(b.Cache, where, i)
	}
	for i, raw := range r.Tools {
		if err := tool(raw, &strictBlock{}, "tools.%d", i); err != nil {
			return err
		}
	}
	system, err := blockList(r.System)
	if err != nil {
		return wrong("system: Input should be a valid list")
	}
	for i, raw := range system {
		var b strictBlock
		if err := tool(raw, &b, "system.%d", i); err != nil {
			return err
		}
		switch {
		case b.Type != "text":
			return wrong("system.%d.type: Input should be 'text'", i)
		case r.System[0] == '[' && (b.Text == nil || *b.Text == ""):
			return wrong("system: text content blocks must be non-empty")
		}
	}
	for _, t := range turns {
		for _, b := range t.blocks {
			if err := addInner(b, add); err != nil {
				return err
			}
			if err := add(b.Cache, "messages.%d.content.%d", b.message, b.block); err != nil {
				return err
			}
		}
	}
	if err := add(r.Cache, "messages"); err != nil {
		return err
	}
	if len(all) > 4 {
		return wrong("A maximum of 4 blocks with cache_control may be provided. Found %d.", len(all))
	}
	return nil
}

// addInner adds the markers inside a tool result.
func addInner(b strictBlock, add func(*marker, string, ...any) error) error {
	if b.Type != "tool_result" || len(b.Content) == 0 || b.Content[0] != '[' {
		return nil
	}
	var inner []strictBlock
	if err := json.Unmarshal(b.Content, &inner); err != nil {
		return wrong("messages.%d.content.%d.tool_result.content: %v", b.message, b.block, err)
	}
	for k, c := range inner {
		if err := add(c.Cache, "messages.%d.content.%d.tool_result.content.%d", b.message, b.block, k); err != nil {
			return err
		}
	}
	return nil
}
