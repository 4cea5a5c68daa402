package ambit

import (
	"context"
	"encoding/hex"
	"slices"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/thread"
	"ambit/unit"
	"ambit/view"
)

// kept says how the provider holds the messages of a request that follows an answer which it keeps: as they were edited when
// they were sent. Messages are named as by the turn; nil where nothing stands.
func (s *sight) kept(ctx context.Context, a *Asked, c *conversation.Conversation, t *conversation.Turn) map[int]*keeping {
	if a == nil || len(s.r.pool.Decisions) == 0 {
		return nil
	}
	made := s.made(ctx)
	if made.edits.Len() == 0 {
		return nil
	}
	list, hashes := make([]came, len(t.Held)), make([]thread.Hash, len(t.Held))
	for i, m := range t.Held {
		if u := s.r.unit(entry.ParseRef(c.Messages[m].Ref)); u != nil {
			list[i].hex = u.Element
			_, _ = hex.Decode(hashes[i][:], []byte(u.Element[:min(len(u.Element), 2*len(hashes[i]))]))
		}
	}
	all := make(map[int]*keeping)
	for i, shown := range made.edits.Apply(hashes).Shown {
		if shown.Changed() {
			all[t.Held[i]] = &keeping{shown, &list[i], made}
		}
	}
	return all
}

// keeping is how a message is held otherwise than the client sent it.
type keeping struct {
	thread.Shown
	came *came
	made *makings
}

// recalled adds a message that a provider keeps, as it keeps it, and what stands behind it.
func (s *sight) recalled(it item, m *conversation.Message, k *keeping) {
	if k == nil {
		s.add(view.Working, it)
		return
	}
	if len(k.Texts) > 0 {
		u := m.Unit
		u.Parts = slices.Clone(u.Parts)
		var replaced []made
		for i := range u.Parts {
			p := &u.Parts[i]
			text, ok := k.Texts[p.ID]
			switch {
			case !ok || p.Kind == unit.Call:
				continue
			case p.Kind == unit.Text && slices.ContainsFunc(u.Parts[:i], isText):
				p.Text = "" // the first has all of it
				continue
			}
			p.Text = text
			replaced = append(replaced, k.made.change(k.came, p.ID))
		}
		it.unit(&u)
		s.edited(&it, replaced)
	}
	if k.Gone {
		s.gone = append(s.gone, gone{ref: it.Ref, n: it.n, reason: ReasonCompacted, edit: k.made.gone(k.came)})
	} else {
		s.add(view.Working, it)
	}
	for _, b := range k.Behind {
		put := item{}
		put.unit(&unit.Unit{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: b.Text}}})
		s.placed(&put, k.made.behind(valid(b.Text)))
		s.add(view.Working, put)
	}
}

func isText(p unit.Part) bool { return p.Kind == unit.Text }
