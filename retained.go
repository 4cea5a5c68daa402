package ambit

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/index"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
)

// retained yields the public texts of a session.
type retained struct {
	ctx               context.Context
	r                 *Recording
	pool              *pool.Pool
	current           bool         // only what an agent may see
	requests, answers map[int]bool // numbers of those that are left out
	only              entry.Seq    // the one entry that is read; with name, under which its texts are yielded
	name              string
	searched          bool
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
func (s *retained) texts(from int) iter.Seq2[index.Text, error] {
	return func(yield func(index.Text, error) bool) {
		number := 0
		for i := range s.pool.Units {
			u := &s.pool.Units[i]
			t, wanted := s.wanted(u)
			if !wanted {
				continue
			}
			for field, err := range s.fields(u) {
				t.Field, t.Text, t.Said = field.Field, field.Text, field.Said
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
		for t, err := range s.unsent() {
			if number++; (number > from || err != nil) && !yield(t, err) {
				return
			}
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

// unsent yields what calls of a session of Ambit's own gave that no request holds yet.
func (s *retained) unsent() iter.Seq2[index.Text, error] {
	return func(yield func(index.Text, error) bool) {
		last := entry.Seq(0) // of the conversation's requests
		for i := len(s.pool.Exchanges) - 1; i >= 0 && last == 0; i-- {
			if x := &s.pool.Exchanges[i]; x.Relation != nil && x.Relation.Thread == mainThread {
				last = x.Seq
			}
		}
		fresh := func(st pool.Step) bool { return st.Result != nil && st.Seq > last && st.Seq <= s.pool.Seq }
		if s.r.pool.Own == nil || !slices.ContainsFunc(s.r.pool.Own.Steps, fresh) {
			return
		}
		for f, err := range s.r.store.Read(s.ctx, s.r.session, last) {
			if err != nil || f.Seq > s.pool.Seq {
				return // what is damaged is said for itself
			}
			result, is := f.Fact.(*entry.Result)
			if !is || result.Body == nil {
				continue
			}
			text, err := s.r.store.Body(s.ctx, s.r.session, *result.Body)
			s.r.purged = s.r.purged || errors.Is(err, journal.ErrPurged)
			t := index.Text{Ref: f.Seq.Ref(), Revision: f.Revision(), Field: besideField, N: result.N, Text: string(text), Said: provider.SaidTool}
			if !yield(t, err) {
				return
			}
		}
	}
}

// wanted reports whether a unit is looked at, and begins what is yielded of it.
func (s *retained) wanted(u *pool.Unit) (index.Text, bool) {
	t := index.Text{Ref: u.Seq.Ref(), Revision: u.Revision, N: u.N}
	if u.Of.Silent() {
		return t, false
	}
	if (u.Of == entry.PartRequest || u.Of == entry.PartResponse) && s.current && s.foreign(u.N) {
		return t, false // no conversation, so nothing of it is for an agent
	}
	if s.requests[u.N] || s.answers[u.N] && u.Answers() || s.outgrown(u) {
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
		return t, !u.Answers()
	case x.Answered == s.only:
		t.Revision = x.AnswerRevision
		return t, u.Answers()
	}
	return t, false
}

// foreign reports whether a request is of no kind that is known, such as one for a credential.
func (s *retained) foreign(n int) bool {
	x := s.pool.Exchange(n)
	return x == nil || x.Request.Type == ""
}

// pending reports whether an answer is not recorded that may hold public text.
func (s *retained) pending() bool {
	for i := range s.pool.Exchanges {
		x := &s.pool.Exchanges[i]
		if x.Response == nil && !s.requests[x.Request.N] && (x.Relation != nil || s.strange(x.Request.N)) {
			return true
		}
	}
	return false
}

// older reports whether requests of conversations were recorded without what this version says of them.
func (s *retained) older() bool {
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
func (s *retained) strange(n int) bool {
	for i := range s.pool.Units {
		if u := &s.pool.Units[i]; u.N == n && u.Of == entry.PartRequest {
			return true
		}
	}
	return false
}

// fields yields the texts of a unit.
func (s *retained) fields(u *pool.Unit) iter.Seq2[provider.Text, error] {
	return func(yield func(provider.Text, error) bool) {
		texts, err := s.read(u)
		for _, text := range texts {
			if !yield(text, nil) {
				return
			}
		}
		s.r.purged = s.r.purged || errors.Is(err, journal.ErrPurged)
		if err == nil && u.Unknown {
			err = index.ErrUnsupported
		}
		if err != nil {
			yield(provider.Text{}, err)
		}
	}
}

func (s *retained) read(u *pool.Unit) ([]provider.Text, error) {
	if err := s.r.gone(u); err != nil {
		return nil, err
	}
	switch u.Of {
	case entry.PartMessage, entry.PartRecord:
		m, err := s.message(u)
		return m.Texts, err
	case entry.PartAnswer:
		a, err := s.r.Answer(s.ctx, u.N)
		if s.searched && s.r.pool.Own != nil {
			a.Calls = unasked(a.Calls)
		}
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

// unasked are calls without what an agent looked for itself: else it would find its own question, and nothing would be missed.
func unasked(calls []provider.Call) []provider.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		if calls[i].Name == RecallSearch {
			calls[i].Args = nil
		}
	}
	return calls
}

// opaque refuses a body that is not understood only because it ended early: there may be reasoning or system text in it.
func (s *retained) opaque(u *pool.Unit) error {
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
func (s *retained) message(u *pool.Unit) (provider.Message, error) {
	if u.In != 0 {
		return s.recorded(u)
	}
	x := s.pool.Exchange(u.N)
	if x == nil || x.Request.Body == nil {
		return provider.Message{}, ErrNotRecorded
	}
	if x.Request.Headers["content-encoding"] == "" {
		raw, err := s.r.store.Part(s.ctx, s.r.session, *x.Request.Body, u.Offset, u.Length)
		if err == nil && int64(len(raw)) < u.Length {
			err = errShort
		}
		if err != nil || s.without(raw) {
			return provider.Message{}, err
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

// without reports whether a message, as it is stored, cannot hold the text that is searched for.
func (s *retained) without(raw []byte) bool {
	return len(s.probe) > 0 && !bytes.Contains(raw, s.probe) && !bytes.Contains(raw, escaped)
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
func (s *retained) whole(u *pool.Unit) (string, error) {
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
