package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"ambit"
	"ambit/journal"
)

// What can be asked of a session, whoever holds it.
const (
	ActPurge     = "purge"
	ActPurgeText = "purge-text" // of one entry
	ActPin       = "pin"
	ActUnpin     = "unpin"
	ActNote      = "note"
	ActCompact   = "compact"
)

// isAct reports whether there is such an act.
func isAct(act string) bool {
	switch act {
	case ActPurge, ActPurgeText, ActPin, ActUnpin, ActNote, ActCompact:
		return true
	}
	return false
}

// ActPath is the path at which a server is asked to act on a session that it may hold: by POST, with an Ask as JSON; with any
// JSON to purge it.
func ActPath(session, act string) string { return "/" + ownRoute + "/sessions/" + session + "/" + act }

// maxAsk bounds what is read of an Ask, in bytes: its texts have at most 16 KiB, which JSON may spell six times as long.
const maxAsk = 256 << 10

// Ask is what is asked of a session, but for a purge, which takes nothing.
type Ask struct {
	By    string   `json:"by,omitempty"`    // ambit.ByUser or ambit.ByAgent; what is empty is a person's
	Text  string   `json:"text,omitempty"`  // of a pin or a note
	Ref   string   `json:"ref,omitempty"`   // of a pin: the entry that says it, without a Text; the entry whose text is purged
	Field string   `json:"field,omitempty"` // with Ref
	Pin   string   `json:"pin,omitempty"`   // that is taken off
	Refs  []string `json:"refs,omitempty"`  // that a note rests on
}

// Acted is the answer. Besides the session it has what came of the act.
type Acted struct {
	Session string     `json:"session"`
	Pin     *Pin       `json:"pin,omitempty"`
	Note    *Note      `json:"note,omitempty"`
	Compact *Compacted `json:"compact,omitempty"`
	Purged  *TextGone  `json:"purged,omitempty"`
}

// Pin is a pin as all faces of Ambit show it.
type Pin struct {
	ID   string `json:"id"`
	By   string `json:"by"`
	Ref  string `json:"ref,omitempty"` // the entry that says it
	Text string `json:"text"`
}

// PinOf is a pin to be shown.
func PinOf(p ambit.PinText) Pin {
	shown := Pin{ID: p.ID, By: p.By, Text: p.Text}
	if p.Of != 0 {
		shown.Ref = p.Of.Ref()
	}
	return shown
}

// Note is a note as all faces of Ambit show it.
type Note struct {
	ID           string   `json:"id"`
	Ref          string   `json:"ref"` // its own entry, which read prints
	Class        string   `json:"class"`
	By           string   `json:"by"`
	Verification string   `json:"verification"` // always unverified
	Refs         []string `json:"refs"`
	Text         string   `json:"text"`
}

// NoteOf is a note to be shown.
func NoteOf(n ambit.NoteText) Note {
	return Note{ID: n.ID, Ref: n.Seq.Ref(), Class: n.Class, By: n.By, Verification: "unverified", Refs: append([]string{}, n.Refs...), Text: n.Text}
}

// Act does what is asked of a session that its recording's store has locked. The key is that of refs with a suffix. The
// error is that of the method of ambit.Recording which does it; an act that there is not is ambit.ErrRefused.
func Act(ctx context.Context, rec *ambit.Recording, key []byte, session, act string, a Ask) (Acted, error) {
	done := Acted{Session: session}
	if a.By == "" {
		a.By = ambit.ByUser
	}
	switch act {
	case ActPurgeText:
		t, err := rec.PurgeText(ctx, key, a.Ref)
		shown := TextGoneOf(t)
		done.Purged = &shown
		return done, err
	case ActPin:
		p, err := rec.Pin(ctx, key, ambit.Pinning{Text: a.Text, Ref: a.Ref, Field: a.Field, By: a.By})
		shown := PinOf(p)
		done.Pin = &shown
		return done, err
	case ActUnpin:
		p, err := rec.Unpin(ctx, a.Pin, a.By)
		shown := PinOf(p)
		done.Pin = &shown
		return done, err
	case ActNote:
		n, err := rec.Record(ctx, key, ambit.Finding{Text: a.Text, Refs: a.Refs, By: a.By})
		shown := NoteOf(n)
		done.Note = &shown
		return done, err
	case ActCompact:
		c, err := rec.Compact(ctx, key)
		shown := compactedOf(c)
		done.Compact = &shown
		return done, err
	}
	return done, fmt.Errorf("%w: there is no act %q", ambit.ErrRefused, act)
}

