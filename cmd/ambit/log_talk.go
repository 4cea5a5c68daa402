package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
)

// maxShown is how much of a text is shown where not all of it is, in characters.
const maxShown = 120

// talk prints a session as the conversation it was.
type talk struct {
	*env
	rec               *ambit.Recording
	pool              *pool.Pool
	full              bool
	requests, answers map[int]bool // that were left behind
	units             map[int][]*pool.Unit
	unread            error                    // why a text cannot be read, of the first
	purged            bool                     // some text was
	unanswered        map[string]bool          // calls
	pruned            map[int][]string         // by request
	own               map[int][]*pool.Decision // boundaries of Ambit's own, by request
}

// openTalk reads a session to be printed. What is damaged is read as far as it goes.
func (e *env) openTalk(ctx context.Context, d *journal.Dir, name string, full bool) (t *talk, damage, err error) {
	rec, damage := ambit.OpenRecording(ctx, d, name)
	if damage != nil && !errors.Is(damage, journal.ErrCorrupt) {
		return nil, nil, damage
	}
	p, err := pool.Load(ctx, d, name)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		return nil, nil, err
	}
	t = &talk{env: e, rec: rec, pool: p, full: full, units: make(map[int][]*pool.Unit)}
	t.requests, t.answers = p.Behind()
	t.own = ownBoundaries(p)
	t.pruned, t.unanswered = p.Pruned(), make(map[string]bool)
	for _, ids := range p.Unanswered() {
		for _, id := range ids {
			t.unanswered[id] = true
		}
	}
	for i := range p.Units {
		if u := &p.Units[i]; !u.Of.Silent() {
			t.units[u.N] = append(t.units[u.N], u)
		}
	}
	return t, damage, nil
}

// printTalk prints a session's threads, one after another, or one of them.
func (e *env) printTalk(ctx context.Context, d *journal.Dir, name, thread string, full bool) error {
	t, damage, err := e.openTalk(ctx, d, name, full)
	if err != nil {
		return err
	}
	found := false
	if thread == "" {
		t.printSession(ctx)
	}
	for _, of := range t.pool.Threads() {
		if thread == "" || of.Name == thread {
			found = true
			if thread == "" {
				t.line("")
			}
			t.printThread(ctx, of)
		}
	}
	if thread == "" {
		t.printRest(ctx)
		t.printBeside(ctx, d)
	}
	if damage == nil && thread != "" && !found {
		return e.noThread(name, thread)
	}
	return t.lacks(name, damage)
}

// lacks says what could not be printed.
func (t *talk) lacks(name string, damage error) error {
	switch {
	case t.pool.Purged != nil:
		t.say("session %s was purged", name)
	case t.purged:
		t.say("some of the text of session %s was purged, in a session that it goes on from", name)
	}
	return t.damaged(cmp.Or(damage, t.unread))
}

