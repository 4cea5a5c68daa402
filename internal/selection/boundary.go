package selection

import (
	"fmt"
	"math"

	"ambit/entry"
	"ambit/internal/excerpt"
	"ambit/unit"
)

// boundary weighs whether what was sent before is to be shown otherwise: because that pays and the bank allows it, because the
// cache is cold and it costs nothing, because a person asked for it, or because the request does not fit otherwise.
func (t *talk) boundary(d *Decision) {
	pol := &t.in.Policy
	forced := t.in.Overflow || d.Usable > 0 && t.total > d.Usable+(t.in.Model.Window-d.Usable)/2
	if pol.Trigger == 0 || !forced && !t.in.Asked && t.total-t.in.Head < pol.Trigger {
		return
	}
	list := t.results()
	if forced {
		d.Forced = true
		t.fit(d, list)
		return
	}
	e := t.economy()
	best := t.bestPrune(list, e)
	pressed := d.Usable > 0 && t.total > d.Usable
	if pol.Compact {
		if p := t.bestCompact(list, e); p != nil && (t.in.Asked || !t.worthwhile(best, e) || t.better(p, best, e)) {
			best = p
		}
	}
	if t.in.Asked || pressed && best.total < d.Usable || t.worthwhile(best, e) {
		t.pay(d, best, e)
	}
}

// economy is what a boundary is weighed by.
type economy struct {
	rates
	growth    float64
	allowance float64 // what the bank allows a request to cost, in USD
}

func (t *talk) economy() economy {
	bank := t.in.Bank
	e := economy{t.in.rates(), t.growth(), (1+t.in.Policy.Slack)*bank.Account - bank.Spent}
	if t.in.Cold || t.in.Asked {
		e.allowance = math.Inf(1)
	}
	return e
}

// pay takes a plan if the bank allows it, or it costs nothing, or a person asked for it.
func (t *talk) pay(d *Decision, p *plan, e economy) {
	if p.removed(t) <= 0 {
		return
	}
	price := t.in.price(p.read, p.written())
	if price > e.allowance {
		d.Why = fmt.Sprintf("%d of %d tokens could be left out, but for $%.4f, which the bank does not allow", p.removed(t), t.total, price)
		return
	}
	if t.apply(d, p); !t.in.Cold {
		d.Price = price
	}
}

// worthwhile reports whether a plan pays.
func (t *talk) worthwhile(p *plan, e economy) bool {
	if p == nil {
		return false
	}
	removed := p.removed(t)
	if t.in.Cold {
		return removed >= coldGain
	}
	return removed > 0 && e.pays(removed, p.written(), e.growth)
}

// better reports whether a compaction is to be made in one with the pruning that is made anyway: once nothing more can be
// pruned, it saves more than it costs to write what stands in front of that anew, and the bank allows it. What its checkpoint
// takes is known when that is written, so it is written before the answer is yes.
func (t *talk) better(p, prune *plan, e economy) bool {
	return t.saves(p, prune, e) && (t.in.Draft || t.finish(p) && t.saves(p, prune, e))
}

// saves compares a compaction with a pruning by what both are taken to take.
func (t *talk) saves(p, prune *plan, e economy) bool {
	if p.total >= prune.total || !t.worthwhile(p, e) || t.in.price(p.read, p.written()) > e.allowance {
		return false
	}
	if t.in.Cold {
		return true
	}
	h := e.horizon(p.written(), e.growth)
	net := func(x *plan) float64 {
		return e.read*float64(x.removed(t))*h - (e.write-e.read)*float64(x.written())
	}
	return net(p) > net(prune)
}

// coldGain is from how many tokens on it is worth a boundary that costs nothing.
const coldGain = 1000

