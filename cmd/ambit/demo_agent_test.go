package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/provider/scripted"
)

// demoExchange is a request that reached the provider, and the status of its answer.
type demoExchange struct {
	path   string
	header http.Header
	body   []byte
	status int
	demoRequest
}

// demoUpstream plays a script and notes every exchange.
type demoUpstream struct {
	*httptest.Server
	mu        sync.Mutex
	exchanges []demoExchange
}

// demoStatus notes the status of an answer as it passes.
type demoStatus struct {
	http.ResponseWriter
	code int
}

func (s *demoStatus) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func (s *demoStatus) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func startDemo(t *testing.T, s scripted.Script) *demoUpstream {
	t.Helper()
	provider := scripted.New(s)
	u := &demoUpstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		noted := &demoStatus{w, 0}
		provider.ServeHTTP(noted, r)
		e := demoExchange{path: r.URL.Path, header: r.Header, body: body, status: noted.code}
		if err := json.Unmarshal(body, &e.demoRequest); err != nil {
			t.Error(err)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.exchanges = append(u.exchanges, e)
	}))
	t.Cleanup(u.Close)
	return u
}

// main are the exchanges of the main conversation that were answered with a turn.
func (u *demoUpstream) main() []demoExchange {
	return slices.DeleteFunc(slices.Clone(u.exchanges), func(e demoExchange) bool {
		return e.status != 200 || e.path != "/anthropic/v1/messages" || !strings.HasPrefix(demoText(e.Messages[0]), demoAskStart)
	})
}

// results are the texts of all tool results that were ever sent, once each, in order.
func (u *demoUpstream) results() []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range u.exchanges {
		for _, m := range e.Messages {
			for _, b := range m.Content {
				if b.Type == "tool_result" && !seen[b.ToolUseID] {
					seen[b.ToolUseID] = true
					out = append(out, b.Content)
				}
			}
		}
	}
	return out
}

// TestDemoAgent runs the whole demo against its script and looks at it from all sides.
func TestDemoAgent(t *testing.T) {
	u := startDemo(t, demoScript())
	dir := t.TempDir()
	var lines []string
	got, err := runDemoAgent(t.Context(), u.URL+"/anthropic", dir, func(format string, args ...any) {
		lines = append(lines, fmt.Sprintf(format, args...))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("result", func(t *testing.T) {
		want := demoResult{Requests: 52, Retries: 1, Turns: 50, ToolCalls: 48, SubAgents: 1, Rewinds: 1, Compactions: 1, TestsFailed: 2, TestsPassed: 2, Tokens: got.Tokens}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if len(u.exchanges) != got.Requests || got.Requests < 50 {
			t.Errorf("%d requests arrived, %d counted", len(u.exchanges), got.Requests)
		}
		if len(u.results()) != got.ToolCalls {
			t.Errorf("%d results sent for %d calls", len(u.results()), got.ToolCalls)
		}
	})
	t.Run("project", func(t *testing.T) { checkDemoProject(t, dir) })
	t.Run("progress", func(t *testing.T) { checkDemoProgress(t, lines) })
	t.Run("wire", func(t *testing.T) { checkDemoWire(t, u) })
	t.Run("retry", func(t *testing.T) { checkDemoRetry(t, u) })
	t.Run("shape", func(t *testing.T) { checkDemoShape(t, u) })
	t.Run("rewind", func(t *testing.T) { checkDemoRewind(t, u) })
	t.Run("sub-agent", func(t *testing.T) { checkDemoSubAgent(t, u) })
	t.Run("compaction", func(t *testing.T) { checkDemoCompaction(t, u) })
	t.Run("story", func(t *testing.T) { checkDemoStory(t, u) })
}

// checkDemoProject: the file is mended and committed, the tests pass for everybody, and the note names the commit.
func checkDemoProject(t *testing.T, dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "lib/bucket.sh"))
	if err != nil || !strings.Contains(string(raw), demoRefillNew) || strings.Contains(string(raw), "999") {
		t.Errorf("lib/bucket.sh is not mended: %v\n%s", err, raw)
	}
	tools := demoTools{dir: dir}
	for command, want := range map[string]string{
		"git log -n 1 --format=%s":  "bucket: carry the remainder between looks\n",
		"git log -n 1 --format=%h":  demoFixedIn + "\n",
		"git status --short":        "?? notes/poller.md\n",
		"cat notes/poller.md":       demoOwnerNote,
		"git rev-list --count HEAD": "4\n",
		"sh test.sh | tail -n 1":    "# all 8 passed\n",
	} {
		out, err := tools.bash(t.Context(), command)
		if err != nil || out.failed || out.text != want {
			t.Errorf("%s: got %q, %v; want %q", command, out.text, err, want)
		}
	}
}

