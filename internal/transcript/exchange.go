package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/provider/openai"
)

// exchanges reads a log of raw requests: of claude-trace and its like, where a line has the request as it passed and the
// response; of SWE-agent, where each has a line; and of the OpenHands SDK, where a line is the request with the response
// in it. How the requests hang together is found from what they say, as it is for those that pass through the proxy.
type exchanges struct {
	*building
	index   *thread.Index
	at      []int // the node of each request, thread.None for one that is in no conversation
	turns   []*logged
	known   map[known]bool
	first   map[int][]known  // by the number of the request that was the first to say it
	said    map[string][]int // by thread, the numbers of those that said something first
	spoken  map[int]*reading.Spoken
	threads int
}

// known is a message that is a unit, or repeats an answer, in a thread.
type known struct {
	thread string
	hash   provider.Hash
}

// logged is one exchange of a log.
type logged struct {
	line         int
	offset       int64 // of the record
	record       provider.JSON
	family       provider.Protocol
	name         string // of the family
	method, path string
	at, ended    time.Time
	body, answer provider.JSON
	status       int64
	contentType  string

	q        provider.Request
	elements provider.Elements
	response *entry.Response
	messages map[int]provider.Message
}

// exchangeFormat tells the format of a log by a request's body and address.
func exchangeFormat(body provider.JSON, url string) string {
	f := body.Find("messages", "input", "contents")
	switch {
	case strings.Contains(url, "/messages"):
		return Anthropic
	case f[0] != nil || f[1] != nil || strings.Contains(url, "/chat/completions") || strings.Contains(url, "/responses"):
		return OpenAI
	}
	return ""
}

func readExchanges(b *building) {
	x := &exchanges{building: b, index: thread.New(), known: make(map[known]bool), first: make(map[int][]known), said: make(map[string][]int), spoken: make(map[int]*reading.Spoken)}
	x.index.Elements = func(node int) []thread.Hash { return reading.Hashes(x.of(node).elements.Messages) }
	x.index.Request = func(node int) (thread.Request, bool) { return x.request(x.of(node)), true }
	for r := range b.records() {
		if b.ID == "" { // a log has none: so it is known by how it begins
			sum := sha256.Sum256(r.JSON)
			b.ID = hex.EncodeToString(sum[:8])
		}
		x.record(r)
	}
	for _, l := range x.turns {
		if l.response.End != entry.EndNone {
			b.Turns++
		}
	}
}

// of is the exchange of a node.
func (x *exchanges) of(node int) *logged { return x.turns[x.index.Node(node).N-1] }

func (x *exchanges) record(r record) {
	f := r.Find("request", "response", "messages", "request_params", "type", "timestamp", "kwargs")
	l := &logged{line: r.line, offset: r.offset, record: r.JSON, method: "POST", messages: make(map[int]provider.Message)}
	switch {
	case f[0].Find("body")[0].Kind() == '{':
		l.traced(f[0], f[1])
	case f[3].Kind() == '{':
		l.chat(f[3], nil)
		l.at = timeOf(f[5])
	case f[4].Text() == "response" && f[1] != nil:
		x.answers(r, f[1], timeOf(f[5]))
		return
	case f[2].Kind() == '[':
		l.chat(r.JSON, f[1])
		l.at = timeOf(f[5])
	default:
		x.unknown(r, f[4].Text())
		return
	}
	if l.family == nil {
		x.unknown(r, "request of an unknown kind")
		return
	}
	x.ask(l)
	if l.answer != nil {
		x.answered(len(x.turns)-1, l.line, l.offset, r.JSON)
	}
}

// traced reads a request and its response as claude-trace writes them.
func (l *logged) traced(request, response provider.JSON) {
	f := request.Find("url", "method", "body", "timestamp")
	if method := short(f[1]); method != "" {
		l.method = method
	}
	l.body, l.at = f[2], timeOf(f[3])
	_, rest, _ := strings.Cut(f[0].Text(), "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		if l.path, _, _ = strings.Cut(rest[i:], "?"); len(l.path) > maxShort {
			l.path = ""
		}
	}
	switch exchangeFormat(l.body, f[0].Text()) {
	case Anthropic:
		l.family, l.name = anthropic.Protocol{}, "anthropic"
	case OpenAI:
		l.family, l.name = openai.Protocol{}, "openai"
		l.path = chatPath(l.body, l.path)
	}
	g := response.Find("status_code", "status", "headers", "body_raw", "body", "timestamp")
	if l.status, _ = g[0].Count(); l.status == 0 {
		l.status, _ = g[1].Count()
	}
	for name, value := range g[2].Members() {
		if strings.EqualFold(name, "content-type") {
			l.contentType = short(value)
		}
	}
	if l.answer = g[3]; l.answer.Kind() != '"' {
		l.answer = g[4]
	}
	l.ended = timeOf(g[5])
}

