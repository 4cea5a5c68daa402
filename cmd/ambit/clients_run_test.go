//go:build clients

package main

import (
	"bytes"
	"context"
	"fmt"
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

// client is a program that talks to a model, and how it is pointed at Ambit.
type client struct {
	name  string
	hands hands
	env   func(ambit string) []string
	files func(ambit string) map[string]string // in its home
	first []string                             // what comes before the first prompt on its command line
	again []string                             // and before the second, in the same conversation
}

// clients are set up as README.md says, with a key that opens nothing, and told not to look for news.
func clients() []client {
	return []client{
		{
			name: "opencode", hands: openCodeHands(),
			env: func(ambit string) []string {
				return []string{
					"ANTHROPIC_API_KEY=none", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "NPM_CONFIG_OFFLINE=true",
					`OPENCODE_CONFIG_CONTENT={"autoupdate":false,"share":"disabled","permission":"allow","enabled_providers":["anthropic"],` +
						`"provider":{"anthropic":{"options":{"baseURL":"` + ambit + `/anthropic/v1"}}}}`,
				}
			},
			first: []string{"run", "--model", "anthropic/claude-sonnet-4-5"},
			again: []string{"run", "--model", "anthropic/claude-sonnet-4-5", "--continue"},
		},
		{
			name: "codex", hands: codexHands(),
			env: func(string) []string { return []string{"OPENAI_API_KEY=none"} },
			files: func(ambit string) map[string]string {
				return map[string]string{".codex/config.toml": fmt.Sprintf(codexConfig, ambit)}
			},
			first: []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--json"},
			again: []string{"exec", "resume", "--last", "--dangerously-bypass-approvals-and-sandbox", "--json"},
		},
		{
			name: "pi", hands: piHands(),
			env: func(string) []string {
				return []string{"ANTHROPIC_API_KEY=none", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}
			},
			files: func(ambit string) map[string]string {
				return map[string]string{".pi/agent/models.json": `{"providers":{"anthropic":{"baseUrl":"` + ambit + `/anthropic"}}}`}
			},
			first: []string{"--provider", "anthropic", "--model", "claude-sonnet-4-5", "--print"},
			again: []string{"--provider", "anthropic", "--model", "claude-sonnet-4-5", "--continue", "--print"},
		},
	}
}

const codexConfig = `model = "gpt-5.1-codex"
model_provider = "ambit"
check_for_update_on_startup = false
[model_providers.ambit]
name = "OpenAI through Ambit"
base_url = "%s/openai/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
[features]
plugins = false
apps = false
`

// run lets a client work on one prompt, and fails if it exits with an error or takes too long. Nothing that it starts
// is left running.
func (c *client) run(t *testing.T, bin, dir string, environ, args []string, prompt string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p := exec.CommandContext(ctx, filepath.Join(bin, c.name), append(args, prompt)...)
	p.Dir, p.Env = dir, environ
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
	t.Logf("%s %q: %v", c.name, prompt, time.Since(start).Round(100*time.Millisecond))
	if err != nil || ctx.Err() != nil {
		t.Fatalf("%s: %v, %v\n%s", c.name, err, ctx.Err(), said.Bytes())
	}
}

// environ is all that a client sees of the environment. What it wants from elsewhere than this machine it asks of proxy.
func (c *client) environ(bin, home, ambit, proxy string) []string {
	return append(
		[]string{
			"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"),
			"TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8", "DO_NOT_TRACK=1", "GIT_CONFIG_NOSYSTEM=1",
			"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "https_proxy=" + proxy,
			"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
		}, c.env(ambit)...)
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
