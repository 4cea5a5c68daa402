package replay

import (
	"fmt"
	"strconv"
	"strings"
)

// section makes the part of the page that shows one file.
func (r *Report) section(id string) *section {
	s := &section{ID: id, Report: r, Brief: r.brief(), Notes: r.notes(), Table: outcomes(r.Policies, r.recordedRow()), Breaks: r.breaksOf(id), ByCause: r.byCause()}
	if len(r.courses) == 0 || len(r.sizings) == 0 || r.Compared == 0 {
		return s
	}
	s.Charts = []*chart{r.costChart(id), r.contentChart(id), r.hitChart(id)}
	return s
}

// brief is a line about a file, for who has not opened it.
func (r *Report) brief() string {
	parts := []string{r.Format, plural(r.Turns, "turn"), "recorded input " + usd(r.Recorded.InputCost), plural(len(r.Recorded.Breaks), "cache break")}
	if i := cheapest(r.Policies); i >= 0 {
		best := r.Policies[i].Policy + " is the cheapest that loses nothing"
		if saved, ok := r.Policies[i].saving(floorOf(r.Policies)); ok && r.Policies[i].Policy != floorName {
			best += ", " + percent(saved) + " saved"
		}
		parts = append(parts, best)
	}
	return strings.Join(parts, " · ")
}

// notes say how the figures of a file are to be read.
func (r *Report) notes() (list []string) {
	if len(r.Limited) > 0 {
		list = append(list, fmt.Sprintf("A later request of %s does not fit into the model's window, so all policies are compared on the first %d of %s.",
			strings.Join(r.Limited, ", "), r.Compared, plural(r.Turns, "turn")))
	}
	if r.Recorded.Simulated {
		list = append(list, "No request was counted by its provider: what the recorded ones cost is simulated.")
	}
	for i := range r.courses {
		if p := r.policy(i); p != nil && p.Budgetable {
			if text := p.sized(); text != "" {
				list = append(list, text)
			}
		}
	}
	for _, lack := range r.Lacks {
		list = append(list, "Of this recording: "+lack+".")
	}
	return list
}

// sized says which size a budget gave a policy; empty where it has its own.
func (p *Policy) sized() string {
	for _, q := range All() {
		if q.Name == p.Name && (q.Window != p.Window || q.Trigger != p.Trigger) {
			if p.Window > 0 {
				return fmt.Sprintf("The budget gives %s %s tokens.", p.Name, whole(float64(p.Window)))
			}
			return fmt.Sprintf("The budget gives %s %s tokens, of which %s are kept.", p.Name, whole(float64(p.Trigger)), whole(float64(p.Target)))
		}
	}
	return ""
}

func (r *Report) costChart(id string) *chart {
	s := r.costs()
	f := figure{
		ID: id + "-cost", Title: "Cost of input and recalls, cumulative",
		Desc: s.ends(usd), say: dollars,
	}
	var marks []mark
	for i, b := range r.Recorded.Breaks {
		marks = append(marks, mark{b.Turn, i + 1, fmt.Sprintf("break %d, turn %d: %s, %s", i+1, b.Turn, b.Cause, usd(b.Cost))})
	}
	note := "Answers cost the same under every policy and are left out."
	if len(marks) > 0 {
		note += " The flags are the recorded session's cache breaks, by their numbers in the table below."
	}
	return &chart{f, lineChart(s, f, marks), note, s.table(money(s.most()))}
}

// ends says where each curve ends.
func (s series) ends(say func(float64) string) string {
	var list []string
	for _, c := range s.curves {
		if at := thin(c.values); len(at) > 0 {
			i := at[len(at)-1]
			list = append(list, c.name+" ends at "+say(c.values[i])+" at turn "+strconv.Itoa(s.turns[i]))
		}
	}
	return strings.Join(list, "; ") + "."
}

func (r *Report) contentChart(id string) *chart {
	s := r.contents().thinned()
	f := figure{
		ID: id + "-content", Title: "Tokens of each request by class of content, append_only",
		Desc: s.ends(func(v float64) string { return whole(v) + " tokens" }), say: short,
	}
	note := "Head is tools, system text and what the client puts before the first message."
	if len(r.sizings) > 1 {
		note = "Of the largest of " + plural(len(r.sizings), "conversation") + ". " + note
	}
	return &chart{f, stackChart(s, f), note, s.table(whole)}
}

func (r *Report) hitChart(id string) *chart {
	s := r.hits()
	var rates []float64
	if s.curves[0].name == recordedName {
		rates = append(rates, r.Recorded.HitRate)
	}
	for _, o := range r.Policies {
		rates = append(rates, o.HitRate)
	}
	var list []string
	for i, c := range s.curves {
		list = append(list, c.name+" "+percent(rates[i]))
	}
	f := figure{
		ID: id + "-hits", Title: "Share of input read from the cache, by turn",
		Desc: "Over all turns: " + strings.Join(list, "; ") + ".", say: percent,
	}
	return &chart{f, stripChart(s, f, rates), "Each strip goes from 0 to 100 %. At the right is the share over all of its turns.", s.table(percent)}
}

// spending shows what each policy paid for, over all files; nil where that was not kept.
func spending(reports []*Report, totals []Outcome) *chart {
	f := figure{ID: "spent", Title: "What the money goes to", say: usd}
	bars, amount := spent(reports), money(dearest(totals))
	t := table{Columns: []column{{"policy", "", true}}}
	for _, kind := range kinds() {
		t.Columns = append(t.Columns, column{kind, "", false})
	}
	t.Columns = append(t.Columns, column{"all", "cost_usd", false})
	var names, ends []string
	all := 0.0
	for i, o := range totals {
		names = append(names, o.Policy)
		ends = append(ends, o.Policy+" "+usd(sumOf(bars[i])))
		r := row{Cells: cellsOf(o.Policy)}
		for _, p := range bars[i] {
			r.Cells = append(r.Cells, number(p.value, amount))
		}
		t.Rows = append(t.Rows, row{Cells: append(r.Cells, number(o.Cost, amount))})
		all += sumOf(bars[i])
	}
	if all == 0 {
		return nil
	}
	f.Desc = strings.Join(ends, "; ") + "."
	return &chart{f, barChart(names, bars, f), "", t}
}
