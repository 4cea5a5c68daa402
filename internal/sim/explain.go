package sim

import (
	"errors"

	"ambit"
	"ambit/provider"
)

// first reports whether an activity has had no answer yet.
func (m *model) first(*attempt) bool { return m.reached == 0 }

// during is what the setups of one run allow.
type during struct {
	limited bool // by something else than turns as they are by default
	timed   bool
	off     bool // nothing is repeated
	most    int  // repetitions of what is no answer
}

// with takes in a setup.
func (d *during) with(s ambit.Setup) {
	l := s.Limits
	d.timed = d.timed || l.Time > 0
	d.limited = d.limited || d.timed || l.Turns+l.Output > 0 || l.USD > 0
	d.off = d.off || s.Retry.Off
	most := s.Retry.Max
	if most == 0 {
		most = 3
	}
	d.most = min(d.most, most)
}

// explain looks whether a run has ended for a reason that the world gave it.
func (w *world) explain(err error) {
	m := w.m
	a := m.try
	failure, isFailure := errors.AsType[*provider.Failure](err)
	_, isFault := errors.AsType[*provider.ReplyError](err)
	blocked, isBlocked := errors.AsType[*ambit.BlockedError](err)
	_, isLimit := errors.AsType[*ambit.LimitError](err)
	ok := false
	switch {
	case err == nil:
		if m.open() { // nothing is to be done: it was taken, by the process before
			m.taken()
		}
		ok = !m.open() && len(m.waiting(true)) == 0 && !m.working
		w.r.Events["runs that are done"]++
	case w.stopped && errors.Is(err, errEnough):
		ok = true
		w.r.Events["runs that were cancelled"]++
	case isBlocked:
		ok = len(m.blocked()) > 0 && len(blocked.Missing) == len(m.blocked()) && m.elsewhere()
		w.r.Events["runs that are blocked"]++
	case isLimit:
		ok = w.during.limited || m.answers >= ambit.DefaultTurns
		w.r.Events["runs at a limit"]++
	case isFailure:
		ok = a != nil && (a.fate == fatal || a.fate == long || a.fate.again() && w.during.off) && (a.kind == "" || a.kind == failure.Kind)
		w.r.Events["runs that failed"]++
	case isFault:
		ok = a != nil && (a.fate == none || a.fate == either) && (w.during.off || a.none > w.during.most)
		w.r.Events["runs without an answer"]++
	}
	w.holds(Ending, ok || w.stopped && err != nil, "a run ends with %v; open: %v, waiting: %d, the newest is %s", err, m.open(), len(m.waiting(true)), a)
}
