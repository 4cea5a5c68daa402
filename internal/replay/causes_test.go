package replay

import (
	"strings"
	"testing"

	"ambit/internal/pricing"
	"ambit/internal/transcript"
)

// judged counts how well bytes and times alone tell which requests had to pay for more than a fifth of their prompt.
type judged struct{ right, wrong, missed int }

func (j judged) precision() float64 { return float64(j.right) / float64(max(1, j.right+j.wrong)) }
func (j judged) recall() float64    { return float64(j.right) / float64(max(1, j.right+j.missed)) }

// judge compares the simulated cache with what the provider counted, request by request.
func judge(f File) (j judged, simulated, counted int) {
	var all []*sizing
	for _, c := range f.Conversations {
		all = append(all, f.sizeUp(c, "", false))
	}
	for _, x := range f.simulate(all) {
		u := x.t.Usage
		if u == nil || u.Input == 0 || x.model.Rules.Family != "anthropic" {
			continue
		}
		simulated, counted = simulated+x.charge.Written(), counted+int(u.CacheWrite)
		said := x.charge.Total()-x.charge.Read > x.charge.Total()/5
		was := u.Input-u.CacheRead > u.Input/5
		switch {
		case said && was:
			j.right++
		case said:
			j.wrong++
		case was:
			j.missed++
		}
	}
	return j, simulated, counted
}

// TestCausesOfRecordings holds the bar: of the requests of Claude Code's recordings, and of requests whose bytes were
// recorded, which write more than a fifth of their prompt. Sessions of pi are printed and not claimed: pi puts the time
// of its start into its system text, and its file does not say when it was started anew.
//
// covers: N-05
func TestCausesOfRecordings(t *testing.T) {
	total := make(map[string]judged)
	add := func(name string, j judged) {
		sum := total[name]
		total[name] = judged{sum.right + j.right, sum.wrong + j.wrong, sum.missed + j.missed}
	}
	for _, f := range sharedFiles(t, "claude-code", "odd/claude-code", "anthropic-requests", "pi-session", "odd/pi-session") {
		j, simulated, counted := judge(f)
		if j == (judged{}) {
			continue
		}
		ratio := float64(simulated) / float64(max(1, counted))
		t.Logf("%-55s %3d right %2d wrong %2d missed, %.2f of the written tokens", f.Path, j.right, j.wrong, j.missed, ratio)
		add(strings.TrimPrefix(f.Path[:strings.LastIndex(f.Path, "/")], "odd/"), j)
		if f.Format == "anthropic-requests" && (ratio < 0.9 || ratio > 1.1) {
			t.Errorf("%s: the simulated cache wrote %d tokens, the provider's %d", f.Path, simulated, counted)
		}
	}
	for name, j := range total {
		t.Logf("%s: precision %.3f, recall %.3f of %d", name, j.precision(), j.recall(), j.right+j.missed)
	}
	code, logs := total["claude-code"], total["anthropic-requests"]
	both := judged{code.right + logs.right, code.wrong + logs.wrong, code.missed + logs.missed}
	t.Logf("claimed: precision %.3f, recall %.3f of %d", both.precision(), both.recall(), both.right+both.missed)
	if both.precision() < 0.85 || both.recall() < 0.85 {
		t.Errorf("precision %.3f and recall %.3f are to be at least 0.85", both.precision(), both.recall())
	}
	if logs.wrong+logs.missed > 0 {
		t.Errorf("of requests whose bytes were recorded %d are wrong and %d missed", logs.wrong, logs.missed)
	}
}

// TestOtherCaches compares with what other providers counted: hit rates of sessions that were sent to automatic caches.
//
// covers: N-05 part
func TestOtherCaches(t *testing.T) {
	for _, f := range sharedFiles(t, "mini-swe-agent", "codex-rollout") {
		var all []*sizing
		for _, c := range f.Conversations {
			all = append(all, f.sizeUp(c, "", false))
		}
		var said, was pricing.Charge
		for _, x := range f.simulate(all) {
			if x.t.Usage != nil {
				said, was = said.Add(x.charge), was.Add(x.counted())
			}
		}
		t.Logf("%-70s hit rate %.3f simulated, %.3f counted", f.Path, said.HitRate(), was.HitRate())
		least, most := -0.03, 0.06 // OpenAI loses entries, and keeps some for longer than it says
		if f.Format == transcript.MiniSWE {
			least, most = -0.005, 0.005
		}
		if d := said.HitRate() - was.HitRate(); d < least || d > most {
			t.Errorf("%s: the simulated hit rate is %.3f, the provider's %.3f", f.Path, said.HitRate(), was.HitRate())
		}
	}
}
