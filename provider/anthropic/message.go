package anthropic

import "ambit/provider"

// What is never public text, beside types and ids: in a message, in each kind of block, and in what a tool gave back.
// The lists of kinds and members are those of the public Messages API with its betas.
var (
	aboutMessage = set("id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "cache_control",
		"container", "context_management", "output_config")
	aboutBlock  = set("type", "id", "name", "cache_control", "tool_use_id", "tool_name", "caller", "server_name", "encrypted_content")
	aboutResult = set("type", "cache_control", "media_type", "file_type", "tool_name", "tool_use_id", "file_id", "encrypted_index", "encrypted_stdout")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// What is never public text in a citation, and in one whose text stands elsewhere, too.
var (
	aboutCitation = set("url", "encrypted_index")
	aboutQuote    = set("cited_text", "document_title", "title", "source", "file_id")
)

// silent are the kinds of content blocks without public text, with the members that they have: images, reasoning, what
// the system says, and markers.
var silent = map[string]map[string]bool{
	"image": set("source", "cache_control"), "container_upload": set("file_id", "cache_control"),
	"thinking": set("thinking", "signature", "cache_control"), "redacted_thinking": set("data", "cache_control"),
	"mid_conv_system": set("content", "text", "cache_control"), "fallback": set("from", "to", "cache_control"),
	"tool_reference": set("tool_name", "cache_control"),
}

// fixedBlocks are the kinds of content blocks whose bytes must not be changed: those that the provider signs or that it
// checks, what it compacted, what loads tools or says where another model went on, and files.
var fixedBlocks = map[string]provider.Fixed{
	"thinking": provider.Reasoned, "redacted_thinking": provider.Reasoned,
	"compaction": provider.Sealed, "tool_reference": provider.Sealed, "fallback": provider.Sealed, "mid_conv_system": provider.Sealed,
	"image": provider.Media, "document": provider.Media, "container_upload": provider.Media,
}

// serverResults are the kinds of results of tools that the provider runs. What can be read in them is text: what code
// wrote, and what was found on the web as far as it is not encrypted.
var serverResults = set("web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
	"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result")

// quoting are the kinds of citations whose text stands elsewhere, too.
var quoting = set("char_location", "page_location", "content_block_location", "search_result_location")

// Message reads one message. What the system says, in the middle of a conversation, is not public.
func (Protocol) Message(_ provider.Request, raw []byte, at string) provider.Message {
	return readMessage(raw, at).Settled()
}

func readMessage(raw provider.JSON, at string) provider.Message {
	o := raw.Object()
	m := provider.Message{Role: o.Take("role").Text()}
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
	addContent(&m, o.Take("content"), at+"/content", said)
	m.Rest(o, aboutMessage)
	return m
}

// addContent adds the content of a message: a string or blocks.
func addContent(m *provider.Message, content provider.JSON, field, said string) {
	switch content.Kind() {
	case '"':
		m.AddText(field, said, content)
	case '[':
		for at, block := range m.Each(field, content) {
			addBlock(m, block, at, said)
		}
	case 0, 'n':
	default:
		m.Unknown = true
	}
}

func addBlock(m *provider.Message, block provider.JSON, field, said string) {
	o, from := block.Object(), len(m.Texts)
	blockType := o.Take("type").Text()
	m.Fix(fixedBlocks[blockType])
	switch {
	case blockType == "text":
		m.AddText(field+"/text", said, o.Take("text"))
		addCitations(m, o.Take("citations"), field+"/citations")
	case isCall(blockType):
		m.AddCall(field+"/input", o.Take("id").Text(), o.Take("name").Text(), o.Take("input"), false)
	case blockType == "tool_result", blockType == "mcp_tool_result":
		m.AddResult(o.Take("tool_use_id"))
		addResult(m, o.Take("content"), field+"/content")
	case serverResults[blockType]:
		m.Fix(provider.Reasoned)
		m.AddResult(o.Take("tool_use_id"))
		m.AddLeaves(field+"/content", provider.SaidTool, o.Take("content"), aboutResult)
	case blockType == "document":
		addDocument(m, o, field)
	case blockType == "search_result":
		m.AddText(field+"/title", provider.SaidTool, o.Take("title"))
		m.AddText(field+"/source", provider.SaidTool, o.Take("source"))
		addResult(m, o.Take("content"), field+"/content")
	case blockType == "compaction":
		m.AddText(field+"/content", said, o.Take("content"))
	case silent[blockType] != nil:
		m.Rest(o, silent[blockType])
		return
	default:
		m.Unknown = true
		return
	}
	m.Rest(o, aboutBlock)
	if said != provider.SaidTool && (blockType == "document" || blockType == "search_result") {
		m.Beside(from)
	}
}

// isCall reports whether a block calls a tool.
func isCall(blockType string) bool {
	return blockType == "tool_use" || blockType == "server_tool_use" || blockType == "mcp_tool_use"
}

// addResult adds the text of a tool's result: a string, blocks, or what a tool gave in a shape of its own.
func addResult(m *provider.Message, content provider.JSON, field string) {
	if content.Kind() != '[' {
		m.AddLeaves(field, provider.SaidTool, content, nil)
		return
	}
	for at, block := range m.Each(field, content) {
		blockType := ""
		if block.Kind() == '{' {
			blockType = block.Find("type")[0].Text()
		}
		switch blockType {
		case "text", "image", "document", "search_result", "tool_reference":
			addBlock(m, block, at, provider.SaidTool)
		default:
			if blockType != "" {
				m.Fix(provider.Strange)
			}
			m.AddLeaves(at, provider.SaidTool, block, nil)
		}
	}
}

// addDocument adds a document as far as it is text: what a tool found, or a user attached.
func addDocument(m *provider.Message, o provider.Object, field string) {
	m.AddText(field+"/title", provider.SaidTool, o.Take("title"))
	m.AddText(field+"/context", provider.SaidTool, o.Take("context"))
	source := m.Object(o.Take("source"))
	switch source.Take("type").Text() {
	case "text":
		m.AddText(field+"/source/data", provider.SaidTool, source.Take("data"))
	case "content":
		addResult(m, source.Take("content"), field+"/source/content")
	case "base64", "url", "file":
		return
	}
	m.Rest(source, aboutResult)
}

// addCitations adds what was found on the web and is quoted: it stands nowhere else.
func addCitations(m *provider.Message, citations provider.JSON, field string) {
	for at, citation := range m.Each(field, citations) {
		addCitation(m, citation, at)
	}
}

func addCitation(m *provider.Message, citation provider.JSON, field string) {
	o := m.Object(citation)
	switch citationType := o.Take("type").Text(); {
	case citationType == "web_search_result_location":
		m.Fix(provider.Reasoned)
		m.AddText(field+"/title", provider.SaidTool, o.Take("title"))
		m.AddText(field+"/cited_text", provider.SaidTool, o.Take("cited_text"))
		m.Rest(o, aboutCitation)
	case quoting[citationType]:
		m.Rest(o, aboutQuote)
	default:
		m.Unknown = m.Unknown || citation.HoldsText()
	}
}
