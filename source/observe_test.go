package source_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ambit/source"
)

// loading is a source that loads as a test says.
func loading(key string, load func(context.Context) (string, error)) source.Source {
	s := (&live{}).spec(key)
	s.Load = load
	return source.Of(s)
}

// covers: S-01 part
func TestLoaderCannotFail(t *testing.T) {
	c := compose(
		t,
		loading("a/value", func(context.Context) (string, error) { return "1", nil }),
		loading("a/absent", func(context.Context) (string, error) { return "1", fmt.Errorf("look: %w", source.ErrAbsent) }),
		loading("a/error", func(context.Context) (string, error) { return "1", fmt.Errorf("open\n\"x\":  %w", errDown) }),
		loading("a/panic", func(context.Context) (string, error) { panic("out of order") }),
		loading("a/silent", func(context.Context) (string, error) { return "", errors.New("") }),
	)
	o := c.Observe(background, nil)
	want := source.Observation{
		"a/value":  {State: source.Present, Value: []byte(`"1"`)},
		"a/absent": {State: source.Absent},
		"a/error":  {State: source.Unavailable, Reason: `open "x": the disk is gone`},
		"a/panic":  {State: source.Unavailable, Reason: "panic: out of order"},
		"a/silent": {State: source.Unavailable, Reason: "it does not say why"},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a/error", "a/panic", "a/silent"}, o.Unavailable()); diff != "" {
		t.Error(diff)
	}
}

// TestReasonsAreShort keeps a reason to one line of text.
func TestReasonsAreShort(t *testing.T) {
	c := compose(t, loading("a/b", func(context.Context) (string, error) { return "", errors.New("x\xff\n" + strings.Repeat("ä", 600)) }))
	r := c.Observe(background, nil)["a/b"].Reason
	if len(r) > 500 || len(r) < 498 || !utf8.ValidString(r) || strings.Contains(r, "\n") {
		t.Errorf("%d bytes: %q", len(r), r)
	}
}

// TestLateAnswerIsNotUsed observes with an Each that goes on before one loader has answered.
//
// covers: S-01 part
func TestLateAnswerIsNotUsed(t *testing.T) {
	release, answered := make(chan bool), make(chan bool)
	c := compose(
		t,
		loading("a/late", func(context.Context) (string, error) { <-release; return "late", nil }),
		loading("a/prompt", func(context.Context) (string, error) { return "prompt", nil }),
	)
	o := c.Observe(background, func(ctx context.Context, n int, load func(context.Context, int)) {
		go func() { load(ctx, 0); close(answered) }()
		for i := 1; i < n; i++ {
			load(ctx, i)
		}
	})
	close(release)
	<-answered
	want := source.Observation{
		"a/late":   {State: source.Unavailable, Reason: "no answer in time"},
		"a/prompt": {State: source.Present, Value: []byte(`"prompt"`)},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
}

// covers: S-01 part
func TestContextEnds(t *testing.T) {
	stopped, stop := context.WithCancelCause(background)
	stop(errors.New("the session closes"))
	past, cancel := context.WithDeadline(background, time.Time{})
	defer cancel()
	asked := false
	ask := loading("a/b", func(context.Context) (string, error) { asked = true; return "", nil })
	heed := loading("a/b", func(ctx context.Context) (string, error) { return "", fmt.Errorf("read: %w", context.DeadlineExceeded) })
	for _, tt := range []struct {
		ctx  context.Context
		s    source.Source
		want string
	}{
		{stopped, ask, "the session closes"},
		{past, ask, "no answer in time"},
		{background, heed, "read: context deadline exceeded"}, // a limit of its own
	} {
		if o := compose(t, tt.s).Observe(tt.ctx, nil)["a/b"]; o.Reason != tt.want || asked {
			t.Errorf("%+v, want %q; asked %t", o, tt.want, asked)
		}
	}
}

// TestObservesAtOnce lets two loaders wait for each other.
func TestObservesAtOnce(t *testing.T) {
	a, b := make(chan bool), make(chan bool)
	c := compose(
		t,
		loading("a/a", func(context.Context) (string, error) { close(a); <-b; return "1", nil }),
		loading("a/b", func(context.Context) (string, error) { close(b); <-a; return "2", nil }),
	)
	o := c.Observe(background, func(ctx context.Context, n int, load func(context.Context, int)) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { load(ctx, i) })
		}
		wg.Wait()
	})
	if o.Unavailable() != nil {
		t.Errorf("%v", o)
	}
}
