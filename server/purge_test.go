package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/vfs"
	"ambit/journal"
)

// ask sends a request to purge a session.
func (g *rig) ask(method, path string, headers ...string) (status int, answer string) {
	g.t.Helper()
	req, err := http.NewRequest(method, g.front.URL+path, strings.NewReader("{}"))
	if err != nil {
		g.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := g.front.Client().Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// one is the name of the only session, as it is recorded so far.
func (g *rig) one() string {
	g.t.Helper()
	names, err := g.store.Sessions(g.t.Context())
	if err != nil || len(names) != 1 {
		g.t.Fatalf("sessions %q, %v", names, err)
	}
	return names[0]
}

// holds reports whether a text is in any file of the sessions.
func (g *rig) holds(text string) bool {
	var found bool
	var look func(name string)
	look = func(name string) {
		if names, err := g.mem.List(name); err == nil {
			for _, n := range names {
				look(name + "/" + n)
			}
			return
		}
		f, err := g.mem.Open(name)
		if err != nil {
			g.t.Fatal(err)
		}
		defer f.Close()
		size, _ := f.Size()
		data := make([]byte, size)
		f.ReadAt(data, 0)
		found = found || strings.Contains(string(data), text)
	}
	look("/data/sessions")
	return found
}

const asJSON = "application/json"

// TestPurgeWhileRecorded purges sessions that the server holds: what comes after goes into new ones, whether the client
// names its session or not.
//
// covers: J-07 part
// covers: J-13 part
func TestPurgeWhileRecorded(t *testing.T) {
	for _, client := range []string{"named", "nameless"} {
		t.Run(client, func(t *testing.T) {
			g := newRig(t, echo, nil)
			path := map[string]string{"named": "/anthropic/s/mine/v1/messages", "nameless": "/anthropic/v1/messages"}[client]
			said := `{"model":"m","messages":[{"role":"user","content":"q8Zr2LkX0vTnY5bW"}]}`
			if _, _, err := g.post(path, []byte(said)); err != nil {
				t.Fatal(err)
			}
			g.settle(2)
			old := g.one()
			if !g.holds("q8Zr2LkX0vTnY5bW") {
				t.Fatal("the text is not found while it is there")
			}
			status, answer := g.ask(http.MethodPost, ActPath(old, ActPurge), "Content-Type", asJSON)
			var purged Purged
			if err := json.Unmarshal([]byte(answer), &purged); err != nil || status != 200 || purged.Session != old || purged.Bodies != 2 {
				t.Fatalf("status %d, %s, %v", status, answer, err)
			}
			if g.holds("q8Zr2LkX0vTnY5bW") {
				t.Error("the text is still there")
			}
			if again, same := g.ask(http.MethodPost, ActPath(old, ActPurge), "Content-Type", asJSON); again != 200 || same != answer {
				t.Errorf("again: status %d, %s", again, same)
			}
			more := `{"model":"m","messages":[{"role":"user","content":"q8Zr2LkX0vTnY5bW"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`
			if _, _, err := g.post(path, []byte(more)); err != nil {
				t.Fatal(err)
			}
			g.settle(4)
			g.stop()
			g.start(nil) // and the next process leaves it alone, too
			if _, _, err := g.post(path, []byte(strings.Replace(more, `"b"`, `"c"`, 1))); err != nil {
				t.Fatal(err)
			}
			pools := g.pools()
			if len(pools) != 2 || pools[old].Purged == nil || len(pools[old].Exchanges) != 1 {
				t.Fatalf("%d sessions, the old one %+v", len(pools), pools[old])
			}
			for name, p := range pools {
				if name != old && (len(p.Exchanges) != 2 || p.Missing > 0 || p.Purged != nil || p.Exchanges[0].Relation.Parent != 0) {
					t.Errorf("the new session is %+v", p)
				}
			}
		})
	}
}

// TestPurgeUnderWay purges a session while a request is under way in it. Nothing of the answer comes into it, and it is
// said to be missing.
//
// covers: J-13 part
func TestPurgeUnderWay(t *testing.T) {
	hold, came := make(chan struct{}), make(chan struct{})
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"half":`)
		w.(http.Flusher).Flush()
		close(came)
		<-hold
		fmt.Fprint(w, `"answered"}`)
	}, nil)
	done := make(chan error)
	go func() {
		_, body, err := g.post("/anthropic/s/mine/v1/messages", []byte(`{"model":"m","messages":[]}`))
		if err == nil && string(body) != `{"half":"answered"}` {
			err = fmt.Errorf("the client got %s", body)
		}
		done <- err
	}()
	<-came
	g.settle(1)
	old := g.one()
	if status, answer := g.ask(http.MethodPost, ActPath(old, ActPurge), "Content-Type", asJSON); status != 200 {
		t.Errorf("status %d: %s", status, answer)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	g.settle(2)
	pools := g.pools()
	var other *pool.Pool
	for name, p := range pools {
		if name != old {
			other = p
		}
	}
	if len(pools) != 2 || len(g.facts(old)) != 4 || other.Missing != 1 || len(other.Exchanges) != 0 {
		t.Fatalf("%d sessions; the old one has %d entries, the new one is %+v", len(pools), len(g.facts(old)), other)
	}
	for _, f := range g.facts(other.Session.ID) {
		if gap, ok := f.(*entry.Gap); ok && gap.Cause != "the session of its request was purged" {
			t.Errorf("the gap's cause is %q", gap.Cause)
		}
	}
}

// TestPurgeGuard checks who may have a session purged, and that nothing happens otherwise.
func TestPurgeGuard(t *testing.T) {
	g := newRig(t, echo, func(o *Options) { o.Token = "sesame" })
	const token = "X-Ambit-Token"
	if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte(`{"text":"q8Zr2LkX0vTnY5bW"}`), token, "sesame"); err != nil {
		t.Fatal(err)
	}
	g.settle(2)
	old := g.one()
	path := ActPath(old, ActPurge)
	for _, row := range []struct {
		status       int
		method, path string
		headers      []string
	}{
		{401, "POST", path, []string{"Content-Type", asJSON}},
		{401, "POST", path, []string{"Content-Type", asJSON, token, "sesam"}},
		{403, "POST", path, []string{"Content-Type", asJSON, token, "sesame", "Host", "evil.example"}},
		{403, "POST", path, []string{"Content-Type", asJSON, token, "sesame", "Origin", "https://evil.example"}},
		{403, "POST", path, []string{"Content-Type", asJSON, token, "sesame", "Origin", g.front.URL}},
		{403, "POST", path, []string{"Content-Type", asJSON, token, "sesame", "Sec-Fetch-Site", "same-origin"}},
		{403, "POST", path, []string{"Content-Type", asJSON, token, "sesame", "Sec-Fetch-Site", "none"}},
		{415, "POST", path, []string{token, "sesame"}},
		{415, "POST", path, []string{"Content-Type", "text/plain", token, "sesame"}},
		{405, "GET", path, []string{"Content-Type", asJSON, token, "sesame"}},
		{405, "OPTIONS", path, []string{"Content-Type", asJSON, token, "sesame"}},
		{404, "POST", "/_ambit/sessions/" + old, []string{"Content-Type", asJSON, token, "sesame"}},
		{404, "POST", "/_ambit", []string{"Content-Type", asJSON, token, "sesame"}},
		{404, "POST", ActPath("nosuch", ActPurge), []string{"Content-Type", asJSON, token, "sesame"}},
		{404, "POST", ActPath("../x", ActPurge), []string{"Content-Type", asJSON, token, "sesame"}},
		{404, "POST", ActPath("%2e%2e", ActPurge), []string{"Content-Type", asJSON, token, "sesame"}},
	} {
		status, answer := g.ask(row.method, row.path, row.headers...)
		if status != row.status || !strings.Contains(answer, `"message":"ambit: `) {
			t.Errorf("%s %s with %q: status %d, want %d: %s", row.method, row.path, row.headers, status, row.status, answer)
		}
	}
	if p, err := g.store.Purged(old); p != nil || err != nil || !g.holds("q8Zr2LkX0vTnY5bW") {
		t.Errorf("it was purged: %+v, %v", p, err)
	}
	if _, err := ParseUpstreams(map[string]string{ownRoute: "http://h"}); err == nil {
		t.Error("an upstream can have the server's own name")
	}
	if status, answer := g.ask("POST", "/_ambit/t/sesame"+strings.TrimPrefix(path, "/_ambit"), "Content-Type", "application/json; charset=utf-8"); status != 200 {
		t.Errorf("with all that it needs: status %d, %s", status, answer)
	}
}

