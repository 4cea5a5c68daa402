package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/provider"
	"ambit/unit"
)

// Outcome is what Run came to.
type Outcome struct {
	Activities int     `json:"activities"`
	Turns      int     `json:"turns"`
	Text       string  `json:"text"` // of the newest answer
	Output     int     `json:"output_tokens"`
	USD        float64 `json:"cost_usd"`
}

// Event is something that happens while Run runs.
type Event struct {
	Kind   EventKind
	Aside  string          // id of the question beside the conversation that it is about; empty for the conversation
	N      int             // number of the request that it is about
	Text   string          // of EventText a piece of the answer's; of EventResult all of it; of EventIdle why
	Call   string          // the call's id
	Tool   string          // its tool
	Args   json.RawMessage // and its arguments
	Failed bool            // of a result
	Err    error           // of EventRetry why, and of EventIdle, nil where the agent is done
	Wait   time.Duration   // of EventRetry, before it
	Usage  *entry.Usage    // of EventAnswer; nil where the provider did not count
	Usable int             // of EventAnswer, tokens of the model's window that a request may take; 0 where nobody knows
}

// EventKind is what happens.
type EventKind string

// The events of a turn, in their order.
const (
	EventRequest EventKind = "request"
	EventText    EventKind = "text"
	EventRetry   EventKind = "retry"
	EventAnswer  EventKind = "answer"
	EventCall    EventKind = "call"
	EventResult  EventKind = "result"
	EventIdle    EventKind = "idle"
)

func (s *Session) say(e Event) {
	s.mu.Lock()
	watch := s.setup.Watch
	if a := s.own.Aside(e.N); a != nil {
		e.Aside = a.ID
	}
	s.mu.Unlock()
	if watch != nil {
		watch(e)
	}
}

// Run works until nothing is left to do: it takes up what waits, asks the model, runs what it calls for, and goes on until an
// answer calls for nothing and no input waits. Each queued input is an activity of its own. An error ends the activity, of
// which everything that came is kept, and what is left waits for the next Run: a *BlockedError, a *LimitError, a
// *provider.Failure, a *provider.ReplyError, the context's cause, or that the journal cannot be written.
func (s *Session) Run(ctx context.Context) (Outcome, error) {
	s.running.Lock()
	defer s.running.Unlock()
	var out Outcome
	for {
		worked, err := s.activity(ctx, &out)
		if err != nil || !worked {
			return out, err
		}
	}
}

// activity is one, if there is any work.
func (s *Session) activity(ctx context.Context, out *Outcome) (worked bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	s.mu.Lock()
	limits, n := s.setup.Limits, s.main
	work := s.open() || len(s.own.Waiting()) > 0
	s.mu.Unlock()
	if !work {
		return false, nil
	}
	used := used{began: s.engine.o.Now()}
	if limits.Time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limits.Time, errTime)
		defer stop()
	}
	if err := s.abandon(ctx, n); err != nil {
		return false, err
	}
	begun := false
	for err == nil {
		var more bool
		if more, err = s.turn(ctx, &used, &begun, out); !more {
			break
		}
	}
	if errors.Is(context.Cause(ctx), errTime) && err != nil {
		err = &LimitError{limits.Time.String()}
	}
	if !begun {
		return false, err
	}
	out.Activities++
	out.Turns, out.Output, out.USD = out.Turns+used.turns, out.Output+used.output, out.USD+used.usd
	return true, errors.Join(err, s.idle(ctx, used, err))
}

// idle records how an activity ended.
func (s *Session) idle(ctx context.Context, u used, err error) error {
	s.mu.Lock()
	f, n := &entry.Idle{Activity: s.own.Activity, Turns: u.turns, Ended: entry.EndingDone}, s.main
	s.mu.Unlock()
	if err != nil {
		f.Ended, f.Why = entry.EndingFailed, err.Error()
		if _, limit := errors.AsType[*LimitError](err); limit {
			f.Ended = entry.EndingLimit
		} else if ctx.Err() != nil {
			f.Ended = entry.EndingCanceled
		}
	}
	f.Why = brief(f.Why)
	defer s.say(Event{Kind: EventIdle, N: n, Text: f.Why, Err: err})
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.add(ctx, append([]entry.Fact{f}, s.turned()...)...)
	return err
}

