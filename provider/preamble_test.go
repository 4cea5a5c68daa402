package provider

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTelling(t *testing.T) {
	const role = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	tests := map[string]struct {
		stream string
		want   bool
	}{
		"nothing":                   {"", false},
		"comments":                  {": OPENROUTER PROCESSING\n\n: a\n\n", false},
		"Anthropic begins":          {"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n", false},
		"Anthropic says something":  {"event: message_start\ndata: {}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\"}\n\n", true},
		"Anthropic fails":           {"event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n", true},
		"Responses begins":          {"event: response.created\r\ndata: {\"type\":\"response.created\"}\r\n\r\nevent: response.in_progress\r\ndata: {\"type\":\"response.in_progress\",\"response\":{\"error\":null}}\r\n\r\n", false},
		"Responses, without names":  {"data: {\"type\":\"response.queued\"}\n\n", false},
		"Responses fails":           {"data: {\"type\":\"response.failed\"}\n\n", true},
		"Chat begins":               {`data: {"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"severity":"safe"}}}]}` + "\n\n" + role, false},
		"Chat says something":       {role + `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n", true},
		"Chat thinks":               {`data: {"choices":[{"delta":{"role":"assistant","reasoning_content":"a"}}]}` + "\n\n", true},
		"Chat ends":                 {role + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n", true},
		"Chat is done":              {"data: [DONE]\n\n", true},
		"Chat fails":                {role + `data: {"error":{"message":"a"}}` + "\n\n", true},
		"Gemini says something":     {`data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}` + "\r\n\r\n", true},
		"an event that is new":      {"event: hologram\ndata: {}\n\n", true},
		"an event that did not end": {"event: error\ndata: {\"type\":\"error\"}\n", false},
		"no stream":                 {" {\"error\":", true},
		"a page":                    {"<html>", true},
	}
	for name, test := range tests {
		if got := Telling([]byte(test.stream)); got != test.want {
			t.Errorf("%s: %v\n%s", name, got, test.stream)
		}
	}
}

// However a stream is cut, it is telling from the same event on, and stays so.
func TestPreambleInPieces(t *testing.T) {
	event := rapid.SampledFrom([]string{
		": wait\n\n", "data: {\"type\":\"ping\"}\n\n", "event: ping\r\ndata: {}\r\n\r\n", "data: {\"type\":\"response.created\"}\r\r", "data: {\"choices\":[]}\n\r\n",
		"data: {\"type\":\"error\"}\n\n", "data: [DONE]\r\n\r\n", "data: {\"type\"", ":\"ping\"}\n", "\n", "\r",
	})
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOfN(event, 0, 8).Draw(t, "stream"), "")
		var p Preamble
		told, at := false, 0
		for at < len(stream) {
			next := rapid.IntRange(at, len(stream)).Draw(t, "cut")
			got := p.Add([]byte(stream[at:next]))
			at = next
			if whole := Telling([]byte(stream[:at])); got != whole || told && !got {
				t.Fatalf("%q in pieces is telling: %v, and was %v; as one %v", stream[:at], got, told, whole)
			}
			told = got
		}
	})
}

func TestPreambleEnds(t *testing.T) {
	var p Preamble
	ping := []byte(": " + strings.Repeat("x", 1<<16) + "\n\n")
	n := 0
	for !p.Add(ping) {
		if n++; len(p.rest) > 0 || n > 2*longestPreamble/len(ping) {
			t.Fatalf("%d bytes are kept after %d comments", len(p.rest), n)
		}
	}
	if got := longestPreamble / len(ping); n < got {
		t.Errorf("telling after %d comments, want %d", n, got)
	}
}

// BenchmarkPreamble adds an event of 1 MB byte by byte.
func BenchmarkPreamble(b *testing.B) {
	event := []byte(`data: {"type":"response.created","response":{"instructions":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n\n")
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		var p Preamble
		for i := range event {
			if p.Add(event[i : i+1]) {
				b.Fatal("telling")
			}
		}
	}
}
