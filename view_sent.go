package ambit

import (
	"cmp"
	"context"
	"slices"

	"ambit/entry"
	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// SentAs says what went to the provider where that is not what the client sent.
type SentAs struct {
	Attempt int    `json:"attempt"`         // from 1; before a later one stands the provider's word that the one before was too long
	Edited  int    `json:"edited_messages"` // messages that are not as the client sent them, those left out included
	Bytes   int64  `json:"body_bytes"`      // of the body that went
	SHA256  string `json:"sha256"`          // of it, 64 lower-case hexadecimal digits
}

// attempt is the last attempt to send the request, nil where nobody would have edited it.
func (s *sight) attempt() *entry.Sent {
	if n := len(s.x.Sent); n > 0 {
		return &s.x.Sent[n-1]
	}
	return nil
}

// sentAs says what went, nil where it is what the client sent.
func (s *sight) sentAs() *SentAs {
	if last := s.attempt(); last != nil && last.Body != nil {
		return &SentAs{last.Attempt, last.Edited, last.Body.Size, last.Body.SHA256}
	}
	return nil
}

// went decodes the body that went to the provider; nil where it is what the client sent.
func (s *sight) went(ctx context.Context, a *Asked) (*Asked, error) {
	last := s.attempt()
	if last == nil || last.Body == nil {
		return nil, nil
	}
	read := func(b *entry.Body) ([]byte, error) { return s.r.store.Body(ctx, s.r.session, *b) } // no content encoding is on what was edited
	body, err := read(last.Body)
	if err == nil && s.r.pool.Own != nil {
		body, err = whole(s.r.pool, s.x, asWent, read)
	}
	if err != nil {
		return nil, err
	}
	sent := &Asked{Request: a.Request, Body: body, family: a.family}
	sent.Elements, err = a.family.Elements(a.Request, body)
	return sent, err
}

// came is one message of the client's, and what it is known by.
type came struct {
	item
	hash    provider.Hash
	hex     string // the hash as an edit's change names it
	message provider.Message
}

// sent takes the messages of an edited request from the body that went. What the client sent says which entries they are
// of; the edits say what else stands there, and why something does not.
func (s *sight) sent(ctx context.Context, a, sent *Asked) error {
	list, held := s.came(ctx, a)
	made := s.made(ctx)
	messages := make([]provider.Message, len(sent.Elements.Messages))
	for i, el := range sent.Elements.Messages {
		messages[i] = sent.Message(el)
	}
	at := made.places(list, sent.Elements.Messages, messages)
	there := make([]bool, len(list))
	for i, el := range sent.Elements.Messages {
		raw := provider.JSON(sent.Body[el.Offset : el.Offset+el.Length])
		it := item{at: el.At}
		if from := at[i]; from >= 0 {
			there[from] = true
			it = list[from].item
			it.at = el.At
			it.message(messages[i], raw)
			if el.Hash != list[from].hash {
				s.edited(&it, made.of(&list[from], messages[i]))
			}
		} else {
			it.message(messages[i], raw)
			s.placed(&it, made.behind(it.Text))
		}
		it.content.Counted += images(raw, s.family())
		s.add(view.Working, it)
	}
	for i := range list {
		if c := &list[i]; !there[i] && c.Ref != "" {
			s.gone = append(s.gone, gone{ref: c.Ref, n: c.n, reason: ReasonCompacted, edit: made.gone(c)})
		}
	}
	s.summarized()
	s.unsent(held)
	return nil
}

// edited says of an item which of its texts Ambit replaced, if any.
func (s *sight) edited(it *item, replaced []made) {
	if len(replaced) == 0 {
		return
	}
	newest := slices.MaxFunc(replaced, func(a, b made) int { return cmp.Compare(entry.ParseRef(a.edit), entry.ParseRef(b.edit)) })
	g := gone{ref: it.Ref, n: it.n, reason: ReasonCut, edit: newest.edit, part: true}
	it.Class, it.Edit = ClassExcerpt, newest.edit
	results := it.content.Results
	for _, m := range replaced {
		if m.How == entry.ChangePlaceholder {
			g.reason = ReasonPruned
			results--
		}
	}
	if g.reason == ReasonPruned && results <= 0 && it.Role == string(unit.Tool) { // nobody says anything beside them
		it.Class, g.part = ClassPlaceholder, false
	}
	s.gone = append(s.gone, g)
}

// placed says of an item that Ambit put it there, and as what.
func (s *sight) placed(it *item, m made) {
	it.Class, it.Pin, it.Ref = ClassCheckpoint, m.Pin, it.at
	if m.edit != "" {
		it.Ref = m.edit
	}
	if m.Pin != "" {
		it.Class = ClassPin
	}
	it.n, it.ours = s.r.from(s.thread, m.n, entry.ParseRef(m.edit)), true
}

// from is the request with which something began to hold that was decided before request n, or where n is 0, between two
// requests: the next of the thread then. It is 0 while there is none.
func (r *Recording) from(thread string, n int, seq entry.Seq) int {
	if n != 0 {
		return n
	}
	for i := range r.pool.Exchanges {
		x := &r.pool.Exchanges[i]
		if x.Seq > seq && x.Relation != nil && x.Relation.Thread == thread && x.Relation.How != entry.Count {
			return x.Request.N
		}
	}
	return 0
}
