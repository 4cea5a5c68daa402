package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"ambit/internal/vfs"
)

// stage is what every world stands on: dice, a disk that fails, time, and what is remembered for people.
type stage struct {
	seed  uint64
	again string // how it is played again
	dice  *rand.Rand
	r     *Report

	mem     *vfs.Mem
	disk    *vfs.Fault
	fuse    int  // operations until the disk fails; negative for never
	lasting bool // it then fails for good
	blown   bool // it has failed
	peeking bool // the simulator reads, which never fails
	written bool // something was written since the journal was read the last time

	trace  []string
	breach *Breach
	ends   func() // what runs is to end, since a law is broken
}

func newStage(seed, salt uint64) *stage {
	w := &stage{seed: seed, dice: rand.New(rand.NewPCG(seed, salt)), r: newReport(), mem: vfs.NewMem(), fuse: -1}
	w.disk = &vfs.Fault{FS: w.mem, Inject: w.inject}
	return w
}

// cut is that the power goes: what was pending is lost, kept or torn.
func (w *stage) cut() {
	loss := []vfs.Loss{vfs.Dropped, vfs.Kept, vfs.Torn, vfs.Torn}[w.dice.IntN(4)]
	w.note("crash, what was pending is %s", loss)
	w.r.Crashes[loss.String()]++
	w.mem = w.mem.Crash(loss, w.dice)
	w.disk = &vfs.Fault{FS: w.mem, Inject: w.inject}
	w.fuse, w.blown = -1, false
}

// fail says that a law is broken. The first breach counts.
func (w *stage) fail(law Law, format string, args ...any) {
	if w.breach == nil {
		w.breach = &Breach{Seed: w.seed, Again: w.again, Law: law, Why: fmt.Sprintf(format, args...), Trace: append([]string(nil), w.trace...)}
	}
	if w.ends != nil {
		w.ends()
	}
}

var errBreach = errors.New("a law is broken")

// holds counts that a law was looked at, and fails where it does not hold.
func (w *stage) holds(law Law, ok bool, format string, args ...any) bool {
	w.r.Laws[law]++
	if !ok {
		w.fail(law, format, args...)
	}
	return ok
}

// traced is how many steps are remembered.
const traced = 60

// note remembers a step for people.
func (w *stage) note(format string, args ...any) {
	if len(w.trace) == traced {
		w.trace = w.trace[1:]
	}
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// chance is true so many times of a thousand.
func (w *stage) chance(perMille int) bool { return w.dice.IntN(1000) < perMille }

// shift moves the bubble's time to one for which there are prices.
const shift = 27 * 365 * 24 * time.Hour

func (w *stage) now() time.Time { return time.Now().Add(shift) }

// inject is asked before each operation of the disk.
func (w *stage) inject(op vfs.Op, name string) error {
	w.written = w.written || !w.peeking
	switch {
	case w.peeking || w.fuse < 0:
		return nil
	case w.fuse > 0:
		w.fuse--
		return nil
	}
	if !w.blown {
		w.note("the disk fails: %s %s", op, name)
	}
	w.blown = true
	if !w.lasting {
		w.fuse = -1
		return syscall.ENOSPC
	}
	return syscall.EIO
}

// arm lets the disk fail after a number of operations: once, or for good.
func (w *stage) arm(within int) {
	if w.fuse >= 0 || w.blown {
		return
	}
	w.fuse, w.lasting = w.dice.IntN(within), w.chance(800)
	w.note("the disk is to fail after %d operations, lasting %v", w.fuse, w.lasting)
}

// broken reports whether the disk has failed under the session.
func (w *stage) broken() bool { return w.blown }

// random gives an engine's randomness out of the seed.
type random struct{ *rand.Rand }

func (r random) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return len(p), nil
}
