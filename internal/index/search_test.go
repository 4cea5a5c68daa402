package index_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ambit/internal/index"

	"pgregory.net/rapid"
)

// TestSearch finds literally, in source order, with the lines that an exact read takes.
//
// covers: A-02 part
func TestSearch(t *testing.T) {
	c := of(
		at("e3", "/messages/0", "alpha\nBeta beta\ngamma\n"), at("e3", "/messages/1", "beta"),
		at("e5", "/messages/2", "alpha\nBeta beta\ngamma\n"), at("e5", "/text", "a.c abc\n\nx\nbeta beta\nbeta"), at("e5", "/calls", ""), at("e6", "/text", "z\nz\nz"),
	)
	for query, want := range map[string]string{
		"beta":         `["e3","/messages/0",2,2]["e3","/messages/1",1,1]["e5","/text",4,4]["e5","/text",5,5]`,
		"Beta":         `["e3","/messages/0",2,2]`,
		"BETA":         ``,
		"a.c":          `["e5","/text",1,1]`,
		"alpha\nBeta":  `["e3","/messages/0",1,2]`,
		"gamma\n":      `["e3","/messages/0",3,4]`,
		"\ngamma":      `["e3","/messages/0",2,3]`,
		"\n\n":         `["e5","/text",1,3]`,
		"\n":           `["e3","/messages/0",1,2]["e3","/messages/0",2,3]["e3","/messages/0",3,4]["e5","/text",1,2]["e5","/text",2,3]["e5","/text",3,4]["e5","/text",4,5]["e6","/text",1,2]["e6","/text",2,3]`,
		"beta\nbeta":   `["e5","/text",4,5]`,
		"a|b":          ``,
		" beta\ngamma": `["e3","/messages/0",2,3]`,
		"z\nz":         `["e6","/text",1,2]["e6","/text",2,3]`,
	} {
		a := c.Search(index.Query{Text: query})
		if where(a) != want {
			t.Errorf("%q is at\n%s, want\n%s", query, where(a), want)
		}
		for _, r := range a.Results {
			b := c.Read(index.Selection{Ref: r.Ref, Revision: r.Revision, Field: r.Field, StartLine: r.StartLine, EndLine: r.EndLine})
			if len(b.Results) != 1 || b.Results[0] != r || !strings.Contains(r.Text, query) {
				t.Errorf("%q: found %+v, read %+v", query, r, b)
			}
		}
	}
}

// TestSearchStatus gives every status and reason of a search.
//
// covers: A-03 part
func TestSearchStatus(t *testing.T) {
	gone, odd := item{err: errGone}, item{err: fmt.Errorf("shape: %w", index.ErrUnsupported)}
	hit, miss := at("e1", "/a", "needle"), at("e2", "/a", "hay")
	for name, row := range map[string]struct {
		c    index.Capture
		text string
		s    index.Status
		co   index.Coverage
		r    index.Reason
	}{
		"found":             {of(miss, hit), "needle", index.Found, index.CoverageComplete, ""},
		"missed":            {of(miss, hit), "Needle", index.CompleteMiss, index.CoverageComplete, ""},
		"nothing there":     {of(), "needle", index.CompleteMiss, index.CoverageComplete, ""},
		"found, one gone":   {of(gone, hit), "needle", index.Found, index.CoveragePartial, index.SourceUnavailable},
		"missed, one gone":  {of(miss, gone), "needle", index.Partial, index.CoveragePartial, index.SourceUnavailable},
		"found, one odd":    {of(odd, hit), "needle", index.Found, index.CoveragePartial, index.UnsupportedShape},
		"missed, one odd":   {of(miss, odd), "needle", index.Partial, index.CoveragePartial, index.UnsupportedShape},
		"gone and odd":      {of(odd, gone, odd), "needle", index.Partial, index.CoveragePartial, index.SourceUnavailable},
		"empty":             {of(hit), "", index.Unavailable, index.CoverageUnknown, index.InvalidRequest},
		"not UTF-8":         {of(hit), "nee\xff", index.Unavailable, index.CoverageUnknown, index.InvalidRequest},
		"too long":          {of(hit), strings.Repeat("é", 8193), index.Unavailable, index.CoverageUnknown, index.InvalidRequest},
		"as long as may be": {of(at("e1", "", strings.Repeat("é", 9000))), strings.Repeat("é", 8192), index.Found, index.CoverageComplete, ""},
		"costly to write":   {of(at("e1", "", strings.Repeat("<", 9000))), strings.Repeat("<", 8192), index.Found, index.CoverageComplete, ""},
	} {
		expect(t, name, row.c.Search(index.Query{Text: row.text}), row.s, row.co, row.r)
	}
}

