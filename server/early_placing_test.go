package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"ambit/entry"
)

// TestGoesOnEarly sends requests as soon as the last event of the answer before has come, while that answer is still
// open: whose they are is found all the same, also when two conversations begin alike.
//
// covers: J-14 part
func TestGoesOnEarly(t *testing.T) {
	release := make(chan struct{})
	calls := 0
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		calls++
		a := reducedAnswer{Calls: []reducedCall{{ID: fmt.Sprint("toolu_", calls), Name: "t", Args: []byte("{}")}}}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, a.stream("/v1/messages", false))
		w.(http.Flusher).Flush()
		<-release
	}, nil)
	var open []io.Closer
	send := func(body string) (call string) {
		t.Helper()
		res, err := g.front.Client().Post(g.front.URL+"/anthropic/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, res.Body)
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() && !strings.Contains(lines.Text(), `"message_stop"`) {
			if _, rest, ok := strings.Cut(lines.Text(), `"id":"`); ok {
				call, _, _ = strings.Cut(rest, `"`)
			}
		}
		return call
	}
	const head = `{"tools":[{"name":"t"}],"messages":[{"role":"user","content":"the same"}`
	next := func(call string) string {
		return fmt.Sprintf(`%s,{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"t","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"done"}]}]}`, head, call, call)
	}
	a, b := send(head+"]}"), send(head+"]}")
	send(next(a))
	send(next(b))
	close(release)
	for _, body := range open {
		body.Close()
	}
	pools := g.pools()
	if len(pools) != 2 {
		t.Fatalf("%d sessions, want 2\n%s", len(pools), tree(pools))
	}
	for name, p := range pools {
		if len(p.Exchanges) != 2 {
			t.Errorf("session %s has %d requests, want 2", name, len(p.Exchanges))
			continue
		}
		units := 0
		for _, u := range p.Units {
			if u.Of == entry.PartMessage {
				units++
			}
		}
		if units != 2 { // what the user said, and the result; the answer between them is recorded as it came
			t.Errorf("session %s has %d messages that are new, want 2", name, units)
		}
		if r := p.Exchanges[1].Relation; r.How != entry.Extends || r.Parent != 1 || r.Thread != "t1" {
			t.Errorf("session %s: %+v", name, r)
		}
	}
}
