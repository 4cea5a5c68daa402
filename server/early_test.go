package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"ambit/entry"
)

// dial opens a connection to the proxy.
func (g *rig) dial() (net.Conn, *bufio.Reader) {
	g.t.Helper()
	c, err := net.Dial("tcp", g.front.Listener.Addr().String())
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

// quiet wants the server's own log to stay empty: it would report a broken connection state there.
func (g *rig) quiet() *bytes.Buffer {
	var said bytes.Buffer
	g.front.Config.ErrorLog = log.New(&said, "", 0)
	g.t.Cleanup(func() {
		if said.Len() > 0 {
			g.t.Errorf("the server says: %s", &said)
		}
	})
	return &said
}

// TestEarlyResponse has an upstream begin its response before it has the request: every byte that the client sends
// after that must still reach it, in one piece, and be recorded.
//
// covers: I-05 part
func TestEarlyResponse(t *testing.T) {
	for _, chunked := range []bool{true, false} {
		t.Run(fmt.Sprintf("chunked %v", chunked), func(t *testing.T) {
			got := make(chan []byte, 1)
			g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
				http.NewResponseController(w).EnableFullDuplex()
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush()
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got <- body
				io.WriteString(w, "done")
			}, nil)
			g.quiet()
			c, r := g.dial()
			pieces := make([]string, 40)
			for i := range pieces {
				pieces[i] = strings.Repeat(string(rune('a'+i%26)), 20_000)
			}
			whole := strings.Join(pieces, "")
			head := "POST /anthropic/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n"
			if chunked {
				head += "Transfer-Encoding: chunked\r\n\r\n"
			} else {
				head += fmt.Sprintf("Content-Length: %d\r\n\r\n", len(whole))
			}
			io.WriteString(c, head)
			var res *http.Response
			for i, piece := range pieces {
				if chunked {
					piece = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
				}
				if _, err := io.WriteString(c, piece); err != nil {
					t.Fatal(err)
				}
				if i == 3 { // the response's head is here, most of the request is not
					var err error
					if res, err = http.ReadResponse(r, nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			if chunked {
				io.WriteString(c, "0\r\n\r\n")
			}
			if body := <-got; string(body) != whole {
				t.Errorf("the upstream got %d bytes, want %d", len(body), len(whole))
			}
			if answer, err := io.ReadAll(res.Body); err != nil || string(answer) != "done" {
				t.Errorf("the client got %q, %v", answer, err)
			}
			p := g.only()
			request, _ := g.bodies(p, 1)
			if string(request) != whole || p.Exchange(1).Request.Partial || p.Exchange(1).Response.End != entry.EndComplete {
				t.Errorf("%d bytes are recorded, %+v", len(request), p.Exchange(1))
			}
		})
	}
}

// TestRefusedExpectation has an upstream refuse a request of which it has seen the header only, as the client asked it
// to. The client hears that at once, and need not send the body.
func TestRefusedExpectation(t *testing.T) {
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, nil)
	g.quiet()
	c, r := g.dial()
	io.WriteString(c, "POST /anthropic/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Fatalf("%v %v", res, err)
	}
	if x := g.only().Exchange(1); !x.Request.Partial || x.Response.Status != http.StatusUnauthorized {
		t.Errorf("recorded as %+v %+v", x.Request, x.Response)
	}
}

// TestUnreadRequests sends requests that nobody reads to their end, one after another, and then one that passes.
func TestUnreadRequests(t *testing.T) {
	g := newRig(t, echo, func(o *Options) { o.Upstreams["dead"] = "http://127.0.0.1:1" })
	g.quiet()
	for i := range 20 {
		c, r := g.dial()
		body := strings.Repeat("x", 1<<(i%20))
		fmt.Fprintf(c, "POST /dead/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != http.StatusBadGateway {
			t.Fatalf("request %d: %v %v", i, res, err)
		}
	}
	if _, got, err := g.post("/anthropic/v1/messages", []byte("{}")); err != nil || string(got) != "{}" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestClientBreaksOff records a request whose client left in the middle of it as that.
func TestClientBreaksOff(t *testing.T) {
	left := make(chan struct{})
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(left)
	}, nil)
	c, _ := g.dial()
	io.WriteString(c, "POST /anthropic/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{")
	c.Close()
	g.settle(2)
	<-left
	x := g.only().Exchange(1)
	if !x.Request.Partial || x.Request.Body.Size != 1 || x.Response.End != entry.EndCanceled {
		t.Errorf("recorded as %+v %+v", x.Request, x.Response)
	}
}

