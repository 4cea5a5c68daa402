package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"

	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

// overSockets serves a script over WebSockets, too, as strict as can be.
func overSockets(t *testing.T, turns []scripted.Turn, transport ambit.Transport) (*desk, *scripted.Provider) {
	var d *desk
	model := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{
		Strict: true, WebSocket: true, Heard: func(method, path string, body []byte) {
			if method == http.MethodGet {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.asked = append(d.asked, asked{path, bytes.Clone(body)})
			}
		},
	})
	d = newDesk(t, provider.TypeResponses, model)
	d.setup.Model.Transport = transport
	return d, model
}

// workTurns are a conversation with thoughts, parallel calls, calls that fail, and faults that pass.
func workTurns() []scripted.Turn {
	return []scripted.Turn{
		{Thought: "I look first.", Text: "Two files.", Calls: []scripted.Call{scriptedCall("read", "a.go"), scriptedCall("read", "b.go")}},
		{Text: "One more.", Calls: []scripted.Call{scriptedCall("fail", "c.go")}, Fault: &scripted.Fault{Status: 503, Message: "later", RetryAfter: "7"}},
		{Thought: "It failed.", Calls: []scripted.Call{scriptedCall("deny", "d.go"), scriptedCall("gone", "e.go")}, Fault: &scripted.Fault{Drop: true}},
		{Text: "Once more, \u2028then.", Calls: []scripted.Call{scriptedCall("read", "g.go")}},
		{Text: "Done."},
		{Text: "Done, too.", Calls: []scripted.Call{scriptedCall("read", "f.go")}},
		{Text: "Really."},
	}
}

// sent is a request as the journal has it.
type sent struct {
	method, path string
	body, joined []byte
	how          entry.Relating
	status       int
	end          entry.End
}

// continues reports whether it has only what is new.
func (s *sent) continues() bool { return bytes.Contains(s.body, []byte(`"previous_response_id":`)) }

// plain is the body that would have asked for the same over HTTP.
func (s *sent) plain() string {
	return strings.Replace(strings.Replace(string(s.joined), `"type":"response.create",`, "", 1), `"store":`, `"stream":true,"store":`, 1)
}

// sents are a session's requests. The journal is checked, and has what reached the model.
func (d *desk) sents(id string) (list []sent) {
	d.t.Helper()
	if r, err := d.store.Check(d.t.Context(), id); err != nil || len(r.Damage)+len(r.Mismatches) > 0 {
		d.t.Errorf("%+v, %v", r, err)
	}
	rec, err := ambit.OpenRecording(d.t.Context(), d.store, id)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range d.facts(id) {
		switch f := f.(type) {
		case *entry.Request:
			s := sent{method: f.Method, path: f.Path}
			if s.body, err = d.store.Body(d.t.Context(), id, *f.Body); err != nil {
				d.t.Fatal(err)
			}
			if s.joined, err = rec.Joined(d.t.Context(), f.N); err != nil {
				d.t.Fatalf("request %d: %v", f.N, err)
			}
			list = append(list, s)
		case *entry.Relation:
			list[f.N-1].how = f.How
		case *entry.Response:
			list[f.N-1].status, list[f.N-1].end = f.Status, f.End
		}
	}
	return list
}

// told is the text that was told of as it came.
func (d *desk) told() (text string) {
	for _, e := range d.events {
		if e.Kind == ambit.EventText {
			text += e.Text
		}
	}
	return text
}

