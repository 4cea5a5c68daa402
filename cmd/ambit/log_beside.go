package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// besideText is the beginning of what a pin or a note says, behind a colon; empty for other entries and where it cannot be
// read, which whoever reads it is told.
func besideText(ctx context.Context, d *journal.Dir, session string, f entry.Fact) string {
	text, err := textBeside(ctx, d, session, f)
	switch {
	case errors.Is(err, journal.ErrPurged):
		return " (purged)"
	case err != nil || text == "":
		return ""
	}
	return ": " + beginning(text)
}

// textBeside is the text of a pin or a note; empty for other entries.
func textBeside(ctx context.Context, d *journal.Dir, session string, f entry.Fact) (string, error) {
	var b *entry.Body
	switch f := f.(type) {
	case *entry.Pin:
		b = f.Body
	case *entry.Note:
		b = f.Body
	}
	if b == nil {
		return "", nil
	}
	text, err := d.Body(ctx, session, *b)
	return string(text), err
}

// printBeside prints the pins that hold and the findings, which stand beside the conversation.
func (t *talk) printBeside(ctx context.Context, d *journal.Dir) {
	if len(t.pool.Pins)+len(t.pool.Notes) == 0 {
		return
	}
	t.line("")
	t.line("beside the conversation")
	for i := range t.pool.Pins {
		p := &t.pool.Pins[i]
		t.printNamed(ctx, d, p.Seq, &p.Pin, "pin "+p.ID+" by "+p.By)
	}
	for i := range t.pool.Notes {
		n := &t.pool.Notes[i]
		head := n.Class + " " + n.ID + " by " + n.By + ", unverified"
		if len(n.Refs) > 0 {
			head += ", rests on " + strings.Join(n.Refs, ", ")
		}
		t.printNamed(ctx, d, n.Seq, &n.Note, head)
	}
}

// printNamed prints a pin or a note: in a line, or whole.
func (t *talk) printNamed(ctx context.Context, d *journal.Dir, seq entry.Seq, f entry.Fact, head string) {
	head = fmt.Sprintf("    %-6s %s", seq.Ref(), head)
	if !t.full {
		t.line("%s%s", head, besideText(ctx, d, t.pool.Session.ID, f))
		return
	}
	text, err := textBeside(ctx, d, t.pool.Session.ID, f)
	switch {
	case errors.Is(err, journal.ErrPurged):
		t.line("%s (purged)", head)
		return
	case err != nil:
		t.line("%s (cannot be read)", head)
		return
	}
	t.line("%s:", head)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		t.line("           %s", line)
	}
}

// ownBoundaries are those that Ambit decided on, by the request from which on they stand. What was decided between two
// requests stands from the next of its thread on; without one yet it is under 0.
func ownBoundaries(p *pool.Pool) map[int][]*pool.Decision {
	at := make(map[int][]*pool.Decision)
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if !d.Stage.Boundary() || p.IsEvidence(d.Seq) && d.N == 0 { // nothing is sent for what is evidence
			continue
		}
		n := d.N
		for j := range p.Exchanges {
			if x := &p.Exchanges[j]; n == 0 && x.Seq > d.Seq && x.Relation != nil && x.Relation.Thread == d.Thread && x.Relation.How != entry.Count {
				n = x.Request.N
			}
		}
		at[n] = append(at[n], d)
	}
	return at
}

// boundaryText says what a boundary of Ambit's own did.
func boundaryText(d *pool.Decision) string {
	text := fmt.Sprintf("%s, ~%s tokens to ~%s", d.Event, count(d.Before), count(d.After))
	if d.N == 0 {
		text += ", asked for"
	}
	return text
}
