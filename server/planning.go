package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pressure"
	"ambit/internal/selection"
	"ambit/provider"
)

// stands reports whether edits stand in a session of a client, so that even a policy which edits nothing has to apply them.
// For whom it was never asked, the sessions that are recorded are looked into, once.
func (r *recorder) stands(who identity) bool {
	if is, ok := r.edited.Load(who.key); ok {
		return is.(bool)
	}
	found, known := false, false
	err := r.act(func() error {
		if err := r.loadKeys(); err != nil {
			return err
		}
		if who.named && who.tag != "" && r.keys[who.key] == "" {
			r.find(who.key)
		}
		for _, id := range r.sessionsOf(who) {
			known = true
			p, _ := r.load(id) // of a damaged one, what lies before that
			found = found || p != nil && len(p.Edits) > 0
		}
		return nil
	})
	if err == nil && known { // what is not known yet may be a fork that is made now
		r.edited.Store(who.key, found)
	}
	return found
}

// sessionsOf are the sessions that a request of a client may belong to, the newest of them: whose it is may stand in its
// body, which nobody has read yet.
func (r *recorder) sessionsOf(who identity) (sessions []string) {
	if who.named {
		return slices.DeleteFunc([]string{r.keys[who.key]}, func(id string) bool { return id == "" })
	}
	route, _, _ := strings.Cut(who.key, ":")
	for key, ids := range r.mine {
		if strings.HasPrefix(key, route+":") {
			sessions = append(sessions, ids...)
		}
	}
	return newest(sessions, maxFolded)
}

// edits notes that edits stand for whoever sends such requests.
func (r *recorder) edits(x *exchange) {
	r.edited.Store(x.who.key, true)
	r.edited.Store(x.asWho, true)
}

// plan records a request and decides what is sent for it. The caller waits for the answer; what need not be durable before
// the request is forwarded is written behind it. Without a body it is to be sent as it came.
func (r *recorder) plan(x *exchange) (p sending) {
	a := r.read(x)
	staged := false
	_ = r.actThen(func() error {
		w, err := r.stageRead(x, a, true)
		if err != nil {
			r.miss(event{x: x}, err)
			event{x: x}.free()
			return err
		}
		staged = true
		if p, err = r.decide(x, a, w); err != nil {
			r.log.Warn("a request is edited no further", "cause", err)
			if x.in == nil { // it was to be written before what was decided
				r.missStaged(event{x: x}, err)
			}
		}
		return nil
	}, func() {
		if staged {
			r.behind(x)
		}
	})
	return p
}

// behind writes down what a request was recorded by and what was sent for it, while it is on its way.
func (r *recorder) behind(x *exchange) {
	if w := x.in; w != nil {
		r.sent(x)
		switch err := r.flush(w); {
		case err == nil:
		case x.in != nil: // it was written before what was decided
			r.log.Error("what was sent is not recorded", "session", w.id, "request", x.n, "cause", err)
		default:
			r.missStaged(event{x: x}, err)
		}
	}
	event{x: x}.free()
	r.handled.Add(1)
	r.tidy()
	if r.recorded != nil {
		r.recorded()
	}
}

// sent stages what went to the provider, where a policy edits.
func (r *recorder) sent(x *exchange) {
	if x.plan == nil {
		return
	}
	w := x.in
	f, err := x.plan.Sent(x.plan.Body())
	if err != nil {
		r.log.Error("what was sent is not recorded", "session", w.id, "request", x.n, "cause", err)
		return
	}
	w.facts = append(w.facts, f)
	if f.Body != nil && f.Attempt == 1 {
		r.changed.Add(1)
	}
}

// decide says what is sent for a request that is staged. With an error stands what was decided before.
func (r *recorder) decide(x *exchange, a *asking, w *writing) (sending, error) {
	if a.wire == "" || x.belongs == nil {
		return sending{}, nil
	}
	t, err := r.threadOf(w, x.thread, x.about)
	if err != nil {
		return sending{}, err
	}
	if t.Main, err = t.Main || x.belongs.How == entry.Root, r.pins(w); err != nil {
		return sending{}, err
	}
	x.plan = pressure.NewPlan(t, r.caseOf(x, a, w))
	if x.belongs.How == entry.Count {
		return x.sending(x.plan.AsStands()), nil
	}
	if x.belongs.How == entry.ClientCompaction && t.Main {
		err = r.restore(x, a)
	}
	acted, failed := x.plan.Choose(0, nil)
	if acted {
		r.edits(x)
	}
	if failed != nil {
		return x.sending(x.plan.AsStands()), errors.Join(err, failed)
	}
	return x.sending(x.plan.Apply()), err
}

