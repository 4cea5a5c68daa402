package pricing_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ambit/internal/pricing"
)

// rowLike returns the second cell of the reference's row that begins so.
func rowLike(t *testing.T, title string) string {
	t.Helper()
	for line := range strings.Lines(shared(t, "reference", "caching-rules.md")) {
		if strings.HasPrefix(line, title) {
			return strings.Split(line, "|")[2]
		}
	}
	t.Fatalf("the reference has no row %q", title)
	return ""
}

// claudes are the names of the models in a list such as "Opus 4.8, Sonnet 4.6, 4.5, Mythos Preview".
func claudes(list string) []string {
	var names []string
	kind := ""
	for _, item := range strings.Split(list, ",") {
		words := strings.Fields(strings.ToLower(item))
		if len(words) > 1 {
			kind = words[0]
		}
		names = append(names, "claude-"+kind+"-"+words[len(words)-1])
	}
	return names
}

// TestMinimumsAreTheReferences compares the table with the reference's list of the shortest prefixes.
// covers: N-05 part
func TestMinimumsAreTheReferences(t *testing.T) {
	found := 0
	for _, m := range regexp.MustCompile(`\*\*([\d,]+)\*\*: ([^·*]+?)(?: ·|\. )`).FindAllStringSubmatch(rowLike(t, "| Min prefix"), -1) {
		least, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		for _, name := range claudes(m[2]) {
			found++
			if got := model(t, name).Rules.Min; got != least {
				t.Errorf("%s: %d, want %d", name, got, least)
			}
		}
	}
	if found != 19 {
		t.Errorf("%d models are compared", found)
	}
}

// TestBasePricesAreTheReferences compares the table with the reference's list of prices of input and output.
func TestBasePricesAreTheReferences(t *testing.T) {
	text, _, _ := strings.Cut(rowLike(t, "| Base $/MTok"), ".  ")
	found := 0
	for _, m := range regexp.MustCompile(`([A-Z][A-Za-z0-9., ]*?) (\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)`).FindAllStringSubmatch(text, -1) {
		for _, name := range claudes(strings.TrimSpace(m[1])) {
			found++
			p := model(t, name).Price
			if in, out := p.Input, p.Output; strconv.FormatFloat(in, 'f', -1, 64) != m[2] || strconv.FormatFloat(out, 'f', -1, 64) != m[3] {
				t.Errorf("%s: %v/%v, want %s/%s", name, in, out, m[2], m[3])
			}
		}
	}
	if found != 10 {
		t.Errorf("%d models are compared", found)
	}
}

// unknown are names in recordings that are no model's, and why.
var unknown = map[string]string{"<synthetic>": "a client's own message; no model wrote it"}

// TestRecordedModelsAreKnown looks up every model of the recordings.
// covers: I-08 part
func TestRecordedModelsAreKnown(t *testing.T) {
	names := make(map[string]bool)
	for i, line := range strings.Split(strings.TrimSpace(shared(t, "transcripts", "manifest.tsv")), "\n") {
		if cells := strings.Split(line, "\t"); i > 0 && cells[11] != "" {
			for _, name := range strings.Split(cells[11], "+") {
				names[name] = true
			}
		}
	}
	if len(names) < 20 {
		t.Errorf("%d names", len(names))
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		m, ok := pricing.Lookup(name, time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC))
		if reason := unknown[name]; ok == (reason != "") {
			t.Errorf("%s: found %v, %q", name, ok, reason)
		}
		if ok && (m.Price.Input <= 0 || m.Price.Output < m.Price.Input || m.Price.Read > m.Price.Input || m.Window < 100_000 || m.MaxOutput <= 0 || m.Source == "") {
			t.Errorf("%s: %+v", name, m)
		}
		t.Logf("%-28s %-20s %-10s %-14s in %-5v out %-5v read %-6v window %d/%d, %d out, %s",
			name, m.Name, m.Provider, m.Rules.Family, m.Price.Input, m.Price.Output, m.Price.Read, m.Window, m.LongWindow, m.MaxOutput, m.Source)
	}
}

