package token_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ambit/internal/token"
)

// drawn are samples of a tokenizer that counts as a model does, and is off by so much at most.
func drawn(n int, truth token.Model, off float64) []token.Sample {
	samples := make([]token.Sample, n)
	state := uint32(1)
	next := func(below int) int {
		state = state*1664525 + 1013904223
		return int(state>>8) % below
	}
	for i := range samples {
		c := token.Content{Messages: next(2), Calls: next(3), Results: next(3), Counted: next(500)}
		for k := range c.Text {
			c.Text[k] = next(200)
		}
		e := truth.Unanchored(c).EstTokens - c.Counted
		samples[i] = token.Sample{Content: c, Tokens: c.Counted + int(float64(e)*(1+off*(float64(next(2001))/1000-1)))}
	}
	return samples
}

// covers: B-04 part
func TestCalibrateFindsWeights(t *testing.T) {
	truth := token.Default(token.Claude)
	m := token.Calibrate(token.Base(), drawn(2000, truth, 0))
	for i, w := range truth.Weights.Text {
		if got, far := m.Weights.Text[i], token.Base().Weights.Text[i]; math.Abs(got-w) > 0.03+math.Abs(far-w)/2 {
			t.Errorf("weight %d is %.3f, want %.3f, not %.3f", i, got, w, far)
		}
	}
	if m.New.Factor > 1.05 || m.New.Plus > 20 {
		t.Errorf("the bound of what is exact is %+v", m.New)
	}
	if diff := cmp.Diff(token.Base().Whole, m.Whole); diff != "" {
		t.Errorf("the bound of whole requests, without a sample of one: %s", diff)
	}
}

// TestBoundsHold: at most one sample in a hundred is above the bound that they taught.
// covers: B-04 part
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := drawn(rapid.IntRange(100, 300).Draw(t, "n"), token.Default(token.OpenAI), rapid.Float64Range(0, 0.9).Draw(t, "off"))
		m := token.Calibrate(token.Base(), samples)
		above := 0
		for _, s := range samples {
			if m.Anchored(0, s.Content).Most < s.Tokens {
				above++
			}
		}
		if above > len(samples)/100 {
			t.Errorf("%d of %d are above the bound %+v", above, len(samples), m.New)
		}
	})
}

// TestCalibrateNeedsSamples: few samples change nothing, some scale the weights, and their order does not matter.
func TestCalibrateNeedsSamples(t *testing.T) {
	truth := token.Default(token.DeepSeek)
	if diff := cmp.Diff(token.Base(), token.Calibrate(token.Base(), drawn(29, truth, 0))); diff != "" {
		t.Errorf("few samples: %s", diff)
	}
	m := token.Calibrate(token.Base(), drawn(60, truth, 0))
	scale := m.Weights.Message / token.Base().Weights.Message
	if scale == 1 {
		t.Error("some samples did not scale the weights")
	}
	for i, w := range token.Base().Weights.Text {
		if math.Abs(m.Weights.Text[i]-w*scale) > 1e-9 {
			t.Errorf("weight %d is not scaled like the others", i)
		}
	}
	samples := drawn(800, truth, 0.2)
	forth := token.Calibrate(token.Base(), samples)
	slices.Reverse(samples)
	if diff := cmp.Diff(forth, token.Calibrate(token.Base(), samples), cmpopts.EquateApprox(1e-4, 1e-6)); diff != "" {
		t.Errorf("in another order: %s", diff)
	}
	odd := []token.Sample{{}, {Tokens: -5}, {Whole: true, Tokens: 3}, {Content: token.Content{Messages: 1}}}
	for range 200 {
		samples = append(samples, odd...)
	}
	m = token.Calibrate(token.Base(), samples)
	if math.IsNaN(m.New.Factor) || math.IsInf(m.New.Factor, 0) || math.IsNaN(m.Weights.Text[0]) {
		t.Errorf("of samples without content: %+v", m)
	}
}
