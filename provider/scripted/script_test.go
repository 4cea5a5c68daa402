package scripted_test

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"testing"

	"ambit/provider/scripted"
)

// TestTurnFromRequest: the number of assistant messages is the number of the turn, in whatever order requests come.
func TestTurnFromRequest(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{
		Match: "start", Turns: []scripted.Turn{{Text: "one"}, {Text: "two"}, {Text: "three"}},
	}}})
	start := say("start")
	for _, row := range []struct{ messages, want string }{
		{chat(start, done("x"), say("go on"), done("y"), say("go on")), "three"},
		{start, "one"},
		{chat(start, done("x"), say("go on")), "two"},
		{start, "one"},
		{chat(start, say("twice"), done("x"), `{"role":"system","content":"a reminder"}`, say("go on")), "two"},
	} {
		if got := ask(t, srv, row.messages).text(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.messages, got, row.want)
		}
	}
}

// TestConversationFromFirstUserMessage: the first match wins, and only the first user message is looked at.
func TestConversationFromFirstUserMessage(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{
		{Match: "apple", Turns: []scripted.Turn{{Text: "A1"}, {Text: "A2"}}},
		{Match: "pear", Turns: []scripted.Turn{{Text: "P1"}, {Text: "P2"}}},
		{Turns: []scripted.Turn{{Text: "rest"}}},
	}})
	blocks := `{"role":"user","content":[{"type":"text","text":"a reminder"},{"type":"text","text":"the pear"}]}`
	for _, row := range []struct{ messages, want string }{
		{say("an apple and a pear"), "A1"},
		{say("a pear"), "P1"},
		{blocks, "P1"},
		{chat(`{"role":"system","content":"apple"}`, blocks), "P1"},
		{chat(say("a pear"), done("x"), say("an apple")), "P2"},
		{say("a plum"), "rest"},
	} {
		if got := ask(t, srv, row.messages).text(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.messages, got, row.want)
		}
	}
}

func branching() scripted.Script {
	return scripted.Script{Conversations: []scripted.Conversation{{
		Match: "start",
		Turns: []scripted.Turn{{Text: "1"}, {Text: "2"}, {Text: "3"}},
		Branches: []scripted.Branch{
			{When: "the other way", Turns: []scripted.Turn{{Text: "b1"}, {Text: "b2"}}},
			{When: "a third way", Turns: []scripted.Turn{{Text: "c1"}}},
		},
	}}}
}

// TestBranch: a marker in the newest user message that has one chooses the way, and turns count from there.
func TestBranch(t *testing.T) {
	srv := serve(t, branching())
	for _, row := range []struct{ messages, want string }{
		{chat(say("start"), done("1"), say("go on")), "2"},
		{chat(say("start"), done("1"), say("go the other way")), "b1"},
		{chat(say("start"), done("1"), done("2"), say("go the other way")), "b1"},
		{chat(say("start"), done("1"), say("go the other way"), done("b1"), say("go on")), "b2"},
		{chat(say("start"), done("1"), say("go the other way"), done("b1"), say("now a third way")), "c1"},
		{chat(say("start"), done("1"), say("a third way"), done("c1"), say("or the other way")), "b1"},
		{say("start the other way"), "b1"},
		{say("start: the other way or a third way"), "b1"},
		{chat(say("start"), done("the other way"), say("go on")), "2"},
	} {
		if got := ask(t, srv, row.messages).text(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.messages, got, row.want)
		}
	}
}

