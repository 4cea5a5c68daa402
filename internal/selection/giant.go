package selection

import (
	"fmt"

	"ambit/entry"
	"ambit/internal/excerpt"
	"ambit/unit"
)

// mostBytes is how many bytes a token of a text has at most on average, so that a message of few tokens needs no look.
const mostBytes = 8

// giants cuts results that are too large before they are sent the first time, so that no cached byte changes.
func (t *talk) giants(d *Decision) {
	pol := &t.in.Policy
	if pol.Giant == 0 {
		return
	}
	p := &plan{last: -1}
	for i := max(0, t.in.Sent); i < len(t.in.Messages); i++ {
		m := &t.in.Messages[i]
		if len(m.Results) == 0 || m.Fixed != Free || m.Tokens*mostBytes < pol.Giant || t.shown[i].Changed() {
			continue
		}
		for j := range t.unit(i).Parts {
			part := &t.unit(i).Parts[j]
			if part.Kind != unit.Result || len(part.Text) < pol.Giant {
				continue
			}
			if keep := t.keeps(part.ID); len(part.Text) > keep {
				if p.faces == nil {
					p.faces = clone(t.shown)
				}
				put(&p.faces[i], part.ID, excerpt.Cut(part.Text, keep, t.where(i, part.ID)), entry.ChangeCut)
			}
		}
	}
	if p.faces == nil {
		return
	}
	d.Standing = append(d.Standing, t.texts(p.count(t))...)
	if d.Stage == entry.StageNone {
		d.Stage = entry.StageCut
		d.Why = fmt.Sprintf("results of %d characters and more are cut before they are sent", pol.Giant)
	}
	t.take(d, p)
}

// keeps is to how many bytes a giant result is cut. What was read of a file is kept longer, because it is read to be worked
// with; nothing takes more than a quarter of the window.
func (t *talk) keeps(id string) int {
	keep := t.in.Policy.GiantKeep
	if t.call(id).kind == reads {
		keep = max(keep, t.in.Policy.GiantRead)
	}
	if usable := t.in.usable(); usable > 0 {
		keep = min(keep, max(excerpt.MinCut, usable/4*2))
	}
	return keep
}

// where says what a result is and where it is kept.
func (t *talk) where(i int, id string) excerpt.Where {
	w := excerpt.Where{Ref: t.in.Messages[i].Ref, By: t.in.Recall}
	if id != "" {
		c := t.call(id)
		w.Tool, w.About = c.tool, excerpt.About(c.tool, c.args)
	}
	return w
}
