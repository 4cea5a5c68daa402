package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ambit/entry"
	"ambit/unit"
	"ambit/view"
)

// Tool is something that the model may ask for.
type Tool struct {
	view.Tool // its name, what it does, and the JSON schema of its arguments

	// Run does it once. The context ends when the session's activity does. An error is told to the model as a failure, with
	// the text, if any, before it; ErrDenied says that it was not allowed.
	Run func(ctx context.Context, args json.RawMessage) (text string, err error)
}

// ErrDenied says that a tool was not allowed to do what it was asked for. The model is told so.
var ErrDenied = errors.New("not allowed")

// settle runs the calls of the newest answer that have no result, in order. Each is durable before it begins; one that was
// begun by a process that died is not run again.
func (s *Session) settle(ctx context.Context, n int) error {
	s.mu.Lock()
	calls, tools := s.calls(), s.setup.Agent.Tools
	begun := make(map[string]bool)
	for _, c := range s.own.Open {
		begun[c.ID] = begun[c.ID] || c.N == n
	}
	s.mu.Unlock()
	for _, c := range calls {
		switch {
		case begun[c.ID]:
			if err := s.finish(ctx, n, c, entry.SettledInterrupted, interrupted, true, 0); err != nil {
				return err
			}
		case ctx.Err() != nil:
			if err := s.finish(ctx, n, c, entry.SettledUnsaid, "The call was not run: the activity had ended.", true, 0); err != nil {
				return err
			}
		default:
			if err := s.run(ctx, n, c, tools); err != nil {
				return err
			}
		}
	}
	return nil
}

const interrupted = "The call was interrupted: nobody knows how far it came, and it is not run again."

// run runs one call.
func (s *Session) run(ctx context.Context, n int, c unit.Part, tools []Tool) error {
	if err := s.append(ctx, &entry.Call{N: n, ID: c.ID, Name: c.Name}); err != nil {
		return err
	}
	s.say(Event{Kind: EventCall, N: n, Call: c.ID, Tool: c.Name, Args: c.Args})
	began := s.engine.o.Now()
	text, err := call(ctx, tools, c)
	took := s.engine.o.Now().Sub(began)
	how := entry.SettledRun
	switch {
	case errors.Is(err, ErrDenied):
		how = entry.SettledDenied
	case ctx.Err() != nil && err != nil:
		how = entry.SettledInterrupted
		if errors.Is(err, errTask) {
			text += err.Error() + "\n"
		}
		text += interrupted
		return s.finish(ctx, n, c, how, text, true, took)
	}
	if err != nil {
		if text != "" && text[len(text)-1] != '\n' {
			text += "\n"
		}
		text += err.Error()
	}
	return s.finish(ctx, n, c, how, text, err != nil, took)
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
