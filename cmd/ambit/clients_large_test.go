//go:build clients

package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ambit/provider/scripted"

	"github.com/google/go-cmp/cmp"
)

// largeTokens is how many bytes a token has for the provider of the large job: so many that the whole of it is below the windows
// that the clients believe in.
const largeTokens = 5

// TestClientsLarge leads real clients through a job of large results against a provider that is as strict as the real ones:
// alone, under --policy cut and under --policy full. Each must end with the same files and status. So it must under full before
// a window of half of what it needs, of which some die alone. What was decided stands in the journal, and what was sent, byte
// for byte.
func TestClientsLarge(t *testing.T) {
	bin := clientsReady(t)
	waiting := make(chan client)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for c := range waiting {
				t.Run(c.name, func(t *testing.T) { c.workLarge(t, bin) })
			}
		})
	}
	for _, c := range largeClients() {
		waiting <- c
	}
	close(waiting)
	workers.Wait()
	t.Run("crush", func(t *testing.T) {
		c, bin, ok := crushUser()
		if !ok {
			t.Skip("no crush in PATH: no package holds it, it is built from its source")
		}
		c.workLarge(t, bin)
	})
}

// workLarge has a client do the large job alone and under each policy.
func (c *client) workLarge(t *testing.T, bin string) {
	alone := c.large(t, bin, "", scripted.Options{})
	if d := cmp.Diff(ledgerRead(), alone.files); d != "" || alone.code != 0 {
		t.Fatalf("alone: exit %d, the repository (-want +got):\n%s\n%s", alone.code, short(d), alone.tail())
	}
	alone.checkRefusals(t, 0)
	t.Logf("alone: %s", alone)
	for _, policy := range []string{"cut", "full"} {
		t.Run(policy, func(t *testing.T) {
			needPolicy(t, policy)
			got := c.large(t, bin, policy, scripted.Options{})
			got.checkSame(t, alone)
			got.checkRefusals(t, 0)
			if got.bytes() >= alone.bytes() {
				t.Errorf("%d bytes were sent, and %d without Ambit", got.bytes(), alone.bytes())
			}
			c.checkJournal(t, got, "cut")
		})
	}
	window := alone.provider.Peak() / 2
	t.Run("window", func(t *testing.T) { c.workNarrow(t, bin, window, alone) })
}

// workNarrow has a client do it before a window of tokens, which is no matter to it under Ambit, and of which some die alone.
func (c *client) workNarrow(t *testing.T, bin string, window int64, whole largeRun) {
	if c.dies() {
		alone := c.large(t, bin, "", scripted.Options{Window: window})
		t.Logf("alone, window %d: %s", window, alone)
		if alone.overflows() == 0 || alone.code == 0 || cmp.Equal(whole.files, alone.files) {
			t.Errorf("alone it should die before a window of %d tokens: %s\n%s", window, alone, alone.tail())
		}
	}
	needPolicy(t, "full")
	got := c.large(t, bin, "full", scripted.Options{Window: window, Late: true})
	got.checkSame(t, whole)
	got.checkRefusals(t, got.overflows())
	c.checkJournal(t, got, "prune", "compact")
}

// needPolicy skips a test of a policy that this ambit does not have.
func needPolicy(t *testing.T, policy string) {
	t.Helper()
	// No address is named, so that it does not start.
	out, _ := exec.CommandContext(t.Context(), "ambit", "up", "--addr", "none", "--policy", policy).CombinedOutput()
	if strings.Contains(string(out), "policy") {
		t.Skipf("%s", out)
	}
}

// largeRun is one run of the large job.
type largeRun struct {
	policy   string
	data     string
	code     int
	said     string
	files    map[string]string
	passed   []passed
	provider *scripted.Provider
}

// large runs a client through the large job, alone or under a policy.
func (c *client) large(t *testing.T, bin, policy string, o scripted.Options) largeRun {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the client sees it
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, ledger())
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=begin")
	o.Strict, o.BytesPerToken = true, largeTokens
	run := largeRun{policy: policy, data: t.TempDir(), provider: scripted.NewWith(largeJob(c.hands, dir), o)}
	tape, out := &tape{played: run.provider}, newOutside()
	upstream := httptest.NewServer(tape)
	defer upstream.Close()
	defer out.Close()
	url := upstream.URL
	stop := func() error { return nil }
	if policy != "" {
		up := c.startUp(t, run.data, upstream.URL, "--policy", policy)
		url, stop = up.url, up.stop
	}
	l := c.lead(t, bin, run.data, url, out.URL)
	run.code, run.said = l.try(t, dir, c.first, largeTask)
	if err := stop(); err != nil {
		t.Errorf("ambit up: %v", err)
	}
	run.passed, run.files = tape.all(), filesOf(t, dir)
	for _, f := range run.provider.Refusals() {
		t.Logf("refused with %d: %s", f.Status, f.Message)
	}
	if len(out.hosts) > 0 {
		t.Errorf("it wanted to leave this machine: %q", out.hosts)
	}
	return run
}

