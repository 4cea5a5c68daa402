package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ambit"
	"ambit/journal"

	"github.com/spf13/cobra"
)

func newExport(e *env) *cobra.Command {
	var public bool
	const what = "Print a session as JSON lines: its frames, and each body before the first frame that relies on it"
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: what,
		Long:  what + ".\nOr, with --public, only its public text, each text where it first passed.\n\n" + sessionHelp,
		Args:  oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			d, name, err := e.one(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			bar := e.progress("exporting")
			defer bar.end()
			to := &counted{to: e.out, bar: bar}
			if public {
				return e.exportPublic(c.Context(), d, name, to)
			}
			if err := journal.Export(c.Context(), d, name, to); err != nil {
				return e.damaged(err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&public, "public", false, "only what was said, called and given back: no reasoning, no system text, no bodies")
	c.Flags().Bool("json", true, "accepted for symmetry: an export is always JSON lines")
	return c
}

// publicText is one line of ambit export --public.
type publicText struct {
	Ref      string `json:"ref"`
	Revision string `json:"revision"`
	N        int    `json:"n"`
	Field    string `json:"field"`
	Said     string `json:"said,omitempty"`
	Text     string `json:"text"`
}

// exportPublic prints a session's public text. What cannot be read is left out, and said at the end.
func (e *env) exportPublic(ctx context.Context, d *journal.Dir, name string, to io.Writer) error {
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	first := err
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	printed := make(map[[sha256.Size]byte]bool)
	for text, err := range rec.Texts(ctx, ambit.AllBranches) {
		sum := sha256.Sum256([]byte(text.Text))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && printed[sum]:
		case err == nil:
			printed[sum] = true
			if err := enc.Encode(publicText{text.Ref, text.Revision, text.N, text.Field, text.Said, text.Text}); err != nil {
				return err
			}
		case first == nil:
			first = fmt.Errorf("not all public text is here: %w", err)
		}
	}
	return e.damaged(first)
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
