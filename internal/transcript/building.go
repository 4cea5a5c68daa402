package transcript

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/provider"
)

// building makes the facts of a recording, in the order in which the recording tells them.
type building struct {
	Recording
	data    []byte
	threads map[string]*talk // by the client's own name of each
	begun   int              // threads that have begun
	turns   []*turn
	named   map[string]*turn // by the id of the answer
	made    map[string]*turn // by whose answer each call was made
	held    map[string]bool  // calls whose results a message holds

	latest         time.Time // that the recording says
	provider, kind string    // of the next request, as far as it is known before its answer
	effort         string    // and how hard the model is to think

	strange map[string]int // records of types that are not known, with the first line of each
	counted map[string]int // and how many
	order   []string       // of these types
}

// talk is one thread while it is read.
type talk struct {
	name  string // in entries; empty until it begins
	agent bool   // it is a sub-agent's
	call  string // of a sub-agent's: the call that it works for
	last  *turn  // the newest turn of what is gone on from
	next  *turn  // the request that is the first to hold what was said since; nil when nothing was

	how    entry.Relating // what the next request is; empty when it extends
	pruned []string       // calls whose results the next request no longer holds
	anew   bool           // the client was started anew before the next request
}

// turn is one request of the agent, and what was answered.
type turn struct {
	talk     *talk
	request  *entry.Request
	relation *entry.Relation
	response *entry.Response
	before   *turn // that it goes on from; nil for the first of a thread
	asked    []asked
	messages int      // that it held
	said     int      // units of its answer
	anew     bool     // the client was started anew before it
	heardMS  int64    // from its beginning until all was said that it holds
	calls    []string // that its answer makes
}

// asked is a message that a request is the first to hold.
type asked struct {
	unit   *entry.Unit
	more   []entry.Fact // units for ids that the unit has no room for
	prompt bool         // the person said it, so that who goes on beside it has left it behind
}

// spot is a place in a conversation: behind the answer of a turn, or behind so many messages of its request.
type spot struct {
	turn  *turn
	asked int // answered, or how many messages
}

const answered = -1

func newBuilding(format string, data []byte) *building {
	return &building{
		Recording: Recording{Format: format, Client: clients[format], Agents: make(map[string]string)}, data: data,
		threads: make(map[string]*talk), named: make(map[string]*turn), made: make(map[string]*turn), held: make(map[string]bool),
		strange: make(map[string]int), counted: make(map[string]int),
	}
}

var clients = map[string]string{
	ClaudeCode: "claude-code", Codex: "codex", OpenCode: "opencode", Pi: "pi", GeminiCLI: "gemini-cli", GeminiLine: "gemini-cli", Qwen: "qwen-code", CopilotCLI: "copilot-cli", Roo: "roo-cline",
	Aider: "aider", SWEAgent: "swe-agent", MiniSWE: "mini-swe-agent", OpenHands: "openhands",
}

func (b *building) warn(line int, text string) {
	if len(b.Warnings) < maxWarnings {
		b.Warnings = append(b.Warnings, Warning{line, text})
	} else if len(b.Warnings) == maxWarnings {
		b.Warnings = append(b.Warnings, Warning{line, "and more that cannot be read, from here on"})
	}
}

// unread stages a part of the recording that may hold text and cannot be read. Of what stands together it is one.
func (b *building) unread(line int, offset, length int64) {
	if last := len(b.Facts) - 1; last >= 0 {
		u, ok := b.Facts[last].(*entry.Unit)
		if ok && u.N == 0 && len(bytes.TrimSpace(b.data[u.Offset+u.Length:offset])) == 0 {
			u.Length = offset + length - u.Offset
			return
		}
	}
	b.Facts = append(b.Facts, &entry.Unit{Of: entry.PartRecord, Line: line, Offset: offset, Length: length, Unknown: true})
}

// untyped reports a record that does not say what it is. It may hold text.
func (b *building) untyped(r record) {
	b.warn(r.line, "not a record: it has no type")
	if r.HoldsText() {
		b.unread(r.line, r.offset, int64(len(r.JSON)))
	}
}

