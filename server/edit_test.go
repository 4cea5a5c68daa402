package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/vfs"
	"ambit/journal"
)

// dialect is how one wire spells a conversation, an answer, and a refusal of what is too long.
type dialect struct {
	name, path string
	body       string // with %s for the messages
	user       string // %s for the text as JSON
	call       string // %[1]s for the id, %[2]s for the arguments as JSON, %[3]s for the same as a string
	result     string // %[1]s for the id, %[2]s for the text as JSON
	answer     string
	refusal    string
	late       string // the refusal as events of a stream that has begun; empty where the provider has none
}

var dialects = []dialect{
	{
		name: "messages", path: "/anthropic/s/x/v1/messages",
		body:    `{"model":"claude-sonnet-4-5","max_tokens":100,"system":"be good","tools":[{"name":"bash","input_schema":{"type":"object"}}],"messages":[%s]}`,
		user:    `{"role":"user","content":[{"type":"text","text":%s}]}`,
		call:    `{"role":"assistant","content":[{"type":"tool_use","id":"%[1]s","name":"bash","input":%[2]s}]}`,
		result:  `{"role":"user","content":[{"type":"tool_result","tool_use_id":"%[1]s","content":%[2]s}]}`,
		answer:  `{"type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":50,"output_tokens":7}}`,
		refusal: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205211 tokens > 200000 maximum"}}`,
	},
	{
		name: "chat", path: "/openai/s/x/v1/chat/completions",
		body:    `{"model":"gpt-5","tools":[{"type":"function","function":{"name":"bash"}}],"messages":[%s]}`,
		user:    `{"role":"user","content":%s}`,
		call:    `{"role":"assistant","content":null,"tool_calls":[{"id":"%[1]s","type":"function","function":{"name":"bash","arguments":%[3]s}}]}`,
		result:  `{"role":"tool","tool_call_id":"%[1]s","content":%[2]s}`,
		answer:  `{"object":"chat.completion","model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":7}}`,
		refusal: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
	},
	{
		name: "responses", path: "/openai/s/x/v1/responses",
		body:    `{"model":"gpt-5","instructions":"be good","tools":[{"type":"function","name":"bash"}],"store":false,"input":[%s]}`,
		user:    `{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`,
		call:    `{"type":"function_call","call_id":"%[1]s","name":"bash","arguments":%[3]s}`,
		result:  `{"type":"function_call_output","call_id":"%[1]s","output":%[2]s}`,
		answer:  `{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}],"usage":{"input_tokens":50,"output_tokens":7}}`,
		refusal: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
		late: "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\n" +
			"event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"resp_1\",\"status\":\"failed\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model. Please adjust your input and try again.\"}}}\n\n",
	},
	{
		name: "gemini", path: "/gemini/s/x/v1beta/models/gemini-2.5-pro:generateContent",
		body:    `{"systemInstruction":{"parts":[{"text":"be good"}]},"tools":[{"functionDeclarations":[{"name":"bash"}]}],"contents":[%s]}`,
		user:    `{"role":"user","parts":[{"text":%s}]}`,
		call:    `{"role":"model","parts":[{"functionCall":{"id":"%[1]s","name":"bash","args":%[2]s}}]}`,
		result:  `{"role":"user","parts":[{"functionResponse":{"id":"%[1]s","name":"bash","response":{"output":%[2]s}}}]}`,
		answer:  `{"candidates":[{"content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":7},"modelVersion":"gemini-2.5-pro"}`,
		refusal: `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
	},
}

// quote spells a text as JSON.
func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func (d *dialect) says(text string) string { return fmt.Sprintf(d.user, quote(text)) }

// reads is a call that reads a file, and its result.
func (d *dialect) reads(id, file, text string) []string {
	args := fmt.Sprintf(`{"command":%s}`, quote("make show-"+file))
	return []string{spelled(d.call, id, args, quote(args)), spelled(d.result, id, quote(text))}
}

// spelled fills a form, which need not use all that it is given.
func spelled(form string, values ...string) string {
	for i, v := range values {
		form = strings.ReplaceAll(form, fmt.Sprintf("%%[%d]s", i+1), v)
	}
	return form
}

func (d *dialect) request(messages ...string) []byte {
	return []byte(strings.Replace(d.body, "%s", strings.Join(messages, ","), 1))
}

// keeper is an upstream that keeps what it is sent, and refuses bodies over a limit.
type keeper struct {
	d     *dialect
	limit int  // bytes; 0 for none
	late  bool // it refuses in a stream that has begun

	mu      sync.Mutex
	bodies  [][]byte
	refused int
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bodies = append(k.bodies, body)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case int64(len(body)) != r.ContentLength:
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":"the length is wrong"}`)
	case k.limit > 0 && len(body) > k.limit && k.late:
		k.refused++
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, k.d.late)
	case k.limit > 0 && len(body) > k.limit:
		k.refused++
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, k.d.refusal)
	default:
		io.WriteString(w, k.d.answer)
	}
}

