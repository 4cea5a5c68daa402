package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// exchangeKey is the context key under which a request carries its exchange through the proxy.
type exchangeKey struct{}

// pass forwards one request and records it.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, to route, upstream *url.URL) {
	x := s.recorder.exchange(r, to)
	defer x.end()
	target := *upstream
	target.Path, target.RawPath = "", ""
	target.Opaque = ""
	x.target = &target
	x.path = strings.TrimSuffix(upstream.EscapedPath(), "/") + to.rest
	// What the provider did not send is not added: neither a date nor a guessed type.
	w.Header()["Date"], w.Header()["Content-Type"] = nil, nil
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		x.arrived(nil)
	} else {
		r.Body = &requestBody{x: x, from: r.Body}
	}
	s.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

func (s *Server) newProxy() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:      s.transport,
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
	u := *x.target
	if path, err := url.PathUnescape(x.path); err == nil {
		u.Path, u.RawPath = path, x.path
	}
	u.RawQuery, u.ForceQuery = pr.In.URL.RawQuery, pr.In.URL.ForceQuery
	pr.Out.URL, pr.Out.Host = &u, u.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values := pr.In.Header.Values(name); len(values) > 0 {
			pr.Out.Header[name] = values
		}
	}
	pr.Out.Header.Del(tokenHeader)
}

// watch copies a response while it passes.
func watch(res *http.Response) error {
	x := res.Request.Context().Value(exchangeKey{}).(*exchange)
	x.answered(res)
	res.Body = &responseBody{x: x, from: res.Body}
	return nil
}

// unreached answers where the upstream did not.
func (s *Server) unreached(w http.ResponseWriter, r *http.Request, err error) {
	x := r.Context().Value(exchangeKey{}).(*exchange)
	x.failed(err)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		refused.answer(w)
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // nobody is there to be answered
	default:
		refuse(http.StatusBadGateway, "the upstream of /%s did not answer: %v", x.to.provider, err).answer(w)
	}
}

// requestBody copies a request's body while the upstream takes it.
type requestBody struct {
	x    *exchange
	from io.ReadCloser
	n    int64
}

func (b *requestBody) Read(p []byte) (int, error) {
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

func (b *requestBody) Close() error {
	b.x.arrived(io.ErrUnexpectedEOF)
	return b.from.Close()
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
