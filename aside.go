package ambit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pricing"
	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/internal/token"
	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// Aside is a question beside the conversation: the model answers it with all that it sees, and neither the question nor its
// answer becomes a part of that.
type Aside struct {
	ID     string // the asker's own, by which the same question is known again and answered once; empty for a new one each time
	Text   string
	Limits Bounds // of this question alone; its one turn is none of an activity's
}

// Answered is the answer to a question beside the conversation.
type Answered struct {
	ID     string  `json:"id"`
	N      int     `json:"n"` // number of the request that was answered
	Text   string  `json:"text"`
	Output int     `json:"output_tokens"`
	USD    float64 `json:"cost_usd"`
	Again  bool    `json:"again,omitempty"` // it was answered before, and nobody was asked now
}

// beside says of a request that it asks a question beside the conversation.
type beside struct {
	id     string
	thread string
	text   *entry.Body
	n      int // number of the newest attempt; 0 before the first
}

// thread is the one that a request belongs to.
func (r *request) thread() string {
	if r.beside != nil {
		return r.beside.thread
	}
	return mainThread
}

// says makes the relation of the next attempt, and what is recorded with it. About is the newest request of the conversation.
func (b *beside) says(relation *entry.Relation, about int) entry.Fact {
	relation.Parent, relation.How = b.n, entry.Again
	if b.n == 0 {
		relation.How, relation.About = entry.Side, about
	}
	return &entry.Aside{N: relation.N, ID: b.id, Thread: b.thread, Body: b.text}
}

// Aside asks a question beside the conversation, also while Run runs, and returns its answer. No tool runs for it, whatever the
// model asks for; it has limits of its own, and what it takes counts for no activity. It is recorded, so that the same
// question of the same id, asked in another process, too, has the answer that was given, and is sent again, word for word, where
// none came. Another question of the id is ErrConflict. Several are asked one after another.
//
// The error is ErrRefused, a *LimitError, a *provider.Failure, a *provider.ReplyError, the context's cause, or the journal's.
func (s *Session) Aside(ctx context.Context, q Aside) (Answered, error) {
	if err := writable("a question", q.Text, MaxInput); err != nil {
		return Answered{}, err
	}
	if len(q.ID) > maxInputID || !utf8.ValidString(q.ID) {
		return Answered{}, sayf(ErrRefused, "the id of a question is UTF-8 of at most %d bytes", maxInputID)
	}
	if q.Limits.Time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, q.Limits.Time, errTime)
		defer stop()
	}
	var out Answered
	var r *request
	var err error
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
		out, r, err = s.question(ctx, q)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil && r != nil {
		var a *answer
		if a, err = s.ask(ctx, r); err == nil {
			return r.answered(a)
		}
	}
	if errors.Is(context.Cause(ctx), errTime) && err != nil {
		err = &LimitError{q.Limits.Time.String()}
	}
	return out, err
}

// answered is what a request was answered.
func (r *request) answered(a *answer) (Answered, error) {
	out := Answered{ID: r.beside.id, N: a.n, Text: sayings(a.said.unit), Output: r.used.output, USD: r.used.usd}
	switch {
	case a.stop == provider.StopLength:
		return out, &LimitError{a.cut()}
	case out.Text == "":
		return out, unanswered(a.n)
	}
	return out, nil
}

// unanswered says that an answer says nothing.
func unanswered(n int) error {
	return sayf(ErrRefused, "request %d was answered by calls of tools alone, which nobody runs for a question: ask otherwise, under another id", n)
}

// question is the answer that a question has, or the request that asks it.
func (s *Session) question(ctx context.Context, q Aside) (Answered, *request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return Answered{}, nil, err
	}
	if s.main == 0 {
		return Answered{}, nil, sayf(ErrRefused, "nothing was said in session %s yet that a question could be about: say it to the agent", s.id)
	}
	var known []pool.Aside
	next := 2 // behind the conversation's thread
	for n := len(s.own.Asides) + 1; q.ID == ""; n++ {
		if id := fmt.Sprintf("aside-%d", n); !slices.ContainsFunc(s.own.Asides, func(a pool.Aside) bool { return a.ID == id }) {
			q.ID = id
		}
	}
	threads := make(map[string]bool)
	for _, a := range s.own.Asides {
		if !threads[a.Thread] {
			threads[a.Thread], next = true, next+1
		}
		if a.ID == q.ID {
			known = append(known, a)
		}
	}
	body, err := s.put(ctx, q.Text)
	if err != nil {
		return Answered{}, nil, err
	}
	b := &beside{id: q.ID, thread: pool.ThreadName(next), text: body}
	if len(known) > 0 {
		if out, r, err := s.known(ctx, q, known, b); out.Again || r != nil || err != nil {
			return out, r, err
		}
	}
	r, err := s.besides(ctx, q, b)
	return Answered{}, r, err
}

