package replay

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pricing"
	"ambit/unit"
)

// madeUp is a report with so many turns, whose figures are all written here, so that nothing else changes what is expected.
func madeUp(path string, turns int, policies ...string) *Report {
	begun := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	price := pricing.Price{Input: 3, Output: 15, Read: 0.3, Write: 3.75, WriteHour: 6}
	c := &conversation.Conversation{Thread: path}
	s := &sizing{c: c, sizes: Sizes{Head: 5000}, shapes: &shapes{}}
	r := &Report{
		Path: path, Format: "claude-code", Turns: turns, Compared: turns, Limited: []string{}, Lacks: []string{"no times: gaps are taken"},
		Counting: []Counting{{path, turns, 1.25, turns, 5000, "claude"}}, spans: []int{turns}, sizings: []*sizing{s},
		Recorded: Recorded{Breaks: []Break{}}, courses: make([][]course, len(policies)),
	}
	steps := make([][]Step, len(policies))
	for i := range turns {
		at := begun.Add(time.Duration(i) * time.Minute)
		call, result := 300+i%7, 900+100*(i%5)
		for _, u := range []unit.Unit{
			{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text}, {Kind: unit.Result}}},
			{Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Text}, {Kind: unit.Call}}},
		} {
			blocks := []pricing.Block{{Tokens: 20}, {Tokens: result}}
			if u.Role == unit.Assistant {
				blocks = []pricing.Block{{Tokens: 80}, {Tokens: call}}
			}
			s.shapes.whole = append(s.shapes.whole, &shape{unit: u, blocks: blocks, tokens: tokensOf(blocks)})
		}
		held := make([]int, 0, 2*i+1)
		for m := range 2*i + 1 {
			held = append(held, m)
		}
		size := s.sizes.Head
		for _, m := range held {
			size += s.shapes.whole[m].tokens
		}
		s.whole = append(s.whole, held)
		usage := entry.Usage{Input: int64(size), CacheRead: int64(size - size/(5+i%4))}
		usage.CacheWrite = usage.Input - usage.CacheRead
		if i == turns/2 {
			usage.CacheRead, usage.CacheWrite = 0, usage.Input
			r.Recorded.Breaks = append(r.Recorded.Breaks, Break{
				Turn: 10 + i, Thread: path, At: at, Cause: Idle, Rewritten: size, Cost: float64(size) * 3.45e-6, Idle: 421, First: path, Byte: 17,
			})
		}
		c.Turns = append(c.Turns, conversation.Turn{N: 10 + i, At: at, Model: "claude-sonnet-4-5", Answer: 2*i + 1, End: entry.EndComplete, Usage: &usage})
		for j := range policies {
			less := size / (j + 1)
			step := Step{N: 10 + i, At: at, Model: "claude-sonnet-4-5", Price: price, Output: 120, Kept: less * 9 / 10, Before: less}
			step.Charge = pricing.Charge{Read: less * 8 / 10, Write: less - less*8/10}
			step.Needs = [2]Evidence{{Needed: 2, Visible: 2}, {Needed: 1, Visible: one(j != 1), Recalled: one(j == 1)}}
			if j == 1 {
				step.Recalls = []Recall{{Found: true, Context: less, Written: 100, Cost: 0.01}}
			}
			steps[j] = append(steps[j], step)
		}
		r.Peak = size
	}
	for i, name := range policies {
		p := Policy{Name: name, Explain: "what " + name + " does", Source: "where it is from"}
		r.courses[i] = []course{{s: s, p: p, steps: steps[i], fits: i != 2}}
		r.add(p, r.courses[i])
	}
	for _, x := range r.counted() {
		r.Recorded.Calls++
		r.Recorded.InputCost += x.cost
	}
	r.Recorded.InputCost = math.Round(r.Recorded.InputCost*1e9) / 1e9 // in any order
	r.Recorded.HitRate = 0.8
	return r
}

