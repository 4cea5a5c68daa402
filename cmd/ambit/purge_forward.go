package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"ambit/entry"
	"ambit/journal"
	"ambit/server"
)

// maxAnswer is how much is read of what an ambit up answers, in bytes.
const maxAnswer = 256 << 10

// forward asks the ambit up that holds a session to purge it.
func (e *env) forward(ctx context.Context, d *journal.Dir, busy *journal.BusyError) (entry.Purged, error) {
	if _, err := e.askHolder(ctx, busy, server.ActPurge, server.Ask{}); err != nil {
		return entry.Purged{}, err
	}
	p, err := d.Purged(busy.Session) // whoever answered there, this is what counts
	if err == nil && (p == nil || p.Left > 0) {
		err = fmt.Errorf("%w, which says that it is purged, and it is not", busy)
	}
	if err != nil {
		return entry.Purged{}, err
	}
	return p.Purged, nil
}

// askHolder asks the ambit up that holds a session to act on it, and returns its answer. No proxy stands between, and no
// redirect is followed: it may carry a token.
func (e *env) askHolder(ctx context.Context, busy *journal.BusyError, act string, a server.Ask) ([]byte, error) {
	url := "http://" + dialed(busy.Holder.Addr) + server.ActPath(busy.Session, act)
	ask, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(ask))
	if err != nil {
		return nil, fmt.Errorf("%w, whose address cannot be asked", busy)
	}
	req.Header.Set("Content-Type", "application/json")
	if token := e.getenv("AMBIT_TOKEN"); token != "" {
		req.Header.Set("X-Ambit-Token", token)
	}
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	defer transport.CloseIdleConnections()
	again := "stop it, and try again"
	if act == server.ActPurge {
		again = "stop it, and purge the session again"
	}
	res, err := transport.RoundTrip(req)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &hintError{fmt.Errorf("%w, which does not answer: %v", busy, err), again}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return nil, &hintError{fmt.Errorf("%w, which wants its token", busy), "AMBIT_TOKEN sets it"}
	case res.StatusCode != http.StatusOK:
		return nil, &hintError{&answeredError{busy, act, res.StatusCode, refusalText(res.Status, body)}, again}
	case err != nil:
		return nil, fmt.Errorf("%w, whose answer broke off: %v", busy, err)
	}
	return body, nil
}

// answeredError is what an ambit up says against an act.
type answeredError struct {
	busy   *journal.BusyError
	act    string
	status int
	text   string
}

func (e *answeredError) Error() string {
	return fmt.Sprintf("%v, which did not %s it: %s", e.busy, e.act, e.text)
}

// refusalText is what a server says against a request, or else its status.
func refusalText(status string, body []byte) string {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error.Message == "" {
		return status
	}
	return strings.TrimPrefix(answer.Error.Message, "ambit: ")
}

// dialed is the address at which who listens on an address is reached from this machine. Who listens on all addresses does
// so on this one.
func dialed(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
