package selection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/unit"
)

// sonnet is a model with prices and a window of so many tokens.
func sonnet(window int) pricing.Model {
	return pricing.Model{Name: "m", Window: window, Price: pricing.Price{Input: 3, Output: 15, Read: 0.3, Write: 3.75, WriteHour: 6}}
}

// covers: X-10 part
func TestGiantIsCutBeforeItIsSent(t *testing.T) {
	c := newClient(t, selection.Cut)
	c.user("Look at the log.")
	c.use("bash", "make all", 50_000)
	before, _ := selection.Decide(c.input()), 0
	if before.Stage != entry.StageCut || len(before.Changes) != 0 || len(before.Standing) != 1 {
		t.Fatalf("%+v", before)
	}
	x := before.Standing[0]
	if x.How != entry.ChangeCut || x.Call != "call_1" || x.Of != 3 || len(x.Text) > 10_000 || !strings.Contains(x.Text, "e3") || x.Needs != "" {
		t.Errorf("%+v", x)
	}
	if before.Kept != before.Before-sizeOf(&c.talk[2]) || before.After >= before.Before || before.Price != 0 {
		t.Errorf("kept %d of %d, then %d, for $%v", before.Kept, before.Before, before.After, before.Price)
	}
	d, shown := c.send()
	if got := shown[2].Parts[0].Text; d.Stage != entry.StageCut || got != x.Text {
		t.Errorf("%s shows %q", d.Stage, got[:40])
	}
	c.use("bash", "ls", 100)
	if d, again := c.send(); d.Stage != entry.StageNone || !cmp.Equal(again[:3], shown[:3]) {
		t.Errorf("the next request is decided to %s and shows something else", d.Stage)
	}
	sent := newClient(t, selection.Cut)
	sent.user("Look at the log.")
	sent.use("bash", "make all", 50_000)
	sent.last = slices.Clone(sent.talk)
	if d, _ := sent.send(); d.Stage != entry.StageNone {
		t.Errorf("what was sent before is cut: %s", d.Why)
	}
	if c.policy, _ = selection.Named(selection.Record); selection.Decide(c.input()).Stage != entry.StageNone {
		t.Error("something is cut under record")
	}
}

// covers: X-02 part
func TestPrune(t *testing.T) {
	c := newClient(t, selection.Cut)
	c.user("Do it.")
	c.work("bash", 30, 12_000)
	c.last = slices.Clone(c.talk)
	d, shown := c.send()
	if d.Stage != entry.StagePrune || d.Event != "context.pruned" || len(d.Changes) != 0 || d.Checkpoint != "" {
		t.Fatalf("%s: %s", d.Stage, d.Why)
	}
	if len(shown) != len(c.talk) {
		t.Errorf("%d of %d messages are left", len(shown), len(c.talk))
	}
	for _, x := range d.Standing {
		if x.How != entry.ChangePlaceholder || len(x.Text) > 300 || !strings.Contains(x.Text, "e") || !strings.Contains(x.Text, "12,000") && !strings.Contains(x.Text, "12000") {
			t.Errorf("%+v", x)
		}
	}
	if !cmp.Equal(shown[len(shown)-2:], c.talk[len(c.talk)-2:]) {
		t.Error("the newest answer and its result are changed")
	}
	if d.After >= d.Before || d.Price <= 0 && c.model.Name != "" {
		t.Errorf("%d to %d for $%v", d.Before, d.After, d.Price)
	}
	if again, _ := c.send(); again.Stage != entry.StageNone {
		t.Errorf("decided twice: %s", again.Why)
	}
}

// What can be pruned so that it pays is pruned; only then is anything left out.
//
// covers: X-03 part
func TestCompact(t *testing.T) {
	c := newClient(t, selection.Full)
	c.user("Do it, but never touch \"legacy/\".")
	c.work("bash", 30, 12_000)
	c.last = slices.Clone(c.talk)
	if d, _ := c.send(); d.Stage != entry.StagePrune {
		t.Fatalf("first %s: %s", d.Stage, d.Why)
	}
	var d selection.Decision
	var shown []unit.Unit
	for range 60 {
		if c.work("bash", 1, 2_000); d.Stage != entry.StageCompact {
			c.say(unit.Assistant, text(lines(c.said, 1_500)))
			c.user("Go on.")
			d, shown = c.send()
		}
	}
	if d.Stage != entry.StageCompact || d.Event != "context.compacted" {
		t.Fatalf("never compacted; last %s: %s", d.Stage, d.Why)
	}
	if len(d.Checkpoint) == 0 || !says(shown, "never touch \"legacy/\"") || len(shown) >= len(c.talk) {
		t.Errorf("%d of %d messages, checkpoint %q", len(shown), len(c.talk), d.Checkpoint)
	}
	behind := 0
	for _, x := range d.Changes {
		switch x.How {
		case entry.ChangeBehind:
			if behind++; x.Needs == "" || !strings.Contains(x.Text, d.Checkpoint) {
				t.Errorf("the checkpoint needs %q", x.Needs)
			}
		case entry.ChangeGone:
		default:
			t.Errorf("%s does not hold for itself", x.How)
		}
	}
	if behind != 1 {
		t.Errorf("%d checkpoints", behind)
	}
	if err := unit.Check(shown, wire); err != nil {
		t.Error(err)
	}
}

