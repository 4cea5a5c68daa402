package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// place is a path in the working folder that a tool was permitted to use.
type place struct {
	root     *os.Root
	name     string      // as it was given, relative and clean
	real     string      // links followed; what is used, so that nothing else was permitted than is done
	info     fs.FileInfo // nil where there is nothing yet
	answered bool        // somebody was asked and said yes
}

func (p *place) close() { _ = p.root.Close() }

// place finds the path that a call names, and has it permitted for all the tools. The caller closes it.
func (t *toolbox) place(ctx context.Context, v values, tools ...string) (*place, error) {
	given := v.texts["path"]
	if given == "" {
		given = "."
	}
	name, err := t.relative(given)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.real)
	if err != nil {
		return nil, fmt.Errorf("open the working folder: %w", bare(err))
	}
	p := &place{root: root, name: name}
	if p.real, p.info, err = follow(root, name); err == nil {
		p.answered, err = t.permit(ctx, v, tools, name, p.real)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// relative is a path as it stands in the working folder.
func (t *toolbox) relative(given string) (string, error) {
	if strings.ContainsRune(given, 0) {
		return "", fmt.Errorf("the path %q holds a zero byte", given)
	}
	name := path.Clean(filepath.ToSlash(given))
	if filepath.IsAbs(given) {
		name = ".."
		for _, dir := range []string{t.dir, t.real} {
			if rel, err := filepath.Rel(dir, given); err == nil && filepath.IsLocal(rel) {
				name = filepath.ToSlash(rel)
			}
		}
	}
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", fmt.Errorf("%q is outside the working folder, which no file tool leaves", given)
	}
	return name, nil
}

// mostLinks is how many links a path may lead through.
const mostLinks = 40

// follow resolves the links of a path. What does not exist has no info, and no links.
func follow(root *os.Root, name string) (real string, info fs.FileInfo, err error) {
	rest, done, links := strings.Split(name, "/"), []string(nil), 0
	if _, err = root.Lstat("."); err != nil {
		return "", nil, fmt.Errorf("open the working folder: %w", bare(err))
	}
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case ".", "":
			continue
		case "..": // only a link can say so, and its folder has been resolved
			if len(done) == 0 {
				return "", nil, fmt.Errorf("%q is a link that leaves the working folder, which no file tool does", name)
			}
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(append(done, part)...)
		info, err = root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path.Join(append([]string{at}, rest...)...), nil, within(name, rest)
		case err != nil:
			return "", nil, fmt.Errorf("look at %q: %w", name, bare(err))
		case info.Mode()&fs.ModeSymlink == 0:
			done = append(done, part)
			continue
		}
		if links++; links > mostLinks {
			return "", nil, fmt.Errorf("%q leads through more than %d links", name, mostLinks)
		}
		to, err := root.Readlink(at)
		if err != nil {
			return "", nil, fmt.Errorf("look at %q: %w", name, bare(err))
		}
		if path.IsAbs(to) || filepath.IsAbs(to) {
			return "", nil, fmt.Errorf("%q is a link that leaves the working folder, which no file tool does (it leads to %q)", name, to)
		}
		rest = append(strings.Split(filepath.ToSlash(to), "/"), rest...)
	}
	if real = path.Join(done...); real == "" {
		real = "."
	}
	info, err = root.Lstat(real)
	return real, info, err
}

// within refuses to go back up from what is not there.
func within(name string, rest []string) error {
	for _, part := range rest {
		if part == ".." {
			return fmt.Errorf("%q is a link that leads nowhere", name)
		}
	}
	return nil
}

// file refuses what is no ordinary file.
func (p *place) file() error {
	switch {
	case p.info == nil:
		return fmt.Errorf("there is no file %q", p.name)
	case p.info.IsDir():
		return fmt.Errorf("%q is a folder: list shows what is in it", p.name)
	case !p.info.Mode().IsRegular():
		return fmt.Errorf("%q is no ordinary file", p.name)
	}
	return nil
}

// whole reads an ordinary file that is not too large.
func (p *place) whole(most int64) ([]byte, error) {
	if err := p.file(); err != nil {
		return nil, err
	}
	data, err := readUpTo(p.root, p.real, most)
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", p.name, err)
	}
	return data, nil
}

// readUpTo reads a file, and one byte more than most of a larger one.
func readUpTo(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	return data, errors.Join(bare(err), f.Close())
}

// bare is the cause of an error of the file system, without the name of the call and the path, which our sentences say.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// shown is a path as results say it: quoted where it would not stay on its line.
func shown(name string) string {
	for _, r := range name {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return strconv.Quote(name)
		}
	}
	return name
}
