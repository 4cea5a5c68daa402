package journal

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"ambit/entry"
)

// commit is one Append on its way to the disk.
type commit struct {
	facts  []entry.Fact
	counts *entry.Purged // the fact that is to say what the entries before it rely on; nil for none
	erases bool          // it says that text is gone, so it is done when that is overwritten
	seq    entry.Seq
	turn   chan bool // true: lead the next batch; false: done, with err
	err    error
}

// Append implements Store. Appends to one session are made durable together, all that have come while the batch before
// was being synced. One of those who wait writes for all, so that sessions need no goroutine and do not wait for one
// another.
func (d *Dir) Append(ctx context.Context, name string, facts ...entry.Fact) (entry.Seq, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s, err := d.use(name)
	if err != nil {
		return 0, err
	}
	defer s.uses.Done()
	c := &commit{facts: facts, turn: make(chan bool, 1)}
	if s.wait(c) {
		s.lead(d, c)
	}
	if c.err != nil {
		return 0, fmt.Errorf("append to session %q: %w", name, c.err)
	}
	return c.seq, nil
}

// wait queues a commit until it was written by another, or until it is its turn to write.
func (s *session) wait(c *commit) (lead bool) {
	s.queue.Lock()
	s.waiting = append(s.waiting, c)
	lead, s.led = !s.led, true
	s.queue.Unlock()
	return lead || <-c.turn
}

// lead writes a batch, its own commit and all that wait, and hands over to the first of those that have come since.
func (s *session) lead(d *Dir, own *commit) {
	s.queue.Lock()
	batch := s.waiting
	s.waiting = nil
	s.queue.Unlock()
	before := s.overwrite() // what could not be before
	w := work{s: s, seq: s.seq, sum: s.sum, first: s.seq + 1, body: -1, lines: s.lines[:0], sealed: s.sealed.Load(), purged: s.purged.Load()}
	for _, c := range batch {
		if c.err = before; before == nil {
			w.take(d, c)
		}
	}
	w.finish(w.write(d))
	w.overwrite()
	s.lines = w.lines
	if cap(s.lines) > MaxFrame {
		s.lines = nil
	}
	for _, c := range batch {
		if c != own {
			c.turn <- false
		}
	}
	s.queue.Lock()
	defer s.queue.Unlock()
	if s.led = len(s.waiting) > 0; s.led {
		s.waiting[0].turn <- true
	}
}

// work is a batch: the frames of some commits, written and synced as one.
type work struct {
	s       *session
	commits []*commit // those that could be made into frames
	lines   []byte
	seq     entry.Seq
	sum     string
	first   entry.Seq // of the frames
	body    int64     // offset of the last body that the frames rely on; -1 for none
	sealed  bool      // nothing may follow
	purged  *entry.Purged
	gone    []entry.Run // literal text that is to be overwritten
}

// take adds a commit to the batch, or says what is wrong with it.
func (w *work) take(d *Dir, c *commit) {
	before := *w
	if c.err = w.add(d, c); c.err != nil {
		*w = before
		return
	}
	c.seq = w.seq
	w.commits = append(w.commits, c)
}

// add makes the frames of a commit.
func (w *work) add(d *Dir, c *commit) error {
	now := d.now().UTC()
	if c.counts != nil && w.purged == nil {
		if err := w.count(d, c.counts); err != nil {
			return err
		}
	}
	for i, fact := range c.facts {
		if w.purged != nil && !admits(fact) {
			return fmt.Errorf("the session was %w", ErrPurged)
		}
		if p, ok := fact.(*entry.Purged); ok && p.Of == 0 {
			w.purged = p
		} else if ok {
			w.gone, c.erases = append(w.gone, p.Runs...), true
		}
		if w.sealed && !purges(fact) {
			return ErrImported
		}
		w.sealed = w.sealed || seals(fact)
		if begin, ok := fact.(*entry.Session); ok && begin.From != nil {
			if err := w.fork(d, begin.From); err != nil {
				return err
			}
		}
		for _, b := range entry.Bodies(fact) {
			if err := w.s.bodies.has(b); err != nil {
				return err
			}
			w.body = max(w.body, b.At)
		}
		encoded, err := entry.Encode(entry.Entry{Time: now, Fact: fact})
		if err == nil {
			err = readable(fact, encoded)
		}
		if err != nil {
			return err
		}
		start := len(w.lines)
		w.seq++
		w.lines, w.sum = appendFrame(w.lines, w.seq, i < len(c.facts)-1, w.sum, encoded)
		if n := len(w.lines) - start; n > MaxFrame {
			return fmt.Errorf("a frame of %d bytes: %w", n, ErrTooLarge)
		}
	}
	return nil
}

