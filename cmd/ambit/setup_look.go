package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// look says when no Ambit answers where a setup leads, or when it lacks the route. It asks this machine only.
func (e *env) look(ctx context.Context, s setup) {
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil || !loopback(host) {
		return
	}
	up := e.self() + " up"
	if s.Addr != usualAddr {
		up += " --addr " + s.Addr
	}
	for _, u := range s.Upstreams {
		up += " --upstream " + u
	}
	switch status, isAmbit := e.health(ctx, s.Addr); {
	case status == 0:
		e.say("no Ambit answers at %s", s.Addr)
		e.hint("%s", up)
		return
	case status == http.StatusUnauthorized && e.getenv("AMBIT_TOKEN") == "":
		e.say("the Ambit at %s wants a token", s.Addr)
		e.hint("set AMBIT_TOKEN, and the URL has a place for it")
		return
	case status == http.StatusUnauthorized:
		e.say("the Ambit at %s wants another token than AMBIT_TOKEN", s.Addr)
		return
	case !isAmbit:
		e.say("what answers at %s is no Ambit", s.Addr)
		e.hint("--addr takes another port, here and for %s up", e.self())
		return
	}
	for _, u := range s.Upstreams {
		if name, _, _ := strings.Cut(u, "="); !e.leads(ctx, s.Addr, name) {
			e.say("the Ambit at %s has no route /%s", s.Addr, name)
			e.hint("stop it, then %s", up)
		}
	}
}

// health asks an address whether it is an Ambit's. The status is 0 when nothing answers.
func (e *env) health(ctx context.Context, addr string) (status int, isAmbit bool) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	res, err := e.knock(ctx, "http://"+addr+"/healthz", http.Header{})
	if err != nil {
		return 0, false
	}
	defer res.Body.Close()
	var said struct{ Status, Version string }
	err = json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&said)
	return res.StatusCode, err == nil && said.Status == "ok" && said.Version != ""
}

// leads asks an Ambit whether it has a route. What asks for a WebSocket it passes on to nobody, and records nothing of it.
func (e *env) leads(ctx context.Context, addr, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	res, err := e.knock(ctx, "http://"+addr+"/"+name, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}})
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusUpgradeRequired
}

// lookTime is how long an answer from this machine may take.
const lookTime = time.Second

// knock sends a GET with the token, by no proxy. The caller closes the body.
func (e *env) knock(ctx context.Context, url string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header = header
	if token := e.getenv("AMBIT_TOKEN"); token != "" {
		req.Header.Set("X-Ambit-Token", token)
	}
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
}
