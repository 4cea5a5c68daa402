package openai

import (
	"cmp"
	"strconv"
	"strings"

	"ambit/provider"
)

// Message reads one item of a Responses input, or one message of a chat.
func (Protocol) Message(req provider.Request, raw []byte, at string) provider.Message {
	if req.Type == provider.TypeChat {
		return chatMessage(raw, at)
	}
	return item(raw, at)
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

// silentItems are the kinds of items without public text, and who they stand for.
var silentItems = map[string]string{
	"reasoning": "assistant", "compaction": "assistant", "compaction_summary": "assistant", "context_compaction": "assistant",
	"file_search_call": "assistant", "image_generation_call": "assistant", "item_reference": "assistant",
	"mcp_list_tools": "tool", "additional_tools": "developer", "compaction_trigger": "user", "configuration_update": "developer",
}

func item(raw provider.JSON, at string) (m provider.Message) {
	if raw.Kind() == '"' {
		m.Role = "user"
		m.AddText(at, provider.SaidUser, raw)
		return m
	}
	found := raw.Find("type", "role", "id")
	itemType, role := found[0].Text(), found[1].Text()
	if itemType == "" && role == "" && len(found[2]) > 0 {
		itemType = "item_reference"
	}
	stands, silent := silentItems[itemType]
	switch {
	case itemType == "" || itemType == "message":
		m.Role = role
		said, ok := saidBy(role)
		m.Unknown = !ok
		if said != "" {
			addContent(&m, raw.Find("content")[0], at+"/content", said)
		}
	case calls[itemType] != "":
		m.Role = "assistant"
		id, name, args := call(itemType, raw)
		m.AddCall(at+"/"+calls[itemType], id, name, args, freeText[itemType])
		if itemType == "mcp_call" {
			m.AddResult(found[2])
			m.AddText(at+"/output", provider.SaidTool, raw.Find("output")[0])
		}
	case results[itemType]:
		m.Role = "tool"
		addOutput(&m, raw, at)
	case silent:
		m.Role = cmp.Or(role, stands)
	default:
		m.Role, m.Unknown = cmp.Or(role, "assistant"), true
	}
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

// call returns what an item calls. Tools that have no name are named by the kind of the call.
func call(itemType string, item provider.JSON) (id, name string, args provider.JSON) {
	found := item.Find("call_id", "id", "name", calls[itemType])
	id = cmp.Or(found[0].Text(), found[1].Text())
	name = cmp.Or(found[2].Text(), strings.TrimSuffix(itemType, "_call"))
	return id, name, found[3]
}

// callArgs returns a copy of a call's arguments as they are kept.
func callArgs(itemType string, args provider.JSON) []byte {
	if freeText[itemType] {
		return append([]byte(nil), args...)
	}
	return provider.Arguments(args)
}

// addOutput adds a result: a string, content blocks, what a shell wrote, or an object around a string.
func addOutput(m *provider.Message, item provider.JSON, at string) {
	found := item.Find("call_id", "approval_request_id", "id", "output")
	for _, id := range found[:3] {
		if id.Text() != "" {
			m.AddResult(id)
			break
		}
	}
	output, field := found[3], at+"/output"
	if output.Kind() == '{' {
		m.AddText(field+"/content", provider.SaidTool, output.Find("content")[0])
		return
	}
	addContent(m, output, field, provider.SaidTool)
}

// silentParts are the kinds of content blocks without public text, of both APIs and of servers that speak them.
var silentParts = map[string]bool{
	"input_image": true, "input_file": true, "input_audio": true, "output_audio": true, "computer_screenshot": true,
	"reasoning_text": true, "summary_text": true, "encrypted_content": true,
	"image_url": true, "file": true, "audio": true, "video_url": true, "thinking": true, "reasoning": true, "redacted_thinking": true,
}

// addContent adds the text of a content: a string or blocks.
func addContent(m *provider.Message, content provider.JSON, field, said string) {
	switch content.Kind() {
	case '"':
		m.AddText(field, said, content)
	case '[':
		i := 0
		for block := range content.Elements() {
			addPart(m, block, field+"/"+strconv.Itoa(i), said)
			i++
		}
	case 0, 'n':
	default:
		m.Unknown = true
	}
}

func addPart(m *provider.Message, block provider.JSON, field, said string) {
	found := block.Find("type", "text", "refusal", "stdout", "stderr")
	switch blockType := found[0].Text(); {
	case isText(blockType):
		m.AddText(field+"/text", said, found[1])
	case blockType == "refusal":
		m.AddText(field+"/refusal", said, found[2])
	case silentParts[blockType]:
	case blockType == "" && (len(found[3]) > 0 || len(found[4]) > 0): // of a shell
		m.AddText(field+"/stdout", said, found[3])
		m.AddText(field+"/stderr", said, found[4])
	default:
		m.Unknown = true
	}
}

func isText(blockType string) bool {
	return blockType == "text" || blockType == "input_text" || blockType == "output_text"
}
