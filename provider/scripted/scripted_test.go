package scripted_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ambit/provider/scripted"
)

// reply is a response as a client sees it.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// message is a decoded answer: the message object, or what a stream adds up to.
type message struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Role       string `json:"role"`
	Model      string `json:"model"`
	Content    []part `json:"content"`
	StopReason string `json:"stop_reason"`
	Usage      usage  `json:"usage"`
}

type part struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

type usage struct {
	Input  int `json:"input_tokens"`
	Write  int `json:"cache_creation_input_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Output int `json:"output_tokens"`
}

// total is everything sent.
func (u usage) total() int { return u.Input + u.Write + u.Read }

func serve(t *testing.T, s scripted.Script) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(scripted.New(s))
	t.Cleanup(srv.Close)
	return srv
}

func post(t *testing.T, url, body string) reply {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, raw}
}

// ask sends messages, written as JSON without the brackets, and wants an answer.
func ask(t *testing.T, srv *httptest.Server, messages string) message {
	t.Helper()
	return whole(t, post(t, srv.URL+"/v1/messages", `{"model":"m","messages":[`+messages+`]}`))
}

func whole(t *testing.T, r reply) message {
	t.Helper()
	if r.status != http.StatusOK {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	var m message
	if err := json.Unmarshal(r.body, &m); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return m
}

// wantError checks status, type and a part of the message of an Anthropic error.
func wantError(t *testing.T, r reply, status int, kind, says string) {
	t.Helper()
	var e struct {
		Type  string `json:"type"`
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(r.body, &e); err != nil {
		t.Fatalf("not JSON: %v: %s", err, r.body)
	}
	if r.status != status || e.Type != "error" || e.Error.Type != kind || !strings.Contains(e.Error.Message, says) {
		t.Errorf("got %d %s, want %d %s saying %q", r.status, r.body, status, kind, says)
	}
	if got := r.header.Get("content-type"); got != "application/json" {
		t.Errorf("content-type %q", got)
	}
}

// say and done are messages without tool calls.
func say(text string) string  { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
func done(text string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, text) }

// chat joins messages.
func chat(messages ...string) string { return strings.Join(messages, ",") }

// text is the first text of an answer.
func (m message) text() string {
	for _, p := range m.Content {
		if p.Type == "text" {
			return p.Text
		}
	}
	return ""
}

// event is one event of a stream.
type event struct {
	name string
	data map[string]any
}

// events parses a stream strictly: an event line, a data line, a blank line.
func events(t *testing.T, raw []byte) []event {
	t.Helper()
	var out []event
	lines := bufio.NewScanner(strings.NewReader(string(raw)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		e := event{name: strings.TrimPrefix(lines.Text(), "event: ")}
		if e.name == lines.Text() || !lines.Scan() {
			t.Fatalf("not an event line: %q", lines.Text())
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			t.Fatalf("not a data line: %q", lines.Text())
		}
		if err := json.Unmarshal([]byte(data), &e.data); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if e.data["type"] != e.name {
			t.Fatalf("event %q carries type %v", e.name, e.data["type"])
		}
		if !lines.Scan() || lines.Text() != "" {
			t.Fatalf("no blank line after %s", data)
		}
		out = append(out, e)
	}
	return out
}

// two is a conversation of a tool call and a last word.
func two() scripted.Script {
	return scripted.Script{Conversations: []scripted.Conversation{{
		Match: "fix it",
		Turns: []scripted.Turn{
			{Text: "Reading.", Calls: []scripted.Call{{Name: "read_file", Args: map[string]any{"path": "a <b> & é"}}}},
			{Text: "Done."},
		},
	}}}
}
