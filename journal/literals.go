package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sync"

	"ambit/entry"
	"ambit/internal/vfs"

	"github.com/klauspost/compress/zstd"
)

// cacheLen bounds the decompressed literal text that one log keeps for reading, in bytes.
const cacheLen = 64 << 20

// literals is a session's literal log: the text that its bodies are made of, each run of it stored once. It serves one
// writer and any number of readers.
type literals struct {
	fs    vfs.FS
	name  string
	codec *codec

	mu      sync.Mutex
	own     bool     // this process holds the session's lock and is the log's writer
	file    vfs.File // nil until the log exists and was needed
	records []record // in order of offset, and so of literal address
	damage  []*CorruptError
	size    int64  // end of the last whole record
	next    uint64 // literal address after the last record's text
	cache   map[int64][]byte
	cached  int
	held    contents // of records
	last    record   // that stands last in the log, of either kind

	// What purges of single entries left.
	again map[uint64][]record // by literal address: those in the place of the record with text there, oldest first
	holes map[int64][]extent  // by the offset of a record whose text was loaded: what is gone of it

	looked bool                // it is known whether the session was purged
	gone   map[entry.Body]bool // the bodies that it had before; nil when it was not

	// A reader's part, which Dir.mu guards.
	users   int  // calls that use it
	dropped bool // to be closed once nobody uses it

	// The writer's part.
	synced int64    // what is durable
	dirty  bool     // bytes of a failed write may stand behind size
	named  bool     // the file's name is durable
	match  *matcher // nil until the first put
	erased bool     // for good: nothing more is put
}

// codec compresses literal text; it is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// sharedCodec makes the process's codec, which is large and keeps no state between calls.
var sharedCodec = sync.OnceValues(func() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(2))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(2))
	return &codec{enc, dec}, err
})

