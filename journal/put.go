package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"

	"ambit/entry"
)

// open prepares the log for writing: it is opened for that, if it exists, and cut behind its last whole record. The
// caller holds the session's lock. newest is the offset of the last record that the newest entries rely on, -1 for
// none; referenced gives that of all entries, and is asked only when something is to be cut.
func (l *literals) open(newest int64, referenced func() (int64, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = true
	f, err := l.fs.Edit(l.name)
	if errors.Is(err, fs.ErrNotExist) && newest < 0 {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return l.corrupt(0, errors.New("the file is missing, and entries rely on it"))
	}
	if err != nil {
		return err
	}
	l.file, l.named = f, true
	rest, err := l.refresh()
	if err == nil && len(l.damage) > 0 {
		err = l.damage[0]
	}
	if err == nil {
		rest, err = l.dropTorn(rest)
	}
	if err == nil && newest >= l.size {
		err = l.corrupt(l.size, fmt.Errorf("%w, and an entry relies on it", errShort))
	}
	if err == nil && rest > 0 {
		err = l.cut(referenced)
	}
	if err == nil {
		err = l.file.Sync() // what a process wrote before it died
	}
	if err != nil {
		l.file.Close()
		l.file = nil
		return err
	}
	l.synced = l.size
	return nil
}

// dropTorn takes the last record out when its payload did not arrive whole. Only the last can be so: a log is
// written in order.
func (l *literals) dropTorn(rest int64) (int64, error) {
	n := len(l.records) - 1
	if n < 0 {
		return rest, nil
	}
	if l.last.again { // what is torn there does not count, and is made again
		return rest, nil
	}
	r := l.records[n]
	_, err := l.load(r)
	if !errors.Is(err, errPayload) {
		return rest, err
	}
	l.records, l.size, l.next, l.held = l.records[:n], r.at, r.start, contents{}
	return rest + r.end() - r.at, nil
}

// cut removes what stands behind the last whole record, unless an entry relies on it.
func (l *literals) cut(referenced func() (int64, error)) error {
	last, err := referenced()
	if err != nil {
		return err
	}
	if last >= l.size {
		return l.corrupt(l.size, fmt.Errorf("%w, and an entry relies on it", errShort))
	}
	return l.file.Truncate(l.size)
}

// put stores a body behind the last record. It is durable after sync.
func (l *literals) put(body []byte) (entry.Body, error) {
	if len(body) > MaxBody {
		return entry.Body{}, fmt.Errorf("put a body of %d bytes: %w", len(body), ErrTooLarge)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.erased {
		return entry.Body{}, fmt.Errorf("the session was %w", ErrPurged)
	}
	if err := l.ready(); err != nil {
		return entry.Body{}, err
	}
	r := record{at: l.size, start: l.next, size: uint64(len(body)), sum: sha256.Sum256(body)}
	extents, literal := l.match.split(body, l.next)
	r.literal = uint32(len(literal))
	text := appendRecipe(literal, l.next, extents)
	r.recipe = uint32(len(text)) - r.literal
	buf := l.codec.enc.EncodeAll(text, make([]byte, RecordHeader, RecordHeader+len(text)/3+64))
	r.payload = uint32(len(buf) - RecordHeader)
	r.crc = crc32.Checksum(buf[RecordHeader:], castagnoli)
	r.append(buf[:0])
	if _, err := l.file.WriteAt(buf, r.at); err != nil {
		l.dirty = true
		return entry.Body{}, err
	}
	l.match.add(text[:r.literal])
	l.admit(r)
	return r.body(), nil
}

// ready makes the file, mends it after a failed write, and loads what new bodies are compared with.
func (l *literals) ready() error {
	if l.file == nil {
		f, err := l.fs.Create(l.name)
		if errors.Is(err, fs.ErrExist) {
			f, err = l.fs.Edit(l.name)
		}
		if err != nil {
			return err
		}
		l.file = f
	}
	if err := l.mend(); err != nil {
		return err
	}
	if l.match != nil {
		return nil
	}
	first := len(l.records)
	for first > 0 && l.next-l.records[first-1].start <= windowLen {
		first--
	}
	m := newMatcher(l.next)
	if first < len(l.records) {
		m = newMatcher(l.records[first].start)
	}
	for _, r := range l.records[first:] {
		text, err := l.load(r)
		if err != nil {
			return err
		}
		m.skip(l.holes[r.at])
		m.add(text[:r.literal])
	}
	l.match = m
	l.cache, l.cached = nil, 0 // the matcher has this text now
	return nil
}

// mend cuts off what a failed write left.
func (l *literals) mend() error {
	if !l.dirty {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	l.dirty = false
	return nil
}

// has reports whether b was put here and is still whole.
func (l *literals) has(b entry.Body) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.at(b.At); ok && l.records[i].is(b) {
		return nil
	}
	return l.missing(b)
}

// sync makes everything up to the record at an offset durable. When that fails, what was put since the last sync is
// dropped: after a failed sync the system no longer says which of its bytes arrived, so they must be put again.
func (l *literals) sync(at int64) error {
	l.mu.Lock()
	size, done, file, named := l.size, at < l.synced, l.file, l.named
	l.mu.Unlock()
	if done {
		return nil
	}
	err := file.Sync()
	if err == nil && !named {
		err = l.fs.SyncDir(path.Dir(l.name))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.synced, l.named = size, true
		return nil
	}
	l.forget()
	return err
}

// forget drops what was put since the last sync.
func (l *literals) forget() {
	n, _ := l.at(l.synced)
	if n < len(l.records) {
		l.next = l.records[n].start
	}
	l.records, l.size, l.dirty, l.match, l.held = l.records[:n], l.synced, true, nil, contents{}
	l.cache, l.cached = nil, 0
}
