package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// demoScratch returns tools over a folder with files in it, beside a secret that is outside.
func demoScratch(t *testing.T, files map[string]string) *demoTools {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "project")
	files["../secret"] = "secret\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &demoTools{dir: dir, root: root}
}

// use runs a tool that the demo itself must not stumble over.
func (t *demoTools) use(tb testing.TB, name string, args map[string]any) demoOutcome {
	tb.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := t.run(context.Background(), name, raw)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func wantDemoOutcome(t *testing.T, got demoOutcome, failed bool, text string) {
	t.Helper()
	if got.failed != failed || got.text != text {
		t.Errorf("got %v %q, want %v %q", got.failed, got.text, failed, text)
	}
}

// TestDemoToolsConfined: no file tool reads or writes outside the folder, by whatever path.
func TestDemoToolsConfined(t *testing.T) {
	tools := demoScratch(t, map[string]string{"lib/a": "a\n"})
	secret := filepath.Join(tools.dir, "..", "secret")
	for _, path := range []string{"../secret", "lib/../../secret", secret, "link", "/etc/passwd"} {
		for name, args := range map[string]map[string]any{
			"read_file":  {"path": path},
			"write_file": {"path": path, "content": "mine"},
			"edit_file":  {"path": path, "old": "secret", "new": "mine"},
			"grep":       {"path": path, "pattern": "."},
		} {
			out := tools.use(t, name, args)
			if strings.Contains(out.text, ": secret") || !out.failed && out.text != "(no match)\n" {
				t.Errorf("%s %s: %v %q", name, path, out.failed, out.text)
			}
		}
	}
	if out := tools.use(t, "write_file", map[string]any{"path": "../new/file", "content": "x"}); !out.failed {
		t.Errorf("wrote outside: %q", out.text)
	}
	if raw, err := os.ReadFile(secret); err != nil || string(raw) != "secret\n" {
		t.Errorf("the secret is now %q, %v", raw, err)
	}
	if _, err := os.Stat(filepath.Join(tools.dir, "..", "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made outside: %v", err)
	}
}

// TestDemoEdit: an edit takes a text that stands exactly once, and otherwise changes nothing.
func TestDemoEdit(t *testing.T) {
	const text = "one\ntwo\nthree two\n"
	tools := demoScratch(t, map[string]string{"f": text})
	edit := func(old, new string) demoOutcome {
		return tools.use(t, "edit_file", map[string]any{"path": "f", "old": old, "new": new})
	}
	wantDemoOutcome(t, edit("two", "2"), true, "the old text stands 2 times in f, and must stand once")
	wantDemoOutcome(t, edit("four", "4"), true, "the old text stands 0 times in f, and must stand once")
	wantDemoOutcome(t, edit("Three", "3"), true, "the old text stands 0 times in f, and must stand once")
	wantDemoOutcome(t, edit("", "x"), true, "old is empty, or the same as new")
	wantDemoOutcome(t, edit("one", "one"), true, "old is empty, or the same as new")
	wantDemoOutcome(t, tools.use(t, "read_file", map[string]any{"path": "f"}), false, "    1  one\n    2  two\n    3  three two\n")
	wantDemoOutcome(t, edit("three two", "$1 \\0 three"), false, "edited f at line 3\n")
	wantDemoOutcome(t, edit("one\ntwo\n", ""), false, "edited f at line 1\n")
	wantDemoOutcome(t, tools.use(t, "read_file", map[string]any{"path": "f"}), false, "    1  $1 \\0 three\n")
	if out := tools.use(t, "edit_file", map[string]any{"path": "none", "old": "a", "new": "b"}); !out.failed {
		t.Errorf("edited a file that is not there: %q", out.text)
	}
}

// TestDemoRead: lines are numbered from 1 and can be read in parts.
func TestDemoRead(t *testing.T) {
	var long strings.Builder
	for i := range demoReadLines + 5 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	tools := demoScratch(t, map[string]string{"long": long.String(), "open": "a\nb", "empty": ""})
	read := func(path string, offset, limit int) demoOutcome {
		return tools.use(t, "read_file", map[string]any{"path": path, "offset": offset, "limit": limit})
	}
	wantDemoOutcome(t, read("long", 0, 2), false, "    1  line 1\n    2  line 2\n(2003 more lines)\n")
	wantDemoOutcome(t, read("long", 2004, 9), false, " 2004  line 2004\n 2005  line 2005\n")
	wantDemoOutcome(t, read("long", 2006, 1), true, "long has 2005 lines")
	wantDemoOutcome(t, read("long", -7, 1), false, "    1  line 1\n(2004 more lines)\n")
	wantDemoOutcome(t, read("open", 0, 0), false, "    1  a\n    2  b")
	wantDemoOutcome(t, read("empty", 0, 0), true, "empty has 0 lines")
	for _, limit := range []int{0, demoReadLines * 2} {
		if out := read("long", 1, limit); !strings.HasSuffix(out.text, " 2000  line 2000\n(5 more lines)\n") {
			t.Errorf("limit %d: …%q", limit, out.text[len(out.text)-60:])
		}
	}
	if out := read(".", 0, 0); !out.failed {
		t.Errorf("read a folder: %q", out.text)
	}
}

// TestDemoWrite: folders are made and files replaced.
func TestDemoWrite(t *testing.T) {
	tools := demoScratch(t, map[string]string{"f": "a long text\n"})
	write := func(path, content string) demoOutcome {
		return tools.use(t, "write_file", map[string]any{"path": path, "content": content})
	}
	wantDemoOutcome(t, write("f", "short\n"), false, "wrote f, 6 bytes\n")
	wantDemoOutcome(t, write("a/b/c", "deep\n"), false, "wrote a/b/c, 5 bytes\n")
	if out := write("f/below", "x"); !out.failed {
		t.Errorf("wrote below a file: %q", out.text)
	}
	wantDemoOutcome(t, tools.use(t, "bash", map[string]any{"command": "cat f a/b/c"}), false, "short\ndeep\n")
}

// TestDemoGrep: matches come in the order of names and lines, without git's own files, binaries and links.
func TestDemoGrep(t *testing.T) {
	tools := demoScratch(t, map[string]string{
		"b": "now\nthen\nnow and then\n", "a/z": "then now", "a/y": "", ".git/config": "now\n", "bin": "now\x00\n",
	})
	grep := func(pattern, path string) demoOutcome {
		return tools.use(t, "grep", map[string]any{"pattern": pattern, "path": path})
	}
	wantDemoOutcome(t, grep("now", ""), false, "a/z:1: then now\nb:1: now\nb:3: now and then\n")
	wantDemoOutcome(t, grep("^now$", "b"), false, "b:1: now\n")
	wantDemoOutcome(t, grep("then", "a"), false, "a/z:1: then now\n")
	wantDemoOutcome(t, grep("nowhere", "."), false, "(no match)\n")
	for _, row := range [][2]string{{"(", "."}, {"x", "none"}} {
		if out := grep(row[0], row[1]); !out.failed {
			t.Errorf("grep %v: %q", row, out.text)
		}
	}
}

// TestDemoBash: a command runs in the folder, with all it prints, its exit status, and an environment of its own.
func TestDemoBash(t *testing.T) {
	t.Setenv("DEMO_OUTSIDE", "visible")
	t.Setenv("GIT_DIR", "/nowhere")
	tools := demoScratch(t, map[string]string{"f": "text\n"})
	bash := func(command string) demoOutcome {
		return tools.use(t, "bash", map[string]any{"command": command})
	}
	wantDemoOutcome(t, bash("cat f"), false, "text\n")
	wantDemoOutcome(t, bash("echo out; echo err >&2"), false, "out\nerr\n")
	wantDemoOutcome(t, bash("echo no; exit 7"), true, "no\n(exit status 7)\n")
	wantDemoOutcome(t, bash(":"), false, "(no output)\n")
	wantDemoOutcome(t, bash("cat"), false, "(no output)\n") // standard input is empty
	wantDemoOutcome(t, bash("echo ${DEMO_OUTSIDE-hidden} ${GIT_DIR-unset} $TZ"), false, "hidden unset UTC\n")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tools.run(ctx, "bash", json.RawMessage(`{"command":"echo late"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := tools.run(t.Context(), "bash", json.RawMessage(`{"command":":"}`)); err == nil {
		t.Error("no sh, and no error")
	}
}

// TestDemoShorten: a long output keeps head and tail in whole lines and says what is missing.
func TestDemoShorten(t *testing.T) {
	if s := strings.Repeat("x", demoOutputBytes); demoShorten(s) != s {
		t.Error("an output of the allowed size was cut")
	}
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "%08d\n", i)
	}
	got := demoShorten(b.String())
	left := b.Len() - len(got)
	if len(got) > demoOutputBytes+40 || !strings.HasPrefix(got, "00000000\n") || !strings.HasSuffix(got, "00019999\n") {
		t.Errorf("%d bytes: %q…%q", len(got), got[:20], got[len(got)-20:])
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
		var n int
		if len(line) != 8 {
			if _, err := fmt.Sscanf(line, "(%d bytes left out)", &n); err != nil || n != left+len(line)+1 {
				t.Errorf("line %q, %d bytes missing: %v", line, left, err)
			}
		}
	}
	if got := demoShorten(strings.Repeat("x", demoOutputBytes+10)); !strings.Contains(got, "x(10 bytes left out)\nx") {
		t.Errorf("one long line: %q", got[demoOutputBytes/2-10:demoOutputBytes/2+40])
	}
}

// TestDemoRun: the model's mistakes are outcomes, a sub-agent's failure is an error.
func TestDemoRun(t *testing.T) {
	tools := demoScratch(t, map[string]string{})
	wantDemoOutcome(t, tools.use(t, "fly", nil), true, `no tool "fly"`)
	wantDemoOutcome(t, tools.use(t, "task", nil), true, "a sub-agent cannot start another")
	if out := tools.use(t, "bash", map[string]any{"command": 7}); !out.failed || !strings.Contains(out.text, "not valid") {
		t.Errorf("got %+v", out)
	}
	tools.task = func(_ context.Context, prompt string) (string, error) { return "done: " + prompt, nil }
	wantDemoOutcome(t, tools.use(t, "task", map[string]any{"prompt": "count"}), false, "done: count")
	broken := errors.New("broken")
	tools.task = func(context.Context, string) (string, error) { return "", broken }
	if _, err := tools.run(t.Context(), "task", json.RawMessage(`{}`)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestDemoToolSpecs: every tool that the model is told of is JSON, and the tools know it.
func TestDemoToolSpecs(t *testing.T) {
	tools := demoScratch(t, map[string]string{})
	for _, raw := range demoToolSpecs() {
		var spec struct {
			Name   string `json:"name"`
			Schema struct {
				Properties map[string]any `json:"properties"`
				Required   []string       `json:"required"`
			} `json:"input_schema"`
		}
		if err := json.Unmarshal(raw, &spec); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		for _, name := range spec.Schema.Required {
			if spec.Schema.Properties[name] == nil {
				t.Errorf("%s requires %s and does not have it", spec.Name, name)
			}
		}
		if out := tools.use(t, spec.Name, map[string]any{}); strings.Contains(out.text, "no tool") {
			t.Errorf("%s: %s", spec.Name, out.text)
		}
	}
}