// last is the newest body that it was sent.
func (k *keeper) last() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bodies[len(k.bodies)-1]
}

// newKept starts a proxy with a policy in front of a keeper.
func newKept(t testing.TB, d *dialect, policy string) (*rig, *keeper) {
	k := &keeper{d: d}
	return newRig(t, k.ServeHTTP, func(o *Options) { o.Policy = policy }), k
}

// again stops the proxy and starts another one, with a policy of its own.
func (g *rig) againUnder(policy string) {
	g.stop()
	g.start(func(o *Options) { o.Policy = policy })
}

// ok posts and wants a status of 200.
func (g *rig) ok(path string, body []byte) []byte {
	g.t.Helper()
	res, got, err := g.post(path, body)
	if err != nil || res.StatusCode != http.StatusOK {
		g.t.Fatalf("%s: %v, %v, %.300s", path, err, res, got)
	}
	return got
}

// manual is a text of a file of so many lines, each of which names itself.
func manual(name string, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s, line %d: what is written here is of some length, as lines are\n", name, i)
	}
	return b.String()
}

// A giant result is cut before it is first sent, and stays as it was cut: in every later request, after a restart, under a
// policy that edits nothing, and where tokens are counted. Nothing else of the body changes, and what was sent is recorded
// to the byte.
//
func TestCutIsSticky(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			g, k := newKept(t, &d, "cut")
			talk := append([]string{d.says("read the manual")}, d.reads("call_number_one_1", "manual.txt", manual("manual", 600))...)
			g.ok(d.path, d.request(talk...))
			first := k.last()
			if len(first) > 20_000 || bytes.Contains(first, []byte("manual, line 300:")) {
				t.Fatalf("%d bytes were sent: %.200s", len(first), first)
			}
			before, _, _ := strings.Cut(string(first), "manual, line 0:")
			if want, _, _ := strings.Cut(string(d.request(talk...)), "manual, line 0:"); before != want {
				t.Errorf("in front of the result stands\n%s\nwant\n%s", before, want)
			}
			cut := first[bytes.Index(first, []byte("manual, line 0:")):]
			for _, policy := range []string{"cut", "record", "full", "record"} {
				g.againUnder(policy)
				talk = append(talk, d.says("go on under "+policy))
				g.ok(d.path, d.request(talk...))
				if got := k.last(); !bytes.Contains(got, cut[:len(cut)/2]) || bytes.Contains(got, []byte("manual, line 300:")) {
					t.Fatalf("under %s %d bytes were sent", policy, len(got))
				}
			}
			p := g.only()
			for _, x := range p.Exchanges {
				if len(x.Sent) != 1 || x.Sent[0].Edited != 1 || x.Sent[0].Body == nil {
					t.Fatalf("request %d was sent as %+v", x.Request.N, x.Sent)
				}
			}
			for i, got := range g.sentBodies(p) {
				if !bytes.Equal(got, k.bodies[i]) {
					t.Errorf("of request %d other bytes are recorded than were sent", i+1)
				}
			}
			if len(p.Edits) != 1 || p.Decisions[0].Stage != entry.StageCut || p.Decisions[0].Seq > p.Edits[0].Seq {
				t.Errorf("edits %+v, decisions %+v", p.Edits, p.Decisions)
			}
		})
	}
}

