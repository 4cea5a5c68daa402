package main

import (
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
const maxAnswer = 64 << 10

// forward asks the ambit up that holds a session to purge it.
func (e *env) forward(ctx context.Context, d *journal.Dir, busy *journal.BusyError) (entry.Purged, error) {
	if err := e.askHolder(ctx, busy); err != nil {
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

// askHolder sends the request. No proxy stands between, and no redirect is followed: it may carry a token.
func (e *env) askHolder(ctx context.Context, busy *journal.BusyError) error {
	url := "http://" + dialed(busy.Holder.Addr) + server.PurgePath(busy.Session)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return fmt.Errorf("%w, whose address cannot be asked", busy)
	}
	req.Header.Set("Content-Type", "application/json")
	if token := e.getenv("AMBIT_TOKEN"); token != "" {
		req.Header.Set("X-Ambit-Token", token)
	}
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &hintError{fmt.Errorf("%w, which does not answer: %v", busy, err), "stop it, and purge the session again"}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return &hintError{fmt.Errorf("%w, which wants its token", busy), "AMBIT_TOKEN sets it"}
	case res.StatusCode != http.StatusOK:
		return &hintError{fmt.Errorf("%w, which did not purge it: %s", busy, refusalText(res.Status, body)), "stop it, and purge the session again"}
	case err != nil:
		return fmt.Errorf("%w, whose answer broke off: %v", busy, err)
	}
	return nil
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
