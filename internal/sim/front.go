package sim

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/selection"
)

// passing is a request of the agent's, and all that became of it.
type passing struct {
	kind  string // turn, side, count or other
	talk  *talk
	said  []string // its messages
	body  []byte
	path  string // behind the route
	sub   string // the sub-agent's name, where it has one
	again bool   // the agent has sent the same before

	streamed bool
	ways     []*way // what reached the provider
	plain    []byte // the provider's answer, as it is when it is not streamed
	front    *front
	over     bool // what the agent got says that the request is too long
	taken    bool // the agent takes the answer

	at       *ledger // the session that it is recorded in; nil while it is not
	n        int
	sent     int    // how many entries say what was sent
	due      []byte // of these, what the newest says that is still to arrive
	response bool   // the response is recorded
}

// way is one attempt of the proxy's.
type way struct {
	coming
	body   []byte
	answer *answer // nil where none came
	flow   *flow
	over   bool // it was refused as too long
}

// front is the agent's end of a connection to the proxy.
type front struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	most    int // after so many bytes the agent leaves; -1 for never
	leave   context.CancelFunc
	left    bool
	aborted bool // the connection broke
}

// Header implements http.ResponseWriter.
func (f *front) Header() http.Header { return f.header }

// WriteHeader implements http.ResponseWriter.
func (f *front) WriteHeader(status int) {
	if f.status == 0 {
		f.status = status
	}
}

// Write implements http.ResponseWriter.
func (f *front) Write(p []byte) (int, error) {
	f.WriteHeader(http.StatusOK)
	if f.most >= 0 && f.body.Len()+len(p) > f.most {
		f.left = true
		f.leave()
		return 0, syscall.EPIPE
	}
	return f.body.Write(p)
}

// Flush implements http.Flusher.
func (f *front) Flush() {}

const (
	patience   = 5 * time.Minute // of the agent
	credential = "sk-of-the-agent"
)

// pass sends a request through the proxy, and looks what became of it.
func (w *outside) pass(p *passing) {
	w.tail()
	w.way = p
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), http.ServerContextKey, &http.Server{}), patience)
	defer cancel()
	p.front = &front{header: http.Header{}, most: -1, leave: cancel}
	if w.chance(40) {
		p.front.most = w.dice.IntN(3000)
	}
	w.before = w.failures
	method := http.MethodPost
	if p.kind == "other" {
		method = http.MethodGet
	}
	target := "/" + w.tongue.route
	if w.naming == byTag {
		target += "/s/work"
	}
	target += p.path
	u, err := url.Parse("http://127.0.0.1:7788" + target)
	if err != nil {
		panic(err) // it is one of ours
	}
	req := (&http.Request{
		Method: method, URL: u, RequestURI: target, Host: u.Host, RemoteAddr: "127.0.0.1:9", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.headers(p), Body: io.NopCloser(bytes.NewReader(p.body)), ContentLength: int64(len(p.body)),
	}).WithContext(ctx)
	w.fence()
	func() {
		defer func() {
			if r := recover(); r != nil && r != http.ErrAbortHandler {
				panic(r)
			} else if r != nil {
				p.front.aborted = true
			}
		}()
		w.server.ServeHTTP(p.front, req)
	}()
	cancel()
	synctest.Wait()
	w.way = nil
	w.came(p)
	var met []Fault
	for _, it := range p.ways {
		met = append(met, it.fault)
	}
	w.note("%s %s of %d messages, %d bytes: %v, status %d, %d bytes back, aborted %v, left %v", p.kind, p.talk.name, len(p.said), len(p.body), met, p.front.status, p.front.body.Len(), p.front.aborted, p.front.left)
	w.way = p
	w.tail()
	w.way = nil
	w.recorded(p, w.failures != w.before || w.blown)
	if w.blown && !w.lasting { // it failed once, and goes on
		w.blown = false
		w.r.Events["disk full"]++
	}
}

// headers are those of a request of the agent's.
func (w *outside) headers(p *passing) http.Header {
	h := header("content-type", "application/json", "user-agent", "simulant/1.0 (linux)", "x-api-key", credential, "anthropic-version", "2023-06-01", "x-of-the-agent", "its own")
	if w.naming == byHeader {
		h.Set("x-claude-code-session-id", "session-of-the-agent")
		if p.sub != "" {
			h.Set("x-claude-code-agent-id", p.sub)
		}
	}
	return h
}

// wire is the network behind the proxy.
type wire outside

