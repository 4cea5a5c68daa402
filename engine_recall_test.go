package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/view"
)

// probe is a tool in which a test does what it likes, as the agent's tools would.
func (d *desk) probe(does func(ctx context.Context)) ambit.Tool {
	return ambit.Tool{
		Tool: view.Tool{Name: "probe", Schema: []byte(`{"type":"object"}`)},
		Run: func(ctx context.Context, _ json.RawMessage) (string, error) {
			does(ctx)
			return "probed", nil
		},
	}
}

// recall calls a tool of an engine and takes its label off.
func (d *desk) recall(ctx context.Context, tool, args string) (a ambit.Recalled, label string) {
	d.t.Helper()
	for _, t := range d.engine.Recall() {
		if t.Name != tool {
			continue
		}
		text, err := t.Run(ctx, []byte(args))
		if err != nil {
			text = err.Error()
		}
		var answer string
		if label, answer, _ = strings.Cut(text, "\n"); answer != "" {
			if err := json.Unmarshal([]byte(answer), &a); err != nil {
				d.t.Fatalf("%s: %v", text, err)
			}
		}
		if (err != nil) != (len(a.Results) == 0 && a.Status != "complete-miss" && a.Status != "partial") {
			d.t.Errorf("%s %s: %s, and the error %v", tool, args, text, err)
		}
	}
	return a, label
}

// recalled says what an answer holds in short: status, coverage, and of each result who it is in and its text.
func recalled(a ambit.Recalled) string {
	list := []string{string(a.Status), string(a.Coverage)}
	for _, r := range a.Results {
		list = append(list, r.Text)
	}
	return strings.Join(list, "|")
}

