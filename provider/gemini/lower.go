package gemini

import (
	"errors"
	"strconv"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Lower makes the body of a generateContent request, streamed or not. The system is the systemInstruction, a part for each
// text. Segments of one side that follow each other are one content, unless one is Apart; the results of calls come first in
// it. A result is named after its call, and says output, or error where it failed. The greatest length of the answer stands in
// generationConfig, beside what the rest has there. There are no cache markers, and the model is named by the Endpoint.
func (proto Protocol) Lower(v view.View, p provider.LowerParams) ([]byte, error) {
	if p.Type != "" && p.Type != provider.TypeGenerate {
		return nil, provider.NotLowered(p.Type)
	}
	laid, err := provider.Lay(v, proto.Contract(provider.Request{Type: provider.TypeGenerate}), p)
	if err != nil {
		return nil, err
	}
	l := &lowering{Lowering: provider.Lowering{Out: make([]byte, 0, provider.LoweredSize(v))}, names: names(laid.Messages)}
	l.Byte('{')
	l.config(p)
	l.system(laid.System)
	l.tools(v.Tools)
	l.contents(laid.Messages)
	l.Byte('}')
	return l.Body()
}

// lowering is a body that is being written.
type lowering struct {
	provider.Lowering
	names map[string]string // of the tools, by the ids of their calls
}

func names(segments []*view.Segment) map[string]string {
	names := map[string]string{}
	for _, s := range segments {
		for i := range s.Unit.Parts {
			if p := &s.Unit.Parts[i]; p.Kind == unit.Call {
				names[p.ID] = p.Name
			}
		}
	}
	return names
}

const generationConfig = "generationConfig"

// config writes the rest, with how long the answer may be.
func (l *lowering) config(p provider.LowerParams) {
	for _, m := range p.Rest {
		if m.Name != generationConfig || p.MaxTokens <= 0 {
			l.Member(m.Name)
			l.JSON(m.Name, m.Value)
			continue
		}
		others, err := provider.RestOf(m.Value, "maxOutputTokens")
		if err != nil {
			l.Fail(m.Name, err)
		}
		l.generation(p.MaxTokens, others)
	}
	if p.MaxTokens > 0 && !l.Named(generationConfig) {
		l.generation(p.MaxTokens, nil)
	}
}

func (l *lowering) generation(maxTokens int, others []provider.Member) {
	l.Member(generationConfig)
	l.Byte('{')
	for _, m := range others {
		l.Comma()
		l.Text(m.Name)
		l.Byte(':')
		l.JSON(m.Name, m.Value)
	}
	l.Comma()
	l.String(`"maxOutputTokens":` + strconv.Itoa(maxTokens) + `}`)
}

func (l *lowering) system(segments []*view.Segment) {
	texts, ref, err := provider.SystemTexts(segments)
	if err != nil {
		l.Fail(ref, err)
	}
	if len(texts) == 0 {
		return
	}
	l.Member("systemInstruction")
	l.String(`{"parts":[`)
	for _, text := range texts {
		l.Comma()
		l.text(text)
	}
	l.String(`]}`)
}

func (l *lowering) text(text string) {
	l.String(`{"text":`)
	l.Text(text)
	l.Byte('}')
}

// tools writes the functions as one tool. What is spelled already is one of them if it has a name, and else a tool by itself.
func (l *lowering) tools(tools []view.Tool) {
	if len(tools) == 0 {
		return
	}
	l.Member("tools")
	l.Byte('[')
	declared := false
	for i := range tools {
		t := &tools[i]
		if t.Raw != nil && provider.JSON(t.Raw).Find("name")[0] == nil {
			continue
		}
		if !declared {
			l.String(`{"functionDeclarations":[`)
			declared = true
		}
		l.Comma()
		l.declaration(t)
	}
	if declared {
		l.String(`]}`)
	}
	for i := range tools {
		if t := &tools[i]; t.Raw != nil && provider.JSON(t.Raw).Find("name")[0] == nil {
			l.Comma()
			l.JSON(t.Name, t.Raw)
		}
	}
	l.Byte(']')
}

func (l *lowering) declaration(t *view.Tool) {
	if t.Raw != nil {
		l.JSON(t.Name, t.Raw)
		return
	}
	l.String(`{"name":`)
	l.Text(t.Name)
	if t.Description != "" {
		l.String(`,"description":`)
		l.Text(t.Description)
	}
	if len(t.Schema) > 0 {
		l.String(`,"parametersJsonSchema":`)
		l.JSON(t.Name, t.Schema)
	}
	l.Byte('}')
}

func (l *lowering) contents(segments []*view.Segment) {
	l.Member("contents")
	l.Byte('[')
	for len(segments) > 0 {
		n := joined(segments)
		l.content(segments[:n])
		segments = segments[n:]
	}
	l.Byte(']')
}

// joined is how many segments, from the first on, are one content. Results of one answer's calls are never apart.
func joined(segments []*view.Segment) int {
	model := segments[0].Unit.Role == unit.Assistant
	calls := false
	for n, s := range segments {
		apart := s.Apart && !(model && calls) && len(s.Unit.Results()) == 0
		if n > 0 && (apart || (s.Unit.Role == unit.Assistant) != model) {
			return n
		}
		calls = calls || len(s.Unit.Calls()) > 0
	}
	return len(segments)
}

func (l *lowering) content(segments []*view.Segment) {
	role := "user"
	if segments[0].Unit.Role == unit.Assistant {
		role = "model"
	}
	begin := len(l.Out)
	l.Comma()
	l.String(`{"role":"` + role + `","parts":[`)
	empty := len(l.Out)
	for _, results := range []bool{true, false} {
		for _, s := range segments {
			if s.Unit.Raw != nil {
				l.Fail(s.Unit.Ref, provider.ErrForeign)
			}
			for i := range s.Unit.Parts {
				part := &s.Unit.Parts[i]
				if (part.Kind == unit.Result) != results || !provider.Sent(*part) {
					continue
				}
				l.Comma()
				l.part(s.Unit.Ref, part, role)
			}
		}
	}
	if len(l.Out) == empty {
		l.Out = l.Out[:begin]
		return
	}
	l.String(`]}`)
}

var errArguments = errors.New("the arguments are no JSON object")

// part writes one part.
func (l *lowering) part(ref string, p *unit.Part, role string) {
	if err := means(p, role); err != nil {
		l.Fail(ref, err)
		return
	}
	switch {
	case p.Raw != nil:
		l.JSON(ref, p.Raw)
	case p.Kind == unit.Call:
		args := p.Args
		if len(args) == 0 {
			args = []byte("{}")
		}
		l.String(`{"functionCall":{"id":`)
		l.Text(p.ID)
		l.String(`,"name":`)
		l.Text(p.Name)
		l.String(`,"args":`)
		from := len(l.Out)
		l.JSON(ref, args)
		if len(l.Out) > from && l.Out[from] != '{' {
			l.Fail(ref, errArguments)
		}
		l.String(`}}`)
	case p.Kind == unit.Result:
		l.String(`{"functionResponse":{"id":`)
		l.Text(p.ID)
		l.String(`,"name":`)
		l.Text(l.names[p.ID])
		if p.Failed {
			l.String(`,"response":{"error":`)
		} else {
			l.String(`,"response":{"output":`)
		}
		l.Text(provider.Says(*p))
		l.String(`}}}`)
	default:
		l.text(p.Text)
	}
}
