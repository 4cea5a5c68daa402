package ambit

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/journal"
	"ambit/provider"
)

// purging looks for the text of one entry in all bodies that a session stores itself.
type purging struct {
	journal.Removal
	r         *Recording
	ctx       context.Context
	fact      entry.Fact
	elsewhere string          // the session that stores the entry; empty for this one
	facts     []journal.Frame // that the session stores itself
	units     map[int][]*pool.Unit
	known     map[string]bool // messages that are an entry

	meant  map[entry.Seq]bool // units whose text it is
	hashes map[string]bool    // of messages that say it
	said   []*reading.Spoken  // answers whose text it is
	pieces pieces             // of it
	asked  *asked             // the request that is looked at
}

// asked is a request's body, as far as it is there, taken apart.
type asked struct {
	body     entry.Body
	plain    []byte
	encoded  bool
	elements provider.Elements
	readable bool
	family   provider.Protocol
	req      provider.Request
}

// minRest is the length from which on what stands between messages counts as text of the request: less holds commas only.
const minRest = 32

// answer notes by what the messages are recognised that repeat an answer.
func (p *purging) answer(n int) error {
	a, err := p.r.Answer(p.ctx, n)
	if errors.Is(err, journal.ErrPurged) {
		return nil
	}
	if err != nil {
		return err
	}
	p.said = append(p.said, reading.SpokenOf(a))
	for _, h := range a.Elements {
		p.hashes[hex.EncodeToString(h[:])] = true
	}
	return nil
}

