package openai

import "ambit/provider"

// Edit implements provider.Protocol for responses, compact and input_tokens, and for chat. A prompt of the older completions
// is no conversation.
func (p Protocol) Edit(req provider.Request, body []byte, e provider.Elements, changes []provider.Change) ([]byte, error) {
	w := provider.Editor{Message: func(raw []byte, at string) provider.Message { return p.Message(req, raw, at) }}
	switch req.Type {
	case provider.TypeChat:
		w.Texts, w.User, w.Between = putChat, appendChatUser, betweenChat
	case provider.TypeResponses, provider.TypeCompact, provider.TypeCountTokens:
		w.Texts, w.User, w.Between = putItem, appendItemUser, betweenItems
		w.Before, w.After = `{"role":"user","content":`, `}`
	default:
		if len(changes) > 0 {
			return nil, &provider.EditError{At: changes[0].At, Why: "it is of no conversation"}
		}
	}
	return w.Edit(body, e, changes)
}

// putChat changes the result or the own text of a chat's message. That of a tool is a result whether or not it says of which
// call.
func putChat(t *provider.Texts, message provider.Place) (why string) {
	found := message.Find("role", "tool_call_id")
	role, id := found[0].Text(), found[1].Text()
	if isTool(role) {
		if text := t.Of(id); text != nil {
			return t.SetResult(message, "content", text, isTextPart)
		}
		return ""
	}
	text := t.Of("")
	switch {
	case text == nil:
		return ""
	case role != "user" && role != "assistant":
		return "the system says it"
	}
	return setOwn(t, message, text)
}

// setOwn changes the own text of a message, which may not also refuse something in another place.
func setOwn(t *provider.Texts, message provider.Place, text []byte) (why string) {
	content := message.Member("content")
	refuses := message.Find("refusal")[0].HoldsText()
	for block := range content.Elements() {
		refuses = refuses || block.Find("refusal")[0].HoldsText()
	}
	if refuses {
		return "it holds a refusal"
	}
	return t.SetOwn(content, text, isTextPart)
}

func isTool(role string) bool { return role == "tool" || role == "function" }

func isTextPart(block provider.Place) bool {
	found := block.Find("type", "text")
	return isText(found[0].Text()) && found[1].Kind() == '"'
}

func appendChatUser(dst, text []byte) []byte {
	dst = append(dst, `{"role":"user","content":`...)
	return append(append(dst, text...), '}')
}

// betweenChat: results follow the calls directly.
func betweenChat(_, after provider.JSON) (why string) {
	if after != nil && isTool(after.Find("role")[0].Text()) {
		return "results follow"
	}
	return ""
}

// outputs are the kinds of items whose output is a text that a tool of the client gave back. Those of other kinds have a
// shape of their own.
var outputs = set("function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output")

// putItem changes the result or the own text of an item.
func putItem(t *provider.Texts, item provider.Place) (why string) {
	if item.Kind() == '"' {
		if text := t.Of(""); text != nil {
			t.Replace(item, text)
		}
		return ""
	}
	found := item.Find("type", "role", "call_id", "id")
	itemType, role := found[0].Text(), found[1].Text()
	switch {
	case outputs[itemType]:
		id := found[2].Text()
		if id == "" {
			id = found[3].Text()
		}
		if text := t.Of(id); text != nil {
			return t.SetResult(item, "output", text, isTextPart)
		}
		return ""
	case itemType != "" && itemType != "message":
		return "its kind has no text that can be changed"
	case role != "user" && role != "assistant":
		return "the system says it"
	}
	text := t.Of("")
	if text == nil {
		return ""
	}
	return setOwn(t, item, text)
}

func appendItemUser(dst, text []byte) []byte {
	dst = append(dst, `{"type":"message","role":"user","content":[{"type":"input_text","text":`...)
	return append(append(dst, text...), `}]}`...)
}

// betweenItems: reasoning goes with what it led to, and what asks for a compaction stands at the end.
func betweenItems(before, _ provider.JSON) (why string) {
	if before.Kind() == '{' {
		switch before.Find("type")[0].Text() {
		case "reasoning":
			return "reasoning stands before what it led to"
		case "compaction_trigger":
			return "a compaction is asked for at the end"
		}
	}
	return ""
}

// Overflow implements provider.Protocol.
func (Protocol) Overflow(status int, _ string, body []byte) (provider.Overflow, bool) {
	return provider.ReadOverflow(status, body)
}
