package index_test

import (
	"fmt"
	"strings"
	"testing"

	"ambit/internal/index"

	"pgregory.net/rapid"
)

// TestReadStatus gives every status and reason of a read.
//
// covers: A-01 part
// covers: A-03 part
func TestReadStatus(t *testing.T) {
	lost := func(ref, field string, err error) item {
		x := at(ref, field, "")
		x.err = err
		return x
	}
	c := of(
		at("e1", "/a", "one\ntwo\nthree"), at("e2", "/a", "first"), at("e2", "/b", "second"), at("e3.k7q3", "/a", ""),
		at("e4", "/a", "here"), lost("e4", "/b", errGone), lost("e5", "", index.ErrUnsupported), lost("e6", "/a", errGone),
	)
	nothing := lost("e6", "", errGone)
	nothing.Revision = ""
	nameless := of(at("e1", "/a", "one"), item{err: errGone})
	type sel = index.Selection
	for name, row := range map[string]struct {
		c  index.Capture
		s  sel
		st index.Status
		r  index.Reason
	}{
		"an entry":             {c, sel{Ref: "e2"}, index.Found, ""},
		"its revision":         {c, sel{Ref: "e2", Revision: "re2"}, index.Found, ""},
		"a field":              {c, sel{Ref: "e2", Field: "/b"}, index.Found, ""},
		"lines":                {c, sel{Ref: "e1", StartLine: 2, EndLine: 3}, index.Found, ""},
		"lines of a field":     {c, sel{Ref: "e2", Field: "/b", StartLine: 1, EndLine: 1}, index.Found, ""},
		"a ref with a suffix":  {c, sel{Ref: "e3.k7q3"}, index.Found, ""},
		"no ref":               {c, sel{Field: "/a"}, index.Unavailable, index.RequiresRef},
		"nothing":              {c, sel{}, index.Unavailable, index.RequiresRef},
		"a path":               {c, sel{Ref: "../e1"}, index.NotAuthorized, index.InvalidRequest},
		"an absolute path":     {c, sel{Ref: "/etc/passwd"}, index.NotAuthorized, index.InvalidRequest},
		"a ref and more":       {c, sel{Ref: "e1\n"}, index.NotAuthorized, index.InvalidRequest},
		"a ref with a zero":    {c, sel{Ref: "e01"}, index.NotAuthorized, index.InvalidRequest},
		"a ref too long":       {c, sel{Ref: "e" + strings.Repeat("1", 600)}, index.NotAuthorized, index.InvalidRequest},
		"an unknown ref":       {c, sel{Ref: "e999999999"}, index.NotAuthorized, index.NotInCapture},
		"another's suffix":     {c, sel{Ref: "e3.k7q4"}, index.NotAuthorized, index.NotInCapture},
		"without its suffix":   {c, sel{Ref: "e3"}, index.NotAuthorized, index.NotInCapture},
		"another revision":     {c, sel{Ref: "e2", Revision: "re1"}, index.Unavailable, index.RevisionMismatch},
		"an unknown field":     {c, sel{Ref: "e2", Field: "/c"}, index.Unavailable, index.UnsupportedField},
		"part of a field":      {c, sel{Ref: "e2", Field: "/"}, index.Unavailable, index.UnsupportedField},
		"from line 0":          {c, sel{Ref: "e1", EndLine: 3}, index.Unavailable, index.Conflicting},
		"backwards":            {c, sel{Ref: "e1", StartLine: 3, EndLine: 2}, index.Unavailable, index.Conflicting},
		"negative lines":       {c, sel{Ref: "e1", StartLine: -2, EndLine: -1}, index.Unavailable, index.Conflicting},
		"whose lines":          {c, sel{Ref: "e2", StartLine: 1, EndLine: 1}, index.Unavailable, index.Conflicting},
		"whose lines, perhaps": {c, sel{Ref: "e4", StartLine: 1, EndLine: 1}, index.Unavailable, index.Conflicting},
		"beyond the end":       {c, sel{Ref: "e1", StartLine: 2, EndLine: 4}, index.Partial, index.EndBeyondSource},
		"behind the end":       {c, sel{Ref: "e1", StartLine: 4, EndLine: 4}, index.Unavailable, index.EndBeyondSource},
		"a field gone":         {c, sel{Ref: "e4", Field: "/b"}, index.Unavailable, index.SourceUnavailable},
		"one field gone":       {c, sel{Ref: "e4"}, index.Partial, index.SourceUnavailable},
		"the other field":      {c, sel{Ref: "e4", Field: "/a"}, index.Found, ""},
		"all gone":             {c, sel{Ref: "e6"}, index.Unavailable, index.SourceUnavailable},
		"gone, at a revision":  {c, sel{Ref: "e6", Revision: "re1"}, index.Unavailable, index.RevisionMismatch},
		"no such field, gone":  {c, sel{Ref: "e6", Field: "/z"}, index.Unavailable, index.UnsupportedField},
		"gone, of whatever":    {of(nothing), sel{Ref: "e6", Revision: "re1"}, index.Unavailable, index.SourceUnavailable},
		"not understood":       {c, sel{Ref: "e5"}, index.Unavailable, index.UnsupportedShape},
		"who knows":            {nameless, sel{Ref: "e2"}, index.Unavailable, index.SourceUnavailable},
		"more, who knows":      {nameless, sel{Ref: "e1"}, index.Partial, index.SourceUnavailable},
		"one field, known":     {nameless, sel{Ref: "e1", Field: "/a"}, index.Found, ""},
	} {
		coverage := map[index.Status]index.Coverage{index.Found: index.CoverageComplete, index.Partial: index.CoveragePartial}[row.st]
		if coverage == "" {
			coverage = index.CoverageUnknown
		}
		a := row.c.Read(row.s)
		expect(t, name, a, row.st, coverage, row.r)
		for _, r := range a.Results {
			if r.Ref != row.s.Ref || row.s.Field != "" && r.Field != row.s.Field {
				t.Errorf("%s: read %+v", name, r)
			}
		}
	}
}

