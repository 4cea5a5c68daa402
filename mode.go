package ambit

import "ambit/entry"

// Mode is context.mode: whether Ambit tells live facts and opens boundaries, or leaves the conversation as it is.
type Mode string

// The modes. A session begins with ModeOn unless it is told otherwise, and keeps the one that it has.
const (
	ModeOn  Mode = "on"
	ModeOff Mode = "off" // no source is read and no boundary opened; history, recall, cancellation and limits are as ever
)

// turning is a change of mode that waits until all is done that was accepted before it.
type turning struct {
	off    bool
	inputs int // that were admitted before
}

// Mode is the session's: while a change of it waits, the one that is left.
func (s *Session) Mode() Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own.Works.Plain {
		return ModeOff
	}
	return ModeOn
}

// mode is whether context.mode is off once a setup asks for a mode. The caller holds mu.
func (s *Session) mode(asked Mode) (off bool) {
	off = s.own.Works.Plain
	if asked == "" {
		return off
	}
	s.turning = nil
	to := turning{asked == ModeOff, len(s.own.Inputs)}
	switch {
	case to.off == off:
	case s.settled(to.inputs):
		return to.off
	default:
		s.turning = &to
	}
	return off
}

// settled reports whether all is done that was accepted up to an input, or came to an end otherwise. The caller holds mu.
func (s *Session) settled(inputs int) bool {
	for _, in := range s.own.Inputs[:inputs] {
		if in.Promoted == 0 {
			return false
		}
	}
	return !s.open() || s.own.Idle
}

// turned is what the session works with from here on, if a change of mode need not wait any more. The caller holds mu.
func (s *Session) turned() []entry.Fact {
	if s.turning == nil || !s.settled(s.turning.inputs) {
		return nil
	}
	next := s.own.Works
	next.Plain, s.turning = s.turning.off, nil
	return []entry.Fact{&next}
}
