package replay

import (
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/unit"
)

// selected is a conversation under one of Ambit's own policies: what was decided so far, and how the request at hand shows
// each message. It decides by the code by which the proxy does.
type selected struct {
	policy selection.Policy
	edits  thread.Edits
	seq    entry.Seq // of the newest edit; nobody writes them
	sent   []int     // messages of the request before
	ends   []end     // where its and earlier requests' prefixes end
	shown  []thread.Shown
}

// end is where a request ended whose prefix a cache may hold.
type end struct {
	messages int
	at       time.Time // when it was sent
}

// lasting are the ends that a cache still holds of what a turn shares with the request before.
func (ch *choice) lasting(at time.Time, model pricing.Model, sent int) (ends []int) {
	life := model.Rules.Life
	if ch.s.hour && model.Rules.LifeHour > 0 {
		life = model.Rules.LifeHour
	}
	for _, e := range ch.sel.ends {
		if e.messages <= sent && (life == 0 || at.Sub(e.at) < life) {
			ends = append(ends, e.messages)
		}
	}
	return ends
}

// contract is what replay's requests are held to: those of the Messages API, which a dump has them as.
var contract = unit.Contract{Results: unit.Next, Begin: unit.User}

// decide lets the policy decide about a turn's request, and makes its edits.
func (ch *choice) decide(turn int, at time.Time, cold bool, model pricing.Model) {
	sel, whole := ch.sel, ch.s.whole[turn]
	in := selection.Input{
		Policy: sel.policy, Edits: &sel.edits, Contract: contract, Sent: common(sel.sent, whole), Head: ch.s.sizes.Head,
		Tokens: ch.s.tokens, Model: model, Bank: ch.spent, Hour: ch.s.hour, Cold: cold,
		Unit: func(i int) unit.Unit { return ch.s.units[whole[i]] },
	}
	in.Ends = ch.lasting(at, model, in.Sent)
	for _, m := range whole {
		u := &ch.s.units[m]
		in.Messages = append(in.Messages, selection.Message{
			Hash: ch.s.shapes.identity(m), Ref: u.Ref, Seq: entry.Seq(m + 1), Role: u.Role, Calls: u.Calls(), Results: u.Results(),
			Tokens: ch.s.shapes.full(m).tokens, Fixed: fixed(u),
		})
	}
	for i, m := range ch.s.pins {
		if slices.Contains(whole, m) {
			in.Pins = append(in.Pins, selection.Pin{ID: numbered("p", i+1), Text: ch.s.units[m].Parts[0].Text, By: "user"})
		}
	}
	d := selection.Decide(in)
	sel.edits.Lift(d.Lifts...)
	for _, changes := range [][]entry.Change{d.Changes, d.Standing} {
		if len(changes) > 0 {
			sel.seq++
			sel.edits.Add(sel.seq, changes...)
		}
	}
	ch.fresh = d.Stage == entry.StagePrune || d.Stage == entry.StageCompact
	sel.ends = slices.DeleteFunc(sel.ends, func(e end) bool { return e.messages > min(d.From, in.Sent) })
	sel.ends = append(sel.ends, end{len(whole), at})
	sel.sent, sel.shown = whole, sel.edits.Apply(hashes(in.Messages)).Shown
	for i, m := range whole {
		ch.how[m] = shown
		switch s := &sel.shown[i]; {
		case s.Gone:
			ch.how[m] = gone
		case len(s.Texts) > 0:
			ch.how[m] = masked
		}
	}
}

func hashes(messages []selection.Message) []thread.Hash {
	list := make([]thread.Hash, len(messages))
	for i := range messages {
		list[i] = messages[i].Hash
	}
	return list
}

// fixed is why a message is not to be changed.
func fixed(u *unit.Unit) selection.Fixed {
	for _, p := range u.Parts {
		if p.Kind == unit.Opaque {
			if u.Role == unit.Assistant {
				return selection.Reasoned
			}
			return selection.Kept
		}
	}
	return selection.Free
}

// selection are the messages of a turn as the edits show them.
func (ch *choice) selection(turn int) (list []*shape) {
	for i, m := range ch.s.whole[turn] {
		s := &ch.sel.shown[i]
		if sh := ch.s.shapes.as(m, s.Texts); !s.Gone && len(sh.blocks) > 0 {
			list = append(list, sh)
		}
		for _, b := range s.Behind {
			list = append(list, ch.s.shapes.placed(b.Text))
		}
	}
	return list
}

// tokens counts a text as a part of a message.
func (s *sizing) tokens(text string) int { return s.sizes.part(unit.Part{Kind: unit.Text, Text: text}) }

// identity is the hash by which an edit finds a message.
func (sh *shapes) identity(m int) thread.Hash {
	var all strings.Builder
	for _, b := range sh.full(m).blocks {
		all.Write(b.Hash[:])
	}
	return nameHash("message", all.String())
}

// as is a message with texts in place of those of its results, or of its own.
func (sh *shapes) as(m int, texts map[string]string) *shape {
	if len(texts) == 0 {
		return sh.full(m)
	}
	u := sh.units[m]
	u.Raw, u.Parts = nil, append([]unit.Part(nil), u.Parts...)
	key := strings.Builder{}
	key.WriteString(numbered("m", m))
	for i := range u.Parts {
		p := &u.Parts[i]
		id := p.ID
		if p.Kind == unit.Text {
			id = ""
		}
		if text, is := texts[id]; is && (p.Kind == unit.Result || p.Kind == unit.Text) {
			p.Text, p.Raw = text, nil
			key.WriteString("\x00" + id + "\x00" + text)
		}
	}
	return sh.kept(key.String(), u)
}

// placed is a message of the user's that Ambit puts into a request.
func (sh *shapes) placed(text string) *shape {
	return sh.kept("\x00"+text, unit.Unit{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: text}}})
}

// kept is a shape that is made once, so that the same message is the same shape.
func (sh *shapes) kept(key string, u unit.Unit) *shape {
	if sh.other == nil {
		sh.other = make(map[string]*shape)
	}
	s := sh.other[key]
	if s == nil {
		s = sh.shape(u)
		s.ours = true
		sh.other[key] = s
	}
	return s
}

// names reports whether a text that Ambit wrote into the request says by which ref a message can be got back.
func (step *Step) names(ref string) bool {
	for _, sh := range step.shapes {
		for rest := sh.words; sh.ours; {
			_, after, ok := strings.Cut(rest, ref)
			if !ok {
				break
			}
			if before := rest[:len(rest)-len(after)-len(ref)]; !endsName(before) && (after == "" || !isName(after[0]) || after[0] == '.') {
				return true
			}
			rest = after
		}
	}
	return false
}

func endsName(text string) bool { return text != "" && isName(text[len(text)-1]) }