// sentBodies are what was sent for each request, the last attempt's.
func (g *rig) sentBodies(p *pool.Pool) (bodies [][]byte) {
	g.t.Helper()
	for i := range p.Exchanges {
		x := &p.Exchanges[i]
		b := x.Request.Body
		if n := len(x.Sent); n > 0 && x.Sent[n-1].Body != nil {
			b = x.Sent[n-1].Body
		}
		bodies = append(bodies, g.bodyOf(p, b))
	}
	return bodies
}

// bodyOf reads a body as another process would.
func (g *rig) bodyOf(p *pool.Pool, b *entry.Body) []byte {
	g.t.Helper()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	body, err := d.Body(context.Background(), p.Session.ID, *b)
	if err != nil {
		g.t.Fatal(err)
	}
	return body
}

// Where tokens are counted, the client counts what would be sent.
func TestCountsWhatIsSent(t *testing.T) {
	d := dialects[0]
	g, k := newKept(t, &d, "cut")
	talk := append([]string{d.says("read the manual")}, d.reads("call_number_one_1", "manual.txt", manual("manual", 600))...)
	g.ok(d.path, d.request(talk...))
	g.ok(d.path+"/count_tokens", d.request(append(talk, d.says("and now?"))...))
	if got := k.last(); len(got) > 20_000 {
		t.Errorf("%d bytes were counted", len(got))
	}
}

// What a provider refuses as too long is made shorter and sent once more before the client sees anything, whether the
// refusal is an answer or an event. Both attempts and the refusal are recorded.
//
//
// covers: X-06 part
// covers: N-01
func TestTooLong(t *testing.T) {
	for _, d := range dialects {
		for _, late := range []bool{false, true} {
			if late && d.late == "" {
				continue
			}
			for _, policy := range []string{"cut", "full"} {
				t.Run(fmt.Sprint(d.name, " ", policy, " ", late), func(t *testing.T) {
					g, k := newKept(t, &d, policy)
					k.late = late
					talk := []string{d.says("read all of it")}
					calls, lines := 10, 40
					if policy == "full" { // nothing that a placeholder would make shorter
						calls, lines = 80, 3
					}
					for i := range calls {
						talk = append(talk, d.reads(fmt.Sprintf("call_number_%d_of_all", i), fmt.Sprintf("f%d.txt", i), manual(fmt.Sprint("f", i), lines))...)
					}
					talk = append(talk, d.says("and what does it say?"))
					k.limit = len(d.request(talk...)) * 2 / 3
					if got := g.ok(d.path, d.request(talk...)); string(got) != d.answer {
						t.Fatalf("the client got %.300s", got)
					}
					if k.refused != 1 || len(k.bodies) != 2 {
						t.Errorf("%d attempts, %d refused", len(k.bodies), k.refused)
					}
					p := g.only()
					x := &p.Exchanges[0]
					if len(x.Sent) != 2 || x.Sent[1].Attempt != 2 || x.Sent[1].Refused == nil || x.Sent[1].Body == nil {
						t.Fatalf("sent: %+v", x.Sent)
					}
					want := d.refusal
					if late {
						want = d.late
					}
					if got := g.bodyOf(p, x.Sent[1].Refused); string(got) != want {
						t.Errorf("the refusal is recorded as %.300s", got)
					}
					if got := g.bodyOf(p, x.Sent[1].Body); !bytes.Equal(got, k.bodies[1]) {
						t.Error("other bytes are recorded than were sent")
					}
					want2 := map[string]entry.Stage{"cut": entry.StagePrune, "full": entry.StageCompact}[policy]
					if n := len(p.Decisions); n == 0 || !p.Decisions[n-1].Reactive || p.Decisions[n-1].Stage != want2 || p.Decisions[n-1].Event != want2.Event() {
						t.Errorf("decisions: %+v", p.Decisions)
					}
					g.recallable(p, k.bodies[1])
					if x.Response.Status != http.StatusOK || x.Response.Usage == nil {
						t.Errorf("response: %+v", x.Response)
					}
				})
			}
		}
	}
}

// shownRef is an entry as it is named to a model.
var shownRef = regexp.MustCompile(`\be[1-9][0-9]*\.[a-z2-7]{8}\b`)

