package ambit

import (
	"bytes"
	"strings"

	"ambit/internal/conversation"
	"ambit/internal/token"
	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// begin takes what stands before the messages of a request: its tools and its system text, in the provider's order. Tools
// that wait until the model loads them are not in the request's prefix.
func (s *sight) begin(a *Asked) {
	if a.Elements.SystemFirst {
		s.system(a)
	}
	for _, el := range a.Elements.Tools {
		raw := a.Body[el.Offset : el.Offset+el.Length]
		s.add(view.Role, item{Segment: Segment{Role: RoleTools, Ref: el.At, Class: ClassTools, Text: string(raw)}, content: said(string(raw)), at: el.At})
	}
	for _, el := range a.Elements.Deferred {
		s.gone = append(s.gone, gone{ref: el.At, reason: ReasonDeferred})
	}
	if !a.Elements.SystemFirst {
		s.system(a)
	}
}

func (s *sight) system(a *Asked) {
	for _, el := range a.Elements.System {
		text := textOf(provider.JSON(a.Body[el.Offset : el.Offset+el.Length]))
		it := item{Segment: Segment{Role: RoleSystem, Ref: el.At, Class: ClassSystem, Text: text}, content: said(text), at: el.At}
		if instructs(text) {
			it.Class = ClassInstructions
			s.add(view.Stable, it)
			continue
		}
		s.add(view.Role, it)
	}
}

// said is the content of a text by itself.
func said(text string) (c token.Content) {
	c.Say(text)
	return c
}

// textOf is what system text says, whatever block or message it stands in: its texts, a line break between them. What
// has none that is known stands as it is spelled.
func textOf(v provider.JSON) string {
	var texts []string
	var walk func(provider.JSON)
	walk = func(v provider.JSON) {
		switch v.Kind() {
		case '"':
			texts = append(texts, provider.DecodeText(v))
		case '[':
			for el := range v.Elements() {
				walk(el)
			}
		case '{':
			for _, inner := range v.Find("text", "content", "parts") {
				walk(inner)
			}
		}
	}
	walk(v)
	if len(texts) == 0 {
		return string(v)
	}
	return strings.Join(texts, "\n")
}

// message makes a segment of a message as it stands in a body.
func (it *item) message(m provider.Message, raw provider.JSON) {
	u := conversation.Unit(it.Ref, m)
	if u.Role == unit.System {
		text := textOf(raw)
		it.Role, it.Class, it.Text, it.content = RoleSystem, ClassSystem, text, said(text)
		return
	}
	it.unit(&u)
}

// told makes a segment of a message as a recording tells it; out says that its client had left out the results in it.
func told(m *conversation.Message, out bool) item {
	it := item{Segment: Segment{Ref: m.Ref, Out: out}, n: m.N, answer: m.Answer}
	it.unit(&m.Unit)
	if m.Summary {
		it.Class = ClassSummary
	}
	if out {
		it.Text, it.content = "", token.Content{Results: it.content.Results}
	}
	return it
}

// unit takes over who says a unit, what it is, what it says and what is counted of it.
func (it *item) unit(u *unit.Unit) {
	it.Role, it.Class, it.content = string(u.Role), classOf(u), contentOf(u)
	var texts []string
	for i := range u.Parts {
		switch p := &u.Parts[i]; p.Kind {
		case unit.Call:
			texts = append(texts, strings.TrimRight(p.Name+" "+string(p.Args), " "))
		default:
			texts = append(texts, p.Text)
		}
	}
	it.Text = strings.Join(texts, "\n")
}

// classOf is what a unit is: by its calls and results, or else by who says it.
func classOf(u *unit.Unit) Class {
	switch {
	case len(u.Calls()) > 0:
		return ClassCall
	case len(u.Results()) > 0 || u.Role == unit.Tool:
		return ClassResult
	case u.Role == unit.Assistant:
		return ClassAssistant
	case u.Role == unit.System:
		return ClassSystem
	}
	return ClassUser
}

// contentOf is what of a unit is counted.
func contentOf(u *unit.Unit) (c token.Content) {
	for i := range u.Parts {
		switch p := &u.Parts[i]; p.Kind {
		case unit.Call:
			c.Calls++
			c.Say(p.Name)
			c.Say(string(p.Args))
		case unit.Result:
			c.Results++
			c.Say(p.Text)
		default:
			if u.Role != unit.Assistant {
				c.Messages++
			}
			c.Say(p.Text)
		}
	}
	return c
}

func (s *sight) family() token.Family { return token.FamilyOf(s.named) }

// images are the tokens of the images in a message, by their size in pixels.
func images(v provider.JSON, f token.Family) (n int) {
	if !bytes.Contains(v, []byte(`image`)) {
		return 0
	}
	switch v.Kind() {
	case '[':
		for el := range v.Elements() {
			n += images(el, f)
		}
	case '{':
		found := v.Find("type", "source", "image_url")
		switch found[0].Text() {
		case "image":
			if found[1].Kind() == '{' {
				return f.Image(found[1].Find("data")[0].Text())
			}
		case "input_image", "image_url":
			url := found[2]
			if url.Kind() == '{' {
				url = url.Find("url")[0]
			}
			return f.Image(url.Text())
		}
		for _, inner := range v.Members() {
			n += images(inner, f)
		}
	}
	return n
}
