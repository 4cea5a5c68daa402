package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"ambit/entry"

	"github.com/go-json-experiment/json/jsontext"
)

// Exported is what an export holds, up to its first damaged line.
type Exported struct {
	Name    string        // what a session made of it is to be called, see ReadExport; it may be changed before the Import
	Session entry.Session // what the newest session entry says
	Entries int
	Bodies  int       // that stand in it, each once
	Bytes   int64     // of these bodies, together
	Last    entry.Seq // of the last entry
	Sum     string    // of that entry's frame: it covers all of them

	Lines  int // of the whole file
	Size   int64
	SHA256 string
	Damage *LineError // why the reading ended before the file; nil when all of it is held

	end    int64 // offset behind the last whole append
	purged bool  // the entries end as those of a session do that was purged
}

// LineError says which line of an export is damaged.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v: %v", e.Line, ErrCorrupt, e.Err) }

// Unwrap makes errors.Is(err, ErrCorrupt) hold, and gives the cause.
func (e *LineError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }

// The fixed parts of a line that carries a body.
const (
	bodyHead   = `{"body":`
	bodyText   = `,"text":`
	bodyBase64 = `,"base64":"`
	bodyPurged = `,"purged":true}`
	nameLen    = 256 // more than the head and a body's name take
)

var (
	errNotBody = errors.New("not a line of a body")
	errOther   = errors.New("the body is not what its name says")
)

// IsExport reports whether a file that begins so may be an export.
func IsExport(beginning []byte) bool {
	return bytes.HasPrefix(beginning, []byte(bodyHead+`{"at":`)) || bytes.HasPrefix(beginning, []byte(frameHead+`1,`))
}

// ReadExport verifies an export, line by line: the spelling of its frames, their chain, the length and SHA-256 of each
// body, and that each stands before the first frame that relies on it and no other. It writes nothing. Everything
// before the first damaged line counts, up to the last append that is whole; where that is nothing, the damage is
// the error, a LineError. A body that was purged is damage, too, unless the entries end as those of a purged session do. Name is the id in the newest session entry, which of a fork is its own, or "imported" where
// that is no session name.
//
// That lines are missing at the end cannot be seen when they are whole appends.
func ReadExport(ctx context.Context, export io.ReaderAt) (Exported, error) {
	x := newExportReader(export)
	var read, whole, kept Exported // so far, up to the last whole append, and up to that before the first purged body
	err := x.read(ctx, math.MaxInt64, taker{
		body: func(b entry.Body, _ []byte) error {
			read.Bodies++
			read.Bytes += b.Size
			return nil
		},
		frame: func(f Frame) error {
			if s, ok := f.Fact.(*entry.Session); ok {
				read.Session = *s
			}
			read.Entries++
			read.Last, read.Sum, read.end = f.Seq, f.Sum, x.at
			read.purged = purges(f.Fact) || read.purged && admits(f.Fact)
			if !f.More {
				whole = read
			}
			if x.gone == 0 {
				kept = whole
			}
			return nil
		},
	})
	if err != nil && !errors.As(err, &whole.Damage) {
		return Exported{}, err
	}
	if x.gone > 0 && !whole.purged { // no entry would say that the body is gone
		err = &LineError{x.gone, ErrPurged}
		whole, whole.Damage = kept, err.(*LineError)
	}
	if whole.Entries == 0 {
		return Exported{}, err
	}
	if err := x.drain(ctx); err != nil {
		return Exported{}, err
	}
	whole.Lines, whole.Size, whole.SHA256 = x.file.lines(), x.file.size, x.file.sum()
	if whole.Name = whole.Session.ID; checkName(whole.Name) != nil {
		whole.Name = "imported"
	}
	return whole, nil
}

// taker takes what an export holds, in order. Bytes and lines are valid during the call only.
type taker struct {
	body  func(b entry.Body, bytes []byte) error
	frame func(f Frame) error
}

// exportReader reads an export, a line at a time.
type exportReader struct {
	file    tally
	from    *bufio.Reader
	long    []byte // memory for a line that from does not hold
	line    int    // number of the line that was read last
	at      int64  // offset behind it
	chain   chain
	more    bool                // the last frame's append goes on
	relied  map[entry.Body]bool // bodies that frames rely on
	waiting []entry.Body        // bodies that were read since the last frame
	gone    int                 // number of the first line with a body that was purged; 0 for none
}

func newExportReader(export io.ReaderAt) *exportReader {
	x := &exportReader{chain: chain{next: 1, prev: firstPrev}, relied: make(map[entry.Body]bool)}
	x.file.hash = sha256.New()
	x.from = bufio.NewReaderSize(io.TeeReader(io.NewSectionReader(export, 0, math.MaxInt64), &x.file), 1<<16)
	return x
}

