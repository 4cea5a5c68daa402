package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/index"
)

// searched is the answer of ambit search --json.
func searched(t *testing.T, dir string, status int, args ...string) ambit.Recalled {
	t.Helper()
	e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(t.Context(), e, append([]string{"search", "--json"}, args...)); got != status {
		t.Fatalf("ambit search %v: status %d, want %d; %s", args, got, status, said)
	}
	var a ambit.Recalled
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	return a
}

// TestSearchUnrecorded: what passed and was not recorded, or was recorded by a version that did not look for texts, may
// hold what is not found in the rest.
//
// covers: A-03 part
func TestSearchUnrecorded(t *testing.T) {
	dir := t.TempDir()
	d := madeSessions(t, dir, "gap", "older", "models", "empty")
	appendFacts(t, d, "gap", &entry.Gap{Exchanges: 1, Cause: "no space left on device", Since: time.Unix(1e9, 0)})
	unlock, err := d.Lock(t.Context(), "older")
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.Put(t.Context(), "older", []byte(`{"model":"m","messages":[{"role":"user","content":"here"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	request := entry.Request{N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Arrived: time.Unix(1e9, 0), Body: &body}
	if _, err := d.Append(t.Context(), "older", &request); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	appendFacts(t, d, "models", &entry.Request{N: 1, Provider: "anthropic", Type: "models", Method: "GET", Path: "/v1/models", Arrived: time.Unix(1e9, 0)})
	for _, session := range []string{"gap", "older"} {
		if a := searched(t, dir, 0, session, "here"); a.Status != index.Partial || a.Coverage != index.CoveragePartial || a.Reason != index.SourceUnavailable {
			t.Errorf("session %s: %+v", session, a)
		}
	}
	for _, session := range []string{"models", "empty"} {
		if a := searched(t, dir, 0, session, "here"); a.Status != index.CompleteMiss || a.Coverage != index.CoverageComplete || a.Reason != "" {
			t.Errorf("session %s: %+v", session, a)
		}
	}
}

// TestHandles: a ref with the suffix that it has in one session leads nowhere in another, though the entry is there.
//
// covers: A-01 part
func TestHandles(t *testing.T) {
	dir := t.TempDir()
	d := madeSessions(t, dir)
	talkHome(t, d) // f-fork goes on from e-talk, and has its e4
	handle := make(map[string]string)
	e, _, _ := testEnv(map[string]string{"AMBIT_HOME": dir})
	key, err := e.cursorKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"e-talk", "f-fork"} {
		rec, err := ambit.OpenRecording(t.Context(), d, session)
		if err != nil {
			t.Fatal(err)
		}
		handle[session] = rec.Handle(key, 4)
	}
	for _, c := range []struct {
		session, ref string
		status       int
	}{
		{"e-talk", "e4", exitDone},
		{"f-fork", "e4", exitDone},
		{"e-talk", handle["e-talk"], exitDone},
		{"f-fork", handle["f-fork"], exitDone},
		{"e-talk", handle["f-fork"], exitFail},
		{"f-fork", handle["e-talk"], exitFail},
		{"e-talk", strings.Replace(handle["e-talk"], "e4", "e5", 1), exitFail},
		{"e-talk", strings.ToUpper(handle["e-talk"]), exitFail},
		{"e-talk", handle["e-talk"][:len(handle["e-talk"])-1], exitFail},
		{"e-talk", handle["e-talk"] + "a", exitFail},
	} {
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
		if got := run(t.Context(), e, []string{"read", c.session, c.ref, "--json"}); got != c.status {
			t.Errorf("ambit read %s %s: status %d, want %d; %s", c.session, c.ref, got, c.status, said)
		}
		if holds := strings.Contains(out.String(), "needle"); holds != (c.status == exitDone) || holds && !strings.Contains(out.String(), `"ref":"`+c.ref+`"`) {
			t.Errorf("ambit read %s %s prints %.200q", c.session, c.ref, out)
		}
	}
}

// TestRefusals: every reason is said in words, with what to do.
func TestRefusals(t *testing.T) {
	e, _, _ := testEnv(nil)
	for _, reason := range []index.Reason{
		index.InvalidRequest, index.OperationBudget, index.Conflicting, index.RequiresRef, index.NotInCapture, index.RevisionMismatch,
		index.UnsupportedField, index.UnsupportedShape, index.EndBeyondSource, index.OutputLimit, index.ExpiredCursor, index.SourceUnavailable,
	} {
		for name, q := range map[string]question{
			"search": {session: "a b", text: "text", flags: &recallFlags{}},
			"read":   {session: "a b", reading: &ambit.Reading{Ref: "e1"}, flags: &recallFlags{}},
		} {
			why, hint := e.refusal(q, ambit.Recalled{Reason: reason})
			if why == "" || hint == "" || strings.Contains(why, "_") || strings.ContainsAny(why[len(why)-1:], ".!") {
				t.Errorf("%s refused for %s says %q, %q", name, reason, why, hint)
			}
			if strings.Contains(hint, " a b") {
				t.Errorf("%s refused for %s: %q cannot be typed as it is", name, reason, hint)
			}
		}
	}
}

// TestRecallInterrupted: an answer that was given up is none.
func TestRecallInterrupted(t *testing.T) {
	dir := t.TempDir()
	madeSessions(t, dir, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(ctx, e, []string{"search", "a", "text", "--json"}); got != exitFail || !strings.Contains(out.String(), `"status":"unavailable"`) {
		t.Errorf("status %d, %q, %q", got, out, said)
	}
	if said.String() != "ambit: interrupted\n" {
		t.Errorf("said %q", said)
	}
}
