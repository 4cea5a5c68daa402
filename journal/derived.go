package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Derived reads a file of a session's derived state; nil when there is none.
func (d *Dir) Derived(session, name string) ([]byte, error) {
	if err := checkName(session); err != nil {
		return nil, err
	}
	f, err := d.fs.Open(path.Join(d.Folder(session), "derived", name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

// SetDerived replaces a file of a session's derived state, as a whole. It need not be durable: it can be made again.
func (d *Dir) SetDerived(session, name string, data []byte) error {
	if err := checkName(session); err != nil {
		return err
	}
	dir := path.Join(d.Folder(session), "derived")
	if err := d.fs.MkdirAll(dir); err != nil {
		return err
	}
	next := path.Join(dir, name+".next")
	if err := d.fs.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.fs.Create(next)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.fs.Rename(next, path.Join(dir, name))
}

// Present reports whether a session is there: one that is locked here, under its name and not only in files that
// somebody has removed or replaced; another, with an entry in it.
func (d *Dir) Present(ctx context.Context, session string) bool {
	if s, err := d.use(session); err == nil {
		defer s.uses.Done()
		return s.lock.Named()
	}
	_, err := d.First(ctx, session)
	return !errors.Is(err, ErrNoSession)
}

// DropDerived deletes a session's derived state.
func (d *Dir) DropDerived(session string) error {
	if err := checkName(session); err != nil {
		return err
	}
	dir := path.Join(d.Folder(session), "derived")
	names, err := d.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.fs.Remove(path.Join(dir, name)); err != nil {
			return fmt.Errorf("delete derived state: %w", err)
		}
	}
	return nil
}