// checkDemoProgress: every line is one short line, and they say what happened.
func checkDemoProgress(t *testing.T, lines []string) {
	for _, l := range lines {
		if len([]rune(l)) > 130 || strings.ContainsAny(l, "\n\t") {
			t.Errorf("not a short line: %q", l)
		}
	}
	for _, want := range []string{
		"turn 6: bash sh test.sh → failed, 19 lines",
		"turn 7: bash sed -n 1,800p logs/gateway.log → 800 lines, 89 kB",
		"turn 22: bash sh test.sh → failed, 19 lines",
		"turn 29: bash sh test.sh → 10 lines",
		"  sub-agent turn 2: read_file conf/limits.conf → 7 lines",
		"turn 18: write_file notes/finding.md → 1 line",
		"turn 41: bash git log -n 1 --date=short --format='%h %ad %s' → 1 line",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// checkDemoWire: every request is a well-formed one of this client, with its two cache markers where they belong.
func checkDemoWire(t *testing.T, u *demoUpstream) {
	counted := 0
	for i, e := range u.exchanges {
		for name, want := range map[string]string{
			"x-api-key": demoKey, "user-agent": "ambit-demo/1", "anthropic-version": "2023-06-01", "content-type": "application/json",
		} {
			if got := e.header.Get(name); got != want {
				t.Errorf("request %d: %s %q", i, name, got)
			}
		}
		last := e.Messages[len(e.Messages)-1]
		if n := bytes.Count(e.body, []byte(`"cache_control"`)); n != 2 || e.System[0].Cache == nil || last.Content[len(last.Content)-1].Cache == nil {
			t.Errorf("request %d has %d cache markers, or in the wrong places", i, n)
		}
		if e.path == "/anthropic/v1/messages/count_tokens" {
			counted++
			continue
		}
		if e.path != "/anthropic/v1/messages" || !e.Stream || e.MaxTokens == 0 {
			t.Errorf("request %d: %s stream %v max_tokens %d", i, e.path, e.Stream, e.MaxTokens)
		}
		if last.Role != "user" {
			t.Errorf("request %d ends with role %s", i, last.Role)
		}
	}
	if counted != 1 {
		t.Errorf("%d requests to count tokens", counted)
	}
}

// checkDemoRetry: the refused request is sent once more, byte for byte.
func checkDemoRetry(t *testing.T, u *demoUpstream) {
	refused := 0
	for i, e := range u.exchanges {
		switch e.status {
		case 200:
		case 529:
			refused++
			if again := u.exchanges[i+1]; again.status != 200 || !bytes.Equal(again.body, e.body) {
				t.Errorf("request %d was not repeated as it was", i)
			}
		default:
			t.Errorf("request %d: status %d", i, e.status)
		}
	}
	if refused != 1 {
		t.Errorf("%d requests refused", refused)
	}
}

// checkDemoShape: there are parallel calls, answered in one message, and outputs worth a cut.
func checkDemoShape(t *testing.T, u *demoUpstream) {
	main := u.main()
	parallel := 0
	messages := main[len(main)-1].Messages
	for i, m := range messages {
		var calls, results []string
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				calls = append(calls, b.ID)
			}
		}
		if len(calls) < 2 {
			continue
		}
		parallel++
		for _, b := range messages[i+1].Content {
			results = append(results, b.ToolUseID)
		}
		if d := cmp.Diff(calls, results); d != "" {
			t.Errorf("message %d: calls and results:\n%s", i, d)
		}
	}
	if parallel != 2 {
		t.Errorf("%d turns with parallel calls", parallel)
	}
	large := 0
	for _, text := range u.results() {
		if len(text) >= 30_000 && len(text) <= 100_000 {
			large++
		}
	}
	if large < 5 {
		t.Errorf("%d outputs of 30 to 100 kB", large)
	}
}

