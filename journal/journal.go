// Package journal keeps sessions: ordered, hash-chained, append-only entries, and the exact bytes of the bodies that
// they rely on.
//
// What it guarantees: an acknowledged Append survives the death of the process and of the machine; one that was not
// acknowledged is there whole or not at all; nothing rewrites or deletes an entry; damage is found and reported with
// file, offset and cause, never passed over. A session has one writer at a time, in whatever process. The format on
// disk is docs/format/journal.md.
//
// A Store is safe for concurrent use. It does not interpret bodies, and only purges remove anything.
package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ambit/entry"
)

// Store keeps sessions. Dir keeps them in files; every store passes journaltest.Run.
type Store interface {
	// Sessions returns the names of all sessions that hold an entry, in ascending order, with those that cannot be read.
	Sessions(ctx context.Context) ([]string, error)

	// Lock makes the caller the one writer of a session, which need not exist yet, and repairs what a crash left
	// unfinished at its end. It does not wait: while there is another writer it returns a BusyError. A session in
	// which it meets damage cannot be locked (ErrCorrupt); it reads the newest part only. The caller must call unlock
	// once; it waits for appends under way.
	Lock(ctx context.Context, session string) (unlock func() error, err error)

	// Append adds facts as the session's next entries, all or none, crash or not, and returns the sequence number of
	// the last. It returns after they are durable, with every body that they rely on. The session must be locked
	// (ErrNotLocked). A context that ends before the append begins prevents it; later it changes nothing. After an
	// error the session is as before, and appending can be tried again, with bodies that were put again; only when
	// the disk refused to take back what was written may it be there, whole, after the death of the process.
	//
	// A Session with From, as the first fact of a session without entries, makes that a fork: it goes on from that
	// entry of another session, numbers and chain included, and holds all entries up to it without storing them. That
	// entry must be readable and have that sum, else it is ErrFork and nothing is written. It may be any, also one in
	// the middle of an append, and the other session may have a writer, in whatever process, or go on later: it is
	// never written. Entries rely on bodies that were put into their own session only.
	//
	// An Imported of entry.FormatAmbit, which has no body, is the last entry of its session but for a Purged: after it,
	// everything else is refused (ErrImported), and so are bodies. A fork may go on from it.
	Append(ctx context.Context, session string, facts ...entry.Fact) (entry.Seq, error)

	// Put stores a body's bytes by difference to what the session holds. They are durable when an entry that names
	// the body is. The session must be locked. The store keeps no reference to body.
	Put(ctx context.Context, session string, body []byte) (entry.Body, error)

	// Read yields the frames after a sequence number, verified, in order. An error comes once and last: damage is
	// a CorruptError, and everything before it has been yielded. A session without entries yields ErrNoSession.
	// What is not yet durable is not yielded to readers of the writing process. Line is valid until the next step.
	// The entries that a fork goes on from come first, unless all of them are to be passed over. What is wrong with
	// the session that has them is damage of the fork, in the place where it is met: at the first entry, when that
	// session is missing or is another one than was forked.
	Read(ctx context.Context, session string, after entry.Seq) iter.Seq2[Frame, error]

	// Body rebuilds a body and compares it with its SHA-256; a difference is a CorruptError. In a fork it may also be
	// one that the sessions have from which it goes on. The quickest is to ask the session that a Frame is In. Where the
	// body was put is a hint: one of the same length and SHA-256 that the session has elsewhere is the same body. Of one
	// that was purged it is ErrPurged, which is no damage.
	Body(ctx context.Context, session string, b entry.Body) ([]byte, error)

	// Check reads everything that a session holds and says what does not hold together. It changes nothing; its
	// error is about the reading itself, never about what was found. An interrupted append is not damage. Of what a
	// fork goes on from, it reads the entries that are the fork's, and the bodies that they rely on.
	Check(ctx context.Context, session string) (Report, error)
}

// Frame is an entry with its place in the chain.
type Frame struct {
	entry.Entry
	In   string // the session in which it is stored; in a fork it may be one from which that goes on
	Sum  string // SHA-256 that covers the entry and, by Prev, all before it
	Prev string // the sum of the frame before
	Line []byte // the frame as it is stored, without the line end

	More bool // another entry of the same append follows
}

// Revision is the short content hash by which an entry's revision is named.
func (f Frame) Revision() string { return f.Sum[:8] }

// Errors of a call that does not fit the session's state.
var (
	ErrNoSession = errors.New("no such session")
	ErrNotLocked = errors.New("session is not locked by this process")
	ErrBusy      = errors.New("session has another writer")
	ErrClosed    = errors.New("store is closed")
	ErrBadName   = errors.New("not a session name")
	ErrTooLarge  = errors.New("larger than the format allows")
	ErrNoBody    = errors.New("no such body in the session")
	ErrFork      = errors.New("cannot go on from there")
	ErrImporting = errors.New("another process imports into this data directory")
	ErrImported  = errors.New("session was imported and takes no more entries")
)

// ErrCorrupt says that stored bytes are not what was written. It comes as a CorruptError.
var ErrCorrupt = errors.New("damaged")

// CorruptError says where damage was found.
type CorruptError struct {
	File   string
	Offset int64 // in bytes from the start of the file
	Err    error // what is wrong there
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s at byte %d: %v: %v", e.File, e.Offset, ErrCorrupt, e.Err)
}

// Unwrap makes errors.Is(err, ErrCorrupt) hold, and gives the cause.
func (e *CorruptError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }

// Holder says who holds a session's lock.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command,omitempty"` // such as up
	Addr    string `json:"addr,omitempty"`    // where it answers, host:port
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "a process that has not said its name yet"
	}
	s := fmt.Sprintf("process %d", h.PID)
	if h.Command != "" {
		s = fmt.Sprintf("ambit %s, %s", h.Command, s)
	}
	if h.Addr != "" {
		s += " at " + h.Addr
	}
	return s
}

// BusyError names the writer that holds a session.
type BusyError struct {
	Session string
	Holder  Holder
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("session %q is in use by %s", e.Session, e.Holder)
}

// Unwrap makes errors.Is(err, ErrBusy) hold.
func (e *BusyError) Unwrap() error { return ErrBusy }

// maxName is the length of the longest session name.
const maxName = 64

// checkName refuses what is not a session name: 1 to 64 lower-case letters, digits and inner hyphens. So a name is
// never a path.
func checkName(session string) error {
	ok := len(session) > 0 && len(session) <= maxName && session[0] != '-'
	for i := 0; i < len(session) && ok; i++ {
		c := session[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
	}
	if !ok {
		return fmt.Errorf("%w: %q", ErrBadName, session)
	}
	return nil
}
