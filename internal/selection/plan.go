package selection

import (
	"strings"

	"ambit/entry"
	"ambit/internal/excerpt"
	"ambit/internal/pricing"
	"ambit/internal/thread"
	"ambit/unit"
)

// plan is how a request could be shown otherwise.
type plan struct {
	stage entry.Stage
	faces []thread.Shown
	size  []int
	total int    // tokens of the request
	from  int    // the first message that is shown otherwise; len(faces) when none is
	kept  int    // tokens of what stands before it
	read  int    // of these, what a cache that is warm still holds
	last  int    // the newest message that is left out; -1 for none
	draft bool   // its checkpoint is not written yet: what one takes is a guess
	yaml  string // of its checkpoint
}

// recordTokens is what a first checkpoint takes about.
const recordTokens = 2000

// expected is what a checkpoint is taken to take until it is written: as much as the one that stands where that is long for what
// the user asked for or pinned, because it says all of that again.
func (t *talk) expected() int {
	n := 0
	for i := range t.shown {
		for _, b := range t.shown[i].Behind {
			if isCheckpoint(b.Text) {
				n += t.in.Tokens(b.Text)
			}
		}
	}
	if n <= 3*recordTokens {
		return recordTokens
	}
	return n
}

// removed is by how much the plan makes the request smaller, in tokens.
func (p *plan) removed(t *talk) int { return t.total - p.total }

// count fills in the figures of a plan by what it shows.
func (p *plan) count(t *talk) *plan {
	p.size, p.total, p.from = make([]int, len(p.faces)), t.in.Head, len(p.faces)
	for i := range p.faces {
		if p.size[i] = t.size[i]; !same(&p.faces[i], &t.shown[i]) {
			p.size[i] = t.sizeAs(i, &p.faces[i])
			p.from = min(p.from, i)
		}
		p.total += p.size[i]
	}
	if p.draft {
		p.total += t.expected()
	}
	p.kept, p.read = t.before(p.from), t.before(t.cached(p.from))
	return p
}

// before is how many tokens stand before a message.
func (t *talk) before(i int) int {
	if t.sums == nil {
		t.sums = []int{t.in.Head}
		for _, n := range t.size {
			t.sums = append(t.sums, t.sums[len(t.sums)-1]+n)
		}
	}
	return t.sums[i]
}

// cached is how many messages a cache still holds of those before a message. Providers that keep only what was marked have
// no more of it than what an earlier request ended with.
func (t *talk) cached(i int) int {
	if t.in.Model.Rules.Match != pricing.ByMark {
		return i
	}
	end := 0
	for _, n := range t.in.Ends {
		if n <= i {
			end = max(end, n)
		}
	}
	return end
}

// written is how many tokens of the plan a warm cache does not hold.
func (p *plan) written() int { return p.total - p.read }

func same(a, b *thread.Shown) bool {
	if a.Gone != b.Gone || len(a.Texts) != len(b.Texts) || len(a.Behind) != len(b.Behind) {
		return false
	}
	for id, text := range a.Texts {
		if now, is := b.Texts[id]; !is || now != text {
			return false
		}
	}
	for i := range a.Behind {
		if a.Behind[i].Text != b.Behind[i].Text {
			return false
		}
	}
	return true
}

// prune puts placeholders in place of results that are worth less than so much, from one message on.
func (t *talk) prune(list []*result, least float64, from int) *plan {
	p := &plan{stage: entry.StagePrune, faces: clone(t.shown), last: -1}
	for _, r := range list {
		if r.at >= from && r.worth < least {
			t.place(p, r)
		}
	}
	return p.count(t)
}

// place puts a placeholder in place of a result, unless that is no gain.
func (t *talk) place(p *plan, r *result) {
	if t.in.Messages[r.at].Fixed != Free || r.text != "" && t.shown[r.at].How[r.part.ID] == entry.ChangePlaceholder {
		return
	}
	if r.holder == "" {
		lines := strings.Count(r.part.Text, "\n") + 1
		r.holder = excerpt.Placeholder(t.where(r.at, r.part.ID), len(r.part.Text), lines, r.part.Failed)
		r.less = t.in.Tokens(r.holder)
	}
	if r.less+gain <= r.tokens {
		put(&p.faces[r.at], r.part.ID, r.holder, entry.ChangePlaceholder)
	}
}

// gain is how many tokens a change of one text has to save.
const gain = 30

func put(s *thread.Shown, id, text string, how entry.Changing) {
	if s.Texts == nil {
		s.Texts, s.How = make(map[string]string), make(map[string]entry.Changing)
	}
	s.Texts[id], s.How[id] = text, how
}

