package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ambit/entry"
)

// Report is what sessions came to.
type Report struct {
	Lengths  []int // turns of each session
	Attempts int
	Steps    int
	Crashes  map[string]int // by what was lost
	Restarts int
	Rebuilds int
	Faults   map[Fault]int
	Kinds    map[entry.Kind]int
	Laws     map[Law]int    // how often each was looked at
	Events   map[string]int // what else happened, such as inputs, switches and cancellations
	Breach   error          `json:"-"`
}

func newReport() *Report {
	return &Report{
		Crashes: map[string]int{}, Faults: map[Fault]int{}, Kinds: map[entry.Kind]int{}, Laws: map[Law]int{}, Events: map[string]int{},
	}
}

// Add adds what other sessions came to.
func (r *Report) Add(other *Report) {
	r.Lengths = append(r.Lengths, other.Lengths...)
	r.Attempts, r.Steps = r.Attempts+other.Attempts, r.Steps+other.Steps
	r.Restarts, r.Rebuilds = r.Restarts+other.Restarts, r.Rebuilds+other.Rebuilds
	sum(&r.Crashes, other.Crashes)
	sum(&r.Faults, other.Faults)
	sum(&r.Kinds, other.Kinds)
	sum(&r.Laws, other.Laws)
	sum(&r.Events, other.Events)
	r.Breach = errors.Join(r.Breach, other.Breach)
}

func sum[K comparable](to *map[K]int, from map[K]int) {
	if *to == nil {
		*to = map[K]int{}
	}
	for k, n := range from {
		(*to)[k] += n
	}
}

// Turns is how many there were.
func (r *Report) Turns() (n int) {
	for _, turns := range r.Lengths {
		n += turns
	}
	return n
}

// Median is the median number of a session's turns.
func (r *Report) Median() int {
	if len(r.Lengths) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.Lengths))
	return sorted[len(sorted)/2]
}

// String is all of it, on a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d turns, %d sessions, median %d turns, %d attempts, %d steps, %d restarts, %d rebuilds",
		r.Turns(), len(r.Lengths), r.Median(), r.Attempts, r.Steps, r.Restarts, r.Rebuilds)
	fmt.Fprintf(&b, "\ncrashes: %s\nfaults: %s\nentries: %s\nlaws: %s\nevents: %s",
		list(r.Crashes), list(r.Faults), list(r.Kinds), list(r.Laws), list(r.Events))
	return b.String()
}

// Lacks are what a long run of some parts did not meet with often enough: sessions of sixty turns, each fault a hundred times, and
// each kind of entry that a part can make.
func Lacks(parts []string, reports []*Report) (list []string) {
	for i, r := range reports {
		if r.Median() < 60 {
			list = append(list, fmt.Sprintf("the median session of the %s has %d turns", parts[i], r.Median()))
		}
		for _, k := range kinds(parts[i]) {
			if r.Kinds[k] == 0 {
				list = append(list, fmt.Sprintf("no entry of the %s is a %s", parts[i], k))
			}
		}
	}
	for _, f := range faults() {
		n := 0
		for _, r := range reports {
			n += r.Faults[f]
		}
		if n < 100 {
			list = append(list, fmt.Sprintf("the fault %q came %d times", f, n))
		}
	}
	return list
}

// kinds are the entries that a part can make.
func kinds(part string) []entry.Kind {
	if part == "proxy" {
		return []entry.Kind{
			entry.KindSession, entry.KindRequest, entry.KindResponse, entry.KindRelation, entry.KindUnit, entry.KindGap, entry.KindDecision, entry.KindEdit,
			entry.KindSent, entry.KindPin, entry.KindNote,
		}
	}
	return []entry.Kind{
		entry.KindSession, entry.KindWorks, entry.KindInput, entry.KindPromoted, entry.KindTold, entry.KindRequest, entry.KindRelation, entry.KindUnit,
		entry.KindResponse, entry.KindCall, entry.KindResult, entry.KindIdle,
	}
}

// Tables are what docs/reliability.md says of a run: one for each part's figures, and one for each thing that is counted.
func Tables(parts []string, reports []*Report, first uint64) string {
	var b strings.Builder
	row := func(name string, value func(r *Report) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, r := range reports {
			fmt.Fprintf(&b, " %s |", value(r))
		}
		b.WriteByte('\n')
	}
	head := func(name string) {
		fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", name, strings.Join(parts, " | "), strings.Repeat("--:|", len(parts)))
	}
	head("of the")
	row("turns", func(r *Report) string { return grouped(r.Turns()) })
	row("sessions", func(r *Report) string { return grouped(len(r.Lengths)) })
	row("seeds", func(r *Report) string { return fmt.Sprintf("%d to %d", first, first+uint64(len(r.Lengths))-1) })
	row("turns of the median session", func(r *Report) string { return grouped(r.Median()) })
	row("attempts", func(r *Report) string { return grouped(r.Attempts) })
	row("steps", func(r *Report) string { return grouped(r.Steps) })
	row("restarts", func(r *Report) string { return grouped(r.Restarts) })
	row("rebuilds of everything", func(r *Report) string { return grouped(r.Rebuilds) })
	row("laws broken", func(r *Report) string {
		if r.Breach != nil {
			return "yes"
		}
		return "none"
	})
	for _, of := range []struct {
		name   string
		counts func(r *Report) map[string]int
	}{
		{"law, and how often it was looked at", func(r *Report) map[string]int { return plain(r.Laws) }},
		{"fault", func(r *Report) map[string]int { return plain(r.Faults) }},
		{"crash, by what became of what was pending", func(r *Report) map[string]int { return r.Crashes }},
		{"entry", func(r *Report) map[string]int { return plain(r.Kinds) }},
		{"event", func(r *Report) map[string]int { return r.Events }},
	} {
		names := map[string]bool{}
		for _, r := range reports {
			for name := range of.counts(r) {
				names[name] = true
			}
		}
		b.WriteByte('\n')
		head(of.name)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			row(name, func(r *Report) string { return grouped(of.counts(r)[name]) })
		}
	}
	return b.String()
}

// plain are counts by names.
func plain[K ~string](of map[K]int) map[string]int {
	counts := map[string]int{}
	for k, n := range of {
		counts[string(k)] = n
	}
	return counts
}

// grouped is a number in groups of three digits; – for none.
func grouped(n int) string {
	if n == 0 {
		return "–"
	}
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func list[K ~string](m map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}
