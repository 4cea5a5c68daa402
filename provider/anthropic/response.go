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
		found := part.Find("type", "model", "usage", "message", "index", "content_block", "delta", "content")
		index, _ := found[4].Count()
		switch found[0].Text() {
		case "message":
			wholeMessage(&d, found[7])
		case "message_start":
			found = found[3].Find("type", "model", "usage")
		case "message_delta":
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
		default:
			continue
		}
		if model == "" {
			model = provider.ModelName(found[1].Text())
		}
		c.Add(found[2], "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
	}
	return provider.Response{Model: model, Usage: usage(c), Answer: d.Answer()}
}

func wholeMessage(d *provider.Draft, content provider.JSON) {
	for block := range content.Elements() {
		found := block.Find("type", "text", "id", "name", "input")
		switch blockType := found[0].Text(); {
		case blockType == "text":
			d.AddText(found[1].Text())
		case isCall(blockType):
			d.AddCall(found[2].Text(), found[3].Text(), provider.Arguments(found[4]))
		case !silent[blockType] && !serverResults[blockType] && blockType != "mcp_tool_result":
			d.Unknown = true
		}
	}
	d.End()
}

func startBlock(d *provider.Draft, index int64, block provider.JSON) {
	found := block.Find("type", "text", "id", "name", "input")
	switch blockType := found[0].Text(); {
	case blockType == "text":
		d.AddText(found[1].Text())
	case isCall(blockType):
		d.OpenCall(index, found[2].Text(), found[3].Text(), found[4])
	case !silent[blockType] && !serverResults[blockType] && blockType != "mcp_tool_result":
		d.Unknown = true
	}
}

func addDelta(d *provider.Draft, index int64, delta provider.JSON) {
	found := delta.Find("type", "text", "partial_json")
	switch found[0].Text() {
	case "text_delta":
		d.AddText(found[1].Text())
	case "input_json_delta":
		d.AddArgs(index, found[2].Text())
	}
}

func usage(c provider.Counts) *entry.Usage {
	if len(c) == 0 {
		return nil
	}
	read, write := c["cache_read_input_tokens"], c["cache_creation_input_tokens"]
	return provider.NewUsage(c["input_tokens"]+read+write, read, write, c["output_tokens"])
}
