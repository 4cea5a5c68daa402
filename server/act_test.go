package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"ambit"
	"ambit/internal/vfs"
)

// do asks the server to act on a session, and wants a status.
func (g *rig) do(session, act, ask string, want int) (done Acted, answer string) {
	g.t.Helper()
	req, err := http.NewRequest(http.MethodPost, g.front.URL+ActPath(session, act), strings.NewReader(ask))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", asJSON)
	status, answer := g.send(req)
	if status != want {
		g.t.Fatalf("%s %s: status %d, want %d: %s", act, ask, status, want, answer)
	}
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(answer), &done); err != nil || done.Session != session {
			g.t.Fatalf("%s: %v", answer, err)
		}
	}
	return done, answer
}

// send sends a request and reads its answer.
func (g *rig) send(req *http.Request) (int, string) {
	g.t.Helper()
	res, err := g.front.Client().Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if _, err := fmt.Fprint(&b, allOf(g.t, res.Body)); err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, b.String()
}

// TestActsWhileRecorded pins, unpins and takes notes in a session that the server holds, between requests that it records:
// what is refused changes nothing, and the journal is sound.
//
// covers: J-07 part
// covers: P-12 part
func TestActsWhileRecorded(t *testing.T) {
	g := newRig(t, echo, nil)
	path, said := "/anthropic/s/mine/v1/messages", `{"model":"m","messages":[{"role":"user","content":"Only in /srv."}]}`
	if _, _, err := g.post(path, []byte(said)); err != nil {
		t.Fatal(err)
	}
	g.settle(2)
	s := g.one()
	done, _ := g.do(s, ActPin, `{"text":"no \"push\" – ü"}`, 200)
	if done.Pin == nil || *done.Pin != (Pin{ID: "p1", By: "user", Text: "no \"push\" – ü"}) {
		t.Errorf("%+v", done.Pin)
	}
	ref := ""
	for _, u := range g.read()[s].Units {
		ref = ambit.Handle([]byte("secret"), s, u.Seq)
		break
	}
	if done, _ = g.do(s, ActPin, `{"ref":"`+ref+`","by":"agent"}`, 200); done.Pin.Text != "Only in /srv." || done.Pin.By != "agent" || !strings.HasPrefix(ref, done.Pin.Ref+".") {
		t.Errorf("%+v", done.Pin)
	}
	if done, _ = g.do(s, ActNote, `{"text":"port 80","refs":["`+ref+`"],"by":"agent"}`, 200); done.Note.Verification != "unverified" || len(done.Note.Refs) != 1 {
		t.Errorf("%+v", done.Note)
	}
	for _, c := range []struct {
		act, ask string
		status   int
	}{
		{ActPin, `{}`, 422},
		{ActPin, `{"text":"` + strings.Repeat("x", ambit.MaxPin+1) + `"}`, 422},
		{ActPin, `{"text":"` + strings.Repeat("x", maxAsk) + `"}`, 413},
		{ActPin, `{"text":1}`, 400},
		{ActPin, `{"text":"x","by":"root"}`, 400},
		{ActPin, `{"ref":"e999"}`, 404},
		{ActUnpin, `{"pin":"p9"}`, 404},
		{ActUnpin, `{"pin":"p1","by":"agent"}`, 403},
		{"drop", `{}`, 404},
	} {
		g.do(s, c.act, c.ask, c.status)
	}
	g.do("nosuch", ActPin, `{"text":"x"}`, 404)
	g.do("../x", ActPin, `{"text":"x"}`, 404)
	g.do(s, ActUnpin, `{"pin":"p1"}`, 200)
	more := `{"model":"m","messages":[{"role":"user","content":"Only in /srv."},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`
	if _, _, err := g.post(path, []byte(more)); err != nil {
		t.Fatal(err)
	}
	g.settle(4)
	p := g.only()
	if len(p.Exchanges) != 2 || len(p.Pins) != 1 || p.Pins[0].ID != "p2" || len(p.Notes) != 1 {
		t.Errorf("%d exchanges, pins %+v, notes %+v", len(p.Exchanges), p.Pins, p.Notes)
	}
}

// TestActsOnWhatIsNotHeld: one that the server has let go is locked for the act, and let go again.
func TestActsOnWhatIsNotHeld(t *testing.T) {
	g := newRig(t, echo, nil)
	if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte(`{"model":"m","messages":[{"role":"user","content":"a"}]}`)); err != nil {
		t.Fatal(err)
	}
	g.stop()
	g.start(nil)
	s := g.one()
	g.do(s, ActPin, `{"text":"x"}`, 200)
	unlock, err := g.store.Lock(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	g.do(s, ActPin, `{"text":"y"}`, 409)
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	g.do(s, ActPin, `{"text":"y"}`, 200)
}

