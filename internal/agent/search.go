package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	searchLines = 500
	searchBytes = 256 << 10
	mostSought  = 16 << 20 // bytes of a file
	sightBefore = 100      // bytes of a long line in front of what matches
	sight       = 500      // bytes of a long line
)

var searchSpec = spec{
	name: "search",
	about: "Finds the lines that match a regular expression (RE2) in a file, or in all files under a folder, and returns them as path:line: text, by path. " +
		"At most 500 lines and 256 KiB are returned, and it says when that is not all. Folders called .git, links, binary files and files over 16 MiB are passed over.",
	params: []param{
		{name: "pattern", kind: kindText, required: true, about: "the regular expression, matched against one line at a time; (?i) at its beginning ignores case"},
		{name: "path", kind: kindText, about: "of the file or folder, relative to the working folder; default all of it"},
		{name: "glob", kind: kindText, about: "only files whose path below the folder is so: *.go at any depth, or docs/**/*.md; * stays within one name, ** is any number of folders"},
	},
}

func (t *toolbox) search(ctx context.Context, v values) (string, error) {
	re, err := regexp.Compile(v.texts["pattern"])
	if err != nil {
		return "", fmt.Errorf("search: the argument \"pattern\" is no regular expression: %w", err)
	}
	glob := v.texts["glob"]
	if err := checkGlob(glob); err != nil {
		return "", fmt.Errorf("search: %w", err)
	}
	if glob != "" && !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	p, err := t.place(ctx, v, searchSpec.name, readSpec.name)
	if err != nil {
		return "", err
	}
	defer p.close()
	if p.info == nil {
		return "", fmt.Errorf("there is no file or folder %q", p.name)
	}
	s := seeking{t: t, p: p, re: re, most: t.most(searchBytes)}
	err = walk(ctx, p, func(name, below string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || glob != "" && below != "." && !matchPath(glob, below) {
			return nil
		}
		return s.file(name)
	}, &s.closed)
	if err != nil && !errors.Is(err, errEnough) {
		return "", fmt.Errorf("search %q: %w", p.name, bare(err))
	}
	return s.result(), nil
}

// errEnough ends a walk that has found enough.
var errEnough = errors.New("enough is found")

// walk visits what is at a place and below, by name, but for folders called .git. Below is the path from the place on. Those
// that cannot be read are counted.
func walk(ctx context.Context, p *place, visit func(name, below string, d fs.DirEntry) error, closed *int) error {
	return fs.WalkDir(p.root.FS(), p.real, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name == p.real:
			return err
		case err != nil:
			*closed++
			return nil
		case d.Name() == ".git" && name != p.real && d.IsDir():
			return fs.SkipDir
		}
		below := "."
		if name != p.real {
			below = strings.TrimPrefix(name, strings.TrimPrefix(p.real+"/", "./"))
		}
		return visit(name, below, d)
	})
}

// seeking is what a search has found.
type seeking struct {
	t    *toolbox
	p    *place
	re   *regexp.Regexp
	most int

	text    strings.Builder
	lines   int
	cut     bool // there is more
	refused int  // files that the rules do not let be read
	large   int
	closed  int // files and folders that cannot be opened
}

// file looks through one file. Those that nobody has permitted are passed over: a search does not ask about each.
func (s *seeking) file(name string) error {
	for _, tool := range []string{searchSpec.name, readSpec.name} {
		switch a := s.t.rules.Decide(tool, name).Action; {
		case a == Deny, a == Ask && !s.p.answered:
			s.refused++
			return nil
		}
	}
	data, err := readUpTo(s.p.root, name, mostSought)
	switch {
	case err != nil:
		s.closed++
		return nil
	case len(data) > mostSought:
		s.large++
		return nil
	case bytes.IndexByte(data, 0) >= 0:
		return nil
	}
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		at := s.re.FindIndex(line)
		if at == nil {
			continue
		}
		found := fmt.Sprintf("%s:%d: %s\n", shown(name), n, excerpt(line, at[0]))
		if s.lines == searchLines || s.text.Len()+len(found) > s.most {
			s.cut = true
			return errEnough
		}
		s.lines++
		s.text.WriteString(found)
	}
	return nil
}

// excerpt is a line, or what of a long one stands around a place.
func excerpt(line []byte, at int) string {
	if len(line) <= sight {
		return valid(string(line))
	}
	from := max(0, min(at-sightBefore, len(line)-sight))
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	part := line[from : from+sight]
	text := valid(string(part[:runes(part)])) + "…"
	if from > 0 {
		text = "…" + text
	}
	return text
}

// result says what was found, and what was not looked at.
func (s *seeking) result() string {
	if s.lines == 0 && !s.cut {
		s.text.WriteString("(no match)\n")
	}
	if s.cut {
		fmt.Fprintf(&s.text, "(there are more than these %d lines: narrow the pattern, the path or the glob)\n", s.lines)
	}
	count := func(n int, what string) {
		if n > 0 {
			fmt.Fprintf(&s.text, "(%d %s)\n", n, what)
		}
	}
	count(s.refused, "files were left out, which may not be read unasked: read asks")
	count(s.large, "files were passed over, which are larger than 16 MiB")
	count(s.closed, "files or folders could not be opened")
	return s.text.String()
}
