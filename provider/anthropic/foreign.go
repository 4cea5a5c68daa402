package anthropic

import (
	"ambit/provider"
	"ambit/unit"
)

// foreignTypes are the types of items and parts that OpenAI's wires have and this one does not.
var foreignTypes = set(
	"message", "reasoning", "item_reference", "function", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
	"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools",
	"compaction_summary", "context_compaction", "input_text", "output_text", "input_image", "input_file", "input_audio", "image_url", "refusal",
)

// foreignMembers are the members of a part of Gemini's, which has no type.
var foreignMembers = []string{
	"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult",
}

// foreign reports whether a block is spelled as another wire spells it. What nobody knows is not foreign: it came from
// a client of this wire.
func foreign(raw provider.JSON) bool {
	if raw.Kind() != '{' {
		return false
	}
	found := raw.Find("type", "content", "encrypted_content")
	switch blockType := found[0].Text(); {
	case foreignTypes[blockType]:
		return true
	case blockType == "compaction":
		return found[1] == nil && found[2] != nil
	case found[0] != nil:
		return false
	}
	for _, v := range raw.Find(foreignMembers...) {
		if v != nil {
			return true
		}
	}
	return false
}

// sameMeaning says why the spelling of a part is not one of what the part is.
func sameMeaning(p *unit.Part) error {
	raw := understand(p.Raw)
	switch {
	case foreign(p.Raw):
		return provider.ErrForeign
	case !sameUses([]unit.Part{raw}, []unit.Part{*p}), p.Kind == unit.Text && raw.Kind != unit.Text:
		return provider.ErrSpelled
	}
	return nil
}
