package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

var listSpec = spec{
	name: "list",
	about: "Lists a folder by name: folders end in /, and links say where they lead. With glob it lists all below the folder whose path from there is so, folders called .git excepted. " +
		"At most 1000 are listed, and it says when that is not all.",
	params: []param{
		{name: "path", kind: kindText, about: "of the folder, relative to the working folder, which is the default"},
		{name: "glob", kind: kindText, about: "such as *.go in the folder itself, or **/*_test.go at any depth; * stays within one name, ** is any number of folders"},
	},
}

// listed is how many names list returns.
const listed = 1000

func (t *toolbox) list(ctx context.Context, v values) (string, error) {
	glob := v.texts["glob"]
	if err := checkGlob(glob); err != nil {
		return "", fmt.Errorf("list: %w", err)
	}
	p, err := t.place(ctx, v, listSpec.name)
	if err != nil {
		return "", err
	}
	defer p.close()
	switch {
	case p.info == nil:
		return "", fmt.Errorf("there is no folder %q", p.name)
	case !p.info.IsDir():
		return "", fmt.Errorf("%q is no folder: read shows files", p.name)
	}
	l := names{p: p, most: t.most(readBytes)}
	if glob == "" {
		err = l.folder(ctx)
	} else {
		err = walk(ctx, p, func(name, below string, d fs.DirEntry) error {
			if below == "." || !matchPath(path.Clean(glob), below) {
				return nil
			}
			return l.add(name, name, d)
		}, &l.closed)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return "", fmt.Errorf("list %q: %w", p.name, bare(err))
	}
	return l.result(), nil
}

// names are what list has found.
type names struct {
	p      *place
	most   int
	text   strings.Builder
	n      int
	cut    bool
	closed int
}

// folder lists the one folder.
func (l *names) folder(ctx context.Context) error {
	all, err := fs.ReadDir(l.p.root.FS(), l.p.real)
	if err != nil {
		return err
	}
	for _, d := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := l.add(d.Name(), path.Join(l.p.real, d.Name()), d); err != nil {
			return err
		}
	}
	return nil
}

// add lists one.
func (l *names) add(say, name string, d fs.DirEntry) error {
	say = shown(say)
	switch {
	case d.IsDir():
		say += "/"
	case d.Type()&fs.ModeSymlink != 0:
		if to, err := l.p.root.Readlink(name); err == nil {
			say += " -> " + shown(to)
		}
	}
	if l.n == listed || l.text.Len()+len(say)+1 > l.most {
		l.cut = true
		return errEnough
	}
	l.n++
	l.text.WriteString(say + "\n")
	return nil
}

func (l *names) result() string {
	if l.n == 0 && !l.cut {
		l.text.WriteString("(nothing)\n")
	}
	if l.cut {
		fmt.Fprintf(&l.text, "(there are more than these %d: narrow the path or the glob)\n", l.n)
	}
	if l.closed > 0 {
		fmt.Fprintf(&l.text, "(%d folders could not be opened)\n", l.closed)
	}
	return l.text.String()
}
