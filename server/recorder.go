package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/selection"
	"ambit/journal"
	"ambit/provider"
)

// recorder writes copies of exchanges into the journal, behind the traffic. One goroutine owns all that it knows of
// sessions; the proxy only hands it events.
type recorder struct {
	store  *journal.Dir
	secret []byte
	title  string
	now    func() time.Time
	policy selection.Policy
	rand   io.Reader
	log    *slog.Logger
	room   room

	mu     sync.Mutex
	queue  []event
	acts   []act
	closed bool
	wake   chan struct{}
	done   chan error

	// The goroutine's own.
	open    map[string]*writing // by session
	keys    map[string]string   // the newest session of a key
	mine    map[string][]string // all sessions of a key
	sought  map[string]bool     // kinds of keys for which sub-agents' names were looked for
	spaces  map[string]*space   // by session, or by the key of a client that names none
	uses    int64               // of spaces, so far
	missed  map[string]*missed  // what was not recorded, by key
	counted map[string]bool     // sessions in which something was recorded
	silent  bool                // the log knows that recording fails

	loaded map[string]*pool.Pool // by session, what was read while a batch is recorded

	latest sync.Map // by key of a client or session, the newest request that may be edited, as a *provider.Known
	edited sync.Map // by key of a client or session, whether edits stand for it

	changed  atomic.Int64 // requests that were not sent as they came
	resent   atomic.Int64 // requests that were made shorter and sent again
	requests atomic.Int64 // that were recorded
	sessions atomic.Int64 // that they are in
	lost     atomic.Int64 // requests and responses that were not recorded
	handled  atomic.Int64 // events that were recorded or counted as missed
	recorded func()       // called after every batch; nil outside tests
}

// missed is what one client sent or got that was not recorded.
type missed struct {
	entry.Gap
	who identity
}

// event is one half of an exchange that is whole.
type event struct {
	x        *exchange
	response bool
}

// room is how many bytes of copies may still wait.
type room struct{ left atomic.Int64 }

func (r *room) take(n int64) bool {
	if r.left.Add(-n) < 0 {
		r.left.Add(n)
		return false
	}
	return true
}

func (r *room) give(n int64) { r.left.Add(n) }

const (
	// tidyAfter is how often idle sessions are let go and missed traffic is tried to be noted.
	tidyAfter = 5 * time.Second
	// restAfter is for how long nothing may pass in a session until it is let go: held, a megabyte of it takes four of memory,
	// and to take it up again takes some milliseconds.
	restAfter = time.Minute
	// maxOpen bounds the sessions that are held for writing while nothing is under way in them, and mostOpen those between
	// two times of tidying: each has files open, and takes time to be taken up again.
	maxOpen  = 32
	mostOpen = 96
	// maxDecoded bounds a body whose content encoding is undone to understand it, in bytes.
	maxDecoded = 64 << 20
	// maxPortion bounds the copies that are recorded at once, in bytes, so that the first of them is durable soon, and
	// maxEvents their number, as each may be of another session.
	maxPortion = 4 << 20
	maxEvents  = 64
)

func newRecorder(o Options) *recorder {
	r := &recorder{
		store: o.Store, secret: o.Secret, title: o.Title, now: o.Now, policy: o.policy(), rand: o.Rand, log: o.Log,
		wake: make(chan struct{}, 1), done: make(chan error, 1),
		open: make(map[string]*writing), missed: make(map[string]*missed), spaces: make(map[string]*space),
		sought: make(map[string]bool), counted: make(map[string]bool),
		loaded: make(map[string]*pool.Pool),
	}
	r.room.left.Store(o.Queue)
	go r.run()
	return r
}

// enqueue hands an event over. It never waits.
func (r *recorder) enqueue(e event) {
	r.mu.Lock()
	r.queue = append(r.queue, e)
	r.mu.Unlock()
	r.wakeUp()
}

func (r *recorder) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close records what is waiting and ends the goroutine.
func (r *recorder) close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()
	r.wakeUp()
	return <-r.done
}

