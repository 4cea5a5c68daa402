package pricing_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ambit/internal/pricing"
)

// kinds are models of every way of matching.
var kinds = []string{"claude-sonnet-4-5", "claude-opus-4-6", "claude-fable-5-1", "gpt-4.1-mini", "gpt-5.4", "gpt-5.6-sol", "gemini-2.5-pro", "deepseek-chat", "deepseek-v4-flash", "grok-4"}

var dates = []time.Time{{}, time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)}

func drawModel(t *rapid.T) pricing.Model {
	m, ok := pricing.Lookup(rapid.SampledFrom(kinds).Draw(t, "model"), rapid.SampledFrom(dates).Draw(t, "date"))
	if !ok {
		t.Fatal("unknown")
	}
	return m
}

// drawBlock is one of a few blocks, so that prefixes meet again.
func drawBlock(t *rapid.T) pricing.Block {
	n := rapid.IntRange(0, 6).Draw(t, "block")
	b := piece(fmt.Sprint(n), []int{0, 10, 100, 500, 1000, 1024, 3000}[n])
	b.Tier = pricing.Messages
	b.Run, b.Said, b.Fixed = []pricing.Run{0, 0, 1, 2}[n%4], pricing.Said(n%4), n == 3
	if rapid.IntRange(0, 4).Draw(t, "marked") == 0 {
		b.Mark = rapid.SampledFrom([]time.Duration{five, hour}).Draw(t, "mark")
	}
	return b
}

// drawSession is requests that go on from each other, cut and change what was, wait, and overlap.
func drawSession(t *rapid.T, m pricing.Model) []pricing.Request {
	var requests []pricing.Request
	var blocks []pricing.Block
	at := start
	for range rapid.IntRange(1, 12).Draw(t, "requests") {
		blocks = append([]pricing.Block(nil), blocks[:rapid.IntRange(0, len(blocks)).Draw(t, "kept")]...)
		for range rapid.IntRange(0, 30).Draw(t, "more") {
			blocks = append(blocks, drawBlock(t))
		}
		at = at.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 60, 299, 300, 1800, 3600, 90000}).Draw(t, "seconds")) * time.Second)
		r := pricing.Request{Model: m, At: at, Blocks: blocks}
		if rapid.Bool().Draw(t, "slow") {
			r.Begins = at.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "begins")) * time.Second)
		}
		r.Key = rapid.SampledFrom([]string{"", "", "k"}).Draw(t, "key")
		r.Auto = rapid.SampledFrom([]time.Duration{0, 0, five}).Draw(t, "auto")
		r.Explicit = rapid.IntRange(0, 3).Draw(t, "explicit") == 0
		if rapid.IntRange(0, 3).Draw(t, "answered") == 0 {
			r.Output = []pricing.Block{drawBlock(t)}
		}
		requests = append(requests, r)
	}
	return requests
}

// common is how many tokens two requests begin with alike, of whole blocks; the answer is part of the earlier one.
func common(earlier, later pricing.Request) int {
	tokens, all := 0, join(earlier.Blocks, earlier.Output)
	for i, b := range later.Blocks {
		if i == len(all) || all[i].Hash != b.Hash || all[i].Tier != b.Tier {
			break
		}
		tokens += b.Tokens
	}
	return tokens
}

// longest is the longest life that a model's entries have.
func longest(m pricing.Model) time.Duration { return max(m.Rules.Life, m.Rules.LifeHour) }

// TestChargeLaw: a charge adds up to the request, and is the same each time; nothing is read but what an earlier
// request that is still alive had too; what is not in the rules is not in the charge.
// covers: N-05 part
func TestChargeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		session := drawSession(t, m)
		c, twin := pricing.NewCache(), pricing.NewCache()
		for n, r := range session {
			got := c.Send(r)
			if again := twin.Send(r); got != again {
				t.Fatalf("request %d: %+v, and again %+v", n, got, again)
			}
			tokens := 0
			for _, b := range r.Blocks {
				tokens += b.Tokens
			}
			if got.Total() != tokens || min(got.Fresh, got.Read, got.Write, got.WriteHour) < 0 {
				t.Fatalf("request %d of %d tokens: %+v", n, tokens, got)
			}
			most := 0
			for _, e := range session[:n] {
				if (e.Key == r.Key || !m.Rules.Keyed) && r.At.Sub(e.At) < longest(m) {
					most = max(most, common(e, r))
				}
			}
			if got.Read > most {
				t.Fatalf("request %d: %+v, but only %d tokens were there before", n, got, most)
			}
			if m.Rules.Match != pricing.ByMark && got.Written() > 0 || m.Rules.LifeHour == 0 && got.WriteHour > 0 || got.Read > 0 && got.Read < m.Rules.Min {
				t.Fatalf("request %d: %+v", n, got)
			}
		}
	})
}

// TestAppendOnlyLaw: a conversation that only grows, within the time to live and the look-back, reads all that the
// request before wrote or read.
// covers: N-05 part
func TestAppendOnlyLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		c, at, before := pricing.NewCache(), start, 0
		var blocks []pricing.Block
		for n := range rapid.IntRange(2, 15).Draw(t, "requests") {
			for i := range rapid.IntRange(1, 19).Draw(t, "more") {
				blocks = append(blocks, piece(fmt.Sprint(n, " ", i), rapid.IntRange(1, 800).Draw(t, "tokens")))
			}
			got := c.Send(pricing.Request{Model: m, At: at, Blocks: marked(five, blocks...)})
			whole := before
			if g := m.Rules.Granularity; g > 1 {
				whole -= whole % g
			}
			if whole < m.Rules.Min || m.Rules.Match == pricing.Never {
				whole = 0
			}
			if got.Read != whole {
				t.Fatalf("request %d: %+v, want to read %d", n, got, whole)
			}
			before = got.Total()
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(max(m.Rules.Life, 1)-1)).Draw(t, "pause")))
		}
	})
}

// TestExpiryLaw: whatever was sent, nothing is read after the longest life.
// covers: N-05 part
func TestExpiryLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		c, session := pricing.NewCache(), drawSession(t, m)
		for _, r := range session {
			c.Send(r)
		}
		last := session[len(session)-1]
		last.At = last.At.Add(longest(m) + time.Duration(rapid.IntRange(0, 10).Draw(t, "more")))
		last.Begins = time.Time{}
		if got := c.Send(last); got.Read != 0 {
			t.Fatalf("%+v", got)
		}
	})
}

// TestCacheForgets: many sessions one after the other leave no more behind than the last of them.
func TestCacheForgets(t *testing.T) {
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.3-codex", "deepseek-v4-flash"} {
		c, m := pricing.NewCache(), model(t, name)
		for n := range 100 {
			send(c, m, time.Duration(n)*24*time.Hour, marked(five, pieces(fmt.Sprint(n, " "), 500, 100)...)...)
		}
		if c.Len() > 4096+1100 {
			t.Errorf("%s: %d entries", name, c.Len())
		}
	}
}

// BenchmarkSession charges an append-only session of 600 requests that ends with 1,200 blocks.
func BenchmarkSession(b *testing.B) {
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.4", "gpt-5.6-sol", "deepseek-v4-flash"} {
		b.Run(name, func(b *testing.B) {
			m := model(b, name)
			blocks := pieces("a", 1200, 100)
			b.ReportAllocs()
			for b.Loop() {
				c := pricing.NewCache()
				for n := 2; n <= len(blocks); n += 2 {
					blocks[n-1].Mark = five
					send(c, m, time.Duration(n)*time.Second, blocks[:n]...)
					blocks[n-1].Mark = 0
				}
			}
		})
	}
}
