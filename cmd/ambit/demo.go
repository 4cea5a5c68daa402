package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"ambit/internal/pool"
	"ambit/journal"
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
	name, result, err := e.demoRecord(ctx, d, dir, scratch)
	if err != nil {
		return err
	}
	return e.demoReport(ctx, d, name, result)
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
