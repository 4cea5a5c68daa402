package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"ambit/entry"
	"ambit/internal/vfs"
)

// Read implements Store.
func (d *Dir) Read(ctx context.Context, session string, after entry.Seq) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		if err := d.read(ctx, session, after, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Frame{}, err)
		}
	}
}

// errStopped says that the reader wants no more.
var errStopped = errors.New("stopped")

// errReached says that the last entry that counts was read.
var errReached = errors.New("reached")

func (d *Dir) read(ctx context.Context, name string, after entry.Seq, yield func(Frame, error) bool) error {
	parts, err := d.parts(name, after)
	if err == nil {
		err = d.vouch(parts)
	}
	if err != nil {
		return err
	}
	return d.follow(ctx, parts, after, math.MaxUint64, yield)
}

// follow reads the parts of a session, one after another, the first from the file on that holds the entry after. Of those
// behind last it decodes no facts: an append is looked at whole, however little of it is wanted.
func (d *Dir) follow(ctx context.Context, parts []part, after, last entry.Seq, yield func(Frame, error) bool) error {
	first := parts[0].segment(after + 1)
	c := parts[0].files[first].chain()
	c.wanted = func(seq entry.Seq, _ []byte) bool { return seq > after && seq <= last }
	for i, p := range parts {
		read, err := d.segments(ctx, p, first, &c, after, yield)
		if err != nil {
			return err
		}
		if i < len(parts)-1 && c.next <= p.until {
			err := fmt.Errorf("the session ends before entry %d, from which session %q goes on", p.until, parts[i+1].session)
			return &CorruptError{File: p.files[read].path, Offset: c.end, Err: err}
		}
		first = 0
	}
	if c.next == 1 {
		return fmt.Errorf("%w: %q", ErrNoSession, parts[0].session)
	}
	return nil
}

