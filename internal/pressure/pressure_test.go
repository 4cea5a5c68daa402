package pressure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pressure"
	"ambit/internal/reading"
	"ambit/internal/selection"
	"ambit/provider"
	"ambit/provider/anthropic"
)

// planned plans a request whose system text has so many bytes, of a thread, and answers it as if a token had four bytes.
func planned(t *testing.T, of *pressure.Thread, n, system int) *entry.Sent {
	t.Helper()
	body := fmt.Appendf(nil, `{"model":"claude-opus-5-5","max_tokens":10,"system":%q,"messages":[{"role":"user","content":"Hello."}]}`, strings.Repeat("word ", system/5))
	var family provider.Protocol = anthropic.Protocol{}
	asked := family.Request("POST", "/v1/messages", body)
	e, err := family.Elements(asked, body)
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := selection.Named(selection.Full)
	p := pressure.NewPlan(of, pressure.Case{
		Request: &pressure.Request{Family: family, Asked: asked, Body: body, Elements: e, Hashes: reading.Hashes(e.Messages)},
		N:       n, At: time.Date(2026, 11, 30, 12, n, 0, 0, time.UTC), Policy: policy, Model: asked.Model, Before: func() int { return min(1, n-1) },
		Book: pressure.Book{Seq: func(provider.Hash) entry.Seq { return 0 }, Purged: func(provider.Hash) bool { return false }},
	})
	if _, err := p.Choose(0, nil); err != nil {
		t.Fatal(err)
	}
	p.Apply()
	sent, err := p.Sent(p.Body())
	if err != nil {
		t.Fatal(err)
	}
	p.Counted(&entry.Usage{Input: int64(len(body) / 4), Output: 1}, true)
	return sent
}

// What stands in front of a conversation is estimated anew when it changes, and as the provider counted while it stays.
func TestAnotherHead(t *testing.T) {
	of, err := pressure.Stands(pool.New(), "t1", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	planned(t, of, 1, 40_000)
	for i, want := range []struct{ system, least, most int }{{40_000, 9900, 10_100}, {80_000, 17_000, 23_000}, {80_000, 19_900, 20_100}, {8000, 1000, 4000}} {
		if got := planned(t, of, i+2, want.system).After; got < want.least || got > want.most {
			t.Errorf("request %d with %d bytes in front is taken for %d tokens, not for %d to %d", i+2, want.system, got, want.least, want.most)
		}
	}
}