// TestNames finds one model by all the names that clients and vendors have for it.
func TestNames(t *testing.T) {
	for name, others := range map[string][]string{
		"claude-sonnet-4-5": {
			"claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-v1:0",
			"claude-sonnet-4-5@20250929", "claude-sonnet-4-5-latest", "Claude-Sonnet-4.5", "claude-sonnet-4.5:thinking", "claude-sonnet-4-5[1m]",
			"claude-4.5-sonnet", "openrouter/anthropic/claude-sonnet-4.5", " claude-sonnet-4-5-thinking",
		},
		"claude-sonnet-4":   {"claude-sonnet-4-20250514", "claude-sonnet-4-0", "claude-4-sonnet", "claude-4-sonnet-20250514"},
		"claude-3-5-haiku":  {"claude-3-5-haiku-20241022", "claude-3.5-haiku", "claude-3-5-haiku-latest", "claude-haiku-3.5"},
		"claude-opus-4-6":   {"eu.anthropic.claude-opus-4-6-v1", "claude-opus-4.6", "claude-opus-4-6[1m]"},
		"gpt-5.3-codex":     {"openai/gpt-5.3-codex", "GPT-5.3-codex", "gpt-5.3-codex-xhigh"},
		"gpt-4.1-mini":      {"gpt-4.1-mini-2025-04-14"},
		"gemini-2.5-flash":  {"models/gemini-2.5-flash", "google/gemini-2.5-flash", "gemini-2.5-flash-preview-05-20", "gemini-2.5-flash-001"},
		"deepseek-chat":     {"deepseek/deepseek-chat"},
		"deepseek-v4-flash": {"deepseek-ai/DeepSeek-V4-Flash"},
		"o3":                {"o3-2025-04-16"},
	} {
		m := model(t, name)
		if m.Name != name {
			t.Errorf("%s is called %s", name, m.Name)
		}
		for _, other := range others {
			if got := model(t, other); got.Name != name || got.Price != m.Price || got.Rules != m.Rules {
				t.Errorf("%q is %+v, want %+v", other, got, m)
			}
		}
	}
	for _, name := range []string{"", "<synthetic>", "claude", "no-such-model", "claude-opus-4-9"} {
		if m, ok := pricing.Lookup(name, start); ok {
			t.Errorf("%q is %+v", name, m)
		}
	}
}

