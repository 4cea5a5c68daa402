package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"ambit/entry"
	"ambit/internal/pressure"
	"ambit/internal/thread"
	"ambit/provider"
)

// exchange is one request and its response on their way through. The proxy fills it; the recorder takes its halves
// when they are whole.
type exchange struct {
	r        *recorder
	to       route
	target   *url.URL     // the upstream
	body     *requestBody // nil when there is none
	ctx      context.Context
	method   string
	size     int64 // of the request's body as announced; -1 when unknown
	header   http.Header
	asked    string // path and query for the journal, without credentials
	who      identity
	start    time.Time
	announce sync.Once // the request goes to the recorder

	mu       sync.Mutex
	request  copied
	sealed   bool // the request is the recorder's; what is still read is not copied
	partial  bool // the request's body ended early
	left     bool // because the client left
	response copied
	status   int
	back     http.Header
	first    time.Time // when the response's header came
	ended    time.Time
	how      entry.End
	cause    string

	// The recorder's own.
	in     *writing // the session that the request was recorded in; nil while it is not
	purged bool     // that was purged since
	n      int
	q      provider.Request
	family provider.Protocol
	at     *space // where its parent was sought; nil when it is no part of a conversation
	thread string
	looked int // bytes of the response that were read before it ended

	finished bool // its last event was among them

	// Where a policy may edit it.
	direct  bool           // it is given to the recorder by plan, not by an event
	asWho   string         // the key by which it was known before its body was read
	plan    *pressure.Plan // nil where nothing is edited
	belongs *entry.Relation
	follows int    // the node that it goes on from
	about   string // the thread that it is about
}

// copied is a copy of one body, as far as the queue had room for it.
type copied struct {
	bytes []byte
	total int64 // bytes that passed
	lost  bool  // some of them are not in bytes
}

// add copies a piece, if the queue has room.
func (c *copied) add(p []byte, room *room) {
	c.total += int64(len(p))
	if c.lost || len(p) == 0 {
		return
	}
	if !room.take(int64(len(p))) {
		c.lost = true
		room.give(int64(len(c.bytes)))
		c.bytes = nil
		return
	}
	c.bytes = append(c.bytes, p...)
}

// maxPrepared bounds the memory that is set aside because a header announces a body, in bytes.
const maxPrepared = 4 << 20

// exchange begins to copy a request.
func (r *recorder) exchange(req *http.Request, to route) *exchange {
	x := &exchange{
		r: r, to: to, ctx: req.Context(), method: req.Method, size: req.ContentLength, header: req.Header,
		asked: publicPath(to), who: r.identify(req, to), start: r.now(), how: entry.EndNone,
	}
	x.asWho, x.follows = x.who.key, thread.None
	return x
}

// sent copies a piece of the request's body.
func (x *exchange) sent(p []byte) {
	x.mu.Lock()
	switch {
	case x.direct: // they are kept together
		x.request.total += int64(len(p))
	case !x.sealed:
		if x.size > 0 && x.request.bytes == nil && !x.request.lost {
			x.request.bytes = make([]byte, 0, min(x.size, maxPrepared))
		}
		x.request.add(p, &x.r.room)
	}
	whole := x.size > 0 && x.request.total == x.size
	x.mu.Unlock()
	if whole {
		x.arrived(nil)
	}
}

// keep takes what was read of a request that is not copied piece by piece.
func (x *exchange) keep(body []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.request.lost = !x.r.room.take(int64(len(body))); !x.request.lost {
		x.request.bytes = body
	}
}

// errUnread says that nobody wants the rest of a request's body.
var errUnread = errors.New("the rest of the body was not read")

// whole reports whether the request's body has passed to its end.
func (x *exchange) whole() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sealed && !x.partial
}

// arrived hands the request over: its body ended, well (nil or io.EOF) or early.
func (x *exchange) arrived(err error) {
	x.announce.Do(func() {
		x.mu.Lock()
		x.sealed = true
		x.partial = err != nil && err != io.EOF
		x.left = x.partial && err != errUnread
		direct := x.direct
		x.mu.Unlock()
		if !direct {
			x.r.enqueue(event{x: x})
		}
	})
}

// answered notes the response's header.
func (x *exchange) answered(res *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.back, x.first = res.StatusCode, res.Header, x.r.now()
	x.how = entry.EndCanceled // until the body is read to its end
	if res.ContentLength > 0 {
		x.response.bytes = make([]byte, 0, min(res.ContentLength, maxPrepared))
	}
}

// received copies a piece of the response's body and notes how it ended.
func (x *exchange) received(p []byte, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.response.add(p, &x.r.room)
	switch {
	case err == io.EOF:
		x.how = entry.EndComplete
	case err != nil && x.ctx.Err() == nil:
		x.how, x.cause = entry.EndDropped, cause(err)
	}
}

// sofar is what has come of the response.
func (x *exchange) sofar() (body []byte, contentType, encoding string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status != http.StatusOK {
		return nil, "", ""
	}
	return x.response.bytes, x.back.Get("Content-Type"), x.back.Get("Content-Encoding") // what is added later stands behind
}

// failed notes that no response came.
func (x *exchange) failed(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.how, x.cause = entry.EndNone, cause(err)
	if x.left || errors.Is(err, context.Canceled) {
		x.how, x.cause = entry.EndCanceled, "the client left before the response"
	}
}

// end hands the response over. It is called once, when nothing more can come.
func (x *exchange) end() {
	x.arrived(errUnread)
	x.mu.Lock()
	x.ended = x.r.now()
	x.mu.Unlock()
	x.r.enqueue(event{x: x, response: true})
}

// requestFact is what the journal says of the request.
func (x *exchange) requestFact() *entry.Request {
	return &entry.Request{
		Provider: x.to.provider, Type: x.q.Type, Method: x.method, Path: x.asked, Headers: public(x.header, requestHeaders),
		Model: x.q.Model, Arrived: x.start.UTC(), Partial: x.partial,
	}
}

// responseFact is what the journal says of the response.
func (x *exchange) responseFact() *entry.Response {
	f := &entry.Response{
		N: x.n, Status: x.status, Headers: public(x.back, responseHeaders), End: x.how, Error: x.cause,
		DurationMS: x.ended.Sub(x.start).Milliseconds(),
	}
	if !x.first.IsZero() {
		f.FirstByteMS = x.first.Sub(x.start).Milliseconds()
	}
	if x.response.lost {
		f.End, f.Error = entry.EndUnkept, fmt.Sprintf("%d bytes passed and did not fit the queue", x.response.total)
	}
	return f
}
