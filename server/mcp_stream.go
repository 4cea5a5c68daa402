package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// answerTime is for how long the end of a stream waits for the answers to what it asked.
const answerTime = 10 * time.Second

// maxLine bounds a line that asks, in bytes; no tool takes as much.
const maxLine = 1 << 20

// stream is a pair of streams of JSON messages, one a line. Its input ends only when all is answered that was asked, or after
// answerTime: who pipes a few questions in gets the answers to all of them. A line that is no message is answered with an
// error, and nobody behind it reads it.
type stream struct {
	in  io.ReadCloser
	out io.WriteCloser

	read  []byte // the beginning of a line
	ready []byte // whole lines that are to be read
	skips bool   // what comes is the rest of a line that is too long
	piece []byte // for reading

	writing  sync.Mutex // a line at a time
	mu       sync.Mutex
	open     map[string]bool // ids of requests without an answer
	wrote    []byte          // the beginning of a line
	answered chan struct{}   // has something after every answer
	closed   sync.Once
}

func newStream(in io.ReadCloser, out io.WriteCloser) *stream {
	return &stream{in: in, out: out, piece: make([]byte, 32<<10), open: make(map[string]bool), answered: make(chan struct{}, 1)}
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

// Read reads on, a part of a whole line, and holds the end back until all is answered.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		n, err := s.in.Read(s.piece)
		s.take(s.piece[:n])
		if err == nil {
			continue
		}
		if rest := s.read; len(rest) > 0 { // the last line may have no end
			s.read = nil
			s.line(rest)
		}
		if len(s.ready) == 0 {
			s.drain()
			return 0, err
		}
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// take takes in what has come, line by line.
func (s *stream) take(more []byte) {
	for len(more) > 0 {
		line, rest, whole := bytes.Cut(more, []byte("\n"))
		more = rest
		switch {
		case s.skips:
			s.skips = !whole
			continue
		case len(s.read)+len(line) > maxLine:
			s.read, s.skips = nil, !whole
			s.refuse("null", jsonrpc.CodeInvalidRequest, fmt.Sprintf("a line has over %d bytes", maxLine))
			continue
		}
		s.read = append(s.read, line...)
		if whole {
			line, s.read = s.read, nil
			s.line(line)
		}
	}
}

// line has a line read by who is behind, or answers it.
func (s *stream) line(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if !json.Valid(line) {
		s.refuse("null", jsonrpc.CodeParseError, "the line is no JSON: write one JSON-RPC message a line")
		return
	}
	var m message
	_ = json.Unmarshal(line, &m) // what is of another shape is no message
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		id := "null"
		if given := bytes.TrimSpace(m.ID); len(given) > 0 && (given[0] == '"' || given[0] >= '0' && given[0] <= '9') {
			id = string(given)
		}
		s.refuse(id, jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message: write one object a line, with jsonrpc, method and params")
		return
	}
	s.mu.Lock()
	switch {
	case m.Method == "notifications/cancelled":
		delete(s.open, string(m.Params.Request))
	case m.Method != "" && len(m.ID) > 0:
		s.open[string(m.ID)] = true
	}
	s.mu.Unlock()
	s.ready = append(append(s.ready, line...), '\n')
}

// refuse answers a line that is no message. Whether anybody hears it, the next answer tells.
func (s *stream) refuse(id string, code int, text string) {
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", id, code, text)
	_, _ = s.Write([]byte(line))
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
	s.writing.Lock()
	n, err := s.out.Write(p)
	s.writing.Unlock()
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
