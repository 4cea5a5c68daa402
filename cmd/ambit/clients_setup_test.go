//go:build clients

package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ambit/provider/scripted"

	"github.com/google/go-cmp/cmp"
)

// What a user asks, and what every provider says to it.
const (
	askFirst = "Which animal is on the roof?"
	askSaid  = "A heron is on the roof."
)

// askers are the clients that ask one thing, each by every way that ambit setup knows for it. The usual ways of OpenCode,
// Codex and pi are those of their jobs.
func askers() []client {
	return []client{
		openCodeUser("openai", "openai/gpt-5"),
		openCodeUser("gemini", "google/gemini-2.5-pro"),
		piUser("openai", "openai", "gpt-5"),
		piUser("gemini", "google", "gemini-2.5-pro"),
		{
			name: "claude", provider: "anthropic",
			env:   []string{"ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
			files: map[string]string{".claude.json": `{"hasCompletedOnboarding":true}`},
			first: []string{"-p"},
		},
		{
			name: "gemini", provider: "gemini",
			env: []string{"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true"},
			files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},` +
				`"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true},"telemetry":{"enabled":false}}`},
			first: []string{"-m", "gemini-2.5-pro", "-p"},
		},
		qwenUser("qwen", "OPENAI"),
		qwenUser("openai", "OPENAI"),
		qwenUser("anthropic", "ANTHROPIC"),
		copilotUser("openai", "gpt-4.1"),
		copilotUser("anthropic", "claude-sonnet-4.5"),
		clineUser("anthropic", "anthropic", "claude-sonnet-4-5"),
		clineUser("openai", "openai-native", "gpt-5"),
		clineUser("gemini", "gemini", "gemini-2.5-pro"),
		continueUser("anthropic", "ANTHROPIC", nil),
		continueUser("openai", "OPENAI", nil),
		continueUser("gemini", "GEMINI", map[string]string{".continue/config.yaml": continueConfig}),
	}
}

func qwenUser(provider, vendor string) client {
	return client{
		name: "qwen", provider: provider,
		env: []string{vendor + "_API_KEY=none", vendor + "_MODEL=some-model"},
		files: map[string]string{
			".qwen/settings.json": `{"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false}}`,
		},
		first: []string{"-p"},
	}
}

func copilotUser(provider, model string) client {
	return client{
		name: "copilot", provider: provider,
		env:   []string{"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=" + model, "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false"},
		first: []string{"--allow-all", "-p"},
	}
}

func clineUser(provider, id, model string) client {
	return client{
		name: "cline", provider: provider,
		env:    []string{"CLINE_NO_AUTO_UPDATE=1", "CLINE_SESSION_BACKEND_MODE=local"}, // else it leaves a daemon behind
		files:  map[string]string{".cline/data/settings/global-settings.json": `{"telemetryOptOut":true,"autoUpdateEnabled":false}`},
		before: []string{"auth", "--provider", id, "--apikey", "none", "--modelid", model},
		vainly: []string{"CONNECT data.cline.bot:443"}, // for what of it is switched on
		first:  []string{"--auto-approve", "true"},
	}
}

const continueConfig = `name: mine
version: 1.0.0
schema: v1
models:
  - name: mine
    provider: gemini
    model: gemini-2.5-pro
    apiKey: ${{ secrets.GEMINI_API_KEY }}
`

func continueUser(provider, vendor string, files map[string]string) client {
	return client{
		name: "continue", provider: provider, files: files,
		env:   []string{vendor + "_API_KEY=none", "CONTINUE_TELEMETRY_ENABLED=0", "CONTINUE_METRICS_ENABLED=0"},
		first: []string{"-p"},
	}
}

// askAll lets the clients ask, two at a time.
func askAll(t *testing.T, bin string) {
	checkWays(t)
	waiting := make(chan client)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for c := range waiting {
				t.Run(c.name+"-"+c.provider, func(t *testing.T) { c.ask(t, bin) })
			}
		})
	}
	for _, c := range askers() {
		waiting <- c
	}
	close(waiting)
	workers.Wait()
}

// checkWays wants a client here for every way that ambit setup knows. Crush's are not tried: its package on npm holds no
// program, but a script that gets one from elsewhere.
func checkWays(t *testing.T) {
	t.Helper()
	var want, got []string
	for _, c := range clientsKnown() {
		for _, w := range c.ways {
			if c.name != "crush" {
				want = append(want, c.name+" "+w.provider)
			}
		}
	}
	for _, c := range append(clients(), askers()...) {
		got = append(got, c.name+" "+c.provider)
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the ways that are tried (-want +got):\n%s", d)
	}
}

