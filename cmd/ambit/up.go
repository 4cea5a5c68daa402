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
	"strconv"
	"strings"
	"syscall"
	"time"

	"ambit/internal/selection"
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
		Short: "Pass an agent's requests on to its provider, record them, and keep long ones within bounds if asked to",
		Long:  upHelp(),
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return e.up(c.Context(), f) },
	}
	c.Flags().StringVar(&f.addr, "addr", "127.0.0.1:7788", "listen on HOST:PORT")
	c.Flags().StringVar(&f.policy, "policy", "record", "what may be done to requests: record, cut or full")
	c.Flags().StringArrayVar(&f.upstreams, "upstream", nil, "NAME=URL: where /NAME leads, a new route or another place for one; may be given several times")
	c.Flags().StringVar(&f.token, "token", "", "what every request must bring; AMBIT_TOKEN sets it without showing it to other processes")
	return c
}

// upHelp explains ambit up.
func upHelp() string {
	routes := ""
	upstreams := server.DefaultUpstreams()
	for _, name := range slices.Sorted(maps.Keys(upstreams)) {
		routes += fmt.Sprintf("  %-11s %s\n", "/"+name, upstreams[name])
	}
	return "Up listens on 127.0.0.1:7788. Point an agent at http://127.0.0.1:7788/anthropic, /openai/v1 or /gemini\n" +
		"instead of the provider, and work as always. The routes lead to\n\n" + routes + "\n" +
		"--upstream replaces where one leads, or adds one. On the way there HTTP_PROXY, HTTPS_PROXY and NO_PROXY hold.\n\n" +
		"Put /s/NAME behind the provider's name to name a session: 1 to 64 printable ASCII characters, percent-encoded\n" +
		"where a URL wants it. What has this name goes into one session, and the other commands find it by this title.\n\n" +
		"--policy record, the default, changes nothing. With cut, giant results are shortened before they are sent the first time,\n" +
		"and old ones become placeholders when that pays or the window forces it. With full, a checkpoint takes the place of\n" +
		"what is old, and what the user said stays. Both send again, shorter, what a provider refuses as too long. Nothing\n" +
		"is lost: search, read and the MCP server at /mcp give back what is not sent.\n\n" +
		"On an address that other machines reach it wants a token, from --token or AMBIT_TOKEN, and answers only to those\n" +
		"who bring it: in the header X-Ambit-Token, or as /t/TOKEN behind the provider's name.\n\n" +
		"Several may record into one data directory. A session has one writer at a time; what another one gets for it goes\n" +
		"into a new session.\n\n" +
		"Ctrl-C stops it: requests under way have five seconds to end. Another Ctrl-C ends it at once."
}

func (e *env) up(ctx context.Context, f upFlags) error {
	if _, ok := selection.Named(f.policy); !ok {
		return misused("policy %q: there are record, cut and full", f.policy)
	}
	if f.token == "" {
		f.token = e.getenv("AMBIT_TOKEN")
	}
	upstreams, err := parseUpstreams(f.upstreams)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return misused("address %q: want HOST:PORT", f.addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return misused("address %q: a port is a number up to 65535", f.addr)
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
	return e.serve(ctx, l, server.Options{Policy: f.policy, Upstreams: upstreams, Token: f.token, Open: !local})
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
	o.Log = slog.New(saying{e: e})
	s, err := server.New(o)
	if err != nil {
		return errors.Join(misused("%v", err), l.Close(), d.Close())
	}
	e.welcome(l.Addr().String(), dir, o)
	defer e.sayWouldHave(ctx, o.Policy, time.Now())
	ended := make(chan struct{})
	said := make(chan struct{})
	go func() {
		e.stopping(ctx, ended)
		close(said)
	}()
	err = errors.Join(s.Serve(ctx, l, grace), s.Close())
	close(ended)
	<-said
	e.farewell(s)
	return errors.Join(err, d.Close())
}

// stopping says what is waited for when the end takes a while. It returns when that has come.
func (e *env) stopping(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	patience := time.NewTimer(200 * time.Millisecond)
	defer patience.Stop()
	select {
	case <-ended:
		return
	case <-patience.C:
	}
	e.say("stopping: waiting up to %d seconds for requests under way, and for what passed to be recorded; Ctrl-C again ends at once", grace/time.Second)
	<-ended
}

// farewell says what was recorded.
func (e *env) farewell(s *server.Server) {
	requests, sessions, missed := s.Recorded()
	missing := "nothing was missed"
	if missed > 0 {
		missing = plural(missed, "request or response", "requests or responses") + " passed unrecorded"
	}
	e.say("recorded %s in %s; %s", plural(requests, "request", "requests"), plural(sessions, "session", "sessions"), missing)
	if edited, resent := s.Edited(); edited+resent > 0 {
		e.say("edited %s, and sent again, shorter, what was too long: %s; ambit context SESSION says why", plural(edited, "request", "requests"), plural(resent, "time", "times"))
	}
}

// welcome says what listens where, and how to use it.
func (e *env) welcome(addr, dir string, o server.Options) {
	everywhere := false
	if host, port, err := net.SplitHostPort(addr); err == nil {
		ip, err := netip.ParseAddr(host)
		everywhere = err == nil && ip.IsUnspecified()
		if everywhere {
			addr = "HOST:" + port
			e.say("listening on all addresses, port %s, recording into %s", port, dir)
		}
	}
	if !everywhere {
		e.say("listening on http://%s, recording into %s", addr, dir)
	}
	switch o.Policy {
	case selection.Cut, selection.Full:
		e.say("policy %s: requests are edited; agents get back what is left out over MCP, at http://%s/mcp", o.Policy, addr)
	default:
		e.say("policy record: nothing new is edited; agents may search over MCP, at http://%s/mcp", addr)
	}
	token := ""
	if o.Token != "" {
		token = "/t/TOKEN"
	}
	fmt.Fprintf(e.err, "  ANTHROPIC_BASE_URL=http://%[1]s/anthropic%[2]s\n  OPENAI_BASE_URL=http://%[1]s/openai%[2]s/v1\n"+
		"  GOOGLE_GEMINI_BASE_URL=http://%[1]s/gemini%[2]s\n", addr, token)
	if everywhere {
		fmt.Fprintln(e.err, "  with this machine's name or address for HOST")
	}
	if token != "" {
		fmt.Fprintln(e.err, "  with the token for TOKEN; or without /t/TOKEN and with the token in the header X-Ambit-Token")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Upstreams)) {
		fmt.Fprintf(e.err, "  /%s leads to %s\n", name, o.Upstreams[name])
	}
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
