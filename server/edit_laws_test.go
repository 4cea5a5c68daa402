package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pressure"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"

	"pgregory.net/rapid"
)

// answered reads an answer: the messages by which a later request repeats it, and the ids of its calls.
func (d *dialect) answered(t *rapid.T, body []byte) (messages, calls []string) {
	var a struct {
		Content    json.RawMessage // Messages
		Choices    []struct{ Message json.RawMessage }
		Output     []json.RawMessage
		Candidates []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	switch d.name {
	case "messages":
		messages = []string{`{"role":"assistant","content":` + string(a.Content) + `}`}
	case "chat":
		messages = []string{string(a.Choices[0].Message)}
	case "responses":
		for _, item := range a.Output {
			messages = append(messages, string(item))
		}
	case "gemini":
		messages = []string{string(a.Candidates[0].Content)}
	}
	family, q := d.family()
	for _, raw := range messages {
		for _, c := range family.Message(q, []byte(raw), "").Calls {
			calls = append(calls, c.ID)
		}
	}
	return messages, calls
}

// family reads the wire.
func (d *dialect) family() (provider.Protocol, provider.Request) {
	_, route, _ := strings.Cut(d.path, "/")
	name, _, _ := strings.Cut(route, "/")
	path := d.path[strings.Index(d.path, "/s/x")+len("/s/x"):]
	family := ambit.Family(name, http.MethodPost, path)
	return family, family.Request(http.MethodPost, path, nil)
}

// results are the messages that give the results of calls.
func (d *dialect) results(calls []string, text string) (messages []string) {
	if d.name == "messages" { // all in one
		var blocks []string
		for _, id := range calls {
			blocks = append(blocks, spelled(`{"type":"tool_result","tool_use_id":"%[1]s","content":%[2]s}`, id, quote(text)))
		}
		return []string{`{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`}
	}
	if d.name == "gemini" {
		var parts []string
		for _, id := range calls {
			parts = append(parts, spelled(`{"functionResponse":{"id":"%[1]s","name":"bash","response":{"output":%[2]s}}}`, id, quote(text)))
		}
		return []string{`{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`}
	}
	for _, id := range calls {
		messages = append(messages, spelled(d.result, id, quote(text)))
	}
	return messages
}

// thinking is a request of a client that wants thoughts.
func (d *dialect) thinking(messages ...string) []byte {
	body := string(d.request(messages...))
	switch d.name {
	case "messages":
		body = strings.Replace(body, `"max_tokens":100`, `"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":1024}`, 1)
	case "responses":
		body = strings.Replace(body, `"store":false`, `"store":false,"include":["reasoning.encrypted_content"]`, 1)
	}
	return []byte(body)
}

// Through a proxy that edits, whose policy changes and which is started anew between any two requests, a client that goes
// back, compacts its conversation, changes what it said and tells long results never sends anything that the provider
// refuses; what it is answered is what it would have been answered; each request keeps as much of the one before as the
// client's own did, except where a decision says otherwise; and every pin is in every request.
// covers: V-07 part
// covers: N-03
func TestEditingLaws(t *testing.T) {
	for i := range dialects {
		d := dialects[i]
		t.Run(d.name, func(t *testing.T) {
			left := bounded(100)
			rapid.Check(t, func(rt *rapid.T) {
				if left--; left >= 0 {
					playUnder(t, rt, &d)
				}
			})
		})
	}
}

// player is a client.
type player struct {
	t     *rapid.T
	d     *dialect
	g     *rig
	talk  []string
	from  []int // of each exchange, where it begins in talk
	think bool
}

// playUnder plays a drawn client.
func playUnder(t *testing.T, rt *rapid.T, d *dialect) {
	turns := rapid.IntRange(3, 14).Draw(rt, "turns")
	script := scripted.Conversation{}
	for i := range turns {
		turn := scripted.Turn{Text: fmt.Sprintf("I do step %d now, because it comes next.", i)}
		if i%3 != 1 {
			turn.Thought = fmt.Sprintf("step %d it is", i)
		}
		for j := range rapid.IntRange(1, 2).Draw(rt, "calls") {
			turn.Calls = append(turn.Calls, scripted.Call{Name: "bash", Args: map[string]any{"command": fmt.Sprintf("make step-%d-%d", i, j)}})
		}
		script.Turns = append(script.Turns, turn)
	}
	script.Turns = append(script.Turns, scripted.Turn{Text: "done"})
	up := scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{script}}, scripted.Options{
		Strict: true, Window: int64(rapid.SampledFrom([]int{0, 0, 12_000}).Draw(rt, "window")),
	})
	k := &strictKeeper{next: up}
	g := newRig(quietT{t, rt}, k.ServeHTTP, func(o *Options) { o.Policy = "full" })
	defer g.upstream.Close()
	defer g.stop()
	p := &player{t: rt, d: d, g: g, think: rapid.Bool().Draw(rt, "thinking")}
	p.talk = []string{d.says("do all the steps, and never touch the vendored code")}
	pinned := false
	for turn := 0; turn < turns; turn++ {
		switch rapid.IntRange(0, 9).Draw(rt, "what") {
		case 0:
			g.stop()
			g.start(func(o *Options) { o.Policy = rapid.SampledFrom([]string{"record", "cut", "full"}).Draw(rt, "policy") })
		case 1: // back
			if n := len(p.from); n > 1 {
				back := rapid.IntRange(1, n-1).Draw(rt, "back")
				p.talk, p.from = p.talk[:p.from[back]], p.from[:back]
				turn = back
			}
		case 2:
			p.talk = append(p.talk, d.says("and mind that step: "+strings.Repeat("it matters. ", rapid.IntRange(1, 300).Draw(rt, "words"))))
		case 3:
			if !pinned && turn > 0 {
				pinned = true
				g.pin("Keep \"quotes\",\nnew lines and ünïcode as they are.")
			}
		}
		if !p.ask(turn) {
			break
		}
	}
	if n := len(up.Refusals()); n > 0 {
		for _, r := range up.Refusals() {
			if !r.Overflow {
				rt.Fatalf("the provider refused: %+v", r)
			}
		}
	}
	g.stop()
	lawsHold(rt, g, d)
}

