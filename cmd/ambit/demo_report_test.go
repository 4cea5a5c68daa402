package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// TestDemoPage: within a minute the demo prints a page, of a session that has what the page is about.
func TestDemoPage(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := filepath.Join(t.TempDir(), "home")
	c := exec.CommandContext(ctx, "ambit", "demo")
	c.Env = append(os.Environ(), "AMBIT_HOME="+home, "GORACE=atexit_sleep_ms=0")
	page, err := c.Output()
	if err != nil {
		t.Fatalf("%v, %v\n%s", err, ctx.Err(), page)
	}
	lines := strings.Split(strings.TrimSuffix(string(page), "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("the page has %d lines", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 && !strings.Contains(line, home) {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	checkDemoReadme(t, lines)
	d, err := journal.Open(home, journal.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Sessions(ctx)
	if err != nil || len(names) != 1 {
		t.Fatalf("sessions %v, %v", names, err)
	}
	p, err := pool.Load(ctx, d, names[0])
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[entry.Relating]int)
	for i := range p.Exchanges {
		found[p.Exchanges[i].Relation.How]++
	}
	for how, want := range map[entry.Relating]int{
		entry.Root: 1, entry.Agent: 1, entry.Again: 1, entry.Count: 1, entry.Rewind: 1, entry.ClientCompaction: 1, entry.Extends: 46,
	} {
		if found[how] != want {
			t.Errorf("%d requests are %s, want %d", found[how], how, want)
		}
	}
}

// checkDemoReadme: what the README shows of the page is there. Large numbers may differ: they count what tools print,
// which is not spelled alike everywhere.
func checkDemoReadme(t *testing.T, page []string) {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	large := regexp.MustCompile(`\d{1,3}(,\d{3})+`)
	alike := func(line string) string {
		return strings.Join(strings.Fields(large.ReplaceAllString(strings.ReplaceAll(line, "bin/ambit", "ambit"), "N")), " ")
	}
	there := make(map[string]bool)
	for _, line := range page {
		there[alike(line)] = true
	}
	_, about, _ := strings.Cut(string(readme), "`make demo` builds")
	about, _, _ = strings.Cut(about, "`make test` runs")
	shown := 0
	for line := range strings.Lines(about) {
		if strings.HasPrefix(line, "    ") {
			if shown++; !there[alike(line)] {
				t.Errorf("the README shows what is not printed: %s", line)
			}
		}
	}
	if shown < 12 {
		t.Errorf("the README shows %d lines", shown)
	}
}

// TestDemoAbsent: what the demo says is nowhere is in no text that it is made of.
func TestDemoAbsent(t *testing.T) {
	for _, c := range demoHistory() {
		for name, text := range c.files {
			if strings.Contains(text, demoAbsent) {
				t.Errorf("%q stands in %s", demoAbsent, name)
			}
		}
	}
}
