package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/server"

	"github.com/spf13/cobra"
)

// compacted is the answer of ambit compact.
type compacted struct {
	Session string `json:"session"`
	server.Compacted
}

func newCompact(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "compact SESSION",
		Short: "Make a checkpoint of a session now, which stands for what is old in it from the next request on",
		Long: "Make a checkpoint of a session's main thread now: a page that says, from what was recorded and without asking a model, what\n" +
			"is wanted, done and known. In a session that passes through ambit up it stands in the place of what is old from the next\n" +
			"request on; of one that was imported it is a record. What it stands for stays recorded, and recall reads it.\n" +
			"ambit view SESSION --checkpoint prints it. Where placeholders for old results are all that helps, it puts these; where nothing\n" +
			"would be gained, it changes nothing and says so.\n\n" + sessionHelp,
		Args: oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			answer, err := e.compact(c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(answer)
			}
			fmt.Fprintln(e.out, e.compactedLine(&answer))
			if answer.Why != "" {
				e.say("%s", answer.Why)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func (e *env) compact(ctx context.Context, arg string) (compacted, error) {
	d, name, err := e.one(ctx, arg)
	if err != nil {
		return compacted{}, err
	}
	d.Close()
	done, err := e.act(ctx, name, server.ActCompact, server.Ask{})
	if err != nil {
		return compacted{}, e.ungainedHint(name, err)
	}
	return compacted{name, *done.Compact}, nil
}

// ungainedHint adds where to look why no checkpoint is made, here or by the ambit up that holds the session.
func (e *env) ungainedHint(session string, err error) error {
	var there *refusedThere
	if errors.Is(err, ambit.ErrNoCheckpoint) || errors.As(err, &there) && strings.HasPrefix(there.Error(), "no checkpoint is made") {
		return &hintError{err, e.self() + " context " + session + " says what takes them"}
	}
	return err
}

// compactedLine says what was decided, and where to read it.
func (e *env) compactedLine(c *compacted) string {
	what, more := entry.Stage(c.Stage).Event()+", and no checkpoint", e.self()+" log "+c.Session+" --entries shows it"
	if c.Checkpoint > 0 {
		what, more = "a checkpoint, "+count(c.Checkpoint)+" bytes", e.self()+" view "+c.Session+" --checkpoint prints it"
	}
	return fmt.Sprintf("%s: %s of %s, request #%d: ~%s tokens to ~%s; %s", c.Decision, what, c.Thread, c.Turn, count(c.EstBefore), count(c.EstAfter), more)
}