// RoundTrip asks the model, in this very call, and lets things go wrong on the way.
func (n *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w := (*outside)(n)
	defer w.fence()
	p := w.way
	it := &way{}
	w.r.Attempts++
	f := None
	if w.chance(300) {
		f = w.mishap(p)
	}
	if f == Refused {
		p.ways = append(p.ways, it)
		w.r.Faults[f]++
		return nil, &url.Error{Op: "Post", URL: req.URL.String(), Err: syscall.ECONNREFUSED}
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			w.fail(Pass, "what the proxy sends cannot be read: %v", err)
			return nil, errBreach
		}
		it.body = body
	}
	synctest.Wait() // what is written behind the request is written
	w.tail()
	if p.due != nil {
		w.holds(Record, bytes.Equal(p.due, it.body), "what is sent is not what is recorded:\n%s\n%s", it.body, p.due)
		p.due = nil
	}
	w.goes(p, it, req)
	p.ways = append(p.ways, it)
	if w.breach != nil {
		return nil, errBreach
	}
	whole := w.play(p, it, req)
	if whole == nil {
		return nil, errBreach
	}
	if it.over || p.kind == "other" {
		f = None
	}
	w.r.Faults[f]++
	if f == Reset {
		return nil, syscall.ECONNRESET
	}
	over := it.over
	it.answer = w.spoil(&it.coming, w.tongue.wire, f, whole)
	if it.over = over || f == Overflow; it.over {
		w.long = true
		it.fate = fatal
	}
	it.flow = &flow{answer: *it.answer, ctx: req.Context(), dice: rand.New(rand.NewPCG(w.dice.Uint64(), 1))}
	return &http.Response{
		Status: http.StatusText(it.answer.status), StatusCode: it.answer.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: it.answer.header.Clone(), Body: it.flow, ContentLength: -1, Request: req,
	}, nil
}

// mishap is a fault that can meet a request.
func (w *outside) mishap(p *passing) Fault {
	list := faults()
	if !p.streamed {
		list = []Fault{Rate, RateLong, Server, Overload, Refused, Reset, Drop, Slow, Silent, Overflow, Denied, WrongType, Mislabeled, Empty, Redirect}
	}
	return list[w.dice.IntN(len(list))]
}

// play asks the strict provider for its answer.
func (w *outside) play(p *passing, it *way, req *http.Request) *answer {
	ask := func(target *url.URL, body []byte) *page {
		var got page
		p.talk.provider.ServeHTTP(&got, &http.Request{
			Method: req.Method, URL: target, Header: req.Header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		})
		return &got
	}
	before := len(p.talk.provider.Refusals())
	got := ask(req.URL, it.body)
	refused := p.talk.provider.Refusals()[before:]
	it.over = len(refused) > 0 && refused[0].Overflow
	ok := it.over || got.status == http.StatusOK && len(refused) == 0 || p.kind == "other"
	if !w.holds(Strict, ok, "request %s of %s is refused with %d: %s\n%s", req.URL, p.talk.name, got.status, got.body.String(), it.body) {
		return nil
	}
	if p.plain = got.body.Bytes(); p.streamed && !it.over {
		target, body := *req.URL, bytes.Replace(it.body, []byte(`"stream":true`), []byte(`"stream":false`), 1)
		target.Path, target.RawQuery = strings.Replace(target.Path, ":streamGenerateContent", ":generateContent", 1), ""
		p.plain = ask(&target, body).body.Bytes()
	}
	return &answer{status: got.status, header: got.header, body: got.body.Bytes()}
}

// flow is an answer on its way to the proxy. Another goroutine may read it while the world goes on, so its dice are its own.
type flow struct {
	answer
	ctx  context.Context
	dice *rand.Rand

	mu    sync.Mutex
	given []byte
	broke bool
}

// Read gives a piece, of any size, in its time.
func (s *flow) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slow {
		time.Sleep(time.Duration(s.dice.IntN(int(silence)/2)) + time.Millisecond)
	}
	if s.ctx.Err() != nil {
		s.broke = true
		return 0, context.Cause(s.ctx)
	}
	if len(s.body) == 0 {
		switch s.end {
		case breaks:
			s.broke = true
			return 0, io.ErrUnexpectedEOF
		case hangs:
			<-s.ctx.Done()
			s.broke = true
			return 0, context.Cause(s.ctx)
		}
		return 0, io.EOF
	}
	n := copy(p, s.body[:min(len(s.body), 1+s.dice.IntN(4000))])
	s.body = s.body[n:]
	s.given = append(s.given, p[:n]...)
	return n, nil
}

// Close implements io.Closer.
func (s *flow) Close() error { return nil }

// goes looks at what the proxy sends.
func (w *outside) goes(p *passing, it *way, req *http.Request) {
	asked := req.URL.RequestURI()
	ok := asked == p.path && req.Header.Get("x-api-key") == credential && req.Header.Get("x-of-the-agent") == "its own" &&
		req.Header.Get("user-agent") == "simulant/1.0 (linux)" && req.Header.Get("x-forwarded-for") == ""
	w.holds(Pass, ok, "the agent asks for %s, and the proxy for %s with %v", p.path, asked, req.Header)
	if last := len(p.ways) - 1; last >= 0 {
		ok := p.ways[last].over && len(it.body) < len(p.ways[last].body)
		w.holds(Pass, ok, "a request is sent again that was not refused as too long, or not shorter: %d bytes after %d", len(it.body), len(p.ways[last].body))
	}
	if bytes.Equal(it.body, p.body) {
		w.holds(Pass, req.ContentLength == int64(len(it.body)), "%d bytes are announced, and %d sent", req.ContentLength, len(it.body))
		return
	}
	w.r.Events["requests that are edited"]++
	edited := w.edits()
	w.holds(Pass, w.policy != selection.Record || edited, "a policy that only records sends\n%s\nin place of\n%s", it.body, p.body)
	w.holds(Applied, edited, "what is sent is edited, and no edit is in the journal:\n%s", it.body)
	w.edited(p, it)
}

