package main

import (
	"context"
	"fmt"
	"strings"

	"ambit"
	"ambit/server"

	"github.com/spf13/cobra"
)

// pinned is the answer of ambit pin and ambit unpin.
type pinned struct {
	Session string       `json:"session"`
	Pin     *server.Pin  `json:"pin,omitempty"`
	Pins    []server.Pin `json:"pins"` // that hold now
}

func newPin(e *env) *cobra.Command {
	var text, field string
	var asJSON bool
	c := &cobra.Command{
		Use:   "pin SESSION [REF]",
		Short: "Keep a text in every request of a session that Ambit edits; or show what is kept",
		Long: "Keep a text in every main request of a session that Ambit edits: one that is given by --text, or what an entry says, by its\n" +
			"REF, such as e12. Without either it shows the pins that hold. A pin has at most " + count(ambit.MaxPin) + " bytes, a session at most " + count(ambit.MaxPins) + ",\n" +
			"and all together take at most a quarter of what a model can use of its window. A pin stands from the next request on that the\n" +
			"policy cut or full edits; under record nothing is edited, and no request holds it.\n\n" + sessionHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return misused("pin: takes a SESSION and perhaps a REF, not %s; --text takes a text", plural(len(args), "argument", "arguments"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			ask := server.Ask{By: ambit.ByUser, Text: text, Field: field}
			if len(args) == 2 {
				ask.Ref = args[1]
			}
			given := c.Flags().Changed("text")
			switch {
			case given && len(args) == 2:
				return misused("pin: --text and a REF are two pins; give one of them")
			case field != "" && len(args) < 2:
				return misused("pin: --field goes with a REF")
			case given || len(args) == 2:
				return e.pin(c.Context(), args[0], server.ActPin, ask, asJSON)
			}
			return e.pin(c.Context(), args[0], "", ask, asJSON)
		},
	}
	c.Flags().StringVar(&text, "text", "", "the text")
	c.Flags().StringVar(&field, "field", "", "of a REF only this field, a JSON pointer as search shows it")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func newUnpin(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "unpin SESSION PIN",
		Short: "Take a pin off, such as p1",
		Long: "Take a pin off, such as p1. What it kept is not put into requests that do not hold it yet. Those that go on from one that holds\n" +
			"it keep it until the next boundary, when something of what was sent goes otherwise: to take it out sooner would cost more.\n\n" + sessionHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return misused("unpin: takes a SESSION and one PIN, not %s", plural(len(args), "argument", "arguments"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return e.pin(c.Context(), args[0], server.ActUnpin, server.Ask{By: ambit.ByUser, Pin: args[1]}, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// pin pins something, takes a pin off, or does neither, and prints what comes of it.
func (e *env) pin(ctx context.Context, arg, act string, a server.Ask, asJSON bool) error {
	d, name, err := e.one(ctx, arg) // which makes nothing where there is nothing
	if err != nil {
		return err
	}
	defer d.Close()
	answer := pinned{Session: name, Pins: []server.Pin{}}
	if act != "" {
		done, err := e.act(ctx, name, act, a)
		if err != nil {
			return err
		}
		answer.Pin = done.Pin
	}
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil {
		return e.damaged(err)
	}
	pins, err := rec.Pins(ctx)
	for _, p := range pins {
		answer.Pins = append(answer.Pins, server.PinOf(p))
	}
	switch {
	case err != nil:
		return e.damaged(err)
	case asJSON:
		return e.printJSON(answer)
	case act == server.ActPin:
		fmt.Fprintf(e.out, "%s holds in session %s: %s\n", answer.Pin.ID, name, pinLine(*answer.Pin))
		e.say("it stands from the next request on that cut or full edits; under record nothing is edited")
	case act == server.ActUnpin:
		fmt.Fprintf(e.out, "%s is off: %s\n", answer.Pin.ID, pinLine(*answer.Pin))
		e.say("a conversation that holds it already keeps it until its next boundary")
	case len(pins) == 0:
		e.say("session %s has no pins", name)
	}
	if act == "" {
		for _, p := range answer.Pins {
			e.put("%-5s%-7s%-8s%s", p.ID, p.By, p.Ref, strings.Join(strings.Fields(p.Text), " "))
		}
	}
	return nil
}

// pinLine is a pin's text in one line.
func pinLine(p server.Pin) string {
	return printable(clip(strings.Join(strings.Fields(p.Text), " "), maxShown))
}
