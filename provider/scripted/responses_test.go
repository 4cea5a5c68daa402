package scripted_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider/scripted"
)

// output is a response object of Responses, as far as it is played.
type output struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Model  string `json:"model"`
	Output []item `json:"output"`
	Usage  struct {
		Input   int `json:"input_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

type item struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	Role      string `json:"role"`
	Content   []part `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// respond sends input items, written as JSON without the brackets, and wants an answer.
func respond(t *testing.T, srv *httptest.Server, items string) output {
	t.Helper()
	r := post(t, srv.URL+"/v1/responses", `{"model":"m","instructions":"You fix bugs.","input":[`+items+`]}`)
	var o output
	if err := json.Unmarshal(r.body, &o); r.status != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v: %s", r.status, err, r.body)
	}
	return o
}

// text is the first text of a response.
func (o output) text() string {
	for _, i := range o.Output {
		if len(i.Content) > 0 {
			return i.Content[0].Text
		}
	}
	return ""
}

func userItem(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)
}

func doneItem(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text)
}

func callItem(id string) string {
	return `{"type":"function_call","call_id":"` + id + `","name":"x","arguments":"{}"}`
}

func outputItem(id string) string {
	return `{"type":"function_call_output","call_id":"` + id + `","output":"r"}`
}

// TestResponsesWhole: without stream the answer is one response object.
func TestResponsesWhole(t *testing.T) {
	srv := serve(t, two())
	got := respond(t, srv, userItem("fix it"))
	call := got.Output[1].CallID
	want := []item{
		{ID: got.Output[0].ID, Type: "message", Status: "completed", Role: "assistant", Content: []part{{Type: "output_text", Text: "Reading."}}},
		{ID: strings.Replace(call, "call_", "fc_", 1), Type: "function_call", Status: "completed", CallID: call, Name: "read_file", Arguments: `{"path":"a <b> & é"}`},
	}
	if d := cmp.Diff(want, got.Output); d != "" || got.Status != "completed" || got.Model != "m" || !strings.HasPrefix(got.ID, "resp_") {
		t.Errorf("got %+v, output:\n%s", got, d)
	}
	if got.Usage.Total != got.Usage.Input+got.Usage.Output || got.Usage.Output == 0 {
		t.Errorf("usage %+v", got.Usage)
	}
	got = respond(t, srv, chat(userItem("fix it"), doneItem("Reading."), callItem(call), outputItem(call)))
	if got.text() != "Done." || len(got.Output) != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestResponsesStream: the events of a stream add up to the answer that is given without one.
func TestResponsesStream(t *testing.T) {
	srv := serve(t, two())
	ask := func(stream string) reply {
		return post(t, srv.URL+"/openai/v1/responses?a=b", `{"model":"m","stream":`+stream+`,"input":"fix it"}`)
	}
	r := ask("true")
	if r.header.Get("content-type") != "text/event-stream; charset=utf-8" || r.header.Get("x-request-id") == "" {
		t.Errorf("%d %v", r.status, r.header)
	}
	var names []string
	texts := map[string]string{}
	var last map[string]any
	for i, e := range events(t, r.body) {
		if e.data["sequence_number"] != float64(i) {
			t.Errorf("event %d is numbered %v", i, e.data["sequence_number"])
		}
		if len(names) == 0 || names[len(names)-1] != e.name {
			names = append(names, e.name)
		}
		if d, ok := e.data["delta"].(string); ok {
			texts[e.name] += d
		}
		last = e.data
	}
	want := []string{
		"response.created", "response.in_progress",
		"response.output_item.added", "response.content_part.added", "response.output_text.delta", "response.output_text.done",
		"response.content_part.done", "response.output_item.done",
		"response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.output_item.done",
		"response.completed",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("events:\n%s", d)
	}
	wantTexts := map[string]string{"response.output_text.delta": "Reading.", "response.function_call_arguments.delta": `{"path":"a <b> & é"}`}
	if d := cmp.Diff(wantTexts, texts); d != "" {
		t.Errorf("texts:\n%s", d)
	}
	var asked map[string]any
	if err := json.Unmarshal(ask("false").body, &asked); err != nil {
		t.Fatal(err)
	}
	for _, o := range []map[string]any{asked, last["response"].(map[string]any)} {
		delete(o, "usage") // the second was read from the cache
	}
	if d := cmp.Diff(asked, last["response"]); d != "" {
		t.Errorf("whole and streamed:\n%s", d)
	}
}

// TestResponsesTurn: items of the model that stand together are one answer, and those at the end are gone on with.
func TestResponsesTurn(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{
		Match: "start", Turns: []scripted.Turn{{Text: "one"}, {Text: "two"}, {Text: "three"}},
	}}})
	start := chat(`{"role":"developer","content":"rules"}`, `{"role":"user","content":"where you are"}`, userItem("start"))
	thought := `{"type":"reasoning","summary":[]}`
	for _, row := range []struct{ items, want string }{
		{start, "one"},
		{chat(start, thought, doneItem("a"), callItem("c1"), callItem("c2"), outputItem("c2"), outputItem("c1")), "two"},
		{chat(start, thought, doneItem("a"), callItem("c1"), outputItem("c1"), thought, doneItem("b"), userItem("go on")), "three"},
		{chat(start, callItem("c1"), outputItem("c1"), thought), "two"},
		{chat(start, callItem("c1"), outputItem("c1"), thought, doneItem("b")), "two"},
		{chat(start, `{"type":"custom_tool_call","call_id":"c1"}`, `{"type":"custom_tool_call_output","call_id":"c1"}`, `{"type":"other"}`), "two"},
	} {
		if got := respond(t, srv, row.items).text(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.items, got, row.want)
		}
	}
}