// bytes is how much was sent to the provider.
func (r largeRun) bytes() (n int) {
	for _, p := range r.passed {
		n += len(p.request)
	}
	return n
}

// overflows is how often the provider found a request too long.
func (r largeRun) overflows() (n int) {
	for _, f := range r.provider.Refusals() {
		if f.Overflow {
			n++
		}
	}
	return n
}

func (r largeRun) String() string {
	return fmt.Sprintf("exit %d, %d requests, %d bytes sent, at most %d tokens, %d too long", r.code, len(r.passed), r.bytes(), r.provider.Peak(), r.overflows())
}

// tail is the end of what the client said.
func (r largeRun) tail() string { return r.said[max(0, len(r.said)-2000):] }

// short is the beginning of a difference, whose files are large.
func short(d string) string { return d[:min(len(d), 2000)] }

// checkSame wants a run to end as another did.
func (r largeRun) checkSame(t *testing.T, as largeRun) {
	t.Helper()
	t.Logf("%s: %s", r.policy, r)
	if r.code != as.code {
		t.Errorf("exit %d, and %d without Ambit:\n%s", r.code, as.code, r.tail())
	}
	if d := cmp.Diff(as.files, r.files); d != "" {
		t.Errorf("the repository (-alone +under Ambit):\n%s\n%s", short(d), r.tail())
	}
}

// checkRefusals wants the provider to have refused nothing but so many requests as too long.
func (r largeRun) checkRefusals(t *testing.T, overflows int) {
	t.Helper()
	for _, f := range r.provider.Refusals() {
		if !f.Overflow || overflows == 0 {
			t.Errorf("%s was refused with %d: %s", f.Path, f.Status, f.Message)
		}
	}
}

// decided is a decision of the journal, as ambit log --json has it.
type decided struct {
	Kind, Stage, Policy, Why string
	N                        int
	Reactive                 bool
	Before                   int `json:"before_tokens"`
	After                    int `json:"after_tokens"`
}

// checkJournal wants a session whose journal is whole, in which a decision of one of the stages stands, and whose requests and answers
// are those that passed.
func (c *client) checkJournal(t *testing.T, r largeRun, want ...string) {
	t.Helper()
	found := ask[struct{ Sessions []sessionRow }](t, r.data, "sessions", "--json").Sessions
	if len(found) != 1 {
		t.Fatalf("%d sessions, want one: %+v", len(found), found)
	}
	session := found[0].Session
	checkProof(t, r.data, session)
	stages := map[string]int{}
	for line := range strings.Lines(answer(t, r.data, "log", session, "--json")) {
		var d decided
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind != "decision" {
			continue
		}
		stages[d.Stage]++
		if t.Failed() {
			t.Logf("before request %d, reactive %t: %s, from %d tokens to %d: %s", d.N, d.Reactive, d.Stage, d.Before, d.After, d.Why)
		}
		if d.Policy != r.policy {
			t.Errorf("a decision of the policy %q", d.Policy)
		}
	}
	t.Logf("%s: decisions %v", r.policy, stages)
	if !slices.ContainsFunc(want, func(stage string) bool { return stages[stage] > 0 }) {
		t.Errorf("nothing was decided of the stages %q: %v", want, stages)
	}
	requests := ask[struct{ Requests []requestRow }](t, r.data, "request", session, "--list", "--json").Requests
	c.checkRoute(t, requests)
	checkSent(t, r, session, requests)
}

// checkSent wants what ambit request says was sent, at each attempt, to be what the provider received, byte for byte, and its
// answer to be what is recorded.
func checkSent(t *testing.T, r largeRun, session string, requests []requestRow) {
	t.Helper()
	left := slices.Clone(r.passed)
	edited, again := 0, 0
	for _, row := range requests {
		n := strconv.Itoa(row.N)
		for attempt := range max(1, len(row.Sent)) {
			args := []string{"request", session, n}
			if attempt < len(row.Sent)-1 {
				args = append(args, "--attempt", strconv.Itoa(attempt+1))
				again++
			}
			sent := passed{row.Method + " " + row.Path, answer(t, r.data, args...), answer(t, r.data, append(args, "--response")...)}
			if at := slices.Index(left, sent); at >= 0 {
				left = slices.Delete(left, at, at+1)
			} else {
				t.Errorf("request %d at attempt %d, %s %s, %d, is not what was sent, or its response is not what came", row.N, attempt+1, row.Method, row.Path, row.Status)
			}
		}
		if len(row.Sent) > 0 && row.Sent[len(row.Sent)-1].Edited > 0 {
			edited++
		}
	}
	for _, p := range left {
		t.Errorf("%s, %d bytes, passed and is not recorded as it did", p.line, len(p.request))
	}
	t.Logf("%d requests recorded as they were sent, %d of them edited, and %d attempts that the client did not see", len(requests), edited, again)
}
