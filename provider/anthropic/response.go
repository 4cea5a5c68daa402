package anthropic

import (
	"ambit/entry"
	"ambit/provider"
)

// Response reads the answers to messages and count_tokens.
func (Protocol) Response(req provider.Request, contentType string, body []byte) provider.Response {
	switch req.Type {
	case provider.TypeMessages:
		return message(contentType, body)
	case provider.TypeCountTokens:
		c := provider.Counts{}
		c.Add(body, "input_tokens")
		return provider.Response{Usage: usage(c)}
	}
	return provider.Response{}
}

// message reads an answer that came as one object or as a stream.
func message(contentType string, body []byte) provider.Response {
	var model string
	var d provider.Draft
	c := provider.Counts{}
	for event, part := range provider.Parts(contentType, body) {
		if event == "ping" {
			continue
		}
		found := part.Find("type", "model", "usage", "message", "index", "content_block", "delta")
		index, _ := found[4].Count()
		switch found[0].Text() {
		case "message":
			addMessage(&d, part)
			d.End()
		case "message_start":
			addMessage(&d, found[3])
			found = found[3].Find("type", "model", "usage")
		case "message_delta":
			var m provider.Message
			m.Rest(m.Object(found[6]), aboutMessage)
			d.Add(m)
		case "content_block_start":
			startBlock(&d, index, found[5])
			continue
		case "content_block_delta":
			addDelta(&d, index, found[6])
			continue
		case "content_block_stop":
			d.CloseCall(index, nil)
			continue
		case "message_stop":
			d.End()
			continue
		case "error":
			d.Break()
			continue
		case "":
			continue
		default:
			d.Unknown = d.Unknown || part.HoldsText()
			continue
		}
		if model == "" {
			model = provider.ModelName(found[1].Text())
		}
		addUsage(c, found[2])
	}
	return provider.Response{Model: model, Usage: usage(c), Answer: d.Answer()}
}

// addMessage adds a message that came whole, or begins.
func addMessage(d *provider.Draft, message provider.JSON) {
	var m provider.Message
	o := m.Object(message)
	o.Take("role")
	addContent(&m, o.Take("content"), "", provider.SaidAssistant)
	m.Rest(o, aboutMessage)
	d.Add(m)
}

// startBlock begins a block. Only text, calls and summaries grow.
func startBlock(d *provider.Draft, index int64, block provider.JSON) {
	found := block.Find("type", "id", "name", "input")
	if isCall(found[0].Text()) {
		d.OpenCall(index, found[1].Text(), found[2].Text(), found[3])
		o := block.Object()
		o.Take("input")
		d.Unknown = d.Unknown || o.Rest(aboutBlock)
		return
	}
	var m provider.Message
	addBlock(&m, block, "", provider.SaidAssistant)
	d.Add(m)
}

// aboutDelta is what is never public text in a piece.
var aboutDelta = set("encrypted_content", "thinking", "signature", "estimated_tokens")

// silentDeltas are the kinds of pieces without public text.
var silentDeltas = set("thinking_delta", "signature_delta")

func addDelta(d *provider.Draft, index int64, delta provider.JSON) {
	o := delta.Object()
	switch deltaType := o.Take("type").Text(); {
	case deltaType == "text_delta":
		d.AddPiece(o.Take("text"))
	case deltaType == "input_json_delta":
		d.AddArgs(index, o.Take("partial_json"))
	case deltaType == "compaction_delta":
		d.AddPiece(o.Take("content"))
	case deltaType == "citations_delta":
		var m provider.Message
		addCitation(&m, o.Take("citation"), "")
		d.Add(m)
	case silentDeltas[deltaType]:
	default:
		d.Unknown = d.Unknown || delta.HoldsText()
		return
	}
	d.Unknown = d.Unknown || o.Rest(aboutDelta)
}

// Usage reads the usage of a message as the provider spells it. It is nil where v is none.
func Usage(v provider.JSON) *entry.Usage {
	if v.Kind() != '{' {
		return nil
	}
	c := provider.Counts{}
	addUsage(c, v)
	if len(c) == 0 {
		return new(entry.Usage)
	}
	return usage(c)
}

func addUsage(c provider.Counts, v provider.JSON) {
	c.Add(v, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
	if len(v) > 0 {
		c.Add(v.Find("cache_creation")[0], "ephemeral_1h_input_tokens")
	}
}

func usage(c provider.Counts) *entry.Usage {
	if len(c) == 0 {
		return nil
	}
	read, write := c["cache_read_input_tokens"], c["cache_creation_input_tokens"]
	u := provider.NewUsage(c["input_tokens"]+read+write, read, write, c["output_tokens"])
	return provider.KeptAnHour(u, c["ephemeral_1h_input_tokens"])
}
