package openai

import (
	"strconv"

	"ambit/provider"
)

// Reply makes a unit of an answer to responses or chat. Of Responses, encrypted reasoning and the calls that the provider ran
// itself are opaque; reasoning that is not encrypted is left out, as is all that a chat says of it, since neither is sent
// back. Only the first choice of a chat is read.
func (Protocol) Reply(req provider.Request, contentType string, body []byte) (provider.Reply, error) {
	switch req.Type {
	case provider.TypeResponses:
		return replyResponses(contentType, body)
	case provider.TypeChat:
		return replyChat(contentType, body)
	}
	return provider.Reply{}, provider.NotAnswered(req.Type)
}

func replyResponses(contentType string, body []byte) (provider.Reply, error) {
	var r response
	for at, part := range provider.ReplyParts(contentType, body, &r.draft, &r.ended) {
		r.read(at.At, at.Event, part)
	}
	if !r.ended {
		r.draft.Fail(provider.NoAnswer(contentType, body))
	}
	if len(r.done) == 0 {
		r.done = r.output // not every server tells the items one by one, and not every one repeats them at the end
	}
	for i, item := range r.done {
		r.add("item "+strconv.Itoa(i+1), item)
	}
	return r.draft.Reply(r.stop, r.reason)
}

// response is an answer of Responses half read.
type response struct {
	draft        provider.ReplyDraft
	done, output []provider.JSON // items
	told         map[int64]bool  // which of them were told to be done, by their number
	stop         provider.Stop
	reason       string
	ended        bool
}

// read reads an event, or an answer that came as one object.
func (r *response) read(at, event string, part provider.JSON) {
	found := part.Find("type", "response", "item", "error", "output_index")
	if !isEvent(event) && event != "error" {
		event = found[0].Text()
	}
	switch event {
	case "response.output_item.done":
		if n, numbered := found[4].Count(); numbered {
			if r.told[n] {
				return // the same once more
			}
			if r.told == nil {
				r.told = make(map[int64]bool)
			}
			r.told[n] = true
		}
		r.done = append(r.done, found[2])
	case "response.completed", "response.incomplete", "response.failed":
		r.end(at, found[1])
	case "error":
		v := found[3]
		if v.Kind() != '{' {
			v = part
		}
		r.draft.Fail(provider.Reported(at, v))
	case "":
		r.end("", part)
	}
}

// end reads the response as it stands at its end.
func (r *response) end(at string, response provider.JSON) {
	found := response.Find("status", "output", "error", "incomplete_details")
	if found[2].Kind() == '{' {
		r.draft.Fail(provider.Reported(at, found[2]))
		return
	}
	switch status := found[0].Text(); status {
	case "completed", "incomplete":
	case "failed", "cancelled":
		r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyReported, At: at, Type: status, Why: "the response has this status"})
		return
	case "":
		if found[1].Kind() != '[' {
			return
		}
	default: // queued or in_progress
		return
	}
	r.ended, r.stop, r.reason = true, provider.StopEnd, found[0].Text()
	for item := range found[1].Elements() {
		r.output = append(r.output, item)
	}
	if r.reason != "incomplete" {
		return
	}
	r.stop = provider.StopOther
	if found[3].Kind() == '{' {
		r.reason = found[3].Find("reason")[0].Text()
	}
	switch r.reason {
	case "max_output_tokens":
		r.stop = provider.StopLength
	case "content_filter":
		r.stop = provider.StopRefusal
	}
}

// add adds an item that came whole.
func (r *response) add(at string, item provider.JSON) {
	fail := func(why string) { r.draft.Fail(&provider.ReplyError{Fault: provider.ReplyStrange, At: at, Why: why}) }
	if item.Kind() != '{' {
		fail("it is no object")
		return
	}
	raw, err := provider.AppendMinimal(nil, item)
	if err != nil {
		fail(err.Error())
		return
	}
	found := item.Find("type", "content", "call_id", "name", "arguments", "encrypted_content", "phase")
	switch itemType := found[0].Text(); {
	case itemType == "message":
		for block := range found[1].Elements() {
			r.said(block, found[6])
		}
	case itemType == "function_call":
		r.draft.Call(provider.DecodeText(found[2]), provider.DecodeText(found[3]), []byte(provider.DecodeText(found[4])), nil)
	case itemType == "reasoning":
		if found[5].Text() != "" {
			r.draft.Opaque(raw, true)
		}
	case ownItems[itemType]:
		r.draft.Opaque(raw, false)
	default:
		fail("an item of type " + strconv.Quote(itemType) + ", which nobody here can answer")
	}
}

// said adds what a block of a message says. A message that has a phase is spelled with it, since models want it back.
func (r *response) said(block, phase provider.JSON) {
	if block.Kind() != '{' {
		return
	}
	found := block.Find("type", "text", "refusal")
	if found[0].Text() == "refusal" {
		r.stop = provider.StopRefusal
		r.draft.Text(provider.DecodeText(found[2]), nil)
		return
	}
	text := provider.DecodeText(found[1])
	var raw []byte
	if phase.Text() != "" {
		l := provider.Lowering{Out: []byte(`{"type":"message","role":"assistant","phase":`)}
		l.Text(provider.DecodeText(phase))
		l.String(`,"content":[{"type":"output_text","text":`)
		l.Text(text)
		l.String(`}]}`)
		raw = l.Out
	}
	r.draft.Text(text, raw)
}
