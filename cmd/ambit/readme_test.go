package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// brokenLinks returns the relative links of a document that lead to no file.
func brokenLinks(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var broken []string
	for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if target == "" || strings.Contains(target, "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(name), target)); errors.Is(err, fs.ErrNotExist) {
			broken = append(broken, target)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return broken
}

func TestDocumentLinks(t *testing.T) {
	for _, name := range []string{"../../README.md", cliJSON} {
		for _, target := range brokenLinks(t, name) {
			t.Errorf("%s: %s is not there", filepath.Base(name), target)
		}
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.md")
	if err := os.WriteFile(name, []byte("[a](a.md) [b](b.md#c) [c](https://example.org/) [d](#d)"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := brokenLinks(t, name); !slices.Equal(got, []string{"b.md"}) {
		t.Errorf("broken links are %v", got)
	}
}

// TestReadme: the README is short, opens with the two commands, and every command of Ambit in it exists.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	if n := strings.Count(readme, "\n"); n > 160 {
		t.Errorf("README.md has %d lines", n)
	}
	first := regexp.MustCompile(`(?m)^    \S.*$`).FindAllString(readme, 2)
	if !slices.Equal(first, []string{"    make demo", "    make test"}) {
		t.Errorf("README.md opens with %q", first)
	}
	e, _, _ := testEnv(nil)
	root := newRoot(e, func() {})
	calls := regexp.MustCompile(`bin/ambit\s+([a-z]+)([^\n#]*)`).FindAllStringSubmatch(readme, -1)
	if len(calls) < 8 {
		t.Errorf("README.md has %d commands", len(calls))
	}
	for _, m := range calls {
		c, _, err := root.Find(strings.Fields(m[1]))
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
			continue
		}
		for _, flag := range regexp.MustCompile(`--([a-z]+)`).FindAllStringSubmatch(m[2], -1) {
			if c.Flag(flag[1]) == nil {
				t.Errorf("%s: no flag --%s", m[0], flag[1])
			}
		}
	}
}
