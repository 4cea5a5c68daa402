package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ambit/internal/sim"
	"ambit/internal/vfs"
	"ambit/journal"
)

var (
	turns  = flag.Int("sim.turns", 0, "how many turns are played, two thirds of them over the loop; 0 for a few hundred")
	only   = flag.String("sim.part", "", "the only part that is played: loop or proxy; empty for both")
	seed   = flag.Uint64("sim.seed", 0, "the only seed that is played, of the part that is named; 0 for as many as it takes")
	first  = flag.Uint64("sim.first", 1, "the first seed")
	known  = flag.Bool("sim.known", false, "play what is known to break a law, too: see sim.Known")
	tables = flag.String("sim.tables", "", "the file into which the tables of docs/reliability.md are written, behind its marker if it has one")
	keep   = flag.String("sim.keep", "", "the file in which a long run keeps what was played, and from which it goes on after it was broken off")
)

// part is a part of the simulation.
type part struct {
	name   string
	share  float64 // of the turns
	length func(seed uint64) int
	live   func(seed uint64, turns int) *sim.Report
}

func parts() []part {
	return []part{
		{"loop", 2. / 3, length, func(seed uint64, turns int) *sim.Report { return sim.Live(seed, turns, *known) }},
		{"proxy", 1. / 3, length, sim.Proxy},
	}
}

// play plays the session of a seed.
func (p part) play(t *testing.T, seed uint64) (r *sim.Report) {
	synctest.Test(t, func(*testing.T) { r = p.live(seed, p.length(seed)) })
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
	case seed%29 == 0:
		return 100 + int(seed*7919%141)
	}
	return 60 + int(seed*7919%9)
}

// job is a session that is to be played.
type job struct {
	of   int // the part
	seed uint64
}

// jobs are the sessions that have so many turns together: which they are depends on nothing that happens while they are
// played.
func jobs(list []part, from uint64, want int) (all []job) {
	left, next := make([]int, len(list)), make([]uint64, len(list))
	share := 0.
	for _, p := range list {
		share += p.share
	}
	for i, p := range list {
		left[i], next[i] = int(float64(want)*p.share/share), from
	}
	for more := true; more; {
		more = false
		for i, p := range list {
			if left[i] > 0 {
				all = append(all, job{i, next[i]})
				left[i] -= p.length(next[i])
				next[i]++
				more = true
			}
		}
	}
	return all
}

// Sessions of a world that a seed makes hold to every law, whatever goes wrong. Of the loop: inputs are durable and are said
// once, in order; calls run at most once; what is told of live facts is told once; attempts that repeat have the same bytes.
// Of the proxy: what passes, passes unchanged; what is edited is legal, and no longer than what came; each request finds its
// parent. Of both: what was acknowledged survives every crash, and all of it rebuilds.
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
	list := parts()
	if *only != "" {
		list = named(t, *only)
	}
	if *seed != 0 {
		if len(list) != 1 {
			t.Fatal("-sim.seed plays one session again: say of which part it is, by -sim.part=loop or -sim.part=proxy")
		}
		r := list[0].play(t, *seed)
		if r.Breach != nil {
			t.Fatal(r.Breach)
		}
		t.Log(r)
		return
	}
	want, from := *turns, *first
	if want == 0 {
		want, from = 300, short
	}
	totals, took := long(t, list, jobs(list, from, want), want, from)
	for i, p := range list {
		r := totals[i]
		t.Logf("%s, seeds %d to %d: %s", p.name, from, from+uint64(len(r.Lengths))-1, r)
		if r.Breach != nil {
			t.Error(r.Breach)
		}
	}
	if want >= 10_000 && !t.Failed() {
		for _, lack := range sim.Lacks(names(list), totals) {
			t.Error(lack)
		}
	}
	t.Logf("in %s, on %d processors", took.Round(time.Millisecond), runtime.GOMAXPROCS(0))
	if *tables != "" {
		if err := write(*tables, table(list, totals, from, took)); err != nil {
			t.Error(err)
		}
	}
}

// named is the part of a name.
func named(t *testing.T, name string) []part {
	t.Helper()
	for _, p := range parts() {
		if p.name == name {
			return []part{p}
		}
	}
	t.Fatalf("no part is named %q: there are loop and proxy", name)
	return nil
}

func names(list []part) (names []string) {
	for _, p := range list {
		names = append(names, p.name)
	}
	return names
}

// most is how many sessions that break a law are waited for.
const most = 3

// stretch is what was played of a long run until now, as a file keeps it.
type stretch struct {
	Turns  int // all that are to be played
	First  uint64
	Part   string
	Played int // sessions
	Took   time.Duration
	Totals []*sim.Report
}

// each is how many sessions are played between two times that a run is kept.
const each = 200

