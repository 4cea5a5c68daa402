package gemini

import "ambit/provider"

// Message reads one content.
func (Protocol) Message(_ provider.Request, raw []byte, at string) provider.Message {
	return readMessage(raw, at).Settled()
}

func readMessage(raw provider.JSON, at string) provider.Message {
	o := raw.Object()
	m := provider.Message{Role: o.Take("role").Text()}
	said := provider.SaidUser
	switch m.Role {
	case "":
		m.Role = "user"
	case "user":
	case "model":
		said = provider.SaidAssistant
	case "function", "tool":
		said = provider.SaidTool
	case "system":
		return m
	default:
		m.Unknown = true
		return m
	}
	parts := o.Take("parts")
	if parts.Kind() == 0 && (len(raw) == 0 || raw[0] != '{') {
		m.Unknown = true
	}
	addParts(&m, parts, at+"/parts", said)
	m.Rest(o, aboutContent)
	return m
}

// addParts adds what the parts of a content say: a list, or the only one.
func addParts(m *provider.Message, parts provider.JSON, field, said string) {
	switch parts.Kind() {
	case '{':
		addPart(m, parts, field, said)
	case '[':
		for at, part := range m.Each(field, parts) {
			addPart(m, part, at, said)
		}
	case 0, 'n':
	default:
		m.Unknown = true
	}
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// silent are the members of a part that hold no public text. With those that addPart reads they are the public
// API's.
var silent = set("inlineData", "inline_data", "fileData", "file_data", "videoMetadata", "video_metadata",
	"thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata", "mediaResolution", "media_resolution", "cache_control")

// fixedMembers are the members of a part that make its content one whose bytes must not be changed: signatures and files.
var fixedMembers = map[string]provider.Fixed{
	"thoughtSignature": provider.Reasoned, "thought_signature": provider.Reasoned,
	"inlineData": provider.Media, "inline_data": provider.Media, "fileData": provider.Media, "file_data": provider.Media,
}

// What is never public text beside the parts: in a call, in a result, and in what code gave back.
var (
	aboutContent = set("cache_control")
	aboutCall    = set("id", "name", "toolType", "tool_type")
	aboutResult  = set("id", "name", "toolType", "tool_type", "scheduling")
	aboutCode    = set("id", "outcome")
)

// addPart adds what one part says. A part that holds nothing known, besides what it may hold, is of an unknown kind.
func addPart(m *provider.Message, part provider.JSON, field, said string) {
	thought := part.Find("thought")[0].True()
	known, empty := false, true
	if thought {
		m.Fix(provider.Reasoned)
	}
	for name, v := range part.Members() {
		at := field + "/" + provider.PointerName(name)
		empty = false
		m.FixIf(fixedMembers[name], v)
		switch name {
		case "text":
			if !thought {
				m.AddText(at, said, v)
			}
		case "functionCall", "function_call", "toolCall", "tool_call":
			addCall(m, v, at)
		case "functionResponse", "function_response", "toolResponse", "tool_response":
			addResult(m, v, at)
		case "executableCode", "executable_code":
			m.AddCall(at, "", "code_execution", v, false)
		case "codeExecutionResult", "code_execution_result":
			o := m.Object(v)
			m.AddText(at+"/output", provider.SaidTool, o.Take("output"))
			m.Rest(o, aboutCode)
		default:
			known = known || silent[name]
			m.Unknown = m.Unknown || !silent[name] && v.HoldsText()
			continue
		}
		known = true
	}
	if !known && (!empty || part.Kind() != '{') {
		m.Unknown = true
	}
}

// addCall adds a call, which may be one of a tool that the provider runs.
func addCall(m *provider.Message, v provider.JSON, at string) {
	o := m.Object(v)
	name := o.Take("name").Text()
	if name == "" {
		name = o.Take("toolType").Text()
	}
	m.AddCall(at+"/args", o.Take("id").Text(), name, o.Take("args"), false)
	m.Rest(o, aboutCall)
}

// addResult adds what a tool gave back, in whatever shape. Its parts are files.
func addResult(m *provider.Message, v provider.JSON, at string) {
	o := m.Object(v)
	id, from := o.Take("id"), len(m.Texts)
	m.AddResult(id)
	m.AddLeaves(at+"/response", provider.SaidTool, o.Take("response"), nil)
	if id.Text() == "" {
		m.Beside(from)
	}
	for _, part := range m.Each("", o.Take("parts")) {
		m.Fix(provider.Media)
		m.Rest(m.Object(part), silent)
	}
	m.Rest(o, aboutResult)
}