// An agent works over every transport before a provider that refuses whatever the real one would: it is shown the same over
// each, attempts that are repeated included, the journal has exactly what was sent, and of what has only what is new it can say
// what it stands for.
//
//
// covers: R-05 part
func TestEveryTransport(t *testing.T) {
	var plain []string // what was asked over SSE
	for _, transport := range []ambit.Transport{ambit.TransportSSE, ambit.TransportWebSocket, ambit.TransportCached, ambit.TransportAuto} {
		t.Run(string(transport), func(t *testing.T) {
			d, model := overSockets(t, workTurns(), transport)
			s := d.begin("Read them.")
			out, err := s.Run(t.Context())
			if err != nil || out.Text != "Done." || out.Turns != 5 || out.Activities != 1 {
				t.Fatalf("%+v: %v, %v", out, err, model.Refusals())
			}
			if len(d.waits) != 2 || d.waits[0] != 7*time.Second {
				t.Errorf("waits of %v", d.waits)
			}
			if got := d.told(); !strings.Contains(got, "Two files.") || !strings.HasSuffix(got, "Once more, \u2028then.Done.") {
				t.Errorf("it was told of the text %q", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
				t.Fatal(err)
			}
			d.say(s, "And f.")
			if out, err = s.Run(t.Context()); err != nil || out.Text != "Really." {
				t.Fatalf("taken up again: %+v: %v, %v", out, err, model.Refusals())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := model.Refusals(); len(got) > 0 {
				t.Errorf("refused: %v", got)
			}
			list := d.sents(s.ID())
			if len(list) != len(d.asked) {
				t.Fatalf("%d requests are recorded, and %d were sent", len(list), len(d.asked))
			}
			var continued []int
			for i := range list {
				x := &list[i]
				if string(x.body) != string(d.asked[i].body) || x.path != "/v1/responses" {
					t.Errorf("request %d was\n%s\nand is recorded as\n%s", i+1, d.asked[i].body, x.body)
				}
				if over := x.method == http.MethodGet; over == (transport == ambit.TransportSSE) {
					t.Errorf("request %d is a %s", i+1, x.method)
				}
				if x.continues() {
					continued = append(continued, i+1)
				}
				nameless := func(body string) string { return strings.ReplaceAll(body, s.ID(), "SESSION") }
				if transport == ambit.TransportSSE {
					plain = append(plain, nameless(string(x.body)))
				} else if i < len(plain) && nameless(x.plain()) != plain[i] {
					t.Errorf("request %d shows\n%s\nand over SSE\n%s", i+1, x.plain(), plain[i])
				}
				if x.how == entry.Again && string(x.joined) != string(list[i-1].joined) {
					t.Errorf("request %d is not what it repeats", i+1)
				}
			}
			var want []int // of 1 2 again 3 again 4 5, 6 7: not the first, not what is repeated, not the first of a process
			if transport == ambit.TransportCached || transport == ambit.TransportAuto {
				want = []int{2, 4, 6, 7, 9}
			}
			if !slices.Equal(continued, want) || len(list) != 9 {
				t.Errorf("of %d requests these go on: %v", len(list), continued)
			}
		})
	}
}

// What a session shows of requests that have only what is new is what it shows of those that have all.
func TestViewOfWhatGoesOn(t *testing.T) {
	shown := make(map[ambit.Transport]string)
	for _, transport := range []ambit.Transport{ambit.TransportWebSocket, ambit.TransportCached} {
		d, _ := overSockets(t, workTurns(), transport)
		s := d.begin("Read them.")
		d.run(s)
		rec, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for n := 1; n <= rec.Last(); n++ {
			v, err := rec.View(t.Context(), "", n)
			if err != nil {
				t.Fatalf("request %d: %v", n, err)
			}
			for _, seg := range v.Segments {
				fmt.Fprintf(&b, "%d %s %s %.60q\n", n, seg.Layer, seg.Role, seg.Text)
			}
		}
		for _, c := range rec.Conversations(t.Context()) {
			fmt.Fprintf(&b, "%s: %d messages, %d missing\n", c.Thread, len(c.Messages), c.Missing)
			for i := range c.Turns {
				fmt.Fprintf(&b, "%v %v\n", c.Turns[i].Held, c.Turns[i].Whole)
			}
		}
		units := map[string]int{}
		for _, f := range d.facts(s.ID()) {
			if u, is := f.(*entry.Unit); is {
				units[string(u.Of)+" "+u.Role]++
			}
		}
		raw, _ := json.Marshal(units)
		shown[transport] = b.String() + string(raw)
	}
	if a, b := shown[ambit.TransportWebSocket], shown[ambit.TransportCached]; a != b || !strings.Contains(a, "Two files.") {
		t.Errorf("whole:\n%s\nand what goes on:\n%s", a, b)
	}
}

// lines are a server that does with each connection what it is told to, once each, after the first message; behind that it
// answers everything. It counts what is opened, posted and left open.
type lines struct {
	list   []func(w http.ResponseWriter, r *http.Request)
	talker *scripted.Provider

	mu             sync.Mutex
	opened, posted int
	open           sync.WaitGroup
}

func (l *lines) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.open.Add(1)
	defer l.open.Done()
	l.mu.Lock()
	next := l.talker.ServeHTTP
	if r.Method == http.MethodGet {
		if l.opened++; len(l.list) > 0 {
			next, l.list = l.list[0], l.list[1:]
		}
	} else {
		l.posted++
	}
	l.mu.Unlock()
	next(w, r)
}

// counted is how many WebSockets were asked for, and how many requests posted.
func (l *lines) counted() (opened, posted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened, l.posted
}

// on answers the first message of a connection, and waits until the client has left.
func on(answer func(c *websocket.Conn)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		if _, _, err = c.Read(context.Background()); err != nil {
			return
		}
		answer(c)
		for err == nil {
			_, _, err = c.Read(context.Background())
		}
	}
}