// TestResponsesRefused: errors are written as OpenAI writes them.
func TestResponsesRefused(t *testing.T) {
	srv := serve(t, two())
	with := func(items ...string) string { return `{"model":"m","input":[` + chat(items...) + `]}` }
	for name, row := range map[string]struct{ body, says string }{
		"half a body":  {`{`, "not valid JSON"},
		"no model":     {`{"input":"fix it"}`, "'model'"},
		"no input":     {`{"model":"m"}`, "input: a string or a list"},
		"empty input":  {`{"model":"m","input":[]}`, "input: a string or a list"},
		"an item":      {with(`7`), "input[0]"},
		"content":      {with(userItem("fix it"), `{"role":"user","content":7}`), "input[1]: content"},
		"previous":     {`{"model":"m","input":"fix it","previous_response_id":"resp_1"}`, "'resp_1' not found"},
		"call open":    {with(userItem("fix it"), callItem("c1"), callItem("c2"), outputItem("c1")), "no tool output found for function call c2"},
		"output alone": {with(userItem("fix it"), outputItem("c9")), "no tool call found for function call output with call_id c9"},
		"conversation": {with(userItem("something else")), "no conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			wantResponseError(t, post(t, srv.URL+"/v1/responses", row.body), 400, "invalid_request_error", row.says)
		})
	}
	for status, kind := range map[int]string{429: "requests", 503: "server_error", 529: "server_error", 401: "invalid_request_error"} {
		srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{
			Turns: []scripted.Turn{{Fault: &scripted.Fault{Status: status, Message: "no", RetryAfter: "1"}}},
		}}})
		r := post(t, srv.URL+"/v1/responses", `{"model":"m","input":"x"}`)
		wantResponseError(t, r, status, kind, "no")
		if r.header.Get("retry-after") != "1" {
			t.Errorf("%d: %v", status, r.header)
		}
	}
}

func wantResponseError(t *testing.T, r reply, status int, kind, says string) {
	t.Helper()
	var e struct {
		Error struct{ Message, Type string }
	}
	if err := json.Unmarshal(r.body, &e); err != nil {
		t.Fatalf("not JSON: %v: %s", err, r.body)
	}
	if r.status != status || e.Error.Type != kind || !strings.Contains(e.Error.Message, says) {
		t.Errorf("got %d %s, want %d %s saying %q", r.status, r.body, status, kind, says)
	}
}

// TestResponsesUsage: a request is read as far as an earlier one went, item for item.
func TestResponsesUsage(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{Turns: make([]scripted.Turn, 3)}}})
	first := []string{userItem("please look at the first file")}
	more := append(first, doneItem("I looked at it."), userItem("and now at the second"))
	tokens := func(items []string) int { return len(`"You fix bugs."`+strings.Join(items, "")) / 4 }
	for _, step := range []struct {
		items  []string
		cached int
	}{{first, 0}, {more, tokens(first)}, {first, tokens(first)}} {
		if got := respond(t, srv, chat(step.items...)).Usage; got.Input != tokens(step.items) || got.Details.Cached != step.cached {
			t.Errorf("%s: %+v, want %d of %d", step.items, got, step.cached, tokens(step.items))
		}
	}
}
