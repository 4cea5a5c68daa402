package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"ambit/entry"
	"ambit/view"
)

// caller is the session whose tool runs, and what its sub-agents have taken.
type caller struct {
	session string
	off     bool   // context.mode is, there
	limits  Bounds // what is left of the activity's; 0 for any, less for nothing

	mu     sync.Mutex // guards what follows
	output int
	usd    float64
}

// nothing is what is left of a limit that is reached.
const nothing = -1

type callerKey struct{}

// add counts what a sub-agent has taken.
func (c *caller) add(out Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.output, c.usd = c.output+out.Output, c.usd+out.USD
}

// lower makes the limits of a sub-agent no more than what is left.
func (c *caller) lower(l *Bounds) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most := c.limits.Output - c.output; c.limits.Output != 0 {
		if most <= 0 {
			return &LimitError{"output, which leaves nothing for a sub-agent"}
		}
		if l.Output == 0 || l.Output > most {
			l.Output = most
		}
	}
	if most := c.limits.USD - c.usd; c.limits.USD != 0 {
		if most <= 0 {
			return &LimitError{"money, which leaves nothing for a sub-agent"}
		}
		if l.USD == 0 || l.USD > most {
			l.USD = most
		}
	}
	return nil
}

// take gives what was counted, once.
func (c *caller) take() (output int, usd float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	output, usd = c.output, c.usd
	c.output, c.usd = 0, 0
	return output, usd
}

// MaxReport is how much a sub-agent's report has of its last word, in bytes.
const MaxReport = 8 << 10

// Task is a tool by which an agent gives a piece of work to another, which has a session of its own: the caller's conversation
// grows by the report alone. The setup is made for each; its Parent is set, and its Mode where it has none, to the caller's. A report comes at every end, and says when the
// work was cut short, why, and in which session it stands. What the sub-agent takes counts for the limits of the caller's
// activity, and for nothing else there.
func (e *Engine) Task(setup func() (Setup, error)) Tool {
	return Tool{
		Tool: view.Tool{
			Name:        "task",
			Description: "Gives a piece of work to a second agent with a conversation of its own, and returns its report. Tell it all that it needs to know: it sees nothing of this conversation.",
			Schema:      []byte(`{"type":"object","properties":{"prompt":{"type":"string","description":"the work, and what the report is to say"}},"required":["prompt"],"additionalProperties":false}`),
		},
		Run: func(ctx context.Context, args json.RawMessage) (string, error) {
			var a struct {
				Prompt string `json:"prompt"`
			}
			if err := json.Unmarshal(args, &a); err != nil || a.Prompt == "" {
				return "", fmt.Errorf("task needs a prompt, a text: %s", args)
			}
			by, _ := ctx.Value(callerKey{}).(*caller)
			s, err := setup()
			if err != nil {
				return "", fmt.Errorf("the sub-agent cannot begin: %w", err)
			}
			if by != nil {
				s.Parent = by.session
				if s.Mode == "" && by.off {
					s.Mode = ModeOff
				}
				if err := by.lower(&s.Limits); err != nil {
					return "", err
				}
			}
			id, out, err := e.task(ctx, a.Prompt, s)
			if by != nil {
				by.add(out)
			}
			return report(id, out, err)
		},
	}
}

// task does one piece of work in a session of its own.
func (e *Engine) task(ctx context.Context, prompt string, setup Setup) (id string, out Outcome, err error) {
	s, err := e.Begin(ctx, "", setup)
	if err != nil {
		return "", out, err
	}
	if _, err = s.Admit(ctx, Input{Text: prompt, By: ByParent}); err == nil {
		out, err = s.Run(ctx)
	}
	return s.ID(), out, errors.Join(err, s.Close())
}

// firstLine is the beginning of a text, as a title.
func firstLine(text string) string {
	const most = 80 // characters
	for i := range text {
		if text[i] == '\n' || i >= most {
			return text[:i]
		}
	}
	return text
}

// errTask says that a sub-agent did not come to its end.
var errTask = errors.New("the sub-agent was cut short")

// report is what the caller is told.
func report(id string, out Outcome, err error) (string, error) {
	text := out.Text
	if len(text) > MaxReport {
		cut := MaxReport
		for cut > 0 && text[cut]&0xc0 == 0x80 { // in the middle of a character
			cut--
		}
		text = fmt.Sprintf("%s\n[%d of %d bytes; the rest stands in session %s]", text[:cut], cut, len(text), id)
	}
	if err == nil {
		return fmt.Sprintf("%s\n[session %s, %d turns]", text, id, out.Turns), nil
	}
	how := entry.EndingFailed
	if _, limit := errors.AsType[*LimitError](err); limit {
		how = entry.EndingLimit
	}
	if text != "" {
		text = "Its last word was: " + text + "\n"
	}
	return text, fmt.Errorf("%w (%s) after %d turns, session %s: %w", errTask, how, out.Turns, id, err)
}
