package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ambit/entry"
	"ambit/journal"

	"github.com/spf13/cobra"
)

func newLog(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "log SESSION",
		Short: "Print a session's entries in order",
		Long:  "Print a session's entries in order.\n\n" + sessionHelp,
		Args:  oneSession,
		RunE: func(c *cobra.Command, args []string) error {
			d, name, err := e.one(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			for f, err := range d.Read(c.Context(), name, 0) {
				if err != nil {
					return e.damaged(err)
				}
				if err := e.printEntry(f, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// damaged adds to damage what to do about it. What merely could not be read is not called damaged.
func (e *env) damaged(err error) error {
	if !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	return &hintError{err, e.self() + " check says what is damaged; nothing was changed"}
}

func (e *env) printEntry(f journal.Frame, asJSON bool) error {
	if asJSON {
		line, err := logLine(f)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.out, "%s\n", line)
		return err
	}
	_, err := fmt.Fprintf(e.out, "%-6s %s  %-9s %s\n", f.Seq.Ref(), f.Time.Local().Format(time.DateTime), f.Fact.Kind(), printable(gist(f.Fact)))
	return err
}

// logHead is what every line of ambit log --json begins with.
type logHead struct {
	Seq      entry.Seq       `json:"seq"`
	Ref      string          `json:"ref"`
	Revision string          `json:"revision"`
	Bytes    int64           `json:"bytes"`
	Entry    json.RawMessage `json:"entry,omitempty"`
}

// logLine is an entry as one JSON object: its place, and then the members that the journal has. The members of a kind
// that this version does not know stand apart, under entry.
func logLine(f journal.Frame) ([]byte, error) {
	head := logHead{Seq: f.Seq, Ref: f.Seq.Ref(), Revision: f.Revision()}
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
	case *entry.Gap:
		return fmt.Sprintf("%s, %s bytes, passed unrecorded since %s: %s",
			plural(f.Exchanges, "request or response", "requests or responses"), count(f.Bytes), f.Since.Local().Format(time.DateTime), f.Cause)
	default:
		return "of a kind that this version does not know"
	}
}

func size(b *entry.Body) int64 {
	if b == nil {
		return 0
	}
	return b.Size
}