// TestPause stops at each limit, goes on with the cursor, and says at the end how all of it went.
//
// covers: A-03 part
func TestPause(t *testing.T) {
	c := of(at("e1", "/a", "one needle\ntwo needles\n"), at("e2", "/a", strings.Repeat("hay ", 100)), item{err: errGone}, at("e3", "/a", "a needle"))
	q := index.Query{Text: "needle", Limits: index.Limits{Results: 2}}
	a := c.Search(q)
	expect(t, "two results", a, index.Found, index.CoveragePartial, index.OutputLimit)
	q.Cursor = a.Cursor
	a = c.Search(q)
	expect(t, "the third", a, index.Found, index.CoveragePartial, index.SourceUnavailable)
	if want := `["e3","/a",1,1]`; where(a) != want || a.Cursor != "" {
		t.Errorf("%s, cursor %q", where(a), a.Cursor)
	}

	q = index.Query{Text: "needle", Limits: index.Limits{ScanBytes: 300}}
	a = c.Search(q)
	expect(t, "300 bytes", a, index.Found, index.CoveragePartial, index.ScanLimit)
	q.Cursor, q.Limits.ScanBytes = a.Cursor, 30
	a = c.Search(q)
	expect(t, "30 bytes of hay", a, index.Partial, index.CoveragePartial, index.ScanLimit)

	// What was found and what was gone on earlier pages counts on the last.
	q = index.Query{Text: "one needle", Limits: index.Limits{ScanBytes: 427}}
	q.Cursor = c.Search(q).Cursor
	a = c.Search(q)
	expect(t, "the last page", a, index.Found, index.CoveragePartial, index.SourceUnavailable)

	full := of(slices.Repeat([]item{at("e1", "/a", strings.Repeat("needle\n", 16))}, 2)...)
	expect(t, "as many as may be", full.Search(index.Query{Text: "needle"}), index.Found, index.CoverageComplete, "")

	q = index.Query{Text: strings.Repeat("é", 300), Limits: index.Limits{OutputBytes: 700}}
	c = of(at("e1", "/a", strings.Repeat("é", 600)))
	expect(t, "no room for the match", c.Search(q), index.BudgetRefused, index.CoverageUnknown, index.OutputLimit)
}

// TestFirstOfEqual reports the first of equal texts only, on whatever page it was, and looks at earlier texts again only
// when they are too many for a cursor.
func TestFirstOfEqual(t *testing.T) {
	for _, texts := range []int{3, 100} {
		var items []item
		for i := range texts {
			x := at("e1", fmt.Sprint("/", i), fmt.Sprint("needle ", i, "\nneedle"))
			items = append(items, x, x)
		}
		items = append(items, items...)
		c := of(items...)
		all, again, found := c.Texts, 0, 0
		c.Texts = func(from int) iter.Seq2[index.Text, error] {
			if from == 0 {
				again++
			}
			return all(from)
		}
		q := index.Query{Text: "needle", Limits: index.Limits{Results: 1}}
		for {
			a := c.Search(q)
			found += len(a.Results)
			if q.Cursor = a.Cursor; q.Cursor == "" {
				break
			}
		}
		if found != 2*texts {
			t.Errorf("of %d texts, %d results", texts, found)
		}
		if few := texts <= index.MaxMarks; few != (again <= 2) {
			t.Errorf("with %d texts, %d searches began at the first", texts, again)
		}
	}
}

