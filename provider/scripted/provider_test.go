package scripted_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/provider/scripted"
)

// TestRoutes: both routes stand under any prefix and with any query; nothing else does.
func TestRoutes(t *testing.T) {
	srv := serve(t, two())
	body := `{"model":"m","messages":[` + say("fix it") + `]}`
	for _, path := range []string{"/v1/messages", "/v1/messages?beta=true", "/anthropic/s/tag/v1/messages?a=b&c=d"} {
		if r := post(t, srv.URL+path, body); r.status != 200 || r.header.Get("request-id") == "" {
			t.Errorf("%s: %d %v %s", path, r.status, r.header, r.body)
		}
		counted := strings.Replace(path, "/messages", "/messages/count_tokens", 1)
		if r := post(t, srv.URL+counted, body); r.status != 200 {
			t.Errorf("%s: %d %s", counted, r.status, r.body)
		}
	}
	for _, path := range []string{"/", "/v1/complete", "/v1/messages/batches", "/v1/messages/", "/v2/messages/count"} {
		wantError(t, post(t, srv.URL+path, body), 404, "not_found_error", "POST "+path)
	}
	res, err := http.Get(srv.URL + "/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 404 {
		t.Errorf("GET: %d", res.StatusCode)
	}
}

// TestWhole: without stream the answer is one message object.
func TestWhole(t *testing.T) {
	srv := serve(t, two())
	r := post(t, srv.URL+"/v1/messages", `{"model":"claude-x","messages":[`+say("fix it")+`]}`)
	got := whole(t, r)
	if got.Type != "message" || got.Role != "assistant" || got.Model != "claude-x" || !strings.HasPrefix(got.ID, "msg_") {
		t.Errorf("got %s", r.body)
	}
	want := []part{{Type: "text", Text: "Reading."}, {Type: "tool_use", ID: got.Content[1].ID, Name: "read_file", Input: json.RawMessage(`{"path":"a <b> & é"}`)}}
	if d := cmp.Diff(want, got.Content); d != "" || got.StopReason != "tool_use" {
		t.Errorf("stop reason %q, content:\n%s", got.StopReason, d)
	}
	if !strings.Contains(string(r.body), `"stop_sequence":null`) || r.header.Get("content-type") != "application/json" {
		t.Errorf("got %v %s", r.header, r.body)
	}
	got = ask(t, srv, chat(say("fix it"), done("x"), say("go on")))
	if got.StopReason != "end_turn" || got.text() != "Done." {
		t.Errorf("got %+v", got)
	}
}

// TestEmptyTurn: a turn of nothing is an answer without content, not null.
func TestEmptyTurn(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{{}}}}})
	r := post(t, srv.URL+"/v1/messages", `{"model":"m","messages":[`+say("x")+`]}`)
	if !strings.Contains(string(r.body), `"content":[]`) {
		t.Errorf("got %s", r.body)
	}
	r = post(t, srv.URL+"/v1/messages", `{"model":"m","stream":true,"messages":[`+say("x")+`]}`)
	if got := events(t, r.body); len(got) != 3 {
		t.Errorf("got %s", r.body)
	}
}

// TestRefused: a request that the real API refuses is refused here, saying what was wrong.
func TestRefused(t *testing.T) {
	srv := serve(t, two())
	used := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}},{"type":"tool_use","id":"t2","name":"x","input":{}}]}`
	result := func(id string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}]}`
	}
	with := func(messages ...string) string { return `{"model":"m","messages":[` + chat(messages...) + `]}` }
	marked := `{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"fix it","cache_control":{"type":"ephemeral"}},`, 5), ",") + `]}`
	for name, row := range map[string]struct{ body, says string }{
		"empty body":       {"", "not valid JSON"},
		"half a body":      {`{"model":"m","messages":[`, "not valid JSON"},
		"a list":           {`[]`, "not valid JSON"},
		"no model":         {`{"messages":[` + say("fix it") + `]}`, "model: Field required"},
		"no messages":      {`{"model":"m"}`, "at least one message"},
		"a role":           {with(`{"role":"tool","content":"x"}`), `messages.0: role: "tool"`},
		"no content":       {with(say("fix it"), `{"role":"user"}`), "messages.1: content"},
		"content":          {with(`{"role":"user","content":[1]}`), "messages.0: content"},
		"a message":        {with(`"fix it"`), "messages.0"},
		"call open":        {with(say("fix it"), used, result("t1")), "messages.1: no `tool_result` in the next message answers the `tool_use` of t2"},
		"call left":        {with(say("fix it"), used, result("t1"), done("x"), result("t2")), "answers the `tool_use` of t2"},
		"result alone":     {with(say("fix it"), result("t9")), "messages.1.content.0: the `tool_result` of t9 answers"},
		"result twice":     {with(say("fix it"), used, result("t1"), result("t1")), "messages.3.content.0: the `tool_result` of t1 answers"},
		"system":           {`{"model":"m","system":7,"messages":[` + say("fix it") + `]}`, "system"},
		"a tool":           {`{"model":"m","tools":[7],"messages":[` + say("fix it") + `]}`, "7 is not an object"},
		"five marks":       {with(marked), "at most 4 blocks may carry cache_control, and 5 do"},
		"no user messages": {with(done("x")), `matches the first user message ""`},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, post(t, srv.URL+"/v1/messages", row.body), 400, "invalid_request_error", row.says)
		})
	}
	if r := post(t, srv.URL+"/v1/messages", with(say("fix it"), used, result("t2"), result("t1"))); r.status != 200 {
		t.Errorf("results over two messages: %d %s", r.status, r.body)
	}
	wantError(t, post(t, srv.URL+"/v1/messages/count_tokens", `{`), 400, "invalid_request_error", "not valid JSON")
}

