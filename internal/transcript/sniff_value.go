package transcript

import (
	"bytes"
	"strings"

	"ambit/provider"
)

// copilotEvent reports whether a type is one that Copilot CLI gives its events.
func copilotEvent(kind string) bool {
	group, _, ok := strings.Cut(kind, ".")
	return ok && copilotGroups[group]
}

var copilotGroups = set("session", "user", "assistant", "system", "tool", "hook", "permission", "skill", "subagent")

// historyFormat tells whether a text is a history of aider: its heading, or what it counts and a line of the person's.
func historyFormat(text []byte) string {
	if text[0] == '{' {
		return ""
	}
	text = text[:min(len(text), sniffed)]
	holds := func(line string) bool {
		return bytes.HasPrefix(text, []byte(line)) || bytes.Contains(text, []byte("\n"+line))
	}
	if holds(aiderBegun) || holds("#### ") && holds("> Tokens: ") {
		return Aider
	}
	return ""
}

// valueFormat tells the format of a recording that is one JSON value, by the first of its members or of its elements as
// far as they are whole; or what it looks like that is refused.
func valueFormat(text []byte) (format, refused string) {
	if text[0] == '[' {
		return listFormat(text)
	}
	if text[0] != '{' {
		return "", ""
	}
	if format := lineFormat(text); format != "" {
		return format, ""
	}
	var names []string
	for name, v := range provider.JSON(text).Members() {
		names = append(names, name)
		if format := memberFormat(names, name, v); format != "" {
			return format, ""
		}
	}
	head := text[:min(len(text), 4096)] // its first list breaks off
	switch {
	case bytes.Contains(head, []byte(`"trajectory"`)) && bytes.Contains(head, []byte(`"observation"`)):
		return SWEAgent, ""
	case bytes.Contains(head, []byte(`"clientHistory"`)) || bytes.Contains(head, []byte(`"parts"`)) && bytes.Contains(head, []byte(`"history"`)):
		return GeminiCLI, ""
	}
	return "", ""
}

// lineFormat tells the format by the first line, where it is one of Gemini CLI's or Qwen Code's: its members alone look like
// those of one value.
func lineFormat(text []byte) string {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	v, _, ok := provider.Cut(text)
	f := v.Find("sessionId", "projectHash", "messages")
	switch {
	case !ok:
	case f[0] != nil && f[1] != nil && f[2] == nil:
		return GeminiLine
	case f[0] != nil && formatOf(v) == Qwen:
		return Qwen
	}
	return ""
}

// memberFormat tells the format by a member of an object, and the names up to it.
func memberFormat(names []string, name string, v provider.JSON) string {
	var first provider.JSON
	for first = range v.Elements() {
		break
	}
	f := first.Find("parts", "action", "observation", "agent", "role")
	switch name {
	case "projectHash":
		if names[0] == "sessionId" || len(names) > 1 {
			return GeminiCLI
		}
	case "clientHistory", "history":
		switch {
		case f[0].Kind() == '[' && f[4] != nil:
			return GeminiCLI
		case name == "history" && f[3] != nil && f[4] != nil && !strings.Contains(strings.Join(names, " "), "instance_id"):
			return SWEAgent
		}
	case "trajectory":
		if f[1] != nil && f[2] != nil {
			return SWEAgent
		}
	case "trajectory_format":
		if strings.HasPrefix(v.Text(), "mini-swe-agent") {
			return MiniSWE
		}
	case "info":
		if f := v.Find("model_stats", "mini_version"); f[1] != nil || f[0] != nil && names[0] == "info" {
			return MiniSWE
		}
	}
	return ""
}

// listFormat tells the format of a list by its first element.
func listFormat(text []byte) (format, refused string) {
	for first := range provider.JSON(text).Elements() {
		f := first.Find("role", "parts", "ts", "content", "type", "say", "ask")
		role := f[0].Text()
		switch {
		case (role == "user" || role == "model") && f[1].Kind() == '[':
			return GeminiCLI, ""
		case (role == "user" || role == "assistant") && f[3] != nil && (f[2] != nil || strings.HasPrefix(claudeTitle(first).Text(), "<task>")):
			return Roo, ""
		case f[2] != nil && (f[4].Text() == "say" || f[4].Text() == "ask"):
			return "", "ui_messages.json, what Roo Code or Cline showed, not what was said to the model; the recording is api_conversation_history.json beside it"
		}
		break
	}
	return "", ""
}