func written(t *testing.T, reports ...*Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, reports, HTMLOptions{Command: "ambit replay a.jsonl --html report.html", Now: time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTMLGolden(t *testing.T) {
	path := filepath.Join("testdata", "report.html")
	got := written(t, madeUp("a.jsonl", 6, "append_only", "mask_last_n", "window"), madeUp("b.jsonl", 3, "append_only", "mask_last_n", "window"))
	if again := written(t, madeUp("a.jsonl", 6, "append_only", "mask_last_n", "window"), madeUp("b.jsonl", 3, "append_only", "mask_last_n", "window")); again != got {
		t.Error("the same reports give two files")
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not as it was (-update writes it anew):\n%.3000s", path, diff)
	}
}

var (
	tags       = regexp.MustCompile(`<([a-zA-Z!/][^\s>]*)([^>]*)>`)
	attributes = regexp.MustCompile(`([a-zA-Z:-]+)="[^"]*"`)
	known      = strings.Fields(`!DOCTYPE html head meta title style body header h1 h2 h3 p dl dt dd div b main section table caption thead tbody tr th td
		data small details summary span ul li figure figcaption svg desc path text g footer pre code`)
	harmless = strings.Fields(`lang charset name content http-equiv class id aria-labelledby aria-label role tabindex scope colspan data-field value
		viewBox d x y open`)
)

// TestHTMLTakesTextAsText lets a recording say what would be elements, attributes and addresses if it were not escaped.
func TestHTMLTakesTextAsText(t *testing.T) {
	evil := `</title></style></svg><script src="https://example.com/x">alert('1')</script><img src=x onerror=alert(1)>"' onload="x" {{.}} &amp;` + "\x00\x1b"
	r := madeUp(evil, 4, "append_only", evil)
	r.Format, r.Lacks = evil, []string{evil}
	r.sizings[0].c.Turns[1].Model = evil
	r.Recorded.Breaks[0].Cause = Cause(evil)
	r.courses[0][0].steps[0].Model = evil
	var b bytes.Buffer
	if err := WriteHTML(&b, []*Report{r}, HTMLOptions{Command: evil}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "alert("); n < 20 {
		t.Errorf("what the recording says is there %d times", n)
	}
	for _, tag := range tags.FindAllStringSubmatch(b.String(), -1) {
		if !slices.Contains(known, strings.TrimPrefix(tag[1], "/")) {
			t.Fatalf("an element that nobody made: %.200s", tag[0])
		}
		for _, attribute := range attributes.FindAllStringSubmatch(tag[2], -1) {
			if !slices.Contains(harmless, attribute[1]) {
				t.Fatalf("an attribute that nobody made: %.200s", tag[0])
			}
		}
	}
	for _, picture := range pictures(b.String()) {
		wellFormed(t, picture)
	}
}

func TestHTMLNeedsNoNetwork(t *testing.T) {
	text := written(t, madeUp("a.jsonl", 6, "append_only", "mask_last_n"))
	for _, bad := range []string{`(?i)\b(src|href|srcset|action|poster|data)\s*=`, `url\(`, `@import`, `(?i)https?:`, `<(script|link|iframe|object|base|image|use)\b`, `=\s*"//`} {
		if at := regexp.MustCompile(bad).FindString(text); at != "" {
			t.Errorf("the page holds %q", at)
		}
	}
	if !strings.Contains(text, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page does not forbid the network")
	}
}

func pictures(text string) []string {
	return regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1)
}

// TestHTMLCharts looks for what a chart needs to be read without eyes: a name, a description, and its figures.
func TestHTMLCharts(t *testing.T) {
	text := written(t, madeUp("a.jsonl", 6, "append_only", "mask_last_n"), madeUp("b.jsonl", 700, "append_only", "mask_last_n"))
	list := pictures(text)
	if len(list) != 1+2*3 {
		t.Fatalf("%d charts", len(list))
	}
	for _, picture := range list {
		if got := wellFormed(t, picture); got["title"] < 1 || got["desc"] != 1 || got["path"] == 0 {
			t.Errorf("a chart has %v", got)
		}
		for _, id := range strings.Fields(regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindStringSubmatch(picture)[1]) {
			if n := strings.Count(text, `id="`+id+`"`); n != 1 {
				t.Errorf("%d elements are %s", n, id)
			}
		}
	}
	if n := strings.Count(text, `<details class="figures">`); n != len(list) {
		t.Errorf("%d tables of figures of %d charts", n, len(list))
	}
	if a, b := strings.Index(text, `id="f1">`), strings.Index(text, `id="f2" open>`); a < 0 || b < 0 {
		t.Error("the largest file is not the one that is open")
	}
}

// grid is a table of the page as it stands there.
type grid struct {
	Fields []string // of the columns
	Rows   [][]string
	Values [][]string
}

// grids reads the tables of a page.
func grids(t *testing.T, text string) (list []grid) {
	t.Helper()
	type xmlCell struct {
		Field  string `xml:"data-field,attr"`
		Text   string `xml:",chardata"`
		Figure struct {
			Value string `xml:"value,attr"`
			Text  string `xml:",chardata"`
		} `xml:"data"`
	}
	type xmlTable struct {
		Heads []struct {
			Cells []xmlCell `xml:"th"`
		} `xml:"thead>tr"`
		Rows []struct {
			Head  xmlCell   `xml:"th"`
			Cells []xmlCell `xml:"td"`
		} `xml:"tbody>tr"`
	}
	for _, raw := range regexp.MustCompile(`(?s)<table>.*?</table>`).FindAllString(text, -1) {
		var x xmlTable
		if err := xml.Unmarshal([]byte(raw), &x); err != nil {
			t.Fatalf("%v in %.300s", err, raw)
		}
		var g grid
		for _, c := range x.Heads[len(x.Heads)-1].Cells {
			g.Fields = append(g.Fields, c.Field)
		}
		for _, r := range x.Rows {
			var texts, values []string
			for _, c := range append([]xmlCell{r.Head}, r.Cells...) {
				texts, values = append(texts, strings.TrimSpace(c.Text+c.Figure.Text)), append(values, c.Figure.Value)
			}
			g.Rows, g.Values = append(g.Rows, texts), append(g.Values, values)
		}
		list = append(list, g)
	}
	return list
}

// field is what JSON has at a path of names, as its text.
func field(t *testing.T, v any, path string) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(path, ".") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil {
			t.Fatal(err)
		}
		data = object[name]
	}
	return strings.Trim(string(data), `"`)
}

