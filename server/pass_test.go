package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"

	"ambit/entry"

	"github.com/google/go-cmp/cmp"
)

// seen is a request as an upstream gets it, or a response as a client does, after transfer decoding.
type seen struct {
	Line    string
	Header  map[string][]string
	Body    string
	Trailer map[string][]string
	Cut     bool // the body ended before its end
}

// watcher is an upstream that keeps what it saw.
type watcher struct {
	mu   sync.Mutex
	last seen
	then http.HandlerFunc
}

func (u *watcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	h := r.Header.Clone()
	if len(r.TransferEncoding) == 0 {
		h.Set("Content-Length", fmt.Sprint(r.ContentLength))
	}
	u.mu.Lock()
	u.last = seen{r.Method + " " + r.RequestURI, h, string(body), r.Trailer, err != nil}
	u.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.then(w, r)
}

// raw sends bytes to an address and reads one response.
func raw(t *testing.T, addr, request string) seen {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%v after %q", err, request)
	}
	body, err := io.ReadAll(res.Body)
	return seen{res.Status, res.Header, string(body), res.Trailer, err != nil}
}

// requests are spelled as clients could spell them; PATH stands where the provider's prefix goes.
var requests = map[string]string{
	"plain":            "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}",
	"query":            "POST PATH/v1/messages?beta=true&x=%20a&&b HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}",
	"odd query":        "GET PATH/v1/models?a=1;b=2&c=%zz HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"empty query":      "GET PATH/v1/models? HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"escaped path":     "POST PATH/v1beta/models/gemini%2F2:streamGenerateContent?alt=sse HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}",
	"doubled slash":    "GET PATH//v1//models/../x/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"no rest":          "GET PATH/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"no body":          "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n",
	"chunks":           "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n5;x=y\r\n\":1}\n\r\n0\r\n\r\n",
	"trailers":         "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\nX-Sum: 7\r\n\r\n",
	"not JSON":         "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nContent-Length: 8\r\n\r\nnot \xff\x00\r\n",
	"headers":          "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nX-Api-Key: k\r\nAuthorization: Bearer b\r\nAnthropic-Beta: a, b\r\nAnthropic-Beta: c\r\nCookie: x=y\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n",
	"forwarded":        "GET PATH/v1/models HTTP/1.1\r\nHost: HOST\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=x\r\nX-Forwarded-Proto: https\r\n\r\n",
	"no agent":         "GET PATH/v1/models HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"an agent":         "GET PATH/v1/models HTTP/1.1\r\nHost: HOST\r\nUser-Agent: codex/1\r\nAccept-Encoding: zstd, br\r\n\r\n",
	"other methods":    "DELETE PATH/v1/files/1 HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"head":             "HEAD PATH/api/hello HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"options":          "OPTIONS PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\n\r\n",
	"patch":            "PATCH PATH/unknown/route HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\n\r\nx",
	"content encoding": "POST PATH/v1/responses HTTP/1.1\r\nHost: HOST\r\nContent-Encoding: zstd\r\nContent-Length: 3\r\n\r\n\x28\xb5\x2f",
	"expecting":        "POST PATH/v1/messages HTTP/1.1\r\nHost: HOST\r\nX-Stainless-Retry-Count: 0\r\nTE: trailers\r\nContent-Length: 2\r\n\r\n{}",
}

