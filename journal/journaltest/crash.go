package journaltest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ambit/entry"
)

// shards is how many subtests share a law that runs a history once for each operation; they run side by side.
const shards = 4

// lengths gives the histories of a law: their seeds and their numbers of steps.
func lengths(long, short map[uint64]int) map[uint64]int {
	if testing.Short() {
		return short
	}
	return long
}

// crash runs a history with everything failing from operation n on, for every n, and cuts the power.
func crash(t *testing.T, fresh func(t testing.TB) Storage) {
	for seed, length := range lengths(map[uint64]int{1: 32, 2: 24, 3: 18}, map[uint64]int{1: 20}) {
		sweep(t, fresh, seed, length, func(steps []step, n int) error {
			return crashAt(fresh(t), steps, n)
		})
	}
}

// sweep counts a history's operations and calls try for each of them.
func sweep(t *testing.T, fresh func(t testing.TB) Storage, seed uint64, length int, try func(steps []step, n int) error) {
	steps := history(seed, length)
	st := fresh(t)
	r := start(st)
	for i, s := range steps {
		if err := r.step(s); err != nil {
			t.Fatalf("seed %d, step %d, nothing fails: %v", seed, i, err)
		}
	}
	if err := errors.Join(r.restart(""), r.verify()); err != nil {
		t.Fatalf("seed %d, nothing fails: %v", seed, err)
	}
	ops := st.Ops()
	for shard := range shards {
		t.Run(fmt.Sprintf("seed %d part %d of %d operations", seed, shard, ops), func(t *testing.T) {
			t.Parallel()
			for n := shard; n <= ops && !t.Failed(); n += shards {
				if err := try(steps, n); err != nil {
					t.Errorf("seed %d, %d steps, n %d: %v", seed, length, n, err)
				}
			}
		})
	}
}

