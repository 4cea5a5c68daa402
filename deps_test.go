package ambit_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// order is the dependency order: a package imports only packages on earlier lines. A change here is a commit of its
// own and says why.
const order = `
1  entry  internal/vfs  internal/excerpt  internal/token  internal/pricing
2  unit  journal  source  internal/index  internal/cassette  kernel  provider/scripted
3  internal/pool  internal/thread  journal/journaltest  journal/postgres  source/host
4  internal/selection  view
5  provider
6  provider/anthropic  provider/openai  provider/gemini  provider/providertest  internal/reading
7  internal/transcript  internal/conversation
8  internal/pressure
9  ambit (root)
10 server  internal/replay  internal/agent
11 client  internal/sim
12 cmd/ambit
`

// forTests are packages that the tests of any package may import.
var forTests = map[string]bool{"journal/journaltest": true, "provider/providertest": true, "internal/vfs": true, "internal/transcript": true}

// standardOnly are packages that import the standard library and nothing else.
var standardOnly = map[string]bool{"entry": true}

// parseOrder reads the list into the line of each package, and says what is wrong with the list itself.
func parseOrder(list string) (line map[string]int, problems []string) {
	line = map[string]int{}
	for i, text := range strings.Split(strings.TrimSpace(list), "\n") {
		fields := strings.Fields(text)
		if n, err := strconv.Atoi(fields[0]); err != nil || n != i+1 {
			problems = append(problems, fmt.Sprintf("line %q of the list is not numbered %d", text, i+1))
		}
		for _, dir := range fields[1:] {
			switch dir {
			case "(root)":
				continue
			case "ambit":
				dir = "."
			}
			if line[dir] != 0 || path.Clean(dir) != dir {
				problems = append(problems, fmt.Sprintf("%s is listed twice or is not a folder's name", dir))
			}
			line[dir] = i + 1
		}
	}
	return line, problems
}

// local returns the folder of an import path of this module.
func local(importPath string) (dir string, ok bool) {
	if importPath == "ambit" {
		return ".", true
	}
	return strings.CutPrefix(importPath, "ambit/")
}

// checkDeps says which packages are not on the list and which imports go against it.
func checkDeps(tr tree, list string) []string {
	line, problems := parseOrder(list)
	known := map[string]bool{}
	for _, f := range tr.files {
		if !known[f.dir] && line[f.dir] == 0 {
			problems = append(problems, unlisted(f.dir, line))
		}
		known[f.dir] = true
		if line[f.dir] == 0 {
			continue
		}
		for _, s := range f.ast.Imports {
			p, _ := strconv.Unquote(s.Path.Value)
			to, ok := local(p)
			first, _, _ := strings.Cut(p, "/")
			switch {
			case !ok && standardOnly[f.dir] && !f.test && strings.Contains(first, "."):
				problems = append(problems, fmt.Sprintf("%s: %s uses the standard library only, not %s", tr.at(s), f.dir, p))
			case !ok || f.test && (to == f.dir || forTests[to]):
			case line[to] == 0:
				problems = append(problems, fmt.Sprintf("%s: %s is not on the list", tr.at(s), p))
			case line[to] >= line[f.dir]:
				problems = append(problems, fmt.Sprintf("%s: %s (line %d) may not import %s (line %d)", tr.at(s), f.dir, line[f.dir], to, line[to]))
			}
		}
	}
	return problems
}

// unlisted says that a package is not on the list, and whether it is there on the wrong side of internal/.
func unlisted(dir string, line map[string]int) string {
	other, internal := strings.CutPrefix(dir, "internal/")
	if !internal {
		other = "internal/" + dir
	}
	if line[other] != 0 {
		return fmt.Sprintf("package %s is listed wrongly as %s", dir, other)
	}
	return fmt.Sprintf("package %s is not on the list", dir)
}

func TestDeps(t *testing.T) {
	report(t, checkDeps(moduleTree(t), order))
}

func TestDepsCanFail(t *testing.T) {
	expect(t, checkDeps(sourceTree(t, map[string]string{
		"entry/a.go":           `package entry; import _ "ambit/journal"`,
		"entry/b.go":           `package entry; import _ "example.org/x"`,
		"internal/index/a.go":  `package index; import _ "ambit/journal"`,
		"internal/vfs/a.go":    `package vfs; import _ "ambit/entry"`,
		"journal/a.go":         `package journal; import _ "ambit/journal/journaltest"`,
		"journal/a_test.go":    `package journal_test; import _ "ambit/journal/journaltest"; import _ "ambit/journal"`,
		"journal/b_test.go":    `package journal_test; import _ "ambit/server"`,
		"server/a.go":          `package server; import _ "ambit"; import _ "ambit/util"; import _ "example.org/x"`,
		"testdata/odd/a.go":    `package odd`,
		"util/a.go":            `package util; import _ "ambit/server"`,
		"vfs/a.go":             `package vfs`,
		"internal/server/a.go": `package server`,
	}), order),
		"entry/a.go:1: entry (line 1) may not import journal (line 2)",
		"entry/b.go:1: entry uses the standard library only, not example.org/x",
		"internal/index/a.go:1: internal/index (line 2) may not import journal (line 2)",
		"package internal/server is listed wrongly as server",
		"internal/vfs/a.go:1: internal/vfs (line 1) may not import entry (line 1)",
		"journal/a.go:1: journal (line 2) may not import journal/journaltest (line 3)",
		"journal/b_test.go:1: journal (line 2) may not import server (line 10)",
		"server/a.go:1: ambit/util is not on the list",
		"package util is not on the list",
		"package vfs is listed wrongly as internal/vfs",
	)
	expect(t, checkDeps(tree{}, "1 entry\n3 unit entry"), "is not numbered 2", "entry is listed twice")
}

var required = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+`)

// checkReasons says which modules that the source imports have no sentence in a document.
func checkReasons(tr tree, goMod, document string) []string {
	var problems []string
	asked := map[string]bool{}
	for _, f := range tr.files {
		for _, p := range f.imports() {
			for _, m := range required.FindAllStringSubmatch(goMod, -1) {
				if (p == m[1] || strings.HasPrefix(p, m[1]+"/")) && !asked[m[1]] {
					asked[m[1]] = true
					if !strings.Contains(document, "`"+m[1]+"`") {
						problems = append(problems, fmt.Sprintf("ARCHITECTURE.md gives no reason for %s", m[1]))
					}
				}
			}
		}
	}
	return problems
}

// TestDependenciesHaveReasons keeps the table of other people's modules in ARCHITECTURE.md whole.
func TestDependenciesHaveReasons(t *testing.T) {
	report(t, checkReasons(moduleTree(t), readFile(t, "go.mod"), readFile(t, "ARCHITECTURE.md")))
	tr := sourceTree(t, map[string]string{"a.go": `package a; import _ "example.org/x/y"; import _ "example.org/z"`})
	expect(t, checkReasons(tr, "require (\n\texample.org/x v1.0.0 // indirect\n\texample.org/z v1.0.0\n)\n", "| `example.org/z` | why |"),
		"no reason for example.org/x")
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
