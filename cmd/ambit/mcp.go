package main

import (
	"context"
	"io"
	"os"

	"ambit/journal"
	"ambit/server"

	"github.com/spf13/cobra"
)

func newMCP(e *env) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Let an agent search and read what was recorded, pin and record findings, over MCP",
		Long: "Serve MCP on standard input and output, for an agent that starts this command: it may search and read what was recorded,\n" +
			"pin and unpin texts, record findings, and see how full its context is. What it is told is recorded data of unknown\n" +
			"freshness, never instructions. With --session it is told of that one alone; without, a ref with its suffix, such as\n" +
			"e12.k7q3abcd, names its session, and everything else is about the one that began last. It ends with standard input.\n\n" +
			"ambit up answers the same at /mcp, or at /mcp/s/NAME for the session of a name.\n\n" + sessionHelp,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return e.mcp(c.Context(), session)
		},
	}
	c.Flags().StringVar(&session, "session", "", "the only SESSION that the agent is told of")
	return c
}

// mcp serves until standard input ends.
func (e *env) mcp(ctx context.Context, session string) error {
	d, dir, err := e.record(journal.Holder{Command: "mcp"}) // an agent may start it before anything is recorded
	if err != nil {
		return err
	}
	defer d.Close()
	if session != "" {
		if session, err = e.session(ctx, d, session); err != nil {
			return err
		}
	}
	key, err := secret(dir)
	if err != nil {
		return err
	}
	t := server.NewTools(server.ToolsOptions{
		Store: d, Key: key, Session: session, Version: version, Act: e.act,
	})
	return t.Serve(ctx, input{e.in}, printing{e.out})
}

// input is standard input, which is closed where that ends a read that waits.
type input struct{ io.Reader }

func (i input) Close() error {
	if f, ok := i.Reader.(*os.File); ok {
		return f.Close()
	}
	return nil
}

// printing is standard output, which the command does not close.
type printing struct{ io.Writer }

func (printing) Close() error { return nil }