func crashAt(st Storage, steps []step, n int) error {
	cause := syscall.EIO
	st.Fail(n, math.MaxInt, cause)
	r := start(st)
	for i, failed := 0, 0; i < len(steps) && failed < 4; i++ {
		if err := r.step(steps[i]); err != nil {
			if failed++; !errors.Is(err, cause) {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
	}
	for i, seed := range []uint64{0, 1, uint64(4*n + 2), uint64(4*n + 3), uint64(4*n + 4)} {
		next := r.after(seed)
		err := next.verify()
		if err == nil && i == n%5 { // one loss of the five, for time's sake
			err = goesOn(next)
		}
		if err != nil {
			return fmt.Errorf("loss %s: %w", loss(seed), err)
		}
	}
	if err := takenOver(r); err != nil {
		return fmt.Errorf("the process dies, and then the power: %w", err)
	}
	return nil
}

// takenOver lets the process die with everything failing, and another one lock its sessions. What that one finds there
// it may rely on, so it must have made it durable.
func takenOver(r *run) error {
	r.restart("") // fails, and frees the locks
	r.storage.Fail(0, 0, nil)
	names := slices.Sorted(maps.Keys(r.want))
	for _, name := range names {
		if err := r.step(step{name, (*run).settle}); err != nil {
			return err
		}
	}
	next := r.after(0)
	return errors.Join(next.verify(), r.restart(""))
}

func loss(seed uint64) string {
	switch seed {
	case 0:
		return "dropped"
	case 1:
		return "kept"
	}
	return fmt.Sprintf("torn with seed %d", seed)
}

// goesOn wants appends to go on after a crash, and everything to be there after another one.
func goesOn(r *run) error {
	short := appends(draft{fact: func(*entry.Body) entry.Fact { return gap(0) }})
	more := append([]step{{"one", short}, {"two", short}, {"three", forked("one", 1, short)}}, history(99, 4)...)
	for i, s := range more {
		if err := r.step(s); err != nil {
			return fmt.Errorf("go on, step %d: %w", i, err)
		}
	}
	next := r.after(0)
	if err := errors.Join(r.restart(""), next.verify()); err != nil {
		return fmt.Errorf("after the second crash: %w", err)
	}
	return nil
}

// causes are what operations fail with.
var causes = []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EMFILE}

// fault runs a history with one operation failing, for every operation, and with a few in a row.
func fault(t *testing.T, fresh func(t testing.TB) Storage) {
	for seed, length := range lengths(map[uint64]int{4: 20, 5: 14}, map[uint64]int{4: 14}) {
		sweep(t, fresh, seed, length, func(steps []step, n int) error {
			for _, f := range []failing{{n, 1, false, 0}, {n, 1, true, uint64(n + 2)}, {n, 2 + n%5, false, uint64(n + 2)}} {
				if err := f.try(fresh(t), steps); err != nil {
					return fmt.Errorf("%d operations fail with %v, release %v, loss %s: %w", f.count, f.cause(), f.release, loss(f.seed), err)
				}
			}
			return nil
		})
	}
}

// failing says which operations fail, and whether the caller then gives up the session before it tries again.
type failing struct {
	n, count int
	release  bool
	seed     uint64 // of the crash that follows
}

func (f failing) cause() error { return causes[f.n%len(causes)] }

func (f failing) try(st Storage, steps []step) error {
	failed := st.Fail(f.n, f.n+f.count, f.cause())
	r := start(st)
	told := 0
	for i, left := 0, 5; i < len(steps) && left > 0; i++ {
		n, err := f.insist(r, steps[i])
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if told += n; told > 0 {
			left--
		}
	}
	if want := failed(); told < min(want, 1) {
		return fmt.Errorf("%d operations failed, and callers were told of %d", want, told)
	}
	st.Fail(0, 0, nil)
	next := r.after(f.seed)
	if err := errors.Join(r.live(), r.restart(""), r.verify(), next.verify()); err != nil {
		return err
	}
	return goesOn(next)
}

// insist does a step until it succeeds, and returns how often it failed; that may be as often as operations fail.
func (f failing) insist(r *run, s step) (failed int, err error) {
	for ; ; failed++ {
		err := r.step(s)
		if err == nil {
			return failed, nil
		}
		if failed == f.count {
			return failed, fmt.Errorf("the cause is gone: %w", err)
		}
		if err := names(err, f.cause()); err != nil {
			return failed, err
		}
		if f.release && r.locks[s.session] != nil {
			if err := r.release(s.session); err != nil {
				return failed, err
			}
			if err := r.after(f.seed).verify(); err != nil {
				return failed, fmt.Errorf("crash after the release: %w", err)
			}
		}
	}
}

// names wants an error that is the cause and tells where.
func names(err, cause error) error {
	var at *fs.PathError
	if !errors.Is(err, cause) || !errors.As(err, &at) || at.Path == "" || !strings.Contains(err.Error(), at.Path) {
		return fmt.Errorf("the error is not %q with a path: %w", cause, err)
	}
	return nil
}

// live compares all sessions, as the writing process sees them, with what was acknowledged.
func (r *run) live() error {
	var errs []error
	for name := range r.want {
		if r.store != nil {
			errs = append(errs, r.read(name))
		}
	}
	return errors.Join(errs...)
}

// otherFork lets a session go on from one entry, which fails late, then from another, which fails anywhere, and then
// begin by itself, and cuts the power after each.
func otherFork(t *testing.T, fresh func(t testing.TB) Storage) {
	plain := draft{fact: func(*entry.Body) entry.Fact { return gap(0) }}
	nothing := func(*run, string) error { return nil }
	begin := func(st Storage) (*run, error) {
		r := start(st)
		first := step{"one", appends(plain, plain, plain, plain, plain, plain)}
		return r, errors.Join(r.step(first), r.step(step{"three", nothing}))
	}
	one, other := step{"three", forked("one", 4, nothing)}, step{"three", forked("one", 2, nothing)}
	r, err := begin(fresh(t))
	before := r.storage.Ops()
	if err := errors.Join(err, r.step(one)); err != nil {
		t.Fatal(err)
	}
	ops := r.storage.Ops() - before
	for n := range 5 * (ops + 6) {
		late, any := ops-1-n%5, n/5
		r, err := begin(fresh(t))
		for i, try := range []struct {
			step
			from, until int
		}{{one, late, late + 1 + n%2}, {other, any, any + 1 + n%3}, {step{"three", appends(plain, plain)}, 0, 0}} {
			r.storage.Fail(try.from, try.until, syscall.EIO)
			if serr := r.step(try.step); serr != nil && !errors.Is(serr, syscall.EIO) {
				err = errors.Join(err, serr)
			}
			r.storage.Fail(0, 0, nil)
			err = errors.Join(err, r.live())
			for _, seed := range []uint64{0, 1, uint64(n + 2)} {
				next := r.after(seed)
				if cerr := cmp.Or(next.verify(), goesOn(next)); cerr != nil {
					err = errors.Join(err, fmt.Errorf("attempt %d, loss %s: %w", i, loss(seed), cerr))
				}
			}
		}
		if err := errors.Join(err, r.restart(""), r.verify()); err != nil {
			t.Fatalf("fails at %d of %d, then at %d: %v", late, ops, any, err)
		}
	}
}
