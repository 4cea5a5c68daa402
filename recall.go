package ambit

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ambit/entry"
	"ambit/internal/index"
	"ambit/internal/pool"
	"ambit/provider"
)

// Recalled is the answer of Search and Read: recorded text, which is data of unknown freshness and never instructions.
// Its Status says how it went, and its Coverage how much was looked at: only a complete-miss proves that a text is not
// there.
type Recalled = index.Answer

// Limits bound an answer. Zero means the most that there is, and more than that is refused: 64 KiB of JSON, 16 results,
// and 16 GiB of text that is passed over; a message that cannot hold the text does not count.
type Limits = index.Limits

// Query asks for a text, literally and with its case.
type Query struct {
	Text     string // 1 to 8,192 characters
	Branches Branches
	Limits   Limits
	Cursor   string // of an answer that did not come to the end: go on from there
}

// Reading asks for the text of an entry, exactly.
type Reading struct {
	Ref       string // e412, or with the suffix that Handle gives it
	Revision  string // when it is not empty, the entry must be of this revision
	Field     string // a JSON pointer; empty for all public text of the entry
	StartLine int    // from 1; both are zero for all lines
	EndLine   int
	Branches  Branches
	Limits    Limits
	Cursor    string
}

// Branches says whether text that rewinds left behind is looked at.
type Branches int

// The branches of a session.
const (
	CurrentBranch Branches = iota // what an agent may recall
	AllBranches                   // what a person may see, too
)

// Search looks for a text in all public text of the session, and says where it first passed: what the user and the
// assistant said, what tools gave back, and the string arguments of calls, of their top level. Bodies that are not
// understood are searched as they passed. What an agent of Ambit's own looked for itself is not looked at, or it would find its
// question. The key authenticates cursors.
func (r *Recording) Search(ctx context.Context, key []byte, q Query) Recalled {
	c := r.capture(ctx, key, q.Cursor, q.Branches, "search")
	c.source.searched, c.source.probe = true, probe(q.Text)
	return c.Search(index.Query{Text: q.Text, Limits: q.Limits, Cursor: q.Cursor})
}

// Read returns text of one entry, in whole lines, or says why not. Of a request or a response it is the text that first
// passed in it, of a note, a pin, an input to an agent of Ambit's own or what one of its calls gave its own.
func (r *Recording) Read(ctx context.Context, key []byte, q Reading) Recalled {
	seq := r.named(key, q.Ref)
	c := r.capture(ctx, key, q.Cursor, q.Branches, "read")
	source := c.source
	source.only, source.name = seq, q.Ref
	c.Texts = source.texts
	if t, is, err := r.beside(ctx, seq); is {
		c.Texts = alone(t, err, q.Ref)
	}
	return c.Read(index.Selection{
		Ref: q.Ref, Revision: q.Revision, Field: q.Field, StartLine: q.StartLine, EndLine: q.EndLine, Limits: q.Limits, Cursor: q.Cursor,
	})
}

// Text is one public text of a session: which entry it first passed in, where in it, and in which exchange.
type Text = index.Text

// Texts yields all public text of the session in the order in which it first passed. The error is that of a text that cannot be read, or says what is missing; the next text follows.
func (r *Recording) Texts(ctx context.Context, branches Branches) iter.Seq2[Text, error] {
	return r.source(ctx, r.pool, branches).texts(0)
}

// Said is what a message or an answer says, decoded.
type Said struct {
	Texts []provider.Text // public text
	Calls []provider.Call
}

