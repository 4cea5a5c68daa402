package sim

import (
	"bytes"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"ambit/provider"
)

// tongue is how a foreign agent talks with its provider.
type tongue struct {
	wire  string
	route string // the proxy's
	model string
	path  string // behind the route
	form  string // of a request: its thinking, tools, messages and whether it is streamed go in
	tools string
	think string // what asks for thoughts; empty where the wire gives them unasked
}

func tongues() []tongue {
	schema := `{"type":"object","properties":{"call":{"type":"string"},"path":{"type":"string"},"prompt":{"type":"string"}}}`
	return []tongue{
		{
			wire: provider.TypeMessages, route: "anthropic", model: "claude-sonnet-4-5", path: "/v1/messages",
			form:  `{"model":"claude-sonnet-4-5","max_tokens":4000,%s"system":[{"type":"text","text":"You are an agent."}],%s"messages":[%s],"stream":%t}`,
			tools: `"tools":[{"name":"run","description":"Runs.","input_schema":` + schema + `},{"name":"task","description":"Asks an agent.","input_schema":` + schema + `}],`,
			think: `"thinking":{"type":"enabled","budget_tokens":1024},`,
		},
		{
			wire: provider.TypeResponses, route: "openai", model: "gpt-5", path: "/v1/responses",
			form:  `{"model":"gpt-5",%s"instructions":"You are an agent.",%s"store":false,"input":[%s],"stream":%t}`,
			tools: `"tools":[{"type":"function","name":"run","description":"Runs.","parameters":` + schema + `},{"type":"function","name":"task","parameters":` + schema + `}],`,
			think: `"include":["reasoning.encrypted_content"],`,
		},
		{
			wire: provider.TypeChat, route: "openai", model: "gpt-5", path: "/v1/chat/completions",
			form:  `{"model":"gpt-5",%s%s"messages":[{"role":"system","content":"You are an agent."},%s],"stream":%t}`,
			tools: `"tools":[{"type":"function","function":{"name":"run","parameters":` + schema + `}},{"type":"function","function":{"name":"task","parameters":` + schema + `}}],`,
		},
		{
			wire: provider.TypeGenerate, route: "gemini", model: "gemini-2.5-pro", path: "/v1beta/models/gemini-2.5-pro",
			form:  `{%s"systemInstruction":{"parts":[{"text":"You are an agent."}]},%s"contents":[%s]}`,
			tools: `"tools":[{"functionDeclarations":[{"name":"run","parameters":` + schema + `},{"name":"task","parameters":` + schema + `}]}],`,
			think: `"generationConfig":{"thinkingConfig":{"includeThoughts":true}},`,
		},
	}
}

// at is the path of a request.
func (t *tongue) at(streamed bool) string {
	switch {
	case t.wire != provider.TypeGenerate:
		return t.path
	case streamed:
		return t.path + ":streamGenerateContent?alt=sse"
	}
	return t.path + ":generateContent"
}

// counts is the path at which is asked how long a request would be; empty where there is none.
func (t *tongue) counts() string {
	switch t.wire {
	case provider.TypeMessages:
		return t.path + "/count_tokens"
	case provider.TypeGenerate:
		return t.path + ":countTokens"
	}
	return ""
}

// request is a request's body.
func (t *tongue) request(messages []string, tools, thinks, streamed bool) []byte {
	with, think := "", ""
	if tools {
		with = t.tools
	}
	if thinks {
		think = t.think
	}
	all := strings.Join(messages, ",")
	if t.wire == provider.TypeGenerate {
		return fmt.Appendf(nil, t.form, think, with, all)
	}
	return fmt.Appendf(nil, t.form, think, with, all, streamed)
}

// says is a message of the user's.
func (t *tongue) says(text string) string {
	switch t.wire {
	case provider.TypeResponses:
		return `{"type":"message","role":"user","content":[{"type":"input_text","text":` + quoted(text) + `}]}`
	case provider.TypeChat:
		return `{"role":"user","content":` + quoted(text) + `}`
	case provider.TypeGenerate:
		return `{"role":"user","parts":[{"text":` + quoted(text) + `}]}`
	}
	return `{"role":"user","content":[{"type":"text","text":` + quoted(text) + `}]}`
}

// made is a call that an answer makes.
type made struct {
	id, name string
	args     map[string]string
}

// results are the messages that give the results of calls.
func (t *tongue) results(calls []made, texts []string) (messages []string) {
	var parts []string
	for i, c := range calls {
		switch t.wire {
		case provider.TypeMessages:
			parts = append(parts, `{"type":"tool_result","tool_use_id":"`+c.id+`","content":`+quoted(texts[i])+`}`)
		case provider.TypeGenerate:
			parts = append(parts, `{"functionResponse":{"id":"`+c.id+`","name":"`+c.name+`","response":{"output":`+quoted(texts[i])+`}}}`)
		case provider.TypeChat:
			messages = append(messages, `{"role":"tool","tool_call_id":"`+c.id+`","content":`+quoted(texts[i])+`}`)
		default:
			messages = append(messages, `{"type":"function_call_output","call_id":"`+c.id+`","output":`+quoted(texts[i])+`}`)
		}
	}
	switch all := strings.Join(parts, ","); t.wire {
	case provider.TypeMessages:
		messages = append(messages, `{"role":"user","content":[`+all+`]}`)
	case provider.TypeGenerate:
		messages = append(messages, `{"role":"user","parts":[`+all+`]}`)
	}
	return messages
}

// answered reads an answer that came whole: the messages by which a later request repeats it, its calls, and its text.
func (t *tongue) answered(body []byte) (messages []string, calls []made, text string, err error) {
	var a struct {
		Content    json.RawMessage // Messages
		Choices    []struct{ Message json.RawMessage }
		Output     []json.RawMessage
		Candidates []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, nil, "", err
	}
	switch {
	case t.wire == provider.TypeMessages:
		messages = []string{`{"role":"assistant","content":` + string(a.Content) + `}`}
	case t.wire == provider.TypeChat && len(a.Choices) > 0:
		messages = []string{string(a.Choices[0].Message)}
	case t.wire == provider.TypeResponses:
		for _, item := range a.Output {
			messages = append(messages, string(item))
		}
	case len(a.Candidates) > 0:
		messages = []string{string(a.Candidates[0].Content)}
	}
	list, err := t.atoms(messages)
	for _, one := range list {
		switch one.kind {
		case "said":
			text += one.text
		case "call":
			name, args, _ := strings.Cut(one.text, " ")
			c := made{id: one.id, name: name}
			if err := json.Unmarshal([]byte(args), &c.args); err != nil {
				return nil, nil, "", err
			}
			calls = append(calls, c)
		}
	}
	return messages, t.prefixed(calls), text, err
}

// atoms are what messages say.
func (t *tongue) atoms(messages []string) ([]atom, error) {
	list, _, err := read(t.wire, t.request(messages, false, false, false))
	if err != nil {
		return nil, err
	}
	return list[1:], nil
}

// prefixed puts in front of calls' ids what their wire does.
func (t *tongue) prefixed(calls []made) []made {
	before := map[string]string{provider.TypeMessages: "toolu_", provider.TypeChat: "call_", provider.TypeResponses: "call_"}[t.wire]
	for i := range calls {
		calls[i].id = before + calls[i].id
	}
	return calls
}

// quoted spells a text as JSON.
func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // it is a string
	}
	return strings.TrimSuffix(b.String(), "\n")
}
