package ambit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// exchange sends the body and reads what comes back, as much as there is, into f.
func (s *Session) exchange(ctx context.Context, r *request, n int, f *entry.Response) ([]byte, *provider.Failure) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := orElse(r.limits.Silence, DefaultSilence)
	quiet := time.AfterFunc(silence, func() { stop(fmt.Errorf("the provider has said nothing for %s", silence)) })
	defer quiet.Stop()
	fail := func(end entry.End, err error) *provider.Failure {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		f.End, f.Error = end, brief(err.Error())
		kind := provider.Unreachable
		switch {
		case errors.Is(err, errLong):
			kind = provider.Garbled
		case context.Cause(ctx) == nil && end == entry.EndNone && !passes(err):
			kind = provider.Unknown
		}
		return &provider.Failure{Kind: kind, Code: absent(err), Message: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, fail(entry.EndNone, err)
	}
	for _, h := range r.family.Headers(r.model.Credential) {
		req.Header.Set(h.Name, h.Value)
	}
	began := s.engine.o.Now()
	resp, err := s.engine.o.Client.Do(req)
	if err != nil {
		return nil, fail(entry.EndNone, err)
	}
	defer resp.Body.Close()
	f.Status, f.Headers, f.FirstByteMS = resp.StatusCode, kept(resp.Header), s.engine.o.Now().Sub(began).Milliseconds()
	body, err := s.hearOut(resp, r, n, func() { quiet.Reset(silence) })
	if err != nil {
		return body, fail(entry.EndDropped, err)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return body, &provider.Failure{Kind: provider.Garbled, Status: resp.StatusCode, Message: "it redirects" + target(resp) + ", which is not followed: give that as the base URL"}
	}
	return body, nil
}

// kept are the headers of a response that are kept: they say how to read it, how long to wait, and by what name the provider
// knows it.
func kept(h http.Header) map[string]string {
	m := make(map[string]string)
	for _, name := range []string{"content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"} {
		if v := h.Get(name); v != "" && len(v) <= maxKept {
			m[name] = v
		}
	}
	return m
}

// maxKept is the longest header that is kept, in bytes.
const maxKept = 256

// target says where a response leads, without what may be secret in it.
func target(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return ""
	}
	return " to " + to.Scheme + "://" + to.Host + to.Path
}

// passes reports whether a request that nobody answered may be answered later: the network or the other side broke off. What is
// wrong with the request itself, a certificate or the protocol, stays wrong.
func passes(err error) bool {
	var errno syscall.Errno
	var op *net.OpError
	var name *net.DNSError
	var late net.Error
	return errors.As(err, &errno) || errors.As(err, &op) || errors.As(err, &name) || errors.As(err, &late) && late.Timeout() ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || absent(err) != "" || strings.Contains(err.Error(), "http2: ")
}

// absent is the code of an error that nobody was reached at all; empty for others.
func absent(err error) string {
	var asked *url.Error
	if text := err.Error(); errors.As(err, &asked) && (strings.Contains(text, "connection refused") || strings.Contains(text, "no such host")) {
		return codeAbsent
	}
	return ""
}

// hearOut reads an answer to its end, and tells of its text as it comes.
func (s *Session) hearOut(resp *http.Response, r *request, n int, heard func()) (body []byte, err error) {
	most := orElse(r.limits.Answer, DefaultAnswer)
	piece := make([]byte, 32<<10)
	told, next := 0, time.Time{}
	tell := func() {
		text := r.family.Response(r.asked, resp.Header.Get("content-type"), body).Answer.Text
		if len(text) > told {
			s.say(Event{Kind: EventText, N: n, Text: text[told:]})
			told = len(text)
		}
	}
	for {
		k, err := resp.Body.Read(piece)
		if k > 0 {
			heard()
			body = append(body, piece[:k]...)
		}
		if len(body) > most {
			return body[:most], fmt.Errorf("%w than %d bytes", errLong, most)
		}
		if now := s.engine.o.Now(); resp.StatusCode == http.StatusOK && !now.Before(next) {
			tell()
			next = now.Add(pace)
		}
		if err == io.EOF {
			tell()
			return body, nil
		}
		if err != nil {
			return body, err
		}
	}
}

// errLong says that an answer is longer than Bounds.Answer.
var errLong = errors.New("the answer has more")

// pace is how often an answer that is under way is read for its text: reading it takes longer the longer it is.
const pace = 100 * time.Millisecond
