package ambit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/journal"
	"ambit/provider"
	"ambit/unit"
)

// ErrNoCheckpoint says that a session has no checkpoint, or that none can be made of it.
var ErrNoCheckpoint = errors.New("no checkpoint")

// Compacted is what was decided when somebody asked for a checkpoint. A request that does not fit may be made to fit by
// placeholders alone; then there is none, and the decision's stage says so.
type Compacted struct {
	Ref        string // of the decision's entry
	Turn       int    // number of the request whose conversation was looked at
	Decision   entry.Decision
	Changes    int    // that were made durable with it
	Checkpoint string // YAML; empty where the decision made none
}

// Compact decides on a checkpoint of the main thread, because a person asks for one, and returns after the decision and its
// edits are durable. It looks at the newest request of the thread; what the edits change is sent so from the next request on.
// Of a session that was imported, for which nothing is sent, the decision is a record and has no edits. The
// session must be locked by the recording's store. The key is that of refs with a suffix.
//
// The error is ErrEvidence for what was imported from an export and takes no entries, ErrNoCheckpoint with the sizes where
// nothing is gained, or one of View's or the journal's.
func (r *Recording) Compact(ctx context.Context, key []byte) (Compacted, error) {
	if err := r.ready(ctx); err != nil && (!errors.Is(err, ErrEvidence) || r.pool.Imported.Body == nil) {
		return Compacted{}, err
	}
	s, err := r.sight("", 0)
	if err != nil {
		return Compacted{}, err
	}
	c := Compacted{Turn: s.x.Request.N}
	in, err := s.compacting(ctx, key)
	if err != nil {
		return c, err
	}
	sends := s.exact && r.pool.Imported == nil
	d := onDemand(in, sends)
	d.Thread, d.N = s.thread, 0
	c.Decision, c.Checkpoint = d.Decision, d.Checkpoint
	if why := ungained(&in, &d, sends); why != "" {
		return c, sayf(ErrNoCheckpoint, "no checkpoint is made of request %d: of its ~%d tokens %s", c.Turn, d.Before, why)
	}
	facts, err := r.decided(ctx, &d, sends)
	if err != nil {
		return c, err
	}
	if sends {
		c.Changes = len(d.Changes) + len(d.Standing)
	}
	c.Decision, c.Ref = d.Decision, (r.pool.Seq + 1).Ref()
	return c, r.add(ctx, facts...)
}

// onDemand decides on a checkpoint that a person asks for. What does not fit is made to fit by the least that does it, and
// that may be no checkpoint; then one that does it too is taken. Where nothing is sent, nothing has to fit.
func onDemand(in selection.Input, sends bool) selection.Decision {
	d := selection.Decide(in)
	if d.Checkpoint != "" || in.Model.Window <= 0 {
		return d
	}
	in.Model.Window = 0
	if other := selection.Decide(in); other.Checkpoint != "" && (!sends || other.After <= d.Usable) {
		other.Usable = d.Usable
		return other
	}
	return d
}

// ungained says why a decision changes nothing; empty where it does.
func ungained(in *selection.Input, d *selection.Decision, sends bool) string {
	messages := d.Before - in.Head
	switch {
	case d.Checkpoint != "" || sends && d.Stage != entry.StageNone:
		return ""
	case d.Stage != entry.StageNone:
		return fmt.Sprintf("only results could be left out, ~%d, and nothing is sent for this session, so that nothing is gained", d.Before-d.After)
	case in.Contract.Complete:
		return "none can be replaced: its provider has to get the whole conversation"
	case len(d.Uncut) > 0:
		return "none can be replaced: " + strings.Join(d.Uncut, "; ")
	case messages < in.Head:
		return fmt.Sprintf("~%d are tools and system text, which stay, and ~%d messages, which a checkpoint does not make fewer, so that nothing is gained", in.Head, messages)
	}
	return fmt.Sprintf("~%d are messages, which a checkpoint beside the newest of them does not make fewer, so that nothing is gained", messages)
}

// decided puts the bodies of a decision, and returns its entries: itself, and its edits where they are of messages that are
// sent.
func (r *Recording) decided(ctx context.Context, d *selection.Decision, edits bool) ([]entry.Fact, error) {
	if d.Checkpoint != "" {
		b, err := r.store.Put(ctx, r.session, []byte(d.Checkpoint))
		if err != nil {
			return nil, err
		}
		d.Decision.Checkpoint = &b
	}
	facts := []entry.Fact{&d.Decision}
	for _, changes := range [][]entry.Change{d.Changes, d.Standing} {
		if len(changes) == 0 || !edits {
			continue
		}
		data, err := entry.EncodeChanges(changes)
		if err != nil {
			return nil, err
		}
		b, err := r.store.Put(ctx, r.session, data)
		if err != nil {
			return nil, err
		}
		facts = append(facts, &entry.Edit{Thread: d.Thread, Changes: len(changes), Body: &b})
	}
	return facts, nil
}