// TestPurgeOfOthers purges a session that the server does not hold, and one that another process does.
//
// covers: J-07 part
func TestPurgeOfOthers(t *testing.T) {
	g := newRig(t, echo, nil)
	if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	g.stop()
	old := ""
	for name := range g.read() {
		old = name
	}
	g.start(nil)
	other, err := journal.Open("/data", journal.Options{FS: g.mem, Holder: journal.Holder{PID: 1, Command: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	unlock, err := other.Lock(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := g.ask("POST", ActPath(old, ActPurge), "Content-Type", asJSON); status != 409 || !strings.Contains(answer, "in use by ambit other, process 1") {
		t.Errorf("status %d, %s", status, answer)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if status, answer := g.ask("POST", ActPath(old, ActPurge), "Content-Type", asJSON); status != 200 {
		t.Errorf("status %d, %s", status, answer)
	}
	if unlock, err = other.Lock(t.Context(), old); err != nil {
		t.Errorf("the server holds it after the purge: %v", err)
	} else if err := unlock(); err != nil {
		t.Error(err)
	}
}

// TestPurgeThatFails says so, and the session is gone on with where nothing was purged, and never where it was.
func TestPurgeThatFails(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpSync, vfs.OpRemove} {
		g := newRig(t, echo, nil)
		send := func(n int) {
			t.Helper()
			if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte(`{"text":"q8Zr2LkX0vTnY5bW"}`)); err != nil {
				t.Fatal(err)
			}
			g.settle(n)
		}
		send(2)
		old := g.one()
		g.fault.SetInject(func(o vfs.Op, name string) error {
			if o == op {
				return io.ErrShortWrite
			}
			return nil
		})
		if status, answer := g.ask("POST", ActPath(old, ActPurge), "Content-Type", asJSON); status != 500 || !strings.Contains(answer, "purge session") {
			t.Errorf("status %d, %s", status, answer)
		}
		g.fault.SetInject(nil)
		send(4)
		pools := g.pools()
		if purged := op == vfs.OpRemove; len(pools[old].Exchanges) != map[bool]int{true: 1, false: 2}[purged] || (pools[old].Purged != nil) != purged {
			t.Errorf("%v fails: %d sessions, the old one %+v", op, len(pools), pools[old])
		}
	}
}
