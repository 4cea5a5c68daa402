package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
)

var (
	reduceFrom = flag.String("reduce", "", "data directory of a client's recorded run, to make testdata of")
	reduceTo   = flag.String("reduce-to", "", "name of the file that is made of it")
)

// reduced is a client's recorded run, of which only what threads are found by is left: which messages each request
// held, what came back, and how the client named itself. Its words are replaced, each by the same other one everywhere.
type reduced struct {
	Client    string            `json:"client"`
	Messages  []json.RawMessage `json:"messages"` // all that differ
	Exchanges []reducedExchange `json:"exchanges"`
}

type reducedExchange struct {
	Method   string                     `json:"method"`
	Path     string                     `json:"path"`
	Headers  map[string]string          `json:"headers,omitempty"`
	Rest     map[string]json.RawMessage `json:"rest,omitempty"` // of the body
	In       string                     `json:"in,omitempty"`   // the member of the body that holds the messages
	Messages []int                      `json:"messages,omitempty"`
	Status   int                        `json:"status,omitempty"`
	Broken   bool                       `json:"broken,omitempty"` // the answer did not come to its end
	Answer   *reducedAnswer             `json:"answer,omitempty"`
}

type reducedAnswer struct {
	ID    string            `json:"id,omitempty"`
	Text  string            `json:"text,omitempty"`
	Calls []reducedCall     `json:"calls,omitempty"`
	Items []json.RawMessage `json:"items,omitempty"` // of the Responses API, those that are neither text nor calls
}

type reducedCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// TestReduce makes testdata when it is told to.
func TestReduce(t *testing.T) {
	if *reduceFrom == "" {
		return
	}
	d, err := journal.Open(*reduceFrom, journal.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := &reduced{}
	type part struct {
		f    *entry.Request
		rec  *ambit.Recording
		back reply
	}
	var parts []part
	for _, name := range names {
		rec, err := ambit.OpenRecording(t.Context(), d, name)
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range d.Read(t.Context(), name, 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch fact := f.Fact.(type) {
			case *entry.Session:
				run.Client = fact.Client
			case *entry.Request:
				parts = append(parts, part{f: fact, rec: rec})
			case *entry.Response:
				for i := range parts {
					if parts[i].rec == rec && parts[i].f.N == fact.N {
						parts[i].back.fact = fact
					}
				}
				if fact.Body == nil {
					continue
				}
				raw, err := d.Body(t.Context(), name, *fact.Body)
				if err != nil {
					t.Fatal(err)
				}
				for i := range parts {
					if parts[i].rec == rec && parts[i].f.N == fact.N {
						parts[i].back.body, _ = provider.Decode(raw, fact.Headers["content-encoding"], maxDecoded)
					}
				}
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.f.Arrived.Compare(b.f.Arrived) })
	at := make(map[string]int)
	for _, p := range parts {
		run.Exchanges = append(run.Exchanges, run.reduce(t, p.f, p.rec, p.back, at))
	}
	if err := os.WriteFile(filepath.Join("testdata", "threads", *reduceTo+".json"), run.lines(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lines writes a run with one message or exchange a line.
func (run *reduced) lines() []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	list := func(n int, at func(i int) any) {
		for i := range n {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := enc.Encode(at(i)); err != nil {
				panic(err)
			}
		}
	}
	fmt.Fprintf(&out, "{\"client\":%q,\"messages\":[\n", run.Client)
	list(len(run.Messages), func(i int) any { return run.Messages[i] })
	out.WriteString("],\"exchanges\":[\n")
	list(len(run.Exchanges), func(i int) any { return run.Exchanges[i] })
	out.WriteString("]}\n")
	return out.Bytes()
}

// reply is what came back for a request, and its body decoded.
type reply struct {
	fact *entry.Response
	body []byte
}

// kept are headers that say whose a request is.
var kept = append([]string{"x-claude-code-agent-id", "thread-id", "x-codex-parent-thread-id", "x-openai-subagent", "user-agent"}, sessionHeaders...)

func (run *reduced) reduce(t *testing.T, f *entry.Request, rec *ambit.Recording, back reply, at map[string]int) reducedExchange {
	x := reducedExchange{Method: f.Method, Path: "/" + f.Provider + f.Path, Headers: map[string]string{}}
	for _, name := range kept {
		if v := f.Headers[name]; v != "" {
			x.Headers[name] = scramble(v, mostText)
		}
	}
	if v := f.Headers["user-agent"]; v != "" {
		x.Headers["user-agent"] = program(v)
	}
	asked, err := rec.Asked(t.Context(), f.N)
	if err != nil {
		return x
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(asked.Body, &body) == nil {
		x.Rest = make(map[string]json.RawMessage)
		for _, name := range []string{"model", "stream", "metadata", "prompt_cache_key", "previous_response_id"} {
			if v := body[name]; v != nil {
				x.Rest[name] = scrambleJSON(v, name, false)
			}
		}
		if n := len(asked.Elements.Tools) + len(asked.Elements.Deferred); n > 0 && body["tools"] != nil {
			x.Rest["tools"] = json.RawMessage(`[{"name":"tool","functionDeclarations":[{"name":"tool"}]}]`)
		}
		for _, name := range []string{"messages", "input", "contents"} {
			var messages []json.RawMessage
			if json.Unmarshal(body[name], &messages) != nil {
				continue
			}
			x.In = name
			for _, m := range messages {
				raw := string(scrambleJSON(m, "", false))
				i, ok := at[raw]
				if !ok {
					i = len(run.Messages)
					at[raw] = i
					run.Messages = append(run.Messages, json.RawMessage(raw))
				}
				x.Messages = append(x.Messages, i)
			}
		}
	}
	a, err := rec.Answer(t.Context(), f.N)
	if back.fact != nil {
		x.Status = back.fact.Status
	}
	x.Broken = err != nil || !a.Whole || back.fact == nil || back.fact.End != entry.EndComplete
	if a.Text != "" || len(a.Calls) > 0 || a.ID != "" {
		x.Answer = &reducedAnswer{ID: a.ID, Text: scramble(a.Text, mostText)}
		for _, call := range a.Calls {
			x.Answer.Calls = append(x.Answer.Calls, reducedCall{call.ID, call.Name, scrambleJSON(call.Args, "", false)})
		}
		for event := range provider.Events(back.body) {
			var e struct {
				Type string
				Item json.RawMessage
			}
			if json.Unmarshal(event.Data, &e) != nil || e.Type != "response.output_item.done" {
				continue
			}
			var item struct{ Type string }
			_ = json.Unmarshal(e.Item, &item)
			if item.Type == "reasoning" || item.Type == "compaction" {
				x.Answer.Items = append(x.Answer.Items, scrambleJSON(e.Item, "", false))
			}
		}
	}
	return x
}

var words = regexp.MustCompile(`[A-Za-z]+`)

// What is left of a text, in bytes: of what is said, and of what is found by its calls.
const (
	mostText   = 2500
	mostResult = 200
)

// scramble replaces every word by another of the same length, the same everywhere, but for those by which a summary is
// asked for. Of a long text the middle goes.
func scramble(text string, most int) string {
	text = words.ReplaceAllStringFunc(text, func(word string) string {
		if lower := strings.ToLower(word); strings.Contains(lower, "summar") || strings.Contains(lower, "compact") {
			return word
		}
		sum := sha256.Sum256([]byte("reduced " + word))
		b := make([]byte, len(word))
		for i := range b {
			b[i] = 'a' + sum[i%len(sum)]%26
		}
		return string(b)
	})
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most/2], "") + "…" + strings.ToValidUTF8(text[len(text)-most/2:], "")
	}
	return text
}

// structural are the members whose strings say how a message is made, and names and ids by which calls are known.
var structural = map[string]bool{
	"type": true, "role": true, "id": true, "call_id": true, "tool_use_id": true, "tool_call_id": true, "name": true, "status": true,
	"model": true, "previous_response_id": true, "mimeType": true, "media_type": true, "phase": true,
}

// opaque are the members whose strings nobody reads.
var opaque = map[string]bool{"signature": true, "thoughtSignature": true, "encrypted_content": true, "data": true}

// scrambleJSON scrambles the strings of a value, and leaves its order, numbers and structure as they are. The name is
// that of the member whose value it is; result says that a call's result is made of it.
func scrambleJSON(v []byte, name string, result bool) json.RawMessage {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return nil
	}
	switch v[0] {
	case '{':
		return scrambleObject(v, result)
	case '[':
		var values []json.RawMessage
		if json.Unmarshal(v, &values) != nil {
			return nil
		}
		for i := range values {
			values[i] = scrambleJSON(values[i], name, result)
		}
		return spell(values)
	case '"':
		return scrambleString(v, name, result)
	}
	return bytes.Clone(v)
}

func scrambleObject(v []byte, result bool) json.RawMessage {
	var says struct{ Role, Type string }
	_ = json.Unmarshal(v, &says)
	result = result || says.Role == "tool" || says.Type == "tool_result" || strings.HasSuffix(says.Type, "_output")
	dec := json.NewDecoder(bytes.NewReader(v))
	_, _ = dec.Token()
	var out []byte
	for dec.More() {
		key, _ := dec.Token()
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		out = append(append(append(append(out, ','), spell(key)...), ':'), scrambleJSON(value, key.(string), result)...)
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(out, []byte(","))...), '}')
}

