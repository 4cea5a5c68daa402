package replay

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"ambit/internal/conversation"
	"ambit/internal/pricing"
	"ambit/unit"
)

const longTalk = `+0s prompt 60 answer 20 call 500
+20s answer 20 call 800
+20s answer 20 call 300 quote=1
+20s answer 60
+30s prompt 20 answer 20 call 500
+20s answer 20 call 400
+20s answer 60
+7m prompt 20 answer 20 call 300
+20s answer 20 call 300
+20s answer 80
+20s prompt 20 answer 20 call 900
+20s answer 20 call 100 quote=2
+20s answer 60
`

func fileOf(t *testing.T, script string) File {
	return OfConversations("made.jsonl", "made", []*conversation.Conversation{makeConversation(t, script)})
}

// TestReport looks at what every report has to hold, whatever was recorded.
//
// covers: I-08 part
func TestReport(t *testing.T) {
	f := fileOf(t, longTalk)
	reports(t, f)
	r := Run(f, Options{Policies: []Policy{Comparison()[0], {Name: "newest", KeepLast: 1}, {Name: "window", Window: 3000}}})
	for i, want := range []Evidence{{2, 2, 0}, {2, 0, 2}, {2, 0, 0}} {
		if got := r.Policies[i].Evidence.Quotes; got != want {
			t.Errorf("%s: of quotes %+v, want %+v", r.Policies[i].Policy, got, want)
		}
	}
	for i, want := range []int{0, 2, 2} {
		if o := r.Policies[i]; o.Recalls != want || (o.RecallCost > 0) != (want > 0) {
			t.Errorf("%s: %d recalls for $%f, want %d", o.Policy, o.Recalls, o.RecallCost, want)
		}
	}
}

// TestReportOfRecordings looks at the same in real recordings.
//
// covers: I-08
// covers: N-09
func TestReportOfRecordings(t *testing.T) {
	reports(t, sharedFiles(t, "claude-code", "gemini-cli", "openhands-output", "roo-cline", "swe-agent-traj", "opencode-export")...)
}

func reports(t *testing.T, files ...File) {
	t.Helper()
	for _, f := range files {
		r := Run(f, Options{Budget: Budget{Share: 0.4}})
		if len(r.Policies) != 8 {
			t.Fatalf("%s: %d policies", f.Path, len(r.Policies))
		}
		floor := r.Policies[0]
		if floor.Reuse < 0.95 || floor.Recalls != 0 || floor.Pins.Kept != Pins || floor.Evidence.Quotes.Visible != floor.Evidence.Quotes.Needed || floor.Evidence.Names.Visible != floor.Evidence.Names.Needed {
			t.Errorf("%s: append_only is %+v", f.Path, floor)
		}
		for _, o := range r.Policies {
			if o.Pins.Total != Pins || o.Read+o.Write > o.Input || o.HitRate > 1 || o.Reuse > 1 || math.IsNaN(o.Cost) {
				t.Errorf("%s: %s is %+v", f.Path, o.Policy, o)
			}
			for _, e := range []Evidence{o.Evidence.Quotes, o.Evidence.Names} {
				if e.Visible+e.Recalled > e.Needed {
					t.Errorf("%s: %s has evidence %+v", f.Path, o.Policy, e)
				}
			}
			if o.Output != floor.Output {
				t.Errorf("%s: %s answers %d tokens, append_only %d", f.Path, o.Policy, o.Output, floor.Output)
			}
			if d := o.Cost - o.InputCost - o.RecallCost; d < 0 {
				t.Errorf("%s: %s costs %f, its parts more", f.Path, o.Policy, o.Cost)
			}
			if o.Fits && o.FitTurns != r.Turns || !o.Fits && o.FitTurns < r.Compared {
				t.Errorf("%s: of %d turns %s fits %d (%v)", f.Path, r.Turns, o.Policy, o.FitTurns, o.Fits)
			}
		}
		again, _ := json.Marshal(Run(f, Options{Budget: Budget{Share: 0.4}}))
		if first, _ := json.Marshal(r); string(first) != string(again) {
			t.Errorf("%s: a second replay says otherwise", f.Path)
		}
	}
}