// unknown notes a record of a type that is not known. Formats grow; what this one says is not searched.
func (b *building) unknown(r record, kind string) {
	if b.counted[kind]++; b.counted[kind] == 1 {
		b.strange[kind], b.order = r.line, append(b.order, kind)
	}
	if r.HoldsText() {
		b.unread(r.line, r.offset, int64(len(r.JSON)))
	}
}

// at notes a time of the recording.
func (b *building) at(t time.Time) {
	if t.IsZero() {
		return
	}
	b.latest = t
	if b.Began.IsZero() || t.Before(b.Began) {
		b.Began = t
	}
}

// timeOf reads a time: RFC 3339, with or without a zone, or seconds or milliseconds since 1970. What is none is zero.
func timeOf(v provider.JSON) time.Time {
	if v.Kind() == '"' {
		text := v.Text()
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
			if t, err := time.Parse(layout, text); err == nil {
				if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 { // no entry can hold it
					return time.Time{}
				}
				return t
			}
		}
		return time.Time{}
	}
	n, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || n <= 0 || n > 1e14:
		return time.Time{}
	case n < 1e11: // the year 5138 in seconds, 1973 in milliseconds
		return time.UnixMicro(int64(n * 1e6)).UTC()
	}
	return time.UnixMilli(int64(n)).UTC()
}

// talk is the thread that the client calls so.
func (b *building) talk(key string) *talk {
	t := b.threads[key]
	if t == nil {
		t = new(talk)
		b.threads[key] = t
	}
	return t
}

// unit is one for a record, or for a part of it.
func (r record) unit() *entry.Unit {
	return &entry.Unit{Of: entry.PartRecord, Line: r.line, Offset: r.offset, Length: int64(len(r.JSON))}
}

// units completes a unit with what its message says; none, where it says nothing.
func (b *building) units(u *entry.Unit, m provider.Message) []entry.Fact {
	if len(m.Texts) == 0 && len(m.Calls) == 0 && len(m.Results) == 0 && !m.Unknown {
		return nil
	}
	for _, id := range m.Results {
		b.held[reading.ID(id)] = true
	}
	return reading.Units(u, m)
}

// say stages a message that the next request of a thread is the first to hold.
func (b *building) say(t *talk, u *entry.Unit, m provider.Message, at time.Time, prompt bool) {
	units := b.units(u, m)
	if len(units) == 0 {
		return
	}
	n := b.next(t, u.Line, at)
	n.heard(at)
	n.asked = append(n.asked, asked{u, units[1:], prompt})
	b.stage(u, n, units[1:])
}

// next is the request that holds what a thread says next. Its facts stand where the first of its messages does, so that
// what a recording says up to a line is the same however it goes on.
func (b *building) next(t *talk, line int, at time.Time) *turn {
	b.at(at)
	if t.next != nil {
		return t.next
	}
	if t.name == "" {
		b.begun++
		t.name = pool.ThreadName(b.begun)
	}
	number := len(b.turns) + 1
	t.next = &turn{
		talk:     t,
		request:  &entry.Request{N: number, Provider: b.provider, Type: b.kind, Effort: b.effort, Arrived: b.latest, Recorded: &entry.Place{Line: line}},
		relation: &entry.Relation{N: number, Thread: t.name, How: entry.Root, Evidence: evidence, Tools: true},
		response: &entry.Response{N: number, End: entry.EndNone, Error: noAnswer, Recorded: &entry.Place{}},
	}
	b.turns = append(b.turns, t.next)
	b.Facts = append(b.Facts, t.next.request, t.next.relation, t.next.response)
	b.without(t)
	if t.anew {
		t.anew = false
		b.resumed(t)
	}
	return t.next
}

// resumed says that the client was started anew before the next request of a thread.
func (b *building) resumed(t *talk) {
	switch {
	case t.next == nil:
		t.anew = t.last != nil
	case !t.next.anew && t.last != nil:
		t.next.anew = true
		b.Facts = append(b.Facts, &entry.Unit{N: t.next.request.N, Of: entry.PartResumed, Thread: t.name})
	}
}