// refresh opens the log, if there is one, and reads the headers that were added since the last call. It returns how
// many bytes stand behind the last whole record.
func (l *literals) refresh() (rest int64, err error) {
	if l.file == nil {
		f, err := l.fs.Open(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	end, err := l.file.Size()
	if err != nil {
		return 0, err
	}
	head := make([]byte, RecordHeader)
	found := false // by a search behind damage, so that the text before it is not known
	for l.size+RecordHeader <= end {
		if _, err := l.file.ReadAt(head, l.size); err != nil {
			return 0, err
		}
		r, err := parseRecord(l.size, head)
		if err == nil && !found && !l.follows(r) {
			err = errFollow
		}
		if err == nil && r.end() > end {
			break
		}
		if err == nil {
			l.admit(r)
			found = false
			continue
		}
		found, err = l.resume(end, err)
		if err != nil {
			return 0, err
		}
		if !found {
			break
		}
	}
	return end - l.size, nil
}

// restart reads all headers again, and forgets what it knew, which the log's writer may have cut off since.
func (l *literals) restart() error {
	l.records, l.damage, l.size, l.next, l.cache, l.cached, l.held = nil, nil, 0, 0, nil, 0, contents{}
	l.again, l.holes = nil, nil
	_, err := l.refresh()
	return err
}

// follows reports whether a record may stand behind those that are known.
func (l *literals) follows(r record) bool {
	if r.again {
		return r.literal > 0 && r.start+uint64(r.literal) <= l.next
	}
	return r.start == l.next
}

func (l *literals) admit(r record) {
	l.last = r
	if r.again {
		l.size = r.end()
		l.replace(r)
		return
	}
	l.records = append(l.records, r)
	l.size, l.next = r.end(), r.start+uint64(r.literal)
}

// resume notes the damaged header at size and goes on to the next sound one. What is only the beginning of a header
// with nothing but zeros behind it is an append that was interrupted, not damage.
func (l *literals) resume(end int64, cause error) (found bool, err error) {
	const most = RecordHeader - 1
	unwritten, err := zeros(io.NewSectionReader(l.file, l.size+most, end-l.size-most))
	if unwritten || err != nil {
		return false, err
	}
	l.damage = append(l.damage, &CorruptError{File: l.name, Offset: l.size, Err: cause})
	at, err := l.search(l.size+1, end)
	l.size = at
	return at < end, err
}

// search returns the offset of the first sound header from an offset on, end when there is none.
func (l *literals) search(from, end int64) (int64, error) {
	buf := make([]byte, 1<<16)
	for from+RecordHeader <= end {
		n, err := l.file.ReadAt(buf[:min(int64(len(buf)), end-from)], from)
		if n < RecordHeader {
			return end, err
		}
		for i := 0; ; i++ {
			next := bytes.Index(buf[i:n], []byte(recordMagic[:3]))
			if i += next; next < 0 || i+RecordHeader > n {
				break
			}
			r, err := parseRecord(from+int64(i), buf[i:i+RecordHeader])
			if err == nil && r.end() <= end && (r.start >= l.next || r.again) {
				return r.at, nil
			}
		}
		from += int64(n) - RecordHeader + 1
	}
	return end, nil
}

// find returns the place of the record that a body names: the one at its offset or, where that is another one's or none,
// any that has the body.
func (l *literals) find(b entry.Body) (int, error) {
	i, ok := l.at(b.At)
	if !ok || !l.records[i].is(b) {
		i, ok = l.held.find(l.records, b)
	}
	if !ok {
		return 0, l.missing(b)
	}
	return i, nil
}

func (l *literals) missing(b entry.Body) error {
	return fmt.Errorf("%w: %d bytes with SHA-256 %.12s… at byte %d of %s", ErrNoBody, b.Size, b.SHA256, b.At, l.name)
}

// at returns the place of the record that starts at an offset of the log.
func (l *literals) at(offset int64) (int, bool) {
	return slices.BinarySearchFunc(l.records, offset, func(r record, at int64) int { return cmp.Compare(r.at, at) })
}

// body rebuilds a body and verifies it.
func (l *literals) body(b entry.Body) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.anew(b, func() ([]byte, error) { return l.rebuild(b) })
}

// anew reads something, and again where it looked damaged: the log's writer, another process, may have purged something.
func (l *literals) anew(b entry.Body, read func() ([]byte, error)) ([]byte, error) {
	got, err := read()
	if !l.own && errors.Is(err, errPayload) {
		if err := l.restart(); err != nil {
			return nil, err
		}
		got, err = read()
	}
	if err == errHole {
		err = fmt.Errorf("the body of %d bytes with SHA-256 %.12s…: %w", b.Size, b.SHA256, err)
	}
	return got, err
}

func (l *literals) rebuild(b entry.Body) ([]byte, error) {
	r, extents, err := l.extents(b)
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, r.size)
	for _, x := range extents {
		if body, err = l.gather(body, x, false); err != nil {
			return nil, err
		}
	}
	if sum := sha256.Sum256(body); sum != r.sum {
		return nil, l.corrupt(r.at, fmt.Errorf("the body rebuilds to SHA-256 %s, not %s", hex.EncodeToString(sum[:]), b.SHA256))
	}
	return body, nil
}

// part rebuilds some bytes of a body, as many of them as it has.
func (l *literals) part(b entry.Body, offset, length uint64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.anew(b, func() ([]byte, error) { return l.some(b, offset, length) })
}

func (l *literals) some(b entry.Body, offset, length uint64) ([]byte, error) {
	_, extents, err := l.extents(b)
	if err != nil {
		return nil, err
	}
	var part []byte
	for _, x := range extents {
		skip := min(offset, x.length)
		offset -= skip
		x.start, x.length = x.start+skip, min(x.length-skip, length-uint64(len(part)))
		if x.length == 0 {
			continue
		}
		if part, err = l.gather(part, x, false); err != nil {
			return nil, err
		}
	}
	return part, nil
}

// extents finds the record of a body, and what the body is made of.
func (l *literals) extents(b entry.Body) (record, []extent, error) {
	i, err := l.find(b)
	if err != nil && !l.own {
		// The log's writer, another process, has gone on, or has cut off what a crash left.
		if err := l.restart(); err != nil {
			return record{}, nil, err
		}
		i, err = l.find(b)
	}
	if err != nil {
		return record{}, nil, l.corrupt(b.At, err)
	}
	r := l.records[i]
	text, err := l.load(r)
	if err != nil {
		return record{}, nil, err
	}
	extents, err := parseRecipe(text[r.literal:], r.start, r.size, l.next)
	if err != nil {
		return record{}, nil, l.corrupt(r.at, err)
	}
	return r, extents, nil
}

