package main

import (
	"github.com/spf13/cobra"
)

// sessionHelp says how a command is told which session is meant.
const sessionHelp = "A SESSION is given by its name, by the beginning of a name that no other session has, as last, which is\n" +
	"the one that began last, or by its title; of several with that title the one that began last is meant."

// noArgs refuses arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused("%s: takes no arguments", c.Name())
	}
	return nil
}

// oneSession wants one session.
func oneSession(c *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return misused("%s: name a SESSION, or last", c.Name())
	case 1:
		return nil
	default:
		return misused("%s: takes one SESSION, not %d", c.Name(), len(args))
	}
}

// newHelp makes ambit help, which refuses what is no command.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil {
				return misused("%v", err)
			}
			if len(rest) > 0 {
				return misused("help: %s has no command %q", about.CommandPath(), rest[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