// An agent recalls what passed in its own session, the newest result included that no request holds yet, and reads it by the
// ref that it is given; what was never said is missed completely although it asks for it. The session is held and
// written meanwhile; so it is when it is taken up again, and in a fork, which has what both share.
//
// covers: A-01 part
// covers: A-02 part
// covers: A-03 part
// covers: A-04 part
// covers: A-05 part
// covers: A-06 part
func TestAgentRecalls(t *testing.T) {
	var d *desk
	search := func(text string) scripted.Call {
		return scripted.Call{Name: ambit.RecallSearch, Args: map[string]any{"text": text}}
	}
	var results []string
	probed := func(ctx context.Context) {
		for _, args := range []string{`{"text":"text of"}`, `{"text":"Walrus"}`, `{"text":"Find it."}`, `{"text":"You write code."}`, `{"text":"I look"}`} {
			a, label := d.recall(ctx, ambit.RecallSearch, args)
			if !strings.HasPrefix(label, "Recorded data of session ") || a.Authority != "tool-data" || a.Freshness != "unknown" {
				t.Errorf("%s is labelled %q: %+v", args, label, a)
			}
			for _, r := range a.Results {
				read, _ := d.recall(ctx, ambit.RecallRead, fmt.Sprintf(`{"ref":%q,"revision":%q,"field":%q,"start_line":%d,"end_line":%d}`, r.Ref, r.Revision, r.Field, r.StartLine, r.EndLine))
				if len(read.Results) != 1 || read.Results[0].Text != r.Text || read.Status != "found" {
					t.Errorf("%+v is read as %+v", r, read)
				}
			}
			results = append(results, recalled(a))
		}
	}
	d = newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Thought: "I look first.", Calls: []scripted.Call{scriptedCall("read", "a.go"), search("Walrus")}},
		{Calls: []scripted.Call{scriptedCall("read", "b.go"), {Name: "probe"}}},
		{Text: "Done."},
		{Calls: []scripted.Call{{Name: "probe"}}},
		{Text: "Done."},
	}}}}, scripted.Options{Strict: true}))
	d.setup.Agent.Tools = append(append(d.setup.Agent.Tools, d.probe(probed)), d.engine.Recall()...)
	s := d.begin("Find it.")
	d.run(s)
	want := []string{
		`found|complete|text of {"path":"a.go"}|text of {"path":"b.go"}`, "complete-miss|complete", "found|complete|Find it.", "complete-miss|complete", "complete-miss|complete",
	}
	if got := strings.Join(results, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("recalled:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	d.check(s.ID(), provider.TypeMessages)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fork := s.ID() + "-fork"
	if err := ambit.Fork(t.Context(), d.store, s.ID(), entry.Seq(len(d.facts(s.ID()))), entry.Session{ID: fork}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{s.ID(), fork} {
		results, d.engine = nil, d.anew()
		s, err := d.engine.Resume(t.Context(), id, d.setup)
		if err != nil {
			t.Fatal(err)
		}
		d.run(s, "Once more.")
		if id == fork { // it is told what the other session shares as text
			results[0] = strings.Replace(results[0], want[0][len("found|complete"):], "", 1)
		}
		if got := strings.Join(results, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("%s recalled:\n%s\nwant:\n%s", id, got, strings.Join(want, "\n"))
		}
	}
}

// What an agent may ask for is bounded as everywhere, and what it asks wrongly it is told.
//
// covers: A-03 part
// covers: A-04 part
func TestRecallRefuses(t *testing.T) {
	asked := 0
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a.go"), scriptedCall("read", "b.go"), {Name: "probe"}}}, {Text: "Done."},
	}}}}, scripted.Options{Strict: true}))
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.probe(func(ctx context.Context) {
		asked++
		for _, x := range [][3]string{
			{ambit.RecallSearch, `{}`, "invalid_request: a ref is such as"},
			{ambit.RecallSearch, `{"text":"x","max_results":17}`, "operation_budget: Leave max_bytes and max_results out"},
			{ambit.RecallSearch, `{"text":"x","cursor":"none"}`, "expired_cursor: Ask again without it"},
			{ambit.RecallSearch, `{"text":7}`, ": the arguments are not as they should be"},
			{ambit.RecallSearch, `{"text":"x","path":"a.go"}`, `: the arguments are not as they should be: json: unknown field "path"`},
			{ambit.RecallSearch, `[]`, ": the arguments are none"},
			{ambit.RecallSearch, `{"text":"x","session":"20260101-elsewhere"}`, `ref_not_in_captured_branch: no agent that you gave work to has the session "20260101-elsewhere"`},
			{ambit.RecallRead, `{"ref":"e9999"}`, "ref_not_in_captured_branch: no text of this session has that ref"},
			{ambit.RecallRead, `{"ref":"../secret"}`, "invalid_request: a ref is such as"},
			{ambit.RecallRead, `{"ref":"e2"}`, "ref_not_in_captured_branch: no text"},
			{ambit.RecallRead, `{"ref":"e3","revision":"abc"}`, "revision_mismatch: the entry has another revision"},
			{ambit.RecallRead, `{"ref":"e3","start_line":2}`, "conflicting_selection: start_line and end_line go together"},
			{ambit.RecallRead, `{"ref":"e3","start_line":7,"end_line":8}`, "requested_end_beyond_source: the text ends before"},
			{ambit.RecallRead, `{"ref":"e3.abcdefgh"}`, "ref_not_in_captured_branch: no text"},
		} {
			a, label := d.recall(ctx, x[0], x[1])
			reason, says, _ := strings.Cut(x[2], ": ")
			if string(a.Reason) != strings.TrimPrefix(reason, ":") || !strings.Contains(label, says) || len(a.Results) > 0 {
				t.Errorf("%s %s: %q, %+v", x[0], x[1], label, a)
			}
		}
		first, _ := d.recall(ctx, ambit.RecallSearch, `{"text":"text of","max_results":1}`)
		if first.Cursor == "" || recalled(first) != `partial|partial|text of {"path":"a.go"}` && recalled(first) != `found|partial|text of {"path":"a.go"}` {
			t.Errorf("the first page is %+v", first)
		}
		second, _ := d.recall(ctx, ambit.RecallSearch, fmt.Sprintf(`{"text":"text of","max_results":1,"cursor":%q}`, first.Cursor))
		if len(second.Results) != 1 || second.Results[0].Text != `text of {"path":"b.go"}` {
			t.Errorf("the second page is %+v", second)
		}
		if a, _ := d.recall(ctx, ambit.RecallRead, `{"ref":"e3"}`); recalled(a) != "found|complete|Go." {
			t.Errorf("the input is read as %+v", a)
		}
		ended, stop := context.WithCancelCause(ctx)
		stop(errors.New("enough"))
		if _, err := d.engine.Recall()[0].Run(ended, []byte(`{"text":"x"}`)); err == nil || err.Error() != "enough" {
			t.Errorf("when its time is over: %v", err)
		}
	}))
	d.run(d.begin("Go."))
	if _, err := d.engine.Recall()[0].Run(t.Context(), []byte(`{"text":"Go."}`)); err == nil || !strings.Contains(err.Error(), "nobody's session") || asked != 1 {
		t.Errorf("without a session: %v", err)
	}
}

