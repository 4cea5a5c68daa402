package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing/synctest"

	"ambit/entry"
	"ambit/internal/selection"
	"ambit/journal"
)

// ledger is what is in a session's journal.
type ledger struct {
	id    string
	seq   entry.Seq // of the newest entry
	sum   string
	saved []byte // a pool, as it was the last time that everything was rebuilt

	all   []*noted // its requests
	edits int
	pins  []string // what is pinned
}

// noted is a request that is in the journal.
type noted struct {
	at       *ledger
	n        int
	p        *passing
	parent   *noted
	children []*noted
	how      entry.Relating
	thread   string
	failed   bool // it has no whole answer; may change when its response comes
}

// request is one to the proxy itself.
func request(target, body string) *http.Request {
	u, err := url.Parse("http://127.0.0.1:7788" + target)
	if err != nil {
		panic(err) // it is one of ours
	}
	return &http.Request{
		Method: http.MethodPost, URL: u, RequestURI: target, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header("content-type", "application/json"), Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// settleDown waits until the proxy has written what it does beside.
func (w *outside) settleDown() { synctest.Wait() }

// newest is the session that something was recorded in last; nil for none.
func (w *outside) newest() (best *ledger) {
	for _, l := range w.ledgers {
		if best == nil || l.id > best.id {
			best = l
		}
	}
	return best
}

// tail takes in the entries that were acknowledged since.
func (w *outside) tail() {
	if w.breach != nil || !w.written || w.blown && w.lasting {
		return // of a disk that is dead nothing is acknowledged
	}
	w.written = false
	was := w.peeking
	w.peeking = true
	defer func() { w.peeking = was }()
	ctx := context.Background()
	ids, err := w.store.Sessions(ctx)
	if err != nil {
		w.fail(Crash, "the sessions cannot be listed: %v", err)
		return
	}
	slices.Sort(ids)
	for _, id := range ids {
		l := w.ledgers[id]
		if l == nil {
			l = &ledger{id: id}
		}
		for f, err := range w.store.Read(ctx, id, l.seq) {
			if errors.Is(err, journal.ErrNoSession) {
				break // it is being begun
			}
			if err != nil {
				w.fail(Crash, "the journal cannot be read: %v", err)
				return
			}
			w.ledgers[id] = l
			l.seq, l.sum = f.Seq, f.Sum
			w.r.Kinds[f.Fact.Kind()]++
			w.holds(Record, !bytes.Contains(f.Line, []byte(credential)), "entry %d has the agent's credential: %s", f.Seq, f.Line)
			if w.take(l, f); w.breach != nil {
				return
			}
		}
	}
}

// edits reports whether an edit is in the journal, looked at now, whatever the disk does.
func (w *outside) edits() bool {
	was := w.peeking
	w.peeking = true
	defer func() { w.peeking = was }()
	ids, err := w.store.Sessions(context.Background())
	if err != nil {
		w.fail(Crash, "the sessions cannot be listed: %v", err)
	}
	for _, id := range ids {
		after := entry.Seq(0)
		if l := w.ledgers[id]; l != nil {
			if after = l.seq; l.edits > 0 {
				return true
			}
		}
		for f, err := range w.store.Read(context.Background(), id, after) {
			if _, is := f.Fact.(*entry.Edit); is && err == nil {
				return true
			}
		}
	}
	return false
}

// read reads what an entry says; nil for none.
func (w *outside) read(l *ledger, b *entry.Body) []byte {
	if b == nil {
		return nil
	}
	body, err := w.store.Body(context.Background(), l.id, *b)
	if err != nil {
		w.fail(Crash, "a body of %s cannot be read: %v", l.id, err)
	}
	return body
}

// take takes in an entry, and fails where it is not what must be there.
func (w *outside) take(l *ledger, f journal.Frame) {
	switch fact := f.Fact.(type) {
	case *entry.Session:
		w.holds(Record, f.Seq == 1 && fact.ID == l.id, "entry %d of %s begins session %s", f.Seq, l.id, fact.ID)
	case *entry.Request:
		w.isRequest(l, fact)
	case *entry.Relation:
		w.isRelation(l, fact)
	case *entry.Sent:
		w.isSent(l, fact)
	case *entry.Response:
		w.isResponse(l, fact)
	case *entry.Edit:
		l.edits++
	case *entry.Pin:
		text := string(w.read(l, fact.Body))
		_, asked := w.asked[text]
		w.holds(Record, asked, "entry %d pins %q, and nobody asked for that", f.Seq, text)
		l.pins = append(l.pins, text)
	case *entry.Gap:
		w.r.Events["exchanges that are said to be missing"] += fact.Exchanges
		w.holds(Missed, w.failures > 0 && fact.Exchanges > 0 && fact.Cause != "", "entry %d says that %d exchanges are missing", f.Seq, fact.Exchanges)
	case *entry.Unit, *entry.Decision, *entry.Note:
	default:
		w.fail(Record, "entry %d of %s is a %s", f.Seq, l.id, fact.Kind())
	}
}

// isRequest finds whose request is recorded.
func (w *outside) isRequest(l *ledger, f *entry.Request) {
	body := w.read(l, f.Body)
	w.holds(Record, f.N == len(l.all)+1, "request %d of %s has the number %d", len(l.all)+1, l.id, f.N)
	if f.N == 1 { // the session before could not be taken up
		w.split = w.split || len(w.ledgers) > 1 && w.shaken()
	}
	list := w.doubtful
	if w.way != nil {
		list = append([]*passing{w.way}, list...)
	}
	i := slices.IndexFunc(list, func(p *passing) bool {
		return p.at == nil && bytes.Equal(p.body, body) && p.path == f.Path && w.typed(p, f.Type)
	})
	if !w.holds(Record, i >= 0 && !f.Partial && f.Provider == w.tongue.route, "request %d of %s, %s %s, is none that the agent has sent:\n%s", f.N, l.id, f.Type, f.Path, body) {
		return
	}
	p := list[i]
	p.at, p.n = l, f.N
	l.all = append(l.all, &noted{at: l, n: f.N, p: p, failed: true})
}

// of is a request that is recorded; nil for none.
func (l *ledger) of(n int) *noted {
	if n < 1 || n > len(l.all) {
		return nil
	}
	return l.all[n-1]
}

// isRelation looks whether a request is said to belong where it does.
func (w *outside) isRelation(l *ledger, f *entry.Relation) {
	x := l.of(f.N)
	if !w.holds(Parent, x != nil && x.how == "", "request %d of %s has a relation", f.N, l.id) {
		return
	}
	is := l.of(f.Parent)
	x.how, x.thread = f.How, f.Thread
	w.note("request %d: %s of %d in %s, by %q", f.N, f.How, f.Parent, f.Thread, f.Evidence)
	switch x.p.kind {
	case "count":
		w.holds(Parent, f.How == entry.Count, "request %d of %s asks how long it would be, and is said to be %s", f.N, l.id, f.How)
		return
	case "side":
		w.holds(Parent, f.How == entry.Side && f.Parent == 0 && w.begins(l, x), "request %d of %s is aside, and is said to be %s of %d in %s", f.N, l.id, f.How, f.Parent, f.Thread)
		return
	}
	best := w.parents(x)
	if len(best) > 0 && !slices.ContainsFunc(best, func(b *noted) bool { return b.at == l }) {
		w.split = w.split || w.shaken()
	}
	if w.split {
		w.r.Events["requests that a disk's failure keeps from their parents"]++
		if x.parent = is; is != nil {
			is.children = append(is.children, x)
		}
		return
	}
	hows := w.relates(x, is, best)
	ok := slices.Contains(hows, f.How)
	if is != nil {
		ok = ok && f.Thread == is.thread && (slices.Contains(best, is) || f.How != entry.Extends && f.How != entry.Rewind)
		x.parent = is
		is.children = append(is.children, x)
	} else {
		ok = ok && (f.How == entry.Root || f.How == entry.Agent) && w.begins(l, x)
	}
	if f.How == entry.Agent {
		ok = ok && w.owned(l, x.p.talk, f)
	}
	var may []string
	for _, b := range best {
		may = append(may, itoa(b.n)+" of "+b.at.id)
	}
	w.holds(Parent, ok, "request %d of %s (%s, %d messages) is said to be %s of %d in %s, owner %d, call %q, by %s, and is %v of %v", f.N, l.id, x.p.talk.name, len(x.p.said), f.How, f.Parent, f.Thread, f.Owner, f.Call, f.Evidence, hows, may)
	w.r.Events["relations: "+string(f.How)]++
}

// owned reports whether a sub-agent's first request is said to be called for by the call that did.
func (w *outside) owned(l *ledger, t *talk, f *entry.Relation) bool {
	if t.owner == nil {
		return false
	}
	if f.Owner == 0 {
		return !w.sure(l, t)
	}
	return f.Call == t.call && bytes.Contains(l.of(f.Owner).p.plain, []byte(t.call))
}

// sure reports whether the call for a sub-agent is known: its answer is recorded, and no other request has to do with a call of
// that id. A model that is asked again for an answer which it has given makes the same call again; that may then be taken for the old one,
// or for none.
func (w *outside) sure(l *ledger, t *talk) bool {
	for _, other := range w.ledgers {
		for _, y := range other.all {
			if y.p != t.owner && y.p.kind == "turn" && (bytes.Contains(y.p.plain, []byte(t.call)) || bytes.Contains(y.p.body, []byte(t.call))) {
				return false
			}
		}
	}
	last := t.owner.ways[len(t.owner.ways)-1].fault // of another one it may not be clear that it came whole
	return t.owner.at == l && t.owner.response && (last == None || last == Slow)
}

// shaken reports whether the disk has failed since the proxy was started: what it could not read then it does without.
func (w *outside) shaken() bool { return w.failures != w.calm }

// begins reports whether a request is the first of its thread.
func (w *outside) begins(l *ledger, x *noted) bool {
	for _, other := range l.all {
		if other != x && other.thread == x.thread && other.how != entry.Count {
			return false
		}
	}
	return x.thread != ""
}

// parents are the requests that one may follow: those with the longest messages that it begins with.
func (w *outside) parents(x *noted) (best []*noted) {
	most := 0
	for _, l := range w.ledgers {
		for _, y := range l.all {
			if y == x || y.p.kind != "turn" || len(y.p.said) < most || len(y.p.said) > len(x.p.said) || !slices.Equal(y.p.said, x.p.said[:len(y.p.said)]) {
				continue
			}
			if len(y.p.said) > most {
				most, best = len(y.p.said), nil
			}
			best = append(best, y)
		}
	}
	return best
}

// relates says how a request may stand to the one that it follows, or what it may be where it follows none.
func (w *outside) relates(x, is *noted, best []*noted) []entry.Relating {
	if is == nil {
		first := entry.Root
		if x.p.talk.sub {
			first = entry.Agent
		}
		switch {
		case slices.ContainsFunc(best, func(b *noted) bool { return len(b.p.said) < len(x.p.said) || b.eldest().parent != nil }):
			return nil
		case x.p.talk.sub && !w.sure(x.at, x.p.talk): // the call is not known
			return []entry.Relating{entry.Root, entry.Agent}
		}
		return []entry.Relating{first}
	}
	if is.p.talk.name == x.p.talk.name && (w.holes[x.p.talk.name] || w.changed[x.p.talk.name] || w.shaken()) && !slices.Contains(best, is) {
		return []entry.Relating{entry.Again, entry.ClientEdit, entry.ClientCompaction} // by a call that is known only of a later request
	}
	gone, grown := false, false // something goes on from there, and something from that
	for _, c := range is.onto() {
		gone, grown = true, grown || len(c.onto()) > 0
	}
	switch {
	case len(is.p.said) == len(x.p.said) && gone:
		return []entry.Relating{entry.Rewind, entry.Again}
	case len(is.p.said) == len(x.p.said):
		return []entry.Relating{entry.Again}
	case grown:
		return []entry.Relating{entry.Rewind}
	case gone:
		return []entry.Relating{entry.Again}
	}
	return []entry.Relating{entry.Extends}
}

// eldest is the request that one repeats in the end.
func (x *noted) eldest() *noted {
	for x.parent != nil && len(x.parent.p.said) == len(x.p.said) {
		x = x.parent
	}
	return x
}

// onto are the requests that go on from one, or from one that repeats it or that it repeats.
func (x *noted) onto() (list []*noted) {
	x = x.eldest()
	twins := []*noted{x}
	for i := 0; i < len(twins); i++ {
		for _, c := range twins[i].children {
			switch {
			case c.how == entry.Agent:
			case len(c.p.said) == len(x.p.said):
				twins = append(twins, c)
			default:
				list = append(list, c)
			}
		}
	}
	return list
}

// isSent looks whether what is said to have been sent was.
func (w *outside) isSent(l *ledger, f *entry.Sent) {
	x := l.of(f.N)
	if !w.holds(Record, x != nil && (f.Attempt == x.p.sent+1 || f.Attempt > x.p.sent && w.failures > 0), "attempt %d of request %d of %s is said to have been sent", f.Attempt, f.N, l.id) {
		return
	}
	p := x.p
	p.sent = f.Attempt
	body := w.read(l, f.Body)
	if f.Body == nil {
		body = p.body
	}
	if f.Attempt > len(p.ways) { // it is written while it goes, and has not arrived
		p.due = body
	} else if got := p.ways[f.Attempt-1].body; got != nil {
		w.holds(Record, bytes.Equal(body, got), "attempt %d of request %d of %s is recorded as\n%s\nand was\n%s", f.Attempt, f.N, l.id, body, got)
	}
	w.pinned(l, p, f, body)
}

// pinned looks whether the pins are where they must be.
func (w *outside) pinned(l *ledger, p *passing, f *entry.Sent, body []byte) {
	if len(l.pins) == 0 || p.kind != "turn" {
		return
	}
	got, _, err := read(w.tongue.wire, body)
	if err != nil {
		w.fail(Pins, "what was sent cannot be read: %v", err)
		return
	}
	held := 0
	for _, text := range l.pins {
		if slices.ContainsFunc(got, func(a atom) bool { return strings.Contains(a.text, text) }) {
			held++
		}
	}
	w.holds(Pins, len(f.Held) == held && held+len(f.Missing) == len(l.pins), "request %d of %s holds %d of %d pins, and is said to hold %v and to miss %v", f.N, l.id, held, len(l.pins), f.Held, f.Missing)
	if w.policy != selection.Record && f.Why == "" && !p.talk.sub {
		w.holds(Pins, len(f.Missing) == 0, "request %d of %s is edited, and misses %v", f.N, l.id, f.Missing)
	}
}

// isResponse takes in what is recorded of an answer.
func (w *outside) isResponse(l *ledger, f *entry.Response) {
	x := l.of(f.N)
	if !w.holds(Record, x != nil && !x.p.response, "request %d of %s has a response", f.N, l.id) {
		return
	}
	p := x.p
	p.response = true
	body := w.read(l, f.Body)
	last := p.ways[len(p.ways)-1]
	if last.answer == nil {
		w.holds(Record, f.Status == 0 && f.Body == nil && (f.End == entry.EndNone && f.Error != "" || p.front.left), "request %d of %s was not answered, and is said to be with %d, %s %s", f.N, l.id, f.Status, f.End, f.Error)
		return
	}
	end := entry.EndComplete
	switch {
	case p.front.left:
		w.holds(Record, bytes.HasPrefix(last.flow.given, body) && bytes.HasPrefix(body, p.front.body.Bytes()), "request %d of %s was left while it was answered with %d bytes; the agent got %d of them, and %d are recorded", f.N, l.id, len(last.flow.given), p.front.body.Len(), len(body))
		return
	case last.flow.broke && last.flow.end == hangs, last.flow.broke && last.flow.ctx.Err() != nil && last.flow.end != breaks:
		end = entry.EndCanceled
	case last.flow.broke:
		end = entry.EndDropped
	}
	ok := f.End == end && f.Status == last.answer.status && bytes.Equal(body, last.flow.given)
	w.holds(Record, ok, "request %d of %s was answered with %d and %d bytes, %s; recorded are %d and %d bytes, %s %s", f.N, l.id, last.answer.status, len(last.flow.given), end, f.Status, len(body), f.End, f.Error)
	x.failed = f.End != entry.EndComplete || f.Status != http.StatusOK
}

// recorded looks whether an exchange that is over is in the journal.
func (w *outside) recorded(p *passing, failed bool) {
	if w.breach != nil {
		return
	}
	whole := p.at != nil && p.response
	for _, there := range []bool{p.at != nil, p.response} {
		if !there {
			w.lost++
			w.r.Events["halves of exchanges that are not recorded"]++
		}
	}
	switch {
	case whole:
		w.hurt = 0
		if w.policy != selection.Record && p.kind == "turn" && !failed {
			w.holds(Record, p.sent == len(p.ways), "%d attempts were sent, and %d are recorded", len(p.ways), p.sent)
		}
	case failed:
		w.hurt, w.holes[p.talk.name] = 1, true
		w.doubtful = append(w.doubtful, p)
	default:
		w.holes[p.talk.name] = true
		w.doubtful = append(w.doubtful, p)
		ok := w.hurt > 0 && w.hurt < 3
		w.holds(Record, ok, "an exchange is not recorded, and the disk did not fail: request %v, response %v, %d before it", p.at != nil, p.response, w.hurt)
		w.hurt++
	}
}