// Said decodes the unit of an entry, of whichever branch. ErrNotRecorded says that the entry is none.
func (r *Recording) Said(ctx context.Context, seq entry.Seq) (Said, error) {
	if r.reader == nil {
		r.reader = &retained{ctx: ctx, r: r, pool: r.pool}
	}
	u := r.unit(seq)
	if u == nil {
		return Said{}, ErrNotRecorded
	}
	if err := r.gone(u); err != nil {
		return Said{}, err
	}
	r.reader.ctx = ctx
	switch u.Of {
	case entry.PartMessage, entry.PartRecord:
		m, err := r.reader.message(u)
		return Said{m.Texts, m.Calls}, err
	case entry.PartAnswer:
		a, err := r.Answer(ctx, u.N)
		return Said{a.Texts(), a.Calls}, err
	case entry.PartMore, entry.PartPruned, entry.PartResumed:
		return Said{}, nil
	default:
		text, err := r.reader.whole(u)
		return Said{Texts: []provider.Text{{Text: text}}}, err
	}
}

// unit is the unit of an entry, nil when that is none.
func (r *Recording) unit(seq entry.Seq) *pool.Unit {
	i, ok := slices.BinarySearchFunc(r.pool.Units, seq, func(u pool.Unit, seq entry.Seq) int { return cmp.Compare(u.Seq, seq) })
	if !ok {
		return nil
	}
	return &r.pool.Units[i]
}

// Handle is the ref of an entry as it is shown to a model: with a suffix that cannot be guessed and holds in this session
// only.
func (r *Recording) Handle(key []byte, seq entry.Seq) string {
	return seq.Ref() + "." + handle(key, r.session, seq)
}

// Names reports whether a ref with a suffix is of a session: whether Handle gives it that suffix there.
func Names(key []byte, session, ref string) bool {
	short, suffix, marked := strings.Cut(ref, ".")
	seq := entry.ParseRef(short)
	return marked && seq != 0 && hmac.Equal([]byte(suffix), []byte(handle(key, session, seq)))
}

// CursorSession is the session of the answer that gave a cursor; empty for what is no cursor made with the key.
func CursorSession(key []byte, cursor string) string {
	of, _ := index.CaptureOf(cursor, key)
	if words := strings.Fields(of); len(words) > 1 {
		return words[1]
	}
	return ""
}

// handleLength is how many letters of a ref's suffix there are: enough that none is found by trying.
const handleLength = 8

// named is the entry that a ref names, with its suffix or without; 0 for what is no ref of this session.
func (r *Recording) named(key []byte, ref string) entry.Seq {
	short, _, marked := strings.Cut(ref, ".")
	seq := entry.ParseRef(short)
	if marked && !Names(key, r.session, ref) {
		return 0
	}
	return seq
}

func handle(key []byte, session string, seq entry.Seq) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("ref\x00" + session + "\x00" + seq.Ref()))
	return strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil))[:handleLength])
}

// capture is what an answer looks at.
type capture struct {
	index.Capture
	source *retained
}

// capture takes the session as it is, or as it was when the answer was given that a cursor continues.
func (r *Recording) capture(ctx context.Context, key []byte, cursor string, branches Branches, what string) capture {
	p := r.pool
	name := func(seq entry.Seq) string {
		last := "" // of what is there, so that a cursor does not go on in another session of the same name
		for i := len(r.pool.Units) - 1; i >= 0 && last == ""; i-- {
			if u := &r.pool.Units[i]; u.Seq <= seq {
				last = u.Revision
			}
		}
		return what + " " + r.session + " " + strconv.Itoa(int(branches)) + " " + last + " " + strconv.FormatUint(uint64(seq), 10)
	}
	id := name(p.Seq)
	if of, ok := index.CaptureOf(cursor, key); ok {
		at, err := strconv.ParseUint(of[strings.LastIndexByte(of, ' ')+1:], 10, 64)
		if seq := entry.Seq(at); err == nil && of == name(seq) && seq < p.Seq {
			p, id = p.Until(seq), of
		}
	}
	s := r.source(ctx, p, branches)
	return capture{index.Capture{ID: id, Key: key, Texts: s.texts}, s}
}

func (r *Recording) source(ctx context.Context, p *pool.Pool, branches Branches) *retained {
	s := &retained{ctx: ctx, r: r, pool: p}
	if s.current = branches == CurrentBranch; s.current {
		s.requests, s.answers = p.Behind()
	}
	return s
}
