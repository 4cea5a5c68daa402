package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/source"
)

// BlockedError says that a turn cannot begin because live facts that it needs cannot be read. What waits, goes on waiting.
type BlockedError struct {
	Missing []entry.Missing
	Agent   string // to whom the session was switched
	Dir     string // where it was moved to
}

// Error names the sources and what is wrong with each.
func (e *BlockedError) Error() string {
	var list []string
	for _, m := range e.Missing {
		list = append(list, m.Key+": "+m.Why)
	}
	what := "no turn can begin"
	switch {
	case e.Agent != "":
		what = "the agent " + e.Agent + " cannot begin"
	case e.Dir != "":
		what = "no turn can begin in " + e.Dir
	}
	return what + " before these can be read: " + strings.Join(list, "; ")
}

// observed is what the sources said at one boundary.
type observed struct {
	fence  int
	off    bool // context.mode is
	purged bool // nobody knows any more what was told
	parts  source.Composition
	found  source.Observation
	told   source.Snapshot // what the model knows; nil before the first baseline
	stale  string
	exists bool   // a baseline does
	other  string // the agent that it is not for; empty where it is for the session's
	moved  string // the folder that it is not for
}

// observe asks the sources once.
func (s *Session) observe(ctx context.Context) (o observed, err error) {
	s.mu.Lock()
	setup, own := s.setup, s.own
	o.off = own.Works.Plain
	o.fence, o.stale, o.exists = s.fence, s.stale(), own.Baseline != nil
	if o.exists && (own.For.Agent != own.Works.Agent || !sameBody(own.For.Role, own.Works.Role) || own.For.Tools != own.Works.Tools) {
		o.other = own.Works.Agent
	}
	if o.exists && own.For.Dir != own.Works.Dir {
		o.moved = own.Works.Dir
	}
	last := own.Told
	s.mu.Unlock()
	if o.told, err = s.told(ctx, last); errors.Is(err, journal.ErrPurged) {
		o.purged, err = true, nil
	}
	if err != nil {
		return o, err
	}
	if setup.Compose != nil && !o.off {
		if o.parts, err = setup.Compose(); err != nil {
			return o, fmt.Errorf("compose the sources: %w", err)
		}
	}
	o.found = o.parts.Observe(ctx, setup.Each)
	return o, context.Cause(ctx)
}

// told reads what the model was told; nothing before the first time.
func (s *Session) told(ctx context.Context, last *pool.Told) (snapshot source.Snapshot, err error) {
	if last == nil || last.Values == nil {
		return nil, nil
	}
	text, err := s.text(ctx, last.Values)
	if err != nil {
		return nil, fmt.Errorf("read what the model was told in %s: %w", last.Seq.Ref(), err)
	}
	if err := json.Unmarshal([]byte(text), &snapshot); err != nil {
		return nil, fmt.Errorf("what the model was told in %s cannot be read: %w: fork the session at %s, before it, or purge %s, and live facts are told anew",
			last.Seq.Ref(), err, (last.Seq - 1).Ref(), last.Seq.Ref())
	}
	return snapshot, nil
}

// begin opens a baseline where the session has none or needs another, before anything is promoted. It returns the fence that
// it stands behind, and whether it looked at the sources, so that they need not be looked at again. Where one that the
// model was told of cannot be read, the old baseline stays, unless it is for another agent, another role of it, other tools or
// another folder.
func (s *Session) begin(ctx context.Context) (fence int, looked bool, err error) {
	return s.renew(ctx, "")
}

// renew is begin that opens one for a reason, too; empty for none.
func (s *Session) renew(ctx context.Context, why string) (fence int, looked bool, err error) {
	for {
		s.mu.Lock()
		stale, fence := orElse(s.stale(), why), s.fence
		s.mu.Unlock()
		if stale == "" {
			return fence, false, nil
		}
		o, err := s.observe(ctx)
		if err != nil {
			return 0, false, err
		}
		o.stale = orElse(o.stale, why)
		var out source.Outcome
		if o.exists && o.moved == "" && !o.purged {
			out, err = o.parts.Replace(o.found, o.told)
		} else {
			out, err = o.parts.Initialize(o.found)
		}
		if err != nil {
			return 0, false, err
		}
		if s.passed(o.fence) {
			continue // what blocks whom the session was switched from, blocks nobody
		}
		if out.Status == source.Blocked {
			return o.fence, false, s.blocked(ctx, o, missing(o.found, out.Blocked)) // what has changed can be told behind the old one
		}
		if done, err := s.tell(ctx, o, out); done || err != nil {
			return o.fence, true, err
		}
	}
}

// passed reports whether the session was switched since a fence.
func (s *Session) passed(fence int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fence != fence
}

// blocked decides what becomes of a baseline that cannot be opened.
func (s *Session) blocked(ctx context.Context, o observed, missing []entry.Missing) error {
	switch {
	case !o.exists:
		return &BlockedError{Missing: missing}
	case o.other != "", o.moved != "":
		return &BlockedError{Missing: missing, Agent: o.other, Dir: o.moved}
	}
	return s.note(ctx, missing)
}

// reconcile tells the model what has changed since it was told last. It returns the fence that it stands behind; false when
// the session was switched meanwhile.
func (s *Session) reconcile(ctx context.Context) (fence int, ok bool, err error) {
	o, err := s.observe(ctx)
	if err != nil || o.off {
		return o.fence, o.off, err
	}
	var out source.Outcome
	if o.purged {
		out, err = o.parts.Initialize(o.found)
	} else {
		out, err = o.parts.Reconcile(o.found, o.told)
	}
	if err != nil {
		return 0, false, err
	}
	switch out.Status {
	case source.Updated, source.Ready:
		ok, err = s.tell(ctx, o, out)
		return o.fence, ok, err
	case source.Blocked:
		return o.fence, true, s.note(ctx, missing(o.found, out.Blocked))
	}
	return o.fence, true, s.note(ctx, missing(o.found, o.found.Unavailable()))
}

// tell makes what is said a part of the conversation, or of what stands in front of it. False when the session was switched
// since the sources were asked.
func (s *Session) tell(ctx context.Context, o observed, out source.Outcome) (bool, error) {
	values, err := json.Marshal(out.Snapshot)
	if err != nil {
		return false, fmt.Errorf("keep what is told: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence != o.fence {
		return false, nil
	}
	f := &entry.Told{Baseline: out.Status == source.Ready, Missing: missing(o.found, o.found.Unavailable())}
	text, volatile := out.Text(), ""
	if f.Baseline {
		f.Why = orElse(o.stale, "what was told cannot be brought up to date")
		stable, rest := out.Layers()
		text, volatile = source.Text(stable), source.Text(rest)
	}
	for _, b := range []struct {
		to   **entry.Body
		text string
	}{{&f.Text, text}, {&f.Volatile, volatile}, {&f.Values, string(values)}} {
		if *b.to, err = s.put(ctx, b.text); err != nil {
			return false, err
		}
	}
	if _, err := s.add(ctx, f); err != nil {
		return false, err
	}
	return true, s.hear(ctx, nil)
}

// note records which sources could not be read, where that has changed.
func (s *Session) note(ctx context.Context, list []entry.Missing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(list, s.own.Missing) {
		return nil
	}
	_, err := s.add(ctx, &entry.Told{Missing: list})
	return err
}

// missing are sources with what is wrong with them.
func missing(o source.Observation, keys []string) (list []entry.Missing) {
	for _, key := range keys {
		list = append(list, entry.Missing{Key: key, Why: o[key].Reason})
	}
	return list
}
