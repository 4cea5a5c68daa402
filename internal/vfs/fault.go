package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// Op is an operation of an FS, a File or a lock.
type Op uint8

// The operations. The first nine are FS's, the next five are File's, and the last is Close of a file or a lock.
const (
	OpOpen Op = iota
	OpEdit
	OpCreate
	OpRename
	OpRemove
	OpMkdir
	OpList
	OpSyncDir
	OpLock
	OpRead
	OpWrite
	OpTruncate
	OpSync
	OpSize
	OpClose
)

// String returns the name that error texts use.
func (op Op) String() string {
	names := [...]string{
		"open", "edit", "create", "rename", "remove", "mkdir", "list", "syncdir", "lock",
		"read", "write", "truncate", "sync", "size", "close",
	}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

// Fault is a file system whose operations fail when Inject says so.
//
// The error comes wrapped in an *fs.PathError, and the operation is not done, with two exceptions: a write writes the
// first half of its bytes, as a disk that fills up does, and a close closes.
type Fault struct {
	// FS does the operations. It must not change.
	FS FS
	// Inject is asked before each operation, perhaps by several goroutines at once; an error of it makes the operation
	// fail. The name is the one that the file was opened by; for a rename, the old one. Nil injects nothing. Once the
	// Fault is in use, change it by SetInject only.
	Inject func(op Op, name string) error

	mu  sync.Mutex // guards Inject and ops
	ops int
}

var _ FS = (*Fault)(nil)

// SetInject replaces Inject. Operations that have already asked the old one are not affected.
func (f *Fault) SetInject(inject func(op Op, name string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Inject = inject
}

// Ops returns how many operations there were, failed ones included. Run once without faults, it bounds the n for which
// Nth can have an effect.
func (f *Fault) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Nth returns an injector that fails the n-th operation it is asked about, counted from 0, and no other. Operations of
// every kind count, as they do in Ops.
func Nth(n int, err error) func(Op, string) error {
	var next atomic.Int64
	return func(Op, string) error {
		if next.Add(1)-1 == int64(n) {
			return err
		}
		return nil
	}
}

// From returns an injector that fails the n-th operation it is asked about, counted from 0, and all after it.
func From(n int, err error) func(Op, string) error {
	var next atomic.Int64
	return func(Op, string) error {
		if next.Add(1)-1 >= int64(n) {
			return err
		}
		return nil
	}
}

// fault counts an operation and returns its injected error.
func (f *Fault) fault(op Op, name string) error {
	f.mu.Lock()
	f.ops++
	inject := f.Inject
	f.mu.Unlock()
	if inject == nil {
		return nil
	}
	if err := inject(op, name); err != nil {
		return &fs.PathError{Op: op.String(), Path: name, Err: err}
	}
	return nil
}

// Open implements FS.
func (f *Fault) Open(name string) (File, error) { return f.open(OpOpen, name, f.FS.Open) }

// Edit implements FS.
func (f *Fault) Edit(name string) (File, error) { return f.open(OpEdit, name, f.FS.Edit) }

// Create implements FS.
func (f *Fault) Create(name string) (File, error) { return f.open(OpCreate, name, f.FS.Create) }

func (f *Fault) open(op Op, name string, open func(string) (File, error)) (File, error) {
	if err := f.fault(op, name); err != nil {
		return nil, err
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{file: file, fault: f, name: name}, nil
}

// Rename implements FS.
func (f *Fault) Rename(from, to string) error {
	if err := f.fault(OpRename, from); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

// Remove implements FS.
func (f *Fault) Remove(name string) error {
	if err := f.fault(OpRemove, name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

// MkdirAll implements FS.
func (f *Fault) MkdirAll(dir string) error {
	if err := f.fault(OpMkdir, dir); err != nil {
		return err
	}
	return f.FS.MkdirAll(dir)
}

// List implements FS.
func (f *Fault) List(dir string) ([]string, error) {
	if err := f.fault(OpList, dir); err != nil {
		return nil, err
	}
	return f.FS.List(dir)
}

// SyncDir implements FS.
func (f *Fault) SyncDir(dir string) error {
	if err := f.fault(OpSyncDir, dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

// Lock implements FS.
func (f *Fault) Lock(name string, holder []byte) (Lock, error) {
	if err := f.fault(OpLock, name); err != nil {
		return nil, err
	}
	lock, err := f.FS.Lock(name, holder)
	if err != nil {
		return nil, err
	}
	return &faultLock{lock: lock, fault: f, name: name}, nil
}

func (f *Fault) close(c io.Closer, name string) error {
	injected := f.fault(OpClose, name)
	if err := c.Close(); injected == nil {
		return err
	}
	return injected
}

type faultLock struct {
	lock  Lock
	fault *Fault
	name  string
}

// Named implements Lock.
func (l *faultLock) Named() bool { return l.lock.Named() }

func (l *faultLock) Close() error { return l.fault.close(l.lock, l.name) }

type faultFile struct {
	file  File
	fault *Fault
	name  string
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fault.fault(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, off)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fault.fault(OpWrite, f.name); err != nil {
		n, _ := f.file.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.file.WriteAt(p, off)
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.fault.fault(OpTruncate, f.name); err != nil {
		return err
	}
	return f.file.Truncate(size)
}

func (f *faultFile) Sync() error {
	if err := f.fault.fault(OpSync, f.name); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *faultFile) Size() (int64, error) {
	if err := f.fault.fault(OpSize, f.name); err != nil {
		return 0, err
	}
	return f.file.Size()
}

func (f *faultFile) Close() error { return f.fault.close(f.file, f.name) }
