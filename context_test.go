package ambit_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/internal/pricing"
	"ambit/internal/token"

	"pgregory.net/rapid"
)

// The seed's figures: 45,208 tokens of a window of 200,000 are 27 % of what is usable.
// covers: X-08 part
// covers: X-01 part
func TestPressure(t *testing.T) {
	usable := pricing.Model{Window: 200_000}.Usable()
	if p := ambit.Pressure(45_208, usable); usable != 168_000 || math.Round(p*100) != 27 {
		t.Errorf("usable are %d, the pressure is %v", usable, p)
	}
	if p := ambit.Pressure(1, 0); p != 0 {
		t.Errorf("of nothing the pressure is %v", p)
	}
}

// claudeLines writes a recording of Claude Code: a line for each word. An answer has what the provider counted, as in
// a:said=1000+20; a sum is what stands in the place of all before.
func claudeLines(words ...string) string {
	var b strings.Builder
	parent := "null"
	for i, word := range words {
		kind, text, _ := strings.Cut(word, ":")
		text, usage, counted := strings.Cut(text, "=")
		id := fmt.Sprintf(`"u%d"`, i+1)
		head := fmt.Sprintf(`{"uuid":%s,"parentUuid":%s,"sessionId":"s1","version":"2.1.0","timestamp":"2026-01-01T00:00:%02dZ",`, id, parent, i)
		switch kind {
		case "boundary":
			fmt.Fprintf(&b, `%s"type":"system","subtype":"compact_boundary"}`, head)
		case "user", "sum":
			fmt.Fprintf(&b, `%s"type":"user","isCompactSummary":%v,"message":{"role":"user","content":%q}}`, head, kind == "sum", text)
		case "a":
			in, out, _ := strings.Cut(usage, "+")
			used := ""
			if counted {
				used = fmt.Sprintf(`,"usage":{"input_tokens":%s,"output_tokens":%s}`, in, out)
			}
			fmt.Fprintf(&b, `%s"type":"assistant","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}]%s}}`, head, i+1, text, used)
		}
		b.WriteByte('\n')
		parent = id
	}
	return b.String()
}

func gauge(t *testing.T, recording string, n int) *ambit.Gauge {
	t.Helper()
	i := newImporting(t)
	g, err := i.open(i.take(recording).Session).Gauge(t.Context(), "", n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Until the first response of a generation is counted the gauge is unknown, with an estimate beside it, and does not say
// what the generation before had come to.
// covers: X-12 part
// covers: X-01 part
func TestGauge(t *testing.T) {
	before := []string{"user:Find it.", "a:Found.=1000+20", "user:Mend it.", "a:Mended.=140000+10"}
	g := gauge(t, claudeLines(before...), 0)
	if g.State != ambit.GaugeKnown || g.LastRealTotal != 140_010 || g.Pressure == nil || *g.Pressure != ambit.Pressure(140_010, 168_000) || g.Generation != 1 {
		t.Errorf("before the compaction: %+v", g)
	}
	if g.Next == nil || !g.Next.Anchored || g.Next.EstTokens != 140_010 {
		t.Errorf("the next request: %+v", g.Next)
	}
	begun := append(slices.Clone(before), "boundary:", "sum:So far it was found and mended.", "user:Now test it.", "a:I test.")
	g = gauge(t, claudeLines(begun...), 0)
	if g.State != ambit.GaugeUnknown || g.LastRealTotal != 0 || g.LastRealTurn != 0 || g.Pressure != nil || g.Generation != 2 {
		t.Errorf("behind the compaction: %+v", g)
	}
	if g.Next == nil || g.Next.Anchored || g.Next.EstTokens < g.EstTotal || g.EstTotal == 0 || g.Next.EstMost <= g.Next.EstTokens || g.Usable != 168_000 {
		t.Errorf("the estimate beside it: %+v, of %d", g.Next, g.EstTotal)
	}
	g = gauge(t, claudeLines(append(begun, "user:Go on.", "a:Tested.=2000+5")...), 0)
	if g.State != ambit.GaugeKnown || g.LastRealTotal != 2005 || g.Generation != 2 {
		t.Errorf("once it is counted: %+v", g)
	}
	if len(g.Boundaries) != 1 || g.Boundaries[0].Reason != ambit.ReasonCompaction {
		t.Errorf("the boundaries are %+v", g.Boundaries)
	}
	if n := len(g.Excluded); n != 4 {
		t.Errorf("%d entries are excluded, want 4: %+v", n, g.Excluded)
	}
	for _, e := range g.Excluded {
		if e.Reason != ambit.ReasonCompaction {
			t.Errorf("%+v", e)
		}
	}
	if g.Sections[0].Name != "summary" || g.Strategy != "recorded" || g.Phase != "" || !strings.HasPrefix(g.Estimator, token.Estimator) {
		t.Errorf("%+v", g)
	}
}

// A generation's gauge never shows what was counted before it began, whatever was counted and however often it was
// compacted.
// covers: X-12 part
func TestGaugeLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := []string{"user:Begin.", "a:Begun.=500+1"}
		want, generation := 501, 1
		for i := range rapid.IntRange(1, 6).Draw(rt, "turns") {
			if rapid.Bool().Draw(rt, "compacted") {
				words = append(words, "boundary:", fmt.Sprintf("sum:The sum %d.", i))
				want, generation = 0, generation+1
			}
			words = append(words, fmt.Sprintf("user:Ask %d.", i))
			if !rapid.Bool().Draw(rt, "counted") {
				words = append(words, fmt.Sprintf("a:Answer %d.", i))
				continue
			}
			in := rapid.IntRange(1, 190_000).Draw(rt, "input")
			words = append(words, fmt.Sprintf("a:Answer %d.=%d+7", i, in))
			want = in + 7
		}
		g := gauge(t, claudeLines(words...), 0)
		if g.LastRealTotal != want || (g.State == ambit.GaugeKnown) != (want > 0) || (g.Pressure != nil) != (want > 0) || g.Generation != generation {
			rt.Fatalf("%v: %d %s in generation %d, want %d in %d", words, g.LastRealTotal, g.State, g.Generation, want, generation)
		}
	})
}