// TestRead reads exactly the lines that are asked for.
//
// covers: A-02 part
func TestRead(t *testing.T) {
	c := of(at("e1", "/a", "one\r\ntwo\n\nfour\n"), at("e2", "/a", "x"), at("e2", "/b", ""))
	for _, row := range []struct {
		s    index.Selection
		want string
	}{
		{index.Selection{Ref: "e1"}, `1-5 "one\r\ntwo\n\nfour\n"`},
		{index.Selection{Ref: "e1", StartLine: 1, EndLine: 1}, `1-1 "one\r"`},
		{index.Selection{Ref: "e1", StartLine: 2, EndLine: 3}, `2-3 "two\n"`},
		{index.Selection{Ref: "e1", StartLine: 4, EndLine: 5}, `4-5 "four\n"`},
		{index.Selection{Ref: "e1", StartLine: 5, EndLine: 5}, `5-5 ""`},
		{index.Selection{Ref: "e1", StartLine: 4, EndLine: 99}, `4-5 "four\n"`},
		{index.Selection{Ref: "e2"}, `1-1 "x"1-1 ""`},
	} {
		got := ""
		for _, r := range c.Read(row.s).Results {
			got += fmt.Sprintf("%d-%d %q", r.StartLine, r.EndLine, r.Text)
		}
		if got != row.want {
			t.Errorf("%+v: %s, want %s", row.s, got, row.want)
		}
	}
}

