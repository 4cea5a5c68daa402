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
	unread            error // why a text cannot be read, of the first
}

// printTalk prints a session's threads, one after another, or one of them.
func (e *env) printTalk(ctx context.Context, d *journal.Dir, name, thread string, full bool) error {
	rec, damage := ambit.OpenRecording(ctx, d, name)
	if damage != nil && !errors.Is(damage, journal.ErrCorrupt) {
		return damage
	}
	p, err := pool.Load(ctx, d, name)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	t := &talk{env: e, rec: rec, pool: p, full: full, units: make(map[int][]*pool.Unit)}
	t.requests, t.answers = p.Behind()
	for i := range p.Units {
		if u := &p.Units[i]; u.Of != entry.PartMore {
			t.units[u.N] = append(t.units[u.N], u)
		}
	}
	found := false
	if thread == "" {
		t.printSession()
	}
	for _, of := range p.Threads() {
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
	}
	if damage == nil && thread != "" && !found {
		return e.noThread(name, thread)
	}
	return e.damaged(cmp.Or(damage, t.unread))
}

func (t *talk) line(format string, args ...any) {
	fmt.Fprintln(t.out, printable(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

func (t *talk) printSession() {
	s := t.pool.Session
	t.line("session %s  %s  %s", s.ID, s.Client, s.Title)
	if s.From != nil {
		t.line("goes on from %s of %s", s.From.Seq.Ref(), s.From.Session)
	}
	if t.pool.Missing > 0 {
		t.line("lacks %s that passed unrecorded", plural(t.pool.Missing, "request or response", "requests or responses"))
	}
}

func (t *talk) printThread(ctx context.Context, of pool.Thread) {
	about := map[entry.Relating]string{entry.Agent: "a sub-agent", entry.Side: "a side request"}[of.How]
	if of.Owner != 0 {
		about += fmt.Sprintf(" of #%d", of.Owner)
	}
	if about != "" {
		about = ", " + about
	}
	t.line("%s%s, %s", of.Name, about, plural(len(of.Requests), "request", "requests"))
	for _, n := range of.Requests {
		t.printExchange(ctx, t.pool.Exchange(n))
	}
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
	for _, u := range t.units[n] {
		if u.Of == entry.PartAnswer || u.Of == entry.PartResponse {
			continue
		}
		t.printUnit(ctx, u, false)
	}
	for _, u := range t.units[n] {
		if u.Of == entry.PartAnswer || u.Of == entry.PartResponse {
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

// printUnit prints what a unit says.
func (t *talk) printUnit(ctx context.Context, u *pool.Unit, behind bool) {
	said, err := t.rec.Said(ctx, u.Seq)
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
	if err != nil {
		t.line("%s (cannot be read)", head)
		t.unread = cmp.Or(t.unread, err)
		return
	}
	var parts []string
	for _, text := range said.Texts {
		if text.Said != provider.SaidArgument {
			parts = append(parts, text.Text)
		}
	}
	for _, call := range said.Calls {
		parts = append(parts, "→ "+call.Name+" "+string(call.Args))
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
