package providertest

import (
	"fmt"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/provider"
	"ambit/unit"
	"ambit/view"
)

// broken is a protocol that answers as the test wants it to; without functions it understands nothing.
type broken struct {
	request  func(body []byte) provider.Request
	response func(body []byte) provider.Response
	elements func(body []byte) provider.Elements
	edit     func(body []byte, changes []provider.Change) ([]byte, error)
}

func (b broken) Request(_, _ string, body []byte) provider.Request {
	if b.request == nil {
		return provider.Request{}
	}
	return b.request(body)
}

func (b broken) Response(_ provider.Request, _ string, body []byte) provider.Response {
	if b.response == nil {
		return provider.Response{}
	}
	return b.response(body)
}

func (b broken) Elements(_ provider.Request, body []byte) (provider.Elements, error) {
	if b.elements != nil {
		return b.elements(body), nil
	}
	return provider.Elements{}, onlyRead(body)
}

func (b broken) Message(provider.Request, []byte, string) provider.Message { return provider.Message{} }

func (b broken) Contract(provider.Request) unit.Contract { return provider.Whole() }

func (b broken) Edit(_ provider.Request, body []byte, e provider.Elements, changes []provider.Change) ([]byte, error) {
	if b.edit != nil {
		return b.edit(body, changes)
	}
	return provider.Editor{}.Edit(body, e, changes)
}

func (b broken) Lower(view.View, provider.LowerParams) ([]byte, error) {
	return nil, provider.NotLowered("")
}

func (b broken) Endpoint(provider.LowerParams) string { return "/" }

func (b broken) Headers(string) []provider.Header { return nil }

func (b broken) Reply(req provider.Request, _ string, _ []byte) (provider.Reply, error) {
	return provider.Reply{}, provider.NotAnswered(req.Type)
}

func (b broken) Overflow(int, string, []byte) (provider.Overflow, bool) {
	return provider.Overflow{}, false
}

func TestNothingUnderstood(t *testing.T) { Run(t, broken{}) }

// stopped is a failer whose Fatalf panics with the text.
type stopped struct{}

func (stopped) Helper()                           {}
func (stopped) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func complaint(of func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	of()
	return ""
}

func TestBrokenRequests(t *testing.T) {
	calls, kept := 0, []byte(nil)
	keep := func(b []byte) provider.Request {
		if kept == nil {
			kept = b
		}
		return provider.Request{Model: string(kept)}
	}
	tests := map[string]struct {
		request func(body []byte) provider.Request
		want    string
	}{
		"keeps the body":     {keep, "then"},
		"changes the body":   {func(b []byte) provider.Request { b[0] = 'x'; return provider.Request{} }, "changed"},
		"writes behind it":   {func(b []byte) provider.Request { _ = append(b, 'x'); return provider.Request{} }, "changed"},
		"counts its calls":   {func([]byte) provider.Request { calls++; return provider.Request{Stream: calls%2 == 0} }, "then"},
		"name is not UTF-8":  {func([]byte) provider.Request { return provider.Request{Model: "\xff"} }, "no name"},
		"name has no bounds": {func([]byte) provider.Request { return provider.Request{Model: strings.Repeat("m", 1<<20)} }, "no name"},
	}
	for name, test := range tests {
		got := complaint(func() { request(stopped{}, broken{request: test.request}, "POST", "/", "body") })
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: complaint %q, want %q in it", name, got, test.want)
		}
	}
}

func TestBrokenResponses(t *testing.T) {
	shared := &entry.Usage{Input: 1}
	tests := map[string]struct {
		usage *entry.Usage
		want  string
	}{
		"shared":             {shared, "share"},
		"negative":           {&entry.Usage{Output: -1}, "negative"},
		"more read":          {&entry.Usage{Input: 1, CacheRead: 2}, "parts"},
		"more read or write": {&entry.Usage{Input: 3, CacheRead: 2, CacheWrite: 2}, "parts"},
	}
	for name, test := range tests {
		p := broken{response: func([]byte) provider.Response {
			if test.usage == shared {
				return provider.Response{Usage: shared}
			}
			u := *test.usage
			return provider.Response{Usage: &u}
		}}
		got := complaint(func() { response(stopped{}, p, provider.Request{}, "", "body") })
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: complaint %q, want %q in it", name, got, test.want)
		}
	}
}

func onlyRead(body []byte) error {
	r := provider.NewReader(body)
	r.Skip()
	return r.End()
}
