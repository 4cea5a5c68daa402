package gemini

import "ambit/provider"

// Elements reads the bodies of generate and count_tokens, with names in camelCase or in snake_case. The system
// comes first. A request's contents, and a content's parts, may be one object instead of a list.
func (Protocol) Elements(req provider.Request, body []byte) (provider.Elements, error) {
	return elements(req, provider.After(req.Before, body))
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