// ask lets a client ask one thing, in a repository, a home and a data directory of its own. What it asks and what it is
// answered must be in one session, and the answer is what it says.
func (c *client) ask(t *testing.T, bin string) {
	dir, data := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{"README.md": "# Roof\n"})
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=begin")
	talker := newTalker()
	tape, out := &tape{played: talker}, newOutside()
	provider := httptest.NewServer(tape)
	defer provider.Close()
	defer out.Close()
	defer func() {
		if t.Failed() {
			for i, p := range tape.all() {
				t.Logf("%d: %s, %d bytes, is answered %.160q", i+1, p.line, len(p.request), p.response)
			}
		}
	}()
	up := c.startUp(t, data, provider.URL)
	usual := c.provider == ask[setup](t, data, "setup", c.name, "--json").Provider
	var flags []string
	tag := "the " + c.name // a URL has no place for the space
	if !usual {
		flags = []string{"--tag", tag}
	}
	l := c.lead(t, bin, data, up.url, out.URL, flags...)
	said := l.run(t, dir, c.first, askFirst)
	if err := up.stop(); err != nil {
		t.Errorf("ambit up: %v\n%s", err, up.err.String())
	}
	for _, f := range talker.Refusals() {
		t.Errorf("%s was refused with %d: %s", f.Path, f.Status, f.Message)
	}
	if !strings.Contains(said, askSaid) {
		t.Errorf("it says nothing of %q:\n%s", askSaid, said)
	}
	var titles []string
	for _, s := range ask[struct{ Sessions []sessionRow }](t, data, "sessions", "--json").Sessions {
		text := answer(t, data, "export", s.Session, "--public")
		if strings.Contains(text, askFirst) && strings.Contains(text, askSaid) {
			titles = append(titles, s.Title)
			c.checkRoute(t, ask[struct{ Requests []requestRow }](t, data, "request", s.Session, "--list", "--json").Requests)
		}
	}
	if len(titles) != 1 || !usual && titles[0] != tag {
		t.Errorf("what it asked is in the sessions %q", titles)
	}
	if hosts := slices.DeleteFunc(out.hosts, func(h string) bool { return slices.Contains(c.vainly, h) }); len(hosts) > 0 {
		t.Errorf("it wanted to leave this machine: %q", hosts)
	}
}

// checkRoute wants what was answered to have gone by the client's route, and to the path that its provider has.
func (c *client) checkRoute(t *testing.T, requests []requestRow) {
	t.Helper()
	path := map[string]*regexp.Regexp{
		"anthropic": regexp.MustCompile(`^/v1/messages(/count_tokens)?(\?|$)`),
		"openai":    regexp.MustCompile(`^/v1/(responses|chat/completions)$`),
		"qwen":      regexp.MustCompile(`^/v1/chat/completions$`),
		"gemini":    regexp.MustCompile(`^/v1beta/models/[^/]+:(streamG|g)enerateContent(\?|$)`),
	}[c.provider]
	for _, r := range requests {
		if r.Status == http.StatusOK && (r.Provider != c.provider || !path.MatchString(r.Path)) {
			t.Errorf("request %d went to /%s%s", r.N, r.Provider, r.Path)
		}
	}
}

// startUp starts an Ambit that has the routes of a client, all of which lead to one provider, and what else is in flags.
func (c *client) startUp(t *testing.T, data, provider string, flags ...string) *upProcess {
	t.Helper()
	for _, route := range append(ask[setup](t, data, "setup", c.name, "--provider", c.provider, "--json").Upstreams, "anthropic", "openai", "gemini") {
		name, _, _ := strings.Cut(route, "=")
		flags = append(flags, "--upstream", name+"="+provider)
	}
	up, err := startUp(t.Context(), data, childEnv(data), flags...)
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// led is a client that is set up.
type led struct {
	command []string
	environ []string
}

// lead sets a client up as ambit setup says, in a home of its own in which is what its user has anyway.
func (c *client) lead(t *testing.T, bin, data, ambit, outside string, flags ...string) led {
	t.Helper()
	addr := strings.TrimPrefix(ambit, "http://")
	s := ask[setup](t, data, append([]string{"setup", c.name, "--provider", c.provider, "--addr", addr, "--json"}, flags...)...)
	home := t.TempDir()
	writeFiles(t, home, map[string]string{"tmp/.keep": ""})
	writeFiles(t, home, c.files)
	command := strings.Fields(s.Command)
	command[0] = filepath.Join(bin, command[0])
	l := led{command, append(c.environ(bin, home, outside), c.env...)}
	if c.before != nil {
		led{command[:1], l.environ}.run(t, home, c.before)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		l.environ = append(l.environ, name+"="+s.Env[name])
	}
	for _, f := range s.Files {
		mergeFile(t, filepath.Join(home, strings.TrimPrefix(f.Path, "~/")), f.Content)
	}
	return l
}

// mergeFile puts into a file what is to be in it. TOML goes before what is there, JSON into it, and anything else is a
// whole file.
func mergeFile(t *testing.T, path, content string) {
	t.Helper()
	had, err := os.ReadFile(path)
	if err == nil {
		switch filepath.Ext(path) {
		case ".toml":
			content += string(had)
		case ".json":
			var all, more map[string]any
			if err := json.Unmarshal(had, &all); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(content), &more); err != nil {
				t.Fatal(err)
			}
			mergeMembers(all, more)
			whole, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			content = string(whole)
		default:
			t.Fatalf("%s is there already", path)
		}
	}
	writeFiles(t, filepath.Dir(path), map[string]string{filepath.Base(path): content})
}

func mergeMembers(all, more map[string]any) {
	for name, v := range more {
		from, isObject := v.(map[string]any)
		to, wasObject := all[name].(map[string]any)
		if isObject && wasObject {
			mergeMembers(to, from)
		} else {
			all[name] = v
		}
	}
}

// newTalker is a provider of all wires, as strict as the real ones, that gives one answer to everything.
func newTalker() *scripted.Provider {
	turns := make([]scripted.Turn, 9)
	for i := range turns {
		turns[i].Text = askSaid
	}
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{Strict: true})
}
