package pricing_test

import (
	"slices"
	"testing"
	"time"

	"ambit/internal/pricing"
)

// TestAnthropic goes through the rows of section C.1 of the reference. All blocks are 1,000 tokens, and the model's
// minimum is 1,024.
// covers: N-05 part
func TestAnthropic(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	a := pieces("a", 30, 1000)
	runRows(t, []row{
		{"| Match |", func(t *testing.T) {
			c := pricing.NewCache()
			want(t, send(c, m, 0, marked(five, a[:4]...)...), 0, 0, 4000, 0)
			want(t, send(c, m, time.Minute, marked(five, a[:4]...)...), 0, 4000, 0, 0)
			changed := append(append([]pricing.Block(nil), a[:3]...), piece("other", 1000))
			want(t, send(c, m, time.Minute, marked(five, changed...)...), 0, 0, 4000, 0) // nothing was written before the change
			want(t, send(c, m, time.Minute, a[:4]...), 4000, 0, 0, 0)                    // no mark, no look
		}},
		{"| Render order / hierarchy |", testHierarchy},
		{"| Breakpoints |", testMarks},
		{"| Lookback |", testLookBack},
		{"| Min prefix (tokens); below", func(t *testing.T) {
			c := pricing.NewCache()
			want(t, send(c, m, 0, marked(five, piece("s", 1023))...), 1023, 0, 0, 0)
			want(t, send(c, m, 0, marked(five, piece("s", 1023))...), 1023, 0, 0, 0)
			want(t, send(c, m, 0, marked(five, piece("t", 1024))...), 0, 0, 1024, 0)
			want(t, send(c, m, 0, join(marked(five, piece("u", 500)), marked(five, piece("v", 600)))...), 0, 0, 1100, 0)
			if opus, fable := model(t, "claude-opus-4-6").Rules.Min, model(t, "claude-fable-5").Rules.Min; opus != 4096 || fable != 512 {
				t.Errorf("minimums %d and %d", opus, fable)
			}
		}},
		{"| TTL |", testLife},
		{"| Mixed TTL |", testMixedLife},
		{"| Write price |", func(t *testing.T) {
			for _, name := range []string{"claude-sonnet-4-6", "claude-fable-5-1", "claude-haiku-4-5"} {
				p := model(t, name).Price
				near(t, "write", p.Write, 1.25*p.Input)
				near(t, "write for an hour", p.WriteHour, 2*p.Input)
			}
		}},
		{"| Read price |", func(t *testing.T) {
			for name, usd := range map[string]float64{"claude-sonnet-4-6": 0.30, "claude-opus-5-5": 0.20, "claude-fable-5-1": 0.25, "claude-mythos-5-1": 0.25, "claude-fable-5": 1} {
				near(t, name, model(t, name).Price.Read, usd)
			}
		}},
		{"| Break-even |", func(t *testing.T) {
			p := m.Price
			plain := func(requests int) float64 { return p.Of(pricing.Charge{Fresh: requests * 1000}) }
			if p.Of(pricing.Charge{Write: 1000, Read: 1000}) >= plain(2) {
				t.Error("5 m has not paid after 1 read")
			}
			if p.Of(pricing.Charge{WriteHour: 1000, Read: 1000}) < plain(2) || p.Of(pricing.Charge{WriteHour: 1000, Read: 2000}) >= plain(3) {
				t.Error("1 h does not pay after 2 reads")
			}
		}},
		{"| Pre-warm |", func(t *testing.T) { // the mark sits on the last block that is shared
			c := pricing.NewCache()
			want(t, send(c, m, 0, marked(five, a[:3]...)...), 0, 0, 3000, 0)
			want(t, send(c, m, time.Minute, marked(five, a[:5]...)...), 0, 3000, 2000, 0)
		}},
		{"| Concurrency |", func(t *testing.T) {
			c := pricing.NewCache()
			first := pricing.Request{Model: m, At: start, Begins: after(10 * time.Second), Blocks: marked(five, a[:3]...)}
			want(t, c.Send(first), 0, 0, 3000, 0)
			for range 3 {
				want(t, send(c, m, 9*time.Second, a[0]), 1000, 0, 0, 0)
			}
			second := first
			second.At, second.Begins = after(9*time.Second), after(20*time.Second)
			want(t, c.Send(second), 0, 0, 3000, 0) // pays again
			want(t, send(c, m, 10*time.Second, marked(five, a[:3]...)...), 0, 3000, 0, 0)
			c = pricing.NewCache() // whichever begins first
			first.Begins, second.Begins = after(30*time.Second), after(20*time.Second)
			c.Send(first)
			c.Send(second)
			want(t, send(c, m, 20*time.Second, marked(five, a[:3]...)...), 0, 3000, 0, 0)
		}},
		{"| Isolation |", func(t *testing.T) {
			c := pricing.NewCache()
			send(c, m, 0, marked(five, a[:3]...)...)
			want(t, send(c, model(t, "claude-sonnet-4-5"), 0, marked(five, a[:3]...)...), 0, 0, 3000, 0)
			want(t, send(pricing.NewCache(), m, 0, marked(five, a[:3]...)...), 0, 0, 3000, 0) // another workspace
			want(t, c.Send(pricing.Request{Model: m, At: start, Key: "k", Blocks: marked(five, a[:3]...)}), 0, 3000, 0, 0)
		}},
		{"| Not markable |", func(t *testing.T) {
			c := pricing.NewCache()
			thinking, empty := piece("thinking", 1000), piece("", 0)
			thinking.Fixed = true
			for _, b := range []pricing.Block{thinking, empty} {
				want(t, send(c, m, 0, join(a[:2], marked(five, b))...), 2000+b.Tokens, 0, 0, 0)
			}
			auto := pricing.Request{Model: m, At: start, Auto: five, Blocks: join(a[:2], []pricing.Block{thinking})}
			want(t, c.Send(auto), 1000, 0, 2000, 0) // on the last block that can be cached
		}},
		{"| Usage |", func(t *testing.T) {
			want(t, m.Rules.Charge(10, 20, 30, 40), 10, 20, 30, 40)
			if n := m.Rules.Charge(10, 20, 30, 40).Total(); n != 100 {
				t.Errorf("total %d", n)
			}
		}},
	})
}

