package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ambit/journal"
)

// TestImportJSON: the members that ambit import prints are those of its table, with these types.
func TestImportJSON(t *testing.T) {
	text, err := os.ReadFile(cliJSON)
	if err != nil {
		t.Fatal(err)
	}
	_, page, ok := strings.Cut(string(text), "\n## Taking in: `ambit import [PATH…] --json`\n")
	if !ok {
		t.Fatal("the section is gone")
	}
	page, _, _ = strings.Cut(page, "\n## ")
	described := documented("## `ambit import`\n" + page)["import"]
	if len(described) < 10 {
		t.Fatalf("documented are %v", described)
	}
	dir := t.TempDir()
	one := filepath.Join(dir, "one.jsonl")
	line := `{"type":"user","sessionId":"s","message":{"role":"user","content":"one"}}` + "\n"
	printed := make(map[string]string)
	for _, recording := range []string{line, line, line + "cut\n"} {
		if err := os.WriteFile(one, []byte(recording), 0o600); err != nil {
			t.Fatal(err)
		}
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": filepath.Join(dir, "home")})
		if got := run(t.Context(), e, []string{"import", "--json", one}); got != 0 || said.Len() > 0 {
			t.Fatalf("status %d: %s", got, said)
		}
		values, err := jsonValues(out.String())
		if err != nil || len(values) != 1 {
			t.Fatalf("%s: %v", out, err)
		}
		if err := members("", values[0], printed); err != nil {
			t.Error(err)
		}
	}
	for _, problem := range differences(described, printed) {
		t.Error(problem)
	}
	formats := regexp.MustCompile("`[a-z-]+`").FindAllString(page[strings.Index(page, "how the file is spelled"):strings.Index(page, "for an export")], -1)
	if len(formats) != 16 {
		t.Errorf("formats are %v", formats)
	}
}

// TestImportBodyLimit: what is documented of the longest recording is what a body may have.
func TestImportBodyLimit(t *testing.T) {
	if journal.MaxBody != 1<<30 {
		t.Errorf("a body may have %d bytes, and the scripts say 1 GiB", journal.MaxBody)
	}
}

// changing is a file that changes each time when it is read, as its agent writes to it.
type changing struct {
	data   []byte
	at     time.Time
	change func(c *changing)
	reads  int
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(c.data).ReadAt(p, off)
	if c.reads++; c.change != nil {
		was := bytes.Clone(c.data)
		if c.change(c); !bytes.Equal(was, c.data) {
			c.at = c.at.Add(time.Second)
		}
	}
	return n, err
}

func (c *changing) Stat() (fs.FileInfo, error) {
	return changingInfo{size: int64(len(c.data)), at: c.at}, nil
}

type changingInfo struct {
	fs.FileInfo
	size int64
	at   time.Time
}

func (i changingInfo) Size() int64        { return i.size }
func (i changingInfo) ModTime() time.Time { return i.at }

// TestSteady reads a file as it was at one time, whatever is done to it meanwhile: up to its last line when it grows, and
// not at all when it goes on changing otherwise.
func TestSteady(t *testing.T) {
	times := func(n int, change func(c *changing)) func(c *changing) {
		return func(c *changing) {
			if n--; n >= 0 {
				change(c)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(c *changing)
		want   string
	}{
		"still":                  {nil, "one\ntwo"},
		"grows":                  {func(c *changing) { c.data = append(c.data, "\nthree"...) }, "one\n"},
		"grows once":             {times(1, func(c *changing) { c.data = append(c.data, "\n"...) }), "one\n"},
		"shrinks once":           {times(1, func(c *changing) { c.data = c.data[:4] }), "one\n"},
		"is written anew twice":  {times(2, func(c *changing) { c.data = []byte("one\nTWO") }), "one\nTWO"},
		"is written anew always": {func(c *changing) { c.data = fmt.Appendf(nil, "one\ntw%d", c.reads) }, ""},
		"shrinks always":         {func(c *changing) { c.data = c.data[:len(c.data)-1] }, ""},
	} {
		f := &changing{data: []byte("one\ntwo"), change: c.change}
		got, err := steadily(t.Context(), f)
		if string(got) != c.want || (err != nil) != (c.want == "") || f.reads > steadyTries {
			t.Errorf("%s: %q, %v after %d readings, want %q", name, got, err, f.reads, c.want)
		}
		if err != nil && err.Error() != "it changes while it is read: import it when its agent is done" {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := &changing{data: []byte("one"), change: func(c *changing) { c.data = append(c.data, "more"...) }} // no line is whole
	if _, err := steadily(t.Context(), f); err == nil {
		t.Error("half a line is a recording")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := steadily(canceled, f); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := steadily(t.Context(), broken{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, io.ErrUnexpectedEOF }
func (broken) Stat() (fs.FileInfo, error)        { return changingInfo{size: 1}, nil }

// TestImportWhileWritten imports a recording while it is written to: each time there are lines of it, and in the end all.
func TestImportWhileWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	line := `{"type":"user","sessionId":"s","message":{"role":"user","content":"` + strings.Repeat("word ", 2000) + `"}}` + "\n"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 5 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			for range 50 {
				for _, part := range []string{line[:3000], line[3000:]} {
					if _, err := f.WriteString(part); err != nil {
						written <- err
						return
					}
				}
			}
			written <- nil
		}()
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": filepath.Join(dir, "home")})
		if got := run(t.Context(), e, []string{"import", "--json", path}); got != 0 {
			t.Errorf("status %d: %s %s", got, out, said)
		}
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	e, out, said := testEnv(map[string]string{"AMBIT_HOME": filepath.Join(dir, "home")})
	if got := run(t.Context(), e, []string{"import", "--json", path}); got != 0 || !strings.Contains(out.String(), `"warnings":[]`) {
		t.Errorf("status %d: %s %s", got, out, said)
	}
	e, out, said = testEnv(map[string]string{"AMBIT_HOME": filepath.Join(dir, "home")})
	if got := run(t.Context(), e, []string{"search", "last", "not there", "--json"}); got != 0 || !strings.Contains(out.String(), "complete-miss") {
		t.Errorf("status %d: %s %s", got, out, said)
	}
	e, out, said = testEnv(map[string]string{"AMBIT_HOME": filepath.Join(dir, "home")})
	if got := run(t.Context(), e, []string{"sessions", "--json"}); got != 0 || strings.Count(out.String(), `"session":`) != 1 {
		t.Errorf("status %d: %s %s", got, out, said)
	}
}
