package pricing_test

import (
	"testing"
	"time"

	"ambit/internal/pricing"
)

// said gives the last block to a speaker.
func said(who pricing.Said, blocks ...pricing.Block) []pricing.Block {
	for i := range blocks {
		blocks[i].Said = who
	}
	return blocks
}

// TestOpenAI goes through the rows of section C.2, before GPT-5.6 and from it on.
// covers: N-05 part
func TestOpenAI(t *testing.T) {
	old, marks := model(t, "gpt-5.3-codex"), model(t, "gpt-5.6-sol")
	a := pieces("a", 60, 1000)
	runRows(t, []row{
		{"| Trigger |", func(t *testing.T) {
			for _, m := range []pricing.Model{old, marks} {
				c := pricing.NewCache()
				for range 2 {
					want(t, send(c, m, 0, piece("s", 1023)), 1023, 0, 0, 0)
				}
				send(c, m, 0, piece("t", 1024))
				want(t, send(c, m, 0, piece("t", 1024)), 0, 1024, 0, 0)
			}
		}},
		{"| Granularity |", func(t *testing.T) {
			c := pricing.NewCache()
			want(t, send(c, old, 0, a[:2]...), 2000, 0, 0, 0)
			want(t, send(c, old, 0, a[:3]...), 3000-1920, 1920, 0, 0)
			want(t, send(c, old, 0, a[:3]...), 3000-2944, 2944, 0, 0)
			want(t, send(c, old, 0, join(a[:2], pieces("b", 1, 1000))...), 3000-1920, 1920, 0, 0) // no mark is needed

			c = pricing.NewCache() // only at a breakpoint: no fall-back to what is in common
			want(t, send(c, marks, 0, a[:3]...), 0, 0, 3000, 0)
			want(t, send(c, marks, 0, join(a[:2], pieces("b", 1, 1000))...), 0, 0, 3000, 0)
			want(t, send(c, marks, 0, a[:5]...), 0, 3000, 2000, 0)
		}},
		{"| Breakpoints | none", testBreakpoints},
		{"| Lifetime |", func(t *testing.T) {
			for _, name := range []string{"gpt-4.1", "gpt-5", "gpt-5.1", "gpt-5.1-codex", "gpt-5.2", "gpt-5.4", "gpt-5.5"} {
				c, m := pricing.NewCache(), model(t, name)
				send(c, m, 0, a[:2]...)
				want(t, send(c, m, 23*time.Hour, a[:2]...), 2000-1920, 1920, 0, 0)
				want(t, send(c, m, 48*time.Hour, a[:2]...), 2000, 0, 0, 0)
			}
			c := pricing.NewCache() // in memory
			send(c, old, 0, a[:2]...)
			want(t, send(c, old, 4*time.Minute, a[:2]...), 2000-1920, 1920, 0, 0)
			want(t, send(c, old, 8*time.Minute, a[:2]...), 2000-1920, 1920, 0, 0)
			want(t, send(c, old, 13*time.Minute, a[:2]...), 2000, 0, 0, 0)
			if r := old.Rules; r.Life != five || r.LifeMost != hour {
				t.Errorf("lives %v to %v", r.Life, r.LifeMost)
			}
			c = pricing.NewCache() // asked for in the request
			send(c, old, 0, a[:2]...)
			day := pricing.Request{Model: old, At: start, Blocks: pieces("b", 2, 1000), Retain: 24 * time.Hour}
			c.Send(day)
			day.At = after(20 * time.Hour)
			want(t, c.Send(day), 2000-1920, 1920, 0, 0)
			c = pricing.NewCache()
			send(c, marks, 0, a[:2]...)
			want(t, send(c, marks, 29*time.Minute, a[:2]...), 0, 2000, 0, 0)
			want(t, send(c, marks, 59*time.Minute, a[:2]...), 0, 0, 2000, 0)
			if early := modelAt(t, "gpt-5", time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC)); early.Rules.Life != five {
				t.Errorf("a day before there was one: %v", early.Rules.Life)
			}
		}},
		{"| Write price | free", func(t *testing.T) {
			near(t, "before", old.Price.Write, old.Price.Input)
			near(t, "now", marks.Price.Write, 6.25)
			near(t, "a cold request of a million tokens", marks.Price.Of(pricing.Charge{Write: 1e6}), 6.25)
		}},
		{"| Read price | ×0.25", func(t *testing.T) {
			for name, share := range map[string]float64{"gpt-4o": 0.5, "gpt-4.1-mini": 0.25, "o3": 0.25, "gpt-5": 0.1, "gpt-5.3-codex": 0.1, "gpt-5.6-sol": 0.1} {
				p := model(t, name).Price
				near(t, name, p.Read, share*p.Input)
			}
			near(t, "gpt-5.6-sol", marks.Price.Input, 5)
		}},
		{"| Routing |", func(t *testing.T) { // the key is part of the match
			c := pricing.NewCache()
			for _, m := range []pricing.Model{old, marks} {
				r := pricing.Request{Model: m, At: start, Key: "one", Blocks: a[:2]}
				first := c.Send(r)
				r.Key = "two"
				if got := c.Send(r); got != first {
					t.Errorf("%s: %+v, want %+v", m.Name, got, first)
				}
				r.Key = "one"
				if got := c.Send(r); got.Read == 0 {
					t.Errorf("%s: %+v", m.Name, got)
				}
			}
		}},
		{"| Usage | `prompt_tokens`", func(t *testing.T) {
			want(t, old.Rules.Charge(100, 60, 0, 0), 40, 60, 0, 0)
			want(t, marks.Rules.Charge(100, 60, 30, 0), 10, 60, 30, 0)
		}},
	})
}

