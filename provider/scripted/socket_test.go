package scripted_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ambit/provider/scripted"

	"github.com/coder/websocket"
)

// socketTalk is a connection to a script that is as strict as can be.
type socketTalk struct {
	t    *testing.T
	conn *websocket.Conn
	p    *scripted.Provider
}

func socketTo(t *testing.T, turns ...scripted.Turn) *socketTalk {
	t.Helper()
	p := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{Strict: true, WebSocket: true})
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	conn, _, err := websocket.Dial(t.Context(), srv.URL+"/v1/responses", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return &socketTalk{t, conn, p}
}

// ask sends a message, and returns the events until one ends the answer; none behind where the connection broke.
func (k *socketTalk) ask(message string) (events []map[string]any) {
	k.t.Helper()
	if err := k.conn.Write(k.t.Context(), websocket.MessageText, []byte(message)); err != nil {
		k.t.Fatal(err)
	}
	for {
		_, raw, err := k.conn.Read(k.t.Context())
		if err != nil {
			return events
		}
		var e map[string]any
		if err := json.Unmarshal(raw, &e); err != nil {
			k.t.Fatal(err)
		}
		events = append(events, e)
		if slices.Contains([]any{"response.completed", "response.failed", "error"}, e["type"]) {
			return events
		}
	}
}

// lastOf is the answer's last event: its type, and the response's id or the error's code and message.
func lastOf(events []map[string]any) (kind, id, says string) {
	if len(events) == 0 {
		return "", "", ""
	}
	e := events[len(events)-1]
	kind, _ = e["type"].(string)
	if r, is := e["response"].(map[string]any); is {
		id, _ = r["id"].(string)
	}
	if f, is := e["error"].(map[string]any); is {
		code, _ := f["code"].(string)
		text, _ := f["message"].(string)
		says = fmt.Sprintf("%v %s %s", e["status"], code, text)
	}
	return kind, id, says
}

const settings = `"type":"response.create","model":"m","store":false`

// A message may go on from the answer before it on its connection, with the same settings, and from no other; what fails, and a
// message that goes on from nothing, takes what was held with it.
func TestSocket(t *testing.T) {
	k := socketTo(t, scripted.Turn{Text: "One."}, scripted.Turn{Text: "Two.", Calls: []scripted.Call{{Name: "x"}}}, scripted.Turn{Text: "Three."}, scripted.Turn{Text: "Four."})
	kind, first, _ := lastOf(k.ask(`{` + settings + `,"input":"Go."}`))
	if kind != "response.completed" || first == "" {
		t.Fatalf("%s %s", kind, first)
	}
	on := func(id, items string) string {
		return `{` + settings + `,"previous_response_id":"` + id + `","input":[` + items + `]}`
	}
	events := k.ask(on(first, userItem("On.")))
	kind, second, _ := lastOf(events)
	if kind != "response.completed" || second == first {
		t.Fatalf("%s %s", kind, second)
	}
	raw, _ := json.Marshal(events)
	call := string(raw)[strings.Index(string(raw), `"call_id":"`)+len(`"call_id":"`):]
	call = call[:strings.IndexByte(call, '"')]
	for name, x := range map[string]struct{ message, says string }{
		"an older answer": {on(first, outputItem(call)), "400 previous_response_not_found Previous response with id '" + first + "' not found."},
		"other settings":  {strings.Replace(on(second, outputItem(call)), `"store":false`, `"store":true`, 1), "400  the request goes on from " + second + ", and has other settings"},
		"no result":       {on(second, userItem("x")), "400  No tool output found for function call " + call + "."},
		"stream":          {`{` + settings + `,"stream":true,"input":"Go."}`, "400 unknown_parameter Unknown parameter: 'stream'."},
		"background":      {`{` + settings + `,"background":false,"input":"Go."}`, "400 unknown_parameter Unknown parameter: 'background'."},
		"another type":    {`{"type":"response.cancel"}`, `400 invalid_value Invalid value: "response.cancel". Supported values are: 'response.create'.`},
		"no JSON":         {`{`, "400  the message is not valid JSON: unexpected end of JSON input"},
		"a name twice":    {`{` + settings + `,"store":false,"input":"Go."}`, `400  the request body has the name "store" twice in one object`},
		"no input":        {`{` + settings + `}`, "400  input: a string or a list of items is required"},
	} {
		k := socketTo(t, scripted.Turn{Text: "One."}, scripted.Turn{Text: "Two.", Calls: []scripted.Call{{Name: "x"}}}, scripted.Turn{Text: "Three."})
		k.ask(`{` + settings + `,"input":"Go."}`)
		k.ask(on(first, userItem("On.")))
		if _, _, says := lastOf(k.ask(x.message)); !strings.HasPrefix(says, x.says) {
			t.Errorf("%s: %q", name, says)
		}
		if got := k.p.Refusals(); len(got) != 1 || got[0].Status != 400 || got[0].Path != "/v1/responses" {
			t.Errorf("%s: %+v", name, got)
		}
		if _, _, says := lastOf(k.ask(on(second, outputItem(call)))); !strings.Contains(says, "previous_response_not_found") {
			t.Errorf("%s, and then: %q", name, says)
		}
	}
	if kind, _, says := lastOf(k.ask(on(second, outputItem(call)))); kind != "response.completed" {
		t.Errorf("%s %s", kind, says)
	}
	if kind, _, says := lastOf(k.ask(`{` + settings + `,"previous_response_id":null,"input":"Go."}`)); kind != "response.completed" {
		t.Errorf("%s %s", kind, says)
	}
	if got := k.p.Refusals(); len(got) > 0 {
		t.Errorf("refused: %v", got)
	}
}

// TestSocketFaults: a fault is an event with its status and headers, and one that drops ends the connection in the answer.
func TestSocketFaults(t *testing.T) {
	k := socketTo(t, scripted.Turn{Text: "One and two.", Fault: &scripted.Fault{Status: 429, RetryAfter: "7"}}, scripted.Turn{Text: "Two, three.", Fault: &scripted.Fault{Drop: true}})
	events := k.ask(`{` + settings + `,"input":"Go."}`)
	raw, _ := json.Marshal(events)
	if want := `[{"error":{"code":"rate_limit_exceeded","message":"requests","param":null,"type":"requests"},"headers":{"retry-after":"7"},"status":429,"type":"error"}]`; string(raw) != want {
		t.Errorf("%s", raw)
	}
	_, id, _ := lastOf(k.ask(`{` + settings + `,"input":"Go."}`))
	if events = k.ask(`{` + settings + `,"previous_response_id":"` + id + `","input":[` + userItem("On.") + `]}`); len(events) < 4 {
		t.Errorf("%v", events)
	} else if kind, _, _ := lastOf(events); kind == "response.completed" || kind == "error" {
		t.Errorf("it was not dropped, but ended with %s", kind)
	}
	if err := k.conn.Write(context.Background(), websocket.MessageText, []byte("{}")); err == nil {
		if _, _, err = k.conn.Read(t.Context()); err == nil {
			t.Error("the connection goes on")
		}
	}
}

// TestSocketUnlessAsked: without the option a WebSocket is refused with 426, and on every other path.
func TestSocketUnlessAsked(t *testing.T) {
	for path, p := range map[string]*scripted.Provider{
		"/v1/responses": scripted.New(two()), "/v1/messages": scripted.NewWith(two(), scripted.Options{WebSocket: true}),
	} {
		srv := httptest.NewServer(p)
		_, resp, err := websocket.Dial(t.Context(), srv.URL+path, nil)
		if err == nil || resp.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("%s: %v", path, err)
		}
		srv.Close()
	}
}
