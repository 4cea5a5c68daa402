package main

import (
	"fmt"
	"strings"

	"ambit"
)

// decidedLines say what was decided about a request and by what, how it went, and which pins it holds.
func decidedLines(g *ambit.Gauge) (lines []string) {
	if s := g.Sent; s != nil {
		text := fmt.Sprintf(" sent edited by %s: %s not as the client sent them", g.Strategy, plural(s.Edited, "message is", "messages are"))
		if s.Attempt > 1 {
			text += fmt.Sprintf(", attempt %d", s.Attempt)
		}
		lines = append(lines, text)
	}
	if d := g.Decision; d != nil {
		lines = append(lines, " decided "+decidedText(d), fmt.Sprintf("  tokens ~%s before, ~%s after · price %s · account %s, spent %s",
			count(d.EstBefore), count(d.EstAfter), cents(d.Price), cents(d.Account), cents(d.Spent)))
	}
	if text := pinText(&g.Pins); text != "" {
		lines = append(lines, " pins "+text)
	}
	return lines
}

// decidedText says what a decision was, before which request, how it came to it, and why.
func decidedText(d *ambit.Decided) string {
	at := "between requests, from the next one on"
	if d.Turn > 0 {
		at = fmt.Sprintf("before #%d", d.Turn)
	}
	how := []string{d.Policy}
	for _, h := range []struct {
		is   bool
		text string
	}{{d.Cold, "cold cache"}, {d.Forced, "forced"}, {d.Reactive, "the provider had refused it as too long"}} {
		if h.is {
			how = append(how, h.text)
		}
	}
	text := fmt.Sprintf("%s %s (%s)", d.Event, at, strings.Join(how, ", "))
	if d.Why != "" {
		text += ": " + printable(d.Why)
	}
	return text
}

// cents is an amount of money that is often less than a cent.
func cents(usd float64) string { return fmt.Sprintf("$%.4f", usd) }

// pinText says which pins a request holds, and why it does not hold others; empty where there are none.
func pinText(p *ambit.PinProof) string {
	var parts []string
	if len(p.Held) > 0 {
		parts = append(parts, "held: "+strings.Join(p.Held, ", "))
	}
	var absent []string
	for _, a := range p.Absent {
		absent = append(absent, fmt.Sprintf("%s (%s)", a.Pin, printable(a.Reason)))
	}
	if len(absent) > 0 {
		parts = append(parts, "absent: "+strings.Join(absent, ", "))
	}
	return strings.Join(parts, " · ")
}

// itemLines say how many of the request's items are retained, visible in it, or both, and, where it was edited, which are not
// both.
func itemLines(g *ambit.Gauge) (lines []string) {
	both, visible := 0, 0
	var retained []string
	for i := range g.Included {
		switch in := &g.Included[i]; {
		case in.Retained && in.Visible:
			both++
		case in.Visible:
			visible++
		case in.Retained:
			retained = append(retained, in.Ref)
		}
	}
	if both+visible+len(retained) == 0 {
		return nil
	}
	text := fmt.Sprintf(" in it: %s retained and visible", plural(both, "item", "items"))
	if visible > 0 {
		text += fmt.Sprintf(", %d visible only", visible)
	}
	if len(retained) > 0 {
		text += fmt.Sprintf(", %d retained only, as placeholders", len(retained))
	}
	return []string{text}
}
