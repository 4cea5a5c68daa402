package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"ambit/internal/pool"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// reindexReport is the answer of ambit reindex.
type reindexReport struct {
	Sessions int `json:"sessions"`
	Entries  int `json:"entries"`
}

func newReindex(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "reindex [SESSION…]",
		Short: "Delete the derived state of all or some sessions and fold it again from their journals",
		Long:  "Delete the derived state of all or some sessions and fold it again from their journals.\n\n" + sessionHelp,
		RunE: func(c *cobra.Command, args []string) error {
			report, err := e.reindex(c.Context(), args)
			if err != nil && report.Sessions == 0 {
				return err
			}
			if asJSON {
				if failed := e.printJSON(report); failed != nil {
					return failed
				}
			} else {
				fmt.Fprintf(e.out, "%s, %s folded again\n", plural(report.Sessions, "session", "sessions"), plural(report.Entries, "entry", "entries"))
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func (e *env) reindex(ctx context.Context, args []string) (reindexReport, error) {
	var report reindexReport
	d, err := e.read(nil)
	if errors.Is(err, fs.ErrNotExist) && len(args) == 0 {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer d.Close()
	names, err := e.some(ctx, d, args)
	if err != nil {
		return report, err
	}
	bar := e.progress("folding")
	defer bar.end()
	var failed error
	for _, name := range names {
		entries, err := fold(ctx, d, name)
		switch {
		case ctx.Err() != nil:
			return report, ctx.Err()
		case err != nil && failed == nil:
			failed = fmt.Errorf("session %s: %w", name, err) // what was derived of it before stays as it was
		case err == nil:
			report.Sessions++
			report.Entries += entries
		}
		bar.at(0, "%s", plural(report.Sessions, "session", "sessions"))
	}
	return report, e.damaged(failed)
}

// fold makes a session's derived state again, and returns of how many entries.
func fold(ctx context.Context, d *journal.Dir, name string) (int, error) {
	p, err := pool.Fresh(ctx, d, name)
	if err != nil {
		return 0, err
	}
	if err := d.DropDerived(name); err != nil {
		return 0, err
	}
	return int(p.Seq), pool.Store(d, name, p)
}
