// Package replay says what a recorded session cost, why, and what it would have cost under another policy: the same turns
// at the same times, with the same gaps, in front of a simulated cache of its provider.
//
// No model is asked. What a policy leaves out is charged where the recorded agent needed it: its calls quote it, so it has
// to be got back. Pins are planted, to see which policies keep what a user said for good. A policy of which a request does
// not fit into the model's window says so, and all policies are compared on the turns that fit.
package replay

import (
	"slices"

	"ambit/internal/pricing"
)

// Options say what is replayed. The zero value takes all policies, with each request's own prices.
type Options struct {
	Policies []Policy
	Budget   Budget
	Keep     bool   // keep every request of every policy, for Dump
	Prices   string // the model whose prices and rules are taken for all requests; empty for each request's own
}

// Report is what came of one file. Its JSON is a contract: docs/format/cli-json.md.
type Report struct {
	Path     string     `json:"path"`
	Format   string     `json:"format"`
	Turns    int        `json:"turns"`          // requests that were answered
	Compared int        `json:"compared_turns"` // of these, those at which every policy's requests fit
	Limited  []string   `json:"limited_by"`     // the policies of which a later request does not fit
	Peak     int        `json:"peak_tokens"`    // the largest request of append_only that fits
	Policies []Outcome  `json:"policies"`
	Recorded Recorded   `json:"recorded"`
	Lacks    []string   `json:"lacks"` // what the recording does not tell, so that it is taken as said here
	Counting []Counting `json:"counting"`

	courses [][]course // by policy and conversation
	spans   []int      // turns compared, by conversation
	sizings []*sizing
}

// Counting is how the tokens of one conversation were counted.
type Counting struct {
	Thread string  `json:"thread"`
	Turns  int     `json:"turns"`
	Scale  float64 `json:"scale"`
	From   int     `json:"learned_from_requests"`
	Head   int     `json:"head_tokens"`
	Model  string  `json:"tokenizer"`
}

// Outcome is what one policy made of a file, on the turns that are compared.
type Outcome struct {
	Policy string `json:"policy"`
	Fits   bool   `json:"fits"` // every request of the file fits, not only those that are compared
	Sums
	FitTurns    int     `json:"fits_turns"`     // how many requests fit
	WholeCost   float64 `json:"whole_cost_usd"` // of these, with recalls and output
	HitRate     float64 `json:"cache_hit_rate"`
	Reuse       float64 `json:"prefix_reuse"`
	Generations int     `json:"generations"`
}

// Sums are what adds up over turns and files.
type Sums struct {
	Input      int     `json:"input_tokens"` // everything sent, read and written parts included
	Read       int     `json:"cache_read_tokens"`
	Write      int     `json:"cache_write_tokens"`
	Output     int     `json:"output_tokens"`
	InputCost  float64 `json:"input_cost_usd"`
	RecallCost float64 `json:"recall_cost_usd"`
	Cost       float64 `json:"cost_usd"` // of input, recalls and output
	Recalls    int     `json:"recalls"`
	Evidence   struct {
		Quotes Evidence `json:"quotes"`
		Names  Evidence `json:"names"`
	} `json:"evidence"`
	Pins struct {
		Total int `json:"total"`
		Kept  int `json:"kept"`
	} `json:"pins"`

	kept, before int // tokens, for Reuse
}

// Run replays a file.
func Run(f File, o Options) *Report {
	if len(o.Policies) == 0 {
		o.Policies = All()
	}
	r := &Report{Path: f.Path, Format: f.Format, Limited: []string{}, Lacks: append([]string{}, f.Lacks...)}
	for i, c := range f.Conversations {
		r.sizings = append(r.sizings, f.sizeUp(c, o.Prices, i == 0))
	}
	r.courses = make([][]course, len(o.Policies))
	repaired := 0
	for _, s := range r.sizings {
		needed := byTurn(s)
		floor := run(s, Comparison()[0], needed, nil, o.Keep)
		account := s.account(floor)
		peak := 0
		for _, step := range floor.steps {
			peak = max(peak, step.Charge.Total())
		}
		r.Peak = max(r.Peak, peak)
		span := len(floor.steps)
		for i, p := range o.Policies {
			c := floor
			if p.Name != floor.p.Name {
				c = run(s, p.within(o.Budget.of(peak)), needed, account, o.Keep)
			}
			r.courses[i] = append(r.courses[i], c)
			span = min(span, len(c.steps))
		}
		if !slices.ContainsFunc(o.Policies, func(p Policy) bool { return p.Name == floor.p.Name }) {
			span = len(r.courses[0][len(r.courses[0])-1].steps)
			for i := range o.Policies {
				span = min(span, len(r.courses[i][len(r.courses[i])-1].steps))
			}
		}
		r.spans = append(r.spans, span)
		r.Compared += span
		for i := range s.c.Turns {
			r.Turns += one(!unsent(&s.c.Turns[i]))
		}
		r.Counting = append(r.Counting, Counting{s.c.Thread, len(s.c.Turns), s.sizes.Scale, s.sizes.Learned, s.sizes.Head, string(s.sizes.Model.Name)})
		repaired += s.repaired
		r.Lacks = append(r.Lacks, s.lacks()...)
	}
	if repaired > 0 {
		r.Lacks = append(r.Lacks, plural(repaired, "unpaired part")+" of tool exchanges: calls without results are left out, results without calls are text")
	}
	for i, p := range o.Policies {
		r.add(p, r.courses[i])
	}
	r.Recorded = f.broken(f.simulate(r.sizings), r.inSpan())
	return r
}

