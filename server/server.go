// Package server puts a journal behind HTTP: today the recording proxy that an existing agent is pointed at.
//
// What it guarantees: method, path and query behind the provider's name, end-to-end headers, status, body bytes and
// the place where a stream ended pass unchanged in both directions. A request is forwarded first; its copy goes into
// the journal behind it, so a full disk stops the recording and never the agent, and leaves a gap entry. Credentials
// are forwarded and kept nowhere. Only configured upstreams are reached.
//
// A Server is safe for concurrent use. It does not edit or cache anything, and sends nothing twice that has a body.
package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ambit/internal/selection"
	"ambit/journal"
)

// The limits of what passes.
const (
	MaxHeader    = 256 << 10        // longest request line and header, in bytes
	MaxBody      = 1 << 30          // longest request body that is passed on, in bytes
	MaxExchanges = 1024             // requests under way at once
	DefaultQueue = 256 << 20        // copies that wait for the journal, in bytes
	sessionIdle  = 10 * time.Minute // after which a client without an identity starts a new session
)

// DefaultUpstreams are the public addresses of the providers that have a route.
func DefaultUpstreams() map[string]string {
	return map[string]string{
		"anthropic": "https://api.anthropic.com",
		"openai":    "https://api.openai.com",
		"gemini":    "https://generativelanguage.googleapis.com",
	}
}

// Options says what a Server does. Store is needed; the rest may be left zero.
type Options struct {
	Store     *journal.Dir      // where exchanges are recorded
	Upstreams map[string]string // URL by provider's name, over DefaultUpstreams; a new name makes a new route
	Token     string            // what every request must bring, in X-Ambit-Token or /NAME/t/TOKEN/; empty: nothing
	Open      bool              // answer under any Host; only with a Token
	Secret    []byte            // key for the HMAC by which clients of one credential are told from others
	Policy    string            // what may be done to requests: record, cut or full; empty means record
	Title     string            // of the sessions that are made; empty: none
	Version   string            // what /healthz says
	Hold      time.Duration     // for how long a stream is held back that has begun and says nothing yet; 0 means ten seconds
	Queue     int64             // bytes of copies that may wait; 0 means DefaultQueue
	Now       func() time.Time  // nil means time.Now
	Rand      io.Reader         // for session names; nil means crypto/rand
	Log       *slog.Logger      // what went wrong with recording; nil means nowhere
	Transport http.RoundTripper // to the upstreams; nil means connections of its own, which neither add a content encoding nor follow redirects
}

// policy is the one that is named.
func (o *Options) policy() selection.Policy {
	p, _ := selection.Named(cmp.Or(o.Policy, selection.Record))
	return p
}

// Server is the proxy. New makes it, Serve runs it.
type Server struct {
	upstreams map[string]*url.URL
	guard     guard
	version   string
	recorder  *recorder
	proxy     *httputil.ReverseProxy
	transport http.RoundTripper
	now       func() time.Time
	log       *slog.Logger
	underWay  atomic.Int64
	handlers  sync.WaitGroup // those that pass a request
}

var routeName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// New makes a server and starts its recorder, which Close ends.
func New(o Options) (*Server, error) {
	if o.Store == nil {
		return nil, errors.New("new server: no store")
	}
	if o.Open && o.Token == "" {
		return nil, errors.New("new server: answering under any host needs a token")
	}
	if _, ok := selection.Named(cmp.Or(o.Policy, selection.Record)); !ok {
		return nil, fmt.Errorf("new server: no policy is named %q: there are record, cut and full", o.Policy)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	upstreams, err := ParseUpstreams(o.Upstreams)
	if err != nil {
		return nil, err
	}
	s := &Server{
		upstreams: upstreams,
		guard:     guard{token: o.Token, open: o.Open},
		version:   o.Version,
		transport: o.Transport,
		now:       o.Now,
		log:       o.Log,
	}
	s.recorder = newRecorder(o)
	s.proxy = s.newProxy(cmp.Or(o.Hold, holdTime))
	return s, nil
}

// ParseUpstreams reads the URLs of upstreams by their routes' names, with those of DefaultUpstreams that are not given. It
// refuses what is not the address of an upstream, without repeating it: it may hold a password.
func ParseUpstreams(given map[string]string) (map[string]*url.URL, error) {
	all := DefaultUpstreams()
	maps.Copy(all, given)
	parsed := make(map[string]*url.URL, len(all))
	for name, text := range all {
		if !routeName.MatchString(name) || name == "healthz" || name == mcpRoute {
			return nil, fmt.Errorf("upstream %q: a name is 1 to 32 of a-z, 0-9 and -, beginning with a letter", name)
		}
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("upstream %s: want http://HOST[/PATH] or https://HOST[/PATH]", name)
		}
		if u.User != nil {
			return nil, fmt.Errorf("upstream %s: leave name and password out of the URL; the agent's own credentials are passed on", name)
		}
		parsed[name] = u
	}
	return parsed, nil
}

