package server

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"

	"ambit"
	"ambit/journal"
)

// ownRoute is the name under which the server itself is asked to act; no upstream can have it.
const ownRoute = "_ambit"

// Purged is a server's answer when a session is purged.
type Purged struct {
	Session string `json:"session"`
	Bodies  int    `json:"bodies"`
	Bytes   int64  `json:"bytes"`
}

// TextGone is what came of the purge of one entry's text, or would come of it.
type TextGone struct {
	Ref    string   `json:"ref"`
	Kind   string   `json:"kind"`
	Bodies int      `json:"bodies"` // that hold some of it, and could be rebuilt before
	Bytes  int64    `json:"bytes"`  // of stored text, overwritten
	Stays  int64    `json:"stays_bytes"`
	Others []string `json:"others"` // entries that say as much of it
	Again  bool     `json:"again,omitempty"`
}

// TextGoneOf is a purge to be shown.
func TextGoneOf(t ambit.TextPurge) TextGone {
	shown := TextGone{Ref: t.Of.Ref(), Kind: string(t.Kind), Bodies: t.Bodies, Bytes: t.Bytes, Stays: t.Stays, Others: []string{}, Again: t.Again}
	for _, seq := range t.Others {
		shown.Others = append(shown.Others, seq.Ref())
	}
	return shown
}

// act is something that is done to a session in the recorder's own order, behind what had passed before.
type act struct {
	do   func() error
	done chan error
	then func() // done behind the answer, in the same order; nil for nothing
}

// act has the recorder do something, and waits for it.
func (r *recorder) act(do func() error) error { return r.actThen(do, nil) }

// actThen has the recorder do something, waits for it, and has it do something more that nobody waits for.
func (r *recorder) actThen(do func() error, then func()) error {
	a := act{do, make(chan error, 1), then}
	r.mu.Lock()
	r.acts = append(r.acts, a)
	r.mu.Unlock()
	r.wakeUp()
	return <-a.done
}

// own answers what the server itself is asked to do. No page in a browser is listened to, not even one that came from
// here: an upstream's may.
func (s *Server) own(w http.ResponseWriter, r *http.Request, to route) {
	session, ok := strings.CutPrefix(to.rest, "/sessions/")
	session, act, _ := strings.Cut(session, "/")
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case !ok || !isAct(act):
		refuse(http.StatusNotFound, "no such path").answer(w)
	case r.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, "a session is acted on with POST").answer(w)
	case browser(r):
		refuse(http.StatusForbidden, "pages in a browser act on nothing").answer(w)
	case kind != "application/json":
		refuse(http.StatusUnsupportedMediaType, "a session is acted on with content-type application/json").answer(w)
	default:
		s.handlers.Add(1)
		defer s.handlers.Done()
		if act == ActPurge {
			s.purge(w, session)
			return
		}
		s.asked(w, r, session, act)
	}
}

// browser reports whether a request says that a page in a browser made it.
func browser(r *http.Request) bool {
	return len(r.Header.Values("Origin")) > 0 || len(r.Header.Values("Sec-Fetch-Site")) > 0
}

func (s *Server) purge(w http.ResponseWriter, session string) {
	done := Purged{Session: session}
	err := s.recorder.act(func() (err error) {
		done, err = s.recorder.purge(session)
		return err
	})
	if err != nil {
		refuse(statusOf(err), "%v", err).answer(w)
		return
	}
	tell(w, done)
}

// purge purges a session, held for writing here or not, and forgets all that is known of it. What comes of requests that
// were recorded in it is not recorded in it any more, and no session has the request that it would answer: it is missed.
func (r *recorder) purge(session string) (Purged, error) {
	ctx := context.Background()
	w := r.open[session]
	if !r.store.Present(ctx, session) { // a lock would make it again
		return Purged{}, journal.ErrNoSession
	}
	unlock := func() error { return nil }
	if w == nil {
		var err error
		if unlock, err = r.store.Lock(ctx, session); err != nil {
			return Purged{}, err
		}
	}
	p, err := r.store.Purge(ctx, session)
	if gone, unknown := r.store.Purged(session); err == nil || gone != nil || unknown != nil { // its bytes may not be overwritten yet
		r.drop(session)
		if w != nil {
			unlock = w.unlock
		}
	}
	return Purged{session, p.Bodies, p.Bytes}, errors.Join(err, unlock())
}

// drop forgets a session that was purged.
func (r *recorder) drop(session string) {
	if w := r.open[session]; w != nil {
		for x := range w.live {
			x.in, x.purged = nil, true
		}
		delete(r.open, session)
	}
	for key, s := range r.spaces {
		if s.holds(session) {
			delete(r.spaces, key)
		}
	}
	for key, id := range r.keys {
		if id == session {
			delete(r.keys, key)
		}
	}
	for key, ids := range r.mine {
		r.mine[key] = without(ids, session)
	}
}

func without(sessions []string, session string) []string {
	var others []string
	for _, id := range sessions {
		if id != session {
			others = append(others, id)
		}
	}
	return others
}

// holds reports whether requests of a session are among those of a space.
func (s *space) holds(session string) bool {
	for at := range s.nodes {
		if at.session == session {
			return true
		}
	}
	return s.from[session] != nil
}