// TestFigures computes hit rate and prefix reuse by hand: a talk of three requests, of which the second goes on from the
// first, and the third comes when the cache is cold.
//
// covers: G-08
// covers: G-14
func TestFigures(t *testing.T) {
	script := "+0s prompt 900 answer 300\n+20s prompt 300 answer 100\n+10m prompt 30 answer 10\n"
	r := Run(fileOf(t, script), Options{})
	s := r.sizings[0]
	step := r.courses[0][0].steps
	size := func(i int) int { return step[i].Charge.Total() }
	if step[0].Charge.Read != 0 || step[1].Charge.Read != size(0) || step[2].Charge.Read != 0 {
		t.Fatalf("read are %d, %d and %d", step[0].Charge.Read, step[1].Charge.Read, step[2].Charge.Read)
	}
	o := r.Policies[0]
	if want := float64(size(0)) / float64(size(0)+size(1)+size(2)); math.Abs(o.HitRate-want) > 1e-12 {
		t.Errorf("the hit rate is %f, want %f", o.HitRate, want)
	}
	if o.Reuse != 1 {
		t.Errorf("what only grows has a prefix reuse of %f", o.Reuse)
	}
	if got := (pricing.Charge{}).HitRate(); got != 0 {
		t.Errorf("of nothing the hit rate is %f", got)
	}
	mask := Run(fileOf(t, strings.ReplaceAll(longTalk, "+7m", "+20s")), Options{Policies: []Policy{{Name: "one", KeepLast: 1}}, Keep: true})
	kept, before := 0, 0
	steps := mask.courses[0][0].steps
	for i := 1; i < len(steps); i++ {
		n := s.sizes.Head
		for j := range min(len(steps[i].shapes), len(steps[i-1].shapes)) {
			if steps[i].shapes[j] != steps[i-1].shapes[j] {
				break
			}
			n += steps[i].shapes[j].tokens
		}
		kept, before = kept+n, before+steps[i-1].Charge.Total()
	}
	if want := float64(kept) / float64(before); math.Abs(mask.Policies[0].Reuse-want) > 0.02 || want > 0.98 {
		t.Errorf("the prefix reuse is %f, want about %f", mask.Policies[0].Reuse, want)
	}
}

// TestBreaks finds the cause of each loss from bytes and times, and what it cost.
//
// covers: N-07 part
func TestBreaks(t *testing.T) {
	scripts(t, "breaks.txt", func(t *testing.T, given string) string {
		f := fileOf(t, given)
		r := f.recorded([]*sizing{f.sizeUp(f.Conversations[0], "", false)})
		var b strings.Builder
		for _, x := range r.Breaks {
			row, err := json.Marshal(struct {
				Turn      int
				Says      string
				Rewritten int
				Cents     float64
				First     string
				Byte      int
			}{x.Turn, x.Says(), x.Rewritten, math.Round(x.Cost*1e4) / 100, x.First, x.Byte})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(row, '\n'))
		}
		return b.String()
	})
}

// TestSpan compares policies on the turns that all of them fit.
func TestSpan(t *testing.T) {
	var script strings.Builder
	script.WriteString("+0s prompt 100 answer 20 call 9000\n")
	for range 12 {
		script.WriteString("+20s answer 20 call 9000\n")
	}
	r := Run(fileOf(t, script.String()), Options{Prices: "claude-3-5-sonnet"})
	floor, window := r.Policies[0], r.Policies[1]
	if floor.Fits || !window.Fits || floor.FitTurns != r.Compared || window.FitTurns != r.Turns || r.Compared >= r.Turns {
		t.Errorf("of %d turns %d are compared; append_only fits %d, sliding_window %d", r.Turns, r.Compared, floor.FitTurns, window.FitTurns)
	}
	if len(r.Limited) == 0 || r.Limited[0] != "append_only" {
		t.Errorf("limited by %q", r.Limited)
	}
	if window.Input >= floor.Input {
		t.Errorf("on the same turns a window sends %d tokens, append_only %d", window.Input, floor.Input)
	}
	if window.WholeCost <= window.Cost {
		t.Errorf("all turns cost %f, those that are compared %f", window.WholeCost, window.Cost)
	}
}

// TestWithoutRules prices requests of a model whose cache nobody knows: all of it is fresh.
func TestWithoutRules(t *testing.T) {
	f := fileOf(t, strings.ReplaceAll(longTalk, "+0s", "+0s model=grok-4"))
	r := Run(f, Options{})
	if o := r.Policies[0]; o.Read != 0 || o.InputCost == 0 || math.Abs(r.Recorded.InputCost-o.InputCost) > 0.1*o.InputCost {
		t.Errorf("recorded $%f, append_only $%f with %d read", r.Recorded.InputCost, o.InputCost, o.Read)
	}
}

