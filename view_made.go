package ambit

import (
	"context"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/thread"
	"ambit/provider"
)

// made is a change that held for the request, with the entry of its edit; without one nothing is known of it.
type made struct {
	entry.Change
	edit string // ref
	n    int    // the request before which it was made; 0 where a person asked for it
}

// makings are the changes that held for a request, in order.
type makings struct {
	edits   *thread.Edits
	changes []made
}

// made are the changes that held for the request, as far as they can be read. What is purged or damaged is missing.
func (s *sight) made(ctx context.Context) *makings {
	m := &makings{edits: new(thread.Edits)}
	for _, e := range s.held(ctx) {
		if e.Body == nil {
			continue
		}
		data, err := s.r.store.Body(ctx, s.r.session, *e.Body)
		if err != nil {
			continue
		}
		changes, err := entry.DecodeChanges(data)
		if err != nil {
			continue
		}
		m.edits.Add(e.Seq, changes...)
		for _, c := range changes {
			m.changes = append(m.changes, made{c, e.Seq.Ref(), e.N})
		}
	}
	return m
}

// held are the edits that stood in the request's thread when it was sent. Those that were lifted since are not in the pool any
// more: they are read in the journal.
func (s *sight) held(ctx context.Context) (edits []pool.Edit) {
	all, lifted := s.r.pool.Edits, make(map[entry.Seq]bool)
	var since entry.Seq // the first decision, if a later one lifted something
	for i := range s.r.pool.Decisions {
		d := &s.r.pool.Decisions[i]
		if s.before(d.N, d.Seq) {
			for _, seq := range d.Lifts {
				lifted[seq] = true
			}
		} else if len(d.Lifts) > 0 {
			since = s.r.pool.Decisions[0].Seq
		}
	}
	if since > 0 {
		all = s.r.editsFrom(ctx, since)
	}
	about := s.r.threadOf(s.about())
	for _, e := range all {
		if s.before(e.N, e.Seq) && !lifted[e.Seq] && e.Thread != "" && (e.Thread == s.thread || e.Thread == about) {
			edits = append(edits, e)
		}
	}
	return edits
}

// before reports whether something was decided before the request went: before request n, or where n is 0, before its entry.
func (s *sight) before(n int, seq entry.Seq) bool {
	return n != 0 && n <= s.x.Request.N || n == 0 && seq < s.x.Seq
}

// about is the number of the request that the request stands beside, 0 for none: the edits of that one's thread hold for it, too.
func (s *sight) about() int {
	if s.x.Relation == nil {
		return 0
	}
	return s.x.Relation.About
}

// threadOf is the thread of a request, empty where it is in none.
func (r *Recording) threadOf(n int) string {
	if x := r.pool.Exchange(n); x != nil && x.Relation != nil {
		return x.Relation.Thread
	}
	return ""
}

// editsFrom are all edits from an entry on, those that were lifted included, up to damage.
func (r *Recording) editsFrom(ctx context.Context, seq entry.Seq) (edits []pool.Edit) {
	for f, err := range r.store.Read(ctx, r.session, seq-1) {
		if err != nil || f.Seq > r.pool.Seq {
			break
		}
		if e, ok := f.Fact.(*entry.Edit); ok {
			edits = append(edits, pool.Edit{Edit: *e, Seq: f.Seq})
		}
	}
	return edits
}

// texts are what a message says in each of its results, by the ids of their calls, and under "" what it says beside them.
func texts(m provider.Message) map[string]string {
	all := make(map[string]string)
	for _, id := range m.Results {
		all[id] = ""
	}
	for _, t := range m.Texts {
		if t.Said == provider.SaidArgument {
			continue
		}
		id := t.Call
		if _, ok := all[id]; !ok {
			id = ""
		}
		all[id] = strings.TrimPrefix(all[id]+"\n"+t.Text, "\n")
	}
	return all
}

// of are the changes that made a message of the client's what went. One that is not known is a cut.
func (k *makings) of(c *came, went provider.Message) (replaced []made) {
	before, after := texts(c.message), texts(went)
	ids := append(slices.Clone(c.message.Results), "")
	for _, id := range ids {
		if text, ok := after[id]; !ok || text == before[id] {
			continue
		}
		replaced = append(replaced, k.change(c, id))
	}
	return replaced
}

// change is the one that replaced the text of a result, or under "" the message's own. One that is not known is a cut.
func (k *makings) change(c *came, call string) made {
	found := made{Change: entry.Change{How: entry.ChangeCut}}
	for _, m := range k.changes {
		if m.Call == call && m.Element == c.hex && (m.How == entry.ChangeCut || m.How == entry.ChangePlaceholder) {
			found = m
		}
	}
	return found
}

// behind is the change that put a message there which says a text.
func (k *makings) behind(text string) (found made) {
	for _, m := range k.changes {
		if m.How == entry.ChangeBehind && valid(m.Text) == text {
			found = m
		}
	}
	return found
}

// valid is a text as a body can spell it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// says reports whether a text is all that a message says.
func says(m provider.Message, text string) bool {
	return len(m.Texts) == 1 && len(m.Results) == 0 && m.Texts[0].Text == valid(text)
}

// gone is the edit that left a message out, empty where it is not known.
func (k *makings) gone(c *came) (edit string) {
	for _, m := range k.changes {
		if m.How == entry.ChangeGone && m.Element == c.hex {
			edit = m.edit
		}
	}
	return edit
}