// run is the goroutine.
func (r *recorder) run() {
	tick := time.NewTicker(tidyAfter)
	defer tick.Stop()
	for {
		select {
		case <-r.wake:
		case <-tick.C:
			_ = r.note() // it is tried again
			r.rest()
			if err := r.release(r.now().Add(-restAfter), maxOpen); err != nil {
				r.log.Warn("cannot let go of a session", "cause", err)
			}
		}
		clear(r.loaded) // others may have written to what is not held
		batch, acts, closed := r.take()
		for len(batch) > 0 || len(acts) > 0 {
			for len(batch) > 0 {
				n := portion(batch)
				r.record(batch[:n])
				r.handled.Add(int64(n))
				if r.recorded != nil {
					r.recorded()
				}
				batch = batch[n:]
			}
			for _, a := range acts {
				a.done <- a.do()
				if a.then != nil {
					a.then()
				}
				clear(r.loaded)
			}
			batch, acts, closed = r.take()
		}
		if closed {
			r.done <- r.finish()
			return
		}
	}
}

// portion is how many events are recorded at once: what came first does not wait for all that came after it.
func portion(batch []event) int {
	size := int64(0)
	for n, e := range batch {
		if size += e.size(); size > maxPortion || n == maxEvents {
			return max(n, 1)
		}
	}
	return len(batch)
}

// finish notes what is missing and lets all sessions go.
func (r *recorder) finish() error {
	if err := r.note(); err != nil {
		for key, gap := range r.missed {
			r.log.Error("traffic passed unrecorded, and this could not be noted", "client", key, "missed", gap.Exchanges, "bytes", gap.Bytes, "cause", gap.Cause)
		}
	}
	return r.release(r.now().Add(time.Hour), 0)
}

// take returns the events that are waiting, what is to be done behind them, and whether there will be no more.
func (r *recorder) take() (batch []event, acts []act, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, r.queue = r.queue, nil
	acts, r.acts = r.acts, nil
	return batch, acts, r.closed
}

// record writes a batch of events: their bodies, then their entries, one append a session.
func (r *recorder) record(batch []event) {
	var touched []*writing
	for _, e := range batch {
		w, err := r.stage(e)
		if err != nil {
			r.miss(e, err)
			continue
		}
		if len(w.events) == 1 {
			touched = append(touched, w)
		}
		if e.copy().lost {
			r.miss(e, errLost)
		}
	}
	again := make(map[event]bool)
	for _, w := range touched {
		events := w.events
		err := r.flush(w)
		for _, e := range events {
			switch {
			case err == nil:
			case len(events) > 1 && refused(err):
				again[e] = true
			default:
				r.missStaged(e, err)
			}
		}
	}
	for _, e := range batch {
		if again[e] { // what cannot be written takes none of its neighbours along
			r.recordAlone(e)
		}
	}
	for _, e := range batch {
		e.free()
	}
	r.tidy()
}

// recordAlone writes one event that could not be written with others.
func (r *recorder) recordAlone(e event) {
	w, err := r.stage(e)
	if err == nil {
		err = r.flush(w)
	}
	if err != nil {
		r.missStaged(e, err)
	}
}

// missStaged counts an event as missed that was staged. One whose copy was lost was counted then.
func (r *recorder) missStaged(e event, cause error) {
	if !e.copy().lost {
		r.miss(e, cause)
	}
}

// refused reports whether an append failed because of what was to be appended. Then a part of it may still be.
func refused(err error) bool {
	return errors.Is(err, journal.ErrTooLarge) || errors.Is(err, journal.ErrNoBody)
}

// tidy lets go what is held of too much.
func (r *recorder) tidy() {
	clear(r.loaded)
	if len(r.open) > mostOpen {
		if err := r.release(time.Time{}, mostOpen); err != nil {
			r.log.Warn("cannot let go of a session", "cause", err)
		}
	}
	r.thin()
}

var errLost = errors.New("the copy did not fit the queue")

// stage puts an event's body into its session and its fact on the list of what is to be appended.
//
// A half that was handed over is no longer written to, so nothing is locked here: the proxy does not wait for the disk.
func (r *recorder) stage(e event) (*writing, error) {
	x := e.x
	if e.response {
		return r.stageResponse(x)
	}
	return r.stageRead(x, r.read(x), false)
}

// stageRead stages a request that was read, its body late: when it is written.
func (r *recorder) stageRead(x *exchange, a *asking, late bool) (*writing, error) {
	if x.request.lost {
		return nil, errLost
	}
	w, p, err := r.place(x, a)
	if err != nil {
		return nil, err
	}
	f := x.requestFact()
	put := func() (err error) {
		f.Body, err = r.put(w, x.request.bytes)
		return err
	}
	if late {
		w.owed = append(w.owed, put)
	} else if err := put(); err != nil {
		return nil, err
	}
	w.n++
	f.N = w.n
	w.last = x.start
	w.add(event{x: x}, f)
	x.in, x.n = w, w.n
	w.live[x] = true
	r.relate(x, a, p)
	return w, nil
}

