package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ambit/internal/agent"
)

func TestSearch(t *testing.T) {
	long := strings.Repeat("ä", 1000) + "needle" + strings.Repeat("ö", 1000)
	r := work(t, map[string]string{
		"b.go": "func b() {}\r\nvar x\n", "a/z.go": "func z() {}\n", "a/y.txt": "func y\n", "a/sub/w.go": "func w() {}\n", ".git/config": "func\n", "a/.git/x": "func\n",
		"bin": "func\x00", "latin": "func \xe4\xf6\n", "long": long, "strange\nname": "strange\n",
	}, agent.Options{})
	r.link("a", "linked")
	r.link("b.go", "linked.go")
	r.rows([]row{
		{"search", `{"pattern":"^func \\w\\(\\) \\{\\}$"}`, "a/sub/w.go:1: func w() {}\na/z.go:1: func z() {}\nb.go:1: func b() {}\n", ""},
		{"search", `{"pattern":"func","glob":"*.txt"}`, "a/y.txt:1: func y\n", ""},
		{"search", `{"pattern":"func","glob":"a/*.go"}`, "a/z.go:1: func z() {}\n", ""},
		{"search", `{"pattern":"func","glob":"a/**/w.go"}`, "a/sub/w.go:1: func w() {}\n", ""},
		{"search", `{"pattern":"func","path":"a","glob":"sub/*"}`, "a/sub/w.go:1: func w() {}\n", ""},
		{"search", `{"pattern":"func","path":"linked","glob":"?.txt"}`, "a/y.txt:1: func y\n", ""},
		{"search", `{"pattern":"VAR","path":"b.go","glob":"*.txt"}`, "(no match)\n", ""},
		{"search", `{"pattern":"(?i)VAR","path":"b.go"}`, "b.go:2: var x\n", ""},
		{"search", `{"pattern":"func","path":".git"}`, ".git/config:1: func\n", ""},
		{"search", `{"pattern":"func","path":"latin"}`, "latin:1: func \uFFFD\n", ""},
		{"search", `{"pattern":"strange"}`, `"strange\nname":1: strange` + "\n", ""},
		{"search", `{"pattern":"x","path":"none"}`, "", `there is no file or folder "none"`},
	})
	text, err := r.use(t.Context(), "search", `{"pattern":"needle","path":"long"}`)
	if err != nil || len(text) > 600 || !strings.HasPrefix(text, "long:1: …ä") || !strings.HasSuffix(text, "ö…\n") || !strings.Contains(text, "äneedleö") {
		t.Errorf("a long line is %q, %v", text, err)
	}
}

func TestSearchLimits(t *testing.T) {
	files := map[string]string{"exact": strings.Repeat("five\n", 500), "more": strings.Repeat("more\n", 501)}
	for i := range 400 {
		files[fmt.Sprintf("wide/%03d", i)] = strings.Repeat("w", 1000) + "\n" + strings.Repeat("v", 1000) + "\n"
	}
	r := work(t, files, agent.Options{})
	small := work(t, files, agent.Options{Output: 2000})
	for _, w := range []struct {
		r             *rig
		pattern, path string
		lines         int
		most          int
		cut           bool
	}{
		{r, "five", ".", 500, 256 << 10, false},
		{r, "more", ".", 500, 256 << 10, true},
		{r, "w", "wide", 400, 256 << 10, false},
		{r, ".", "wide", 500, 256 << 10, true},
		{small, "w", "wide", 3, 2000, true},
	} {
		text, err := w.r.use(t.Context(), "search", object(t, map[string]any{"pattern": w.pattern, "path": w.path}))
		lines, cut := strings.Count(text, "\n"), strings.HasSuffix(text, fmt.Sprintf("(there are more than these %d lines: narrow the pattern, the path or the glob)\n", w.lines))
		if cut {
			lines--
		}
		if err != nil || lines != w.lines || cut != w.cut || len(text) > w.most {
			t.Errorf("%s in %s: %d lines, %d bytes, cut %v, %v", w.pattern, w.path, lines, len(text), cut, err)
		}
	}
	if os.Getuid() == 0 {
		return // who may read everything
	}
	if err := os.Chmod(filepath.Join(r.dir, "exact"), 0); err != nil {
		t.Fatal(err)
	}
	r.rows([]row{{"search", `{"pattern":"five"}`, "(no match)\n(1 files or folders could not be opened)\n", ""}})
}

func TestList(t *testing.T) {
	files := map[string]string{"b.go": "", "a/z.go": "", "a/y_test.go": "", ".git/config": "", ".hidden": "", "a.go": ""}
	r := work(t, files, agent.Options{})
	r.link("a", "link")
	for i := range 1001 {
		r.put(fmt.Sprintf("many/%04d", i), "")
	}
	r.rows([]row{
		{"list", `{}`, ".git/\n.hidden\na/\na.go\nb.go\nlink -> a\nmany/\n", ""},
		{"list", `{"path":"a"}`, "y_test.go\nz.go\n", ""},
		{"list", `{"path":"link","glob":"z*"}`, "a/z.go\n", ""},
		{"list", `{"glob":"*.go"}`, "a.go\nb.go\n", ""},
		{"list", `{"glob":"**/*.go"}`, "a/y_test.go\na/z.go\na.go\nb.go\n", ""},
		{"list", `{"path":"a","glob":"./*_test.go"}`, "a/y_test.go\n", ""},
		{"list", `{"glob":"**/config"}`, "(nothing)\n", ""},
		{"list", `{"path":"many","glob":"000?"}`, "many/0000\nmany/0001\nmany/0002\nmany/0003\nmany/0004\nmany/0005\nmany/0006\nmany/0007\nmany/0008\nmany/0009\n", ""},
		{"list", `{"path":"b.go"}`, "", `"b.go" is no folder: read shows files`},
		{"list", `{"path":"none"}`, "", `there is no folder "none"`},
	})
	text, err := r.use(t.Context(), "list", `{"path":"many"}`)
	if err != nil || strings.Count(text, "\n") != 1001 || !strings.HasSuffix(text, "0999\n(there are more than these 1000: narrow the path or the glob)\n") {
		t.Errorf("%q, %v", text[max(0, len(text)-200):], err)
	}
}
