package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/server"

	"github.com/spf13/cobra"
)

func newDemo(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Let a scripted agent work through the proxy, offline, then show and prove what was recorded",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return e.demo(c.Context()) },
	}
}

// demo records a session of the scripted agent and reports on it.
func (e *env) demo(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "ambit-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	d, dir, err := e.record(journal.Holder{Command: "demo"})
	if err != nil {
		return err
	}
	defer d.Close()
	e.say("a scripted model and a small agent work on a scratch project; nothing leaves this machine")
	start := e.now()
	name, result, err := e.demoRecord(ctx, d, dir, scratch)
	if err != nil {
		return err
	}
	p, err := pool.Load(ctx, d, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, "Session %s, %q, %s to %s\n\n", name, p.Session.Title, start.Local().Format(time.TimeOnly), p.Updated.Local().Format(time.TimeOnly))
	if err := e.demoExchanges(ctx, d, name, p); err != nil {
		return err
	}
	e.demoTotals(p, result)
	if err := e.demoProof(ctx, name); err != nil {
		return err
	}
	e.demoNext(name, d.Folder(name))
	return nil
}

// demoNext says what may be typed next, as it has to be typed here.
func (e *env) demoNext(name, folder string) {
	self := e.self()
	if dir, err := e.home(); err == nil && e.getenv("AMBIT_HOME") != "" {
		self = "AMBIT_HOME=" + shellQuote(dir) + " " + self
	}
	fmt.Fprintf(e.out, "\nNext:    %[1]s log %[2]s\n         %[1]s request %[2]s 12\n         %[1]s up\n", self, name)
	fmt.Fprintf(e.out, "         (the last says where to point your own agent, and records it)\nRemove:  rm -r %s\n", shellQuote(folder))
}

// demoRecord lets the agent work through a proxy in front of a scripted provider and returns the session.
func (e *env) demoRecord(ctx context.Context, d *journal.Dir, dir, scratch string) (string, demoResult, error) {
	key, err := secret(dir)
	if err != nil {
		return "", demoResult{}, err
	}
	model, stopModel, err := serveLocal(&http.Server{Handler: scripted.New(demoScript()), ReadHeaderTimeout: time.Minute})
	if err != nil {
		return "", demoResult{}, err
	}
	defer stopModel()
	s, err := server.New(server.Options{
		Store: d, Upstreams: map[string]string{"anthropic": "http://" + model}, Secret: key, Now: e.now,
		Title: "demo " + e.now().Local().Format(time.DateTime), Log: slog.New(saying{e: e}),
	})
	if err != nil {
		return "", demoResult{}, err
	}
	defer s.Close()
	proxy, stopProxy, err := serveLocal(&http.Server{Handler: s, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: server.MaxHeader})
	if err != nil {
		return "", demoResult{}, err
	}
	defer stopProxy()
	before, err := d.Sessions(ctx)
	if err != nil {
		return "", demoResult{}, err
	}
	tag := "demo-" + strconv.FormatInt(e.now().UnixNano(), 36)
	result, err := runDemoAgent(ctx, "http://"+proxy+"/anthropic/s/"+tag, scratch, e.say)
	stopProxy()
	if err := errors.Join(err, s.Close()); err != nil {
		return "", result, err
	}
	name, err := taggedSession(ctx, d, tag, before)
	return name, result, err
}

// serveLocal serves on a free port of the loopback and returns its address. stop may be called more than once.
func serveLocal(h *http.Server) (addr string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go h.Serve(l)
	return l.Addr().String(), func() {
		grace, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		h.Shutdown(grace)
	}, nil
}

// taggedSession finds the session that was made for a tag since others were listed.
func taggedSession(ctx context.Context, d *journal.Dir, tag string, before []string) (string, error) {
	all, err := d.Sessions(ctx)
	if err != nil {
		return "", err
	}
	known := make(map[string]bool)
	for _, s := range before {
		known[s] = true
	}
	for _, s := range all {
		if known[s] {
			continue
		}
		if p, err := pool.Load(ctx, d, s); err == nil && p.Session.Key == "tag:"+tag {
			return s, nil
		}
	}
	return "", errors.New("the demo was not recorded")
}