// recallable wants every entry that a body names to be one of the session whose text can be read.
func (g *rig) recallable(p *pool.Pool, body []byte) {
	g.t.Helper()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	rec, err := ambit.OpenRecording(context.Background(), d, p.Session.ID)
	if err != nil {
		g.t.Fatal(err)
	}
	refs := shownRef.FindAllString(string(body), -1)
	if len(refs) == 0 {
		g.t.Errorf("nothing says how what is left out is got back:\n%.2000s", body)
	}
	for _, ref := range refs {
		if a := rec.Read(context.Background(), []byte("secret"), ambit.Reading{Ref: ref}); a.Status != "found" && a.Status != "partial" {
			g.t.Errorf("%s: %s", ref, a.Status)
		}
	}
}

// What cannot be made short enough is refused as the provider refused it, after a bounded number of attempts; under a
// policy that edits nothing, at once.
// covers: X-07 part
func TestCannotFit(t *testing.T) {
	d := dialects[0]
	for _, policy := range []string{"record", "cut", "full"} {
		g, k := newKept(t, &d, policy)
		k.limit = 10
		res, got, err := g.post(d.path, d.request(d.says("hello"), d.says("and more")))
		if err != nil || res.StatusCode != http.StatusBadRequest || string(got) != d.refusal {
			t.Errorf("%s: %v, %v, %s", policy, err, res, got)
		}
		if n := len(k.bodies); n > 1+maxPasses || policy == "record" && n != 1 {
			t.Errorf("%s: %d attempts", policy, n)
		}
	}
}

// A refusal for another reason is passed on.
func TestOtherRefusals(t *testing.T) {
	const other = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: all messages must have non-empty content"}}`
	d := dialects[0]
	asked := 0
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, other)
	}, func(o *Options) { o.Policy = "full" })
	res, got, err := g.post(d.path, d.request(d.says("prompt is too long: 5 tokens > 3 maximum")))
	if err != nil || res.StatusCode != http.StatusBadRequest || string(got) != other || asked != 1 {
		t.Errorf("%v, %v, %s, asked %d times", err, res, got, asked)
	}
}

// A stream that has begun and says nothing yet is held back only for so long, and nothing of it is lost.
func TestHeldStream(t *testing.T) {
	const begins = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n"
	const goesOn = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n"
	d := dialects[2]
	begun := make(chan struct{})
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, begins)
		http.NewResponseController(w).Flush()
		<-begun
		io.WriteString(w, goesOn)
	}, func(o *Options) { o.Policy, o.Hold = "full", time.Millisecond })
	req, _ := http.NewRequest(http.MethodPost, g.front.URL+d.path, bytes.NewReader(d.request(d.says("hello"))))
	res, err := g.front.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	head := make([]byte, len(begins))
	if _, err := io.ReadFull(res.Body, head); err != nil || string(head) != begins { // while nothing more has come
		t.Fatalf("%v, %q", err, head)
	}
	close(begun)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != goesOn {
		t.Errorf("%v, %q", err, rest)
	}
}

// Where a decision cannot be made durable it does not take effect, and the request goes on as it came.
func TestUndurableDecision(t *testing.T) {
	d := dialects[0]
	g, k := newKept(t, &d, "cut")
	g.ok(d.path, d.request(d.says("hello")))
	g.settle(2)
	g.fault.SetInject(func(op vfs.Op, name string) error {
		if op == vfs.OpSync {
			return syscall.ENOSPC
		}
		return nil
	})
	talk := append([]string{d.says("hello"), d.says("read the manual")}, d.reads("call_number_one_1", "manual.txt", manual("manual", 600))...)
	g.ok(d.path, d.request(talk...))
	if got := k.last(); !bytes.Equal(got, d.request(talk...)) {
		t.Errorf("%d bytes were sent, of a request of %d", len(got), len(d.request(talk...)))
	}
	g.settle(4)
	g.fault.SetInject(nil)
	g.ok(d.path, d.request(talk...))
	if got := k.last(); len(got) > 20_000 {
		t.Errorf("%d bytes were sent when it could be written again", len(got))
	}
}

