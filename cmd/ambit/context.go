package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"ambit"
	"ambit/server"

	"github.com/spf13/cobra"
)

// gauging is one call of ambit context.
type gauging struct {
	*env
	looking
}

func newContext(e *env) *cobra.Command {
	g := &gauging{env: e}
	c := &cobra.Command{
		Use:   "context SESSION",
		Short: "Say what takes a request's tokens, and how full it makes the window",
		Long: "Say what takes a request's tokens, section by section, and how full it makes the model's window. What ~ stands before is an\n" +
			"estimate. The last real total is what the provider counted, input and output, of the newest answered request of the\n" +
			"generation: the requests since the conversation was last compacted, changed, pruned or wound back, by the client or by\n" +
			"Ambit. Until there is one the pressure is unknown. The window is that of a table of models, for display only. What an\n" +
			"imported recording does not have, such as tools and system text, is the section not-recorded: what the provider counted\n" +
			"beside the messages.\n\n" +
			"An item is retained where an entry of the session has it and it was not purged, and visible where the request says it. Of a\n" +
			"request that Ambit edited it is said what was decided, at which price, and which pins it holds.\n\n" + sessionHelp,
		Args: oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			if err := g.settled(c); err != nil {
				return err
			}
			return e.glance(c.Context(), args[0], &g.looking, g.show)
		},
	}
	g.add(c)
	return c
}

func (g *gauging) show(ctx context.Context, rec *ambit.Recording) error {
	gauge, err := rec.Gauge(ctx, g.thread, g.turn)
	if err != nil {
		return err
	}
	if gauge.Purged {
		g.say("session %s, or one that it goes on from, was purged: what was said in request %d is gone", gauge.Session, gauge.Turn)
	}
	notes, notesErr := rec.Notes(ctx) // those that can be read are listed all the same
	if g.asJSON {
		shown := gaugeShown{Gauge: gauge, Notes: []server.Note{}}
		for _, n := range notes {
			shown.Notes = append(shown.Notes, server.NoteOf(n))
		}
		return errors.Join(g.printJSON(shown), notesErr)
	}
	g.put("%s", named(gauge.Session, gauge.Thread, gauge.Turn, gauge.Generation, gauge.Model))
	for _, line := range gaugeLines(gauge) {
		g.put("%s", line)
	}
	for _, line := range slices.Concat(pastLines(gauge), itemLines(gauge), decidedLines(gauge)) {
		g.wrap("   ", line)
	}
	if len(notes) > 0 {
		g.put(" findings: %s, unverified; read prints one by its ref", count(len(notes)))
	}
	for _, n := range notes {
		g.put("  %-4s %-6s %s", n.ID, n.Seq.Ref(), strings.Join(strings.Fields(n.By+": "+n.Text), " "))
	}
	return notesErr
}

// gaugeShown is the answer of ambit context: the gauge, and what was found out in the session.
type gaugeShown struct {
	*ambit.Gauge
	Notes []server.Note `json:"notes"`
}

// wrap prints a text whole, in lines that are no wider than a page where its words allow that; those behind the first stand
// behind a lead.
func (e *env) wrap(lead, text string) {
	text = printable(strings.TrimRight(text, " "))
	for runes := []rune(text); len(runes) > pageWidth; runes = []rune(text) {
		at, begun := 0, false
		for i, r := range runes {
			if begun = begun || r != ' '; r == ' ' && begun && (i <= pageWidth || at == 0) {
				at = i
			}
		}
		if at == 0 { // one long word
			break
		}
		fmt.Fprintln(e.out, strings.TrimRight(string(runes[:at]), " "))
		text = lead + strings.TrimLeft(string(runes[at:]), " ")
	}
	fmt.Fprintln(e.out, text)
}

// gaugeWidth is how wide the sections with their tokens are, in characters.
const gaugeWidth = 38

// gaugeLines are the sections of a request, the window, and how full it is.
func gaugeLines(g *ambit.Gauge) []string {
	lines := []string{fmt.Sprintf(" context · section estimates (%s)", g.Estimator)}
	row := func(name string, tokens int) {
		n := "~" + count(tokens)
		lines = append(lines, fmt.Sprintf(" %s%*s tokens", name, max(1+len(n), gaugeWidth-utf8.RuneCountInString(name)), n))
	}
	for _, s := range g.Sections {
		row(s.Name, s.EstTokens)
	}
	row("total (estimated)", g.EstTotal)
	if g.Purged {
		lines = []string{" context · purged: nothing is left to estimate"}
	}
	if g.Window > 0 {
		lines = append(lines, fmt.Sprintf(" window %s · usable %s (output + compaction reserve held back)", count(g.Window), count(g.Usable)))
	} else {
		lines = append(lines, " window unknown: the model is in no table")
	}
	pressure := "unknown"
	if g.Pressure != nil {
		pressure = fmt.Sprintf("%.0f%%", math.Round(*g.Pressure*100))
	}
	if g.State == ambit.GaugeKnown {
		lines = append(lines, fmt.Sprintf(" last real total %s tokens · pressure %s", count(g.LastRealTotal), pressure))
	} else {
		lines = append(lines, fmt.Sprintf(" last real total unknown: no response of this generation is counted · pressure %s", pressure))
	}
	return lines
}

// pastLines say what goes beyond the listing: the estimate of the next request, where the window comes from, and what
// the thread has that the request does not hold.
func pastLines(g *ambit.Gauge) (lines []string) {
	if n := g.Next; n != nil {
		lines = append(lines, fmt.Sprintf(" next request ~%s tokens, most likely no more than ~%s, and what is yet to be said", count(n.EstTokens), count(n.EstMost)))
	}
	if g.WindowSource != "" {
		lines = append(lines, fmt.Sprintf(" window by %s: for display, not the provider's word", g.WindowSource))
	}
	if len(g.Boundaries) > 0 {
		var bounds []string
		for i, b := range g.Boundaries {
			bounds = append(bounds, fmt.Sprintf("%d from #%d (%s)", i+2, b.Turn, b.Reason))
		}
		lines = append(lines, " generations: "+strings.Join(bounds, ", "))
	}
	retained, lost := slices.Clone(g.Excluded), slices.Clone(g.Excluded)
	retained = slices.DeleteFunc(retained, func(e ambit.Excluded) bool { return !e.Retained })
	lost = slices.DeleteFunc(lost, func(e ambit.Excluded) bool { return e.Retained })
	if len(retained) > 0 {
		lines = append(lines, " not in it, retained: "+excludedText(retained))
	}
	if len(lost) > 0 {
		lines = append(lines, " not in it, not retained: "+excludedText(lost))
	}
	return lines
}

// excludedText counts what a request does not hold by the reason for it, and says of what it holds a part.
func excludedText(all []ambit.Excluded) string {
	var order []string
	n := make(map[string]int)
	for _, e := range all {
		why := string(e.Reason)
		if e.Visible {
			why += ", in part"
		}
		if n[why] == 0 {
			order = append(order, why)
		}
		n[why]++
	}
	var texts []string
	for _, why := range order {
		texts = append(texts, fmt.Sprintf("%s (%s)", plural(n[why], "entry", "entries"), why))
	}
	return strings.Join(texts, ", ")
}
