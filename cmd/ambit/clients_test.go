//go:build clients

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/provider/scripted"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestClients lets real clients, set up as ambit setup says, work through ambit up against a scripted provider. Three do a
// job, one after the other: what they leave in the repository, what passed, what was recorded of it and how it hangs
// together must be what it should. The others ask one thing. make test-clients builds the command first.
func TestClients(t *testing.T) {
	bin := clientsReady(t)
	data := t.TempDir() // of all clients, so that each must get a session of its own
	tree := &txtar.Archive{Comment: []byte(treeComment)}
	var known []string
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			all := c.work(t, bin, data)
			found := ask[struct{ Sessions []sessionRow }](t, data, "sessions", "--json").Sessions
			found = slices.DeleteFunc(found, func(s sessionRow) bool { return slices.Contains(known, s.Session) })
			for _, s := range found {
				known = append(known, s.Session)
			}
			if len(found) != 1 {
				t.Fatalf("%d sessions, want one: %+v", len(found), found)
			}
			requests := ask[struct{ Requests []requestRow }](t, data, "request", found[0].Session, "--list", "--json").Requests
			c.checkRoute(t, requests)
			checkPassed(t, data, found[0].Session, requests, all)
			checkFaults(t, requests)
			checkProof(t, data, found[0].Session)
			tree.Files = append(tree.Files, txtar.File{Name: c.name, Data: []byte(treeOf(requests))})
		})
	}
	checkTree(t, tree)
	t.Run("setup", func(t *testing.T) { askAll(t, bin) })
}

const treeComment = `How the requests of each client hang together: the number of a request, its thread, how it stands to which other, and its
status and end where they are not 200 complete. make test-clients ARGS=-update writes this.
`

var update = flag.Bool("update", false, "write testdata/clients/tree.txtar as it comes out")