// known is what an earlier attempt at a question was answered, or else the same request once more, if the model that it was made
// for still answers.
func (s *Session) known(ctx context.Context, q Aside, attempts []pool.Aside, b *beside) (Answered, *request, error) {
	newest := attempts[len(attempts)-1]
	if newest.Body == nil || newest.Body.SHA256 != b.text.SHA256 {
		return Answered{}, nil, sayf(ErrConflict, "session %s has another question %q, as %s", s.id, q.ID, newest.Seq.Ref())
	}
	p, err := pool.Load(ctx, s.engine.store, s.id)
	if err != nil {
		return Answered{}, nil, fmt.Errorf("read session %s: %w", s.id, err)
	}
	for _, a := range slices.Backward(attempts) {
		x := p.Exchange(a.N)
		if a.Answered == 0 || x == nil {
			continue
		}
		said, is, err := s.recorded(ctx, x)
		if err != nil {
			return Answered{}, nil, err
		}
		if is {
			out := Answered{ID: q.ID, N: a.N, Text: sayings(said.unit), Again: true}
			if u := x.Response.Usage; u != nil {
				out.Output, out.USD = int(u.Output), cost(x.Request.Model, x.Request.Arrived, u)
			}
			if out.Text == "" {
				return out, nil, unanswered(a.N)
			}
			return out, nil, nil
		}
	}
	x := p.Exchange(newest.N)
	if m := s.setup.Model; x == nil || x.Request.Method != http.MethodPost || (origin{x.Request.Provider, x.Request.Type, x.Request.Model}) != m.origin() {
		return Answered{}, nil, nil
	}
	body, err := s.text(ctx, asWent(x))
	if err != nil {
		return Answered{}, nil, fmt.Errorf("read request %d: %w", newest.N, err)
	}
	b.thread, b.n = newest.Thread, newest.N
	r, err := s.asks(q, b, []byte(body))
	return Answered{}, r, err
}

// besides makes the request of a question: what the next one of the conversation would show, as far as it is settled, and the
// question behind that. The tools stand in it because the provider's cache has them in front of all else.
func (s *Session) besides(ctx context.Context, q Aside, b *beside) (*request, error) {
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	v.Segments = append(settled(v.Segments), view.Segment{Layer: view.Working, Apart: true, Unit: unit.Unit{
		Ref: "question", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: q.Text + asideNote}},
	}})
	p := s.params()
	if most := q.Limits.Output; most > 0 && (p.MaxTokens == 0 || most < p.MaxTokens) {
		p.MaxTokens = most
	}
	body, err := familyOf(p.Type).Lower(v, p)
	if err != nil {
		return nil, fmt.Errorf("make a request of session %s: %w", s.id, err)
	}
	r, err := s.asks(q, b, body)
	if err != nil {
		return nil, err
	}
	e, err := r.family.Elements(r.asked, r.whole)
	if err != nil {
		return nil, fmt.Errorf("read the request that session %s made: %w", s.id, err)
	}
	r.units = e.Messages[len(e.Messages)-1:]
	s.plan(ctx, r, s.thread.Beside(b.thread), e, reading.Hashes(e.Messages), len(e.Messages)-1)
	return r, nil
}

// asideNote tells the model that a question is none of its work.
const asideNote = "\n\n[This is a question beside the work. Answer it at once, in text alone, from what you have seen: no tool is run for it. Afterwards the work goes on as if it had not been asked.]"

// settled are segments without an answer at their end that waits for results of its calls.
func settled(list []view.Segment) []view.Segment {
	for i := len(list) - 1; i >= 0; i-- {
		calls := list[i].Unit.Calls()
		if list[i].Unit.Role != unit.Assistant || len(calls) == 0 {
			continue
		}
		have := make(map[string]bool)
		for _, s := range list[i+1:] {
			for _, id := range s.Unit.Results() {
				have[id] = true
			}
		}
		if slices.ContainsFunc(calls, func(id string) bool { return !have[id] }) {
			return list[:i:i]
		}
		break
	}
	return slices.Clip(list)
}

// asks is the request that has a body, if the question may cost as much.
func (s *Session) asks(q Aside, b *beside, body []byte) (*request, error) {
	m := s.setup.Model
	r := &request{model: m, family: familyOf(m.Type), whole: body, body: body, used: &used{began: s.engine.o.Now()}, retry: s.setup.Retry, limits: q.Limits, tools: len(s.setup.Agent.Tools) > 0, beside: b}
	r.limits.Time = 0 // its context ends then
	r.url = strings.TrimSuffix(m.BaseURL, "/") + r.family.Endpoint(s.params())
	u, err := url.Parse(r.url)
	if err != nil {
		return nil, sayf(ErrRefused, "%q is no base URL: %v", m.BaseURL, err)
	}
	r.path = u.RequestURI()
	r.asked = r.family.Request(http.MethodPost, r.path, body)
	e, err := r.family.Elements(r.asked, body)
	if err != nil {
		return nil, fmt.Errorf("read the request that session %s made: %w", s.id, err)
	}
	hashes := reading.Hashes(e.Messages)
	r.chain, r.count = thread.ChainOf(hashes), len(hashes)
	price, known := pricing.Lookup(m.Name, s.engine.o.Now())
	if q.Limits.USD > 0 && known {
		est := token.Default(token.FamilyOf(m.Name)).Text(string(body))
		if usd := price.Price.Of(pricing.Charge{Fresh: est}); usd > q.Limits.USD {
			return nil, &LimitError{fmt.Sprintf("$%.4f: the question alone may cost $%.4f", q.Limits.USD, usd)}
		}
	}
	return r, nil
}