// same compares a table's cells that are fields of the JSON with these, row by row.
func same(t *testing.T, g grid, objects []any) (compared int) {
	t.Helper()
	for i, o := range objects {
		for j, name := range g.Fields {
			if name == "" || g.Values[i][j] == "" {
				continue
			}
			want, got := field(t, o, name), g.Values[i][j]
			a, errA := strconv.ParseFloat(want, 64)
			b, errB := strconv.ParseFloat(got, 64)
			if want == "" { // a zero that JSON leaves out
				want, a, errA = "0", 0, nil
			}
			if got != want && (errA != nil || errB != nil || a != b) {
				t.Errorf("row %d: %s is %s in the page, %s in JSON", i+1, name, got, want)
			}
			compared++
		}
	}
	return compared
}

func objects[T any](list []T) (all []any) {
	for _, x := range list {
		all = append(all, x)
	}
	return all
}

// covers: I-08 part
func TestHTMLFiguresAreTheReports(t *testing.T) {
	r := madeUp("a.jsonl", 6, "append_only", "mask_last_n", "window")
	checkFigures(t, r, written(t, r))
}

// checkFigures compares the tables of a page about one report with it.
func checkFigures(t *testing.T, r *Report, text string) {
	t.Helper()
	list := grids(t, text)
	find := func(name string, nth int) grid {
		for _, g := range list {
			if slices.Contains(g.Fields, name) {
				if nth--; nth < 0 {
					return g
				}
			}
		}
		t.Fatalf("no table has %s", name)
		return grid{}
	}
	n := same(t, find("peak_tokens", 0), []any{r})
	n += same(t, find("head_tokens", 0), objects(r.Counting))
	n += same(t, find("prefix_reuse", 0), objects(Totals([]*Report{r})))
	n += same(t, find("prefix_reuse", 1), objects(r.Policies))
	n += same(t, find("rewritten_tokens", 0), objects(r.Recorded.Breaks))
	if want := 8 + 3 + 2*16*len(r.Policies) + 4*len(r.Recorded.Breaks); n < want {
		t.Errorf("%d figures were compared, want at least %d", n, want)
	}
	at := slices.IndexFunc(list, func(g grid) bool { return slices.Contains(g.Fields, "prefix_reuse") })
	at += 1 + slices.IndexFunc(list[at+1:], func(g grid) bool { return slices.Contains(g.Fields, "prefix_reuse") })
	costs, contents, hits := list[at+1], list[at+2], list[at+3]
	say := money(r.costs().most())
	for i, o := range r.Policies {
		if last := lastOf(costs, i+len(costs.Fields)-len(r.Policies)); !strings.HasSuffix(last, say(o.InputCost+o.RecallCost)) {
			t.Errorf("%s ends at %s in the chart, and costs %s", o.Policy, last, say(o.InputCost+o.RecallCost))
		}
	}
	if last := lastOf(costs, 1); len(costs.Fields) > 1+len(r.Policies) && !strings.HasSuffix(last, say(r.Recorded.InputCost)) {
		t.Errorf("the recorded requests end at %s in the chart, and cost %s", last, say(r.Recorded.InputCost))
	}
	if len(contents.Rows) > maxPoints || len(hits.Rows) > maxPoints || len(costs.Rows) > maxPoints {
		t.Errorf("%d, %d and %d rows of figures", len(costs.Rows), len(contents.Rows), len(hits.Rows))
	}
}

