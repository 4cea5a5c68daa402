package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

var writeSpec = spec{
	name: "write",
	about: "Writes a whole file, in place of what was there. Folders that are missing are made, and the permissions of a file that exists are kept. " +
		"To change a part of a file use edit.",
	params: []param{
		{name: "path", kind: kindText, required: true, about: "of the file, relative to the working folder"},
		{name: "content", kind: kindText, required: true, empty: true, about: "all of the file"},
	},
}

func (t *toolbox) write(ctx context.Context, v values) (string, error) {
	p, err := t.place(ctx, v, writeSpec.name)
	if err != nil {
		return "", err
	}
	defer p.close()
	did := "created"
	if p.info != nil {
		did = "replaced"
		if err := p.file(); err != nil {
			return "", err
		}
	}
	content := v.texts["content"]
	if err := p.replace([]byte(content)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s: %d bytes\n", did, shown(p.name), len(content)), nil
}

// replace puts a file where the place is: all of it, or what was there stays.
func (p *place) replace(data []byte) error {
	if p.real == "." {
		return fmt.Errorf("%q is the working folder", p.name)
	}
	if p.info != nil && p.info.Mode()&0o200 == 0 {
		return fmt.Errorf("write %q: it is read-only", p.name)
	}
	if err := p.root.MkdirAll(path.Dir(p.real), 0o777); err != nil {
		return fmt.Errorf("make the folder of %q: %w", p.name, bare(err))
	}
	beside := path.Join(path.Dir(p.real), ".ambit-"+rand.Text()+".tmp")
	err := p.fill(beside, data)
	if err == nil {
		err = p.root.Rename(beside, p.real)
	}
	if err != nil {
		_ = p.root.Remove(beside)
		return fmt.Errorf("write %q: %w", p.name, bare(err))
	}
	return nil
}

// fill makes a file with the mode that the place has, or else that new files have.
func (p *place) fill(name string, data []byte) error {
	f, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if p.info != nil {
		err = errors.Join(err, f.Chmod(p.info.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)))
	}
	if err == nil {
		err = f.Sync() // or the name could be durable before the bytes are
	}
	return errors.Join(err, f.Close())
}
