package transcript

import (
	"cmp"

	"ambit/entry"
	"ambit/provider"
)

// addContent adds the content of a message of the chat wire: a string, or a list of parts.
func addContent(m *provider.Message, content provider.JSON, field, said string) {
	switch content.Kind() {
	case '"':
		m.AddText(field, said, content)
		return
	case 'n', 0:
		return
	}
	for at, part := range m.Each(field, content) {
		o := m.Object(part)
		switch o.Take("type").Text() {
		case "text", "input_text", "output_text":
			m.AddText(at+"/text", said, o.Take("text"))
		case "image", "image_url", "input_image", "thinking", "redacted_thinking", "reasoning":
			continue
		default:
			m.Unknown = true
			continue
		}
		m.Rest(o, aboutChatPart)
	}
}

// addCalls adds the tool_calls of a message of the chat wire.
func addCalls(m *provider.Message, calls provider.JSON, field string) {
	if calls.Kind() == 'n' {
		return
	}
	for at, call := range m.Each(field, calls) {
		f := m.Object(call)
		id := f.Take("id").Text()
		called := m.Object(f.Take("function"))
		m.AddCall(at+"/function/arguments", cmp.Or(id, madeID(at)), called.Take("name").Text(), called.Take("arguments"), false)
		m.Rest(called, aboutChatCall)
		m.Rest(f, aboutChatCall)
	}
}

// What of a part, and of a call, is no public text.
var (
	aboutChatPart = set("type", "cache_control")
	aboutChatCall = set("type", "index")
)

// chatUsage reads what an answer of the chat wire counts: the cached part is in the prompt, and is spelled in the ways of
// OpenAI, of DeepSeek, whose two parts make up the prompt, and of Anthropic behind LiteLLM.
func chatUsage(v provider.JSON) *entry.Usage {
	c := provider.Counts{}
	c.Add(v, "prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
	details := provider.Counts{}
	details.Add(v.Find("prompt_tokens_details")[0], "cached_tokens")
	input := cmp.Or(c["prompt_tokens"], c["prompt_cache_hit_tokens"]+c["prompt_cache_miss_tokens"])
	if input+c["completion_tokens"] == 0 {
		return nil
	}
	read := cmp.Or(details["cached_tokens"], c["prompt_cache_hit_tokens"], c["cache_read_input_tokens"])
	return provider.NewUsage(input, read, c["cache_creation_input_tokens"], c["completion_tokens"])
}
