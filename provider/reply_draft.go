package provider

import (
	"encoding/json"
	"iter"
	"strconv"

	"ambit/unit"
)

// ReplyDraft collects the parts of an answer for Protocol.Reply. The first fault sticks. The zero value is ready.
type ReplyDraft struct {
	parts []unit.Part
	says  bool // more than reasoning
	ids   map[string]bool
	err   *ReplyError
}

// Text adds a text; raw is its spelling, where that says more, or nil.
func (d *ReplyDraft) Text(text string, raw []byte) {
	if Blank(text) {
		raw = nil
	}
	d.says = d.says || !Blank(text)
	if text != "" {
		d.parts = append(d.parts, unit.Part{Kind: unit.Text, Text: WholeText(text), Raw: raw})
	}
}

// Call adds a call. Its arguments are JSON as the provider gave it; nothing and white space stand for an empty object. What
// is no JSON object is a fault. Raw is the call's spelling, where that says more, or nil.
func (d *ReplyDraft) Call(id, name string, args, raw []byte) {
	if args = []byte(WholeText(string(args))); Blank(string(args)) {
		args = []byte("{}")
	}
	spelled, err := AppendMinimal(nil, args)
	e := ReplyError{Fault: ReplyStrange, At: "call " + strconv.Itoa(len(d.ids)+1), Call: id, Name: name}
	switch {
	case id == "":
		e.Why = "the call has no id"
	case name == "":
		e.Why = "the call names no tool"
	case d.ids[id]:
		e.Why = "two calls have one id"
	case err != nil:
		e.Fault, e.Why = ReplyArgs, err.Error()
	case spelled[0] != '{':
		e.Fault, e.Why = ReplyArgs, "they are "+kindOf(spelled[0])
	}
	if e.Why != "" {
		d.Fail(&e)
	}
	if d.ids == nil {
		d.ids = map[string]bool{}
	}
	d.ids[id], d.says = true, true
	d.parts = append(d.parts, unit.Part{Kind: unit.Call, ID: id, Name: name, Args: spelled, Raw: raw})
}

// kindOf names the kind of a JSON value by the byte with which it begins.
func kindOf(first byte) string {
	switch first {
	case '"':
		return "a string"
	case '[':
		return "an array"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}

// Opaque adds what only the wire understands. An answer of nothing but reasoning is empty.
func (d *ReplyDraft) Opaque(raw []byte, reasoning bool) {
	d.says = d.says || !reasoning
	d.parts = append(d.parts, unit.Part{Kind: unit.Opaque, Raw: raw})
}

// Fail notes a fault.
func (d *ReplyDraft) Fail(e *ReplyError) {
	if d.err == nil {
		d.err = e
	}
}

// Reply returns the answer that ended for the reason, as the provider names it, and what that stands for.
func (d *ReplyDraft) Reply(stop Stop, reason string) (Reply, error) {
	switch calls := len(d.ids) > 0; {
	case stop == "":
		stop = StopOther
		fallthrough
	case stop == StopEnd, stop == StopOther:
		if calls {
			stop = StopCalls
		}
	case stop == StopCalls && !calls:
		stop = StopOther
	}
	if !d.says && stop != StopRefusal {
		d.Fail(&ReplyError{Fault: ReplyEmpty, Why: reason})
	}
	if e := d.err; e != nil {
		if stop == StopLength && e.Fault == ReplyArgs {
			e.Why += "; the answer was cut at its greatest length"
		}
		return Reply{}, e
	}
	return Reply{Unit: unit.Unit{Role: unit.Assistant, Parts: d.parts}, Stop: stop, Reason: reason}, nil
}

// WholeText puts the halves of characters together that came in two pieces of a text, each as DecodeText gave it.
func WholeText(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] == leadsSurrogate {
			return DecodeText(AppendText(nil, text))
		}
	}
	return text
}

// Reported is the fault of an answer that holds an error, by how it stands there: an object or a text.
func Reported(at string, v JSON) *ReplyError {
	e := &ReplyError{Fault: ReplyReported, At: at, Why: v.Text()}
	if v.Kind() == '{' {
		found := v.Find("type", "code", "status", "message")
		for _, name := range found[:3] {
			if e.Type == "" {
				e.Type = name.Text()
			}
		}
		e.Why = found[3].Text()
	}
	if e.Type == "" && e.Why == "" {
		e.Why = "it says nothing of it"
	}
	return e
}

// NoAnswer is the fault of a body that ended before the answer in it did, or that holds none.
func NoAnswer(contentType string, body []byte) *ReplyError {
	if isStream(contentType, body) {
		return &ReplyError{Fault: ReplyBroke, Why: "the stream ended before the answer did"}
	}
	_, err := AppendMinimal(nil, body)
	switch {
	case err != nil && (startsWith(body, "{[") || Blank(string(body))):
		return &ReplyError{Fault: ReplyBroke, Why: err.Error()}
	case err != nil:
		return &ReplyError{Fault: ReplyStrange, Why: err.Error()}
	}
	return &ReplyError{Fault: ReplyStrange, Why: "it holds no answer that came to its end"}
}

// ReplyParts yields the parts of an answer with where each stands and the name of its event, until the answer has ended: what
// comes behind that is none of it. A part that is no JSON fails the draft, because nobody knows what it said.
func ReplyParts(contentType string, body []byte, d *ReplyDraft, ended *bool) iter.Seq2[PartAt, JSON] {
	return func(yield func(PartAt, JSON) bool) {
		n := 0
		for event, part := range Parts(contentType, body) {
			n++
			if string(part) != "[DONE]" && isStream(contentType, body) && !json.Valid(part) {
				d.Fail(&ReplyError{Fault: ReplyStrange, At: eventAt(n), Why: "it is no JSON"})
				return
			}
			if !yield(PartAt{eventAt(n), event}, part) || *ended {
				return
			}
		}
	}
}

// PartAt is where a part of an answer stands: in which event, and the name of that.
type PartAt struct{ At, Event string }

// eventAt names the n-th event of a stream, from 1 on, as ReplyError.At does.
func eventAt(n int) string { return "event " + strconv.Itoa(n) }