// lastOf is the last text in a column that is not empty.
func lastOf(g grid, column int) string {
	for _, row := range slices.Backward(g.Rows) {
		if row[column] != "" {
			return row[column]
		}
	}
	return ""
}

// TestHTMLOfRecordings makes the page of recordings, compares it with their reports and those with what is drawn, and
// bounds its size.
// covers: I-08 part
func TestHTMLOfRecordings(t *testing.T) {
	for _, f := range sharedFiles(t, "claude-code", "pi-session") {
		t.Run(f.Path, func(t *testing.T) {
			r := Run(f, Options{})
			r.Shrink(true)
			checkSeries(t, r)
			text := written(t, r)
			if len(text) > 1<<20 {
				t.Errorf("%d turns take %d bytes", r.Turns, len(text))
			}
			if len(r.Policies) > 0 && r.Compared > 0 {
				checkFigures(t, r, text)
			}
		})
	}
}

// checkSeries compares what is drawn with the sums of a report.
func checkSeries(t *testing.T, r *Report) {
	t.Helper()
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, c := range r.costs().curves {
		i := slices.IndexFunc(r.Policies, func(o Outcome) bool { return o.Policy == c.name })
		switch {
		case c.name == recordedName:
			near(c.name, latest(c.values), r.Recorded.InputCost)
		case r.Compared > 0:
			near(c.name, latest(c.values), r.Policies[i].InputCost+r.Policies[i].RecallCost)
		}
	}
	for i, bar := range spent([]*Report{r}) {
		near("spent by "+r.Policies[i].Policy, sumOf(bar), r.Policies[i].Cost)
	}
	s, floor := r.contents(), r.compared(0)
	for i, sum := range s.sums() {
		near(fmt.Sprintf("contents of turn %d", s.turns[i]), sum, float64(floor[s.turns[i]].charge.Total()))
	}
}

// TestHTMLIsSmall bounds the page of a large session.
func TestHTMLIsSmall(t *testing.T) {
	r := madeUp("a.jsonl", 600, "append_only", "b", "c", "d", "e", "f")
	if n := len(written(t, r)); n > 1<<19 {
		t.Errorf("%d bytes", n)
	}
	checkSeries(t, r)
}

func TestHTMLOfLittle(t *testing.T) {
	bare := madeUp("bare.jsonl", 3, "append_only")
	bare.Shrink(false)
	none := &Report{Path: "none.jsonl", Limited: []string{}, Recorded: Recorded{Breaks: []Break{}}}
	for name, list := range map[string][]*Report{"no report": nil, "no charts": {bare}, "no turns": {none}, "empty file": {Run(File{Path: "x"}, Options{})}} {
		text := written(t, list...)
		if n := len(pictures(text)); n != 0 {
			t.Errorf("%s: %d charts", name, n)
		}
		if strings.Contains(text, "NaN") || !strings.HasSuffix(text, "</html>\n") {
			t.Errorf("%s: %s", name, text)
		}
		for _, l := range list {
			if !strings.Contains(text, l.Path) {
				t.Errorf("%s: %s is not there", name, l.Path)
			}
		}
	}
}

func TestCheapestLosesNothing(t *testing.T) {
	made := func(cost float64, fits bool, kept, visible, recalled int) (o Outcome) {
		o.Cost, o.Fits, o.Pins.Kept, o.Pins.Total = cost, fits, kept, 5
		o.Evidence.Names = Evidence{Needed: 4, Visible: visible, Recalled: recalled}
		return o
	}
	list := []Outcome{made(9, true, 5, 4, 0), made(5, true, 5, 3, 1), made(5, true, 5, 4, 0), made(1, false, 5, 4, 0), made(2, true, 4, 4, 0), made(3, true, 5, 3, 0)}
	if got := cheapest(list); got != 1 {
		t.Errorf("policy %d", got)
	}
	if got := cheapest(list[3:]); got != -1 {
		t.Errorf("policy %d of those that lose something", got)
	}
}

// full takes no bytes.
type full struct{}

var errFull = errors.New("no space")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestHTMLNotWritten(t *testing.T) {
	if err := WriteHTML(full{}, nil, HTMLOptions{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}
