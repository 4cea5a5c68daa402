package replay

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"ambit/internal/pricing"
)

// outcomes is the table of what policies made of one file or several. Behind them comes a row for the requests as they were
// sent, where that is known.
func outcomes(list []Outcome, recorded *row) table {
	t := table{
		Groups: []group{{"", 2}, {"input", 3}, {"cost, USD", 4}, {"", 1}, {"quotes", 3}, {"names", 3}, {"pins", 1}},
		Columns: []column{
			{"policy", "policy", true},
			{"fits", "fits", true},
			{"tokens", "input_tokens", false},
			{"hit rate", "cache_hit_rate", false},
			{"reuse, est.", "prefix_reuse", false},
			{"input", "input_cost_usd", false},
			{"recalls", "recall_cost_usd", false},
			{"all", "cost_usd", false},
			{"saved", "", false},
			{"recalls", "recalls", false},
			{"visible", "evidence.quotes.visible", false},
			{"recalled", "evidence.quotes.recalled", false},
			{"needed", "evidence.quotes.needed", false},
			{"visible", "evidence.names.visible", false},
			{"recalled", "evidence.names.recalled", false},
			{"needed", "evidence.names.needed", false},
			{"kept", "pins.kept", false},
		},
	}
	best, floor := cheapest(list), floorOf(list)
	say := money(dearest(list))
	for i := range list {
		r := row{Cells: list[i].cells(floor, say)}
		if i == best {
			r.Class, r.Cells[0].Mark = "best", "cheapest that loses nothing"
		}
		t.Rows = append(t.Rows, r)
	}
	if recorded != nil {
		t.Rows = append(t.Rows, *recorded)
	}
	return t
}

// dearest is what the policy costs that costs most.
func dearest(list []Outcome) (most float64) {
	for i := range list {
		most = max(most, list[i].Cost)
	}
	return most
}

func (o *Outcome) cells(floor *Outcome, say func(float64) string) []cell {
	fits := cell{Text: "yes", Value: "true"}
	if !o.Fits {
		fits = cell{Text: "no", Value: "false"}
	}
	saved := cell{Text: "–"}
	if v, ok := o.saving(floor); ok {
		saved = number(v, percent)
	}
	q, n := o.Evidence.Quotes, o.Evidence.Names
	return []cell{
		{Text: o.Policy, Value: o.Policy},
		fits,
		integer(o.Input), number(o.HitRate, percent), number(o.Reuse, percent),
		number(o.InputCost, say), number(o.RecallCost, say), number(o.Cost, say), saved, integer(o.Recalls),
		integer(q.Visible), integer(q.Recalled), integer(q.Needed), integer(n.Visible), integer(n.Recalled), integer(n.Needed),
		{Text: whole(float64(o.Pins.Kept)) + " of " + whole(float64(o.Pins.Total)), Value: strconv.Itoa(o.Pins.Kept)},
	}
}

// recordedRow is what the provider charged for the turns that are compared; nil where it did not count them all.
func (r *Report) recordedRow() *row {
	if len(r.courses) == 0 {
		return nil
	}
	counted := r.counted()
	var sum pricing.Charge
	cost, n := 0.0, 0
	for _, turn := range sorted(r.compared(0)) {
		x, ok := counted[turn]
		if !ok {
			return nil
		}
		cost, sum, n = cost+x.cost, sum.Add(x.charge), n+1
	}
	if n == 0 {
		return nil
	}
	list := []cell{{Text: "as recorded", Mark: "these " + plural(n, "turn")}, {}, integer(sum.Total()), number(sum.HitRate(), percent), {}, number(cost, money(dearest(r.Policies)))}
	return &row{Class: "apart", Cells: append(list, make([]cell, 11)...)}
}

// sorted are the turns of which something is known, rising.
func sorted(at map[int]charged) (turns []int) {
	for n := range at {
		turns = append(turns, n)
	}
	slices.Sort(turns)
	return turns
}

