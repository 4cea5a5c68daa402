package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/internal/vfs"
	"ambit/journal"
)

// teller is a rig whose upstream answers what it is told to.
type teller struct {
	*rig
	answer []byte // of the request that is sent next
	sent   int
}

func newTeller(t testing.TB) *teller {
	g := new(teller)
	g.rig = newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(g.answer)
	}, nil)
	return g
}

// asks sends messages, and has them answered with blocks.
func (g *teller) asks(messages, blocks []any, headers ...string) {
	g.t.Helper()
	body, err := json.Marshal(map[string]any{"tools": []any{map[string]any{"name": "t"}}, "messages": messages})
	if err != nil {
		g.t.Fatal(err)
	}
	g.answer, err = json.Marshal(map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"})
	if err != nil {
		g.t.Fatal(err)
	}
	if _, _, err := g.post("/anthropic/v1/messages", body, headers...); err != nil {
		g.t.Fatal(err)
	}
	g.sent++
	g.settle(2 * g.sent)
}

func said(role string, content any) any { return map[string]any{"role": role, "content": content} }

func saysText(text string) any { return map[string]any{"type": "text", "text": text} }

func makesCall(id string) any {
	return map[string]any{"type": "tool_use", "id": id, "name": "t", "input": map[string]any{"path": "p"}}
}

func givesResult(id string) any {
	return map[string]any{"type": "tool_result", "tool_use_id": id, "content": "r"}
}

// again stops the rig and starts it as a new process would.
func (g *teller) again() {
	g.stop()
	g.start(nil)
	g.sent = 0
}

// TestLongIDs records a call whose id and a message whose role are longer than an entry may be: the conversation goes on,
// also after a restart, and the id leads to the answer that made the call though all messages before were changed.
func TestLongIDs(t *testing.T) {
	g := newTeller(t)
	id := strings.Repeat("i", journal.MaxFrame)
	messages := []any{said(strings.Repeat("r", 63)+"é", "u")}
	g.asks(messages, []any{makesCall(id)})
	messages = append(messages, said("assistant", []any{makesCall(id)}), said("user", []any{givesResult(id)}))
	g.asks(messages, []any{saysText("one")})
	g.again()
	messages[0] = said("user", "changed")
	g.asks(messages, []any{saysText("two")})
	p := g.only()
	if p.Missing > 0 || len(p.Exchanges) != 3 {
		t.Fatalf("%d exchanges, %d missing", len(p.Exchanges), p.Missing)
	}
	if r := p.Exchanges[2].Relation; r.Evidence != "call" || r.Thread != "t1" {
		t.Errorf("%+v", r)
	}
	short := reading.ID(id)
	var calls, results int
	for _, u := range p.Units {
		if len(u.Role) > 64 || strings.Contains(u.Role, "\uFFFD") {
			t.Errorf("role %q", u.Role)
		}
		if slices.Contains(u.Calls, short) {
			calls++
		}
		if slices.Contains(u.Results, short) {
			results++
		}
	}
	if len(short) != len("sha256:")+32 || calls != 1 || results != 1 {
		t.Errorf("the call %s stands in %d units and its result in %d, want 1 and 1", short, calls, results)
	}
}

// TestManyIDs records an answer with more calls than an entry has room for, and all their results in one message: all ids
// are kept, each text once, and a restart knows whose they are.
func TestManyIDs(t *testing.T) {
	g := newTeller(t)
	const n = 10_000
	var calls, results []any
	for i := range n {
		id := fmt.Sprintf("toolu_01ABCDEFGHIJKLMNOP%08d", i)
		calls, results = append(calls, makesCall(id)), append(results, givesResult(id))
	}
	messages := []any{said("user", "u")}
	g.asks(messages, calls)
	g.again()
	messages = append(messages, said("assistant", calls), said("user", results))
	g.asks(messages, []any{saysText("done")})
	g.again()
	messages[0], messages[1] = said("user", "changed"), said("assistant", calls[n-1:])
	messages[2] = said("user", results[n-1:])
	g.asks(messages, []any{saysText("done again")})
	p := g.only()
	if len(p.Exchanges) != 3 || p.Missing > 0 {
		t.Fatalf("%d exchanges, %d missing", len(p.Exchanges), p.Missing)
	}
	if r := p.Exchanges[2].Relation; r.Evidence != "call" || r.Thread != "t1" {
		t.Errorf("%+v", r)
	}
	kept, more := make(map[string]int), 0
	for _, u := range p.Units {
		if u.N == 3 {
			continue
		}
		if u.Of == entry.PartMore {
			more++
			if u.Length != 0 || u.Element != "" {
				t.Errorf("more of a unit has text: %+v", u)
			}
		}
		for _, id := range slices.Concat(u.Calls, u.Results) {
			kept[id]++
		}
	}
	if len(kept) != n || more < 2 {
		t.Errorf("%d ids are kept, %d units are more of others", len(kept), more)
	}
	for id, times := range kept {
		if times != 2 {
			t.Fatalf("%s is kept %d times, want as a call and as a result", id, times)
		}
	}
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rec, err := ambit.OpenRecording(context.Background(), d, p.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range p.Units {
		if u.Of != entry.PartMore {
			continue
		}
		if said, err := rec.Said(context.Background(), u.Seq); err != nil || len(said.Texts)+len(said.Calls) > 0 {
			t.Errorf("more of a unit says %d texts, %v", len(said.Texts), err)
		}
	}
	texts := 0
	for text, err := range rec.Texts(context.Background(), ambit.AllBranches) {
		if err != nil {
			t.Fatal(err)
		}
		if text.N != 3 {
			texts++
		}
	}
	if want := 1 + n + n + 1; texts != want { // what the user said, arguments, results, the last answer
		t.Errorf("%d texts, want %d", texts, want)
	}
}

// TestOneThatCannotBeWritten appends a batch of requests, one of which is larger than an entry may be: that one is missed
// with its response, and no other.
func TestOneThatCannotBeWritten(t *testing.T) {
	for _, first := range []bool{true, false} {
		t.Run(fmt.Sprintf("first=%v", first), func(t *testing.T) {
			g := newRig(t, echo, nil)
			r := g.server.recorder
			var batch []event
			for i := range 20 {
				req, err := http.NewRequest(http.MethodPost, "/anthropic/v1/messages", nil)
				if err != nil {
					t.Fatal(err)
				}
				x := r.exchange(req, route{provider: "anthropic", rest: "/v1/messages"})
				x.request.bytes = fmt.Appendf(nil, `{"messages":[{"role":"user","content":"question %d"}]}`, i)
				r.room.take(int64(len(x.request.bytes)))
				x.request.total = int64(len(x.request.bytes))
				x.status, x.how, x.ended = http.StatusOK, entry.EndComplete, x.start
				if i == 9 || first && i == 0 {
					x.method = strings.Repeat("M", journal.MaxFrame)
				}
				batch = append(batch, event{x: x}, event{x: x, response: true})
			}
			r.mu.Lock()
			r.queue = append(r.queue, batch...)
			r.mu.Unlock()
			r.wake <- struct{}{}
			g.settle(len(batch))
			left := r.room.left.Load()
			exchanges, missing := 0, 0
			for name, p := range g.pools() {
				exchanges, missing = exchanges+len(p.Exchanges), missing+p.Missing
				for i, x := range p.Exchanges {
					if x.Request.N != i+1 || x.Response == nil || x.Relation == nil || x.Relation.Parent > x.Request.N {
						t.Errorf("session %s: %+v", name, x)
					}
				}
			}
			bad := 1
			if first {
				bad = 2
			}
			if exchanges != 20-bad || missing != 2*bad {
				t.Errorf("%d exchanges and %d missing halves, want %d and %d", exchanges, missing, 20-bad, 2*bad)
			}
			if left != DefaultQueue {
				t.Errorf("%d bytes of the queue are free, want all", left)
			}
		})
	}
}

// TestUnderWayIsNoFailure has an append fail while another request of the same client is under way: a request that says the
// same as that one begins another conversation, and is no second attempt.
func TestUnderWayIsNoFailure(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-Hold") != "" {
			<-hold
		}
		io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"an answer"}],"stop_reason":"end_turn"}`)
	}, nil)
	const same = `{"tools":[{"name":"t"}],"messages":[{"role":"user","content":"the same"}]}`
	go func() {
		defer close(held)
		g.post("/anthropic/v1/messages", []byte(same), "X-Hold", "yes")
	}()
	g.settle(1)
	g.fault.SetInject(func(op vfs.Op, name string) error {
		if op == vfs.OpWrite && strings.Contains(name, "/entries") {
			return syscall.EIO
		}
		return nil
	})
	g.post("/anthropic/v1/messages", []byte(strings.Replace(same, "the same", "another", 1)))
	g.settle(3)
	g.fault.SetInject(nil)
	g.post("/anthropic/v1/messages", []byte(same))
	g.settle(5)
	close(hold)
	<-held
	g.settle(6)
	next := strings.Replace(same, `"}]}`, `"},{"role":"assistant","content":"an answer"},{"role":"user","content":"more"}]}`, 1)
	g.post("/anthropic/v1/messages", []byte(next))
	g.settle(8)
	pools := g.pools()
	roots := 0
	for _, p := range pools {
		for _, x := range p.Exchanges {
			if x.Relation != nil && x.Relation.How == entry.Root {
				roots++
			}
			if x.Response == nil {
				t.Errorf("request %d has no response", x.Request.N)
			}
		}
	}
	if len(pools) != 2 || roots != 2 {
		t.Errorf("%d sessions with %d roots, want 2 and 2\n%s", len(pools), roots, tree(pools))
	}
}

// TestUnkeptAnswerIsFailure has the body of a response fail to be stored: what says the same again is a second attempt, and
// nothing is held as under way.
func TestUnkeptAnswerIsFailure(t *testing.T) {
	g := newTeller(t)
	hold := make(chan struct{})
	inner := g.upstream.Config.Handler
	g.upstream.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-hold
		inner.ServeHTTP(w, r)
	})
	messages := []any{said("user", "u")}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.asks(messages, []any{saysText("an answer")})
	}()
	g.settle(1)
	g.fault.SetInject(func(op vfs.Op, name string) error {
		if op == vfs.OpWrite && strings.Contains(name, "literals") {
			return syscall.ENOSPC
		}
		return nil
	})
	close(hold)
	<-done
	g.fault.SetInject(nil)
	g.asks(messages, []any{saysText("an answer")})
	p := g.only()
	if len(p.Exchanges) != 2 || p.Missing != 1 || p.Exchanges[1].Relation.How != entry.Again {
		t.Errorf("%d missing\n%s", p.Missing, tree(map[string]*pool.Pool{"": p}))
	}
}

// TestGrandchildAfterRestart has sub-agents name their parents by sessions of their own: whose they are is known to the next
// process, too, also when the parent was itself a sub-agent's sub-agent.
//
// covers: J-14 part
func TestGrandchildAfterRestart(t *testing.T) {
	g := newTeller(t)
	ask := func(session, parent string) {
		t.Helper()
		headers := []string{"X-Session-Id", session}
		if parent != "" {
			headers = append(headers, "X-Parent-Session-Id", parent)
		}
		g.asks([]any{said("user", "I am "+session)}, []any{saysText("yes")}, headers...)
	}
	ask("root", "")
	ask("child", "root")
	ask("child", "root")
	g.again()
	ask("grandchild", "child")
	ask("great-grandchild", "grandchild")
	g.again()
	ask("other", "great-grandchild")
	ask("stranger", "")
	pools := g.pools()
	if len(pools) != 2 {
		t.Fatalf("%d sessions, want 2\n%s", len(pools), tree(pools))
	}
	for _, p := range pools {
		named := 0
		for _, x := range p.Exchanges {
			if alias := x.Relation.Alias; alias != "" {
				named++
				if !strings.HasPrefix(alias, "anthropic:x-session-id:") || strings.Contains(alias, "child") {
					t.Errorf("a sub-agent is recognised by %q", alias)
				}
			}
		}
		if want := max(0, len(p.Exchanges)-2); named != want || len(p.Aliases) != want { // the root, and the child's second
			t.Errorf("%d sub-agents are named, want %d", named, want)
		}
	}
}

// TestSessionsHeldOpen has more clients than sessions are held open: the longest unused are let go at once, and taken up
// again when their clients go on. The spaces of clients that name no session are few, too.
func TestSessionsHeldOpen(t *testing.T) {
	g := newTeller(t)
	open, spaces := 0, 0
	r := g.server.recorder
	recorded := r.recorded
	r.recorded = func() {
		open, spaces = max(open, len(r.open)), max(spaces, len(r.spaces))
		recorded()
	}
	const clients = mostOpen + 20
	for turn := range 2 {
		for i := range clients {
			messages := []any{said("user", fmt.Sprint("client ", i))}
			if turn > 0 {
				messages = append(messages, said("assistant", "yes"), said("user", "more"))
			}
			g.asks(messages, []any{saysText("yes")}, "Authorization", fmt.Sprint("Bearer ", i))
		}
	}
	pools := g.pools()
	if open > mostOpen+1 || spaces > maxClients+1 {
		t.Errorf("%d sessions were open and %d spaces kept, want at most %d and %d", open, spaces, mostOpen+1, maxClients+1)
	}
	if len(pools) != clients {
		t.Fatalf("%d sessions, want %d", len(pools), clients)
	}
	for name, p := range pools {
		if len(p.Exchanges) != 2 || p.Exchanges[1].Relation.How != entry.Extends {
			t.Errorf("session %s has %d requests", name, len(p.Exchanges))
		}
	}
}

// TestNewestSessionsOfAClient begins more conversations than are sought in after a start: the newest go on.
func TestNewestSessionsOfAClient(t *testing.T) {
	g := newTeller(t)
	const begun = maxFolded + 30 // several in a millisecond, whose order is by chance
	for i := range begun {
		g.asks([]any{said("user", fmt.Sprint("task ", i))}, []any{saysText("yes")})
	}
	g.again()
	sessions := begun
	for _, c := range []struct{ task, new int }{{begun - 1, 0}, {60, 0}, {0, 1}} {
		g.asks([]any{said("user", fmt.Sprint("task ", c.task)), said("assistant", "yes"), said("user", "more")}, []any{saysText("yes")})
		names, err := g.store.Sessions(context.Background())
		if sessions += c.new; err != nil || len(names) != sessions {
			t.Errorf("after task %d went on there are %d sessions, want %d (%v)", c.task, len(names), sessions, err)
		}
	}
}

// TestLongPlainBody records a request without a content encoding that is longer than what is decoded of a compressed one: it
// is understood.
func TestLongPlainBody(t *testing.T) {
	g := newTeller(t)
	g.asks([]any{said("user", strings.Repeat("long text ", maxDecoded/10+1))}, []any{saysText("yes")})
	p := g.only()
	if len(p.Units) != 2 || p.Units[0].Of != entry.PartMessage || p.Units[0].Length <= maxDecoded {
		t.Errorf("%d units, %s", len(p.Units), tree(map[string]*pool.Pool{"": p}))
	}
}