// checkDemoRewind: requests grow at the end, but once the client goes back and leaves eight messages behind.
func checkDemoRewind(t *testing.T, u *demoUpstream) {
	bare := func(e demoExchange) []string {
		var out []string
		for _, m := range e.Messages {
			for i := range m.Content {
				m.Content[i].Cache = nil
			}
			raw, err := demoJSON(m)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(raw))
		}
		return out
	}
	var before []string
	rewinds := 0
	for i, e := range u.main() {
		now := bare(e)
		n := 0
		for n < min(len(before), len(now)) && before[n] == now[n] {
			n++
		}
		if n < len(before) {
			rewinds++
			if len(before)-n != 7 || len(now)-n != 1 || !strings.Contains(now[n], demoOtherWay) {
				t.Errorf("request %d drops %d of %d messages and has %d new ones", i, len(before)-n, len(before), len(now)-n)
			}
		}
		before = now
	}
	if rewinds != 1 {
		t.Errorf("%d rewinds", rewinds)
	}
	if all := strings.Join(before, "\n"); strings.Contains(all, "got 1000") || strings.Contains(all, "999) / 1000") {
		t.Error("the repair that was left behind is still in the conversation")
	}
}

// checkDemoSubAgent: the sub-agent has its own system prompt and tools; it is given the call's prompt, and its last
// word is the call's result.
func checkDemoSubAgent(t *testing.T, u *demoUpstream) {
	var sub []demoExchange
	for _, e := range u.exchanges {
		if demoText(e.Messages[0]) == demoTask {
			sub = append(sub, e)
		}
	}
	if len(sub) != 7 {
		t.Fatalf("%d requests of the sub-agent", len(sub))
	}
	for _, e := range sub {
		if e.System[0].Text != demoSubSystem || len(e.Tools) != 3 {
			t.Errorf("system %q, %d tools", demoFirst(e.System[0].Text, 40), len(e.Tools))
		}
	}
	turns := demoLogReading()
	if word := turns[len(turns)-1].Text; !slices.Contains(u.results(), word) {
		t.Error("the sub-agent's last word is not a tool result")
	}
}

// checkDemoCompaction: after a summary was asked for in the conversation and given, all that is sent begins with it, with
// the same system prompt and tools, and nothing that tools gave back before is sent again.
func checkDemoCompaction(t *testing.T, u *demoUpstream) {
	main := u.main()
	asked := main[len(main)-1]
	if last := asked.Messages[len(asked.Messages)-1]; demoText(last) != demoSummarise {
		t.Fatalf("the conversation ends with %q", demoText(last))
	}
	after := u.exchanges[slices.IndexFunc(u.exchanges, func(e demoExchange) bool { return bytes.Equal(e.body, asked.body) })+1:]
	if len(after) != 3 {
		t.Fatalf("%d requests after the compaction", len(after))
	}
	for i, e := range after {
		if got := demoText(e.Messages[0]); got != demoGoOn+demoSummary+demoTellOwner || len(e.Messages) != 1+2*i {
			t.Errorf("request %d after it has %d messages and begins with %q", i, len(e.Messages), got)
		}
		if e.System[0].Text != demoSystem || len(e.Tools) != len(asked.Tools) {
			t.Errorf("request %d after it has another system prompt, or %d tools", i, len(e.Tools))
		}
		if bytes.Contains(e.body, []byte(demoDropped)) {
			t.Errorf("request %d after it still holds %q", i, demoDropped)
		}
	}
	if n := strings.Count(strings.Join(u.results(), ""), demoDropped); n != 1 {
		t.Errorf("%q stands in %d results", demoDropped, n)
	}
}