// TestActsGuarded: pages in a browser, other methods and other kinds of bodies act on nothing.
func TestActsGuarded(t *testing.T) {
	g := newRig(t, echo, func(o *Options) { o.Token = "sesame" })
	for _, c := range []struct {
		status  int
		method  string
		headers []string
	}{
		{401, "POST", []string{"Content-Type", asJSON}},
		{403, "POST", []string{"Content-Type", asJSON, tokenHeader, "sesame", "Host", "evil.example"}},
		{403, "POST", []string{"Content-Type", asJSON, tokenHeader, "sesame", "Origin", g.front.URL}},
		{405, "GET", []string{"Content-Type", asJSON, tokenHeader, "sesame"}},
		{415, "POST", []string{"Content-Type", "text/plain", tokenHeader, "sesame"}},
		{404, "POST", []string{"Content-Type", asJSON, tokenHeader, "sesame"}},
	} {
		for _, act := range []string{ActPin, ActUnpin, ActNote, ActCompact} {
			if status, answer := g.ask(c.method, ActPath("s", act), c.headers...); status != c.status {
				t.Errorf("%s %v: status %d, want %d: %s", act, c.headers, status, c.status, answer)
			}
		}
	}
}

// TestActStatuses: every kind of refusal has its status, and what is none is the server's fault.
func TestActStatuses(t *testing.T) {
	if statusOf(errors.New("disk full")) != 500 || statusOf(fmt.Errorf("x: %w", ambit.ErrEvidence)) != 409 {
		t.Error("statuses are wrong")
	}
}

// TestCompactWhileRecorded: a checkpoint that a person asks for stands in the next request that goes to the provider, in place of
// what it stands for, whatever the policy is.
//
// covers: P-12 part
func TestCompactWhileRecorded(t *testing.T) {
	var got string
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		got = allOf(t, r.Body)
		w.Header().Set("Content-Type", asJSON)
		w.Write([]byte(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":9,"output_tokens":2}}`))
	}, nil)
	messages := []string{`{"role":"user","content":"Fix the build in /srv/app."}`}
	for i := range 60 {
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q},{"type":"tool_use","id":"toolu_%016d","name":"Bash","input":{"command":"go build /srv/app/part/%d"}}]}`, strings.Repeat("I look further. ", 40), i, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%016d","content":"file-%d.go"}]}`, i, i))
	}
	send := func() {
		t.Helper()
		body := `{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"name":"Bash","input_schema":{}}],"messages":[` + strings.Join(messages, ",") + `]}`
		if _, _, err := g.post("/anthropic/s/mine/v1/messages", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	send()
	g.settle(2)
	s := g.one()
	done, _ := g.do(s, ActCompact, `{}`, 200)
	if done.Compact == nil || done.Compact.Changes == 0 || done.Compact.EstAfter >= done.Compact.EstBefore {
		t.Fatalf("%+v", done.Compact)
	}
	whole := len(got)
	messages = append(messages, `{"role":"assistant","content":"Done."}`, `{"role":"user","content":"And now?"}`)
	send()
	g.settle(4)
	if len(got) >= whole || strings.Contains(got, "file-0.go") || !strings.Contains(got, "And now?") || !strings.Contains(got, "Fix the build in /srv/app.") {
		t.Errorf("%d bytes were sent, of %d before: %.300s", len(got), whole, got)
	}
	// The client shows another result for a call that is left out, and what stands cannot be taken back: the request goes as it came.
	messages[2] = strings.Replace(messages[2], "file-0.go", "[Cleared.]", 1)
	g.fault.SetInject(func(op vfs.Op, _ string) error {
		if op == vfs.OpSync {
			return syscall.ENOSPC
		}
		return nil
	})
	send()
	g.settle(6)
	if !strings.Contains(got, `"id":"toolu_0000000000000000"`) || !strings.Contains(got, "[Cleared.]") {
		t.Errorf("a result is sent without its call: %.600s", got)
	}
	g.fault.SetInject(nil)
	x := g.only().Exchange(2)
	if x == nil || len(x.Sent) != 1 || x.Sent[0].Edited == 0 {
		t.Errorf("%+v", x)
	}
}
