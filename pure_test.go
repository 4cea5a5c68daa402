package ambit_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// pure are the packages that touch nothing: no clock, no randomness, no goroutine, no file, no network. Time comes
// from entries. Those that do not exist yet are held to it from their first line.
var pure = []string{
	"entry", "unit", "view", "source",
	"internal/index", "internal/pool", "internal/thread", "internal/reading", "internal/transcript", "internal/conversation", "internal/selection", "internal/excerpt", "internal/token", "internal/pricing",
	"provider", "provider/anthropic", "provider/openai", "provider/gemini",
}

// starters are the packages that may start goroutines; each has an owner whose Close waits for them.
var starters = []string{".", "journal", "server", "source/host", "kernel", "cmd/ambit"}

// impure are imports that pure packages do without. One that ends in a slash stands for everything below it.
var impure = []string{
	"os", "os/", "io/fs", "io/ioutil", "path/filepath", "syscall", "golang.org/x/sys/", "ambit/internal/vfs",
	"net", "net/", "math/rand", "math/rand/", "crypto/rand", "hash/maphash", "log", "log/",
}

// harmless are imports that stand below an impure one and touch nothing.
var harmless = []string{"net/url"}

// clocked are functions that read the clock or wait for it.
var clocked = map[string][]string{
	"time":    {"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
}

func touches(importPath string) bool {
	return !slices.Contains(harmless, importPath) && slices.ContainsFunc(impure, func(p string) bool {
		return p == importPath || strings.HasSuffix(p, "/") && strings.HasPrefix(importPath, p)
	})
}

// checkPure says where a pure package touches the world, and where a goroutine starts that should not. Test files and
// packages that serve tests are free.
func checkPure(tr tree) []string {
	var problems []string
	for _, f := range tr.files {
		if f.test || support(f.dir) {
			continue
		}
		isPure, names := slices.Contains(pure, f.dir), f.imports()
		for _, s := range f.ast.Imports {
			p := strings.Trim(s.Path.Value, "`\"")
			if dot := s.Name != nil && s.Name.Name == "."; isPure && (touches(p) || dot && clocked[p] != nil) {
				problems = append(problems, fmt.Sprintf("%s: %s is pure and may not import %s", tr.at(s), f.dir, p))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if !slices.Contains(starters, f.dir) {
					problems = append(problems, fmt.Sprintf("%s: %s may not start a goroutine", tr.at(n), f.dir))
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && isPure && x.Obj == nil && slices.Contains(clocked[names[x.Name]], n.Sel.Name) {
					problems = append(problems, fmt.Sprintf("%s: %s is pure and may not use %s.%s", tr.at(n), f.dir, x.Name, n.Sel.Name))
				}
			}
			return true
		})
	}
	return problems
}

func TestPure(t *testing.T) {
	report(t, checkPure(moduleTree(t)))
	for _, dir := range slices.Concat(pure, starters) {
		if line, _ := parseOrder(order); line[dir] == 0 {
			t.Errorf("%s is not a package of the dependency list", dir)
		}
	}
}

func TestPureCanFail(t *testing.T) {
	expect(t, checkPure(sourceTree(t, map[string]string{
		"entry/a.go":                 `package entry; import clock "time"; var T = clock.Now; var D clock.Duration`,
		"entry/a_test.go":            `package entry; import "time"; var now = time.Now()`,
		"entry/b.go":                 `package entry; import "os"; import "math/rand/v2"; import "net/http"; import "net/url"`,
		"entry/c.go":                 `package entry; func f() { go f() }`,
		"entry/d.go":                 `package entry; import . "time"; var T = Now()`,
		"entry/e.go":                 `package entry; type clock struct{ Now int }; func g(time clock) int { return time.Now }`,
		"internal/vfs/a.go":          `package vfs; import "os"; func f() { go f() }`,
		"journal/a.go":               `package journal; import "time"; func f() { go f(); time.Sleep(1) }`,
		"journal/journaltest/a.go":   `package journaltest; func f() { go f() }`,
		"provider/a.go":              `package provider; import "context"; var w = context.WithTimeout`,
		"provider/scripted/serve.go": `package scripted; import "net/http"`,
	})),
		"entry/a.go:1: entry is pure and may not use clock.Now",
		"may not import os",
		"may not import math/rand/v2",
		"may not import net/http",
		"entry/c.go:1: entry may not start a goroutine",
		"entry/d.go:1: entry is pure and may not import time",
		"internal/vfs/a.go:1: internal/vfs may not start a goroutine",
		"provider/a.go:1: provider is pure and may not use context.WithTimeout",
	)
}
