package server

import (
	"errors"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/selection"
	"ambit/internal/token"
	"ambit/provider"
)

// plan is how it was decided what goes to the provider for a request, kept for as long as that may have to be sent again.
type plan struct {
	w     *writing
	s     *standing
	a     *asking
	count token.Model

	common   int // as sentBefore has it, once it was compared
	compared bool

	attempt int
	changes []provider.Change
	edited  int    // messages that are not as the client sent them
	why     string // nothing is edited
	whole   int    // estimates, in tokens
	after   int
	turn    int    // of the edits that the changes are of
	upTo    []int  // of after, without the head, what the messages before each take
	body    []byte // what is sent; nil when it is what the client sent

	refused *entry.Body // the provider's answer to the attempt before
	status  int
}

// stands reports whether edits stand in a session of a client, so that even a policy which edits nothing has to apply them.
// For whom it was never asked, the sessions that are recorded are looked into, once.
func (r *recorder) stands(who identity) bool {
	if is, ok := r.edited.Load(who.key); ok {
		return is.(bool)
	}
	found, known := false, false
	err := r.act(func() error {
		if err := r.loadKeys(); err != nil {
			return err
		}
		if who.named && who.tag != "" && r.keys[who.key] == "" {
			r.find(who.key)
		}
		for _, id := range r.sessionsOf(who) {
			known = true
			p, _ := r.load(id) // of a damaged one, what lies before that
			found = found || p != nil && len(p.Edits) > 0
		}
		return nil
	})
	if err == nil && known { // what is not known yet may be a fork that is made now
		r.edited.Store(who.key, found)
	}
	return found
}

// sessionsOf are the sessions that a request of a client may belong to, the newest of them: whose it is may stand in its
// body, which nobody has read yet.
func (r *recorder) sessionsOf(who identity) (sessions []string) {
	if who.named {
		return slices.DeleteFunc([]string{r.keys[who.key]}, func(id string) bool { return id == "" })
	}
	route, _, _ := strings.Cut(who.key, ":")
	for key, ids := range r.mine {
		if strings.HasPrefix(key, route+":") {
			sessions = append(sessions, ids...)
		}
	}
	return newest(sessions, maxFolded)
}

// edits notes that edits stand for whoever sends such requests.
func (r *recorder) edits(x *exchange) {
	r.edited.Store(x.who.key, true)
	r.edited.Store(x.asWho, true)
}

// plan records a request and decides what is sent for it. The caller waits for the answer; what need not be durable before
// the request is forwarded is written behind it. Without a body it is to be sent as it came.
func (r *recorder) plan(x *exchange) (p sending) {
	a := r.read(x)
	staged := false
	_ = r.actThen(func() error {
		w, err := r.stageRead(x, a, true)
		if err != nil {
			r.miss(event{x: x}, err)
			event{x: x}.free()
			return err
		}
		staged = true
		if p, err = r.decide(x, a, w); err != nil {
			r.log.Warn("a request is edited no further", "cause", err)
			if x.in == nil { // it was to be written before what was decided
				r.missStaged(event{x: x}, err)
			}
		}
		return nil
	}, func() {
		if staged {
			r.behind(x)
		}
	})
	return p
}

// behind writes down what a request was recorded by and what was sent for it, while it is on its way.
func (r *recorder) behind(x *exchange) {
	if w := x.in; w != nil {
		r.sent(x)
		switch err := r.flush(w); {
		case err == nil:
		case x.in != nil: // it was written before what was decided
			r.log.Error("what was sent is not recorded", "session", w.id, "request", x.n, "cause", err)
		default:
			r.missStaged(event{x: x}, err)
		}
	}
	event{x: x}.free()
	r.handled.Add(1)
	r.tidy()
	if r.recorded != nil {
		r.recorded()
	}
}

// sent stages what went to the provider, where a policy edits.
func (r *recorder) sent(x *exchange) {
	p := x.plan
	if p == nil {
		return
	}
	f := &entry.Sent{
		N: x.n, Attempt: p.attempt, Why: p.why, Edited: p.edited, Whole: p.whole, After: p.after, Account: p.s.account, Spent: p.s.spent,
		Refused: p.refused, Status: p.status,
	}
	f.Held, f.Missing = p.proof(x)
	if p.body != nil {
		var err error
		if f.Body, err = r.put(p.w, p.body); err != nil {
			r.log.Error("what was sent is not recorded", "session", p.w.id, "request", x.n, "cause", err)
			return
		}
	}
	p.w.facts = append(p.w.facts, f)
	if p.body != nil && p.attempt == 1 {
		r.changed.Add(1)
	}
}

