package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/server"
)

// talk is a conversation that the agent keeps: its own, or one of a sub-agent's.
type talk struct {
	name     string
	said     []string // its messages
	ends     []int    // how many of them each request held that was answered
	last     []byte   // the newest request's body
	sub      bool
	owner    *passing // of a sub-agent's, the request whose answer called for it
	call     string   // and the id of that call
	results  []result // of its calls, where they stand
	provider *scripted.Provider
}

// allDone is the last answer of a conversation.
const allDone = "All of it is done."

// result are messages that give the results of an answer's calls.
type result struct {
	from, to int
	calls    []made
}

// begin begins a conversation, and its model's answers.
func (w *outside) begin() {
	w.talks++
	t := &talk{name: fmt.Sprintf("task-%d.", w.talks)}
	main := scripted.Conversation{Match: t.name}
	var subs []scripted.Conversation
	for i := range 20 + w.dice.IntN(w.want+20) {
		turn := w.turn(fmt.Sprintf("t%d", i))
		for j := range turn.Calls {
			if w.chance(60) {
				sub := fmt.Sprintf("sub-%d-%d-%d.", w.talks, i, j)
				turn.Calls[j].Name, turn.Calls[j].Args = "task", map[string]any{"prompt": w.text("Please look into " + sub)}
				c := scripted.Conversation{Match: sub}
				for k := range w.dice.IntN(4) {
					c.Turns = append(c.Turns, w.turn(fmt.Sprintf("%s%d", sub, k)))
				}
				subs = append(subs, scripted.Conversation{Match: sub, Turns: append(c.Turns, scripted.Turn{Text: w.text("Found")})})
			}
		}
		main.Turns = append(main.Turns, turn)
	}
	main.Turns = append(main.Turns, scripted.Turn{Text: allDone})
	side := scripted.Conversation{Match: "A title for this", Turns: []scripted.Turn{{Text: "A title"}}}
	script := scripted.Script{Conversations: append([]scripted.Conversation{side, main}, subs...)}
	t.provider = scripted.NewWith(script, scripted.Options{Strict: true, Window: w.window, Late: w.late})
	t.said = []string{w.tongue.says(w.text("Do " + t.name))}
	w.main = t
	w.note("a conversation begins: %s", t.name)
	w.r.Events["conversations"]++
}

// turn is one of the model's answers. Where a policy may leave out what is old, each makes a call, so that its place is known.
func (w *outside) turn(name string) scripted.Turn {
	t := scripted.Turn{}
	if w.chance(300) {
		t.Thought = w.text("Thought")
	}
	calls := 1 + w.dice.IntN(2)
	if !w.cuts && w.chance(250) {
		calls = 0
	}
	if calls == 0 || w.chance(700) {
		t.Text = w.text("Answer")
	}
	for c := range calls {
		t.Calls = append(t.Calls, scripted.Call{Name: "run", Args: map[string]any{"call": fmt.Sprintf("%sc%d", name, c), "path": w.text("p")}})
	}
	return t
}

// work is the agent's next step.
func (w *outside) work() {
	if w.main == nil {
		w.begin()
	}
	t := w.main
	w.between()
	switch n := w.dice.IntN(100); {
	case w.breach != nil:
		return
	case n < 6:
		w.aside(t)
	case n < 10 && w.tongue.counts() != "":
		w.counted(t)
	case n < 12:
		w.r.Events["other requests"]++
		w.pass(&passing{kind: "other", talk: t, path: "/v1/models"})
	}
	if w.chance(25) {
		w.clear(t)
	}
	p, ok := w.answer(t)
	switch {
	case w.breach != nil:
	case ok:
		w.goOn(t, p)
	case p == nil || p.over || w.chance(200): // it is too long, or there is nothing more to be had
		w.main = nil
	case w.chance(300):
		w.back(t)
	}
	if ok && w.main != nil && w.chance(40) {
		w.back(t)
	}
}

// back lets the agent go back to an earlier message, and say something else there.
func (w *outside) back(t *talk) {
	if len(t.ends) == 0 || w.breach != nil {
		return
	}
	to := w.dice.IntN(len(t.ends))
	if w.chance(500) {
		to = max(0, len(t.ends)-1-w.dice.IntN(3))
	}
	w.note("%s goes back to %d messages", t.name, t.ends[to])
	w.r.Events["rewinds"]++
	t.said = append(slices.Clone(t.said[:t.ends[to]]), w.tongue.says(w.text("Rather")))
	t.ends = t.ends[:to]
	t.results = slices.DeleteFunc(slices.Clone(t.results), func(r result) bool { return r.to > len(t.said)-1 })
}

// goOn takes the results of an answer's calls in, or lets the user say something where it makes none.
func (w *outside) goOn(t *talk, p *passing) {
	_, calls, text, err := w.tongue.answered(p.plain)
	if err != nil {
		w.fail(Strict, "the provider's answer cannot be read: %v\n%s", err, p.plain)
		return
	}
	if text == allDone {
		w.main = nil
		return
	}
	if len(calls) == 0 {
		t.said = append(t.said, w.tongue.says(w.text("Now")))
		return
	}
	var texts []string
	for _, c := range calls {
		if c.name == "task" {
			texts = append(texts, w.delegated(p, c))
			continue
		}
		texts = append(texts, w.result())
	}
	if w.breach == nil {
		from := len(t.said)
		t.said = append(t.said, w.tongue.results(calls, texts)...)
		t.results = append(t.results, result{from, len(t.said), calls})
	}
}