// threadOf is what stands for a thread of a session.
func (r *recorder) threadOf(w *writing, name, about string) (*pressure.Thread, error) {
	if t := w.standing[name]; t != nil {
		return t, nil
	}
	p, err := r.pool(w)
	if err != nil {
		return nil, err
	}
	t, err := pressure.Stands(p, name, about, func(b entry.Body) ([]byte, error) { return r.store.Body(context.Background(), w.id, b) })
	if err != nil {
		return nil, fmt.Errorf("edits of %s: %w", w.id, err)
	}
	w.standing[name] = t
	return t, nil
}

// pool is a session's state as it is recorded; one that is about to begin has none.
func (r *recorder) pool(w *writing) (*pool.Pool, error) {
	if w.first != nil {
		return pool.New(), nil
	}
	return r.load(w.id)
}

// caseOf is what a decision about a request is made from.
func (r *recorder) caseOf(x *exchange, a *asking, w *writing) pressure.Case {
	common, compared := 0, false
	return pressure.Case{
		Request: &a.Request, N: x.n, At: x.start, Policy: r.policy, Model: x.q.Model, Long: strings.Contains(x.header.Get("Anthropic-Beta"), "context-1m"), Pins: w.pins,
		Before: func() int { // that is read once
			if !compared && x.at != nil && x.follows >= 0 {
				compared = true
				before := x.at.elements(x.follows)
				for common < len(before) && common < len(a.Hashes) && before[common] == a.Hashes[common] {
					common++
				}
			}
			return common
		},
		Book: pressure.Book{
			Flush: func() error { return r.flush(w) },
			Put:   func(body []byte) (*entry.Body, error) { return r.put(w, body) },
			Append: func(facts ...entry.Fact) (entry.Seq, error) {
				last, err := r.store.Append(context.Background(), w.id, facts...)
				if err == nil {
					delete(r.loaded, w.id)
				}
				return last, err
			},
			Seq:    func(h provider.Hash) entry.Seq { return w.known[known{x.thread, h}].seq },
			Purged: func(h provider.Hash) bool { return w.purged[known{x.thread, h}] },
			Ref:    func(seq entry.Seq) string { return ambit.Handle(r.secret, w.id, seq) },
		},
	}
}

// pins reads the pins of a session, once.
func (r *recorder) pins(w *writing) error {
	if w.pinned {
		return nil
	}
	p, err := r.pool(w)
	if err != nil {
		return err
	}
	w.pins = nil
	for i := range p.Pins {
		if pin := &p.Pins[i]; pin.Body != nil {
			text, err := r.store.Body(context.Background(), w.id, *pin.Body)
			if err != nil {
				return err
			}
			w.pins = append(w.pins, selection.Pin{ID: pin.ID, Text: string(text), By: pin.By})
		}
	}
	w.pinned = true
	return nil
}

// sending is what goes to the provider, by what was planned; nil for what came.
func (x *exchange) sending(body []byte) sending {
	return sending{body: body, decoded: body != nil && x.header.Get("Content-Encoding") != ""}
}

// shorten decides what is sent in place of a request that its provider refused as too long. Without a body nothing more can
// be left out.
func (r *recorder) shorten(x *exchange, status int, refusal []byte, over provider.Overflow, pass int) (p sending) {
	_ = r.actThen(func() error {
		if x.in == nil || x.plan == nil {
			return nil
		}
		body, err := x.plan.Shorten(status, refusal, over, pass)
		if err != nil {
			r.log.Warn("a request that is too long cannot be made shorter", "cause", err)
			return err
		}
		if body != nil {
			r.edits(x)
			r.resent.Add(1)
			p = x.sending(body)
		}
		return nil
	}, func() {
		if p.body == nil || x.in == nil {
			return
		}
		r.sent(x)
		if err := r.flush(x.in); err != nil {
			r.log.Error("what was sent is not recorded", "session", x.in.id, "request", x.n, "cause", err)
		}
	})
	return p
}
