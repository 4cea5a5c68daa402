package scripted_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ambit/provider/scripted"
)

// dropping drops its second turn, which is a call.
func dropping() scripted.Script {
	return scripted.Script{Conversations: []scripted.Conversation{{Match: "start", Turns: []scripted.Turn{
		{Text: "one"},
		{Text: "two", Calls: []scripted.Call{{Name: "read", Args: map[string]any{"path": "a.txt"}}}, Fault: &scripted.Fault{Drop: true}},
		{Text: "three"},
	}}}}
}

// TestDrop: the connection breaks inside the last block, once, and the same request then gets the whole turn.
func TestDrop(t *testing.T) {
	for path, row := range map[string]struct{ body, has, hasNot string }{
		"/v1/messages": {
			`{"model":"m","stream":%,"messages":[` + chat(say("start"), done("one"), say("go on")) + `]}`,
			`"type":"tool_use"`, "content_block_stop\",\"index\":1",
		},
		"/v1/responses": {
			`{"model":"m","stream":%,"input":[` + chat(userItem("start"), doneItem("one"), userItem("go on")) + `]}`,
			`"type":"function_call"`, "response.function_call_arguments.done",
		},
	} {
		srv := serve(t, dropping())
		broken := brokenOff(t, srv, path, strings.Replace(row.body, "%", "true", 1))
		if !strings.Contains(broken, row.has) || strings.Contains(broken, row.hasNot) {
			t.Errorf("%s: %s", path, broken)
		}
		again := post(t, srv.URL+path, strings.Replace(row.body, "%", "true", 1))
		if again.status != http.StatusOK || !strings.Contains(string(again.body), row.hasNot) {
			t.Errorf("%s, again: %d %s", path, again.status, again.body)
		}
		whole := brokenOff(t, serve(t, dropping()), path, strings.Replace(row.body, "%", "false", 1))
		if !strings.HasPrefix(whole, `{"id":"`) || strings.HasSuffix(whole, "}") {
			t.Errorf("%s, not streamed: %s", path, whole)
		}
	}
}

// brokenOff sends a request and returns what came before the connection broke.
func brokenOff(t *testing.T, srv *httptest.Server, path, body string) string {
	t.Helper()
	res, err := http.Post(srv.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%s ended with %v", path, err)
	}
	return b.String()
}

// TestDroppedTurnKept: a client may keep the call of an answer that broke off, and is asked for the same turn again or
// goes on to the next; it is not led past one.
func TestDroppedTurnKept(t *testing.T) {
	srv := serve(t, dropping())
	request := chat(say("start"), done("one"), say("go on"))
	broken := brokenOff(t, srv, "/v1/messages", `{"model":"m","stream":true,"messages":[`+request+`]}`)
	_, id, _ := strings.Cut(broken, `"id":"toolu_`)
	id, _, _ = strings.Cut(id, `"`)
	kept := func(id string) string {
		return chat(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_`+id+`","name":"read","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_`+id+`","content":"aborted"}]}`)
	}
	again := ask(t, srv, chat(request, kept(id)))
	if again.text() != "two" || again.Content[1].ID == "toolu_"+id {
		t.Errorf("got %+v", again)
	}
	if got := ask(t, srv, chat(request, kept(id), kept(strings.TrimPrefix(again.Content[1].ID, "toolu_")))).text(); got != "three" {
		t.Errorf("got %q", got)
	}
}
