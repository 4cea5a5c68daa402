package index_test

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"ambit/internal/index"
)

var key = []byte("a key that nobody knows")

// item is a text of a test's capture, or why it cannot be read.
type item struct {
	index.Text
	err error
}

var errGone = errors.New("the body is purged")

// at makes a text.
func at(ref, field, text string) item {
	return item{Text: index.Text{Ref: ref, Revision: "r" + ref, Field: field, N: len(ref), Text: text}}
}

// of makes a capture of texts.
func of(items ...item) index.Capture {
	return index.Capture{ID: "s1@42", Key: key, Texts: func(from int) iter.Seq2[index.Text, error] {
		return func(yield func(index.Text, error) bool) {
			for i := min(from, len(items)); i < len(items); i++ {
				if !yield(items[i].Text, items[i].err) {
					return
				}
			}
		}
	}}
}

// where is an answer's results without their texts.
func where(a index.Answer) string {
	var b strings.Builder
	for _, r := range a.Results {
		data, _ := json.Marshal([]any{r.Ref, r.Field, r.StartLine, r.EndLine})
		b.Write(data)
	}
	return b.String()
}

// expect checks an answer's status, coverage and reason, and its form.
func expect(t *testing.T, name string, a index.Answer, s index.Status, c index.Coverage, r index.Reason) {
	t.Helper()
	if a.Status != s || a.Coverage != c || a.Reason != r {
		t.Errorf("%s: %s, %s, %q; want %s, %s, %q", name, a.Status, a.Coverage, a.Reason, s, c, r)
	}
	check(t, name, a, index.MaxOutputBytes)
}

// failer is a test, rapid's ones included.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check holds an answer to what is true of all of them.
func check(t failer, name string, a index.Answer, most int) {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil || !utf8.Valid(data) {
		t.Fatalf("%s: %v: %q", name, err, data)
	}
	if most == 0 {
		most = index.MaxOutputBytes
	}
	if len(data) > most && a.Status != index.BudgetRefused {
		t.Fatalf("%s: %d bytes of JSON, allowed are %d", name, len(data), most)
	}
	var back index.Answer
	if err := json.Unmarshal(data, &back); err != nil || where(back) != where(a) {
		t.Fatalf("%s: %v: %s", name, err, data)
	}
	if a.Authority != "tool-data" || a.Freshness != "unknown" || a.Results == nil {
		t.Fatalf("%s: %s", name, data)
	}
	if (len(a.Results) > 0 || a.Cursor != "") && a.Status != index.Found && a.Status != index.Partial {
		t.Fatalf("%s: %s with results or a cursor", name, a.Status)
	}
	if a.Coverage == index.CoverageComplete != (a.Reason == "") || a.Status == index.CompleteMiss && a.Coverage != index.CoverageComplete {
		t.Fatalf("%s: %s, %s, %q", name, a.Status, a.Coverage, a.Reason)
	}
	for i, r := range a.Results {
		if !utf8.ValidString(r.Text) || !strings.Contains(string(data), mustJSON(r.Text)) || back.Results[i] != r {
			t.Fatalf("%s: result %+v is not what its JSON says", name, r)
		}
	}
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestForm checks an answer's JSON to the letter.
//
// covers: A-05 part
func TestForm(t *testing.T) {
	c := of(at("e1", "/text", "one\ntwo <&> \"2\"\n"))
	for _, row := range []struct {
		a    index.Answer
		want string
	}{
		{
			c.Search(index.Query{Text: "two"}), `{"status":"found","coverage":"complete","authority":"tool-data","freshness":"unknown",` +
				`"results":[{"ref":"e1","revision":"re1","field":"/text","start_line":2,"end_line":2,"text":"two \u003c\u0026\u003e \"2\"","n":2}]}`,
		},
		{c.Search(index.Query{Text: "Two"}), `{"status":"complete-miss","coverage":"complete","authority":"tool-data","freshness":"unknown","results":[]}`},
		{
			c.Read(index.Selection{Ref: "e2"}), `{"status":"not_authorized","coverage":"unknown","reason":"ref_not_in_captured_branch",` +
				`"authority":"tool-data","freshness":"unknown","results":[]}`,
		},
	} {
		if got := mustJSON(row.a); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

// TestLimits lets limits only be lowered, and refuses those that not even an empty answer fits.
//
// covers: A-04 part
func TestLimits(t *testing.T) {
	c := of(at("e1", "/a", "needle"))
	for name, row := range map[string]struct {
		limits  index.Limits
		refused bool
	}{
		"none":             {limits: index.Limits{}},
		"the maxima":       {limits: index.Limits{OutputBytes: 64 << 10, Results: 16, ScanBytes: 1 << 34}},
		"lowered":          {limits: index.Limits{OutputBytes: 600, Results: 1, ScanBytes: 100}},
		"more bytes":       {limits: index.Limits{OutputBytes: 64<<10 + 1}, refused: true},
		"more results":     {limits: index.Limits{Results: 17}, refused: true},
		"more to scan":     {limits: index.Limits{ScanBytes: 1<<34 + 1}, refused: true},
		"negative bytes":   {limits: index.Limits{OutputBytes: -1}, refused: true},
		"negative results": {limits: index.Limits{Results: -1}, refused: true},
		"negative scan":    {limits: index.Limits{ScanBytes: -1}, refused: true},
		"no room":          {limits: index.Limits{OutputBytes: 200}, refused: true},
	} {
		for verb, a := range map[string]index.Answer{
			"search": c.Search(index.Query{Text: "needle", Limits: row.limits}), "read": c.Read(index.Selection{Ref: "e1", Limits: row.limits}),
		} {
			if row.refused {
				expect(t, verb+" with "+name, a, index.BudgetRefused, index.CoverageUnknown, index.OperationBudget)
			} else {
				expect(t, verb+" with "+name, a, index.Found, index.CoverageComplete, "")
			}
		}
	}
}

// TestKey panics without a key: cursors could be made up.
func TestKey(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a search without a key")
		}
	}()
	c := of()
	c.Key = nil
	c.Search(index.Query{Text: "a"})
}