// TestTooLarge: a body over the limit is refused as Anthropic refuses it.
func TestTooLarge(t *testing.T) {
	p := scripted.New(two())
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(strings.Repeat(" ", scripted.MaxBody+1))))
	wantError(t, reply{w.Code, w.Header(), w.Body.Bytes()}, 413, "request_too_large", "larger than")
}

// TestStream: the stream holds Anthropic's events in their order and adds up to the answer without stream.
func TestStream(t *testing.T) {
	srv := serve(t, two())
	messages := `"messages":[` + say("fix it") + `]}`
	r := post(t, srv.URL+"/v1/messages", `{"model":"m","stream":true,`+messages)
	if r.status != 200 || !strings.HasPrefix(r.header.Get("content-type"), "text/event-stream") {
		t.Fatalf("%d %v", r.status, r.header)
	}
	var names []string
	for _, e := range events(t, r.body) {
		if n := len(names); n == 0 || names[n-1] != e.name {
			names = append(names, e.name)
		}
	}
	want := []string{
		"message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("events:\n%s", d)
	}
	got := collect(t, events(t, r.body))
	if d := cmp.Diff(whole(t, post(t, srv.URL+"/v1/messages", `{"model":"m",`+messages)), got); d != "" {
		t.Errorf("stream and whole differ:\n%s", d)
	}
}

// TestStreamLaw: any text and any argument come out of the stream as they went in, in several parts.
func TestStreamLaw(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, value := rapid.String().Draw(r, "text"), rapid.String().Draw(r, "value")
		p := scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
			{Text: text, Calls: []scripted.Call{{Name: "x", Args: map[string]any{"v": value}}, {Name: "y"}}},
		}}}})
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model":"m","stream":true,"messages":[`+say("x")+`]}`)))
		list := events(t, w.Body.Bytes())
		got := collect(t, list)
		calls := got.Content[len(got.Content)-2:]
		var args struct{ V string }
		if err := json.Unmarshal(calls[0].Input, &args); err != nil || args.V != value {
			r.Fatalf("arguments %s: %v, want %q", calls[0].Input, err, value)
		}
		if got.text() != text || string(calls[1].Input) != "{}" {
			r.Fatalf("got %+v, want %q", got, text)
		}
		for i, c := range got.Content {
			if n := deltas(list, i); len([]rune(c.Text)) > 1 && n < 2 || c.Type == "tool_use" && n < 3 {
				r.Fatalf("block %d came in %d deltas", i, n)
			}
		}
	})
}

