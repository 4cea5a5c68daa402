package replay

import (
	"slices"
	"time"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pricing"
	"ambit/unit"
)

// showing is how a policy shows a message.
type showing uint8

const (
	shown  showing = iota
	masked         // with placeholders for its results
	gone
)

// choice is what a policy shows of one conversation, turn by turn.
type choice struct {
	p     Policy
	s     *sizing
	how   []showing // by message
	spent pricing.Bank
	fresh bool      // the newest request begins anew
	sel   *selected // of one of Ambit's own policies
}

// next chooses for a turn. Cold says that the cache holds nothing of the conversation any more.
func (ch *choice) next(turn int, at time.Time, cold bool, model pricing.Model) {
	whole := ch.s.whole[turn]
	ch.fresh = false
	switch p := ch.p; {
	case ch.sel != nil:
		ch.decide(turn, at, cold, model)
	case p.Window > 0:
		ch.cut(whole, p.Window)
	case p.KeepLast > 0:
		ch.keepLast(whole)
	case p.Protect > 0:
		ch.protect(turn)
	case p.Trigger > 0:
		ch.refresh(turn, cold, model)
	}
}

// request are the messages that a turn shows, in order. What a repair left nothing of is none.
func (ch *choice) request(turn int) []*shape {
	if ch.sel != nil {
		return ch.selection(turn)
	}
	list := make([]*shape, 0, len(ch.s.whole[turn]))
	for _, m := range ch.s.whole[turn] {
		sh := ch.s.shapes.full(m)
		if ch.how[m] == masked {
			sh = ch.s.shapes.masked(m)
		}
		if ch.how[m] != gone && len(sh.blocks) > 0 {
			list = append(list, sh)
		}
	}
	return list
}

// size is how many tokens a request of a turn has.
func (ch *choice) size(turn int) int {
	n := ch.s.sizes.Head
	for _, sh := range ch.request(turn) {
		n += sh.tokens
	}
	return n
}

// cut leaves out what stands between the first message, which says what it is all about, and the first legal cut from
// which on the rest fits, with that and the head, into so many tokens.
func (ch *choice) cut(whole []int, size int) {
	if len(whole) == 0 {
		return
	}
	rest := whole[1:]
	units := make([]unit.Unit, len(rest))
	for i, m := range rest {
		units[i] = ch.s.units[m]
	}
	behind := make([]int, len(units)+1)
	for i := len(units) - 1; i >= 0; i-- {
		behind[i] = behind[i+1] + ch.s.shapes.full(rest[i]).tokens
	}
	size -= ch.s.sizes.Head + ch.s.shapes.full(whole[0]).tokens
	at := 0
	for _, i := range unit.Cuts(units, tail) {
		if at = i; behind[i] <= size {
			break
		}
	}
	for i, m := range rest {
		ch.how[m] = shown
		if i < at {
			ch.how[m] = gone
		}
	}
}

// tail is the contract of what stands behind the first message: whoever speaks first, no exchange is cut in two.
var tail = unit.Contract{Results: unit.Directly, Together: true}

// results are the messages of a turn that hold results, the newest first.
func (ch *choice) results(whole []int) []int {
	var list []int
	for i := len(whole) - 1; i >= 0; i-- {
		if m := whole[i]; len(ch.s.units[m].Results()) > 0 {
			list = append(list, m)
		}
	}
	return list
}

func (ch *choice) keepLast(whole []int) {
	if ch.p.Over > 0 {
		n := ch.s.sizes.Head
		for _, m := range whole {
			n += ch.s.shapes.full(m).tokens
		}
		if n <= ch.p.Over {
			return
		}
	}
	kept := 0
	for _, m := range ch.results(whole) {
		if kept >= ch.p.KeepLast {
			ch.how[m] = masked
		}
		kept += len(ch.s.units[m].Results())
	}
}

// protect does as OpenCode does when a person has spoken: it goes back from the newest result, and leaves out what lies
// behind the protected ones, if that is enough.
func (ch *choice) protect(turn int) {
	whole := ch.s.whole[turn]
	if !ch.prompts(ch.s.c.Turns[turn].New) {
		return
	}
	turns, kept, gain := 0, 0, 0
	var out []int
	for i := len(whole) - 1; i >= 0; i-- {
		m := whole[i]
		if ch.prompts([]int{m}) {
			turns++
		}
		if turns < ch.p.KeepTurns || len(ch.s.units[m].Results()) == 0 {
			continue
		}
		if ch.how[m] == masked {
			break
		}
		n := ch.s.shapes.full(m).tokens
		if kept += n; kept > ch.p.Protect {
			gain += n
			out = append(out, m)
		}
	}
	if gain > ch.p.Gain {
		for _, m := range out {
			ch.how[m] = masked
		}
	}
}

// prompts reports whether a person says one of the messages. What is planted counts as said before.
func (ch *choice) prompts(messages []int) bool {
	return slices.ContainsFunc(messages, func(m int) bool {
		u := &ch.s.units[m]
		return u.Role == unit.User && len(u.Results()) == 0 && !slices.Contains(ch.s.pins, m)
	})
}

// refresh begins anew once the conversation has grown to the trigger: on a cold cache at once, on a warm one when the bank
// allows what the request then costs, or the window forces it.
func (ch *choice) refresh(turn int, cold bool, model pricing.Model) {
	size := ch.size(turn)
	if size <= ch.p.Trigger {
		return
	}
	before := append([]showing(nil), ch.how...)
	ch.cut(ch.s.whole[turn], ch.p.Target)
	after := ch.size(turn)
	head := min(ch.s.sizes.Head, after)
	price := model.Price.Of(pricing.Charge{Read: head, Write: after - head})
	forced := model.Window > 0 && size > model.Usable()
	if after >= size || !cold && !forced && !ch.spent.Allows(price) {
		ch.how = before
		return
	}
	ch.fresh = true
}

// unsent reports whether nobody can say of a request that it reached a provider: it came to nothing.
func unsent(t *conversation.Turn) bool {
	return t.Usage == nil && (t.Answer < 0 || t.End != entry.EndComplete)
}
