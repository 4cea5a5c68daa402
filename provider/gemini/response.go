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

// aboutCandidate is what is never public text in a candidate.
var aboutCandidate = set("index", "finishReason", "finishMessage", "safetyRatings", "citationMetadata", "groundingAttributions",
	"logprobsResult", "urlContextMetadata")

// addCandidates adds the candidates of an answer, or of a piece of one.
func addCandidates(d *provider.Draft, candidates provider.JSON) {
	var m provider.Message
	for _, candidate := range m.Each("", candidates) {
		o := m.Object(candidate)
		found := candidate.Find("index", "finishReason")
		n, _ := found[0].Count()
		addContent(d, n, o.Take("content"))
		d.AddResults(grounding(o.Take("groundingMetadata"))...)
		m.Rest(o, aboutCandidate)
		if n == 0 && found[1].Text() != "" {
			d.End()
		}
	}
	d.Unknown = d.Unknown || m.Unknown
}

// addContent adds the parts of a candidate's content. Their text is a piece of what the candidate says.
func addContent(d *provider.Draft, candidate int64, content provider.JSON) {
	o := content.Object()
	parts := o.Take("parts")
	list := parts.Elements()
	if parts.Kind() == '{' {
		list = func(yield func(provider.JSON) bool) { yield(parts) }
	}
	for part := range list {
		var m provider.Message
		if found := part.Find("text", "thought"); found[0].Kind() == '"' && !found[1].True() {
			if candidate == 0 {
				d.AddPiece(found[0])
			} else {
				d.AddOther(candidate, found[0])
			}
		}
		addPart(&m, part, "", provider.SaidTool)
		m.Texts = beside(m.Texts)
		if candidate == 0 {
			d.Add(m)
		} else {
			d.AddChoice(candidate, m)
		}
	}
	d.Unknown = d.Unknown || o.Rest(set("role")) || len(content) > 0 && content.Kind() != '{' && content.HoldsText()
	d.Unknown = d.Unknown || parts.Kind() == '"' && parts.HoldsText()
}

// beside leaves the texts of a part that are no piece of what the assistant says.
func beside(texts []provider.Text) (list []provider.Text) {
	for _, text := range texts {
		if text.Field != "/text" {
			list = append(list, text)
		}
	}
	return list
}

// grounding returns what was found and given to the model, as far as it can be read.
func grounding(metadata provider.JSON) (texts []string) {
	if metadata.Kind() != '{' {
		return nil
	}
	var m provider.Message
	m.AddLeaves("", provider.SaidTool, metadata.Find("groundingChunks")[0], set("uri", "domain", "documentName", "fileSearchStore", "placeId"))
	for _, text := range m.Texts {
		texts = append(texts, text.Text)
	}
	return texts
}

func usage(c provider.Counts, cached int64) *entry.Usage {
	if len(c) == 0 {
		return nil
	}
	return provider.NewUsage(c["promptTokenCount"]+c["toolUsePromptTokenCount"], cached, 0,
		c["candidatesTokenCount"]+c["thoughtsTokenCount"])
}