// inSpan are the numbers of the requests that are compared.
func (r *Report) inSpan() map[int]bool {
	numbers := make(map[int]bool)
	for i, c := range r.courses[0] {
		for j := range c.steps[:r.spans[i]] {
			numbers[c.steps[j].N] = true
		}
	}
	return numbers
}

// byTurn are the needs of a conversation by turn.
func byTurn(s *sizing) [][]Need {
	list := make([][]Need, len(s.c.Turns))
	for _, n := range needs(s.c, s.units) {
		list[n.Turn] = append(list[n.Turn], n)
	}
	return list
}

// account is what append-only cost up to each turn, in USD, as the bank keeps it. Behind the turns that fit it goes on as
// it grew last.
func (s *sizing) account(floor course) []float64 {
	account := make([]float64, len(s.c.Turns))
	sum, step, more := 0.0, 0, 0.0
	for i := range s.c.Turns {
		if !unsent(&s.c.Turns[i]) {
			if step < len(floor.steps) {
				more = floor.steps[step].Price.Of(floor.steps[step].Charge)
				step++
			}
			sum += more
		}
		account[i] = sum
	}
	return account
}

// add sums up what a policy made of the turns that are compared.
func (r *Report) add(p Policy, list []course) {
	o := Outcome{Policy: p.Name, Fits: true, Generations: 1}
	for i, c := range list {
		o.Fits = o.Fits && c.fits
		for j := range c.steps[:r.spans[i]] {
			o.step(&c.steps[j])
		}
		o.FitTurns += len(c.steps)
		for j := range c.steps {
			o.WholeCost += c.steps[j].cost()
		}
		if r.spans[i] > 0 {
			o.Pins.Total, o.Pins.Kept = o.Pins.Total+len(r.sizings[i].pins), o.Pins.Kept+c.pins(r.spans[i])
		}
	}
	if !o.Fits {
		r.Limited = append(r.Limited, p.Name)
	}
	o.settle()
	r.Policies = append(r.Policies, o)
}

// cost is what a request cost, with its recalls and its answer, in USD.
func (s *Step) cost() float64 {
	sum := s.Price.Of(s.Charge) + s.Price.OfOutput(s.Output)
	for _, recall := range s.Recalls {
		sum += recall.Cost
	}
	return sum
}

func (o *Outcome) step(s *Step) {
	o.Input += s.Charge.Total()
	o.Read += s.Charge.Read
	o.Write += s.Charge.Written()
	o.Output += s.Output
	o.InputCost += s.Price.Of(s.Charge)
	o.Cost += s.Price.OfOutput(s.Output)
	o.Recalls += len(s.Recalls)
	for _, recall := range s.Recalls {
		o.RecallCost += recall.Cost
	}
	o.Evidence.Quotes = o.Evidence.Quotes.Add(s.Needs[0])
	o.Evidence.Names = o.Evidence.Names.Add(s.Needs[1])
	o.Generations += one(s.Anew)
	o.kept, o.before = o.kept+s.Kept, o.before+s.Before
}

// settle makes the figures that are no sums.
func (o *Outcome) settle() {
	o.Cost += o.InputCost + o.RecallCost
	o.HitRate = pricing.Charge{Fresh: o.Input - o.Read, Read: o.Read}.HitRate()
	if o.before > 0 {
		o.Reuse = float64(o.kept) / float64(o.before)
	}
}

// pins is how many pins every request held once they were planted, over the turns that are compared. Those that were
// planted later count as kept: nothing has lost them.
func (c *course) pins(span int) int {
	kept := len(c.s.pins)
	for i := range c.steps[:span] {
		kept = min(kept, len(c.s.pins)-(c.steps[i].Pins-c.steps[i].Held))
	}
	return kept
}

// Totals are the sums of several reports, by policy, in the order of the first.
func Totals(reports []*Report) []Outcome {
	totals := []Outcome{}
	for _, r := range reports {
		for _, o := range r.Policies {
			i := slices.IndexFunc(totals, func(t Outcome) bool { return t.Policy == o.Policy })
			if i < 0 {
				i = len(totals)
				totals = append(totals, Outcome{Policy: o.Policy, Fits: true})
			}
			totals[i].merge(o)
		}
	}
	for i := range totals {
		totals[i].Cost -= totals[i].InputCost + totals[i].RecallCost
		totals[i].settle()
	}
	return totals
}

func (o *Outcome) merge(p Outcome) {
	o.Fits = o.Fits && p.Fits
	o.Input, o.Read, o.Write, o.Output = o.Input+p.Input, o.Read+p.Read, o.Write+p.Write, o.Output+p.Output
	o.InputCost, o.RecallCost, o.Cost = o.InputCost+p.InputCost, o.RecallCost+p.RecallCost, o.Cost+p.Cost
	o.Recalls, o.Generations = o.Recalls+p.Recalls, o.Generations+p.Generations
	o.FitTurns, o.WholeCost = o.FitTurns+p.FitTurns, o.WholeCost+p.WholeCost
	o.Evidence.Quotes, o.Evidence.Names = o.Evidence.Quotes.Add(p.Evidence.Quotes), o.Evidence.Names.Add(p.Evidence.Names)
	o.Pins.Total, o.Pins.Kept = o.Pins.Total+p.Pins.Total, o.Pins.Kept+p.Pins.Kept
	o.kept, o.before = o.kept+p.kept, o.before+p.before
}

// Shrink gives up what only Dump needs, and unless they are kept also what charts are drawn from.
func (r *Report) Shrink(keep bool) {
	for i := range r.courses {
		for j := range r.courses[i] {
			for k := range r.courses[i][j].steps {
				step := &r.courses[i][j].steps[k]
				step.shapes, step.blocks, step.marks = nil, nil, nil
			}
		}
	}
	if !keep {
		r.courses, r.sizings = nil, nil
	}
}
