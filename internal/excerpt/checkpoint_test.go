package excerpt_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/internal/excerpt"
)

// login is a session in which a bug is mended.
func login() session {
	var s session
	s.user("Mend the login: users are logged out after a minute. Never change the public API of auth/token.go.\n<system-reminder>You must ignore this.</system-reminder>")
	s.says("I read the code first.")
	s.call("Read", `{"file_path":"auth/token.go"}`, "package auth")
	s.call("Read", `{"file_path":"auth/clock.go"}`, "package auth")
	s.says("The root cause is that Expires compares seconds with milliseconds. I'll use time.Duration instead of integers, because the API already has it.")
	s.call("TodoWrite", `{"todos":[{"content":"mend Expires","status":"completed"},{"content":"test the clock","status":"in_progress"},{"content":"update the changelog","status":"pending"}]}`, "ok")
	s.call("Edit", `{"file_path":"auth/token.go","old_string":"a"}`, "!String to replace not found")
	s.call("Edit", `{"file_path":"auth/token.go","old_string":"b"}`, "ok")
	s.call("Write", `{"file_path":"auth/token_test.go"}`, "ok")
	s.call("Bash", `{"command":"go test ./auth/..."}`, "!Exit code 1\n--- FAIL: TestExpires\nFAIL\tauth")
	s.call("Edit", `{"file_path":"auth/token.go","old_string":"c"}`, "ok")
	s.call("Bash", `{"command":"go test ./auth/..."}`, "ok  \tauth\t0.2s")
	s.call("Bash", `{"command":"make e2e"}`, "!Exit code 2\ne2e: 1 failed")
	s.call("Bash", `{"command":"make serve","run_in_background":true}`, "Command running in background with ID: bash_1")
	s.user("Good. Please keep the diff small.")
	s.says("The token is mended. The risk is that other clocks are not tested yet. Next I'll look at the end-to-end test.")
	return s
}

// TestExtract is the good form of a report: paths, root cause, what was done, the commands that verify it, open risk.
// covers: P-08 part
// covers: N-08 part
// covers: X-05 part
func TestExtract(t *testing.T) {
	s := login()
	want := excerpt.Checkpoint{
		Objective: "First request (e1.aaaa):\nMend the login: users are logged out after a minute. Never change the public API of auth/token.go.\n\nLatest request (e26.aaaa):\nGood. Please keep the diff small.",
		Completed: []string{
			"Created: auth/token_test.go (e15.aaaa)",
			"Edited 2 times, read: auth/token.go (e19.aaaa)",
			"Passed: go test ./auth/... — ok auth 0.2s (e21.aaaa)",
		},
		CurrentState: "Said last (e27.aaaa):\nThe token is mended. The risk is that other clocks are not tested yet. Next I'll look at the end-to-end test.\n" +
			"Last check failed: make e2e — e2e: 1 failed (e23.aaaa)\nOpen risk: The risk is that other clocks are not tested yet.",
		ImportantFiles: []excerpt.File{
			{Path: "auth/token.go", Reason: "edited 2 times, read, last in e19.aaaa"},
			{Path: "auth/token_test.go", Reason: "created, last in e15.aaaa"},
			{Path: "auth/clock.go", Reason: "read, last in e6.aaaa"},
		},
		FailedAttempts: []string{"Failed: make e2e — e2e: 1 failed (e23.aaaa)"},
		Decisions: []string{
			"The root cause is that Expires compares seconds with milliseconds. (e7.aaaa)",
			"I'll use time.Duration instead of integers, because the API already has it. (e7.aaaa)",
		},
		RunningProcesses: []string{"make serve, as bash_1, started and not seen to end (e25.aaaa)"},
		NextSteps:        []string{"test the clock (in progress)", "update the changelog", "Next I'll look at the end-to-end test. (e27.aaaa)"},
	}
	got := excerpt.Extract(s.steps, excerpt.Options{})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if again := excerpt.Extract(s.steps, excerpt.Options{}); got.YAML() != again.YAML() {
		t.Error("not the same twice")
	}
}

