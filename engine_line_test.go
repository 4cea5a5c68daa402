package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"

	"github.com/coder/websocket"
)

// ways say of each request how it went: whole or going on over a WebSocket, or posted.
func ways(list []sent) string {
	var b strings.Builder
	for i := range list {
		switch x := &list[i]; {
		case x.method == http.MethodPost:
			b.WriteByte('p')
		case x.continues():
			b.WriteByte('c')
		default:
			b.WriteByte('w')
		}
		if list[i].how == entry.Again {
			b.WriteByte('!')
		}
	}
	return b.String()
}

// Whoever asks for auto gets a WebSocket where one is to be had, else HTTP, as long as nothing of the answer has come: at once,
// with the same request, and without asking each time. Once something has come, an attempt is repeated as any other is.
//
// covers: R-03 part
func TestFallBack(t *testing.T) {
	for name, x := range map[string]struct {
		first  func(http.ResponseWriter, *http.Request)
		ways   string // of two turns
		opened int
		waits  int
		kind   provider.FailureKind // of the first turn; empty where it succeeds
	}{
		"taken":                  {nil, "wc", 1, 0, ""},
		"no route":               {status(404, ""), "wp!p", 1, 0, ""},
		"no upgrade":             {status(426, ""), "wp!p", 1, 0, ""},
		"forbidden":              {status(403, ""), "wp!p", 1, 0, ""},
		"a gateway":              {status(502, ""), "wp!p", 1, 0, ""},
		"another page":           {status(200, "<html>"), "wp!p", 1, 0, ""},
		"a redirect":             {status(307, "", "location", "/elsewhere"), "wp!p", 1, 0, ""},
		"closed at once":         {shuts(1008, "no"), "wp!p", 1, 0, ""},
		"gone at once":           {drops(), "wp!p", 1, 0, ""},
		"a rate limit":           {status(429, "", "retry-after", "2"), "ww!c", 2, 1, ""},
		"a credential":           {status(401, ""), "ww", 2, 0, provider.Denied},
		"broken off":             {drops(created), "ww!c", 2, 1, ""},
		"an error, and nothing":  {speaks(errorEvent(503, "server_error", "")), "ww!c", 2, 1, ""},
		"broken off in a call":   {drops(created, told), "ww!c", 2, 1, ""},
		"closed behind an event": {shuts(1011, "", created), "ww!c", 2, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			unleaked(t)
			var list []func(http.ResponseWriter, *http.Request)
			if x.first != nil {
				list = append(list, x.first)
			}
			d, l := newLines(t, ambit.TransportAuto, list...)
			d.setup.Retry.Off = x.waits == 0 // to go another way is no retry
			s := d.begin("Go.")
			_, err := s.Run(t.Context())
			if failure, is := errors.AsType[*provider.Failure](err); is && failure.Kind != x.kind || !is && err != nil || err == nil && x.kind != "" {
				t.Fatal(err)
			}
			if _, err := s.Admit(t.Context(), ambit.Input{Text: "Again.", Delivery: entry.Steer}); err != nil {
				t.Fatal(err)
			}
			d.run(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			l.open.Wait()
			list2 := d.sents(s.ID())
			if opened, posted := l.counted(); ways(list2) != x.ways || opened != x.opened || posted != strings.Count(x.ways, "p") || len(d.waits) != x.waits {
				t.Errorf("the requests went %s, over %d connections, with waits of %v", ways(list2), opened, d.waits)
			}
			for i := range list2 {
				plain := func(s *sent) string {
					if s.method == http.MethodPost {
						return string(s.body)
					}
					return s.plain()
				}
				if list2[i].how == entry.Again && plain(&list2[i]) != plain(&list2[i-1]) {
					t.Errorf("request %d is not what it repeats:\n%s\n%s", i+1, list2[i-1].body, list2[i].body)
				}
			}
		})
	}
}

