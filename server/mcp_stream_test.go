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
	const asked = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":"b","method":"ping"}` + "\n"
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
		"cancelled": {more: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}` + "\n"},
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

// TestStreamRefuses: what is no message is answered, in the same order, and what stands around it is read as if it were not there.
func TestStreamRefuses(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","method":"ping"}`
	for text, want := range map[string]struct {
		read   string
		answer string
	}{
		"no JSON\n" + ping + "\n":                       {ping + "\n", `"id":null,"error":{"code":-32700,`},
		ping + " \r\n{\"a\":\n\n" + ping:                {ping + "\n" + ping + "\n", `"id":null,"error":{"code":-32700,`},
		ping + ping + "\n" + ping + "\n":                {ping + "\n", `"id":null,"error":{"code":-32700,`},
		`{"id":7,"method":"ping"}` + "\n" + ping + "\n": {ping + "\n", `"id":7,"error":{"code":-32600,`},
		`{"jsonrpc":"2.0","id":{"a":1},"method":"x"}`:   {"", `"id":null,"error":{"code":-32600,`},
		"[" + ping + "]\n5\n" + ping + "\n":             {ping + "\n", `"id":null,"error":{"code":-32600,`},
		strings.Repeat("x", maxLine+1) + "\n" + ping:    {ping + "\n", `"id":null,"error":{"code":-32600,`},
		strings.Repeat("x", 3*maxLine):                  {"", `"id":null,"error":{"code":-32600,`},
		"\n \n" + ping + "\n":                           {ping + "\n", ""},
	} {
		out := &sink{}
		got, err := io.ReadAll(newStream(io.NopCloser(strings.NewReader(text)), out))
		if err != nil || string(got) != want.read || !strings.Contains(out.String(), want.answer) || (want.answer == "") != (out.Len() == 0) {
			t.Errorf("%.80q: %q, answered %q, %v", text, got, out, err)
		}
	}
}

// smallReads reads a few bytes at a time.
type smallReads struct{ io.Reader }

func (r smallReads) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 7)]) }
