// Package pressure is what stands between deciding about a request and sending it: it keeps for each thread what its requests
// are edited by and what it cost, asks the policy, makes what was decided durable, and edits the body.
//
// The proxy and Ambit's own loop go through it alike: whoever leads a conversation makes each request whole, and a plan says
// what goes to the provider in its place.
package pressure

import (
	"errors"
	"slices"

	"ambit/entry"
	"ambit/internal/selection"
	"ambit/internal/token"
	"ambit/provider"
)

// Plan is how it was decided what goes to the provider for a request, kept for as long as that may have to be sent again.
type Plan struct {
	c     Case
	t     *Thread
	count token.Model

	attempt int
	draft   *selection.Decision // what was decided without the text of a checkpoint; nil while it was not
	changes []provider.Change
	edited  int    // messages that are not as they came
	why     string // nothing is edited
	whole   int    // estimates, in tokens
	after   int
	turn    int    // of the edits that the changes are of
	upTo    []int  // of after, without the head, what the messages before each take
	body    []byte // what is sent; nil when it is what came

	refused *entry.Body // the provider's answer to the attempt before
	status  int
}

// NewPlan begins one. Nothing is decided yet: without Decide it applies what stands.
func NewPlan(t *Thread, c Case) *Plan {
	return &Plan{c: c, t: t, count: token.Default(token.FamilyOf(c.Model)), attempt: 1}
}

// Body is what is sent; nil when it is the request as it came.
func (p *Plan) Body() []byte { return p.body }

// As says as which request it is recorded, also where it is asked once more, as another one.
func (p *Plan) As(n int) { p.c.N, p.attempt, p.status, p.refused = n, 1, 0, nil }

// Sent is the entry that says what went to the provider: nil where that is what the request is recorded by. Its body is put.
func (p *Plan) Sent(went []byte) (*entry.Sent, error) {
	f := &entry.Sent{
		N: p.c.N, Attempt: p.attempt, Why: p.why, Edited: p.edited, Whole: p.whole, After: p.after, Account: p.t.account, Spent: p.t.spent,
		Refused: p.refused, Status: p.status,
	}
	f.Held, f.Missing = p.proof()
	if went == nil {
		return f, nil
	}
	var err error
	f.Body, err = p.c.Book.Put(went)
	return f, err
}

// Apply makes the body of the standing edits, and returns it as Body does.
func (p *Plan) Apply() []byte {
	p.change()
	p.body = nil
	if len(p.changes) == 0 {
		p.why = "nothing of it is edited"
		return nil
	}
	switch body, err := p.edit(p.changes); {
	case err != nil:
		p.edited, p.why = 0, brief(err.Error())
	case body == nil:
		p.edited, p.why = 0, "none of its edits can be made"
	default:
		p.body, p.why = body, ""
	}
	return p.body
}

// AsStands applies the edits that stand where nothing can be decided, unless the messages have changed so that they would leave half
// a tool exchange: taking them back would have to be written first, so the request goes as it came.
func (p *Plan) AsStands() []byte {
	if selection.Sound(p.input()) {
		return p.Apply()
	}
	p.body, p.changes, p.edited, p.after = nil, nil, 0, p.whole
	p.why = "what is edited no longer fits the messages, and taking it back could not be written"
	return nil
}

// Shorten decides what is sent in place of a request that its provider refused as too long, for the passth time, from 0. Nil
// says that nothing more can be left out. The refusal is what the provider said.
func (p *Plan) Shorten(status int, refusal []byte, over provider.Overflow, pass int) ([]byte, error) {
	before := p.body
	if _, err := p.Choose(pass+1, &over); err != nil {
		return nil, err
	}
	if p.Apply(); p.body == nil || before != nil && len(p.body) >= len(before) || len(p.body) >= len(p.c.Body) {
		return nil, nil
	}
	p.attempt++
	p.status = status
	p.refused, _ = p.c.Book.Put(refusal) // what it said is shown; without it the attempt counts all the same
	return p.body, nil
}

// Counted takes what the provider counted of the request; u is nil where it counted nothing.
func (p *Plan) Counted(u *entry.Usage, answered bool) { p.t.counted(p.t.model(&p.c), u, answered) }

