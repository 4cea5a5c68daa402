package openai

import (
	"errors"

	"ambit/provider"
	"ambit/unit"
)

// ownItems are the kinds of items that an answer may hold beside texts and function calls, and that a later request
// repeats: reasoning, what the provider compacted, and calls that it ran itself.
var ownItems = set("reasoning", "compaction", "compaction_summary", "context_compaction", "web_search_call", "file_search_call",
	"code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools")

// The kinds of parts that a user's message may hold beside texts, on either wire.
var (
	ownInput = set("input_image", "input_file", "input_audio")
	ownChat  = set("image_url", "file", "input_audio", "video_url")
)

var (
	errUnspelled = errors.New("an opaque part says nothing of how it is spelled")
	errCalls     = errors.New("only the assistant makes calls, and has no results")
)

// fits says why a part may not stand in a unit of the role, or has no spelling where it needs one.
func fits(p *unit.Part, assistant bool) error {
	switch p.Kind {
	case unit.Text:
		return nil
	case unit.Call:
		if !assistant {
			return errCalls
		}
		return nil
	case unit.Result:
		if assistant {
			return errCalls
		}
		return nil
	}
	if p.Raw == nil {
		return errUnspelled
	}
	return nil
}

// meansItem says why a part may not be sent in Responses, by the role of its message.
func meansItem(p *unit.Part, role string) error {
	if err := fits(p, role == "assistant"); err != nil || p.Raw == nil {
		return err
	}
	if provider.JSON(p.Raw).Kind() != '{' {
		return provider.ErrForeign
	}
	found := provider.JSON(p.Raw).Find("type", "role", "call_id")
	itemType := found[0].Text()
	ours := false
	switch p.Kind {
	case unit.Text:
		ours = itemType == "message" && found[1].Text() == role
	case unit.Call:
		ours = itemType == "function_call" && provider.DecodeText(found[2]) == p.ID
	case unit.Result:
		ours = itemType == "function_call_output" && provider.DecodeText(found[2]) == p.ID
	default:
		ours = role == "assistant" && ownItems[itemType] || role == "user" && ownInput[itemType]
	}
	if !ours {
		return provider.ErrForeign
	}
	return nil
}

// meansChat does the same for Chat. An answer there has nothing opaque: reasoning is not sent back.
func meansChat(p *unit.Part, role unit.Role) error {
	if err := fits(p, role == unit.Assistant); err != nil || p.Raw == nil {
		return err
	}
	if provider.JSON(p.Raw).Kind() != '{' {
		return provider.ErrForeign
	}
	found := provider.JSON(p.Raw).Find("type", "id", "function", "tool_call_id")
	ours := false
	switch p.Kind {
	case unit.Text:
		ours = found[0].Text() == "text"
	case unit.Call:
		ours = found[2].Kind() == '{' && provider.DecodeText(found[1]) == p.ID
	case unit.Result:
		ours = provider.DecodeText(found[3]) == p.ID
	default:
		ours = role != unit.Assistant && role != unit.System && ownChat[found[0].Text()]
	}
	if !ours {
		return provider.ErrForeign
	}
	return nil
}