// decide says what is sent for a request that is staged. With an error stands what was decided before.
func (r *recorder) decide(x *exchange, a *asking, w *writing) (sending, error) {
	if a.wire == "" || x.belongs == nil {
		return sending{}, nil
	}
	s, err := r.standingOf(w, x.thread, x.about)
	if err != nil {
		return sending{}, err
	}
	if s.main, err = s.main || x.belongs.How == entry.Root, r.pins(w); err != nil {
		return sending{}, err
	}
	x.plan = &plan{w: w, s: s, a: a, count: token.Default(token.FamilyOf(x.q.Model)), attempt: 1}
	if x.belongs.How != entry.Count {
		if err = r.choose(x, 0, nil); err == nil {
			return x.apply(), nil
		}
	}
	return r.asStands(x), err
}

// asStands applies the edits that stand where nothing can be decided, unless the client has changed its messages so that they would
// leave half a tool exchange: taking them back would have to be written first, so the request goes as it came.
func (r *recorder) asStands(x *exchange) sending {
	p := x.plan
	if selection.Sound(r.input(x, p.s.model(x))) {
		return x.apply()
	}
	p.body, p.changes, p.edited, p.after = nil, nil, 0, p.whole
	p.why = "what is edited no longer fits the messages, and taking it back could not be written"
	return sending{}
}

// apply makes the body of the standing edits.
func (x *exchange) apply() sending {
	p := x.plan
	p.change()
	if len(p.changes) == 0 {
		p.body, p.why = nil, "nothing of it is edited"
		return sending{}
	}
	body, err := x.edit(p.changes)
	if err != nil {
		p.body, p.edited, p.why = nil, 0, brief(err.Error())
		return sending{}
	}
	if body == nil {
		p.body, p.edited, p.why = nil, 0, "none of its edits can be made"
		return sending{}
	}
	p.body, p.why = body, ""
	return sending{body: body, decoded: x.header.Get("Content-Encoding") != ""}
}

// edit makes changes in the client's body. One that cannot be made is left out, and takes no other along: a text that was to
// stand behind a message stands behind one before, where that may be. Without a body none could be made.
func (x *exchange) edit(changes []provider.Change) ([]byte, error) {
	changes = slices.Clone(changes)
	back := 0 // by how many messages texts were moved to the front
	for range maxBack + 2*len(changes) + 1 {
		if len(changes) == 0 {
			return nil, nil
		}
		body, err := x.family.Edit(x.q, x.plan.a.body, x.plan.a.elements, changes)
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
func (p *plan) change() {
	if turn := p.s.edits.Turn() + 1; p.turn == turn {
		p.s.shown, p.after = p.upTo[len(p.upTo)-1], p.upTo[len(p.upTo)-1]+p.s.head
		return
	} else {
		p.turn = turn
	}
	p.s.learn(p.a, &p.count)
	applied := p.s.edits.Apply(p.a.hashes)
	p.changes, p.edited, p.after, p.upTo = p.changes[:0], 0, 0, append(p.upTo[:0], 0)
	for i := range applied.Shown {
		shown, m := &applied.Shown[i], p.s.fact(p.a, i, &p.count)
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
	p.s.shown = p.after
	p.after += p.s.head
}

// shorten decides what is sent in place of a request that its provider refused as too long. Without a body nothing more can
// be left out.
func (r *recorder) shorten(x *exchange, status int, refusal []byte, over provider.Overflow, pass int) (p sending) {
	_ = r.actThen(func() error {
		if x.in == nil || x.plan == nil {
			return nil
		}
		before := x.plan.body
		if err := r.choose(x, pass+1, &over); err != nil {
			r.log.Warn("a request that is too long cannot be made shorter", "cause", err)
			return err
		}
		if p = x.apply(); p.body == nil || before != nil && len(p.body) >= len(before) || len(p.body) >= len(x.plan.a.body) {
			p = sending{}
			return nil
		}
		x.plan.attempt++
		r.resent.Add(1)
		x.plan.status = status
		x.plan.refused, _ = r.put(x.plan.w, refusal) // what it said is shown; without it the attempt counts all the same
		return nil
	}, func() {
		if p.body == nil || x.in == nil {
			return
		}
		r.sent(x)
		if err := r.flush(x.in); err != nil {
			r.log.Error("what was sent is not recorded", "session", x.in.id, "request", x.n, "cause", err)
		}
	})
	return p
}

// handle is how a model is shown an entry.
func (r *recorder) handle(w *writing, seq entry.Seq) string {
	if seq == 0 {
		return ""
	}
	return ambit.Handle(r.secret, w.id, seq)
}
