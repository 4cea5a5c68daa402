package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ambit/entry"
	"ambit/internal/vfs"
)

// Options says how a Dir works. The zero value serves.
type Options struct {
	FS       vfs.FS           // the file system; nil means the operating system's
	Now      func() time.Time // the clock that entries are stamped by; nil means time.Now
	Holder   Holder           // who this process is, for those who find a session locked
	Existing bool             // open a store that is there, and make nothing; one that is not is fs.ErrNotExist
	Rotate   int64            // a file of entries takes no more once it has this many bytes; 0 means 16 MiB
	Progress func(Report)     // called by Check after every body with what it has found so far; nil means nobody
}

// Dir keeps sessions in files under one folder: sessions/NAME/entries, sessions/NAME/bodies and sessions/NAME/lock.
// Several processes may use the same folder.
type Dir struct {
	fs       vfs.FS
	root     string
	now      func() time.Time
	holder   []byte
	rotate   int64
	progress func(Report)
	codec    *codec

	mu       sync.Mutex
	locked   map[string]*session
	readers  map[string]*literals // logs of sessions that are not locked here
	anchored bool                 // the names above the sessions are durable
	closed   bool
}

var _ Store = (*Dir)(nil)

// maxReaders bounds the literal logs that are held open for reading.
const maxReaders = 16

// session is the writer's state of a locked session.
type session struct {
	name    string
	dir     string
	lock    vfs.Lock
	bodies  *literals
	uses    sync.WaitGroup // calls under way; the session stays locked until they end
	durable atomic.Uint64  // the last acknowledged entry
	sealed  atomic.Bool    // it was imported, and takes no more
	purged  atomic.Pointer[entry.Purged]

	queue   sync.Mutex // guards the two below
	waiting []*commit  // for the next batch
	led     bool       // a batch is being written, or its leader chosen

	// The leader's, one after another.
	seq   entry.Seq
	sum   string
	file  vfs.File
	path  string
	size  int64  // durable part of file
	dirty bool   // bytes of a failed write may stand behind size
	named bool   // the file's name is durable
	lines []byte // memory for the next batch
	body  int64  // offset of the last body that the newest entries rely on, when it was locked; -1 for none

	gone []entry.Run // literal text that entries say is gone, and that may be there yet
}

// Open opens the store in a folder, which it makes when it is missing, unless Options say otherwise.
func Open(root string, o Options) (*Dir, error) {
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rotate == 0 {
		o.Rotate = 16 << 20
	}
	holder, err := json.Marshal(o.Holder)
	if err != nil {
		return nil, err
	}
	sessions := path.Join(root, "sessions")
	if o.Existing {
		_, err = o.FS.List(sessions)
	} else {
		err = o.FS.MkdirAll(sessions)
	}
	if err != nil {
		return nil, fmt.Errorf("open the data directory: %w", err)
	}
	c, err := sharedCodec()
	if err != nil {
		return nil, err
	}
	d := &Dir{
		fs: o.FS, root: path.Clean(root), now: o.Now, holder: holder, rotate: o.Rotate, progress: o.Progress, codec: c,
		locked: make(map[string]*session), readers: make(map[string]*literals),
	}
	return d, nil
}

// OpenMemory opens a store of its own in memory: it touches no disk, and what it holds is gone with the process, or when nobody
// holds the store any more. Of Options the FS, Existing and Holder mean nothing.
func OpenMemory(o Options) (*Dir, error) {
	o.FS, o.Existing = vfs.NewMem(), false
	return Open("/", o)
}

// Close waits for appends under way, gives up all locks and closes all files.
func (d *Dir) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	open := d.locked
	readers := d.readers
	d.locked, d.readers = nil, nil
	var errs []error
	for _, l := range readers {
		errs = append(errs, l.drop())
	}
	d.mu.Unlock()
	for _, s := range open {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// Folder returns the folder of a session.
func (d *Dir) Folder(session string) string { return path.Join(d.root, "sessions", session) }

// Sessions implements Store.
func (d *Dir) Sessions(ctx context.Context) ([]string, error) {
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	names, err := d.fs.List(path.Join(d.root, "sessions"))
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var sessions []string
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if checkName(name) != nil {
			continue
		}
		// One that is damaged or cannot be read is listed: who reads it is told why, and the others are not in its way.
		if _, err := d.First(ctx, name); !errors.Is(err, ErrNoSession) {
			sessions = append(sessions, name)
		}
	}
	return sessions, nil
}

