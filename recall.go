package ambit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
// understood are searched as they passed. The key authenticates cursors.
func (r *Recording) Search(ctx context.Context, key []byte, q Query) Recalled {
	c := r.capture(ctx, key, q.Cursor, q.Branches, "search")
	c.source.probe = probe(q.Text)
	return c.Search(index.Query{Text: q.Text, Limits: q.Limits, Cursor: q.Cursor})
}

// Read returns text of one entry, in whole lines, or says why not. Of a request or a response it is the text that first
// passed in it.
func (r *Recording) Read(ctx context.Context, key []byte, q Reading) Recalled {
	short, handle, marked := strings.Cut(q.Ref, ".")
	seq := entry.ParseRef(short)
	if marked && (seq == 0 || !hmac.Equal([]byte(handle), []byte(r.handle(key, seq)))) {
		seq = 0
	}
	c := r.capture(ctx, key, q.Cursor, q.Branches, "read")
	source := c.source
	source.only, source.name = seq, q.Ref
	c.Texts = source.texts
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
		r.reader = &source{ctx: ctx, r: r, pool: r.pool}
	}
	i, ok := slices.BinarySearchFunc(r.pool.Units, seq, func(u pool.Unit, seq entry.Seq) int { return cmp.Compare(u.Seq, seq) })
	if !ok {
		return Said{}, ErrNotRecorded
	}
	r.reader.ctx = ctx
	switch u := &r.pool.Units[i]; u.Of {
	case entry.PartMessage:
		m, err := r.reader.message(u)
		return Said{m.Texts, m.Calls}, err
	case entry.PartAnswer:
		a, err := r.Answer(ctx, u.N)
		return Said{a.Texts(), a.Calls}, err
	case entry.PartMore:
		return Said{}, nil
	default:
		text, err := r.reader.whole(u)
		return Said{Texts: []provider.Text{{Text: text}}}, err
	}
}

// Handle is the ref of an entry as it is shown to a model: with a suffix that cannot be guessed and holds in this session
// only.
func (r *Recording) Handle(key []byte, seq entry.Seq) string {
	return seq.Ref() + "." + r.handle(key, seq)
}

// handleLength is how many letters of a ref's suffix there are: enough that none is found by trying.
const handleLength = 8

func (r *Recording) handle(key []byte, seq entry.Seq) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("ref\x00" + r.session + "\x00" + seq.Ref()))
	return strings.ToLower(base32.StdEncoding.EncodeToString(mac.Sum(nil))[:handleLength])
}