// without stages which results the next request does not hold any more.
func (b *building) without(t *talk) {
	if len(t.pruned) > 0 {
		u := &entry.Unit{N: t.next.request.N, Of: entry.PartPruned, Thread: t.name}
		b.Facts = append(b.Facts, reading.WithIDs(u, nil, reading.IDs(t.pruned))...)
		t.pruned = nil
	}
}

// turn is the turn of an answer: the one of its thread that has this id, else a new one.
func (b *building) turn(t *talk, id string, at time.Time) *turn {
	if n := b.named[id]; n != nil && id != "" && n.talk == t {
		return n
	}
	n := b.send(t, at)
	b.named[id] = n
	return n
}

// send makes a turn of the next request: it goes on from the thread's newest turn.
func (b *building) send(t *talk, at time.Time) *turn {
	n := b.next(t, 0, at)
	f, last := n.relation, t.last
	n.before, n.messages = last, len(n.asked)
	switch {
	case last == nil && t.agent:
		f.How, f.Call = entry.Agent, reading.ID(t.call)
		if by := b.made[f.Call]; by != nil {
			f.Owner = by.request.N
		}
	case last == nil:
	case t.how != "":
		f.How, f.Parent = t.how, last.request.N
		if t.how != entry.ClientCompaction {
			n.messages += last.messages + last.said
		}
	case last.said == 0 && len(n.asked) == 0:
		f.How, f.Parent, n.messages = entry.Again, last.request.N, last.messages
	default:
		f.How, f.Parent = entry.Extends, last.request.N
		n.messages += last.messages + last.said
	}
	f.Messages = n.messages
	t.last, t.next, t.how = n, nil, ""
	return n
}

// What entries say of a request whose recording ends without an answer, of one that came to nothing, and of how requests
// of recordings hang together.
const (
	noAnswer      = "the recording has no answer"
	requestFailed = "the client says that the request failed"
	evidence      = "recording"
)

// stage gives a unit its request.
func (b *building) stage(u *entry.Unit, n *turn, more []entry.Fact) {
	u.N, u.Thread = n.request.N, n.talk.name
	b.Facts = append(b.Facts, u)
	for _, f := range more {
		m := f.(*entry.Unit)
		m.N, m.Thread = u.N, u.Thread
		b.Facts = append(b.Facts, m)
	}
}

// answer adds a message to what was answered in a turn.
func (b *building) answer(n *turn, u *entry.Unit, m provider.Message) {
	n.answered()
	if n.response.Recorded.Line == 0 {
		n.response.Recorded.Line = u.Line
	}
	units := b.units(u, m)
	if len(units) == 0 {
		return
	}
	for _, c := range m.Calls {
		b.made[reading.ID(c.ID)] = n
		n.calls = append(n.calls, reading.ID(c.ID))
	}
	n.said++
	b.stage(u, n, units[1:])
}

// answered says that an answer came, whole as far as it is known.
func (n *turn) answered() {
	if n.response.End == entry.EndNone && n.response.Error == noAnswer {
		n.response.End, n.response.Error = entry.EndComplete, ""
	}
}

// used notes what a provider counted for a turn. It is said once, or said again with the same or later counts.
func (n *turn) used(u *entry.Usage) {
	if u != nil {
		n.response.Usage = u
	}
}

// heard notes when another message was said that the request is the first to hold.
func (n *turn) heard(at time.Time) {
	if d := at.Sub(n.request.Arrived); !at.IsZero() && !n.request.Arrived.IsZero() && d > 0 {
		n.heardMS = max(n.heardMS, d.Milliseconds())
	}
}

// tookUntil notes when the answer was whole.
func (n *turn) tookUntil(at time.Time) {
	if d := at.Sub(n.request.Arrived); !at.IsZero() && !n.request.Arrived.IsZero() && d > 0 {
		n.response.DurationMS = d.Milliseconds()
	}
}

// interrupted says that the person broke off what was under way: the request that holds what waits, or the newest answer.
func (b *building) interrupted(t *talk, at time.Time) {
	if t.next != nil {
		b.send(t, at)
	}
	if t.last != nil {
		t.last.aborted()
	}
}

