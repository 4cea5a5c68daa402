package journaltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"ambit/entry"
)

// step is one thing that a history does. Whatever it needs, an open store and a locked session, it gets first, so a
// step that failed can be done again.
type step struct {
	session string
	do      func(r *run, session string) error
}

// parents are the sessions of a history that go on from another one.
var parents = map[string]string{"three": "one", "two-b": "two"}

// history makes a long random row of steps over two sessions and their forks.
func history(seed uint64, length int) []step {
	rng := rand.New(rand.NewPCG(seed, 0))
	texts := map[string]*text{"one": {rng: rng}, "two": {rng: rng}, "three": {rng: rng}, "two-b": {rng: rng}}
	names := slices.Sorted(maps.Keys(texts))
	steps := make([]step, length)
	for i := range steps {
		name := names[rng.IntN(len(names))]
		do := randomStep(rng, texts[name], i)
		if parent := parents[name]; parent != "" {
			do = forked(parent, rng.IntN(100), do)
		}
		steps[i] = step{name, do}
	}
	return steps
}

func randomStep(rng *rand.Rand, x *text, i int) func(r *run, session string) error {
	switch p := rng.IntN(100); {
	case p < 30:
		return appends(x.plain(i))
	case p < 62:
		return appends(x.bodied(i))
	case p < 72:
		return appends(x.bodied(i), x.plain(i), x.bodied(i))
	case p < 76:
		return appends(x.plain(i), x.plain(i))
	case p < 80:
		return puts(x.next())
	case p < 90:
		return (*run).release
	case p < 94:
		return (*run).restart
	default:
		return (*run).read
	}
}

// draft is a fact before its body was put.
type draft struct {
	body []byte // nil for none
	fact func(b *entry.Body) entry.Fact
}

func appends(drafts ...draft) func(*run, string) error {
	return func(r *run, session string) error { return r.append(session, drafts) }
}

func puts(body []byte) func(*run, string) error {
	return func(r *run, session string) error {
		_, err := r.store.Put(r.ctx, session, body)
		return err
	}
}

// forked lets a session that holds nothing go on from an entry of its parent, and then does what else is to be done.
func forked(parent string, at int, do func(*run, string) error) func(*run, string) error {
	return func(r *run, session string) error {
		shared := r.ledger(parent).acked
		if len(r.ledger(session).acked) > 0 || len(shared) == 0 {
			return do(r, session)
		}
		shared = shared[:1+at%len(shared)]
		for f, err := range r.store.Read(r.ctx, parent, entry.Seq(len(shared))-1) {
			if err == nil {
				err = r.extend(session, shared, &entry.Session{ID: session, From: from(parent, f)})
			}
			if err != nil {
				return err
			}
			break
		}
		return do(r, session)
	}
}

// run does steps and keeps the ledgers of what must be there.
type run struct {
	storage Storage
	ctx     context.Context
	store   Store // nil while none is open
	locks   map[string]func() error
	want    map[string]*ledger
}

func start(st Storage) *run {
	return &run{storage: st, ctx: context.Background(), locks: map[string]func() error{}, want: map[string]*ledger{}}
}

func (r *run) ledger(session string) *ledger {
	if r.want[session] == nil {
		r.want[session] = &ledger{}
	}
	return r.want[session]
}

func (r *run) step(s step) error {
	if r.store == nil {
		store, err := r.storage.Open()
		if err != nil {
			return err
		}
		r.store = store
	}
	if r.locks[s.session] == nil {
		unlock, err := r.store.Lock(r.ctx, s.session)
		if err != nil {
			return err
		}
		r.locks[s.session] = unlock
	}
	return s.do(r, s.session)
}

func (r *run) append(session string, drafts []draft) error {
	var facts []entry.Fact
	for _, d := range drafts {
		var ref *entry.Body
		if d.body != nil {
			b, err := r.store.Put(r.ctx, session, d.body)
			if err != nil {
				return err
			}
			if sum := sha256.Sum256(d.body); b.SHA256 != hex.EncodeToString(sum[:]) || b.Size != int64(len(d.body)) {
				return fmt.Errorf("put a body of %d bytes: got %+v, want SHA-256 %x", len(d.body), b, sum)
			}
			ref = &b
		}
		facts = append(facts, d.fact(ref))
	}
	return r.extend(session, nil, facts...)
}

