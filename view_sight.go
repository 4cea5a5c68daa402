package ambit

import (
	"context"
	"errors"
	"fmt"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/token"
	"ambit/journal"
	"ambit/provider"
)

// sight is one request of a session while it is looked at.
type sight struct {
	r      *Recording
	x      *pool.Exchange
	thread string
	named  string       // the model that answered, or that was asked
	chain  map[int]bool // the request and those that it follows from, by number
	bounds []Boundary   // of its thread, up to it
	tokens token.Model

	items    []item
	gone     []gone
	exact    bool          // its messages are those of its body
	head     int           // estimated tokens that nobody recorded: tools, system text, and what else the client put before the messages
	answered token.Content // what its answer says
}

// item is a segment with what is counted of it.
type item struct {
	Segment
	n       int  // the request that was the first to hold it, or whose answer it is; 0 for tools and system text
	answer  bool // it was answered
	ours    bool // Ambit put it there
	content token.Content
	at      string // JSON pointer into the body that went; empty where that is not recorded
}

// gone is an entry of the session that the request does not hold.
type gone struct {
	ref    string
	n      int    // as of an item
	reason Reason // empty where the boundaries say it
	edit   string // ref of the edit that left it out; empty where the client did, or where it is not known
	part   bool   // the rest of it is there
}

// sayError is an error of a kind that says all by itself.
type sayError struct {
	text string
	kind error
}

func sayf(kind error, format string, args ...any) error {
	return &sayError{fmt.Sprintf(format, args...), kind}
}

func (e *sayError) Error() string { return e.text }
func (e *sayError) Unwrap() error { return e.kind }

// sight finds the request that is meant.
func (r *Recording) sight(thread string, n int) (*sight, error) {
	x, err := r.chosen(thread, n)
	if err != nil {
		return nil, err
	}
	s := &sight{r: r, x: x}
	if x.Relation != nil {
		s.thread = x.Relation.Thread
	}
	s.chain = r.chain(x)
	s.named = s.model()
	s.tokens = token.Default(token.FamilyOf(s.named))
	s.bounds = r.boundaries(s.thread, x.Request.N)
	return s, nil
}

// model is the name of the model that answered the request, or that was asked, or else that of the newest request before
// which names one.
func (s *sight) model() string {
	for i := len(s.r.pool.Exchanges) - 1; i >= 0; i-- {
		x := &s.r.pool.Exchanges[i]
		if !s.chain[x.Request.N] {
			continue
		}
		if x.Response != nil && x.Response.Model != "" {
			return x.Response.Model
		}
		if x.Request.Model != "" {
			return x.Request.Model
		}
	}
	return ""
}

// chosen is the exchange of a number, or the newest of a thread.
func (r *Recording) chosen(thread string, n int) (*pool.Exchange, error) {
	last := r.Last()
	if last == 0 {
		return nil, sayf(ErrNotRecorded, "session %s has no request yet", r.session)
	}
	if n == 0 {
		if n = r.newest(thread); n == 0 && thread == "" {
			return nil, sayf(provider.ErrNotUnderstood, "session %s has no conversation that is understood", r.session)
		}
		if n == 0 {
			return nil, sayf(ErrNoThread, "session %s has no thread %q", r.session, thread)
		}
		return r.pool.Exchange(n), nil
	}
	x := r.pool.Exchange(n)
	if x == nil {
		return nil, sayf(ErrNotRecorded, "session %s has no request %d: they are %d to %d", r.session, n, r.pool.Exchanges[0].Request.N, last)
	}
	if thread != "" && (x.Relation == nil || x.Relation.Thread != thread) {
		return nil, sayf(ErrNoThread, "request %d is not of thread %q", n, thread)
	}
	return x, nil
}

// newest is the number of the newest request of a thread that runs a model; without one of the main thread.
func (r *Recording) newest(thread string) int {
	rank := map[entry.Relating]int{entry.Root: 3, entry.Side: 2, entry.Agent: 1}
	best, of := 0, 0
	for _, t := range r.pool.Threads() {
		if thread != "" && t.Name != thread {
			continue
		}
		for _, n := range t.Requests {
			if r.pool.Exchange(n).Relation.How == entry.Count {
				continue
			}
			if now := max(1, rank[t.How]); now > of || now == of && n > best {
				best, of = n, now
			}
		}
	}
	return best
}

// chain are the numbers of a request and of those that it follows from.
func (r *Recording) chain(x *pool.Exchange) map[int]bool {
	chain := make(map[int]bool)
	for x != nil && !chain[x.Request.N] {
		chain[x.Request.N] = true
		if x.Relation == nil || x.Relation.Parent == 0 {
			break
		}
		x = r.pool.Exchange(x.Relation.Parent)
	}
	return chain
}

// look reads what the request held.
func (s *sight) look(ctx context.Context) error {
	n := s.x.Request.N
	if s.r.pool.Purged != nil {
		return sayf(journal.ErrPurged, "request %d was purged", n)
	}
	a, err := s.r.understood(ctx, n)
	switch {
	case errors.Is(err, provider.ErrNotUnderstood):
		return fmt.Errorf("request %d, %s %s: %w", n, s.x.Request.Method, s.x.Request.Path, err)
	case errors.Is(err, ErrNotRecorded):
		err = s.recorded(ctx, nil)
	case err != nil:
		return err
	case s.x.Request.Type == "" || len(a.Elements.Messages)+len(a.Elements.System)+len(a.Elements.Tools) == 0 && s.thread == "":
		return sayf(provider.ErrNotUnderstood, "request %d, %s %s, holds no conversation that is understood", n, s.x.Request.Method, s.x.Request.Path)
	default:
		err = s.read(ctx, a)
	}
	if err == nil {
		s.answered = s.answerOf(ctx)
	}
	return err
}

// read reads what was sent from the body that went, and what was left out of it from the client's.
func (s *sight) read(ctx context.Context, a *Asked) error {
	sent, err := s.went(ctx, a)
	if err != nil {
		return fmt.Errorf("request %d, as it was sent: %w", s.x.Request.N, err)
	}
	if sent == nil {
		s.begin(a)
	} else {
		s.begin(sent)
	}
	switch {
	case a.Elements.Previous != "":
		return s.recorded(ctx, a)
	case sent != nil:
		return s.sent(ctx, a, sent)
	}
	return s.body(ctx, a)
}

// estimator names who makes the estimates.
func (s *sight) estimator() string { return token.Estimator + ", weights of " + s.tokens.Name }

// answerOf is what the request's answer says.
func (s *sight) answerOf(ctx context.Context) (c token.Content) {
	answer, err := s.r.Answer(ctx, s.x.Request.N)
	c.Say(answer.Text)
	for _, call := range answer.Calls {
		c.Calls++
		c.Say(call.Name)
		c.Say(string(call.Args))
	}
	if err != nil || c == (token.Content{}) {
		return s.answered // of what was imported it is known already
	}
	return c
}
