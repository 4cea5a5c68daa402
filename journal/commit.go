package journal

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"sync"

	"ambit/entry"
)

// commit is one Append on its way through the commit loop.
type commit struct {
	s     *session
	facts []entry.Fact
	seq   entry.Seq
	done  chan error
}

// Append implements Store.
func (d *Dir) Append(ctx context.Context, name string, facts ...entry.Fact) (entry.Seq, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c, err := d.begin(name)
	if err != nil {
		return 0, err
	}
	defer c.s.uses.Done()
	defer d.appends.Done()
	c.facts = facts
	d.commits <- c
	if err := <-c.done; err != nil {
		return 0, fmt.Errorf("append to session %q: %w", name, err)
	}
	return c.seq, nil
}

// begin keeps the session locked, and the commit loop alive, for an append.
func (d *Dir) begin(name string) (*commit, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.held(name)
	if err != nil {
		return nil, err
	}
	s.uses.Add(1)
	d.appends.Add(1)
	return &commit{s: s, done: make(chan error, 1)}, nil
}

// loop makes appends durable, all that are waiting at once, until Close. It is the only writer of files of entries.
func (d *Dir) loop() {
	defer close(d.idle)
	for c := range d.commits {
		batch := map[*session]*work{}
		d.take(batch, c)
		for more := true; more; {
			select {
			case c, ok := <-d.commits:
				if more = ok; ok {
					d.take(batch, c)
				}
			default:
				more = false
			}
		}
		each(batch, func(w *work) { w.finish(d, w.write(d)) })
	}
}

// work is what one batch does to one session: the frames of some commits, written and synced as one.
type work struct {
	s       *session
	commits []*commit
	lines   []byte
	seq     entry.Seq
	sum     string
	body    int64 // offset of the last body that the frames rely on; -1 for none
}

// take adds a commit to the batch, or answers it at once when it cannot be written.
func (d *Dir) take(batch map[*session]*work, c *commit) {
	w := batch[c.s]
	if w == nil {
		w = &work{s: c.s, seq: c.s.seq, sum: c.s.sum, body: -1}
		batch[c.s] = w
	}
	before := *w
	if err := w.add(d, c); err != nil {
		*w = before
		c.done <- err
		return
	}
	c.seq = w.seq
	w.commits = append(w.commits, c)
}

// add makes the frames of a commit.
func (w *work) add(d *Dir, c *commit) error {
	now := d.now().UTC()
	for i, fact := range c.facts {
		for _, b := range entry.Bodies(fact) {
			if err := c.s.bodies.has(b); err != nil {
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
	if err := s.ready(d); err != nil {
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

// ready gives the session a file that takes its next frame at size.
func (s *session) ready(d *Dir) error {
	if err := s.mend(); err != nil {
		return err
	}
	if s.file != nil && s.size < d.rotate {
		return nil
	}
	name := path.Join(s.dir, "entries", segmentName(s.seq+1))
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

// finish publishes what was written and answers the commits.
func (w *work) finish(_ *Dir, err error) {
	if err == nil && len(w.lines) > 0 {
		s := w.s
		s.seq, s.sum = w.seq, w.sum
		s.size += int64(len(w.lines))
		s.durable.Store(uint64(w.seq))
	}
	for _, c := range w.commits {
		c.done <- err
	}
}

// each does all work of a batch, side by side when it is for several sessions, so that their syncs overlap.
func each(batch map[*session]*work, do func(*work)) {
	var wait sync.WaitGroup
	left := len(batch)
	for _, w := range batch {
		if left--; left == 0 {
			do(w)
			break
		}
		wait.Go(func() { do(w) })
	}
	wait.Wait()
}
