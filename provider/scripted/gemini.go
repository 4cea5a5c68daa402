package scripted

import (
	"fmt"
	"net/http"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"ambit/entry"
)

// geminiRequest is as much of a request to Gemini as a Provider needs.
type geminiRequest struct {
	System   json.RawMessage   `json:"systemInstruction"`
	Tools    []json.RawMessage `json:"tools"`
	Contents []json.RawMessage `json:"contents"`
	Config   struct {
		Thinking struct {
			Include bool `json:"includeThoughts"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
	Generate *geminiRequest `json:"generateContentRequest"` // of a count
}

// geminiContent is as much of a content as a Provider needs.
type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Call      *geminiCall     `json:"functionCall,omitempty"`
	Response  *geminiResponse `json:"functionResponse,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResponse struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// decodeGemini reads a body of Gemini. The model and whether it is streamed stand in the path.
func decodeGemini(path string, body []byte, is issued) (request, error) {
	var from geminiRequest
	if err := json.Unmarshal(body, &from); err != nil {
		return request{}, wrong("Invalid JSON payload received. %v", err)
	}
	if from.Generate != nil {
		from = *from.Generate
	}
	if len(from.Contents) == 0 {
		return request{}, wrong("* GenerateContentRequest.contents: contents is not specified\n")
	}
	path, query, _ := strings.Cut(path, "?")
	model, what, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	r := request{Model: model, Stream: strings.HasPrefix(what, "stream"), thinks: from.Config.Thinking.Include}
	r.listed = r.Stream && !strings.Contains(query, "alt=sse")
	for i, raw := range from.Contents {
		var c geminiContent
		if err := json.Unmarshal(raw, &c); err != nil {
			return r, wrong("Invalid value at 'contents[%d]': %v", i, err)
		}
		r.messages = append(r.messages, c.message(is))
	}
	var err error
	r.prefix, err = listed(newPrefix(model), tier{'s', []json.RawMessage{from.System}}, tier{'t', from.Tools}, tier{'m', from.Contents})
	return r, err
}

// message tells a content as Messages has it. A call without an id is known by the signature of its content.
func (c geminiContent) message(is issued) message {
	out := message{Role: c.Role}
	switch c.Role {
	case "model":
		out.Role = "assistant"
	case "":
		out.Role = "user"
	}
	at, known := spot{}, false
	calls := 0
	for _, p := range c.Parts {
		if s, ok := is[p.Signature]; ok && p.Signature != "" {
			at, known = s, true
		}
		switch {
		case p.Call != nil:
			id := p.Call.ID
			if _, ok := is.call(id); !ok && known && calls < len(at.turn().calls) {
				id = at.turn().calls[calls].id
			}
			calls++
			out.blocks = append(out.blocks, block{Type: "tool_use", ID: id})
		case p.Response != nil:
			out.blocks = append(out.blocks, block{Type: "tool_result", ToolUseID: p.Response.ID})
		case p.Text != nil && !p.Thought:
			out.blocks = append(out.blocks, block{Type: "text", Text: *p.Text})
		}
	}
	return out
}

// generated is an answer of Gemini, or an event of its stream.
type generated struct {
	Candidates []candidate `json:"candidates"`
	Usage      geminiUsage `json:"usageMetadata"`
	Model      string      `json:"modelVersion"`
	ID         string      `json:"responseId"`
}

type candidate struct {
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
	Index   int           `json:"index"`
}

type geminiUsage struct {
	Prompt     int64 `json:"promptTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Total      int64 `json:"totalTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount,omitempty"`
}

// playGemini makes the answer of a turn, whole and as Google streams it.
func playGemini(t turn, r *request, u entry.Usage) (any, []sent, error) {
	parts := t.parts(r.thinks)
	raw, err := marshal(parts)
	if err != nil {
		return nil, nil, fmt.Errorf("encode answer: %w", err)
	}
	out := max(1, int64(len(raw))/bytesPerToken)
	usage := geminiUsage{Prompt: u.Input, Candidates: out, Total: u.Input + out, Cached: u.CacheRead}
	made := func(finish string, parts ...geminiPart) generated {
		return generated{[]candidate{{Content: geminiContent{"model", parts}, Finish: finish}}, usage, r.Model, "resp_" + digest(t.place)}
	}
	var events []sent
	for _, p := range parts {
		if p.Text == nil {
			events = append(events, sent{data: made("", p), part: true})
			continue
		}
		for _, piece := range pieces(*p.Text) {
			cut := p
			cut.Text = &piece
			events = append(events, sent{data: made("", cut), part: true})
		}
	}
	events = append(events, sent{data: made("STOP", geminiPart{Text: new(string)})})
	whole := made("STOP", parts...)
	if r.listed {
		return []generated{whole}, events, nil
	}
	return whole, events, nil
}

// parts are what a turn says: its thought if it is wanted, its text, and its calls, the first of which carries the seal.
func (t turn) parts(thinks bool) []geminiPart {
	var out []geminiPart
	if thinks && t.thought != "" {
		out = append(out, geminiPart{Text: &t.thought, Thought: true})
	}
	if t.text != "" {
		out = append(out, geminiPart{Text: &t.text})
	}
	for i, c := range t.made() {
		p := geminiPart{Call: &geminiCall{c.id, c.name, c.args}}
		if i == 0 && t.thought != "" {
			p.Signature = t.seal()
		}
		out = append(out, p)
	}
	return out
}

// geminiRefusal is an error as Google writes it.
func geminiRefusal(f Fault) any {
	type detail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	}
	if f.Type == "" {
		f.Type = geminiStatus(f.Status)
	}
	if f.Message == "" {
		f.Message = f.Type
	}
	return map[string]detail{"error": {f.Status, f.Message, f.Type}}
}

// geminiStatus is the status that Google documents for one of HTTP.
func geminiStatus(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable, 529:
		return "UNAVAILABLE"
	}
	if status < http.StatusInternalServerError {
		return "INVALID_ARGUMENT"
	}
	return "INTERNAL"
}
