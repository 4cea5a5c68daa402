package server

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"ambit/entry"
)

// TestBodyIdentity takes what only the body says about whose a request is: a session id is as good as in a header, and
// a cache key tells conversations apart, but is no session id.
//
// covers: J-14 part
func TestBodyIdentity(t *testing.T) {
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests) // so that what begins alike again is a retry
	}, nil)
	sent := 0
	send := func(path, body string, headers ...string) {
		t.Helper()
		if _, _, err := g.post(path, []byte(body), headers...); err != nil {
			t.Fatal(err)
		}
		sent++
		g.settle(2 * sent)
	}
	const id = "0d1e6ee0-64a9-4b5c-9d4e-1f2a3b4c5d6e"
	send("/anthropic/v1/messages", `{"tools":[{"name":"t"}],"messages":[{"role":"user","content":"a"}]}`, "X-Claude-Code-Session-Id", id)
	send("/anthropic/v1/messages", `{"tools":[{"name":"t"}],"metadata":{"user_id":"user_0a_account__session_`+id+`"},"messages":[{"role":"user","content":"b"}]}`)
	send("/anthropic/v1/messages", `{"tools":[{"name":"t"}],"metadata":{"user_id":"{\"session_id\":\"`+id+`\"}"},"messages":[{"role":"user","content":"c"}]}`)
	send("/anthropic/v1/messages", `{"tools":[{"name":"t"}],"metadata":{"user_id":"a customer"},"messages":[{"role":"user","content":"d"}]}`)
	for _, key := range []string{"one", "two", "one"} {
		send("/openai/v1/responses", fmt.Sprintf(`{"tools":[{"type":"function","name":"t"}],"prompt_cache_key":%q,"input":"the same"}`, key))
	}
	pools := g.pools()
	got := make(map[string]int)
	for _, p := range pools {
		how := ""
		for i := range p.Exchanges {
			how += " " + string(p.Exchanges[i].Relation.How)
		}
		got[p.Exchanges[0].Request.Type+how]++
	}
	want := map[string]int{
		"messages root root root": 1, // named, in three ways
		"messages root":           1, // a user's id names no session
		"responses root again":    1, // the same key
		"responses root":          1, // another key
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sessions by what is in them: %v, want %v", got, want)
	}
}

// TestSubAgents of clients that say whose they are keeps them in their parent's session, each in its own thread.
//
// covers: J-14 part
func TestSubAgents(t *testing.T) {
	g := newRig(t, echo, nil)
	sent := 0
	send := func(path string, headers ...string) {
		t.Helper()
		sent++
		body := fmt.Sprintf(`{"tools":[{"name":"t"}],"messages":[{"role":"user","content":"%d"}],"input":"%d"}`, sent, sent)
		if _, _, err := g.post(path, []byte(body), headers...); err != nil {
			t.Fatal(err)
		}
		g.settle(2 * sent)
	}
	send("/anthropic/v1/messages", "X-Claude-Code-Session-Id", "c")
	send("/anthropic/v1/messages", "X-Claude-Code-Session-Id", "c", "X-Claude-Code-Agent-Id", "1")
	send("/anthropic/v1/messages", "X-Claude-Code-Session-Id", "c", "X-Claude-Code-Agent-Id", "2")
	send("/openai/v1/responses", "Session-Id", "x", "Thread-Id", "x")
	send("/openai/v1/responses", "Session-Id", "x", "Thread-Id", "y", "X-Codex-Parent-Thread-Id", "x")
	send("/anthropic/v1/messages", "X-Session-Id", "o")
	send("/anthropic/v1/messages", "X-Session-Id", "child", "X-Parent-Session-Id", "o")
	send("/anthropic/v1/messages", "X-Session-Id", "grandchild", "X-Parent-Session-Id", "child")
	pools := g.pools()
	if len(pools) != 3 {
		t.Errorf("%d sessions, want 3\n%s", len(pools), tree(pools))
	}
	for name, p := range pools {
		for i := range p.Exchanges {
			r, want := p.Exchanges[i].Relation, entry.Agent
			if i == 0 {
				want = entry.Root
			}
			if r.How != want || r.Thread != fmt.Sprint("t", i+1) {
				t.Errorf("session %s, request %d: %+v", name, i+1, r)
			}
		}
	}
}
