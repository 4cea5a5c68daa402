package ambit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pressure"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/provider"
)

// Policies by which a session's requests are edited.
const (
	PolicyRecord = selection.Record // nothing is edited anew
	PolicyCut    = selection.Cut    // results are cut and pruned
	PolicyFull   = selection.Full   // and a checkpoint stands in place of what is old
)

// policy is the setup's; with context.mode off nothing is edited anew. The caller holds mu.
func (s *Session) policy() selection.Policy {
	name := orElse(s.setup.Policy, PolicyFull)
	if s.own.Works.Plain {
		name = PolicyRecord
	}
	p, _ := selection.Named(name)
	return p
}

// stands reads by what the session's requests are edited, of what is recorded.
func (s *Session) stands(ctx context.Context, p *pool.Pool) error {
	rec, bodies := RecordingOf(s.engine.store, s.id, p), context.WithoutCancel(ctx)
	var err error
	s.thread, err = pressure.Stands(p, mainThread, "", func(b entry.Body) ([]byte, error) { return s.engine.store.Body(bodies, s.id, b) })
	if err != nil {
		return fmt.Errorf("read the edits of session %s: %w", s.id, err)
	}
	s.thread.Main = true
	for i := range p.Units {
		if u := &p.Units[i]; p.IsGone(u.Seq) {
			s.forget(&u.Unit)
		} else {
			s.know(&u.Unit, u.Seq)
		}
	}
	pins, err := rec.Pins(bodies)
	for _, pin := range pins {
		s.pins = append(s.pins, selection.Pin{ID: pin.ID, Text: pin.Text, By: pin.By})
	}
	return err
}

// know notes which entry has a message.
func (s *Session) know(u *entry.Unit, seq entry.Seq) {
	if h, ok := thread.ParseHash(u.Element); ok {
		s.where[h] = seq
		delete(s.purged, h)
	}
}

// forget notes that a message was purged.
func (s *Session) forget(u *entry.Unit) {
	if h, ok := thread.ParseHash(u.Element); ok && s.where[h] == 0 {
		s.purged[h] = true
	}
}

// plan begins to plan what is sent in place of a request, of which so many messages were in the one before, where anything may be
// edited. The caller holds mu.
func (s *Session) plan(ctx context.Context, r *request, of *pressure.Thread, e provider.Elements, hashes []thread.Hash, shared int) {
	policy := s.policy()
	if policy.Name == PolicyRecord && of.Len() == 0 {
		return
	}
	r.plan = pressure.NewPlan(of, pressure.Case{
		Request: &pressure.Request{Family: r.family, Asked: r.asked, Body: r.whole, Elements: e, Hashes: hashes},
		At:      s.engine.o.Now().UTC(), Policy: policy, Model: r.model.Name, Window: r.model.Window, Pins: s.pins, Recall: s.recalls(),
		Before: func() int { return shared },
		Book: pressure.Book{
			Flush: func() error { return r.keep(r.way.all) },
			Put:   func(body []byte) (*entry.Body, error) { return s.put(ctx, string(body)) },
			Append: func(facts ...entry.Fact) (entry.Seq, error) {
				first, err := s.add(ctx, facts...)
				return first + entry.Seq(len(facts)) - 1, err
			},
			Seq:    func(h provider.Hash) entry.Seq { return s.where[h] },
			Purged: func(h provider.Hash) bool { return s.purged[h] },
			Ref:    s.ref,
		},
	})
	r.edits = policy.Name != PolicyRecord
	r.compacts = r.edits && r.plan.Compacts()
}

// recalls is the tool by which the model recalls what is left out; empty where it has none. The caller holds mu.
func (s *Session) recalls() string {
	for _, t := range s.setup.Agent.Tools {
		if t.Name == RecallRead {
			return t.Name
		}
	}
	return ""
}

// ref is how the model is shown an entry.
func (s *Session) ref(seq entry.Seq) string {
	return Handle(s.engine.o.Key, s.id, seq)
}

// planned decides what is sent for a request, unless that was decided before. The caller holds mu.
func (s *Session) planned(r *request, n int, again bool) error {
	if r.plan == nil {
		return nil
	}
	if r.plan.As(n); again {
		return nil
	}
	stands := r.plan.AsStands
	if r.edits {
		stands = r.plan.Apply
		if _, err := r.plan.Choose(0, nil); err != nil {
			return err
		}
	}
	if body := stands(); body != nil {
		r.body = body
	}
	return nil
}

// edited reports whether what is sent of a request is not all that was said.
func (r *request) edited() bool { return r.plan != nil && r.plan.Body() != nil }

// shorten makes a request shorter that its provider refused as too long, for the passth time, from 0. What cannot be made any
// shorter is the error that it gives back.
func (s *Session) shorten(r *request, refused error, over provider.Overflow, pass int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.own.Works.Plain:
		return fmt.Errorf("%w: context.mode is off, so that nothing is left out of it: turn it on, or go on with a model that has a longer window", refused)
	case s.policy().Name == PolicyRecord:
		return fmt.Errorf("%w: the policy is %s, so that nothing is left out of it: take %s, or a model that has a longer window", refused, PolicyRecord, PolicyFull)
	case r.plan != nil && pass < maxPasses:
		body, err := r.plan.Shorten(0, nil, over, pass)
		if err != nil {
			return errors.Join(refused, err)
		}
		if body != nil {
			r.body = body
			return nil
		}
	}
	return fmt.Errorf("%w: it was made shorter %d times, and nothing more can be left out: take a model that has a longer window", refused, pass)
}

// maxPasses bounds how often a request that is too long is made shorter and sent again.
const maxPasses = 3

// usable is how many tokens a request may take; 0 where nobody knows.
func (r *request) usable(at time.Time) int {
	if r.plan != nil {
		return r.plan.Usable()
	}
	m, _ := pricing.Lookup(r.model.Name, at)
	if m.Window = orElse(r.model.Window, m.Window); m.Window > 0 {
		return m.Usable()
	}
	return 0
}
