package ambit_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// cover says that a test covers a requirement, or a part of it.
type cover struct {
	id   string
	part bool
	test string // a function with its package's folder, or a script's path
}

var (
	coversGo     = regexp.MustCompile(`^//\s*covers:(.*)$`)
	coversScript = regexp.MustCompile(`(?m)^\s*#\s*covers:(.*)$`)
	coversText   = regexp.MustCompile(`^ ([A-Z]-\d\d)( part)?\s*$`)
	archived     = regexp.MustCompile(`(?m)^-- .+ --$`)
	testName     = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)
)

// parseCover reads what follows "covers:".
func parseCover(text, test string) (cover, error) {
	m := coversText.FindStringSubmatch(text)
	if m == nil {
		return cover{}, fmt.Errorf(`%s: "covers:%s" is not "covers: ID" or "covers: ID part"`, test, text)
	}
	return cover{id: m[1], part: m[2] != "", test: test}, nil
}

// goCovers reads the comments directly above the test functions of a tree. One that stands anywhere else covers
// nothing and is a problem.
func goCovers(tr tree) (covers []cover, problems []string) {
	for _, f := range tr.files {
		above := map[*ast.Comment]bool{}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil || fn.Recv != nil || !f.test || !testName.MatchString(fn.Name.Name) {
				continue
			}
			for _, c := range fn.Doc.List {
				if m := coversGo.FindStringSubmatch(c.Text); m != nil {
					above[c] = true
					cv, err := parseCover(m[1], path.Join(f.dir, fn.Name.Name))
					if err != nil {
						problems = append(problems, err.Error())
						continue
					}
					covers = append(covers, cv)
				}
			}
		}
		for _, g := range f.ast.Comments {
			for _, c := range g.List {
				if coversGo.MatchString(c.Text) && !above[c] {
					problems = append(problems, fmt.Sprintf("%s: %q does not stand above a test function", tr.at(c), c.Text))
				}
			}
		}
	}
	return covers, problems
}

// scriptCovers reads the comments of testscripts (.txt files under a testdata folder, up to the files that they
// bring along) and of Python programs.
func scriptCovers(fsys fs.FS) (covers []cover, problems []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && strings.HasPrefix(path.Base(name), ".") {
				return fs.SkipDir
			}
			return nil
		}
		script := path.Ext(name) == ".txt" && slices.Contains(strings.Split(path.Dir(name), "/"), "testdata")
		if !script && path.Ext(name) != ".py" {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		text := string(data)
		if at := archived.FindStringIndex(text); script && at != nil {
			text = text[:at[0]]
		}
		for _, m := range coversScript.FindAllStringSubmatch(text, -1) {
			c, err := parseCover(m[1], name)
			if err != nil {
				problems = append(problems, err.Error())
				continue
			}
			covers = append(covers, c)
		}
		return nil
	})
	return covers, problems, err
}

func TestGoCovers(t *testing.T) {
	covers, problems := goCovers(sourceTree(t, map[string]string{
		"journal/a_test.go": `package journal

// TestA is described.
// covers: J-01
// covers: J-02 part
func TestA() {}

//covers: J-03
func FuzzB() {
	// covers: J-04
}

// covers: J-05

func TestC() {}

// covers: J-06
func helper() {}

// covers: J-06, J-07
func TestD() {}

// covers: J-08
func Testimony() {}
`,
		"journal/a.go": "package journal\n\n// covers: J-09\nfunc TestE() {}\n",
		"a_test.go":    "package ambit\n\n// covers: I-01\nfunc TestRoot() {}\n",
	}))
	want := []cover{{"I-01", false, "TestRoot"}, {"J-01", false, "journal/TestA"}, {"J-02", true, "journal/TestA"}, {"J-03", false, "journal/FuzzB"}}
	if !slices.Equal(covers, want) {
		t.Errorf("covers are %v, want %v", covers, want)
	}
	expect(t, problems,
		`journal/a.go:3: "// covers: J-09" does not stand above`,
		`journal/TestD: "covers: J-06, J-07" is not`,
		`"// covers: J-04" does not`, `"// covers: J-05" does not`, `"// covers: J-06" does not`, `"// covers: J-08" does not`,
	)
}

func TestScriptCovers(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	covers, problems, err := scriptCovers(fstest.MapFS{
		"cmd/ambit/testdata/script/up.txt": file("# what it shows\n# covers: I-05 part\nexec ambit up\n\n-- a.txt --\n# covers: J-01\n"),
		"journal/journaltest/reader.py":    file("import sys\n\n# covers: J-02\ndef read():\n    # covers: J-2\n"),
		"docs/due.txt":                     file("# covers: J-03\n"),
		".git/a.py":                        file("# covers: J-03\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []cover{{"I-05", true, "cmd/ambit/testdata/script/up.txt"}, {"J-02", false, "journal/journaltest/reader.py"}}
	if !slices.Equal(covers, want) {
		t.Errorf("covers are %v, want %v", covers, want)
	}
	expect(t, problems, `journal/journaltest/reader.py: "covers: J-2" is not`)
}