// TestMarkerInToolResult: what a tool returns chooses nothing.
func TestMarkerInToolResult(t *testing.T) {
	srv := serve(t, branching())
	messages := chat(say("start"),
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"the other way"}]}]}`)
	if got := ask(t, srv, messages).text(); got != "2" {
		t.Errorf("got %q", got)
	}
}

// TestCallIDs: ids are the same in every play and different for every call of a script.
func TestCallIDs(t *testing.T) {
	twice := []scripted.Call{{Name: "read"}, {Name: "read"}}
	script := scripted.Script{Conversations: []scripted.Conversation{
		{
			Match: "one", Turns: []scripted.Turn{{Calls: twice}, {Calls: twice}},
			Branches: []scripted.Branch{{When: "else", Turns: []scripted.Turn{{Calls: twice}, {Calls: twice}}}},
		},
		{Match: "two", Turns: []scripted.Turn{{Calls: twice}}},
	}}
	requests := []string{
		say("one"), chat(say("one"), done("x"), say("go on")),
		say("one, else"), chat(say("one, else"), done("x"), say("go on")),
		say("two"),
	}
	form := regexp.MustCompile(`^toolu_[0-9a-f]{24}$`)
	var plays [2][]string
	for i := range plays {
		srv := serve(t, script)
		seen := map[string]bool{}
		for _, messages := range requests {
			for _, p := range ask(t, srv, messages).Content {
				if !form.MatchString(p.ID) || seen[p.ID] {
					t.Errorf("id %q is malformed or stands twice", p.ID)
				}
				seen[p.ID] = true
				plays[i] = append(plays[i], p.ID)
			}
		}
	}
	if len(plays[0]) != 10 || fmt.Sprint(plays[0]) != fmt.Sprint(plays[1]) {
		t.Errorf("two plays differ:\n%v\n%v", plays[0], plays[1])
	}
}

// TestNoTurn: a request that the script has no answer for is told why.
func TestNoTurn(t *testing.T) {
	srv := serve(t, branching())
	send := func(messages string) reply {
		return post(t, srv.URL+"/v1/messages", `{"model":"m","messages":[`+messages+`]}`)
	}
	wantError(t, send(say("something else")), 400, "invalid_request_error", `no conversation of the script matches the first user message "something else"`)
	past := chat(say("start"), done("1"), done("2"), done("3"), say("go on"))
	wantError(t, send(past), 400, "invalid_request_error", `conversation "start" has 3 turns, and this request asks for number 4`)
	past = chat(say("start"), done("1"), say("a third way"), done("c1"), say("go on"))
	wantError(t, send(past), 400, "invalid_request_error", `branch "a third way" of conversation "start" has 1 turns`)
}

// TestFault: a fault is given once for its turn, and the same request then gets the turn.
func TestFault(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{Match: "start", Turns: []scripted.Turn{
		{Text: "one", Fault: &scripted.Fault{Status: 529, RetryAfter: "0"}},
		{Text: "two", Fault: &scripted.Fault{Status: 400, Type: "special", Message: "prompt is too long"}},
	}}}})
	first := `{"model":"m","stream":true,"messages":[` + say("start") + `]}`
	r := post(t, srv.URL+"/v1/messages", first)
	wantError(t, r, 529, "overloaded_error", "overloaded_error")
	if r.header.Get("retry-after") != "0" {
		t.Errorf("retry-after %q", r.header.Get("retry-after"))
	}
	if r := post(t, srv.URL+"/v1/messages", first); r.status != http.StatusOK || r.header.Get("retry-after") != "" {
		t.Errorf("again: %d %v", r.status, r.header)
	}
	second := chat(say("start"), done("one"), say("go on"))
	r = post(t, srv.URL+"/v1/messages", `{"model":"m","messages":[`+second+`]}`)
	wantError(t, r, 400, "special", "prompt is too long")
	if _, ok := r.header["Retry-After"]; ok {
		t.Error("retry-after without being asked for")
	}
	for range 2 {
		if got := ask(t, srv, second).text(); got != "two" {
			t.Errorf("got %q", got)
		}
	}
}

// TestFaultTypes: the error type follows from the status.
func TestFaultTypes(t *testing.T) {
	for status, want := range map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
	} {
		srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{
			Turns: []scripted.Turn{{Fault: &scripted.Fault{Status: status, Message: "no"}}},
		}}})
		wantError(t, post(t, srv.URL+"/v1/messages", `{"model":"m","messages":[`+say("x")+`]}`), status, want, "no")
	}
}

// TestScriptIsCopied: a script that its owner changes after New is played as it was.
func TestScriptIsCopied(t *testing.T) {
	s := two()
	s.Conversations[0].Turns[0].Fault = &scripted.Fault{Status: 529}
	srv := serve(t, s)
	s.Conversations[0].Turns[0].Text = "changed"
	s.Conversations[0].Turns[0].Calls[0].Args["path"] = "changed"
	s.Conversations[0].Turns[0].Fault.Status = 500
	wantError(t, post(t, srv.URL+"/v1/messages", `{"model":"m","messages":[`+say("fix it")+`]}`), 529, "overloaded_error", "")
	got := ask(t, srv, say("fix it"))
	if got.text() != "Reading." || string(got.Content[1].Input) != `{"path":"a <b> & é"}` {
		t.Errorf("got %+v", got)
	}
}

// TestPanics: what no request could show to be wrong is wrong at once.
func TestPanics(t *testing.T) {
	turn := func(t scripted.Turn) scripted.Script {
		return scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{t}}}}
	}
	for name, s := range map[string]scripted.Script{
		"arguments": turn(scripted.Turn{Calls: []scripted.Call{{Name: "x", Args: map[string]any{"n": math.Inf(1)}}}}),
		"status":    turn(scripted.Turn{Fault: &scripted.Fault{Status: 200}}),
		"branch":    {Conversations: []scripted.Conversation{{Branches: []scripted.Branch{{}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			scripted.New(s)
		})
	}
}
