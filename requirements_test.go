package ambit_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// section is one heading of REQUIREMENTS.md with the IDs of its rows.
type section struct {
	title string
	ids   []string
}

var row = regexp.MustCompile(`^\| ?([A-Z]-\d\d) ?\|`)

// parseRequirements reads the headings and rows of REQUIREMENTS.md.
func parseRequirements(text string) []section {
	var sections []section
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, section{title: strings.TrimSpace(title)})
		} else if m := row.FindStringSubmatch(line); m != nil && len(sections) > 0 {
			last := &sections[len(sections)-1]
			last.ids = append(last.ids, m[1])
		}
	}
	return sections
}

// parseDue reads docs/due.txt: an ID a line; what follows # is a comment.
func parseDue(text string) (ids, problems []string) {
	for line := range strings.Lines(text) {
		id, _, _ := strings.Cut(line, "#")
		switch id = strings.TrimSpace(id); {
		case id == "":
		case !regexp.MustCompile(`^[A-Z]-\d\d$`).MatchString(id):
			problems = append(problems, fmt.Sprintf("docs/due.txt: %q is not an ID", id))
		case slices.Contains(ids, id):
			problems = append(problems, fmt.Sprintf("docs/due.txt: %s stands there twice", id))
		default:
			ids = append(ids, id)
		}
	}
	return ids, problems
}

// checkRequirements says what is unknown, what is due without whole cover, and what was due once and is no more. No
// sections means that REQUIREMENTS.md is not there. Parts never make a whole, however many.
func checkRequirements(sections []section, due, ever []string, covers []cover) []string {
	var problems, known []string
	for _, s := range sections {
		known = append(known, s.ids...)
	}
	unknown := func(id, where string) {
		if len(sections) > 0 && !slices.Contains(known, id) {
			problems = append(problems, fmt.Sprintf("%s: %s is not in REQUIREMENTS.md", where, id))
		}
	}
	for _, id := range due {
		unknown(id, "docs/due.txt")
	}
	for _, c := range covers {
		unknown(c.id, c.test)
	}
	for _, id := range due {
		of := coversOf(covers, id)
		switch {
		case len(of) == 0:
			problems = append(problems, fmt.Sprintf("%s is due and no test covers it", id))
		case !slices.ContainsFunc(of, func(c cover) bool { return !c.part }):
			problems = append(problems, fmt.Sprintf("%s is due and only parts of it are covered", id))
		}
	}
	for _, id := range ever {
		if !slices.Contains(due, id) {
			problems = append(problems, fmt.Sprintf("%s has left docs/due.txt", id))
		}
	}
	return problems
}

func coversOf(covers []cover, id string) []cover {
	var of []cover
	for _, c := range covers {
		if c.id == id {
			of = append(of, c)
		}
	}
	return of
}

// everDue returns every ID that a committed docs/due.txt under root has held.
func everDue(root string) ([]string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return string(out), err
	}
	if _, err := git("rev-parse", "--verify", "HEAD"); err != nil {
		return nil, err
	}
	commits, err := git("log", "--full-history", "--format=%H", "--", "docs/due.txt")
	if err != nil {
		return nil, err
	}
	var ever []string
	for _, commit := range strings.Fields(commits) {
		blob, err := git("rev-parse", "--verify", "--quiet", commit+":./docs/due.txt")
		if err != nil {
			continue // the commit that removed it
		}
		text, err := git("cat-file", "blob", strings.TrimSpace(blob))
		if err != nil {
			return nil, err
		}
		ids, _ := parseDue(text)
		ever = append(ever, ids...)
	}
	slices.Sort(ever)
	return slices.Compact(ever), nil
}

// printCovers lists every ID with what covers it, under the headings of REQUIREMENTS.md.
func printCovers(w io.Writer, sections []section, due []string, covers []cover) {
	if len(sections) == 0 {
		sections = []section{{title: "docs/due.txt", ids: due}}
	}
	for _, s := range sections {
		if len(s.ids) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", s.title)
		for _, id := range s.ids {
			state := ""
			if slices.Contains(due, id) {
				state = "due"
			}
			of := coversOf(covers, id)
			if len(of) == 0 {
				of = []cover{{test: "–"}}
			}
			slices.SortFunc(of, func(a, b cover) int { return cmp.Compare(a.test, b.test) })
			label := id
			for _, c := range of {
				if c.part {
					c.test += " (part)"
				}
				fmt.Fprintf(w, "  %-4s %-3s  %s\n", label, state, c.test)
				label, state = "", ""
			}
		}
	}
}