// collect adds a stream up as a client does.
func collect(t *testing.T, list []event) message {
	t.Helper()
	var m message
	partial := map[int]string{}
	for _, e := range list {
		raw, _ := json.Marshal(e.data)
		var v struct {
			Message json.RawMessage `json:"message"`
			Index   int             `json:"index"`
			Block   part            `json:"content_block"`
			Delta   struct {
				Text    string  `json:"text"`
				Partial string  `json:"partial_json"`
				Stop    *string `json:"stop_reason"`
			} `json:"delta"`
			Usage *usage `json:"usage"`
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		switch e.name {
		case "message_start":
			if err := json.Unmarshal(v.Message, &m); err != nil {
				t.Fatal(err)
			}
		case "content_block_start":
			m.Content = append(m.Content, v.Block)
		case "content_block_delta":
			m.Content[v.Index].Text += v.Delta.Text
			partial[v.Index] += v.Delta.Partial
		case "content_block_stop":
			if m.Content[v.Index].Type == "tool_use" {
				m.Content[v.Index].Input = json.RawMessage(partial[v.Index])
			}
		case "message_delta":
			m.StopReason, m.Usage = *v.Delta.Stop, *v.Usage
		}
	}
	return m
}

// deltas counts the deltas of one block.
func deltas(list []event, index int) (n int) {
	for _, e := range list {
		if e.name == "content_block_delta" && e.data["index"] == float64(index) {
			n++
		}
	}
	return n
}

// flushes is a writer that notes what was written before each flush.
type flushes struct {
	*httptest.ResponseRecorder
	sizes []int
}

func (f *flushes) Flush() { f.sizes = append(f.sizes, f.Body.Len()) }

// TestFlush: every event is flushed by itself.
func TestFlush(t *testing.T) {
	w := &flushes{ResponseRecorder: httptest.NewRecorder()}
	scripted.New(two()).ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model":"m","stream":true,"messages":[`+say("fix it")+`]}`)))
	if got, want := len(w.sizes), len(events(t, w.Body.Bytes())); got != want {
		t.Errorf("%d flushes for %d events", got, want)
	}
	for _, n := range w.sizes {
		if !strings.HasSuffix(w.Body.String()[:n], "\n\n") {
			t.Errorf("flushed in the middle of an event, after %d bytes", n)
		}
	}
}

// gone is a writer whose client has left.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

// TestClientLeaves: a client that leaves ends the stream and nothing else.
func TestClientLeaves(t *testing.T) {
	p := scripted.New(two())
	body := `{"model":"m","stream":true,"messages":[` + say("fix it") + `]}`
	p.ServeHTTP(gone{httptest.NewRecorder()}, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body)))
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", bufio.NewReader(strings.NewReader(body))))
	if got := collect(t, events(t, w.Body.Bytes())); got.text() != "Reading." {
		t.Errorf("got %+v", got)
	}
}

// TestConcurrent: many clients at once each get the turns of their own conversation, a fault reaches one of them,
// and what the cache charges adds up. Run with -race.
func TestConcurrent(t *testing.T) {
	const clients, turns = 16, 10
	var script scripted.Script
	for c := range clients {
		conv := scripted.Conversation{Match: fmt.Sprintf("client %d.", c)}
		for n := range turns {
			conv.Turns = append(conv.Turns, scripted.Turn{Text: fmt.Sprintf("%d/%d", c, n)})
		}
		script.Conversations = append(script.Conversations, conv)
	}
	script.Conversations = append(script.Conversations, scripted.Conversation{
		Match: "all", Turns: []scripted.Turn{{Text: "shared", Fault: &scripted.Fault{Status: 529}}},
	})
	p := scripted.New(script)
	send := func(messages string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		body := `{"model":"m","cache_control":{"type":"ephemeral"},"messages":[` + messages + `]}`
		p.ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body)))
		return w
	}
	var faults sync.Map
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			messages := say(fmt.Sprintf("client %d.", c))
			for n := range turns {
				var m message
				if err := json.Unmarshal(send(messages).Body.Bytes(), &m); err != nil || m.text() != fmt.Sprintf("%d/%d", c, n) {
					t.Errorf("client %d turn %d: %v %+v", c, n, err, m)
				}
				if (n > 0) != (m.Usage.Read > 0) || m.Usage.Input != 0 {
					t.Errorf("client %d turn %d: usage %+v", c, n, m.Usage)
				}
				messages = chat(messages, done(m.text()), say("go on"))
			}
			faults.Store(c, send(say("all")).Code)
		})
	}
	wg.Wait()
	count := map[int]int{}
	faults.Range(func(_, code any) bool { count[code.(int)]++; return true })
	if count[529] != 1 || count[200] != clients-1 {
		t.Errorf("answers by status: %v", count)
	}
}

// FuzzServe: whatever is sent, the answer is a stream or JSON, and its status 200 or 400.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[` + say("fix it") + `]}`))
	f.Add([]byte(`{"model":"m","system":[{"cache_control":{}}],"tools":[{"content":[{}]}],"messages":[` + user("fix it", mark) + `]}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"","content":null}]}]}`))
	f.Add([]byte(`{"model":"m","system":"","messages":[{"role":"user","content":""}],"cache_control":{}}`))
	for _, k := range talks() {
		f.Add([]byte(k.begin))
	}
	f.Add([]byte(`{"model":"m","input":[{"type":"reasoning","id":"rs_1"},{"type":"function_call","call_id":"_"}],"contents":[{"parts":[{"functionCall":{}}]}]}`))
	both := []*scripted.Provider{scripted.New(two()), scripted.NewWith(thinker(), scripted.Options{Strict: true, Window: 1000, Late: true})}
	paths := []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:streamGenerateContent?alt=sse", "/m:countTokens"}
	f.Fuzz(func(t *testing.T, body []byte) {
		for i, path := range append(paths, paths...) {
			w := httptest.NewRecorder()
			both[i/len(paths)].ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(string(body))))
			streamed := strings.HasPrefix(w.Header().Get("content-type"), "text/event-stream")
			if w.Code != 200 && w.Code != 400 || !streamed && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
