package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"ambit"
	"ambit/internal/pool"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// sessionRow is one session in the answer of ambit sessions.
type sessionRow struct {
	Session    string    `json:"session"`
	Title      string    `json:"title"`
	Client     string    `json:"client"`
	Threads    int       `json:"threads"`
	Entries    int       `json:"entries"`
	Requests   int       `json:"requests"`
	Missing    int       `json:"missing"`
	Updated    time.Time `json:"updated,omitzero"`
	From       string    `json:"from,omitempty"`
	Imported   string    `json:"imported,omitempty"`
	Purged     time.Time `json:"purged,omitzero"`
	Damage     string    `json:"damage,omitempty"`
	Unreadable string    `json:"unreadable,omitempty"`
}

func newSessions(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the recorded sessions, oldest first",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rows, err := e.sessionRows(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(map[string][]sessionRow{"sessions": rows})
			}
			e.printSessions(rows)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func (e *env) sessionRows(ctx context.Context) ([]sessionRow, error) {
	rows := []sessionRow{}
	d, err := e.read(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return rows, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	bar := e.progress("reading")
	defer bar.end()
	for i, name := range names {
		bar.at(0, "%s of %s sessions", count(i), count(len(names)))
		p, err := pool.Load(ctx, d, name)
		if ctx.Err() != nil {
			return nil, err
		}
		row := sessionRow{
			Session: name, Title: p.Session.Title, Client: p.Session.Client, Threads: len(p.Threads()), Entries: int(p.Seq), Requests: len(p.Exchanges),
			Missing: p.Missing, Updated: p.Updated,
		}
		if p.Own != nil {
			row.Title = ambit.RecordingOf(d, name, p).Title(ctx)
		}
		if p.Imported != nil {
			row.Imported = p.Imported.Format
			row.Updated = p.Newest()
			if rec, err := ambit.OpenRecording(ctx, d, name); err == nil {
				row.Title = rec.Title(ctx)
			}
		}
		if p.Purged != nil {
			row.Purged = p.PurgedAt
		}
		if from := p.Session.From; from != nil {
			row.From = from.Session + " " + from.Seq.Ref()
		}
		switch {
		case errors.Is(err, journal.ErrNoSession):
			continue // it was removed since they were listed
		case errors.Is(err, journal.ErrCorrupt):
			row.Damage = err.Error()
		case err != nil:
			row.Unreadable = err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (e *env) printSessions(rows []sessionRow) {
	if len(rows) == 0 {
		dir, _ := e.home() // the rows were read there
		e.say("nothing is recorded yet in %s", dir)
		e.hint("%[1]s demo records a session; %[1]s up records your agent's", e.self())
		return
	}
	t := e.table("SESSION", ">THREADS", ">REQUESTS", ">ENTRIES", "UPDATED", "CLIENT", "TITLE")
	for _, r := range rows {
		if !r.Purged.IsZero() {
			r.Title = strings.TrimSpace(r.Title + " (purged)")
		}
		t.row(r.Session, count(r.Threads), count(r.Requests), count(r.Entries), clock(r.Updated), r.Client, r.Title)
	}
	t.flush()
	for _, r := range rows {
		if r.Damage != "" {
			e.say("session %s is damaged, the row shows what comes before: %s", r.Session, r.Damage)
		}
		if r.Unreadable != "" {
			e.say("session %s cannot be read, the row shows what comes before: %s", r.Session, r.Unreadable)
		}
		if r.Missing > 0 {
			e.say("session %s lacks %s that passed unrecorded", r.Session, plural(r.Missing, "request or response", "requests or responses"))
		}
	}
}

// clock shows a time where the reader is; of a session without a sound entry there is none.
func clock(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", count(n), many)
}