// testBreakpoints: an implicit one at the latest message of the user or of a tool, at most four writes, and of those
// that could be found the latest fifty.
func testBreakpoints(t *testing.T) {
	m := model(t, "gpt-5.6-sol")
	a := pieces("a", 60, 1000)
	answer := said(pricing.Assistant, pieces("answer", 1, 500)...)
	c := pricing.NewCache()
	want(t, send(c, m, 0, join(a[:2], answer)...), 500, 0, 2000, 0)
	tool := said(pricing.Tool, pieces("result", 1, 1000)...)
	want(t, send(c, m, 0, join(a[:2], answer, tool)...), 0, 2000, 1500, 0)

	explicit := pricing.Request{Model: m, At: start, Explicit: true, Blocks: a[:3]}
	c = pricing.NewCache()
	want(t, c.Send(explicit), 3000, 0, 0, 0)
	explicit.Blocks = join(marked(five, a[:2]...), a[2:3])
	want(t, c.Send(explicit), 1000, 0, 2000, 0)
	want(t, c.Send(explicit), 1000, 2000, 0, 0)
	c = pricing.NewCache() // what an implicit one wrote is no breakpoint of a request that has only explicit ones
	send(c, m, 0, a[:3]...)
	want(t, c.Send(pricing.Request{Model: m, At: start, Explicit: true, Blocks: join(a[:3], marked(five, a[3]))}), 0, 0, 4000, 0)

	c = pricing.NewCache() // five explicit ones and the implicit one: the last four are written
	var six []pricing.Block
	for _, b := range pieces("b", 5, 2000) {
		six = append(six, marked(five, b)...)
	}
	six = append(six, a[0])
	want(t, send(c, m, 0, six...), 0, 0, 11000, 0)
	if r := (pricing.Request{Model: m, At: start, Blocks: six}); r.Refusal() != "" {
		t.Errorf("refused: %s", r.Refusal())
	}
	want(t, c.Send(pricing.Request{Model: m, At: start, Explicit: true, Blocks: marked(five, six[:2]...)}), 0, 0, 4000, 0)
	want(t, c.Send(pricing.Request{Model: m, At: start, Explicit: true, Blocks: marked(five, six[:3]...)}), 0, 6000, 0, 0)

	for n, read := range map[int]int{59: 10000, 60: 0} {
		c = pricing.NewCache()
		send(c, m, 0, a[:10]...)
		if got := send(c, m, 0, a[:n]...); got.Read != read {
			t.Errorf("%d messages: %+v, want to read %d", n, got, read)
		}
	}
	spoken := join(a[:10], said(pricing.Assistant, pieces("thoughts", 100, 10)...), a[10:20]) // no limit but breakpoints
	c = pricing.NewCache()
	send(c, m, 0, a[:10]...)
	want(t, send(c, m, 0, spoken...), 0, 10000, 11000, 0)
}

