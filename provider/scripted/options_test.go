package scripted_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ambit/provider/scripted"

	"github.com/google/go-cmp/cmp"
)

// overflow is how each wire says that a request is too long: what its message begins with, and the rest of the error.
func overflows() map[string]struct {
	says string
	rest object
} {
	type row = struct {
		says string
		rest object
	}
	openAI := func(param string) object {
		return object{"type": "invalid_request_error", "param": param, "code": "context_length_exceeded"}
	}
	return map[string]row{
		"messages":  {"prompt is too long: ", object{"type": "invalid_request_error"}},
		"chat":      {"This model's maximum context length is 90 tokens. However, your messages resulted in ", openAI("messages")},
		"responses": {"Your input exceeds the context window of this model. Please adjust your input and try again.", openAI("input")},
		"gemini":    {"The input token count (", object{"code": 400.0, "status": "INVALID_ARGUMENT"}},
	}
}

// TestWindow: what is longer than the window is refused in the provider's own shape and counted; what fits is answered.
func TestWindow(t *testing.T) {
	for name, k := range talks() {
		want := overflows()[name]
		p := scripted.NewWith(thinker(), scripted.Options{Strict: true, Window: 90})
		body := k.after(t, p, 0)
		if status, answer := k.send(t, p, body); status != 200 {
			t.Errorf("%s: %d %v", name, status, answer)
		}
		peak := p.Peak()
		if peak == 0 || peak > 90 {
			t.Errorf("%s: peak %d", name, peak)
		}
		body[k.said] = append(body[k.said].(list), k.user(strings.Repeat("long ", 90)))
		status, answer := k.send(t, p, body)
		got, _ := answer["error"].(object)
		text := errorText(answer)
		delete(got, "message")
		if d := cmp.Diff(want.rest, got); d != "" || status != 400 || !strings.HasPrefix(text, want.says) {
			t.Errorf("%s: %d %q\n%s", name, status, text, d)
		}
		if d := cmp.Diff([]scripted.Refusal{{Path: k.path, Status: 400, Message: text, Overflow: true}}, p.Refusals()); d != "" || p.Peak() != peak {
			t.Errorf("%s: peak %d, refusals:\n%s", name, p.Peak(), d)
		}
		large := scripted.NewWith(thinker(), scripted.Options{Window: 90, BytesPerToken: 40})
		if status, answer := k.send(t, large, body); status != 200 || large.Peak() != bytesOf(t, k, body)/40 {
			t.Errorf("%s: tokens of 40 bytes: %d, peak %d of %d bytes, %v", name, status, large.Peak(), bytesOf(t, k, body), answer)
		}
	}
}

// bytesOf is the size of a request, by a provider whose tokens are of one byte.
func bytesOf(t *testing.T, k talk, body object) int64 {
	t.Helper()
	p := scripted.NewWith(thinker(), scripted.Options{BytesPerToken: 1})
	if status, answer := k.send(t, p, body); status != 200 {
		t.Fatalf("%d %v", status, answer)
	}
	return p.Peak()
}

// TestWindowLate: in a stream the refusal comes where the wire has a way for that, and as a status where it has none.
func TestWindowLate(t *testing.T) {
	for name, k := range talks() {
		p := scripted.NewWith(thinker(), scripted.Options{Window: 1, Late: true})
		w := streamed(t, k, p, k.after(t, scripted.New(thinker()), 0))
		refused := p.Refusals()
		if len(refused) != 1 || !refused[0].Overflow || refused[0].Status != w.Code {
			t.Fatalf("%s: %d, refusals %+v", name, w.Code, refused)
		}
		switch name {
		case "messages":
			list := events(t, w.Body.Bytes())
			if w.Code != 200 || len(list) != 1 || list[0].name != "error" || at(list[0].data, "error", "message") != refused[0].Message {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		case "responses":
			list := events(t, w.Body.Bytes())
			last := list[len(list)-1]
			failed, _ := last.data["response"].(object)
			want := object{"code": "context_length_exceeded", "message": refused[0].Message}
			if d := cmp.Diff(want, failed["error"]); d != "" || w.Code != 200 || last.name != "response.failed" || failed["status"] != "failed" {
				t.Errorf("%s: %d %s\n%s", name, w.Code, w.Body, d)
			}
		default:
			if w.Code != 400 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
	}
}

// streamed posts a body that asks for a stream.
func streamed(t *testing.T, k talk, p *scripted.Provider, body object) *httptest.ResponseRecorder {
	t.Helper()
	path := strings.Replace(k.path, ":generateContent", ":streamGenerateContent?alt=sse", 1)
	if path == k.path {
		body["stream"], body["stream_options"] = true, object{"include_usage": true}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(string(raw))))
	return w
}

// TestThoughts: a thought comes out of a stream as it was written, on every wire, with its seal where the wire has one.
func TestThoughts(t *testing.T) {
	const thought = "Two files matter."
	for name, k := range talks() {
		p := strict()
		w := streamed(t, k, p, k.after(t, p, 0))
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("content-type"), "text/event-stream") {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		var got, seal, text string
		calls := 0
		for line := range strings.Lines(w.Body.String()) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok || strings.HasPrefix(data, "[DONE]") {
				continue
			}
			var e any
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatalf("%s: %v: %s", name, err, data)
			}
			each(e, func(o object) {
				got += textOf(o, "thinking") + textOf(o, "reasoning_content")
				switch {
				case o["thought"] == true, o["type"] == "response.reasoning_summary_text.delta":
					got += textOf(o, "text") + textOf(o, "delta")
				case o["type"] == "text_delta", o["type"] == "response.output_text.delta", o["type"] == nil && o["functionCall"] == nil:
					text += textOf(o, "text") + textOf(o, "delta") + textOf(o, "content")
				}
				seal += textOf(o, "signature") + textOf(o, "thoughtSignature")
				if o["type"] == "response.output_item.done" {
					seal += textOf(o["item"].(object), "encrypted_content")
				}
				if textOf(o, "name") == "read" {
					calls++
				}
			})
		}
		if got != thought || text != "Reading." || calls < 2 || (name == "chat") != (seal == "") {
			t.Errorf("%s: thought %q, seal %q, text %q, %d calls in\n%s", name, got, seal, text, calls, w.Body)
		}
	}
}

