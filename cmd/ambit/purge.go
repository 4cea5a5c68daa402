package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ambit/entry"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// purged is the answer of ambit purge.
type purged struct {
	Session string    `json:"session"`
	Bodies  int       `json:"bodies"`
	Bytes   int64     `json:"bytes"`
	Shared  []sharing `json:"shared"`
}

func newPurge(e *env) *cobra.Command {
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "purge SESSION [REF]",
		Short: "Overwrite all that passed in a session, or the text of one entry, for good; hashes stay",
		Long: "Overwrite the bytes of all bodies of a session, for good. Its entries stay: what was sent when and where, titles, token\n" +
			"counts and hashes, and no text. Other sessions keep what they hold themselves; who shares bodies is named first, and\n" +
			"forks of the session lose those that they have from it. Then it asks; without a terminal it wants --yes.\n\n" +
			"A session that ambit up is recording is purged by that; what comes after begins a new one. An agent that goes on sends\n" +
			"all of its conversation again.\n\n" +
			"With a REF, such as e12, it is the text of that entry only, wherever the session holds it: a message, an answer, what was new in\n" +
			"a request, a pin, a note, an edit. What was sent with it cannot be shown whole any more, but what stands beside it is still found\n" +
			"and read. Entries that say the same keep theirs, and are named.\n\n" + sessionHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return misused("purge: takes a SESSION and perhaps a REF, not %s", plural(len(args), "argument", "arguments"))
			}
			return oneSession(c, args[:min(len(args), 1)])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return e.purgeText(c.Context(), args[0], args[1], yes, asJSON)
			}
			answer, again, err := e.purge(c.Context(), args[0], yes, asJSON)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(answer)
			}
			how := "is purged"
			if again {
				how = "was purged already"
			}
			fmt.Fprintf(e.out, "session %s %s: %s, %s bytes\n", answer.Session, how, plural(answer.Bodies, "body", "bodies"), count(answer.Bytes))
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// purge names what shares bodies with a session, asks, and has the session purged. One that was purged before stays as it
// is; where that was interrupted it is finished.
func (e *env) purge(ctx context.Context, arg string, yes, quiet bool) (answer purged, again bool, err error) {
	d, name, err := e.one(ctx, arg)
	if err != nil {
		return purged{}, false, err
	}
	defer d.Close()
	before, err := d.Purged(name)
	if err != nil {
		return purged{}, false, err
	}
	if before != nil && before.Left == 0 {
		return purged{name, before.Bodies, before.Bytes, []sharing{}}, true, nil
	}
	shared := []sharing{}
	if before == nil {
		p, err := e.planPurge(ctx, d, name)
		if err != nil {
			return purged{}, false, err
		}
		if err := e.agree(ctx, p, yes, quiet); err != nil {
			return purged{}, false, err
		}
		shared = p.shared
	}
	done, err := e.doPurge(ctx, name)
	return purged{name, done.Bodies, done.Bytes, shared}, false, err
}

// agree says what will be removed, and asks.
func (e *env) agree(ctx context.Context, p purgePlan, yes, quiet bool) error {
	what := "session " + p.session
	if p.text != nil {
		what = p.text.Of.Ref() + " of " + what
	}
	asks := !yes && e.asks()
	if !yes && !asks {
		why := what + " is not purged: that would remove " + p.size() + " for good"
		if text := p.needed(); text != "" {
			why += "; " + text
		}
		return &hintError{errors.New(why), "there is no terminal to ask on; --yes says that it may be done"}
	}
	if !quiet || asks {
		e.say("%s: %s", what, p.size())
		for _, line := range p.lines() {
			e.say("%s", line)
		}
	}
	if !asks {
		return nil
	}
	fmt.Fprintf(e.err, "Purge %s for good? [y/N] ", what)
	said, err := e.line(ctx)
	if err != nil {
		return err
	}
	if said = strings.ToLower(strings.TrimSpace(said)); said != "y" && said != "yes" {
		return errors.New("nothing was purged")
	}
	return nil
}

// doPurge purges a session, or has the ambit up do it that holds it.
func (e *env) doPurge(ctx context.Context, name string) (entry.Purged, error) {
	d, _, err := e.record(journal.Holder{Command: "purge"})
	if err != nil {
		return entry.Purged{}, err
	}
	defer d.Close()
	if !d.Present(ctx, name) { // a lock would make it again
		return entry.Purged{}, fmt.Errorf("%w: %q", journal.ErrNoSession, name)
	}
	unlock, err := d.Lock(ctx, name)
	var busy *journal.BusyError
	switch {
	case errors.As(err, &busy) && busy.Holder.Addr != "":
		return e.forward(ctx, d, busy)
	case errors.As(err, &busy):
		return entry.Purged{}, &hintError{busy, "try again when it is done"}
	case errors.Is(err, journal.ErrCorrupt):
		return entry.Purged{}, &hintError{err, "a session that is damaged so is removed with its folder: rm -r " + shellQuote(d.Folder(name))}
	case err != nil:
		return entry.Purged{}, err
	}
	p, err := d.Purge(ctx, name)
	return p, errors.Join(err, unlock())
}

// purgedText says when a session was purged, and how much.
func purgedText(p *entry.Purged, at time.Time) string {
	return fmt.Sprintf("purged %s: %s, %s bytes", clock(at), plural(p.Bodies, "body", "bodies"), count(p.Bytes))
}