// checkDemoStory: the figures that the script states are those that the tools found.
func checkDemoStory(t *testing.T, u *demoUpstream) {
	all := strings.Join(u.results(), "\n")
	for _, want := range []string{
		"through, got 10\n", "through, got 6\n", "wanted 99 through, got 20\n", "wanted 20 through, got 1\n", // the bug
		"through, got 109\n", "through, got 80\n", "through, got 96\n", "through, got 17\n", // before the bug
		"through, got 200\n", "through, got 300\n", "through, got 1000\n", "through, got 50\n", // rounded up
		"wanted 159", "wanted 86", "10\n10\n100\n100\n", "229 earned=0\n",
		"web allow 1825 deny 0\nios allow 1195 deny 0\nbatch allow 600 deny 0\npartner allow 393 deny 0\npoller allow 20 deny 1967\n",
		"10:2025", "401:2025", "403:2025", "802:2025", "1203:2025", "1602:2025",
		" 1205  2025-03-04T09:00:59.697Z gw-2 req=001205 client=poller", " 1214  2025-03-04T09:01:00.303Z gw-2 req=001214 client=poller",
		"10 poller allow", "219 poller deny", "229 poller allow", "180 poller allow", "49 poller deny",
		"80 batch allow", "137 ios allow", "45 partner allow", "209 web allow",
		"   20  \tlast=$now\n", "# 4 of 8 failed", "# all 8 passed",
		"2025-03-03 bucket: simpler refill", "?? notes/finding.md\n",
		demoFixedIn + " 2025-03-04 bucket: carry the remainder between looks\n",
		"10 poller allow\n", "219 poller deny\n", "180 poller allow\n", "49 poller deny\n", // the last look, before and after
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no tool returned %q", want)
		}
	}
}

// TestDemoScriptTexts: every turn of the script is played in TestDemoAgent; here each says something or does
// something, and the texts are plain.
func TestDemoScriptTexts(t *testing.T) {
	turns := 0
	for _, c := range demoScript().Conversations {
		all := slices.Clone(c.Turns)
		for _, b := range c.Branches {
			all = append(all, b.Turns...)
		}
		for _, turn := range all {
			turns++
			if turn.Text == "" && len(turn.Calls) == 0 {
				t.Errorf("%q has an empty turn", c.Match)
			}
		}
	}
	if turns != 50 {
		t.Errorf("%d turns", turns)
	}
}

// runBrokenDemo runs the demo against a script that was spoiled, and returns the error that it must end with.
func runBrokenDemo(t *testing.T, spoil func(*scripted.Script)) string {
	t.Helper()
	s := demoScript()
	spoil(&s)
	u := startDemo(t, s)
	_, err := runDemoAgent(t.Context(), u.URL, t.TempDir(), t.Logf)
	if err == nil {
		t.Fatal("no error")
	}
	return err.Error()
}

