package replay

import (
	"bytes"
	"cmp"
	_ "embed" // the template and its style
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

//go:embed report/page.html
var pageText string

//go:embed report/style.css
var pageStyle string

// HTMLOptions say what a report does not know of itself. What is zero is left out.
type HTMLOptions struct {
	Command string    // by which the report can be made again
	Now     time.Time // when it is made
}

// WriteHTML writes reports as one HTML file that needs nothing else: no network, no script. Whatever comes from a
// recording is text in it. A report that was shrunk has no charts, unless they were kept. The same reports and options give
// the same bytes; the error is the writer's.
func WriteHTML(w io.Writer, reports []*Report, o HTMLOptions) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse the report's template: %w", err)
	}
	var page bytes.Buffer
	if err := t.Execute(&page, pageOf(reports, o)); err != nil {
		return err
	}
	_, err = w.Write(bytes.Map(visible, page.Bytes()))
	return err
}

// visible replaces control characters, which are no text in a page, and act where one is printed on a terminal.
func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return utf8.RuneError
	}
	return r
}

// page is what the template shows.
type page struct {
	Style    template.CSS
	Command  string
	Made     string
	Keys     []key
	Overview table
	Totals   table
	Spent    *chart
	Lacks    []lacking
	Counting table
	Files    []*section
	Prices   table
	Policies []explained
	Causes   []explained
}

// key is one of the figures at the top.
type key struct{ Name, Value, Note string }

// lacking is what recordings do not tell, and of which of them that is said.
type lacking struct {
	What  string
	Paths []string
}

// explained is a name with what it stands for.
type explained struct{ Name, Text, Source string }

// chart is a picture, and a table with the figures that are drawn in it.
type chart struct {
	figure
	Picture template.HTML
	Note    string
	Figures table
}

// section is one file.
type section struct {
	ID      string
	Report  *Report
	Open    bool
	Brief   string
	Notes   []string
	Table   table
	Charts  []*chart
	Breaks  table
	ByCause table
}

func pageOf(reports []*Report, o HTMLOptions) *page {
	p := &page{Style: template.CSS(pageStyle), Command: o.Command}
	if !o.Now.IsZero() {
		p.Made = o.Now.UTC().Format("2006-01-02 15:04 UTC")
	}
	totals := Totals(reports)
	p.Keys = keysOf(reports, totals)
	p.Overview, p.Counting = overview(reports), countings(reports)
	p.Totals = outcomes(totals, nil)
	p.Spent = spending(reports, totals)
	p.Lacks = lacks(reports)
	open := -1
	for i, r := range reports {
		p.Files = append(p.Files, r.section(fmt.Sprintf("f%d", i+1)))
		if open < 0 || r.Turns > reports[open].Turns {
			open = i
		}
	}
	if open >= 0 {
		p.Files[open].Open = true
	}
	p.Prices = prices(reports)
	p.Policies, p.Causes = policies(reports), causes(reports)
	return p
}

// lacks gathers what recordings do not tell: of each of these, which they are.
func lacks(reports []*Report) (list []lacking) {
	for _, r := range reports {
		for _, what := range r.Lacks {
			i := slices.IndexFunc(list, func(l lacking) bool { return l.What == what })
			if i < 0 {
				i, list = len(list), append(list, lacking{What: what})
			}
			list[i].Paths = append(list[i].Paths, r.Path)
		}
	}
	return list
}

// cheapest is the policy that costs least of those that lose nothing; -1 where every policy loses something.
func cheapest(list []Outcome) int {
	best := -1
	for i := range list {
		if list[i].harmless() && (best < 0 || list[i].Cost < list[best].Cost) {
			best = i
		}
	}
	return best
}

// harmless reports whether a policy loses nothing: it fits, it kept every pin, and all that was needed was visible or got
// back.
func (o *Outcome) harmless() bool {
	whole := func(e Evidence) bool { return e.Visible+e.Recalled == e.Needed }
	return o.Fits && o.Pins.Kept == o.Pins.Total && whole(o.Evidence.Quotes) && whole(o.Evidence.Names)
}

