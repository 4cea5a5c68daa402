package main

import (
	"strings"
	"testing"
	"time"

	"ambit/entry"
	"ambit/journal"
)

// sentHome records a request that was refused once, made shorter, and answered; one that went as it came, though it might have
// been edited; and one that no policy looked at.
func sentHome(t *testing.T) string {
	t.Helper()
	dir, ctx := t.TempDir(), t.Context()
	d, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	unlock, err := d.Lock(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	put := func(text string) *entry.Body {
		b, err := d.Put(ctx, "s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &b
	}
	facts := []entry.Fact{&entry.Session{ID: "s"}}
	for n, text := range []string{"client one", "client two", "client three"} {
		facts = append(facts, &entry.Request{N: n + 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Arrived: time.Unix(1e9, 0), Body: put(text)})
	}
	facts = append(
		facts,
		&entry.Decision{N: 1, Thread: "t1", Policy: "full", Stage: entry.StagePrune, Event: entry.StagePrune.Event(), Before: 90, After: 50, Why: "too long", Forced: true, Price: 0.5},
		&entry.Edit{N: 1, Thread: "t1", Changes: 3, Body: put("[]")},
		&entry.Sent{N: 1, Attempt: 1, Edited: 2, Whole: 90, After: 60, Held: []string{"p1"}, Body: put("first attempt")},
		&entry.Sent{N: 1, Attempt: 2, Edited: 3, Whole: 90, After: 50, Held: []string{"p1"}, Missing: []string{"p2: not the main thread"}, Body: put("second attempt"), Refused: put("too long"), Status: 400},
		&entry.Sent{N: 2, Attempt: 1, Why: "it holds nothing that could be cut", Whole: 9, After: 9},
	)
	for n, text := range []string{"answer one", "answer two", "answer three"} {
		facts = append(facts, &entry.Response{N: n + 1, Status: 200, End: entry.EndComplete, Body: put(text)})
	}
	if _, err := d.Append(ctx, "s", facts...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRequestSent prints what went to the provider, at each attempt, what came back, and what the client had sent.
//
// covers: I-02 part
// covers: N-03 part
func TestRequestSent(t *testing.T) {
	dir := sentHome(t)
	for _, c := range []struct {
		args string
		want string
	}{
		{"1", "second attempt"},
		{"1 --attempt 1", "first attempt"},
		{"1 --attempt 2", "second attempt"},
		{"1 --client", "client one"},
		{"1 --response", "answer one"},
		{"1 --response --attempt 2", "answer one"},
		{"1 --response --attempt 1", "too long"},
		{"2", "client two"},
		{"2 --attempt 1", "client two"},
		{"2 --client", "client two"},
		{"3", "client three"},
		{"3 --attempt 1", "client three"},
		{"3 --client", "client three"},
		{"3 --response", "answer three"},
	} {
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
		if got := run(t.Context(), e, append([]string{"request", "s"}, strings.Fields(c.args)...)); got != 0 || out.String() != c.want {
			t.Errorf("request s %s: status %d, %q, want %q; %s", c.args, got, out, c.want, said)
		}
	}
	for args, want := range map[string]int{
		"1 --attempt 3": 1, "3 --attempt 2": 1, "1 --attempt 0": 2, "1 --attempt -1": 2, "1 --client --attempt 1": 2, "1 --client --response": 2, "1 --client --json": 2, "--list --client": 2,
	} {
		e, out, _ := testEnv(map[string]string{"AMBIT_HOME": dir})
		if got := run(t.Context(), e, append([]string{"request", "s"}, strings.Fields(args)...)); got != want || out.Len() > 0 {
			t.Errorf("request s %s: status %d, want %d; %s", args, got, want, out)
		}
	}
	e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(t.Context(), e, []string{"request", "s", "1", "--json"}); got != 0 ||
		!strings.Contains(out.String(), `"pins_held":["p1"],"pins_absent":["p2: not the main thread"],"refused_before":400}]`) {
		t.Errorf("%s %s", out, said)
	}
}

// TestLogDecided prints what was decided in a line each.
func TestLogDecided(t *testing.T) {
	dir := sentHome(t)
	e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(t.Context(), e, []string{"log", "s", "--entries"}); got != 0 {
		t.Fatal(said)
	}
	for _, want := range []string{
		"decision  before #1 t1 context.pruned, ~90 tokens to ~50, forced, $0.5000: too long\n",
		"edit      before #1 t1, 3 changes, 2 bytes\n",
		"sent      #1 attempt 1, ~60 tokens of ~90, 2 messages edited, 13 bytes, 1 of 1 pin held\n",
		"sent      #1 attempt 2, ~50 tokens of ~90, 3 messages edited, 14 bytes, 1 of 2 pins held; the attempt before was refused with 400\n",
		"sent      #2 attempt 1, ~9 tokens of ~9, as it came: it holds nothing that could be cut\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	e, out, _ = testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(t.Context(), e, []string{"log", "s", "--json", "--thread", "t9"}); got != 1 {
		t.Errorf("status %d, %s", got, out)
	}
}
