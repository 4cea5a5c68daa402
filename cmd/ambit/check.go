package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ambit/internal/pool"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// checkReport is the answer of ambit check.
type checkReport struct {
	Sessions      int                `json:"sessions"`
	Entries       int                `json:"entries"`
	Bodies        int                `json:"bodies"`
	Rebuilt       int                `json:"rebuilt"`
	Reconstructed int                `json:"reconstructed"`
	BodyBytes     int64              `json:"body_bytes"`
	Purged        int                `json:"purged"`
	LeftBytes     int64              `json:"left_bytes,omitempty"` // of sessions whose purge was interrupted
	Missing       int                `json:"missing"`              // requests and responses that passed unrecorded
	Mismatches    []journal.Mismatch `json:"mismatches"`
	Damage        []journal.Damage   `json:"damage"`

	unfinished []string // sessions whose purge was interrupted, with the entry whose text it is of
	inPart     int      // of those that were purged, how many only lost the text of some entries
}

func newCheck(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [SESSION…]",
		Short: "Verify every entry and rebuild every body of all or some sessions",
		Long: "Verify every entry and rebuild every body of all or some sessions. What passed unrecorded, and what was purged, is\n" +
			"counted; it is no damage.\n\n" + sessionHelp,
		RunE: func(c *cobra.Command, args []string) error {
			report, err := e.check(c.Context(), args)
			if err != nil {
				return err
			}
			if asJSON {
				err = e.printJSON(report)
			} else {
				e.printCheck(report)
			}
			if err == nil && (len(report.Mismatches) > 0 || len(report.Damage) > 0) {
				err = errReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func (e *env) check(ctx context.Context, args []string) (checkReport, error) {
	total := checkReport{Mismatches: []journal.Mismatch{}, Damage: []journal.Damage{}}
	bar := e.progress("checking")
	defer bar.end()
	d, err := e.read(func(r journal.Report) {
		bar.at(total.BodyBytes+r.Bytes, "%s bodies of session %s", count(r.Bodies), r.Session)
	})
	if errors.Is(err, fs.ErrNotExist) && len(args) == 0 {
		return total, nil
	}
	if err != nil {
		return total, err
	}
	defer d.Close()
	names, err := e.some(ctx, d, args)
	if err != nil {
		return total, err
	}
	for _, name := range names {
		r, err := d.Check(ctx, name)
		if ctx.Err() != nil {
			return total, err
		}
		if errors.Is(err, journal.ErrNoSession) && len(args) == 0 {
			continue // it was removed since they were listed
		}
		if err != nil { // it cannot be read; the others are checked all the same
			r.Damage = append(r.Damage, journal.Damage{Session: name, Cause: err.Error()})
		}
		total.Sessions++
		total.Entries += r.Entries
		total.Bodies += r.Bodies
		total.Rebuilt += r.Rebuilt
		total.BodyBytes += r.Bytes
		total.Purged += r.Purged
		total.inPart += r.InPart
		if total.LeftBytes += r.Left; r.LeftOf > 0 {
			total.unfinished = append(total.unfinished, name+" "+r.LeftOf.Ref())
		} else if r.Left > 0 {
			total.unfinished = append(total.unfinished, name)
		}
		total.Mismatches = append(total.Mismatches, r.Mismatches...)
		total.Damage = append(total.Damage, r.Damage...)
		if p, err := pool.Load(ctx, d, name); err == nil || errors.Is(err, journal.ErrCorrupt) {
			total.Missing += p.Missing
		}
	}
	return total, nil
}

// shown is how many of each list ambit check shows to people; --json has all of them.
const shown = 10

func (e *env) printCheck(r checkReport) {
	fmt.Fprintf(e.out, "%s, %s, %s (%s bytes): %s rebuild to the SHA-256 taken when they passed\n",
		plural(r.Sessions, "session", "sessions"), plural(r.Entries, "entry", "entries"), plural(r.Bodies, "body", "bodies"),
		count(r.BodyBytes), count(r.Rebuilt))
	if r.Missing > 0 {
		fmt.Fprintf(e.out, "%s passed unrecorded; the gap entries of %s log say why\n",
			plural(r.Missing, "request or response", "requests or responses"), e.self())
	}
	if whole := r.Purged - r.inPart; whole > 0 {
		fmt.Fprintf(e.out, "%s purged: only their hashes are left\n", plural(whole, "body was", "bodies were"))
	}
	if r.inPart > 0 {
		fmt.Fprintf(e.out, "%s purged in part: the text of some entries is gone, what stands beside it is there\n", plural(r.inPart, "body was", "bodies were"))
	}
	for _, name := range r.unfinished {
		e.say("the purge of session %s was interrupted, or is under way: some of its text is still there", name)
		e.hint("%s purge %s finishes it", e.self(), name)
	}
	for _, x := range r.Damage[:min(shown, len(r.Damage))] {
		if x.File == "" {
			e.say("session %s cannot be read: %s", x.Session, x.Cause)
		} else {
			e.say("session %s: %s is damaged at byte %d: %s", x.Session, x.File, x.Offset, x.Cause)
		}
	}
	for _, m := range r.Mismatches[:min(shown, len(r.Mismatches))] {
		e.say("session %s, %s: the body does not rebuild: %s", m.Session, m.Ref, m.Cause)
	}
	if len(r.Damage) > shown || len(r.Mismatches) > shown {
		var all []string
		if n := len(r.Damage); n > 0 {
			all = append(all, plural(n, "damaged place", "damaged places"))
		}
		if n := len(r.Mismatches); n > 0 {
			all = append(all, plural(n, "body that does not rebuild", "bodies that do not rebuild"))
		}
		e.say("%s in all", strings.Join(all, " and "))
		e.hint("%s check --json lists them", e.self())
	}
}