// aborted says that a turn was broken off by the person, and failed that it came to nothing.
func (n *turn) aborted() { n.response.End, n.response.Error = entry.EndCanceled, "" }

func (n *turn) failed(why string) {
	n.response.End, n.response.Error = entry.EndDropped, why
	if n.said == 0 {
		n.response.End = entry.EndNone
	}
}

// compacted says that the next request of a thread holds something shorter in place of what was said.
func (t *talk) compacted() {
	if t.last != nil {
		t.how = entry.ClientCompaction
	}
}

// prune says that the next request holds these calls' results no more.
func (b *building) prune(t *talk, calls []string) {
	if t.last == nil || len(calls) == 0 {
		return
	}
	t.pruned = append(t.pruned, calls...)
	if t.how == "" {
		t.how = entry.ClientEdit
	}
	if t.next != nil {
		b.without(t)
	}
}

// here is the place up to which a thread has come.
func (t *talk) here() spot {
	if t.next != nil {
		return spot{t.next, len(t.next.asked)}
	}
	return spot{t.last, answered}
}

// maxKept bounds the messages of a request that stand once more in one that goes back to among them.
const maxKept = 16

// back says that what comes next is said at a place of the thread, which may lie behind. Its branch is left behind when it
// had grown; what the next request holds of a request there stands in it once more. Beside a message that is no prompt
// nothing goes back: results of calls that are made at once come in any order.
func (b *building) back(t *talk, to spot) {
	if to == t.here() || t.how == entry.ClientCompaction {
		return
	}
	from, kept := to.turn, []asked(nil)
	if to.turn != nil && to.asked != answered {
		from, kept = to.turn.before, to.turn.asked[:to.asked]
		if to.turn == t.next {
			from = t.last
		}
	}
	if t.next != nil {
		isPrompt := func(a asked) bool { return a.prompt }
		if from == t.last && !slices.ContainsFunc(t.next.asked[len(kept):], isPrompt) {
			return
		}
		b.send(t, time.Time{})
	}
	kept = kept[max(0, len(kept)-maxKept):]
	t.last, t.how = from, entry.Rewind
	if from == nil { // to the very beginning: a conversation of its own
		t.name, t.how = "", ""
	}
	for _, a := range kept {
		again := *a.unit
		n := b.next(t, again.Line, to.turn.request.Arrived)
		var more []entry.Fact
		for _, f := range a.more {
			u := *f.(*entry.Unit)
			more = append(more, &u)
		}
		n.asked = append(n.asked, asked{&again, more, a.prompt})
		b.stage(&again, n, more)
	}
}

// title says where the session's title stands, once: a JSON string in the recording.
func (b *building) title(r record, v provider.JSON) {
	if b.Title != nil || v.Kind() != '"' || len(bytes.TrimSpace([]byte(v.Text()))) == 0 {
		return
	}
	if i := bytes.Index(r.JSON, v); i >= 0 {
		line := r.line + bytes.Count(r.JSON[:i], []byte("\n"))
		b.Title = &entry.Place{Line: line, Offset: r.offset + int64(i), Length: int64(len(v))}
	}
}

// finish ends what is open: what was said last, and was not answered, is a request without an answer.
func (b *building) finish() *Recording {
	for _, t := range b.threads {
		if t.next != nil {
			b.send(t, time.Time{})
		}
	}
	for _, n := range b.turns {
		if n.response.End != entry.EndNone {
			b.Turns++
		}
		if n.response.Error != noAnswer {
			n.response.AskedMS = n.heardMS
		}
	}
	for _, kind := range b.order {
		b.warn(b.strange[kind], strangeText(kind, b.counted[kind]))
	}
	slices.SortStableFunc(b.Warnings, func(x, y Warning) int { return x.Line - y.Line })
	return &b.Recording
}

// maxShort is the longest of what a recording says about itself that is kept, in bytes.
const maxShort = 256

// short is a text that an entry can hold; nothing where it is longer.
func short(v provider.JSON) string {
	if len(v) > maxShort {
		return ""
	}
	return v.Text()
}