// newTransport makes the connection to upstreams. It neither adds a content encoding of its own nor follows redirects.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          512,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		WriteBufferSize:       64 << 10,
		ReadBufferSize:        64 << 10,
	}
}

// ServeHTTP answers /healthz, purges sessions, and passes on what is meant for an upstream.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := r.RequestURI
	if _, rest, whole := strings.Cut(target, "://"); whole && !strings.HasPrefix(target, "/") { // a URL, as proxies are sent it
		_, target, _ = strings.Cut(rest, "/")
	}
	to, err := parseRoute(target)
	if err == nil {
		err = s.guard.admit(r, to.token)
	}
	var refused *refusal
	if errors.As(err, &refused) {
		refused.answer(w)
		return
	}
	upstream, known := s.upstreams[to.provider]
	switch {
	case to.provider == "healthz" && to.rest == "":
		s.healthz(w, r)
	case to.provider == ownRoute:
		s.own(w, r, to)
	case to.provider == mcpRoute:
		s.mcp(w, r, to)
	case !known:
		refuse(http.StatusNotFound, "no route for /%s: the routes are %s", to.provider, s.routes()).answer(w)
	case upgrades(r):
		w.Header().Set("Upgrade", "HTTP/1.1")
		w.Header().Set("Connection", "Upgrade")
		refuse(http.StatusUpgradeRequired, "WebSocket is not passed on: use HTTP with server-sent events").answer(w)
	case r.ContentLength > MaxBody:
		refuse(http.StatusRequestEntityTooLarge, "a body of %d bytes is over the limit of %d", r.ContentLength, MaxBody).answer(w)
	case s.underWay.Add(1) > MaxExchanges:
		s.underWay.Add(-1)
		refuse(http.StatusServiceUnavailable, "%d requests are under way: try again later", MaxExchanges).answer(w)
	default:
		defer s.underWay.Add(-1)
		s.handlers.Add(1)
		defer s.handlers.Done()
		s.pass(w, r, to, upstream)
	}
}

func (s *Server) routes() string {
	return "/" + strings.Join(slices.Sorted(maps.Keys(s.upstreams)), ", /")
}

func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(http.StatusMethodNotAllowed, "/healthz is read with GET").answer(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{\"status\":\"ok\",\"version\":%q}\n", s.version)
}

// Serve answers on a listener until ctx ends; then it takes no more requests and gives those under way grace to end.
// It does not close the server.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    MaxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := h.Shutdown(stop); err != nil {
		h.Close() // what is still under way ends as if the client had left
	}
	<-ended
	return nil
}

// Recorded says what was recorded since New: requests, the sessions that they are in (one that was let go and taken up
// again counts again), and how many requests and responses passed unrecorded. It is complete after Close.
func (s *Server) Recorded() (requests, sessions, missed int) {
	r := s.recorder
	return int(r.requests.Load()), int(r.sessions.Load()), int(r.lost.Load())
}

// Edited says how many requests were not sent as they came, and how often one was made shorter and sent again because its
// provider had refused it as too long. It is complete after Close.
func (s *Server) Edited() (requests, resent int) {
	return int(s.recorder.changed.Load()), int(s.recorder.resent.Load())
}

// Close waits for requests under way, whose connections Serve has closed, records what is waiting, unlocks the sessions
// and ends the recorder. The caller must have ended Serve.
func (s *Server) Close() error {
	s.handlers.Wait()
	if t, ok := s.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	return s.recorder.close()
}
