package gemini

import (
	"ambit/entry"
	"ambit/provider"
)

// Response reads the answers to generate and count_tokens.
func (Protocol) Response(req provider.Request, contentType string, body []byte) provider.Response {
	switch req.Type {
	case provider.TypeGenerate, provider.TypeEmbeddings:
		return answer(contentType, body)
	case provider.TypeCountTokens:
		c := provider.Counts{}
		c.Add(body, "totalTokens")
		if len(c) == 0 {
			return provider.Response{}
		}
		return provider.Response{Usage: provider.NewUsage(c["totalTokens"], 0, 0, 0)}
	}
	return provider.Response{}
}

func answer(contentType string, body []byte) provider.Response {
	var model string
	var d provider.Draft
	c, cached := provider.Counts{}, provider.Counts{}
	for _, part := range provider.Parts(contentType, body) {
		found := part.Find("modelVersion", "usageMetadata", "candidates", "error")
		if model == "" {
			model = provider.ModelName(found[0].Text())
		}
		c.Add(found[1], "promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
		cached.Add(found[1], "cachedContentTokenCount")
		addCandidates(&d, found[2])
		if found[3].Kind() == '{' {
			d.Break()
		}
	}
	return provider.Response{Model: model, Usage: usage(c, cached["cachedContentTokenCount"]), Answer: d.Answer()}
}

// addCandidates adds the first candidate of an answer, or of a piece of one.
func addCandidates(d *provider.Draft, candidates provider.JSON) {
	for candidate := range candidates.Elements() {
		found := candidate.Find("index", "content", "finishReason")
		if n, ok := found[0].Count(); ok && n != 0 {
			continue
		}
		var m provider.Message
		for part := range found[1].Find("parts")[0].Elements() {
			addPart(&m, part, "", provider.SaidAssistant)
		}
		for _, text := range m.Texts {
			if text.Said == provider.SaidAssistant {
				d.AddText(text.Text)
			}
		}
		for _, call := range m.Calls {
			d.AddCall(call.ID, call.Name, call.Args)
		}
		d.Unknown = d.Unknown || m.Unknown
		if found[2].Text() != "" {
			d.End()
		}
	}
}

func usage(c provider.Counts, cached int64) *entry.Usage {
	if len(c) == 0 {
		return nil
	}
	return provider.NewUsage(c["promptTokenCount"]+c["toolUsePromptTokenCount"], cached, 0,
		c["candidatesTokenCount"]+c["thoughtsTokenCount"])
}
