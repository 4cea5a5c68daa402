package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"ambit"
	"ambit/journal"
	"ambit/provider"

	"github.com/spf13/cobra"
)

// looking is how view and context are told which request is meant.
type looking struct {
	turn   int
	thread string
	asJSON bool
}

func (l *looking) add(c *cobra.Command) {
	c.Flags().IntVar(&l.turn, "turn", 0, "the request of this number; without it the newest of the thread")
	c.Flags().StringVar(&l.thread, "thread", "", "of this thread, such as t1; without it of the main one")
	c.Flags().BoolVar(&l.asJSON, "json", false, "print one JSON object")
}

// settled refuses a number that no request has.
func (l *looking) settled(c *cobra.Command) error {
	if c.Flags().Changed("turn") && l.turn < 1 {
		return misused("%d is not the number of a request: they count from 1", l.turn)
	}
	return nil
}

// viewing is one call of ambit view.
type viewing struct {
	*env
	looking
	system, full bool
	checkpoint   bool
}

func newView(e *env) *cobra.Command {
	v := &viewing{env: e}
	c := &cobra.Command{
		Use:   "view SESSION",
		Short: "Show what the model saw in one request, unit by unit",
		Long: "Show what the model saw in one request, unit by unit: a line for each, with its layer, who says it, the entry in which it\n" +
			"first passed, and an estimate of its tokens, which ~ marks. Tools and system text take one line each unless --system asks for\n" +
			"them. The request is the newest of the main thread: the conversation that was asked last and is no sub-agent's. Or, with\n" +
			"--checkpoint, print the newest checkpoint, as YAML.\n\n" + sessionHelp,
		Args: oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			if err := v.settled(c); err != nil {
				return err
			}
			if v.checkpoint && (v.turn > 0 || v.full || v.system) {
				return misused("--checkpoint prints the newest checkpoint whole: not with --turn, --full or --system")
			}
			if v.checkpoint {
				return e.glance(c.Context(), args[0], &v.looking, v.showCheckpoint)
			}
			if v.asJSON && (v.full || v.system) {
				return misused("--full and --system are for people: --json has everything")
			}
			return e.glance(c.Context(), args[0], &v.looking, v.show)
		},
	}
	v.add(c)
	c.Flags().BoolVar(&v.system, "system", false, "show tools and system text, too")
	c.Flags().BoolVar(&v.full, "full", false, "print all that each unit says, not the beginnings")
	c.Flags().BoolVar(&v.checkpoint, "checkpoint", false, "print the newest checkpoint, with --thread the newest of that")
	return c
}

// glance opens a session and shows something of it. Where it is damaged, what lies before is shown, and the damage is said.
func (e *env) glance(ctx context.Context, arg string, l *looking, show func(context.Context, *ambit.Recording) error) error {
	d, name, err := e.one(ctx, arg)
	if err != nil {
		return err
	}
	defer d.Close()
	rec, damage := ambit.OpenRecording(ctx, d, name)
	if rec == nil || damage != nil && !errors.Is(damage, journal.ErrCorrupt) {
		return damage
	}
	err = show(ctx, rec)
	if damage != nil {
		return e.damaged(damage)
	}
	switch {
	case errors.Is(err, ambit.ErrNoThread), errors.Is(err, ambit.ErrNotRecorded):
		return &hintError{err, e.self() + " request " + name + " --list shows them"}
	case errors.Is(err, provider.ErrNotUnderstood):
		n := "N"
		if l.turn > 0 {
			n = fmt.Sprint(l.turn)
		}
		return &hintError{err, e.self() + " request " + name + " " + n + " prints a request's bytes"}
	case errors.Is(err, journal.ErrPurged):
		return &hintError{err, e.self() + " context " + name + " has what the provider counted"}
	case errors.Is(err, journal.ErrCorrupt):
		return e.damaged(err)
	}
	return err
}

func (v *viewing) show(ctx context.Context, rec *ambit.Recording) error {
	shown, err := rec.View(ctx, v.thread, v.turn)
	if err != nil {
		return err
	}
	if v.asJSON {
		return v.printJSON(shown)
	}
	v.print(shown)
	return nil
}

// pageWidth is how wide a page for people is, in characters.
const pageWidth = 100

// print prints a view for people.
func (v *viewing) print(s *ambit.Shown) {
	v.put("%s", named(s.Session, s.Thread, s.Turn, s.Generation, s.Model))
	v.put("~%s tokens, estimated by %s", count(s.EstTotal), s.Estimator)
	v.put("")
	v.put("%-9s%-14s%-10s%9s  %s", "LAYER", "CLASS", "REF", "TOKENS", "TEXT")
	if s.EstUnknown > 0 {
		v.put("%s(not recorded: tools, system text and the like)", lead("", "", "", s.EstUnknown))
	}
	hidden := make(map[string]bool)
	for i := range s.Segments {
		seg := &s.Segments[i]
		switch {
		case seg.Role != ambit.RoleTools && seg.Role != ambit.RoleSystem || v.system:
			v.segment(seg)
		case !hidden[seg.Role]:
			hidden[seg.Role] = true
			v.hidden(s, seg)
		}
	}
}

// lead is what stands before the text of a line.
func lead(layer, class, ref string, tokens int) string {
	return fmt.Sprintf("%-9s%-14s%-10s%9s  ", cmp.Or(layer, "-"), cmp.Or(class, "-"), cmp.Or(ref, "-"), "~"+count(tokens))
}

// hidden prints one line in place of all tools, or of all system text, of which one segment is the first.
func (v *viewing) hidden(s *ambit.Shown, first *ambit.Segment) {
	n, tokens := 0, 0
	for i := range s.Segments {
		if seg := &s.Segments[i]; seg.Role == first.Role {
			n, tokens = n+1, tokens+seg.EstTokens
		}
	}
	what := plural(n, "text", "texts")
	if first.Role == ambit.RoleTools {
		what = plural(n, "tool", "tools")
	}
	v.put("%s(%s; --system shows what they say)", lead(string(first.Layer), first.Role, "", tokens), what)
}

// segment prints one segment: in a line, or whole.
func (v *viewing) segment(s *ambit.Segment) {
	head, text := lead(string(s.Layer), string(s.Class), s.Ref, s.EstTokens), s.Text
	switch {
	case s.Out:
		text = "(the client left the result out)"
	case strings.TrimSpace(text) == "":
		text = "(no public text)"
	}
	if !v.full {
		v.put("%s%s", head, strings.Join(strings.Fields(text), " "))
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintln(v.out, printableLine(strings.TrimRight(head+line, " ")))
		head = strings.Repeat(" ", utf8.RuneCountInString(head))
	}
}

// named says which request is shown.
func named(session, thread string, turn, generation int, model string) string {
	text := fmt.Sprintf("session %s · request #%d", session, turn)
	if thread != "" {
		text += " of " + thread
	}
	text += fmt.Sprintf(" · generation %d", generation)
	if model != "" {
		text += " · " + model
	}
	return text
}

// put prints a line that is no wider than a page.
func (v *env) put(format string, args ...any) {
	fmt.Fprintln(v.out, clip(printable(strings.TrimRight(fmt.Sprintf(format, args...), " ")), pageWidth))
}

// clip is the beginning of a text, of so many characters at most.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