// Usable is how many tokens of the model's window a request may take; 0 where nobody knows.
func (p *Plan) Usable() int {
	if m := p.t.model(&p.c); m.Window > 0 {
		return m.Usable()
	}
	return 0
}

// edit makes changes in the body that came. One that cannot be made is left out, and takes no other along: a text that was to
// stand behind a message stands behind one before, where that may be. Without a body none could be made.
func (p *Plan) edit(changes []provider.Change) ([]byte, error) {
	changes = slices.Clone(changes)
	back := 0 // by how many messages texts were moved to the front
	for range maxBack + 2*len(changes) + 1 {
		if len(changes) == 0 {
			return nil, nil
		}
		body, err := p.c.Family.Edit(p.c.Asked, p.c.Body, p.c.Elements, changes)
		var cannot *provider.EditError
		if !errors.As(err, &cannot) {
			return body, err
		}
		i := slices.IndexFunc(changes, func(c provider.Change) bool { return c.At == cannot.At })
		if i < 0 {
			return nil, err
		}
		moves := len(changes[i].Behind) > 0 && changes[i].At > 0 && back < maxBack
		if moves {
			back++
		}
		changes = leaving(changes, i, moves)
	}
	return nil, nil
}

// maxBack bounds how often, in one request, texts are put further in front that may not stand where they were to.
const maxBack = 16

// leaving are changes without the one of a message; its texts behind go behind the message before if they move, and else with it.
func leaving(changes []provider.Change, i int, moves bool) []provider.Change {
	c := changes[i]
	if !moves {
		return slices.Delete(changes, i, i+1)
	}
	if c.Gone || len(c.Texts) > 0 {
		changes[i].Behind = nil
	} else {
		changes = slices.Delete(changes, i, i+1)
	}
	if i > 0 && changes[i-1].At == c.At-1 {
		changes[i-1].Behind = slices.Concat(changes[i-1].Behind, c.Behind)
		return changes
	}
	return slices.Insert(changes, i, provider.Change{At: c.At - 1, Behind: c.Behind})
}

// change says what is done to each message, and counts.
func (p *Plan) change() {
	if turn := p.t.edits.Turn() + 1; p.turn == turn {
		p.t.shown, p.after = p.upTo[len(p.upTo)-1], p.upTo[len(p.upTo)-1]+p.t.head
		return
	} else {
		p.turn = turn
	}
	p.t.learn(p.c.Request, &p.count)
	applied := p.t.edits.Apply(p.c.Hashes)
	p.changes, p.edited, p.after, p.upTo = p.changes[:0], 0, 0, append(p.upTo[:0], 0)
	for i := range applied.Shown {
		shown, m := &applied.Shown[i], p.t.fact(p.c.Request, i, &p.count)
		n := m.Tokens
		switch {
		case shown.Gone:
			n = 0
		case len(shown.Texts) > 0 && len(shown.Texts) >= len(m.Results):
			n = 0
			for _, text := range shown.Texts {
				n += p.count.Text(text) + int(p.count.Weights.Result)
			}
		}
		for _, b := range shown.Behind {
			n += p.count.Text(b.Text) + int(p.count.Weights.Message)
		}
		p.after += n
		p.upTo = append(p.upTo, p.after)
		if !shown.Changed() {
			continue
		}
		p.edited++
		c := provider.Change{At: i, Gone: shown.Gone, Texts: shown.Texts, Sure: m.Fixed == selection.Free || m.Fixed == selection.Reasoned && shown.Gone}
		for _, b := range shown.Behind {
			c.Behind = append(c.Behind, b.Text)
		}
		p.changes = append(p.changes, c)
	}
	p.t.shown = p.after
	p.after += p.t.head
}

// beside estimates what the request holds beside its messages.
func (p *Plan) beside() (tokens int) {
	p.besides(func(el *provider.Element) { tokens += p.count.Text(string(p.c.Body[el.Offset : el.Offset+el.Length])) })
	return tokens
}

// besideBytes is how long that is.
func (p *Plan) besideBytes() (bytes int) {
	p.besides(func(el *provider.Element) { bytes += el.Length })
	return bytes
}

func (p *Plan) besides(each func(el *provider.Element)) {
	for _, list := range [][]provider.Element{p.c.Elements.Tools, p.c.Elements.System} {
		for i := range list {
			each(&list[i])
		}
	}
}