// extend appends facts to a session which, with them, comes to hold what it shares with another.
func (r *run) extend(session string, shared []entry.Fact, facts ...entry.Fact) error {
	l := r.ledger(session)
	whole := slices.Concat(shared, facts)
	seq, err := r.store.Append(r.ctx, session, facts...)
	if err != nil {
		l.maybe = append(l.maybe, whole)
		return err
	}
	l.acked, l.maybe = append(l.acked, whole...), nil
	if seq != entry.Seq(len(l.acked)) {
		return fmt.Errorf("append to %q returned %d, want %d", session, seq, len(l.acked))
	}
	return nil
}

// release gives up a session. It is not locked any more, even when that fails.
func (r *run) release(session string) error {
	unlock := r.locks[session]
	delete(r.locks, session)
	err := unlock()
	if err == nil {
		r.ledger(session).maybe = nil // an append that failed must have been undone
	}
	return err
}

// restart closes the store; the next step opens it again.
func (r *run) restart(string) error {
	if r.store == nil {
		return nil
	}
	store, locks := r.store, r.locks
	r.store, r.locks = nil, map[string]func() error{}
	err := store.Close()
	for name := range locks {
		if err == nil {
			r.ledger(name).maybe = nil
		}
	}
	return err
}

// read compares a session with what must be there, as the writing process sees it: without an append that failed.
func (r *run) read(session string) error {
	l := r.ledger(session)
	strict := ledger{acked: l.acked, lines: l.lines}
	err := strict.verify(r.ctx, r.store, session)
	l.lines = strict.lines
	return err
}

// settle compares a session, as the writing process sees it, with what must and what may be there.
func (r *run) settle(session string) error {
	return r.ledger(session).verify(r.ctx, r.store, session)
}

// verify compares all sessions with what must be there.
func (r *run) verify() error {
	store, err := r.storage.Open()
	if err != nil {
		return err
	}
	var errs []error
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.want)) {
		errs = append(errs, r.want[name].verify(r.ctx, store, name))
		if len(r.want[name].acked) > 0 {
			names = append(names, name)
		}
	}
	got, err := store.Sessions(r.ctx)
	if err == nil && !slices.Equal(got, names) {
		err = fmt.Errorf("sessions are %q, want %q", got, names)
	}
	return errors.Join(append(errs, err, store.Close())...)
}

// after is the run in what a crash of its storage left, with ledgers of its own.
func (r *run) after(seed uint64) *run {
	next := start(r.storage.Crash(seed))
	for name, l := range r.want {
		next.want[name] = &ledger{slices.Clone(l.acked), slices.Clone(l.maybe), slices.Clone(l.lines)}
	}
	return next
}

// text makes bodies that are related as those of a conversation are.
type text struct {
	rng *rand.Rand
	doc []byte
	old []byte
}

func (x *text) next() []byte {
	switch x.rng.IntN(10) {
	case 0:
		return []byte{}
	case 1:
		return []byte{byte(x.rng.IntN(256))}
	case 2:
		return x.odd(400)
	case 3:
		x.doc, x.old = bytes.Clone(x.old), x.doc
	case 4:
		if at := len(x.doc) / 2; at > 20 {
			x.doc = slices.Replace(bytes.Clone(x.doc), at, at+20, []byte("edited in the middle")...)
		}
	}
	if len(x.doc) > 4000 {
		x.doc, x.old = x.doc[:1000], x.doc
	}
	x.doc = slices.Concat(x.doc, fmt.Appendf(nil, "\nturn %d: %x", x.rng.IntN(1000), x.odd(120)))
	return x.doc
}

func (x *text) odd(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(x.rng.Uint32())
	}
	return b
}

func (x *text) plain(i int) draft {
	bytes := x.rng.Int64N(1e6)
	return draft{fact: func(*entry.Body) entry.Fact {
		return &entry.Gap{Exchanges: i, Bytes: bytes, Cause: "a cause with <odd> \u2028 text \n and \"quotes\""}
	}}
}

func (x *text) bodied(i int) draft {
	if x.rng.IntN(2) == 0 {
		return draft{x.next(), func(b *entry.Body) entry.Fact { return &entry.Request{N: i, Path: "/v1/messages", Body: b} }}
	}
	return draft{x.next(), func(b *entry.Body) entry.Fact { return &entry.Response{N: i, End: entry.EndComplete, Body: b} }}
}