func (t *talk) line(format string, args ...any) {
	fmt.Fprintln(t.out, printableLine(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

func (t *talk) printSession(ctx context.Context) {
	s := t.pool.Session
	t.line("session %s  %s  %s", s.ID, s.Client, t.rec.Title(ctx))
	for _, r := range t.pool.Recordings {
		if t.pool.Imported == nil {
			break // it goes on from the session that was
		}
		t.line("imported from %s, %s, %s: evidence, without authority here", r.Name, r.Format, plural(r.Lines, "line", "lines"))
	}
	if t.pool.Imported == nil && t.pool.Evidence != 0 {
		t.line("up to %s imported: evidence, without authority here", t.pool.Evidence.Ref())
	}
	if i := t.pool.Imported; i != nil && i.Body == nil {
		t.line("imported from %s, an export: evidence, without authority here", i.Name)
	}
	if s.From != nil {
		t.line("goes on from %s of %s", s.From.Seq.Ref(), s.From.Session)
	}
	if p := t.pool.Purged; p != nil {
		t.line("%s", purgedText(p, t.pool.PurgedAt))
	}
	if t.pool.Missing > 0 {
		t.line("lacks %s that passed unrecorded", plural(t.pool.Missing, "request or response", "requests or responses"))
	}
}

func (t *talk) printThread(ctx context.Context, of pool.Thread) {
	t.line("%s", heading(of))
	for _, n := range of.Requests {
		t.printExchange(ctx, t.pool.Exchange(n))
	}
	for _, d := range t.own[0] {
		if d.Thread == of.Name {
			t.line("    (from the next request on: %s)", boundaryText(d))
		}
	}
}

// heading is what a thread is, in a line.
func heading(of pool.Thread) string {
	about := map[entry.Relating]string{entry.Agent: "a sub-agent", entry.Side: "a side request"}[of.How]
	if of.Owner != 0 {
		about += fmt.Sprintf(" of #%d", of.Owner)
	}
	if about != "" {
		about = ", " + about
	}
	return fmt.Sprintf("%s%s, %s", of.Name, about, plural(len(of.Requests), "request", "requests"))
}

// printRest prints what is in no thread.
func (t *talk) printRest(ctx context.Context) {
	first := true
	for i := range t.pool.Exchanges {
		x := &t.pool.Exchanges[i]
		if x.Relation != nil && x.Relation.Thread != "" {
			continue
		}
		if first {
			first = false
			t.line("")
			t.line("in no thread")
		}
		t.printExchange(ctx, x)
	}
}

func (t *talk) printExchange(ctx context.Context, x *pool.Exchange) {
	n, how := x.Request.N, x.Request.Type
	if r := x.Relation; r != nil {
		how = follows(string(r.How), r.Parent, r.Owner)
	}
	if how == "" {
		how = x.Request.Method + " " + x.Request.Path
	}
	head := fmt.Sprintf("  #%d %s  %s  %s", n, how, x.Request.Arrived.Local().Format(time.TimeOnly), x.Request.Model)
	if t.requests[n] {
		head += "  (left behind)"
	}
	t.line("%s", head)
	for _, d := range t.own[n] {
		t.line("    (%s)", boundaryText(d))
	}
	if ids := t.pruned[n]; len(ids) > 0 {
		t.line("    (from here on the client left out %s)", plural(len(ids), "result", "results"))
	}
	for _, u := range t.units[n] {
		if !u.Answers() {
			t.printUnit(ctx, u, false)
		}
	}
	for _, u := range t.units[n] {
		if u.Answers() {
			t.printUnit(ctx, u, t.answers[n] && !t.requests[n])
		}
	}
	switch a := x.Response; {
	case a == nil:
		t.line("    (no response is recorded)")
	case a.End != entry.EndComplete || a.Status >= 400:
		t.line("    (%s)", strings.TrimSpace(fmt.Sprintf("%s %s %s", status(a.Status), a.End, a.Error)))
	}
}

// said is what a unit says. Why it cannot be read is kept for the end.
func (t *talk) said(ctx context.Context, u *pool.Unit) (ambit.Said, error) {
	said, err := t.rec.Said(ctx, u.Seq)
	if errors.Is(err, journal.ErrPurged) {
		t.purged = true
	} else {
		t.unread = cmp.Or(t.unread, err)
	}
	return said, err
}

// printUnit prints what a unit says.
func (t *talk) printUnit(ctx context.Context, u *pool.Unit, behind bool) {
	said, err := t.said(ctx, u)
	role := u.Role
	if len(u.Results) > 0 {
		role = "result"
	}
	if role == "" {
		role = string(u.Of)
	}
	head := fmt.Sprintf("    %-6s %-9s", u.Seq.Ref(), role)
	if behind {
		head += " (left behind)"
	}
	if errors.Is(err, journal.ErrPurged) {
		t.line("%s (purged)", head)
		return
	}
	if err != nil {
		t.line("%s (cannot be read)", head)
		return
	}
	var parts []string
	for _, text := range said.Texts {
		if text.Said != provider.SaidArgument {
			parts = append(parts, text.Text)
		}
	}
	for i, call := range said.Calls {
		part := "→ " + call.Name + " " + string(call.Args)
		if i < len(u.Calls) && t.unanswered[u.Calls[i]] {
			part = "→ (without a result) " + strings.TrimPrefix(part, "→ ")
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []string{"(no public text)"}
	}
	for i, part := range parts {
		if i > 0 {
			head = strings.Repeat(" ", utf8.RuneCountInString(head))
		}
		if !t.full {
			t.line("%s %s", head, beginning(part))
			continue
		}
		for line := range strings.SplitSeq(part, "\n") {
			t.line("%s %s", head, line)
			head = strings.Repeat(" ", utf8.RuneCountInString(head))
		}
	}
}

// beginning is a text in one line, cut where it is long, with its length.
func beginning(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(line) <= maxShown {
		return line
	}
	runes := []rune(line)
	return fmt.Sprintf("%s… (%s bytes)", string(runes[:maxShown]), count(int64(len(text))))
}