// TestOutput takes what was counted, but not what a client counts while an answer streams.
func TestOutput(t *testing.T) {
	script := "+0s prompt 20 answer 300 read=0 write=5000\n"
	for format, streams := range map[string]bool{"claude-code": true, "pi-session": false} {
		f := OfConversations("made", format, []*conversation.Conversation{makeConversation(t, script)})
		o := Run(f, Options{}).Policies[0]
		if (o.Output > 50) != streams {
			t.Errorf("%s: the answer of about 1,800 tokens, counted as 50, counts %d", format, o.Output)
		}
		a := NewAccount()
		a.Add(f)
		if (a.Output > 50) != streams || (a.Streamed == 1) != streams {
			t.Errorf("%s: in the account it counts %d, %d estimated", format, a.Output, a.Streamed)
		}
	}
}

// TestRepeated counts a request once, however many files tell it.
func TestRepeated(t *testing.T) {
	script := "+0s prompt 20 answer 300 read=0 write=5000\n+20s prompt 20 answer 300 read=5000 write=90\n+1h prompt 5 answer 10 read=0 write=5200\n"
	a := NewAccount()
	for _, path := range []string{"a", "b", "c"} {
		a.Add(OfConversations(path, "pi-session", []*conversation.Conversation{makeConversation(t, script)}))
	}
	if a.Files != 3 || a.Calls != 3 || a.Repeated != 6 || a.Input != 5000+5090+5200 || len(a.Events) != 1 || a.Causes[0].Events != 1 {
		t.Errorf("%+v", a)
	}
}

// TestHead takes the head from the first requests, and not more than one can have.
func TestHead(t *testing.T) {
	grown := "+0s prompt 20 answer 5 read=0 write=30000\n"
	for i := range 20 {
		grown += "+20s prompt 5 answer 5 read=30000 write=" + strconv.Itoa(2000*(i+1)) + "\n"
	}
	for name, test := range map[string]struct {
		script       string
		head, before int
	}{
		"of the first":   {grown, 34_000, 0},
		"of the least":   {strings.ReplaceAll(grown, "write=22000", "write=22000 compacted") + "+5s compacted prompt 9 answer 5 read=0 write=21000\n", 21_000, 13_000},
		"not a history":  {strings.ReplaceAll(grown, "=30000", "=300000"), usualHead, 264_000},
		"nobody counted": {longTalk, 0, 0},
	} {
		s := new(File).sizeUp(makeConversation(t, test.script), "", false)
		if near := func(got, want int) bool { return got-want < 1500 && want-got < 1500 }; !near(s.sizes.Head, test.head) || !near(s.sizes.Before, test.before) {
			t.Errorf("%s: the head has %d tokens, before it %d; want %d and %d", name, s.sizes.Head, s.sizes.Before, test.head, test.before)
		}
	}
}

// TestPins: a pin that one request did not hold is not kept, though later ones hold it.
func TestPins(t *testing.T) {
	c := course{s: &sizing{pins: []int{1, 2, 3}}, steps: []Step{{Pins: 1, Held: 1}, {Pins: 2, Held: 1}, {Pins: 3, Held: 3}}}
	if got := c.pins(3); got != 2 {
		t.Errorf("%d pins are kept, want 2", got)
	}
	if got := c.pins(1); got != 3 {
		t.Errorf("%d pins are kept of those planted so far, want 3", got)
	}
}

// TestRecallCost is what one more request costs: its context read, the excerpt written, a short answer.
func TestRecallCost(t *testing.T) {
	r := Run(fileOf(t, longTalk), Options{Policies: []Policy{{Name: "newest", KeepLast: 1}}})
	for _, step := range r.courses[0][0].steps {
		for _, recall := range step.Recalls {
			want := float64(step.Charge.Total())*0.30e-6 + float64(recall.Written)*3.75e-6 + 100*15e-6
			if math.Abs(recall.Cost-want) > 1e-12 || recall.Written < 1000 {
				t.Errorf("a recall of %d tokens into %d costs $%f, want $%f", recall.Written, recall.Context, recall.Cost, want)
			}
		}
	}
}

// TestReadable: one read gives the beginning of a result.
func TestReadable(t *testing.T) {
	s := &sizing{units: []unit.Unit{{Parts: []unit.Part{{Kind: unit.Result, Text: strings.Repeat("x", ReadLimit-10) + "the last words"}}}}}
	if s.readable(0, "the last words") || !s.readable(0, "the last w") {
		t.Errorf("of a result of %d bytes one read gives not its first %d", ReadLimit+4, ReadLimit)
	}
}
