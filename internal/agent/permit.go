package agent

import (
	"context"
	"fmt"
	"slices"

	"ambit"
)

// permit decides whether all of the tools may be used on all of the subjects, which are names of one thing, and asks once
// if it has to. It reports whether somebody was asked and said yes. The last subject is what is done.
func (t *toolbox) permit(ctx context.Context, v values, tools []string, subjects ...string) (answered bool, err error) {
	worst, tool := Verdict{Action: Allow}, tools[0]
	for _, name := range tools {
		for _, subject := range slices.Compact(slices.Clone(subjects)) {
			if verdict := t.rules.Decide(name, subject); verdict.Action.stricter(worst.Action) {
				worst = verdict
			}
		}
	}
	for _, subject := range subjects {
		if verdict := t.rules.Decide(writeSpec.name, subject); tools[0] == editSpec.name && verdict.Action == Deny { // what is not to be written is not to be edited
			worst = verdict
		}
	}
	subject := subjects[len(subjects)-1]
	switch {
	case worst.Action == Allow:
		return false, nil
	case worst.Action == Deny:
		return false, fmt.Errorf("%w: %s %q is denied, by %s", ambit.ErrDenied, tool, subject, worst.Why)
	case t.o.Ask == nil:
		return false, fmt.Errorf("%w: %s %q would have to be asked about (%s), and there is nobody to ask; %s", ambit.ErrDenied, tool, subject, worst.Why, worst.way())
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	yes, err := t.o.Ask(ctx, Question{Tool: tool, Subject: subject, Why: worst.Why, Args: v.raw})
	switch {
	case err != nil:
		return false, fmt.Errorf("ask about %s %q: %w", tool, subject, err)
	case !yes:
		return false, fmt.Errorf("%w: the user was asked about %s %q and said no", ambit.ErrDenied, tool, subject)
	}
	return true, nil
}

// way says how what was asked could be allowed.
func (v Verdict) way() string {
	if v.Allow == "" {
		return "run its commands in calls of their own, or have any command allowed by the rule \"allow bash:*\""
	}
	return fmt.Sprintf("the user allows it by the rule %q", v.Allow)
}
