package openai

import (
	"strings"

	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// betweenTexts stands between texts that become one.
const betweenTexts = "\n\n"

// Lower makes the body of a Responses request, or of Chat Completions where the type is chat.
//
// In Responses the system is the instructions; a later system segment is a message of the developer. Texts of a segment that
// follow each other are one message; each call, each result and each opaque part of an answer is an item. Reasoning is asked
// for in encrypted form, and nothing is stored at the provider, unless the rest says otherwise.
//
// In Chat the system is one message in front; a later system segment is a message of the system. The segments of an answer are
// one message; each result is one, in front of what the user says; each other segment is one. A stream brings its usage,
// unless the rest has stream_options.
//
// Neither wire has a mark for a result that failed: its text says so. Nor has either cache markers, which are not written.
func (proto Protocol) Lower(v view.View, p provider.LowerParams) ([]byte, error) {
	if p.Type == "" {
		p.Type = provider.TypeResponses
	}
	if p.Type != provider.TypeResponses && p.Type != provider.TypeChat {
		return nil, provider.NotLowered(p.Type)
	}
	laid, err := provider.Lay(v, proto.Contract(provider.Request{Type: p.Type}), p)
	if err != nil {
		return nil, err
	}
	system, ref, err := provider.SystemTexts(laid.System)
	l := &lowering{provider.Lowering{Out: make([]byte, 0, provider.LoweredSize(v))}}
	if err != nil {
		l.Fail(ref, err)
	}
	l.Byte('{')
	if p.Type == provider.TypeChat {
		l.chat(v.Tools, strings.Join(system, betweenTexts), laid.Messages, p)
	} else {
		l.responses(v.Tools, strings.Join(system, betweenTexts), laid.Messages, p)
	}
	l.Byte('}')
	return l.Body()
}

// lowering is a body that is being written.
type lowering struct{ provider.Lowering }

func (l *lowering) responses(tools []view.Tool, system string, messages []*view.Segment, p provider.LowerParams) {
	l.Params(p, "max_output_tokens")
	l.Default(p, "store", "false")
	l.Default(p, "include", `["reasoning.encrypted_content"]`)
	l.Rest(p.Rest)
	if system != "" {
		l.Member("instructions")
		l.Text(system)
	}
	l.tools(tools, l.tool)
	l.Member("input")
	l.Byte('[')
	for _, s := range messages {
		l.items(s)
	}
	l.Byte(']')
}

// tools writes the tools, each with write unless it is spelled already.
func (l *lowering) tools(tools []view.Tool, write func(t *view.Tool)) {
	if len(tools) == 0 {
		return
	}
	l.Member("tools")
	l.Byte('[')
	for i := range tools {
		l.Comma()
		if t := &tools[i]; t.Raw != nil {
			l.JSON(t.Name, t.Raw)
		} else {
			write(t)
		}
	}
	l.Byte(']')
}

// tool writes a tool of Responses. Without strict the provider would rewrite its schema.
func (l *lowering) tool(t *view.Tool) {
	l.String(`{"type":"function","name":`)
	l.Text(t.Name)
	l.described(t, `,"parameters":{"type":"object","properties":{}}`)
	l.String(`,"strict":false}`)
}

// described writes what a tool does and the schema of its arguments, or what stands for none.
func (l *lowering) described(t *view.Tool, none string) {
	if t.Description != "" {
		l.String(`,"description":`)
		l.Text(t.Description)
	}
	if len(t.Schema) == 0 {
		l.String(none)
		return
	}
	l.String(`,"parameters":`)
	l.JSON(t.Name, t.Schema)
}

// items writes the items of a segment.
func (l *lowering) items(s *view.Segment) {
	if s.Unit.Raw != nil {
		l.Fail(s.Unit.Ref, provider.ErrForeign)
	}
	open, kind := false, "input_text"
	role := map[unit.Role]string{unit.Assistant: "assistant", unit.System: "developer"}[s.Unit.Role]
	switch role {
	case "assistant":
		kind = "output_text"
	case "":
		role = "user"
	}
	end := func() {
		if open {
			l.String(`]}`)
		}
		open = false
	}
	for i := range s.Unit.Parts {
		part := &s.Unit.Parts[i]
		if !provider.Sent(*part) {
			continue
		}
		if err := meansItem(part, role); err != nil {
			l.Fail(s.Unit.Ref, err)
		}
		if part.Kind == unit.Text && part.Raw == nil || part.Kind == unit.Opaque && role == "user" {
			if !open {
				l.Comma()
				l.String(`{"type":"message","role":"` + role + `","content":[`)
				open = true
			}
			l.Comma()
			l.content(s.Unit.Ref, part, kind)
			continue
		}
		end()
		l.Comma()
		l.item(s.Unit.Ref, part)
	}
	end()
}

// content writes a part of a message.
func (l *lowering) content(ref string, part *unit.Part, kind string) {
	if part.Raw != nil {
		l.JSON(ref, part.Raw)
		return
	}
	l.String(`{"type":"` + kind + `","text":`)
	l.Text(part.Text)
	l.Byte('}')
}

// item writes a call, a result, or what is spelled already.
func (l *lowering) item(ref string, part *unit.Part) {
	switch {
	case part.Raw != nil:
		l.JSON(ref, part.Raw)
	case part.Kind == unit.Call:
		l.String(`{"type":"function_call","call_id":`)
		l.Text(part.ID)
		l.String(`,"name":`)
		l.Text(part.Name)
		l.String(`,"arguments":`)
		l.args(ref, part.Args)
		l.Byte('}')
	default:
		l.String(`{"type":"function_call_output","call_id":`)
		l.Text(part.ID)
		l.String(`,"output":`)
		l.Text(provider.Says(*part))
		l.Byte('}')
	}
}

// args writes arguments as a string that holds JSON.
func (l *lowering) args(ref string, args []byte) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	spelled, err := provider.AppendMinimal(nil, args)
	if err != nil {
		l.Fail(ref, err)
		return
	}
	l.Text(string(spelled))
}