// gather adds the text of an extent to body; with holes, zeros where text is gone.
func (l *literals) gather(body []byte, x extent, holes bool) ([]byte, error) {
	i, ok := slices.BinarySearchFunc(l.records, x.start, func(r record, at uint64) int { return cmp.Compare(r.start, at) })
	if !ok {
		i--
	}
	// Records without literal text share their address with the one that follows; a search may end on any of them.
	for i+1 < len(l.records) && l.records[i+1].start <= x.start {
		i++
	}
	for ; x.length > 0; i++ {
		if i < 0 || i >= len(l.records) {
			return nil, l.corrupt(l.size, errRecipe)
		}
		r := l.records[i]
		if r.literal == 0 {
			continue
		}
		if x.start < r.start || x.start >= r.start+uint64(r.literal) {
			return nil, l.corrupt(r.at, fmt.Errorf("no record holds literal byte %d", x.start))
		}
		text, err := l.load(r)
		if err != nil {
			return nil, err
		}
		part := text[x.start-r.start : r.literal]
		part = part[:min(uint64(len(part)), x.length)]
		if !holes && l.gap(r, x.start, uint64(len(part))) {
			return nil, errHole
		}
		body = append(body, part...)
		x.start += uint64(len(part))
		x.length -= uint64(len(part))
	}
	return body, nil
}

// load returns a record's literal text with its recipe behind it, as the newest record has it that stands in its place.
func (l *literals) load(r record) ([]byte, error) {
	if text, ok := l.cache[r.at]; ok {
		return text, nil
	}
	text, err := []byte(nil), errPayload
	again := l.replaced(r)
	for i := len(again) - 1; i >= 0 && errors.Is(err, errPayload); i-- {
		text, err = l.inflate(again[i])
		if err == nil {
			text, err = l.hollow(r, text)
		}
	}
	if errors.Is(err, errPayload) {
		delete(l.holes, r.at)
		text, err = l.inflate(r)
	}
	if err != nil {
		return nil, err
	}
	if l.cached += len(text); l.cache == nil || l.cached > cacheLen {
		l.cache, l.cached = make(map[int64][]byte), len(text)
	}
	l.cache[r.at] = text
	return text, nil
}

// inflate reads a record's payload.
func (l *literals) inflate(r record) ([]byte, error) {
	payload := make([]byte, r.payload)
	if _, err := l.file.ReadAt(payload, r.at+RecordHeader); err != nil {
		if err == io.EOF {
			err = l.corrupt(r.at, errShort)
		}
		return nil, err
	}
	if crc32.Checksum(payload, castagnoli) != r.crc {
		return nil, l.corrupt(r.at, errPayload)
	}
	text, err := l.codec.dec.DecodeAll(payload, make([]byte, 0, int(r.literal)+int(r.recipe)))
	if err != nil {
		return nil, l.corrupt(r.at, err)
	}
	if len(text) != int(r.literal)+int(r.recipe) {
		return nil, l.corrupt(r.at, fmt.Errorf("%w: %d bytes of text, not %d", errPayload, len(text), int(r.literal)+int(r.recipe)))
	}
	return text, nil
}

// verify reads every record but those that are known to be good, and returns all damage of the log. The last record
// is no damage while no entry relies on it: it may be an append that was interrupted.
func (l *literals) verify(good, referenced map[int64]bool) ([]*CorruptError, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.restart(); err != nil {
		return nil, err
	}
	damage := l.damage
	for i, r := range l.records {
		if good[r.at] {
			continue
		}
		_, err := l.load(r)
		var c *CorruptError
		if err == nil || i == len(l.records)-1 && !referenced[r.at] && errors.Is(err, errPayload) {
			continue
		}
		if !errors.As(err, &c) {
			return nil, err
		}
		damage = append(damage, c)
	}
	return damage, nil
}

func (l *literals) corrupt(at int64, err error) error {
	return &CorruptError{File: l.name, Offset: at, Err: err}
}

// drop closes a log for reading, or leaves that to the last call that uses it. The caller has Dir.mu.
func (l *literals) drop() error {
	l.dropped = true
	if l.users > 0 {
		return nil
	}
	return l.close()
}

func (l *literals) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