// long plays sessions, and where a file is named keeps in it what was played, so that a run which is broken off goes on from there.
func long(t *testing.T, list []part, all []job, want int, from uint64) ([]*sim.Report, time.Duration) {
	s := stretch{Turns: want, First: from, Part: *only}
	for range list {
		s.Totals = append(s.Totals, new(sim.Report))
	}
	if raw, err := os.ReadFile(*keep); err == nil {
		var kept stretch
		if err := json.Unmarshal(raw, &kept); err != nil || kept.Turns != s.Turns || kept.First != s.First || kept.Part != s.Part || len(kept.Totals) != len(list) {
			t.Fatalf("%s keeps another run: %v", *keep, err)
		}
		s = kept
	}
	for s.Played < len(all) && !t.Failed() {
		began, n := time.Now(), len(all)
		if *keep != "" {
			n = min(n, s.Played+each)
		}
		for i, r := range run(t, list, all[s.Played:n], want) {
			s.Totals[i].Add(r)
		}
		s.Played, s.Took = n, s.Took+time.Since(began)
		if *keep == "" || t.Failed() {
			continue
		}
		raw, err := json.Marshal(s)
		if err == nil {
			err = os.WriteFile(*keep+".new", raw, 0o644)
		}
		if err == nil {
			err = os.Rename(*keep+".new", *keep)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d of %d sessions are kept in %s", s.Played, len(all), *keep)
	}
	return s.Totals, s.Took
}

// run plays sessions on all processors, says now and then how far it is, and ends early when some have broken laws.
func run(t *testing.T, list []part, all []job, want int) []*sim.Report {
	totals := make([]*sim.Report, len(list))
	for i := range totals {
		totals[i] = new(sim.Report)
	}
	began, said := time.Now(), time.Now()
	var mu sync.Mutex
	next, done, broken := 0, 0, 0
	take := func() (job, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(all) || broken >= most {
			return job{}, false
		}
		next++
		return all[next-1], true
	}
	t.Run("sessions", func(t *testing.T) {
		for n := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for j, ok := take(); ok; j, ok = take() {
					r := list[j.of].play(t, j.seed)
					mu.Lock()
					totals[j.of].Add(r)
					if done += r.Turns(); r.Breach != nil {
						broken++
						t.Error(r.Breach) // at once: a long run may be ended before its end
					}
					if now := time.Now(); now.Sub(said) >= time.Minute {
						said = now
						t.Logf("%d of %d turns, %.0f a second, at seed %d, %d sessions break a law", done, want, float64(done)/now.Sub(began).Seconds(), j.seed, broken)
					}
					mu.Unlock()
				}
			})
		}
	})
	return totals
}

// table is what docs/reliability.md says of a run.
func table(list []part, totals []*sim.Report, from uint64, took time.Duration) string {
	again := fmt.Sprintf("`make sim TURNS=%d SEED=%d`", *turns, from)
	if *only != "" {
		again = fmt.Sprintf("`make sim TURNS=%d SEED=%d ARGS=-sim.part=%s`", *turns, from, *only)
	}
	return again + ":\n\n" + sim.Tables(names(list), totals, from) + fmt.Sprintf("\nIt took %s on %d processors, with %s.\n", took.Round(time.Second), runtime.GOMAXPROCS(0), runtime.Version())
}

// marker is the line behind which docs/reliability.md is written by a run.
const marker = "<!-- What stands below is written by make sim with -sim.tables. -->\n"

// write puts tables into a file, in place of what stands behind the marker.
func write(name, text string) error {
	was, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if head, _, ok := strings.Cut(string(was), marker); ok {
		text = head + marker + "\n" + text
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// One seed makes one session, to the last step.
func TestSame(t *testing.T) {
	warm(t)
	for _, p := range parts() {
		if a, b := p.play(t, short+9), p.play(t, short+9); a.Breach != nil || a.String() != b.String() {
			t.Errorf("%s: %v\n%s\n%s", p.name, a.Breach, a, b)
		}
	}
}

// docs/reliability.md names each law and each fault, and no other.
func TestDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(string(raw), marker)
	if !ok {
		t.Error("docs/reliability.md has no marker")
	}
	column := func(title string) (names []string) {
		_, rest, _ := strings.Cut(text, "\n| "+title+" |")
		for i, line := range strings.Split(rest, "\n") {
			if i > 1 && !strings.HasPrefix(line, "| ") {
				break
			}
			if i > 1 {
				names = append(names, strings.Split(strings.Split(line, " | ")[0][2:], ", ")...)
			}
		}
		slices.Sort(names)
		return names
	}
	for title, want := range map[string][]string{"law": sim.Laws(), "fault": sim.Faults()} {
		if slices.Sort(want); !slices.Equal(column(title), want) {
			t.Errorf("docs/reliability.md has as each %s\n%q, and there are\n%q", title, column(title), want)
		}
	}
}
