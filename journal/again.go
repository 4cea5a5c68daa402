package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"path"

	"ambit/entry"
)

// When the text of one entry is purged, each record that holds some of it gets another in its place, at the end of the
// log, in which that is zeros; and once this is durable, the payload of the one before is overwritten. So a crash leaves
// one of the two whole, and what stands beside the text is never lost. docs/format/journal.md has the bytes.

// errHole says that a body has text that was purged.
var errHole = fmt.Errorf("some of its text was %w", ErrPurged)

// span is the literal text of a record.
func (r record) span() extent { return extent{r.start, uint64(r.literal)} }

// replaced are the records that stand in the place of one, oldest first.
func (l *literals) replaced(r record) []record {
	var again []record
	for _, a := range l.again[r.start] {
		if r.literal > 0 && a.literal == r.literal && a.size == r.size && a.sum == r.sum {
			again = append(again, a)
		}
	}
	return again
}

// replace notes a record that stands in the place of another.
func (l *literals) replace(r record) {
	if l.again == nil {
		l.again = make(map[uint64][]record)
	}
	l.again[r.start] = append(l.again[r.start], r)
	l.cache, l.cached = nil, 0
}

// hollow takes from the text of a record, as one in its place has it, what that says of what is gone: pairs such as
// those of extents, behind them.
func (l *literals) hollow(r record, text []byte) ([]byte, error) {
	end, sum := int(r.literal), uint64(0)
	for sum < r.size {
		_, n := binary.Varint(text[end:])
		length, m := binary.Uvarint(text[end+max(n, 0):])
		if n <= 0 || m <= 0 {
			return nil, l.corrupt(r.at, errRecipe)
		}
		end, sum = end+n+m, sum+length
	}
	var holes []extent
	at := r.start
	for rest := text[end:]; len(rest) > 0; {
		delta, n := binary.Varint(rest)
		length, m := binary.Uvarint(rest[max(n, 0):])
		x := extent{at + uint64(delta), length}
		if n <= 0 || m <= 0 || both(x, r.span()) != x || x.start < at {
			return nil, l.corrupt(r.at, errRecipe)
		}
		holes, at, rest = append(holes, x), x.end(), rest[n+m:]
	}
	if l.holes == nil {
		l.holes = make(map[int64][]extent)
	}
	l.holes[r.at] = merged(holes)
	return text[:end:end], nil
}

// gap reports whether some of a record's text, which was loaded, is gone.
func (l *literals) gap(r record, start, length uint64) bool {
	return len(within(l.holes[r.at], extent{start, length})) > 0
}

// lost is what a record does not have any more of its text.
func (l *literals) lost(r record) ([]extent, error) {
	if len(l.replaced(r)) == 0 {
		return nil, nil
	}
	_, err := l.load(r)
	return l.holes[r.at], err
}

// overwrite overwrites literal text, for good and durably. What was overwritten before it finishes.
func (l *literals) overwrite(runs []extent) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.erased || len(runs) == 0 {
		return nil
	}
	if l.file == nil {
		return l.corrupt(0, errShort)
	}
	if err := l.mend(); err != nil {
		return err
	}
	buf, err := l.remake(runs)
	if err == nil && len(buf) > 0 {
		err = l.append(buf)
	}
	if err != nil {
		return err
	}
	l.match = nil // it may not find what is gone
	return l.blank()
}

// remake makes the records that are to stand in the place of those that hold literal text which is to go.
func (l *literals) remake(runs []extent) (buf []byte, err error) {
	for _, r := range l.records {
		cut := within(runs, r.span())
		if len(cut) == 0 {
			continue
		}
		holes, err := l.lost(r)
		if err != nil {
			return nil, err
		}
		if len(without(cut, holes)) == 0 {
			continue
		}
		text, err := l.load(r)
		if err != nil {
			return nil, err
		}
		holes = merged(append(cut, holes...))
		buf = r.instead(l.codec, buf, text, holes, l.size)
	}
	return buf, nil
}

// instead adds to buf a record that stands in the place of r, without some of its text. Buf will stand at an offset.
func (r record) instead(c *codec, buf, text []byte, holes []extent, at int64) []byte {
	next := append([]byte(nil), text...)
	for _, x := range holes {
		clear(next[x.start-r.start : x.end()-r.start])
	}
	next = appendRecipe(next, r.start, holes)
	r.at, r.again, r.recipe = at+int64(len(buf)), true, uint32(len(next))-r.literal
	payload := c.enc.EncodeAll(next, nil)
	r.payload, r.crc = uint32(len(payload)), crc32.Checksum(payload, castagnoli)
	return append(r.append(buf), payload...)
}

// append writes records that stand in the place of others, durably, and takes them in.
func (l *literals) append(buf []byte) error {
	if _, err := l.file.WriteAt(buf, l.size); err != nil {
		l.dirty = true
		return err
	}
	err := l.file.Sync()
	if err == nil && !l.named {
		err = l.fs.SyncDir(path.Dir(l.name))
	}
	if err != nil {
		l.forget()
		return err
	}
	if _, err := l.refresh(); err != nil {
		return err
	}
	l.synced, l.named = l.size, true
	return nil
}

// blank overwrites the payloads of all records that others stand in the place of, durably.
func (l *literals) blank() error {
	done := false
	for _, r := range l.old() {
		clean, err := l.clean(r)
		if err != nil {
			return err
		}
		if clean {
			continue
		}
		if _, err := l.file.WriteAt(make([]byte, r.payload), r.at+RecordHeader); err != nil {
			return err
		}
		done = true
	}
	if !done {
		return nil
	}
	return l.file.Sync()
}

// old are the records whose payloads do not count any more.
func (l *literals) old() []record {
	var old []record
	for _, r := range l.records {
		if again := l.replaced(r); len(again) > 0 {
			old = append(append(old, r), again[:len(again)-1]...)
		}
	}
	return old
}

// clean reports whether a record's payload holds nothing but zeros.
func (l *literals) clean(r record) (bool, error) {
	return zeros(io.NewSectionReader(l.file, r.at+RecordHeader, int64(r.payload)))
}

// audit compares what the log says is gone with what entries say was purged. Left is how many bytes hold some of that
// still.
func (l *literals) audit(purged []entry.Run) (left int64, damage []*CorruptError, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, nil, nil
	}
	runs := extentsOf(purged)
	for _, r := range l.records {
		holes, err := l.lost(r)
		if err != nil {
			continue // which is damage that verify finds
		}
		if len(without(holes, runs)) > 0 {
			damage = append(damage, &CorruptError{File: l.name, Offset: r.at, Err: errUnsaid})
		}
		if len(without(within(runs, r.span()), holes)) > 0 {
			left += int64(r.payload)
		}
	}
	for _, r := range l.old() {
		clean, err := l.clean(r)
		if err != nil {
			return left, damage, err
		}
		if !clean {
			left += int64(r.payload)
		}
	}
	return left, damage, nil
}