// compact leaves out what is old and worth little, and has a checkpoint say what that was. It keeps whole groups: what holds
// a result that is worth something, or a text of the user's, stays, and so do the newest so many answers,
// and whatever stands before a message.
func (t *talk) compact(list []*result, least float64, tail, from int) *plan {
	p := t.prune(list, least, from)
	p.stage = entry.StageCompact
	ages, worth := t.turns(), make([]float64, len(p.faces))
	for _, r := range list {
		worth[r.at] = max(worth[r.at], r.worth)
	}
	var out [][]int
	for _, group := range unit.Groups(t.light(), t.in.Contract) {
		if group[0] >= from && t.optional(group, ages, worth, least, tail) {
			out = append(out, group)
		}
	}
	for _, group := range t.distinct(out) {
		for _, i := range group {
			p.faces[i] = thread.Shown{Gone: true, Behind: p.faces[i].Behind}
			p.last = max(p.last, i)
		}
	}
	if p.last < 0 {
		return nil
	}
	for i := range p.faces {
		p.faces[i].Behind = withoutCheckpoints(p.faces[i].Behind)
		if i >= from {
			t.shorten(p, i, ages[i], tail)
		}
	}
	behind := p.faces[p.last].Behind
	p.faces[p.last].Behind = append(behind[:len(behind):len(behind)], thread.Placed{})
	legal := t.legal(p.faces)
	if p.faces[p.last].Behind = behind; !legal {
		return nil
	}
	p.draft = true
	return p.count(t)
}

// finish writes the checkpoint of a plan. It reports whether the plan still makes the request smaller.
func (t *talk) finish(p *plan) bool {
	if p.draft && !t.in.Draft {
		p.draft = false
		t.checkpoint(p)
		p.count(t)
	}
	return p.removed(t) > 0
}

// distinct are the groups that can be left out although some messages are the same as others: an edit finds a message by what
// it says, and the first of several, so the earlier ones have to be left out, too.
func (t *talk) distinct(groups [][]int) [][]int {
	for {
		out := make([]bool, len(t.hashes))
		for i := range t.shown {
			out[i] = t.shown[i].Gone
		}
		for _, group := range groups {
			for _, i := range group {
				out[i] = true
			}
		}
		stays := make(map[thread.Hash]bool)
		bad := make([]bool, len(t.hashes))
		for i, h := range t.hashes {
			if !out[i] {
				stays[h] = true
			}
			bad[i] = out[i] && stays[h]
		}
		var good [][]int
		for _, group := range groups {
			if !anyOf(group, bad) {
				good = append(good, group)
			}
		}
		if len(good) == len(groups) {
			return good
		}
		groups = good
	}
}

func anyOf(group []int, marked []bool) bool {
	for _, i := range group {
		if marked[i] {
			return true
		}
	}
	return false
}

// optional reports whether a group may be left out, and is worth so little that it is.
func (t *talk) optional(group []int, ages []int, worth []float64, least float64, tail int) bool {
	for _, i := range group {
		m := &t.in.Messages[i]
		switch {
		case i == 0 || i >= t.free || m.Fixed == Kept || ages[i] < tail || worth[i] >= least:
			return false
		case m.Role != unit.Assistant && m.Role != unit.Tool && m.Role != unit.User, m.Summary:
			return false
		case m.Role != unit.Assistant && t.says(i):
			return false
		}
	}
	return true
}

// says reports whether a message holds a text of the user's, or anything but results.
func (t *talk) says(i int) bool {
	if len(t.in.Messages[i].Results) == 0 {
		return true
	}
	for _, p := range t.unit(i).Parts {
		if p.Kind != unit.Result && (p.Kind != unit.Text || strings.TrimSpace(excerpt.Own(p.Text)) != "") {
			return true
		}
	}
	return false
}

// shorten keeps of a long text of the user's that is old its beginning, its end, and whatever states a constraint.
func (t *talk) shorten(p *plan, i, age, tail int) {
	m := &t.in.Messages[i]
	if t.in.Policy.User == 0 || p.faces[i].Gone || m.Role != unit.User || m.Fixed != Free || age < tail || m.Summary || m.Tokens*mostBytes < t.in.Policy.User {
		return
	}
	t.shortenTo(p, i, t.in.Policy.User)
}

// shortenTo shortens the text of a message to so many bytes, unless it is pinned.
func (t *talk) shortenTo(p *plan, i, most int) {
	u := t.unit(i)
	if len(u.Parts) != 1 || u.Parts[0].Kind != unit.Text || len(u.Parts[0].Text) <= most {
		return
	}
	text := u.Parts[0].Text
	for _, pin := range t.in.Pins {
		if strings.Contains(text, pin.Text) {
			return
		}
	}
	if short := excerpt.UserText(text, most, t.where(i, "")); len(short) < len(text) {
		put(&p.faces[i], "", short, entry.ChangeCut)
	}
}

// withoutCheckpoints are the messages that stand somewhere for another reason.
func withoutCheckpoints(list []thread.Placed) (rest []thread.Placed) {
	for _, b := range list {
		if !isCheckpoint(b.Text) {
			rest = append(rest, b)
		}
	}
	return rest
}
