package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"

	"github.com/google/go-cmp/cmp"
)

const answer = `{"type":"message","model":"claude-x-2","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":7}}`

// TestWhatIsRecorded checks the facts of an exchange: whose it was, what it asked, what it took, how it went.
func TestWhatIsRecorded(t *testing.T) {
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Request-Id", "req_7")
		w.Header().Set("Set-Cookie", "c=secret-cookie")
		z := gzip.NewWriter(w)
		io.WriteString(z, answer)
		z.Close()
	}, func(o *Options) { o.Title = "a title" })
	_, _, err := g.post("/anthropic/v1/messages?beta=true&api_key=secret-query", []byte(`{"model":"claude-x","messages":[]}`),
		"User-Agent", "claude-cli/2 (external)", "X-Api-Key", "secret-key", "Authorization", "Bearer secret-bearer", "Cookie", "secret-cookie",
		"Anthropic-Beta", "b-1", "X-Claude-Code-Session-Id", "0d1e")
	if err != nil {
		t.Fatal(err)
	}
	p := g.only()
	if p.Session.Title != "a title" || p.Session.Client != "claude-cli/2" || !strings.HasPrefix(p.Session.Key, "anthropic:x-claude-code-session-id:") {
		t.Errorf("session %+v", p.Session)
	}
	facts := g.facts(p.Session.ID)
	got := facts[1].(*entry.Request)
	got.Body, got.Arrived = nil, time.Time{}
	delete(got.Headers, "accept-encoding")
	want := &entry.Request{
		N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages?beta=true&api_key=redacted", Model: "claude-x",
		Headers: map[string]string{"user-agent": "claude-cli/2 (external)", "anthropic-beta": "b-1", "x-claude-code-session-id": "0d1e"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got)\n%s", diff)
	}
	if relation := facts[2].(*entry.Relation); relation.N != 1 || relation.Thread != "t1" || relation.How != entry.Side {
		t.Errorf("relation %+v", relation)
	}
	back := facts[3].(*entry.Response)
	if diff := cmp.Diff(&entry.Usage{Input: 125, CacheRead: 100, CacheWrite: 20, Output: 7}, back.Usage); diff != "" {
		t.Errorf("usage (-want +got)\n%s", diff)
	}
	if back.Status != 200 || back.Model != "claude-x-2" || back.Headers["request-id"] != "req_7" || back.End != entry.EndComplete {
		t.Errorf("response %+v", back)
	}
}

// facts reads a session's facts as another process would.
func (g *rig) facts(session string) []entry.Fact {
	g.t.Helper()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	var facts []entry.Fact
	for f, err := range d.Read(context.Background(), session, 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		if strings.Contains(string(f.Line), "secret") {
			g.t.Errorf("a credential is in the journal: %s", f.Line)
		}
		facts = append(facts, f.Fact)
	}
	return facts
}

// TestSessions checks which requests share a session.
func TestSessions(t *testing.T) {
	var clock atomic.Int64
	sent := 0
	g := newRig(t, echo, func(o *Options) { o.Now = func() time.Time { return time.Unix(clock.Load(), 0) } })
	send := func(path string, headers ...string) {
		t.Helper()
		if _, _, err := g.post(path, []byte("{}"), headers...); err != nil {
			t.Fatal(err)
		}
		sent++
		g.settle(2 * sent)
		clock.Add(1)
	}
	send("/anthropic/v1/messages", "X-Api-Key", "a", "User-Agent", "c/1")
	send("/anthropic/v1/messages", "X-Api-Key", "a", "User-Agent", "c/1") // the same client goes on
	send("/anthropic/v1/messages", "X-Api-Key", "b", "User-Agent", "c/1") // another credential
	send("/anthropic/v1/messages", "X-Api-Key", "a", "User-Agent", "d/1") // another program of the same client
	send("/openai/v1/responses", "Authorization", "a", "Session-Id", "s1")
	send("/openai/v1/responses", "Authorization", "a", "Session-Id", "s2")
	send("/openai/v1/responses", "Authorization", "z", "Session-Id", "s1") // a named session, whoever sends
	send("/gemini/s/tag/v1beta/models/m:generateContent", "X-Session-Id", "x")
	send("/anthropic/s/tag/v1/messages") // a tag counts before everything
	send("/anthropic/v1/messages", "X-Session-Id", "child", "X-Parent-Session-Id", "parent")
	send("/anthropic/v1/messages", "X-Session-Id", "parent")
	clock.Add(3600)
	send("/anthropic/v1/messages", "X-Api-Key", "a", "User-Agent", "c/1") // after an hour a client without an identity begins anew
	send("/openai/v1/responses", "Session-Id", "s1")                      // one with an identity does not
	counts := make(map[int]int)
	for _, p := range g.pools() {
		counts[len(p.Exchanges)]++
	}
	// s1 and client a have three requests; the tag, and parent with child, have two; b, s2 and a after the hour one.
	if diff := cmp.Diff(map[int]int{3: 2, 2: 2, 1: 3}, counts); diff != "" {
		t.Errorf("sessions by their number of requests (-want +got)\n%s", diff)
	}
}