// TestLongLine shows a match in a long line with what stands next to it.
//
// covers: A-04 part
func TestLongLine(t *testing.T) {
	wide := strings.Repeat("é", 600) // an odd distance from every cut
	for name, row := range map[string]struct {
		text, want     string
		prefix, suffix bool
	}{
		"short enough":  {strings.Repeat("x", 1018) + "needle", strings.Repeat("x", 1018) + "needle", false, false},
		"in the middle": {"a\n" + wide + "needle" + wide + "\nb", strings.Repeat("é", 64) + "needle" + strings.Repeat("é", 64), true, true},
		"odd":           {wide + ".needle." + wide, strings.Repeat("é", 63) + ".needle." + strings.Repeat("é", 63), true, true},
		"at the start":  {"needle" + wide, "needle" + strings.Repeat("é", 64), false, true},
		"at the end":    {wide + "needle!", strings.Repeat("é", 64) + "needle!", true, false},
	} {
		a := of(at("e1", "/a", row.text)).Search(index.Query{Text: "needle"})
		expect(t, name, a, index.Found, index.CoverageComplete, "")
		if r := a.Results[0]; r.Text != row.want || r.PrefixOmitted != row.prefix || r.SuffixOmitted != row.suffix {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// random are texts of few different characters, so that matches are many, overlap and meet the ends of lines.
func random(t *rapid.T) []item {
	letter := rapid.SampledFrom(rapid.SampledFrom([][]string{
		{"a", "\n"},
		{"a", "b", "é", "\n"},
		{"a", "a", "a", "b", "\n", "\n", "é", "日", "𝄞", "<", `"`, "\x01", "\u2028", strings.Repeat("a", 700), strings.Repeat("éb", 400)},
	}).Draw(t, "letters"))
	var items []item
	n := rapid.IntRange(0, 12).Draw(t, "texts")
	if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
		n = 3 * index.MaxMarks
	}
	for i := range n {
		x := at(fmt.Sprintf("e%d", 1+i/3), fmt.Sprintf("/%d", i%3), strings.Join(rapid.SliceOfN(letter, 0, 30).Draw(t, "text"), ""))
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind < 3 && i > 0:
			x.Text.Text = items[rapid.IntRange(0, i-1).Draw(t, "again")].Text.Text
		case kind == 9:
			x.err, x.Text.Text = errGone, ""
		}
		items = append(items, x)
	}
	return items
}

// part draws a needle that may stand in the texts.
func part(t *rapid.T, items []item) string {
	if len(items) > 0 && rapid.Bool().Draw(t, "from text") {
		if runes := []rune(rapid.SampledFrom(items).Draw(t, "of").Text.Text); len(runes) > 0 {
			i := rapid.IntRange(0, len(runes)-1).Draw(t, "at")
			return string(runes[i : i+rapid.IntRange(1, min(len(runes)-i, rapid.SampledFrom([]int{3, 100, 1000}).Draw(t, "up to"))).Draw(t, "length")])
		}
	}
	return rapid.StringOfN(rapid.SampledFrom([]rune("aab\né<")), 1, 4, -1).Draw(t, "needle")
}

// bounds draws limits.
func bounds(t *rapid.T) index.Limits {
	return index.Limits{
		OutputBytes: rapid.SampledFrom([]int{0, 0, 480, 700, 1500, 6000}).Draw(t, "output"),
		Results:     rapid.IntRange(0, 16).Draw(t, "results"),
		ScanBytes:   rapid.SampledFrom([]int64{0, 0, 1, 2, 7, 100, 2000}).Draw(t, "scan"),
	}
}

// naive is every run of lines that holds an occurrence which none before it holds, by trying every place.
func naive(items []item, needle string) []string {
	var all []string
	seen := map[string]bool{}
	for _, x := range items {
		if x.err != nil || seen[x.Text.Text] {
			continue
		}
		lines, end := strings.Split(x.Text.Text, "\n"), 0
		for i := range x.Text.Text {
			if !strings.HasPrefix(x.Text.Text[i:], needle) || i+len(needle) <= end {
				continue
			}
			seen[x.Text.Text] = true
			first, last := strings.Count(x.Text.Text[:i], "\n"), strings.Count(x.Text.Text[:i+len(needle)], "\n")
			end = len(strings.Join(lines[:last+1], "\n"))
			all = append(all, fmt.Sprintf("%s%s %d-%d %q", x.Ref, x.Field, first+1, last+1, strings.Join(lines[first:last+1], "\n")))
		}
	}
	return all
}

// whole is a result in naive's words; one that does not show its lines whole is checked against them.
func whole(t *rapid.T, items []item, needle string, r index.Result) string {
	i := slices.IndexFunc(items, func(x item) bool { return x.Ref == r.Ref && x.Field == r.Field })
	text := strings.Join(strings.Split(items[i].Text.Text, "\n")[r.StartLine-1:r.EndLine], "\n")
	prefix, suffix, ok := strings.Cut(text, r.Text)
	if !ok || !r.PrefixOmitted && !r.SuffixOmitted && text != r.Text || (r.PrefixOmitted || r.SuffixOmitted) && len(text) <= index.LongLine {
		t.Fatalf("%+v is not of %q", r, text)
	}
	if r.PrefixOmitted && prefix == "" || r.SuffixOmitted && suffix == "" || !strings.Contains(r.Text, needle) || !utf8.ValidString(r.Text) {
		t.Fatalf("%+v is cut wrongly from %q", r, text)
	}
	if len(text) > index.LongLine && len(r.Text) > len(needle)+2*index.Surroundings {
		t.Fatalf("%d bytes are shown of a long line", len(r.Text))
	}
	return fmt.Sprintf("%s%s %d-%d %q", r.Ref, r.Field, r.StartLine, r.EndLine, text)
}

// TestSearchLaw searches random texts under random limits, page by page, each page as if in a process of its own, and
// compares all pages together with a search that tries every place.
//
// covers: A-02 part
// covers: A-03 part
// covers: A-04 part
func TestSearchLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := random(t)
		q := index.Query{Text: part(t, items)}
		want := naive(items, q.Text)
		gone := slices.ContainsFunc(items, func(x item) bool { return x.err != nil })
		var got []string
		for {
			c := of(items...)
			q.Limits = bounds(t)
			if id, ok := index.CaptureOf(q.Cursor, key); q.Cursor != "" && (!ok || id != c.ID) {
				t.Fatalf("the cursor is of capture %q, %v", id, ok)
			}
			a := c.Search(q)
			check(t, "page", a, q.Limits.OutputBytes)
			if a.Status == index.BudgetRefused && a.Reason == index.OutputLimit && q.Limits.OutputBytes > 0 {
				q.Limits.OutputBytes = 0
				a = c.Search(q)
			}
			for _, r := range a.Results {
				got = append(got, whole(t, items, q.Text, r))
			}
			if a.Cursor == "" {
				status, coverage := index.Found, index.CoverageComplete
				if len(want) == 0 {
					status = index.CompleteMiss
				}
				if gone {
					coverage = index.CoveragePartial
					if len(want) == 0 {
						status = index.Partial
					}
				}
				if a.Status != status || a.Coverage != coverage {
					t.Fatalf("ends with %s, %s, want %s, %s", a.Status, a.Coverage, status, coverage)
				}
				break
			}
			q.Cursor = a.Cursor
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %d texts:\ngot  %q\nwant %q", q.Text, len(items), got, want)
		}
	})
}
