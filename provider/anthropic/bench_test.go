package anthropic

import (
	"strings"
	"testing"

	"ambit/provider"
)

func BenchmarkResponse(b *testing.B) {
	const event = "event: content_block_delta\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" Single-Page Display"}      }` + "\n\n"
	body := []byte(strings.Repeat(event, 1<<20/len(event)))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if (Protocol{}).Response(provider.Request{Type: "messages"}, "text/event-stream", body).Answer.Text == "" {
			b.Fatal("no text")
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	text := strings.Repeat(`\tif err := s.open(\"file.go\"); err != nil {\n`, 1<<20/46)
	raw := []byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + text + `"}]}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if m := (Protocol{}).Message(provider.Request{Type: "messages"}, raw, "/messages/0"); len(m.Texts) != 1 {
			b.Fatal("no text")
		}
	}
}
