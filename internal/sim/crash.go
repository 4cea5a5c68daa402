package sim

import (
	"context"
	"errors"

	"ambit/entry"
	"ambit/journal"
)

// lose cuts the power, and gives a disk as that leaves it.
func (w *world) lose() {
	w.cut()
	w.s = nil
}

// die is what comes of a disk that failed: the power goes, or, where it failed once, the session is taken up again in the
// same process.
func (w *world) die() {
	w.tail()
	if w.lasting {
		w.lose()
		w.wake(true, true)
		return
	}
	w.note("the session is given up and taken up again")
	w.r.Events["disk full"]++
	w.blown = false
	if err := w.s.Close(); err != nil {
		w.fail(Crash, "a session whose disk failed once cannot be closed: %v", err)
	}
	w.s = nil
	w.wake(false, true)
}

// restart lets the process end and another one begin.
func (w *world) restart() {
	w.note("restart")
	w.r.Restarts++
	err := w.s.Close()
	w.s = nil
	err = errors.Join(err, w.store.Close())
	crashed := w.blown
	if crashed {
		w.lose()
	} else if err != nil {
		w.fail(Crash, "a session cannot be closed: %v", err)
	}
	w.wake(true, crashed)
}

// wake takes the session up again, in a new process or in this one; that may take some crashes.
func (w *world) wake(anew, crashed bool) {
	for ; w.breach == nil; anew, crashed = true, true {
		if anew {
			err := w.open()
			if err != nil && w.blown {
				w.lose()
				continue
			}
			if err != nil {
				w.fail(Crash, "the store cannot be opened: %v", err)
				return
			}
		}
		w.survived(crashed)
		w.m.wake()
		if w.chance(150) {
			w.arm(80)
		}
		if w.chance(300) {
			w.plan = w.anyPlan(w.plan)
		}
		w.setup = w.made()
		s, err := w.engine.Resume(context.Background(), w.id, w.setup)
		if err == nil {
			w.s = s
			w.note("resume with %s", w.plan)
			w.tail()
			return
		}
		if !w.blown {
			w.fail(Crash, "the session cannot be taken up: %v", err)
			return
		}
		w.note("resume: %v", err)
		w.lose()
	}
}

// survived compares what is there with what was acknowledged, and takes in what is there beyond that. The newest entry that
// was acknowledged stands for all before it, since its sum is over theirs, and check looks at those.
func (w *world) survived(crashed bool) {
	w.peeking = true
	defer func() { w.peeking = false }()
	if n := len(w.m.sums); n > 0 {
		is := "nothing"
		for f, err := range w.store.Read(context.Background(), w.id, entry.Seq(n-1)) {
			if err != nil {
				w.fail(Crash, "the journal cannot be read: %v", err)
				return
			}
			is = f.Sum
			break
		}
		if !w.holds(Crash, is == w.m.sums[n-1], "%d entries were acknowledged, and the last of them is %s", n, is) {
			return
		}
	}
	if crashed {
		w.checked(w.store)
	}
	w.written = true
	w.tail()
	w.admitting, w.doubtful = nil, nil
}

// checked lets the journal check everything.
func (w *world) checked(d *journal.Dir) {
	was := w.peeking
	w.peeking = true
	defer func() { w.peeking = was }()
	w.sound(d, w.id)
}

// rebuild checks everything from the beginning, and what the session says that it told.
func (w *world) rebuild() {
	if w.s == nil || w.breach != nil || w.blown { // half of what failed may still stand on the disk
		return
	}
	w.tail()
	w.peeking = true
	defer func() { w.peeking = false }()
	w.r.Rebuilds++
	d, err := journal.Open("/data", journal.Options{FS: w.disk, Now: w.now, Existing: true})
	if err != nil {
		w.fail(Rebuild, "the store cannot be opened: %v", err)
		return
	}
	defer d.Close()
	w.m.saved = w.refolded(d, w.id, w.m.saved)
	_, told, err := w.engine.Left(context.Background(), w.id)
	w.holds(Rebuild, err == nil, "what was told cannot be read: %v", err)
	w.m.knows(told)
}
