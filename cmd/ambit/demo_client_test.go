package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const demoGoodStream = `event: message_start
data: {"type":"message_start","message":{"role":"assistant","content":[]}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hé"}}
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"llo"}}
: a comment
data:{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"bash","input":{}}}
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\":"}}
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"ls\"}"}}
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}
data: {"type":"message_stop"}
`

// TestDemoStream: events add up to a message, however they are cut and whatever else stands between them.
func TestDemoStream(t *testing.T) {
	want := demoMessage{Role: "assistant", Content: []demoBlock{
		{Type: "text", Text: "Héllo"},
		{Type: "tool_use", ID: "t1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
	}}
	for name, in := range map[string]io.Reader{
		"at once":         strings.NewReader(demoGoodStream),
		"byte by byte":    iotest.OneByteReader(strings.NewReader(demoGoodStream)),
		"CRLF":            strings.NewReader(strings.ReplaceAll(demoGoodStream, "\n", "\r\n")),
		"no last newline": strings.NewReader(strings.TrimSuffix(demoGoodStream, "\n")),
	} {
		got, stop, err := readDemoStream(in)
		if d := cmp.Diff(want, got); d != "" || err != nil || stop != "tool_use" {
			t.Errorf("%s: stop %q, %v\n%s", name, stop, err, d)
		}
	}
}

// TestDemoStreamBroken: half a stream is an error, not a short answer.
func TestDemoStreamBroken(t *testing.T) {
	broken := errors.New("line is dead")
	for name, row := range map[string]struct {
		in   io.Reader
		want string
	}{
		"empty":     {strings.NewReader(""), "ended before message_stop"},
		"half":      {strings.NewReader(demoGoodStream[:len(demoGoodStream)-40]), "read event"},
		"no stop":   {strings.NewReader(strings.Replace(demoGoodStream, "message_stop", "message_go", 1)), "ended before message_stop"},
		"dropped":   {io.MultiReader(strings.NewReader(demoGoodStream[:200]), iotest.ErrReader(broken)), "line is dead"},
		"error":     {strings.NewReader(`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n"), "broke off: Overloaded"},
		"not JSON":  {strings.NewReader("data: hello\n"), "read event"},
		"no block":  {strings.NewReader(`data: {"type":"content_block_delta","index":0,"delta":{"text":"x"}}` + "\n"), "block 0 was not started"},
		"below all": {strings.NewReader(`data: {"type":"content_block_delta","index":-1,"delta":{"text":"x"}}` + "\n"), "block -1 was not started"},
	} {
		if _, _, err := readDemoStream(row.in); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", name, err, row.want)
		}
	}
}

// demoAnswering returns a client of a server that gives these answers in turn, and the number of requests so far.
func demoAnswering(t *testing.T, answers ...func(http.ResponseWriter)) *demoClient {
	t.Helper()
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n >= len(answers) {
			t.Errorf("request %d was not expected", n+1)
			return
		}
		n++
		answers[n-1](w)
	}))
	t.Cleanup(func() {
		srv.Close()
		if n != len(answers) {
			t.Errorf("%d requests, want %d", n, len(answers))
		}
	})
	return &demoClient{base: srv.URL, http: srv.Client()}
}

func demoHello() demoRequest {
	return demoRequest{Model: "m", System: []demoBlock{{Type: "text", Text: "S"}}, Messages: []demoMessage{{"user", []demoBlock{{Type: "text", Text: "a"}, {Type: "text", Text: "<b>"}}}}}
}

func demoRefusing(status int, after string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if after != "" {
			w.Header().Set("retry-after", after)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"type":"error","error":{"message":"not now"}}`)
	}
}

func demoStreaming(w http.ResponseWriter) { _, _ = io.WriteString(w, demoGoodStream) }

// TestDemoRetry: 529 is retried once; nothing else is.
func TestDemoRetry(t *testing.T) {
	for name, row := range map[string]struct {
		answers []func(http.ResponseWriter)
		want    string
		retries int
	}{
		"no need":    {[]func(http.ResponseWriter){demoStreaming}, "", 0},
		"once":       {[]func(http.ResponseWriter){demoRefusing(529, "0"), demoStreaming}, "", 1},
		"no header":  {[]func(http.ResponseWriter){demoRefusing(529, ""), demoStreaming}, "", 1},
		"twice":      {[]func(http.ResponseWriter){demoRefusing(529, "0"), demoRefusing(529, "0")}, "529", 1},
		"rate limit": {[]func(http.ResponseWriter){demoRefusing(429, "0")}, "429 Too Many Requests: ", 0},
		"bad":        {[]func(http.ResponseWriter){demoRefusing(400, "")}, "not now", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := demoAnswering(t, row.answers...)
			m, _, err := c.send(t.Context(), demoHello())
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if err == nil && demoText(m) != "Héllo" {
				t.Errorf("got %+v", m)
			}
			if c.requests != len(row.answers) || c.retries != row.retries {
				t.Errorf("%d requests, %d retries", c.requests, c.retries)
			}
		})
	}
}

// TestDemoWait: retry-after is honoured in seconds, and the context ends the wait.
func TestDemoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[string]time.Duration{"": 0, "0": 0, "-3": 0, "soon": 0, "2": 2 * time.Second} {
			start := time.Now()
			if err := demoWait(t.Context(), after); err != nil || time.Since(start) != want {
				t.Errorf("%q: %v after %v", after, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := demoWait(ctx, "60"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestDemoCount: a count is read, and a refusal said.
func TestDemoCount(t *testing.T) {
	text := func(s string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = io.WriteString(w, s) }
	}
	c := demoAnswering(t, text(`{"input_tokens":12}`), demoRefusing(400, ""), text("oops"))
	if n, err := c.count(t.Context(), demoHello()); n != 12 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, want := range []string{"not now", "read the count"} {
		if _, err := c.count(t.Context(), demoHello()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestDemoClientNoServer: an address where nobody listens is an error that names it.
func TestDemoClientNoServer(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	c := &demoClient{base: srv.URL, http: &http.Client{}}
	if _, _, err := c.send(t.Context(), demoHello()); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(srv.URL, "http://")) {
		t.Errorf("got %v", err)
	}
	if _, err := c.count(t.Context(), demoHello()); err == nil {
		t.Error("counted without a server")
	}
	c.base = "http://[broken"
	if _, _, err := c.send(t.Context(), demoHello()); err == nil {
		t.Error("sent to an address that is none")
	}
}

// TestDemoMarked: markers are put on a copy, so that they move on rather than pile up.
func TestDemoMarked(t *testing.T) {
	r := demoHello()
	got, err := demoJSON(r.marked())
	if err != nil {
		t.Fatal(err)
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	want := `{"model":"m","system":[{"type":"text","text":"S"` + mark + `}],"tools":null,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"<b>"` + mark + `}]}]}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if d := cmp.Diff(demoHello(), r); d != "" {
		t.Errorf("the request itself changed:\n%s", d)
	}
}
