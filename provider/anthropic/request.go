package anthropic

import (
	"cmp"
	"strconv"
	"strings"

	"ambit/provider"
)

// Elements reads tools, system and messages. Tools with defer_loading are outside the prefix.
func (Protocol) Elements(req provider.Request, body []byte) (provider.Elements, error) {
	return elements(req, provider.NewReader(body))
}

func elements(req provider.Request, r *provider.Reader) (provider.Elements, error) {
	var e provider.Elements
	switch req.Type {
	case provider.TypeMessages, provider.TypeCountTokens:
		r.Members(func(name string) {
			switch name {
			case "tools":
				r.List("/tools", func(at string) {
					list := &e.Tools
					if r.Peek("defer_loading")[0].True() {
						list = &e.Deferred
					}
					*list = append(*list, r.Element(at, provider.Form{}))
				})
			case "system":
				e.System = system(r)
			case "messages":
				r.List("/messages", func(at string) {
					e.Messages = append(e.Messages, r.Element(at, provider.Form{Blocks: "content", Text: "text"}))
				})
			}
		})
	default:
		r.Skip()
	}
	if err := r.End(); err != nil {
		return provider.Elements{}, err
	}
	return e, nil
}

func system(r *provider.Reader) (blocks []provider.Element) {
	if r.Kind() == '"' {
		return []provider.Element{r.Wrapped("/system", `{"type":"text","text":`, `}`)}
	}
	r.List("/system", func(at string) { blocks = append(blocks, r.Element(at, provider.Form{})) })
	return blocks
}

// session returns the session's id in a metadata.user_id: a member of the JSON that it holds, or in older clients
// what stands behind the last _session_.
func session(metadata provider.JSON) string {
	id := metadata.Find("user_id")[0]
	text := cmp.Or(id.Text(), string(id))
	if strings.HasPrefix(text, "{") {
		return provider.Key(provider.JSON(text).Find("session_id")[0])
	}
	at := strings.LastIndex(text, "_session_")
	if at < 0 || !strings.HasPrefix(text, "user_") {
		return ""
	}
	if session := text[at+len("_session_"):]; isUUID(session) {
		return session
	}
	return ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// Message reads one message. What the system says, in the middle of a conversation, is not public.
func (Protocol) Message(_ provider.Request, raw []byte, at string) provider.Message {
	found := provider.JSON(raw).Find("role", "content")
	m := provider.Message{Role: found[0].Text()}
	said := provider.SaidUser
	switch m.Role {
	case "system":
		return m
	case "assistant":
		said = provider.SaidAssistant
	case "user":
	default:
		m.Unknown = true
		return m
	}
	content, field := found[1], at+"/content"
	switch content.Kind() {
	case '"':
		m.AddText(field, said, content)
	case '[':
		i := 0
		for block := range content.Elements() {
			addBlock(&m, block, field+"/"+strconv.Itoa(i), said)
			i++
		}
	case 0, 'n':
	default:
		m.Unknown = true
	}
	return m
}

// silent are the kinds of content blocks without public text: files, reasoning, what the system says, and markers.
// The lists of kinds are those of the public Messages API with its betas.
var silent = map[string]bool{
	"image": true, "document": true, "search_result": true, "container_upload": true,
	"thinking": true, "redacted_thinking": true, "mid_conv_system": true, "compaction": true, "fallback": true,
	"tool_reference": true,
}

// serverResults are the kinds of results of tools that the provider runs. What the code that it ran wrote is text;
// what it found on the web is a file or encrypted.
var serverResults = map[string]bool{
	"web_search_tool_result": true, "web_fetch_tool_result": true, "code_execution_tool_result": true,
	"bash_code_execution_tool_result": true, "text_editor_code_execution_tool_result": true,
	"tool_search_tool_result": true, "advisor_tool_result": true,
}

func addBlock(m *provider.Message, block provider.JSON, field, said string) {
	found := block.Find("type", "text", "id", "name", "input", "tool_use_id", "content")
	content := found[6]
	switch blockType := found[0].Text(); {
	case blockType == "text":
		m.AddText(field+"/text", said, found[1])
	case isCall(blockType):
		m.AddCall(field+"/input", found[2].Text(), found[3].Text(), found[4], false)
	case blockType == "tool_result", blockType == "mcp_tool_result":
		m.AddResult(found[5])
		addResult(m, content, field+"/content")
	case serverResults[blockType]:
		m.AddResult(found[5])
		if content.Kind() == '{' {
			output := content.Find("stdout", "stderr")
			m.AddText(field+"/content/stdout", provider.SaidTool, output[0])
			m.AddText(field+"/content/stderr", provider.SaidTool, output[1])
		}
	case silent[blockType]:
	default:
		m.Unknown = true
	}
}

func isCall(blockType string) bool {
	return blockType == "tool_use" || blockType == "server_tool_use" || blockType == "mcp_tool_use"
}

// addResult adds the text of a tool's result, which is a string or blocks.
func addResult(m *provider.Message, content provider.JSON, field string) {
	switch content.Kind() {
	case '"':
		m.AddText(field, provider.SaidTool, content)
	case '[':
		i := 0
		for block := range content.Elements() {
			found := block.Find("type", "text")
			switch blockType := found[0].Text(); {
			case blockType == "text":
				m.AddText(field+"/"+strconv.Itoa(i)+"/text", provider.SaidTool, found[1])
			case !silent[blockType]:
				m.Unknown = true
			}
			i++
		}
	case 0, 'n':
	default:
		m.Unknown = true
	}
}
