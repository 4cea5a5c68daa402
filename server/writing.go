package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pressure"
	"ambit/internal/selection"
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

	purged  map[known]bool  // messages whose entries were purged: said again they are new, though a request before held them
	known   map[known]first // where messages stand that are units, or that repeat an answer
	threads int             // that have begun
	talks   bool            // a conversation has begun in it, not only side requests

	standing map[string]*pressure.Thread // by thread, what its requests are edited by; made when it is first asked for
	pins     []selection.Pin
	pinned   bool // pins are read

	aliases map[string]bool // by which requests name its sub-agents as their parents

	saved struct { // what these were when something was last appended
		n, threads int
		talks      bool
	}
	fresh []known         // messages that became known since
	gone  map[known]first // and those that were forgotten
	named []string        // aliases that came since

	owed   []func() error // what is to be done before what is staged can be written
	facts  []entry.Fact   // staged
	events []event        // what they are made of
}

// newWriting is a session that is locked and holds nothing that is known yet.
func newWriting(id, key string, unlock func() error, last time.Time) *writing {
	return &writing{
		id: id, key: key, unlock: unlock, last: last, live: make(map[*exchange]bool), known: make(map[known]first),
		aliases: make(map[string]bool), gone: make(map[known]first), purged: make(map[known]bool), standing: make(map[string]*pressure.Thread),
	}
}

// blank reports whether nothing is recorded in a session yet, nor about to be.
func (w *writing) blank() bool { return w.first != nil && len(w.events) == 0 && len(w.live) == 0 }

// alias gives a sub-agent's own name back the first time; it is recorded once.
func (w *writing) alias(key string) string {
	if key == "" || w.aliases[key] {
		return ""
	}
	w.aliases[key], w.named = true, append(w.named, key)
	return key
}

func (w *writing) add(e event, f entry.Fact) {
	w.events, w.facts = append(w.events, e), append(w.facts, f)
}

