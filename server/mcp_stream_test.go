package server

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sink takes what is written, or fails.
type sink struct {
	strings.Builder
	err    error
	closed int
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	return s.Builder.Write(p)
}

func (s *sink) Close() error {
	s.closed++
	return nil
}

// TestStreamEnds: the input ends when all that was asked is answered, or nobody hears it, or it has taken too long; whatever the
// pieces are in which lines come.
func TestStreamEnds(t *testing.T) {
	const asked = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"id":"b","method":"ping"}` + "\n" + "no JSON\n"
	for name, c := range map[string]struct {
		more   string // that is asked, too
		writes []string
		failed error
		took   time.Duration
	}{
		"answered":  {writes: []string{`{"id":1,"result":{}}` + "\n" + `{"id":`, `"b","error":{}}` + "\n"}, took: 2 * time.Second},
		"asked":     {writes: []string{`{"id":1,"method":"roots/list"}` + "\n"}, took: answerTime},
		"late":      {took: answerTime},
		"unheard":   {writes: []string{"x"}, failed: io.ErrClosedPipe, took: time.Second},
		"cancelled": {more: `{"method":"notifications/cancelled","params":{"requestId":1}}` + "\n" + `{"method":"notifications/cancelled","params":{"requestId":"b"}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &sink{err: c.failed}
				s := newStream(io.NopCloser(smallReads{strings.NewReader(asked + c.more)}), out)
				go func() {
					for _, text := range c.writes {
						time.Sleep(time.Second)
						if _, err := s.Write([]byte(text)); !errors.Is(err, c.failed) {
							t.Error(err)
						}
					}
				}()
				began := time.Now()
				got, err := io.ReadAll(s)
				if took := time.Since(began); err != nil || string(got) != asked+c.more || took != c.took {
					t.Errorf("%q after %v, %v", got, took, err)
				}
				if err := errors.Join(s.Close(), s.Close()); err != nil || out.closed != 1 {
					t.Error(err, out.closed)
				}
			})
		})
	}
}

// smallReads reads a few bytes at a time.
type smallReads struct{ io.Reader }

func (r smallReads) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 7)]) }
