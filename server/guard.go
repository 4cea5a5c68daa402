package server

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// refusal is an answer of the server's own.
type refusal struct {
	status int
	text   string
}

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }

// answer writes the refusal in a shape that the clients of all providers show to their users.
func (r *refusal) answer(w http.ResponseWriter) {
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	body, _ := json.Marshal(struct { // two strings always marshal
		Type  string `json:"type"`
		Error detail `json:"error"`
	}{"error", detail{"ambit_refused", "ambit: " + r.text}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	w.Write(append(body, '\n'))
}

// route is what the path of a request says.
type route struct {
	provider string
	token    string // of /NAME/t/TOKEN/…
	tag      string // of /NAME/s/TAG/…
	rest     string // the path that is appended to the upstream's, as the client spelled it
	query    string // what follows the question mark, as the client spelled it
	asks     bool   // there is a question mark
}

// maxTag is the longest tag, in bytes.
const maxTag = 64

// parseRoute reads /NAME[/t/TOKEN][/s/TAG]/REST[?QUERY] as the client spelled it.
func parseRoute(target string) (route, error) {
	var to route
	target, to.query, to.asks = strings.Cut(target, "?")
	name, rest, more := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	to.provider = name
	for more {
		head, tail, ok := strings.Cut(rest, "/")
		if head != "t" && head != "s" || !ok {
			break
		}
		value, after, deeper := strings.Cut(tail, "/")
		plain, err := url.PathUnescape(value)
		if err != nil {
			break
		}
		if head == "s" && value == "" {
			return to, refuse(http.StatusBadRequest, "the URL names no session: after /s/ comes a NAME")
		}
		if value == "" {
			break
		}
		if head == "t" {
			to.token = plain
		} else if to.tag = plain; len(plain) > maxTag || strings.ContainsFunc(plain, unprintable) {
			return to, refuse(http.StatusBadRequest, "NAME in /s/NAME is 1 to %d printable ASCII characters", maxTag)
		}
		rest, more = after, deeper
	}
	if more {
		to.rest = "/" + rest
	}
	return to, nil
}

func unprintable(r rune) bool { return r < 0x20 || r > 0x7e }

// guard decides who is served. A page in a browser can reach a loopback address, under a name of its own or across
// origins; neither is an agent.
type guard struct {
	token string
	open  bool
}

// tokenHeader carries the token; it is not forwarded.
const tokenHeader = "X-Ambit-Token"

func (g guard) admit(r *http.Request, pathToken string) error {
	if !g.open && !loopbackHost(r.Host) {
		return refuse(http.StatusForbidden, "host %q is not this machine's", r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return refuse(http.StatusForbidden, "requests of the page %q are not passed on", origin)
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if !strings.EqualFold(site, "same-origin") && !strings.EqualFold(site, "none") {
			return refuse(http.StatusForbidden, "requests of other sites' pages are not passed on")
		}
	}
	if g.token == "" {
		return nil
	}
	for _, given := range []string{r.Header.Get(tokenHeader), pathToken} {
		if subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) == 1 {
			return nil
		}
	}
	return refuse(http.StatusUnauthorized, "a token is needed: send %s, or put /t/TOKEN behind the provider's name", tokenHeader)
}

// loopbackHost reports whether a Host header names this machine's loopback, with or without a port.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// upgrades reports whether a request asks for another protocol on its connection.
func upgrades(r *http.Request) bool {
	for _, v := range r.Header.Values("Connection") {
		for token := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") && r.Header.Get("Upgrade") != "" {
				return true
			}
		}
	}
	return false
}
