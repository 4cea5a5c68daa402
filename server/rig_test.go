package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"ambit/internal/pool"
	"ambit/internal/vfs"
	"ambit/journal"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a proxy in front of an upstream, over a journal in memory.
type rig struct {
	t        testing.TB
	upstream *httptest.Server
	front    *httptest.Server
	server   *Server
	store    *journal.Dir
	mem      *vfs.Mem
	fault    *vfs.Fault
	played   int           // exchanges of reduced runs
	recorded chan struct{} // has something after every batch that was recorded
}

// newRig starts a proxy for /anthropic, /openai and /gemini in front of one upstream.
func newRig(t testing.TB, upstream http.HandlerFunc, change func(*Options)) *rig {
	t.Helper()
	g := &rig{t: t, upstream: httptest.NewServer(upstream), mem: vfs.NewMem(), recorded: make(chan struct{}, 1<<16)}
	g.fault = &vfs.Fault{FS: g.mem}
	t.Cleanup(g.upstream.Close)
	g.start(change)
	return g
}

// start opens the store and puts the proxy before it, as a new process would.
func (g *rig) start(change func(*Options)) {
	g.t.Helper()
	var err error
	if g.store, err = journal.Open("/data", journal.Options{FS: g.fault}); err != nil {
		g.t.Fatal(err)
	}
	up := map[string]string{"anthropic": g.upstream.URL, "openai": g.upstream.URL, "gemini": g.upstream.URL, "other": g.upstream.URL + "/base"}
	o := Options{Store: g.store, Upstreams: up, Secret: []byte("secret")}
	if change != nil {
		change(&o)
	}
	if g.server, err = New(o); err != nil {
		g.t.Fatal(err)
	}
	g.server.recorder.recorded = func() { g.recorded <- struct{}{} }
	g.front = httptest.NewServer(g.server)
	g.front.Client().Transport.(*http.Transport).DisableCompression = true
	g.t.Cleanup(g.stop)
}

// stop ends the proxy and closes the store.
func (g *rig) stop() {
	g.front.Close()
	if err := g.server.Close(); err != nil {
		g.t.Error(err)
	}
	if err := g.store.Close(); err != nil {
		g.t.Error(err)
	}
}

// pools stops the rig, proves what it recorded, and returns the sessions' state by name.
func (g *rig) pools() map[string]*pool.Pool {
	g.t.Helper()
	g.stop()
	return g.read()
}

// read proves what is recorded and returns it, as another process would see it.
func (g *rig) read() map[string]*pool.Pool {
	g.t.Helper()
	ctx := context.Background()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Sessions(ctx)
	if err != nil {
		g.t.Fatal(err)
	}
	pools := make(map[string]*pool.Pool)
	for _, name := range names {
		if r, err := d.Check(ctx, name); err != nil || !r.Sound() {
			g.t.Fatalf("check %s: %v, %+v", name, err, r)
		}
		if pools[name], err = pool.Fresh(ctx, d, name); err != nil {
			g.t.Fatal(err)
		}
	}
	return pools
}

// only returns the one session that was recorded.
func (g *rig) only() *pool.Pool {
	g.t.Helper()
	pools := g.pools()
	if len(pools) != 1 {
		g.t.Fatalf("%d sessions, want 1", len(pools))
	}
	for _, p := range pools {
		return p
	}
	return nil
}

// bodies returns the bytes of an exchange as they are recorded.
func (g *rig) bodies(p *pool.Pool, n int) (request, response []byte) {
	g.t.Helper()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	x := p.Exchange(n)
	if x == nil || x.Response == nil {
		g.t.Fatalf("exchange %d is not recorded whole", n)
	}
	if b := x.Request.Body; b != nil {
		if request, err = d.Body(context.Background(), p.Session.ID, *b); err != nil {
			g.t.Fatal(err)
		}
	}
	if b := x.Response.Body; b != nil {
		if response, err = d.Body(context.Background(), p.Session.ID, *b); err != nil {
			g.t.Fatal(err)
		}
	}
	return request, response
}

// post sends a body and returns the answer, read to its end.
func (g *rig) post(path string, body []byte, headers ...string) (*http.Response, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, g.front.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := g.front.Client().Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return res, got, err
}

// echo answers with the request's own body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