// testHierarchy changes each tier in turn, of a request with a mark at the end of each.
func testHierarchy(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	tools := marked(hour, of(pricing.Tools, pieces("tool", 2, 1000)...)...)
	system := marked(hour, of(pricing.System, pieces("system", 2, 1000)...)...)
	said := marked(five, pieces("said", 2, 1000)...)
	blocks := join(said, system, tools)
	if got := m.Rules.Render(blocks); !slices.Equal(got, join(tools, system, said)) {
		t.Errorf("rendered %v", got)
	}
	for i, read := range []int{0, 0, 2000, 2000, 4000, 4000} {
		c := pricing.NewCache()
		all := join(tools, system, said)
		want(t, send(c, m, 0, all...), 0, 0, 2000, 4000)
		all[i].Hash[0]++
		hour := max(0, 4000-read)
		want(t, send(c, m, 0, all...), 0, read, 2000, hour)
	}
}

// testMarks: four marks, of which the automatic one is one; a request with more is refused.
func testMarks(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	var blocks []pricing.Block
	for _, b := range pieces("a", 5, 2000) {
		blocks = append(blocks, marked(five, b)...)
	}
	if r := (pricing.Request{Model: m, At: start, Blocks: blocks[:4]}); r.Refusal() != "" {
		t.Errorf("refused: %s", r.Refusal())
	}
	for _, r := range []pricing.Request{
		{Model: m, At: start, Blocks: blocks},
		{Model: m, At: start, Blocks: join(blocks[:4], pieces("b", 1, 10)), Auto: five},
	} {
		if r.Refusal() != "too many marks" {
			t.Errorf("refusal %q", r.Refusal())
		}
		want(t, pricing.NewCache().Send(r), r.Blocks[4].Tokens, 0, 8000, 0) // the first four count
	}
	last := pricing.Request{Model: m, At: start, Blocks: blocks[:4], Auto: five}
	if last.Refusal() != "" {
		t.Errorf("the automatic mark where one is already: %s", last.Refusal())
	}
	c := pricing.NewCache()
	want(t, c.Send(pricing.Request{Model: m, At: start, Auto: five, Blocks: pieces("c", 3, 1000)}), 0, 0, 3000, 0)
	want(t, c.Send(pricing.Request{Model: m, At: start, Auto: five, Blocks: pieces("c", 4, 1000)}), 0, 3000, 1000, 0)
}

