package replay

import (
	"slices"
	"strings"
	"time"

	"ambit/internal/conversation"
	"ambit/internal/index"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/unit"
)

// Step is one request of a policy, and what was charged for it.
type Step struct {
	N       int       `json:"n"` // number of the recorded request
	At      time.Time `json:"at"`
	Model   string    `json:"model"`
	Charge  pricing.Charge
	Price   pricing.Price
	Output  int // tokens
	Kept    int // tokens in common with the request before
	Before  int // tokens of the request before
	Needs   [2]Evidence
	Recalls []Recall
	Pins    int // planted so far
	Held    int // of these, in the request
	Anew    bool

	rules  pricing.Rules
	shapes []*shape
	marks  []int // the shapes behind which a cache marker stands
	answer int   // message; -1 for none
	left   []int // messages that the recorded request held and no policy shows
	blocks []pricing.Block
	size   int // tokens, once the blocks are given up
}

// Evidence counts needs of one kind.
type Evidence struct {
	Needed   int `json:"needed"`
	Visible  int `json:"visible"`
	Recalled int `json:"recalled"`
}

// Add is both together.
func (e Evidence) Add(o Evidence) Evidence {
	return Evidence{e.Needed + o.Needed, e.Visible + o.Visible, e.Recalled + o.Recalled}
}

// Recall is one more request, which gets back what a turn needed and its request did not hold.
type Recall struct {
	Ref     string // of the message
	Found   bool   // a placeholder names it, and one read of it gives what was needed
	Context int    // tokens that were sent once more
	Written int    // tokens of the excerpt
	Cost    float64
}

// What a recall takes besides what was needed: the tokens of its call, and how much of a result one read gives, in bytes. An
// answer of ambit read has at most 64 KiB as JSON; half of that is left where a text has much to escape, or another result
// stands beside it.
const (
	recallOutput = 100
	ReadLimit    = index.MaxOutputBytes / 2
)

// course is one policy over one conversation.
type course struct {
	s     *sizing
	p     Policy
	steps []Step
	fits  bool
	limit Step // that did not fit
}

// run lets a policy choose each request of a conversation, and sends it to a cache of its own. It ends before the first
// request that does not fit. What its requests held is kept only on demand: it is as much as all of them.
func run(s *sizing, p Policy, needed [][]Need, account []float64, keep bool) course {
	ch := &choice{p: p, s: s, how: make([]showing, len(s.units)), spent: pricing.Bank{Slack: p.Slack}}
	if own, ok := selection.Named(p.Own); ok {
		ch.sel = &selected{policy: own}
	}
	r := course{s: s, p: p, fits: true}
	cache := pricing.NewCache()
	clock := newClock(s.c)
	clock.forward = true
	var last *Step
	for i := range s.c.Turns {
		t := &s.c.Turns[i]
		at := clock.of(t)
		if unsent(t) {
			continue
		}
		model := s.model(t.Model, at)
		if account != nil {
			ch.spent.Append(account[i] - ch.spent.Account)
		}
		ch.next(i, at, s.cold(last, model, at), model)
		step := s.step(ch, i, at, model, last)
		if step.tokens() > model.Window && model.Window > 0 {
			r.fits, r.limit = false, step
			break
		}
		step.Charge = cache.Send(pricing.Request{Model: model, At: at, Blocks: step.blocks, Output: s.answered(t)})
		step.weigh(s, ch, needed[i], i)
		ch.spent.Spend(step.cost() - model.Price.OfOutput(step.Output))
		r.steps = append(r.steps, step)
		if last = &r.steps[len(r.steps)-1]; len(r.steps) > 1 {
			r.steps[len(r.steps)-2].forget(keep) // only the newest are compared with
		}
	}
	return r
}

// forget gives up what only the next request is compared with, and what only a dump needs.
func (s *Step) forget(keep bool) {
	if s.size = s.tokens(); !keep {
		s.shapes, s.marks = nil, nil
	}
	s.blocks = nil
}

// answered are the blocks of a turn's answer, as a later request holds them.
func (s *sizing) answered(t *conversation.Turn) []pricing.Block {
	if t.Answer < 0 {
		return nil
	}
	return s.shapes.full(t.Answer).blocks
}

// tokens are those of the request.
func (s *Step) tokens() int { return tokensOf(s.blocks) }

// cold reports whether the cache holds nothing any more of what was sent last.
func (s *sizing) cold(last *Step, m pricing.Model, at time.Time) bool {
	life := m.Rules.Life
	if s.hour && m.Rules.LifeHour > 0 {
		life = m.Rules.LifeHour
	}
	return last == nil || life > 0 && at.Sub(last.At) >= life
}

