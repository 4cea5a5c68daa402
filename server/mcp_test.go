package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/journal"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func allOf(t testing.TB, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// agent is a client of MCP.
type agent struct {
	t testing.TB
	s *mcp.ClientSession
}

// agent connects to the server's tools.
func (g *rig) agent(path string) *agent {
	g.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil)
	s, err := c.Connect(g.t.Context(), &mcp.StreamableClientTransport{Endpoint: g.front.URL + path, HTTPClient: g.front.Client(), DisableStandaloneSSE: true}, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { s.Close() })
	return &agent{g.t, s}
}

// call calls a tool, and returns the label and the JSON that it answers.
func (a *agent) call(name string, args any) (label, answer string, failed bool) {
	a.t.Helper()
	r, err := a.s.CallTool(a.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		a.t.Fatal(err)
	}
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(*mcp.TextContent).Text)
	}
	return all[0], strings.Join(all[1:], ""), r.IsError
}

// answer calls a tool that recalls.
func (a *agent) answer(name string, args any) (label string, got ambit.Recalled) {
	a.t.Helper()
	label, text, _ := a.call(name, args)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		a.t.Fatalf("%s: %s: %v", name, text, err)
	}
	return label, got
}

type args map[string]any

// recordedRig has two sessions, with the tags one and two.
func recordedRig(t *testing.T) (g *rig, one, two string) {
	t.Helper()
	g = newRig(t, echo, nil)
	for i, tag := range []string{"one", "two"} {
		body := `{"model":"m","messages":[{"role":"user","content":"kestrel in ` + tag + `"}]}`
		if _, _, err := g.post("/anthropic/s/"+tag+"/v1/messages", []byte(body)); err != nil {
			t.Fatal(err)
		}
		g.settle(2 * (i + 1))
		time.Sleep(2 * time.Millisecond) // names of sessions count milliseconds
	}
	names, err := g.store.Sessions(t.Context())
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	return g, names[0], names[1]
}

// TestMCP recalls over HTTP as the library does, labels what it answers, and acts on the session that is meant.
//
// covers: I-06 part
// covers: A-05 part
// covers: A-06 part
func TestMCP(t *testing.T) {
	g, one, two := recordedRig(t)
	key := []byte("secret")
	a := g.agent("/mcp")
	tools, err := a.s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if want := []string{"context", "pin", "read", "record_finding", "search", "unpin"}; !slices.Equal(names, want) {
		t.Errorf("tools are %q", names)
	}

	// Without a session it is about the newest, and says so; its refs say of which session they are.
	label, found := a.answer("search", args{"text": "kestrel"})
	if found.Status != "found" || !strings.Contains(label, two+", the one that began last") || !strings.Contains(label, "no instruction") || !ambit.Names(key, two, found.Results[0].Ref) {
		t.Fatalf("%s %+v", label, found)
	}
	if _, text, _ := a.call("search", args{"text": "kestrel"}); !strings.Contains(text, `"authority":"tool-data","freshness":"unknown"`) {
		t.Error(text)
	}

	// One session alone answers as the library does, to the byte.
	b := g.agent("/mcp/s/one")
	rec, err := ambit.OpenRecording(t.Context(), g.store, one)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		args args
		want ambit.Recalled
	}{
		{"search", args{"text": "kestrel"}, rec.Search(t.Context(), key, ambit.Query{Text: "kestrel"})},
		{"search", args{"text": "nowhere"}, rec.Search(t.Context(), key, ambit.Query{Text: "nowhere"})},
		{"search", args{"text": "kestrel", "max_results": 99}, rec.Search(t.Context(), key, ambit.Query{Text: "kestrel", Limits: ambit.Limits{Results: 99}})},
		{"read", args{"ref": "e4"}, rec.Read(t.Context(), key, ambit.Reading{Ref: "e4"})},
		{"read", args{"ref": "e4", "start_line": 1, "end_line": 1}, rec.Read(t.Context(), key, ambit.Reading{Ref: "e4", StartLine: 1, EndLine: 1})},
		{"read", args{"ref": "../e4"}, rec.Read(t.Context(), key, ambit.Reading{Ref: "../e4"})},
	} {
		if _, got, _ := b.call(c.tool, c.args); got != plain(c.want) {
			t.Errorf("%s %v: %s, want %s", c.tool, c.args, got, plain(c.want))
		}
	}

	// A ref with its suffix finds its session; another session's, and one that was guessed, do not.
	_, in := b.answer("search", args{"text": "kestrel"})
	ref := rec.Handle(key, 4)
	if in.Results[0].Ref != "e4" {
		t.Fatalf("%+v", in.Results)
	}
	if label, got := a.answer("read", args{"ref": ref}); got.Status != "found" || got.Results[0].Text != "kestrel in one" || !strings.Contains(label, one) {
		t.Errorf("%s %+v", label, got)
	}
	for _, c := range []struct {
		of  *agent
		ref string
	}{{b, found.Results[0].Ref}, {a, "e4.aaaaaaaa"}, {b, "e4.aaaaaaaa"}} {
		if _, got := c.of.answer("read", args{"ref": c.ref}); got.Status != "not_authorized" || len(got.Results) > 0 {
			t.Errorf("%s: %+v", c.ref, got)
		}
	}
	if label, _, failed := b.call("pin", args{"ref": found.Results[0].Ref}); !failed || !strings.HasPrefix(label, "not_authorized") {
		t.Error(label)
	}
}

