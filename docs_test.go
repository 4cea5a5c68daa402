package ambit_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The sizes from which on a production file, function or document is taken apart.
const (
	maxFileLines = 600
	maxFuncLines = 120
	longFunc     = 80
	longShare    = 0.02 // of all functions
)

// maxDocument are the lines that documents may have.
var maxDocument = map[string]int{"ARCHITECTURE.md": 200, "CONTRIBUTING.md": 120}

// checkDocs says which packages and exported names have no comment. Fields are free, and so are String and Error,
// whose meaning is their interface's. An interface with one exported method says all in its own comment.
func checkDocs(tr tree) []string {
	var problems []string
	described := map[string]bool{}
	for _, f := range tr.files {
		if f.test {
			continue
		}
		described[f.dir] = described[f.dir] || f.ast.Doc != nil
		for _, d := range f.ast.Decls {
			for _, id := range undocumented(d) {
				problems = append(problems, fmt.Sprintf("%s: %s has no comment", tr.at(id), id.Name))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(described)) {
		if !described[dir] {
			problems = append(problems, fmt.Sprintf("package %s has no comment", dir))
		}
	}
	return problems
}

// undocumented returns the exported names of a declaration that no comment describes.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		plain := d.Recv != nil && (d.Name.Name == "String" || d.Name.Name == "Error")
		if d.Doc == nil && d.Name.IsExported() && !plain && ast.IsExported(receiver(d)) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var ids []*ast.Ident
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if !s.Name.IsExported() {
					continue
				}
				if d.Doc == nil && s.Doc == nil && s.Comment == nil {
					ids = append(ids, s.Name)
				}
				ids = append(ids, undocumentedMethods(s)...)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if id.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						ids = append(ids, id)
					}
				}
			}
		}
		return ids
	}
	return nil
}

func undocumentedMethods(s *ast.TypeSpec) []*ast.Ident {
	t, ok := s.Type.(*ast.InterfaceType)
	if !ok {
		return nil
	}
	var all, bare []*ast.Ident
	for _, m := range t.Methods.List {
		for _, id := range m.Names {
			if id.IsExported() {
				all = append(all, id)
				if m.Doc == nil && m.Comment == nil {
					bare = append(bare, id)
				}
			}
		}
	}
	if len(all) == 1 {
		return nil
	}
	return bare
}

// receiver is the name of a method's type; a function without one counts as exported.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return "Func"
	}
	for e := d.Recv.List[0].Type; ; {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// checkSizes says which production files and functions are too long, and whether too many functions are long. Packages
// that serve tests are as free as tests.
func checkSizes(tr tree) []string {
	var problems []string
	functions, long := 0, 0
	for _, f := range tr.files {
		if f.test || support(f.dir) {
			continue
		}
		if f.lines > maxFileLines {
			problems = append(problems, fmt.Sprintf("%s has %d lines, more than %d", f.name, f.lines, maxFileLines))
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			functions++
			n := tr.fset.Position(fn.End()).Line - tr.fset.Position(fn.Pos()).Line + 1
			if n > longFunc {
				long++
			}
			if n > maxFuncLines {
				problems = append(problems, fmt.Sprintf("%s: %s has %d lines, more than %d", tr.at(fn), fn.Name.Name, n, maxFuncLines))
			}
		}
	}
	if float64(long) > longShare*float64(functions) {
		problems = append(problems, fmt.Sprintf("%d of %d functions have more than %d lines", long, functions, longFunc))
	}
	return problems
}

// checkInterfaces says which exported interfaces ARCHITECTURE.md gives no reason for.
func checkInterfaces(tr tree, document string) []string {
	var problems []string
	for _, f := range tr.files {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE || f.test {
				continue
			}
			for _, s := range g.Specs {
				s := s.(*ast.TypeSpec)
				name := f.ast.Name.Name + "." + s.Name.Name
				if _, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() && !strings.Contains(document, "`"+name+"`") {
					problems = append(problems, fmt.Sprintf("ARCHITECTURE.md gives no reason for the interface %s", name))
				}
			}
		}
	}
	return problems
}

func TestDocs(t *testing.T) {
	tr := moduleTree(t)
	report(t, checkDocs(tr))
	report(t, checkSizes(tr))
	report(t, checkInterfaces(tr, readFile(t, "ARCHITECTURE.md")))
	for name, most := range maxDocument {
		if n := strings.Count(readFile(t, name), "\n"); n > most {
			t.Errorf("%s has %d lines, more than %d", name, n, most)
		}
	}
}

func TestDocsCanFail(t *testing.T) {
	tr := sourceTree(t, map[string]string{
		"a/a.go": `// Package a is described.
package a

type T struct{ F int }

func (T) M()             {}
func (*T) String() string { return "" }
func (t) M()             {}
func (G[K]) M()          {}
func F()                 {}

var V, w = 1, 2

// All of these.
const (
	A = 1
	B = 2
)

// I is an interface.
type I interface {
	// M is described.
	M()
	N()
	o()
}

// One says all of it here.
type One interface{ M() }
`,
		"a/a_test.go":  "package a\nfunc TestX() {}\n",
		"b/b.go":       "package b\n",
		"b/c.go":       "package b\nfunc F() {" + strings.Repeat("\n", 119) + "}\n// G is long.\nfunc G() {" + strings.Repeat("\n", 90) + "}\n",
		"b/btest/a.go": "// Package btest serves tests.\npackage btest\n" + strings.Repeat("\n", 600),
		"b/d.go":       "package b\n" + strings.Repeat("\n", 600),
		"b/e.go":       "package b\nfunc f() {" + strings.Repeat("\n", 120) + "}\n",
	})
	expect(t, checkDocs(tr),
		"a/a.go:4: T has", "a/a.go:6: M has", "a/a.go:9: M has", "a/a.go:10: F has", "a/a.go:12: V has", "a/a.go:24: N has",
		"b/c.go:2: F has", "package b has no comment")
	expect(t, checkSizes(tr),
		"b/d.go has 601 lines, more than 600", "b/e.go:2: f has 121 lines", "3 of 8 functions have more than 80 lines")
	expect(t, checkInterfaces(tr, "`a.One` is one"), "no reason for the interface a.I")
}
