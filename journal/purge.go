package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"time"

	"ambit/entry"
	"ambit/internal/vfs"
)

// ErrPurged says that bytes were overwritten for good, by Purge, or that a session takes nothing more because its were.
// It is no damage.
var ErrPurged = errors.New("purged")

// Purging is what is known of the purge of a session.
type Purging struct {
	entry.Purged
	Time time.Time
	Left int64 // bytes of the literal log that are still there: the purge was interrupted, or is under way
}

// Purge overwrites the bytes of all bodies of a session, for good, and takes its literal log away; the entries stay, with
// every hash. The session must be locked. It then holds no body and takes neither bodies nor entries, but for an Imported
// that relies on none; those that went on from it lose the bodies of what they share, and nothing else.
//
// The entry Purged is durable before anything is overwritten, and who reads a session's bodies for the first time from
// then on gets ErrPurged; another process may still give what it has in memory. What an error, or a crash, left after that
// is finished by the next Purge or Lock. A session that was purged stays as it is.
func (d *Dir) Purge(ctx context.Context, session string) (entry.Purged, error) {
	if err := ctx.Err(); err != nil {
		return entry.Purged{}, err
	}
	s, err := d.use(session)
	if err != nil {
		return entry.Purged{}, err
	}
	defer s.uses.Done()
	p, err := s.intend(d)
	if err == nil {
		err = s.erase(d)
	}
	if err != nil {
		return entry.Purged{}, fmt.Errorf("purge session %q: %w", session, err)
	}
	return p, nil
}

// Purged returns what is known of a session's purge; nil when it was not purged.
func (d *Dir) Purged(session string) (*Purging, error) {
	f, err := d.purged(session)
	if f == nil || err != nil {
		return nil, err
	}
	left, err := d.left(session)
	return &Purging{*f.Fact.(*entry.Purged), f.Time, left}, err
}

// intend appends the entry Purged, unless it is there.
func (s *session) intend(d *Dir) (entry.Purged, error) {
	if p := s.purged.Load(); p != nil {
		return *p, nil
	}
	p := &entry.Purged{}
	c := &commit{facts: []entry.Fact{p}, counts: p, turn: make(chan bool, 1)}
	if s.wait(c) {
		s.lead(d, c)
	}
	if first := s.purged.Load(); errors.Is(c.err, ErrPurged) && first != nil {
		return *first, nil // somebody was quicker
	}
	return *p, c.err
}

// erase does what the entry Purged says.
func (s *session) erase(d *Dir) error {
	if err := s.bodies.erase(); err != nil {
		return err
	}
	return d.DropDerived(s.name)
}

// count says what a purge overwrites: the bodies that the session's own entries rely on, those of the batch included.
// Entries behind damage are not counted; their bodies are overwritten, too.
func (w *work) count(d *Dir, p *entry.Purged) error {
	if w.seq == 0 {
		return fmt.Errorf("%w: %q", ErrNoSession, w.s.name)
	}
	add := func(f entry.Fact) {
		for _, b := range entry.Bodies(f) {
			p.Bodies++
			p.Bytes += b.Size
		}
	}
	*p = entry.Purged{}
	if err := d.each(w.s.name, func(f Frame) { add(f.Fact) }); err != nil {
		return err
	}
	for _, c := range w.commits {
		for _, f := range c.facts {
			add(f)
		}
	}
	return nil
}

// each passes on the entries that are stored in a session itself, up to the first damage.
func (d *Dir) each(name string, do func(Frame)) error {
	p, err := d.part(name)
	if err == nil {
		err = d.follow(context.Background(), []part{p}, p.files[0].first-1, math.MaxUint64, func(f Frame, _ error) bool {
			do(f)
			return true
		})
	}
	if errors.Is(err, ErrNoSession) || errors.Is(err, ErrCorrupt) {
		return nil
	}
	return err
}

// admits reports whether a fact may stand behind the entry Purged.
func admits(f entry.Fact) bool {
	_, ok := f.(*entry.Imported)
	return ok && len(entry.Bodies(f)) == 0
}

