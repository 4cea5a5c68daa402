package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// upstream is a provider that answers what it was told to, and keeps what it was asked.
type upstream struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]upstreamAnswer // by path
	asked   []upstreamAsked
}

// upstreamAnswer is what an upstream says to a path.
type upstreamAnswer struct {
	status int
	header http.Header
	body   []byte
	hold   chan struct{} // the answer waits until this is closed; nil for at once
	came   func()        // called before it waits; nil for nothing
}

// upstreamAsked is one request as it reached an upstream.
type upstreamAsked struct {
	line   string // method and request target
	header http.Header
	body   []byte
}

func newUpstream() *upstream {
	u := &upstream{answers: make(map[string]upstreamAnswer)}
	u.Server = httptest.NewServer(u)
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // an upstream answers a broken request as well as it can
	u.mu.Lock()
	u.asked = append(u.asked, upstreamAsked{r.Method + " " + r.RequestURI, r.Header, body})
	a, ok := u.answers[r.URL.Path]
	u.mu.Unlock()
	if !ok {
		a = upstreamAnswer{status: http.StatusNotFound, body: []byte(`{"type":"error","error":{"type":"not_found_error","message":"no answer is written for this"}}`)}
	}
	if a.came != nil {
		a.came()
	}
	if a.hold != nil {
		select {
		case <-a.hold:
		case <-r.Context().Done():
			return
		}
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// answer sets what a path is answered.
func (u *upstream) answer(path string, a upstreamAnswer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answers[path] = a
}

// knows reports whether an answer is written for a path.
func (u *upstream) knows(path string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.answers[path]
	return ok
}

// release lets the answers of a path go that are held.
func (u *upstream) release(path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if a := u.answers[path]; a.hold != nil {
		close(a.hold)
		a.hold = nil
		u.answers[path] = a
	}
}

func (u *upstream) last() (upstreamAsked, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.asked) == 0 {
		return upstreamAsked{}, errors.New("nothing reached the upstream")
	}
	return u.asked[len(u.asked)-1], nil
}

// stop ends the upstream, answers that are held included.
func (u *upstream) stop() {
	u.CloseClientConnections()
	u.Close()
}

// upProcess is a child process that runs ambit up.
type upProcess struct {
	url    string
	cmd    *exec.Cmd
	out    bytes.Buffer
	err    upOutput
	exited chan error
}

// upOutput takes what a process says and finds where it listens.
type upOutput struct {
	mu    sync.Mutex
	text  bytes.Buffer
	where chan string // gets the address once
	want  string      // what somebody waits for
	heard chan struct{}
}

// hears closes a channel once a process has said something.
func (o *upOutput) hears(text string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.want, o.heard = text, make(chan struct{})
	heard := o.heard
	o.look()
	return heard
}

func (o *upOutput) look() {
	if o.heard != nil && bytes.Contains(o.text.Bytes(), []byte(o.want)) {
		close(o.heard)
		o.heard = nil
	}
}

var listening = regexp.MustCompile(`(?m)^ambit: listening on (?:(http://\S+)|all addresses, port (\d+)),`)

func (o *upOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if m := listening.FindSubmatch(o.text.Bytes()); m != nil && o.where != nil {
		where := string(m[1])
		if where == "" {
			where = "http://127.0.0.1:" + string(m[2])
		}
		o.where <- where
		o.where = nil
	}
	o.look()
	return len(p), nil
}

func (o *upOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startUp starts ambit up on a free port and waits until it listens.
func startUp(ctx context.Context, dir string, environ []string, args ...string) (*upProcess, error) {
	where := make(chan string, 1)
	p := &upProcess{exited: make(chan error, 1)}
	p.err.where = where
	p.cmd = exec.CommandContext(ctx, "ambit", append([]string{"up", "--addr", "127.0.0.1:0"}, args...)...)
	p.cmd.Dir, p.cmd.Env = dir, environ
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.exited <- p.cmd.Wait() }()
	select {
	case p.url = <-where:
		return p, nil
	case err := <-p.exited:
		return nil, fmt.Errorf("ambit up does not listen: %w\n%s", err, p.err.String())
	}
}

// stop ends the process as its user would, by SIGTERM, and returns how it exited.
func (p *upProcess) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return <-p.exited
}

// sendRequest is one request to a proxy, byte for byte: the answer is not decoded, a redirect not followed.
func sendRequest(ctx context.Context, method, url string, header http.Header, body []byte) (*http.Response, []byte, error) {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = header
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res, answer, err
}

// headerLines reads "Name: value" texts.
func headerLines(lines []string) (http.Header, error) {
	h := make(http.Header)
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("header %q: want 'Name: value'", line)
		}
		h.Add(name, value)
	}
	return h, nil
}

// messageAnswer is a small answer of Anthropic Messages with its usage.
const messageAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Done."}],` +
	`"stop_reason":"end_turn","usage":{"input_tokens":7,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":5}}`

// jsonAnswer answers JSON.
func jsonAnswer(body string) upstreamAnswer {
	return upstreamAnswer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
}

// patience bounds what a test waits for that should take no time.
const patience = time.Minute
