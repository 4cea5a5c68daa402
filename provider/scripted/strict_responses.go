package scripted

import (
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"
)

// strictItem is what OpenAI verifies of an input item.
type strictItem struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Sealed    *string         `json:"encrypted_content"`
}

// verifyResponses refuses what OpenAI refuses on Responses.
func verifyResponses(body []byte, is issued) error {
	var r responseRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return wrong("We could not parse the JSON body of your request: %v", err)
	}
	raw, err := inputItems(r.Input)
	if err != nil {
		return &mistake{"Invalid type for 'input': expected a string or an array of input items.", "invalid_type", "input"}
	}
	items := make([]strictItem, len(raw))
	ids := map[string]bool{}
	for i := range raw {
		if err := json.Unmarshal(raw[i], &items[i]); err != nil {
			return &mistake{fmt.Sprintf("Invalid type for 'input[%d]': %v", i, err), "invalid_type", fmt.Sprintf("input[%d]", i)}
		}
		if id := items[i].ID; id != "" && ids[id] {
			return &mistake{fmt.Sprintf("Duplicate item found with id %s. Remove duplicate items from your input and try again.", id), "", "input"}
		}
		ids[items[i].ID] = true
		if err := items[i].verify(i); err != nil {
			return err
		}
	}
	if err := pairedItems(items); err != nil {
		return err
	}
	return reasoned(items, isSet(r.Reasoning), ids, is)
}

// verify verifies an item by itself.
func (it strictItem) verify(at int) error {
	where := fmt.Sprintf("input[%d]", at)
	missing := func(name string) error {
		return &mistake{fmt.Sprintf("Missing required parameter: '%s.%s'.", where, name), "missing_required_parameter", where + "." + name}
	}
	switch it.Type {
	case "", "message":
		if !slices.Contains([]string{"system", "developer", "user", "assistant"}, it.Role) {
			return &mistake{
				fmt.Sprintf("Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", it.Role), "invalid_value", where + ".role",
			}
		}
		if !isSet(it.Content) {
			return missing("content")
		}
		return it.parts(where)
	case "function_call", "custom_tool_call", "local_shell_call":
		if it.CallID == "" {
			return missing("call_id")
		}
		if it.Type == "function_call" && (len(it.Arguments) == 0 || it.Arguments[0] != '"') {
			return &mistake{fmt.Sprintf("Invalid type for '%s.arguments': expected a string.", where), "invalid_type", where + ".arguments"}
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		if !isSet(it.Output) || it.Output[0] != '"' && it.Output[0] != '[' {
			return missing("output")
		}
	}
	return nil
}

// parts verifies the parts of a message: what the model said is output_text, all else is input.
func (it strictItem) parts(where string) error {
	if it.Content[0] != '[' {
		return nil
	}
	var parts []struct{ Type string }
	if err := json.Unmarshal(it.Content, &parts); err != nil {
		return &mistake{fmt.Sprintf("Invalid type for '%s.content'.", where), "invalid_type", where + ".content"}
	}
	for i, p := range parts {
		said := p.Type == "output_text" || p.Type == "refusal"
		if (it.Role == "assistant") != said {
			return &mistake{fmt.Sprintf("Invalid value: '%s'.", p.Type), "invalid_value", fmt.Sprintf("%s.content[%d]", where, i)}
		}
	}
	return nil
}

// pairedItems wants an output behind each call, and a call before each output.
func pairedItems(items []strictItem) error {
	open, seen := map[string]bool{}, map[string]bool{}
	for _, it := range items {
		switch {
		case strings.HasSuffix(it.Type, "_call_output"):
			if !open[it.CallID] {
				return &mistake{"No tool call found for function call output with call_id " + it.CallID + ".", "", "input"}
			}
			delete(open, it.CallID)
		case strings.HasSuffix(it.Type, "_call") && it.CallID != "":
			if seen[it.CallID] {
				return &mistake{"Duplicate tool call found with call_id " + it.CallID + ".", "", "input"}
			}
			open[it.CallID], seen[it.CallID] = true, true
		}
	}
	if len(open) > 0 {
		return &mistake{"No tool output found for function call " + names(open) + ".", "", "input"}
	}
	return nil
}

// reasoned wants reasoning as it was issued, with what was issued behind it, and the reasoning of what has an id and was issued
// with it.
func reasoned(items []strictItem, asked bool, ids map[string]bool, is issued) error {
	for i, it := range items {
		if it.Type == "reasoning" {
			if err := reasonedItem(items[i:], is); err != nil {
				return err
			}
			continue
		}
		at, ok := is.call(it.CallID)
		if !ok || it.Type != "function_call" {
			continue
		}
		if asked && it.ID != "" && at.turn().thought != "" && !ids[at.turn().reasoningID()] {
			return &mistake{
				fmt.Sprintf("Item '%s' of type 'function_call' was provided without its required 'reasoning' item: '%s'.", it.ID, at.turn().reasoningID()), "", "input",
			}
		}
	}
	return nil
}

// reasonedItem verifies the reasoning that items begin with.
func reasonedItem(items []strictItem, is issued) error {
	it := items[0]
	at, ok := is[it.ID]
	if it.Sealed != nil {
		at, ok = is[*it.Sealed]
	}
	switch {
	case it.Sealed == nil && !ok:
		return &mistake{fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false.", it.ID), "", "input"}
	case !ok || it.ID != "" && it.ID != at.turn().reasoningID():
		return &mistake{fmt.Sprintf("The encrypted content %s could not be verified.", clip(*it.Sealed, 8)), "invalid_encrypted_content", ""}
	}
	if len(items) > 1 && follows(at.turn(), items[1]) {
		return nil
	}
	return &mistake{fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", at.turn().reasoningID()), "", "input"}
}

// follows reports whether an item is the one that a turn issued behind its thought.
func follows(t turn, it strictItem) bool {
	if t.text != "" {
		return (it.Type == "" || it.Type == "message") && it.Role == "assistant"
	}
	if len(t.calls) == 0 {
		return true
	}
	return strings.HasSuffix(it.Type, "_call") && strings.TrimSuffix(it.CallID, lost) == "call_"+t.calls[0].id
}
