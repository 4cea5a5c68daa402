package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"ambit/provider"
	"ambit/unit"
)

// Reply makes a unit of an answer to generate: of its first candidate. What carries a signature keeps its spelling; a thought
// without one is left out, since it need not be sent back. A call that the provider gave no id gets one, made from the answer.
func (Protocol) Reply(req provider.Request, contentType string, body []byte) (provider.Reply, error) {
	if req.Type != provider.TypeGenerate {
		return provider.Reply{}, provider.NotAnswered(req.Type)
	}
	r := reply{body: body}
	for at, part := range provider.ReplyParts(contentType, body, &r.draft, &r.ended) {
		r.read(at.At, part)
	}
	r.flush()
	if !r.ended {
		r.draft.Fail(provider.NoAnswer(contentType, body))
	}
	return r.draft.Reply(stops[r.reason], r.reason)
}

// stops are the reasons why an answer ended: the public reference of the Gemini API, FinishReason and BlockReason.
var stops = map[string]provider.Stop{
	"STOP": provider.StopEnd, "MAX_TOKENS": provider.StopLength,
	"SAFETY": provider.StopRefusal, "RECITATION": provider.StopRefusal, "BLOCKLIST": provider.StopRefusal,
	"PROHIBITED_CONTENT": provider.StopRefusal, "SPII": provider.StopRefusal, "IMAGE_SAFETY": provider.StopRefusal, "OTHER": provider.StopOther,
}

// reply is an answer half read.
type reply struct {
	draft  provider.ReplyDraft
	body   []byte
	text   []byte // that may still grow
	calls  int
	reason string
	ended  bool
}

// read reads a piece of an answer, or one that came as one object.
func (r *reply) read(at string, part provider.JSON) {
	found := part.Find("candidates", "error", "promptFeedback")
	if found[1].Kind() == '{' {
		r.draft.Fail(provider.Reported(at, found[1]))
		return
	}
	if found[2].Kind() == '{' {
		if reason := found[2].Find("blockReason")[0].Text(); reason != "" {
			r.reason, r.ended = reason, true
		}
	}
	for candidate := range found[0].Elements() {
		if candidate.Kind() != '{' {
			continue
		}
		found := candidate.Find("index", "content", "finishReason", "finishMessage")
		if n, _ := found[0].Count(); n != 0 {
			continue
		}
		if found[1].Kind() == '{' {
			for p := range found[1].Find("parts")[0].Elements() {
				r.part(at, p)
			}
		}
		switch reason := found[2].Text(); reason {
		case "":
		case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
			r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyArgs, At: at, Type: reason, Why: found[3].Text()})
			r.ended = true
		default:
			r.reason, r.ended = reason, true
		}
	}
}

// flush ends the text that came in pieces.
func (r *reply) flush() {
	r.draft.Text(string(r.text), nil)
	r.text = nil
}

// part adds a part.
func (r *reply) part(at string, p provider.JSON) {
	if p.Kind() != '{' {
		r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, At: at, Why: "a part is no object"})
		return
	}
	found := p.Find("text", "thought", "thoughtSignature", "functionCall")
	signed := found[2].Text() != ""
	if found[0].Kind() == '"' && !signed {
		if !found[1].True() {
			r.text = append(r.text, provider.DecodeText(found[0])...)
		}
		return
	}
	raw, err := provider.AppendMinimal(nil, p)
	if err != nil {
		r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, At: at, Why: err.Error()})
		return
	}
	if string(raw) == "{}" {
		return
	}
	r.flush()
	text := provider.DecodeText(found[0])
	switch {
	case found[3].Kind() == '{':
		r.call(found[3], raw, signed)
	case found[0].Kind() == '"' && !found[1].True() && !provider.Blank(text):
		r.draft.Text(text, raw)
	case found[0].Kind() == '"':
		r.draft.Opaque(raw, true)
	default:
		if err := means(&unit.Part{Kind: unit.Opaque, Raw: raw}, "model"); err != nil {
			r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, At: at, Why: "a part of a kind that is not known"})
		}
		r.draft.Opaque(raw, false)
	}
}

// call adds a call. Its spelling is kept where it is signed, or where the provider gave it no id, which it then may not have.
func (r *reply) call(call provider.JSON, raw []byte, signed bool) {
	r.calls++
	found := call.Find("id", "name", "args")
	id := provider.DecodeText(found[0])
	if id == "" {
		sum := sha256.Sum256(r.body)
		id = "call_" + hex.EncodeToString(sum[:8]) + "_" + strconv.Itoa(r.calls)
	} else if !signed {
		raw = nil
	}
	r.draft.Call(id, provider.DecodeText(found[1]), found[2], raw)
}
