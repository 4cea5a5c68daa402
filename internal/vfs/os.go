package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	fileMode   fs.FileMode = 0o600
	folderMode fs.FileMode = 0o700
)

// OS is the operating system's file system. Names are relative to the working folder unless they are absolute.
// Its errors are the os package's.
type OS struct{}

var _ FS = OS{}

// Open implements FS. A folder is refused.
func (OS) Open(name string) (File, error) { return openFile(name, os.O_RDONLY) }

// Edit implements FS. A folder is refused.
func (OS) Edit(name string) (File, error) { return openFile(name, os.O_RDWR) }

// Create implements FS.
func (OS) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	// The umask may have taken bits away.
	if err := f.Chmod(fileMode); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(name))
	}
	return osFile{f}, nil
}

// Rename implements FS. A folder is never replaced.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements FS.
func (OS) Remove(name string) error { return os.Remove(name) }

// MkdirAll implements FS. Folders that exist keep their permissions. Each folder made is a name in its parent,
// durable after SyncDir of that parent.
func (o OS) MkdirAll(dir string) error {
	err := isFolder(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := o.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, folderMode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return isFolder(dir) // somebody else made it just now
		}
		return err
	}
	return os.Chmod(dir, folderMode)
}

// List implements FS.
func (OS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// SyncDir implements FS.
func (OS) SyncDir(dir string) error {
	if err := isFolder(dir); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// osFile is *os.File with the two methods that differ; the others are promoted.
type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Sync() error { return syncFile(f.File) }

func openFile(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

func isFolder(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "stat", Path: name, Err: syscall.ENOTDIR}
	}
	return err
}

// control makes one system call on the file's descriptor, which cannot be closed and reused meanwhile, and makes it
// again when a signal interrupts it.
func control(f *os.File, op string, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return &fs.PathError{Op: op, Path: f.Name(), Err: err}
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for {
			if failed = call(int(fd)); !errors.Is(failed, syscall.EINTR) {
				return
			}
		}
	})
	if err != nil {
		failed = fs.ErrClosed // Control has no other error
	}
	if failed != nil {
		return &fs.PathError{Op: op, Path: f.Name(), Err: failed}
	}
	return nil
}