// TestMCPActs pins and records over HTTP, with no more authority than an agent has.
//
// covers: I-06 part
// covers: P-10 part
func TestMCPActs(t *testing.T) {
	g, one, two := recordedRig(t)
	a, b := g.agent("/mcp"), g.agent("/mcp/s/one")
	g.do(one, ActPin, `{"text":"a person's"}`, 200)
	if label, answer, failed := a.call("pin", args{"text": "no push"}); failed || !strings.Contains(label, two) || !strings.Contains(answer, `"id":"p1","by":"agent"`) {
		t.Error(label, answer)
	}
	if label, answer, failed := b.call("record_finding", args{"text": "verified: port 80", "refs": []string{"e4"}}); failed || !strings.Contains(answer, `"verification":"unverified"`) {
		t.Error(label, answer)
	}
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"unpin", args{"pin": "p1"}, "not_authorized"},
		{"unpin", args{"pin": "p9"}, "no pin"},
		{"pin", args{}, "give a text"},
		{"pin", args{"text": "x", "ref": "e4"}, "text and ref are two pins"},
		{"pin", args{"text": "x", "field": "/text"}, "field goes with a ref"},
		{"read", args{"ref": "e4", "start_line": 1}, "start_line and end_line go together"},
		{"read", args{"ref": "e999"}, "no text of this session has that ref"},
		{"pin", args{"ref": "e999"}, "give a ref as search"},
		{"pin", args{"text": strings.Repeat("x", ambit.MaxPin+1)}, "16384"},
		{"record_finding", args{"text": "x", "refs": []string{"e999"}}, "not_authorized"},
		{"search", args{"text": 5}, "text"},
		{"search", args{"text": "x", "session": two}, "session"},
	} {
		if label, _, failed := b.call(c.tool, c.args); !failed || !strings.Contains(label, c.want) {
			t.Errorf("%s %v: %s", c.tool, c.args, label)
		}
	}
	label, text, failed := b.call("context", args{})
	var got gauged
	if err := json.Unmarshal([]byte(text), &got); err != nil || failed || got.Session != one || len(got.Pins) != 1 || len(got.Findings) != 1 || got.Gauge == nil || got.Included != 1 {
		t.Errorf("%s %s %v", label, text, err)
	}
	if label, _, failed := a.call("unpin", args{"pin": "p1"}); failed {
		t.Error(label)
	}
}

// TestMCPGuarded: pages in a browser, other hosts and who lacks the token are not answered.
func TestMCPGuarded(t *testing.T) {
	g := newRig(t, echo, func(o *Options) { o.Token = "sesame" })
	for _, c := range []struct {
		status  int
		path    string
		headers []string
	}{
		{401, "/mcp", nil},
		{403, "/mcp", []string{tokenHeader, "sesame", "Host", "evil.example"}},
		{403, "/mcp", []string{tokenHeader, "sesame", "Origin", "http://evil.example"}},
		{403, "/mcp", []string{tokenHeader, "sesame", "Origin", g.front.URL}},
		{403, "/mcp", []string{tokenHeader, "sesame", "Sec-Fetch-Site", "none"}},
		{404, "/mcp/s/nosuch", []string{tokenHeader, "sesame"}},
		{404, "/mcp/other", []string{tokenHeader, "sesame"}},
	} {
		if status, answer := g.ask(http.MethodPost, c.path, append([]string{"Content-Type", asJSON}, c.headers...)...); status != c.status {
			t.Errorf("%s %v: status %d, want %d: %s", c.path, c.headers, status, c.status, answer)
		}
	}
	a := g.agent("/mcp/t/sesame")
	if label, _, failed := a.call("search", args{"text": "x"}); !failed || !strings.Contains(label, "nothing is recorded") {
		t.Error(label)
	}
}

// TestMCPPages goes on with a cursor in the session that gave it, whatever is the newest then.
func TestMCPPages(t *testing.T) {
	g, _, two := recordedRig(t)
	a := g.agent("/mcp")
	more := `{"model":"m","messages":[{"role":"user","content":"kestrel in two"},{"role":"assistant","content":"and a kestrel"},{"role":"user","content":"kestrel again"}]}`
	if _, _, err := g.post("/anthropic/s/two/v1/messages", []byte(more)); err != nil {
		t.Fatal(err)
	}
	g.settle(6)
	_, first := a.answer("search", args{"text": "kestrel", "max_results": 1})
	if first.Cursor == "" {
		t.Fatalf("%+v", first)
	}
	if _, _, err := g.post("/anthropic/s/three/v1/messages", []byte(`{"model":"m","messages":[{"role":"user","content":"none"}]}`)); err != nil {
		t.Fatal(err)
	}
	g.settle(8)
	label, next := a.answer("search", args{"text": "kestrel", "max_results": 1, "cursor": first.Cursor})
	if len(next.Results) != 1 || next.Results[0].Ref == first.Results[0].Ref || !strings.Contains(label, two) {
		t.Errorf("%s %+v", label, next)
	}
}

// TestMCPStreams serves over a pair of streams, and ends when the input does.
func TestMCPStreams(t *testing.T) {
	d, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	tools := NewTools(ToolsOptions{Store: d, Key: []byte("k"), Act: func(context.Context, string, string, Ask) (Acted, error) { return Acted{}, nil }})
	go func() { ended <- tools.Serve(t.Context(), in, out) }()
	io.WriteString(write, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`+"\n")
	dec := json.NewDecoder(read)
	var answer struct {
		Result struct {
			Instructions string `json:"instructions"`
		} `json:"result"`
	}
	if err := dec.Decode(&answer); err != nil || !strings.Contains(answer.Result.Instructions, "no instruction") {
		t.Error(answer, err)
	}
	write.Close()
	go io.Copy(io.Discard, read)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