// answers are what an upstream may do.
var answers = map[string]http.HandlerFunc{
	"json": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"ok":true}`)
	},
	"echo":    echo,
	"nothing": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"overloaded": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3")
		http.Error(w, `{"type":"error"}`, 529)
	},
	"redirect": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://other.example/steal", http.StatusTemporaryRedirect)
	},
	"no type": func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
		io.WriteString(w, "<html>looks like a page")
	},
	"headers": func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Set-Cookie"] = []string{"a=b", "c=d"}
		w.Header().Set("Request-Id", "req_1")
		w.Header().Set("X-Odd", "\tcaf\xe9 ")
		io.WriteString(w, "x")
	},
	"stream": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			fmt.Fprintf(w, "event: e\ndata: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
		}
	},
	"gzip": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, strings.Repeat("data: {}\n\n", 100))
		z.Close()
	},
	"cut at length": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "only the beginning")
	},
	"cut in a stream": func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: {}\n\nda")
		w.(http.Flusher).Flush()
		if r.Method == http.MethodHead {
			return // its response is whole; the next request may already be on its connection
		}
		panic(http.ErrAbortHandler)
	},
	"trailers": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, "body")
		w.Header().Set("X-Sum", "1")
	},
	"large": func(w http.ResponseWriter, r *http.Request) { w.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<16)) },
}

// TestPassThroughLaw sends every spelling of a request to every kind of upstream twice, directly and through the
// proxy, and compares what the upstream and the client saw. Then the journal must hold the same bytes.
//
// covers: I-05
func TestPassThroughLaw(t *testing.T) {
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			u := &watcher{then: answer}
			g := newRig(t, u.ServeHTTP, nil)
			var sent, got []string
			for _, which := range sortedKeys(requests) {
				request := requests[which]
				direct, wantUp := exchangeWith(t, u, g.upstream.Listener.Addr().String(), request, "")
				through, gotUp := exchangeWith(t, u, g.front.Listener.Addr().String(), request, "/anthropic/s/one")
				if diff := cmp.Diff(wantUp, gotUp); diff != "" {
					t.Errorf("%s: the upstream saw (-directly +through the proxy)\n%s", which, diff)
				}
				if diff := cmp.Diff(direct, through); diff != "" {
					t.Errorf("%s: the client saw (-directly +through the proxy)\n%s", which, diff)
				}
				sent, got = append(sent, gotUp.Body), append(got, through.Body)
			}
			p := g.only()
			for i := range sent {
				request, response := g.bodies(p, i+1)
				if string(request) != sent[i] || string(response) != got[i] {
					t.Errorf("request %d is recorded as %q and %.80q, want %q and %.80q", i+1, request, response, sent[i], got[i])
				}
			}
		})
	}
}

// exchangeWith sends one request to an address and returns what the client and the upstream saw of it.
func exchangeWith(t *testing.T, u *watcher, addr, request, prefix string) (client, upstream seen) {
	t.Helper()
	request = strings.ReplaceAll(strings.Replace(request, "PATH", prefix, 1), "HOST", addr)
	client = raw(t, addr, request)
	if len(client.Header["Date"]) > 0 {
		client.Header["Date"] = []string{"some"} // the seconds may differ
	}
	delete(client.Header, "Connection") // of one connection, like how a body is framed
	delete(client.Header, "Content-Length")
	delete(client.Header, "Trailer")
	u.mu.Lock()
	defer u.mu.Unlock()
	return client, u.last
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestUpstreamPath appends what follows the provider's name to the upstream's own path, and takes token and tag out.
func TestUpstreamPath(t *testing.T) {
	u := &watcher{then: echo}
	g := newRig(t, u.ServeHTTP, func(o *Options) { o.Token = "sesame" })
	for path, want := range map[string]string{
		"/other/t/sesame/v1/x":               "/base/v1/x",
		"/other/t/sesame":                    "/base",
		"/other/s/tag/t/sesame/v1/x%2Fy?q=1": "/base/v1/x%2Fy?q=1",
		"/openai/t/sesame/s/a/v1/responses":  "/v1/responses",
	} {
		if _, _, err := g.post(path, nil); err != nil {
			t.Fatal(err)
		}
		if u.last.Line != "POST "+want {
			t.Errorf("%s: the upstream saw %q, want %q", path, u.last.Line, want)
		}
	}
	if _, _, err := g.post("/other/v1", nil, "X-Ambit-Token", "sesame"); err != nil {
		t.Fatal(err)
	}
	if h := u.last.Header[textproto.CanonicalMIMEHeaderKey("X-Ambit-Token")]; h != nil || u.last.Line != "POST /base/v1" {
		t.Errorf("the token was forwarded: %v %v", u.last.Line, h)
	}
}

// TestStreamsAsItComes checks that each event of a stream reaches the client before the next one is made, and that
// the request is in the journal while its response is still under way.
//
// covers: I-05 part
func TestStreamsAsItComes(t *testing.T) {
	next := make(chan string)
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for piece := range next {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}, nil)
	req, _ := http.NewRequest(http.MethodPost, g.front.URL+"/anthropic/v1/messages", strings.NewReader(`{"model":"m"}`))
	go func() { next <- "data: 0\n\n" }()
	res, err := g.front.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, len("data: 0\n\n"))
	for i := range 10 {
		if _, err := io.ReadFull(res.Body, buf); err != nil || string(buf) != fmt.Sprintf("data: %d\n\n", i) {
			t.Fatalf("event %d: %q, %v", i, buf, err)
		}
		if i == 0 {
			<-g.recorded
			for _, p := range g.read() {
				if p.Last() != 1 || p.Exchanges[0].Response != nil || p.Exchanges[0].Request.Model != "m" {
					t.Errorf("while the response is under way the journal has %+v", p.Exchanges)
				}
			}
		}
		if i < 9 {
			next <- fmt.Sprintf("data: %d\n\n", i+1)
		}
	}
	close(next)
	io.Copy(io.Discard, res.Body)
	if x := g.only().Exchange(1); x.Response == nil || x.Response.End != entry.EndComplete {
		t.Errorf("recorded as %+v", x)
	}
}

// TestEnds checks that every way in which a response can end is passed on and recorded as what it was.
func TestEnds(t *testing.T) {
	t.Run("client leaves", func(t *testing.T) {
		left := make(chan struct{})
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			close(left)
		}, nil)
		ctx, cancel := context.WithCancel(context.Background())
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.front.URL+"/anthropic/v1/x", nil)
		res, err := g.front.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(res.Body, make([]byte, 9))
		cancel()
		<-left // the upstream is let go
		res.Body.Close()
		x := g.only().Exchange(1)
		if x.Response.End != entry.EndCanceled || x.Response.Body.Size != 9 {
			t.Errorf("recorded as %+v", x.Response)
		}
	})
	t.Run("upstream cuts", func(t *testing.T) {
		g := newRig(t, answers["cut in a stream"], nil)
		_, got, err := g.post("/openai/v1/responses", []byte("{}"))
		if !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != "data: {}\n\nda" {
			t.Errorf("the client saw %q, %v", got, err)
		}
		if x := g.only().Exchange(1); x.Response.End != entry.EndDropped || x.Response.Error == "" {
			t.Errorf("recorded as %+v", x.Response)
		}
	})
	t.Run("upstream is not there", func(t *testing.T) {
		g := newRig(t, echo, nil)
		g.upstream.Close()
		res, got, err := g.post("/gemini/v1beta/models/m:generateContent?key=k-secret", []byte("{}"))
		if err != nil || res.StatusCode != http.StatusBadGateway || !strings.Contains(string(got), "/gemini did not answer") || strings.Contains(string(got), "k-secret") {
			t.Errorf("the client saw %v %s", err, got)
		}
		p := g.only()
		if request, _ := g.bodies(p, 1); string(request) != "{}" || p.Exchange(1).Request.Partial {
			t.Errorf("the request is recorded as %q", request)
		}
		x := p.Exchange(1)
		if x.Response.End != entry.EndNone || x.Response.Status != 0 || x.Response.Error == "" || x.Request.Path != "/v1beta/models/m:generateContent?key=redacted" {
			t.Errorf("recorded as %+v %+v", x.Request, x.Response)
		}
	})
	t.Run("answered before the body was read", func(t *testing.T) {
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}, nil)
		res, _, err := g.post("/anthropic/v1/messages", bytes.Repeat([]byte("x"), 64<<20))
		if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Fatalf("%v %v", res, err)
		}
		if x := g.only().Exchange(1); !x.Request.Partial || x.Response.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("recorded as %+v %+v", x.Request, x.Response)
		}
	})
}