// speaks answers with messages.
func speaks(messages ...string) func(http.ResponseWriter, *http.Request) {
	return on(func(c *websocket.Conn) {
		for _, m := range messages {
			if c.Write(context.Background(), websocket.MessageText, []byte(m)) != nil {
				return
			}
		}
	})
}

// shuts answers with messages and closes.
func shuts(code websocket.StatusCode, reason string, messages ...string) func(http.ResponseWriter, *http.Request) {
	return on(func(c *websocket.Conn) {
		for _, m := range messages {
			_ = c.Write(context.Background(), websocket.MessageText, []byte(m))
		}
		_ = c.Close(code, reason)
	})
}

// drops answers with messages and is gone.
func drops(messages ...string) func(http.ResponseWriter, *http.Request) {
	return on(func(c *websocket.Conn) {
		for _, m := range messages {
			_ = c.Write(context.Background(), websocket.MessageText, []byte(m))
		}
		_ = c.CloseNow()
	})
}

// What a response of OpenAI's begins with, says and ends with.
const (
	created = `{"type":"response.created","response":{"id":"resp_0","status":"in_progress","model":"m-1","output":[]}}`
	told    = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}}`
	ended   = `{"type":"response.completed","response":{"id":"resp_0","status":"completed","model":"m-1","output":[],"usage":{"input_tokens":9,"output_tokens":4}}}`
)

func errorEvent(status int, code, headers string) string {
	return fmt.Sprintf(`{"type":"error","status":%d,"error":{"type":"some_error","code":%q,"message":"so it is"},"headers":{%s}}`, status, code, headers)
}

// newLines is a desk in front of connections that do what they are told to.
func newLines(t *testing.T, transport ambit.Transport, list ...func(http.ResponseWriter, *http.Request)) (*desk, *lines) {
	var d *desk
	l := &lines{list: list}
	turns := make([]scripted.Turn, 30)
	for i := range turns {
		turns[i].Text = "Yes."
	}
	l.talker = scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{
		Strict: true, WebSocket: true, Heard: func(method, path string, body []byte) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if method == http.MethodGet {
				d.asked = append(d.asked, asked{path, bytes.Clone(body)})
			}
		},
	})
	d = newDesk(t, provider.TypeResponses, l)
	d.setup.Model.Transport, d.setup.Model.Rest = transport, nil
	return d, l
}

// unleaked sees to it that no goroutine is left behind the test and its servers.
func unleaked(t *testing.T) {
	now := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, now) })
}

// What passes by itself is tried again over a WebSocket as it is over HTTP, what is no answer some times, and the rest ends the
// activity with an error that says why. Each attempt is recorded, with the same bytes, the session goes on at the next turn, and
// no connection is left, nor a goroutine.
//
// covers: R-03 part
// covers: R-04 part
// covers: R-05 part
// covers: R-06 part
func TestBadAnswersOverAWebSocket(t *testing.T) {
	type row struct {
		list   []func(http.ResponseWriter, *http.Request)
		opened int
		waits  []time.Duration
		kind   provider.FailureKind // of the error; empty where it succeeds
		fault  provider.ReplyFault
		says   string // what the error has
	}
	four := func(f func(http.ResponseWriter, *http.Request)) []func(http.ResponseWriter, *http.Request) {
		return slices.Repeat([]func(http.ResponseWriter, *http.Request){f}, 4)
	}
	one := func(f func(http.ResponseWriter, *http.Request)) []func(http.ResponseWriter, *http.Request) {
		return []func(http.ResponseWriter, *http.Request){f}
	}
	retried, first := []time.Duration{2e9, 4e9, 8e9}, []time.Duration{2e9}
	for name, x := range map[string]row{
		"an answer": {one(speaks(created, told, ended)), 1, nil, "", "", ""},
		"a content type, of nothing": {one(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "application/json")
			speaks(created, told, ended)(w, r)
		}), 1, nil, "", "", ""},
		"an event behind the end":  {one(speaks(created, told, ended, errorEvent(500, "server_error", ""))), 1, nil, "", "", ""},
		"no JSON":                  {four(speaks(created, `{"type":`)), 4, retried, "", provider.ReplyStrange, "event 2: it is no JSON"},
		"half of it, then another": {four(speaks(created, told, `{"type":"response.compl`, ended)), 4, retried, "", provider.ReplyStrange, "event 3"},
		"an empty message":         {four(speaks("")), 4, retried, "", provider.ReplyStrange, "event 1"},
		"a list":                   {four(speaks("[1]")), 4, retried, "", provider.ReplyBroke, ""},
		"half a character":         {four(speaks(created, "{\"type\":\"response.output_text.delta\",\"delta\":\"\xe2\x82\"}", ended)), 4, retried, "", provider.ReplyStrange, "not UTF-8"},
		"half a character at the end": {
			four(speaks(created, told, strings.Replace(ended, "m-1", "m-\xe2\x82", 1))), 4, retried, "", provider.ReplyStrange, "not UTF-8",
		},
		"a huge message":     {one(speaks(created, strings.Repeat("x", 70_000))), 1, nil, provider.Garbled, "", "more than 60000 bytes"},
		"many messages":      {one(speaks(slices.Repeat([]string{strings.Replace(told, "Yes.", strings.Repeat("y", 9000), 1)}, 9)...)), 1, nil, provider.Garbled, "", "more than 60000 bytes"},
		"broken off":         {one(drops(created, told)), 2, first, "", "", ""},
		"gone at once":       {one(drops()), 2, first, "", "", ""},
		"closed, going away": {one(shuts(1001, "restart", created)), 2, first, "", "", ""},
		"closed, no code":    {one(shuts(1005, "", created)), 2, first, "", "", ""},
		"closed, normally":   {one(shuts(1000, "")), 2, first, "", "", ""},
		"closed, an error":   {one(shuts(1011, "oops", created)), 2, first, "", "", ""},
		"closed, later":      {one(shuts(1013, "")), 2, first, "", "", ""},
		"closed, a policy":   {one(shuts(1008, "not you")), 1, nil, provider.Denied, "", "close 1008): not you"},
		"closed, too big":    {one(shuts(1009, "")), 1, nil, provider.Invalid, "", "close 1009"},
		"closed, their code": {one(shuts(4321, "who knows")), 1, nil, provider.Unknown, "", "close 4321): who knows"},
		"failed":             {one(speaks(created, `{"type":"response.failed","response":{"id":"resp_0","status":"failed","error":{"code":"server_error","message":"oops"}}}`)), 2, first, "", "", ""},
		"a rate limit":       {one(speaks(errorEvent(429, "rate_limit_exceeded", `"Retry-After":"9"`))), 2, []time.Duration{9e9}, "", "", ""},
		"a rate limit in milliseconds": {
			one(speaks(errorEvent(429, "rate_limit_exceeded", `"retry-after-ms":2500`))), 2, []time.Duration{2500e6}, "", "", "",
		},
		"a rate limit for long":       {one(speaks(errorEvent(429, "rate_limit_exceeded", `"retry-after":"61"`))), 1, nil, provider.RateLimited, "", "429"},
		"a status and a strange code": {one(speaks(errorEvent(503, "who_knows", ""))), 2, first, "", "", ""},
		"overloaded":                  {one(speaks(created, errorEvent(503, "server_is_overloaded", ""))), 2, first, "", "", ""},
		"no quota":                    {one(speaks(errorEvent(429, "insufficient_quota", ""))), 1, nil, provider.Unpaid, "", "so it is"},
		"too long":                    {one(speaks(errorEvent(400, "context_length_exceeded", ""))), 1, nil, provider.TooLong, "", ""},
		"a connection that is old":    {one(speaks(errorEvent(400, "websocket_connection_limit_reached", ""))), 2, first, "", "", ""},
		"an answer that is not held":  {one(speaks(errorEvent(400, "previous_response_not_found", ""))), 1, nil, provider.Forgot, "", ""},
		"an error without a type":     {one(speaks(`{"error":{"code":"invalid_api_key","message":"no"}}`)), 1, nil, provider.Denied, "", "no"},
		"refused, no route":           {one(status(404, `{"error":{"message":"no route"}}`)), 1, nil, provider.Invalid, "", "the transport sse does without: no route"},
		"refused, no upgrade":         {one(status(426, "")), 1, nil, provider.Invalid, "", "the transport sse does without"},
		"refused, a credential":       {one(status(401, `{"error":{"code":"invalid_api_key","message":"wrong key"}}`)), 1, nil, provider.Denied, "", "wrong key"},
		"refused, a rate limit":       {one(status(429, "", "retry-after", "3")), 2, []time.Duration{3e9}, "", "", ""},
		"refused, a gateway":          {one(status(502, "<html>")), 2, first, "", "", ""},
		"refused, another page":       {one(status(200, "<html>")), 1, nil, provider.Garbled, "", "the transport sse does without"},
		"redirected":                  {one(status(307, "", "location", "http://127.0.0.1:1/elsewhere")), 1, nil, provider.Garbled, "", "it redirects to http://127.0.0.1:1/elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			unleaked(t)
			d, l := newLines(t, ambit.TransportWebSocket, x.list...)
			d.setup.Limits.Answer = 60_000
			s := d.begin("Go.")
			out, err := s.Run(t.Context())
			failure, failed := errors.AsType[*provider.Failure](err)
			fault, faulty := errors.AsType[*provider.ReplyError](err)
			switch {
			case x.kind != "":
				if !failed || failure.Kind != x.kind || !strings.Contains(err.Error(), x.says) {
					t.Errorf("%v", err)
				}
			case x.fault != "":
				if !faulty || fault.Fault != x.fault || !strings.Contains(err.Error(), x.says) {
					t.Errorf("%v", err)
				}
			case err != nil || out.Text != "Yes.":
				t.Errorf("%+v, %v", out, err)
			}
			if opened, posted := l.counted(); opened != x.opened || posted != 0 || !slices.Equal(d.waits, x.waits) {
				t.Errorf("%d connections, %d requests posted, waits of %v", opened, posted, d.waits)
			}
			l.list = nil
			if _, err := s.Admit(t.Context(), ambit.Input{Text: "Again.", Delivery: entry.Steer}); err != nil {
				t.Fatal(err)
			}
			d.run(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			l.open.Wait() // nothing is left open
			list := d.sents(s.ID())
			for i := range list {
				if list[i].how == entry.Again && string(list[i].body) != string(list[i-1].body) {
					t.Errorf("request %d is not what it repeats", i+1)
				}
			}
			if len(list) != x.opened+1 {
				t.Errorf("%d requests are recorded", len(list))
			}
			answers := 1
			if x.kind == "" && x.fault == "" {
				answers++
			}
			if got := strings.Count(d.resumed(s.ID()), "Yes."); got != answers {
				t.Errorf("taken up again it has %d answers, not %d", got, answers)
			}
		})
	}
}

