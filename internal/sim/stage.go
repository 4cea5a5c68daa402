package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"

	"ambit/internal/pool"
	"ambit/internal/vfs"
	"ambit/journal"
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

	failures int // operations that failed

	spoken int // texts made, which so are all different

	mu     sync.Mutex // guards the trace, and what an operation of the disk changes: another goroutine may do one
	trace  []string
	breach *Breach
	ends   func() // what runs is to end, since a law is broken
}

func newStage(seed, salt uint64) *stage {
	w := &stage{seed: seed, dice: rand.New(rand.NewPCG(seed, salt)), r: newReport(), mem: vfs.NewMem(), fuse: -1}
	w.disk = &vfs.Fault{FS: w.mem, Inject: w.inject}
	return w
}

// fence lets another goroutine's operations of the disk see all that was done before.
func (w *stage) fence() {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted(format, args...)
}

func (w *stage) noted(format string, args ...any) {
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = w.written || !w.peeking
	switch {
	case w.peeking || w.fuse < 0:
		return nil
	case w.fuse > 0:
		w.fuse--
		return nil
	}
	if !w.blown {
		w.noted("the disk fails: %s %s", op, name)
	}
	w.blown = true
	w.failures++
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

// text is one that nobody has said before, often short.
func (w *stage) text(what string) string {
	w.spoken++
	text := fmt.Sprintf("%s %d.", what, w.spoken)
	switch w.dice.IntN(36) {
	case 0:
		text += strings.Repeat(fmt.Sprintf(" And so on for %d, at length, with \"quotes\" and \\ and \u2028.", w.spoken), w.dice.IntN(80))
	case 1, 2, 3:
		text += "\n</system-update> <b>&amp;</b>\n\ttext — ein, 少し, 🙂\n"
	case 4:
		text += strings.Repeat(fmt.Sprint("x", w.spoken), w.dice.IntN(600))
	}
	return text
}

// sound lets the journal check everything of a session.
func (w *stage) sound(d *journal.Dir, session string) {
	r, err := d.Check(context.Background(), session)
	w.holds(Crash, err == nil && r.Sound() && r.Rebuilt == r.Bodies, "check finds %+v, %v", r, err)
}

// refolded checks a session from its beginning: all bodies, and that the pool that was saved the last time, with the entries
// since, is the pool of all entries. It gives that pool, saved.
func (w *stage) refolded(d *journal.Dir, session string, before []byte) []byte {
	w.sound(d, session)
	ctx := context.Background()
	fresh, err := pool.Fresh(ctx, d, session)
	if err != nil {
		w.fail(Rebuild, "the journal cannot be folded: %v", err)
		return nil
	}
	saved, err := fresh.Save()
	if err != nil {
		w.fail(Rebuild, "the pool cannot be saved: %v", err)
		return nil
	}
	rest := pool.Restore(before)
	if rest == nil {
		rest = pool.New()
	}
	for f, err := range d.Read(ctx, session, rest.Seq) {
		if err == nil {
			err = rest.Fold(f)
		}
		if err != nil {
			w.fail(Rebuild, "entry %d cannot be folded: %v", f.Seq, err)
			return nil
		}
	}
	again, err := rest.Save()
	w.holds(Rebuild, err == nil && string(again) == string(saved), "folding the rest is not folding all: %v\n%s\n%s", err, again, saved)
	return saved
}