// follows notes of a session's last entries whether they say that it was purged.
func (s *session) follows(f entry.Fact) {
	p, ok := f.(*entry.Purged)
	if ok && p.Of == 0 {
		s.purged.Store(p)
	} else if !admits(f) {
		s.purged.Store(nil)
	}
	if ok {
		s.gone = append(s.gone, p.Runs...)
	}
}

// purged finds the entry Purged of a session: the last that is stored in it, but for those that may follow; nil when there
// is none. It reads the end of the files only, so that a body costs little more for it.
func (d *Dir) purged(name string) (*Frame, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	limit, err := d.limit(name)
	if err != nil || limit == 0 {
		return nil, err
	}
	files, err := d.files(name)
	if errors.Is(err, ErrNoSession) {
		return nil, nil
	}
	whole := false // the last append is
	for _, file := range slices.Backward(files) {
		tail, err := d.ending(file.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its writer has taken an empty one away
			return nil, err
		}
		for len(tail) > 0 {
			at := bytes.LastIndexByte(tail[:len(tail)-1], '\n') + 1
			f, err := parseFrame(tail[at : len(tail)-1])
			if err != nil {
				return nil, nil // who reads up to there is told what is wrong
			}
			tail = tail[:at]
			if f.Seq > limit || f.More && !whole {
				continue
			}
			whole = true
			if purges(f.Fact) {
				return &f, nil
			}
			if !admits(f.Fact) {
				return nil, nil
			}
		}
	}
	return nil, err
}

// kept reads a body of a session's own log. Of one that was purged it says so, also while the text is still there, and
// when it was overwritten under the reader's hands.
func (d *Dir) kept(l *literals, name string, b entry.Body, read func() ([]byte, error)) ([]byte, error) {
	if err := d.gone(l, name, b, false); err != nil {
		return nil, err
	}
	body, err := read()
	if errors.Is(err, ErrCorrupt) {
		if gone := d.gone(l, name, b, true); gone != nil {
			return nil, gone
		}
	}
	return body, err
}

// gone says ErrPurged of a body that a session had before it was purged. Whether it was, is looked up once for a log, and
// again when that is asked for.
func (d *Dir) gone(l *literals, name string, b entry.Body, again bool) error {
	l.mu.Lock()
	looked, gone := l.looked, l.gone
	l.mu.Unlock()
	if !looked || again && gone == nil {
		p, err := d.purged(name)
		if err != nil {
			return err
		}
		if p != nil {
			gone = make(map[entry.Body]bool)
			err = d.each(name, func(f Frame) {
				for _, b := range entry.Bodies(f.Fact) {
					gone[b] = true
				}
			})
		}
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.looked, l.gone = true, gone
		l.mu.Unlock()
	}
	if gone[b] {
		return fmt.Errorf("the body of %d bytes with SHA-256 %.12s… was %w", b.Size, b.SHA256, ErrPurged)
	}
	return nil
}

// left is how long the literal log of a session is.
func (d *Dir) left(name string) (int64, error) {
	f, err := d.fs.Open(d.newLog(name).name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}

// erase overwrites all that the log holds, durably, and takes it away. It holds nothing from then on, and takes nothing.
func (l *literals) erase() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own, l.erased, l.looked, l.gone = true, true, false, nil
	l.records, l.damage, l.size, l.next, l.cache, l.cached, l.held = nil, nil, 0, 0, nil, 0, contents{}
	l.match, l.synced, l.dirty = nil, 0, false
	f := l.file
	if f == nil {
		var err error
		f, err = l.fs.Edit(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			return l.fs.SyncDir(path.Dir(l.name))
		}
		if err != nil {
			return err
		}
	}
	l.file = nil
	if err := errors.Join(blank(f), f.Close()); err != nil {
		return err
	}
	if err := l.fs.Remove(l.name); err != nil {
		return err
	}
	return l.fs.SyncDir(path.Dir(l.name))
}

// blank overwrites a file with zeros, durably.
func blank(f vfs.File) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	zeros := make([]byte, min(size, 1<<20))
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