// TestRequirements holds docs/due.txt, REQUIREMENTS.md and the tests together. REQUIREMENTS.md is looked for under
// AMBIT_SHARED, then beside the repository.
func TestRequirements(t *testing.T) {
	var sections []section
	name := filepath.Join(cmp.Or(os.Getenv("AMBIT_SHARED"), filepath.Join("..", "shared")), "REQUIREMENTS.md")
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Logf("no REQUIREMENTS.md under AMBIT_SHARED or ../shared: checking docs/due.txt alone")
	case err != nil:
		t.Fatal(err)
	default:
		if sections = parseRequirements(string(text)); len(sections) == 0 {
			t.Fatalf("%s has no rows", name)
		}
	}
	due, problems := parseDue(readFile(t, "docs/due.txt"))
	report(t, problems)
	covers, problems := goCovers(moduleTree(t))
	report(t, problems)
	scripts, problems, err := scriptCovers(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	report(t, problems)
	covers = append(covers, scripts...)
	ever, err := everDue(".")
	if err != nil {
		t.Logf("no history, so what has left docs/due.txt is not checked: %v", err)
	}
	report(t, checkRequirements(sections, due, ever, covers))
	if testing.Verbose() {
		printCovers(t.Output(), sections, due, covers)
	}
}

func TestRequirementsCanFail(t *testing.T) {
	sections := parseRequirements("# R\n| A-00 | before any heading |\n## J · Journal\n| ID | behaviour |\n|---|---|\n| J-01 | one |\n| J-02 | two |\n## I · Faces\n| I-01 | three |\n")
	if len(sections) != 2 || sections[0].title != "J · Journal" || !slices.Equal(sections[0].ids, []string{"J-01", "J-02"}) {
		t.Fatalf("the rows are %v", sections)
	}
	due, problems := parseDue("# rows\nJ-01\n\nJ-02 # why\nJ-01\nJ-3\n")
	expect(t, problems, "J-01 stands there twice", `"J-3" is not an ID`)
	if !slices.Equal(due, []string{"J-01", "J-02"}) {
		t.Fatalf("due are %v", due)
	}
	covers := []cover{{"J-01", false, "a/TestA"}, {"J-02", true, "a/TestB"}, {"J-02", true, "a/TestC"}}
	expect(t, checkRequirements(sections, due[:1], due[:1], covers))
	expect(t, checkRequirements(sections, due, nil, covers), "J-02 is due and only parts")
	expect(t, checkRequirements(sections, due[:1], due, covers), "J-02 has left")
	expect(t, checkRequirements(sections, due[:1], nil, nil), "J-01 is due and no test")
	expect(t, checkRequirements(sections, []string{"J-09"}, nil, []cover{{"J-09", false, "a/TestA"}, {"X-01", true, "a.py"}}),
		"docs/due.txt: J-09 is not in", "a/TestA: J-09 is not in", "a.py: X-01 is not in")
	expect(t, checkRequirements(nil, []string{"J-09"}, nil, []cover{{"J-09", false, "a/TestA"}}))
	var b strings.Builder
	printCovers(&b, sections, due, covers)
	want := "\nJ · Journal\n  J-01 due  a/TestA\n  J-02 due  a/TestB (part)\n            a/TestC (part)\n\nI · Faces\n  I-01      –\n"
	if b.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", b.String(), want)
	}
}

// TestEverDue removes an ID and then the file, and still finds both IDs.
func TestEverDue(t *testing.T) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	dir := t.TempDir()
	if _, err := everDue(dir); err == nil {
		t.Error("a folder without git has a history")
	}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "--quiet")
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"J-01\nJ-02\n", "J-01\n", ""} {
		name := filepath.Join(dir, "docs", "due.txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			os.Remove(name)
		}
		git("add", "--all")
		git("commit", "--quiet", "--no-verify", "--message", "due")
	}
	ever, err := everDue(dir)
	if err != nil || !slices.Equal(ever, []string{"J-01", "J-02"}) {
		t.Errorf("ever due were %v, %v", ever, err)
	}
}