// Whichever operation of the disk fails while a request is recorded that is edited, each half of an exchange is in the journal or
// counted as missing, and none is both: the request is written before what is decided about it, and what was sent behind that.
func TestMissedWhileEdited(t *testing.T) {
	d := dialects[0]
	talk := append([]string{d.says("hello"), d.says("read the manual")}, d.reads("call_number_one_1", "manual.txt", manual("manual", 600))...)
	play := func(t *testing.T, inject func(op vfs.Op, name string) error) (operations int) {
		g, _ := newKept(t, &d, "cut")
		g.ok(d.path, d.request(d.says("hello")))
		g.settle(2)
		before := g.fault.Ops()
		g.fault.SetInject(inject)
		g.ok(d.path, d.request(talk...))
		g.settle(4)
		operations = g.fault.Ops() - before
		g.fault.SetInject(nil)
		halves := 0
		for _, p := range g.pools() {
			halves += p.Missing
			for i := range p.Exchanges {
				if halves++; p.Exchanges[i].Response != nil {
					halves++
				}
			}
		}
		if halves != 4 {
			t.Errorf("%d halves are recorded or missing, of 4", halves)
		}
		return operations
	}
	most := play(t, nil)
	if most < 10 {
		t.Fatalf("there are %d operations", most)
	}
	for n := range most {
		t.Run(fmt.Sprint(n), func(t *testing.T) { play(t, vfs.Nth(n, syscall.ENOSPC)) })
	}
}

// A policy that edits nothing takes back what stands once the cache holds nothing of the thread and the whole fits.
func TestLiftedWhenCold(t *testing.T) {
	d := dialects[0]
	g, k := newKept(t, &d, "cut")
	talk := append([]string{d.says("read the manual")}, d.reads("call_number_one_1", "manual.txt", manual("manual", 600))...)
	g.ok(d.path, d.request(talk...))
	later := time.Now().Add(2 * time.Hour)
	g.stop()
	g.start(func(o *Options) { o.Policy, o.Now = "record", func() time.Time { return later } })
	talk = append(talk, d.says("go on"))
	g.ok(d.path, d.request(talk...))
	if got := k.last(); !bytes.Equal(got, d.request(talk...)) {
		t.Errorf("%d bytes were sent of %d", len(got), len(d.request(talk...)))
	}
	p := g.only()
	if n := len(p.Decisions); len(p.Edits) != 0 || p.Decisions[n-1].Stage != entry.StageLift || p.Decisions[n-1].N != 2 {
		t.Errorf("edits %+v, decisions %+v", p.Edits, p.Decisions)
	}
}

// What a person pins while nothing passes stands in the next request, whether the session is held or was let go; what was
// purged and is said again has an entry of its own again.
// covers: N-03 part
func TestActsBetweenRequests(t *testing.T) {
	d := dialects[0]
	g, k := newKept(t, &d, "full")
	ctx := context.Background()
	act := func(session, act string, a Ask) {
		t.Helper()
		if _, err := g.server.act(ctx, session, act, a); err != nil {
			t.Fatal(err)
		}
	}
	talk := []string{d.says("my password is hunter2-XYZZY"), `{"role":"assistant","content":[{"type":"text","text":"done"}]}`, d.says("hello")}
	g.ok(d.path, d.request(talk...))
	if err := g.server.recorder.act(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	names, err := g.store.Sessions(ctx)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	for i, letGo := range []bool{false, true} {
		if letGo {
			if err := g.server.recorder.act(func() error { return g.server.recorder.release(time.Now().Add(time.Hour), 0) }); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Sprintf("Rule %d holds.", i)
		act(names[0], ActPin, Ask{Text: text})
		talk = append(talk, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`, d.says("go on"))
		g.ok(d.path, d.request(talk...))
		if !bytes.Contains(k.last(), []byte(text)) {
			t.Errorf("let go: %t: %q is not in\n%s", letGo, text, k.last())
		}
	}
	p := g.read()[names[0]]
	act(names[0], ActPurgeText, Ask{Ref: p.Units[0].Seq.Ref()})
	g.ok(d.path, d.request(append(talk, d.says("once more"))...))
	said := 0
	for _, u := range g.only().Units {
		if u.Element == p.Units[0].Element {
			said++
		}
	}
	if said != 2 {
		t.Errorf("what was purged and said again has %d entries", said)
	}
}
