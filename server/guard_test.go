package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestGuard checks who is served. What is refused reaches neither the upstream nor the journal.
func TestGuard(t *testing.T) {
	for name, test := range map[string]struct {
		path, host, header, value string
		status                    int
	}{
		"loopback":           {path: "/anthropic/v1", status: 200},
		"localhost":          {path: "/anthropic/v1", host: "localhost:7788", status: 200},
		"ipv6":               {path: "/anthropic/v1", host: "[::1]:7788", status: 200},
		"rebound name":       {path: "/anthropic/v1", host: "evil.example", status: 403},
		"name like loopback": {path: "/anthropic/v1", host: "127.0.0.1.evil.example", status: 403},
		"other address":      {path: "/anthropic/v1", host: "10.0.0.1:7788", status: 403},
		"same origin":        {path: "/anthropic/v1", host: "localhost:1", header: "Origin", value: "http://localhost:1", status: 200},
		"other origin":       {path: "/anthropic/v1", header: "Origin", value: "https://evil.example", status: 403},
		"null origin":        {path: "/anthropic/v1", header: "Origin", value: "null", status: 403},
		"other site's page":  {path: "/anthropic/v1", header: "Sec-Fetch-Site", value: "cross-site", status: 403},
		"no such route":      {path: "/mistral/v1", status: 404},
		"root":               {path: "/", status: 404},
		"bad tag":            {path: "/anthropic/s/%0a/v1", status: 400},
		"long tag":           {path: "/anthropic/s/" + strings.Repeat("x", 65) + "/v1", status: 400},
		"host of healthz":    {path: "/healthz", host: "evil.example", status: 403},
		"healthz":            {path: "/healthz", status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			reached := false
			g := newRig(t, func(w http.ResponseWriter, r *http.Request) { reached = true }, nil)
			req, _ := http.NewRequest(http.MethodGet, g.front.URL+test.path, nil)
			req.Host = test.host
			if test.header != "" {
				req.Header.Set(test.header, test.value)
			}
			res, err := g.front.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != test.status {
				t.Errorf("status %d, want %d: %s", res.StatusCode, test.status, body)
			}
			passes := test.status == 200 && name != "healthz"
			if reached != passes || len(g.pools()) > 0 != passes {
				t.Errorf("it reached the upstream: %v; want %v, in the journal too", reached, passes)
			}
			if test.status >= 400 && !strings.Contains(string(body), `"message":"ambit: `) {
				t.Errorf("the refusal says %s", body)
			}
		})
	}
}

// TestToken checks that with a token only those are served who bring it.
func TestToken(t *testing.T) {
	g := newRig(t, echo, func(o *Options) { o.Token, o.Open = "sesame", true })
	for _, test := range []struct {
		path, header string
		status       int
	}{
		{"/anthropic/v1", "", 401},
		{"/anthropic/v1", "sesam", 401},
		{"/anthropic/v1", "sesame", 200},
		{"/anthropic/t/sesame/v1", "", 200},
		{"/anthropic/t/sesam/v1", "", 401},
		{"/healthz", "", 401},
	} {
		req, _ := http.NewRequest(http.MethodGet, g.front.URL+test.path, nil)
		req.Host = "box.example"
		if test.header != "" {
			req.Header.Set("X-Ambit-Token", test.header)
		}
		res, err := g.front.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != test.status {
			t.Errorf("%s with %q: status %d, want %d", test.path, test.header, res.StatusCode, test.status)
		}
	}
	if _, err := New(Options{Store: g.store, Open: true}); err == nil {
		t.Error("a server for everybody was made without a token")
	}
}

// TestWebSocketRefused checks that an upgrade is answered with 426, at once, and goes no further: clients then use HTTP.
//
// covers: I-05 part
func TestWebSocketRefused(t *testing.T) {
	g := newRig(t, func(http.ResponseWriter, *http.Request) { t.Error("the upgrade reached the upstream") }, nil)
	req, _ := http.NewRequest(http.MethodGet, g.front.URL+"/openai/v1/responses", nil)
	req.Header.Set("Connection", "keep-alive, Upgrade")
	req.Header.Set("Upgrade", "websocket")
	res, err := g.front.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUpgradeRequired || res.Header.Get("Upgrade") == "" {
		t.Errorf("status %d, headers %v", res.StatusCode, res.Header)
	}
	if p := g.pools(); len(p) > 0 {
		t.Errorf("it was recorded: %v", p)
	}
}

// TestLimits checks that what is too large is refused with the limit in the answer.
func TestLimits(t *testing.T) {
	g := newRig(t, echo, nil)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/anthropic/v1/messages", http.NoBody)
	r.Host, r.ContentLength = "127.0.0.1", MaxBody+1
	g.server.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), fmt.Sprint(MaxBody)) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	g.server.underWay.Store(MaxExchanges)
	w = httptest.NewRecorder()
	r = httptest.NewRequest(http.MethodPost, "/anthropic/v1/messages", http.NoBody)
	r.Host = "127.0.0.1"
	g.server.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || g.server.underWay.Load() != MaxExchanges {
		t.Errorf("%d %s, %d under way", w.Code, w.Body, g.server.underWay.Load())
	}
}

// TestUpstreams refuses what is not the address of an upstream.
func TestUpstreams(t *testing.T) {
	for name, url := range map[string]string{
		"a": "ftp://x", "b": "x", "c": "http://", "d": "http://h/?q", "e": "http://h/#f", "UP": "http://h", "healthz": "http://h", "": "http://h", "f": "http://u:p@h",
	} {
		if _, err := ParseUpstreams(map[string]string{name: url}); err == nil {
			t.Errorf("%q=%q was taken", name, url)
		}
	}
}

// TestParseRoute checks that whatever the path, the rest that is forwarded is the end of it.
func TestParseRoute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringMatching(`[a-z%/.0-9]{0,40}`).Draw(t, "path")
		query := rapid.StringMatching(`(\?[a-z?=&]{0,9})?`).Draw(t, "query")
		to, err := parseRoute(path + query)
		if err == nil && (!strings.HasSuffix(path, to.rest) || to.asks != (query != "") || to.asks && "?"+to.query != query) {
			t.Fatalf("%q: rest %q, query %q", path+query, to.rest, to.query)
		}
	})
}
