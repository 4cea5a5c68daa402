package provider

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// flat is an Event that tests can write down.
type flat struct{ Name, Data string }

func readEvents(body string) []flat {
	var events []flat
	for e := range Events([]byte(body)) {
		events = append(events, flat{e.Name, string(e.Data)})
	}
	return events
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, body string
		want       []flat
	}{
		{"empty", "", nil},
		{"LF", "event: a\ndata: 1\n\ndata: 2\n\n", []flat{{"a", "1"}, {"", "2"}}},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []flat{{"a", "1"}, {"", "2"}}},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", []flat{{"a", "1"}, {"", "2"}}},
		{"mixed line ends", "data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\n", []flat{{"", "1"}, {"", "2"}, {"", "3"}}},
		{"byte order mark", "\uFEFFdata: 1\n\n\uFEFFdata: 2\n\n", []flat{{"", "1"}}},
		{"several lines of data", "data: a\ndata:\ndata:  b\n\n", []flat{{"", "a\n\n b"}}},
		{"no space, or more", "data:a\n\ndata:   b\n\n", []flat{{"", "a"}, {"", "  b"}}},
		{"colons in data", "data: a: b\n\n", []flat{{"", "a: b"}}},
		{"comments and other fields", ": data: x\nid: 7\nretry: 10\ndata: 1\nevents: b\ndatabase: 2\nDATA: 3\n\n", []flat{{"", "1"}}},
		{"fields without a colon", "data\nevent\n\ndatabase\nvery long field\n\n", []flat{{"", ""}}},
		{"empty data", "data:\n\n", []flat{{"", ""}}},
		{"no data", "event: a\n\ndata: 1\n\n", []flat{{"", "1"}}},
		{"the last name counts", "event: a\nevent: b\ndata: 1\n\n", []flat{{"b", "1"}}},
		{"name behind the data", "data: 1\nevent: a\n\n", []flat{{"a", "1"}}},
		{"unfinished line", "data: 1\n\ndata: 2", []flat{{"", "1"}}},
		{"unfinished event", "data: 1\n\ndata: 2\n", []flat{{"", "1"}}},
		{"cut in CRLF", "data: 1\r\n\r", []flat{{"", "1"}}},
		{"no stream", `{"model":"m"}`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, readEvents(test.body)); diff != "" {
				t.Errorf("events of %q (-want +got):\n%s", test.body, diff)
			}
		})
	}
}

func TestEventsStopsWhenToldTo(t *testing.T) {
	n := 0
	for range Events([]byte("data: 1\n\ndata: 2\n\n")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

func TestEventsKeepsBody(t *testing.T) {
	body := []byte("data: 1\n\ndata: 2\n\n")
	for e := range Events(body) {
		_ = append(e.Data, "over"...)
	}
	if string(body) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("an append to an event's data wrote into the body: %q", body)
	}
}

// modelEvents is the standard's algorithm, written as plainly as it is there.
func modelEvents(body string) []flat {
	body = strings.TrimPrefix(body, "\uFEFF")
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(body, "\n")
	var events []flat
	var name, data string
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != "" {
				events = append(events, flat{name, strings.TrimSuffix(data, "\n")})
			}
			name, data = "", ""
		case field == "event":
			name = value
		case field == "data":
			data += value + "\n"
		}
	}
	return events
}

func TestEventsAsTheStandardSays(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"data", "event", ":", " ", "\n", "\r", "\r\n", "\n\n", "data: ", "event: ", "x", "\uFEFF", "data: {}\n\n", "longer than a name",
	})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "body"), "")
		if diff := cmp.Diff(modelEvents(body), readEvents(body)); diff != "" {
			t.Fatalf("events of %q (-want +got):\n%s", body, diff)
		}
	})
}

func TestParts(t *testing.T) {
	tests := []struct {
		name, contentType, body string
		want                    []flat
	}{
		{"stream", "text/event-stream", "event: a\ndata: 1\n\n", []flat{{"a", "1"}}},
		{"stream, spelled otherwise", "Text/Event-Stream ;charset=utf-8", "data: 1\n\n", []flat{{"", "1"}}},
		{"stream without a type", "", "data: 1\n\n", []flat{{"", "1"}}},
		{"JSON without a type", "", " {\"a\":1}", []flat{{"", " {\"a\":1}"}}},
		{"JSON that says it is a stream", "text/event-stream", "{}", nil},
		{"object", "application/json", "{}", []flat{{"", "{}"}}},
		{"array", "application/json", " [1, {} ]", []flat{{"", "1"}, {"", "{}"}}},
		{"array that breaks off", "application/json", `[1,{"a":`, []flat{{"", "1"}}},
		{"array with a comma too many", "application/json", `[1,,2]`, []flat{{"", "1"}}},
		{"HTML", "text/html", "<html>", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []flat
			for name, v := range Parts(test.contentType, []byte(test.body)) {
				got = append(got, flat{name, string(v)})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for range Parts(test.contentType, []byte(test.body)) {
				break // must not go on, which would panic
			}
		})
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"event: a\r\ndata: 1\r\n\r\n", "\uFEFFdata: a\ndata: b\n\n", "data\r\r", ": c\n\ndata: [DONE]\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if diff := cmp.Diff(modelEvents(body), readEvents(body)); diff != "" {
			t.Fatalf("events of %q (-want +got):\n%s", body, diff)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	const event = "event: content_block_delta\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" Single-Page Display"}      }` + "\n\n"
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		b.Run(name, func(b *testing.B) {
			body := bytes.Repeat([]byte(strings.ReplaceAll(event, "\n", end)), 1<<20/len(event))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				for range Events(body) {
				}
			}
		})
	}
}
