package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ambit/internal/agent"
)

func TestRead(t *testing.T) {
	var told []string
	r := work(t, map[string]string{
		"a.go": "one\n\n\tthree\n", "end": "one\ntwo", "empty": "", "dos": "one\r\ntwo\r\nthree\n", "in/zero": "a\x00b", "latin": "one\nt\xe4\n", "wide": "\xff\xfea\x00",
		"late": strings.Repeat("x\n", 5000) + "\x00",
	}, agent.Options{Read: func(path string) { told = append(told, path) }})
	r.link("a.go", "link")
	r.link("in", "folder")
	r.put("in/c", "c\n")
	r.rows([]row{
		{"read", `{"path":"a.go"}`, "1\tone\n2\t\n3\t\tthree\n", ""},
		{"read", `{"path":"./in/../a.go","offset":2,"limit":1}`, "2\t\n(there is more: go on with offset 3)\n", ""},
		{"read", `{"path":"a.go","offset":3,"limit":1}`, "3\t\tthree\n", ""},
		{"read", `{"path":"a.go","offset":4}`, "", `read "a.go": it has 3 lines, and none from 4 on`},
		{"read", `{"path":"link","limit":1}`, "1\tone\n(there is more: go on with offset 2)\n", ""},
		{"read", `{"path":"folder/c"}`, "1\tc\n", ""},
		{"read", `{"path":"end"}`, "1\tone\n2\ttwo\n(the last line has no line break)\n", ""},
		{"read", `{"path":"empty"}`, "(the file is empty)\n", ""},
		{"read", `{"path":"dos"}`, "1\tone\n2\ttwo\n3\tthree\n(2 of these lines end in CRLF, which edit keeps)\n", ""},
		{"read", `{"path":"in/zero"}`, "", `read "in/zero": it is a binary file`},
		{"read", `{"path":"latin"}`, "", `read "latin": line 2 is not valid UTF-8`},
		{"read", `{"path":"wide"}`, "", `read "wide": it is UTF-16`},
		{"read", `{"path":"late","offset":5001}`, "", `read "late": it is a binary file`},
		{"read", `{"path":"none"}`, "", `there is no file "none"`},
		{"read", `{"path":"a.go/b"}`, "", `look at "a.go/b": not a directory`},
		{"read", `{"path":"in"}`, "", `"in" is a folder: list shows`},
	})
	want := []string{"a.go", "a.go", "a.go", "a.go", "in/c", "end", "empty", "dos"}
	for i := range want {
		want[i] = filepath.Join(r.dir, want[i])
	}
	if !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}

// TestReadHuge reads files that are too large to be shown whole, in parts that together are the file.
func TestReadHuge(t *testing.T) {
	var many strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&many, "line %d %s\n", i+1, strings.Repeat("ü", i%300))
	}
	r := work(t, map[string]string{"many": many.String(), "long": "a\n" + strings.Repeat("ü", 1<<20) + "\nb\n"}, agent.Options{})
	var all strings.Builder
	for from := 1; from != 0; {
		text, err := r.use(t.Context(), "read", fmt.Sprintf(`{"path":"many","offset":%d}`, from))
		if err != nil || len(text) > 256<<10 {
			t.Fatalf("from %d: %d bytes, %v", from, len(text), err)
		}
		from = 0
		for line := range strings.Lines(text) {
			number, rest, ok := strings.Cut(line, "\t")
			if !ok {
				if _, err := fmt.Sscanf(line, "(there is more: go on with offset %d)", &from); err != nil {
					t.Fatalf("%q: %v", number, err)
				}
				continue
			}
			all.WriteString(rest)
		}
	}
	if all.String() != many.String() {
		t.Error("the parts are not the file")
	}
	r.rows([]row{
		{"read", `{"path":"long"}`, "1\ta\n(there is more: go on with offset 2)\n", ""},
		{"read", `{"path":"long","offset":3}`, "3\tb\n", ""},
	})
	text, err := r.use(t.Context(), "read", `{"path":"long","offset":2}`)
	if head, tail, _ := strings.Cut(text, "\n"); err != nil || strings.Trim(head, "2\tü") != "" || len(text) > 256<<10 || len(text) < 255<<10 || tail != "(line 2 is cut: it has 2097152 bytes; go on with offset 3)\n" {
		t.Errorf("%d bytes, %q, %v", len(text), tail, err)
	}
}

