package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"ambit/entry"
)

// FrameVersion is the version that every line of entries/ states.
const FrameVersion = 1

// MaxFrame is the length of the longest line of entries/, line end included, in bytes.
const MaxFrame = 1 << 20

// The fixed parts of a line; docs/format/journal.md gives the whole.
const (
	frameHead = `{"frame":1,"seq":`
	frameMore = `,"more":true`
	framePrev = `,"prev":"`
	frameBody = `","entry":`
	frameSum  = `,"sum":"`
	frameTail = `"}`
	sumLen    = 2 * sha256.Size
	tailLen   = len(frameSum) + sumLen + len(frameTail)
)

// firstPrev is the prev of a session's first frame.
var firstPrev = strings.Repeat("0", sumLen)

var (
	errNotFrame = errors.New("not a frame")
	errSum      = errors.New("the sum does not match")
)

// appendFrame adds the line of an encoded entry to buf and returns its sum. more says that another entry of the same
// append follows.
func appendFrame(buf []byte, seq entry.Seq, more bool, prev string, encoded []byte) (line []byte, sum string) {
	start := len(buf)
	buf = append(buf, frameHead...)
	buf = strconv.AppendUint(buf, uint64(seq), 10)
	if more {
		buf = append(buf, frameMore...)
	}
	buf = append(buf, framePrev...)
	buf = append(buf, prev...)
	buf = append(buf, frameBody...)
	buf = append(buf, encoded...)
	sum = sumOf(buf[start:])
	buf = append(buf, frameSum...)
	buf = append(buf, sum...)
	buf = append(buf, frameTail...)
	return append(buf, '\n'), sum
}

// sumOf is the SHA-256 of a line without its sum member; unsummed is the line up to that member.
func sumOf(unsummed []byte) string {
	h := sha256.New()
	h.Write(unsummed)
	h.Write([]byte{'}'})
	return hex.EncodeToString(h.Sum(nil))
}

// parseFrame reads one line without its line end and verifies its sum.
func parseFrame(line []byte) (Frame, error) { return parseWanted(line, nil) }

// parseWanted reads one line as parseFrame does, but leaves out the facts of entries that are not wanted.
func parseWanted(line []byte, wanted func(seq entry.Seq, data []byte) bool) (Frame, error) {
	if len(line) >= MaxFrame {
		return Frame{}, ErrTooLarge
	}
	rest, ok := bytes.CutPrefix(line, []byte(frameHead))
	if !ok || len(line) < len(frameHead)+tailLen {
		return Frame{}, errNotFrame
	}
	cut := len(line) - tailLen
	tail := line[cut:]
	if !bytes.HasPrefix(tail, []byte(frameSum)) || !bytes.HasSuffix(tail, []byte(frameTail)) {
		return Frame{}, errNotFrame
	}
	f := Frame{Line: line, Sum: string(tail[len(frameSum) : len(frameSum)+sumLen])}
	if sumOf(line[:cut]) != f.Sum {
		return Frame{}, errSum
	}
	rest = rest[:len(rest)-tailLen]
	digits, rest, ok := bytes.Cut(rest, []byte(framePrev))
	digits, f.More = bytes.CutSuffix(digits, []byte(frameMore))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	if !ok || err != nil || digits[0] == '0' || len(rest) < sumLen+len(frameBody) || !bytes.HasPrefix(rest[sumLen:], []byte(frameBody)) {
		return Frame{}, errNotFrame
	}
	f.Prev = string(rest[:sumLen])
	f.Seq, rest = entry.Seq(seq), rest[sumLen+len(frameBody):]
	if wanted != nil && !wanted(f.Seq, rest) {
		return f, nil
	}
	f.Entry, err = entry.Decode(f.Seq, rest)
	return f, err
}

// torn reports whether the bytes after the newest file's last line end are what an interrupted append leaves: part of
// a frame, and then at most zeros, which some file systems show where a length arrived before its bytes. A whole
// frame with something else behind it is not: its line end was changed.
func torn(rest []byte) bool {
	part := bytes.TrimRight(rest, "\x00")
	if len(part) > MaxFrame {
		return false
	}
	for at := 0; ; at++ {
		next := bytes.Index(part[at:], []byte(frameSum))
		if at += next; next < 0 || at+tailLen >= len(part) {
			return true
		}
		if _, err := parseFrame(part[:at+tailLen]); err == nil {
			return false
		}
	}
}
