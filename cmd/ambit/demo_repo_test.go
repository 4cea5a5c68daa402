package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoRepo: the scratch project is the same on every machine, whatever the user's git is set to.
func TestDemoRepo(t *testing.T) {
	home := t.TempDir()
	config := filepath.Join(home, ".gitconfig")
	spoiled := "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n[core]\n\thooksPath = " + home + "\n\tautocrlf = true\n[init]\n\tdefaultBranch = trunk\n[user]\n\tname = Somebody\n"
	if err := os.WriteFile(config, []byte(spoiled), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "pre-commit"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := demoHead(t)
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_DIR", filepath.Join(home, "elsewhere"))
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	t.Setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
	if again := demoHead(t); again != plain {
		t.Errorf("two projects differ:\n%s\n%s", plain, again)
	}
	if want := " refs/heads/main Ambit Demo demo@example.invalid 2025-03-04T10:00:00"; !strings.Contains(plain, want) {
		t.Errorf("got %q, want %q", plain, want)
	}
}

// demoHead makes the project and returns its last commit.
func demoHead(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := makeDemoRepo(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	tools := demoTools{dir: dir}
	out, err := tools.bash(t.Context(), "git status --short && echo $(git rev-parse HEAD; git symbolic-ref HEAD; git log -n 1 --format='%an %ae %aI')")
	if err != nil || out.failed {
		t.Fatalf("%v: %s", err, out.text)
	}
	return out.text
}

// TestDemoHistory: the tests of every commit say what the story says of it, and the log is long.
func TestDemoHistory(t *testing.T) {
	dir := t.TempDir()
	if err := makeDemoRepo(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	tools := demoTools{dir: dir}
	for revision, want := range map[string]string{"HEAD~2": "# all 4 passed", "HEAD~1": "# all 4 passed", "HEAD": "# 4 of 8 failed"} {
		out, err := tools.bash(t.Context(), "git checkout -q "+revision+" && sh test.sh; git checkout -q main")
		if err != nil || !strings.Contains(out.text, want) {
			t.Errorf("%s: %v, want %q:\n%s", revision, err, want, out.text)
		}
	}
	out, err := tools.bash(t.Context(), "wc -l <logs/gateway.log; git rev-list --count HEAD")
	if err != nil || strings.Join(strings.Fields(out.text), " ") != "6000 3" {
		t.Errorf("got %q, %v", out.text, err)
	}
}

// TestDemoRepoFails: git's own words are in the error.
func TestDemoRepoFails(t *testing.T) {
	err := demoGit(t.Context(), t.TempDir(), 0, "log")
	if err == nil || !strings.Contains(err.Error(), "git log: ") || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := makeDemoRepo(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "git init") {
		t.Errorf("without git: %v", err)
	}
}

// TestDemoTraffic: the log is always the same, in order of time, and only the poller is denied.
func TestDemoTraffic(t *testing.T) {
	log, sample, callers := demoTraffic()
	again, _, _ := demoTraffic()
	if log != again {
		t.Error("two logs differ")
	}
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	if len(lines) != demoLogLines || strings.Count(sample, "\n") != demoSampleLines {
		t.Errorf("%d lines, %d in the sample", len(lines), strings.Count(sample, "\n"))
	}
	for i, l := range lines[1:] {
		if before, now := lines[i][:24], l[:24]; now < before {
			t.Errorf("line %d goes back from %s to %s", i+2, before, now)
		}
	}
	total := 0
	for _, c := range callers {
		total += c.allowed + c.deny
		if (c.deny > 0) != (c.name == "poller") || c.allowed+c.deny != strings.Count(log, "client="+c.name+" ") {
			t.Errorf("%s: %d allowed, %d denied", c.name, c.allowed, c.deny)
		}
	}
	if total != demoLogLines {
		t.Errorf("%d requests for %d lines", total, demoLogLines)
	}
	if first := "2025-03-04T09:00:00.000Z gw-2 req=000001 client=web route=/v1/orders verdict=allow peer=10.4.0.140 bytes=1914"; lines[0] != first {
		t.Errorf("first line %q", lines[0])
	}
}

// TestDemoFiles: the texts that the edits of the script rely on stand where they should, once.
func TestDemoFiles(t *testing.T) {
	for name, old := range map[string]string{"bug": demoBucketBug, "refill": demoRefillOld} {
		if n := strings.Count(demoBucket, old); n != 1 {
			t.Errorf("%s stands %d times in lib/bucket.sh", name, n)
		}
	}
	for _, c := range demoHistory() {
		for name, text := range c.files {
			if text == "" || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || strings.Contains(text, "\r") {
				t.Errorf("%s: %s is empty or ends badly", c.subject, name)
			}
		}
	}
	if test := demoHistory()[0].files["test.sh"]; strings.Count(test, "\ncheck \"") != 4 || !strings.Contains(test, "\n\necho \"1..") {
		t.Errorf("the first test.sh:\n%s", test)
	}
}
