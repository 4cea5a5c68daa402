package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// requestRow is one request in the answer of ambit request --list.
type requestRow struct {
	N             int          `json:"n"`
	Thread        string       `json:"thread"`
	Relation      string       `json:"relation,omitempty"`
	Parent        int          `json:"parent,omitempty"`
	Evidence      string       `json:"evidence,omitempty"`
	Owner         int          `json:"owner,omitempty"`
	Call          string       `json:"call,omitempty"`
	Messages      int          `json:"messages,omitempty"`
	Kind          string       `json:"kind"`
	Provider      string       `json:"provider"`
	Method        string       `json:"method"`
	Path          string       `json:"path"`
	Model         string       `json:"model"`
	Time          time.Time    `json:"time"`
	BodyBytes     int64        `json:"body_bytes"`
	Partial       bool         `json:"partial,omitempty"`
	Status        int          `json:"status"`
	End           entry.End    `json:"end,omitempty"`
	Error         string       `json:"error,omitempty"`
	ResponseBytes int64        `json:"response_bytes"`
	Usage         *entry.Usage `json:"usage,omitempty"`
	Imported      bool         `json:"imported,omitempty"`
	Unanswered    []string     `json:"unanswered,omitempty"`
	Pruned        []string     `json:"pruned,omitempty"`
	Sent          []sentRow    `json:"sent,omitempty"`
}

