package anthropic

import "ambit/provider"

// Edit implements provider.Protocol for messages and count_tokens. The content of a result becomes a string.
func (p Protocol) Edit(req provider.Request, body []byte, e provider.Elements, changes []provider.Change) ([]byte, error) {
	w := provider.Editor{
		Message: func(raw []byte, at string) provider.Message { return p.Message(req, raw, at) },
		Texts:   putTexts, User: appendUser, Between: between,
	}
	return w.Edit(body, e, changes)
}

// putTexts changes the results and the own text of a message.
func putTexts(t *provider.Texts, message provider.Place) (why string) {
	content := message.Member("content")
	for block := range content.Elements() {
		found := block.Find("type", "tool_use_id")
		if id := found[1].Text(); id != "" && isResult(found[0].Text()) {
			if text := t.Of(id); text != nil {
				t.Hoist(block, "content", text)
			}
		}
	}
	if text := t.Of(""); text != nil {
		if message.Find("role")[0].Text() == "system" {
			return "the system says it"
		}
		return t.SetOwn(content, text, isText)
	}
	return ""
}

// isResult reports whether a block holds the result of a tool that the client runs, or a server of its own.
func isResult(blockType string) bool {
	return blockType == "tool_result" || blockType == "mcp_tool_result"
}

func isText(block provider.Place) bool {
	found := block.Find("type", "text")
	return found[0].Text() == "text" && found[1].Kind() == '"'
}

func appendUser(dst, text []byte) []byte {
	dst = append(dst, `{"role":"user","content":[{"type":"text","text":`...)
	return append(append(dst, text...), `}]}`...)
}

// between: results stand in front of all that the user says behind the answer whose calls they belong to.
func between(_, after provider.JSON) (why string) {
	if after == nil {
		return ""
	}
	for block := range after.Find("content")[0].Elements() {
		if isResult(block.Find("type")[0].Text()) {
			return "results follow"
		}
	}
	return ""
}

// Overflow implements provider.Protocol.
func (Protocol) Overflow(status int, _ string, body []byte) (provider.Overflow, bool) {
	return provider.ReadOverflow(status, body)
}
