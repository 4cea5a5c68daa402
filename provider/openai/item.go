package openai

import (
	"cmp"
	"strings"

	"ambit/provider"
)

// Message reads one item of a Responses input, or one message of a chat.
func (Protocol) Message(req provider.Request, raw []byte, at string) provider.Message {
	switch req.Type {
	case provider.TypeChat:
		return chatMessage(raw, at).Settled()
	case provider.TypeCompletions:
		return prompt(raw, at).Settled()
	}
	return item(raw, at).Settled()
}

// calls are the kinds of items that call a tool, and the member that holds the arguments. This list and the next
// are those of the public Responses API, with what Codex adds.
var calls = map[string]string{
	"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments", "mcp_approval_request": "arguments",
	"tool_search_call": "arguments", "local_shell_call": "action", "shell_call": "action", "computer_call": "action",
	"web_search_call": "action", "apply_patch_call": "operation", "code_interpreter_call": "code",
}

// freeText are the calls whose arguments are text even if it looks like JSON.
var freeText = map[string]bool{"custom_tool_call": true, "code_interpreter_call": true}

// results are the kinds of items that hold what a tool gave back.
var results = map[string]bool{
	"function_call_output": true, "custom_tool_call_output": true, "local_shell_call_output": true, "shell_call_output": true,
	"apply_patch_call_output": true, "computer_call_output": true, "tool_search_output": true, "mcp_approval_response": true,
}

// silentItems are the kinds of items without public text, who they stand for, and what they hold.
var silentItems = map[string]struct {
	role    string
	members []string
}{
	"reasoning":      {"assistant", []string{"summary", "content"}},
	"item_reference": {"assistant", nil},
	"mcp_list_tools": {"tool", []string{"error"}}, "additional_tools": {"developer", nil},
	"configuration_update": {"developer", []string{"configuration", "instructions", "reasoning", "text", "tool_choice", "model"}},
}

// foundItems are the kinds of items that are no calls with arguments of their own, who they stand for, and the member
// that holds what was found or made.
var foundItems = map[string]struct{ role, member string }{
	"file_search_call": {"assistant", "results"}, "image_generation_call": {"assistant", "revised_prompt"},
	"compaction": {"assistant", "summary"}, "compaction_summary": {"assistant", "summary"}, "context_compaction": {"assistant", "summary"},
	"compaction_trigger": {"user", ""},
}