// overview is the table of what was replayed.
func overview(reports []*Report) table {
	t := table{Columns: []column{
		{"file", "path", true},
		{"format", "format", true},
		{"turns", "turns", false},
		{"compared", "compared_turns", false},
		{"peak tokens", "peak_tokens", false},
		{"model", "", true},
		{"days", "", true},
		{"recorded input", "recorded.input_cost_usd", false},
		{"hit rate", "recorded.cache_hit_rate", false},
		{"breaks", "", false},
	}}
	most := 0.0
	for _, r := range reports {
		most = max(most, r.Recorded.InputCost)
	}
	for i, r := range reports {
		cost := number(r.Recorded.InputCost, money(most))
		if r.Recorded.Simulated {
			cost.Mark = "simulated"
		}
		t.Rows = append(t.Rows, row{ID: "f" + strconv.Itoa(i+1), Cells: []cell{
			{Text: r.Path, Value: r.Path},
			{Text: r.Format, Value: r.Format},
			integer(r.Turns), integer(r.Compared), integer(r.Peak),
			{Text: r.modelsOf()},
			{Text: days(r.between())},
			cost, number(r.Recorded.HitRate, percent), integer(len(r.Recorded.Breaks)),
		}})
	}
	return t
}

// countings is the table of how tokens were counted.
func countings(reports []*Report) table {
	t := table{Columns: []column{
		{"file", "", true},
		{"thread", "thread", true},
		{"turns", "turns", false},
		{"tokenizer", "tokenizer", true},
		{"scale", "scale", false},
		{"learned from requests", "learned_from_requests", false},
		{"head tokens", "head_tokens", false},
	}}
	for _, r := range reports {
		for _, c := range r.Counting {
			scale := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
			t.Rows = append(t.Rows, row{Cells: []cell{
				{Text: r.Path}, {Text: c.Thread}, integer(c.Turns), {Text: c.Model}, number(c.Scale, scale), integer(c.From), integer(c.Head),
			}})
		}
	}
	return t
}

// breaksOf is the table of a file's breaks. Its rows have the numbers that stand at the chart's marks.
func (r *Report) breaksOf(id string) table {
	t := table{Columns: []column{
		{"no.", "", false},
		{"turn", "turn", false},
		{"time, UTC", "time", true},
		{"cause", "cause", true},
		{"first element that differs", "first_element", true},
		{"at byte", "first_byte", false},
		{"idle", "idle_seconds", false},
		{"rewritten tokens", "rewritten_tokens", false},
		{"cost", "cost_usd", false},
	}}
	most := 0.0
	for _, b := range r.Recorded.Breaks {
		most = max(most, b.Cost)
	}
	for i, b := range r.Recorded.Breaks {
		at, first, place, idle := cell{Text: "–"}, cell{Text: "–"}, cell{Text: "–"}, cell{Text: "–"}
		if !b.At.IsZero() {
			at = cell{Text: b.At.UTC().Format("2006-01-02 15:04:05"), Value: b.At.Format(time.RFC3339Nano)}
		}
		if b.First != "" {
			first, place = cell{Text: b.First, Value: b.First}, integer(b.Byte)
		}
		if b.Idle > 0 {
			idle = number(float64(b.Idle), lasting)
		}
		t.Rows = append(t.Rows, row{ID: id + "-break-" + strconv.Itoa(i+1), Cells: []cell{
			{Text: strconv.Itoa(i + 1)},
			integer(b.Turn), at,
			{Text: string(b.Cause), Value: string(b.Cause)},
			first, place, idle, integer(b.Rewritten), number(b.Cost, money(most)),
		}})
	}
	return t
}

// lasting is a time in seconds as people say it.
func lasting(seconds float64) string {
	return (time.Duration(seconds) * time.Second).String()
}

