//go:build clients

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// client is a program that talks to a model, and what its user has set up of it anyway: a key that opens nothing, a
// model, and that it shall not look for news. How it is led through Ambit, ambit setup says.
type client struct {
	name     string // as ambit setup takes it,
	provider string // and with it --provider
	hands    hands
	env      []string
	files    map[string]string // in its home
	before   []string          // a command of it by which its user has set it up
	vainly   []string          // where it wants to go whatever it is told; no way leads there
	first    []string          // what comes before the first prompt on its command line
	again    []string          // and before the second, in the same conversation
}

// clients are those that do the job.
func clients() []client {
	all := []client{
		openCodeUser("anthropic", "anthropic/claude-sonnet-4-5"),
		{
			name: "codex", provider: "openai", hands: codexHands(),
			env:   []string{"CODEX_API_KEY=none"},
			files: map[string]string{".codex/config.toml": codexConfig},
			first: []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--json"},
			again: []string{"exec", "resume", "--last", "--dangerously-bypass-approvals-and-sandbox", "--json"},
		},
		piUser("anthropic", "anthropic", "claude-sonnet-4-5"),
	}
	all[0].hands, all[2].hands = openCodeHands(), piHands()
	return all
}

// openCodeUser has a key of each provider, and takes one.
func openCodeUser(provider, model string) client {
	return client{
		name: "opencode", provider: provider,
		env: []string{
			"ANTHROPIC_API_KEY=none", "OPENAI_API_KEY=none", "GOOGLE_GENERATIVE_AI_API_KEY=none",
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "NPM_CONFIG_OFFLINE=true",
		},
		files: map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","permission":"allow"}`},
		first: []string{"run", "--model", model},
		again: []string{"run", "--model", model, "--continue"},
	}
}

// piUser has a key of each provider, and takes one.
func piUser(provider, id, model string) client {
	return client{
		name: "pi", provider: provider,
		env: []string{
			"ANTHROPIC_API_KEY=none", "OPENAI_API_KEY=none", "GEMINI_API_KEY=none", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0",
		},
		first: []string{"--provider", id, "--model", model, "--print"},
		again: []string{"--provider", id, "--model", model, "--continue", "--print"},
	}
}

const codexConfig = `model = "gpt-5.1-codex"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
`

// run lets a client work on one prompt, or what else is behind the arguments, and returns what it says. It fails if the
// client exits with an error or takes too long.
func (l led) run(t *testing.T, dir string, args []string, prompt ...string) string {
	t.Helper()
	code, said := l.try(t, dir, args, prompt...)
	if code != 0 {
		t.Fatalf("%s: exit status %d\n%s", l.command, code, said)
	}
	return said
}

// try is run for a client that may exit with an error, whose status it returns. Nothing that it starts is left running.
func (l led) try(t *testing.T, dir string, args []string, prompt ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p := exec.CommandContext(ctx, l.command[0], slices.Concat(l.command[1:], args, prompt)...)
	p.Dir, p.Env = dir, l.environ
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.Cancel, p.WaitDelay = group, 5*time.Second
	var said bytes.Buffer
	p.Stdout, p.Stderr = &said, &said
	start := time.Now()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	err := p.Wait()
	_ = group() // there is none if it has ended what it started, as it should
	t.Logf("%s %q: %v", filepath.Base(l.command[0]), prompt, time.Since(start).Round(100*time.Millisecond))
	if ctx.Err() != nil {
		t.Fatalf("%s: %v, %v\n%s", l.command, err, ctx.Err(), said.Bytes())
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatalf("%s: %v\n%s", l.command, err, said.Bytes())
	}
	return p.ProcessState.ExitCode(), said.String()
}

// environ is all that a client sees of the environment. What it wants from elsewhere than this machine it asks of proxy.
func (c *client) environ(bin, home, proxy string) []string {
	return []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"),
		"TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8", "DO_NOT_TRACK=1", "GIT_CONFIG_NOSYSTEM=1",
		"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "https_proxy=" + proxy,
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
	}
}

// outside is a proxy that leads nowhere and notes who wanted to go where.
type outside struct {
	*httptest.Server
	mu    sync.Mutex
	hosts []string
}

func newOutside() *outside {
	o := &outside{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.hosts = append(o.hosts, r.Method+" "+r.Host)
		http.Error(w, "no way out", http.StatusForbidden)
	}))
	return o
}

// tape keeps what passed through a handler, byte for byte.
type tape struct {
	played http.Handler
	mu     sync.Mutex
	passed []passed
}

// passed is one request and what was written in answer.
type passed struct{ line, request, response string }

func (t *tape) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what came of a broken request is what was received
	r.Body = io.NopCloser(bytes.NewReader(body))
	copied := &copyWriter{ResponseWriter: w}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.passed = append(t.passed, passed{r.Method + " " + r.URL.RequestURI(), string(body), copied.text.String()})
	}()
	t.played.ServeHTTP(copied, r)
}

// all is what passed until now.
func (t *tape) all() []passed {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.passed)
}

// copyWriter keeps what is written through it.
type copyWriter struct {
	http.ResponseWriter
	text bytes.Buffer
}

func (w *copyWriter) Write(p []byte) (int, error) {
	w.text.Write(p)
	return w.ResponseWriter.Write(p)
}

func (w *copyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// git runs git in dir, without any configuration of this machine.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
