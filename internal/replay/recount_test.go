package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"ambit/internal/pricing"
	"ambit/internal/transcript"
)

// jsonl writes values, a line each.
func jsonl(t *testing.T, values ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(lone), []byte(`\ud800`))
}

// lone stands for half a pair of surrogates, which no Go string can have.
const lone = "<lone>"

// object is a JSON object.
type object = map[string]any

// madeLine is a line that results hold and calls quote: long enough, not only ASCII, with what JSON escapes and with more
// spaces in a row than a quote is found by.
func madeLine(i int) string {
	return fmt.Sprintf(`größe_%d := parseWidth("Ångström→%d", '\t') // <b>&amp; 幅                      of %d`, i, i*7919, i)
}

// madeFile is what a tool read.
func madeFile(turn, call int) string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "%4d\t%s\n", i, madeLine(1000*turn+100*call+i))
	}
	return b.String() + lone
}

// madeClaude is a recording of Claude Code from so many turns on: each calls two tools at once, with lines out of results of
// now and then, and a person speaks in some. There are breaks longer than a cache lives.
func madeClaude(t *testing.T, begin time.Time, turns int) []byte {
	at, parent := begin, any(nil)
	var lines []any
	add := func(kind, id string, message object) {
		lines = append(lines, object{
			"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "made", "timestamp": at.Format(time.RFC3339Nano), "message": message,
		})
		parent = id
		at = at.Add(1300*time.Millisecond + 7)
	}
	add("user", "u0", object{"role": "user", "content": "Make the \"widths\" right, see docs/größe.md — thanks"})
	for i := range turns {
		switch {
		case i%9 == 8:
			at = at.Add(5*time.Minute + 30*time.Second)
		case i%3 == 2:
			add("user", fmt.Sprint("p", i), object{"role": "user", "content": fmt.Sprintf("Number %d now, as in src/width_%d.go.", i, i)})
		}
		for call := range 2 {
			old := madeLine(1000*max(0, i-1-i%4*2) + 100*call + 7)
			args := object{"file_path": fmt.Sprintf("/home/dev/src/width_%d_%d.go", i, call), "old_string": "x\n" + old + "\ny", "new_string": fmt.Sprint("x", lone, i), "n": i}
			add("assistant", fmt.Sprintf("a%d.%d", i, call), object{
				"id": fmt.Sprint("m", i), "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{object{"type": "tool_use", "id": fmt.Sprintf("c%d.%d", i, call), "name": "Edit", "input": args}},
				"usage": object{"input_tokens": 3, "cache_read_input_tokens": 9000 + 3400*i, "cache_creation_input_tokens": 3400, "output_tokens": 90},
			})
		}
		for call := range 2 {
			add("user", fmt.Sprintf("r%d.%d", i, call), object{"role": "user", "content": []any{
				object{"type": "tool_result", "tool_use_id": fmt.Sprintf("c%d.%d", i, call), "content": madeFile(i, call), "is_error": call == 1 && i%5 == 0},
			}})
		}
	}
	add("assistant", "end", object{"id": "end", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{object{"type": "text", "text": "Done: ✓"}}})
	return jsonl(t, lines...)
}

// madeOpenAI is a log of requests to OpenAI's chat completions and their answers.
func madeOpenAI(t *testing.T, turns int) []byte {
	at := time.Date(2025, 11, 29, 8, 4, 19, 427777000, time.UTC)
	messages := []any{object{"role": "system", "content": "You are careful."}, object{"role": "user", "content": "Fix src/main_loop.py, 告警."}}
	var lines []any
	for i := range turns {
		lines = append(lines, object{
			"timestamp": at.Format("2006-01-02T15:04:05.000000"), "type": "request",
			"request_params": object{"model": "gpt-4.1-mini", "messages": slices.Clone(messages)},
		})
		at = at.Add(20 * time.Second)
		args := jsonl(t, object{"path": fmt.Sprintf("src/module_%d.py", i), "text": madeLine(1000*max(0, i-2) + 3)})
		call := object{"id": fmt.Sprint("call_", i), "type": "function", "function": object{"name": "edit", "arguments": string(bytes.TrimSpace(args))}}
		answer := object{"role": "assistant", "content": "I see.", "tool_calls": []any{call}}
		lines = append(lines, object{"timestamp": at.Format("2006-01-02T15:04:05.000000"), "type": "response", "response": object{
			"id": fmt.Sprint("r", i), "model": "gpt-4.1-mini-2025-04-14", "choices": []any{object{"index": 0, "message": answer, "finish_reason": "tool_calls"}},
			"usage": object{"prompt_tokens": 100 + 1700*i, "completion_tokens": 50},
		}})
		messages = append(messages, answer, object{"role": "tool", "tool_call_id": fmt.Sprint("call_", i), "content": madeFile(i, 0)})
	}
	return jsonl(t, lines...)
}