// floorOf is append_only among outcomes, nil where it was not chosen.
func floorOf(list []Outcome) *Outcome {
	i := slices.IndexFunc(list, func(o Outcome) bool { return o.Policy == floorName })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// floorName is the policy that others are compared with.
const floorName = "append_only"

// saving is how much less a policy cost than append_only, from 0 to 1; not ok where that is not known.
func (o *Outcome) saving(floor *Outcome) (share float64, ok bool) {
	if floor == nil || floor.Cost <= 0 {
		return 0, false
	}
	return (floor.Cost - o.Cost) / floor.Cost, true
}

// keysOf are the figures at the top.
func keysOf(reports []*Report, totals []Outcome) []key {
	recorded, input, lost, breaks, compared, simulated := 0.0, 0.0, 0.0, 0, 0, false
	for _, r := range reports {
		recorded += r.Recorded.Compared
		input += r.Recorded.InputCost
		compared += r.Compared
		simulated = simulated || r.Recorded.Simulated
		for _, b := range r.Recorded.Breaks {
			lost += b.Cost
		}
		breaks += len(r.Recorded.Breaks)
	}
	note := several(compared, "turn") + " compared, answers included"
	if simulated {
		note += ", in part simulated"
	}
	list := []key{{"as recorded", usd(recorded), note}}
	list = append(list, key{"lost to cache breaks", usd(lost), several(breaks, "break") + share(lost, input)})
	floor := floorOf(totals)
	if floor != nil {
		list = append(list, key{floorName, usd(floor.Cost), several(compared, "turn") + " compared, answers included"})
	}
	k := key{"cheapest that loses nothing", "none", "every policy loses something, or does not fit"}
	if i := cheapest(totals); i >= 0 {
		k.Value, k.Note = usd(totals[i].Cost), totals[i].Policy
		if saved, ok := totals[i].saving(floor); ok && totals[i].Policy != floorName {
			k.Note += ", " + percent(saved) + " less than " + floorName
		}
	}
	return append(list, k)
}

// share says how much of a sum a part of it is.
func share(part, whole float64) string {
	if whole <= 0 {
		return ""
	}
	return ", " + percent(part/whole) + " of all recorded input"
}

// policies are those that were replayed, each with what it does.
func policies(reports []*Report) (list []explained) {
	for _, r := range reports {
		for i, o := range r.Policies {
			if slices.ContainsFunc(list, func(e explained) bool { return e.Name == o.Policy }) {
				continue
			}
			e := explained{Name: o.Policy}
			if p := r.policy(i); p != nil {
				e.Text, e.Source = p.Explain, p.Source
			}
			list = append(list, e)
		}
	}
	return list
}

// policy is the one of an outcome, nil where it is not known.
func (r *Report) policy(i int) *Policy {
	if i < len(r.courses) && len(r.courses[i]) > 0 {
		return &r.courses[i][0].p
	}
	for _, p := range All() {
		if p.Name == r.Policies[i].Policy {
			return &p
		}
	}
	return nil
}

// causes are those of the breaks that are shown, each with what it means.
func causes(reports []*Report) (list []explained) {
	found := make(map[Cause]bool)
	for _, r := range reports {
		for _, b := range r.Recorded.Breaks {
			found[b.Cause] = true
		}
	}
	for _, c := range Causes() {
		if found[c] {
			list = append(list, explained{Name: string(c), Text: c.means()})
		}
	}
	return list
}

// means says a cause in words.
func (c Cause) means() string {
	switch c {
	case ModelSwitch:
		return "another model was asked, and each has a cache of its own"
	case Compaction:
		return "the client put something shorter in the place of most messages"
	case ClientPrune:
		return "the client took results out"
	case Idle:
		return "longer since the last request than the cache keeps what is not used"
	case Resume:
		return "the client was started anew, and made its prompt anew"
	case ChangedEffort:
		return "how hard the model is to think was changed, which is part of what has to match"
	case Rewind:
		return "back to where the conversation was shorter"
	case ChangedPrefix:
		return "something that was sent before was sent no more, or otherwise"
	}
	return "the provider's count says that something was lost; bytes and times do not show why"
}

// days says from when to when, in UTC.
func days(from, to time.Time) string {
	if from.IsZero() {
		return "–"
	}
	const day = "2006-01-02"
	if a, b := from.UTC().Format(day), to.UTC().Format(day); a != b {
		return a + " to " + b
	}
	return from.UTC().Format(day)
}

// modelsOf are the models of a report's requests, the most used first, by the names that the recording has for them.
func (r *Report) modelsOf() string {
	count := make(map[string]int)
	var names []string
	for _, s := range r.sizings {
		for i := range s.c.Turns {
			if name := s.c.Turns[i].Model; name != "" {
				if count[name] == 0 {
					names = append(names, name)
				}
				count[name]++
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return "–"
	}
	return strings.Join(names, ", ")
}

// between are the times of the first and the last request; zero where none is known.
func (r *Report) between() (from, to time.Time) {
	for _, s := range r.sizings {
		for i := range s.c.Turns {
			at := s.c.Turns[i].At
			if at.IsZero() {
				continue
			}
			if from.IsZero() || at.Before(from) {
				from = at
			}
			if at.After(to) {
				to = at
			}
		}
	}
	return from, to
}
