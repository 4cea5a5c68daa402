package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"ambit/internal/pool"

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
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(report)
			}
			fmt.Fprintf(e.out, "%s, %s folded again\n", plural(report.Sessions, "session", "sessions"), plural(report.Entries, "entry", "entries"))
			return nil
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
	for _, name := range names {
		p, err := pool.Fresh(ctx, d, name)
		if err != nil {
			return report, e.damaged(err) // what was derived before stays as it was
		}
		if err := d.DropDerived(name); err != nil {
			return report, err
		}
		if err := pool.Store(d, name, p); err != nil {
			return report, err
		}
		report.Sessions++
		report.Entries += int(p.Seq)
		bar.at(0, "%s", plural(report.Sessions, "session", "sessions"))
	}
	return report, nil
}