// testLookBack: the mark's own block is the first of 20 positions; runs are one; what nobody wrote is not found.
func testLookBack(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	long := pieces("a", 60, 1000)
	try := func(m pricing.Model, blocks []pricing.Block, first, second int) pricing.Charge {
		c := pricing.NewCache()
		send(c, m, 0, marked(five, blocks[:first]...)...)
		return send(c, m, 0, marked(five, blocks[:second]...)...)
	}
	want(t, try(m, long, 10, 29), 0, 10000, 19000, 0)
	want(t, try(m, long, 10, 30), 0, 0, 30000, 0)

	runs := append([]pricing.Block(nil), long...)
	for i := 10; i < 40; i++ {
		runs[i].Run = pricing.Uses
		if i >= 25 {
			runs[i].Run = pricing.Results
		}
	}
	want(t, try(m, runs, 10, 57), 0, 10000, 47000, 0) // 17 blocks, two runs and the entry are 20 positions
	want(t, try(m, runs, 10, 58), 0, 0, 58000, 0)
	want(t, try(m, runs, 20, 40), 0, 20000, 20000, 0) // an entry in the middle of a run

	before := modelAt(t, "claude-sonnet-4-6", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	want(t, try(before, runs, 10, 40), 0, 0, 40000, 0) // raw blocks were counted
	want(t, try(before, long, 10, 29), 0, 10000, 19000, 0)
	want(t, try(before, long, 10, 30), 0, 0, 30000, 0)

	c := pricing.NewCache() // each mark looks back for itself, and the longest match wins
	send(c, m, 0, marked(five, long[:10]...)...)
	two := marked(five, long[:50]...)
	two[25].Mark = five
	want(t, send(c, m, 0, two...), 0, 10000, 40000, 0)
	want(t, send(c, m, 0, marked(five, long[:40]...)...), 0, 26000, 14000, 0) // the same request's marks wrote too
	setting := piece("setting", 0)
	c = pricing.NewCache()
	send(c, m, 0, marked(five, long[:10]...)...)
	want(t, send(c, m, 0, join(long[:10], []pricing.Block{setting}, marked(five, long[10:29]...))...), 0, 10000, 19000, 0)
}

// testLife: five minutes or an hour from start to start, and each use begins them anew for nothing.
func testLife(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	for _, life := range []time.Duration{five, hour} {
		c, blocks := pricing.NewCache(), marked(life, pieces("a", 3, 1000)...)
		send(c, m, 0, blocks...)
		at := time.Duration(0)
		for range 5 {
			at += life - time.Second
			want(t, send(c, m, at, blocks...), 0, 3000, 0, 0)
		}
		if got := send(c, m, at+life, blocks...); got.Read != 0 || got.Written() != 3000 {
			t.Errorf("after %v: %+v", life, got)
		}
	}
	c, a := pricing.NewCache(), pieces("a", 9, 1000) // what a look-back finds is used, too
	send(c, m, 0, marked(five, a[:3]...)...)
	want(t, send(c, m, 4*time.Minute, marked(five, a[:5]...)...), 0, 3000, 2000, 0)
	want(t, send(c, m, 8*time.Minute, join(a[:3], marked(five, a[8]))...), 0, 3000, 1000, 0)

	c = pricing.NewCache() // a mark of an hour in what is cached for five minutes is free, and lasts no longer
	send(c, m, 0, marked(five, a[:5]...)...)
	want(t, send(c, m, 0, join(marked(hour, a[:2]...), marked(five, a[2:5]...))...), 0, 5000, 0, 0)
	want(t, send(c, m, time.Minute, marked(five, a[:2]...)...), 0, 2000, 0, 0)
	want(t, send(c, m, 6*time.Minute, marked(five, a[:2]...)...), 0, 0, 2000, 0)

	c, blocks := pricing.NewCache(), marked(five, pieces("a", 3, 1000)...) // generation time counts
	c.Send(pricing.Request{Model: m, At: start, Begins: after(4 * time.Minute), Blocks: blocks})
	want(t, send(c, m, five, blocks...), 0, 0, 3000, 0)
}

// testMixedLife: the longer life stands first; what is behind the last mark of an hour is written for five minutes.
func testMixedLife(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	a := pieces("a", 6, 1000)
	mixed := join(marked(hour, a[:2]...), marked(five, a[2:5]...), a[5:])
	c := pricing.NewCache()
	r := pricing.Request{Model: m, At: start, Blocks: mixed}
	if r.Refusal() != "" {
		t.Errorf("refused: %s", r.Refusal())
	}
	want(t, c.Send(r), 1000, 0, 3000, 2000)
	want(t, send(c, m, 6*time.Minute, mixed...), 1000, 2000, 3000, 0) // only the hour is left
	r.Blocks = join(marked(five, a[:2]...), marked(hour, a[2:5]...))
	if r.Refusal() != "a longer life behind a shorter one" {
		t.Errorf("refusal %q", r.Refusal())
	}
	want(t, send(pricing.NewCache(), m, 0, r.Blocks...), 0, 0, 0, 5000)
}

// TestInvalidation goes through the rows of the matrix of what survives which change. A setting is a block without
// tokens at the beginning of the tier from which on it counts.
// covers: N-05 part
func TestInvalidation(t *testing.T) {
	m := model(t, "claude-opus-4-8")
	blocks := func() []pricing.Block {
		return join(
			marked(hour, of(pricing.Tools, pieces("tool", 2, 1000)...)...),
			of(pricing.System, piece("speed", 0)),
			marked(hour, of(pricing.System, pieces("system", 2, 1000)...)...),
			[]pricing.Block{piece("choice", 0)},
			marked(five, pieces("said", 2, 1000)...),
		)
	}
	const tool, speed, system, choice, said = 1, 2, 3, 5, 6
	after := func(change func([]pricing.Block) []pricing.Block) int {
		c := pricing.NewCache()
		send(c, m, 0, blocks()...)
		return send(c, m, 0, change(blocks())...).Read
	}
	edit := func(at int) func([]pricing.Block) []pricing.Block {
		return func(b []pricing.Block) []pricing.Block { b[at].Hash[0]++; return b }
	}
	expect := func(read int, changes ...func([]pricing.Block) []pricing.Block) func(*testing.T) {
		return func(t *testing.T) {
			for _, change := range changes {
				if got := after(change); got != read {
					t.Errorf("read %d, want %d", got, read)
				}
			}
		}
	}
	runRows(t, []row{
		{"| tool definition add/remove/reorder/rename/description; model switch |", expect(0, edit(tool),
			func(b []pricing.Block) []pricing.Block { return b[1:] },
			func(b []pricing.Block) []pricing.Block { b[0], b[1] = b[1], b[0]; return b })},
		{"| system text; web-search toggle; citations toggle; `speed` |", expect(2000, edit(system), edit(speed))},
		{"| `tool_choice`; adding/removing images; message content |", expect(4000, edit(choice), edit(said))},
		{"| thinking config; top-level `output_config.effort`", expect(4000, edit(choice))},
		{"| appended `role:\"system\"` message in `messages[]`", expect(6000, func(b []pricing.Block) []pricing.Block {
			return append(b, marked(five, piece("It is now Tue.", 100))...)
		})},
	})
}