// chat reads a request whose body is a value, with its response.
func (l *logged) chat(body, response provider.JSON) {
	l.family, l.name, l.body = openai.Protocol{}, "openai", body
	l.path = chatPath(body, "")
	if response.Kind() == '{' {
		l.answer, l.status, l.contentType = response, 200, "application/json"
	}
}

// chatPath is the path of a request whose log has none, or one of a server with paths of its own.
func chatPath(body provider.JSON, path string) string {
	if (openai.Protocol{}).Request("POST", path, nil).Type != "" {
		return path
	}
	if body.Find("input")[0] != nil {
		return "/v1/responses"
	}
	return "/v1/chat/completions"
}

// place is where a value stands that is a part of a record.
func place(line int, offset int64, record, v provider.JSON) *entry.Place {
	i := bytes.Index(record, v)
	if len(v) == 0 || i < 0 {
		return &entry.Place{Line: line}
	}
	return &entry.Place{Line: line, Offset: offset + int64(i), Length: int64(len(v))}
}

// request is what the rules of threads read of an exchange.
func (x *exchanges) request(l *logged) thread.Request {
	return thread.Request{
		At: l.at, Key: l.q.Type, Tools: len(l.elements.Tools)+len(l.elements.Deferred) > 0, Previous: l.elements.Previous,
		Elements: reading.Hashes(l.elements.Messages), Read: func(i int) thread.Message { return reading.Message(l.message(i)) },
	}
}

func (l *logged) message(i int) provider.Message {
	m, ok := l.messages[i]
	if !ok {
		el := l.elements.Messages[i]
		m = l.family.Message(l.q, l.body[el.Offset:el.Offset+el.Length], el.At)
		l.messages[i] = m
	}
	return m
}

// ask takes a request in: where it belongs, and its messages that are new.
func (x *exchanges) ask(l *logged) {
	n := len(x.turns) + 1
	if n > 1 && x.at[n-2] != thread.None && x.turns[n-2].answer == nil {
		x.index.Failed(x.at[n-2]) // the log goes on without its answer
	}
	x.turns, x.at = append(x.turns, l), append(x.at, thread.None)
	x.building.at(l.at)
	l.q = l.family.Request(l.method, l.path, l.body)
	elements, err := l.family.Elements(l.q, l.body)
	where := place(l.line, l.offset, l.record, l.body)
	x.Facts = append(x.Facts, &entry.Request{
		N: n, Provider: l.name, Type: l.q.Type, Method: l.method, Path: l.path, Model: l.q.Model, Arrived: l.at, Recorded: where,
	})
	l.response = &entry.Response{N: n, End: entry.EndNone, Error: noAnswer, Recorded: &entry.Place{}}
	if err != nil || l.q.Type == "" || len(elements.Messages) == 0 {
		x.Facts = append(x.Facts, l.response)
		if err != nil || l.body.HoldsText() {
			x.unread(l.line, where.Offset, where.Length)
		}
		return
	}
	l.elements = elements
	q := x.request(l)
	p := x.index.Place(q)
	f := &entry.Relation{
		N: n, How: entry.Relating(p.Relation), Evidence: string(p.Evidence), Call: p.Call, Key: q.Key, Messages: len(q.Elements), Tools: q.Tools,
		Parent: x.number(p.Parent), Owner: x.number(p.Owner), About: x.number(p.About),
	}
	x.Facts = append(x.Facts, f)
	if l.q.Type == provider.TypeCountTokens {
		f.How, f.Call, f.Owner, f.About = entry.Count, "", 0, 0
		x.Facts = append(x.Facts, l.response)
		return
	}
	if f.Thread = pool.ThreadName(x.threads + 1); p.Parent != thread.None {
		f.Thread = x.index.Node(p.Parent).Thread
	} else {
		x.threads++
	}
	at := x.index.Add(q, p, thread.Node{N: n, Thread: f.Thread})
	x.at[n-1] = at
	f.Chain = hex.EncodeToString(chainOf(x.index, at))
	f.Messages = x.index.Node(at).Length
	if p.Relation == thread.Rewind {
		x.forgetBeside(f.Thread, p.Parent)
	}
	for i, el := range l.elements.Messages {
		k := known{f.Thread, el.Hash}
		if x.known[k] {
			continue
		}
		x.known[k] = true
		x.first[n] = append(x.first[n], k)
		if m := l.message(i); !x.repeats(m, p.Parent, q.Key) {
			u := &entry.Unit{
				N: n, Of: entry.PartMessage, Thread: f.Thread, At: el.At, Offset: where.Offset + int64(el.Offset), Length: int64(el.Length),
				Element: hex.EncodeToString(el.Hash[:]), Line: l.line,
			}
			x.Facts = append(x.Facts, reading.Units(u, m)...)
			if x.Title == nil && m.Role == "user" && len(m.Texts) > 0 && q.Tools {
				x.title(record{l.record, l.line, l.offset}, claudeTitle(l.body[el.Offset:el.Offset+el.Length]))
			}
		}
	}
	if len(x.first[n]) > 0 {
		x.said[f.Thread] = append(x.said[f.Thread], n)
	}
	x.Facts = append(x.Facts, l.response)
}