// demoExchanges prints a line for every exchange: what passed, what the provider counted, and where the request first
// differs from the one before it.
func (e *env) demoExchanges(ctx context.Context, d *journal.Dir, name string, p *pool.Pool) error {
	t := e.table(">N", "KIND", ">STATUS", ">SENT", ">RECEIVED", ">IN", ">READ", ">WRITTEN", ">OUT", ">SHARED", "FIRST DIFFERS AT")
	var last []byte
	for i := range p.Exchanges {
		x := &p.Exchanges[i]
		var body []byte
		if x.Request.Body != nil {
			var err error
			if body, err = d.Body(ctx, name, *x.Request.Body); err != nil {
				return err
			}
		}
		r := rowOf(x)
		in, read, written, out := tokens(r.Usage)
		shared, where := "", ""
		if x.Request.Type == provider.TypeMessages {
			if last != nil {
				n := sharedPrefix(last, body)
				shared, where = fmt.Sprintf("%d%%", 100*n/max(1, len(last))), pointerAt(body, n)
			}
			last = body
		}
		t.row(strconv.Itoa(r.N), r.Kind, status(r.Status), count(r.BodyBytes), count(r.ResponseBytes), in, read, written, out, shared, where)
	}
	t.flush()
	fmt.Fprintf(e.out, "\n  SHARED: how much of the messages request before it a request repeats, byte for byte from its start.\n"+
		"  FIRST DIFFERS AT: the member in which its first other byte stands; empty: nothing differs, or not a messages request.\n")
	return nil
}

func (e *env) demoTotals(p *pool.Pool, result demoResult) {
	var sent, received, in, read, written, out int64
	for i := range p.Exchanges {
		r := rowOf(&p.Exchanges[i])
		sent += r.BodyBytes
		received += r.ResponseBytes
		if r.Usage != nil && r.Kind == provider.TypeMessages {
			in, read, written, out = in+r.Usage.Input, read+r.Usage.CacheRead, written+r.Usage.CacheWrite, out+r.Usage.Output
		}
	}
	fmt.Fprintf(e.out, "\nPassed:  %s, %s bytes up, %s bytes down; the agent ran %s and %s, and went back %s\n",
		plural(len(p.Exchanges), "request", "requests"), count(sent), count(received),
		plural(result.ToolCalls, "tool", "tools"), plural(result.SubAgents, "sub-agent", "sub-agents"), plural(result.Rewinds, "time", "times"))
	fmt.Fprintf(e.out, "Tokens:  %s in, of which %s read from the cache and %s written to it, %s out (the provider is scripted, and counts as one would)\n",
		count(in), count(read), count(written), count(out))
}

// demoProof has a fresh process rebuild every body.
func (e *env) demoProof(ctx context.Context, name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, "check", name, "--json")
	c.Env = os.Environ()
	if dir, err := e.home(); err == nil {
		c.Env = append(c.Env, "AMBIT_HOME="+dir)
	}
	c.Stderr = e.err
	data, err := c.Output()
	var report checkReport
	if jsonErr := json.Unmarshal(data, &report); jsonErr != nil {
		return errors.Join(errors.New("the proof in a fresh process gave no report"), err, jsonErr)
	}
	if err != nil || report.Bodies == 0 || report.Rebuilt != report.Bodies {
		return fmt.Errorf("the proof failed: %d of %d bodies rebuild", report.Rebuilt, report.Bodies)
	}
	fmt.Fprintf(e.out, "Proof:   a fresh process rebuilt %s of %s bodies, %s bytes, each to the SHA-256 taken when it passed\n",
		count(report.Rebuilt), count(report.Bodies), count(report.BodyBytes))
	return nil
}

// shellQuote makes a word of a path for a POSIX shell.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%:", r)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
