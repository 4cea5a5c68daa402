package transcript_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"ambit/internal/token"
	"ambit/internal/transcript"
)

// families of the recordings, each with the sources that hold all that was sent: their bounds are the family's. Others
// leave out what the client sends beside, such as reminders, or do not say what a sub-agent's report was.
var families = map[token.Family]map[string]bool{
	token.Claude:   {"pi-session": true, "anthropic-requests": true},
	token.OpenAI:   {"codex-rollout": true},
	token.DeepSeek: {"mini-swe-agent": true},
}

// learned is the model that differences give a family, those of one session left out: weights by all, bounds by those of
// some sources. Which answers broke off is seen with the weights of a first round.
func learned(f token.Family, all []counted, sources map[string]bool, without string) token.Model {
	samples := func(m token.Model, sources map[string]bool) (list []token.Sample) {
		for _, c := range all {
			if c.session != without && token.FamilyOf(c.model) == f && (sources == nil || sources[c.source]) {
				list = append(list, c.sample(m))
			}
		}
		return list
	}
	first := token.Calibrate(token.Base(), samples(token.Base(), nil))
	m := token.Calibrate(token.Base(), samples(first, nil)).Bounded(samples(first, sources))
	m.Name = string(f)
	return m
}

// measured is how estimates compare with the counts of one source, as shares of these.
type measured struct {
	est, most          []float64 // of what is new in a request
	total              []float64 // of the request, at most
	over               int       // of which the answer before alone is wider than the bar, as its reasoning was left out
	wholeEst, wholeMax []float64 // of conversations of which nothing was counted
}

func (m *measured) add(model token.Model, c counted) {
	s := c.sample(model)
	n := float64(max(1, s.Tokens)) // less, where the provider left out reasoning
	if c.whole {
		e := model.Unanchored(s.Content)
		m.wholeEst, m.wholeMax = append(m.wholeEst, float64(e.EstTokens)/n), append(m.wholeMax, float64(e.Most)/n)
		return
	}
	if float64(s.Content.Counted) > wide*n {
		m.over++
	}
	e := model.Anchored(c.last, s.Content)
	m.est, m.most = append(m.est, float64(e.EstTokens-c.last)/n), append(m.most, float64(e.Most-c.last)/n)
	m.total = append(m.total, float64(e.Most)/float64(c.last+s.Tokens))
}

