package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"

	"ambit/entry"
)

// maxForks is how many sessions may go on from one another.
const maxForks = 64

// part is a session's own files of entries, and how far they count in what is read: a fork is read in several parts,
// those of the sessions that it goes on from before its own.
type part struct {
	session string
	files   []segment
	from    *entry.Fork // where it goes on from; nil for a session that begins by itself
	until   entry.Seq   // the last entry that counts
}

// part finds a session's own files.
func (d *Dir) part(name string) (part, error) {
	if err := checkName(name); err != nil {
		return part{}, err
	}
	limit, err := d.limit(name)
	if err != nil {
		return part{}, err
	}
	if limit == 0 {
		return part{}, fmt.Errorf("%w: %q", ErrNoSession, name)
	}
	files, err := d.files(name)
	if err != nil {
		return part{}, err
	}
	from, err := d.origin(name, files)
	return part{name, files, from, limit}, err
}

// origin reads where a session goes on from, which its first frame says when that is not entry 1. A session whose only
// file holds nothing whole is none yet, whatever the file's number.
func (d *Dir) origin(name string, files []segment) (*entry.Fork, error) {
	first := files[0]
	if first.first == 1 {
		return nil, nil
	}
	if first.first == math.MaxUint64 {
		return nil, &CorruptError{File: first.path, Err: misplaced(1)}
	}
	c := chain{next: first.first, newest: len(files) == 1}
	var from *entry.Fork
	err := d.scan(first, &c, func(f Frame) error {
		if s, ok := f.Fact.(*entry.Session); ok && s.From != nil && s.From.Seq == f.Seq-1 && s.From.Sum == f.Prev {
			from = s.From
		}
		return errStopped
	})
	switch {
	case errors.Is(err, errStopped) && from != nil:
		return from, nil
	case errors.Is(err, errStopped):
		return nil, &CorruptError{File: first.path, Err: misplaced(1)}
	case err != nil:
		return nil, err
	case c.newest:
		return nil, fmt.Errorf("%w: %q", ErrNoSession, name)
	}
	return nil, &CorruptError{File: files[1].path, Err: misplaced(first.first)}
}

// chain begins at one of a session's files. What comes before was not read; that a fork's first frame follows what it
// says that it goes on from, origin has seen.
func (s segment) chain() chain {
	c := chain{next: s.first}
	if c.next == 1 {
		c.prev = firstPrev
	}
	return c
}

