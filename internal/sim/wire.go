package sim

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"ambit/provider"
)

// atom is one element of what a request says, however its wire spells it: system in front, then user, told, said, call and
// result.
type atom struct{ kind, id, text string }

// members are those of all wires' messages, as far as they matter here.
type members struct {
	Type, Role, Text string
	Content          json.RawMessage
	Thinking         string
	Thought          bool

	ID        string
	ToolUseID string `json:"tool_use_id"`
	Name      string
	Input     json.RawMessage

	Calls      []members `json:"tool_calls"`
	Function   *members
	Arguments  string
	ToolCallID string `json:"tool_call_id"`
	CallID     string `json:"call_id"`
	Output     string

	Parts    []members
	Called   *members        `json:"functionCall"`
	Args     json.RawMessage `json:"args"`
	Given    *members        `json:"functionResponse"`
	Response map[string]string
}

// body is what a request has at its top.
type body struct {
	System       []members
	Messages     []members
	Instructions string
	Input        []members
	First        members `json:"systemInstruction"`
	Contents     []members
	Tools        []declared
}

// declared is a tool as a request tells of it.
type declared struct {
	Name, Description string
	Function          *declared
	Declared          []declared `json:"functionDeclarations"`
}

// reader collects atoms.
type reader struct{ list []atom }

func (r *reader) add(kind, id, text string) { r.list = append(r.list, atom{kind, bare(id), text}) }

// user adds what stands on the user's side, which may be what the system tells.
func (r *reader) user(text string) {
	inner, is := strings.CutPrefix(text, "<system-update>\n")
	if inner, ends := strings.CutSuffix(inner, "\n</system-update>"); is && ends {
		r.add("told", "", strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(inner))
		return
	}
	r.add("user", "", text)
}

// says adds a text of a role.
func (r *reader) says(role, text string) {
	switch role {
	case "assistant", "model":
		r.add("said", "", text)
	case "system", "developer":
		r.add("told", "", text)
	default:
		r.user(text)
	}
}

// call adds a call.
func (r *reader) call(id, name string, args []byte) error {
	var is map[string]any
	if err := json.Unmarshal(args, &is); err != nil {
		return fmt.Errorf("the arguments of %s: %w", id, err)
	}
	r.add("call", id, name+" "+object(is))
	return nil
}

// read reads a request of a wire, and what it tells of tools. It knows nothing of how the code under test reads or writes one.
func read(wire string, raw []byte) (list []atom, tools []string, err error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, nil, err
	}
	r := &reader{list: make([]atom, 1, 64)}
	var system []string
	for _, s := range append(b.System, b.First.Parts...) {
		system = append(system, s.Text)
	}
	switch wire {
	case provider.TypeMessages:
		err = r.messages(b.Messages)
	case provider.TypeChat:
		if len(b.Messages) > 0 && b.Messages[0].Role == "system" {
			system = append(system, texts(b.Messages[0].Content)...)
			b.Messages = b.Messages[1:]
		}
		err = r.chat(b.Messages)
	case provider.TypeResponses:
		system = append(system, b.Instructions)
		err = r.items(b.Input)
	default:
		err = r.contents(b.Contents)
	}
	r.list[0] = atom{"system", "", strings.Join(system, "\n\n")}
	return r.list, tooled(wire, b.Tools), err
}

// texts are those of a content, which is one or a list of them.
func texts(content json.RawMessage) (list []string) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		if one != "" {
			list = append(list, one)
		}
		return list
	}
	var blocks []members
	_ = json.Unmarshal(content, &blocks) // what is neither has no text
	for _, b := range blocks {
		list = append(list, b.Text)
	}
	return list
}

func (r *reader) messages(list []members) error {
	for _, m := range list {
		var blocks []members
		if len(m.Content) > 0 && m.Content[0] == '"' {
			r.says(m.Role, strings.Join(texts(m.Content), ""))
		} else if err := json.Unmarshal(m.Content, &blocks); err != nil {
			return err
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				r.says(m.Role, b.Text)
			case "tool_use":
				if err := r.call(b.ID, b.Name, b.Input); err != nil {
					return err
				}
			case "tool_result":
				r.add("result", b.ToolUseID, strings.Join(texts(b.Content), ""))
			case "thinking":
			default:
				return fmt.Errorf("a block of type %q", b.Type)
			}
		}
	}
	return nil
}

func (r *reader) chat(list []members) error {
	for _, m := range list {
		if m.Role == "tool" {
			r.add("result", m.ToolCallID, strings.Join(texts(m.Content), ""))
			continue
		}
		for _, text := range texts(m.Content) {
			r.says(m.Role, text)
		}
		for _, c := range m.Calls {
			if err := r.call(c.ID, c.Function.Name, []byte(c.Function.Arguments)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) items(list []members) error {
	for _, m := range list {
		switch m.Type {
		case "message":
			for _, text := range texts(m.Content) {
				r.says(m.Role, text)
			}
		case "function_call":
			if err := r.call(m.CallID, m.Name, []byte(m.Arguments)); err != nil {
				return err
			}
		case "function_call_output":
			r.add("result", m.CallID, m.Output)
		case "reasoning":
		default:
			return fmt.Errorf("an item of type %q", m.Type)
		}
	}
	return nil
}

func (r *reader) contents(list []members) error {
	for _, m := range list {
		for _, p := range m.Parts {
			switch {
			case p.Called != nil:
				if err := r.call(p.Called.ID, p.Called.Name, p.Called.Args); err != nil {
					return err
				}
			case p.Given != nil:
				r.add("result", p.Given.ID, p.Given.Response["output"]+p.Given.Response["error"])
			case !p.Thought:
				r.says(m.Role, p.Text)
			}
		}
	}
	return nil
}

// object spells arguments, however they were spelled.
func object(args map[string]any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // they were read, or are strings
	}
	return string(raw)
}

// spelled spells arguments as a model does, in the fewest bytes.
func spelled(args map[string]any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		panic(err) // they are strings
	}
	return strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028").Replace(strings.TrimSuffix(b.String(), "\n"))
}

// tooled is what a request of a wire tells of tools.
func tooled(wire string, tools []declared) (list []string) {
	for _, t := range tools {
		all := []declared{t}
		switch wire {
		case provider.TypeChat:
			all[0] = *t.Function
		case provider.TypeGenerate:
			all = t.Declared
		}
		for _, t := range all {
			list = append(list, t.Name+": "+t.Description)
		}
	}
	return list
}

// unquoted is a JSON string's text.
func unquoted(raw []byte) (text string) {
	_ = json.Unmarshal(raw, &text) // what is none is no text that was told
	return text
}

func itoa(n int) string { return strconv.Itoa(n) }

func dirName(n int) string { return "/project/" + strconv.Itoa(n) }