// A cursor goes on in what there was when the answer was given that it comes from, whatever was recorded since: a result, or that
// the session works with another model.
//
// covers: A-03 part
func TestRecallPages(t *testing.T) {
	search := scripted.Call{Name: ambit.RecallSearch, Args: map[string]any{"text": "text of"}}
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a.go")}},
		{Calls: []scripted.Call{search, scriptedCall("read", "b.go"), {Name: "probe"}, scriptedCall("read", "c.go"), {Name: "probe"}}},
		{Text: "Done."},
	}}}}, scripted.Options{}))
	var s *ambit.Session
	var pages []string
	cursor := ""
	d.setup.Agent.Tools = append(append(d.setup.Agent.Tools, d.probe(func(ctx context.Context) {
		a, _ := d.recall(ctx, ambit.RecallSearch, fmt.Sprintf(`{"text":"text of","max_results":1,"cursor":%q}`, cursor))
		pages, cursor = append(pages, recalled(a)), a.Cursor
		for len(pages) > 1 && cursor != "" && len(pages) < 9 {
			a, _ := d.recall(ctx, ambit.RecallSearch, fmt.Sprintf(`{"text":"text of","max_results":1,"cursor":%q}`, cursor))
			pages, cursor = append(pages, recalled(a)), a.Cursor
		}
		other := d.setup
		other.Model.Name = "m-2"
		if err := s.Switch(ctx, other); err != nil {
			t.Error(err)
		}
	})), d.engine.Recall()...)
	s = d.begin("Go.")
	d.run(s)
	want := []string{`found|partial|text of {"path":"a.go"}`, `found|partial|{"status":"found",`, `found|complete|text of {"path":"b.go"}`} // what was recalled passed, too
	if len(pages) != 3 || pages[0] != want[0] || !strings.HasPrefix(pages[1], want[1]) || pages[2] != want[2] {
		t.Errorf("the pages:\n%s", strings.Join(pages, "\n"))
	}
}