// Auto goes over HTTP on a wire that has nothing else, and a transport that a wire does not have is refused.
//
// covers: R-03 part
func TestTransportsOfAWire(t *testing.T) {
	for wire := range wireNames {
		d := newDesk(t, wire, talker(3))
		for _, transport := range []ambit.Transport{ambit.TransportWebSocket, ambit.TransportCached, "pigeon"} {
			d.setup.Model.Transport = transport
			_, err := d.engine.Begin(t.Context(), "a test", d.setup)
			if wire == provider.TypeResponses && transport != "pigeon" {
				continue
			}
			if !errors.Is(err, ambit.ErrRefused) || !strings.Contains(err.Error(), string(transport)) {
				t.Errorf("%s over %s: %v", wire, transport, err)
			}
		}
		d.setup.Model.Transport = ambit.TransportAuto
		s := d.begin("Go.")
		d.run(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if wire != provider.TypeResponses && len(d.asked) != 1 {
			t.Errorf("%s: %d requests", wire, len(d.asked))
		}
	}
}

// Where nobody listens, HTTP would find nobody either: the activity ends at once, with one attempt.
//
// covers: R-04 part
func TestNobodyListensToAuto(t *testing.T) {
	d, _ := newLines(t, ambit.TransportAuto)
	d.setup.Model.BaseURL = "http://127.0.0.1:9/v1"
	s := d.begin("Go.")
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody answers") || len(d.waits) > 0 {
		t.Errorf("%v, waits of %v", err, d.waits)
	}
	if list := d.sents(s.ID()); ways(list) != "w" || list[0].end != entry.EndNone {
		t.Errorf("the requests went %s", ways(list))
	}
}

// calm answers each message of a connection with a text, and does between, before the nth message is read, what it is told to.
// It keeps no answer, which it says of a message that names one, if so is asked; and it may give no answer to the third.
type calm struct {
	d       *desk
	between map[int]func(c *websocket.Conn)
	forgets bool
	third   string // in place of the third answer: an event, or "drop"
	n       int
}

func (m *calm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	for {
		m.d.mu.Lock()
		m.n++
		n, act := m.n, m.between[m.n]
		delete(m.between, m.n)
		m.d.mu.Unlock()
		if act != nil {
			act(c)
		}
		_, body, err := c.Read(context.Background())
		if err != nil {
			m.d.mu.Lock()
			m.n--
			m.d.mu.Unlock()
			return
		}
		m.d.mu.Lock()
		m.d.asked = append(m.d.asked, asked{r.URL.RequestURI(), body})
		m.d.mu.Unlock()
		say := []string{created, told, ended}
		if m.forgets && strings.Contains(string(body), "previous_response_id") {
			say = []string{errorEvent(400, "previous_response_not_found", "")}
		}
		if n == 3 && m.third == "drop" {
			return
		} else if n == 3 && m.third != "" {
			say = []string{m.third}
		}
		for _, text := range say {
			if c.Write(context.Background(), websocket.MessageText, []byte(strings.ReplaceAll(text, "resp_0", fmt.Sprintf("resp_%d", n)))) != nil {
				return
			}
		}
	}
}