// byCause is the table of what a file's breaks cost by cause, the dearest first.
func (r *Report) byCause() table {
	t := table{Columns: []column{{"cause", "", true}, {"breaks", "", false}, {"rewritten tokens", "", false}, {"cost", "", false}, {"of the input", "", false}}}
	type sum struct {
		cause         Cause
		breaks, again int
		cost          float64
	}
	var sums []sum
	for _, b := range r.Recorded.Breaks {
		i := slices.IndexFunc(sums, func(s sum) bool { return s.cause == b.Cause })
		if i < 0 {
			i, sums = len(sums), append(sums, sum{cause: b.Cause})
		}
		s := &sums[i]
		s.breaks, s.again, s.cost = s.breaks+1, s.again+b.Rewritten, s.cost+b.Cost
	}
	slices.SortStableFunc(sums, func(a, b sum) int { return cmp.Compare(b.cost, a.cost) })
	for _, s := range sums { // the first is the dearest
		of := cell{Text: "–"}
		if r.Recorded.InputCost > 0 {
			of = number(s.cost/r.Recorded.InputCost, percent)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: string(s.cause)}, integer(s.breaks), integer(s.again), number(s.cost, money(sums[0].cost)), of}})
	}
	return t
}

// table is what is drawn of series: a row for each run of turns from which points are taken, with the least and the
// greatest value of each curve in it.
func (s series) table(say func(float64) string) table {
	t := table{Columns: []column{{"turn", "", true}}}
	for _, c := range s.curves {
		t.Columns = append(t.Columns, column{c.name, "", false})
	}
	for _, run := range spans(len(s.turns)) {
		turns := strconv.Itoa(s.turns[run.from])
		if run.to > run.from+1 {
			turns += "–" + strconv.Itoa(s.turns[run.to-1])
		}
		r := row{Cells: cellsOf(turns)}
		for _, c := range s.curves {
			least, most, ok := run.extremes(c.values)
			text := ""
			if ok {
				text = say(c.values[least])
				if high := say(c.values[most]); high != text {
					text += " to " + high
				}
			}
			r.Cells = append(r.Cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// prices is the table of the prices that were taken, by model and time.
func prices(reports []*Report) table {
	t := table{
		Groups: []group{{"", 1}, {"USD per million tokens", 5}, {"cache", 3}, {"", 3}},
		Columns: []column{
			{"model", "", true},
			{"input", "", false},
			{"read", "", false},
			{"write", "", false},
			{"for an hour", "", false},
			{"output", "", false},
			{"rules", "", true},
			{"least prefix", "", false},
			{"kept for", "", true},
			{"window", "", false},
			{"since", "", true},
			{"source", "", true},
		},
	}
	type priced struct {
		name  string
		price pricing.Price
	}
	seen := make(map[priced]bool)
	for _, r := range reports {
		for _, step := range r.allSteps() {
			if p := (priced{step.Model, step.Price}); !seen[p] {
				seen[p] = true
				t.Rows = append(t.Rows, priceRow(step))
			}
		}
	}
	return t
}

// allSteps are those of a report's policies, as far as they are kept.
func (r *Report) allSteps() (list []*Step) {
	for _, courses := range r.courses {
		for _, c := range courses {
			for i := range c.steps {
				list = append(list, &c.steps[i])
			}
		}
	}
	return list
}

func priceRow(step *Step) row {
	m, _ := pricing.Lookup(step.Model, step.At)
	p, since, kept := step.Price, "–", "–"
	if !m.Since.IsZero() {
		since = m.Since.UTC().Format("2006-01-02")
	}
	if m.Rules.Life > 0 {
		kept = m.Rules.Life.String()
	}
	price := func(v float64) cell {
		return number(v, func(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) })
	}
	return row{Cells: []cell{
		{Text: step.Model},
		price(p.Input), price(p.Read), price(p.Write), price(p.WriteHour), price(p.Output),
		{Text: m.Rules.Family},
		integer(m.Rules.Min),
		{Text: kept},
		integer(m.Window),
		{Text: since},
		{Text: m.Source},
	}}
}
