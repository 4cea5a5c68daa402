package scripted

import (
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"
)

// verifyChat refuses what OpenAI refuses on Chat Completions. Thoughts may be sent back or left out; what is sent back must be
// what was issued, which servers that seal them check.
func verifyChat(body []byte, is issued) error {
	var r struct {
		Messages []chatMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return wrong("We could not parse the JSON body of your request: %v", err)
	}
	open, from := map[string]bool{}, 0
	seen := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return &mistake{"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", "", fmt.Sprintf("messages.[%d].role", i)}
			}
			if !isSet(m.Content) {
				return &mistake{"Invalid value for 'content': expected a string, got null.", "", fmt.Sprintf("messages.[%d].content", i)}
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return unansweredChat(from, open)
		}
		if err := m.verify(i, is); err != nil {
			return err
		}
		for _, c := range m.ToolCalls {
			if seen[c.ID] || c.ID == "" {
				return &mistake{fmt.Sprintf("Duplicate value for 'tool_call_id' of '%s' in message[%d]", c.ID, i), "", "messages"}
			}
			seen[c.ID], open[c.ID], from = true, true, i
		}
	}
	if len(open) > 0 {
		return unansweredChat(from, open)
	}
	return nil
}

func unansweredChat(at int, open map[string]bool) error {
	return &mistake{
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
			"The following tool_call_ids did not have response messages: " + names(open), "", fmt.Sprintf("messages.[%d].role", at+1),
	}
}

// verify verifies a message by itself.
func (m chatMessage) verify(at int, is issued) error {
	param := fmt.Sprintf("messages[%d]", at)
	if !slices.Contains([]string{"system", "developer", "user", "assistant", "function"}, m.Role) {
		return &mistake{fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role), "invalid_value", param + ".role"}
	}
	if !isSet(m.Content) && (m.Role != "assistant" || len(m.ToolCalls) == 0) {
		return &mistake{"Invalid value for 'content': expected a string, got null.", "", strings.Replace(param, "[", ".[", 1) + ".content"}
	}
	if string(m.Content) == "[]" {
		return &mistake{fmt.Sprintf("Invalid '%s.content': empty array. Expected an array with minimum length 1, but got an empty array instead.", param), "empty_array", param + ".content"}
	}
	for i, c := range m.ToolCalls {
		if len(c.Function.Arguments) == 0 || c.Function.Arguments[0] != '"' {
			return &mistake{fmt.Sprintf("Invalid type for '%s.tool_calls[%d].function.arguments': expected a string.", param, i), "invalid_type", param}
		}
		if at, ok := is.call(c.ID); ok && m.Reasoning != nil && *m.Reasoning != "" && *m.Reasoning != at.turn().thought {
			return &mistake{fmt.Sprintf("Invalid '%s.reasoning_content': it is not what was issued with %s.", param, c.ID), "invalid_value", param}
		}
	}
	return nil
}
