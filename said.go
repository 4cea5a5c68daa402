package ambit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/unit"
)

// spoken is one unit of a session's conversation.
type spoken struct {
	unit unit.Unit
	seq  entry.Seq // of the entry that it comes from
	by   origin    // of an answer
}

// origin is what gave an answer. What only its wire understands is sent to the same one again and to no other.
type origin struct{ provider, wire, model string }

// elsewhere is the origin of what a fork shares with another session: nothing of it that is native to a provider is sent again.
var elsewhere = origin{provider: "another session"}

func (m *Model) origin() origin { return origin{m.Provider, m.Type, m.Name} }

// reply is an answer as the conversation holds it, by the number of its exchange; false for one that cannot be read.
type reply func(n int) (spoken, bool, error)

// hear adds what was said since to the conversation. answered gives answers; it may be nil where none came. The caller holds
// mu, or is the only one that knows the session.
func (s *Session) hear(ctx context.Context, answered reply) error {
	for ; s.heard < len(s.own.Steps); s.heard++ {
		more, err := s.unitsOf(ctx, &s.own.Steps[s.heard], answered)
		if err != nil { // the journal says more than is known here
			s.broken = fmt.Errorf("session %s has to be taken up again: %w", s.id, err)
			return s.broken
		}
		s.said = append(s.said, more...)
	}
	return nil
}

func (s *Session) unitsOf(ctx context.Context, st *pool.Step, answered reply) (list []spoken, err error) {
	add := func(role unit.Role, p unit.Part) {
		list = append(list, spoken{unit: unit.Unit{Ref: st.Seq.Ref(), Role: role, Parts: []unit.Part{p}}, seq: st.Seq})
	}
	switch {
	case st.Answer != 0:
		a, is, err := answered(st.Answer)
		if err != nil || !is {
			return nil, err
		}
		a.seq, a.unit.Ref = st.Seq, st.Seq.Ref()
		return []spoken{a}, nil
	case st.Result != nil:
		text, err := s.retained(ctx, st.Result.Body)
		if err != nil {
			return nil, fmt.Errorf("read the result of %s: %w", st.Result.ID, err)
		}
		add(unit.Tool, unit.Part{Kind: unit.Result, ID: st.Result.ID, Text: text, Failed: st.Result.Failed})
	case st.Told != nil:
		text, err := s.text(ctx, st.Told.Text)
		if errors.Is(err, journal.ErrPurged) {
			return nil, nil // what the model knows of it is purged, too, so that it is told anew
		}
		if err != nil {
			return nil, fmt.Errorf("read what was told in %s: %w", st.Seq.Ref(), err)
		}
		add(unit.System, unit.Part{Kind: unit.Text, Text: text})
	}
	for _, seq := range st.Inputs {
		in := s.own.Input(seq)
		if in == nil {
			return nil, fmt.Errorf("%s promotes %s, which is no input", st.Seq.Ref(), seq.Ref())
		}
		text, err := s.retained(ctx, in.Body)
		if err != nil {
			return nil, fmt.Errorf("read input %s: %w", in.ID, err)
		}
		add(unit.User, unit.Part{Kind: unit.Text, Text: text})
	}
	return list, nil
}

// purgedText stands where a text was purged.
const purgedText = "[The text that stood here was purged.]"

// retained is the text of a body, or what stands in its place.
func (s *Session) retained(ctx context.Context, b *entry.Body) (string, error) {
	text, err := s.text(ctx, b)
	if errors.Is(err, journal.ErrPurged) {
		return purgedText, nil
	}
	return text, err
}

// reread makes the conversation of a session that was left, and what its newest request held.
func (s *Session) reread(ctx context.Context, p *pool.Pool) error {
	shared := entry.Seq(0) // with the session that it goes on from
	if p.Session.From != nil {
		shared = p.Session.From.Seq
	}
	err := s.hear(ctx, func(n int) (spoken, bool, error) {
		x := p.Exchange(n)
		a, is, err := s.recorded(ctx, x)
		if x.Seq <= shared {
			a.by = elsewhere
		}
		return a, is, err
	})
	if err != nil {
		return err
	}
	for i := range p.Exchanges {
		if x := &p.Exchanges[i]; s.own.Aside(x.Request.N) == nil {
			s.main, s.sent.seqs = x.Request.N, append(s.sent.seqs, x.Seq)
		}
	}
	if x := p.Exchange(s.main); x != nil {
		body, err := whole(p, x, asCame, func(b *entry.Body) ([]byte, error) {
			text, err := s.text(ctx, b)
			return []byte(text), err
		})
		if err != nil && !errors.Is(err, journal.ErrPurged) && !errors.Is(err, errHeld) {
			return err
		}
		s.sent.body, s.sent.wire = body, x.Request.Type
	}
	return nil
}

// recorded reads an answer of the journal.
func (s *Session) recorded(ctx context.Context, x *pool.Exchange) (spoken, bool, error) {
	body, err := s.text(ctx, x.Response.Body)
	if errors.Is(err, journal.ErrPurged) {
		return spoken{}, false, nil // and what its calls were given goes with it
	}
	if err != nil {
		return spoken{}, false, fmt.Errorf("read response %d: %w", x.Request.N, err)
	}
	said, err := readAnswer(x, []byte(body))
	if err != nil || len(said.Parts) == 0 {
		return spoken{}, false, nil // nobody took it for an answer when it came, either
	}
	return spoken{unit: said, by: origin{x.Request.Provider, x.Request.Type, x.Request.Model}}, true, nil
}

// open reports whether something was said that nobody has answered, or a call made that has no result. The caller holds mu.
func (s *Session) open() bool {
	if len(s.said) == 0 {
		return false
	}
	last := &s.said[len(s.said)-1].unit
	return last.Role != unit.Assistant || len(last.Calls()) > 0
}

// calls are those of the newest answer that have no result, in order. The caller holds mu.
func (s *Session) calls() (list []unit.Part) {
	have := make(map[string]bool)
	for i := len(s.said) - 1; i >= 0; i-- {
		u := &s.said[i].unit
		for _, id := range u.Results() {
			have[id] = true
		}
		if u.Role != unit.Assistant {
			continue
		}
		for _, p := range u.Parts {
			if p.Kind == unit.Call && !have[p.ID] {
				list = append(list, p)
			}
		}
		return list
	}
	return nil
}

// past is what the newest request held.
type past struct {
	seqs []entry.Seq // the entries of all requests, in order
	body []byte      // of the newest
	wire string
}

// last is the newest request's entry, 0 when there is none.
func (p *past) last() entry.Seq {
	if len(p.seqs) == 0 {
		return 0
	}
	return p.seqs[len(p.seqs)-1]
}

// between reports whether a request was made between two entries of a conversation: its body ended there, so that what comes
// behind it is no part of its last message.
func (p *past) between(a, b entry.Seq) bool {
	i, _ := slices.BinarySearch(p.seqs, a)
	return a != 0 && i < len(p.seqs) && p.seqs[i] < b
}
