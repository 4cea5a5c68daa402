package selection

import (
	"fmt"
	"slices"

	"ambit/entry"
	"ambit/internal/thread"
)

// Decide says what is to be done about a request. It is a pure function: the same input gives the same decision. What it
// decides never makes a request larger but by pins, never shows half a tool exchange, and leaves the newest answer and what
// stands behind it alone unless nothing else makes the request fit. Where it has to read no message, it reads none.
//
// Who acts on it lifts Decision.Lifts first and then adds Changes and Standing, each as one edit; the request is what
// thread.Edits then show.
func Decide(in Input) Decision {
	d := Decision{Decision: entry.Decision{Policy: in.Policy.Name, Stage: entry.StageNone, Reactive: in.Overflow, Cold: in.Cold}}
	d.Account, d.Spent, d.Slack, d.LastReal = in.Bank.Account, in.Bank.Spent, in.Policy.Slack, int64(in.LastReal)
	if in.Edits == nil {
		in.Edits = &thread.Edits{}
	}
	d.Usable = in.usable()
	for i := range in.Messages {
		d.Whole += in.Messages[i].Tokens
	}
	d.Whole += in.Head
	t := talkOf(&in, in.Edits)
	d.Before, d.Kept, d.From = t.total, t.total, len(in.Messages)
	d.Why = "nothing is gained by showing anything otherwise"
	if in.Policy.Name == Record {
		d.Why = "nothing new is edited under this policy"
	} else if len(in.Messages) > 0 {
		t.decide(&d)
	}
	d.After, d.Event = t.total, d.Stage.Event()
	return d
}

// usable is how many tokens a request may have; 0 where nobody knows.
func (in *Input) usable() int {
	if in.Model.Window <= 0 {
		return 0
	}
	return in.Model.Usable()
}

func (t *talk) decide(d *Decision) {
	t.lift(d)
	t.mend(d)
	t.giants(d)
	if !t.in.Contract.Complete {
		t.boundary(d)
	}
	t.pins(d)
	if d.Stage != entry.StageNone {
		t.prove(d)
	}
}

// lift takes back what rests on messages that are not there any more, and checkpoints that would leave out what has to be
// shown now.
func (t *talk) lift(d *Decision) {
	if len(t.stale) > 0 {
		t.unstand(d, t.stale, "messages that a checkpoint stood for are not in the request any more")
	}
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

// prove makes the edits of a decision apart and looks whether the request is then what was decided. Where a client sends
// the same message several times it may not be: then nothing is decided but to lift.
func (t *talk) prove(d *Decision) {
	edits := t.in.Edits.Clone()
	edits.Lift(d.Lifts...)
	for i, changes := range [][]entry.Change{d.Changes, d.Standing} {
		edits.Add(unwritten+entry.Seq(i), changes...)
	}
	want := t.total
	t.under(edits)
	if t.total == want && (t.legal(t.shown) || unitsBroken(t)) {
		return
	}
	*d = t.refuse(*d)
}

// unwritten numbers edits that nobody has written yet.
const unwritten entry.Seq = 1 << 52

// refuse is a decision without changes.
func (t *talk) refuse(d Decision) Decision {
	d.Changes, d.Standing, d.Checkpoint, d.Stage, d.Price, d.Forced = nil, nil, "", entry.StageNone, 0, false
	d.Why = "the client's messages are such that no change is sure"
	if d.Lifts = t.edits.Apply(t.hashes).Stale; len(d.Lifts) > 0 {
		d.Stage = entry.StageLift
	}
	d.Lifts = nil
	edits := t.in.Edits.Clone()
	if stale := t.in.Edits.Apply(t.hashes).Stale; len(stale) > 0 {
		d.Lifts, d.Stage = stale, entry.StageLift
		edits.Lift(stale...)
	}
	t.under(edits)
	return d
}
