package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"ambit/internal/selection"
	"ambit/journal"
	"ambit/server"
)

// outside is a world in which an agent that somebody else wrote works through the proxy.
type outside struct {
	*stage
	want  int // turns
	turns int

	tongue   tongue
	naming   naming
	cuts     bool  // policies that edit may come
	thinks   bool  // the agent asks for thoughts
	window   int64 // of the model, in tokens; 0 for none
	late     bool  // what is too long is refused in the stream
	policy   string
	opinions []string // the policies that there may be

	store  *journal.Dir
	server *server.Server
	lost   int // halves of exchanges that this process has not recorded
	hurt   int // exchanges in a row that were not recorded though the disk did not fail while they passed

	long     bool  // a request was refused as too long: what was shortened then stays so
	split    bool  // a session was begun because another could not be taken up: what follows what is not looked at any more
	main     *talk // the conversation that the agent has
	talks    int
	way      *passing           // what is on its way
	before   int                // failures of the disk before it
	calm     int                // and before the process
	doubtful []*passing         // what passed, and is not all in the journal
	ledgers  map[string]*ledger // what is in the journal, by session
	asked    map[string]bool    // the texts that were to be pinned, and whether that was answered well
	holes    map[string]bool    // the conversations of which not all is in the journal
	changed  map[string]bool    // those of which the agent has changed what stood
}

// naming is how an agent names its session.
type naming uint8

const (
	byTag    naming = iota // in the path
	byHeader               // as Claude Code does, sub-agents too
	byNothing
)

// Proxy plays a foreign agent's work through the proxy until it has had so many turns, in the world of a seed. It must be
// called in a synctest bubble.
func Proxy(seed uint64, turns int) *Report {
	w := &outside{stage: newStage(seed, 0x9047), want: turns, ledgers: map[string]*ledger{}, asked: map[string]bool{}, holes: map[string]bool{}, changed: map[string]bool{}}
	w.again = fmt.Sprintf("-sim.part=proxy -sim.seed=%d", seed)
	w.tongue = tongues()[w.dice.IntN(len(tongues()))]
	w.naming = naming(w.dice.IntN(3))
	w.thinks, w.late = w.chance(500), w.chance(300)
	w.opinions = []string{selection.Record}
	if w.cuts = w.chance(600); w.cuts {
		w.opinions = []string{selection.Cut, selection.Full, selection.Full, selection.Record}
		w.window = []int64{0, 9_000, 12_000, 20_000}[w.dice.IntN(4)]
	}
	w.note("%s, named by %d, edits %v, window %d", w.tongue.wire, w.naming, w.cuts, w.window)
	w.live()
	w.r.Lengths = []int{w.turns}
	if w.breach != nil {
		w.r.Breach = w.breach
	}
	return w.r
}

// live is the agent's work.
func (w *outside) live() {
	w.open()
	for steps := 0; w.breach == nil && w.turns < w.want && steps < 20*w.want; steps++ {
		w.work()
	}
	if w.breach == nil {
		w.fuse = -1
		if w.blown {
			w.die()
		}
		w.restart()
		w.rebuild()
	}
	if w.server != nil {
		_ = w.server.Close() // where a law is broken, what comes of it does not matter
		synctest.Wait()
	}
	if w.breach == nil && w.turns < w.want {
		w.fail(Ending, "the agent has had %d turns of %d, and comes no further", w.turns, w.want)
	}
}

// open starts the proxy, as a new process would; that may take some crashes.
func (w *outside) open() {
	for w.breach == nil {
		w.policy = w.opinions[w.dice.IntN(len(w.opinions))]
		w.server, w.lost, w.hurt, w.calm = nil, 0, 0, w.failures
		store, err := journal.Open("/data", journal.Options{FS: w.disk, Now: w.stage.now, Rotate: 32 << 10})
		if err == nil {
			w.store = store
			w.server, err = server.New(server.Options{
				Store: store, Secret: []byte("secret"), Policy: w.policy, Now: w.stage.now, Rand: random{rand.New(rand.NewPCG(w.dice.Uint64(), 2))}, Transport: (*wire)(w),
				Upstreams: map[string]string{"anthropic": "http://anthropic.test", "openai": "http://openai.test", "gemini": "http://gemini.test"},
			})
		}
		if err == nil {
			w.note("the proxy runs, policy %s", w.policy)
			return
		}
		if !w.blown {
			w.fail(Crash, "the proxy cannot be started: %v", err)
			return
		}
		w.cut()
	}
}

