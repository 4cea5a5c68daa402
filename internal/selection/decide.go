package selection

import (
	"fmt"
	"slices"

	"ambit/entry"
	"ambit/internal/thread"
)

// Decide says what is to be done about a request. The same input gives the same decision; all that it changes is what was read
// of calls, in Message.Made. What it decides never makes a request larger but by pins and by what has to be shown again, never shows
// half a tool exchange, and leaves the newest answer and what stands behind it alone unless nothing else makes the request fit.
// Where it has to read no message, it reads none.
//
// Who acts on it lifts Decision.Lifts first and then adds Changes and Standing, each as one edit; the request is what
// thread.Edits then show.
func Decide(in Input) Decision {
	if in.Edits == nil {
		in.Edits = &thread.Edits{}
	}
	t := talkOf(&in, in.Edits)
	d := t.begin()
	if in.Policy.Name == Record {
		if t.lift(&d); d.Stage == entry.StageNone {
			d.Why = "nothing new is edited under this policy"
		}
	} else if len(in.Messages) > 0 && !t.decide(&d) {
		if in.Policy.Compact {
			in.Policy.Compact = false
			return Decide(in)
		}
		d = t.refuse()
	}
	d.After, d.Event = t.total, d.Stage.Event()
	return d
}

// Sound reports whether the edits that stand can be applied as they are: no half tool exchange is shown, unless the client sends one
// itself, and nothing of the newest is left out. Where a decision cannot be acted on, this says whether what stood before it may.
func Sound(in Input) bool {
	return in.Edits == nil || talkOf(&in, in.Edits).sound()
}

// begin is a decision of which nothing is decided yet.
func (t *talk) begin() Decision {
	in := t.in
	d := Decision{From: len(in.Messages), Decision: entry.Decision{
		Policy: in.Policy.Name, Stage: entry.StageNone, Reactive: in.Overflow, Cold: in.Cold, Why: "nothing is gained by showing anything otherwise",
		Before: t.total, Kept: t.total, Whole: in.Head, Usable: in.usable(), LastReal: int64(in.LastReal),
		Account: in.Bank.Account, Spent: in.Bank.Spent, Slack: in.Policy.Slack,
	}}
	for i := range in.Messages {
		d.Whole += in.Messages[i].Tokens
	}
	return d
}

// usable is how many tokens a request may have; 0 where nobody knows.
func (in *Input) usable() int {
	if in.Model.Window <= 0 {
		return 0
	}
	return in.Model.Usable()
}

// decide goes through all that there may be to do. It reports whether what was decided is sure to come of its changes.
func (t *talk) decide(d *Decision) bool {
	t.lift(d)
	t.mend(d)
	t.giants(d)
	if !t.in.Contract.Complete {
		t.boundary(d)
	}
	t.pins(d)
	t.mend(d)
	return d.Stage == entry.StageNone || t.in.Draft || t.proven(d)
}

// lift takes back checkpoints that would leave out what has to be shown now. An edit that needs a message which is not in the
// request does not hold for it, and stands all the same: the client may come back to where it holds.
func (t *talk) lift(d *Decision) {
	if old := t.checkpoints(); len(old) > 0 && !t.sound() {
		t.unstand(d, old, "a checkpoint stood for messages that are the newest again")
	}
}

func (t *talk) unstand(d *Decision, edits []entry.Seq, why string) {
	d.Stage, d.Why, d.Lifts = entry.StageLift, why, append(d.Lifts, edits...)
	rest := t.edits.Clone()
	rest.Lift(edits...)
	before := t.shown
	t.under(rest)
	at := 0
	for at < len(before) && same(&before[at], &t.shown[at]) {
		at++
	}
	d.From, d.Kept = min(d.From, at), min(d.Kept, t.before(at))
}

// sound reports whether the standing edits leave the newest answer, and what stands behind it, in the request, and that
// legal.
func (t *talk) sound() bool {
	for i := t.free; i < len(t.shown); i++ {
		if t.shown[i].Gone {
			return false
		}
	}
	return t.legal(t.shown) || unitsBroken(t)
}

