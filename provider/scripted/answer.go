package scripted

import (
	"fmt"
	"unicode/utf8"

	json "github.com/go-json-experiment/json/v1"

	"ambit/entry"
)

// answer is a played turn, in the shape of Anthropic's message object.
type answer struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	Role         string    `json:"role"`
	Model        string    `json:"model"`
	Content      []content `json:"content"`
	StopReason   *string   `json:"stop_reason"`
	StopSequence *string   `json:"stop_sequence"`
	Usage        usage     `json:"usage"`
}

// content is one block of an answer: Text is set, or Thinking and Signature, or the others are.
type content struct {
	Type      string          `json:"type"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Text      *string         `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// usage counts as Anthropic does: input_tokens are those that were neither read from the cache nor written to it.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// event is one event of the stream; only the members of its type are set.
type event struct {
	Type    string   `json:"type"`
	Message *answer  `json:"message,omitempty"`
	Index   *int     `json:"index,omitempty"`
	Block   *content `json:"content_block,omitempty"`
	Delta   any      `json:"delta,omitempty"`
	Usage   *usage   `json:"usage,omitempty"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type signatureDelta struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

type inputDelta struct {
	Type        string `json:"type"`
	PartialJSON string `json:"partial_json"`
}

type stopDelta struct {
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

// playMessage makes the answer of a turn, whole and as Anthropic streams it.
func playMessage(t turn, r *request, u entry.Usage) (any, []sent, error) {
	a, err := t.answer(r, u)
	if err != nil {
		return nil, nil, err
	}
	var events []sent
	for _, e := range a.events() {
		events = append(events, sent{name: e.Type, data: e})
	}
	return a, events, nil
}

func (t turn) answer(r *request, u entry.Usage) (answer, error) {
	stop := "end_turn"
	a := answer{ID: "msg_" + digest(t.place), Type: "message", Role: "assistant", Model: r.Model, Content: []content{}}
	if r.thinks && t.thought != "" {
		seal := t.seal()
		a.Content = append(a.Content, content{Type: "thinking", Thinking: &t.thought, Signature: &seal})
	}
	if t.text != "" {
		a.Content = append(a.Content, content{Type: "text", Text: &t.text})
	}
	for _, c := range t.made() {
		stop = "tool_use"
		a.Content = append(a.Content, content{Type: "tool_use", ID: "toolu_" + c.id, Name: c.name, Input: c.args})
	}
	a.StopReason = &stop
	raw, err := marshal(a.Content)
	if err != nil {
		return a, fmt.Errorf("encode answer: %w", err)
	}
	a.Usage = usage{
		Input:      u.Input - u.CacheRead - u.CacheWrite,
		CacheWrite: u.CacheWrite,
		CacheRead:  u.CacheRead,
		Output:     max(1, int64(len(raw))/bytesPerToken),
	}
	return a, nil
}

// events spells an answer as Anthropic streams it.
func (a answer) events() []event {
	head := a
	head.Content, head.StopReason, head.Usage.Output = []content{}, nil, 1
	out := []event{{Type: "message_start", Message: &head}}
	for i, c := range a.Content {
		open, deltas := c.stream()
		out = append(out, event{Type: "content_block_start", Index: &i, Block: &open})
		for _, d := range deltas {
			out = append(out, event{Type: "content_block_delta", Index: &i, Delta: d})
		}
		out = append(out, event{Type: "content_block_stop", Index: &i})
	}
	end := event{Type: "message_delta", Delta: stopDelta{a.StopReason, a.StopSequence}, Usage: &a.Usage}
	return append(out, end, event{Type: "message_stop"})
}

// stream splits a block into the empty block that opens it and the deltas that fill it.
func (c content) stream() (open content, deltas []any) {
	open = c
	if c.Thinking != nil {
		open.Thinking, open.Signature = new(string), new(string)
		for _, p := range pieces(*c.Thinking) {
			deltas = append(deltas, thinkingDelta{"thinking_delta", p})
		}
		return open, append(deltas, signatureDelta{"signature_delta", *c.Signature})
	}
	if c.Text != nil {
		open.Text = new(string)
		for _, p := range pieces(*c.Text) {
			deltas = append(deltas, textDelta{"text_delta", p})
		}
		return open, deltas
	}
	open.Input = json.RawMessage("{}")
	for _, p := range append([]string{""}, pieces(string(c.Input))...) { // the first delta is empty, as the API's is
		deltas = append(deltas, inputDelta{"input_json_delta", p})
	}
	return open, deltas
}

// pieces cuts a text at rune boundaries into parts of about 48 bytes, and into two at least if it has two runes.
func pieces(s string) []string {
	size := max(1, min(48, len(s)/2))
	var out []string
	for len(s) > 0 {
		n := min(size, len(s))
		for n < len(s) && n > 1 && !utf8.RuneStart(s[n]) {
			n--
		}
		for n < len(s) && !utf8.RuneStart(s[n]) { // the first rune is wider than a piece
			n++
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
