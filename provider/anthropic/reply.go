package anthropic

import (
	"slices"
	"strconv"

	"ambit/provider"
	"ambit/unit"
)

// Reply makes a unit of an answer to messages. Thinking that is signed, what is redacted, and blocks of other kinds are
// opaque; thinking without a signature is left out, since no later request may hold it.
func (Protocol) Reply(req provider.Request, contentType string, body []byte) (provider.Reply, error) {
	if req.Type != provider.TypeMessages {
		return provider.Reply{}, provider.NotAnswered(req.Type)
	}
	var r reply
	for at, part := range provider.ReplyParts(contentType, body, &r.draft, &r.ended) {
		r.read(at.At, part)
	}
	if !r.ended {
		r.draft.Fail(provider.NoAnswer(contentType, body))
	}
	for i, b := range r.blocks {
		raw, err := b.spell()
		if err != nil && !b.calls() {
			r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, At: "block " + strconv.Itoa(i+1), Why: err.Error()})
			continue
		}
		r.add(b, raw)
	}
	return r.draft.Reply(stops[r.reason], r.reason)
}

// stops are the reasons why an answer ended: Anthropic's public API reference, Handling stop reasons.
var stops = map[string]provider.Stop{
	"end_turn": provider.StopEnd, "stop_sequence": provider.StopEnd, "": provider.StopEnd, "tool_use": provider.StopCalls,
	"max_tokens": provider.StopLength, "model_context_window_exceeded": provider.StopLength, "refusal": provider.StopRefusal,
}

// reply is an answer half read.
type reply struct {
	draft  provider.ReplyDraft
	blocks []*block
	open   map[int64]*block
	reason string
	ended  bool
}

// read reads an event, or an answer that came as one object.
func (r *reply) read(at string, part provider.JSON) {
	found := part.Find("type", "message", "index", "content_block", "delta", "error")
	index, _ := found[2].Count()
	switch kind := found[0].Text(); kind {
	case "message":
		r.message(part)
		r.ended = true
	case "message_start":
		r.message(found[1])
	case "content_block_start":
		r.begin(index, found[3])
	case "content_block_delta":
		if b := r.open[index]; b == nil || !b.grow(found[4]) {
			r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, At: at, Why: "a piece of a block that is not known"})
		}
	case "message_delta":
		r.stop(found[4])
	case "message_stop":
		r.ended = true
	case "error":
		r.draft.Fail(provider.Reported(at, found[5]))
	}
}

// message reads the blocks that a message has already.
func (r *reply) message(m provider.JSON) {
	found := m.Find("content", "stop_reason")
	for b := range found[0].Elements() {
		r.blocks = append(r.blocks, &block{open: b})
	}
	if text := found[1].Text(); text != "" {
		r.reason = text
	}
}

func (r *reply) stop(delta provider.JSON) {
	if text := member(delta, "stop_reason").Text(); text != "" {
		r.reason = text
	}
}

func (r *reply) begin(index int64, open provider.JSON) {
	b := &block{open: open}
	if r.open == nil {
		r.open = map[int64]*block{}
	}
	r.open[index] = b
	r.blocks = append(r.blocks, b)
}

// add adds a block that came whole.
func (r *reply) add(b *block, raw []byte) {
	found := b.open.Find("type", "text", "id", "name", "signature")
	switch found[0].Text() {
	case "text":
		text := provider.WholeText(provider.DecodeText(found[1]) + string(b.grown["text"]))
		r.draft.Text(text, saysMore(raw, "type", "text"))
	case "tool_use":
		args := b.grown["input"]
		if len(args) == 0 {
			args = member(b.open, "input")
		}
		r.draft.Call(provider.DecodeText(found[2]), provider.DecodeText(found[3]), args, saysMore(raw, "type", "id", "name", "input"))
	case "thinking":
		if len(b.grown["signature"]) > 0 || provider.DecodeText(found[4]) != "" {
			r.draft.Opaque(raw, true)
		}
	case "redacted_thinking":
		r.draft.Opaque(raw, true)
	case "":
		r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, Why: "a block has no type"})
	default:
		if err := sameMeaning(&unit.Part{Kind: unit.Opaque, Raw: raw}); err != nil {
			r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, Why: "a block of type " + strconv.Quote(found[0].Text())})
		}
		r.draft.Opaque(raw, false)
	}
}

// saysMore returns the spelling of a block that says more than these members, and nothing of one that does not.
func saysMore(raw provider.JSON, names ...string) []byte {
	rest, err := provider.RestOf(raw, names...)
	for _, m := range rest {
		if text := string(m.Value); err == nil && text != "null" && text != "[]" {
			return raw
		}
	}
	return nil
}

// block is a block of an answer, and what came of it in pieces.
type block struct {
	open  provider.JSON
	grown map[string][]byte // by the name of the member that it belongs to
	cited []provider.JSON
}

// growing are the kinds of pieces, with the member of the piece and that of the block to which it belongs.
var growing = map[string][2]string{
	"text_delta": {"text", "text"}, "input_json_delta": {"partial_json", "input"}, "thinking_delta": {"thinking", "thinking"},
	"signature_delta": {"signature", "signature"}, "compaction_delta": {"content", "content"},
}

// calls reports whether the block calls a tool of the client's.
func (b *block) calls() bool { return member(b.open, "type").Text() == "tool_use" }

// grow adds a piece; false for one of a kind that is not known.
func (b *block) grow(delta provider.JSON) bool {
	kind := member(delta, "type").Text()
	if kind == "citations_delta" {
		b.cited = append(b.cited, member(delta, "citation"))
		return true
	}
	names, ok := growing[kind]
	if !ok {
		return false
	}
	if b.grown == nil {
		b.grown = map[string][]byte{}
	}
	b.grown[names[1]] = append(b.grown[names[1]], provider.DecodeText(member(delta, names[0]))...)
	return true
}

// spell writes the block as if it had come whole.
func (b *block) spell() ([]byte, error) {
	l := provider.Lowering{Out: []byte("{")}
	rest, err := provider.RestOf(b.open)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"text", "thinking", "signature", "content", "input"} {
		if len(b.grown[name]) > 0 && !slices.ContainsFunc(rest, func(m provider.Member) bool { return m.Name == name }) {
			rest = append(rest, provider.Member{Name: name})
		}
	}
	if len(b.cited) > 0 && !slices.ContainsFunc(rest, func(m provider.Member) bool { return m.Name == "citations" }) {
		rest = append(rest, provider.Member{Name: "citations"})
	}
	for _, m := range rest {
		l.Member(m.Name)
		came := b.grown[m.Name]
		switch {
		case m.Name == "citations" && len(b.cited) > 0:
			l.Byte('[')
			for _, v := range slices.Concat(slices.Collect(provider.JSON(m.Value).Elements()), b.cited) {
				l.Comma()
				l.JSON(m.Name, v)
			}
			l.Byte(']')
		case len(came) == 0:
			l.JSON(m.Name, m.Value)
		case m.Name == "input":
			l.JSON(m.Name, []byte(provider.WholeText(string(came))))
		default:
			l.Text(provider.DecodeText(m.Value) + string(came))
		}
	}
	l.Byte('}')
	return l.Body()
}
