package server

import (
	"cmp"
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// writing is a session that the recorder holds for writing.
type writing struct {
	id     string
	key    string
	unlock func() error
	first  *entry.Session     // to be appended before anything else
	n      int                // number of the last request
	last   time.Time          // of the newest request or response
	live   map[*exchange]bool // recorded requests whose responses are still to come

	counted bool // something was recorded in it

	facts  []entry.Fact // staged
	events []event      // what they are made of
}

func (w *writing) add(e event, f entry.Fact) {
	w.events, w.facts = append(w.events, e), append(w.facts, f)
}

// session finds the session of what somebody sends at a time, or makes one.
func (r *recorder) session(who identity, at time.Time) (*writing, error) {
	if err := r.loadKeys(); err != nil {
		return nil, err
	}
	id := r.keys[who.key]
	w := r.open[id]
	if w != nil && !r.store.Present(context.Background(), id) {
		r.log.Warn("a session was removed while it was recorded, beginning another", "session", id)
		delete(r.open, id)
		_ = w.unlock() // of files that nobody sees
		w, id = nil, ""
	}
	if w == nil && id != "" {
		var err error
		if w, err = r.resume(id, who.key); err != nil {
			r.log.Warn("cannot go on with a session, beginning another", "session", id, "cause", err)
			w = nil
		}
	}
	if w != nil && (who.named || len(w.live) > 0 || at.Sub(w.last) < sessionIdle) {
		return w, nil
	}
	return r.begin(who, at)
}

// loadKeys reads, once, whose sessions the store has.
func (r *recorder) loadKeys() error {
	if r.keys != nil {
		return nil
	}
	ctx := context.Background()
	sessions, err := r.store.Sessions(ctx)
	if err != nil {
		return err
	}
	keys := make(map[string]string)
	for _, id := range sessions {
		for f, err := range r.store.Read(ctx, id, 0) {
			// A session under another name is somebody's copy.
			if first, ok := f.Fact.(*entry.Session); err == nil && ok && first.Key != "" && first.ID == id {
				keys[first.Key] = id
			}
			break
		}
	}
	r.keys = keys
	return nil
}

// resume takes up a session that this or another process has let go.
func (r *recorder) resume(id, key string) (*writing, error) {
	ctx := context.Background()
	if !r.store.Present(ctx, id) { // a lock would make it again
		return nil, journal.ErrNoSession
	}
	unlock, err := r.store.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := pool.Load(ctx, r.store, id)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	w := &writing{id: id, key: key, unlock: unlock, n: p.Last(), last: p.Updated, live: make(map[*exchange]bool)}
	r.open[id] = w
	return w, nil
}

// begin makes a new session.
func (r *recorder) begin(who identity, at time.Time) (*writing, error) {
	id, err := sessionName(at, r.rand)
	if err != nil {
		return nil, err
	}
	unlock, err := r.store.Lock(context.Background(), id)
	if err != nil {
		return nil, err
	}
	title := r.title
	if title == "" {
		title = who.tag
	}
	w := &writing{
		id: id, key: who.key, unlock: unlock, last: at, live: make(map[*exchange]bool),
		first: &entry.Session{ID: id, Title: title, Client: who.client, Key: who.key},
	}
	r.open[id], r.keys[w.key] = w, id
	return w, nil
}

// sessionName makes a session's name: when it begins, UTC, to the millisecond, and four random letters.
func sessionName(at time.Time, random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("name a session: %w", err)
	}
	suffix := strings.ToLower(base32.StdEncoding.EncodeToString(b[:])[:4])
	return strings.Replace(at.UTC().Format("20060102-150405.000-"), ".", "-", 1) + suffix, nil
}

// note writes gaps whose client has sent nothing since. It returns why it could not write one.
func (r *recorder) note() (failed error) {
	for _, gap := range r.missed {
		who := gap.who
		who.named = true // whatever session is its newest
		w, err := r.session(who, r.now())
		if err == nil {
			err = r.flush(w)
		}
		if err != nil {
			failed = err
		}
	}
	return failed
}

// release lets sessions go in which nothing is under way: those that were last used before a time, and the longest
// unused of those that are more than keep.
func (r *recorder) release(before time.Time, keep int) error {
	var idle []*writing
	for _, w := range r.open {
		if len(w.live) == 0 || keep == 0 {
			idle = append(idle, w)
		}
	}
	slices.SortFunc(idle, func(a, b *writing) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.id, b.id)) })
	var errs []error
	for i, w := range idle {
		if w.last.Before(before) || len(idle)-i > keep {
			errs = append(errs, r.letGo(w))
		}
	}
	return errors.Join(errs...)
}

// letGo saves what is known of a session, which the next reader is spared folding, and unlocks it.
func (r *recorder) letGo(w *writing) error {
	delete(r.open, w.id)
	if p, err := pool.Load(context.Background(), r.store, w.id); err == nil {
		if err := pool.Store(r.store, w.id, p); err != nil {
			r.log.Debug("cannot save derived state", "session", w.id, "cause", err)
		}
	}
	return w.unlock()
}
