package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"ambit"
	"ambit/journal"
	"ambit/server"
)

// act does something to a session, or has the ambit up do it that holds it.
func (e *env) act(ctx context.Context, session, act string, a server.Ask) (server.Acted, error) {
	d, dir, err := e.record(journal.Holder{Command: act})
	if err != nil {
		return server.Acted{}, err
	}
	defer d.Close()
	key, err := secret(dir)
	if err != nil {
		return server.Acted{}, err
	}
	rec, err := ambit.OpenRecording(ctx, d, session) // a lock would make one that is not there
	if err != nil {
		return server.Acted{}, e.damaged(err)
	}
	unlock, err := d.Lock(ctx, session)
	var busy *journal.BusyError
	switch {
	case errors.As(err, &busy) && busy.Holder.Addr != "":
		return e.forwardAct(ctx, busy, act, a)
	case errors.As(err, &busy):
		return server.Acted{}, &hintError{busy, "try again when it is done"}
	case err != nil:
		return server.Acted{}, e.damaged(err)
	}
	done, err := server.Act(ctx, rec, key, session, act, a)
	return done, errors.Join(e.actHint(session, err), unlock())
}

// forwardAct asks the ambit up that holds a session. What that refuses reads as if it had been refused here.
func (e *env) forwardAct(ctx context.Context, busy *journal.BusyError, act string, a server.Ask) (done server.Acted, err error) {
	body, err := e.askHolder(ctx, busy, act, a)
	var said *answeredError
	if errors.As(err, &said) && said.status != http.StatusInternalServerError && said.status != http.StatusBadRequest {
		return done, e.actHint(busy.Session, &refusedThere{said})
	}
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal(body, &done); err != nil || done.Session != busy.Session {
		return done, fmt.Errorf("%w, whose answer is none: it may be of another version", busy)
	}
	return done, nil
}

// refusedThere is what an ambit up refused for a reason that lies in the session or in what was asked.
type refusedThere struct{ said *answeredError }

func (e *refusedThere) Error() string { return e.said.text }

// actHint adds what to do about an act that was refused.
func (e *env) actHint(session string, err error) error {
	var there *refusedThere
	status := 0
	if errors.As(err, &there) {
		status = there.said.status
	}
	switch {
	case errors.Is(err, ambit.ErrEvidence), errors.Is(err, journal.ErrImported):
		return &hintError{err, e.self() + " fork " + session + " begins one that goes on from it"}
	case errors.Is(err, ambit.ErrNoPin):
		return &hintError{err, e.self() + " pin " + session + " shows them"}
	case errors.Is(err, ambit.ErrNoRef), status == http.StatusNotFound:
		return &hintError{err, e.self() + " log " + session + " shows the entries"}
	}
	return err
}