// clear lets the agent do what some do to save room: other text stands in place of old results from here on.
func (w *outside) clear(t *talk) {
	w.note("%s clears old results", t.name)
	t.said = slices.Clone(t.said)
	for i := range max(0, len(t.results)-2) {
		if r := t.results[i]; w.chance(500) {
			texts := make([]string, len(r.calls))
			for j := range texts {
				texts[j] = fmt.Sprintf("[Cleared %d.]", i)
			}
			copy(t.said[r.from:r.to], w.tongue.results(r.calls, texts))
			w.changed[t.name] = true
		}
	}
	w.r.Events["times that old results are cleared"]++
}

// result is what a tool gives. Where a policy may edit it is often long.
func (w *outside) result() string {
	n := w.dice.IntN(100)
	if w.cuts {
		n -= 12
	}
	lines := 1
	switch {
	case n < -8:
		lines = 500 + w.dice.IntN(300)
	case n < 8:
		lines = 40 + w.dice.IntN(120)
	case n < 20:
		lines = 10
	}
	var b strings.Builder
	b.WriteString(w.text("Result"))
	for i := range lines {
		fmt.Fprintf(&b, "\n%d: %s = f(%d)", i, []string{"first", "second", "zweite", "другая"}[i%4], i*w.spoken)
	}
	return b.String()
}

// delegated lets a sub-agent work for a call, and gives what it reports.
func (w *outside) delegated(p *passing, c made) string {
	if p.talk.sub {
		return "sub-agents ask nobody"
	}
	prompt := c.args["prompt"]
	t := &talk{name: prompt[:min(len(prompt), 30)], sub: true, owner: p, call: c.id, provider: p.talk.provider}
	t.said = []string{w.tongue.says(prompt)}
	w.r.Events["sub-agents"]++
	for range 6 {
		w.between()
		if w.breach != nil {
			return ""
		}
		q, ok := w.answer(t)
		if !ok {
			return "the agent failed"
		}
		_, calls, text, _ := w.tongue.answered(q.plain)
		if len(calls) == 0 {
			return text
		}
		w.goOn(t, q)
	}
	return "the agent took too long"
}

// answer asks for a conversation's next answer, again where that fails; false where none is to be had, with the last request.
func (w *outside) answer(t *talk) (p *passing, ok bool) {
	streamed := w.chance(700)
	for try := 0; w.breach == nil; try++ {
		body := w.tongue.request(t.said, true, w.thinks, streamed)
		p = &passing{kind: "turn", talk: t, said: slices.Clone(t.said), body: body, path: w.tongue.at(streamed), streamed: streamed}
		if t.sub {
			p.sub = strings.Fields(t.name)[3]
		}
		if p.again = string(t.last) == string(body); p.again {
			w.r.Events["requests that are sent again"]++
		} else {
			w.turns++
		}
		t.last = body
		w.pass(p)
		if w.breach != nil {
			return p, false
		}
		if p.taken {
			messages, _, _, err := w.tongue.answered(p.plain)
			if err != nil {
				w.fail(Strict, "the provider's answer cannot be read: %v\n%s", err, p.plain)
				return p, false
			}
			t.ends = append(t.ends, len(t.said))
			t.said = append(t.said, messages...)
			w.r.Events["answers"]++
			return p, true
		}
		if p.over && len(p.ways) > 0 && p.ways[len(p.ways)-1].fault != Overflow || try == 5 || w.chance(50) {
			return p, false
		}
		w.between()
	}
	return p, false
}

// aside asks for something beside a conversation.
func (w *outside) aside(t *talk) {
	said := []string{w.tongue.says("A title for this, " + w.text("please") + "\n\n" + t.name)}
	streamed := w.chance(500)
	w.r.Events["side requests"]++
	w.pass(&passing{kind: "side", talk: t, said: said, body: w.tongue.request(said, false, false, streamed), path: w.tongue.at(streamed), streamed: streamed})
}

// counted asks how long a conversation would be.
func (w *outside) counted(t *talk) {
	w.r.Events["counts"]++
	w.pass(&passing{kind: "count", talk: t, said: t.said, body: w.tongue.request(t.said, true, w.thinks, false), path: w.tongue.counts()})
}

// ask lets a person ask something of a session: a pin, a note, or a checkpoint.
func (w *outside) ask() {
	w.tail()
	l := w.newest()
	if l == nil || w.blown {
		return
	}
	act, text := server.ActNote, w.text("Note")
	switch w.dice.IntN(5) {
	case 0, 1:
		if len(l.pins) > 2 {
			return
		}
		act, text = server.ActPin, w.text("Keep \"this\",\nund das:")
		text = text[:min(len(text), 60)]
		text = strings.ToValidUTF8(text, "")
	case 2:
		if !w.cuts {
			return
		}
		act, text = server.ActCompact, ""
	}
	f := &front{header: http.Header{}, most: -1}
	target := server.ActPath(l.id, act)
	failures := w.failures
	w.fence()
	w.server.ServeHTTP(f, request(target, `{"text":`+quoted(text)+`}`))
	w.settleDown()
	w.note("%s: %d %s", act, f.status, f.body.String())
	if f.status == http.StatusOK {
		w.r.Events["acts: "+act]++
	}
	if act == server.ActPin {
		w.asked[text] = f.status == http.StatusOK
	}
	w.tail()
	ok := f.status == http.StatusOK || act == server.ActCompact || w.failures != failures || w.hurt > 0
	w.holds(Record, ok, "%s is answered with %d: %s", act, f.status, f.body.String())
	if w.asked[text] && !w.blown {
		w.holds(Record, slices.Contains(l.pins, text), "the pin %q was taken, and is not in the journal", text)
	}
}

// typed reports whether a request is said to be of the type that it is.
func (w *outside) typed(p *passing, is string) bool {
	switch p.kind {
	case "count":
		return is == provider.TypeCountTokens
	case "other":
		return is != w.tongue.wire
	}
	return is == w.tongue.wire
}
