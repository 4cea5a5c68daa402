package transcript

import (
	"strings"
	"unicode"

	"ambit/entry"
	"ambit/provider"
)

// roo reads api_conversation_history.json of Roo Code and of Cline: messages of the Messages API. Their tools are blocks
// of the API, or, in most, elements of XML in what the assistant says, whose results are blocks of text behind one that
// names the tool.
type roo struct {
	*document
	t       *talk
	pending provider.Call // of the newest answer, made of XML
	model   string        // that the client says is used
}

func readRoo(b *building) {
	b.kind = provider.TypeMessages
	h := &roo{document: newDocument(b)}
	h.t = b.talk("")
	h.read(nil, h.item, h.other)
}

func (h *roo) item(r record, at string) {
	f := r.Find("role", "ts", "isSummary")
	u, when := r.unitAt(at), timeOf(f[1])
	pending := h.pending
	h.pending = provider.Call{}
	switch role := f[0].Text(); {
	case f[2].True():
		h.t.compacted()
		h.say(h.t, u, rooMessage(r.JSON, *u), when, true)
		h.pending = pending
	case role == "assistant":
		m := rooMessage(r.JSON, *u)
		n := h.send(h.t, h.latest)
		n.response.Model = h.model
		n.tookUntil(when)
		h.building.at(when)
		h.answer(n, u, m)
		if len(m.Calls) == 1 && m.Calls[0].ID == madeID(at) {
			h.pending = m.Calls[0]
		}
	case role == "user":
		h.title(r, claudeTitle(r.JSON))
		h.model = rooModel(r.JSON, h.model)
		held := *u
		if pending.ID != "" && rooResult(r.JSON) == pending.Name {
			held = holding(u, pending.ID)
		}
		h.say(h.t, u, rooMessage(r.JSON, held), when, true)
	default:
		h.unknown(r, "message of "+role)
	}
}

// environment is how the client begins what it says of itself beside each message.
const environment = "<environment_details>"

// rooModel is the model that a message says is used, if it says so.
func rooModel(v provider.JSON, model string) string {
	for block := range v.Find("content")[0].Elements() {
		text := block.Find("text")[0].Text()
		if !strings.HasPrefix(text, environment) {
			continue
		}
		if _, rest, ok := strings.Cut(text, "<model>"); ok {
			name, _, _ := strings.Cut(rest, "</model>")
			model = provider.ModelName(name)
		}
	}
	return model
}

// rooResult is the tool whose result a message holds as text; empty when it holds none.
func rooResult(v provider.JSON) string {
	for block := range v.Find("content")[0].Elements() {
		if tool := resultOf(block.Find("text")[0].Text()); tool != "" {
			return tool
		}
	}
	return ""
}

// resultOf is the tool whose result a text says comes, as in [read_file for 'a.go'] Result:
func resultOf(text string) string {
	rest, ok := strings.CutPrefix(text, "[")
	if !ok || !strings.Contains(rest, "] Result:") {
		return ""
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLower(r) })
	if end <= 0 || rest[end] != ' ' && rest[end] != ']' {
		return ""
	}
	return rest[:end]
}

// rooTools are the tools that the clients describe in their system prompts.
var rooTools = set("read_file", "write_to_file", "apply_diff", "insert_content", "search_and_replace", "replace_in_file", "search_files", "list_files",
	"list_code_definition_names", "codebase_search", "execute_command", "browser_action", "use_mcp_tool", "access_mcp_resource",
	"ask_followup_question", "attempt_completion", "switch_mode", "new_task", "fetch_instructions", "update_todo_list", "generate_image",
	"run_slash_command", "plan_mode_respond", "load_mcp_documentation", "new_rule", "report_bug", "condense", "web_fetch")

// interrupted is how the client ends an answer that it broke off behind a call.
const interrupted = "[Response interrupted by a tool use result."

// xmlCall is the first call that a text makes as an element of a tool's name at the start of a line; nil when it makes none.
func xmlCall(text string) *provider.Call {
	at, open := 0, make(map[string]bool) // tools whose elements do not end
	for line := range strings.Lines(text) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "<"), ">")
		if ok && line[0] == '<' && rooTools[name] && !open[name] {
			inner := text[at+len(name)+len("<>"):]
			end := strings.Index(inner, "</"+name+">")
			if end < 0 {
				end = strings.Index(inner, interrupted)
			}
			if end >= 0 {
				return &provider.Call{Name: name, Args: quoted(inner[:end])}
			}
			open[name] = true
		}
		at += len(line)
	}
	return nil
}

// aboutRoo is what of a message is no public text.
var aboutRoo = set("ts", "isSummary", "condenseId", "condenseParent", "truncationId", "truncationParent", "isTruncationMarker", "id", "reasoning_details",
	"modelInfo", "metrics")

// rooMessage reads a message.
func rooMessage(v provider.JSON, u entry.Unit) provider.Message {
	o := v.Object()
	m := provider.Message{Role: o.Take("role").Text()}
	said := provider.SaidUser
	switch {
	case o.Take("isSummary").True():
		m.Role = "user"
	case m.Role == "assistant":
		said = provider.SaidAssistant
	}
	content := o.Take("content")
	m.Rest(o, aboutRoo)
	if content.Kind() == '"' {
		m.AddText(u.At+"/content", said, content)
	} else {
		rooBlocks(&m, content, u, said)
	}
	if said == provider.SaidAssistant && len(m.Calls) == 0 {
		for _, text := range m.Texts {
			if call := xmlCall(text.Text); call != nil { // its arguments are in the text, and public there
				call.ID = madeID(u.At)
				m.Calls = append(m.Calls, *call)
				break
			}
		}
	}
	return m
}

// personal are the tools whose results the person says.
var personal = set("ask_followup_question", "attempt_completion")

// rooBlocks adds content blocks. Behind one that says that a result comes, the next is that result.
func rooBlocks(m *provider.Message, content provider.JSON, u entry.Unit, said string) {
	tool := ""
	for at, block := range m.Each(u.At+"/content", content) {
		o := m.Object(block)
		kind := o.Take("type").Text()
		switch kind {
		case "text":
			text := o.Take("text")
			as := said
			of := ""
			if m.Role == "user" && len(u.Results) > 0 {
				of = resultOf(text.Text())
			}
			switch {
			case of != "":
				if len(m.Results) == 0 {
					m.AddResult(result(u))
				}
				as = provider.SaidTool
			case tool != "" && !personal[tool] && !strings.HasPrefix(text.Text(), environment):
				as = provider.SaidTool
			}
			tool = of
			m.AddText(at+"/text", as, text)
		case "tool_use":
			m.AddCall(at+"/input", o.Take("id").Text(), o.Take("name").Text(), o.Take("input"), false)
		case "tool_result":
			m.AddResult(o.Take("tool_use_id"))
			addContent(m, o.Take("content"), at+"/content", provider.SaidTool)
		case "image", "thinking", "redacted_thinking", "reasoning", "thoughtSignature":
			continue
		default:
			m.Unknown = true
			continue
		}
		m.Rest(o, aboutRooBlock)
	}
}

// aboutRooBlock is what of a content block is no public text.
var aboutRooBlock = set("is_error", "cache_control", "reasoning_details", "call_id", "signature")
