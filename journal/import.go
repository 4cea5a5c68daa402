package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"ambit/entry"
	"ambit/internal/vfs"
)

// ErrChanged says that an export is not what it was when it was read before.
var ErrChanged = errors.New("the export has changed while it was read")

// seals reports whether a fact is the last of its session: the session was imported from an export.
func seals(f entry.Fact) bool {
	i, ok := f.(*entry.Imported)
	return ok && i.Format == entry.FormatAmbit && i.Body == nil
}

// purges reports whether a fact says that all bodies of its session are gone; it may stand behind the last one.
func purges(f entry.Fact) bool {
	p, ok := f.(*entry.Purged)
	return ok && p.Of == 0
}

// Import makes a session of an export: its frames as they stand, so that numbers, refs, revisions and the chain are the
// same, then an Imported entry that says so, of the file of a name. read is what ReadExport found in the same file. The
// session is called read.Name or, where that is taken, by it and the next free number: NAME-2, NAME-3 and so on.
//
// Where a session by one of these names already holds all that was read, imported or recorded here, no other is made,
// and that one is returned; its bodies are not looked at. After a crash, as after an error, there is the whole session
// or none; only when what fails is the last sync may it be there, whole, with an error. A file that has changed since it
// was read is ErrChanged. Two imports of one name at a time, also in two processes, are one and a BusyError.
//
// The session is evidence: it takes no more entries (ErrImported). A fork can go on from it.
func (d *Dir) Import(ctx context.Context, export io.ReaderAt, read Exported, file string) (session string, made bool, err error) {
	if err := checkName(read.Name); err != nil {
		return "", false, err
	}
	if read.Entries == 0 {
		return "", false, errors.New("import nothing")
	}
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return "", false, ErrClosed
	}
	if session, err = d.holding(ctx, read); session != "" || err != nil {
		return session, false, err
	}
	s, err := d.stage(read.Name)
	if err != nil {
		return "", false, fmt.Errorf("import session %q: %w", read.Name, err)
	}
	if session, err = d.holding(ctx, read); session == "" && err == nil { // another process may have been quicker
		if err = s.fill(ctx, export, read, file); err == nil {
			session, err = s.publish(read.Name)
		}
		made = err == nil
	}
	if err := errors.Join(err, s.close()); err != nil {
		return "", false, fmt.Errorf("import session %q: %w", read.Name, err)
	}
	return session, made, nil
}

// numbered is the nth name for a session that is to have a name.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	suffix := fmt.Sprint("-", n)
	return name[:min(len(name), maxName-len(suffix))] + suffix
}

// holding looks for a session that holds all that was read of an export, among those that may have its name.
func (d *Dir) holding(ctx context.Context, read Exported) (session string, err error) {
	sessions := path.Join(d.root, "sessions")
	names, err := d.fs.List(sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for n := range names {
		name := numbered(read.Name, n+1)
		if _, there := slices.BinarySearch(names, name); !there {
			continue
		}
		if holds, err := d.holds(ctx, name, read); err != nil {
			return "", err
		} else if holds {
			return name, d.fs.SyncDir(sessions) // which the process that made it may not have come to
		}
	}
	return "", nil
}

// holds reports whether a session holds the entries of an export, readable up to the last. That is compared first.
func (d *Dir) holds(ctx context.Context, name string, read Exported) (bool, error) {
	for _, after := range []entry.Seq{read.Last - 1, 0} {
		same := false
		for f, err := range d.Read(ctx, name, after) {
			if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNoSession) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if f.Seq == read.Last {
				same = f.Sum == read.Sum
				break
			}
		}
		if !same {
			return false, nil
		}
	}
	return true, nil
}

// staged is the beginning of the names of folders in which sessions are made; it is in no session's name.
const staged = ".importing-"

// staging is a session that is being made, in a folder that has no session's name yet. Its lock becomes the session's.
type staging struct {
	d    *Dir
	dir  string
	lock vfs.Lock
	done bool // it has its name

	log   *literals
	file  vfs.File
	size  int64 // of file, without lines
	lines []byte
	more  bool // the last frame's append goes on
}