//
// covers: N-04 part
func TestBank(t *testing.T) {
	c := newClient(t, selection.Cut)
	c.model = sonnet(1_000_000)
	c.user("Do it.")
	c.work("bash", 30, 12_000)
	c.last = slices.Clone(c.talk)
	c.bank = pricing.Bank{Account: 1, Spent: 1.5}
	d := selection.Decide(c.input())
	if d.Stage != entry.StageNone || !strings.Contains(d.Why, "bank") || d.Account != 1 || d.Spent != 1.5 || d.Slack != c.policy.Slack {
		t.Errorf("with an empty bank %s: %+v", d.Stage, d.Decision)
	}
	c.cold = true
	if d = selection.Decide(c.input()); d.Stage != entry.StagePrune || d.Price != 0 || !d.Cold {
		t.Errorf("on a cold cache %s for $%v: %s", d.Stage, d.Price, d.Why)
	}
	c.cold, c.bank.Account = false, 10
	if d = selection.Decide(c.input()); d.Stage != entry.StagePrune || d.Price <= 0 {
		t.Errorf("with a full bank %s for $%v: %s", d.Stage, d.Price, d.Why)
	}
	want := (float64(d.Kept)*0.3 + float64(d.After-d.Kept)*3.75) / 1e6
	if diff := d.Price - want; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("its price is $%v, want $%v", d.Price, want)
	}
	c.bank.Account, c.model.Window = 1, 60_000
	if d = selection.Decide(c.input()); d.Stage != entry.StagePrune || !d.Forced || d.After > d.Usable || d.Price <= 0 {
		t.Errorf("where it does not fit %s, forced %v, %d of %d: %s", d.Stage, d.Forced, d.After, d.Usable, d.Why)
	}
}

// compacted is a client whose conversation was compacted.
func compacted(t *testing.T) *client {
	t.Helper()
	c := newClient(t, selection.Full)
	c.user("Do it.")
	c.work("bash", 20, 8_000)
	c.user("And now the rest.")
	c.work("bash", 6, 400)
	d := c.asked()
	if d.Stage != entry.StageCompact {
		t.Fatalf("asked, %s: %s", d.Stage, d.Why)
	}
	c.take(d)
	c.last = slices.Clone(c.talk)
	return c
}

// Where what a checkpoint stands for is not in a request it does not hold; when the client comes back it does again.
func TestRewind(t *testing.T) {
	c := compacted(t)
	whole := slices.Clone(c.talk)
	c.talk = c.talk[:7]
	c.user("No, another way.")
	d, shown := c.send()
	if len(d.Lifts) != 0 {
		t.Fatalf("%s %v: %s", d.Stage, d.Lifts, d.Why)
	}
	if len(shown) != len(c.talk) || says(shown, "record of earlier work") {
		t.Errorf("%d of %d messages are shown", len(shown), len(c.talk))
	}
	c.talk = whole
	if d, shown := c.send(); d.Stage != entry.StageNone || !says(shown, "record of earlier work") || len(shown) >= len(whole) {
		t.Errorf("back again: %s, and %d of %d messages are shown", d.Stage, len(shown), len(whole))
	}
}

// A client may give another result for a call that a checkpoint leaves out. Its call is not shown, so the checkpoint is taken back,
// whatever the policy is: no provider takes a result without its call.
func TestOtherResultUnderACheckpoint(t *testing.T) {
	for _, policy := range []string{selection.Full, selection.Cut, selection.Record} {
		c := compacted(t)
		c.policy, _ = selection.Named(policy)
		for i := range c.talk {
			if c.talk[i].Role == unit.Tool {
				c.talk[i].Parts = []unit.Part{c.talk[i].Parts[0]}
				c.talk[i].Parts[0].Text = "[Old result cleared.]"
				break
			}
		}
		if selection.Sound(c.input()) {
			t.Errorf("%s: what stands is said to be sound", policy)
		}
		d, shown := c.send()
		if !selection.Sound(c.input()) {
			t.Errorf("%s: without the checkpoint it is said not to be sound", policy)
		}
		if err := unit.Check(shown, c.contract); err != nil || len(d.Lifts) != 1 {
			t.Errorf("%s lifts %v (%s), and shows what is no conversation: %v", policy, d.Lifts, d.Why, err)
		}
	}
}