// restored is how much is put back behind a client's summary, in bytes, at most: JSON may have three for one.
const restored = 3 * (8<<10 + 300)

// edited looks at what the proxy sends in place of what came.
func (w *outside) edited(p *passing, it *way) {
	room := 0
	for _, l := range w.ledgers {
		for _, text := range l.pins {
			room += 2*len(text) + 400
		}
	}
	for _, l := range w.ledgers {
		if slices.ContainsFunc(l.all, func(x *noted) bool { return x.how == entry.ClientCompaction }) { // what its summary has lost stands behind it, from then on
			room += restored
		}
	}
	w.holds(Shorter, len(it.body) <= len(p.body)+room, "%d bytes came, and %d are sent\n%s\n%s", len(p.body), len(it.body), p.body, it.body)
	got, _, err := read(w.tongue.wire, it.body)
	came, _, err2 := read(w.tongue.wire, p.body)
	if err != nil || err2 != nil {
		w.fail(Closure, "what is sent cannot be read: %v, %v\n%s", err, err2, it.body)
		return
	}
	family := ambit.Family(w.tongue.route, http.MethodPost, p.path)
	err = closed(family, p.path, it.body, got)
	w.holds(Closure, err == nil, "what is sent is no conversation: %v\n%s", err, it.body)
	// What is newest stands as it came: the newest answer, and what stands behind it. Results may be shorter, and what the user
	// says where the request would be too long otherwise.
	from := len(came) - 1
	for from > 1 && !(came[from-1].kind == "said" || came[from-1].kind == "call") {
		from--
	}
	for from > 1 && (came[from-1].kind == "said" || came[from-1].kind == "call") {
		from--
	}
	may := func(kind string) bool { return kind == "result" || kind == "user" && (w.window > 0 || w.long) } // where it would not fit else
	i := from
	for _, a := range got {
		if i < len(came) && a.kind == came[i].kind && a.id == came[i].id && (a.text == came[i].text || may(a.kind) && len(a.text) < len(came[i].text)) {
			i++
		}
	}
	w.holds(Shorter, i == len(came), "the newest is not sent as it came: of the newest %d elements %d stand\n%s\n%s", len(came)-from, i-from, few(came[i:]), it.body)
}

// came looks at what the agent has got: what the provider sent, with the proxy's own words only where nothing came.
func (w *outside) came(p *passing) {
	if w.breach != nil {
		return
	}
	f := p.front
	if len(p.ways) == 0 {
		w.fail(Pass, "the proxy does not ask the provider, and answers %d: %s", f.status, f.body.String())
		return
	}
	last := p.ways[len(p.ways)-1]
	if last.answer == nil {
		ok := f.left || f.status == http.StatusBadGateway && strings.Contains(f.body.String(), "ambit_refused")
		w.holds(Pass, ok, "the provider was not reached, and the agent is told %d: %s", f.status, f.body.String())
		return
	}
	got := f.body.Bytes()
	switch {
	case f.left:
		w.holds(Pass, bytes.HasPrefix(last.flow.given, got), "what the agent got before it left is not what was sent:\n%s\n%s", got, last.flow.given)
	default:
		ok := f.status == last.answer.status && bytes.Equal(got, last.flow.given) && (last.flow.broke || len(last.flow.body) == 0)
		w.holds(Pass, ok, "the provider sent %d and %d bytes, and the agent got %d and %d:\n%s\n%s", last.answer.status, len(last.flow.given), f.status, len(got), last.flow.given, got)
		w.holds(Pass, f.aborted == last.flow.broke, "the answer broke off: %v; the agent sees that: %v", last.flow.broke, f.aborted)
		w.holds(Pass, sameHeaders(f.header, last.answer.header), "the provider's headers are %v, and the agent's %v", last.answer.header, f.header)
	}
	p.over = last.over && !f.left
	p.taken = !f.left && !f.aborted && f.status == http.StatusOK && last.whole && (last.fate == answered || last.fate == either) && !last.over
}

// sameHeaders reports whether headers are the same, but for those of a connection.
func sameHeaders(a, b http.Header) bool {
	keys := map[string]bool{}
	for _, h := range []http.Header{a, b} {
		for k := range h {
			keys[textproto.CanonicalMIMEHeaderKey(k)] = true
		}
	}
	delete(keys, "Connection")
	for k := range keys {
		if !slices.Equal(a.Values(k), b.Values(k)) {
			return false
		}
	}
	return true
}