func scrambleString(v []byte, name string, result bool) json.RawMessage {
	var text string
	if json.Unmarshal(v, &text) != nil {
		return nil
	}
	switch {
	case structural[name]:
	case opaque[name]:
		sum := sha256.Sum256([]byte(text))
		text = fmt.Sprintf("%x", sum[:12])
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		text = string(scrambleJSON([]byte(text), name, result))
	case result:
		text = scramble(text, mostResult)
	default:
		text = scramble(text, mostText)
	}
	return spell(text)
}

func spell(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

// load reads a reduced run.
func load(t testing.TB, name string) *reduced {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "threads", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	run := new(reduced)
	if err := json.Unmarshal(data, run); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return run
}

// runs are the names of all reduced runs.
func runs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "threads", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs: %v", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return files
}

// body is a request's body.
func (run *reduced) body(x reducedExchange) []byte {
	if x.Rest == nil {
		return nil
	}
	body := maps.Clone(x.Rest)
	if x.In != "" {
		messages := make([]json.RawMessage, len(x.Messages))
		for i, at := range x.Messages {
			messages[i] = run.Messages[at]
		}
		body[x.In] = must(json.Marshal(messages))
	}
	return must(json.Marshal(body))
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// stream writes an answer as the wire of a path streams it; one that is broken lacks its end.
func (a *reducedAnswer) stream(path string, broken bool) string {
	var b strings.Builder
	event := func(name string, v any) {
		if name != "" {
			fmt.Fprintf(&b, "event: %s\n", name)
		}
		fmt.Fprintf(&b, "data: %s\n\n", must(json.Marshal(v)))
	}
	type m = map[string]any
	switch {
	case strings.Contains(path, "/messages"):
		event("message_start", m{"type": "message_start", "message": m{"type": "message", "role": "assistant", "content": []any{}}})
		n := 0
		if a.Text != "" {
			event("content_block_start", m{"type": "content_block_start", "index": 0, "content_block": m{"type": "text", "text": ""}})
			event("content_block_delta", m{"type": "content_block_delta", "index": 0, "delta": m{"type": "text_delta", "text": a.Text}})
			event("content_block_stop", m{"type": "content_block_stop", "index": 0})
			n++
		}
		for _, c := range a.Calls {
			event("content_block_start", m{"type": "content_block_start", "index": n, "content_block": m{"type": "tool_use", "id": c.ID, "name": c.Name, "input": m{}}})
			event("content_block_delta", m{"type": "content_block_delta", "index": n, "delta": m{"type": "input_json_delta", "partial_json": string(c.Args)}})
			event("content_block_stop", m{"type": "content_block_stop", "index": n})
			n++
		}
		if !broken {
			event("message_delta", m{"type": "message_delta", "delta": m{"stop_reason": "end_turn"}})
			event("message_stop", m{"type": "message_stop"})
		}
	case strings.Contains(path, "/responses"):
		event("response.created", m{"type": "response.created", "response": m{"id": a.ID, "status": "in_progress", "output": []any{}}})
		var output []any
		for _, item := range a.Items {
			output = append(output, item)
		}
		if a.Text != "" {
			output = append(output, m{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{m{"type": "output_text", "text": a.Text}}})
		}
		for _, c := range a.Calls {
			var text string
			if json.Unmarshal(c.Args, &text) == nil {
				output = append(output, m{"type": "custom_tool_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "input": text})
			} else {
				output = append(output, m{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": string(c.Args)})
			}
		}
		for i, item := range output {
			event("response.output_item.done", m{"type": "response.output_item.done", "output_index": i, "item": item})
		}
		if !broken {
			event("response.completed", m{"type": "response.completed", "response": m{"id": a.ID, "status": "completed", "output": output}})
		}
	case strings.Contains(path, "/chat/"):
		delta := m{"role": "assistant", "content": a.Text}
		var calls []any
		for i, c := range a.Calls {
			calls = append(calls, m{"index": i, "id": c.ID, "type": "function", "function": m{"name": c.Name, "arguments": string(c.Args)}})
		}
		if calls != nil {
			delta["tool_calls"] = calls
		}
		event("", m{"choices": []any{m{"index": 0, "delta": delta}}})
		if !broken {
			event("", m{"choices": []any{m{"index": 0, "delta": m{}, "finish_reason": "stop"}}})
			b.WriteString("data: [DONE]\n\n")
		}
	default:
		var parts []any
		if a.Text != "" {
			parts = append(parts, m{"text": a.Text})
		}
		for _, c := range a.Calls {
			call := m{"name": c.Name, "args": c.Args}
			if c.ID != "" {
				call["id"] = c.ID
			}
			parts = append(parts, m{"functionCall": call})
		}
		candidate := m{"content": m{"role": "model", "parts": parts}}
		if !broken {
			candidate["finishReason"] = "STOP"
		}
		event("", m{"candidates": []any{candidate}})
	}
	return b.String()
}