// TestGeminiAndDeepSeek goes through the paragraphs of sections C.3 and C.4.
// covers: N-05 part
func TestGeminiAndDeepSeek(t *testing.T) {
	runRows(t, []row{
		{"Implicit: on by default for 2.5+", func(t *testing.T) {
			for name, least := range map[string]int{"gemini-2.5-flash": 2048, "gemini-2.5-pro": 2048, "gemini-3.1-pro": 4096, "gemini-3.5-flash": 4096} {
				c, m := pricing.NewCache(), model(t, name)
				for range 2 {
					want(t, send(c, m, 0, piece("s", least-1)), least-1, 0, 0, 0)
				}
				send(c, m, 0, piece("t", least))
				want(t, send(c, m, 0, piece("t", least), piece("u", 10)), 10, least, 0, 0)
				near(t, name, m.Price.Read, m.Price.Input/10)
				near(t, name, m.Price.Write, m.Price.Input) // no storage fee
				want(t, m.Rules.Charge(100, 60, 0, 0), 40, 60, 0, 0)
			}
			older := time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC)
			if flash, pro := modelAt(t, "gemini-2.5-flash", older).Rules.Min, modelAt(t, "gemini-2.5-pro", older).Rules.Min; flash != 1024 || pro != 4096 {
				t.Errorf("the older table: %d, %d", flash, pro)
			}
		}},
		{"DeepSeek: always on", testDeepSeek},
	})
}

// testDeepSeek: storage units of 64 tokens before sliding windows, whole units since.
func testDeepSeek(t *testing.T) {
	old, m := modelAt(t, "deepseek-chat", time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)), model(t, "deepseek-v4-flash")
	a, b, d := piece("A", 1000), piece("B", 1000), piece("D", 1000)
	c := pricing.NewCache()
	want(t, send(c, old, 0, a, b), 2000, 0, 0, 0)
	want(t, send(c, old, 0, a, d), 2000-960, 960, 0, 0)
	want(t, send(c, old, 2*time.Hour, a, d), 2000-1984, 1984, 0, 0)
	want(t, send(c, old, 6*time.Hour, a, d), 2000, 0, 0, 0)
	for range 2 {
		want(t, send(c, old, 6*time.Hour, piece("short", 63)), 63, 0, 0, 0)
	}

	c = pricing.NewCache() // rule 2: what two requests have in common can be read by the third
	want(t, send(c, m, 0, a, b), 2000, 0, 0, 0)
	want(t, send(c, m, 0, a, piece("C", 1000)), 2000, 0, 0, 0)
	want(t, send(c, m, 0, a, d), 2000-960, 960, 0, 0)

	c = pricing.NewCache() // rule 1: the ends of the input and of the output
	answer := piece("answer", 500)
	c.Send(pricing.Request{Model: m, At: start, Blocks: []pricing.Block{a, b}, Output: []pricing.Block{answer}})
	want(t, send(c, m, 2*time.Hour, a, b, answer, d), 3500-2496, 2496, 0, 0)
	want(t, send(c, m, 4*time.Hour, a, b, answer, piece("E", 1000)), 3500-2496, 2496, 0, 0) // used in between
	c = pricing.NewCache()
	c.Send(pricing.Request{Model: m, At: start, Blocks: []pricing.Block{a, b}, Output: []pricing.Block{answer}})
	want(t, send(c, m, 0, a, b, piece("another answer", 500), d), 3500-1984, 1984, 0, 0)
	c = pricing.NewCache()
	send(c, m, 0, a, b)
	want(t, send(c, m, 0, a, b, answer, d), 3500-1984, 1984, 0, 0)

	parted := m // rule 3: fixed intervals, whose length is not published
	parted.Rules.Interval = 512
	c = pricing.NewCache()
	send(c, parted, 0, a, b)
	want(t, send(c, parted, 0, a, d), 2000-512, 512, 0, 0)

	for name, prices := range map[string][2]float64{"deepseek-v4-flash": {0.0028, 0.14}, "deepseek-v4-pro": {0.003625, 0.435}} {
		p := model(t, name).Price
		near(t, name+" hit", p.Read, prices[0])
		near(t, name+" miss", p.Input, prices[1])
		near(t, name+" write", p.Write, prices[1])
	}
	want(t, m.Rules.Charge(40, 60, 0, 0), 40, 60, 0, 0) // hits and misses part the prompt
}