// A second checkpoint takes the place of the first, and both of what they stand for.
func TestCheckpointsDoNotPileUp(t *testing.T) {
	c := compacted(t)
	for range 3 {
		c.work("bash", 20, 8_000)
		d := c.asked()
		if d.Stage != entry.StageCompact || len(d.Lifts) != 1 {
			t.Fatalf("%s lifts %v: %s", d.Stage, d.Lifts, d.Why)
		}
		c.take(d)
		n := 0
		for _, u := range c.shown() {
			if strings.HasPrefix(u.Parts[0].Text, "[Ambit's record") {
				n++
			}
		}
		if n != 1 || !says(c.shown(), "And now the rest.") {
			t.Fatalf("%d checkpoints are shown", n)
		}
	}
}

// covers: V-07 part
func TestMend(t *testing.T) {
	call := func(id string) unit.Part { return unit.Part{Kind: unit.Call, ID: id, Name: "bash", Args: []byte("{}")} }
	result := func(id string) unit.Part { return unit.Part{Kind: unit.Result, ID: id, Text: "done"} }
	c := newClient(t, selection.Cut)
	c.user("Begin.")
	c.say(unit.Assistant, text("I look."), call("a"))
	c.user("Stop, do it otherwise.")
	c.say(unit.User, result("lost"), text("and keep this"))
	c.say(unit.Assistant, call("b"))
	c.say(unit.Tool, result("b"))
	if d, shown := c.send(); d.Stage != entry.StageNone || len(shown) != len(c.talk) {
		t.Errorf("where nothing else is edited: %s", d.Stage)
	}
	c.use("bash", "make", 40_000) // a giant
	d, shown := c.send()
	if d.Repaired != 2 || d.Stage != entry.StageCut {
		t.Errorf("%d repaired, %s: %s", d.Repaired, d.Stage, d.Why)
	}
	if err := unit.Check(shown, wire); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"Begin.", "I look.", "Stop, do it otherwise.", "and keep this"} {
		if !says(shown, s) {
			t.Errorf("%q is lost", s)
		}
	}
	c.use("bash", "ls", 10)
	if d, again := c.send(); d.Stage != entry.StageNone || !cmp.Equal(again[:len(shown)], shown) {
		t.Errorf("mended again: %s, %s", d.Stage, d.Why)
	}
	c.policy, _ = selection.Named(selection.Record)
	c.edits, c.written = nil, nil
	if d := selection.Decide(c.input()); d.Stage != entry.StageNone || d.Repaired != 0 {
		t.Errorf("under record %s", d.Stage)
	}
}

// A pinned text stands in the request from then on, whatever the client does with the message that said it.
func TestPins(t *testing.T) {
	c := newClient(t, selection.Full)
	c.user("Never use \"tabs\": größe.\nSo it is.")
	c.work("bash", 3, 500)
	c.pins = []selection.Pin{{ID: "p1", Text: "Never use \"tabs\": größe.\nSo it is.", By: "user"}}
	if d, _ := c.send(); d.Stage != entry.StageNone {
		t.Errorf("it stands there, and %s: %s", d.Stage, d.Why)
	}
	c.talk = append([]unit.Unit{{Role: unit.User, Parts: []unit.Part{text("Earlier we worked.")}}}, c.talk[3:]...)
	d, shown := c.send()
	if d.Stage != entry.StageCut || !says(shown, c.pins[0].Text) || len(d.Standing) != 1 || d.Standing[0].Pin != "p1" {
		t.Errorf("lost: %s, %+v", d.Stage, d.Standing)
	}
	c.work("bash", 1, 500)
	if d, shown := c.send(); d.Stage != entry.StageNone || !says(shown, c.pins[0].Text) {
		t.Errorf("%s", d.Stage)
	}
}

// Where nothing is to be done, no message is read.
func TestFastPathReadsNothing(t *testing.T) {
	c := newClient(t, selection.Full)
	c.user("Do it.")
	c.work("bash", 999, 60)
	in := c.input()
	in.Unit = func(int) unit.Unit { t.Error("a message is read"); return unit.Unit{} }
	if in.Policy.Trigger = 1 << 30; len(in.Messages) < 1_999 {
		t.Fatal(len(in.Messages))
	}
	if d := selection.Decide(in); d.Stage != entry.StageNone || d.After != d.Whole {
		t.Errorf("%+v", d)
	}
}

func BenchmarkDecide(b *testing.B) {
	c := newClient(b, selection.Full)
	c.user("Do it.")
	c.work("bash", 1_000, 600)
	in := c.input()
	b.Run("nothing to do", func(b *testing.B) {
		in := in
		in.Policy.Trigger = 1 << 30
		in.Sent = len(in.Messages) - 2
		for b.Loop() {
			selection.Decide(in)
		}
	})
	b.Run("checkpoint", func(b *testing.B) {
		in := in
		in.Asked = true
		for b.Loop() {
			if d := selection.Decide(in); d.Stage != entry.StageCompact {
				b.Fatal(d.Why)
			}
		}
	})
}
