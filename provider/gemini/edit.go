package gemini

import "ambit/provider"

// Edit implements provider.Protocol for generate and count_tokens. A result becomes the member output of the response, or
// error where it had only that.
func (p Protocol) Edit(req provider.Request, body []byte, e provider.Elements, changes []provider.Change) ([]byte, error) {
	w := provider.Editor{
		Message: func(raw []byte, at string) provider.Message { return p.Message(req, raw, at) },
		Texts:   putTexts, User: appendUser, Between: between,
	}
	return w.Edit(body, e, changes)
}

// putTexts changes the results and the own text of a content.
func putTexts(t *provider.Texts, content provider.Place) (why string) {
	parts := content.Member("parts")
	nameless := 0 // results without an id
	var last provider.Place
	for part := range each(parts) {
		result := resultOf(part)
		switch id := result.Find("id")[0].Text(); {
		case result.Kind() != '{':
		case id == "":
			last = result
			nameless++
		default:
			if text := t.Of(id); text != nil {
				setResponse(t, result, text)
			}
		}
	}
	text := t.Of("")
	switch {
	case text == nil:
		return ""
	case content.Find("role")[0].Text() == "system":
		return "the system says it"
	case parts.Kind() == '{' && isText(parts) && !parts.Object().Rest(aboutText):
		t.Set(parts, "text", text)
		return ""
	case nameless == 1 && !hasText(parts):
		setResponse(t, last, text)
		return ""
	}
	return t.SetOwn(parts, text, isText)
}

// each yields the parts of a content: a list, or the only one.
func each(parts provider.Place) func(yield func(provider.Place) bool) {
	if parts.Kind() == '{' {
		return func(yield func(provider.Place) bool) { yield(parts) }
	}
	return parts.Elements()
}

// resultOf returns what a part holds that a tool of the client gave back, if it does.
func resultOf(part provider.Place) provider.Place {
	for name, v := range part.Members() {
		if name == "functionResponse" || name == "function_response" {
			return v
		}
	}
	return provider.Place{}
}

func setResponse(t *provider.Texts, result provider.Place, text []byte) {
	names := 0
	member := `{"output":`
	for name := range result.Find("response")[0].Members() {
		if names++; name == "error" {
			member = `{"error":`
		}
	}
	if names != 1 {
		member = `{"output":`
	}
	t.Set(result, "response", append(append([]byte(member), text...), '}'))
}

// aboutText are the members that a part may have and still be one text.
var aboutText = set("text")

func isText(part provider.Place) bool {
	found := part.Find("text", "thought")
	return found[0].Kind() == '"' && !found[1].True()
}

func hasText(parts provider.Place) bool {
	for part := range each(parts) {
		if isText(part) {
			return true
		}
	}
	return false
}

func appendUser(dst, text []byte) []byte {
	dst = append(dst, `{"role":"user","parts":[{"text":`...)
	return append(append(dst, text...), `}]}`...)
}

// between: results follow their calls directly.
func between(_, after provider.JSON) (why string) {
	if after == nil {
		return ""
	}
	for part := range each(provider.Place{JSON: after.Find("parts")[0]}) {
		if resultOf(part).JSON != nil {
			return "results follow"
		}
	}
	return ""
}

// Overflow implements provider.Protocol.
func (Protocol) Overflow(status int, _ string, body []byte) (provider.Overflow, bool) {
	return provider.ReadOverflow(status, body)
}
