package ambit

import (
	"errors"
	"fmt"
	"time"

	"ambit/entry"
	"ambit/internal/pricing"
)

// Bounds bound an activity. It ends at the first that is reached, and what is left to do waits for the next.
type Bounds struct {
	Turns  int           // requests with answers; 0 for DefaultTurns
	Time   time.Duration // 0 for any
	Output int           // tokens of its answers; 0 for any
	USD    float64       // what its requests and answers cost; 0 for any. Models without prices cost nothing

	Silence time.Duration // for which a provider may say nothing before an answer counts as broken off; 0 for DefaultSilence
	Answer  int           // the longest answer, in bytes; 0 for DefaultAnswer
}

// What limits are where a setup says nothing. DefaultTurns is the seed's; the others are Ambit's own choice.
const (
	DefaultTurns   = 25
	DefaultSilence = 5 * time.Minute
	DefaultAnswer  = 64 << 20
)

// LimitError says that an activity has reached a limit.
type LimitError struct{ Why string }

// Error says which.
func (e *LimitError) Error() string { return "the activity has reached its limit of " + e.Why }

// Retry says how attempts that come to nothing are repeated. What passes by itself, a limit on rates, an overload, a fault of
// the server or of the network, is tried until it succeeds or the activity ends; what is no answer at all so often.
type Retry struct {
	Off     bool          // nothing is repeated
	Max     int           // how often an answer that is none is asked for again; 0 for 3
	Base    time.Duration // before the first repetition, doubled each time; 0 for 2 s
	Most    time.Duration // between two; 0 for 30 s
	MaxWait time.Duration // a provider that asks for more ends the activity; 0 for 60 s
}

// delay is how long to wait before the nth repetition, from 0.
func (r Retry) delay(n int) time.Duration {
	base, most := orElse(r.Base, 2*time.Second), orElse(r.Most, 30*time.Second)
	for range min(n, 30) {
		if base *= 2; base >= most {
			return most
		}
	}
	return min(base, most)
}

func orElse[T comparable](v, other T) T {
	var none T
	if v == none {
		return other
	}
	return v
}

// used is what an activity has taken.
type used struct {
	began  time.Time
	turns  int
	output int
	usd    float64
}

// count adds what an attempt took, whatever came of it: nil where the provider does not say. The names are of the model that
// answered, empty where nobody did, and of the one that was asked.
func (u *used) count(answered, asked string, at time.Time, taken *entry.Usage) {
	if taken == nil {
		return
	}
	if _, priced := pricing.Lookup(answered, at); !priced {
		answered = asked
	}
	u.output, u.usd = u.output+int(taken.Output), u.usd+cost(answered, at, taken)
}

// check says which limit is reached.
func (u *used) check(l Bounds, now time.Time) error {
	turns := orElse(l.Turns, DefaultTurns)
	switch {
	case u.turns >= turns:
		return &LimitError{fmt.Sprintf("%d turns", turns)}
	case l.Time > 0 && now.Sub(u.began) >= l.Time:
		return &LimitError{l.Time.String()}
	case l.Output > 0 && u.output >= l.Output:
		return &LimitError{fmt.Sprintf("%d tokens of output", l.Output)}
	case l.USD > 0 && u.usd >= l.USD:
		return &LimitError{fmt.Sprintf("$%.4f", l.USD)}
	}
	return nil
}

// errTime ends what runs when the time of an activity is over.
var errTime = errors.New("the time of the activity is over")