// take shows the conversation as a plan does.
func (t *talk) take(d *Decision, p *plan) {
	d.Kept = min(d.Kept, p.kept)
	d.From = min(d.From, p.from)
	t.sums, t.shown, t.size, t.total = nil, p.faces, p.size, p.total
}

// texts are the texts that a plan shows otherwise, as changes.
func (t *talk) texts(p *plan) (changes []entry.Change) {
	for i := range p.faces {
		if p.faces[i].Gone || len(p.faces[i].Texts) == 0 {
			continue
		}
		for _, id := range append(slices.Clone(t.in.Messages[i].Results), "") {
			text, is := p.faces[i].Texts[id]
			if now, was := t.shown[i].Texts[id]; !is || was && now == text {
				continue
			}
			c := t.change(i, p.faces[i].How[id])
			c.Call, c.Text = id, text
			changes = append(changes, c)
		}
	}
	return changes
}

// change begins one of a message.
func (t *talk) change(i int, how entry.Changing) entry.Change {
	return entry.Change{Element: thread.Hex(t.hashes[i]), Times: t.times(i), How: how, Of: t.in.Messages[i].Seq}
}

// apply makes a plan the decision.
func (t *talk) apply(d *Decision, p *plan) {
	if !t.finish(p) {
		return
	}
	d.Stage = p.stage
	d.Why = fmt.Sprintf("%d of %d tokens are left out", t.total-p.total, t.total)
	if p.stage == entry.StageCompact {
		t.compacted(d, p)
	}
	d.Standing = append(d.Standing, t.texts(p)...)
	t.take(d, p)
}

// compacted makes a checkpoint's edit of a plan. It says again what the checkpoint before it left out, and takes its place.
func (t *talk) compacted(d *Decision, p *plan) {
	d.Checkpoint = p.yaml
	d.Lifts = append(d.Lifts, t.checkpoints()...)
	needs := thread.Hex(t.hashes[p.last])
	for i := range p.faces {
		if p.faces[i].Gone {
			d.Changes = append(d.Changes, t.change(i, entry.ChangeGone))
		}
		for _, b := range p.faces[i].Behind {
			if b.Pin == "" && b.Edit == 0 {
				c := t.change(i, entry.ChangeBehind)
				c.Of, c.Text, c.Needs = 0, b.Text, needs
				d.Changes = append(d.Changes, c)
			}
		}
	}
}

// checkpoints are the edits that show a checkpoint now.
func (t *talk) checkpoints() (edits []entry.Seq) {
	for i := range t.shown {
		for _, b := range t.shown[i].Behind {
			if b.Edit != 0 && isCheckpoint(b.Text) && !slices.Contains(edits, b.Edit) {
				edits = append(edits, b.Edit)
			}
		}
	}
	return edits
}

// proven makes the edits of a decision apart and reports whether the request is then what was decided, or less. Where a
// client sends the same message several times it may not be.
func (t *talk) proven(d *Decision) bool {
	edits := t.in.Edits.Clone()
	edits.Lift(d.Lifts...)
	for i, changes := range [][]entry.Change{d.Changes, d.Standing} {
		edits.Add(unwritten+entry.Seq(i), changes...)
	}
	most := t.total
	t.under(edits)
	return t.total <= most && !slices.ContainsFunc(t.stale, func(s entry.Seq) bool { return s >= unwritten }) && t.sound()
}

// unwritten numbers edits that nobody has written yet.
const unwritten entry.Seq = 1 << 52

// refuse is a decision that changes nothing but what has to be lifted.
func (t *talk) refuse() Decision {
	t.under(t.in.Edits)
	d := t.begin()
	t.lift(&d)
	if d.Uncut = append(d.Uncut, "the client sends the same messages several times, so that no change of one is sure"); d.Stage == entry.StageNone {
		d.Why = d.Uncut[0]
	}
	return d
}