// quantileOf is the value below which a share of some values are.
func quantileOf(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// within is the share of the values in a range.
func within(values []float64, from, to float64) float64 {
	n := 0
	for _, x := range values {
		if from <= x && x <= to {
			n++
		}
	}
	return float64(n) / float64(max(1, len(values)))
}

const (
	most = 1e9
	wide = 1.25
)

// measure compares the counts of each source with what the other sessions give: weights by all of the family, bounds by
// the same source, and for a source that leaves something out also by those that leave out nothing.
func measure(all []counted) map[string]*measured {
	found, models := make(map[string]*measured), make(map[string]token.Model)
	add := func(name string, f token.Family, c counted, sources map[string]bool) {
		key := name + c.session
		if _, ok := models[key]; !ok {
			models[key] = learned(f, all, sources, c.session)
		}
		if found[name] == nil {
			found[name] = new(measured)
		}
		found[name].add(models[key], c)
	}
	for _, c := range all {
		f := token.FamilyOf(c.model)
		if families[f] == nil {
			continue
		}
		name := fmt.Sprintf("%s %s", f, c.source)
		add(name, f, c, families[f])
		if !families[f][c.source] && c.source != transcript.OpenAI { // of which there are too few for bounds of their own
			add(name+", own bounds", f, c, map[string]bool{c.source: true})
		}
	}
	return found
}

// TestTokens measures each session by what the others taught. Of the sources that hold all that was sent, bounds hold
// for 99 % and are narrow in total. What is new is not within 25 % of its bound for 99 %, but for 83 to 94 %: texts of
// one kind differ that much, and reasoning that is left out of the next request is too much in any estimate. The table of the package is what the
// recordings give.
// covers: B-04
func TestTokens(t *testing.T) {
	all := allCounted(t)
	t.Run("bars", func(t *testing.T) { bars(t, measure(all)) })
	t.Run("defaults", func(t *testing.T) { defaults(t, all) })
}

func bars(t *testing.T, found map[string]*measured) {
	var pooled []float64
	for _, name := range slices.Sorted(maps.Keys(found)) {
		m := found[name]
		holds, narrow, total := within(m.most, 1, most), within(m.most, 1, wide), quantileOf(m.total, .5)
		wholeHolds, whole := within(m.wholeMax, 1, most), quantileOf(m.wholeMax, .5)
		t.Logf("%-38s %4d new: estimate %.2f %.2f %.2f (5, 50, 95 %%), bound holds %.1f %%, within 25 %% %.1f %%, cannot be %.1f %%, total %.3f", name, len(m.most),
			quantileOf(m.est, .05), quantileOf(m.est, .5), quantileOf(m.est, .95), 100*holds, 100*narrow, 100*float64(m.over)/float64(max(1, len(m.most))), total)
		t.Logf("%-38s %4d whole: estimate %.2f %.2f %.2f, bound holds %.1f %%, %.2f at the median", "", len(m.wholeMax),
			quantileOf(m.wholeEst, .05), quantileOf(m.wholeEst, .5), quantileOf(m.wholeEst, .95), 100*wholeHolds, whole)
		if len(m.most) < 100 || strings.HasSuffix(name, "own bounds") {
			continue
		}
		if total > 1.03 {
			t.Errorf("%s: at the median a request is at most %.3f of its count", name, total)
		}
		b, asserted := least[name]
		if !asserted {
			continue
		}
		pooled = append(pooled, m.most...)
		if holds < b.holds || narrow < b.narrow {
			t.Errorf("%s: bounds of what is new hold for %.3f and are narrow for %.3f, want %+v", name, holds, narrow, b)
		}
		if wholeHolds < .99 || whole > 1.4 {
			t.Errorf("%s: bounds of whole requests hold for %.3f and are %.2f at the median", name, wholeHolds, whole)
		}
	}
	if holds := within(pooled, 1, most); holds < .99 {
		t.Errorf("bounds of what is new hold for %.4f", holds)
	}
}

// least are the shares that were measured, by family and source, and a little less.
var least = map[string]struct{ holds, narrow float64 }{
	"claude pi-session": {.988, .82}, "openai codex-rollout": {.99, .88}, "deepseek mini-swe-agent": {.985, .93},
}

// defaults compares the table of the package with what the recordings give, and prints that.
func defaults(t *testing.T, all []counted) {
	for _, f := range slices.Sorted(maps.Keys(families)) {
		m := learned(f, all, families[f], "")
		t.Logf("%s: %.3f %.1f %.1f %.1f %.2f %.2f %.2f", f, m.Weights.Text, m.Weights.Message, m.Weights.Call, m.Weights.Result, m.New, m.Spoken, m.Whole)
		if diff := differs(token.Default(f), m); diff != "" {
			t.Errorf("%s: the table is not what the recordings give: %s", f, diff)
		}
	}
}

// differs says where two models differ by more than the digits in which they are written.
func differs(x, y token.Model) string {
	pairs := [][3]float64{
		{x.Weights.Message, y.Weights.Message, .06},
		{x.Weights.Call, y.Weights.Call, .06},
		{x.Weights.Result, y.Weights.Result, .06},
		{x.New.Factor, y.New.Factor, .006},
		{x.Spoken.Factor, y.Spoken.Factor, .006},
		{x.Whole.Factor, y.Whole.Factor, .006},
		{x.New.Plus, y.New.Plus, .1},
		{x.Spoken.Plus, y.Spoken.Plus, .1},
		{x.Whole.Plus, y.Whole.Plus, .1},
	}
	for i, w := range x.Weights.Text {
		pairs = append(pairs, [3]float64{w, y.Weights.Text[i], .0006})
	}
	for _, p := range pairs {
		if math.Abs(p[0]-p[1]) > p[2] {
			return fmt.Sprintf("%v, want %v", p[0], p[1])
		}
	}
	return ""
}