func newRequest(e *env) *cobra.Command {
	var list, asJSON bool
	var w wanted
	c := &cobra.Command{
		Use:   "request SESSION [N]",
		Short: "Print the exact bytes of request N, or of its response; or list all requests",
		Long: "Print the exact bytes of request N as they were sent to the provider, or of its response; or list all requests.\n" +
			"N is a number of the list, with or without a #; SENT of the list is the bytes that went where Ambit edited them. Where a policy edited the request, --client prints what the client sent;\n" +
			"where it was sent more than once, --attempt chooses, and the last counts without it.\n\n" + sessionHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return misused("request: takes a SESSION and one number, not %d arguments", len(args))
			}
			if len(args) == 0 {
				return misused("request: name a SESSION, or last, and a request's number or --list")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if list == (len(args) == 2) {
				return misused("give a request's number, or --list")
			}
			if list && (w.response || w.client || w.joined || w.attempt != 0) {
				return misused("--response, --client, --joined and --attempt go with a request's number")
			}
			if w.joined && (w.response || w.client || w.attempt != 0 || asJSON) {
				return misused("--joined prints a request with all that it goes on from; give it alone")
			}
			switch tried := c.Flags().Changed("attempt"); {
			case tried && w.attempt < 1:
				return misused("--attempt counts from 1; %d is none", w.attempt)
			case w.client && w.response:
				return misused("--client prints what the client sent and --response what came of it; give one of them")
			case w.client && tried:
				return misused("--client prints what the client sent, once, and --attempt what was sent for it; give one of them")
			}
			if (w.client || w.attempt != 0) && asJSON {
				return misused("--client and --attempt print bytes; --json alone says what is known of each attempt")
			}
			if w.response && asJSON {
				return misused("--response prints the response's bytes; --json alone says what is known of it")
			}
			n := 0
			if !list {
				var err error
				if n, err = strconv.Atoi(strings.TrimPrefix(args[1], "#")); err != nil || n < 1 {
					return misused("%q is not the number of a request: they count from 1", args[1])
				}
			}
			return e.request(c.Context(), args[0], n, w, asJSON)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list all requests of the session")
	c.Flags().BoolVar(&w.response, "response", false, "print the response instead of the request")
	c.Flags().BoolVar(&w.client, "client", false, "print what the client sent, whatever was made of it")
	c.Flags().BoolVar(&w.joined, "joined", false, "print, of a session of ambit run, all that a request goes on from which the provider held, with what it adds")
	c.Flags().IntVar(&w.attempt, "attempt", 0, "print what was sent at this attempt, from 1; with --response what came of it")
	c.Flags().BoolVar(&asJSON, "json", false, "print what is known of the request and its response, or the list, as one JSON object")
	return c
}

// request prints request n of a session, or for n = 0 the list.
func (e *env) request(ctx context.Context, arg string, n int, w wanted, asJSON bool) error {
	d, name, err := e.one(ctx, arg)
	if err != nil {
		return err
	}
	defer d.Close()
	p, loadErr := pool.Load(ctx, d, name)
	if loadErr != nil && !errors.Is(loadErr, journal.ErrCorrupt) {
		return loadErr
	}
	if n == 0 {
		if err := e.printRequests(p, asJSON); err != nil || loadErr == nil {
			return err
		}
		return e.damaged(loadErr)
	}
	x := p.Exchange(n)
	if x == nil {
		if loadErr != nil {
			return e.damaged(loadErr)
		}
		return &hintError{fmt.Errorf("session %s has no request %d", name, n), e.self() + " request " + name + " --list shows them"}
	}
	if asJSON {
		r := rowOf(x)
		r.Unanswered, r.Pruned = p.Unanswered()[n], p.Pruned()[n]
		return e.printJSON(r)
	}
	if w.joined {
		return e.printJoined(ctx, d, name, n)
	}
	if x.Request.Recorded != nil {
		return e.printRecorded(ctx, d, name, x, w.response)
	}
	if sent, ok, err := e.sentBody(x, w); ok || err != nil {
		return cmp.Or(err, e.printSent(ctx, d, name, n, sent))
	}
	return e.printBody(ctx, d, name, x, w.response)
}

// printBody writes the bytes of a request or of its response as they passed.
func (e *env) printBody(ctx context.Context, d *journal.Dir, name string, x *pool.Exchange, response bool) error {
	body := x.Request.Body
	if response {
		if x.Response == nil {
			return fmt.Errorf("the response to request %d is not recorded: it is still under way, or was when recording ended", x.Request.N)
		}
		if x.Response.End == entry.EndUnkept {
			return fmt.Errorf("the response to request %d was not kept: %s", x.Request.N, x.Response.Error)
		}
		body = x.Response.Body
		switch x.Response.End {
		case entry.EndComplete:
		case entry.EndNone:
			e.say("no response to request %d came: %s", x.Request.N, x.Response.Error)
		default:
			e.say("the response to request %d ended early (%s): this is what came of it", x.Request.N, x.Response.End)
		}
	} else if x.Request.Partial {
		e.say("request %d ended early: this is what was read of it", x.Request.N)
	}
	if body == nil {
		return nil
	}
	bytes, err := d.Body(ctx, name, *body)
	if errors.Is(err, journal.ErrPurged) {
		what := "request"
		if response {
			what = "the response to request"
		}
		return fmt.Errorf("%s %d was purged: of its %s bytes there is only the SHA-256, %s", what, x.Request.N, count(body.Size), body.SHA256)
	}
	if err != nil {
		return e.damaged(err)
	}
	_, err = e.out.Write(bytes)
	return err
}

// printRecorded writes a body as an imported recording has it, which is what it says and need not be how it was spelled.
func (e *env) printRecorded(ctx context.Context, d *journal.Dir, name string, x *pool.Exchange, response bool) error {
	what := "request"
	if response {
		what = "the response to request"
	}
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil {
		return e.damaged(err)
	}
	body, err := rec.Recorded(ctx, x.Request.N, response)
	switch {
	case errors.Is(err, ambit.ErrNotRecorded):
		return &hintError{fmt.Errorf("%s %d was imported, and its recording does not have the bytes that passed", what, x.Request.N), e.self() + " log " + name + " shows what was said in it"}
	case errors.Is(err, journal.ErrPurged):
		return fmt.Errorf("%s %d was purged", what, x.Request.N)
	case err != nil:
		return e.damaged(err)
	}
	e.say("%s %d was imported: this is what its recording has of it, which may be spelled otherwise than it passed", what, x.Request.N)
	_, err = e.out.Write(body)
	return err
}

func rowOf(x *pool.Exchange) requestRow {
	r := requestRow{
		N: x.Request.N, Kind: x.Request.Type, Provider: x.Request.Provider, Method: x.Request.Method, Path: x.Request.Path,
		Model: x.Request.Model, Time: x.Request.Arrived, BodyBytes: size(x.Request.Body), Partial: x.Request.Partial,
		Imported: x.Request.Recorded != nil,
	}
	r.Sent = sentRows(x)
	if t := x.Relation; t != nil {
		r.Thread, r.Relation, r.Parent, r.Evidence, r.Owner, r.Call, r.Messages = t.Thread, string(t.How), t.Parent, t.Evidence, t.Owner, t.Call, t.Messages
	}
	if a := x.Response; a != nil {
		r.Status, r.End, r.Error, r.ResponseBytes, r.Usage = a.Status, a.End, a.Error, size(a.Body), a.Usage
		if r.Model == "" {
			r.Model = a.Model
		}
	}
	return r
}

func (e *env) printRequests(p *pool.Pool, asJSON bool) error {
	rows := []requestRow{}
	unanswered, pruned := p.Unanswered(), p.Pruned()
	for i := range p.Exchanges {
		r := rowOf(&p.Exchanges[i])
		r.Unanswered, r.Pruned = unanswered[r.N], pruned[r.N]
		rows = append(rows, r)
	}
	if asJSON {
		return e.printJSON(map[string][]requestRow{"requests": rows})
	}
	edited := slices.ContainsFunc(rows, func(r requestRow) bool { return r.sentText() != "" })
	heads := []string{">N", "TIME", "THREAD", "RELATION", "KIND", "MODEL", ">BYTES", ">SENT", ">STATUS", "END", ">RESPONSE", ">IN", ">READ", ">WRITTEN", ">OUT"}
	t := e.table(without(heads, edited)...)
	for _, r := range rows {
		in, read, written, out := tokens(r.Usage)
		t.row(without([]string{
			strconv.Itoa(r.N), r.Time.Local().Format(time.TimeOnly), r.Thread, follows(r.Relation, r.Parent, r.Owner), r.Kind, r.Model, count(r.BodyBytes), r.sentText(), status(r.Status), string(r.End),
			count(r.ResponseBytes), in, read, written, out,
		}, edited)...)
	}
	t.flush()
	return nil
}

// sentAt is the column of what was sent, which is there only where something was edited.
const sentAt = 7

// without leaves out the column of what was sent, unless it is wanted.
func without(cells []string, wanted bool) []string {
	if wanted {
		return cells
	}
	return slices.Delete(cells, sentAt, sentAt+1)
}

// follows says how a request stands to others.
func follows(relation string, parent, owner int) string {
	switch {
	case parent != 0:
		return fmt.Sprintf("%s #%d", relation, parent)
	case owner != 0:
		return fmt.Sprintf("%s of #%d", relation, owner)
	}
	return relation
}

func status(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func tokens(u *entry.Usage) (in, read, written, out string) {
	if u == nil {
		return "-", "-", "-", "-"
	}
	return count(u.Input), count(u.CacheRead), count(u.CacheWrite), count(u.Output)
}