// segments reads a part from one of its files on, up to its last entry that counts, and returns the place of the file
// that it has read last.
func (d *Dir) segments(ctx context.Context, p part, from int, c *chain, after entry.Seq, yield func(Frame, error) bool) (read int, err error) {
	for i := from; i < len(p.files) && c.next <= p.until; i++ { // a file behind that is being begun, or does not count
		read = i
		c.newest = i == len(p.files)-1
		var last Frame
		err := d.scan(p.files[i], c, func(f Frame) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			f.In = p.session
			if f.Seq > after && !yield(f, nil) {
				return errStopped
			}
			if last = f; f.Seq == p.until {
				return errReached
			}
			return nil
		})
		if errors.Is(err, errReached) {
			c.next, c.prev = last.Seq+1, last.Sum // an append may go on behind it
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// limit is the last entry that may be shown: what this process writes is shown once it is durable.
func (d *Dir) limit(name string) (entry.Seq, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.held(name)
	if errors.Is(err, ErrNotLocked) {
		return math.MaxUint64, nil
	}
	if err != nil {
		return 0, err
	}
	return entry.Seq(s.durable.Load()), nil
}

// chain is how far frames were followed: what the next one must have.
type chain struct {
	next   entry.Seq
	prev   string                                // "" when what came before was not read
	end    int64                                 // offset behind the last whole append of the file read last
	wanted func(seq entry.Seq, data []byte) bool // whose facts are decoded; nil for all. All are verified.
	newest bool                                  // nothing comes after the file, so it may end in an interrupted append
}

// scan reads one file of entries, verifies its frames and the chain, and passes them on.
func (d *Dir) scan(file segment, c *chain, pass func(Frame) error) error {
	f, err := d.fs.Open(file.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.follow(file, f, pass)
}

// follow takes the chain through a file, one whole append after another.
func (c *chain) follow(file segment, f vfs.File, pass func(Frame) error) error {
	c.end = 0
	if file.first != c.next {
		return &CorruptError{File: file.path, Err: misplaced(c.next)}
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), int(min(size, 1<<16)))
	var long []byte
	var group []Frame // of an append of several entries, what was read of it
	at, ahead := c.end, *c
	damaged := func(cause error) error {
		for _, g := range group { // an append that was whole, so these are entries
			if err := pass(g); err != nil {
				return err
			}
		}
		return &CorruptError{File: file.path, Offset: at, Err: cause}
	}
	for {
		line, err := readLine(r, &long)
		if err == io.EOF && len(line) == 0 && len(group) == 0 {
			return nil
		}
		if err != nil {
			clean, failed := c.interrupted(line, err, r)
			if clean || failed != nil {
				return failed
			}
			return damaged(unended(err))
		}
		frame, err := parseWanted(line[:len(line)-1], c.wanted)
		if err == nil {
			err = ahead.step(frame)
		}
		if err != nil {
			return damaged(err)
		}
		at += int64(len(line))
		if frame.More {
			frame.Line = bytes.Clone(frame.Line)
			group = append(group, frame)
			continue
		}
		ahead.end = at
		*c = ahead
		for _, g := range append(group, frame) {
			if err := pass(g); err != nil {
				return err
			}
		}
		group = group[:0]
	}
}

// readLine reads up to a line end. It gives up with ErrBufferFull once a line is longer than a frame may be. The line
// is valid until the next call; long is where it puts one that the reader's buffer does not hold.
func readLine(r *bufio.Reader, long *[]byte) (line []byte, err error) {
	part, err := r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, err
	}
	*long = (*long)[:0]
	for err == bufio.ErrBufferFull && len(*long) <= MaxFrame {
		*long = append(*long, part...)
		part, err = r.ReadSlice('\n')
	}
	*long = append(*long, part...)
	return *long, err
}

// interrupted reports whether a file's last bytes, which have no line end because of cause, are what an interrupted
// append leaves.
func (c *chain) interrupted(rest []byte, cause error, behind io.Reader) (bool, error) {
	if cause != io.EOF && cause != bufio.ErrBufferFull {
		return false, cause
	}
	if !c.newest || !torn(rest) {
		return false, nil
	}
	return zeros(behind)
}

// unended says what is wrong with bytes that have no line end.
func unended(cause error) error {
	if cause == io.EOF {
		return errors.New("the file ends inside an append")
	}
	return ErrTooLarge
}

// step takes the chain one frame on.
func (c *chain) step(f Frame) error {
	if f.Seq != c.next {
		return fmt.Errorf("entry %d stands where %d must", f.Seq, c.next)
	}
	if c.prev != "" && f.Prev != c.prev {
		return fmt.Errorf("entry %d does not follow the entry before it", f.Seq)
	}
	c.next, c.prev = f.Seq+1, f.Sum
	return nil
}

// zeros reports whether only zeros are left: a length that arrived without its bytes.
func zeros(r io.Reader) (bool, error) {
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return false, nil
			}
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// relies notes the bodies of a frame, whether the frame is the last, and whether they were purged.
func (s *session) relies(f Frame) error {
	s.sealed.Store(seals(f.Fact) || s.sealed.Load() && purges(f.Fact))
	for _, b := range entry.Bodies(f.Fact) {
		s.body = max(s.body, b.At)
	}
	s.follows(f.Fact)
	return nil
}

// unitKind stands in the beginning of a unit's entry, behind its time. Units are most of all entries and rely on no body.
var unitKind = []byte(`,"kind":"unit",`)

// kindRoom is how long the beginning of an entry is, up to its kind, in bytes.
const kindRoom = 80

// resume finds the end of the session's newest file, cuts off an interrupted append, and makes durable what a process
// wrote before it died.
func (s *session) resume(d *Dir) error {
	files, err := d.files(s.name)
	if errors.Is(err, ErrNoSession) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := d.origin(s.name, files); err != nil && !errors.Is(err, ErrNoSession) {
		return err
	}
	before := max(0, len(files)-2) // the newest may be empty; then the one before it ends the chain
	c := files[before].chain()
	c.wanted = func(_ entry.Seq, data []byte) bool { return !bytes.Contains(data[:min(len(data), kindRoom)], unitKind) }
	if len(files) > 1 {
		if err := d.scan(files[before], &c, s.relies); err != nil {
			return err
		}
	}
	newest := files[len(files)-1]
	f, err := d.fs.Edit(newest.path)
	if err != nil {
		return err
	}
	s.file, s.path, s.named = f, newest.path, true
	c.newest = true
	if err := c.follow(newest, f, s.relies); err != nil {
		return err
	}
	s.size = c.end
	if c.next > files[0].first {
		s.seq, s.sum = c.next-1, c.prev
	}
	if err := f.Truncate(s.size); err != nil {
		return err
	}
	return f.Sync()
}
