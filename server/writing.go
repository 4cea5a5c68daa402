package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
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

	known   map[known]bool // messages that are units, or repeat an answer that is one
	threads int            // that have begun
	talks   bool           // a conversation has begun in it, not only side requests

	saved struct{ n, threads int } // what n and threads were when something was last appended
	fresh []known                  // what came since

	counted bool // something was recorded in it

	facts  []entry.Fact // staged
	events []event      // what they are made of
}

func (w *writing) add(e event, f entry.Fact) {
	w.events, w.facts = append(w.events, e), append(w.facts, f)
}

// learn notes that a message is known.
func (w *writing) learn(h known) {
	if !w.known[h] {
		w.known[h], w.fresh = true, append(w.fresh, h)
	}
}

// undo forgets what was staged and could not be appended.
func (w *writing) undo() {
	w.n, w.threads = w.saved.n, w.saved.threads
	for _, h := range w.fresh {
		delete(w.known, h)
	}
	w.fresh = w.fresh[:0]
}

// done says that what was staged is appended.
func (w *writing) done() {
	w.saved.n, w.saved.threads, w.fresh = w.n, w.threads, w.fresh[:0]
}

// session finds the session of what somebody sends at a time, or makes one: of a client that names none, its newest,
// unless that has been idle for long.
func (r *recorder) session(who identity, at time.Time) (*writing, error) {
	if err := r.loadKeys(); err != nil {
		return nil, err
	}
	if who.tag != "" && r.keys[who.key] == "" {
		r.find(who.key)
	}
	w := r.held(r.keys[who.key], who.key)
	if w != nil && (who.named || len(w.live) > 0 || at.Sub(w.last) < sessionIdle) {
		return w, nil
	}
	return r.begin(who, at)
}

// held returns a session that is recorded, ready for writing; nil when it is gone or cannot be written.
func (r *recorder) held(id, key string) *writing {
	w := r.open[id]
	if w != nil && !r.store.Present(context.Background(), id) {
		r.log.Warn("a session was removed while it was recorded, beginning another", "session", id)
		delete(r.open, id)
		delete(r.spaces, id)
		_ = w.unlock() // of files that nobody sees
		return nil
	}
	if w != nil || id == "" {
		return w
	}
	w, err := r.resume(id, key)
	if err != nil {
		r.log.Warn("cannot go on with a session, beginning another", "session", id, "cause", err)
		return nil
	}
	return w
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
	keys, mine := make(map[string]string), make(map[string][]string)
	for _, id := range sessions {
		f, err := r.store.First(ctx, id)
		// A session under another name is somebody's copy.
		if first, ok := f.Fact.(*entry.Session); err == nil && ok && first.Key != "" && first.ID == id {
			keys[first.Key] = id
			mine[first.Key] = append(mine[first.Key], id)
		}
	}
	r.keys, r.mine = keys, mine
	return nil
}

// find looks for a session of a key that was made since the keys were read, by a fork.
func (r *recorder) find(key string) {
	ctx := context.Background()
	sessions, err := r.store.Sessions(ctx)
	if err != nil {
		return // then a new session begins, or fails itself
	}
	for _, id := range slices.Backward(sessions) {
		f, err := r.store.First(ctx, id)
		if first, ok := f.Fact.(*entry.Session); err == nil && ok && first.Key == key && first.ID == id {
			r.keys[key], r.mine[key] = id, append(r.mine[key], id)
			return
		}
	}
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
	w := &writing{
		id: id, key: cmp.Or(p.Session.Key, key), unlock: unlock, n: p.Last(), last: p.Updated, live: make(map[*exchange]bool),
		known: knownIn(p), threads: len(p.Threads()),
	}
	for _, t := range p.Threads() {
		w.talks = w.talks || t.How != entry.Side
	}
	w.done()
	r.open[id] = w
	return w, nil
}

// known is a message of a thread.
type known struct {
	thread string
	hash   provider.Hash
}

// knownIn are the messages of a session that are units.
func knownIn(p *pool.Pool) map[known]bool {
	all := make(map[known]bool)
	for i := range p.Units {
		if h, ok := hashOf(p.Units[i].Element); ok {
			all[known{p.Units[i].Thread, h}] = true
		}
	}
	return all
}

// begin makes a new session.
func (r *recorder) begin(who identity, at time.Time) (*writing, error) {
	id, err := ambit.SessionName(at, r.rand)
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
		id: id, key: who.key, unlock: unlock, last: at, live: make(map[*exchange]bool), known: make(map[known]bool),
		first: &entry.Session{ID: id, Title: title, Client: who.client, Key: who.key},
	}
	r.open[id], r.keys[w.key] = w, id
	r.mine[w.key] = append(r.mine[w.key], id)
	return w, nil
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
	delete(r.spaces, w.id)
	if p, err := pool.Load(context.Background(), r.store, w.id); err == nil {
		if err := pool.Store(r.store, w.id, p); err != nil {
			r.log.Debug("cannot save derived state", "session", w.id, "cause", err)
		}
	}
	return w.unlock()
}
