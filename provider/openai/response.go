package openai

import (
	"cmp"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/provider"
)

// Response reads the answers to everything that runs a model, and to input_tokens.
func (Protocol) Response(req provider.Request, contentType string, body []byte) provider.Response {
	switch req.Type {
	case provider.TypeResponses, provider.TypeCompact, provider.TypeStored,
		provider.TypeChat, provider.TypeCompletions, provider.TypeEmbeddings:
		a := answer{compact: req.Type == provider.TypeCompact}
		for event, part := range provider.Parts(contentType, body) {
			a.read(event, part)
		}
		a.draft.Unknown = a.draft.Unknown || len(a.added) > 0
		a.resp.Answer = a.draft.Answer()
		return a.resp
	case provider.TypeCountTokens:
		return provider.Response{Usage: usage(body)}
	}
	return provider.Response{}
}

// answer is an answer half read.
type answer struct {
	resp  provider.Response
	draft provider.Draft
	mark  int // how much text there was before the item that is coming

	compact bool               // it repeats messages of the user
	added   map[int64][]string // texts of items that began with them; their end repeats them
}

// read reads one event, or an answer that is no stream. Both APIs come here: an event of a Responses stream may hold
// the response as it then stands, a chunk of a chat stream is like a small response itself.
func (a *answer) read(event string, part provider.JSON) {
	if isPassed(event) {
		return
	}
	if string(part) == "[DONE]" {
		a.draft.CloseCalls()
		a.draft.End()
		return
	}
	found := part.Find("type", "model", "usage", "response", "choices", "error", "delta", "output_index", "item")

	eventType := event
	if !isEvent(event) {
		eventType = found[0].Text()
	}
	if eventType == "error" || found[5].Kind() == '{' {
		a.draft.Break()
	}
	response, choices := found[3], found[4]
	switch {
	case len(response) > 0 && (holdsResponse(eventType) || !isEvent(eventType)):
		a.response(response, eventType)
	case isEvent(eventType):
		a.event(eventType, found[6], found[7], found[8])
	case len(choices) > 0:
		a.resp.Model = cmp.Or(a.resp.Model, provider.ModelName(found[1].Text()))
		a.use(found[2])
		addChoices(&a.draft, choices)
	default:
		a.response(part, "")
	}
}

// isEvent reports whether a type is one of a Responses stream.
func isEvent(eventType string) bool { return strings.HasPrefix(eventType, "response.") }

// holdsResponse reports whether an event holds the response as it then stands.
func holdsResponse(eventType string) bool {
	switch eventType {
	case "response.created", "response.in_progress", "response.queued",
		"response.completed", "response.incomplete", "response.failed":
		return true
	}
	return false
}

// isPassed reports whether the events of a name hold neither text nor calls nor a response; among them reasoning,
// which is most of many streams.
func isPassed(event string) bool {
	return isEvent(event) && !holdsResponse(event) && !isItem(event) && !isDelta(event)
}

func isItem(eventType string) bool {
	return eventType == "response.output_item.added" || eventType == "response.output_item.done"
}

// isDelta reports whether an event holds a piece of something that may be public, of whatever kind.
func isDelta(eventType string) bool {
	return strings.HasSuffix(eventType, ".delta") && !silentDelta(eventType)
}

// silentDelta reports whether an event holds a piece of reasoning or of sound.
func silentDelta(eventType string) bool {
	return strings.HasPrefix(eventType, "response.reasoning") || eventType == "response.audio.delta" || eventType == "response.output_audio.delta"
}

// textDelta are the events that hold a piece of what the assistant says.
var textDelta = set("response.output_text.delta", "response.refusal.delta", "response.audio.transcript.delta",
	"response.output_audio_transcript.delta")

// argsDelta are the events that hold a piece of a call's arguments.
var argsDelta = map[string]bool{
	"response.function_call_arguments.delta": true, "response.custom_tool_call_input.delta": true,
	"response.mcp_call_arguments.delta": true, "response.code_interpreter_call_code.delta": true,
}

// event reads the events of a Responses stream that hold items or pieces of them.
func (a *answer) event(eventType string, delta, index, item provider.JSON) {
	key, _ := index.Count()
	switch {
	case textDelta[eventType]:
		a.draft.AddPiece(delta)
	case argsDelta[eventType]:
		a.draft.AddArgs(key, delta)
	case isDelta(eventType):
		a.draft.Unsure = a.draft.Unsure || delta.HoldsText()
	case eventType == "response.output_item.added":
		itemType := item.Find("type")[0].Text()
		if calls[itemType] != "" {
			id, name, _ := call(itemType, item)
			a.draft.OpenCall(key, id, name, nil)
		}
		a.add(key, item)
	case eventType == "response.output_item.done" && item.Kind() == '{':
		a.item(key, item)
	case eventType == "response.output_item.done":
		a.draft.Unknown = a.draft.Unknown || item.HoldsText()
	}
}

