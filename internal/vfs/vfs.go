// Package vfs is the file system as the journal needs it: the operating system's, one in memory that can be
// cloned as a crash would leave it, and one that fails at any operation.
//
// Names are slash-separated paths. Every file system here is safe for concurrent use; a File is safe for
// concurrent ReadAt, and for one writer at a time. Folders are made 0700, files 0600.
package vfs

import (
	"errors"
	"fmt"
	"io"
)

// ErrLocked says that another process, or another holder in this one, has the lock. It comes as a LockedError.
var ErrLocked = errors.New("locked")

// LockedError is what Lock returns while somebody else holds the lock.
type LockedError struct {
	Name   string // the lock file
	Holder []byte // what the holder wrote when it took the lock; empty when that could not be read
}

func (e *LockedError) Error() string { return fmt.Sprintf("lock %q: %v", e.Name, ErrLocked) }

// Unwrap makes errors.Is(err, ErrLocked) hold.
func (e *LockedError) Unwrap() error { return ErrLocked }

// FS is a tree of files. Errors of a missing or already present name satisfy errors.Is with fs.ErrNotExist and
// fs.ErrExist, and every error names the path.
type FS interface {
	// Open opens an existing file for reading.
	Open(name string) (File, error)
	// Edit opens an existing file for reading and writing.
	Edit(name string) (File, error)
	// Create makes a new file for reading and writing, and fails when the name is taken. The name is durable
	// after SyncDir of its folder.
	Create(name string) (File, error)
	// Rename moves a file over whatever has the new name, atomically, or a folder to a name that is free, with all that
	// is in it, open or locked. It is durable after SyncDir of the folder.
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// MkdirAll makes a folder and its parents; one that exists is no error.
	MkdirAll(dir string) error
	// List returns the names in a folder, sorted.
	List(dir string) ([]string, error)
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock that the file of this name stands for, making the file when it is missing,
	// and writes holder into it for others to read. It does not wait: when the lock is held it returns a
	// LockedError. The lock ends with Close or with the process, however that dies.
	Lock(name string, holder []byte) (Lock, error)
}

// Lock is a lock that is held. Close gives it up.
type Lock interface {
	io.Closer
	// Named reports whether the file that the lock stands for still has its name. Once it was removed, or another file
	// put in its place, others can take a lock of the same name.
	Named() bool
}

// File is one open file. WriteAt writes all or returns an error with the count that was written.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size returns the file's length in bytes.
	Size() (int64, error)
	// Truncate sets the file's length; a longer one is filled with zeros.
	Truncate(size int64) error
	// Sync returns when the file's bytes and its length are durable.
	Sync() error
}