// parts finds what a session's entries after a sequence number are stored in, oldest first. Its own part is the last.
func (d *Dir) parts(name string, after entry.Seq) ([]part, error) {
	own, err := d.part(name)
	if err != nil {
		return nil, err
	}
	parts := []part{own}
	for p := own; p.from != nil && p.from.Seq > after; {
		if p, err = d.parent(p, parts); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.Reverse(parts)
	return parts, nil
}

// parent finds the part that a part goes on from; below are all that were found before. Without it nothing that comes
// after can be vouched for, so that a parent which is not there is damage.
func (d *Dir) parent(p part, below []part) (part, error) {
	damaged := func(file string, cause error) (part, error) { return part{}, &CorruptError{File: file, Err: cause} }
	name := p.from.Session
	if len(below) > maxForks {
		return damaged(p.files[0].path, fmt.Errorf("more than %d sessions go on from one another", maxForks))
	}
	if slices.ContainsFunc(below, func(b part) bool { return b.session == name }) {
		return damaged(p.files[0].path, fmt.Errorf("session %q goes on from itself", name))
	}
	parent, err := d.part(name)
	switch {
	case errors.Is(err, ErrBadName):
		return damaged(p.files[0].path, err)
	case errors.Is(err, ErrNoSession):
		return damaged(path.Join(d.Folder(name), "entries"), fmt.Errorf("session %q, from which %q goes on, is missing", name, p.session))
	}
	parent.until = min(parent.until, p.until, p.from.Seq)
	return parent, err
}

// vouch wants each part to go on from the entry that it names. Another session by the parent's name is no parent, and
// none of its entries may be taken for the fork's. What cannot be read is left to the reading, which meets it in its place.
func (d *Dir) vouch(parts []part) error {
	for i := len(parts) - 1; i > 0; i-- {
		from := parts[i].from
		if from.Seq > parts[i].until {
			continue // its own entries do not count
		}
		sum, err := d.sum(holder(parts[:i], from.Seq), from.Seq)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		if err == nil && sum != "" && sum != from.Sum {
			return &CorruptError{File: parts[i].files[0].path, Err: foreign(from)}
		}
	}
	return nil
}

func foreign(from *entry.Fork) error {
	return fmt.Errorf("entry %d of session %q is another one than that from which it goes on", from.Seq, from.Session)
}

// holder is the part in which an entry is stored.
func holder(parts []part, seq entry.Seq) part {
	i := len(parts) - 1
	for i > 0 && parts[i].files[0].first > seq {
		i--
	}
	return parts[i]
}

// segment is the place of the file of a part that holds an entry.
func (p part) segment(seq entry.Seq) int {
	i := 0
	for i+1 < len(p.files) && p.files[i+1].first <= seq {
		i++
	}
	return i
}

// sum reads an entry's sum; "" when the part's files end before it.
func (d *Dir) sum(p part, seq entry.Seq) (sum string, err error) {
	i := p.segment(seq)
	c := p.files[i].chain()
	c.newest = i == len(p.files)-1
	err = d.scan(p.files[i], &c, func(f Frame) error {
		if f.Seq == seq {
			sum = f.Sum
			return errStopped
		}
		return nil
	})
	if errors.Is(err, errStopped) {
		err = nil
	}
	return sum, err
}

// First reads the first entry that is stored in a session itself: its session entry which, in a fork, says what it
// goes on from. It reads nothing of what it goes on from.
func (d *Dir) First(ctx context.Context, session string) (first Frame, err error) {
	p, err := d.part(session)
	if err != nil {
		return Frame{}, err
	}
	at := p.files[0].first
	err = d.follow(ctx, []part{p}, at-1, at, func(f Frame, _ error) bool {
		f.Line = slices.Clone(f.Line)
		first = f
		return false
	})
	if errors.Is(err, errStopped) {
		err = nil
	}
	return first, err
}

// fork lets a batch go on from an entry of another session, all of whose entries up to there must be readable, and
// durable: what another process has not yet acknowledged may be only in the system's memory. Nobody may cut it off but
// that process, after a failed write.
func (w *work) fork(d *Dir, from *entry.Fork) error {
	refused := func(cause error) error {
		return fmt.Errorf("%w: %s of session %q: %w", ErrFork, from.Seq.Ref(), from.Session, cause)
	}
	if w.seq > 0 {
		return refused(errors.New("only a session's first entry can go on from another session"))
	}
	if from.Session == w.s.name {
		return refused(errors.New("a session cannot go on from itself"))
	}
	parts, err := d.parts(from.Session, 0)
	if err != nil {
		return refused(err)
	}
	if len(parts) > maxForks {
		return refused(fmt.Errorf("more than %d sessions would go on from one another", maxForks))
	}
	last, err := d.upTo(from)
	switch {
	case err != nil:
		return refused(err)
	case last.Seq != from.Seq:
		return refused(errors.New("there is no such entry"))
	case last.Sum != from.Sum:
		return refused(fmt.Errorf("its sum is %s, not %q", last.Sum, from.Sum))
	}
	if err := d.settle(holder(parts, from.Seq), from.Seq); err != nil {
		return err
	}
	w.seq, w.sum, w.first = from.Seq, from.Sum, from.Seq+1
	return nil
}

// upTo reads up to the entry from which a fork is to go on.
func (d *Dir) upTo(from *entry.Fork) (last Frame, err error) {
	for f, err := range d.Read(context.Background(), from.Session, 0) {
		if err != nil {
			return Frame{}, err
		}
		if last = f; f.Seq == from.Seq {
			break
		}
	}
	return last, nil
}

// shared reads a body that a session's own log does not have, as missing says, from those that it goes on from. One that
// was purged in one of them may still be in another.
func (d *Dir) shared(name string, read func(session string) ([]byte, error), missing error) ([]byte, error) {
	parts, err := d.parts(name, 0)
	if errors.Is(err, ErrNoSession) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	for i := len(parts) - 2; i >= 0; i-- {
		body, err := read(parts[i].session)
		switch {
		case errors.Is(err, ErrPurged):
			missing = err
		case !errors.Is(err, ErrNoBody):
			return body, err
		}
	}
	return nil, missing
}

// settle makes an entry of another session durable, with all before it. Only in the newest file can it be otherwise,
// and that is not known here.
func (d *Dir) settle(p part, seq entry.Seq) error {
	name := p.files[p.segment(seq)].path
	f, err := d.fs.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.fs.SyncDir(path.Dir(name))
}

// discard takes away a file without entries, which an append that failed has left, or a process that died. The
// session then begins with another number, in a file of another name. It may be tried again.
func (s *session) discard(d *Dir) error {
	if err := d.fs.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.fs.SyncDir(path.Dir(s.path)); err != nil {
		return err
	}
	err := s.file.Close()
	s.file = nil
	return err
}
