package openai

import "ambit/provider"

// Elements reads the bodies of responses, compact and input_tokens, of chat, and of the older completions.
func (Protocol) Elements(req provider.Request, body []byte) (provider.Elements, error) {
	return elements(req, provider.After(req.Before, body))
}

func elements(req provider.Request, r *provider.Reader) (provider.Elements, error) {
	w := walk{r: r}
	switch req.Type {
	case provider.TypeResponses, provider.TypeCompact, provider.TypeCountTokens:
		r.Members(w.responses)
		w.e.System = append(w.instructions, w.e.System...)
	case provider.TypeChat:
		r.Members(w.chat)
	case provider.TypeCompletions:
		r.Members(w.completions)
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
	r            *provider.Reader
	e            provider.Elements
	instructions []provider.Element
}

func (w *walk) responses(name string) {
	switch name {
	case "tools":
		w.r.List("/tools", w.tool)
	case "instructions":
		if w.r.Kind() != 'n' {
			w.instructions = []provider.Element{w.r.Element("/instructions", provider.Form{})}
		}
	case "input":
		if w.r.Kind() == '"' {
			const before, after = `{"role":"user","content":[{"type":"input_text","text":`, `}]}`
			w.e.Messages = []provider.Element{w.r.Wrapped("/input", before, after)}
			return
		}
		w.r.List("/input", w.item)
	case "previous_response_id":
		w.e.Previous = w.r.Text()
	}
}

// item reads an item of the input. additional_tools declare tools where a body has none of its own; wherever they
// stand, they do not end the leading run.
func (w *walk) item(at string) {
	itemType, role := peekItem(w.r)
	item := w.r.Element(at, itemForm(itemType, role))
	switch {
	case itemType == "additional_tools":
		w.e.Tools = append(w.e.Tools, item)
	case isSystem(role) && len(w.e.Messages) == 0:
		w.e.System = append(w.e.System, item)
	default:
		w.e.Messages = append(w.e.Messages, item)
	}
}

// peekItem returns the type of the item that comes next and, for a message, its role.
func peekItem(r *provider.Reader) (itemType, role string) {
	itemType = r.Peek("type")[0].Text()
	if itemType == "" || itemType == "message" {
		role = r.Peek("role")[0].Text()
	}
	return itemType, role
}

// itemForm knows that an item without type and role is a reference, which consists of an id.
func itemForm(itemType, role string) provider.Form {
	f := provider.Form{Drop: []string{"id", "status"}}
	switch {
	case itemType == "item_reference" || itemType == "" && role == "":
		f.Drop = []string{"status"}
	case itemType == "" || itemType == "message":
		f.Blocks, f.Text = "content", "input_text"
		if role == "assistant" {
			f.Text = "output_text"
		}
	}
	return f
}

// itemHash returns the hash that an item of an answer has when a later request repeats it.
func itemHash(item provider.JSON) provider.Hash {
	r := provider.NewReader(item)
	return r.Element("", itemForm(peekItem(r))).Hash
}

func isSystem(role string) bool { return role == "system" || role == "developer" }

// tool reads a tool, and a function of the older chat API, which declares the same.
func (w *walk) tool(at string) {
	list := &w.e.Tools
	if w.r.Peek("defer_loading")[0].True() {
		list = &w.e.Deferred
	}
	*list = append(*list, w.r.Element(at, provider.Form{}))
}

func (w *walk) chat(name string) {
	switch name {
	case "tools", "functions":
		w.r.List("/"+name, w.tool)
	case "messages":
		w.r.List("/messages", func(at string) {
			list := &w.e.Messages
			if len(w.e.Messages) == 0 && isSystem(w.r.Peek("role")[0].Text()) {
				list = &w.e.System
			}
			*list = append(*list, w.r.Element(at, provider.Form{Blocks: "content", Text: "text"}))
		})
	}
}

// completions reads a prompt, each of whose strings is a message of the user, and what is to stand behind the answer.
// A prompt may be tokens.
func (w *walk) completions(name string) {
	at := "/" + name
	switch {
	case name != "prompt" && name != "suffix" || w.r.Kind() == 'n':
	case w.r.Kind() == '[' && w.holdsPrompts():
		w.r.List(at, w.prompt)
	default:
		w.prompt(at)
	}
}

// holdsPrompts reports whether the array that comes next is a list of prompts, and not the tokens of one.
func (w *walk) holdsPrompts() (prompts bool) {
	mark := w.r.Mark()
	w.r.List("", func(string) { prompts = prompts || w.r.Kind() == '"' || w.r.Kind() == '[' })
	w.r.Back(mark)
	return prompts
}

func (w *walk) prompt(at string) {
	e := provider.Element{}
	if w.r.Kind() == '"' {
		e = w.r.Wrapped(at, `{"role":"user","content":[{"type":"text","text":`, `}]}`)
	} else {
		e = w.r.Element(at, provider.Form{})
	}
	w.e.Messages = append(w.e.Messages, e)
}

// prompt reads a prompt of the older completions. Tokens cannot be read.
func prompt(raw provider.JSON, at string) provider.Message {
	m := provider.Message{Role: "user", Unknown: raw.Kind() != '"'}
	m.AddText(at, provider.SaidUser, raw)
	return m
}