// TestEveryNameIsFound looks up every name, and sees to it that prices of cached tokens are in order: the catalogue
// has them in two orders, and some that are none.
func TestEveryNameIsFound(t *testing.T) {
	names := pricing.Names()
	if len(names) < 500 || !slices.IsSorted(names) {
		t.Errorf("%d names", len(names))
	}
	ruled := make(map[string]int)
	for _, name := range names {
		m, ok := pricing.Lookup(name, time.Time{})
		if !ok || m.Name != name {
			t.Errorf("%s: %v, %+v", name, ok, m)
			continue
		}
		p, r := m.Price, m.Rules
		if p.Input <= 0 || p.Output <= 0 || p.Read <= 0 || p.Read > p.Input || p.Write < p.Input || p.WriteHour < p.Write || p.WriteHour > 2*p.Input {
			t.Errorf("%s: %+v", name, p)
		}
		if m.LongWindow < m.Window || m.Window <= 0 || m.Provider == "" || m.Source == "" {
			t.Errorf("%s: %+v", name, m)
		}
		ruled[r.Family]++
		if r.Match == pricing.Never {
			if r != (pricing.Rules{}) {
				t.Errorf("%s: %+v", name, r)
			}
			continue
		}
		if r.Min < 64 || r.Granularity < 1 || r.Life < five || r.Read <= 0 || r.Write < 1 || r.WriteHour < r.Write || r.Since.IsZero() || r.Source == "" || r.Free == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, family := range []string{"anthropic", "openai", "openai-marked", "gemini", "deepseek", "deepseek-units", ""} {
		if ruled[family] == 0 {
			t.Errorf("no model of the family %q", family)
		}
	}
	t.Log(ruled)
}

// TestUnknownRules: of a model without rules nothing is cached.
func TestUnknownRules(t *testing.T) {
	m := model(t, "claude-3-sonnet-20240229")
	c := pricing.NewCache()
	for range 2 {
		want(t, send(c, m, 0, marked(five, pieces("a", 5, 1000)...)...), 5000, 0, 0, 0)
	}
	if m.Price.Read != m.Price.Input {
		t.Errorf("%+v", m.Price)
	}
	other := model(t, "grok-4") // the catalogue's prices, whichever of them is which
	if other.Rules.Match != pricing.Never || other.Price.Read >= other.Price.Input {
		t.Errorf("%+v", other)
	}
}

// TestWindows: Claude models up to 4.6 had 200,000 tokens unless a client asked for more.
func TestWindows(t *testing.T) {
	for name, windows := range map[string][2]int{
		"claude-sonnet-4": {200_000, 1_000_000}, "claude-sonnet-4-5": {200_000, 1_000_000}, "claude-opus-4-6": {200_000, 1_000_000}, "claude-sonnet-4-6": {200_000, 1_000_000},
		"claude-sonnet-4-5[1m]": {1_000_000, 1_000_000}, "claude-opus-4-6[1m]": {1_000_000, 1_000_000},
		"claude-opus-4-5": {200_000, 200_000}, "claude-haiku-4-5": {200_000, 200_000}, "claude-opus-4-1": {200_000, 200_000}, "claude-3-5-haiku": {200_000, 200_000},
		"claude-opus-4-7": {1_000_000, 1_000_000}, "claude-opus-4-8": {1_000_000, 1_000_000}, "claude-fable-5-1": {1_000_000, 1_000_000},
		"gpt-5.3-codex": {400_000, 400_000}, "gpt-5.3-codex-spark": {128_000, 128_000}, "gemini-2.5-pro": {1_048_576, 1_048_576},
	} {
		if m := model(t, name); m.Window != windows[0] || m.LongWindow != windows[1] {
			t.Errorf("%s: %d, %d, want %v", name, m.Window, m.LongWindow, windows)
		}
	}
}

// TestDates: one name had several prices and rules.
func TestDates(t *testing.T) {
	for _, r := range []struct {
		at                time.Time
		in, read, out     float64
		family            string
		window, maxOutput int
	}{
		{time.Date(2024, 12, 30, 0, 0, 0, 0, time.UTC), 0.27, 0.07, 1.10, "deepseek", 64_000, 8192},
		{time.Date(2025, 9, 5, 15, 59, 0, 0, time.UTC), 0.27, 0.07, 1.10, "deepseek", 64_000, 8192},
		{time.Date(2025, 9, 5, 16, 0, 0, 0, time.UTC), 0.56, 0.07, 1.68, "deepseek", 128_000, 8192},
		{time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC), 0.28, 0.028, 0.42, "deepseek", 128_000, 8192},
		{time.Time{}, 0.14, 0.0028, 0.28, "deepseek-units", 1_000_000, 384_000},
	} {
		m := modelAt(t, "deepseek-chat", r.at)
		if m.Price.Input != r.in || m.Price.Read != r.read || m.Price.Output != r.out || m.Rules.Family != r.family || m.Window != r.window || m.MaxOutput != r.maxOutput {
			t.Errorf("%v: %+v", r.at, m)
		}
	}
	old, now := modelAt(t, "claude-opus-4-5", time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)), model(t, "claude-opus-4-5")
	if old.Rules.Collapse || !now.Rules.Collapse || old.Price != now.Price || old.Rules.Min != now.Rules.Min {
		t.Errorf("then %+v, now %+v", old, now)
	}
}
