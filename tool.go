package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ambit/entry"
	"ambit/unit"
	"ambit/view"
)

// Tool is something that the model may ask for.
type Tool struct {
	view.Tool // its name, what it does, and the JSON schema of its arguments

	// Reads says that it only looks, and changes nothing: calls of such tools that stand side by side in an answer run at the
	// same time.
	Reads bool

	// Run does it once. The context ends when the session's activity does. An error is told to the model as a failure, with
	// the text, if any, before it; ErrDenied says that it was not allowed.
	Run func(ctx context.Context, args json.RawMessage) (text string, err error)
}

// ErrDenied says that a tool was not allowed to do what it was asked for. The model is told so.
var ErrDenied = errors.New("not allowed")

// maxTogether is how many calls run at the same time.
const maxTogether = 8

// abandon settles the calls that a process left which died: nobody knows how far those came that it had begun, and what they and
// the others were for may not be wanted any more. None of them is run.
func (s *Session) abandon(ctx context.Context, n int) error {
	ctx, stop := context.WithCancel(ctx)
	stop()
	return s.settle(ctx, n)
}

// settle runs the calls of the newest answer that have no result, in order; of those that only look, neighbours run at the same
// time. Each is durable before it begins; one that was begun by a process that died is not run again.
func (s *Session) settle(ctx context.Context, n int) error {
	s.mu.Lock()
	calls, tools := s.calls(), s.setup.Agent.Tools
	begun := make(map[string]bool)
	for _, c := range s.own.Open {
		begun[c.ID] = begun[c.ID] || c.N == n
	}
	s.mu.Unlock()
	for len(calls) > 0 {
		c, k := calls[0], 1
		var err error
		switch {
		case begun[c.ID]:
			err = s.finish(ctx, n, c, entry.SettledInterrupted, interrupted, true, 0)
		case ctx.Err() != nil:
			err = s.finish(ctx, n, c, entry.SettledUnsaid, "The call was not run: the activity that it belonged to had ended.", true, 0)
		default:
			for k < min(len(calls), maxTogether) && reads(tools, c) && reads(tools, calls[k]) { // none of them was begun, or all before it were
				k++
			}
			err = s.run(ctx, n, calls[:k], tools)
		}
		if err != nil {
			return err
		}
		calls = calls[k:]
	}
	return nil
}

// reads reports whether a call only looks.
func reads(tools []Tool, c unit.Part) bool {
	return slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == c.Name && t.Reads })
}

const interrupted = "The call was interrupted: nobody knows how far it came, and it is not run again."

// returned is what a call came to.
type returned struct {
	text string
	err  error
	late bool // the activity had ended before
	took time.Duration
}

// run runs calls, several at the same time. What they come to is recorded in their order, whichever ends first: so the next
// request is the same however long each takes.
func (s *Session) run(ctx context.Context, n int, calls []unit.Part, tools []Tool) error {
	facts := make([]entry.Fact, len(calls))
	for i, c := range calls {
		facts[i] = &entry.Call{N: n, ID: c.ID, Name: c.Name}
	}
	if err := s.append(ctx, facts...); err != nil {
		return err
	}
	for _, c := range calls {
		s.say(Event{Kind: EventCall, N: n, Call: c.ID, Tool: c.Name, Args: c.Args})
	}
	one := func(c unit.Part) (r returned) {
		began := s.engine.o.Now()
		r.text, r.err = call(ctx, tools, c)
		r.late, r.took = ctx.Err() != nil, s.engine.o.Now().Sub(began)
		return r
	}
	if len(calls) == 1 {
		return s.came(ctx, n, calls[0], one(calls[0]))
	}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop() // what still runs when a result cannot be recorded
	came := make([]chan returned, len(calls))
	for i, c := range calls {
		came[i] = make(chan returned, 1)
		all.Go(func() {
			r := returned{err: fmt.Errorf("the tool %s gave up", c.Name)} // as it is told where it ends its goroutine
			defer func() { came[i] <- r }()
			r = one(c)
		})
	}
	for i, c := range calls {
		if err := s.came(ctx, n, c, <-came[i]); err != nil {
			return err
		}
	}
	return nil
}

// came records what a call came to.
func (s *Session) came(ctx context.Context, n int, c unit.Part, r returned) error {
	text, how := r.text, entry.SettledRun
	switch {
	case errors.Is(r.err, ErrDenied):
		how = entry.SettledDenied
	case r.late && r.err != nil:
		if errors.Is(r.err, errTask) {
			text += r.err.Error() + "\n"
		}
		return s.finish(ctx, n, c, entry.SettledInterrupted, text+interrupted, true, r.took)
	}
	if r.err != nil {
		if text != "" && text[len(text)-1] != '\n' {
			text += "\n"
		}
		text += r.err.Error()
	}
	return s.finish(ctx, n, c, how, text, r.err != nil, r.took)
}

// call finds a tool and runs it. One that panics has failed.
func call(ctx context.Context, tools []Tool, c unit.Part) (text string, err error) {
	for _, t := range tools {
		if t.Name != c.Name {
			continue
		}
		defer func() {
			if p := recover(); p != nil {
				text, err = "", fmt.Errorf("the tool %s failed: %v", c.Name, p)
			}
		}()
		return t.Run(ctx, c.Args)
	}
	return "", fmt.Errorf("there is no tool %q", c.Name)
}

// finish records what came of a call.
func (s *Session) finish(ctx context.Context, n int, c unit.Part, how entry.Settled, text string, failed bool, took time.Duration) error {
	text = valid(text) // no provider takes anything else, and the next request has it
	s.mu.Lock()
	body, err := s.put(ctx, text)
	if err == nil {
		_, err = s.add(ctx, &entry.Result{N: n, ID: c.ID, Failed: failed, Ended: how, TookMS: took.Milliseconds(), Body: body})
	}
	if err == nil {
		err = s.hear(ctx, nil)
	}
	s.mu.Unlock()
	if err == nil {
		s.say(Event{Kind: EventResult, N: n, Call: c.ID, Tool: c.Name, Text: text, Failed: failed})
	}
	return err
}
