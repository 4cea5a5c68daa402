package ambit_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"ambit"
	"ambit/journal"
	"ambit/provider"
	"ambit/view"
)

// BenchmarkTurn is a turn of a session that has had so many: a request, an answer with a call, and the call's result of 4 KB. The
// model is in this process and takes next to no time, however long the request is.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{100, 400, 1600} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			calls := 0
			answer := func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				calls++
				id := fmt.Sprintf("toolu_%d", calls)
				body := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_" + id + "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
					"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"" + id + "\",\"name\":\"read\",\"input\":{}}}\n\n" +
					"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n" +
					"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
					"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n" +
					"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
				}, nil
			}
			store, err := journal.Open(b.TempDir(), journal.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			engine := ambit.NewEngine(store, ambit.EngineOptions{Client: &http.Client{Transport: transportFunc(answer)}})
			setup := ambit.Setup{
				Agent: ambit.Agent{Name: "coder", Role: "You write code.", Tools: []ambit.Tool{{
					Tool: view.Tool{Name: "read", Description: "Reads.", Schema: []byte(`{"type":"object"}`)}, Run: longFiles()[0].Run,
				}}},
				Model:  ambit.Model{Provider: "anthropic", Type: provider.TypeMessages, Name: "claude-opus-5-5", BaseURL: "http://model.test", Output: 4000, Window: 200_000},
				Limits: ambit.Bounds{Turns: turns},
			}
			s, err := engine.Begin(b.Context(), "a benchmark", setup)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Admit(b.Context(), ambit.Input{Text: "Read all files."}); err != nil {
				b.Fatal(err)
			}
			turn := func() {
				var limit *ambit.LimitError
				if _, err := s.Run(b.Context()); !errors.As(err, &limit) {
					b.Fatal(err)
				}
			}
			turn()
			setup.Limits.Turns = 1
			if err := s.Switch(b.Context(), setup); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				turn()
			}
		})
	}
}

// transportFunc is an http.RoundTripper.
type transportFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
