package replay

import (
	"math"
	"slices"

	"ambit/internal/pricing"
	"ambit/unit"
)

// series are the figures of one chart: a value of each curve at each request.
type series struct {
	turns  []int // numbers of the requests in their session, rising
	curves []curve
}

// curve is one of several. Where it has no value it is NaN.
type curve struct {
	name   string
	values []float64
}

// recordedName stands for the requests as they were sent, beside the policies.
const recordedName = "recorded"

// charged is what one request took, in USD and tokens.
type charged struct {
	cost   float64 // of input and recalls
	charge pricing.Charge
}

// compared are the steps of a policy that are compared, by the numbers of their requests.
func (r *Report) compared(policy int) map[int]charged {
	all := make(map[int]charged)
	for i, c := range r.courses[policy] {
		for j := range c.steps[:min(r.spans[i], len(c.steps))] {
			step := &c.steps[j]
			x := charged{step.Price.Of(step.Charge), step.Charge}
			for _, recall := range step.Recalls {
				x.cost += recall.Cost
			}
			all[step.N] = x
		}
	}
	return all
}

// counted are the recorded requests that the provider counted, by their numbers. Where it counted none they are simulated
// as a whole, and nothing is known of each.
func (r *Report) counted() map[int]charged {
	all := make(map[int]charged)
	if r.Recorded.Simulated {
		return all
	}
	for _, s := range r.sizings {
		clock := newClock(s.c)
		for i := range s.c.Turns {
			t := &s.c.Turns[i]
			at := clock.of(t)
			if t.Usage != nil && !unsent(t) {
				x := sent{t: t, model: s.model(t.Model, t.At), at: at}
				charge := x.counted()
				all[t.N] = charged{x.model.Price.Of(charge), charge}
			}
		}
	}
	return all
}

// byPolicy makes a curve of each policy and one of the recorded requests, which is left out where nothing is known.
func (r *Report) byPolicy(of func(turns []int, at map[int]charged) []float64) series {
	list := make([]map[int]charged, 0, len(r.courses)+1)
	var names []string
	if recorded := r.counted(); len(recorded) > 0 {
		names, list = append(names, recordedName), append(list, recorded)
	}
	for i := range r.courses {
		names, list = append(names, r.Policies[i].Policy), append(list, r.compared(i))
	}
	var s series
	for _, at := range list {
		for n := range at {
			s.turns = append(s.turns, n)
		}
	}
	slices.Sort(s.turns)
	s.turns = slices.Compact(s.turns)
	for i, at := range list {
		s.curves = append(s.curves, curve{names[i], of(s.turns, at)})
	}
	return s
}

// costs are what input and recalls cost up to each request, in USD. What answers cost is the same for all and is left out.
func (r *Report) costs() series {
	return r.byPolicy(func(turns []int, at map[int]charged) []float64 {
		values := none(len(turns))
		sum, left := 0.0, len(at)
		for i, n := range turns {
			if left == 0 {
				break
			}
			if x, ok := at[n]; ok {
				sum, left = sum+x.cost, left-1
			}
			values[i] = sum
		}
		return values
	})
}

// hits are how much of the input of each request was read from the cache, from 0 to 1.
func (r *Report) hits() series {
	return r.byPolicy(func(turns []int, at map[int]charged) []float64 {
		values := none(len(turns))
		for i, n := range turns {
			if x, ok := at[n]; ok {
				values[i] = x.charge.HitRate()
			}
		}
		return values
	})
}

// The classes of content, from the beginning of a request on.
const (
	ofHead = iota
	ofUser
	ofAssistant
	ofCalls
	ofResults
	classes
)

func classNames() [classes]string {
	return [classes]string{"head", "user", "assistant", "calls", "results"}
}

// contents are how many tokens each request of append_only has of each class, in the largest conversation, as far as that is
// compared.
func (r *Report) contents() series {
	var all series
	for _, name := range classNames() {
		all.curves = append(all.curves, curve{name: name})
	}
	if len(r.sizings) == 0 {
		return all
	}
	s, span := r.sizings[0], r.spans[0]
	sums := make(map[int][classes]int)
	for i := range s.c.Turns {
		if unsent(&s.c.Turns[i]) {
			continue
		}
		if len(all.turns) == span {
			break
		}
		all.turns = append(all.turns, s.c.Turns[i].N)
		sum := [classes]int{ofHead: s.sizes.Head}
		for _, m := range s.whole[i] {
			said, ok := sums[m]
			if !ok {
				said = s.classesOf(m)
				sums[m] = said
			}
			for class, n := range said {
				sum[class] += n
			}
		}
		for class, n := range sum {
			all.curves[class].values = append(all.curves[class].values, float64(n))
		}
	}
	return all
}

// classesOf are the tokens of a message by class.
func (s *sizing) classesOf(m int) (sum [classes]int) {
	sh := s.shapes.full(m)
	for i, p := range sh.unit.Parts {
		class := ofUser
		switch {
		case p.Kind == unit.Call:
			class = ofCalls
		case p.Kind == unit.Result:
			class = ofResults
		case sh.unit.Role == unit.Assistant:
			class = ofAssistant
		}
		sum[class] += sh.blocks[i].Tokens
	}
	return sum
}

// none are so many missing values.
func none(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.NaN()
	}
	return values
}

// spent is what each policy paid for, in USD, by policy over several reports, in the order of Totals.
func spent(reports []*Report) [][]piece {
	var all [][]piece
	for _, o := range Totals(reports) {
		var sum []piece
		for _, name := range kinds() {
			sum = append(sum, piece{name: name})
		}
		for _, r := range reports {
			for i := range r.courses {
				if r.Policies[i].Policy == o.Policy {
					r.spend(i, sum)
				}
			}
		}
		all = append(all, sum)
	}
	return all
}

// kinds are what tokens are paid as.
func kinds() [5]string { return [5]string{"read", "written", "fresh", "recalls", "answers"} }

// spend adds what a policy paid for, by kind, on the turns that are compared.
func (r *Report) spend(policy int, sum []piece) {
	for i, c := range r.courses[policy] {
		for j := range c.steps[:min(r.spans[i], len(c.steps))] {
			step := &c.steps[j]
			x, p := step.Charge, step.Price
			sum[0].value += p.Of(pricing.Charge{Read: x.Read})
			sum[1].value += p.Of(pricing.Charge{Write: x.Write, WriteHour: x.WriteHour})
			sum[2].value += p.Of(pricing.Charge{Fresh: x.Fresh})
			for _, recall := range step.Recalls {
				sum[3].value += recall.Cost
			}
			sum[4].value += p.OfOutput(step.Output)
		}
	}
}
