package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"ambit/internal/replay"

	"github.com/spf13/cobra"
)

func newUsage(e *env) *cobra.Command {
	var asJSON, everything bool
	c := &cobra.Command{
		Use:   "usage [SESSION…|PATH…]",
		Short: "Say where the money of recorded sessions went, and what broke their caches",
		Long: "Say where the money of recorded sessions went: cache reads, cache writes, output, as the providers counted them, and what made\n" +
			"them write again what they had already: a pause longer than the cache keeps a prompt, a client that took results out, a resumed\n" +
			"session, a changed prefix, a compaction, another model. A session's sub-agents count with it. A PATH is a recording of another\n" +
			"agent, or a folder of them. Without one, or with --all, it reads what clients keep on this computer, where they keep it.\n" +
			"Nothing is taken in, and nothing there is changed.",
		RunE: func(c *cobra.Command, args []string) error {
			if everything && len(args) > 0 {
				return misused("--all is what clients keep here, so no SESSION or PATH goes with it")
			}
			return e.usage(c.Context(), args, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVar(&everything, "all", false, "what the clients on this computer keep, as without an argument")
	return c
}

// used is the answer of ambit usage.
type used struct {
	*replay.Account
	WouldHave *wouldHave `json:"would_have_cost,omitempty"` // where sessions or recordings were named
}

func (e *env) usage(ctx context.Context, args []string, asJSON bool) error {
	account, would := replay.NewAccount(), newSaving()
	if len(args) == 0 {
		own, err := e.ownRecordings(ctx)
		if err != nil {
			return err
		}
		args, would = own, nil // which are too many
	}
	all := e.recordings("reading", func(ctx context.Context, f replay.File) error {
		account.Add(f)
		if would != nil {
			would.add(f)
		}
		return ctx.Err()
	})
	all.tasks = true
	if err := all.run(ctx, args); err != nil {
		return err
	}
	if account.Files == 0 && all.failed > 0 {
		return errReported
	}
	if asJSON {
		if err := e.printJSON(used{account, would.found()}); err != nil {
			return err
		}
	} else {
		e.printUsage(account)
		if line := would.found().says(); line != "" {
			fmt.Fprintf(e.out, "\n%s\n", line)
		}
	}
	if all.failed > 0 {
		return errReported
	}
	return nil
}

// ownRecordings are the folders in which clients on this computer keep recordings.
func (e *env) ownRecordings(ctx context.Context) ([]string, error) {
	var found, looked []string
	for _, own := range e.ownFolders() {
		if own.path == "" {
			continue
		}
		looked = append(looked, own.path)
		if own.measure(ctx); own.files > 0 {
			found = append(found, own.holds...)
		}
	}
	if len(found) == 0 {
		return nil, noRecordings(looked, "name a session, files or folders: "+e.self()+" usage PATH")
	}
	return found, ctx.Err()
}

// maxDear is how many of the dearest events are printed.
const maxDear = 8

// printUsage prints an account such that it is read in ten seconds.
func (e *env) printUsage(a *replay.Account) {
	when := ""
	if !a.From.IsZero() {
		when = ", " + a.From.Format("2006-01-02") + " to " + a.To.Format("2006-01-02")
	}
	fmt.Fprintf(e.out, "%s, %s%s: %s\n", plural(a.Files, "session", "sessions"), plural(a.Calls, "request", "requests"), when, dollars(a.Cost))
	if a.Uncount > 0 {
		fmt.Fprintf(e.out, "and %s that nobody counted\n", plural(a.Uncount, "request", "requests"))
	}
	if a.Calls == 0 && a.Uncount > 0 {
		e.say("%s replay PATH estimates what they cost", e.self())
	}
	if a.Streamed > 0 {
		fmt.Fprintf(e.out, "output of %s is estimated from what was said: the client kept counts that were taken while it streamed\n", plural(a.Streamed, "request", "requests"))
	}
	if a.Repeated > 0 {
		fmt.Fprintf(e.out, "%s left out, which another file tells, too\n", plural(a.Repeated, "request is", "requests are"))
	}
	if len(a.Unpriced) > 0 {
		fmt.Fprintf(e.out, "without prices, so counted as free: %s\n", printable(strings.Join(a.Unpriced, ", ")))
	}
	fmt.Fprintln(e.out)
	t := e.table("WHERE IT WENT", ">TOKENS", ">COST", ">SHARE")
	for _, k := range a.ByKind {
		t.row(strings.ReplaceAll(k.Kind, "_", " "), count(k.Tokens), dollars(k.Cost), share(k.Cost, a.Cost))
	}
	t.flush()
	if len(a.Causes) == 0 {
		return
	}
	fmt.Fprintln(e.out)
	t = e.table("WHAT BROKE THE CACHE", ">EVENTS", ">TOKENS PAID AGAIN", ">EXTRA COST", ">SHARE")
	for _, c := range a.Causes {
		t.row(causes[c.Cause], count(c.Events), count(c.Rewritten), dollars(c.Cost), share(c.Cost, a.Cost))
	}
	t.flush()
	fmt.Fprintln(e.out)
	t = e.table("DEAREST", ">EXTRA COST", ">TOKENS", ">REQUEST", "WHERE")
	for _, ev := range a.Events[:min(maxDear, len(a.Events))] {
		when := ""
		if !ev.At.IsZero() {
			when = ev.At.Format("2006-01-02 15:04")
		}
		t.row(strings.TrimSpace(when+" "+ev.Says()), dollars(ev.Cost), count(ev.Rewritten), count(ev.Turn), filepath.Base(ev.Path))
	}
	t.flush()
}

// causes says for people what each cause is.
var causes = map[replay.Cause]string{
	replay.ModelSwitch: "another model", replay.Compaction: "compaction", replay.ClientPrune: "the client took results out",
	replay.Idle: "idle past the time to live", replay.Boundary: "boundary by Ambit", replay.Resume: "the client was started anew", replay.ChangedEffort: "other thinking effort",
	replay.Rewind: "rewind", replay.ChangedPrefix: "changed prefix", replay.Unexplained: "unexplained",
}

func share(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*part/whole)
}
