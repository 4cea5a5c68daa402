// Package sim plays whole sessions in a world that one seed makes: users, tools, live facts, a model over four wires with its
// faults, and a disk that crashes at any operation.
//
// Live is one session of Ambit's own loop, from its beginning to its end. Proxy is what an agent that somebody else wrote does
// through the proxy: it keeps its own history, tries again, goes back, asks aside and has sub-agents, in front of the same
// provider. A model that knows only what the world itself said and answered predicts every entry of the journal and every
// request; the laws of the design are checked as each entry appears, and in full every fifty steps. What breaks one ends the
// session with a Breach, which has the last steps before it.
//
// Nothing real is touched: the disk is in memory, the proxy and the provider are called in process, and time is that of a
// synctest bubble, in which both must be called. So the same seed is the same session, to the byte.
package sim

import (
	"fmt"
	"strings"
)

// Law is one of the laws that a simulation holds the loop or the proxy to.
type Law string

// The laws of both.
const (
	Closure Law = "closure" // no request holds half a tool exchange
	Crash   Law = "crash"   // what was acknowledged is there after a crash, and check finds nothing
	Rebuild Law = "rebuild" // folding from the beginning equals folding the rest; every body rebuilds
	Record  Law = "record"  // each exchange is in the journal, byte for byte; the loop's before it is sent, without a credential
	Strict  Law = "strict"  // the provider refuses nothing but what it was told to
	Ending  Law = "ending"  // an activity ends for a reason that the world gave it
)

// The laws of the loop.
const (
	Prefix Law = "prefix"   // within a baseline, a wire and a model, each request's elements extend those of the one before
	Retry  Law = "retry"    // an attempt that repeats has the same bytes, and waits as it was told to
	Once   Law = "once"     // a call is durable before it runs, and runs at most once
	Source Law = "source"   // a change is told once, what is unavailable changes nothing, and what is told is what was read
	Talk   Law = "talk"     // a request holds what was said, all of it, in order, and nothing else
	Input  Law = "input"    // an input is durable before it is acknowledged, and is said once, in order
	Press  Law = "pressure" // what is sent in place of a request was decided first, and holds what the user said
)

// The laws of the proxy.
const (
	Pass    Law = "pass"    // what nothing is edited of passes unchanged in both directions, once, and ends where it ended
	Applied Law = "applied" // an edit is in the journal before it is applied
	Shorter Law = "shorter" // what is sent is no longer than what came, and its newest stands as it came
	Parent  Law = "parent"  // each request follows the one that it goes on from, and says how
	Pins    Law = "pins"    // what is pinned is in each request that is edited; what is said of that is so
	Missed  Law = "missed"  // what could not be recorded is counted
)

// Laws are the names of all.
func Laws() (names []string) {
	for _, l := range []Law{
		Closure, Crash, Rebuild, Record, Strict, Ending, Prefix, Retry, Once, Source, Talk, Input, Pass, Applied, Shorter, Parent, Pins, Missed,
	} {
		names = append(names, string(l))
	}
	return names
}

// Breach is a law that was broken.
type Breach struct {
	Seed  uint64
	Again string // the flags that play it again
	Law   Law
	Why   string
	Trace []string // the last steps before it
}

// Error says what was broken, and how to see it again.
func (b *Breach) Error() string {
	again := "go test ./internal/sim -count=1 -run '^TestSim$' -v " + b.Again
	return fmt.Sprintf("seed %d breaks the law %q: %s\nthe last steps:\n  %s\nplay it again: %s", b.Seed, b.Law, b.Why, strings.Join(b.Trace, "\n  "), again)
}