func chainOf(index *thread.Index, at int) []byte {
	c := index.Node(at).Chain
	return c[:]
}

func (x *exchanges) number(node int) int {
	if node == thread.None {
		return 0
	}
	return x.index.Node(node).N
}

// forgetBeside forgets what was said beside the way that a rewind goes on from, so that it is new when it is said again.
func (x *exchanges) forgetBeside(name string, parent int) {
	way := make(map[int]bool)
	for _, node := range x.index.Above(parent) {
		way[x.number(node)] = true
	}
	var kept []int
	for _, n := range x.said[name] {
		if way[n] {
			kept = append(kept, n)
			continue
		}
		for _, k := range x.first[n] {
			delete(x.known, k)
		}
		delete(x.first, n)
	}
	x.said[name] = kept
}

// repeats reports whether a message is an answer of the log, sent back.
func (x *exchanges) repeats(m provider.Message, parent int, key string) bool {
	if !reading.MayRepeat(m) {
		return false
	}
	from := parent
	for _, call := range m.Calls {
		if at := x.index.Origin(key, reading.ID(call.ID), parent); at != thread.None {
			from = at
		}
	}
	said := x.spoken[from]
	return said != nil && said.Holds(m)
}

// answers takes in a response that has a line of its own: of the newest request.
func (x *exchanges) answers(r record, response provider.JSON, at time.Time) {
	i := len(x.turns) - 1
	if i < 0 || x.turns[i].answer != nil {
		x.warn(r.line, "a response without its request")
		x.unread(r.line, r.offset, int64(len(r.JSON)))
		return
	}
	l := x.turns[i]
	l.answer, l.status, l.contentType, l.ended = response, 200, "application/json", at
	x.answered(i, r.line, r.offset, r.JSON)
}

// answered takes in a response.
func (x *exchanges) answered(i, line int, offset int64, record provider.JSON) {
	l := x.turns[i]
	body := []byte(l.answer)
	if l.answer.Kind() == '"' {
		body = []byte(l.answer.Text())
	}
	got := l.family.Response(l.q, l.contentType, body)
	f := l.response
	f.Status, f.Model, f.Usage, f.End, f.Error = int(l.status), got.Model, got.Usage, entry.EndComplete, ""
	if l.contentType != "" {
		f.Headers = map[string]string{"content-type": l.contentType}
	}
	if !l.at.IsZero() && l.ended.After(l.at) {
		f.DurationMS = l.ended.Sub(l.at).Milliseconds()
	}
	f.Recorded = place(line, offset, record, l.answer)
	name := ""
	if at := x.at[i]; at != thread.None {
		name = x.index.Node(at).Thread
		if l.status == 200 {
			x.index.Answered(at, reading.Answer(got.Answer))
			x.spoken[at] = reading.SpokenOf(got.Answer)
		} else {
			x.index.Failed(at)
		}
	}
	a := got.Answer
	if len(a.Texts()) == 0 && len(a.Calls) == 0 && !a.Unknown {
		if a.ID != "" || a.Whole || l.status != 200 || name == "" || len(body) < len(`{"a":1}`) {
			return
		}
		a.Unknown = true // it says something, and what is not known
	}
	u := &entry.Unit{N: i + 1, Of: entry.PartAnswer, Thread: name, Role: "assistant", Name: reading.ID(a.ID), Whole: a.Whole, Unknown: a.Unknown, Line: line}
	for _, text := range a.Texts() {
		u.Length += int64(len(text.Text))
	}
	x.Facts = append(x.Facts, reading.WithIDs(u, reading.Calls(a.Calls), nil)...)
}
