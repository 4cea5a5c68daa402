package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"

	"github.com/spf13/cobra"
)

func newLog(e *env) *cobra.Command {
	var asJSON, entries, full, tree bool
	var thread string
	c := &cobra.Command{
		Use:   "log SESSION",
		Short: "Print a session as the conversation it was, or its entries in order",
		Long: "Print a session as the conversation it was, thread by thread: what was said, called and given back, each once, where it\n" +
			"first passed, and how each request follows from another. Or, with --tree, a line for each prompt: the requests that it took,\n" +
			"the tokens then, and what was left behind, compacted, tried again, or given to others. Or, with --entries or --json, its\n" +
			"entries in order.\n\n" + sessionHelp,
		Args: oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			if (entries || asJSON) && full {
				return misused("--full goes with the conversation, not with entries")
			}
			if tree && (entries || asJSON || full) {
				return misused("--tree is a page of its own: not with --entries, --full or --json")
			}
			d, name, err := e.one(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			if tree {
				return e.printTree(c.Context(), d, name, thread)
			}
			if !entries && !asJSON {
				return e.printTalk(c.Context(), d, name, thread, full)
			}
			p, err := pool.Load(c.Context(), d, name) // where it is damaged, so is what is printed below
			if err != nil && !errors.Is(err, journal.ErrCorrupt) {
				return err
			}
			if thread != "" && !slices.ContainsFunc(p.Threads(), func(t pool.Thread) bool { return t.Name == thread }) {
				return cmp.Or(e.damaged(err), e.noThread(name, thread))
			}
			for f, err := range d.Read(c.Context(), name, 0) {
				if err != nil {
					return e.damaged(err)
				}
				in := threadOf(p, f.Fact)
				if thread != "" && in != thread {
					continue
				}
				if err := e.printEntry(c.Context(), d, name, f, in, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the entries, one JSON object a line")
	c.Flags().BoolVar(&entries, "entries", false, "print the entries, one a line")
	c.Flags().BoolVar(&full, "full", false, "print all that was said, not the beginnings")
	c.Flags().BoolVar(&tree, "tree", false, "print what went on in a line for each prompt, as a tree")
	c.Flags().StringVar(&thread, "thread", "", "only this thread, such as t1")
	return c
}

// noThread says that a session has no such thread.
func (e *env) noThread(session, thread string) error {
	return &hintError{fmt.Errorf("session %s has no thread %q", session, thread), e.self() + " request " + session + " --list shows them"}
}

// threadOf is the thread that an entry belongs to; empty when it is in none.
func threadOf(p *pool.Pool, f entry.Fact) string {
	n := 0
	switch f := f.(type) {
	case *entry.Relation:
		return f.Thread
	case *entry.Unit:
		return f.Thread
	case *entry.Decision:
		return f.Thread
	case *entry.Edit:
		return f.Thread
	case *entry.Sent:
		n = f.N
	case *entry.Request:
		n = f.N
	case *entry.Response:
		n = f.N
	}
	if x := p.Exchange(n); x != nil && x.Relation != nil {
		return x.Relation.Thread
	}
	return ""
}

// damaged adds to damage what to do about it. What merely could not be read is not called damaged.
func (e *env) damaged(err error) error {
	if !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	return &hintError{err, e.self() + " check says what is damaged; nothing was changed"}
}

func (e *env) printEntry(ctx context.Context, d *journal.Dir, name string, f journal.Frame, thread string, asJSON bool) error {
	if asJSON {
		line, err := logLine(f, thread)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.out, "%s\n", line)
		return err
	}
	_, err := fmt.Fprintf(e.out, "%-6s %s  %-9s %s\n", f.Seq.Ref(), f.Time.Local().Format(time.DateTime), f.Fact.Kind(), printable(gist(f.Fact)+besideText(ctx, d, name, f.Fact)))
	return err
}

// logHead is what every line of ambit log --json begins with.
type logHead struct {
	Seq      entry.Seq       `json:"seq"`
	Ref      string          `json:"ref"`
	Revision string          `json:"revision"`
	Bytes    int64           `json:"bytes"`
	Thread   string          `json:"thread,omitempty"`
	SaidIn   string          `json:"said_in,omitempty"`
	Entry    json.RawMessage `json:"entry,omitempty"`
}

// logLine is an entry as one JSON object: its place, and then the members that the journal has. The members of a kind
// that this version does not know stand apart, under entry.
func logLine(f journal.Frame, thread string) ([]byte, error) {
	head := logHead{Seq: f.Seq, Ref: f.Seq.Ref(), Revision: f.Revision(), Thread: thread}
	switch u := f.Fact.(type) {
	case *entry.Unit:
		head.Bytes, head.Thread = u.Length, "" // it says its thread itself
	case *entry.Relation, *entry.Decision, *entry.Edit:
		head.Thread = ""
	case *entry.Pin:
		if u.Of != 0 { // of a unit the same member says something else
			pin := *u
			head.SaidIn, pin.Of = u.Of.Ref(), 0
			f.Fact = &pin
		}
	}
	for _, b := range entry.Bodies(f.Fact) {
		head.Bytes += b.Size
	}
	encoded, err := entry.Encode(f.Entry)
	if err != nil {
		return nil, err
	}
	if u, ok := f.Fact.(*entry.Unknown); ok {
		head.Entry = u.Raw
		encoded, err = json.Marshal(map[string]any{"time": f.Time, "kind": u.Name})
		if err != nil {
			return nil, err
		}
	}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	line[len(line)-1] = ','
	return append(line, encoded[1:]...), nil
}

// gist is an entry in a few words.
func gist(f entry.Fact) string {
	switch f := f.(type) {
	case *entry.Session:
		return strings.TrimSpace(f.Client + " " + f.Title)
	case *entry.Request:
		s := strings.TrimSpace(fmt.Sprintf("#%d %s %s%s %s", f.N, f.Method, f.Provider, f.Path, f.Model)) + ", " + count(size(f.Body)) + " bytes"
		if f.Recorded != nil {
			s = strings.Join(strings.Fields(fmt.Sprintf("#%d %s %s%s %s", f.N, f.Method, f.Provider, f.Path, f.Model)), " ") + ", imported"
		}
		if f.Partial {
			s += ", ended early"
		}
		return s
	case *entry.Response:
		s := fmt.Sprintf("#%d %d %s, %s bytes, %d ms", f.N, f.Status, f.End, count(size(f.Body)), f.DurationMS)
		if u := f.Usage; u != nil {
			s += fmt.Sprintf(", %s tokens in (%s read, %s written), %s out", count(u.Input), count(u.CacheRead), count(u.CacheWrite), count(u.Output))
		}
		if f.Error != "" {
			s += ": " + f.Error
		}
		return s
	case *entry.Relation:
		s := fmt.Sprintf("#%d %s %s", f.N, f.Thread, follows(string(f.How), f.Parent, f.Owner))
		if f.Evidence != "" {
			s += ", found by " + f.Evidence
		}
		return s + ", " + plural(f.Messages, "message", "messages")
	case *entry.Unit:
		s := strings.TrimSpace(fmt.Sprintf("#%d %s %s %s", f.N, f.Thread, f.Of, f.Role))
		if f.Line != 0 {
			s += fmt.Sprintf(" in line %d", f.Line)
		}
		if f.At != "" {
			s += " at " + f.At
		}
		return s + ", " + count(f.Length) + " bytes"
	case *entry.Gap:
		return fmt.Sprintf("%s, %s bytes, passed unrecorded since %s: %s",
			plural(f.Exchanges, "request or response", "requests or responses"), count(f.Bytes), f.Since.Local().Format(time.DateTime), f.Cause)
	case *entry.Imported:
		return strings.TrimSpace(f.Format+" "+f.Name) + ", " + plural(f.Lines, "line", "lines")
	case *entry.Purged:
		if f.Of != 0 {
			return fmt.Sprintf("the text of %s, %s bytes, overwritten: %s", f.Of.Ref(), count(f.Bytes), plural(f.Bodies, "body had some of it", "bodies had some of it"))
		}
		return fmt.Sprintf("%s, %s bytes, overwritten: all that the entries before rely on", plural(f.Bodies, "body", "bodies"), count(f.Bytes))
	}
	if s := decidedGist(f); s != "" {
		return s
	}
	return "of a kind that this version does not know"
}

func size(b *entry.Body) int64 {
	if b == nil {
		return 0
	}
	return b.Size
}