// TestReadPause reads as many whole lines as there is room for, and refuses a line that there is none for.
//
// covers: A-03 part
// covers: A-04 part
func TestReadPause(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	c := of(at("e1", "/a", "one\ntwo\n"+long+"\nfour"))
	s := index.Selection{Ref: "e1"}
	a := c.Read(s)
	expect(t, "up to the long line", a, index.Partial, index.CoveragePartial, index.OutputLimit)
	if len(a.Results) != 1 || a.Results[0].EndLine != 2 || a.Cursor == "" {
		t.Errorf("%+v", a)
	}
	s.Cursor = a.Cursor
	expect(t, "the long line", c.Read(s), index.BudgetRefused, index.CoverageUnknown, index.OutputLimit)
	expect(t, "the line behind it", c.Read(index.Selection{Ref: "e1", StartLine: 4, EndLine: 4}), index.Found, index.CoverageComplete, "")

	var many []item
	for i := range 20 {
		many = append(many, at("e1", fmt.Sprint("/", i), "text"))
	}
	s = index.Selection{Ref: "e1"}
	a = of(many...).Read(s)
	expect(t, "twenty fields", a, index.Partial, index.CoveragePartial, index.OutputLimit)
	s.Cursor = a.Cursor
	b := of(many...).Read(s)
	expect(t, "the rest", b, index.Found, index.CoverageComplete, "")
	if len(a.Results) != 16 || len(b.Results) != 4 || b.Results[0].Field != "/16" {
		t.Errorf("%s, then %s", where(a), where(b))
	}
	expect(t, "an entry that shrank", of(many[:16]...).Read(s), index.Unavailable, index.CoverageUnknown, index.ExpiredCursor)

	for _, text := range []string{strings.Repeat("\n", 5000), strings.Repeat("<\n", 5000), strings.Repeat("\u2028\n", 5000)} {
		a = of(at("e1", "/a", text)).Read(index.Selection{Ref: "e1", Limits: index.Limits{OutputBytes: 1000}})
		expect(t, "short lines", a, index.Partial, index.CoveragePartial, index.OutputLimit)
		if n := len(mustJSON(a)); n > 1000 || n < 900 {
			t.Errorf("%d bytes of JSON", n)
		}
	}

	s = index.Selection{Ref: "e1", StartLine: 1, EndLine: 400, Limits: index.Limits{OutputBytes: 1000}}
	c = of(at("e1", "/a", strings.Repeat("line\n", 200)))
	for pages := 1; ; pages++ {
		a := c.Read(s)
		if s.Cursor = a.Cursor; a.Cursor == "" {
			expect(t, "the last page", a, index.Partial, index.CoveragePartial, index.EndBeyondSource)
			if pages < 2 || a.Results[0].EndLine != 201 {
				t.Errorf("page %d: %+v", pages, a)
			}
			break
		}
		expect(t, "a page", a, index.Partial, index.CoveragePartial, index.OutputLimit)
	}
}

// TestReadLaw reads random entries page by page under random limits: the pages together are the texts.
//
// covers: A-03 part
// covers: A-04 part
func TestReadLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := random(t)
		for i := range items {
			items[i].err = nil
		}
		s := index.Selection{Ref: "e1"}
		if rapid.Bool().Draw(t, "a field") {
			s.Field = rapid.SampledFrom([]string{"/0", "/1"}).Draw(t, "field")
		}
		var want []string
		for _, x := range items {
			if x.Ref == s.Ref && (s.Field == "" || x.Field == s.Field) {
				want = append(want, x.Field+" "+x.Text.Text)
			}
		}
		if len(want) == 1 && s.Field != "" && rapid.Bool().Draw(t, "lines") {
			lines := strings.Split(strings.TrimPrefix(want[0], s.Field+" "), "\n")
			s.StartLine = rapid.IntRange(1, len(lines)).Draw(t, "start")
			s.EndLine = rapid.IntRange(s.StartLine, len(lines)).Draw(t, "end")
			want[0] = s.Field + " " + strings.Join(lines[s.StartLine-1:s.EndLine], "\n")
		}
		var got []string
		next := max(1, s.StartLine)
		for {
			s.Limits = bounds(t)
			a := of(items...).Read(s)
			check(t, "page", a, s.Limits.OutputBytes)
			if a.Status == index.BudgetRefused && a.Reason == index.OutputLimit {
				s.Limits = index.Limits{}
				a = of(items...).Read(s)
			}
			for _, r := range a.Results {
				if r.StartLine > 1 && len(got) > 0 {
					got[len(got)-1] += "\n" + r.Text
				} else {
					next = max(1, s.StartLine)
					got = append(got, r.Field+" "+r.Text)
				}
				if r.StartLine != next || r.EndLine-r.StartLine != strings.Count(r.Text, "\n") {
					t.Fatalf("lines %d to %d of %q, want them from %d on", r.StartLine, r.EndLine, r.Text, next)
				}
				next = r.EndLine + 1
			}
			if s.Cursor = a.Cursor; a.Cursor == "" {
				if done := a.Status == index.Found && a.Coverage == index.CoverageComplete; done != (len(want) > 0) {
					t.Fatalf("ends with %s, %s, %q", a.Status, a.Coverage, a.Reason)
				}
				break
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("read %q\nwant %q", got, want)
		}
	})
}
