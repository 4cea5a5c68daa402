package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"ambit/journal"
	"ambit/server"

	"github.com/spf13/cobra"
)

// grace is how long requests under way may go on once ambit up was told to stop.
const grace = 5 * time.Second

// upFlags are the settings of ambit up.
type upFlags struct {
	addr      string
	policy    string
	upstreams []string
	token     string
}

func newUp(e *env) *cobra.Command {
	var f upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Pass an agent's requests on to its provider, unchanged, and record them",
		Long: "Up listens on 127.0.0.1:7788. Point an agent at http://127.0.0.1:7788/anthropic, /openai/v1 or /gemini\n" +
			"instead of the provider, and work as always. Put /s/NAME behind the provider's name to name a session.\n" +
			"Beyond this machine it answers only to those who bring the token (--token, or AMBIT_TOKEN).",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.up(c.Context(), f) },
	}
	c.Flags().StringVar(&f.addr, "addr", "127.0.0.1:7788", "listen on HOST:PORT")
	c.Flags().StringVar(&f.policy, "policy", "record", "what may be done to requests; this version has record: nothing")
	c.Flags().StringArrayVar(&f.upstreams, "upstream", nil, "NAME=URL: where /NAME leads; may be given several times")
	c.Flags().StringVar(&f.token, "token", "", "what every request must bring; AMBIT_TOKEN sets it without showing it to other processes")
	return c
}

func (e *env) up(ctx context.Context, f upFlags) error {
	if f.policy != "record" {
		return misused("policy %q: this version has record only", f.policy)
	}
	if f.token == "" {
		f.token = e.getenv("AMBIT_TOKEN")
	}
	upstreams, err := parseUpstreams(f.upstreams)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return misused("address %q: want HOST:PORT", f.addr)
	}
	local := loopback(host)
	if !local && f.token == "" {
		return misused("%s can be reached from other machines: set a token with --token or AMBIT_TOKEN", f.addr)
	}
	l, err := net.Listen("tcp", f.addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return &hintError{err, "another ambit up may be running; --addr takes another port"}
	}
	if err != nil {
		return err
	}
	return e.serve(ctx, l, server.Options{Upstreams: upstreams, Token: f.token, Open: !local})
}

// parseUpstreams reads NAME=URL. What it says of a wrong one does not repeat the URL, which may hold a password.
func parseUpstreams(given []string) (map[string]string, error) {
	upstreams := make(map[string]string)
	for _, u := range given {
		name, target, ok := strings.Cut(u, "=")
		if !ok {
			return nil, misused("--upstream: want NAME=URL")
		}
		upstreams[name] = target
	}
	if _, err := server.ParseUpstreams(upstreams); err != nil {
		return nil, misused("%v", err)
	}
	return upstreams, nil
}

// serve records what comes in on a listener until ctx ends.
func (e *env) serve(ctx context.Context, l net.Listener, o server.Options) error {
	d, dir, err := e.record(journal.Holder{Command: "up", Addr: l.Addr().String()})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if o.Secret, err = secret(dir); err != nil {
		return errors.Join(err, l.Close(), d.Close())
	}
	o.Store, o.Version, o.Now = d, version, e.now
	o.Log = slog.New(slog.NewTextHandler(e.err, nil))
	s, err := server.New(o)
	if err != nil {
		return errors.Join(misused("%v", err), l.Close(), d.Close())
	}
	e.welcome(l.Addr().String(), dir, o.Upstreams)
	err = s.Serve(ctx, l, grace)
	return errors.Join(err, s.Close(), d.Close())
}

// welcome says what listens where, and how to use it.
func (e *env) welcome(addr, dir string, upstreams map[string]string) {
	e.say("listening on http://%s, recording into %s", addr, dir)
	fmt.Fprintf(e.err, "  ANTHROPIC_BASE_URL=http://%[1]s/anthropic\n  OPENAI_BASE_URL=http://%[1]s/openai/v1\n  GOOGLE_GEMINI_BASE_URL=http://%[1]s/gemini\n", addr)
	for _, name := range slices.Sorted(maps.Keys(upstreams)) {
		fmt.Fprintf(e.err, "  /%s leads to %s\n", name, upstreams[name])
	}
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
