package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ambit"
	"ambit/entry"
)

// input is one that a user says.
type input struct {
	id       string
	text     string
	delivery entry.Delivery
	by       string
	seq      entry.Seq // its entry; 0 until it has one
	promoted bool
}

// act is what happens between two runs.
func (w *world) act() {
	if w.chance(60) {
		w.arm(150)
	}
	for _, f := range w.facts {
		if f.state == unavailable && w.chance(600) {
			f.state = present
		}
	}
	if w.chance(40) {
		w.restart()
	}
	for n := w.dice.IntN(3); n > 0 && !w.blown && w.breach == nil; n-- {
		w.admit()
	}
	for n := w.dice.IntN(3); n > 0; n-- {
		w.change()
	}
	if w.chance(250) && !w.blown && w.breach == nil {
		w.turnTo(w.anyPlan(w.plan))
	}
}

// admit says something to the session, or the same again, or something else of the same id.
func (w *world) admit() {
	in := &input{text: w.text("Do"), delivery: entry.Queue, by: ambit.ByUser}
	if w.chance(500) {
		in.delivery = entry.Steer
	}
	if w.chance(100) {
		in.by = ambit.ByParent
	}
	if w.chance(600) {
		in.id = fmt.Sprintf("mine-%d", w.spoken)
		if id := "input-" + itoa(len(w.m.inputs)+1+w.dice.IntN(4)); w.chance(250) && !w.m.names(id) {
			in.id = id // as one without an id would be called
			w.r.Events["inputs that take an id"]++
		}
	}
	conflict := false
	if old := w.m.anyInput(); old != nil && w.chance(200) {
		again := *old
		in = &again
		if conflict = w.chance(400); conflict {
			in.text += " Or not."
		}
	}
	known := in.seq
	before := len(w.m.inputs)
	w.admitting = in
	got, err := w.s.Admit(context.Background(), ambit.Input{ID: in.id, Delivery: in.delivery, Text: in.text, By: in.by})
	w.note("admit %q (%s): %v %v", in.id, in.delivery, got, err)
	w.tail()
	if w.blown { // it may be there all the same, once the disk is back
		if in.seq == 0 {
			w.doubtful = append(w.doubtful, in)
		}
		return
	}
	w.admitting = nil
	switch {
	case conflict:
		w.r.Events["conflicting inputs"]++
		w.holds(Input, errors.Is(err, ambit.ErrConflict), "another input of the id %q: %v", in.id, err)
	case known != 0:
		w.r.Events["repeated inputs"]++
		w.holds(Input, err == nil && got.Seq == known && got.ID == in.id, "input %q again: %+v, %v; it was %d", in.id, got, err, known)
	default:
		w.r.Events["inputs"]++
		ok := err == nil && len(w.m.inputs) == before+1 && w.m.inputs[before].seq == got.Seq && w.m.inputs[before].id == got.ID
		w.holds(Input, ok, "an input is acknowledged as %+v, %v, and is not in the journal", got, err)
		return
	}
	w.holds(Input, len(w.m.inputs) == before, "an input was admitted twice")
}

// turnTo lets the session work with something else.
func (w *world) turnTo(p plan) {
	w.plan = p
	w.setup = w.made()
	w.during.with(w.setup)
	err := w.s.Switch(context.Background(), w.setup)
	w.note("switch to %s: %v", p, err)
	w.r.Events["switches"]++
	w.tail()
	if err != nil && !w.blown {
		w.fail(Ending, "the session cannot be switched: %v", err)
	}
	if err == nil {
		w.holds(Input, w.m.plan == p, "the session was switched to %s, and its journal says %s", p, w.m.plan)
	}
}

// meanwhile is what may happen while something else goes on.
func (w *world) meanwhile(where string) {
	if w.breach != nil || w.s == nil || w.blown {
		return
	}
	switch n := w.dice.IntN(1000); {
	case n < 30:
		w.r.Events["inputs while it runs"]++
		w.admit()
	case n < 60:
		w.change()
	case n < 65 || n < 72 && where == "a source":
		w.r.Events["switches in "+where]++
		w.turnTo(w.anyPlan(w.plan))
	case n < 75:
		w.cancel(where)
	case n < 79:
		w.arm(12)
	}
}

var errEnough = errors.New("enough")

// cancel ends what runs.
func (w *world) cancel(where string) {
	if w.running && !w.stopped {
		w.note("cancel in %s", where)
		w.r.Events["cancellations in "+where]++
		w.stopped = true
		w.stop(errEnough)
	}
}

// run lets the session work until nothing is left to do, or something ends it.
func (w *world) run() {
	if w.s == nil || w.breach != nil {
		return
	}
	ctx, stop := context.WithCancelCause(context.Background())
	w.running, w.stopped, w.stop = true, false, stop
	w.during = during{most: 99}
	w.during.with(w.setup)
	if w.chance(10) {
		w.cancel("the beginning")
	}
	out, err := w.s.Run(ctx)
	w.running, w.stop = false, nil
	stop(nil)
	w.note("ran: %d activities, %d turns, %v", out.Activities, out.Turns, err)
	w.tail()
	if w.breach == nil && !w.blown {
		w.explain(err)
	}
}

// watch is told what happens.
func (w *world) watch(e ambit.Event) {
	if e.Kind != ambit.EventText {
		w.tail()
		w.meanwhile("an event")
	}
}

// wait is what an engine does before it repeats an attempt.
func (w *world) wait(ctx context.Context, d time.Duration) error {
	w.note("wait %s", d)
	w.tail()
	w.m.waits(d)
	w.meanwhile("a wait")
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