// TestSpelling passes request targets as they are spelled, even where Go's URL type would mend them.
func TestSpelling(t *testing.T) {
	u := &watcher{then: echo}
	g := newRig(t, u.ServeHTTP, nil)
	for _, target := range []string{
		"/v1/a%2fb{c}", "/v1/\"x\"|^`", "/v1/caf\xc3\xa9", "/v1/%E9?q=%E9", "/v1/x#y", "/v1/x?a#b", "/v1/;a=b;c", "/v1/a%20b+c", "/v1/?", "//x//y/../z/./",
		"//evil.test/x", "//evil.test//x?y",
	} {
		client := raw(t, g.front.Listener.Addr().String(), "GET /anthropic"+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		if want := "GET " + target; u.last.Line != want || client.Line != "200 OK" {
			t.Errorf("the upstream saw %q, want %q; the client saw %s", u.last.Line, want, client.Line)
		}
	}
}

// TestNotSentTwice has an upstream that drops a used connection after the request: what has a body is not sent again,
// because the upstream may have acted on it.
func TestNotSentTwice(t *testing.T) {
	var seen atomic.Int64
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if seen.Add(1) == 1 {
			return // well, so that its connection is used again
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		c.Close()
	}, nil)
	for i, want := range []int{http.StatusOK, http.StatusBadGateway} {
		res, _, err := g.post("/anthropic/v1/messages", []byte("{}"), "Idempotency-Key", "k")
		if err != nil || res.StatusCode != want {
			t.Errorf("request %d: %v, %v", i, res, err)
		}
	}
	if n := seen.Load(); n != 2 {
		t.Errorf("the upstream saw %d requests, want 2", n)
	}
}

// TestForeignHost has a path that looks like a host behind the route, with a character that is mended: it stays a path.
func TestForeignHost(t *testing.T) {
	u := &watcher{then: echo}
	g := newRig(t, u.ServeHTTP, nil)
	raw(t, g.front.Listener.Addr().String(), "GET /anthropic//evil.test/x{ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if u.last.Line != "GET //evil.test/x%7B" {
		t.Errorf("the upstream saw %q", u.last.Line)
	}
	raw(t, g.front.Listener.Addr().String(), "GET http://127.0.0.1/anthropic/v1/a%2fb{c} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if u.last.Line != "GET /v1/a%2fb{c}" {
		t.Errorf("of a whole URL the upstream saw %q", u.last.Line)
	}
}

// TestUnreadConnectionCloses has an upstream answer before the client has sent its body, which it never does: its
// connection is closed after the response, and not kept for the rest.
func TestUnreadConnectionCloses(t *testing.T) {
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusUnauthorized)
	}, nil)
	for _, sent := range []string{"", "0123456789"} {
		c, r := g.dial()
		io.WriteString(c, "POST /anthropic/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"+sent)
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(r); res.StatusCode != http.StatusUnauthorized || err != nil || len(rest) > 0 { // waits for the end
			t.Errorf("%v, then %q, %v", res.Status, rest, err)
		}
	}
}

// TestCause keeps what an upstream or a client sent out of the texts of errors, and these short.
func TestCause(t *testing.T) {
	for text, want := range map[string]string{
		"unexpected EOF": "unexpected EOF",
		`net/http: HTTP/1.x transport connection broken: malformed MIME header line: Set-Cookie sid=SECRET`: "net/http: HTTP/1.x transport connection broken: malformed response",
		`http2: invalid request :path "https://v1/x?key=SECRET\"more"`:                                      "http2: invalid request :path …",
		`bad Content-Length "SECRET`: "bad Content-Length …",
	} {
		if got := cause(errors.New(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := cause(errors.New(strings.Repeat("x", 1<<20))); len(got) > 400 {
		t.Errorf("%d bytes", len(got))
	}
}
