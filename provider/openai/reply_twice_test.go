package openai_test

import (
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/openai"
)

// What a stream says twice is one item, what comes behind the end is none of the answer, and an event that is no JSON makes it no
// answer: nobody knows what it said.
//
// covers: R-03 part
func TestStreamsThatSayTooMuch(t *testing.T) {
	const item = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}}`
	const end = `{"type":"response.completed","response":{"status":"completed","output":[]}}`
	const piece, last = `{"choices":[{"index":0,"delta":{"content":"Yes."}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for name, x := range map[string]struct {
		wire   string
		events []string
		fault  provider.ReplyFault
	}{
		"an item twice":               {provider.TypeResponses, []string{item, item, end}, ""},
		"an item behind the end":      {provider.TypeResponses, []string{item, end, strings.Replace(item, `"output_index":0`, `"output_index":1`, 1)}, ""},
		"a broken item":               {provider.TypeResponses, []string{item[:40], item, end}, provider.ReplyStrange},
		"a piece behind the end":      {provider.TypeChat, []string{piece, last, "[DONE]", piece}, ""},
		"a broken piece in the midst": {provider.TypeChat, []string{piece, piece[:20], last, "[DONE]"}, provider.ReplyStrange},
	} {
		body := "data: " + strings.Join(x.events, "\n\ndata: ") + "\n\n"
		r, err := openai.Protocol{}.Reply(provider.Request{Type: x.wire}, "text/event-stream", []byte(body))
		fault := provider.ReplyFault("")
		if e, is := err.(*provider.ReplyError); is {
			fault = e.Fault
		}
		if fault != x.fault || x.fault == "" && (len(r.Unit.Parts) != 1 || r.Unit.Parts[0].Text != "Yes.") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
