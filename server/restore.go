package server

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/excerpt"
	"ambit/internal/pool"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/provider"
	"ambit/unit"
)

// maxRestored bounds what is put back behind a client's summary, in bytes; the newest are put back.
const maxRestored = 8 << 10

// restore compares a request, in which the client has put something shorter in the place of most of its messages, with what
// the user had said before, and puts back what states a constraint and is not in it any more. What the client had left out
// of earlier requests too is looked at again.
func (r *recorder) restore(x *exchange, a *asking) error {
	if !r.policy.Compact {
		return nil
	}
	at, ok := x.summary(a)
	if !ok {
		return nil
	}
	if err := r.flush(x.in); err != nil { // so that what was said before can be read
		return err
	}
	lost, err := r.left(x, a)
	if err != nil || len(lost) == 0 {
		return err
	}
	h := a.Elements.Messages[at].Hash
	d := selection.Decision{Standing: []entry.Change{{Element: thread.Hex(h), How: entry.ChangeBehind, Text: restored(lost)}}}
	d.Stage, d.Lost, d.Why = entry.StageRestore, len(lost), fmt.Sprintf("the client's summary had lost %d constraints that the user had stated", len(lost))
	if err := x.plan.Settle(d); err != nil {
		return err
	}
	r.edits(x)
	return nil
}

// summary is the first message of the user's that was new when the client shortened the conversation.
func (x *exchange) summary(a *asking) (int, bool) {
	for i, el := range a.Elements.Messages {
		if x.in.known[known{x.thread, el.Hash}].n == x.n && conversation.Unit("", a.Message(i)).Role == unit.User {
			return i, true
		}
	}
	return 0, false
}

// left are the sentences of the user's earlier messages that state a constraint and stand nowhere in the request, each once.
func (r *recorder) left(x *exchange, a *asking) ([]string, error) {
	p, err := r.load(x.in.id)
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	for i := range a.Elements.Messages {
		for _, t := range a.Message(i).Texts {
			said.WriteString(t.Text)
			said.WriteByte('\n')
		}
	}
	now := said.String()
	rec := ambit.RecordingOf(r.store, x.in.id, p)
	behind, _ := p.Behind()
	way := x.at.above(x.follows)
	asked := summarized(p, x.belongs.Parent)
	var lost []string
	for i := range p.Units {
		u := &p.Units[i]
		if u.Thread != x.thread || !way[u.N] || behind[u.N] || !spokenByUser(u) {
			continue
		}
		texts, err := rec.Said(context.Background(), u.Seq)
		if err != nil {
			return nil, err
		}
		for _, t := range texts.Texts {
			if t.Said != provider.SaidUser || asked[u.N] && asksForSummary.MatchString(t.Text) {
				continue
			}
			own := excerpt.Own(t.Text)
			if excerpt.Brought(own) { // the client itself brings it again, or has put a newer one in its place
				continue
			}
			for _, sentence := range excerpt.Constraints(own) {
				if !strings.Contains(now, sentence) {
					lost, now = append(lost, sentence), now+sentence+"\n"
				}
			}
		}
	}
	size := 0
	for i := len(lost) - 1; i >= 0; i-- {
		if size += len(lost[i]); size > maxRestored {
			return lost[i+1:], nil
		}
	}
	return lost, nil
}

// summarized are the requests that shortened ones go on from: a client may have asked for its summary there, and what it asked
// holds for the summary alone.
func summarized(p *pool.Pool, parent int) map[int]bool {
	all := map[int]bool{parent: true}
	for i := range p.Exchanges {
		if r := p.Exchanges[i].Relation; r != nil && r.How == entry.ClientCompaction {
			all[r.Parent] = true
		}
	}
	return all
}

// asksForSummary finds the words with which all clients whose compaction was seen ask for one.
var asksForSummary = regexp.MustCompile(`(?i)summar|compact|checkpoint`)

// spokenByUser reports whether a unit is a message in the user's place that holds no results.
func spokenByUser(u *pool.Unit) bool {
	return u.Of == entry.PartMessage && u.Role == "user" && len(u.Results) == 0
}

// restored is the message that puts constraints back.
func restored(lost []string) string {
	return "Ambit's record of this session: the user stated the following before the summary, and it is not in the summary. It stands here word for word.\n\n- " +
		strings.Join(lost, "\n- ")
}