// readable refuses an Unknown whose text would break its line, or would be read as something else.
func readable(fact entry.Fact, encoded []byte) error {
	u, ok := fact.(*entry.Unknown)
	if !ok {
		return nil
	}
	if bytes.IndexByte(encoded, '\n') >= 0 {
		return fmt.Errorf("an entry of kind %q with a line break", u.Name)
	}
	e, err := entry.Decode(0, encoded)
	if err != nil {
		return err
	}
	if read, ok := e.Fact.(*entry.Unknown); !ok || read.Name != u.Name {
		return fmt.Errorf("an entry of kind %q that says kind %q", u.Name, e.Fact.Kind())
	}
	return nil
}

// write makes the batch's bodies durable, then its frames.
func (w *work) write(d *Dir) error {
	if len(w.lines) == 0 {
		return nil
	}
	s := w.s
	if w.body >= 0 {
		if err := s.bodies.sync(w.body); err != nil {
			return err
		}
	}
	if err := s.ready(d, w.first); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(w.lines, s.size); err != nil {
		s.dirty = true
		return err
	}
	if err := s.file.Sync(); err != nil {
		s.dirty = true
		return err
	}
	if !s.named {
		if err := d.fs.SyncDir(path.Dir(s.path)); err != nil {
			s.dirty = true
			return err
		}
		s.named = true
	}
	return nil
}

// ready gives the session a file that takes its next frame, of number first, at size.
func (s *session) ready(d *Dir, first entry.Seq) error {
	if err := s.mend(); err != nil {
		return err
	}
	name := path.Join(s.dir, "entries", segmentName(first))
	if s.file != nil && s.size == 0 && s.path != name {
		if err := s.discard(d); err != nil {
			return err
		}
	}
	if s.file != nil && s.size < d.rotate {
		return nil
	}
	f, err := d.fs.Create(name)
	if err != nil {
		return err
	}
	if s.file != nil {
		err = s.file.Close()
	}
	s.file, s.path, s.size, s.named = f, name, 0, false
	return err
}

// mend takes away what a failed append left, durably: after a crash, too, the session is as if it had not been tried.
func (s *session) mend() error {
	if !s.dirty {
		return nil
	}
	if err := s.file.Truncate(s.size); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.dirty = false
	return nil
}

// finish publishes what was written, or says to all what went wrong.
func (w *work) finish(err error) {
	if err == nil && len(w.lines) > 0 {
		s := w.s
		s.seq, s.sum = w.seq, w.sum
		s.sealed.Store(w.sealed)
		s.purged.Store(w.purged)
		s.gone = append(s.gone, w.gone...)
		s.size += int64(len(w.lines))
		s.durable.Store(uint64(w.seq))
	}
	for _, c := range w.commits {
		c.err = err
	}
}

// overwrite overwrites what entries of the batch say is gone.
func (w *work) overwrite() {
	err := w.s.overwrite()
	for _, c := range w.commits {
		if c.erases && c.err == nil {
			c.err = err
		}
	}
}

// overwrite overwrites what entries say is gone. What fails is tried again before the next append.
func (s *session) overwrite() error {
	if err := s.bodies.overwrite(extentsOf(s.gone)); err != nil {
		return err
	}
	s.gone = nil
	return nil
}
