package main

import (
	"ambit/journal"

	"github.com/spf13/cobra"
)

func newExport(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Print a session as JSON lines: its frames, and each body before the first frame that relies on it",
		Long:  "Print a session as JSON lines: its frames, and each body before the first frame that relies on it.\n\n" + sessionHelp,
		Args:  oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			d, name, err := e.one(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			if err := journal.Export(c.Context(), d, name, e.out); err != nil {
				return e.damaged(err)
			}
			return nil
		},
	}
	c.Flags().Bool("json", true, "accepted for symmetry: an export is always JSON lines")
	return c
}
