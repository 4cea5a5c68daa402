package transcript_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/token"
	"ambit/internal/transcript"
	"ambit/provider"
)

// counted is one difference between two counts of a provider's, with what it was counted for.
type counted struct {
	session, source, model string
	last                   int           // the count of the request before
	output                 int           // and of its answer
	said                   token.Content // by the text of that answer
	asked                  token.Content // what was said since
	tokens                 int           // the difference; of a whole request, its count
	whole                  bool
}

// leastWhole are the tokens from which a conversation is one that begins anew behind a boundary.
const leastWhole = 5000

// sample is the difference as a calibration has it. The answer counts as the provider counted it.
func (c counted) sample(m token.Model) token.Sample {
	s := token.Sample{Content: c.asked, Tokens: c.tokens, Whole: c.whole}
	if c.whole {
		s.Content.Add(c.said)
	} else {
		s.Content.Add(m.Answer(c.output, c.said))
	}
	return s
}

// turn is what a recording says of one request.
type turn struct {
	n, parent int
	extends   bool
	model     string
	usage     *entry.Usage
	said      token.Content // its answer
	later     token.Content // results that stand in the record of its answer and go to the model with the next request
	asked     token.Content
	place     *entry.Place // of its body, in a log of requests
}

// turns reads those of a recording, in order.
func turns(r *transcript.Recording, data []byte) []*turn {
	all := make(map[int]*turn)
	at := func(n int) *turn {
		if all[n] == nil {
			all[n] = &turn{n: n}
		}
		return all[n]
	}
	hidden := thoughts(r.Format, data)
	for _, f := range r.Facts {
		switch f := f.(type) {
		case *entry.Request:
			at(f.N).place = f.Recorded
		case *entry.Relation:
			t := at(f.N)
			t.parent, t.extends = f.Parent, f.How == entry.Extends
		case *entry.Response:
			t := at(f.N)
			t.model, t.usage = f.Model, f.Usage
		case *entry.Unit:
			t := at(f.N)
			switch {
			case f.Of == entry.PartPruned:
				t.parent = 0
			case f.Of == entry.PartRecord:
				raw := data[f.Offset : f.Offset+f.Length]
				t.take(f, transcript.Message(r.Format, *f, raw), raw)
				t.said.Say(hidden[f.Line])
			}
		}
	}
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(x, y *turn) int { return cmp.Compare(x.n, y.n) })
	return list
}

// take adds a message to what was answered or asked.
func (t *turn) take(u *entry.Unit, m provider.Message, raw []byte) {
	said, results := &t.asked, &t.asked
	if u.Answers() {
		said, results = &t.said, &t.later
	}
	for _, text := range m.Texts {
		switch text.Said {
		case provider.SaidArgument:
		case provider.SaidTool:
			results.Say(text.Text)
		case provider.SaidUser:
			said.Say(text.Text)
			said.Messages++
		default:
			said.Say(text.Text)
		}
	}
	for _, c := range m.Calls {
		said.Calls++
		said.Say(c.Name)
		said.Say(string(c.Args))
	}
	results.Results += len(m.Results)
	if len(m.Texts)+len(m.Calls) == 0 || u.Answers() {
		t.more(raw)
	}
	if bytes.Contains(raw, []byte(`"image`)) {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			results.Counted += images(v)
		}
	}
}

// more adds what is public to nobody and goes to the model: reasoning that pi shows, and tools that Codex found.
func (t *turn) more(raw []byte) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	if at(v, "payload", "type") == "tool_search_output" {
		t.asked.Say(jsonOf(at(v, "payload", "tools")))
	}
	if at(v, "type") != "message" {
		return
	}
	for _, part := range list(at(v, "message", "content")) {
		if at(part, "type") == "thinking" {
			t.said.Say(textOf(at(part, "thinking")))
		}
	}
}

// images are the tokens of the images in a JSON value.
func images(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, el := range v {
			n += images(el)
		}
	case map[string]any:
		if v["type"] == "image" {
			data, _ := cmp.Or(v["data"], at(v, "source", "data")).(string)
			return token.Claude.Image(data)
		}
		for name, el := range v {
			if name != "toolUseResult" && name != "details" {
				n += images(el)
			}
		}
	}
	return n
}

// thoughts are what Claude Code shows of an answer's reasoning, by the first line of the answer that says something.
func thoughts(format string, data []byte) map[int]string {
	if format != transcript.ClaudeCode {
		return nil
	}
	said, open := make(map[int]string), make(map[any]string)
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if !bytes.Contains(line, []byte(`"assistant"`)) {
			continue
		}
		var v any
		if json.Unmarshal(line, &v) != nil || at(v, "type") != "assistant" {
			continue
		}
		id, says := at(v, "message", "id"), false
		for _, part := range list(at(v, "message", "content")) {
			if thought, ok := at(part, "thinking").(string); ok {
				open[id] += thought
			} else {
				says = true
			}
		}
		if says {
			said[n] = open[id]
			delete(open, id)
		}
	}
	return said
}