// Checkpoint is the newest checkpoint of a thread, as YAML, and the ref of the decision that made it; without a thread the
// newest of the session. The error is ErrNoCheckpoint, journal.ErrPurged, or the journal's.
func (r *Recording) Checkpoint(ctx context.Context, thread string) (of entry.Decision, ref, yaml string, err error) {
	for i := range slices.Backward(r.pool.Decisions) {
		d := &r.pool.Decisions[i]
		if d.Checkpoint == nil || thread != "" && d.Thread != thread {
			continue
		}
		body, err := r.store.Body(ctx, r.session, *d.Checkpoint)
		if errors.Is(err, journal.ErrPurged) {
			err = sayf(journal.ErrPurged, "the checkpoint of %s was purged", d.Seq.Ref())
		}
		return d.Decision, d.Seq.Ref(), string(body), err
	}
	return of, "", "", sayf(ErrNoCheckpoint, "session %s has no checkpoint", r.session)
}

// compacting is what a decision on the request is made from, when a person asks for a checkpoint.
func (s *sight) compacting(ctx context.Context, key []byte) (selection.Input, error) {
	policy, _ := selection.Named(selection.Full)
	in := selection.Input{Policy: policy, Asked: true, Edits: new(thread.Edits), Tokens: s.tokens.Text}
	in.Model, _ = s.window()
	in.Bank.Account, in.Bank.Spent = s.account()
	var err error
	if s.r.Body(ctx, s.x.Request.N) != nil {
		err = s.asked(ctx, key, &in)
	} else {
		err = s.told(ctx, key, &in)
	}
	if err != nil {
		return in, err
	}
	in.Sent = len(in.Messages)
	all := in.Head
	for i := range in.Messages {
		all += in.Messages[i].Tokens
	}
	if last := s.real(); last != nil {
		in.LastReal = last.input + last.output
		in.Head = max(in.Head, last.input-(all-in.Head))
	}
	pins, err := s.r.Pins(ctx)
	for _, p := range pins {
		in.Pins = append(in.Pins, selection.Pin{ID: p.ID, Text: p.Text, By: p.By})
	}
	return in, err
}

// account is the thread's account and what was spent, in USD, as the newest request that a policy looked at has them.
func (s *sight) account() (account, spent float64) {
	for i := range s.r.pool.Exchanges {
		x := &s.r.pool.Exchanges[i]
		for j := range x.Sent {
			if s.chain[x.Request.N] {
				account, spent = x.Sent[j].Account, x.Sent[j].Spent
			}
		}
	}
	return account, spent
}

// asked takes the messages from the request's body, with the edits that stand.
func (s *sight) asked(ctx context.Context, key []byte, in *selection.Input) error {
	a, err := s.r.Asked(ctx, s.x.Request.N)
	if err != nil {
		return err
	}
	if a.Elements.Previous != "" {
		return sayf(ErrNoCheckpoint, "request %d goes on from an answer that its provider keeps: what stands before it is not the client's to send", s.x.Request.N)
	}
	s.exact, in.Contract = true, a.family.Contract(a.Request)
	first, answers := s.passed()
	held := make(map[entry.Seq]bool) // answers that were sent back
	units := make([]unit.Unit, len(a.Elements.Messages))
	for i, el := range a.Elements.Messages {
		said := a.Message(el)
		m := selection.Message{Hash: thread.Hash(el.Hash), Fixed: fixed(said.Fixed)}
		if same := first[thread.Hex(m.Hash)]; len(same) > 0 {
			m.Seq = same[0].Seq
		} else if u := s.repeated(ctx, answers, held, said); u != nil {
			m.Seq, held[u.Seq] = u.Seq, true
		}
		if m.Seq != 0 {
			m.Ref = s.r.Handle(key, m.Seq)
		}
		units[i] = conversation.Unit(m.Ref, said)
		in.Messages = append(in.Messages, s.weighed(m, &units[i]))
	}
	in.Unit = func(i int) unit.Unit { return units[i] }
	for _, list := range [][]provider.Element{a.Elements.Tools, a.Elements.System} {
		for _, el := range list {
			in.Head += s.tokens.Text(string(a.Body[el.Offset : el.Offset+el.Length]))
		}
	}
	return s.standing(ctx, in.Edits)
}

