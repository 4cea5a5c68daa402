package main

import (
	"context"
	"errors"
	"fmt"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// wanted is which bytes of a request are printed.
type wanted struct {
	response, client, joined bool
	attempt                  int // from 1; 0 for the last
}

// sentRow is one attempt in the answer of ambit request: what went to the provider, and what holds in it.
type sentRow struct {
	Attempt   int      `json:"attempt"`
	Edited    int      `json:"edited"`
	Why       string   `json:"why,omitempty"`
	BodyBytes int64    `json:"body_bytes"`
	EstWhole  int      `json:"est_whole_tokens"`
	EstAfter  int      `json:"est_after_tokens"`
	Held      []string `json:"pins_held"`
	Missing   []string `json:"pins_absent"`
	Refused   int      `json:"refused_before,omitempty"`
}

// sentRows are the attempts of a request; none where nobody would have edited it.
func sentRows(x *pool.Exchange) []sentRow {
	var rows []sentRow
	for i := range x.Sent {
		s := &x.Sent[i]
		r := sentRow{
			Attempt: s.Attempt, Edited: s.Edited, Why: s.Why, BodyBytes: size(s.Body), EstWhole: s.Whole, EstAfter: s.After,
			Held: append([]string{}, s.Held...), Missing: append([]string{}, s.Missing...), Refused: s.Status,
		}
		if s.Body == nil {
			r.BodyBytes = size(x.Request.Body)
		}
		rows = append(rows, r)
	}
	return rows
}

// sentBody is the body that is wanted where it is neither what the client sent nor what it got; false where it is one of
// these. The answer to an attempt stands with the one that followed.
func (e *env) sentBody(x *pool.Exchange, w wanted) (entry.Body, bool, error) {
	attempts := max(1, len(x.Sent))
	if w.attempt > attempts {
		return entry.Body{}, false, fmt.Errorf("request %d was sent in %s", x.Request.N, plural(attempts, "attempt", "attempts"))
	}
	at := w.attempt - 1
	if w.attempt == 0 {
		at = attempts - 1
	}
	switch {
	case w.client, len(x.Sent) == 0:
	case w.response && at < attempts-1:
		if refused := x.Sent[at+1].Refused; refused != nil {
			return *refused, true, nil
		}
		return entry.Body{}, false, fmt.Errorf("the answer to attempt %d of request %d had no body, and status %d", at+1, x.Request.N, x.Sent[at+1].Status)
	case !w.response && x.Sent[at].Body != nil:
		return *x.Sent[at].Body, true, nil
	}
	return entry.Body{}, false, nil
}

// printSent writes the bytes of an attempt, or of its answer.
func (e *env) printSent(ctx context.Context, d *journal.Dir, name string, n int, b entry.Body) error {
	bytes, err := d.Body(ctx, name, b)
	if errors.Is(err, journal.ErrPurged) {
		return fmt.Errorf("request %d was purged: of the %s bytes that were sent there is only the SHA-256, %s", n, count(b.Size), b.SHA256)
	}
	if err != nil {
		return e.damaged(err)
	}
	_, err = e.out.Write(bytes)
	return err
}

// printJoined writes a request with what the provider held of it.
func (e *env) printJoined(ctx context.Context, d *journal.Dir, name string, n int) error {
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil {
		return e.damaged(err)
	}
	body, err := rec.Joined(ctx, n)
	switch {
	case errors.Is(err, journal.ErrPurged):
		return fmt.Errorf("request %d, or what it goes on from, was purged", n)
	case errors.Is(err, journal.ErrCorrupt):
		return e.damaged(err)
	case err != nil:
		return err
	}
	_, err = e.out.Write(body)
	return err
}

// sentText is the size of what went to the provider where that is not what the client sent, with the number of attempts where
// there are several; empty where it went as it came, once.
func (r *requestRow) sentText() string {
	n := len(r.Sent)
	if n == 0 || n == 1 && r.Sent[0].Edited == 0 {
		return ""
	}
	text := count(r.Sent[n-1].BodyBytes)
	if n > 1 {
		text += fmt.Sprintf(" (%d×)", n)
	}
	return text
}