// Compacted is what was decided when somebody asked for a checkpoint.
type Compacted struct {
	Decision   string `json:"decision"` // ref of its entry
	Thread     string `json:"thread"`
	Turn       int    `json:"turn"`  // the request whose conversation was looked at
	Stage      string `json:"stage"` // as the entry has it
	Why        string `json:"why"`
	EstBefore  int    `json:"est_before_tokens"`
	EstAfter   int    `json:"est_after_tokens"`
	Changes    int    `json:"changes"` // to messages, which hold from the next request on
	Checkpoint int    `json:"checkpoint_bytes"`
}

// compactedOf is a decision to be shown.
func compactedOf(c ambit.Compacted) Compacted {
	d := &c.Decision
	return Compacted{
		Decision: c.Ref, Thread: d.Thread, Turn: c.Turn, Stage: string(d.Stage), Why: d.Why, EstBefore: d.Before, EstAfter: d.After, Changes: c.Changes,
		Checkpoint: len(c.Checkpoint),
	}
}

// asked reads what is asked of a session, does it, and answers.
func (s *Server) asked(w http.ResponseWriter, r *http.Request, session, act string) {
	var a Ask
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAsk+1))
	switch {
	case err != nil:
		refuse(http.StatusBadRequest, "the request broke off: %v", err).answer(w)
		return
	case len(body) > maxAsk:
		refuse(http.StatusRequestEntityTooLarge, "what is asked has over %d bytes", maxAsk).answer(w)
		return
	}
	if err := json.Unmarshal(body, &a); err != nil || a.By != "" && a.By != ambit.ByUser && a.By != ambit.ByAgent {
		refuse(http.StatusBadRequest, "what is asked is not the JSON that it has to be").answer(w)
		return
	}
	done, err := s.act(r.Context(), session, act, a)
	if err != nil {
		refuse(statusOf(err), "%v", err).answer(w)
		return
	}
	tell(w, done)
}

// tell writes a value as JSON. What is answered here always marshals.
func tell(w http.ResponseWriter, v any) {
	body, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(body, '\n'))
}

// statusOf is the status that says of which kind an error is.
func statusOf(err error) int {
	for _, kind := range []struct {
		err    error
		status int
	}{
		{journal.ErrNoSession, http.StatusNotFound},
		{journal.ErrBadName, http.StatusNotFound},
		{ambit.ErrNoRef, http.StatusNotFound},
		{ambit.ErrNoPin, http.StatusNotFound},
		{ambit.ErrForbidden, http.StatusForbidden},
		{ambit.ErrRefused, http.StatusUnprocessableEntity},
		{ambit.ErrEvidence, http.StatusConflict},
		{ambit.ErrNoCheckpoint, http.StatusConflict},
		{journal.ErrImported, http.StatusConflict},
		{journal.ErrPurged, http.StatusConflict},
		{journal.ErrBusy, http.StatusConflict},
	} {
		if errors.Is(err, kind.err) {
			return kind.status
		}
	}
	return http.StatusInternalServerError
}

// act does what is asked of a session, in the recorder's own order. The session is read before, beside the recorder, which
// then only has to take in what came since.
func (s *Server) act(ctx context.Context, session, act string, a Ask) (done Acted, err error) {
	r := s.recorder
	rec, err := ambit.OpenRecording(ctx, r.store, session)
	if err != nil {
		return Acted{}, err
	}
	err = r.act(func() error {
		return r.locked(session, func() error {
			done, err = Act(context.WithoutCancel(ctx), rec, r.secret, session, act, a)
			return err
		})
	})
	return done, err
}

// locked does something to a session that is held for writing here, or else is locked for it.
func (r *recorder) locked(session string, do func() error) error {
	ctx := context.Background()
	defer r.edited.Clear() // whose requests are edited may be others now
	if w := r.open[session]; w != nil {
		defer r.reconsider(w)
		return do()
	}
	if !r.store.Present(ctx, session) { // a lock would make it again
		return journal.ErrNoSession
	}
	unlock, err := r.store.Lock(ctx, session)
	if err != nil {
		return err
	}
	return errors.Join(do(), unlock())
}