// An agent recalls the sessions of those that it gave work to: one that came to its end, one that was cut short, whose last
// result no request holds, and after another process took its session up, or theirs. They see nothing but their own, and nobody
// sees somebody else's.
//
// covers: J-11
// covers: A-01 part
func TestOwnerRecalls(t *testing.T) {
	task := func(prompt string) scripted.Call {
		return scripted.Call{Name: "task", Args: map[string]any{"prompt": prompt}}
	}
	looks := scripted.Turn{Calls: []scripted.Call{scriptedCall("read", "a"), {Name: "probe"}}}
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{
		{Match: "Short work", Turns: []scripted.Turn{looks, {Text: "It is in a."}, {Text: "Still."}}},
		{Match: "Long work", Turns: []scripted.Turn{{Calls: []scripted.Call{scriptedCall("read", "long")}}, {Calls: []scripted.Call{scriptedCall("read", "longer")}}}},
		{Match: "Boss", Turns: []scripted.Turn{{Calls: []scripted.Call{task("Short work."), task("Long work."), {Name: "probe"}}}, {Text: "Thanks."}, {Calls: []scripted.Call{{Name: "probe"}}}, {Text: "Thanks."}}},
		{Match: "Other", Turns: []scripted.Turn{{Calls: []scripted.Call{{Name: "probe"}}}, {Text: "No."}}},
	}}, scripted.Options{Strict: true}))
	var boss, who string
	var saw []string
	all := func() (ids []string) {
		ids, err := d.store.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	probe := d.probe(func(ctx context.Context) {
		for i, id := range all() {
			for _, text := range []string{`text of {\"path\":\"a\"}`, `text of {\"path\":\"longer\"}`} {
				a, _ := d.recall(ctx, ambit.RecallSearch, fmt.Sprintf(`{"text":"%s","session":%q}`, text, id))
				if saw = append(saw, fmt.Sprintf("%s %d %s", who, i, recalled(a))); len(a.Results) > 0 {
					read, _ := d.recall(ctx, ambit.RecallRead, fmt.Sprintf(`{"ref":%q,"field":%q,"session":%q}`, a.Results[0].Ref, a.Results[0].Field, id))
					if recalled(read) != recalled(a) {
						t.Errorf("%s is read as %+v", saw[len(saw)-1], read)
					}
				}
			}
		}
	})
	child := d.setup
	child.Agent.Name, child.Watch, child.Limits.Turns = "helper", nil, 2
	child.Agent.Tools = append(child.Agent.Tools, d.probe(func(ctx context.Context) {
		if a, _ := d.recall(ctx, ambit.RecallSearch, fmt.Sprintf(`{"text":"Boss","session":%q}`, boss)); a.Status != "not_authorized" {
			t.Errorf("a sub-agent sees its owner's session: %+v", a)
		}
		if a, _ := d.recall(ctx, ambit.RecallSearch, `{"text":"Short"}`); recalled(a) != "found|complete|Short work." {
			t.Errorf("a sub-agent sees of its own %+v", a)
		}
	}))
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.engine.Task(func() (ambit.Setup, error) { return child, nil }), probe)
	s := d.begin("Boss says go.")
	boss, who = s.ID(), "first"
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ids := all()
	helper, err := d.anew().Resume(t.Context(), ids[1], child) // somebody goes on with it, and names no parent
	if err != nil {
		t.Fatal(err)
	}
	d.run(helper, "Short work again.")
	if err := helper.Close(); err != nil {
		t.Fatal(err)
	}
	d.engine = d.anew()
	if s, err = d.engine.Resume(t.Context(), boss, d.setup); err != nil {
		t.Fatal(err)
	}
	who = "again"
	d.run(s, "Boss says more.")
	d.setup.Agent.Name, who = "other", "other"
	d.run(d.begin("Other work."))
	const a, longer, no, none = `found|complete|text of {"path":"a"}`, `found|complete|text of {"path":"longer"}`, "not_authorized|unknown", "complete-miss|complete"
	var want []string
	for _, w := range []string{"first", "again"} {
		want = append(want, w+" 0 "+none, w+" 0 "+none, w+" 1 "+a, w+" 1 "+none, w+" 2 "+none, w+" 2 "+longer)
	}
	for i := range 3 {
		want = append(want, fmt.Sprintf("other %d %s", i, no), fmt.Sprintf("other %d %s", i, no))
	}
	want = append(want, "other 3 "+none, "other 3 "+none)
	if got := strings.Join(saw, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("seen:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// What was purged is not recalled, and says so.
//
// covers: J-13 part
func TestRecallOfPurged(t *testing.T) {
	var saw []string
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a")}}, {Text: "Done."}, {Calls: []scripted.Call{{Name: "probe"}}}, {Text: "Done."},
	}}}}, scripted.Options{}))
	d.setup.Model.Rest = nil
	var ref string
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.probe(func(ctx context.Context) {
		for _, x := range [][2]string{{ambit.RecallRead, fmt.Sprintf(`{"ref":%q}`, ref)}, {ambit.RecallSearch, `{"text":"text of"}`}} {
			a, _ := d.recall(ctx, x[0], x[1])
			saw = append(saw, recalled(a)+" "+string(a.Reason))
		}
	}))
	s := d.begin("Go.")
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, f := range d.facts(s.ID()) {
		if f.Kind() == entry.KindResult {
			ref = entry.Seq(i + 1).Ref()
		}
	}
	r, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := d.store.Lock(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.PurgeText(t.Context(), key, ref); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if s, err = d.engine.Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "Look.")
	if got := strings.Join(saw, "\n"); got != "unavailable|unknown canonical_source_unavailable\npartial|partial canonical_source_unavailable" {
		t.Errorf("recalled:\n%s", got)
	}
}
