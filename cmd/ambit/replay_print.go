package main

import (
	"fmt"
	"math"
	"strings"

	"ambit/internal/replay"
)

// maxBreaks is how many breaks of a file are printed; --json has all.
const maxBreaks = 8

// print prints the reports for people: for each file a table of the policies and what broke the recorded cache, and at the
// end one table over all.
func (r *replaying) print() {
	if len(r.reports) > 1 {
		recorded := 0.0
		for _, report := range r.reports {
			recorded += report.Recorded.Compared
		}
		fmt.Fprintf(r.out, "All %s, on the turns at which every policy fits; as recorded these cost %s\n\n", plural(len(r.reports), "file", "files"), dollars(recorded))
		r.policyTable(replay.Totals(r.reports))
		fmt.Fprintln(r.out)
	}
	for _, report := range r.reports {
		r.printFile(report)
	}
}

func (r *replaying) printFile(f *replay.Report) {
	fmt.Fprintf(r.out, "%s  %s, %s, largest request %s tokens\n", printable(f.Path), f.Format, plural(f.Turns, "turn", "turns"), count(f.Peak))
	if f.Compared < f.Turns {
		fmt.Fprintf(r.out, "compared on the first %s: later requests of %s do not fit\n", plural(f.Compared, "turn", "turns"), strings.Join(f.Limited, ", "))
	}
	for _, lack := range f.Lacks {
		fmt.Fprintf(r.out, "it has %s\n", lack)
	}
	fmt.Fprintln(r.out)
	r.policyTable(f.Policies)
	r.printRecorded(&f.Recorded)
	fmt.Fprintln(r.out)
}

// policyTable prints what policies made of the same turns, against append_only where that is among them.
func (r *replaying) policyTable(list []replay.Outcome) {
	floor, limited := -1.0, false
	for _, o := range list {
		limited = limited || !o.Fits
		if o.Policy == "append_only" {
			floor = o.Cost
		}
	}
	t := r.table("POLICY", ">INPUT", ">HIT", ">EST. REUSE", ">COST", ">OF IT RECALL", ">SAVES", ">RECALLS", ">QUOTES", ">NAMES", ">PINS", "")
	for _, o := range list {
		saves, note := "", ""
		if floor > 0 && o.Policy != "append_only" {
			saves = fmt.Sprintf("%.0f%%", math.Round(100*(1-o.Cost/floor))+0)
		}
		if !o.Fits {
			note = fmt.Sprintf("fits %s, %s", plural(o.FitTurns, "turn", "turns"), dollars(o.WholeCost))
		} else if limited {
			note = fmt.Sprintf("all %s, %s", plural(o.FitTurns, "turn", "turns"), dollars(o.WholeCost))
		}
		t.row(o.Policy, count(o.Input), percent(o.HitRate), percent(o.Reuse), dollars(o.Cost), dollars(o.RecallCost), saves,
			count(o.Recalls), seen(o.Evidence.Quotes), seen(o.Evidence.Names), fmt.Sprintf("%d/%d", o.Pins.Kept, o.Pins.Total), note)
	}
	t.flush()
}

// seen says how much of what was needed a policy showed, and how much of the rest could be recalled.
func seen(e replay.Evidence) string {
	text := fmt.Sprintf("%d/%d", e.Visible, e.Needed)
	if e.Recalled > 0 {
		text += fmt.Sprintf("+%d", e.Recalled)
	}
	return text
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func dollars(usd float64) string {
	if usd >= 100 {
		return fmt.Sprintf("$%.0f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// printRecorded prints what the requests cost as they were sent, and the dearest breaks.
func (r *replaying) printRecorded(rec *replay.Recorded) {
	how := "as its provider counted it"
	if rec.Simulated {
		how = "as a simulated cache makes it: nobody counted"
	}
	fmt.Fprintf(r.out, "\nAs recorded the turns compared cost %s; input of all %s cost %s, %s read from the cache, %s\n",
		dollars(rec.Compared), plural(rec.Calls, "request", "requests"), dollars(rec.InputCost), percent(rec.HitRate), how)
	if len(rec.Breaks) == 0 {
		return
	}
	t := r.table(">REQUEST", "CAUSE", ">REWRITTEN", ">COST", "FIRST DIFFERENCE")
	for _, b := range replay.Dearest(rec.Breaks, maxBreaks) {
		t.row(count(b.Turn), b.Says(), count(b.Rewritten), dollars(b.Cost), b.First)
	}
	t.flush()
	if more := len(rec.Breaks) - maxBreaks; more > 0 {
		fmt.Fprintf(r.out, "and %s, which --json lists\n", plural(more, "cheaper one", "cheaper ones"))
	}
}