// bestPrune is the pruning that saves most, as start says.
func (t *talk) bestPrune(list []*result, e economy) *plan {
	all := t.prune(list, t.in.Policy.Least, 0)
	if t.in.Cold || all.removed(t) <= 0 {
		return all
	}
	if at := t.start(all, e, 0); at > all.from {
		return t.prune(list, t.in.Policy.Least, at)
	}
	return all
}

// bestCompact is the compaction that saves most; nil where there is none. As long as no checkpoint stands it may leave what is
// older as it was: the first boundary is the one that the bank can pay least for.
func (t *talk) bestCompact(list []*result, e economy) *plan {
	pol := &t.in.Policy
	all := t.compact(list, pol.Least, pol.Tail, 0)
	if t.in.Asked && (all == nil || all.removed(t) <= 0) { // all is worth its place, and the person wants it shorter all the same
		all = t.compact(list, math.Inf(1), pol.Tail, 0)
	}
	if all == nil || t.in.Cold || t.in.Asked || t.in.price(all.read, all.written()) <= e.allowance || len(t.checkpoints()) > 0 {
		return all
	}
	if at := t.start(all, e, recordTokens); at > all.from {
		if p := t.compact(list, pol.Least, pol.Tail, at); p != nil && p.removed(t) > 0 {
			return p
		}
	}
	return all
}

// start is the message from which on a plan had best change the request: what is saved until the next boundary is most above
// what is written anew, and the bank allows it. Where it allows nothing, it is the plan's own beginning.
func (t *talk) start(all *plan, e economy, more int) int {
	h := e.horizon(all.written(), e.growth)
	best, at := 0.0, all.from
	found := false
	removed := -more
	for i := len(all.faces) - 1; i >= all.from; i-- {
		less := t.size[i] - all.size[i]
		if less <= 0 {
			continue
		}
		removed += less
		read := t.before(t.cached(i))
		written := t.total - removed - read
		if t.in.price(read, written) > e.allowance {
			continue
		}
		if net := e.read*float64(removed)*h - (e.write-e.read)*float64(written); !found || net > best {
			best, at, found = net, i, true
		}
	}
	return at
}

// cheapest is the pruning of results worth less than so much that costs least and makes the request small enough; nil where
// none does.
func (t *talk) cheapest(list []*result, least float64, target int) *plan {
	all := t.prune(list, least, 0)
	removed, at := 0, -1
	best := 0.0
	for i := len(all.faces) - 1; i >= 0; i-- {
		less := t.size[i] - all.size[i]
		if removed += less; less <= 0 || t.total-removed > target {
			continue
		}
		read := t.before(t.cached(i))
		if price := t.in.price(read, t.total-removed-read); at < 0 || price < best {
			best, at = price, i
		}
	}
	if at < 0 {
		return nil
	}
	return t.prune(list, least, at)
}

// fit makes a request that does not fit small enough: by what costs least first, then by what loses more and more, at last
// by excerpts of what is newest. It takes the first that is small enough, or else the smallest.
func (t *talk) fit(d *Decision, list []*result) {
	target := t.target(d)
	var best *plan
	for i := range len(t.harder()) + len(squeezed) {
		p := t.rung(i, list, target)
		if p == nil || p.removed(t) <= 0 || best != nil && p.total >= best.total {
			continue
		}
		if best = p; p.total <= target {
			break
		}
	}
	if best == nil || best.total > target {
		d.Uncut = append(d.Uncut, t.largest(best)...)
	}
	if best == nil {
		d.Why = "nothing that the request holds can be left out"
		return
	}
	before := t.total
	if t.apply(d, best); d.Stage == entry.StageNone {
		return
	}
	d.Price = t.in.price(best.read, best.written())
	d.Why = fmt.Sprintf("it did not fit: %d of %d tokens are left out", before-best.total, before)
}

// harder are degrees of what is left out: results worth less than so much, and all but the newest so many answers.
func (t *talk) harder() []struct {
	least float64
	tail  int
} {
	pol := &t.in.Policy
	return []struct {
		least float64
		tail  int
	}{{pol.Least, pol.Tail}, {2 * pol.Least, pol.Tail}, {4 * pol.Least, pol.Tail}, {everything, pol.Tail}, {everything, 1}}
}

