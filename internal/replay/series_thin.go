package replay

import "math"

// maxPoints is how many points one curve is drawn with at most. More than so many lie closer together than a screen shows.
const maxPoints = 300

// run of turns: those from an index up to another one.
type span struct{ from, to int }

// spans parts n turns into runs, of one turn each if there are no more than maxPoints, else of as many as it takes for two
// points of each.
func spans(n int) []span {
	size := 1
	if n > maxPoints {
		size = (2*n + maxPoints - 1) / maxPoints
	}
	var list []span
	for from := 0; from < n; from += size {
		list = append(list, span{from, min(from+size, n)})
	}
	return list
}

// extremes are where values are least and greatest in a run; not ok where there is none.
func (s span) extremes(values []float64) (least, most int, ok bool) {
	for i := s.from; i < s.to; i++ {
		switch v := values[i]; {
		case math.IsNaN(v):
		case !ok:
			least, most, ok = i, i, true
		case v < values[least]:
			least = i
		case v > values[most]:
			most = i
		}
	}
	return least, most, ok
}

// thin picks the indices at which a curve is drawn: in each run those of the least and the greatest value, so that no
// extreme is lost.
func thin(values []float64) (at []int) {
	for _, s := range spans(len(values)) {
		least, most, ok := s.extremes(values)
		if !ok {
			continue
		}
		at = append(at, min(least, most))
		if least != most {
			at = append(at, max(least, most))
		}
	}
	return at
}

// thinned keeps of series that are stacked the turns at which their sum is drawn.
func (s series) thinned() series {
	var t series
	at := thin(s.sums())
	for _, i := range at {
		t.turns = append(t.turns, s.turns[i])
	}
	for _, c := range s.curves {
		few := curve{name: c.name}
		for _, i := range at {
			few.values = append(few.values, c.values[i])
		}
		t.curves = append(t.curves, few)
	}
	return t
}

// sums are those of all curves at each turn.
func (s series) sums() []float64 {
	sum := make([]float64, len(s.turns))
	for _, c := range s.curves {
		for i, v := range c.values {
			sum[i] += v
		}
	}
	return sum
}

// most is the greatest value of all curves, at least 0.
func (s series) most() (most float64) {
	for _, c := range s.curves {
		for _, v := range c.values {
			if v > most { // NaN is not
				most = v
			}
		}
	}
	return most
}
