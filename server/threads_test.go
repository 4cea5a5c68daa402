package server

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ambit/entry"
	"ambit/internal/pool"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the tests expect anew")

// stage is a provider that answers what reduced runs say, one request after another.
type stage struct {
	mu   sync.Mutex
	next reducedExchange
}

func (s *stage) serve(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	x := s.next
	s.mu.Unlock()
	if x.Status == 0 {
		panic(http.ErrAbortHandler) // the connection breaks before the answer
	}
	if x.Answer == nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(x.Status)
		io.WriteString(w, "{}")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(x.Status)
	io.WriteString(w, x.Answer.stream(x.Path, x.Broken))
	if x.Broken {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// play sends one exchange of a run through the rig and waits until it is recorded.
func (g *rig) play(s *stage, run *reduced, x reducedExchange, headers bool) {
	g.t.Helper()
	s.mu.Lock()
	s.next = x
	s.mu.Unlock()
	body := run.body(x)
	req, err := http.NewRequest(x.Method, g.front.URL+x.Path, strings.NewReader(string(body)))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret-one")
	for name, v := range x.Headers {
		if headers || name == "user-agent" {
			req.Header.Set(name, v)
		}
	}
	if res, err := g.front.Client().Do(req); err == nil {
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	g.played++
	g.settle(2 * g.played)
}

// bare is a run without what a client says about itself.
func (run *reduced) bare() *reduced {
	b := *run
	b.Exchanges = slices.Clone(run.Exchanges)
	for i := range b.Exchanges {
		x := &b.Exchanges[i]
		rest := make(map[string]json.RawMessage)
		for name, v := range x.Rest {
			if name != "metadata" && name != "prompt_cache_key" {
				rest[name] = v
			}
		}
		if x.Rest != nil {
			x.Rest = rest
		}
	}
	return &b
}

// tree writes what was found of the sessions: a line for each request, with how many units first passed in it.
func tree(pools map[string]*pool.Pool) string {
	var sessions []*pool.Pool
	for _, p := range pools {
		sessions = append(sessions, p)
	}
	slices.SortFunc(sessions, func(a, b *pool.Pool) int {
		return a.Exchanges[0].Request.Arrived.Compare(b.Exchanges[0].Request.Arrived)
	})
	var b strings.Builder
	for i, p := range sessions {
		fmt.Fprintf(&b, "session %d\n", i+1)
		units := make(map[int]int)
		for _, u := range p.Units {
			if u.Of == entry.PartMessage || u.Of == entry.PartRequest {
				units[u.N]++
			}
		}
		for j := range p.Exchanges {
			x := &p.Exchanges[j]
			fmt.Fprintf(&b, "%4d %-9s", x.Request.N, x.Request.Type)
			if r := x.Relation; r != nil {
				fmt.Fprintf(&b, " %-3s %s", r.Thread, r.How)
				if r.Parent != 0 {
					fmt.Fprintf(&b, " %d", r.Parent)
				}
				if r.Evidence != "" {
					fmt.Fprintf(&b, " by %s", r.Evidence)
				}
				if r.Owner != 0 {
					fmt.Fprintf(&b, " for %d", r.Owner)
				}
				if r.About != 0 {
					fmt.Fprintf(&b, " about %d", r.About)
				}
				fmt.Fprintf(&b, ", %d messages", r.Messages)
			}
			fmt.Fprintf(&b, ", %d new\n", units[x.Request.N])
		}
	}
	return b.String()
}

// TestThreads plays recorded runs of real clients, each alone, and compares what is found with the tree that stands
// beside the run. The demo's own has a rewind.
//
// covers: J-14
func TestThreads(t *testing.T) {
	for _, name := range runs(t) {
		t.Run(name, func(t *testing.T) {
			run, s := load(t, name), new(stage)
			g := newRig(t, s.serve, nil)
			for _, x := range run.Exchanges {
				g.play(s, run, x, true)
			}
			got := tree(g.pools())
			file := filepath.Join("testdata", "threads", name+".tree")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestThreadsAfterRestart finds the same of what an earlier process left: every request is played to a new one.
//
// covers: J-14 part
func TestThreadsAfterRestart(t *testing.T) {
	for _, name := range runs(t) {
		t.Run(name, func(t *testing.T) {
			run, s := load(t, name), new(stage)
			g := newRig(t, s.serve, nil)
			for _, x := range run.Exchanges {
				g.play(s, run, x, true)
				g.stop()
				g.start(nil)
				g.played = 0
			}
			want, err := os.ReadFile(filepath.Join("testdata", "threads", name+".tree"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), tree(g.pools())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestInterleaved plays all runs at once, one request of each after another, as one client would that has many windows
// open: no session is split and none is merged, whether clients name their sessions or not.
//
// covers: J-14 part
func TestInterleaved(t *testing.T) {
	for i := range 4 {
		headers, restarts := i%2 == 0, i >= 2
		t.Run(fmt.Sprintf("headers=%v,restarts=%v", headers, restarts), func(t *testing.T) {
			s := new(stage)
			g := newRig(t, s.serve, nil)
			var all []*reduced
			var names []string
			for _, name := range runs(t) {
				if strings.HasSuffix(name, "-twice") { // two conversations; it is one of the others, and another
					continue
				}
				run := load(t, name)
				if !headers {
					run = run.bare()
				}
				all, names = append(all, run), append(names, name)
			}
			var order []string // the run of each request
			for i := 0; ; i++ {
				more := false
				for j, run := range all {
					if i < len(run.Exchanges) {
						g.play(s, run, run.Exchanges[i], headers)
						order = append(order, names[j])
						more = true
						if restarts && len(order)%97 == 0 {
							g.stop()
							g.start(nil)
							g.played = 0
						}
					}
				}
				if !more {
					break
				}
			}
			g.whole(order)
		})
	}
}

// whole checks that the requests that were played, in order and each of some run, are in one session for each run. A
// request that is no part of a conversation, or is aside, may be with another run's when nothing says whose it is.
func (g *rig) whole(order []string) {
	g.t.Helper()
	pools := g.pools()
	type request struct {
		x       *pool.Exchange
		session string
	}
	var all []request
	for name, p := range pools {
		for i := range p.Exchanges {
			all = append(all, request{&p.Exchanges[i], name})
		}
	}
	slices.SortFunc(all, func(a, b request) int { return a.x.Request.Arrived.Compare(b.x.Request.Arrived) })
	if len(all) != len(order) {
		g.t.Fatalf("%d requests are recorded, want %d", len(all), len(order))
	}
	sessions, owners := make(map[string]map[string]bool), make(map[string]map[string]bool)
	aside := 0
	for i, q := range all {
		if q.x.Relation == nil || q.x.Relation.How == entry.Count || q.x.Relation.How == entry.Side {
			aside++
			continue
		}
		note := func(m map[string]map[string]bool, a, b string) {
			if m[a] == nil {
				m[a] = make(map[string]bool)
			}
			m[a][b] = true
		}
		note(sessions, order[i], q.session)
		note(owners, q.session, order[i])
	}
	for run, in := range sessions {
		if len(in) != 1 {
			g.t.Errorf("%s is split: %d sessions", run, len(in))
		}
	}
	for session, of := range owners {
		if len(of) != 1 {
			g.t.Errorf("session %s is merged: %v", session, of)
		}
	}
	g.t.Logf("%d requests of %d runs, %d of them aside", len(order), len(sessions), aside)
}