// differences are those of a recording.
func differences(session string, r *transcript.Recording, data []byte) []counted {
	byN, sums := make(map[int]*turn), make(map[int]counted)
	var all []counted
	for _, t := range turns(r, data) {
		byN[t.n] = t
		p := byN[t.parent]
		if p == nil || !t.extends || t.usage == nil || p.usage == nil || t.usage.Input == 0 || p.usage.Input == 0 || t.model != p.model {
			continue
		}
		c := counted{session: session, source: r.Format, model: t.model, last: int(p.usage.Input), output: int(p.usage.Output), said: p.said, asked: p.later, tokens: int(t.usage.Input - p.usage.Input)}
		c.asked.Add(t.asked)
		if r.Format != transcript.Anthropic && r.Format != transcript.OpenAI {
			all = append(all, c)
		}
		sum := sums[t.parent]
		sum.session, sum.source, sum.model, sum.whole = c.session, c.source, c.model, true
		sum.tokens += c.tokens
		sum.said.Add(c.said)
		sum.asked.Add(c.asked)
		sums[t.n] = sum
		if sum.tokens > leastWhole {
			all = append(all, sum)
		}
	}
	return all
}

// logged are the differences of a log of requests, and their counts as a whole, with what their bodies say.
func loggedRequests(session string, r *transcript.Recording, data []byte) []counted {
	byN := make(map[int]*turn)
	bodies := make(map[int][]any)
	var all []counted
	for _, t := range turns(r, data) {
		if t.usage == nil || t.usage.Input == 0 || t.place == nil || t.place.Length == 0 {
			continue
		}
		var body any
		if json.Unmarshal(data[t.place.Offset:t.place.Offset+t.place.Length], &body) != nil {
			continue
		}
		byN[t.n], bodies[t.n] = t, list(at(body, "messages"))
		whole := counted{session: session, source: r.Format, model: t.model, tokens: int(t.usage.Input), whole: true}
		whole.asked.Say(textOf(at(body, "system")))
		for _, tool := range list(at(body, "tools")) {
			whole.asked.Say(jsonOf(tool))
			whole.asked.Calls++
		}
		for _, m := range bodies[t.n] {
			whole.speak(m)
		}
		if whole.tokens > leastWhole {
			all = append(all, whole)
		}
		p := byN[t.parent]
		if p == nil || !t.extends || t.model != p.model || len(bodies[t.parent]) >= len(bodies[t.n]) {
			continue
		}
		c := counted{session: session, source: r.Format, model: t.model, last: int(p.usage.Input), output: int(p.usage.Output), tokens: int(t.usage.Input - p.usage.Input)}
		for _, m := range bodies[t.n][len(bodies[t.parent]):] {
			c.speak(m)
		}
		all = append(all, c)
	}
	return all
}

// speak adds a message of a request's body.
func (c *counted) speak(m any) {
	to := &c.asked
	role := at(m, "role")
	if role == "assistant" {
		to = &c.said
	}
	to.Counted += images(m)
	parts := list(at(m, "content"))
	if s, ok := at(m, "content").(string); ok {
		to.Say(s)
	}
	switch {
	case role == "tool":
		to.Results++
	case len(parts) == 0 && role != "assistant":
		to.Messages++
	}
	for _, part := range parts {
		switch at(part, "type") {
		case "tool_use":
			to.Calls++
			to.Say(at(part, "name").(string))
			to.Say(jsonOf(at(part, "input")))
		case "tool_result":
			to.Results++
			to.Say(textOf(at(part, "content")))
		default:
			if role == "user" {
				to.Messages++
			}
			to.Say(textOf(part))
		}
	}
	for _, call := range list(at(m, "tool_calls")) {
		to.Calls++
		to.Say(textOf(at(call, "function", "name")))
		to.Say(textOf(at(call, "function", "arguments")))
	}
}

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, el := range v {
			b.WriteString(textOf(el))
		}
		return b.String()
	}
	s, _ := at(v, "text").(string)
	return s
}

func jsonOf(v any) string {
	b := new(bytes.Buffer)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

// miniSWE reads the counts of a trajectory of mini-SWE-agent, which holds each answer as DeepSeek gave it.
func miniSWE(session string, data []byte) []counted {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return nil
	}
	var all []counted
	var c, sum counted
	last := 0
	for _, m := range list(at(v, "messages")) {
		response := at(m, "extra", "response")
		if in, ok := at(response, "usage", "prompt_tokens").(float64); ok {
			c.session, c.source, c.model = session, "mini-swe-agent", "deepseek-chat"
			c.last, c.tokens = last, int(in)-last
			if last > 0 {
				all = append(all, c)
				sum.session, sum.source, sum.model, sum.whole = c.session, c.source, c.model, true
				sum.said.Add(c.said)
				sum.asked.Add(c.asked)
				if sum.tokens += c.tokens; sum.tokens > leastWhole {
					all = append(all, sum)
				}
			}
			out, _ := at(response, "usage", "completion_tokens").(float64)
			c, last = counted{output: int(out)}, int(in)
		}
		c.speak(m)
	}
	return all
}

// countedFormats are those of the recordings that the weights were learned from.
var countedFormats = []string{transcript.ClaudeCode, transcript.Codex, transcript.OpenCode, transcript.Pi, transcript.Anthropic, transcript.OpenAI}

// allCounted reads the recordings.
func allCounted(t *testing.T) []counted {
	var all []counted
	seen := 0
	for _, odd := range []bool{false, true} {
		for _, row := range manifest(t, odd) {
			if !slices.Contains(countedFormats, row.format) {
				continue
			}
			data, err := os.ReadFile(row.path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := transcript.Read(data)
			if err != nil {
				continue
			}
			seen++
			if r.Format == transcript.Anthropic || r.Format == transcript.OpenAI {
				all = append(all, loggedRequests(row.file, r, data)...)
				continue
			}
			all = append(all, differences(row.file, r, data)...)
		}
	}
	paths, err := filepath.Glob(filepath.Join(shared(t), "mini-swe-agent", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, miniSWE(filepath.Base(p), data)...)
	}
	return all
}
