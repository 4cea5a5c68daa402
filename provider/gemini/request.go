package gemini

import (
	"strconv"

	"ambit/provider"
)

// Elements reads the bodies of generate and count_tokens, with names in camelCase or in snake_case. The system
// comes first. A request's contents, and a content's parts, may be one object instead of a list.
func (Protocol) Elements(req provider.Request, body []byte) (provider.Elements, error) {
	return elements(req, provider.NewReader(body))
}

func elements(req provider.Request, r *provider.Reader) (provider.Elements, error) {
	w := walk{r: r}
	switch req.Type {
	case provider.TypeGenerate, provider.TypeCountTokens:
		w.e.SystemFirst = true
		r.Members(func(name string) { w.member("", name) })
	default:
		r.Skip()
	}
	if err := r.End(); err != nil {
		return provider.Elements{}, err
	}
	return w.e, nil
}

// walk is a body half read.
type walk struct {
	r *provider.Reader
	e provider.Elements
}

// member reads a member of a request, which for count_tokens may stand inside another one.
func (w *walk) member(at, name string) {
	at += "/" + name
	switch name {
	case "generateContentRequest", "generate_content_request":
		w.r.Members(func(name string) {
			if !isWrapper(name) {
				w.member(at, name)
			}
		})
	case "tools":
		w.r.List(at, w.tool)
	case "systemInstruction", "system_instruction":
		w.system(at)
	case "contents":
		w.each(at, func(at string) {
			w.e.Messages = append(w.e.Messages, w.r.Element(at, provider.Form{Blocks: "parts"}))
		})
	}
}

func isWrapper(name string) bool {
	return name == "generateContentRequest" || name == "generate_content_request"
}

// each reads a list, or what stands for the only entry of one.
func (w *walk) each(at string, read func(at string)) {
	if w.r.Kind() == '{' {
		read(at)
		return
	}
	w.r.List(at, read)
}

func (w *walk) system(at string) {
	part := func(at string) { w.e.System = append(w.e.System, w.r.Element(at, provider.Form{})) }
	if w.r.Kind() == '"' {
		part(at)
		return
	}
	w.r.Members(func(name string) {
		if name == "parts" {
			w.each(at+"/parts", part)
		}
	})
}

// declarations are the names under which a tool lists functions.
var declarations = []string{"functionDeclarations", "function_declarations"}

// tool reads an entry of tools: each function that it declares, and what else it says, googleSearch say, as one.
func (w *walk) tool(at string) {
	mark, other := w.r.Mark(), w.r.Kind() != '{'
	w.r.Members(func(name string) {
		switch kind := w.r.Kind(); {
		case name == declarations[0] || name == declarations[1]:
			w.r.List(at+"/"+name, func(at string) {
				w.e.Tools = append(w.e.Tools, w.r.Element(at, provider.Form{}))
			})
		case kind != 'n' && name != "cache_control":
			other = true
		}
	})
	if other {
		w.r.Back(mark)
		w.e.Tools = append(w.e.Tools, w.r.Element(at, provider.Form{Drop: declarations}))
	}
}

// Message reads one content.
func (Protocol) Message(_ provider.Request, raw []byte, at string) provider.Message {
	found := provider.JSON(raw).Find("role", "parts")
	m := provider.Message{Role: found[0].Text()}
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
	parts, field := found[1], at+"/parts"
	switch parts.Kind() {
	case '{':
		addPart(&m, parts, field, said)
	case '[':
		i := 0
		for part := range parts.Elements() {
			addPart(&m, part, field+"/"+strconv.Itoa(i), said)
			i++
		}
	default:
		m.Unknown = len(raw) == 0 || raw[0] != '{' || parts.Kind() != 0 && parts.Kind() != 'n'
	}
	return m
}

// silent are the members of a part that hold no public text. With those that addPart reads they are the public
// API's.
var silent = map[string]bool{
	"inlineData": true, "inline_data": true, "fileData": true, "file_data": true, "videoMetadata": true, "video_metadata": true,
	"thought": true, "thoughtSignature": true, "thought_signature": true, "partMetadata": true, "part_metadata": true,
	"mediaResolution": true, "media_resolution": true, "toolCall": true, "tool_call": true, "toolResponse": true, "tool_response": true,
}

// addPart adds what one part says. A part that holds nothing known, besides what it may hold, is of an unknown kind.
func addPart(m *provider.Message, part provider.JSON, field, said string) {
	thought := part.Find("thought")[0].True()
	known, empty := false, true
	for name, v := range part.Members() {
		at := field + "/" + name
		empty = false
		switch name {
		case "text":
			if !thought {
				m.AddText(at, said, v)
			}
		case "functionCall", "function_call":
			found := v.Find("id", "name", "args")
			m.AddCall(at+"/args", found[0].Text(), found[1].Text(), found[2], false)
		case "functionResponse", "function_response":
			addResult(m, v, at)
		case "executableCode", "executable_code":
			m.AddCall(at, "", "code_execution", v, false)
		case "codeExecutionResult", "code_execution_result":
			m.AddText(at+"/output", provider.SaidTool, v.Find("output")[0])
		default:
			known = known || silent[name]
			continue
		}
		known = true
	}
	if !known && (!empty || part.Kind() != '{') {
		m.Unknown = true
	}
}

func addResult(m *provider.Message, v provider.JSON, at string) {
	found := v.Find("id", "response")
	m.AddResult(found[0])
	response, field := found[1], at+"/response"
	m.AddText(field, provider.SaidTool, response)
	for name, value := range response.Members() {
		m.AddText(field+"/"+provider.PointerName(name), provider.SaidTool, value)
	}
}
