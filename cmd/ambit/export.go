package main

import (
	"io"

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
			bar := e.progress("exporting")
			defer bar.end()
			if err := journal.Export(c.Context(), d, name, &counted{to: e.out, bar: bar}); err != nil {
				return e.damaged(err)
			}
			return nil
		},
	}
	c.Flags().Bool("json", true, "accepted for symmetry: an export is always JSON lines")
	return c
}

// counted shows how much was written.
type counted struct {
	to  io.Writer
	bar *progress
	n   int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	c.bar.at(c.n, "%s bytes", count(c.n))
	return n, err
}
