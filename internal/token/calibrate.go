package token

import (
	"math"
	"slices"
)

// Sample is what the provider counted and what it counted it for.
type Sample struct {
	Content Content
	Tokens  int  // all of it, what is Counted included
	Whole   bool // nothing was counted before: it tells of the bound Whole, else of New
}

// The numbers of samples from which a calibration is one. With fewer, what the base has stays, except that weights are
// scaled from minScale on.
const (
	minFit   = 400 // weights of their own: twenty times as many as there are
	minScale = 30
	minBound = 100 // of a bound: one of them above it
)

// coverage is the share of samples that a bound is above.
const coverage = 0.99

// Calibrate learns weights and bounds from samples, where they suffice, and takes the rest from base. Weights are least
// squares of the relative error, not negative, and pulled to those of base where the samples say little. The same
// samples give the same model, in any order but for the last digits.
func Calibrate(base Model, samples []Sample) Model {
	m := base
	m.fit(samples)
	return m.Bounded(samples)
}

// Bounded is the model with the bounds that samples support for its weights, where they suffice.
func (m Model) Bounded(samples []Sample) Model {
	var added, spoken, whole []Sample
	for _, s := range samples {
		switch {
		case s.Whole:
			whole = append(whole, s)
		case s.Content.Spoken > 0:
			spoken = append(spoken, s)
		default:
			added = append(added, s)
		}
	}
	m.New = m.bound(m.New, added, newMargin)
	m.Spoken = m.bound(m.Spoken, spoken, newMargin)
	m.Whole = m.bound(m.Whole, whole, wholeMargin)
	return m
}

// The margins widen bounds, for texts of one session are alike: sessions differ more than samples of them show. Without
// them the bounds held for 98.5 % of what was new in DeepSeek's sessions, left out each, and for 90 % of them whole.
const (
	newMargin   = 1.02
	wholeMargin = 1.1
)

// fit learns the weights. Samples that are far off hold what is not in their content, or less than that, and say
// nothing of it: so they are left out, in each of some rounds by the weights of the round before.
func (m *Model) fit(samples []Sample) {
	samples = slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Whole })
	if len(samples) < minScale {
		return
	}
	m.scale(samples)
	if len(samples) < minFit {
		return
	}
	prior := m.Weights.vector()
	for range rounds {
		var eq equations
		for _, s := range samples {
			y := float64(s.Tokens - s.Content.Counted)
			if e := m.uncounted(s.Content); y > 0 && e < y*farOff && y < e*farOff {
				eq.add(s.Content.vector(), y, 1/((y+small)*(y+small)))
			}
		}
		m.Weights = weightsOf(eq.solve(prior))
	}
}

const (
	rounds = 5
	farOff = 1.5 // times
	small  = 20  // tokens: below it an error counts by its size, not by its share
	pull   = 0.5 // of the weights of base, in samples that have nothing but one kind of piece
)

// scale multiplies the weights by the median of what the samples are above their estimates.
func (m *Model) scale(samples []Sample) {
	var shares []float64
	for _, s := range samples {
		if e := m.uncounted(s.Content); e >= small && s.Tokens > s.Content.Counted {
			shares = append(shares, float64(s.Tokens-s.Content.Counted)/e)
		}
	}
	if len(shares) < minScale {
		return
	}
	slices.Sort(shares)
	*m = m.times(shares[len(shares)/2])
}

// bound is, of the bounds that so many samples support, the one that is the least above their counts, on the mean of the
// logarithms. Where they support none it is that of the base.
func (m *Model) bound(base Bound, samples []Sample, margin float64) Bound {
	if len(samples) < minBound {
		return base
	}
	seen := make([]observed, len(samples))
	for i, s := range samples {
		seen[i] = observed{m.uncounted(s.Content), float64(s.Content.Counted), float64(s.Tokens)}
	}
	best, least := Bound{}, math.Inf(1)
	for plus := 0.0; plus <= maxPlus; plus += stepPlus {
		b, above := Bound{Factor: max(1, factor(seen, plus)), Plus: plus}, 0.0
		for _, o := range seen {
			above += math.Log(max(1, o.counted+b.most(o.estimate)) / max(1, o.tokens))
		}
		if above < least {
			best, least = b, above
		}
	}
	best.Factor *= margin
	return best
}

// observed is a sample, with the estimate of what of it is not counted.
type observed struct{ estimate, counted, tokens float64 }

// factor is what the estimates are to be multiplied by, when so much is added, to be above the counts that coverage
// asks for.
func factor(seen []observed, plus float64) float64 {
	factors := make([]float64, 0, len(seen))
	for _, o := range seen {
		if o.estimate > 0 {
			factors = append(factors, (o.tokens-o.counted-plus)/o.estimate)
		}
	}
	return quantile(factors, coverage)
}

// The bounds that are tried, in tokens.
const (
	maxPlus  = 400
	stepPlus = 4
)

// quantile is the least of some values that this share of them, and of one more, is not above; 1 for none.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 1
	}
	slices.Sort(values)
	at := int(math.Ceil(share*float64(len(values)+1))) - 1
	return values[min(max(at, 0), len(values)-1)]
}