// TestSimulatorModels goes through the rules of section C.5.
// covers: N-05 part
// covers: I-08 part
func TestSimulatorModels(t *testing.T) {
	runRows(t, []row{
		{"1. Three count semantics", func(t *testing.T) {
			for name, charge := range map[string]pricing.Charge{
				"claude-opus-5": {Fresh: 100, Read: 60, Write: 20}, "gpt-5.6-sol": {Fresh: 20, Read: 60, Write: 20}, "gemini-2.5-pro": {Fresh: 20, Read: 60, Write: 20},
				"deepseek-v4-pro": {Fresh: 100, Read: 60, Write: 20},
			} {
				if got := model(t, name).Rules.Charge(100, 60, 20, 0); got != charge {
					t.Errorf("%s: %+v, want %+v", name, got, charge)
				}
			}
		}},
		{"2. Per-breakpoint hash tables", func(t *testing.T) { // one content at several places is several entries
			c, m := pricing.NewCache(), model(t, "claude-sonnet-4-6")
			s := pieces("s", 2, 1000)
			send(c, m, 0, marked(five, s...)...)
			want(t, send(c, m, 0, marked(five, of(pricing.System, pieces("s", 2, 1000)...)...)...), 0, 0, 2000, 0)
			want(t, send(c, m, 0, marked(five, s[1], s[0])...), 0, 0, 2000, 0)
		}},
		{"3. Cold-miss alignment", func(t *testing.T) {
			m := model(t, "claude-sonnet-4-6")
			a := pieces("a", 10, 1000)
			cut := join(a[:2], pieces("marker", 1, 10), a[6:])
			cost := func(at time.Duration, blocks []pricing.Block) float64 {
				c := pricing.NewCache()
				first := marked(five, a...)
				first[1].Mark = five // where the cut is
				send(c, m, 0, first...)
				return m.Price.Of(send(c, m, at, marked(five, blocks...)...))
			}
			if warm, whole := cost(6*time.Minute, cut), cost(6*time.Minute, a); warm >= whole {
				t.Errorf("on a cold cache the cut costs %v, all of it %v", warm, whole)
			}
			near(t, "a warm cut", cost(time.Minute, cut)-m.Price.Of(pricing.Charge{Read: 2000 + 4010}), 4010*(m.Price.Write-m.Price.Read)*1e-6)
		}},
		{"4. Break-even for a warm prune", func(t *testing.T) {
			sonnet, fable := model(t, "claude-sonnet-4-6"), model(t, "claude-fable-5-1")
			near(t, "r = 0.1", pricing.Breakeven(1000, 1000, sonnet), 11.5)
			near(t, "r = 0.1, twice the suffix", pricing.Breakeven(1000, 2000, sonnet), 23)
			near(t, "r = 0.1, twice as much removed", pricing.Breakeven(2000, 1000, sonnet), 5.75)
			near(t, "r = 0.025", pricing.Breakeven(1000, 1000, fable), 49)
			if n := pricing.Breakeven(0, 1000, sonnet); n < 1e300 {
				t.Errorf("nothing removed pays after %v", n)
			}
			near(t, "nothing cached", pricing.Breakeven(1000, 1000, model(t, "claude-3-sonnet-20240229")), 0)
		}},
		{"5. Render order differs", func(t *testing.T) {
			tools, system := of(pricing.Tools, pieces("tool", 2, 1000)...), of(pricing.System, pieces("system", 2, 1000)...)
			talk := pieces("talk", 2, 1000)
			for name, read := range map[string]int{"claude-opus-5": 2000, "gpt-5.3-codex": 1920, "deepseek-v4-pro": 0} {
				m, c := model(t, name), pricing.NewCache()
				for day := range 3 { // every request has another line at the beginning of the system text
					system[0] = of(pricing.System, piece("day "+string(rune('0'+day)), 1000))[0]
					blocks := join(marked(five, tools...), system, talk)
					got := c.Send(pricing.Request{Model: m, At: start, Blocks: m.Rules.Render(blocks)})
					if day == 2 && got.Read != read {
						t.Errorf("%s: %+v, want to read %d", name, got, read)
					}
				}
			}
		}},
		{"6. Edits made before a block is first sent", func(t *testing.T) {
			c, m := pricing.NewCache(), model(t, "claude-sonnet-4-6")
			a := pieces("a", 5, 1000)
			send(c, m, 0, marked(five, a[:3]...)...)
			cut := piece("head and tail", 400)
			want(t, send(c, m, 0, join(a[:3], marked(five, cut))...), 0, 3000, 400, 0)
		}},
	})
}