// TestDemoAgentFails: what goes wrong is an error that names the turn.
func TestDemoAgentFails(t *testing.T) {
	bash := func(command string) scripted.Turn { return demoTurn("", demoBash(command)) }
	end := demoTurn("The end.")
	for name, row := range map[string]struct {
		spoil func(*scripted.Script)
		want  string
	}{
		"a tool": {
			func(s *scripted.Script) { s.Conversations[0].Turns[1] = bash("echo oops; exit 3") },
			"turn 2: bash echo oops; exit 3 should not have failed: oops\n(exit status 3)",
		},
		"a tool of the sub-agent": {func(s *scripted.Script) {
			s.Conversations[0].Turns[0] = demoTurn("", scripted.Call{Name: "task", Args: map[string]any{"prompt": demoTask}})
			s.Conversations[1].Turns[0] = demoTurn("", demoRead("nothing"))
		}, "turn 1: task:   sub-agent turn 1: read_file nothing should not have failed: openat nothing"},
		"the script ends": {
			func(s *scripted.Script) { s.Conversations[0].Turns = s.Conversations[0].Turns[:2] },
			"turn 3: 400 Bad Request: ",
		},
		"the first repair is right": {func(s *scripted.Script) {
			s.Conversations[0].Turns = []scripted.Turn{end, bash("printf 'exit 0\n' >test.sh"), bash("sh test.sh"), end}
		}, "the first repair should have been wrong"},
		"the tests fail at the end": {func(s *scripted.Script) {
			s.Conversations[0].Turns = []scripted.Turn{end, end}
			s.Conversations[0].Branches[0].Turns = []scripted.Turn{bash("sh test.sh"), end, end, end}
		}, "the tests do not pass at the end"},
		"no end": {
			func(s *scripted.Script) {
				s.Conversations[0].Turns = slices.Repeat([]scripted.Turn{bash(":")}, demoTurnLimit)
			},
			"no end after 60 turns",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runBrokenDemo(t, row.spoil); !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestDemoAgentFolder: a folder that is missing or in use is refused before anything is sent.
func TestDemoAgentFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{dir: "is not empty", filepath.Join(dir, "none"): "no such file"} {
		got, err := runDemoAgent(t.Context(), "http://127.0.0.1:1", dir, t.Logf)
		if err == nil || !strings.Contains(err.Error(), want) || got.Requests != 0 {
			t.Errorf("%s: %v, %+v", dir, err, got)
		}
	}
}

// TestDemoAgentCanceled: a demo that is called off ends with the context's error.
func TestDemoAgentCanceled(t *testing.T) {
	u := startDemo(t, demoScript())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := runDemoAgent(ctx, u.URL, t.TempDir(), func(format string, args ...any) { cancel() })
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestDemoLines: calls and outcomes are shortened for people.
func TestDemoLines(t *testing.T) {
	for got, want := range map[string]string{
		demoFirst("  one line  ", 20):                                                                   "one line",
		demoFirst("one\ntwo", 20):                                                                       "one …",
		demoFirst("éèêë", 2):                                                                            "éè …",
		demoOutcomeLine(demoOutcome{text: "a"}):                                                         "1 line",
		demoOutcomeLine(demoOutcome{"a\nb", true}):                                                      "failed, 2 lines",
		demoOutcomeLine(demoOutcome{text: strings.Repeat("123456789\n", 1500)}):                         "1500 lines, 15 kB",
		demoCallLine(demoBlock{Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)}):               "bash ls",
		demoCallLine(demoBlock{Name: "grep", Input: json.RawMessage(`{"path":"lib","pattern":"now"}`)}): "grep now",
		demoCallLine(demoBlock{Name: "other", Input: json.RawMessage(`{}`)}):                            "other",
		demoCallLine(demoBlock{Name: "bash", Input: json.RawMessage(`{`)}):                              "bash",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDemoSameBytes: two demos, in two folders, send the same bytes.
func TestDemoSameBytes(t *testing.T) {
	var runs [2][]byte
	for i := range runs {
		u := startDemo(t, demoScript())
		if _, err := runDemoAgent(t.Context(), u.URL+"/anthropic/", t.TempDir(), func(string, ...any) {}); err != nil {
			t.Fatal(err)
		}
		for _, e := range u.exchanges {
			runs[i] = append(append(runs[i], e.path...), e.body...)
		}
	}
	if !bytes.Equal(runs[0], runs[1]) {
		t.Error("two runs differ")
	}
}