// dump replays recordings and writes what ambit replay --dump and --json do: a folder, and in it the dump and REPLAY.json.
func dump(t *testing.T, o Options, files map[string][]byte) (dir string) {
	t.Helper()
	o.Keep = true
	dir = t.TempDir()
	var reports []*Report
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r, err := transcript.Read(files[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		report := Run(OfTranscript(name, r, files[name]), o)
		if report.Turns == 0 {
			t.Fatalf("%s: no turns", name)
		}
		err = report.Dump(func(d Dumped) error {
			path := filepath.Join(dir, "dump", filepath.Base(name), filepath.FromSlash(d.Name))
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, d.Data, 0o600))
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		reports = append(reports, report)
	}
	printed := jsonl(t, object{"files": reports, "totals": Totals(reports)})
	if err := os.WriteFile(filepath.Join(dir, "REPLAY.json"), printed, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// recount lets recount.py, which was written from the document of the dump, count a dump again, and returns what it prints
// and whether it found nothing else than what the dump says.
func recount(t *testing.T, dir string) (says string, same bool) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	cmd := exec.Command(python, "-B", filepath.Join("testdata", "recount.py"), filepath.Join(dir, "dump"), filepath.Join(dir, "REPLAY.json"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) || !bytes.HasSuffix(out, []byte(" differences\n")) {
		t.Fatalf("recount.py: %v\n%s", err, out)
	}
	return string(out), err == nil
}

// agree replays recordings and lets recount.py count them again.
func agree(t *testing.T, o Options, files map[string][]byte) {
	t.Helper()
	if says, same := recount(t, dump(t, o, files)); !same {
		t.Error(says)
	}
}

// TestRecount compares every figure of made recordings with what another program in another language comes to, under the
// rules of every family and within budgets of which some leave out much.
// covers: I-08 part
// covers: N-09 part
func TestRecount(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	old, now := time.Date(2026, 2, 9, 18, 13, 53, 595_000_123, time.UTC), time.Date(2026, 10, 9, 18, 13, 53, 0, time.UTC)
	files := map[string][]byte{"old.jsonl": madeClaude(t, old, 24), "now.jsonl": madeClaude(t, now, 24), "chat.jsonl": madeOpenAI(t, 16)}
	for _, tt := range []struct {
		prices, family string
		budget         Budget
	}{
		{"", "", Budget{}},
		{"", "", Budget{Share: 0.4}},
		{"claude-opus-4-5", "anthropic", Budget{Tokens: 9000}},
		{"gpt-4.1", "openai", Budget{Share: 0.3}},
		{"gpt-5.6-sol", "openai-marked", Budget{Share: 0.3}},
		{"gemini-2.5-pro", "gemini", Budget{Share: 0.3}},
		{"deepseek-reasoner", "deepseek", Budget{Share: 0.3}}, // of old times; now its units are others
		{"deepseek-v4-pro", "deepseek-units", Budget{Share: 0.3}},
		{"moonshot-v1-32k", "", Budget{Share: 0.1}}, // which keeps nothing, and does not take all
	} {
		t.Run(tt.prices+" "+fmt.Sprint(tt.budget), func(t *testing.T) {
			if m, ok := pricing.Lookup(tt.prices, old); tt.prices != "" && (!ok || m.Rules.Family != tt.family) {
				t.Fatalf("%s is of the family %q", tt.prices, m.Rules.Family)
			}
			agree(t, Options{Prices: tt.prices, Budget: tt.budget}, files)
		})
	}
}

// TestRecountOfWhatDoesNotFit counts policies again of which a later request does not fit.
func TestRecountOfWhatDoesNotFit(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	dir := dump(t, Options{Prices: "moonshot-v1-32k", Budget: Budget{Tokens: 6000}}, map[string][]byte{"a.jsonl": madeOpenAI(t, 24)})
	printed, err := os.ReadFile(filepath.Join(dir, "REPLAY.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct{ Files []Report }
	if err := json.Unmarshal(printed, &report); err != nil {
		t.Fatal(err)
	}
	if r := report.Files[0]; len(r.Limited) == 0 || r.Compared == 0 || r.Compared == r.Turns {
		t.Fatalf("%d of %d turns fit all, %v do not", r.Compared, r.Turns, r.Limited)
	}
	if says, same := recount(t, dir); !same {
		t.Error(says)
	}
}

// TestRecountCanFail changes one figure at a time by the least that it can, and wants recount.py to name it.
func TestRecountCanFail(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	dir := dump(t, Options{Budget: Budget{Share: 0.4}}, map[string][]byte{"a.jsonl": madeClaude(t, time.Date(2026, 2, 9, 18, 13, 53, 0, time.UTC), 14)})
	if says, same := recount(t, dir); !same {
		t.Fatal(says)
	}
	policies := filepath.Join("dump", "a.jsonl")
	for _, tt := range []struct{ file, figure, says string }{
		{"mask_last_n/turns.jsonl", `"input_tokens":`, "mask_last_n turn 9 input_tokens: "},
		{"append_only/turns.jsonl", `"fresh_tokens":`, "append_only turn 9 fresh_tokens: "},
		{"append_only/turns.jsonl", `"cache_read_tokens":`, "append_only turn 9 cache_read_tokens: "},
		{"sliding_window/turns.jsonl", `"cache_write_tokens":`, "sliding_window turn 9 cache_write_tokens: "},
		{"append_only/turns.jsonl", `"cache_write_1h_tokens":`, "append_only turn 9 cache_write_1h_tokens: "},
		{"append_only/turns.jsonl", `"quotes":{"needed":`, "append_only turn 9 quotes.needed: "},
		{"append_only/turns.jsonl", `"names":{"needed":`, "append_only turn 9 names.needed: "},
		{"plain_refresh/turns.jsonl", `"pins_held":`, "plain_refresh turn 9 pins_held: "},
		{"append_only/turns.jsonl", `"head_tokens":`, "append_only turn 9 input_tokens: "},
	} {
		t.Run(tt.file+" "+tt.figure, func(t *testing.T) {
			changed(t, filepath.Join(dir, policies, tt.file), 9, tt.figure)
			if says, same := recount(t, dir); same || !strings.Contains(says, tt.says) {
				t.Errorf("it says:\n%s", says)
			}
		})
	}
	for _, figure := range []string{`"input_tokens":`, `"cache_read_tokens":`, `"visible":`, `"recalls":`, `"kept":`} {
		t.Run("REPLAY.json "+figure, func(t *testing.T) {
			changed(t, filepath.Join(dir, "REPLAY.json"), 1, figure)
			if says, same := recount(t, dir); same {
				t.Errorf("it says:\n%s", says)
			}
		})
	}
}

// changed makes the number behind a text larger by one, the first one in a line, until the test is over.
func changed(t *testing.T, path string, line int, before string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	number := regexp.MustCompile(regexp.QuoteMeta(before) + `\d+`)
	at := number.FindIndex(lines[line-1])
	if at == nil {
		t.Fatalf("%s has no %s in line %d", path, before, line)
	}
	var n int
	if _, err := fmt.Sscan(string(lines[line-1][at[0]+len(before):at[1]]), &n); err != nil {
		t.Fatal(err)
	}
	lines[line-1] = slices.Concat(lines[line-1][:at[0]], fmt.Appendf(nil, "%s%d", before, n+1), lines[line-1][at[1]:])
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Error(err)
		}
	})
}

// TestRecountRecordings counts one recording of each of five formats again.
// covers: I-08 part
// covers: N-09 part
func TestRecountRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	root := sharedDir(t, ".")
	for _, name := range []string{
		"claude-code/cli--58e50d6c-eec7-4ae4.jsonl", "codex-rollout/agentv--019ed917-1cf7-72a3.jsonl", "opencode-export/nimbus--ses_31a4b9127ffeWe.json",
		"anthropic-requests/lemmy--claude-trace-test-traffic.jsonl", "mini-swe-agent/mini--deepseek_lite_dev_noparallel--pydicom__pydicom-1413.traj.json",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, Options{Budget: Budget{Share: 0.4}}, map[string][]byte{name: data})
		})
	}
}

// paths are the members of a type by their path, in order.
func paths(at string, of reflect.Type) (list []string) {
	if of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct {
		at, of = at+"[]", of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
		return nil
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := strings.TrimPrefix(at+"."+cmp.Or(name, f.Name), ".")
		list = append(append(list, path), paths(path, f.Type)...)
	}
	return list
}

// TestDumpIsDocumented compares the members that the document has with those that are written.
func TestDumpIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "format", "dump.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| member | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[1], -1) {
			documented = append(documented, name[1])
		}
	}
	if diff := gocmp.Diff(paths("", reflect.TypeFor[line]()), documented); diff != "" {
		t.Errorf("(-written +documented):\n%s", diff)
	}
}
