package main

import (
	"context"
	"fmt"

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
			"ambit view SESSION --checkpoint prints it.\n\n" + sessionHelp,
		Args: oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			answer, err := e.compact(c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(answer)
			}
			fmt.Fprintf(e.out, "%s: a checkpoint of %s, request #%d: ~%s tokens to ~%s, %s bytes; %s view %s --checkpoint prints it\n", answer.Decision, answer.Thread, answer.Turn,
				count(answer.EstBefore), count(answer.EstAfter), count(answer.Checkpoint), e.self(), answer.Session)
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
		return compacted{}, err
	}
	return compacted{name, *done.Compact}, nil
}
