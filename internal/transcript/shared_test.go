package transcript_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/transcript"
)

// shared is where recorded sessions are, which are read where they are; a test that needs them is skipped without.
func shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "transcripts")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded sessions: %v; set AMBIT_SHARED", err)
	}
	return dir
}

// recorded is a row of the manifest of recorded sessions.
type recorded struct{ file, format, path string }

// manifest are the recordings of formats that are read here; with odd, those that are hard to read, of any format.
func manifest(t testing.TB, odd bool) []recorded {
	t.Helper()
	dir := shared(t)
	text, err := os.ReadFile(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	formats := map[string]bool{
		transcript.ClaudeCode: true, transcript.Codex: true, transcript.OpenCode: true, transcript.Pi: true, transcript.Anthropic: true, transcript.OpenAI: true,
		transcript.GeminiCLI: true, transcript.CopilotCLI: true, transcript.Roo: true, transcript.Aider: true, transcript.SWEAgent: true, transcript.MiniSWE: true,
		transcript.OpenHands: true,
	}
	var rows []recorded
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		cells := strings.Split(line, "\t")
		if i > 0 && strings.HasPrefix(cells[0], "odd/") == odd && (odd || formats[cells[1]]) {
			rows = append(rows, recorded{cells[0], cells[1], filepath.Join(dir, cells[0])})
		}
	}
	return rows
}

// totals is what providers counted in a recording.
type totals struct {
	calls int
	input int64
	peak  int64
}

func (t *totals) add(u *entry.Usage) {
	t.calls++
	t.input += u.Input
	t.peak = max(t.peak, u.Input)
}

// usage is what was counted in a recording: in its main conversation, in those of sub-agents, and in records that stand
// behind another one on a line, which a reader of lines does not see.
func usage(r *transcript.Recording, data []byte) (main, agents, second totals) {
	double := make(map[int]bool)
	n := 0
	for line := range bytes.Lines(data) {
		n++
		d := json.NewDecoder(bytes.NewReader(line))
		records := 0
		for v := json.RawMessage(nil); d.Decode(&v) == nil; {
			records++
		}
		double[n] = records > 1
	}
	agent, worked := make(map[string]bool), make(map[int]bool)
	for _, f := range r.Facts {
		if f, ok := f.(*entry.Relation); ok {
			agent[f.Thread] = agent[f.Thread] || f.How == entry.Agent
			worked[f.N] = agent[f.Thread]
		}
	}
	for _, f := range r.Facts {
		a, ok := f.(*entry.Response)
		switch {
		case !ok || a.Usage == nil || a.Usage.Input == 0:
		case worked[a.N]:
			agents.add(a.Usage)
		case double[a.Recorded.Line] && r.Format == transcript.Pi:
			second.add(a.Usage)
		default:
			main.add(a.Usage)
		}
	}
	return main, agents, second
}

// TestUsageIsTheProviders compares what was counted, once per provider message, with figures found by another program.
// That leaves out what sub-agents took, and what stands behind another record on a line; here is what that is.
// covers: I-07 part
func TestUsageIsTheProviders(t *testing.T) {
	dir := shared(t)
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	beside := map[string][2]totals{
		"claude-code/cli--03a1382e-ecd5-42c4.jsonl":  {{9, 391_123, 59_561}, {}},
		"pi-session/pi-mono--root-compact.jsonl":     {{}, {1, 131_117, 131_117}},
		"odd/pi-session/pi-mono--root-session.jsonl": {{}, {1, 182_895, 182_895}},
	}
	row := regexp.MustCompile(`^\| ((?:odd/)?(?:claude-code|codex-rollout|opencode-export|pi-session)/\S+) \| (\d+) \| ([\d,]+) \| [\d.]+ \| \S+ \| ([\d,]+) \|`)
	compared := 0
	for lines := bufio.NewScanner(bytes.NewReader(readme)); lines.Scan(); {
		m := row.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		number := func(s string) int64 {
			n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		compared++
		found, err := filepath.Glob(filepath.Join(dir, m[1]+"*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v %v", m[1], found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		r, err := transcript.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		main, agents, second := usage(r, data)
		if want := (totals{int(number(m[2])), number(m[3]), number(m[4])}); main != want {
			t.Errorf("%s: %+v, want %+v", m[1], main, want)
		}
		if got := [2]totals{agents, second}; got != beside[m[1]] {
			t.Errorf("%s: sub-agents and records behind others: %+v, want %+v", m[1], got, beside[m[1]])
		}
	}
	if compared < 20 {
		t.Errorf("%d recordings were compared", compared)
	}
}