// read takes the export up to an offset. What is wrong with it is a LineError.
func (x *exportReader) read(ctx context.Context, until int64, to taker) error {
	for x.at < until {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.line++
		more, err := x.next(to)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// damaged says that the line that is being read is.
func (x *exportReader) damaged(cause error) error { return &LineError{Line: x.line, Err: cause} }

// next takes a line; more is false at the end of the file.
func (x *exportReader) next(to taker) (more bool, err error) {
	head, err := x.from.Peek(nameLen)
	if err != nil && err != io.EOF {
		return false, err
	}
	if len(head) == 0 {
		if x.more || len(x.waiting) > 0 || x.line == 1 {
			return false, x.damaged(errors.New("the file ends inside an append"))
		}
		return false, nil
	}
	var b entry.Body
	limit, name := int64(MaxFrame), 0
	if bytes.HasPrefix(head, []byte(bodyHead)) {
		if b, name, err = bodyName(head); err != nil {
			return false, x.damaged(err)
		}
		limit = 6*b.Size + nameLen // an escape is of 6 bytes at most for each byte that it stands for
	}
	line, err := x.readLine(limit)
	if err != nil {
		return false, err
	}
	if name > 0 {
		return true, x.body(to, b, line[name:])
	}
	return true, x.frame(to, line)
}

// readLine reads up to a line end, which it takes off.
func (x *exportReader) readLine(limit int64) ([]byte, error) {
	x.long = x.long[:0]
	if cap(x.long) > cacheLen {
		x.long = nil
	}
	for {
		part, err := x.from.ReadSlice('\n')
		x.at += int64(len(part))
		if err == nil && len(x.long) == 0 {
			return part[:len(part)-1], nil
		}
		x.long = append(x.long, part...)
		switch {
		case err == io.EOF:
			return nil, x.damaged(errors.New("no line end"))
		case err != nil && err != bufio.ErrBufferFull:
			return nil, err
		case int64(len(x.long)) > limit:
			return nil, x.damaged(ErrTooLarge)
		case err == nil:
			return x.long[:len(x.long)-1], nil
		}
	}
}

// bodyName reads the beginning of a line that carries a body, up to what it says of the body's bytes.
func bodyName(head []byte) (b entry.Body, end int, err error) {
	if end = bytes.IndexByte(head, '}') + 1; end == 0 {
		return b, 0, errNotBody
	}
	name := head[len(bodyHead):end]
	if json.Unmarshal(name, &b) != nil {
		return b, 0, errNotBody
	}
	if again, err := json.Marshal(b); err != nil || !bytes.Equal(again, name) || b.Size < 0 {
		return b, 0, errNotBody
	}
	if b.Size > MaxBody {
		return b, 0, ErrTooLarge
	}
	return b, end, nil
}

// body takes a body, of which rest is what its line has behind the name.
func (x *exportReader) body(to taker, b entry.Body, rest []byte) error {
	if x.relied[b] || slices.Contains(x.waiting, b) {
		return x.damaged(errors.New("the body stands in the file before"))
	}
	if string(rest) == bodyPurged {
		x.waiting = append(x.waiting, b)
		x.gone = cmp.Or(x.gone, x.line)
		return nil
	}
	text, err := bodyBytes(b, rest)
	if err != nil {
		return x.damaged(err)
	}
	if sum := sha256.Sum256(text); int64(len(text)) != b.Size || hex.EncodeToString(sum[:]) != b.SHA256 {
		return x.damaged(errOther)
	}
	x.waiting = append(x.waiting, b)
	return to.body(b, text)
}

// bodyBytes reads what the line of a body has behind its name.
func bodyBytes(b entry.Body, rest []byte) ([]byte, error) {
	if string(rest) == "}" {
		return nil, nil
	}
	if text, ok := bytes.CutPrefix(rest, []byte(bodyText)); ok && bytes.HasSuffix(text, []byte(`"}`)) {
		text = text[:len(text)-1]
		out, err := jsontext.AppendUnquote(make([]byte, 0, min(int(b.Size), len(text))), text)
		if err != nil {
			return nil, errNotBody
		}
		return out, nil
	}
	text, ok := bytes.CutPrefix(rest, []byte(bodyBase64))
	if text, whole := bytes.CutSuffix(text, []byte(`"}`)); ok && whole {
		out, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
		if err != nil {
			return nil, errNotBody
		}
		return out, nil
	}
	return nil, errNotBody
}

// frame takes a frame, before which exactly those bodies must stand that it is the first to rely on.
func (x *exportReader) frame(to taker, line []byte) error {
	f, err := parseFrame(line)
	if err == nil {
		err = x.chain.step(f)
	}
	if err != nil {
		return x.damaged(err)
	}
	var first []entry.Body
	for _, b := range entry.Bodies(f.Fact) {
		if !x.relied[b] {
			x.relied[b] = true
			first = append(first, b)
		}
	}
	for i, b := range x.waiting {
		if i >= len(first) || b != first[i] {
			return &LineError{x.line - len(x.waiting) + i, fmt.Errorf("entry %d, which follows, is not the first to rely on the body", f.Seq)}
		}
	}
	if len(first) > len(x.waiting) {
		return x.damaged(fmt.Errorf("entry %d relies on a body that does not stand before it", f.Seq))
	}
	x.waiting, x.more = x.waiting[:0], f.More
	return to.frame(f)
}

// drain reads the rest of the file, for its hash.
func (x *exportReader) drain(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, x.from, 1<<24); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// tally counts and hashes what is written to it.
type tally struct {
	hash  hash.Hash
	size  int64
	ended int // lines that have an end
	open  bool
}

func (t *tally) Write(p []byte) (int, error) {
	t.size += int64(len(p))
	t.ended += bytes.Count(p, []byte{'\n'})
	if len(p) > 0 {
		t.open = p[len(p)-1] != '\n'
	}
	return t.hash.Write(p)
}

func (t *tally) sum() string { return hex.EncodeToString(t.hash.Sum(nil)) }

func (t *tally) lines() int {
	if t.open {
		return t.ended + 1
	}
	return t.ended
}
