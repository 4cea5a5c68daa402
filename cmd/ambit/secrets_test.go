package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// childEnv is the environment of a child process over a data directory.
func childEnv(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "AMBIT_HOME="+filepath.Join(dir, "home"), "AMBIT_TOKEN=", "HTTP_PROXY=", "http_proxy=", "NO_PROXY=*", "GORACE=atexit_sleep_ms=0")
}

// runChild runs the command as a process of its own and returns all that it says.
func runChild(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "ambit", args...)
	c.Env = childEnv(dir)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("ambit %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestSecrets sends a credential in every place that one can stand in, and looks for all of them in every file and in
// all that is said.
// covers: I-05 part
func TestSecrets(t *testing.T) {
	const token = "SECRET-token-in-the-flag"
	up := newUpstream()
	defer up.stop()
	up.answer("/v1/messages", upstreamAnswer{status: http.StatusOK, body: []byte(messageAnswer), header: http.Header{
		"Content-Type": {"application/json"}, "Set-Cookie": {"session=SECRET-set-cookie"}, "Authorization": {"SECRET-back"},
		"X-Api-Key": {"SECRET-key-back"}, "Www-Authenticate": {"Bearer SECRET-realm"},
	}})
	up.answer("/v1/slow", upstreamAnswer{status: http.StatusOK, hold: make(chan struct{})})
	dir := t.TempDir()
	p, err := startUp(t.Context(), dir, childEnv(dir), "--token", token, "--upstream", "anthropic="+up.URL, "--upstream", "dead=http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	headers := []string{
		"Authorization: Bearer SECRET-authorization", "X-Api-Key: SECRET-x-api-key", "X-Goog-Api-Key: SECRET-x-goog-api-key",
		"Api-Key: SECRET-api-key", "Cookie: a=SECRET-cookie", "X-Auth-Token: SECRET-x-auth-token", "X-Amz-Security-Token: SECRET-amz",
		"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("me:SECRET-basic")), "X-Unknown-Credential: SECRET-unknown",
	}
	queries := []string{
		"key=SECRET-query-key", "access_token=SECRET-query-access-token", "api_key=SECRET-query-api-key", "%6Bey=SECRET-query-escaped", "a=1;key=SECRET-query-semicolon",
		"KEY=SECRET-query-capital", "a=1&token=SECRET-query-token&b=2", "sig=SECRET%2Dquery%2Descaped-value",
	}
	send := func(path, header string) *http.Response {
		t.Helper()
		h, err := headerLines([]string{header, "User-Agent: agent/1", "Content-Type: application/json"})
		if err != nil {
			t.Fatal(err)
		}
		res, _, err := sendRequest(t.Context(), http.MethodPost, p.url+path, h, []byte(`{"model":"m","messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	forwarded := func(secret string, want bool) {
		t.Helper()
		asked, err := up.last()
		if got := strings.Contains(asked.line+headText(asked.header), secret); err != nil || got != want {
			t.Errorf("%q forwarded: %t, want %t", secret, got, want)
		}
	}
	for _, h := range headers {
		_, value, _ := strings.Cut(h, ": ")
		for _, to := range []string{"/anthropic/t/" + token + "/v1/messages", "/dead/t/" + token + "/v1/messages"} {
			send(to, h)
			forwarded(value, true)
		}
		send("/anthropic/t/"+token+"/s/tagged/v1/messages", h)
		forwarded(value, true)
	}
	for _, q := range queries {
		send("/anthropic/v1/messages?"+q, "X-Ambit-Token: "+token)
		forwarded("?"+q, true)
		forwarded(token, false)
	}
	send("/anthropic/t/"+token+"/v1/messages", "Proxy-Authorization: Basic SECRET-proxy") // ends here: it is for this hop
	forwarded("SECRET-proxy", false)
	forwarded(token, false)
	if res := send("/anthropic/t/SECRET-wrong-token/v1/messages", "X-Ambit-Token: SECRET-other-wrong-token"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong token is answered %s", res.Status)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := sendRequest(canceled, http.MethodPost, p.url+"/anthropic/t/"+token+"/v1/slow?key=SECRET-gone", http.Header{}, []byte("{}")); err == nil {
		t.Error("a canceled request was answered")
	}
	if err := p.stop(); err != nil {
		t.Errorf("ambit up: %v", err)
	}

	said := map[string]string{"ambit up": p.out.String() + p.err.String()}
	for _, args := range [][]string{{"sessions"}, {"sessions", "--json"}, {"check"}, {"check", "--json"}, {"reindex"}} {
		said["ambit "+strings.Join(args, " ")] = runChild(t, dir, args...)
	}
	recorded := 0
	names, err := filepath.Glob(filepath.Join(dir, "home", "sessions", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, name := range names {
		name = filepath.Base(name)
		for _, args := range [][]string{{"log", name}, {"log", name, "--json"}, {"request", name, "--list"}, {"request", name, "--list", "--json"}, {"request", name, "1", "--json"}, {"export", name}} {
			said["ambit "+strings.Join(args, " ")] = runChild(t, dir, args...)
		}
		recorded += strings.Count(said["ambit log "+name+" --json"], `"kind":"request"`)
	}
	if want := 3*len(headers) + len(queries) + 1; recorded < want {
		t.Errorf("%d requests are recorded, want %d", recorded, want)
	}
	files, err := snapshot(filepath.Join(dir, "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	for file, mode := range files {
		if !strings.HasPrefix(mode, "-rw------- ") && mode != "drwx------" {
			t.Errorf("%s is %s", file, mode)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "home", file)); err == nil {
			said[file] = string(data)
		}
	}
	secrets := []string{"SECRET", "me:SECRET-basic", base64.StdEncoding.EncodeToString([]byte("me:SECRET-basic"))}
	for _, text := range append(headers, queries...) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '=' || r == '&' }) {
			if strings.HasPrefix(word, "SECRET") {
				plain := sha256.Sum256([]byte(word)) // a bare hash could be tried out
				secrets = append(secrets, hex.EncodeToString(plain[:])[:16], base64.StdEncoding.EncodeToString([]byte(word)))
			}
		}
	}
	for where, text := range said {
		for _, s := range secrets {
			if at := strings.Index(text, s); at >= 0 {
				t.Errorf("%s holds a credential: …%s…", where, fmt.Sprintf("%.80q", text[max(0, at-30):]))
			}
		}
	}
}