// step is a turn's request as the policy shows it.
func (s *sizing) step(ch *choice, turn int, at time.Time, model pricing.Model, last *Step) Step {
	t := &s.c.Turns[turn]
	step := Step{
		N: t.N, At: at, Model: model.Name, Price: model.Price, Output: s.output(t), Anew: ch.fresh,
		rules: model.Rules, shapes: ch.request(turn), answer: t.Answer,
	}
	for _, m := range t.New {
		if s.c.Messages[m].Summary {
			step.left = append(step.left, m)
		}
	}
	step.blocks = append(step.blocks, pricing.Block{Hash: nameHash("head", model.Name), Tokens: s.sizes.Head, Tier: pricing.System})
	for _, sh := range step.shapes {
		step.blocks = append(step.blocks, sh.blocks...)
	}
	step.mark(last, s.life())
	return step
}

// mark sets the markers: behind the head, behind what is in common with the request before, and at the end.
func (step *Step) mark(last *Step, life time.Duration) {
	if len(step.shapes) > 0 {
		step.marks = append(step.marks, len(step.shapes)-1)
	}
	if last != nil {
		n := 0
		for n < len(step.shapes) && n < len(last.shapes) && step.shapes[n] == last.shapes[n] {
			n++
		}
		if n > 0 && n < len(step.shapes) {
			step.marks = append(step.marks, n-1)
		}
		for _, m := range last.marks { // where an entry is sure to be
			if m < n-1 && len(step.marks) < maxMarks-1 {
				step.marks = append(step.marks, m)
			}
		}
		both := shared(last.blocks, step.blocks)
		step.Kept, step.Before = tokensOf(step.blocks[:both]), last.tokens()
	}
	markAt(step.blocks, 0, life)
	end := make([]int, len(step.shapes)) // the block at which each ends
	at := 0
	for i, sh := range step.shapes {
		at += len(sh.blocks)
		end[i] = at
	}
	for _, i := range step.marks {
		step.blocks[end[i]].Mark = life
	}
}

// maxMarks is how many markers a request may have, the head's included.
const maxMarks = 4

// life is for how long the client asks that its prompts be kept.
func (s *sizing) life() time.Duration {
	if s.hour {
		return time.Hour
	}
	return 5 * time.Minute
}

// output is how many tokens an answer took: what the provider counted; what is said, where nobody counted, or where that is
// more and the client is one that keeps counts which were taken while an answer streamed.
func (s *sizing) output(t *conversation.Turn) (n int) {
	said := 0
	if t.Answer >= 0 {
		said = s.shapes.full(t.Answer).tokens
	}
	if t.Usage == nil || s.streams && said > int(t.Usage.Output) {
		return said
	}
	return int(t.Usage.Output)
}

// weigh counts what the turn needed and the request holds of it, what has to be recalled, and which pins it holds.
func (step *Step) weigh(s *sizing, ch *choice, needed []Need, turn int) {
	lost := make(map[int][]Need)
	for _, n := range needed {
		kind := one(n.Kind == Names)
		step.Needs[kind].Needed++
		if step.holds(s, ch, n) {
			step.Needs[kind].Visible++
			continue
		}
		from := n.From[len(n.From)-1]
		lost[from] = append(lost[from], n)
	}
	from := make([]int, 0, len(lost))
	for m := range lost {
		from = append(from, m)
	}
	slices.Sort(from)
	for _, m := range from {
		step.recall(s, ch, m, lost[m])
	}
	for _, m := range s.pins {
		if slices.Contains(s.whole[turn], m) {
			step.Pins++
			step.Held += one(ch.how[m] == shown || step.says(s.units[m].Parts[0].Text))
		}
	}
}

// holds reports whether the request holds a text.
func (step *Step) holds(s *sizing, ch *choice, n Need) bool {
	for _, m := range n.From {
		if ch.how[m] == shown && s.shapes.says(m, n.Text) {
			return true
		}
	}
	return step.says(n.Text)
}

// says reports whether a message of the request says a text.
func (step *Step) says(text string) bool {
	return slices.ContainsFunc(step.shapes, func(sh *shape) bool { return sh.says(text) })
}

// recall charges one more request for what was needed of a message: its context is read from the cache, and the excerpt
// is written behind it.
func (step *Step) recall(s *sizing, ch *choice, m int, needs []Need) {
	found := ch.how[m] == masked
	if ch.sel != nil {
		found = step.names(s.units[m].Ref)
	}
	excerpt := 0
	for _, p := range s.units[m].Parts {
		if p.Kind != unit.Result {
			continue
		}
		read := firstBytes(p.Text, ReadLimit)
		excerpt += s.sizes.part(unit.Part{Kind: unit.Result, Text: read})
	}
	context := step.Charge.Total()
	r := Recall{
		Ref: s.units[m].Ref, Found: found, Context: context, Written: excerpt,
		Cost: step.Price.Of(pricing.Charge{Read: context, Write: excerpt}) + step.Price.OfOutput(recallOutput),
	}
	step.Recalls = append(step.Recalls, r)
	for _, n := range needs {
		if found && s.readable(m, n.Text) {
			step.Needs[one(n.Kind == Names)].Recalled++
		}
	}
}

// readable reports whether one read of a message gives a text.
func (s *sizing) readable(m int, text string) bool {
	for _, p := range s.units[m].Parts {
		if p.Kind == unit.Result && strings.Contains(firstBytes(p.Text, ReadLimit), text) {
			return true
		}
	}
	return false
}