// add notes what an item says that begins. Most begin empty, and then grow.
func (a *answer) add(key int64, raw provider.JSON) {
	m := provider.Message{Unknown: raw.Kind() != '{' && raw.HoldsText()}
	if raw.Kind() == '{' {
		m = item(raw, "")
	}
	a.draft.Unknown = a.draft.Unknown || m.Unknown
	for _, text := range m.Texts {
		if a.added == nil {
			a.added = map[int64][]string{}
		}
		a.added[key] = append(a.added[key], text.Text)
	}
}

// ended takes the note back, if the end of the item repeats what it began with.
func (a *answer) ended(key int64, whole []string) {
	for _, text := range a.added[key] {
		if !slices.ContainsFunc(whole, func(w string) bool { return strings.HasPrefix(w, text) }) {
			return
		}
	}
	delete(a.added, key)
}

// item reads an item that came to its end.
func (a *answer) item(key int64, item provider.JSON) {
	o := output{compact: a.compact}
	o.add(item)
	if len(o.text) > 0 {
		a.draft.GrowText(a.mark, string(o.text))
		a.mark = a.draft.Length()
	}
	a.draft.AddResults(o.results...)
	a.ended(key, o.said)
	for _, c := range o.calls {
		if id, ok := a.draft.IsOpen(key); ok && id == c.ID {
			a.draft.CloseCall(key, c.Args)
		} else {
			a.draft.AddCall(c.ID, c.Name, c.Args)
		}
	}
	a.draft.Elements = append(a.draft.Elements, o.elements...)
	a.draft.Unknown = a.draft.Unknown || o.unknown
}

// response reads a response as it stands in an event, or as the whole answer. What came in pieces stays, where the
// response says something else or nothing: not every server repeats the output at the end.
func (a *answer) response(response provider.JSON, eventType string) {
	found := response.Find("id", "model", "usage", "status", "output", "error")
	a.resp.Model = cmp.Or(a.resp.Model, provider.ModelName(found[1].Text()))
	a.use(found[2])
	if found[4].Kind() != '[' {
		a.draft.Unknown = a.draft.Unknown || found[4].HoldsText() || response.Kind() != '{' && response.HoldsText()
		if eventType == "" {
			return
		}
	}
	a.draft.ID = cmp.Or(a.draft.ID, provider.Key(found[0]))
	o := output{compact: a.compact}
	for item := range found[4].Elements() {
		o.add(item)
	}
	a.draft.GrowText(0, string(o.text))
	a.draft.GrowCalls(o.calls)
	a.draft.GrowResults(o.results)
	a.draft.GrowElements(o.elements)
	a.draft.Unknown = a.draft.Unknown || o.unknown
	switch status := found[3].Text(); {
	case status == "failed" || status == "cancelled" || eventType == "response.failed" || found[5].Kind() == '{':
		a.draft.Break()
	case eventType == "response.completed" || eventType == "response.incomplete",
		eventType == "" && status != "queued" && status != "in_progress":
		a.draft.CloseCalls()
		a.draft.End()
	}
}

func (a *answer) use(v provider.JSON) {
	if u := usage(v); u != nil {
		a.resp.Usage = u
	}
}

// output is what items of an answer say together.
type output struct {
	text     []byte
	calls    []provider.Call
	results  []string
	said     []string // all of it
	elements []provider.Hash
	unknown  bool
	compact  bool
}

func (o *output) add(raw provider.JSON) {
	m := item(raw, "")
	m.Unknown = m.Unknown || raw.Kind() != '{' && raw.HoldsText()
	for _, text := range m.Texts {
		o.said = append(o.said, text.Text)
		switch text.Said {
		case provider.SaidAssistant:
			o.text = append(o.text, text.Text...)
		case provider.SaidTool:
			o.results = append(o.results, text.Text)
		case provider.SaidUser:
			o.unknown = o.unknown || !o.compact
		}
	}
	o.calls = append(o.calls, m.Calls...)
	o.unknown = o.unknown || m.Unknown
	o.elements = append(o.elements, itemHash(raw))
}

func usage(v provider.JSON) *entry.Usage {
	c := provider.Counts{}
	c.Add(v, "input_tokens", "prompt_tokens", "output_tokens", "completion_tokens")
	if len(c) == 0 {
		return nil
	}
	for _, details := range v.Find("input_tokens_details", "prompt_tokens_details") {
		c.Add(details, "cached_tokens", "cache_write_tokens")
	}
	return provider.NewUsage(cmp.Or(c["input_tokens"], c["prompt_tokens"]), c["cached_tokens"], c["cache_write_tokens"],
		cmp.Or(c["output_tokens"], c["completion_tokens"]))
}
