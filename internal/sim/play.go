package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"ambit"
	"ambit/provider"
)

// RoundTrip is the network: it asks the model, in this very call, and lets things go wrong on the way.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	w.tail()
	a := w.m.try
	ok := a != nil && !a.arrived && bytes.Equal(a.goes, body) && a.path == req.URL.RequestURI()
	if !w.holds(Record, ok, "a request is sent to %s that is not the newest in the journal:\n%s", req.URL, body) {
		return nil, errBreach
	}
	a.arrived = true
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w.meanwhile("the network")
	w.step()
	if w.breach != nil {
		return nil, errBreach
	}
	f := None
	if w.chance(330) {
		f = faults()[w.dice.IntN(len(faults()))]
	}
	w.r.Faults[f]++
	w.note("request %d (turn %d of the script) to %s: %s", a.n, a.turn, models()[a.plan.model].Name, f)
	whole := w.play(a, req)
	if whole == nil {
		return nil, errBreach
	}
	if whole.status != http.StatusOK { // it is too long, and nothing else goes wrong with it
		f = Overflow
		a.fault, a.kind = f, provider.TooLong
	}
	if f == Overflow && w.press.policy != ambit.PolicyRecord {
		defer func() { a.fate = long }()
	}
	switch f {
	case Refused, Reset:
		a.fault, a.fate, a.kind = f, passes, provider.Unreachable
		if f == Reset {
			return nil, syscall.ECONNRESET
		}
		if w.m.first(a) {
			a.fate = fatal
		}
		return nil, &url.Error{Op: "Post", URL: req.URL.String(), Err: errors.New("dial tcp 192.0.2.1:443: connect: connection refused")}
	}
	if whole.status != http.StatusOK {
		return w.arrives(ctx, req, a, whole), nil
	}
	got := w.spoil(&a.coming, models()[a.plan.model].Type, f, whole)
	if a.fate == none || a.fate == either {
		a.none++
	}
	return w.arrives(ctx, req, a, got), nil
}

// arrives is an answer on its way.
func (w *world) arrives(ctx context.Context, req *http.Request, a *attempt, got *answer) *http.Response {
	return &http.Response{
		Status: http.StatusText(got.status), StatusCode: got.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: got.header,
		Body: &stream{w: w, ctx: ctx, a: a, answer: got}, ContentLength: -1, Request: req,
	}
}

// play asks the strict provider for its answer. Here the proxy would stand: what it sends upstream is answered just so.
func (w *world) play(a *attempt, req *http.Request) *answer {
	var page page
	w.playing = a.turn
	refused := len(w.provider.Refusals())
	w.provider.ServeHTTP(&page, &http.Request{
		Method: req.Method, URL: req.URL, Header: req.Header, Body: io.NopCloser(bytes.NewReader(a.goes)), ContentLength: int64(len(a.goes)),
	})
	if all := w.provider.Refusals(); len(all) > refused && all[refused].Overflow && w.press.window > 0 {
		w.r.Events["requests that are too long"]++
		return &answer{status: page.status, header: page.header, body: page.body.Bytes()}
	}
	if !w.holds(Strict, page.status == http.StatusOK, "request %d is refused with %d: %s\n%s", a.n, page.status, page.body.String(), a.goes) {
		return nil
	}
	a.calls = w.calls(a.turn, page.body.Bytes())
	return &answer{status: page.status, header: page.header, body: page.body.Bytes()}
}

// page is an answer that is being written.
type page struct {
	status int
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (p *page) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(status int) { p.status = status }

// Write implements http.ResponseWriter.
func (p *page) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	return p.body.Write(b)
}

// stream is an answer on its way.
type stream struct {
	*answer
	w   *world
	ctx context.Context
	a   *attempt
}

// Read gives a piece, of any size, in its time.
func (s *stream) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	if len(s.body) == 0 {
		switch s.end {
		case breaks:
			return 0, io.ErrUnexpectedEOF
		case hangs:
			<-s.ctx.Done() // the bubble's time goes on, until somebody has enough
			return 0, context.Cause(s.ctx)
		}
		return 0, io.EOF
	}
	if s.w.chance(100) {
		s.w.meanwhile("a stream")
		if s.ctx.Err() != nil {
			return 0, context.Cause(s.ctx)
		}
	}
	if s.slow {
		time.Sleep(time.Duration(s.w.dice.IntN(int(silence)/2)) + time.Millisecond)
	}
	n := copy(p, s.body[:min(len(s.body), 1+s.w.dice.IntN(4000))])
	s.body = s.body[n:]
	s.a.sent = append(s.a.sent, p[:n]...)
	return n, nil
}

// Close implements io.Closer.
func (s *stream) Close() error { return nil }
