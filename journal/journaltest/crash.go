package journaltest

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
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
	for seed, length := range lengths(map[uint64]int{1: 34, 2: 24, 3: 16}, map[uint64]int{1: 20}) {
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
	for _, seed := range []uint64{0, 1, uint64(2*n + 2), uint64(2*n + 3)} {
		if err := goesOn(r.after(seed)); err != nil {
			return fmt.Errorf("loss %s: %w", loss(seed), err)
		}
	}
	st.Fail(0, 0, nil)
	return r.restart("")
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

// goesOn wants everything there, and that appends go on, after a crash, and once again after another one.
func goesOn(r *run) error {
	if err := r.verify(); err != nil {
		return err
	}
	lines, err := r.lines()
	if err != nil {
		return err
	}
	more := history(99, 6)
	for i, s := range more {
		if err := r.step(s); err != nil {
			return fmt.Errorf("go on, step %d: %w", i, err)
		}
	}
	next := r.after(0)
	if err := errors.Join(r.restart(""), next.verify()); err != nil {
		return fmt.Errorf("after the second crash: %w", err)
	}
	later, err := next.lines()
	if err == nil && !prefixes(lines, later) {
		err = errors.New("the lines of entries are not the same after the second crash")
	}
	return err
}

// lines reads all sessions' lines.
func (r *run) lines() (map[string][]string, error) {
	store, err := r.storage.Open()
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for name := range r.want {
		frames, err := readAll(r.ctx, store, name)
		if err != nil {
			return nil, err
		}
		for _, f := range frames {
			all[name] = append(all[name], string(f.Line))
		}
	}
	return all, store.Close()
}

func prefixes(before, after map[string][]string) bool {
	for name, lines := range before {
		for i, line := range lines {
			if i >= len(after[name]) || after[name][i] != line {
				return false
			}
		}
	}
	return true
}

// causes are what operations fail with.
var causes = []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EMFILE}

// fault runs a history with one operation failing, for every operation, and with a few in a row.
func fault(t *testing.T, fresh func(t testing.TB) Storage) {
	for seed, length := range lengths(map[uint64]int{4: 26, 5: 18}, map[uint64]int{4: 14}) {
		sweep(t, fresh, seed, length, func(steps []step, n int) error {
			for _, f := range []failing{{n, 1, false}, {n, 1, true}, {n, 2 + n%5, false}} {
				if err := f.try(fresh(t), steps); err != nil {
					return fmt.Errorf("%d operations fail with %v, release %v: %w", f.count, f.cause(), f.release, err)
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
	return errors.Join(r.live(), goesOn(r.after(0)), goesOn(r.after(uint64(f.n+2))), r.restart(""), r.verify())
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
	for name, l := range r.want {
		if r.store != nil {
			strict := ledger{acked: append([]entry.Fact(nil), l.acked...)}
			errs = append(errs, strict.verify(r.ctx, r.store, name))
		}
	}
	return errors.Join(errs...)
}