// treeOf is how the requests of a session hang together, a line each: number, thread, relation, and what is odd of it.
// Side requests come first and all are numbered anew, for they race with what they stand beside.
func treeOf(requests []requestRow) string {
	var rows []requestRow
	for _, side := range []bool{true, false} {
		for _, r := range requests {
			if side == (r.Relation == string(entry.Side)) {
				rows = append(rows, r)
			}
		}
	}
	number, thread := map[int]int{}, map[string]int{}
	var b strings.Builder
	for i, r := range rows {
		number[r.N] = i + 1
		if thread[r.Thread] == 0 {
			thread[r.Thread] = len(thread) + 1
		}
		line := fmt.Sprintf("%2d  t%d  %-15s %s", i+1, thread[r.Thread], follows(r.Relation, number[r.Parent], number[r.Owner]), odd(r))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// odd says how a response ended, unless all of it came and was good. A client that has heard the last event may leave
// before the connection says that there are no more; that nothing was lost then is for checkPassed to say.
func odd(r requestRow) string {
	if r.Status == http.StatusOK && (r.End == entry.EndComplete || r.End == entry.EndCanceled) {
		return ""
	}
	return fmt.Sprintf("%d %s", r.Status, r.End)
}

// checkTree compares the trees of all clients with those that are written down.
func checkTree(t *testing.T, got *txtar.Archive) {
	t.Helper()
	name := filepath.Join("testdata", "clients", "tree.txtar")
	if *update && !t.Failed() && len(got.Files) == len(clients()) {
		if err := os.WriteFile(name, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range got.Files { // of the clients that ran
		at := slices.IndexFunc(want.Files, func(f txtar.File) bool { return f.Name == tree.Name })
		if at < 0 {
			t.Errorf("%s has no tree", tree.Name)
		} else if d := cmp.Diff(string(want.Files[at].Data), string(tree.Data)); d != "" {
			t.Errorf("the tree of %s (-want +got):\n%s", tree.Name, d)
		}
	}
}

// work lets a client do its job, in a repository and a home of its own, leads it on a second time, and returns what
// passed.
func (c *client) work(t *testing.T, bin, data string) []passed {
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the client sees it
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, readTree(t, "before.txtar"))
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=begin")

	tape, out := &tape{played: scripted.New(job(c.hands, dir))}, newOutside()
	provider := httptest.NewServer(tape)
	defer func() { // here, so that it also happens when the client fails
		if t.Failed() {
			for i, p := range tape.all() {
				t.Logf("%d: %s, %d bytes, is answered %.160q", i+1, p.line, len(p.request), p.response)
			}
		}
	}()
	first := c.through(t, bin, dir, data, provider.URL, out.URL, tape)
	provider.Close()
	out.Close()
	all := tape.all()
	t.Logf("%d requests, and %d after it was resumed", first, len(all)-first)
	if first < 15 || len(all)-first < 3 {
		t.Errorf("%d requests and then %d are too few", first, len(all)-first)
	}
	if len(out.hosts) > 0 {
		t.Errorf("it wanted to leave this machine: %q", out.hosts)
	}
	if d := cmp.Diff(readTree(t, "after.txtar"), filesOf(t, dir)); d != "" {
		t.Errorf("the repository (-want +got):\n%s", d)
	}
	return all
}

// through runs a client twice through ambit up and returns how many requests came the first time.
func (c *client) through(t *testing.T, bin, dir, data, provider, outside string, tape *tape) int {
	t.Helper()
	up := c.startUp(t, data, provider)
	defer func() {
		if err := up.stop(); err != nil {
			t.Errorf("ambit up: %v\n%s", err, up.err.String())
		}
	}()
	l := c.lead(t, bin, data, up.url, outside)
	l.run(t, dir, c.first, jobFirst)
	first := len(tape.all())
	l.run(t, dir, c.again, jobSecond)
	return first
}

// checkPassed compares what the provider received and answered with what is recorded, byte for byte.
func checkPassed(t *testing.T, data, session string, requests []requestRow, left []passed) {
	t.Helper()
	for _, r := range requests {
		n := strconv.Itoa(r.N)
		recorded := passed{r.Method + " " + r.Path, answer(t, data, "request", session, n), answer(t, data, "request", session, n, "--response")}
		if at := slices.Index(left, recorded); at >= 0 {
			left = slices.Delete(left, at, at+1)
		} else {
			t.Errorf("request %d, %s %s, %d, is not what passed, or its response is not", r.N, r.Method, r.Path, r.Status)
		}
	}
	for _, p := range left {
		t.Errorf("%s, %d bytes, passed and is not recorded as it did", p.line, len(p.request))
	}
}

// checkFaults looks for the three faults of the job.
func checkFaults(t *testing.T, requests []requestRow) {
	t.Helper()
	got := map[string]int{}
	for _, r := range requests {
		if how := odd(r); how != "" {
			got[how]++
		}
	}
	if d := cmp.Diff(map[string]int{"429 complete": 1, "529 complete": 1, "200 dropped": 1}, got); d != "" {
		t.Errorf("faults:\n%s", d)
	}
}

// checkProof has every body rebuilt.
func checkProof(t *testing.T, data, session string) {
	t.Helper()
	report := ask[checkReport](t, data, "check", session, "--json")
	if report.Bodies == 0 || report.Rebuilt != report.Bodies || report.Missing+len(report.Mismatches)+len(report.Damage) > 0 {
		t.Errorf("the proof: %+v", report)
	}
}

// ask is the answer of a command as JSON.
func ask[T any](t *testing.T, data string, args ...string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(answer(t, data, args...)), &v); err != nil {
		t.Fatalf("ambit %v: %v", args, err)
	}
	return v
}

// answer is what a command prints.
func answer(t *testing.T, data string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "ambit", args...)
	c.Dir, c.Env = data, childEnv(data)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("ambit %v: %v", args, err)
	}
	return string(out)
}

// readTree reads files of testdata by path.
func readTree(t *testing.T, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "clients", name))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// filesOf reads a repository by path, without git's own.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		name := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/")
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
