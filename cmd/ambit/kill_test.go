package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// TestKilledUp kills ambit up, by SIGKILL and under traffic, several times over one data directory. What ended more than
// a second before must be in the journal, and everything in it must be sound.
//
// covers: J-03 part
// covers: I-05 part
func TestKilledUp(t *testing.T) {
	buildAmbit(t)
	up := newUpstream()
	defer up.stop()
	up.answer("/v1/messages", jsonAnswer(`{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}`))
	dir := t.TempDir()
	ended := make(map[string]time.Time) // by the request's model, when its response was read
	for round := range 3 {
		p, err := startUp(t.Context(), dir, childEnv(dir), "--upstream", "anthropic="+up.URL)
		if err != nil {
			t.Fatal(err)
		}
		trafficUntilKilled(t, p, round, ended)
		killed := time.Now()
		recorded := recordedModels(t, dir)
		late := 0
		for name, at := range ended {
			if killed.Sub(at) > time.Second && !recorded[name] {
				t.Errorf("round %d: %s ended %v before the kill and is missing", round, name, killed.Sub(at))
			}
			if !recorded[name] {
				late++
				delete(ended, name) // what this kill took is not missed again
			}
		}
		t.Logf("round %d: %d requests are recorded, %d that had just ended are not", round, len(ended), late)
	}
}

// buildAmbit puts the command first in PATH as it is shipped: the second is meant for it, not for what the race detector
// makes of it.
func buildAmbit(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "go", "build", "-o", dir, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// trafficUntilKilled has four clients send fifty requests a second each for a second and a half, kills the process while
// they go on, and notes when which response was read.
func trafficUntilKilled(t *testing.T, p *upProcess, round int, ended map[string]time.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for n := 0; ; n++ {
				<-pace.C
				name := fmt.Sprintf("%d-%d-%d", round, client, n)
				header := http.Header{"X-Session-Id": {fmt.Sprint(client)}}
				res, _, err := sendRequest(t.Context(), http.MethodPost, p.url+"/anthropic/v1/messages", header, []byte(`{"model":"`+name+`","messages":[]}`))
				if err != nil {
					return // the process is dead
				}
				if res.StatusCode != http.StatusOK {
					t.Errorf("%s is answered %s", name, res.Status)
					return
				}
				mu.Lock()
				ended[name] = time.Now()
				mu.Unlock()
			}
		})
	}
	<-ctx.Done()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	clients.Wait()
}

// recordedModels checks the data directory and returns the models of the requests whose responses are in it.
func recordedModels(t *testing.T, dir string) map[string]bool {
	t.Helper()
	run := func(v any, args ...string) {
		c := exec.CommandContext(t.Context(), "ambit", args...)
		c.Dir, c.Env = dir, childEnv(dir)
		out, err := c.Output()
		if err == nil {
			err = json.Unmarshal(out, v)
		}
		if err != nil {
			t.Fatalf("ambit %v: %v", args, err)
		}
	}
	var report checkReport
	run(&report, "check", "--json") // fails unless everything is sound
	var all struct{ Sessions []sessionRow }
	run(&all, "sessions", "--json")
	models := make(map[string]bool)
	for _, s := range all.Sessions {
		var list struct{ Requests []requestRow }
		run(&list, "request", s.Session, "--list", "--json")
		for _, r := range list.Requests {
			models[r.Model] = r.Status == http.StatusOK
		}
	}
	if len(all.Sessions) != 4 {
		t.Errorf("%d sessions, want one of each client", len(all.Sessions))
	}
	return models
}