// strictKeeper is a provider that is strict.
type strictKeeper struct{ next http.Handler }

func (k *strictKeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) { k.next.ServeHTTP(w, r) }

// ask sends what was said so far, and takes the answer and the results of its calls in. False says that there is none.
func (p *player) ask(turn int) bool {
	body := p.d.request(p.talk...)
	if p.think {
		body = p.d.thinking(p.talk...)
	}
	res, got, err := p.g.post(p.d.path, body)
	if err != nil {
		p.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		if p.g.overflows(got) {
			return false
		}
		p.t.Fatalf("turn %d: %s %.400s", turn, res.Status, got)
	}
	p.from = append(p.from, len(p.talk))
	messages, calls := p.d.answered(p.t, got)
	if len(calls) == 0 {
		return false
	}
	lines := rapid.SampledFrom([]int{1, 20, 120, 600}).Draw(p.t, "lines")
	p.talk = append(append(p.talk, messages...), p.d.results(calls, manual(fmt.Sprintf("out%d", turn), lines))...)
	return true
}

// overflows reports whether an answer refuses a request as too long.
func (g *rig) overflows(body []byte) bool {
	for _, word := range []string{"too long", "context length", "context window", "exceeds the maximum"} {
		if bytes.Contains(body, []byte(word)) {
			return true
		}
	}
	return false
}