// fixedItems are the kinds of items whose bytes must not be changed: reasoning, what the provider compacted or is to compact,
// what names something that it holds, what loads tools or sets the model, and images.
var fixedItems = map[string]provider.Fixed{
	"reasoning": provider.Reasoned, "compaction": provider.Sealed, "compaction_summary": provider.Sealed, "context_compaction": provider.Sealed,
	"compaction_trigger": provider.Sealed, "item_reference": provider.Sealed, "mcp_list_tools": provider.Sealed, "additional_tools": provider.Sealed,
	"configuration_update": provider.Sealed, "tool_search_output": provider.Sealed,
	"image_generation_call": provider.Media, "computer_call_output": provider.Media,
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// What is never public text: in an item, beside deeper arguments and schemas; in what a tool gave back; in a part.
var (
	aboutItem = set("type", "id", "status", "role", "call_id", "name", "namespace", "phase", "created_by", "agent", "metadata",
		"internal_chat_message_metadata_passthrough", "server_label", "approval_request_id", "container_id", "execution", "environment",
		"encrypted_content", "cache_control", "action", "actions", "queries", "pending_safety_checks", "acknowledged_safety_checks", "tools",
		"result", "background", "output_format", "quality", "size", "prompt_cache_breakpoint")
	aboutResult = set("file_id", "vector_store_id", "id")
	aboutPart   = set("type", "id", "cache_control", "prompt_cache_breakpoint", "logprobs", "phase")
)

// item reads an item of a Responses input or output.
func item(raw provider.JSON, at string) (m provider.Message) {
	if raw.Kind() == '"' {
		m.Role = "user"
		m.AddText(at, provider.SaidUser, raw)
		return m
	}
	o := raw.Object()
	itemType, role, id := o.Take("type").Text(), o.Take("role").Text(), o.Take("id")
	if itemType == "" && role == "" && len(id) > 0 {
		itemType = "item_reference"
	}
	m.Fix(fixedItems[itemType])
	m.FixIf(provider.Reasoned, o.See("encrypted_content")...)
	stands, silent := silentItems[itemType]
	found, isFound := foundItems[itemType]
	switch {
	case itemType == "" || itemType == "message":
		m.Role = role
		said, ok := saidBy(role)
		m.Unknown = !ok
		if said == "" {
			return m
		}
		addContent(&m, o.Take("content"), at+"/content", said)
	case calls[itemType] != "":
		addCall(&m, itemType, raw, o, at)
		if itemType == "mcp_call" {
			m.AddResult(id)
		}
	case results[itemType]:
		m.Role = "tool"
		addOutput(&m, o, id, at)
	case silent:
		m.Role = cmp.Or(role, stands.role)
		for _, member := range stands.members {
			o.Take(member)
		}
	case isFound:
		m.Role = cmp.Or(role, found.role)
		m.AddLeaves(at+"/"+found.member, provider.SaidTool, o.Take(found.member), aboutResult)
	default:
		m.Role, m.Unknown = cmp.Or(role, "assistant"), true
		return m
	}
	m.Rest(o, aboutItem)
	return m
}

// saidBy returns who says the public text of a role, if it has any; and whether the role is known.
func saidBy(role string) (said string, ok bool) {
	switch role {
	case "user":
		return provider.SaidUser, true
	case "assistant":
		return provider.SaidAssistant, true
	case "tool", "function":
		return provider.SaidTool, true
	}
	return "", isSystem(role)
}

// addCall adds a call, and what the provider gave back where it ran the tool itself.
func addCall(m *provider.Message, itemType string, raw provider.JSON, o provider.Object, at string) {
	m.Role = "assistant"
	id, name, args := call(itemType, raw)
	o.Take(calls[itemType])
	m.AddCall(at+"/"+calls[itemType], id, name, args, freeText[itemType])
	for _, member := range []string{"output", "error"} {
		m.AddLeaves(at+"/"+member, provider.SaidTool, o.Take(member), nil)
	}
	for _, member := range []string{"outputs", "results"} {
		m.AddLeaves(at+"/"+member, provider.SaidTool, o.Take(member), aboutResult)
	}
}

// call returns what an item calls. Tools that have no name are named by the kind of the call.
func call(itemType string, item provider.JSON) (id, name string, args provider.JSON) {
	found := item.Find("call_id", "id", "name", calls[itemType])
	id = cmp.Or(found[0].Text(), found[1].Text())
	name = cmp.Or(found[2].Text(), strings.TrimSuffix(itemType, "_call"))
	return id, name, found[3]
}

// addOutput adds a result: a string, content blocks, or what a tool gave in a shape of its own. A user who approves of
// a call may say why.
func addOutput(m *provider.Message, o provider.Object, id provider.JSON, at string) {
	for _, id := range []provider.JSON{o.Take("call_id"), o.Take("approval_request_id"), id} {
		if id.Text() != "" {
			m.AddResult(id)
			break
		}
	}
	m.AddText(at+"/reason", provider.SaidUser, o.Take("reason"))
	output := o.Take("output")
	if output.Kind() == '{' && silentParts[output.Find("type")[0].Text()] != nil {
		addPart(m, output, at+"/output", provider.SaidTool)
		return
	}
	addContent(m, output, at+"/output", provider.SaidTool)
}

// What the parts hold that have no public text but a transcript.
var (
	aboutFile = set("id", "cache_control", "detail", "image_url", "file_id", "file_data", "file_url", "filename", "input_audio", "data", "format",
		"audio", "file", "video_url", "encrypted_content", "prompt_cache_breakpoint")
	aboutThought = set("id", "cache_control", "text", "thinking", "reasoning", "summary", "signature", "data", "encrypted_content", "closed")
)

// silentParts are the kinds of content blocks without public text but a transcript, of both APIs and of servers that
// speak them, and what they hold.
var silentParts = map[string]map[string]bool{
	"input_image": aboutFile, "input_file": aboutFile, "input_audio": aboutFile, "output_audio": aboutFile, "computer_screenshot": aboutFile,
	"image_url": aboutFile, "file": aboutFile, "audio": aboutFile, "video_url": aboutFile,
	"reasoning_text": aboutThought, "summary_text": aboutThought, "encrypted_content": aboutThought,
	"thinking": aboutThought, "reasoning": aboutThought, "redacted_thinking": aboutThought,
}

// addContent adds the text of a content: a string or blocks. What a tool gave back may have any shape.
func addContent(m *provider.Message, content provider.JSON, field, said string) {
	switch kind := content.Kind(); {
	case kind == '"':
		m.AddText(field, said, content)
	case kind == '[':
		for at, block := range m.Each(field, content) {
			addPart(m, block, at, said)
		}
	case said == provider.SaidTool:
		m.AddLeaves(field, said, content, nil)
	case kind != 0 && kind != 'n':
		m.Unknown = true
	}
}

func addPart(m *provider.Message, block provider.JSON, field, said string) {
	o := block.Object()
	switch blockType := o.Take("type").Text(); {
	case isText(blockType):
		m.AddText(field+"/text", said, o.Take("text"))
		addAnnotations(m, o.Take("annotations"), field+"/annotations")
	case blockType == "refusal":
		m.AddText(field+"/refusal", said, o.Take("refusal"))
	case silentParts[blockType] != nil:
		m.Fix(fixedPart(blockType))
		m.AddText(field+"/transcript", said, o.Take("transcript"))
		m.Rest(o, silentParts[blockType])
		return
	case said == provider.SaidTool:
		if blockType != "" {
			m.Fix(provider.Strange)
		}
		m.AddLeaves(field, said, block, nil)
		return
	default:
		m.Unknown = true
		return
	}
	m.Rest(o, aboutPart)
}

// fixedPart says why the bytes of a message with a silent part must not be changed.
func fixedPart(blockType string) provider.Fixed {
	switch blockType {
	case "reasoning_text", "summary_text", "encrypted_content", "thinking", "reasoning", "redacted_thinking":
		return provider.Reasoned
	}
	return provider.Media
}

func isText(blockType string) bool {
	return blockType == "text" || blockType == "input_text" || blockType == "output_text"
}

// aboutAnnotation is what says where a quoted text was found, and not what it says.
var aboutAnnotation = set("type", "url", "file_id", "container_id", "filename", "id")

// addAnnotations adds what was found and is quoted: titles, and what some servers give of the page.
func addAnnotations(m *provider.Message, annotations provider.JSON, field string) {
	m.AddLeaves(field, provider.SaidTool, annotations, aboutAnnotation)
}
