package ambit_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unwanted are words that mean nothing here, or that say with two words what CONTEXT.md says with one.
var unwanted = []string{"chunk", "fragment", "epoch", "lineage", "adapter", "driver", "invocation", "orchestrator", "manager"}

// allowed are folders in which others' words are right, and why.
var allowed = map[string]string{"provider/": "the vendors' own words for their wires"}

// word finds the words of a text or an identifier: runs of small letters with the capital before them.
var word = regexp.MustCompile(`[A-Z]+(?:[^A-Za-z]|$)|[A-Z]?[a-z]+`)

// unwantedIn returns the first unwanted word in a text, whatever its ending.
func unwantedIn(text string) string {
	for _, w := range word.FindAllString(text, -1) {
		for _, u := range unwanted {
			if strings.Contains(strings.ToLower(w), u) {
				return u
			}
		}
	}
	return ""
}

// define matches the methods by which flags are defined, of pflag and of the standard library.
var define = regexp.MustCompile(`^(Bool|Bytes|Count|Duration|Float|Func|IP|Int|String|Text|Time|Uint|Var)\w*$`)

// checkVocabulary looks at what others read: exported identifiers, JSON keys, flags and help texts.
func checkVocabulary(tr tree) []string {
	var problems []string
	texts := constants(tr)
	for _, f := range tr.files {
		if f.test || allowedIn(f.dir) {
			continue
		}
		say := func(n ast.Node, what, text string) {
			if u := unwantedIn(text); u != "" {
				problems = append(problems, fmt.Sprintf("%s: %s %q has the word %q; CONTEXT.md has ours", tr.at(n), what, text, u))
			}
		}
		say(f.ast.Name, "package", f.ast.Name.Name)
		for _, id := range exported(f.ast) {
			say(id, "name", id.Name)
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if n.Tag != nil {
					tag, _ := strconv.Unquote(n.Tag.Value)
					key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
					say(n, "JSON key", key)
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && define.MatchString(s.Sel.Name) && len(n.Args) > 1 {
					for _, arg := range n.Args {
						say(arg, "flag", literal(arg, texts[f.dir]))
					}
				}
			case *ast.KeyValueExpr:
				if k, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Use", "Short", "Long", "Example", "Aliases"}, k.Name) {
					say(n, "help text", literal(n.Value, texts[f.dir]))
				}
			}
			return true
		})
	}
	return problems
}

func allowedIn(dir string) bool {
	for prefix := range allowed {
		if strings.HasPrefix(dir+"/", prefix) && dir+"/" != prefix {
			return true
		}
	}
	return false
}

// exported returns the exported identifiers that a file declares: names, methods, fields and interface methods.
func exported(f *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	add := func(names ...*ast.Ident) {
		for _, id := range names {
			if id.IsExported() {
				ids = append(ids, id)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name)
		case *ast.GenDecl:
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					add(n.Name)
				case *ast.ValueSpec:
					add(n.Names...)
				case *ast.Field:
					add(n.Names...)
				case *ast.FuncLit:
					return false
				}
				return true
			})
		}
	}
	return ids
}

// constants returns the text of every package-level constant and variable, by folder and name.
func constants(tr tree) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, f := range tr.files {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
					if all[f.dir] == nil {
						all[f.dir] = map[string]string{}
					}
					for i, name := range v.Names {
						all[f.dir][name.Name] = literal(v.Values[i], nil)
					}
				}
			}
		}
	}
	return all
}

// literal is the text that stands in an expression, names of constants replaced by theirs.
func literal(e ast.Expr, texts map[string]string) string {
	var b strings.Builder
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				b.WriteString(s)
			}
		case *ast.Ident:
			b.WriteString(texts[n.Name])
		}
		return true
	})
	return b.String()
}

func TestVocabulary(t *testing.T) {
	report(t, checkVocabulary(moduleTree(t)))
}

func TestVocabularyCanFail(t *testing.T) {
	expect(t, checkVocabulary(sourceTree(t, map[string]string{
		"cmd/ambit/a.go":  "package main\nconst long = `Starts the manager.`\nvar c = Command{Use: \"up\", Long: long}\n",
		"cmd/ambit/b.go":  "package main\nfunc f() { flags.StringVarP(&x, \"driver-name\", \"d\", \"\", \"which \"+\"one\") }\n",
		"cmd/ambit/c.go":  "package main\nfunc f() { flags.Bool(\"all\", false, \"show all \"+\"fragments\") }\n",
		"entry/a.go":      "package entry\ntype Chunker struct{ CacheEpoch int }\n",
		"entry/b.go":      "package entry\ntype a struct{ b int `json:\"lineage_id,omitempty\"` }\n",
		"entry/c.go":      "package entry\nfunc (a) HTTPAdapter() {}\nfunc chunk() { var Driver int }\n",
		"entry/d.go":      "package entry\n// MatchUnknown holds no chunk.\nconst MatchUnknown = \"driver\"\n",
		"entry/a_test.go": "package entry\nfunc TestDriver() {}\n",

		"provider/openai/a.go": "package openai\ntype Chunk struct{ b int `json:\"chunk\"` }\n",
		"provider/a.go":        "package provider\ntype Chunk int\n",
	})),
		`help text "Starts the manager." has the word "manager"`,
		`flag "driver-name" has the word "driver"`,
		`flag "show all fragments" has the word "fragment"`,
		`name "Chunker"`, `name "CacheEpoch"`,
		`JSON key "lineage_id"`,
		`name "HTTPAdapter"`,
		`provider/a.go:2: name "Chunk"`,
	)
}
