package sim

import (
	"context"
	"fmt"
	"net/http"

	"ambit"
	"ambit/journal"
	"ambit/provider/scripted"
	"ambit/source"
)

// world is all that a session lives in.
type world struct {
	*stage
	want  int  // turns
	known bool // what is known to break a law is played, too

	store  *journal.Dir
	engine *ambit.Engine
	s      *ambit.Session // nil while nobody leads the session
	id     string

	press    press
	plan     plan // what the session was last told to work with
	facts    []*fact
	registry source.Registry
	setup    ambit.Setup

	script   []scripted.Turn
	provider *scripted.Provider
	playing  int // the turn of the script that answers

	admitting *input   // what is being admitted
	doubtful  []*input // what was admitted, and not acknowledged
	running   bool
	stop      context.CancelCauseFunc // of Run, while it runs
	stopped   bool                    // it was called
	during    during                  // what Run worked with
	ran       map[string]*ran         // the calls that ran, by what tells them apart

	m *model
}

// Live plays the session of a seed until it has had so many turns, with what is known to break a law, or without it: see
// Known. It must be called in a synctest bubble.
func Live(seed uint64, turns int, known bool) *Report {
	w := &world{stage: newStage(seed, 0x5eed), want: turns, known: known, ran: map[string]*ran{}}
	w.ends = func() {
		if w.stop != nil {
			w.stop(errBreach)
		}
	}
	w.again = fmt.Sprintf("-sim.part=loop -sim.seed=%d", seed)
	if known {
		w.again += " -sim.known"
	}
	w.script = w.write(turns + 400)
	w.press = w.anyPress()
	w.provider = scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: w.script}}}, scripted.Options{
		Strict: true, Window: int64(w.press.window), Turn: func() int { return w.playing },
	})
	w.facts = w.born()
	w.plan = w.anyPlan(plan{})
	w.m = newModel(w)
	w.live()
	w.r.Lengths = []int{w.m.turns}
	if w.breach != nil {
		w.r.Breach = w.breach
	}
	return w.r
}

// live is the session's life.
func (w *world) live() {
	w.begin()
	for steps := 0; w.breach == nil && w.m.turns < w.want && steps < 40*w.want; steps++ {
		w.step()
		w.act()
		if w.broken() {
			w.die()
			continue
		}
		w.run()
		if w.broken() {
			w.die()
		}
	}
	if w.breach == nil {
		w.fuse = -1
		w.restart()
		w.rebuild()
	}
	if w.breach == nil && w.m.turns < w.want {
		w.fail(Ending, "the session has had %d turns of %d, and comes no further", w.m.turns, w.want)
	}
}

// step counts a step, and rebuilds everything now and then.
func (w *world) step() {
	if w.r.Steps++; w.r.Steps%50 == 0 {
		w.rebuild()
	}
}

// open opens the store and makes an engine over it, as a new process would.
func (w *world) open() error {
	store, err := journal.Open("/data", journal.Options{FS: w.disk, Now: w.now, Rotate: 32 << 10})
	if err != nil {
		return err
	}
	w.store = store
	w.engine = ambit.NewEngine(store, ambit.EngineOptions{
		Client: &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Now:    w.now, Random: random{w.dice}, Wait: w.wait,
	})
	return nil
}

// begin makes the session, which may take some crashes.
func (w *world) begin() {
	for w.s == nil && w.breach == nil {
		if w.chance(100) {
			w.arm(20)
		}
		err := w.open()
		if err == nil {
			w.halves()
			w.setup = w.made()
			w.s, err = w.engine.Begin(context.Background(), "simulated", w.setup)
		}
		if err == nil {
			w.id = w.s.ID()
			w.note("begin %s", w.id)
			w.tail()
			return
		}
		if !w.blown {
			w.fail(Ending, "a session cannot begin: %v", err)
			return
		}
		w.lose() // of a session that was never begun nothing is expected
	}
}

// halves looks whether a session that was not begun is there without what it works with.
func (w *world) halves() {
	w.peeking = true
	defer func() { w.peeking = false }()
	ids, err := w.store.Sessions(context.Background())
	w.holds(Crash, err == nil, "the sessions cannot be listed: %v", err)
	for _, id := range ids {
		n := 0
		for _, err := range w.store.Read(context.Background(), id, 0) {
			if err == nil {
				n++
			}
		}
		w.holds(Crash, n != 1, "the session %s begins, and does not say what it works with", id)
		w.r.Events["sessions that were never begun"]++
	}
}