func (r *recorder) stageResponse(x *exchange) (*writing, error) {
	w := x.in
	if w == nil && x.purged {
		return nil, errors.New("the session of its request was purged")
	}
	if w == nil {
		return nil, errors.New("its request was not recorded")
	}
	delete(w.live, x)
	w.last = x.ended
	f := x.responseFact()
	if x.response.lost {
		r.answered(x, nil)
	} else {
		var err error
		if f.Body, err = r.put(w, x.response.bytes); err != nil {
			r.answered(x, nil)
			return nil, err
		}
	}
	w.add(event{x: x, response: true}, f)
	if !x.response.lost {
		body, err := provider.Decode(x.response.bytes, x.back.Get("Content-Encoding"), maxDecoded)
		if err != nil && len(body) == 0 {
			body = nil
		}
		answer := x.family.Response(x.q, x.back.Get("Content-Type"), body)
		f.Model, f.Usage = answer.Model, answer.Usage
		if x.plan != nil {
			x.plan.Counted(f.Usage, x.status == http.StatusOK)
		}
		r.answered(x, &answer.Answer)
		w.facts = append(w.facts, answerUnits(x, body, answer.Answer)...)
	}
	return w, nil
}

func (r *recorder) put(w *writing, body []byte) (*entry.Body, error) {
	if len(body) == 0 {
		return nil, nil
	}
	b, err := r.store.Put(context.Background(), w.id, body)
	return &b, err
}

// flush appends what is staged in a session, the session's first entry and what was missed before it.
func (r *recorder) flush(w *writing) error {
	facts := w.facts
	if gap := r.missed[w.key]; gap != nil {
		facts = append([]entry.Fact{&gap.Gap}, facts...)
	}
	if w.first != nil {
		facts = append([]entry.Fact{w.first}, facts...)
	}
	if len(facts) == 0 {
		return nil
	}
	events := w.events
	w.facts, w.events = nil, nil
	last, err := entry.Seq(0), w.pay()
	if err == nil {
		last, err = r.store.Append(context.Background(), w.id, facts...)
	}
	if err != nil {
		for _, e := range events {
			if !e.response {
				e.x.in = nil
				delete(w.live, e.x)
			}
			if e.x.at != nil {
				r.forget(e.x.at)
			}
		}
		w.undo()
		return err
	}
	delete(r.loaded, w.id)
	w.settle()
	for i, f := range facts {
		if u, ok := f.(*entry.Unit); ok {
			w.refer(last-entry.Seq(len(facts)-1-i), u)
		}
	}
	for _, e := range events {
		if !e.response {
			r.requests.Add(1)
		}
	}
	if !r.counted[w.id] {
		r.counted[w.id] = true
		r.sessions.Add(1)
	}
	w.first = nil
	if gap := r.missed[w.key]; gap != nil {
		r.log.Warn("recording again", "missed", gap.Exchanges, "bytes", gap.Bytes)
		delete(r.missed, w.key)
		r.silent = false
	}
	return nil
}

// miss counts what passed and could not be recorded. A gap's cause is the first one: the others follow from it.
func (r *recorder) miss(e event, cause error) {
	gap := r.missed[e.x.who.key]
	if gap == nil {
		gap = &missed{entry.Gap{Since: e.x.start.UTC(), Cause: brief(cause.Error())}, e.x.who}
		r.missed[e.x.who.key] = gap
	}
	gap.Exchanges++
	r.lost.Add(1)
	gap.Bytes += e.copy().total
	if !r.silent {
		r.silent = true
		r.log.Error("traffic passes unrecorded", "cause", fmt.Sprint(cause))
	}
}

// copy is the event's copy.
func (e event) copy() *copied {
	if e.response {
		return &e.x.response
	}
	return &e.x.request
}

func (e event) size() int64 { return int64(len(e.copy().bytes)) }

// free gives back the room of an event's copy.
func (e event) free() {
	e.x.r.room.give(e.size())
	e.copy().bytes = nil
}