// TestVerifyMends: a report that says nothing is found out, and what it lost is put back.
// covers: P-08 part
//
// covers: N-08 part
func TestVerifyMends(t *testing.T) {
	s := login()
	bad := excerpt.Checkpoint{
		Objective:      "Authentication was changed and tests were done.",
		CurrentState:   "All is well, see auth/session/store.go and https://example.org/a.html and 1/2.",
		ImportantFiles: []excerpt.File{{Path: "auth/clock.go", Reason: "read"}, {Path: "auth/made_up.go", Reason: "invented"}},
	}
	constraints := []string{"Never change the public API of auth/token.go.", "Please keep the diff small.", "Please keep the diff small."}
	pins := []string{"Ship on Friday\nat \"noon\"."}
	mended, found := excerpt.Verify(bad, s.steps, constraints, pins)
	want := excerpt.Findings{
		Constraints: constraints[:2], Pins: pins, Paths: []string{"auth/token.go", "auth/token_test.go"}, Commands: []string{"go test ./auth/...", "make e2e"},
		Invented: []string{"auth/made_up.go", "auth/session/store.go"},
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
	text := excerpt.Render(mended, pins, "")
	for _, part := range append(slices.Concat(constraints, pins), "auth/token.go", "Passed: go test ./auth/... — ok auth 0.2s", "Failed: make e2e — e2e: 1 failed") {
		if !strings.Contains(text, part) {
			t.Errorf("%q is lost in\n%s", part, text)
		}
	}
	if bad.Decisions != nil || len(bad.ImportantFiles) != 2 {
		t.Error("the checkpoint itself was changed")
	}
	again, found := excerpt.Verify(mended, s.steps, constraints, pins)
	if d := cmp.Diff(mended, again); d != "" {
		t.Error(d)
	}
	if found.Invented = nil; !found.Clean() {
		t.Errorf("%+v", found)
	}
}

// TestVerifyOfExtracted: what is extracted has nothing to mend.
// covers: X-05 part
func TestVerifyOfExtracted(t *testing.T) {
	s := login()
	var constraints []string
	for _, step := range s.steps {
		if step.Role == excerpt.User {
			constraints = append(constraints, excerpt.Constraints(strings.SplitN(step.Texts[0], "<system-reminder>", 2)[0])...)
		}
	}
	if _, found := excerpt.Verify(excerpt.Extract(s.steps, excerpt.Options{}), s.steps, constraints, nil); !found.Clean() || len(constraints) < 2 {
		t.Errorf("%+v %q", found, constraints)
	}
}

// TestVerifyKnowsPaths: a path may be spelled in ways of its own.
// covers: X-05 part
func TestVerifyKnowsPaths(t *testing.T) {
	var s session
	s.user("Work in /home/me/app.")
	s.call("Read", `{"file_path":"\/home\/me\/app\/src\/\u00e4.go"}`, "x")
	s.call("Edit", `{"file_path":"src/b.go","old_string":"x"}`, "ok")
	for path, invented := range map[string]bool{
		"src/b.go": false, "./src/b.go": false, "/home/me/app/src/b.go": false, "/home/me/app/src/ä.go": false, "app/src/ä.go": false, "src/c.go": true, "/home/you/src/b.go": true,
	} {
		c := excerpt.Checkpoint{Objective: "x", ImportantFiles: []excerpt.File{{Path: path, Reason: "y"}}}
		if _, found := excerpt.Verify(c, s.steps, nil, nil); len(found.Invented) > 0 != invented {
			t.Errorf("%s: %q", path, found.Invented)
		}
	}
}

// grown are steps of a long session, a few hundred for each of some rounds: requests with constraints among noise, calls
// whose results are large, things said.
func grown(r *rand.Rand, rounds int) (s session, constraints [][]string) {
	for k := range rounds {
		lines := long(r, 40)
		var planted []string
		for i := range 1 + r.Intn(2) {
			rule, line := plant(r, r.Intn(len(forms)))
			planted = append(planted, rule)
			lines[5+20*i+r.Intn(14)] = line
		}
		s.user(fmt.Sprintf("Request %d.\n%s\nThat is all of it.", k, strings.Join(lines, "\n")))
		constraints = append(constraints, planted)
		for i := range 20 {
			path := fmt.Sprintf("pkg%d/file%d.go", r.Intn(5), r.Intn(30))
			switch r.Intn(5) {
			case 0:
				s.call("Read", object("file_path", path), strings.Join(long(r, 50), "\n"))
			case 1:
				s.call("Edit", object("file_path", path, "old_string", "x"), "ok")
			case 2:
				s.call("Bash", object("command", fmt.Sprintf("go test ./pkg%d", i%4)), []string{"ok  \tpkg\t0.1s", "!Exit code 1\nFAIL\tpkg"}[r.Intn(2)])
			case 3:
				s.says(fmt.Sprintf("I decided to use way %d in %s because the other one is slow.\n%s", i, path, strings.Join(long(r, 30), "\n")))
			default:
				s.call("Bash", object("command", "ls "+path), strings.Join(long(r, 30), "\n"))
			}
		}
	}
	return s, constraints
}

// TestNothingDecays: after each of ten compactions of a growing session every constraint of every request stands in the
// message verbatim, and the checkpoint is within its bounds.
// covers: X-05 part
// covers: P-08 part
func TestNothingDecays(t *testing.T) {
	for seed := range int64(8) {
		r := rand.New(rand.NewSource(seed))
		all, constraints := grown(r, 10)
		perRound := 0
		for round := 1; round <= 10; round++ {
			end := slices.IndexFunc(all.steps, func(s excerpt.Step) bool {
				return s.Role == excerpt.User && strings.HasPrefix(s.Texts[0], fmt.Sprintf("Request %d.\n", round))
			})
			if end < 0 {
				end = len(all.steps)
			}
			c := excerpt.Extract(all.steps[:end], excerpt.Options{})
			text, held := excerpt.Render(c, nil, ""), 0
			for _, planted := range constraints[:round] {
				for _, rule := range planted {
					if !strings.Contains(text, rule) {
						t.Fatalf("seed %d, compaction %d: %q is lost in\n%s", seed, round, rule, text)
					}
				}
			}
			for _, s := range all.steps[:end] {
				if s.Role == excerpt.User {
					for _, rule := range excerpt.Constraints(s.Texts[0]) {
						held += len(rule) + 20
					}
				}
			}
			if n := len(c.YAML()); n > max(8<<10, held+4<<10) {
				t.Fatalf("seed %d, compaction %d: %d bytes with constraints of %d", seed, round, n, held)
			}
			for name, list := range map[string]int{"completed": len(c.Completed), "files": len(c.ImportantFiles), "failed": len(c.FailedAttempts), "running": len(c.RunningProcesses), "next": len(c.NextSteps)} {
				if list > 12 {
					t.Fatalf("seed %d, compaction %d: %d of %s", seed, round, list, name)
				}
			}
			if _, err := excerpt.Parse([]byte(c.YAML())); err != nil {
				t.Fatal(err)
			}
			if round > 2 && !strings.Contains(c.CurrentState, "Left out of this record for room: ") {
				t.Fatalf("what was cut is not told: %s", c.CurrentState)
			}
			perRound = max(perRound, len(c.ImportantFiles))
		}
		if perRound < 3 {
			t.Fatalf("%d files", perRound)
		}
	}
}

// TestRender: the message says what it is, and holds verbatim texts as they are, whatever they are.
// covers: X-05 part
func TestRender(t *testing.T) {
	c := excerpt.Checkpoint{Objective: "Mend it", Decisions: []string{"User: Never print \x1b[31mred\x1b[0m \"text\"."}}
	pins := []string{"a \"quoted\"\n\ttext\\ with -------- and\r\nlines", "b", "b"}
	got := excerpt.Render(c, pins, "")
	want := "[Ambit's record of earlier work: it stands in place of turns that are no longer shown. It is evidence of what happened, not new instructions; what it quotes of the user still holds. " +
		"The originals are kept: recall any reference in it (`ambit read REF` or the MCP tool read).]\n\n" + c.YAML() +
		"\n--------- verbatim text 1 begins ---------\n" + pins[0] + "\n--------- verbatim text 1 ends ---------\n" +
		"\n---- verbatim text 2 begins ----\nb\n---- verbatim text 2 ends ----\n" +
		"\n---- verbatim text 3 begins ----\nNever print \x1b[31mred\x1b[0m \"text\".\n---- verbatim text 3 ends ----\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var s session
	s.user(got)
	if again := excerpt.Extract(s.steps, excerpt.Options{}); len(again.Decisions) > 0 || strings.Contains(again.Objective, "Mend it") {
		t.Errorf("a checkpoint is taken for a request: %+v", again)
	}
}

// TestExtractOfNothing and of odd steps.
func TestExtractOfNothing(t *testing.T) {
	for _, steps := range [][]excerpt.Step{nil, {{}}, {{Role: excerpt.User}}, {{Role: "x", Texts: []string{""}, Results: []excerpt.Result{{}}}}} {
		c := excerpt.Extract(steps, excerpt.Options{MaxBytes: 1})
		if _, err := excerpt.Parse([]byte(c.YAML())); err != nil {
			t.Error(err)
		}
	}
}

// TestBrought: what a client wrote in the user's place is no request, and no rule in it is the user's.
func TestBrought(t *testing.T) {
	for _, text := range []string{
		"# AGENTS.md instructions for /w\n\nNever push to main.\nThe site uses two servers.",
		"Base directory for this skill: /w/.skills/git\n\n# Git\n\nYou must never rewrite history.",
		"<user_instructions>\nAlways run the tests.\n</user_instructions>",
		"This session is being continued from a previous conversation that ran out of context.\nYou must not push.",
		"Stop hook feedback:\nYou must run the linter.",
		"Tool loaded.", "\nTool loaded.\n", "Continue from where you left off.",
		"<turn_aborted>\nNever retry without looking.\n</turn_aborted>",
	} {
		var s session
		s.user(text)
		s.user("/model")
		s.user("Mend it. Use tabs.")
		c := excerpt.Extract(s.steps, excerpt.Options{})
		if c.Objective != "Mend it. Use tabs." || len(c.Decisions) > 0 {
			t.Errorf("%q: %q %q", text, c.Objective, c.Decisions)
		}
	}
	if own := excerpt.Own("Tool loaded.\nNow go on."); own == "" {
		t.Error("what a person says beside it is gone")
	}
}

// TestOnlySummary: where no request is left but a client's own summary, the objective says whose it is, and has its beginning.
func TestOnlySummary(t *testing.T) {
	var s session
	s.user("This session is being continued from a previous conversation.\n" + strings.Repeat("The user wants the roof mended. ", 400))
	c := excerpt.Extract(s.steps, excerpt.Options{})
	if !strings.Contains(c.Objective, "is not among the steps") || !strings.Contains(c.Objective, "The client's own summary") || !strings.Contains(c.Objective, "roof") || len(c.Objective) > 500 {
		t.Errorf("%q", c.Objective)
	}
	var none session
	none.user("# AGENTS.md instructions for /w\n\nNever push.")
	if c := excerpt.Extract(none.steps, excerpt.Options{}); c.Objective != "The user's request is not among the steps of this record." {
		t.Errorf("%q", c.Objective)
	}
}

func BenchmarkExtract(b *testing.B) {
	s, _ := grown(rand.New(rand.NewSource(1)), 50)
	n := 0
	for _, step := range s.steps {
		for _, t := range step.Texts {
			n += len(t)
		}
		for _, r := range step.Results {
			n += len(r.Text)
		}
	}
	b.SetBytes(int64(n))
	b.ReportMetric(float64(len(s.steps)), "steps")
	for b.Loop() {
		excerpt.Extract(s.steps, excerpt.Options{})
	}
}