// pin pins a text in the session that there is.
func (g *rig) pin(text string) {
	g.t.Helper()
	ctx := context.Background()
	err := g.server.recorder.act(func() error { return nil }) // what was asked before is recorded
	names := []string(nil)
	if err == nil {
		names, err = g.store.Sessions(ctx)
	}
	if err == nil {
		_, err = g.server.act(ctx, names[0], ActPin, Ask{Text: text})
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// lawsHold folds what was recorded, request by request, and looks at what was sent.
func lawsHold(t *rapid.T, g *rig, d *dialect) {
	ctx := context.Background()
	store, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	names, err := store.Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if r, err := store.Check(ctx, name); err != nil || !r.Sound() {
			t.Fatalf("check: %v, %+v", err, r)
		}
		p, err := pool.Fresh(ctx, store, name)
		if err != nil {
			t.Fatal(err)
		}
		j := &judge{t: t, d: d, store: store, name: name, edits: make(map[string]*thread.Edits), last: make(map[string]passed), bound: make(map[int]bool)}
		for f, err := range store.Read(ctx, name, 0) {
			if err != nil {
				t.Fatal(err)
			}
			j.take(f, p)
		}
	}
}

// passed is a request as the client made it and as it was sent, by its elements.
type passed struct{ client, sent []thread.Hash }

// judge follows a session's entries.
type judge struct {
	t     *rapid.T
	d     *dialect
	store *journal.Dir
	name  string
	edits map[string]*thread.Edits
	last  map[string]passed
	bound map[int]bool // requests at which a decision is a boundary
	pins  int
}

func (j *judge) body(b *entry.Body) []byte {
	body, err := j.store.Body(context.Background(), j.name, *b)
	if err != nil {
		j.t.Fatal(err)
	}
	return body
}

func (j *judge) elements(body []byte) []thread.Hash {
	family, q := j.d.family()
	e, err := family.Elements(q, body)
	if err != nil {
		j.t.Fatalf("what was sent is not understood: %v", err)
	}
	var all []provider.Element
	all = append(append(append(all, e.Tools...), e.System...), e.Messages...)
	return reading.Hashes(all)
}

func (j *judge) take(f journal.Frame, p *pool.Pool) {
	switch fact := f.Fact.(type) {
	case *entry.Decision:
		if j.bound[fact.N] = j.bound[fact.N] || fact.Stage.Boundary(); len(fact.Lifts) > 0 {
			j.of(fact.Thread).Lift(fact.Lifts...)
		}
	case *entry.Edit:
		changes, err := entry.DecodeChanges(j.body(fact.Body))
		if err != nil {
			j.t.Fatal(err)
		}
		j.of(fact.Thread).Add(f.Seq, changes...)
	case *entry.Pin:
		j.pins++
	case *entry.Sent:
		x := p.Exchange(fact.N)
		if fact.Attempt < len(x.Sent) {
			return // the one behind it counts
		}
		j.request(x, fact)
		for i, m := range fact.Missing {
			if fact.Why != "" || strings.HasSuffix(m, pressure.PolicyOff) {
				fact.Missing[i] = ""
			}
		}
		if missing := strings.Join(fact.Missing, ""); missing != "" {
			j.t.Fatalf("request %d was edited and holds %v of %d pins; missing %v", fact.N, fact.Held, j.pins, fact.Missing)
		}
	}
}

func (j *judge) of(name string) *thread.Edits {
	if j.edits[name] == nil {
		j.edits[name] = new(thread.Edits)
	}
	return j.edits[name]
}

// request checks the relative prefix law.
func (j *judge) request(x *pool.Exchange, s *entry.Sent) {
	client := j.elements(j.body(x.Request.Body))
	sent := client
	if s.Body != nil {
		sent = j.elements(j.body(s.Body))
	}
	name := x.Relation.Thread
	before, ok := j.last[name]
	j.last[name] = passed{client, sent}
	if !ok || j.bound[s.N] || len(x.Sent) > 1 {
		return
	}
	shared := commonOf(before.client, client)
	applied := j.of(name).Apply(client)
	image := 0
	for i := range shared {
		if !applied.Shown[i].Gone {
			image++
		}
		if image += len(applied.Shown[i].Behind); i == shared-1 {
			image -= len(applied.Shown[i].Behind) // what stands behind the last may have come since
		}
	}
	if got := commonOf(before.sent, sent); got < image {
		j.t.Fatalf("request %d: the client's share %d elements, of which %d are sent, and what was sent shares %d", s.N, shared, image, got)
	}
}

// commonOf is with how many elements both lists begin.
func commonOf(a, b []thread.Hash) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// quietT is a test whose failures are those of a drawn case.
type quietT struct {
	testing.TB
	rt *rapid.T
}

func (q quietT) Fatal(args ...any)                 { q.rt.Fatal(args...) }
func (q quietT) Fatalf(format string, args ...any) { q.rt.Fatalf(format, args...) }
func (q quietT) Helper()                           {}
func (q quietT) Cleanup(func())                    {} // the case ends it itself