// look goes through all bodies.
func (p *purging) look() error {
	for _, f := range p.facts {
		var err error
		switch fact := f.Fact.(type) {
		case *entry.Request:
			err = p.request(f.Seq, fact)
		case *entry.Response:
			p.response(f.Seq, fact)
		case *entry.Sent:
			err = p.sent(f.Seq, fact)
		case *entry.Edit, *entry.Decision, *entry.Pin, *entry.Note, *entry.Input, *entry.Works, *entry.Told, *entry.Result, *entry.Aside:
			err = p.made(f.Seq, fact)
		}
		if err == nil {
			err = p.ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *purging) gone(b entry.Body, offset, length int) {
	p.Gone = append(p.Gone, journal.Span{Body: b, Offset: int64(offset), Length: int64(length), Of: p.Of})
}

func (p *purging) kept(of entry.Seq, b entry.Body, offset, length int) {
	if length > 0 && !p.r.pool.IsGone(of) {
		p.Kept = append(p.Kept, journal.Span{Body: b, Offset: int64(offset), Length: int64(length), Of: of})
	}
}

// response looks at a response: it is an answer, and nothing else stands in it.
func (p *purging) response(seq entry.Seq, f *entry.Response) {
	if f.Body == nil {
		return
	}
	if seq == p.Of || slices.ContainsFunc(p.units[f.N], func(u *pool.Unit) bool { return u.Answers() && p.meant[u.Seq] }) {
		p.gone(*f.Body, 0, int(f.Body.Size))
		return
	}
	p.kept(seq, *f.Body, 0, int(f.Body.Size))
}

// open reads the body of request n, and takes it apart where that goes.
func (p *purging) open(n int, b entry.Body, headers map[string]string) (*asked, error) {
	raw, err := p.r.store.Body(p.ctx, p.r.session, b)
	if errors.Is(err, journal.ErrPurged) {
		raw, err = p.r.store.Remains(p.ctx, p.r.session, b)
	}
	if err != nil {
		return nil, err
	}
	a := &asked{body: b, plain: raw, encoded: headers["content-encoding"] != ""}
	if !a.encoded {
		fill(a.plain)
	} else {
		if a.plain, err = provider.Decode(raw, headers["content-encoding"], maxDecoded); err != nil {
			a.plain = nil
		}
	}
	x := p.r.pool.Exchange(n)
	if x == nil {
		return a, nil
	}
	a.family = Family(x.Request.Provider, x.Request.Method, x.Request.Path)
	a.req = a.family.Request(x.Request.Method, x.Request.Path, nil)
	a.req.Model = x.Request.Model
	a.elements, err = a.family.Elements(a.req, a.plain)
	a.readable = err == nil
	return a, nil
}

// fill makes JSON of a request whose messages are gone, in part: a number stands where one stood.
func fill(raw []byte) {
	for i := 0; i < len(raw); {
		if raw[i] != 0 {
			i++
			continue
		}
		raw[i] = '0'
		for i++; i < len(raw) && raw[i] == 0; i++ {
			raw[i] = ' '
		}
	}
}

// request looks at a request's body: at what is new in it, and what it says again.
func (p *purging) request(seq entry.Seq, f *entry.Request) error {
	if f.Body == nil {
		return nil
	}
	a, err := p.open(f.N, *f.Body, f.Headers)
	if err != nil {
		return err
	}
	p.asked = a
	if seq == p.Of {
		p.gone(a.body, 0, int(a.body.Size))
		return nil
	}
	if whole := p.unitAt(f.N, ""); whole != nil && whole.Of == entry.PartRequest {
		p.whole(whole)
		return nil
	}
	if !a.readable {
		p.unread(seq)
		return nil
	}
	found := false
	at := 0
	for _, el := range a.elements.Messages {
		p.rest(seq, at, el.Offset)
		at = el.Offset + el.Length
		u := p.unitAt(f.N, el.At)
		switch {
		case u == nil && !p.says(a, el) || u != nil && !p.meant[u.Seq]:
			if u != nil && !a.encoded {
				p.kept(u.Seq, a.body, el.Offset, el.Length)
			}
		case a.encoded:
			found = true
		default:
			p.gone(a.body, el.Offset, el.Length)
		}
	}
	p.rest(seq, at, len(a.plain))
	if found {
		p.gone(a.body, 0, int(a.body.Size))
	} else if a.encoded {
		p.kept(seq, a.body, 0, int(a.body.Size))
	}
	return nil
}

// whole takes a body that is a unit as it stands.
func (p *purging) whole(u *pool.Unit) {
	if p.meant[u.Seq] {
		p.gone(p.asked.body, 0, int(p.asked.body.Size))
		return
	}
	p.kept(u.Seq, p.asked.body, 0, int(p.asked.body.Size))
}

// rest keeps what stands in a request beside its messages: its system, its tools, its settings.
func (p *purging) rest(seq entry.Seq, from, to int) {
	if !p.asked.encoded && to-from >= minRest {
		p.kept(seq, p.asked.body, from, to-from)
	}
}

// unread looks at a body that cannot be taken apart, such as one that broke off, for pieces of the text.
func (p *purging) unread(seq entry.Seq) {
	a := p.asked
	switch places := p.pieces.in(a.plain); {
	case len(places) > 0 && a.encoded:
		p.gone(a.body, 0, int(a.body.Size))
	case a.encoded:
		p.kept(seq, a.body, 0, int(a.body.Size))
	default:
		for _, at := range places {
			p.gone(a.body, at[0], at[1]-at[0])
		}
	}
}

// unitAt is the unit that is new in request n at a place of it, nil where there is none.
func (p *purging) unitAt(n int, at string) *pool.Unit {
	for _, u := range p.units[n] {
		if u.At == at && (u.Of == entry.PartMessage || u.Of == entry.PartRequest) {
			return u
		}
	}
	return nil
}

// says reports whether a message, which is no entry of its own, says the text.
func (p *purging) says(a *asked, el provider.Element) bool {
	if p.hashes[hex.EncodeToString(el.Hash[:])] {
		return true
	}
	if len(p.said) == 0 {
		return false
	}
	m := a.family.Message(a.req, a.plain[el.Offset:el.Offset+el.Length], el.At)
	return reading.MayRepeat(m) && len(m.Texts) > 0 && slices.ContainsFunc(p.said, func(s *reading.Spoken) bool { return s.Holds(m) })
}

// sent looks at what was sent in place of a request: at messages that say the text, or some of it.
func (p *purging) sent(seq entry.Seq, f *entry.Sent) error {
	if f.Refused != nil {
		if err := p.mayHold(seq, *f.Refused, false); err != nil {
			return err
		}
	}
	if f.Body == nil {
		return nil
	}
	a, err := p.open(f.N, *f.Body, nil)
	if err != nil {
		return err
	}
	p.asked = a
	switch {
	case seq == p.Of:
		p.gone(a.body, 0, int(a.body.Size))
	case !a.readable:
		p.unread(seq)
	default:
		for _, el := range a.elements.Messages {
			raw := a.plain[el.Offset : el.Offset+el.Length]
			if p.says(a, el) || !p.known[hex.EncodeToString(el.Hash[:])] && p.pieces.match(a.family.Message(a.req, raw, el.At), raw) {
				p.gone(a.body, el.Offset, el.Length)
			}
		}
	}
	return nil
}

// made looks at what was decided and asked for.
func (p *purging) made(seq entry.Seq, fact entry.Fact) error {
	for _, b := range entry.Bodies(fact) {
		about := false
		switch f := fact.(type) {
		case *entry.Pin:
			about = f.Of == p.Of
		case *entry.Edit:
			data, err := p.r.store.Body(p.ctx, p.r.session, b)
			changes, bad := entry.DecodeChanges(data)
			about = err == nil && bad == nil && slices.ContainsFunc(changes, func(c entry.Change) bool {
				return c.Of == p.Of || p.meant[c.Of] || p.pieces.found([]byte(c.Text))
			})
		}
		if err := p.mayHold(seq, b, about); err != nil {
			return err
		}
	}
	return nil
}

// mayHold takes a body whole when it is about the text, or holds pieces of it, and keeps it when not.
func (p *purging) mayHold(seq entry.Seq, b entry.Body, about bool) error {
	raw, err := p.r.store.Body(p.ctx, p.r.session, b)
	if errors.Is(err, journal.ErrPurged) {
		raw, err = p.r.store.Remains(p.ctx, p.r.session, b)
	}
	switch {
	case err != nil:
		return err
	case about, seq == p.Of, p.pieces.found(raw), p.pieces.found(bytes.ReplaceAll(raw, []byte("\n"), nil)):
		p.gone(b, 0, len(raw))
	default:
		p.kept(seq, b, 0, len(raw))
	}
	return nil
}
