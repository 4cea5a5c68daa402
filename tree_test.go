package ambit_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// tree is the Go source of the module, which the policy tests read.
type tree struct {
	fset  *token.FileSet
	files []goFile
}

// goFile is one file of a package.
type goFile struct {
	dir   string // the package's folder, "." for the root
	name  string // the file's path
	test  bool   // its name ends in _test.go
	lines int
	ast   *ast.File
}

var module = sync.OnceValues(func() (tree, error) { return readTree(os.DirFS(".")) })

// moduleTree is the module that this test stands in.
func moduleTree(t *testing.T) tree {
	t.Helper()
	tr, err := module()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// sourceTree makes a tree of files that stand in the test itself, for showing that a policy can fail.
func sourceTree(t *testing.T, files map[string]string) tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tr, err := readTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// readTree parses every Go file outside folders that the go command passes over, whatever its build constraints.
func readTree(fsys fs.FS) (tree, error) {
	tr := tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(tr.fset, name, data, parser.ParseComments)
		if err != nil {
			return err
		}
		tr.files = append(tr.files, goFile{
			dir: path.Dir(name), name: name, test: strings.HasSuffix(base, "_test.go"),
			lines: bytes.Count(data, []byte("\n")), ast: file,
		})
		return nil
	})
	return tr, err
}

// support reports whether a package only serves tests, as journaltest does.
func support(dir string) bool { return strings.HasSuffix(path.Base(dir), "test") }

// imports returns the paths that a file imports, by the name that it uses for each.
func (f goFile) imports() map[string]string {
	m := map[string]string{}
	for _, s := range f.ast.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if s.Name != nil {
			name = s.Name.Name
		}
		if name == "_" || name == "." {
			name += p
		}
		m[name] = p
	}
	return m
}

// at gives a node's place for a message.
func (tr tree) at(n ast.Node) string {
	p := tr.fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// report fails the test with every problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// expect fails unless the problems are as many as the parts, each holding its own.
func expect(t *testing.T, problems []string, parts ...string) {
	t.Helper()
	if len(problems) != len(parts) {
		t.Fatalf("%d problems, want %d:\n%s", len(problems), len(parts), strings.Join(problems, "\n"))
	}
	for i, part := range parts {
		if !strings.Contains(problems[i], part) {
			t.Errorf("problem %q does not say %q", problems[i], part)
		}
	}
}
