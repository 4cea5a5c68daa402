package agent_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"ambit/internal/agent"
)

// Tools that run at the same time ask one question after another, and none when the time of the call is over before its turn.
func TestOneQuestionAtATime(t *testing.T) {
	var busy atomic.Bool
	var begun, asked atomic.Int32
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r := work(t, map[string]string{".env": "x\n"}, agent.Options{
		Rules: agent.DefaultRules(), Ask: func(context.Context, agent.Question) (bool, error) {
			if !busy.CompareAndSwap(false, true) {
				t.Error("two questions at the same time")
			}
			for i := 0; begun.Load() < 8 || i < 1000; i++ {
				runtime.Gosched()
			}
			if asked.Add(1) == 4 {
				cancel(enough)
			}
			busy.Store(false)
			return true, nil
		},
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			begun.Add(1)
			text, err := r.use(ctx, "read", `{"path":".env"}`)
			if err != nil && !errors.Is(err, enough) || err == nil && text != "1\tx\n" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n != 4 {
		t.Errorf("%d questions", n)
	}
}
