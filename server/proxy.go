package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// exchangeKey is the context key under which a request carries its exchange through the proxy.
type exchangeKey struct{}

// pass forwards one request and records it.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, to route, upstream *url.URL) {
	x := s.recorder.exchange(r, to)
	x.target = upstream
	control := http.NewResponseController(w)
	// Without this the server throws away what has not been read of a request when its response begins, while the
	// upstream is still taking it.
	if err := control.EnableFullDuplex(); err != nil {
		s.log.Debug("a request may end when its response begins", "cause", err)
	}
	body := &requestBody{x: x, from: r.Body, control: control}
	defer func() {
		x.end()
		if x.whole() {
			return
		}
		// Who waits for the rest of the request is let go, and only then the server may see this end: it takes the
		// deadline back while somebody reads.
		_ = control.SetReadDeadline(time.Unix(1, 0))
		body.reading.Lock()
		defer body.reading.Unlock()
	}()
	// What the provider did not send is not added: neither a date nor a guessed type.
	w.Header()["Date"], w.Header()["Content-Type"] = nil, nil
	out := r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		x.arrived(nil)
	} else {
		x.body = body
		out.Body = body // the server keeps its own, by which it answers Expect
		if s.edits(r, x) {
			var err error
			if out, err = s.read(x, out); err != nil {
				x.failed(err)
				panic(http.ErrAbortHandler) // the client left in the middle of its request
			}
		}
	}
	s.proxy.ServeHTTP(w, out)
}

func (s *Server) newProxy(hold time.Duration) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:      &reactive{next: s.transport, r: s.recorder, hold: hold},
		FlushInterval:  -1, // every piece of a stream is passed on when it comes
		BufferPool:     &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}},
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		Rewrite:        rewrite,
		ModifyResponse: watch,
		ErrorHandler:   s.unreached,
	}
}

// rewrite aims a request at its upstream. The proxy has taken the headers of the connection out; the rest stays as it
// came, forwarding headers and odd queries included, which it would leave out otherwise.
func rewrite(pr *httputil.ProxyRequest) {
	x := pr.In.Context().Value(exchangeKey{}).(*exchange)
	pr.Out.URL, pr.Out.Host = x.upstreamURL(), x.target.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values := pr.In.Header.Values(name); len(values) > 0 {
			pr.Out.Header[name] = values
		}
	}
	pr.Out.Trailer = pr.In.Trailer // which is filled when the body has been read
	pr.Out.Header.Del(tokenHeader)
}

// upstreamURL is the upstream's address with what the client asked for behind it, spelled as the client did.
func (x *exchange) upstreamURL() *url.URL {
	u := &url.URL{Scheme: x.target.Scheme, Host: x.target.Host, RawQuery: x.to.query, ForceQuery: x.to.asks}
	raw := strings.TrimSuffix(x.target.EscapedPath(), "/") + x.to.rest
	if path, err := url.PathUnescape(raw); err == nil {
		u.Path, u.RawPath = path, raw
	}
	// A spelling that the URL type would mend is sent as it is. With two slashes in front it would be taken for a host,
	// and a forward proxy wants the host in front of it: then it is mended.
	if u.EscapedPath() != raw && raw != "" && !strings.HasPrefix(raw, "//") && !forwarded(x.target) {
		u.Opaque = raw
	}
	return u
}

// forwarded reports whether plain requests to an upstream go through a forward proxy, by the environment.
func forwarded(upstream *url.URL) bool {
	if upstream.Scheme != "http" {
		return false // a tunnel
	}
	via, err := http.ProxyFromEnvironment(&http.Request{URL: upstream})
	return err == nil && via != nil
}

// watch copies a response while it passes.
func watch(res *http.Response) error {
	x := res.Request.Context().Value(exchangeKey{}).(*exchange)
	x.answered(res)
	if !x.whole() {
		res.Header.Set("Connection", "close") // what is left of the request would be taken for the next one
	}
	res.Body = &responseBody{x: x, from: res.Body}
	return nil
}

// unreached answers where the upstream did not.
func (s *Server) unreached(w http.ResponseWriter, r *http.Request, err error) {
	x := r.Context().Value(exchangeKey{}).(*exchange)
	x.failed(err)
	var refused *refusal
	if x.body != nil && !errors.As(err, &refused) && r.Context().Err() == nil {
		x.body.drain()
	}
	if !x.whole() {
		w.Header().Set("Connection", "close")
	}
	switch {
	case errors.As(err, &refused):
		refused.answer(w)
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // nobody is there to be answered
	default:
		refuse(http.StatusBadGateway, "the upstream of /%s did not answer: %s", x.to.provider, cause(err)).answer(w)
	}
}

// quoted is text that an error repeats.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

// cause is an error's text without what an upstream or a client may have put there: the transport repeats headers and
// targets that it cannot read, and they may be cookies and keys.
func cause(err error) string {
	text, _, malformed := strings.Cut(err.Error(), "malformed")
	if malformed {
		text += "malformed response"
	}
	return brief(quoted.ReplaceAllString(text, "…"))
}

// brief cuts a text that goes into an entry.
func brief(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// requestBody copies a request's body while the upstream takes it.
type requestBody struct {
	x       *exchange
	from    io.ReadCloser
	n       int64
	reading sync.Mutex // held by who reads
	control *http.ResponseController
}

const (
	maxDrain  = 64 << 20        // most that is read of a request that its upstream did not take, in bytes
	drainTime = 2 * time.Second // longest that this may take
)

// drain reads what an unreachable upstream did not take of a request, so that it is recorded and its connection can be
// used again.
func (b *requestBody) drain() {
	_ = b.control.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, b, maxDrain) // as much as there is
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	n, err := b.from.Read(p)
	b.x.sent(p[:n])
	if b.n += int64(n); b.n > MaxBody {
		return n, refuse(http.StatusRequestEntityTooLarge, "a body of over %d bytes", MaxBody)
	}
	if err != nil {
		b.x.arrived(err)
	}
	return n, err
}

// Close leaves the body to the server, which closes it after the response.
func (b *requestBody) Close() error {
	b.x.arrived(errUnread)
	return nil
}

// responseBody copies a response's body while the client takes it.
type responseBody struct {
	x    *exchange
	from io.ReadCloser
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.x.received(p[:n], err)
	return n, err
}

func (b *responseBody) Close() error { return b.from.Close() }

// buffers lends the proxy the memory that it copies through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
