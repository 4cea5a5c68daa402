package scripted_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/provider/scripted"
)

const mark = `,"cache_control":{"type":"ephemeral"}`

// talker answers everything.
func talker() scripted.Script {
	return scripted.Script{Conversations: []scripted.Conversation{{Turns: make([]scripted.Turn, 40)}}}
}

// user is a message of one block, with a cache marker or without.
func user(text, mark string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q%s}]}`, text, mark)
}

// used sends a whole body and returns what it was charged.
func used(t *testing.T, srv *httptest.Server, body string) usage {
	t.Helper()
	return whole(t, post(t, srv.URL+"/v1/messages", body)).Usage
}

// size is what elements weigh: their bytes without markers, together, over four.
func size(elements ...string) int {
	return len(strings.ReplaceAll(strings.Join(elements, ""), mark, "")) / 4
}

// TestCacheGrowingConversation: as a marker moves on, each request reads what the one before it wrote and writes
// what is new.
func TestCacheGrowingConversation(t *testing.T) {
	srv := serve(t, talker())
	tool := `{"name":"read","description":"reads a file","input_schema":{"type":"object"}}`
	system := func(mark string) string { return `{"type":"text","text":"You fix bugs."` + mark + `}` }
	request := func(messages ...string) string {
		return `{"model":"m","tools":[` + tool + `],"system":[` + system(mark) + `],"messages":[` + chat(messages...) + `]}`
	}
	reply := `{"role":"assistant","content":[{"type":"text","text":"I looked at it and found nothing."}]}`
	one, two, three := user("please look at the first file", ""), user("and now at the second file", ""), user("and at the third", "")
	marked := func(m string) string { return strings.TrimSuffix(m, "}]}") + mark + "}]}" }

	steps := []struct {
		body        string
		read, total int
	}{
		{request(marked(one)), 0, size(tool, system(""), one)},
		{request(one, reply, marked(two)), size(tool, system(""), one), size(tool, system(""), one, reply, two)},
		{request(one, reply, two, reply, marked(three)), size(tool, system(""), one, reply, two), size(tool, system(""), one, reply, two, reply, three)},
		// a rewind: what the first request wrote is still there
		{request(one, reply, marked(three)), size(tool, system(""), one, reply), size(tool, system(""), one, reply, three)},
		// the same again is read whole
		{request(one, reply, marked(three)), size(tool, system(""), one, reply, three), size(tool, system(""), one, reply, three)},
		// another conversation of the same agent shares tools and system
		{request(marked(two)), size(tool, system("")), size(tool, system(""), two)},
	}
	for i, s := range steps {
		got := used(t, srv, s.body)
		want := usage{Read: s.read, Write: s.total - s.read, Output: got.Output}
		if got != want {
			t.Errorf("step %d: got %+v, want %+v", i, got, want)
		}
	}
}

// TestCacheMarkers: only what a marker covers is written or read, and what stands behind the last one is input.
func TestCacheMarkers(t *testing.T) {
	a, b, c := user("the first message of three", ""), user("the second message of three", ""), user("the third message of three", "")
	am := user("the first message of three", mark)
	halfway := `{"role":"user","content":[{"type":"text","text":"the second message"` + mark + `},{"type":"text","text":" of three"}]}`
	system := `{"type":"text","text":"A system block."}`
	body := func(top string, messages ...string) string {
		return `{"model":"m","system":"A system block."` + top + `,"messages":[` + chat(messages...) + `]}`
	}
	for name, row := range map[string]struct {
		before, body string
		want         usage
	}{
		"none":            {"", body("", a, b), usage{Input: size(system, a, b)}},
		"first":           {"", body("", am, b), usage{Write: size(system, a), Input: size(system, a, b) - size(system, a)}},
		"read first":      {body("", am), body("", am, b), usage{Read: size(system, a), Input: size(system, a, b) - size(system, a)}},
		"no marker now":   {body("", am), body("", a, b), usage{Input: size(system, a, b)}},
		"nothing written": {body("", a, b), body("", am, b), usage{Write: size(system, a), Input: size(system, a, b) - size(system, a)}},
		"automatic":       {"", body(mark, a, b, c), usage{Write: size(system, a, b, c)}},
		"inside":          {body(mark, a, b, c), body("", am), usage{Read: size(system, a)}},
		"halfway":         {"", body("", a, halfway), usage{Write: size(system, a), Input: size(system, a, halfway) - size(system, a)}},
		"null":            {"", body("", user("x", `,"cache_control":null`)), usage{Input: size(system, user("x", ""))}},
		"changed":         {body(mark, a, b, c), body(mark, a, c, b), usage{Read: size(system, a), Write: size(system, a, c, b) - size(system, a)}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, talker())
			if row.before != "" {
				used(t, srv, row.before)
			}
			got := used(t, srv, row.body)
			row.want.Output = got.Output
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

// TestCacheSpelling: a marker, spaces and a string in place of one block of text change nothing; another model, tier
// or argument does.
func TestCacheSpelling(t *testing.T) {
	first := `{"model":"m","system":[{"type":"text","text":"S"` + mark + `}],"messages":[` + say("hello") + `,` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{"cache_control":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]` + mark + `}]}]}`
	hello := `{"role":"user","content":[{"type":"text","text":"hello"}]}`
	for name, row := range map[string]struct {
		edit func(string) string
		all  bool
	}{
		"system string": {func(s string) string { return strings.Replace(s, `[{"type":"text","text":"S"`+mark+`}]`, `"S"`, 1) }, true},
		"blocks":        {func(s string) string { return strings.Replace(s, say("hello"), hello, 1) }, true},
		"spaces":        {func(s string) string { return strings.ReplaceAll(s, `"role":`, `"role" : `) }, true},
		"inner marker":  {func(s string) string { return strings.Replace(s, `"text":"r"`, `"text":"r"`+mark, 1) }, true},
		"model":         {func(s string) string { return strings.Replace(s, `"model":"m"`, `"model":"n"`, 1) }, false},
		"argument":      {func(s string) string { return strings.Replace(s, `{"cache_control":1}`, `{}`, 1) }, false},
		"tier":          {func(s string) string { return strings.Replace(s, `"system"`, `"tools"`, 1) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, talker())
			before := used(t, srv, first)
			got := used(t, srv, row.edit(first))
			if all := got.Read == before.total(); all != row.all {
				t.Errorf("read %d of %d", got.Read, before.total())
			}
		})
	}
}

