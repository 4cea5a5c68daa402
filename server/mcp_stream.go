package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// answerTime is for how long the end of a stream waits for the answers to what it asked.
const answerTime = 10 * time.Second

// stream is a pair of streams of JSON messages, one a line. Its input ends only when all is answered that was asked, or after
// answerTime: who pipes a few questions in gets the answers to all of them.
type stream struct {
	in  io.ReadCloser
	out io.WriteCloser

	mu          sync.Mutex
	open        map[string]bool // ids of requests without an answer
	read, wrote []byte          // the beginning of a line
	answered    chan struct{}   // has something after every answer
	closed      sync.Once
}

func newStream(in io.ReadCloser, out io.WriteCloser) *stream {
	return &stream{in: in, out: out, open: make(map[string]bool), answered: make(chan struct{}, 1)}
}

// message is what of a message says whether it asks or answers.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Request json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// lines takes whole lines off what has come and reads them.
func lines(begun *[]byte, more []byte, each func(message)) {
	*begun = append(*begun, more...)
	for {
		line, rest, whole := bytes.Cut(*begun, []byte("\n"))
		if !whole {
			return
		}
		var m message
		if json.Unmarshal(line, &m) == nil {
			each(m)
		}
		*begun = append([]byte{}, rest...)
	}
}

// Read reads on, and holds the end back until all is answered.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	s.mu.Lock()
	lines(&s.read, p[:n], func(m message) {
		switch {
		case m.Method == "notifications/cancelled":
			delete(s.open, string(m.Params.Request))
		case m.Method != "" && len(m.ID) > 0:
			s.open[string(m.ID)] = true
		}
	})
	s.mu.Unlock()
	if err != nil && n == 0 {
		s.drain()
	}
	if n > 0 {
		return n, nil // the end comes again
	}
	return n, err
}

// drain waits for the answers that are missing.
func (s *stream) drain() {
	late := time.NewTimer(answerTime)
	defer late.Stop()
	for s.asks() {
		select {
		case <-s.answered:
		case <-late.C:
			return
		}
	}
}

func (s *stream) asks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) > 0
}

// Write writes a part of an answer, or all of it.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	s.mu.Lock()
	lines(&s.wrote, p, func(m message) {
		if m.Method == "" {
			delete(s.open, string(m.ID))
		}
	})
	if err != nil {
		clear(s.open) // nobody hears the answers
	}
	s.mu.Unlock()
	select {
	case s.answered <- struct{}{}:
	default:
	}
	return n, err
}

// Close closes both, once.
func (s *stream) Close() (err error) {
	s.closed.Do(func() { err = errors.Join(s.in.Close(), s.out.Close()) })
	return err
}
