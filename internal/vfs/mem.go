package vfs

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Mem is a file system in memory that knows what is durable. A file's bytes and length are durable as of its last
// Sync, a name as of the last SyncDir of its folder; everything later is pending, in order, and Crash decides over it.
// Names are rooted: "a" and "/a" are the same. Errors are those of a POSIX system, with two differences: a folder
// cannot be moved into another folder, and a file cannot grow beyond 1 GiB.
//
// A rename between two folders is pending in each of them on its own: when only the old folder is synced, a crash
// may lose the file; when only the new one is, the file may have both names.
type Mem struct {
	mu    sync.Mutex // guards the whole tree
	root  *folder
	syncs int
}

var _ FS = (*Mem)(nil)

// NewMem returns an empty file system, which has only the root folder.
func NewMem() *Mem { return &Mem{root: newFolder()} }

// Syncs returns how many calls of File.Sync have succeeded. It starts at zero after a Crash.
func (m *Mem) Syncs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.syncs
}

// Open implements FS.
func (m *Mem) Open(name string) (File, error) { return m.open(name, false) }

// Edit implements FS.
func (m *Mem) Edit(name string) (File, error) { return m.open(name, true) }

func (m *Mem) open(name string, edit bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.file(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &handle{mem: m, file: f, name: name, edit: edit}, nil
}

// Create implements FS.
func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.create(name)
	if err != nil {
		return nil, pathError("create", name, err)
	}
	return &handle{mem: m, file: f, name: name, edit: true}, nil
}

// Rename implements FS. A folder is never replaced.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func (m *Mem) rename(from, to string) error {
	src, old, err := m.parent(from)
	if err != nil {
		return err
	}
	dst, name, err := m.parent(to)
	if err != nil {
		return err
	}
	moved, found := src.names[old]
	over, taken := dst.names[name]
	_, movesFolder := moved.(*folder)
	_, overFolder := over.(*folder)
	switch {
	case !found:
		return fs.ErrNotExist
	case overFolder:
		return fs.ErrExist
	case moved == over:
		return nil // one file, if need be by two names: POSIX keeps both
	case movesFolder && taken:
		return syscall.ENOTDIR
	case movesFolder && src != dst:
		return syscall.EXDEV // folders synced apart could survive inside each other
	case src == dst:
		src.change(change{from: old, to: name, node: moved})
	default:
		dst.change(change{to: name, node: moved})
		src.change(change{from: old})
	}
	return nil
}

// Remove implements FS. A file that is open stays usable.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent(name)
	if err != nil {
		return pathError("remove", name, err)
	}
	n, ok := dir.names[base]
	if !ok {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if f, ok := n.(*folder); ok && len(f.names) > 0 {
		return pathError("remove", name, syscall.ENOTEMPTY)
	}
	dir.change(change{from: base})
	return nil
}

// MkdirAll implements FS. Each folder made is a name in its parent, durable after SyncDir of that parent.
func (m *Mem) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.root
	for _, name := range split(dir) {
		n, ok := at.names[name]
		if !ok {
			n = newFolder()
			at.change(change{to: name, node: n})
		}
		if at, ok = n.(*folder); !ok {
			return pathError("mkdir", dir, syscall.ENOTDIR)
		}
	}
	return nil
}

// List implements FS.
func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.folder(split(dir))
	if err != nil {
		return nil, pathError("list", dir, err)
	}
	return slices.Sorted(maps.Keys(f.names)), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.folder(split(dir))
	if err != nil {
		return pathError("syncdir", dir, err)
	}
	f.sync()
	return nil
}

// Lock implements FS. The lock is the file's, whatever its name becomes, and ends with a Crash. The holder's bytes are
// an unsynced write.
func (m *Mem) Lock(name string, holder []byte) (Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.file(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = m.create(name)
	}
	if err != nil {
		return nil, pathError("lock", name, err)
	}
	if f.locked {
		return nil, &LockedError{Name: name, Holder: bytes.Clone(f.data)}
	}
	f.locked = true
	f.change(edit{cut: true})
	f.change(edit{bytes: bytes.Clone(holder)})
	return &memLock{mem: m, file: f, name: name}, nil
}

type memLock struct {
	mem    *Mem
	file   *content
	name   string
	closed bool
}

// Named implements Lock.
func (l *memLock) Named() bool {
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	f, err := l.mem.file(l.name)
	return err == nil && f == l.file
}

func (l *memLock) Close() error {
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	if l.closed {
		return pathError("unlock", l.name, fs.ErrClosed)
	}
	l.closed, l.file.locked = true, false
	return nil
}

// node is what a name stands for: a *folder or a *content.
type node interface{ sync() }

// folder is the names in it: as everybody sees them, and as a crash leaves them when all that is pending is lost.
type folder struct {
	names   map[string]node
	synced  map[string]node
	pending []change
}

// change is one step of a folder: it takes a name away, gives a node a name, or both at once. An empty name is none.
type change struct {
	from string
	to   string
	node node
}

func newFolder() *folder {
	return &folder{names: map[string]node{}, synced: map[string]node{}}
}

func (f *folder) change(c change) {
	c.apply(f.names)
	f.pending = append(f.pending, c)
}

func (f *folder) sync() {
	for _, c := range f.pending {
		c.apply(f.synced)
	}
	f.pending = nil
}

func (c change) apply(names map[string]node) {
	delete(names, c.from)
	if c.to != "" {
		names[c.to] = c.node
	}
}

// create, and the look-ups below, return bare errors; the caller has the lock and adds the path.
func (m *Mem) create(name string) (*content, error) {
	dir, base, err := m.parent(name)
	if err != nil {
		return nil, err
	}
	if _, ok := dir.names[base]; ok {
		return nil, fs.ErrExist
	}
	f := &content{}
	dir.change(change{to: base, node: f})
	return f, nil
}

func (m *Mem) file(name string) (*content, error) {
	if len(split(name)) == 0 {
		return nil, syscall.EISDIR
	}
	dir, base, err := m.parent(name)
	if err != nil {
		return nil, err
	}
	switch n := dir.names[base].(type) {
	case *content:
		return n, nil
	case *folder:
		return nil, syscall.EISDIR
	}
	return nil, fs.ErrNotExist
}

// parent returns the folder that holds a name, which need not exist, and the name's last part.
func (m *Mem) parent(name string) (*folder, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", fs.ErrInvalid // the root folder is in no folder
	}
	last := len(parts) - 1
	dir, err := m.folder(parts[:last])
	return dir, parts[last], err
}

func (m *Mem) folder(parts []string) (*folder, error) {
	at := m.root
	for _, part := range parts {
		n, ok := at.names[part]
		if !ok {
			return nil, fs.ErrNotExist
		}
		if at, ok = n.(*folder); !ok {
			return nil, syscall.ENOTDIR
		}
	}
	return at, nil
}

func split(name string) []string {
	clean := path.Clean("/" + name)[1:]
	if clean == "" {
		return nil
	}
	return strings.Split(clean, "/")
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}