// everything is worth less.
const everything = 1e9

// squeezed are to how many bytes texts are cut, the user's and the newest results last of all.
var squeezed = [...]int{16_000, 8_000, 4_000, 2_000, 1_000, 400}

// rung is the plan of a degree.
func (t *talk) rung(i int, list []*result, target int) *plan {
	steps := t.harder()
	if i < len(steps) {
		s := steps[i]
		if p := t.cheapest(list, s.least, target); p != nil && !t.in.Overflow {
			return p
		}
		return t.hard(list, s.least, s.tail)
	}
	s := steps[len(steps)-1]
	p := t.hard(list, s.least, s.tail)
	t.excerpts(p, squeezed[i-len(steps)])
	return p.count(t)
}

// hard is a compaction where the policy has one and it can be done, or else a pruning.
func (t *talk) hard(list []*result, least float64, tail int) *plan {
	p := t.prune(list, least, 0)
	if t.in.Policy.Compact {
		if c := t.compact(list, least, tail, 0); c != nil && c.total < p.total {
			return c
		}
	}
	return p
}

// target is how large a request that does not fit may be, in tokens by estimate: each refusal asks for less.
func (t *talk) target(d *Decision) int {
	target := t.total
	if d.Usable > 0 {
		target = min(target, d.Usable*9/10)
	}
	if !t.in.Overflow {
		return target
	}
	if t.in.Limit > 0 {
		target = min(target, t.in.Limit)
	}
	for range min(max(0, t.in.Passes)+1, maxPasses) {
		target = target * 2 / 3
	}
	return target
}

// maxPasses is from how many refusals on no less is asked for.
const maxPasses = 8

// largest names the messages that take most of what is left, with the reason why they stay.
func (t *talk) largest(p *plan) (names []string) {
	size := t.size
	if p != nil {
		size = p.size
	}
	for i := range size {
		if size[i]*8 < t.total {
			continue
		}
		why := "it is too large as it is"
		switch t.in.Messages[i].Fixed {
		case Reasoned:
			why = "it holds reasoning"
		case Kept:
			why = "it holds what is sealed or unknown, or no text"
		}
		names = append(names, fmt.Sprintf("message %s of %d tokens: %s", t.in.Messages[i].Ref, size[i], why))
	}
	if t.in.Head*8 >= t.total {
		names = append(names, fmt.Sprintf("tools and system text of %d tokens: they are the client's", t.in.Head))
	}
	return names
}

// excerpts cuts every text of more than so many bytes that may be cut at all.
func (t *talk) excerpts(p *plan, most int) {
	for i := range p.faces {
		m := &t.in.Messages[i]
		if p.faces[i].Gone || m.Fixed != Free || m.Tokens < gain {
			continue
		}
		if m.Role == unit.User && len(m.Results) == 0 {
			t.shortenTo(p, i, most)
		}
		t.cutResults(p, i, most)
	}
}

// cutResults cuts the results of a message, those that stand as placeholders apart.
func (t *talk) cutResults(p *plan, i, most int) {
	if len(t.in.Messages[i].Results) == 0 {
		return
	}
	for j := range t.unit(i).Parts {
		part := &t.unit(i).Parts[j]
		if part.Kind != unit.Result || p.faces[i].How[part.ID] == entry.ChangePlaceholder {
			continue
		}
		now := part.Text
		if text, is := p.faces[i].Texts[part.ID]; is {
			now = text
		}
		if len(now) <= most {
			continue
		}
		text := excerpt.Cut(part.Text, most, t.where(i, part.ID))
		if t.in.Tokens(text)+gain <= t.in.Tokens(now) {
			put(&p.faces[i], part.ID, text, entry.ChangeCut)
		}
	}
}
