package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"ambit/entry"
)

// The literal log is a row of records, one a body; docs/format/journal.md has the byte diagram.
const (
	recordMagic = "AMB1"
	// againMagic begins a record that stands in the place of one before, without some of its text.
	againMagic = "AMB2"
	// RecordHeader is the length of a record's header, in bytes.
	RecordHeader = 72
	// MaxBody is the length of the longest body, in bytes.
	MaxBody = 1 << 30
)

// maxRatio bounds what a payload can hold: a block of zstd has 4 bytes at least and makes 128 KiB at most.
const maxRatio = 128 << 10 / 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errHeader  = errors.New("the record's header does not match its checksum")
	errPayload = errors.New("the record's payload does not match its checksum")
	errRatio   = errors.New("the record's payload cannot hold so much")
	errFollow  = errors.New("the record's literal address is not where the text before it ends")
	errShort   = errors.New("the record ends early")
	errUnsaid  = errors.New("text of the record is gone, and no entry says that it was purged")
	errRecipe  = errors.New("the record's extents do not fit")
)

// record is the header of one record.
type record struct {
	at      int64  // where it stands in the log
	payload uint32 // length of the compressed part
	start   uint64 // literal address of the first byte of its literal text
	literal uint32 // length of its literal text
	recipe  uint32 // length of its extents
	size    uint64 // length of the body
	sum     [32]byte
	crc     uint32 // of the payload
	again   bool   // it stands in the place of the record with the same literal text
}

// extent is a run of literal text.
type extent struct {
	start  uint64
	length uint64
}

func (r record) end() int64 { return r.at + RecordHeader + int64(r.payload) }

func (r record) body() entry.Body {
	return entry.Body{At: r.at, Size: int64(r.size), SHA256: hex.EncodeToString(r.sum[:])}
}

// is reports whether b names this record's body.
func (r record) is(b entry.Body) bool { return r.body() == b }

func (r record) append(buf []byte) []byte {
	from := len(buf)
	if r.again {
		buf = append(buf, againMagic...)
	} else {
		buf = append(buf, recordMagic...)
	}
	buf = binary.LittleEndian.AppendUint32(buf, r.payload)
	buf = binary.LittleEndian.AppendUint64(buf, r.start)
	buf = binary.LittleEndian.AppendUint32(buf, r.literal)
	buf = binary.LittleEndian.AppendUint32(buf, r.recipe)
	buf = binary.LittleEndian.AppendUint64(buf, r.size)
	buf = append(buf, r.sum[:]...)
	buf = binary.LittleEndian.AppendUint32(buf, r.crc)
	return binary.LittleEndian.AppendUint32(buf, crc32.Checksum(buf[from:], castagnoli))
}

// parseRecord reads a header of RecordHeader bytes that stands at an offset of the log.
func parseRecord(at int64, head []byte) (record, error) {
	le := binary.LittleEndian
	const covered = RecordHeader - 4
	again := bytes.HasPrefix(head, []byte(againMagic))
	if !again && !bytes.HasPrefix(head, []byte(recordMagic)) || crc32.Checksum(head[:covered], castagnoli) != le.Uint32(head[covered:]) {
		return record{}, errHeader
	}
	r := record{
		at: at, payload: le.Uint32(head[4:]), start: le.Uint64(head[8:]), literal: le.Uint32(head[16:]),
		recipe: le.Uint32(head[20:]), size: le.Uint64(head[24:]), crc: le.Uint32(head[64:]), again: again,
	}
	copy(r.sum[:], head[32:64])
	if r.size > MaxBody || r.literal > MaxBody || r.recipe > MaxBody {
		return record{}, ErrTooLarge
	}
	if uint64(r.literal)+uint64(r.recipe) > maxRatio*uint64(r.payload) {
		return record{}, errRatio
	}
	return r, nil
}

// appendRecipe writes extents: for each the distance of its start from the end of the one before, for the first from
// the start of the record's own literal text, as a zigzag varint, then its length as a varint.
func appendRecipe(buf []byte, start uint64, extents []extent) []byte {
	at := start
	for _, x := range extents {
		buf = binary.AppendVarint(buf, int64(x.start-at))
		buf = binary.AppendUvarint(buf, x.length)
		at = x.start + x.length
	}
	return buf
}

// parseRecipe reads what appendRecipe wrote; the extents must make up size bytes and end before limit.
func parseRecipe(buf []byte, start, size, limit uint64) ([]extent, error) {
	var extents []extent
	at, total := start, uint64(0)
	for len(buf) > 0 {
		delta, n := binary.Varint(buf)
		if n <= 0 {
			return nil, errRecipe
		}
		length, m := binary.Uvarint(buf[n:])
		if m <= 0 {
			return nil, errRecipe
		}
		buf = buf[n+m:]
		x := extent{start: at + uint64(delta), length: length}
		total += length
		if length == 0 || length > size || total > size || x.start > limit || x.length > limit-x.start {
			return nil, errRecipe
		}
		extents, at = append(extents, x), x.start+length
	}
	if total != size {
		return nil, fmt.Errorf("%w: they make up %d of %d bytes", errRecipe, total, size)
	}
	return extents, nil
}