// TestGaugeRecorded: of every recorded session the sections are as much as the segments, nothing is both in and out of a
// request, and the estimate of a request is near what the provider counted. It prints the figures.
// covers: X-08 part
func TestGaugeRecorded(t *testing.T) {
	root := os.Getenv("AMBIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "shared")
	}
	names, _ := filepath.Glob(filepath.Join(root, "transcripts", "*", "*"))
	if len(names) == 0 {
		t.Skip("no recorded sessions; set AMBIT_SHARED")
	}
	var off []float64
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil || len(data) > maxRead {
			continue
		}
		transcript, err := ambit.ReadTranscript(filepath.Base(name), data)
		if err != nil {
			continue
		}
		i := newImporting(t)
		done, err := i.importer.Import(t.Context(), transcript)
		if err != nil {
			continue
		}
		rec := i.open(done.Session)
		last := rec.Last()
		for _, n := range []int{0, max(1, last/2), max(1, last/4)} {
			g, err := rec.Gauge(t.Context(), "", n)
			if err != nil {
				continue
			}
			v, err := rec.View(t.Context(), "", n)
			if err != nil {
				t.Errorf("%s #%d: %v", filepath.Base(name), n, err)
				continue
			}
			agree(t, fmt.Sprintf("%s #%d", filepath.Base(name), g.Turn), g, v)
			if g.LastRealTurn == g.Turn && g.LastRealTotal > leastReal {
				off = append(off, math.Abs(float64(g.EstTotal)/float64(g.LastRealTotal)-1))
			}
		}
	}
	if len(off) == 0 {
		t.Skip("no recorded session has counts")
	}
	slices.Sort(off)
	median, most := off[len(off)/2], off[len(off)*9/10]
	t.Logf("%d requests: the sections are off the last real total by %.1f %% in the median, by up to %.1f %% in nine of ten", len(off), 100*median, 100*most)
	if median > 0.1 || most > 0.3 {
		t.Error("that is too much")
	}
}

// maxRead is the size of the recordings that are read, in bytes, so that the test takes seconds under the race detector, too.
const maxRead = 1 << 20

// leastReal are the tokens from which on a request is compared with its estimate: below, the answer in its total is most of it.
const leastReal = 2000

// agree holds a gauge and a view of the same request together.
func agree(t *testing.T, name string, g *ambit.Gauge, v *ambit.Shown) {
	t.Helper()
	sections, classes, layers := 0, 0, 0
	for _, s := range g.Sections {
		sections += s.EstTokens
	}
	for _, c := range g.ByClass {
		classes += c.EstTokens
	}
	for _, l := range g.ByLayer {
		layers += l.EstTokens
	}
	segments := 0
	out := 0
	for i := range v.Segments {
		segments += v.Segments[i].EstTokens
		if v.Segments[i].Out {
			out++
		}
		if v.Segments[i].Ref == "" {
			t.Errorf("%s: segment %d has no ref", name, i)
		}
	}
	if sections != g.EstTotal || v.EstTotal != g.EstTotal || classes != segments || layers != segments || segments+v.EstUnknown != v.EstTotal {
		t.Errorf("%s: sections %d, total %d, view %d; classes %d, layers %d, segments %d", name, sections, g.EstTotal, v.EstTotal, classes, layers, segments)
	}
	if len(g.Included)+out != len(v.Segments) || g.Turn != v.Turn || g.Generation != v.Generation || g.Generation != 1+len(g.Boundaries) {
		t.Errorf("%s: %d included and %d out of %d segments; generations %d and %d", name, len(g.Included), out, len(v.Segments), g.Generation, v.Generation)
	}
	if g.Next == nil || g.Next.EstMost < g.Next.EstTokens {
		t.Errorf("%s: next %+v", name, g.Next)
	}
}