// resumed takes a session up again, and returns what is asked then.
func (d *desk) resumed(id string) string {
	d.t.Helper()
	s, err := d.anew().Resume(d.t.Context(), id, d.setup)
	if err != nil {
		d.t.Fatal(err)
	}
	d.run(s, "And now?")
	if err := s.Close(); err != nil {
		d.t.Fatal(err)
	}
	list := d.sents(id)
	return string(list[len(list)-1].joined)
}

// Messages are kept byte for byte, whatever ends of lines they have, in a form that reads as a stream of events.
//
// covers: R-03 part
func TestMessagesAreKept(t *testing.T) {
	pretty := strings.NewReplacer(",", ",\r\n", ":{", ":\n\n{\r", "}", "}\r\r\n\n")
	want := []string{
		pretty.Replace(created), strings.Repeat("\r\n", 40_000) + pretty.Replace(told) + "\r", "\r" + told + "\n", `{"type":"x","data: ":"data: "}`, pretty.Replace(ended),
	}
	d, _ := newLines(t, ambit.TransportWebSocket, speaks(want...))
	s := d.begin("Go.")
	out, err := s.Run(t.Context())
	if err != nil || !strings.HasPrefix(out.Text, "Yes.") {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, f := range d.facts(s.ID()) {
		f, is := f.(*entry.Response)
		if !is {
			continue
		}
		body, err := d.store.Body(t.Context(), s.ID(), *f.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := unframed(t, string(body)); !slices.Equal(got, want) {
			t.Errorf("%d messages are kept, or others: %.2000q", len(got), got)
		}
	}
}

// unframed are the messages of a response's body, as docs/format/journal.md has it.
func unframed(t *testing.T, body string) (messages []string) {
	t.Helper()
	message := ""
	for body != "" {
		line, is := strings.CutPrefix(body, "data: ")
		if !is {
			t.Fatalf("%.100q begins with no data", body)
		}
		end := strings.IndexAny(line, "\r\n")
		if more, is := strings.CutPrefix(line[end:], "\n\n"); is {
			messages, message, body = append(messages, message+line[:end]), "", more
		} else {
			message, body = message+line[:end+1], line[end+1:]
		}
	}
	return messages
}
