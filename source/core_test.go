package source_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ambit/source"
)

// covers: S-15 part
func TestEnvironment(t *testing.T) {
	c := compose(t, source.Environment(source.Place{Dir: "/r/a</env>", Root: "/r\nb", Git: true}, "linux/amd64"))
	o := begin(t, c)
	expect(t, o, source.Ready, `You work in this environment:
<env>
Working directory: /r/a&lt;/env&gt;
Workspace root: /r&#xA;b
Git repository: yes
Platform: linux/amd64
</env>`)
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
	o = reconcile(t, compose(t, source.Environment(source.Place{Dir: "/s", Root: "/s"}, "linux/amd64")), o.Snapshot)
	expect(t, o, source.Updated, `The environment has changed. This supersedes what was said of it before:
<env>
Working directory: /s
Workspace root: /s
Git repository: no
Platform: linux/amd64
</env>`)
}

// TestDate goes through a day and into the next, in the zone of the clock and in another one.
//
// covers: S-15 part
func TestDate(t *testing.T) {
	var clock time.Time
	at := func(text string) {
		t.Helper()
		var err error
		if clock, err = time.Parse(time.RFC3339, text); err != nil {
			t.Fatal(err)
		}
	}
	now := func() time.Time { return clock }
	at("2026-02-28T22:30:00-05:00")
	local := compose(t, source.Date(now, nil))
	told := begin(t, local)
	expect(t, told, source.Ready, "Today is Saturday, 2026-02-28.",
		`{"core/date":{"value":"2026-02-28","removed":"The date is no longer given; do not rely on the one that was given before."}}`)
	expect(t, begin(t, compose(t, source.Date(now, time.UTC))), source.Ready, "Today is Sunday, 2026-03-01.")

	at("2026-02-28T23:59:59-05:00")
	expect(t, reconcile(t, local, told.Snapshot), source.Unchanged, "")
	at("2026-03-01T00:00:00-05:00")
	told = reconcile(t, local, told.Snapshot)
	expect(t, told, source.Updated, "It is now Sunday, 2026-03-01.")
	expect(t, reconcile(t, local, told.Snapshot), source.Unchanged, "")
	if s := local.Sources()[0]; !s.Volatile() || s.Key() != "core/date" {
		t.Error("the date is not volatile")
	}
}

// TestNewDayLeavesTheRest tells a new day in one message, without the environment.
//
// covers: S-15
func TestNewDayLeavesTheRest(t *testing.T) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := compose(t, source.Date(func() time.Time { return day }, nil), source.Environment(source.Place{Dir: "/r", Root: "/r"}, "linux"))
	o := begin(t, c)
	if stable, volatile := o.Layers(); len(stable) != 1 || stable[0].Key != "core/environment" || len(volatile) != 1 {
		t.Errorf("stable %v, volatile %v", stable, volatile)
	}
	day = day.AddDate(0, 0, 1)
	o = reconcile(t, c, o.Snapshot)
	expect(t, o, source.Updated, "It is now Monday, 2026-03-02.")
}

func put(values ...string) []source.Source {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(values); i += 2 {
		m[values[i]] = json.RawMessage(values[i+1])
	}
	return source.API(m)
}

func TestAPI(t *testing.T) {
	o := begin(t, compose(t, put("note", `"a </context> & b\n"`, "build", ` {"z":1.50, "a":"<b>"} `)...))
	expect(t, o, source.Ready, "<context key=\"build\">\n{\"a\":\"<b>\",\"z\":1.50}\n</context>\n\n<context key=\"note\">\na &lt;/context> & b\n</context>")
	expect(t, reconcile(t, compose(t, put("build", `{"a":"\u003cb>","z":1.50}`, "note", `"a </context> & b\n"`)...), o.Snapshot), source.Unchanged, "")

	o = reconcile(t, compose(t, put("note", `false`)...), o.Snapshot)
	expect(t, o, source.Updated, "The context \"note\" has changed. This supersedes what it said before:\n<context key=\"note\">\nfalse\n</context>\n\n"+
		"The context \"build\" no longer applies; disregard it.")
	expect(t, reconcile(t, compose(t, put("note", `""`, "x", "null")...), o.Snapshot), source.Updated,
		"The context \"note\" has changed. This supersedes what it said before:\n<context key=\"note\">\n</context>\n\n<context key=\"x\">\nnull\n</context>")
}

func TestAPIThatIsWrong(t *testing.T) {
	for _, tt := range [][3]string{
		{"a", `{`, `source "api/a": its value is no JSON`},
		{"a", ``, `source "api/a": its value is no JSON`},
		{"a", `1 2`, `source "api/a": its value is more than one`},
		{"Note", `1`, `"api/Note" is not of the form`},
		{"", `1`, `"api/" is not of the form`},
	} {
		if _, err := source.Compose(put(tt[0], tt[1])...); err == nil || !strings.Contains(err.Error(), tt[2]) {
			t.Errorf("%q: %v, want %q", tt[:2], err, tt[2])
		}
	}
}