// brief is the beginning of a reason, in whole characters.
func brief(text string) string {
	if len(text) <= maxWhy {
		return text
	}
	cut := maxWhy
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// maxWhy is how long a reason is kept, in bytes.
const maxWhy = 4096

// turn is one request with its answer and the calls of that. It reports whether there was anything to ask.
func (s *Session) turn(ctx context.Context, u *used, begun *bool, out *Outcome) (more bool, err error) {
	var fence int
	var looked bool
	for behind := false; !behind; {
		if fence, looked, err = s.begin(ctx); err != nil { // first, so that an input waits that cannot be answered yet
			return false, err
		}
		if more, behind, err = s.promote(ctx, !*begun, fence); err != nil || behind && !more {
			return false, err
		}
	}
	*begun = true
	s.mu.Lock()
	limits := s.setup.Limits
	s.mu.Unlock()
	if err := u.check(limits, s.engine.o.Now()); err != nil {
		return false, err
	}
	var r *request
	for renewed := false; r == nil; {
		if !looked {
			fence, looked, err = s.reconcile(ctx)
		}
		if err == nil && looked {
			r, err = s.make(ctx, fence)
		}
		if err == nil && r == nil { // another agent, model or folder: its own baseline, and its own request
			fence, looked, err = s.begin(ctx)
		}
		if err == nil && r != nil && r.compacts && !renewed { // the prefix breaks, so that what was told since moves to the front
			renewed, r = true, nil
			fence, looked, err = s.renew(ctx, compacted)
		}
		if err != nil {
			return false, err
		}
	}
	r.used = u
	a, err := s.ask(ctx, r)
	if err != nil {
		return false, err
	}
	s.say(Event{Kind: EventAnswer, N: a.n, Text: sayings(a.said.unit), Usage: a.usage, Usable: a.usable})
	u.turns++
	if out.Text = sayings(a.said.unit); a.stop == provider.StopLength && len(a.said.unit.Calls()) == 0 {
		return false, &LimitError{a.cut()}
	}
	return true, s.account(ctx, a.n, u, limits)
}

// cut says why an answer was cut off.
func (a *answer) cut() string {
	if a.reason == windowFull {
		return fmt.Sprintf("the model's window: what request %d was answered with did not fit behind it, and was cut off", a.n)
	}
	return fmt.Sprintf("an answer's length: request %d was cut off", a.n)
}

// windowFull is how Anthropic says that an answer ended because the window did.
const windowFull = "model_context_window_exceeded"

// account settles calls, and counts what sub-agents take that they ask for, which may be no more than what is left.
func (s *Session) account(ctx context.Context, n int, u *used, limits Bounds) error {
	s.mu.Lock()
	by := &caller{session: s.id, off: s.own.Works.Plain}
	s.mu.Unlock()
	if limits.Output > 0 {
		by.limits.Output = orElse(max(0, limits.Output-u.output), nothing)
	}
	if limits.USD > 0 {
		by.limits.USD = orElse(max(0, limits.USD-u.usd), nothing)
	}
	err := s.settle(context.WithValue(ctx, callerKey{}, by), n)
	output, usd := by.take()
	u.output, u.usd = u.output+output, u.usd+usd
	return err
}

// sayings are what an answer says.
func sayings(u unit.Unit) (text string) {
	for _, p := range u.Parts {
		if p.Kind == unit.Text {
			text += p.Text
		}
	}
	return text
}

// cost is what a request and its answer cost, in USD, by the price table; 0 for a model that it does not have.
func cost(model string, at time.Time, u *entry.Usage) float64 {
	known, ok := pricing.Lookup(model, at)
	if !ok {
		return 0
	}
	charge := pricing.Charge{
		Fresh: int(u.Input - u.CacheRead - u.CacheWrite), Read: int(u.CacheRead),
		Write: int(u.CacheWrite - u.CacheWriteHour), WriteHour: int(u.CacheWriteHour),
	}
	return known.Price.Of(charge) + known.Price.OfOutput(int(u.Output))
}
