package sim_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ambit/entry"
	"ambit/internal/sim"
	"ambit/internal/vfs"
	"ambit/journal"
)

var (
	turns = flag.Int("sim.turns", 0, "how many turns are played; 0 for a few hundred")
	known = flag.Bool("sim.known", false, "play what is known to break a law, too: see sim.Known")
	seed  = flag.Uint64("sim.seed", 0, "the only seed that is played; 0 for as many as it takes, from 1 on")
)

// play plays the session of a seed.
func play(t *testing.T, seed uint64, length int) (r *sim.Report) {
	synctest.Test(t, func(*testing.T) { r = sim.Live(seed, length, *known) })
	return r
}

// warm makes what the journal shares among stores, which may not belong to a bubble.
func warm(t *testing.T) {
	t.Helper()
	d, err := journal.Open("/data", journal.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	unlock, err := d.Lock(context.Background(), "warm")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Put(context.Background(), "warm", []byte("a text that is long enough to be packed, a text that is long enough to be packed"))
	if err == nil {
		_, err = d.Body(context.Background(), "warm", b)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

// short is the first seed of those whose sessions are short.
const short = 1 << 40

// length is how many turns the session of a seed has: most some more than sixty, since what a turn costs grows with those
// before it, and some far more.
func length(seed uint64) int {
	switch {
	case seed >= short:
		return 12 + int(seed%15)
	case seed%13 == 0:
		return 100 + int(seed*7919%141)
	}
	return 60 + int(seed*7919%17)
}

// Sessions of a world that a seed makes hold to every law, whatever goes wrong: inputs are durable and are said once, in order; calls
// run at most once; what is told of live facts is told once; attempts that repeat have the same bytes; what was
// acknowledged survives every crash; and all of it rebuilds.
//
// covers: R-01 part
// covers: R-02 part
// covers: R-04 part
// covers: R-05 part
// covers: R-06 part
// covers: S-04 part
// covers: S-06 part
// covers: S-07 part
// covers: S-08 part
// covers: S-09 part
// covers: S-11 part
// covers: S-17 part
// covers: S-18 part
// covers: S-19 part
func TestSim(t *testing.T) {
	warm(t)
	want := *turns
	var next atomic.Uint64 // the newest seed
	if *seed != 0 {
		r := play(t, *seed, length(*seed))
		if r.Breach != nil {
			t.Fatal(r.Breach)
		}
		t.Log(r)
		return
	}
	if want == 0 {
		want = 200
		next.Store(short)
	}
	began := time.Now()
	var total sim.Report
	var mu sync.Mutex
	t.Run("sessions", func(t *testing.T) {
		for n := range min(2, runtime.GOMAXPROCS(0)) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for {
					mu.Lock()
					done := total.Turns() >= want || total.Breach != nil
					mu.Unlock()
					if done {
						return
					}
					seed := next.Add(1)
					r := play(t, seed, length(seed))
					mu.Lock()
					total.Add(r)
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%s\nin %s", &total, time.Since(began).Round(time.Millisecond))
	if total.Breach != nil {
		t.Error(total.Breach)
	}
	if total.Turns() >= 10_000 {
		enough(t, &total)
	}
}

// enough looks whether a long run has met with all that there is.
func enough(t *testing.T, r *sim.Report) {
	t.Helper()
	if r.Median() < 60 {
		t.Errorf("the median session has %d turns", r.Median())
	}
	for _, f := range sim.Faults() {
		if r.Faults[f] < 100 {
			t.Errorf("the fault %q came %d times", f, r.Faults[f])
		}
	}
	for _, k := range []entry.Kind{
		entry.KindSession, entry.KindWorks, entry.KindInput, entry.KindPromoted, entry.KindTold, entry.KindRequest, entry.KindRelation, entry.KindUnit,
		entry.KindResponse, entry.KindCall, entry.KindResult, entry.KindIdle,
	} {
		if r.Kinds[k] == 0 {
			t.Errorf("no entry is a %s", k)
		}
	}
}

// One seed makes one session, to the last step.
func TestSame(t *testing.T) {
	warm(t)
	if a, b := play(t, 7, 25), play(t, 7, 25); a.Breach != nil || a.String() != b.String() {
		t.Errorf("%v\n%s\n%s", a.Breach, a, b)
	}
}