// stage makes the folder in which a session of a name is made, and takes away what others have left that died.
func (d *Dir) stage(name string) (*staging, error) {
	sessions := path.Join(d.root, "sessions")
	s := &staging{d: d, dir: path.Join(sessions, staged+name)}
	if err := s.hold(name); err != nil {
		return nil, err
	}
	if err := s.empty(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	names, err := d.fs.List(sessions)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	for _, other := range names {
		if left := path.Join(sessions, other); strings.HasPrefix(other, staged) && left != s.dir {
			d.sweep(left)
		}
	}
	s.log = &literals{fs: d.fs, name: path.Join(s.dir, "bodies", "literals.log"), codec: d.codec, own: true}
	return s, nil
}

// hold makes the folder and takes its lock. The folder of an import that ends meanwhile gets another name, or goes.
func (s *staging) hold(name string) error {
	busy := &BusyError{Session: name}
	for range 10 {
		err := s.d.fs.MkdirAll(s.dir)
		if err == nil {
			s.lock, err = s.d.fs.Lock(path.Join(s.dir, "lock"), s.d.holder)
		}
		var held *vfs.LockedError
		switch {
		case errors.As(err, &held):
			_ = json.Unmarshal(held.Holder, &busy.Holder)
			return busy
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case s.lock.Named():
			return nil
		default:
			if err := s.lock.Close(); err != nil {
				return err
			}
		}
	}
	return busy
}

// sweep takes a folder away in which nobody is making a session any more. What cannot be taken away stays.
func (d *Dir) sweep(dir string) {
	lock, err := d.fs.Lock(path.Join(dir, "lock"), d.holder)
	if err != nil {
		return
	}
	if !lock.Named() { // the folder has got its name, or is another one by now
		_ = lock.Close()
		return
	}
	left := &staging{d: d, dir: dir, lock: lock}
	_ = left.close()
}

// empty takes away all that the folder has but its lock.
func (s *staging) empty() error {
	for _, sub := range []string{"entries", "bodies"} {
		dir := path.Join(s.dir, sub)
		names, err := s.d.fs.List(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := s.d.fs.Remove(path.Join(dir, name)); err != nil {
				return err
			}
		}
		if err := s.d.fs.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// close gives the session up, and takes it away when it was not made.
func (s *staging) close() error {
	var errs []error
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.close())
	}
	if !s.done {
		err := s.empty()
		if err == nil {
			err = s.d.fs.Remove(path.Join(s.dir, "lock"))
		}
		if err == nil {
			err = s.d.fs.Remove(s.dir)
		}
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrNotExist) {
			err = nil // the next import has it already
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Discard takes away the folder of a session that holds no entry, with what an append that failed has left in it. The
// session must not be locked; one that holds an entry stays, and is an error.
func (d *Dir) Discard(ctx context.Context, session string) error {
	if err := checkName(session); err != nil {
		return err
	}
	s := &staging{d: d, dir: d.Folder(session)}
	if err := s.hold(session); err != nil {
		return err
	}
	if _, err := d.First(ctx, session); !errors.Is(err, ErrNoSession) {
		s.done = true
		return errors.Join(fmt.Errorf("discard session %q: it is not empty", session), err, s.close())
	}
	return s.close()
}

// sweepImports takes away what imports have left that died: folders without an entry that nobody holds. What cannot be
// taken away stays.
func (d *Dir) sweepImports() {
	ctx := context.Background()
	names, err := d.fs.List(path.Join(d.root, "sessions"))
	if err != nil {
		return
	}
	for _, name := range names {
		if checkName(name) != nil {
			continue
		}
		if _, err := d.First(ctx, name); errors.Is(err, ErrNoSession) {
			_ = d.Discard(ctx, name)
		}
	}
}

// LockImports makes the caller the one that imports into the store, so that the same recording does not become two
// sessions. While another process does, it is ErrImporting. The lock's file stays empty, so that an import of what is there
// already changes nothing. What an import has left that died is taken away.
func (d *Dir) LockImports() (unlock func() error, err error) {
	lock, err := d.fs.Lock(path.Join(d.root, "importing"), nil)
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil, ErrImporting
	case err != nil:
		return nil, fmt.Errorf("lock imports: %w", err)
	}
	d.sweepImports()
	return lock.Close, nil
}

// fill writes the session, durably.
func (s *staging) fill(ctx context.Context, export io.ReaderAt, read Exported, file string) error {
	for _, sub := range []string{"entries", "bodies"} {
		if err := s.d.fs.MkdirAll(path.Join(s.dir, sub)); err != nil {
			return err
		}
	}
	x := newExportReader(export)
	err := x.read(ctx, read.end, taker{body: s.body, frame: s.frame})
	if errors.Is(err, ErrCorrupt) {
		return errors.Join(ErrChanged, err)
	}
	if err == nil {
		err = x.drain(ctx)
	}
	if err != nil {
		return err
	}
	if x.file.size != read.Size || x.file.sum() != read.SHA256 || x.chain.prev != read.Sum {
		return ErrChanged
	}
	fact := &entry.Imported{Format: entry.FormatAmbit, Name: file, Lines: read.Lines, SHA256: read.SHA256}
	encoded, err := entry.Encode(entry.Entry{Time: s.d.now().UTC(), Fact: fact})
	if err != nil {
		return err
	}
	line, _ := appendFrame(nil, x.chain.next, false, x.chain.prev, encoded)
	if len(line) > MaxFrame {
		return fmt.Errorf("a frame of %d bytes: %w", len(line), ErrTooLarge)
	}
	if err := s.frame(Frame{Entry: entry.Entry{Seq: x.chain.next}, Line: bytes.TrimSuffix(line, []byte("\n"))}); err != nil {
		return err
	}
	return s.sync()
}

// body stores a body, once.
func (s *staging) body(b entry.Body, bytes []byte) error {
	if _, err := s.log.find(b); err == nil {
		return nil
	}
	_, err := s.log.put(bytes)
	return err
}

// frame stores a frame as it stands.
func (s *staging) frame(f Frame) error {
	if s.file == nil || !s.more && s.size+int64(len(s.lines)) >= s.d.rotate {
		if err := s.rotate(f.Seq); err != nil {
			return err
		}
	}
	s.lines = append(append(s.lines, f.Line...), '\n')
	s.more = f.More
	if len(s.lines) > MaxFrame {
		return s.flush()
	}
	return nil
}

// rotate begins a file of entries.
func (s *staging) rotate(first entry.Seq) error {
	if err := s.finish(); err != nil {
		return err
	}
	f, err := s.d.fs.Create(path.Join(s.dir, "entries", segmentName(first)))
	if err != nil {
		return err
	}
	s.file, s.size = f, 0
	return nil
}

// finish makes the file of entries durable and closes it.
func (s *staging) finish() error {
	if s.file == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	err := s.file.Close()
	s.file = nil
	return err
}

func (s *staging) flush() error {
	n, err := s.file.WriteAt(s.lines, s.size)
	s.size, s.lines = s.size+int64(n), s.lines[:0]
	return err
}

// sync makes all that was written durable, but for the folder's name.
func (s *staging) sync() error {
	if err := s.finish(); err != nil {
		return err
	}
	if n := len(s.log.records); n > 0 {
		if err := s.log.sync(s.log.records[n-1].at); err != nil {
			return err
		}
	}
	for _, dir := range []string{"entries", "bodies", "."} {
		if err := s.d.fs.SyncDir(path.Join(s.dir, dir)); err != nil {
			return err
		}
	}
	return s.d.anchor()
}

// publish gives the session the first name that is free. That replaces nothing: what has a name has a folder, and a
// folder that holds anything is not replaced.
func (s *staging) publish(name string) (session string, err error) {
	for n := 1; ; n++ {
		session = numbered(name, n)
		taken, err := s.d.taken(session)
		if err == nil && !taken {
			err = s.d.fs.Rename(s.dir, s.d.Folder(session))
			if err == nil {
				break
			}
			if now, terr := s.d.taken(session); terr == nil && now {
				continue // somebody was quicker
			}
		}
		if err != nil {
			return "", err
		}
	}
	s.done = true
	s.d.mu.Lock()
	if l := s.d.readers[session]; l != nil { // of a session that somebody has removed
		l.drop()
		delete(s.d.readers, session)
	}
	s.d.mu.Unlock()
	return session, s.d.fs.SyncDir(path.Dir(s.dir))
}

// taken reports whether a session's folder is there, with a session in it or without.
func (d *Dir) taken(session string) (bool, error) {
	_, err := d.fs.List(d.Folder(session))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, err
}

// tailLook is how much of the end of a file Imported looks at, in bytes: more than an Imported and some Purged take.
const tailLook = 64 << 10

// Imported reports whether a session was imported from an export, so that it takes no more entries. It reads the end of
// the newest file only.
func (d *Dir) Imported(ctx context.Context, session string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s, err := d.use(session); err == nil {
		defer s.uses.Done()
		return s.sealed.Load(), nil
	}
	p, err := d.part(session)
	if err != nil {
		return false, err
	}
	for _, file := range slices.Backward(p.files) {
		tail, err := d.ending(file.path)
		if err != nil {
			return false, err
		}
		for len(tail) > 0 {
			at := bytes.LastIndexByte(tail[:len(tail)-1], '\n') + 1
			f, err := parseFrame(tail[at : len(tail)-1])
			if err != nil || !purges(f.Fact) {
				return err == nil && seals(f.Fact), nil
			}
			tail = tail[:at]
		}
	}
	return false, nil
}

// ending reads the end of a file of entries, up to its last line end.
func (d *Dir) ending(name string) ([]byte, error) {
	f, err := d.fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	tail := make([]byte, min(size, tailLook))
	if n, err := f.ReadAt(tail, size-int64(len(tail))); n < len(tail) && err != nil && err != io.EOF {
		return nil, err
	}
	return tail[:bytes.LastIndexByte(tail, '\n')+1], nil
}