// pay does what is owed, until something fails.
func (w *writing) pay() error {
	owed := w.owed
	w.owed = nil
	for _, do := range owed {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// learn notes that a message is known.
func (w *writing) learn(h known, n int) {
	if w.known[h].n == 0 {
		w.known[h], w.fresh = first{n: n}, append(w.fresh, h)
	}
}

// refer notes which entry has a message.
func (w *writing) refer(seq entry.Seq, u *entry.Unit) {
	h, ok := hashOf(u.Element)
	k := known{u.Thread, h}
	if f := w.known[k]; ok && f.n == u.N && f.seq == 0 {
		f.seq = seq
		w.known[k] = f
	}
}

// reconsider forgets what a session's requests are edited by, because somebody else changed it, and messages whose text was
// purged: what is said again is new. All is read again when it is needed.
func (r *recorder) reconsider(w *writing) {
	clear(w.standing)
	w.pins, w.pinned = nil, false
	delete(r.loaded, w.id)
	p, _ := r.load(w.id) // of a damaged one, what lies before that
	for k, f := range w.known {
		if p != nil && f.seq != 0 && p.IsGone(f.seq) {
			delete(w.known, k)
			w.purged[k] = true
		}
	}
}

// forgetBeside forgets what was said in a thread beside the way that is gone on from, so that it is new when it is said
// again: it may have been left behind.
func (w *writing) forgetBeside(thread string, way map[int]bool) {
	for h, f := range w.known {
		if h.thread == thread && !way[f.n] {
			w.gone[h] = f
			delete(w.known, h)
		}
	}
}

// undo forgets what was staged and could not be appended.
func (w *writing) undo() {
	w.n, w.threads, w.talks = w.saved.n, w.saved.threads, w.saved.talks
	for _, h := range w.fresh {
		delete(w.known, h)
	}
	for h, f := range w.gone {
		if f.n <= w.n {
			w.known[h] = f
		}
	}
	for _, key := range w.named {
		delete(w.aliases, key)
	}
	w.settle()
}

// settle says that what is known is what is appended.
func (w *writing) settle() {
	w.saved.n, w.saved.threads, w.saved.talks = w.n, w.threads, w.talks
	w.fresh, w.named = w.fresh[:0], w.named[:0]
	clear(w.gone)
}

// session finds the session of what somebody sends at a time, or makes one: of a client that names none, its newest,
// unless that has been idle for long.
func (r *recorder) session(who identity, at time.Time) (*writing, error) {
	if err := r.loadKeys(); err != nil {
		return nil, err
	}
	switch {
	case r.keys[who.key] != "":
	case who.tag != "":
		r.find(who.key)
	default:
		r.findAlias(who.key)
	}
	w := r.held(r.keys[who.key], who.key)
	if w != nil && (who.named || len(w.live) > 0 || at.Sub(w.last) < sessionIdle) {
		return w, nil
	}
	return r.begin(who, at)
}

// load reads what is known of a session. While a batch is recorded, or something is done, it is read once, unless something is
// appended to it.
func (r *recorder) load(session string) (*pool.Pool, error) {
	if p := r.loaded[session]; p != nil {
		return p, nil
	}
	p, err := pool.Load(context.Background(), r.store, session)
	if err == nil {
		r.loaded[session] = p
	}
	return p, err
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
		if key := r.keyOf(ctx, id); key != "" && r.goesOn(ctx, id) {
			keys[key] = id
			mine[key] = append(mine[key], id)
		}
	}
	r.keys, r.mine = keys, mine
	return nil
}

// keyOf is what the requests of a session are recognised by; "" for a session under another name, which is somebody's copy.
func (r *recorder) keyOf(ctx context.Context, id string) string {
	f, err := r.store.First(ctx, id)
	first, ok := f.Fact.(*entry.Session)
	if err != nil || !ok || first.Key == "" || first.ID != id {
		return ""
	}
	return first.Key
}

// goesOn reports whether a session can be gone on with: one that was imported is evidence, and one that was purged takes
// nothing.
func (r *recorder) goesOn(ctx context.Context, id string) bool {
	imported, err := r.store.Imported(ctx, id)
	if imported || err != nil {
		return false
	}
	purged, err := r.store.Purged(id)
	return purged == nil && err == nil
}

// find looks for a session of a key that was made since the keys were read, by a fork.
func (r *recorder) find(key string) {
	ctx := context.Background()
	sessions, err := r.store.Sessions(ctx)
	if err != nil {
		return // then a new session begins, or fails itself
	}
	for _, id := range slices.Backward(sessions) {
		if r.keyOf(ctx, id) == key && r.goesOn(ctx, id) {
			r.keys[key], r.mine[key] = id, append(r.mine[key], id)
			return
		}
	}
}

// maxAliased bounds the sessions that are read for the names of their sub-agents.
const maxAliased = 200

// findAlias looks for the session in which a sub-agent has a key, among those that were recorded before this process; what
// it records itself is among the keys. The sessions of clients that name their sub-agents so are read for that once, the
// newest of them.
func (r *recorder) findAlias(key string) {
	kind := key[:strings.LastIndexByte(key, ':')+1]
	if !strings.HasSuffix(kind, aliasKind) || r.sought[kind] {
		return
	}
	r.sought[kind] = true
	var sessions []string
	for key, ids := range r.mine {
		if strings.HasPrefix(key, kind) {
			sessions = append(sessions, ids...)
		}
	}
	for _, id := range slices.Backward(newest(sessions, maxAliased)) {
		p, _ := r.load(id) // of a damaged one, what lies before that
		if p == nil || p.Imported != nil || p.Purged != nil {
			continue
		}
		for _, alias := range p.Aliases {
			if r.keys[alias] == "" {
				r.keys[alias] = id
			}
		}
	}
}

// newest are the sessions of the newest names, in order.
func newest(sessions []string, most int) []string {
	sessions = slices.Clone(sessions)
	slices.Sort(sessions)
	return sessions[max(0, len(sessions)-most):]
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
	p, err := r.load(id)
	switch {
	case err != nil:
	case p.Imported != nil:
		err = journal.ErrImported
	case p.Purged != nil:
		err = journal.ErrPurged
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	w := newWriting(id, cmp.Or(p.Session.Key, key), unlock, p.Updated)
	w.n, w.known, w.threads = p.Last(), knownIn(p), len(p.Threads())
	for i := range p.Units {
		if h, ok := hashOf(p.Units[i].Element); ok && p.IsGone(p.Units[i].Seq) {
			w.purged[known{p.Units[i].Thread, h}] = true
		}
	}
	for _, t := range p.Threads() {
		w.talks = w.talks || t.How != entry.Side
	}
	for _, alias := range p.Aliases {
		w.aliases[alias] = true
	}
	w.settle()
	r.open[id] = w
	return w, nil
}

// known is a message of a thread.
type known struct {
	thread string
	hash   provider.Hash
}

// first is where a message first stood.
type first struct {
	n   int       // the request
	seq entry.Seq // the entry that has it; 0 while it is not written, and of what repeats an answer
}

// knownIn are the messages of a session that are units, on the branches that are gone on from.
func knownIn(p *pool.Pool) map[known]first {
	all := make(map[known]first)
	behind, _ := p.Behind()
	for i := range p.Units {
		if h, ok := hashOf(p.Units[i].Element); ok && !behind[p.Units[i].N] && !p.IsGone(p.Units[i].Seq) {
			all[known{p.Units[i].Thread, h}] = first{p.Units[i].N, p.Units[i].Seq}
		}
	}
	return all
}

// begin makes a new session, or takes one that was made for the same client and could not be recorded in.
func (r *recorder) begin(who identity, at time.Time) (*writing, error) {
	w := r.blank(who.key)
	if w == nil {
		id, err := ambit.SessionName(at, r.rand)
		if err != nil {
			return nil, err
		}
		unlock, err := r.store.Lock(context.Background(), id)
		if err != nil {
			return nil, err
		}
		w = newWriting(id, who.key, unlock, at)
		r.open[id] = w
		r.mine[w.key] = append(r.mine[w.key], id)
	}
	w.last, w.first = at, &entry.Session{ID: w.id, Title: cmp.Or(r.title, who.tag), Client: who.client, Key: who.key}
	r.keys[w.key] = w.id
	return w, nil
}

// blank is a session of a key that is held for writing and in which nothing could be recorded; or nil.
func (r *recorder) blank(key string) *writing {
	for _, w := range r.open {
		if w.key == key && w.blank() && r.store.Present(context.Background(), w.id) {
			return w
		}
	}
	return nil
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

// rest gives up what is kept only to be quick, where nothing is under way.
func (r *recorder) rest() {
	for _, s := range r.spaces {
		if len(s.live) == 0 {
			s.idle()
		}
	}
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
	r.latest.Delete(w.key)
	if p, err := r.load(w.id); err == nil {
		if err := pool.Store(r.store, w.id, p); err != nil {
			r.log.Debug("cannot save derived state", "session", w.id, "cause", err)
		}
	}
	return w.unlock()
}
