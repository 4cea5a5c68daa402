//go:build unix

package vfs

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Lock implements FS with flock. The file stays when the lock ends: removing it would let two holders lock two files
// of one name. Right after the lock was taken, another process may still read what an earlier holder wrote.
func (OS) Lock(name string, holder []byte) (Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = locked(f, name)
	} else if err == nil {
		err = sign(f, holder)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return osLock{f, name}, nil
}

type osLock struct {
	f    *os.File
	name string
}

// Named implements Lock.
func (l osLock) Named() bool {
	held, err := l.f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(l.name)
	return err == nil && os.SameFile(held, named)
}

// Close unlocks first: a child process that was forked a moment ago and has not yet reached exec shares the lock, and
// would hold it beyond the close.
func (l osLock) Close() error {
	return errors.Join(flock(l.f, unix.LOCK_UN), l.f.Close())
}

func flock(f *os.File, how int) error {
	return control(f, "lock", func(fd int) error { return unix.Flock(fd, how) })
}

func locked(f *os.File, name string) error {
	holder, err := io.ReadAll(f)
	if err != nil {
		holder = nil
	}
	return &LockedError{Name: name, Holder: holder}
}

func sign(f *os.File, holder []byte) error {
	if err := f.Chmod(fileMode); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(holder, 0)
	return err
}