// each calls f for every object in a value.
func each(v any, f func(object)) {
	switch v := v.(type) {
	case object:
		f(v)
		for _, inner := range v {
			each(inner, f)
		}
	case list:
		for _, inner := range v {
			each(inner, f)
		}
	}
}

func textOf(o object, name string) string {
	s, _ := o[name].(string)
	return s
}

// TestOtherRoutes: Gemini counts, its stream is a list where no events are asked for, a WebSocket is refused so that the
// client goes on without.
func TestOtherRoutes(t *testing.T) {
	p := strict()
	post := func(path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
		return w
	}
	contents := `"contents":[{"role":"user","parts":[{"text":"fix it"}]}]`
	for _, body := range []string{`{` + contents + `}`, `{"generateContentRequest":{` + contents + `}}`} {
		if w := post("/v1beta/models/m:countTokens", body); w.Code != 200 || w.Body.String() != `{"totalTokens":10}` {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if w := post("/v1beta/models/m:streamGenerateContent", `{`+contents+`}`); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `[{"candidates":[`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/v1beta/models/m:embedContent", "/v1/chat", "/generateContent"} {
		if w := post(path, "{}"); w.Code != 404 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	upgrade := httptest.NewRequest("GET", "/v1/responses", nil)
	upgrade.Header.Set("Upgrade", "websocket")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, upgrade)
	if w.Code != http.StatusUpgradeRequired {
		t.Errorf("WebSocket: %d %s", w.Code, w.Body)
	}
}

// TestFaultsOnEveryWire: each wire has its own errors.
func TestFaultsOnEveryWire(t *testing.T) {
	for status, want := range map[int]string{
		401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 422: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
	} {
		if code, got := faulty(t, "gemini", status); code != status || got["status"] != want || got["code"] != float64(status) || got["message"] != want {
			t.Errorf("gemini, %d: %v", status, got)
		}
	}
	want := object{"message": "requests", "type": "requests", "param": nil, "code": "rate_limit_exceeded"}
	if _, got := faulty(t, "chat", 429); cmp.Diff(want, got) != "" {
		t.Errorf("chat: %v", got)
	}
}

// faulty is the error of a Fault of a status.
func faulty(t *testing.T, name string, status int) (int, object) {
	t.Helper()
	k := talks()[name]
	turns := []scripted.Turn{{Fault: &scripted.Fault{Status: status}}}
	code, answer := k.post(t, scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}), k.begin)
	e, _ := answer["error"].(object)
	return code, e
}

// TestDropOnEveryWire: a turn that breaks off in a call is made anew, and the half call is no answer.
func TestDropOnEveryWire(t *testing.T) {
	script := thinker()
	script.Conversations[0].Turns[1].Fault = &scripted.Fault{Drop: true}
	for name, k := range talks() {
		p := scripted.NewWith(script, scripted.Options{Strict: true})
		body := k.after(t, p, 1)
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler {
					t.Errorf("%s: the connection does not break", name)
				}
			}()
			streamed(t, k, p, body)
		}()
		delete(body, "stream")
		if status, answer := k.send(t, p, body); status != 200 || k.text(answer) != "" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}
