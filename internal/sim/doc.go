// Package sim plays whole sessions of Ambit's own loop in a world that one seed makes: users, tools, live facts, a model over
// four wires with its faults, and a disk that crashes at any operation.
//
// Live is one session from its beginning to its end. A model that knows only what the world itself said and answered
// predicts every entry of the journal and every request; the laws of the design are checked as each entry appears, and in
// full every fifty steps. What breaks one ends the session with a Breach, which has the last steps before it.
//
// Nothing real is touched: the disk is in memory, the provider is called in process, and time is that of a synctest bubble,
// in which Live must be called. So the same seed is the same session, to the byte.
//
// What is played is the loop. The proxy has its seam in play: whoever calls it asks a strict provider for the answer to a
// request and spoils that on its way back, whether the request came from an engine or through the proxy.
package sim

import (
	"fmt"
	"strings"
)

// Law is one of the laws that a simulation holds the loop to.
type Law string

// The laws.
const (
	Prefix  Law = "prefix"   // within a baseline, a wire and a model, each request's elements extend those of the one before
	Retry   Law = "retry"    // an attempt that repeats has the same bytes, and waits as it was told to
	Once    Law = "once"     // a call is durable before it runs, and runs at most once
	Closure Law = "closure"  // no request holds half a tool exchange
	Source  Law = "source"   // a change is told once, what is unavailable changes nothing, and what is told is what was read
	Crash   Law = "crash"    // what was acknowledged is there after a crash, and check finds nothing
	Rebuild Law = "rebuild"  // folding from the beginning equals folding the rest; every body rebuilds
	Record  Law = "record"   // each request is in the journal, byte for byte, before it is sent
	Talk    Law = "talk"     // a request holds what was said, all of it, in order, and nothing else
	Input   Law = "input"    // an input is durable before it is acknowledged, and is said once, in order
	Ending  Law = "ending"   // an activity ends for a reason that the world gave it
	Strict  Law = "strict"   // the provider refuses nothing but what it was told to
	Press   Law = "pressure" // what is sent in place of a request is legal, was decided first, and holds what the user said
)

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