// TestCacheOnlyAnswered: a request that was refused, or only counted, writes nothing.
func TestCacheOnlyAnswered(t *testing.T) {
	s := talker()
	s.Conversations[0].Turns[0].Fault = &scripted.Fault{Status: 529}
	srv := serve(t, s)
	body := `{"model":"m","messages":[` + user("hello there, all of you", mark) + `]}`
	post(t, srv.URL+"/v1/messages/count_tokens", body)
	if r := post(t, srv.URL+"/v1/messages", body); r.status != 529 {
		t.Fatalf("status %d", r.status)
	}
	if got := used(t, srv, body); got.Read != 0 || got.Write == 0 {
		t.Errorf("got %+v", got)
	}
}

// TestCountTokens: counting gives what a request is charged in all.
func TestCountTokens(t *testing.T) {
	srv := serve(t, talker())
	body := `{"model":"m","tools":[{"name":"x"}],"system":"S","messages":[` + user("hello there", mark) + `]}`
	var got struct {
		Input int `json:"input_tokens"`
	}
	r := post(t, srv.URL+"/v1/messages/count_tokens", body)
	if err := json.Unmarshal(r.body, &got); err != nil || r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if u := used(t, srv, body); got.Input == 0 || got.Input != u.total() {
		t.Errorf("counted %d, charged %+v", got.Input, u)
	}
}

// TestOutputTokens: what is answered is counted as it is spelled.
func TestOutputTokens(t *testing.T) {
	srv := serve(t, scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{{Text: strings.Repeat("word ", 100)}}}}})
	want := len(`[{"type":"text","text":""}]`) + 500
	if got := ask(t, srv, say("x")).Usage.Output; got != want/4 {
		t.Errorf("got %d, want %d", got, want/4)
	}
	r := post(t, srv.URL+"/v1/messages", `{"model":"m","stream":true,"messages":[`+say("x")+`]}`)
	start := events(t, r.body)[0].data["message"].(map[string]any)["usage"].(map[string]any)
	if start["output_tokens"] != 1.0 || start["cache_read_input_tokens"] != 0.0 || start["cache_creation_input_tokens"] != 0.0 {
		t.Errorf("message_start usage %v", start)
	}
	if got := collect(t, events(t, r.body)).Usage.Output; got != want/4 {
		t.Errorf("streamed: got %d, want %d", got, want/4)
	}
}

// TestCacheLaw: over any requests, against a model that compares every pair: what is charged adds up to the whole,
// and what is read is the longest prefix that an earlier request covered.
func TestCacheLaw(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		srv := scripted.New(talker())
		var earlier [][]string // what each request's marker covered
		for range rapid.IntRange(1, 6).Draw(r, "requests") {
			texts := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta the second", "gamma"}), 1, 5).Draw(r, "texts")
			marker := rapid.IntRange(0, len(texts)).Draw(r, "marker")
			var messages, bare []string
			for i, text := range texts {
				at := ""
				if i+1 == marker {
					at = mark
				}
				messages, bare = append(messages, user(text, at)), append(bare, user(text, ""))
			}
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model":"m","messages":[`+chat(messages...)+`]}`)))
			var got message
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				r.Fatal(err)
			}
			read := 0
			for _, e := range earlier {
				read = max(read, shared(e, bare[:marker]))
			}
			want := usage{Read: size(bare[:read]...), Output: got.Usage.Output}
			want.Write = size(bare[:marker]...) - want.Read
			want.Input = size(bare...) - want.Read - want.Write
			if got.Usage != want {
				r.Fatalf("got %+v, want %+v", got.Usage, want)
			}
			earlier = append(earlier, bare[:marker])
		}
	})
}

// shared is the number of leading elements that two lists share.
func shared(a, b []string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
