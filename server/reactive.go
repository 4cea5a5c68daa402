package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/provider"
)

const (
	// maxRefusal bounds what is read of an answer to see whether it refuses a request as too long, in bytes.
	maxRefusal = 64 << 10
	// maxPasses bounds how often a request that is too long is made shorter and sent again.
	maxPasses = 3
	// holdTime is, unless Options say otherwise, for how long a stream is held back that has begun and says nothing yet. Clients give up after 240 s.
	holdTime = 10 * time.Second
)

// reactive sends requests, and sends one again, shorter, that the provider refuses as too long, before the client sees
// anything of it. Only requests that a policy may edit are looked at.
type reactive struct {
	next http.RoundTripper
	r    *recorder
	hold time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *reactive) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok || x.plan == nil || x.belongs.How == entry.Count { // a count decides nothing
		return t.next.RoundTrip(req)
	}
	for pass := 0; ; pass++ {
		res, err := t.next.RoundTrip(req)
		if err != nil || pass == maxPasses {
			return res, err
		}
		refusal, over := x.refused(res, t.hold)
		if refusal == nil {
			return res, nil
		}
		shorter := t.r.shorten(x, res.StatusCode, refusal, over, pass)
		if shorter.body == nil {
			return res, nil
		}
		res.Body.Close()
		req = shorter.put(req.Clone(req.Context()))
	}
}

// refused reads so much of an answer that it is known whether it refuses its request as too long; the answer can be read
// from its beginning afterwards. Nil says that it does not.
func (x *exchange) refused(res *http.Response, most time.Duration) ([]byte, provider.Overflow) {
	var head []byte
	kind := res.Header.Get("Content-Type")
	switch {
	case slices.Contains(refusals, res.StatusCode):
		head = hold(res, most, func([]byte) bool { return false })
	case res.StatusCode == http.StatusOK && strings.HasPrefix(kind, "text/event-stream") && res.Header.Get("Content-Encoding") == "":
		head = hold(res, most, provider.Telling)
	case res.StatusCode == http.StatusOK && strings.HasPrefix(kind, "application/json") && res.Header.Get("Content-Encoding") == "":
		head = hold(res, most, noError)
	default:
		return nil, provider.Overflow{}
	}
	plain, err := provider.Decode(head, res.Header.Get("Content-Encoding"), maxRefusal)
	if err != nil && len(plain) == 0 {
		return nil, provider.Overflow{}
	}
	over, ok := x.family.Overflow(res.StatusCode, kind, plain)
	if !ok {
		return nil, provider.Overflow{}
	}
	return head, over
}

// refusals are the statuses with which providers, and gateways before them, refuse a request as too long.
var refusals = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// noError reports whether the beginning of a JSON answer is that of an answer and not of an error, as some gateways give it with
// status 200.
func noError(head []byte) bool {
	return len(head) >= maxErrorHead || !bytes.Contains(head[:min(len(head), maxErrorHead)], []byte(`"error"`)) && len(head) > len(`{"type":"error"`)
}

// maxErrorHead is within how many bytes an error says that it is one.
const maxErrorHead = 256

// begun is a body whose beginning was read already.
type begun struct {
	head []byte
	rest io.ReadCloser
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	return b.rest.Read(p)
}

func (b *begun) Close() error { return b.rest.Close() }

// piece is what one read of a body gave.
type piece struct {
	bytes []byte
	err   error
}

// hold reads a body until enough of it came, it ends, or it was held for long enough, and returns what came. The response's
// body then begins at its beginning again.
func hold(res *http.Response, most time.Duration, enough func(head []byte) bool) (head []byte) {
	from, came := res.Body, make(chan piece, 1)
	read := func() {
		p := make([]byte, 32<<10)
		n, err := from.Read(p)
		came <- piece{p[:n], err}
	}
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		go read()
		select {
		case p := <-came:
			head = append(head, p.bytes...)
			if p.err != nil {
				res.Body = &begun{head, &ended{from, p.err}}
				return head
			}
			if enough(head) || len(head) > maxRefusal {
				res.Body = &begun{head, from}
				return head
			}
		case <-late.C:
			res.Body = &begun{head, &waiting{from: from, came: came}}
			return head
		}
	}
}

// ended is a body of which nothing is left but how it ended.
type ended struct {
	io.Closer
	err error
}

func (e *ended) Read([]byte) (int, error) { return 0, e.err }

// waiting is a body of which a read is still under way.
type waiting struct {
	from io.ReadCloser
	came chan piece
	got  *begun // what that read gave, once it did
	err  error
}

func (w *waiting) Read(p []byte) (int, error) {
	if w.got == nil {
		first := <-w.came
		w.got, w.err = &begun{first.bytes, w.from}, first.err
	}
	if len(w.got.head) == 0 && w.err != nil {
		return 0, w.err
	}
	return w.got.Read(p)
}

// Close ends the read that is under way, too: it fails.
func (w *waiting) Close() error {
	err := w.from.Close()
	if w.got == nil {
		<-w.came
		w.got, w.err = &begun{nil, w.from}, errors.New("the body was closed")
	}
	return err
}
