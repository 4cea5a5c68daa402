package main

import (
	"context"
	"fmt"
	"path/filepath"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/server"
)

// textPurged is the answer of ambit purge with a REF.
type textPurged struct {
	Session string `json:"session"`
	server.TextGone
	Forks []string `json:"forks"` // sessions that go on from it, behind the entry
}

// purgeText says what the purge of one entry's text would do, asks, and has it done.
func (e *env) purgeText(ctx context.Context, arg, ref string, yes, asJSON bool) error {
	d, name, err := e.one(ctx, arg)
	if err != nil {
		return err
	}
	defer d.Close()
	p, err := e.planText(ctx, d, name, ref)
	if err != nil {
		return err
	}
	answer := textPurged{Session: name, TextGone: server.TextGoneOf(*p.text), Forks: []string{}}
	for _, s := range p.shared {
		answer.Forks = append(answer.Forks, s.Session)
	}
	if p.text.Bytes > 0 || !p.text.Again {
		if err := e.agree(ctx, p, yes, asJSON); err != nil {
			return err
		}
		done, err := e.act(ctx, name, server.ActPurgeText, server.Ask{Ref: ref})
		if err != nil {
			return err
		}
		if done.Purged == nil {
			return fmt.Errorf("%s of session %s is not purged: the ambit up that holds it does not say so", ref, name)
		}
		answer.TextGone = *done.Purged
	}
	if asJSON {
		return e.printJSON(answer)
	}
	fmt.Fprintf(e.out, "the text of %s of session %s is purged: %s overwritten; %s not whole any more\n",
		answer.Ref, name, plural(int(answer.Bytes), "byte", "bytes"), plural(answer.Bodies, "body is", "bodies are"))
	if answer.Bytes > 0 {
		e.hint("an agent that still has it in its conversation sends it again, and that is recorded: end it first, or purge it again")
	}
	return nil
}

// planText is what the purge of one entry's text would do.
func (e *env) planText(ctx context.Context, d *journal.Dir, name, ref string) (purgePlan, error) {
	p := purgePlan{session: name, shared: []sharing{}}
	home, err := e.home()
	if err != nil {
		return p, err
	}
	key, err := secret(filepath.Clean(home))
	if err != nil {
		return p, err
	}
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil {
		return p, e.damaged(err)
	}
	t, err := rec.PlanPurge(ctx, key, ref)
	if err != nil {
		return p, e.actHint(name, err)
	}
	p.text = &t
	names, err := d.Sessions(ctx)
	if err != nil {
		return p, err
	}
	p.addForks(e.origins(ctx, d, names), []own{{seq: entry.Seq(t.Of)}})
	for i := range p.shared {
		p.shared[i].How = sharesText
	}
	return p, nil
}