// A connection that was kept and cannot be used any more is replaced, and what it held is sent again: at once, and without a
// wait, whatever had become of it. What a connection brings of an answer that is over is never taken for another's.
//
// covers: R-03 part
func TestKeptConnections(t *testing.T) {
	write := func(text string) func(c *websocket.Conn) {
		return func(c *websocket.Conn) { _ = c.Write(context.Background(), websocket.MessageText, []byte(text)) }
	}
	for name, x := range map[string]struct {
		between func(c *websocket.Conn) // before the third message
		forgets bool
		third   string
		later   func(d *desk, s *ambit.Setup) // before the third request
		ways    string
	}{
		"kept":               {nil, false, "", nil, "wcc"},
		"closed":             {func(c *websocket.Conn) { _ = c.Close(1001, "restart") }, false, "", nil, "wcw"},
		"gone":               {func(c *websocket.Conn) { _ = c.CloseNow() }, false, "", nil, "wcw"},
		"pinged":             {func(c *websocket.Conn) { go func() { _ = c.Ping(context.Background()) }() }, false, "", nil, "wcc"},
		"it says more":       {write(told), false, "", nil, "wcw"},
		"it says nonsense":   {write("{"), false, "", nil, "wcw"},
		"it is old":          {nil, false, "", func(d *desk, _ *ambit.Setup) { d.at = d.at.Add(56 * time.Minute) }, "wcw"},
		"it is not so old":   {nil, false, "", func(d *desk, _ *ambit.Setup) { d.at = d.at.Add(50 * time.Minute) }, "wcc"},
		"it dies of it":      {nil, false, "drop", nil, "wccw!"},
		"it says it is old":  {nil, false, errorEvent(400, "websocket_connection_limit_reached", ""), nil, "wccw!"},
		"it forgets":         {nil, true, "", nil, "wcw!cw!"},
		"another model":      {nil, false, "", func(_ *desk, s *ambit.Setup) { s.Model.Name = "m-2" }, "wcw"},
		"another role":       {nil, false, "", func(_ *desk, s *ambit.Setup) { s.Agent.Role = "You write tests." }, "wcw"},
		"other tools":        {nil, false, "", func(_ *desk, s *ambit.Setup) { s.Agent.Tools = s.Agent.Tools[:1] }, "wcw"},
		"another credential": {nil, false, "", func(_ *desk, s *ambit.Setup) { s.Model.Credential = "other" }, "wcw"},
		"not kept any more":  {nil, false, "", func(_ *desk, s *ambit.Setup) { s.Model.Transport = ambit.TransportWebSocket }, "wcw"},
	} {
		t.Run(name, func(t *testing.T) {
			unleaked(t)
			m := &calm{between: map[int]func(*websocket.Conn){}, forgets: x.forgets, third: x.third}
			done := make(chan struct{})
			if x.between != nil {
				m.between[3] = func(c *websocket.Conn) {
					x.between(c)
					go func() { // what answers a ping has seen what came before it
						_ = c.Ping(context.Background())
						close(done)
					}()
				}
			} else {
				close(done)
			}
			m.d = newDesk(t, provider.TypeResponses, m)
			d := m.d
			d.setup.Model.Transport, d.setup.Model.Rest = ambit.TransportCached, nil
			s := d.begin("One.")
			d.run(s)
			d.run(s, "Two.")
			<-done
			next := d.setup
			if x.later != nil {
				x.later(d, &next)
			}
			if err := s.Switch(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			d.run(s, "Three.")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			list := d.sents(s.ID())
			got := ways(list)
			if name == "closed" || name == "gone" { // whether the end is seen before or behind the question is chance
				got = strings.Replace(got, "wccw!", "wcw", 1)
			}
			if got != x.ways || len(d.waits) > 0 {
				t.Errorf("the requests went %s, waits of %v", ways(list), d.waits)
			}
			for i := range list {
				if strings.Count(string(list[i].joined), `"role":"user"`) != strings.Count(ways(list[:i+1]), "w")+strings.Count(ways(list[:i+1]), "c")-strings.Count(ways(list[:i+1]), "!") {
					t.Errorf("request %d shows %s", i+1, list[i].joined)
				}
			}
			if last := string(list[len(list)-1].joined); !strings.Contains(last, "One.") || !strings.Contains(last, "Three.") || strings.Count(last, "Yes.") != 2 {
				t.Errorf("the last shows %s", last)
			}
		})
	}
}

// An answer that was cut off is nothing that a provider goes on from.
//
// covers: R-03 part
func TestCutAnswersAreNotHeld(t *testing.T) {
	unleaked(t)
	cut := `{"type":"response.incomplete","response":{"id":"resp_0","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`
	d, l := newLines(t, ambit.TransportCached, speaks(created, told, cut))
	s := d.begin("One.")
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("%v", err)
	}
	d.run(s, "Two.")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.open.Wait()
	if list := d.sents(s.ID()); ways(list) != "ww" || !strings.Contains(string(list[1].body), "Yes.") {
		t.Errorf("the requests went %s", ways(list))
	}
}