// between is what may happen between two requests.
func (w *outside) between() {
	if w.breach != nil {
		return
	}
	if w.r.Steps++; w.r.Steps%50 == 0 {
		w.rebuild()
	}
	switch n := w.dice.IntN(1000); {
	case n < 700:
	case n < 900:
		w.sleep(time.Duration(w.dice.IntN(30_000)) * time.Millisecond)
	case n < 960: // the session is let go, and the provider's cache forgets it
		w.sleep(time.Minute + time.Duration(w.dice.IntN(600_000))*time.Millisecond)
	case n < 964:
		w.sleep(2 * time.Hour)
	case n < 985:
		w.restart()
	default:
		w.ask()
	}
	switch {
	case w.blown && w.chance(500):
		w.die()
	case !w.blown && w.chance(60):
		w.mu.Lock()
		w.fuse, w.lasting = w.dice.IntN(120), w.chance(700)
		w.mu.Unlock()
		w.note("the disk is to fail after %d operations, lasting %v", w.fuse, w.lasting)
	case !w.blown && w.chance(15):
		w.die()
	}
}

// sleep lets time go on, and the proxy do what it does beside.
func (w *outside) sleep(d time.Duration) {
	w.fence()
	time.Sleep(d)
	synctest.Wait()
	w.tail()
}

// die is that the process is killed, or the power goes.
func (w *outside) die() {
	w.tail()
	w.mu.Lock()
	w.blown, w.lasting, w.fuse = true, true, 0 // nothing that it still does reaches the disk
	w.mu.Unlock()
	_ = w.server.Close()
	synctest.Wait()
	w.cut()
	w.open()
	w.survived()
}

// restart ends the process in good order and starts another one.
func (w *outside) restart() {
	w.r.Restarts++
	w.note("restart")
	before := w.failures
	err := w.server.Close()
	synctest.Wait()
	quiet := w.failures == before && !w.blown
	if quiet {
		w.tail()
	}
	if _, _, lost := w.server.Recorded(); quiet {
		w.holds(Missed, lost == w.lost, "%d halves of exchanges are said to be missing, and %d are", lost, w.lost)
	}
	if w.server = nil; quiet && err != nil {
		w.fail(Crash, "the proxy cannot be closed: %v", err)
		return
	}
	if err := w.store.Close(); err != nil && w.failures == before && !w.blown {
		w.fail(Crash, "the store cannot be closed: %v", err)
		return
	}
	if w.blown || w.failures != before {
		w.cut()
	}
	w.open()
	w.survived()
}

// survived compares what is there with what was acknowledged, and takes in what is there beyond that.
func (w *outside) survived() {
	if w.breach != nil {
		return
	}
	w.peeking = true
	defer func() { w.peeking = false }()
	for id, l := range w.ledgers {
		is := "nothing"
		for f, err := range w.store.Read(context.Background(), id, l.seq-1) {
			if err != nil {
				w.fail(Crash, "the journal cannot be read: %v", err)
				return
			}
			is = f.Sum
			break
		}
		w.holds(Crash, is == l.sum, "%d entries of %s were acknowledged, and the last of them is %s", l.seq, id, is)
	}
	if ids, err := w.store.Sessions(context.Background()); err == nil {
		for _, id := range ids {
			w.sound(w.store, id)
		}
	}
	w.written = true
	w.tail()
	for text, taken := range w.asked {
		there := false
		for _, l := range w.ledgers {
			there = there || slices.Contains(l.pins, text)
		}
		w.holds(Crash, there || !taken, "the pin %q was taken, and is not in the journal", text)
	}
	w.doubtful = nil
}

// rebuild checks everything from the beginning.
func (w *outside) rebuild() {
	if w.breach != nil || w.blown { // half of what failed may still stand on the disk
		return
	}
	w.tail()
	w.peeking = true
	defer func() { w.peeking = false }()
	w.r.Rebuilds++
	d, err := journal.Open("/data", journal.Options{FS: w.disk, Now: w.stage.now, Existing: true})
	if err != nil {
		w.fail(Rebuild, "the store cannot be opened: %v", err)
		return
	}
	defer d.Close()
	for id, l := range w.ledgers {
		if saved := w.refolded(d, id, l.saved); !w.shaken() { // else the last entries may be there and not be durable
			l.saved = saved
		}
	}
}