func TestWrite(t *testing.T) {
	r := work(t, map[string]string{"run.sh": "old\n", "fixed": "x\n", "in/a": "x\n"}, agent.Options{})
	r.link("run.sh", "link")
	r.link("new", "to-come")
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "fixed": 0o444} {
		if err := os.Chmod(filepath.Join(r.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	r.rows([]row{
		{"write", `{"path":"x/y/z.txt","content":"ü\n"}`, "created x/y/z.txt: 3 bytes\n", ""},
		{"write", `{"path":"run.sh","content":""}`, "replaced run.sh: 0 bytes\n", ""},
		{"write", `{"path":"link","content":"new\n"}`, "replaced link: 4 bytes\n", ""},
		{"write", `{"path":"to-come","content":"1"}`, "created to-come: 1 bytes\n", ""},
		{"write", `{"path":"fixed","content":"y"}`, "", `write "fixed": it is read-only`},
		{"write", `{"path":"in","content":"y"}`, "", `"in" is a folder`},
		{"write", `{"path":".","content":"y"}`, "", `"." is a folder`},
		{"write", `{"path":"run.sh/a","content":"y"}`, "", "not a directory"},
	})
	for name, want := range map[string]string{"x/y/z.txt": "ü\n", "run.sh": "new\n", "new": "1", "fixed": "x\n"} {
		if got := r.get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(r.dir, "run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("run.sh has mode %v, %v", info.Mode(), err)
	}
	if to, err := os.Readlink(filepath.Join(r.dir, "link")); err != nil || to != "run.sh" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// TestReplaced shows that a file is replaced and not written over: who has it open still reads the old one, whole.
func TestReplaced(t *testing.T) {
	r := work(t, map[string]string{"a": "the old text\n"}, agent.Options{})
	f, err := os.Open(filepath.Join(r.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r.rows([]row{
		{"edit", `{"path":"a","old":"old","new":"new"}`, "edited a at line 1\n", ""},
		{"write", `{"path":"a","content":"x"}`, "replaced a: 1 bytes\n", ""},
	})
	buf := make([]byte, 64)
	if n, err := f.Read(buf); err != nil || string(buf[:n]) != "the old text\n" {
		t.Errorf("the file that was open has %q, %v", buf[:n], err)
	}
}

func TestEdit(t *testing.T) {
	const twice = "a\nb\na\n"
	for _, row := range []struct{ file, old, fresh, all, want, says string }{
		{"one two\n", "two", "three", "", "one three\n", "edited f at line 1"},
		{twice, "b\na", "c", "", "a\nc\n", "edited f at line 2"},
		{twice, "a", "c", "", "", "stands 2 times in \"f\", at lines 1, 3: give more"},
		{twice, "a", "cc", "all", "cc\nb\ncc\n", "edited f at 2 places, lines 1, 3"},
		{"aaa\n", "aa", "b", "", "", "stands 2 times in \"f\", at lines 1, 1"},
		{"aaa\n", "aa", "b", "all", "ba\n", "edited f at line 1"},
		{twice, "b\n", "", "", "a\na\n", "edited f at line 2"},
		{twice, "b", "b", "", "", "nothing to do"},
		{"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "", "x\r\ny\r\nz\r\nc\r\n", "at line 1"},
		{"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", "", "x\r\ny\r\nc\r\n", "at line 1"},
		{"a\r\nb\nc\r\n", "b", "x\ny", "", "a\r\nx\ny\nc\r\n", "at line 2"},
		{"a\r\nb\nc\r\n", "c", "x\ny", "", "a\r\nb\nx\r\ny\r\n", "at line 3"},
		{"a\r\nb", "b\n", "c\nd\n", "", "a\r\nc\r\nd", "at line 2"},
		{"a\nb", "b", "c", "", "a\nc", "at line 2"},
		{"a\nb", "b\n", "c\n", "", "a\nc", "at line 2"},
		{"a\nb", "a\n", "", "", "b", "at line 1"},
		{"func f() {\n\treturn 1\n}\n", "  return 1\n}", "x", "", "", `line 2, whose spaces are others: "\treturn 1"`},
		{"a\nb\nc\n", "a\nb\nd", "x", "", "", `beginning stands at line 1, but then line 3 is "c", not "d"`},
		{"a\nb\n", "b\nc", "x", "", "", "Its first 1 lines stand at line 2, where the file ends."},
		{"alpha beta\ngamma delta\n", "gamma dleta", "x", "", "", `nearest to its first line is line 2: "gamma delta"`},
		{"alpha\n", "zzz", "x", "", "", "No line is like its first one"},
		{"", "a", "x", "", "", "No line is like its first one"},
		{"a\x00b", "a", "x", "", "", `edit "f": it is a binary file`},
		{"a\xe4", "a", "x", "", "", `edit "f": it is not valid UTF-8`},
	} {
		r := work(t, map[string]string{"f": row.file}, agent.Options{})
		text, err := r.use(t.Context(), "edit", object(t, map[string]any{"path": "f", "old": row.old, "new": row.fresh, "all": row.all != ""}))
		want := row.want
		if row.want == "" {
			want = row.file
		}
		if got := r.get("f"); got != want || !strings.Contains(fmt.Sprint(text, err), row.says) || (err != nil) != (row.want == "") {
			t.Errorf("%q to %q in %q: file %q, want %q; says %q, %v, want %q", row.old, row.fresh, row.file, got, want, text, err, row.says)
		}
	}
	r := work(t, map[string]string{"in/a": ""}, agent.Options{})
	f, err := os.Create(filepath.Join(r.dir, "huge"))
	if err == nil {
		err = f.Truncate(1 << 40)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	r.rows([]row{
		{"edit", `{"path":"huge","old":"a","new":"b"}`, "", `read "huge": it is larger than 16777216 bytes`},
		{"edit", `{"path":"in","old":"a","new":"b"}`, "", `"in" is a folder`},
		{"edit", `{"path":"none","old":"a","new":"b"}`, "", `there is no file "none"`},
		{"read", `{"path":"huge"}`, "", `it is a binary file`},
		{"search", `{"pattern":"a"}`, "(no match)\n(1 files were passed over, which are larger than 16 MiB)\n", ""},
	})
}