// standing adds the edits that stand in the request's thread.
func (s *sight) standing(ctx context.Context, to *thread.Edits) error {
	for i := range s.r.pool.Edits {
		e := &s.r.pool.Edits[i]
		if e.Thread != s.thread || e.Body == nil || s.r.pool.IsEvidence(e.Seq) {
			continue
		}
		data, err := s.r.store.Body(ctx, s.r.session, *e.Body)
		if err != nil {
			return fmt.Errorf("read edit %s: %w", e.Seq.Ref(), err)
		}
		changes, err := entry.DecodeChanges(data)
		if err != nil {
			return fmt.Errorf("read edit %s: %w", e.Seq.Ref(), err)
		}
		to.Add(e.Seq, changes...)
	}
	return nil
}

// told takes the messages from what a recording tells of the conversation: those that the request held, and its answer.
// They are known by their places in it, as what was sent is not there to be known by. No provider's contract counts: of
// these nothing is sent.
func (s *sight) told(ctx context.Context, key []byte, in *selection.Input) error {
	for _, c := range s.r.Conversations(ctx) {
		i := slices.IndexFunc(c.Turns, func(t conversation.Turn) bool { return t.N == s.x.Request.N })
		if c.Thread != s.thread || i < 0 {
			continue
		}
		t := &c.Turns[i]
		held := slices.Clone(t.Held)
		if t.Answer >= 0 && len(c.Messages[t.Answer].Unit.Calls()) == 0 { // a call that nothing was given back to is under way
			held = append(held, t.Answer)
		}
		units := oneByOne(c, held)
		for i, at := range held {
			msg := &c.Messages[at]
			m := selection.Message{Hash: sha256.Sum256([]byte("message " + strconv.Itoa(at))), Seq: entry.ParseRef(msg.Ref), Summary: msg.Summary}
			if m.Seq != 0 {
				m.Ref = s.r.Handle(key, m.Seq)
			}
			in.Messages = append(in.Messages, s.weighed(m, &units[i]))
		}
		paired(in.Messages)
		in.Unit = func(i int) unit.Unit {
			u := units[i]
			u.Ref = in.Messages[i].Ref
			return u
		}
		in.Head = s.beside(c)
		return nil
	}
	return sayf(ErrNotRecorded, "nothing is known of what request %d held", s.x.Request.N)
}

// oneByOne are messages of a conversation, in which no id names two calls: where a recording has hidden ids behind one word, the next
// call and the next result of it are the next pair.
func oneByOne(c *conversation.Conversation, held []int) []unit.Unit {
	units := make([]unit.Unit, len(held))
	seen := make(map[unit.PartKind]map[string]int)
	for i, at := range held {
		units[i] = c.Messages[at].Unit
		units[i].Parts = slices.Clone(units[i].Parts)
		for j := range units[i].Parts {
			p := &units[i].Parts[j]
			if p.Kind != unit.Call && p.Kind != unit.Result {
				continue
			}
			if seen[p.Kind] == nil {
				seen[p.Kind] = make(map[string]int)
			}
			id := p.ID
			if n := seen[p.Kind][id]; n > 0 {
				p.ID = id + "#" + strconv.Itoa(n+1)
			}
			seen[p.Kind][id]++
		}
	}
	return units
}

// paired leaves to messages only calls that have results and results that have calls: a recording may lack either.
func paired(messages []selection.Message) {
	called, given := make(map[string]bool), make(map[string]bool)
	for i := range messages {
		for _, id := range messages[i].Calls {
			called[id] = true
		}
		for _, id := range messages[i].Results {
			given[id] = called[id]
		}
	}
	for i := range messages {
		m := &messages[i]
		m.Calls = slices.DeleteFunc(m.Calls, func(id string) bool { return !given[id] })
		m.Results = slices.DeleteFunc(m.Results, func(id string) bool { return !given[id] })
	}
}

// weighed completes a message by what it says.
func (s *sight) weighed(m selection.Message, u *unit.Unit) selection.Message {
	m.Role, m.Calls, m.Results = u.Role, u.Calls(), u.Results()
	m.Tokens = s.tokens.Unanchored(contentOf(u)).EstTokens
	return m
}

// fixed is why a message is not to be changed, as a decision takes it.
func fixed(f provider.Fixed) selection.Fixed {
	switch f {
	case "":
		return selection.Free
	case provider.Reasoned:
		return selection.Reasoned
	}
	return selection.Kept
}