// Lock implements Store.
func (d *Dir) Lock(ctx context.Context, name string) (unlock func() error, err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := d.lock(name)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		s.close()
		return nil, ErrClosed
	}
	if l := d.readers[name]; l != nil {
		l.drop()
		delete(d.readers, name)
	}
	d.locked[name] = s
	var once sync.Once
	return func() (err error) {
		once.Do(func() { err = d.unlock(s) })
		return err
	}, nil
}

func (d *Dir) unlock(s *session) error {
	d.mu.Lock()
	if d.locked[s.name] != s {
		d.mu.Unlock()
		return nil // Close has done it
	}
	delete(d.locked, s.name)
	d.mu.Unlock()
	return s.close()
}

// lock makes the session's folders, takes its lock, and readies its files for writing.
func (d *Dir) lock(name string) (*session, error) {
	s := &session{name: name, dir: d.Folder(name), sum: firstPrev, body: -1}
	for _, sub := range []string{"entries", "bodies"} {
		if err := d.fs.MkdirAll(path.Join(s.dir, sub)); err != nil {
			return nil, fmt.Errorf("lock session %q: %w", name, err)
		}
	}
	lock, err := d.fs.Lock(path.Join(s.dir, "lock"), d.holder)
	var held *vfs.LockedError
	if errors.As(err, &held) {
		busy := &BusyError{Session: name}
		// A holder that died while it wrote its name leaves half of it; the name is for people only.
		_ = json.Unmarshal(held.Holder, &busy.Holder)
		return nil, busy
	}
	if err != nil {
		return nil, fmt.Errorf("lock session %q: %w", name, err)
	}
	s.lock = lock
	s.bodies = d.newLog(name)
	if err := d.recover(s); err != nil {
		s.close()
		return nil, fmt.Errorf("lock session %q: %w", name, err)
	}
	return s, nil
}

// recover brings the session's files to the end of what is whole, and cuts off what a crash left behind it.
func (d *Dir) recover(s *session) error {
	if err := d.anchor(); err != nil {
		return err
	}
	for _, dir := range []string{path.Dir(s.dir), s.dir, path.Join(s.dir, "entries"), path.Join(s.dir, "bodies")} {
		if err := d.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	if err := s.resume(d); err != nil {
		return err
	}
	s.durable.Store(uint64(s.seq))
	if s.purged.Load() != nil {
		return s.erase(d)
	}
	place := func(b entry.Body) int64 { return b.At }
	if s.sealed.Load() { // its entries say where another log had their bodies
		s.body, place, s.gone = min(s.body, 0), s.bodies.place, nil
	}
	if err := s.bodies.open(s.body, d.lastBody(s.name, place)); err != nil {
		return err
	}
	return s.overwrite()
}

// anchor makes the names above the sessions durable, from the data directory up, once: Open, or a process that died
// early, may have made any of them. A folder that cannot be synced, for its permissions or its file system, is not ours.
func (d *Dir) anchor() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.anchored {
		return nil
	}
	for dir := d.root; ; dir = path.Dir(dir) {
		err := d.fs.SyncDir(dir)
		if err != nil && (dir == d.root || !unsyncable(err)) {
			return err
		}
		if dir == path.Dir(dir) {
			d.anchored = true
			return nil
		}
	}
}

func unsyncable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

// lastBody gives the place of the last body that an entry stored in a session relies on, -1 when there is none.
func (d *Dir) lastBody(name string, place func(entry.Body) int64) func() (int64, error) {
	return func() (int64, error) {
		last := int64(-1)
		p, err := d.part(name)
		if err == nil {
			err = d.follow(context.Background(), []part{p}, p.files[0].first-1, math.MaxUint64, func(f Frame, _ error) bool {
				for _, b := range entry.Bodies(f.Fact) {
					last = max(last, place(b))
				}
				return true
			})
		}
		if errors.Is(err, ErrNoSession) {
			err = nil
		}
		return last, err
	}
}

func (s *session) close() error {
	s.uses.Wait()
	var errs []error
	if s.file != nil {
		errs = append(errs, s.mend(), s.file.Close())
	}
	errs = append(errs, s.bodies.close(), s.lock.Close())
	return errors.Join(errs...)
}