// What is said of an answer that is over, on a connection that is asked again, is no answer to that: the attempt is repeated on
// another connection.
//
// covers: R-03 part
func TestLateEvents(t *testing.T) {
	for name, late := range map[string][]string{
		"the end once more": {ended}, "an item": {told}, "a beginning": {created}, "no JSON": {"{"}, "an item behind news": {`{"type":"news"}`, told},
	} {
		t.Run(name, func(t *testing.T) {
			unleaked(t)
			n := 0
			d, l := newLines(t, ambit.TransportCached, func(w http.ResponseWriter, r *http.Request) {
				c, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer c.CloseNow()
				for {
					if _, _, err := c.Read(context.Background()); err != nil {
						return
					}
					texts := []string{created, told, ended}
					if n++; n > 1 {
						texts = append(slices.Clone(late), strings.ReplaceAll(created, "resp_0", "resp_1"), strings.ReplaceAll(ended, "resp_0", "resp_1"))
					}
					for _, text := range texts {
						if c.Write(context.Background(), websocket.MessageText, []byte(text)) != nil {
							return
						}
					}
				}
			})
			s := d.begin("One.")
			d.run(s)
			d.say(s, "Two.")
			out, err := s.Run(t.Context())
			if err != nil || out.Text != "Yes." || len(d.waits) != 0 {
				t.Errorf("%+v, %v, waits of %v", out, err, d.waits)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			l.open.Wait()
			if list := d.sents(s.ID()); ways(list) != "wcw!" || list[1].end != entry.EndDropped {
				t.Errorf("the requests went %s, %s", ways(list), list[1].end)
			}
		})
	}
}

// A provider that goes silent, and whoever cancels, end an attempt promptly: the connection is closed, and the session goes on.
//
// covers: R-06 part
func TestSilenceAndCancelOverAWebSocket(t *testing.T) {
	unleaked(t)
	hang := on(func(c *websocket.Conn) { _ = c.Write(context.Background(), websocket.MessageText, []byte(created)) })
	held := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	d, l := newLines(t, ambit.TransportCached, hang, func(http.ResponseWriter, *http.Request) { <-held }, on(func(c *websocket.Conn) {
		_ = c.Write(context.Background(), websocket.MessageText, []byte(created))
		cancel()
	}))
	d.setup.Limits.Silence, d.setup.Retry.Off = 250*time.Millisecond, true
	s := d.begin("Go.")
	for range 2 { // in an answer, and before a connection is open
		_, err := s.Run(t.Context())
		if failure, is := errors.AsType[*provider.Failure](err); !is || failure.Kind != provider.Unreachable || !strings.Contains(err.Error(), "said nothing for 250ms") {
			t.Errorf("%v", err)
		}
	}
	close(held)
	d.setup.Limits.Silence = 0
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.open.Wait()
	var ends []entry.End
	for _, x := range d.sents(s.ID()) {
		ends = append(ends, x.end)
	}
	if want := []entry.End{entry.EndDropped, entry.EndNone, entry.EndCanceled, entry.EndComplete}; !slices.Equal(ends, want) {
		t.Errorf("they ended %v", ends)
	}
}

// A session that was left has no connection any more, and whoever forks or takes it up sends the whole.
//
// covers: R-03 part
func TestForkOverWebSockets(t *testing.T) {
	unleaked(t)
	d, model := overSockets(t, workTurns(), ambit.TransportCached)
	s := d.begin("Read them.")
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fork := s.ID() + "-fork"
	if err := ambit.Fork(t.Context(), d.store, s.ID(), entry.Seq(len(d.facts(s.ID()))), entry.Session{ID: fork}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{fork, s.ID()} {
		taken, err := d.anew().Resume(t.Context(), id, d.setup)
		if err != nil {
			t.Fatal(err)
		}
		before := len(d.facts(id))
		d.say(taken, "And f.")
		if out, err := taken.Run(t.Context()); err != nil || out.Text != "Really." {
			t.Fatalf("%s: %+v, %v, %v", id, out, err, model.Refusals())
		}
		if err := taken.Close(); err != nil {
			t.Fatal(err)
		}
		if got := ways(d.sents(id)); !strings.HasSuffix(got, "wc") {
			t.Errorf("%s: the requests went %s", id, got)
		}
		said := 0
		for _, f := range d.facts(id)[before:] {
			if u, is := f.(*entry.Unit); is && u.Of == entry.PartMessage {
				said++
			}
		}
		if want := map[string]int{s.ID(): 2}[id]; want > 0 && said != want {
			t.Errorf("%s: %d messages are new, and %d should be", id, said, want)
		}
	}
}

// A text that is purged is gone from every request that a session sent or that one stands for, whoever goes on with it says so in
// its place, and what stands beside it is shown as before.
//
// covers: J-13 part
func TestPurgeOverWebSockets(t *testing.T) {
	d, _ := overSockets(t, workTurns(), ambit.TransportCached)
	s := d.begin("Read them.")
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var of, last entry.Seq
	for i, f := range d.facts(s.ID()) {
		switch f := f.(type) {
		case *entry.Unit:
			if f.Role == "tool" && of == 0 {
				of = entry.Seq(i + 1)
			}
		case *entry.Request:
			last = entry.Seq(f.N)
		}
	}
	rec, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := d.store.Lock(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.PurgeText(t.Context(), key, of.Ref()); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if rec, err = ambit.OpenRecording(t.Context(), d.store, s.ID()); err != nil {
		t.Fatal(err)
	}
	if body, err := rec.Joined(t.Context(), int(last)); !errors.Is(err, journal.ErrPurged) {
		t.Errorf("%v: it stands for %s", err, body)
	}
	v, err := rec.View(t.Context(), "", int(last))
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, seg := range v.Segments {
		shown = append(shown, seg.Text)
	}
	if all := strings.Join(shown, "|"); strings.Contains(all, `text of {"path":"a.go"}`) || !strings.Contains(all, `text of {"path":"b.go"}`) || !strings.Contains(all, "Two files.") {
		t.Errorf("it shows %s", all)
	}
	if s, err = d.anew().Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "And f.")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	body := string(d.asked[len(d.asked)-2].body)
	if strings.Contains(body, `"text of {\"path\":\"a.go\"}"`) || !strings.Contains(body, `"text of {\"path\":\"b.go\"}"`) || !strings.Contains(body, "The text that stood here was purged.") {
		t.Errorf("it asks %s", body)
	}
}

// What a failed attempt took counts, where the provider counted it, and no attempt begins behind a limit. The outcome is what
// the recorded answers add up to.
//
// covers: R-04 part
// covers: R-06 part
func TestBudgetBetweenAttempts(t *testing.T) {
	counted := func(n int) func(http.ResponseWriter, *http.Request) {
		return stream(begun, fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":%d}}", n),
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}")
	}
	for name, x := range map[string]struct {
		limits   ambit.Bounds
		requests int
		says     string
	}{
		"no limit":                  {ambit.Bounds{}, 4, ""},
		"output":                    {ambit.Bounds{Output: 150}, 2, "limit of 150 tokens of output; before that the provider answered: overloaded"},
		"more output":               {ambit.Bounds{Output: 250}, 3, "limit of 250 tokens of output"},
		"money":                     {ambit.Bounds{USD: 0.0020}, 2, "limit of $0.0020"},
		"time, as the clock has it": {ambit.Bounds{Time: 30 * time.Second}, 2, "limit of 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			list := answers{counted(100), counted(100), counted(100)}
			d := newDesk(t, provider.TypeMessages, &list)
			d.setup.Model.Name, d.setup.Limits = "claude-sonnet-5", x.limits
			if x.limits.Time > 0 {
				d.setup.Watch = func(e ambit.Event) {
					if e.Kind == ambit.EventRetry {
						d.at = d.at.Add(11 * time.Second)
					}
				}
			}
			s := d.begin("Go.")
			out, err := s.Run(t.Context())
			if x.says == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), x.says) {
				t.Errorf("%+v, %v", out, err)
			}
			if _, is := errors.AsType[*ambit.LimitError](err); is != (x.says != "") {
				t.Errorf("%v", err)
			}
			if len(d.asked) != x.requests {
				t.Errorf("%d requests", len(d.asked))
			}
			output, ended := 0, entry.Ending("")
			for _, f := range d.facts(s.ID()) {
				switch f := f.(type) {
				case *entry.Response:
					if f.Usage != nil {
						output += int(f.Usage.Output)
					}
				case *entry.Idle:
					ended = f.Ended
				}
			}
			if out.Output != output || output < 100*min(x.requests, 3) || out.USD <= 0 {
				t.Errorf("%+v, and the answers have %d tokens", out, output)
			}
			if want := map[bool]entry.Ending{true: entry.EndingLimit, false: entry.EndingDone}[x.says != ""]; ended != want {
				t.Errorf("it ended %q", ended)
			}
			d.setup.Limits, list = ambit.Bounds{}, nil
			if err := s.Switch(t.Context(), d.setup); err != nil {
				t.Fatal(err)
			}
			d.run(s)
		})
	}
}
