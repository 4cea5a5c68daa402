package source

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
)

// State is what was found out about a source.
type State string

// The states.
const (
	Present     State = "present"     // it has a value
	Absent      State = "absent"      // it was looked at, and there is nothing
	Unavailable State = "unavailable" // it could not be looked at
)

// Observed is one source as it was observed.
type Observed struct {
	State  State           `json:"state"`
	Value  json.RawMessage `json:"value,omitempty"`  // of a source that is present, by its codec
	Reason string          `json:"reason,omitempty"` // why it is unavailable: one line of at most 500 bytes, for people
}

// Observation is what was found out about the sources of a composition at one boundary, by key. A source that is missing
// counts as unavailable.
type Observation map[string]Observed

// Unavailable returns the keys of the sources that are unavailable, sorted, and nil when none is.
func (o Observation) Unavailable() []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if s := o[k].State; s != Present && s != Absent {
			keys = append(keys, k)
		}
	}
	return keys
}

// Each calls load once for every i from 0 to n-1, at once or one after another, with a context that ends at the time
// limit, if it sets one. It may return before all of them have: an answer that comes later is not used.
type Each func(ctx context.Context, n int, load func(ctx context.Context, i int))

// Observe asks every source once. It does not fail: an error, a panic and a missing answer make that one source
// unavailable, with a reason. Without an Each, sources are asked one after another, with no limit but the context's.
func (c Composition) Observe(ctx context.Context, each Each) Observation {
	if each == nil {
		each = inTurn
	}
	var mu sync.Mutex // late answers still arrive when this has returned
	answers := make([]Observed, len(c.sources))
	each(ctx, len(answers), func(ctx context.Context, i int) {
		answer := c.sources[i].observe(ctx)
		mu.Lock()
		defer mu.Unlock()
		answers[i] = answer
	})
	mu.Lock()
	defer mu.Unlock()
	o := make(Observation, len(answers))
	for i, s := range c.sources {
		o[s.key] = answers[i]
		if answers[i].State == "" {
			o[s.key] = unavailable(late(ctx))
		}
	}
	return o
}

func inTurn(ctx context.Context, n int, load func(context.Context, int)) {
	for i := range n {
		load(ctx, i)
	}
}

func (s Source) observe(ctx context.Context) Observed {
	if ctx.Err() != nil {
		return unavailable(late(ctx))
	}
	value, err := s.load(ctx)
	switch {
	case err == nil:
		return Observed{State: Present, Value: value}
	case errors.Is(err, ErrAbsent):
		return Observed{State: Absent}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return unavailable(late(ctx))
	}
	return unavailable(err)
}

var errLate = errors.New("no answer in time")

// late says why an answer is missing: somebody else ended the context, or time was up.
func late(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errLate
}

// maxReason is how many bytes a reason may have.
const maxReason = 500

func unavailable(err error) Observed {
	reason, _ := head(oneLine(utf8Text([]byte(err.Error()), false)), maxReason)
	if reason == "" {
		reason = "it does not say why"
	}
	return Observed{State: Unavailable, Reason: reason}
}