// use returns the locked session of a name, which stays locked until the caller says s.uses.Done.
func (d *Dir) use(name string) (*session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.held(name)
	if err == nil {
		s.uses.Add(1)
	}
	return s, err
}

// held returns the locked session of a name. The caller has mu.
func (d *Dir) held(name string) (*session, error) {
	if d.closed {
		return nil, ErrClosed
	}
	s := d.locked[name]
	if s == nil {
		return nil, fmt.Errorf("%w: %q", ErrNotLocked, name)
	}
	return s, nil
}

// Put implements Store.
func (d *Dir) Put(ctx context.Context, name string, body []byte) (entry.Body, error) {
	if err := ctx.Err(); err != nil {
		return entry.Body{}, err
	}
	s, err := d.use(name)
	if err != nil {
		return entry.Body{}, err
	}
	defer s.uses.Done()
	if s.purged.Load() != nil {
		return entry.Body{}, fmt.Errorf("put a body in session %q: the session was %w", name, ErrPurged)
	}
	if s.sealed.Load() {
		return entry.Body{}, fmt.Errorf("put a body in session %q: %w", name, ErrImported)
	}
	b, err := s.bodies.put(body)
	if err != nil {
		return entry.Body{}, fmt.Errorf("put a body in session %q: %w", name, err)
	}
	return b, nil
}

// Body implements Store.
func (d *Dir) Body(ctx context.Context, name string, b entry.Body) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.body(name, b, func(l *literals) ([]byte, error) { return l.body(b) })
}

// Part rebuilds some bytes of a body, or as many of them as it has, without the rest. The text that they are made of is
// verified by its own checksums, but the whole is not, so only Body proves what passed.
func (d *Dir) Part(ctx context.Context, name string, b entry.Body, offset, length int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if offset < 0 || length < 0 {
		return nil, fmt.Errorf("part of a body: %d bytes from byte %d on", length, offset)
	}
	return d.body(name, b, func(l *literals) ([]byte, error) { return l.part(b, uint64(offset), uint64(length)) })
}

// body reads a body, or a part of it, from the literal log of a session, or of one that it goes on from.
func (d *Dir) body(name string, b entry.Body, read func(*literals) ([]byte, error)) ([]byte, error) {
	own := func(name string) ([]byte, error) {
		l, done, err := d.log(name)
		if err != nil {
			return nil, err
		}
		defer done()
		return d.kept(l, name, b, func() ([]byte, error) { return read(l) })
	}
	body, err := own(name)
	if errors.Is(err, ErrNoBody) || errors.Is(err, ErrPurged) {
		return d.shared(name, own, err)
	}
	return body, err
}

// log returns the literal log of a session: its writer's, when it is locked here, else one for reading. It stays open
// until the caller says done.
func (d *Dir) log(name string) (l *literals, done func(), err error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, ErrClosed
	}
	if s := d.locked[name]; s != nil {
		s.uses.Add(1)
		return s.bodies, s.uses.Done, nil
	}
	l = d.readers[name]
	if l == nil {
		if len(d.readers) >= maxReaders {
			for other, l := range d.readers {
				l.drop()
				delete(d.readers, other)
			}
		}
		l = d.newLog(name)
		d.readers[name] = l
	}
	l.users++
	return l, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if l.users--; l.dropped {
			l.drop()
		}
	}, nil
}

func (d *Dir) newLog(name string) *literals {
	return &literals{fs: d.fs, name: path.Join(d.Folder(name), "bodies", "literals.log"), codec: d.codec}
}

// segment is one file of entries.
type segment struct {
	path  string
	first entry.Seq
}

func segmentName(first entry.Seq) string { return fmt.Sprintf("%012d.jsonl", first) }

func misplaced(next entry.Seq) error {
	return fmt.Errorf("the file that must come here is %s", segmentName(next))
}

// files lists a session's files of entries, oldest first.
func (d *Dir) files(name string) ([]segment, error) {
	dir := path.Join(d.Folder(name), "entries")
	names, err := d.fs.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []segment
	for _, n := range names {
		var first entry.Seq
		if !strings.HasSuffix(n, ".jsonl") {
			continue
		}
		if _, err := fmt.Sscanf(n, "%d.jsonl", &first); err != nil || segmentName(first) != n {
			first = math.MaxUint64 // which no entry has, so that it is out of its place wherever it is
		}
		files = append(files, segment{path.Join(dir, n), first})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoSession, name)
	}
	return files, nil
}