// TestGoesOnAfterRestart checks that a new process takes up the sessions of the one before, and counts on.
func TestGoesOnAfterRestart(t *testing.T) {
	g := newRig(t, echo, nil)
	for range 3 {
		if _, _, err := g.post("/anthropic/v1/messages", []byte("{}"), "X-Session-Id", "s"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := g.post("/anthropic/v1/messages", []byte("{}"), "User-Agent", "nameless"); err != nil {
			t.Fatal(err)
		}
		g.stop()
		g.start(nil)
	}
	pools := g.pools()
	if len(pools) != 2 {
		t.Fatalf("%d sessions, want 2", len(pools))
	}
	for name, p := range pools {
		if p.Last() != 3 || len(p.Exchanges) != 3 {
			t.Errorf("session %s has %d requests, the last is %d", name, len(p.Exchanges), p.Last())
		}
	}
}

// TestBusySession checks that a session that another process writes is left alone: its client's next requests go to a
// session of this process.
//
// covers: J-07 part
func TestBusySession(t *testing.T) {
	g := newRig(t, echo, nil)
	send := func() {
		t.Helper()
		if _, _, err := g.post("/anthropic/v1/messages", []byte("{}"), "X-Session-Id", "s"); err != nil {
			t.Fatal(err)
		}
	}
	send()
	g.stop()
	other, err := journal.Open("/data", journal.Options{FS: g.mem, Holder: journal.Holder{PID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	names, _ := other.Sessions(t.Context())
	unlock, err := other.Lock(t.Context(), names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	g.start(nil)
	send()
	send()
	pools := g.pools()
	if len(pools) != 2 || len(pools[names[0]].Exchanges) != 1 {
		t.Errorf("sessions %v", pools)
	}
}

// TestDiskFull checks that traffic passes while nothing can be written, and that a gap says afterwards what is missing.
//
// covers: J-10 part
func TestDiskFull(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpWrite, vfs.OpSync, vfs.OpCreate, vfs.OpLock, vfs.OpMkdir, vfs.OpList, vfs.OpSyncDir} {
		for _, before := range []int{0, 1} {
			t.Run(fmt.Sprintf("%v after %d", op, before), func(t *testing.T) {
				g := newRig(t, echo, nil)
				send := func(n int) {
					t.Helper()
					for range n {
						res, got, err := g.post("/anthropic/v1/messages", []byte(`{"model":"m"}`), "X-Session-Id", "s")
						if err != nil || res.StatusCode != 200 || string(got) != `{"model":"m"}` {
							t.Fatalf("the client saw %v, %q", err, got)
						}
					}
				}
				send(before)
				g.settle(2 * before)
				full := op
				g.fault.SetInject(func(op vfs.Op, name string) error {
					if op == full {
						return syscall.ENOSPC
					}
					return nil
				})
				send(3)
				g.settle(2*before + 6)
				g.fault.SetInject(nil)
				send(1)
				p := g.only()
				// An operation that is not needed once a session is open stops nothing.
				if p.Missing+2*len(p.Exchanges) != 2*(before+4) {
					t.Errorf("%d exchanges and %d missing halves, want %d exchanges' worth", len(p.Exchanges), p.Missing, before+4)
				}
				if needed := op == vfs.OpWrite || op == vfs.OpSync || before == 0; needed != (p.Missing == 6) {
					t.Errorf("%d halves are missing", p.Missing)
				}
				for i, f := range g.facts(p.Session.ID) {
					if gap, ok := f.(*entry.Gap); ok && (gap.Bytes != 6*13 || !strings.Contains(gap.Cause, "no space left") || i == 0) {
						t.Errorf("entry %d: %+v", i, gap)
					}
				}
			})
		}
	}
}

// settle returns when so many halves of exchanges were handled.
func (g *rig) settle(halves int) {
	for g.server.recorder.handled.Load() < int64(halves) {
		<-g.recorded
	}
}

// TestGapWithoutTraffic checks that what was missed last is noted when the recorder ends.
func TestGapWithoutTraffic(t *testing.T) {
	g := newRig(t, echo, nil)
	g.fault.SetInject(func(op vfs.Op, _ string) error {
		if op == vfs.OpWrite {
			return syscall.EIO
		}
		return nil
	})
	if _, _, err := g.post("/anthropic/v1/messages", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	g.settle(2)
	g.fault.SetInject(nil)
	if p := g.only(); p.Missing != 2 || len(p.Exchanges) != 0 {
		t.Errorf("%d missing, %d exchanges", p.Missing, len(p.Exchanges))
	}
}

// TestQueueFull checks that what does not fit the queue passes, whole, and is missing from the journal with a gap in its
// place.
func TestQueueFull(t *testing.T) {
	g := newRig(t, echo, func(o *Options) { o.Queue = 1000 })
	small, large := []byte(`{"model":"m"}`), bytes.Repeat([]byte("x"), 5000)
	for _, body := range [][]byte{small, large, small} {
		_, got, err := g.post("/anthropic/v1/messages", body, "X-Session-Id", "s")
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("the client saw %v, %d bytes", err, len(got))
		}
	}
	p := g.only()
	if len(p.Exchanges) != 2 || p.Missing != 2 {
		t.Errorf("%d exchanges, %d missing", len(p.Exchanges), p.Missing)
	}
	if left := g.server.recorder.room.left.Load(); left != 1000 {
		t.Errorf("%d bytes of room are left, want 1000", left)
	}
}

// TestManyStreams checks that many streams at once pass and are recorded whole.
func TestManyStreams(t *testing.T) {
	const streams = 200
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for range 5 {
			fmt.Fprintf(w, "data: %s\n\n", body)
			w.(http.Flusher).Flush()
		}
	}, nil)
	g.front.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = streams
	var wait sync.WaitGroup
	for i := range streams {
		wait.Go(func() {
			body := fmt.Sprintf("body %d %s", i, strings.Repeat("x", i))
			_, got, err := g.post("/anthropic/v1/messages", []byte(body), "X-Session-Id", fmt.Sprint(i%7))
			if err != nil || string(got) != strings.Repeat("data: "+body+"\n\n", 5) {
				t.Errorf("stream %d: %v, %.80q", i, err, got)
			}
		})
	}
	wait.Wait()
	total := 0
	for _, p := range g.pools() {
		for i := range p.Exchanges {
			if x := p.Exchanges[i]; x.Request.N != i+1 || x.Response == nil || x.Response.End != entry.EndComplete {
				t.Errorf("exchange %d is %+v", i+1, x)
			}
		}
		total += len(p.Exchanges)
	}
	if total != streams {
		t.Errorf("%d exchanges are recorded, want %d", total, streams)
	}
}

// TestPrivateFiles checks on the operating system's files that nobody else can read what is recorded.
func TestPrivateFiles(t *testing.T) {
	dir := t.TempDir()
	store, err := journal.Open(filepath.Join(dir, "data"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	g := newRig(t, echo, func(o *Options) { o.Store = store })
	if _, _, err := g.post("/anthropic/v1/messages", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	g.stop()
	files := 0
	filepath.WalkDir(filepath.Join(dir, "data"), func(path string, f os.DirEntry, _ error) error {
		info, err := f.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
		files++
		return nil
	})
	if files < 6 {
		t.Errorf("%d files and folders", files)
	}
}

// FuzzExchange throws arbitrary bodies at the proxy in both directions: they pass unchanged and are recorded.
func FuzzExchange(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "not json", `{"a":1,"a":2}`, `{"messages":` + strings.Repeat("[", 20000), "{\"x\":\"\xff\xfe\"}", `{"model":"m","n":1e400}`, `{"x":"\ud800"}`,
		"data: {\"usage\":null}\n\n", "\x28\xb5\x2f\xfd", "\x1f\x8b\x08",
	} {
		for i, encoding := range []string{"", "gzip", "zstd", "br", "deflate", "odd, gzip"} {
			f.Add([]byte(seed), []byte(seed), encoding, i)
		}
	}
	paths := []string{"/anthropic/v1/messages", "/openai/v1/responses", "/openai/v1/chat/completions", "/gemini/v1beta/models/m:streamGenerateContent", "/other/x", "/anthropic/v1/messages/count_tokens"}
	var mu sync.Mutex
	var back []byte
	var encoding string
	g := newRig(f, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", encoding)
		w.Write(back)
	}, nil)
	f.Fuzz(func(t *testing.T, up, down []byte, enc string, path int) {
		mu.Lock()
		defer mu.Unlock()
		back, encoding = down, strings.Map(func(r rune) rune {
			if r < 0x20 || r > 0x7e {
				return -1
			}
			return r
		}, enc)
		_, got, err := g.post(paths[(path%len(paths)+len(paths))%len(paths)], up, "Content-Encoding", encoding, "X-Session-Id", "s")
		if err != nil || !bytes.Equal(got, down) {
			t.Fatalf("the client saw %v, %q, want %q", err, got, down)
		}
		<-g.recorded
	})
}

// TestRemovedSession removes a session's folder while it is recorded: its client's next requests are in a new one.
func TestRemovedSession(t *testing.T) {
	g := newRig(t, echo, nil)
	send := func(n int) {
		t.Helper()
		if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		g.settle(n)
	}
	send(2)
	removeAll(t, g.mem, "/data/sessions")
	send(4)
	send(6)
	if p := g.only(); len(p.Exchanges) != 2 || p.Session.Title != "mine" {
		t.Errorf("%d exchanges, title %q", len(p.Exchanges), p.Session.Title)
	}
}

func removeAll(t *testing.T, fs vfs.FS, name string) {
	t.Helper()
	names, err := fs.List(name)
	for _, n := range names {
		removeAll(t, fs, name+"/"+n)
	}
	if err == nil && name == "/data/sessions" {
		return
	}
	if err := fs.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// TestSessionThatCannotBeLocked goes on in another session.
func TestSessionThatCannotBeLocked(t *testing.T) {
	g := newRig(t, echo, nil)
	if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	g.stop()
	var first string
	for name := range g.read() {
		first = name
	}
	g.start(nil)
	g.fault.SetInject(func(op vfs.Op, name string) error {
		if op == vfs.OpLock && strings.Contains(name, first) {
			return syscall.EACCES
		}
		return nil
	})
	if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if pools := g.pools(); len(pools) != 2 || len(pools[first].Exchanges) != 1 {
		t.Errorf("sessions %v", pools)
	}
}

// TestCopiedSession does not write into a copy that somebody made of a session beside it.
func TestCopiedSession(t *testing.T) {
	dir := t.TempDir()
	open := func(change func(*Options)) (*rig, *journal.Dir) {
		store, err := journal.Open(dir, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return newRig(t, echo, func(o *Options) { o.Store = store }), store
	}
	send := func() {
		g, store := open(nil)
		if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		g.stop()
		store.Close()
	}
	send()
	names, err := os.ReadDir(filepath.Join(dir, "sessions"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	original := filepath.Join(dir, "sessions", names[0].Name())
	if err := os.CopyFS(original+"-copy", os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	send()
	size := func(dir string) int64 {
		info, err := os.Stat(filepath.Join(dir, "entries", "000000000001.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size(original) <= size(original+"-copy") {
		t.Errorf("the session has %d bytes, its copy %d", size(original), size(original+"-copy"))
	}
}

// TestPublicPath keeps what is harmless of a path and its query, and nothing else.
func TestPublicPath(t *testing.T) {
	for target, want := range map[string]string{
		"/v1/messages?beta=true":                         "/v1/messages?beta=true",
		"/v1beta/models/m:generate?alt=sse&key=SECRET":   "/v1beta/models/m:generate?alt=sse&key=redacted",
		"/x?client_secret=SECRET&X-Amz-Signature=SECRET": "/x?client_secret=redacted&X-Amz-Signature=redacted",
		"/x?password=aaa;SECRET":                         "/x?password=redacted",
		"/x?a=1;key=SECRET":                              "/x?a=redacted",
		"/x?SECRET":                                      "/x?redacted",
		"/x?c2VjcmV0QmFzZTY0VG9rZW4==":                   "/x?redacted",
		"/x?version=eyJhbGciOiJIUzI1NiJ9.SECRET.sig":     "/x?version=redacted",
		"/x?%20key=SECRET&key[]=SECRET":                  "/x?%20key=redacted&key[]=redacted",
		"/x?alt=" + strings.Repeat("SECRET", 20):         "/x?alt=redacted",
		"/x?alt=SECRET%20AND":                            "/x?alt=redacted",
		"/x?":                                            "/x?",
		"/x?&&limit=5":                                   "/x?&&limit=5",
	} {
		to, err := parseRoute("/p" + target)
		if err != nil {
			t.Fatal(err)
		}
		if got := publicPath(to); got != want {
			t.Errorf("%s is recorded as %s, want %s", target, got, want)
		}
	}
}

// TestReplacedSession puts a copy in the place of a session that is recorded: what comes then is not written into the
// files that the copy replaced.
func TestReplacedSession(t *testing.T) {
	dir := t.TempDir()
	store, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	g := newRig(t, echo, func(o *Options) { o.Store = store })
	send := func(halves int) {
		t.Helper()
		if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		g.settle(halves)
	}
	send(2)
	names, err := store.Sessions(t.Context())
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	original := filepath.Join(dir, "sessions", names[0])
	if err := os.Rename(original, filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(original, os.DirFS(filepath.Join(dir, "aside"))); err != nil {
		t.Fatal(err)
	}
	send(4)
	g.stop()
	other, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	names, err = other.Sessions(t.Context())
	if err != nil || len(names) != 2 {
		t.Errorf("sessions %v, %v; want the copy and a new one", names, err)
	}
}

// TestSessionOfAGap keeps the name of a session whose first requests were missed.
func TestSessionOfAGap(t *testing.T) {
	g := newRig(t, echo, nil)
	g.fault.SetInject(func(op vfs.Op, _ string) error {
		if op == vfs.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	})
	if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}"), "User-Agent", "c/1"); err != nil {
		t.Fatal(err)
	}
	g.settle(2)
	g.fault.SetInject(nil)
	if p := g.only(); p.Missing != 2 || p.Session.Title != "mine" || p.Session.Client != "c/1" {
		t.Errorf("%+v", p)
	}
}

// TestStopUnderStreams stops the server while streams are under way: each has its response, cut as it was.
func TestStopUnderStreams(t *testing.T) {
	const streams = 20
	store, err := journal.Open("/data", journal.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var flowing sync.WaitGroup
	flowing.Add(streams)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		flowing.Done()
		<-r.Context().Done()
	}))
	defer up.Close()
	s, err := New(Options{Store: store, Upstreams: map[string]string{"anthropic": up.URL}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, time.Millisecond) }()
	client := &http.Client{Transport: &http.Transport{}}
	var clients sync.WaitGroup
	for range streams {
		clients.Go(func() {
			res, err := client.Post("http://"+l.Addr().String()+"/anthropic/v1/messages", "application/json", strings.NewReader("{}"))
			if err == nil {
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	flowing.Wait()
	stop()
	if err := errors.Join(<-served, s.Close()); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	client.CloseIdleConnections()
	names, _ := store.Sessions(t.Context())
	ended := 0
	for _, name := range names {
		for f, err := range store.Read(t.Context(), name, 0) {
			if r, ok := f.Fact.(*entry.Response); err == nil && ok && r.End == entry.EndCanceled {
				ended++
			}
		}
	}
	if requests, _, missed := s.Recorded(); requests != streams || ended != streams || missed != 0 {
		t.Errorf("%d requests and %d responses are recorded, %d missed; want %d", requests, ended, missed, streams)
	}
}