// capture is what an answer looks at.
type capture struct {
	index.Capture
	source *source
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

func (r *Recording) source(ctx context.Context, p *pool.Pool, branches Branches) *source {
	s := &source{ctx: ctx, r: r, pool: p}
	if s.current = branches == CurrentBranch; s.current {
		s.requests, s.answers = p.Behind()
	}
	return s
}

// source yields the public texts of a session.
type source struct {
	ctx               context.Context
	r                 *Recording
	pool              *pool.Pool
	current           bool         // only what an agent may see
	requests, answers map[int]bool // numbers of those that are left out
	only              entry.Seq    // the one entry that is read; with name, under which its texts are yielded
	name              string
	probe             []byte // part of the text that is searched for; a message without it is passed over
	asked             *Asked // the request with a content encoding that was decoded last
	n                 int    // its number
}

var (
	errGap     = errors.New("something passed that was not recorded")
	errShort   = errors.New("the body is shorter than its unit says")
	errDamage  = errors.New("the journal is damaged behind this")
	errCut     = errors.New("it goes on from the middle of what was recorded at once")
	errPending = errors.New("an answer is under way, or was when recording ended")
	errOlder   = errors.New("recorded by a version that did not find the text in it")
)

// texts yields the texts from number from on.
func (s *source) texts(from int) iter.Seq2[index.Text, error] {
	return func(yield func(index.Text, error) bool) {
		number := 0
		for i := range s.pool.Units {
			u := &s.pool.Units[i]
			t, wanted := s.wanted(u)
			if !wanted {
				continue
			}
			for field, err := range s.fields(u) {
				t.Field, t.Text = field.Field, field.Text
				// What has become unreadable since lowers the coverage, wherever the search goes on.
				lost := err != nil && !errors.Is(err, index.ErrUnsupported)
				if number++; (number > from || lost) && !yield(t, err) {
					return
				}
			}
		}
		if s.name != "" {
			if s.r.torn && s.only > s.pool.Seq {
				yield(index.Text{}, errDamage) // it may be behind the damage
			}
			return
		}
		if number++; s.r.torn && number > from && !yield(index.Text{}, errDamage) {
			return
		}
		if number++; s.pool.Missing > 0 && number > from && !yield(index.Text{}, errGap) {
			return
		}
		if number++; s.pool.Cut && number > from && !yield(index.Text{}, errCut) {
			return
		}
		if number++; s.pending() && number > from && !yield(index.Text{}, errPending) {
			return
		}
		if number++; s.older() && number > from {
			yield(index.Text{}, errOlder)
		}
	}
}

// wanted reports whether a unit is looked at, and begins what is yielded of it.
func (s *source) wanted(u *pool.Unit) (index.Text, bool) {
	t := index.Text{Ref: u.Seq.Ref(), Revision: u.Revision, N: u.N}
	if u.Of == entry.PartMore {
		return t, false
	}
	if (u.Of == entry.PartRequest || u.Of == entry.PartResponse) && s.current && s.foreign(u.N) {
		return t, false // no conversation, so nothing of it is for an agent
	}
	if s.requests[u.N] || s.answers[u.N] && (u.Of == entry.PartAnswer || u.Of == entry.PartResponse) {
		return t, false
	}
	if s.name == "" {
		return t, true
	}
	t.Ref = s.name
	if u.Seq == s.only {
		return t, true
	}
	x := s.pool.Exchange(u.N)
	switch {
	case x == nil || s.only == 0:
		return t, false
	case x.Seq == s.only:
		t.Revision = x.Revision
		return t, u.Of == entry.PartMessage || u.Of == entry.PartRequest
	case x.Answered == s.only:
		t.Revision = x.AnswerRevision
		return t, u.Of == entry.PartAnswer || u.Of == entry.PartResponse
	}
	return t, false
}

// foreign reports whether a request is of no kind that is known, such as one for a credential.
func (s *source) foreign(n int) bool {
	x := s.pool.Exchange(n)
	return x == nil || x.Request.Type == ""
}

// pending reports whether an answer is not recorded that may hold public text.
func (s *source) pending() bool {
	for i := range s.pool.Exchanges {
		x := &s.pool.Exchanges[i]
		if x.Response == nil && !s.requests[x.Request.N] && (x.Relation != nil || s.strange(x.Request.N)) {
			return true
		}
	}
	return false
}

// older reports whether requests of conversations were recorded without what this version says of them.
func (s *source) older() bool {
	for i := range s.pool.Exchanges {
		x := &s.pool.Exchanges[i]
		switch x.Request.Type {
		case provider.TypeMessages, provider.TypeResponses, provider.TypeChat, provider.TypeGenerate, provider.TypeCompletions:
			if x.Relation == nil && x.Request.Body != nil && !s.strange(x.Request.N) {
				return true
			}
		}
	}
	return false
}

// strange reports whether a request's body is a unit as it stands.
func (s *source) strange(n int) bool {
	for i := range s.pool.Units {
		if u := &s.pool.Units[i]; u.N == n && u.Of == entry.PartRequest {
			return true
		}
	}
	return false
}

// fields yields the texts of a unit.
func (s *source) fields(u *pool.Unit) iter.Seq2[provider.Text, error] {
	return func(yield func(provider.Text, error) bool) {
		texts, err := s.read(u)
		for _, text := range texts {
			if !yield(text, nil) {
				return
			}
		}
		if err == nil && u.Unknown {
			err = index.ErrUnsupported
		}
		if err != nil {
			yield(provider.Text{}, err)
		}
	}
}

func (s *source) read(u *pool.Unit) ([]provider.Text, error) {
	switch u.Of {
	case entry.PartMessage:
		m, err := s.message(u)
		return m.Texts, err
	case entry.PartAnswer:
		a, err := s.r.Answer(s.ctx, u.N)
		return a.Texts(), err
	case entry.PartRequest, entry.PartResponse:
		if err := s.opaque(u); err != nil {
			return nil, err
		}
		text, err := s.whole(u)
		if err != nil {
			return nil, err
		}
		return []provider.Text{{Text: text}}, nil
	}
	return nil, index.ErrUnsupported
}

// opaque refuses a body that is not understood only because it ended early: there may be reasoning or system text in it.
func (s *source) opaque(u *pool.Unit) error {
	x := s.pool.Exchange(u.N)
	switch {
	case x == nil:
		return ErrNotRecorded
	case u.Of == entry.PartRequest && x.Request.Partial, u.Of == entry.PartResponse && x.Response != nil && x.Response.End != entry.EndComplete:
		return index.ErrUnsupported
	}
	return nil
}

// message reads a unit's message from the request in which it first passed, and of that no more than the message: a
// long conversation's requests are each as long as all that was said before.
func (s *source) message(u *pool.Unit) (provider.Message, error) {
	x := s.pool.Exchange(u.N)
	if x == nil || x.Request.Body == nil {
		return provider.Message{}, ErrNotRecorded
	}
	if x.Request.Headers["content-encoding"] == "" {
		raw, err := s.r.store.Part(s.ctx, s.r.session, *x.Request.Body, u.Offset, u.Length)
		if err == nil && int64(len(raw)) < u.Length {
			err = errShort
		}
		if err != nil {
			return provider.Message{}, err
		}
		if len(s.probe) > 0 && !bytes.Contains(raw, s.probe) && !bytes.Contains(raw, escaped) {
			return provider.Message{}, nil
		}
		family := Family(x.Request.Provider, x.Request.Method, x.Request.Path)
		return family.Message(provider.Request{Type: x.Request.Type, Model: x.Request.Model}, raw, u.At), nil
	}
	if s.n != u.N || s.asked == nil {
		asked, err := s.r.body(s.ctx, u.N)
		if err != nil {
			return provider.Message{}, err
		}
		s.asked, s.n = asked, u.N
	}
	if end := u.Offset + u.Length; u.Offset < 0 || u.Length < 0 || end > int64(len(s.asked.Body)) {
		return provider.Message{}, errShort
	}
	return s.asked.Message(provider.Element{At: u.At, Offset: int(u.Offset), Length: int(u.Length)}), nil
}

// escaped begins the only other spelling, in JSON, of a character that a probe may have.
var escaped = []byte(`\u`)

// probe is the longest part of a text that JSON spells as it is, unless it is escaped by its number. So most messages
// need not be decoded to see that they do not hold the text.
func probe(text string) []byte {
	longest, start := "", 0
	for i, r := range text + "\n" {
		if r >= ' ' && r != '"' && r != '\\' && r != '/' && r != utf8.RuneError {
			continue
		}
		if i-start > len(longest) {
			longest = text[start:i]
		}
		start = i + utf8.RuneLen(r)
	}
	return []byte(longest)
}

// whole is a body that is not understood, as text.
func (s *source) whole(u *pool.Unit) (string, error) {
	x := s.pool.Exchange(u.N)
	if x == nil {
		return "", ErrNotRecorded
	}
	b, headers := x.Request.Body, x.Request.Headers
	if u.Of == entry.PartResponse {
		if x.Response == nil {
			return "", ErrNotRecorded
		}
		b, headers = x.Response.Body, x.Response.Headers
	}
	body, err := s.r.decoded(s.ctx, b, headers)
	if err != nil && b != nil {
		// Plain text that is said to be compressed is still text; anything else hides what is in it.
		raw, rawErr := s.r.store.Body(s.ctx, s.r.session, *b)
		if rawErr == nil && utf8.Valid(raw) {
			return string(raw), nil
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD"), err
}
